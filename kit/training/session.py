"""One lab in progress: its questions, the answers given, the replies to them; in Jupyter a question is a form."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, Literal

import attrs
import pandas as pd
from markupsafe import escape

from kit.charts import Table, clean
from kit.charts.controls import outputs
from kit.i18n import Lang, Sentence, T, labels
from kit.training import compare
from kit.training.bench import Bench
from kit.training.facts import neighbours, of_lab, of_one
from kit.training.lab import MIXED, Lab, Question, Slip, fill

State = Literal["right", "wrong", "unanswered", "untold"]
MARKS: Final[dict[State, str]] = {"right": "✓", "wrong": "✗", "unanswered": "…", "untold": "–"}
TEXTS: Final = labels("training")
SAYS: Final = TEXTS["session"]
SHORT: Final = 110
NONE: Final = "none"
ALIASES: Final = {"healthy": NONE, "nothing": NONE, "无": NONE, "没有": NONE, "健康": NONE}


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
        text = (f"{MARKS[self.state]} " if self.state else "") + clean(self.text)
        return {"text/plain": text, "text/html": "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))}


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
        self.lab, self.bench, self.solve = lab, bench, solve
        self.lang: Lang = bench.lang
        self.marks: dict[str, Mark] = {}
        self.said_unanswered = False
        self._asked: dict[str, Question] = {}

    @cached_property
    def ids(self) -> list[str]:
        if self.lab.number in MIXED:
            return [f"{self.lab.number}-{n}" for n in range(1, len(self.bench.paths) + 1)]
        return [question.id for question in self.lab.questions]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts of the lab; of a lab on several evidence sets those of the questions asked so far."""
        return {} if self.lab.number in MIXED else of_lab(self.lab, self.bench)

    def question(self, id_: str) -> Question:
        """Return a question. Raise `LabError` if no question has that id."""
        if id_ not in self.ids:
            raise LabError(self.tell("no_question", id=clean(id_, 40), known=self.ids))
        if id_ not in self._asked:
            n = self.ids.index(id_)
            if self.lab.number in MIXED:  # an evidence set is triaged when somebody asks for it
                self.facts.update(of_one(n + 1, self.bench.inquiry(n + 1).findings))
                self._asked[id_] = mixed_question(self.lab.number, n + 1, self.bench)
            else:
                self._asked[id_] = self.lab.questions[n]
        return self._asked[id_]

    def mark(self, id_: str) -> Mark:
        return self.marks.setdefault(self.question(id_).id, Mark())

    def say(self, text: T) -> str:
        return fill(text, self.facts, self.lang)

    def tell(self, name: str, **values: Any) -> str:
        """Return a sentence of `SAYS`."""
        return SAYS[name].say(**values).render(self.lang)

    def ask(self, id_: str) -> Note:
        """Return the question and what to choose from."""
        question = self.question(id_)
        lines = [f"{question.id}  {self.say(question.prompt)}"]
        if question.options:
            choose = {"words": "choose_some", "order": "put_in_order"}.get(question.kind, "choose")
            # In the file the steps are in their order; by name they are not.
            names = sorted(question.options) if question.kind == "order" else list(question.options)
            lines += [self.tell(choose), *(f"{name}: {self.say(question.options[name])}" for name in names)]
        return Note("\n".join(lines))

    def hint(self, id_: str) -> Note:
        self.mark(id_).hinted = True
        return Note(self.say(self.question(id_).hint))

    def answer(self, id_: str) -> Any:
        """Return the answer from this evidence; None if the evidence does not show it."""
        self.mark(id_).solved = True
        truth = _listed(self.facts.get(self.question(id_).answer))
        return ", ".join(truth) if isinstance(truth, list) else truth

    def check(self, id_: str, given: Any) -> Note:
        """Judge an answer. A placeholder does not count as an attempt; that nothing is answered yet is said once."""
        question, mark = self.question(id_), self.mark(id_)
        if self.facts.get(question.answer) is None:
            mark.state = "untold"
            return Note(self.tell("untold"), "untold")
        reply = "right"
        if compare.blank(given):
            if not self.solve:
                said, self.said_unanswered = self.said_unanswered, True
                return Note("" if said else self.tell("unanswered"), "unanswered")
            given, reply = self.answer(id_), "solved"
        mark.tries += 1
        if self.right(question, given):
            mark.state = "right"
            answer = _listed(self.facts[question.answer])
            return Note(self.tell(reply, answer=answer, why=self.say(question.explanation)), "right")
        # A right answer stays right, whatever is tried later.
        mark.state = "right" if mark.state == "right" else "wrong"
        answer = given if isinstance(given, str | int | float) else ", ".join(map(str, _listed(given)))
        return Note(self.tell("wrong", answer=clean(answer, 80), reason=self.reason(question, given)), "wrong")

    def right(self, question: Question, given: Any) -> bool:
        if compare.same(given, self.facts[question.answer], question):
            return True
        also = self.facts.get(question.also) if question.also else None
        said = set(compare.choices(given, question)) if also else set()
        return bool(said) and said <= set(compare.choices(also, question))

    def reason(self, question: Question, given: Any) -> str:
        """Return why an answer is wrong: the misconception behind it if it is a known one."""
        for slip in question.slips:
            taken = self.facts.get(slip.taken_for) if slip.taken_for else slip.value
            if taken is not None and not self.right(question, taken) and _names(given, taken, question):
                return self.say(slip.feedback)
        truth = self.facts[question.answer]
        if question.kind in compare.UNITS:
            value = compare.number(given, question.kind)
            if value is None:
                return self.tell("no_number", unit=TEXTS["units"][question.kind])
            return self.tell("high" if value > truth else "low")
        said = set(compare.choices(given, question))
        if question.options and not said <= {compare.word(option) for option in question.options}:
            return self.tell("no_option", options=list(question.options))
        out_of_order = question.kind == "order" and said == set(compare.choices(truth, question))
        return self.tell("out_of_order" if out_of_order else "other")

    def scorecard(self) -> Scorecard:
        """Return the score: every question once, without those this evidence cannot answer."""
        rows = []
        for id_ in self.ids:
            question = self.question(id_)
            mark = self.marks.get(id_, Mark())
            state: State = "untold" if self.facts.get(question.answer) is None else mark.state
            help_ = [self.tell(name) for name, used in (("hinted", mark.hinted), ("given", mark.solved)) if used]
            rows.append((id_, state, mark.tries, ", ".join(help_), clean(self.say(question.prompt), SHORT)))
        frame = pd.DataFrame(rows, columns=pd.Index(["question", "state", "tries", "help", "what"]))
        right = frame["state"] == "right"
        score = int(right.sum()), int((frame["state"] != "untold").sum()), int((right & (frame["help"] != "")).sum())
        caption = self.tell("scores", number=str(self.lab.number), right=score[0], total=score[1], helped=score[2])
        shown = frame.assign(state=frame["state"].map(MARKS))
        return Scorecard(*score, Table(shown, caption, TEXTS["heads"], self.lang))


