"""One lab in progress: its questions on this evidence, the answers given, and the replies to them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, Literal

import attrs
import pandas as pd
from markupsafe import escape

from kit.charts import Table, clean
from kit.i18n import Lang, Sentence, T
from kit.training import compare
from kit.training.bench import Bench
from kit.training.question import Lab, Question, tell

State = Literal["right", "wrong", "unanswered", "untold"]
MARKS: Final[dict[State, str]] = {"right": "✓", "wrong": "✗", "unanswered": "…", "untold": "–"}

NO_QUESTION = T("{id}: no such question; this lab has {known}")
RIGHT = T("Right: {answer}. {why}")
SOLVED = T("The lab's own answer: {answer}. {why}")
WRONG = T("Not {answer}. {reason}")
HIGH = T("That is too many. Stuck? Ask for the hint.")
LOW = T("That is too few. Stuck? Ask for the hint.")
OTHER = T("The evidence says something else. Stuck? Ask for the hint.")
NO_NUMBER = T("A number is asked for ({unit}), and this is not one.")
NO_OPTION = T("Choose one of: {options}.")
UNANSWERED = T("Not answered yet.")
UNTOLD = T("This evidence does not show it; the question is not counted.")
UNITS: Final[dict[str, T]] = {"count": T("how many"), "bytes": T("bytes"), "seconds": T("seconds")}
CHOOSE = T("Choose one:")
CHOOSE_SOME = T("Name one or more:")
SCORES = T("Lab {number}: {right} of {total} right, {helped} of them with help")
HEADS: Final[dict[str, T]] = {
    "question": T("question"),
    "state": T("state"),
    "tries": T("tries"),
    "help": T("help"),
    "what": T("what", "内容"),
}
HINTED, GIVEN = T("hint"), T("answer")
SHORT: Final = 110


class LabError(ValueError):
    """An unknown lab or question, or a lab not opened yet."""


@attrs.frozen
class Note:
    """A note to the learner; `state` if it judges an answer."""

    text: str
    state: State | None = None

    @property
    def passed(self) -> bool:
        return self.state == "right"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        mark = f"{MARKS[self.state]} " if self.state else ""
        paragraphs = "".join(f"<p>{escape(line)}</p>" for line in (mark + clean(self.text)).split("\n"))
        return {"text/plain": mark + clean(self.text), "text/html": paragraphs}


@attrs.define
class Mark:
    """The state of one question."""

    state: State = "unanswered"
    tries: int = 0
    hinted: bool = False
    solved: bool = False


@attrs.frozen
class Scorecard:
    """`right` of `total` questions that this evidence can answer; `helped`: with a hint or the lab's answer."""

    right: int
    total: int
    helped: int
    table: Table

    @property
    def full(self) -> bool:
        return self.total > 0 and self.right == self.total

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.table._repr_mimebundle_()


