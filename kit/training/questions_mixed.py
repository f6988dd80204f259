"""Lab 85, several evidence sets in no order: say of each which root cause it is, or that there is no root cause."""

from __future__ import annotations

from typing import Any, Final

from kit.i18n import Sentence, T
from kit.training.bench import Bench
from kit.training.question import Lab, Question, Slip

NONE: Final = "none"
ASK = T("Evidence {n}: which root cause is it, or none?")
HINT = T(
    "Look at its topics, then at what its logs complain about. What would have to be there for each cause, and is it?"
)
WHY = T("{summary}")
QUIET = T("No root cause is confirmed there. Beside it: {beside}.")
NOTHING = T("nothing")
NEIGHBOUR = T("It is there, but as a neighbour: it happens beside a root cause, or looks like one. {summary}")
RULED_OUT = T("It is ruled out: this deciding step is not so. “{claim}”")
OPEN = T("It is not proven by this evidence. {summary}")
IS_SOMETHING = T("Something is wrong there. Look at what its logs say most, and at rows beside messages.")


def facts(bench: Bench) -> dict[str, Any]:
    """Return, for each evidence n, `cause_n` (root causes, or none) and `also_n` (neighbours, where there is no root cause)."""
    found: dict[str, Any] = {}
    for n in range(1, len(bench.paths) + 1):
        told = bench.inquiry(n).findings
        roots = frozenset(told["root_causes"])
        found[f"cause_{n}"] = roots or frozenset({NONE})
        # Who names the neighbour of an evidence without a root cause has understood it.
        found[f"also_{n}"] = frozenset() if roots else frozenset({NONE, *_beside(told)})
    return found


def _beside(told: Any) -> list[str]:
    return [f["cause"] for f in told["findings"] if f["verdict"] == "confirmed" and f["kind"] != "root_cause"]


def questions(bench: Bench) -> tuple[Question, ...]:
    return tuple(of_evidence(bench, n, 85, HINT) for n in range(1, len(bench.paths) + 1))


def of_evidence(bench: Bench, n: int, lab: int, hint: T) -> Question:
    """Return the question which root cause the nth evidence of a lab has."""
    told = bench.inquiry(n).findings
    options: dict[str, Sentence] = {
        f["cause"]: WHY.say(summary=f["title"]) for f in told["findings"] if f["kind"] == "root_cause"
    }
    options[NONE] = T_NONE
    slips = tuple(_slip(f) for f in told["findings"] if f["cause"] not in told["root_causes"])
    roots = [f for f in told["findings"] if f["cause"] in told["root_causes"]]
    why = (
        WHY.say(summary=" ".join(f["summary"] for f in roots)) if roots else QUIET.say(beside=_beside(told) or NOTHING)
    )
    return Question(
        f"{lab}-{n}",
        "words",
        f"cause_{n}",
        ASK.say(n=n),
        hint,
        why,
        (*slips, Slip(IS_SOMETHING, value=NONE)),
        options,
        {"healthy": NONE, "nothing": NONE, "无": NONE, "没有": NONE, "健康": NONE},
        also=f"also_{n}",
    )


def _slip(finding: Any) -> Slip:
    """Return what to say to somebody who names a cause that it is not: the step that is false, where there is one."""
    false = next((s["claim"] for s in finding["steps"] if s["role"] == "deciding" and s["holds"] is False), None)
    if finding["verdict"] == "confirmed":
        return Slip(NEIGHBOUR.say(summary=finding["summary"]), value=finding["cause"])
    if false is not None:
        return Slip(RULED_OUT.say(claim=false), value=finding["cause"])
    return Slip(OPEN.say(summary=finding["summary"]), value=finding["cause"])


T_NONE: Final = T("none of them")

LAB: Final = Lab(85, T("Which one is it?"), questions, facts, several=True)