def _names(given: Any, taken: Any, question: Question) -> bool:
    """Return whether an answer is what something was taken for, or names it among others."""
    if question.kind == "words":
        return set(compare.choices(taken, question)) <= set(compare.choices(given, question))
    return compare.same(given, taken, question)


def _listed(value: Any) -> Any:
    """Return several words as a list, sets in the order of the alphabet; one value as it is."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    return list(value) if isinstance(value, list | tuple) else value


def mixed_question(lab: int, n: int, bench: Bench) -> Question:
    """Return the question which root cause the nth evidence of a lab has."""
    found = bench.inquiry(n).findings
    roots = [f for f in found["findings"] if f["cause"] in found["root_causes"]]
    why = SAYS["quiet"].say(beside=neighbours(found) or SAYS["nothing"])
    if roots:
        why = SAYS["summary"].say(summary=" ".join(f["summary"] for f in roots))
    slips = [Slip(_text(_slip(f)), value=f["cause"]) for f in found["findings"] if f not in roots]
    titles = {
        f["cause"]: SAYS["summary"].say(summary=f["title"]) for f in found["findings"] if f["kind"] == "root_cause"
    }
    return Question(
        id=f"{lab}-{n}",
        kind="words",
        answer=f"cause_{n}",
        also=f"also_{n}",
        prompt=_text(SAYS["ask"].say(n=n)),
        hint=_text(TEXTS["hints"][str(lab)]),
        explanation=_text(why),
        slips=(*slips, Slip(_text(SAYS["is_something"]), value=NONE)),
        options={cause: _text(title) for cause, title in titles.items()} | {NONE: _text(SAYS["none_of_them"])},
        aliases=ALIASES,
    )


def _slip(finding: Any) -> Sentence:
    """Return what to say to somebody who names a cause that it is not: the step that is false, where there is one."""
    if finding["verdict"] == "confirmed":
        return SAYS["neighbour"].say(summary=finding["summary"])
    false = next((s["claim"] for s in finding["steps"] if s["role"] == "deciding" and s["holds"] is False), None)
    return SAYS["open"].say(summary=finding["summary"]) if false is None else SAYS["ruled_out"].say(claim=false)


def _text(sentence: Sentence) -> T:
    """Return a finished sentence as a text of a question: its braces are no facts."""
    return T(*(sentence.render(lang).replace("{", "{{").replace("}", "}}") for lang in ("en", "zh")))


def form(session: Session, id_: str) -> Any:
    """Return a question with a field, buttons for `check` and `hint`, and a space for notes."""
    import ipywidgets

    question = session.question(id_)
    label = {"description": id_, "style": {"description_width": "initial"}}
    if question.options and question.kind == "word":
        options = [("", None), *((clean(session.say(text), 100), name) for name, text in question.options.items())]
        field = ipywidgets.Dropdown(options=options, layout={"width": "90%"}, **label)
    else:
        field = ipywidgets.Text(placeholder=session.tell("place"), **label)
    # Notes go into an output by their data, not by a display hook: a callback may run in any thread.
    asked, notes = ipywidgets.Output(outputs=outputs([session.ask(id_)])), ipywidgets.Output()
    buttons = []
    for name, act in (("check", lambda: session.check(id_, field.value)), ("hint", lambda: session.hint(id_))):
        button = ipywidgets.Button(description=session.tell(name))
        button.on_click(lambda _, act=act: setattr(notes, "outputs", outputs([act()])))
        buttons.append(button)
    return ipywidgets.VBox([asked, ipywidgets.HBox([field, *buttons]), notes])