class Session:
    """A lab on its evidence. `solve`: unanswered questions are answered by the lab itself."""

    def __init__(self, lab: Lab, bench: Bench, solve: bool = False) -> None:
        self.lab = lab
        self.bench = bench
        self.solve = solve
        self.marks: dict[str, Mark] = {}

    @property
    def lang(self) -> Lang:
        return self.bench.lang

    @cached_property
    def questions(self) -> dict[str, Question]:
        return {q.id: q for q in self.lab.questions(self.bench)}

    @cached_property
    def facts(self) -> dict[str, Any]:
        return self.lab.facts(self.bench)

    def question(self, id_: str) -> Question:
        """Return a question. Raise `LabError` if no question has that id."""
        if id_ not in self.questions:
            raise LabError(NO_QUESTION.say(id=clean(id_, 40), known=list(self.questions)).render(self.lang))
        return self.questions[id_]

    def say(self, sentence: Sentence, **values: Any) -> str:
        return tell(sentence, {**self.facts, **values}, self.lang)

    def ask(self, id_: str) -> Note:
        """Return the question and what to choose from."""
        question = self.question(id_)
        lines = [f"{question.id}  {self.say(question.ask)}"]
        if question.options:
            lines.append((CHOOSE_SOME if question.kind == "words" else CHOOSE).render(self.lang))
            lines += [f"{name}: {self.say(text)}" for name, text in question.options.items()]
        return Note("\n".join(lines))

    def hint(self, id_: str) -> Note:
        question = self.question(id_)
        self.marks.setdefault(id_, Mark()).hinted = True
        return Note(self.say(question.hint))

    def answer(self, id_: str) -> Any:
        """Return the answer from this evidence; None if the evidence does not show it."""
        question = self.question(id_)
        self.marks.setdefault(id_, Mark()).solved = True
        truth = self.facts.get(question.fact)
        return ", ".join(sorted(truth)) if isinstance(truth, frozenset) else truth

    def check(self, id_: str, given: Any) -> Note:
        """Judge an answer. A placeholder does not count as an attempt."""
        question = self.question(id_)
        mark = self.marks.setdefault(id_, Mark())
        if self.facts.get(question.fact) is None:
            mark.state = "untold"
            return Note(UNTOLD.render(self.lang), "untold")
        if compare.blank(given) and not self.solve:
            return Note(UNANSWERED.render(self.lang), "unanswered")
        done = RIGHT
        if compare.blank(given):
            given, done = self.answer(id_), SOLVED
        mark.tries += 1
        if self.right(question, given):
            mark.state = "right"
            shown = self.answer_shown(question)
            return Note(done.say(answer=shown, why=self.say(question.why)).render(self.lang), "right")
        # A right answer stays right, whatever is tried later.
        mark.state = mark.state if mark.state == "right" else "wrong"
        said = (
            given
            if isinstance(given, str | int | float)
            else ", ".join(map(str, given))
            if isinstance(given, list | tuple | set)
            else str(given)
        )
        return Note(WRONG.say(answer=clean(said, 80), reason=self.reason(question, given)).render(self.lang), "wrong")

    def answer_shown(self, question: Question) -> Any:
        truth = self.facts[question.fact]
        return sorted(truth) if isinstance(truth, frozenset) else truth

    def right(self, question: Question, given: Any) -> bool:
        if compare.same(given, self.facts[question.fact], question.kind, question.tolerance, question.aliases):
            return True
        also = self.facts.get(question.also) if question.also else None
        said = compare.words(given, question.aliases) if also else frozenset()
        return bool(said) and said <= compare.words(also)

    def reason(self, question: Question, given: Any) -> str:
        """Return why an answer is wrong: the misconception behind it if it is a known one."""
        for slip in question.slips:
            taken = self.facts.get(slip.fact) if slip.fact else slip.value
            if taken is None or self.right(question, taken):
                continue
            if question.kind == "words" and compare.words(taken) <= compare.words(given, question.aliases):
                return self.say(slip.text)
            if question.kind != "words" and compare.same(
                given, taken, question.kind, question.tolerance, question.aliases
            ):
                return self.say(slip.text)
        if question.kind in compare.NUMBERS:
            value = compare.number(given, question.kind)
            if value is None:
                return NO_NUMBER.say(unit=UNITS[question.kind]).render(self.lang)
            return (HIGH if value > self.facts[question.fact] else LOW).render(self.lang)
        said = (
            compare.words(given, question.aliases)
            if question.kind == "words"
            else {compare.word(given, question.aliases)}
        )
        if question.options and not said <= {compare.word(o) for o in question.options}:
            return NO_OPTION.say(options=list(question.options)).render(self.lang)
        return OTHER.render(self.lang)

    def scorecard(self) -> Scorecard:
        """Return the score: every question once, without those this evidence cannot answer."""
        rows, right, total, helped = [], 0, 0, 0
        for id_, question in self.questions.items():
            mark = self.marks.get(id_, Mark())
            untold = self.facts.get(question.fact) is None
            state: State = "untold" if untold else mark.state
            total += not untold
            right += state == "right"
            helped += state == "right" and (mark.hinted or mark.solved)
            aid = [text.render(self.lang) for text, used in ((HINTED, mark.hinted), (GIVEN, mark.solved)) if used]
            rows.append((id_, MARKS[state], mark.tries, ", ".join(aid), clean(self.say(question.ask), SHORT)))
        heads = pd.Index([HEADS[name].render(self.lang) for name in ("question", "state", "tries", "help", "what")])
        caption = SCORES.say(number=str(self.lab.number), right=right, total=total, helped=helped).render(self.lang)
        return Scorecard(right, total, helped, Table(pd.DataFrame(rows, columns=heads), caption, lang=self.lang))
