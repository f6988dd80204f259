"""What is asked: the labs of `questions/*.yaml`, English and Chinese side by side; their questions are numbered from 1.

`answer`, the names of slips of numbers and the placeholders of texts are facts: figures and queries that the lab's file
names, and what is worked out from these. One that this evidence does not show is None or absent, and its question is
marked and not counted; several words are a list.
"""

from collections.abc import Callable
from functools import cache, reduce
from typing import Any, Final, Literal

import msgspec

from kit import data
from kit.analysis import send_back, sizes
from kit.analysis.messages import lookups
from kit.analysis.sends.attempts import REFUSALS
from kit.i18n import T
from kit.notebook.inquiry import Inquiry
from kit.rocketmq import config, names, placement
from kit.training.bench import Bench


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One question. `options`: words to choose from, with what they mean.

    `slips`: wrong answers with a reason each: a word, or of a number the fact it is mistaken for, or the number itself.
    `options_in`: further options that the kit has sentences for elsewhere: `FILE.yaml#KEY/KEY`. With options `kind` is
    `word`, else `number`, unless it is given.
    """

    kind: Literal["number", "word", "words"] = "number"
    answer: str
    prompt: T
    hint: T
    explanation: T
    slips: dict[str, T] = {}
    options: dict[str, T] = {}
    options_in: str = ""
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if self.options_in:
            file, _, keys = self.options_in.partition("#")
            rows: Any = reduce(lambda rows, key: rows[key], keys.split("/"), data.read(file, dict[str, Any]))
            self.options.update(msgspec.convert(rows, dict[str, T]))
        if self.options and self.kind == "number":
            msgspec.structs.force_setattr(self, "kind", "word")


class Lab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One training lab. `figures`: fact → cause.figure; `facts`: queries whose columns are facts.

    With a `hint` and without questions it is on several evidence sets: the same question for each of them.
    """

    number: int
    hint: T | None = None
    figures: dict[str, str] = {}
    facts: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


@cache
def labs() -> dict[int, Lab]:
    files = (data.KIT / "training" / "questions").glob("*.yaml")
    read = [data.read(f"training/questions/{file.name}", Lab) for file in files]
    return {lab.number: lab for lab in sorted(read, key=lambda lab: lab.number)}


Facts = dict[str, Any]
SAYS_BROKER_BUSY: Final = ("PC_SYNCHRONIZED", "PCBUSY_CLEAN_QUEUE", "TIMEOUT_CLEAN_QUEUE")
"""Kinds whose text says “broker busy”: BrokerFastFailure, SendMessageProcessor; REJECTREQUEST says “system busy”."""
MEASURES: Final = {"total": "record", "body": "stored-body", "body+64k": "stored-body"}


def of_lab(lab: Lab, bench: Bench) -> Facts:
    """Return the facts of a lab: figures, answers to its queries, and what is worked out from these."""
    named = {fact: name.partition(".") for fact, name in lab.figures.items()}
    inquiry = bench.inquiry()
    facts: Facts = {fact: inquiry.finding(cause)["figures"].get(figure) for fact, (cause, _, figure) in named.items()}
    for query in lab.facts:
        facts |= bench.answer(query, facts)
    return facts | WORKED_OUT[lab.number](inquiry, facts)


def half_topic(inquiry: Inquiry, facts: Facts) -> Facts:
    back = send_back.examine(inquiry.case.facts)
    length, pending = facts["length"], facts["pending"]
    return {
        "unfinished": None if pending is None else pending + (facts["discarded"] or 0),
        "refusals": back.refusals,
        "reason": back.reason if back.refusals else None,
        "group_length": None if length is None else length - len(names.RETRY_PREFIX),
        "length_limit": send_back.store_limit(inquiry.case.facts),
    }


def message_size(inquiry: Inquiry, facts: Facts) -> Facts:
    return {
        "default_limit": config.default_of("maxMessageSize", None),
        "measure": MEASURES.get(sizes.limits(inquiry.case.facts).how or ""),
        "safe": min((size for size in (facts["safe_bodies"] or {}).values() if size is not None), default=None),
        "planned": 60 << 10,
    }


def message_identity(inquiry: Inquiry, _: Facts) -> Facts:
    looked_up = next((one for one in lookups.lookups(inquiry.case.facts) if one.wrong), None)
    if looked_up is None:
        return {}
    asked = next(iter(looked_up.ids), "")
    kind = {"uniq": "uniq-key", "offset": "offset-id"}.get(lookups.kinds(inquiry.case.facts, {asked}).get(asked, ""))
    return {"asked": asked, "command": looked_up.command, "address": looked_up.address, "kind": kind}


def broker_busy(inquiry: Inquiry, facts: Facts) -> Facts:
    errors, tries = facts["errors"] or {}, facts["attempts"] or {}
    why = next(iter(facts["explanations"] or ()), {"why": None, "share": None})
    stored = {kind: n["stored"] for kind, n in (facts["outcome"] or {}).items()}
    refused = {kind: n for kind, n in errors.items() if kind in REFUSALS}
    known = bool(refused) and facts["outcome"] is not None
    return {
        "copies": len(inquiry.table("duplicated")) or None,
        "why": why["why"],
        "share": None if why["share"] is None else f"{why['share']:.0%}",
        "tries": sum(tries.values()) or None,
        "commonest": max(refused, key=lambda kind: refused[kind]) if refused else None,
        "says_busy": sum(refused.get(kind, 0) for kind in SAYS_BROKER_BUSY) or None,
        "says_busy_stored": sum(stored.get(kind, 0) for kind in SAYS_BROKER_BUSY) if known else None,
        "kinds_stored": sorted(kind for kind, n in stored.items() if n) or None,
    }


def transactions(_: Inquiry, __: Facts) -> Facts:
    return {
        "unsafe": placement.unsafe(looks_at_status=True),
        "unsafe_unchecked": placement.unsafe(looks_at_status=False),
    }


WORKED_OUT: Final[dict[int, Callable[[Inquiry, Facts], Facts]]] = {
    80: half_topic, 81: message_size, 82: message_identity, 83: broker_busy, 84: transactions,
}  # fmt: skip
