"""One lab in progress: its questions, the answers given, the replies to them; and how a typed answer is compared with
the true one: strict about values, lenient about case and signs.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final, Literal

import attrs
import pandas as pd
from markupsafe import escape

from kit.charts import COLUMNS, Table, clean
from kit.i18n import Filled, Lang, T, labels
from kit.training.bench import Bench
from kit.training.lab import Lab, Question, of_lab

State = Literal["right", "wrong", "unanswered", "untold"]
MARKS: Final[dict[State, str]] = {"right": "✓", "wrong": "✗", "unanswered": "…", "untold": "–"}
SAYS: Final = labels("training")["session"]
SHORT: Final = 110
NONE: Final = "none"


class LabError(ValueError):
    """An unknown lab or question, or a lab not opened yet."""


@attrs.frozen
class Note:
    """A note to the learner; `state` if it judges an answer."""

    text: str
    state: State | None = None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        text = (f"{MARKS[self.state]} " if self.state else "") + clean(self.text)
        return {"text/plain": text, "text/html": "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))}


class Session:
    """A lab on its evidence. `solve`: unanswered questions are answered by the lab itself.

    `states`: of the questions answered so far; `help`: of each question `hinted`, `given`.
    """

    def __init__(self, lab: Lab, bench: Bench, solve: bool = False) -> None:
        self.lab, self.bench, self.solve = lab, bench, solve
        self.lang: Lang = bench.lang
        self.ids = [f"{lab.number}-{n}" for n, _ in enumerate(bench.paths if lab.hint else lab.questions, 1)]
        self.states: dict[str, State] = {}
        self.help: defaultdict[str, set[str]] = defaultdict(set)
        self._asked = dict(zip(self.ids, lab.questions, strict=not lab.hint))

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts of the lab; of a lab on several evidence sets those of the questions asked so far."""
        return {} if self.lab.hint else of_lab(self.lab, self.bench)

    def question(self, id_: str) -> Question:
        """Return a question. Raise `LabError` if no question has that id."""
        if id_ not in self.ids:
            raise LabError(self.tell("no_question", id=clean(id_, 40), known=self.ids))
        if id_ not in self._asked:  # an evidence set is triaged when somebody asks for it
            self._asked[id_] = self._which_cause(self.ids.index(id_) + 1)
        return self._asked[id_]

    def _which_cause(self, n: int) -> Question:
        findings = self.bench.inquiry(n).findings
        roots = {f["cause"]: f for f in findings["findings"] if f["cause"] in findings["root_causes"]}
        others = [f for f in findings["findings"] if f["cause"] not in roots]
        beside = [f["cause"] for f in others if f["verdict"] == "confirmed" and f["kind"] != "root_cause"]
        self.facts[f"cause_{n}"] = sorted(roots) or [NONE]
        quiet = self.tell("quiet", beside=beside or SAYS["nothing"])
        options = {f["cause"]: _text(f["title"]) for f in findings["findings"] if f["kind"] == "root_cause"}
        return Question(
            kind="words",
            answer=f"cause_{n}",
            prompt=_text(self.tell("ask", n=n)),
            hint=self.lab.hint or T(""),
            explanation=_text(" ".join(f["summary"] for f in roots.values()) or quiet),
            slips={f["cause"]: _text(self._not_it(f)) for f in others} | {NONE: SAYS["is_something"]},
            options=options | {NONE: SAYS["none_of_them"]},
        )

    def _not_it(self, finding: Any) -> str:
        """Return what to say to somebody who names a cause that it is not: the step that is false, if there is one."""
        if finding["verdict"] == "confirmed":
            return self.tell("neighbour", summary=finding["summary"])
        false = [s["claim"] for s in finding["steps"] if s["role"] == "deciding" and s["holds"] is False]
        return self.tell("ruled_out", claim=false[0]) if false else self.tell("open", summary=finding["summary"])

    def say(self, text: T) -> str:
        """Return a text with the facts filled in; a fact that this evidence lacks is unknown."""
        return Filled(text, defaultdict(lambda: None, self.facts)).render(self.lang)

    def tell(self, name: str, **values: Any) -> str:
        return SAYS[name].say(**values).render(self.lang)

    def ask(self, id_: str) -> Note:
        question = self.question(id_)
        lines = [f"{id_}  {self.say(question.prompt)}"]
        if question.options:
            lines.append(self.tell("choose_some" if question.kind == "words" else "choose"))
            lines += [f"{name}: {self.say(text)}" for name, text in question.options.items()]
        return Note("\n".join(lines))

    def hint(self, id_: str) -> Note:
        question = self.question(id_)
        self.help[id_].add("hinted")
        return Note(self.say(question.hint))

    def answer(self, id_: str) -> Any:
        """Return the answer from this evidence; None if the evidence does not show it."""
        truth: Any = self.facts.get(self.question(id_).answer)
        self.help[id_].add("given")
        return truth if single(truth) else ", ".join(truth)

    def check(self, id_: str, given: Any) -> Note:
        """Judge an answer. A placeholder (None, `...`, a text without letters and digits) does not count as one."""
        question = self.question(id_)
        truth, reply = self.facts.get(question.answer), "right"
        if truth is None:
            return Note(self.tell("untold"), "untold")
        if given is None or given is ... or not word(given):
            if not self.solve:
                return Note(self.tell("unanswered"), "unanswered")
            given, reply = self.answer(id_), "solved"
        if same(given, truth, question):
            self.states[id_] = "right"
            return Note(self.tell(reply, answer=truth, why=self.say(question.explanation)), "right")
        self.states.setdefault(id_, "wrong")  # a right answer stays right, whatever is tried later
        answer = clean(given if single(given) else ", ".join(map(str, given)), 80)
        return Note(self.tell("wrong", answer=answer, reason=self.reason(question, given)), "wrong")

    def reason(self, question: Question, given: Any) -> str:
        """Return why an answer is wrong: the misconception behind it if it is a known one."""
        is_number, chosen = question.kind == "number", set(choices(given, question))
        truth = self.facts[question.answer]
        for slip, feedback in question.slips.items():
            taken = self.facts.get(slip, number(slip)) if is_number else slip
            if taken is None or same(taken, truth, question):
                continue
            if same(given, taken, question) if is_number else word(slip) in chosen:
                return self.say(feedback)
        if is_number:
            value = number(given)
            if value is None:
                return self.tell("no_number")
            return self.tell("high" if value > truth else "low")
        if question.options and not chosen <= {word(option) for option in question.options}:
            return self.tell("no_option", options=list(question.options))
        return self.tell("other")

    def scorecard(self) -> Table:
        """Return every question, and how many are right of those that this evidence can answer."""
        rows = []
        for id_ in self.ids:
            question = self.question(id_)
            is_told = self.facts.get(question.answer) is not None
            state = self.states.get(id_, "unanswered") if is_told else "untold"
            helped = ", ".join(self.tell(name) for name in sorted(self.help[id_], reverse=True))
            rows.append((id_, state, helped, clean(self.say(question.prompt), SHORT)))
        frame = pd.DataFrame(rows, columns=pd.Index(["id", "state", "help", "question"]))
        right = frame[frame["state"] == "right"]
        total, with_help = int((frame["state"] != "untold").sum()), int((right["help"] != "").sum())
        caption = SAYS["scores"].say(number=str(self.lab.number), right=len(right), total=total, helped=with_help)
        return Table(frame.assign(state=frame["state"].map(MARKS)), caption, COLUMNS, self.lang)


