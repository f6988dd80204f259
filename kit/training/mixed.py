"""The questions of labs 85 and 86: which root cause each evidence set has, or none; the sets are shuffled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.i18n import Sentence, T, labels
from kit.training.facts import neighbours
from kit.training.lab import Question, Slip

if TYPE_CHECKING:
    from kit.training.bench import Bench

NONE: Final = "none"
ALIASES: Final = {"healthy": NONE, "nothing": NONE, "无": NONE, "没有": NONE, "健康": NONE}
SAYS: Final = labels("training")["mixed"]
HINTS: Final = labels("training")["hints"]


def question(lab: int, n: int, bench: Bench) -> Question:
    """Return the question which root cause the nth evidence of a lab has."""
    found = bench.inquiry(n).findings
    roots = [f for f in found["findings"] if f["cause"] in found["root_causes"]]
    slips = [Slip(_slip(f), value=f["cause"]) for f in found["findings"] if f not in roots]
    options = {
        f["cause"]: _text(SAYS["summary"].say(summary=f["title"]))
        for f in found["findings"]
        if f["kind"] == "root_cause"
    }
    summary = " ".join(f["summary"] for f in roots)
    return Question(
        id=f"{lab}-{n}",
        kind="words",
        answer=f"cause_{n}",
        also=f"also_{n}",
        prompt=_text(SAYS["ask"].say(n=n)),
        hint=_text(HINTS[str(lab)]),
        explanation=_text(
            SAYS["summary"].say(summary=summary)
            if roots
            else SAYS["quiet"].say(beside=neighbours(found) or SAYS["nothing"])
        ),
        slips=(*slips, Slip(_text(SAYS["is_something"]), value=NONE)),
        options=options | {NONE: _text(SAYS["none_of_them"])},
        aliases=ALIASES,
    )


def _slip(finding: Any) -> T:
    """Return what to say to somebody who names a cause that it is not: the step that is false, where there is one."""
    false = next((s["claim"] for s in finding["steps"] if s["role"] == "deciding" and s["holds"] is False), None)
    if finding["verdict"] == "confirmed":
        return _text(SAYS["neighbour"].say(summary=finding["summary"]))
    return _text(
        SAYS["ruled_out"].say(claim=false) if false is not None else SAYS["open"].say(summary=finding["summary"])
    )


def _text(sentence: Sentence) -> T:
    """Return a finished sentence as a text of a question: its braces are no facts."""
    en, zh = (sentence.render(lang).replace("{", "{{").replace("}", "}}") for lang in ("en", "zh"))
    return T(en, zh)
