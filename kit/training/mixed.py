"""The questions of labs 85 and 86: which root cause each evidence set has, or none; the sets are shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.i18n import Sentence, T
from kit.training.facts import neighbours
from kit.training.lab import Question, Slip

if TYPE_CHECKING:
    from kit.training.bench import Bench

NONE: Final = "none"
ALIASES: Final = {"healthy": NONE, "nothing": NONE, "无": NONE, "没有": NONE, "健康": NONE}
ASK = T("Evidence {n}: which root cause is it, or none?")
HINTS: Final = {
    85: T(
        "Look at its topics, then at what its logs complain about. What would have to be there for each cause, and is it?"
    ),
    86: T(
        "Which queues lag: all, some or none? Do their offsets move? Who pulls each of them, and what does that client subscribe to?"
    ),
}
QUIET = T("No root cause is confirmed there. Beside it: {beside}.")
NOTHING, NONE_OF_THEM = T("nothing"), T("none of them")
SAYS = T("{summary}")
NEIGHBOUR = T("It is there, but as a neighbour: it happens beside a root cause, or looks like one. {summary}")
RULED_OUT = T("It is ruled out: this deciding step is not so. “{claim}”")
OPEN = T("It is not proven by this evidence. {summary}")
IS_SOMETHING = T("Something is wrong there. Look at what its logs say most, and at rows beside messages.")


def question(lab: int, n: int, bench: Bench) -> Question:
    """Return the question which root cause the nth evidence of a lab has."""
    found = bench.inquiry(n).findings
    roots = [f for f in found["findings"] if f["cause"] in found["root_causes"]]
    slips = [Slip(_slip(f), value=f["cause"]) for f in found["findings"] if f not in roots]
    options = {f["cause"]: _text(SAYS.say(summary=f["title"])) for f in found["findings"] if f["kind"] == "root_cause"}
    summary = " ".join(f["summary"] for f in roots)
    return Question(
        id=f"{lab}-{n}",
        kind="words",
        answer=f"cause_{n}",
        also=f"also_{n}",
        prompt=_text(ASK.say(n=n)),
        hint=_text(HINTS[lab]),
        explanation=_text(SAYS.say(summary=summary) if roots else QUIET.say(beside=neighbours(found) or NOTHING)),
        slips=(*slips, Slip(_text(IS_SOMETHING), value=NONE)),
        options=options | {NONE: _text(NONE_OF_THEM)},
        aliases=ALIASES,
    )


def _slip(finding: Any) -> T:
    """Return what to say to somebody who names a cause that it is not: the step that is false, where there is one."""
    false = next((s["claim"] for s in finding["steps"] if s["role"] == "deciding" and s["holds"] is False), None)
    if finding["verdict"] == "confirmed":
        return _text(NEIGHBOUR.say(summary=finding["summary"]))
    return _text(RULED_OUT.say(claim=false) if false is not None else OPEN.say(summary=finding["summary"]))


def _text(sentence: Sentence) -> T:
    """Return a finished sentence as a text of a question: its braces are no facts."""
    en, zh = (sentence.render(lang).replace("{", "{{").replace("}", "}}") for lang in ("en", "zh"))
    return T(en, zh)