def _text(finished: str) -> T:
    return T(finished.replace("{", "{{").replace("}", "}}"))


_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_LISTED: Final = re.compile(r"[,;/+&、]|\band\b|和|与")
MOST: Final = 400
"""Most characters of an answer that are used."""


def number(given: Any) -> float | None:
    """Return a typed number, its thousands separated by commas or not; None for anything else."""
    # A cut-off text is never read as a number: it would be a different one.
    if isinstance(given, str) and len(given) <= MOST and _NUMBER.fullmatch(_typed(given)):
        return float(_typed(given).replace(",", ""))
    known = isinstance(given, int | float) or hasattr(given, "item")
    return float(given) if known and not isinstance(given, bool) and math.isfinite(given) else None


def single(value: Any) -> bool:
    return isinstance(value, str) or not isinstance(value, Iterable)


def word(given: Any) -> str:
    """Return one word normalised: lower case, `-` for everything that is neither letter nor digit."""
    return re.sub(r"[\W_]+", "-", _typed(str(given)).casefold()).strip("-")


def choices(given: Any, question: Question) -> list[str]:
    """Return the words of an answer in order."""
    listed = isinstance(given, str) and question.kind != "word"
    parts = _LISTED.split(_typed(given)) if listed else [given] if single(given) else given
    return [name for name in map(word, parts) if name]


def same(given: Any, truth: Any, question: Question) -> bool:
    """Return whether an answer is the true one; a number may be off by the question's tolerance, a share of it."""
    if question.kind == "number":
        value = number(given)
        return value is not None and abs(value - float(truth)) <= max(question.tolerance * abs(float(truth)), 1e-9)
    return set(choices(given, question)) == set(choices(truth, question))


def _typed(text: str) -> str:
    """Return a text stripped, with full-width forms and unusual blanks normalised."""
    return unicodedata.normalize("NFKC", text[:MOST]).strip()
