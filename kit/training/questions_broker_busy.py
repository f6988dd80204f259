"""Lab 83, the busy broker: which sends failed, which of them are lost, and whether “system busy loses messages, broker busy does not”."""

from __future__ import annotations

from typing import Any, Final

from kit.analysis.sends.attempts import REFUSALS
from kit.causes.root_causes.texts.broker_busy import WHYS
from kit.i18n import T
from kit.training.bench import Bench
from kit.training.question import Lab, Question, Slip

CAUSE: Final = "broker-busy"

SAYS_BROKER_BUSY: Final = ("PC_SYNCHRONIZED", "PCBUSY_CLEAN_QUEUE", "TIMEOUT_CLEAN_QUEUE")
"""Kinds whose text says “broker busy”: broker/latency/BrokerFastFailure, broker/processor/SendMessageProcessor. REJECTREQUEST says “system busy”."""
KINDS: Final = {
    "REJECTREQUEST": T("[REJECTREQUEST]system busy: refused on arrival"),
    "PC_SYNCHRONIZED": T("[PC_SYNCHRONIZED]broker busy: refused while appending"),
    "PCBUSY_CLEAN_QUEUE": T("[PCBUSY_CLEAN_QUEUE]broker busy: taken out of the queue, page cache busy"),
    "TIMEOUT_CLEAN_QUEUE": T("[TIMEOUT_CLEAN_QUEUE]broker busy: waited too long in the queue"),
    "CLIENT_TIMEOUT": T("the client's own time-out: no answer in time"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, sums over its kinds, and what they are mistaken for."""
    figures = bench.figures(CAUSE)
    errors: dict[str, int] | None = figures["errors_by_kind"]
    outcome: dict[str, dict[str, int]] | None = figures["outcome_by_kind"]
    tries = figures["attempts_by_kind"]
    stored = {kind: n["stored"] for kind, n in (outcome or {}).items()}
    refused = {kind: n for kind, n in (errors or {}).items() if kind in REFUSALS}
    copies = bench.table("duplicated")
    return {
        "failed": figures["sends_failed"],
        "tries": sum(tries.values()) if tries else None,
        "refused": sum(refused.values()) if refused else None,
        "commonest": max(refused, key=lambda kind: refused[kind]) if refused else None,
        "timed_out": (errors or {}).get("CLIENT_TIMEOUT"),
        "stored": figures["failed_but_stored"],
        "lost": figures["lost"],
        "twice": figures["stored_twice"],
        "copies": len(copies) or None,
        "says_busy": sum(n for kind, n in refused.items() if kind in SAYS_BROKER_BUSY) or None,
        "says_busy_stored": None
        if not refused or outcome is None
        else sum(stored.get(kind, 0) for kind in SAYS_BROKER_BUSY),
        "kinds_stored": frozenset(kind for kind, n in stored.items() if n) or None,
        **_pauses(bench),
        **_why(bench),
    }


def _pauses(bench: Bench) -> dict[str, Any]:
    pauses, stalls = bench.table("busy_pauses"), bench.table("busy_stalls")
    if pauses.empty:
        return {"longest": None, "burst": None, "pauses": None}
    longest = (pauses["end_ms"] - pauses["start_ms"]).max() / 1000
    return {
        "longest": float(longest),
        "pauses": len(pauses),
        "burst": float(stalls["seconds"].max()),
        "together": float(stalls["stood_seconds"].sum()),
    }


def _why(bench: Bench) -> dict[str, Any]:
    why = bench.table("busy_why")
    if why.empty:
        return {"why": None, "share": None}
    first = why.sort_values("rank").iloc[0]
    share = first["share"]
    return {"why": str(first["why"]), "share": None if share != share or share is None else f"{share:.0%}"}


QUESTIONS: Final = (
    Question(
        "83-1",
        "count",
        "failed",
        T("“system busy”, “broker busy”, timeouts. How many sends failed for the application, that is: threw?"),
        T("A send is a call of the application. Its own ledger has one row for each."),
        T("The client made {tries} {tries:failed attempt|failed attempts} for them."),
        (Slip(T("Those are attempts. A call that times out is tried again, and is still one call."), "tries"),),
    ),
    Question(
        "83-2",
        "word",
        "commonest",
        T("Which kind of refusal was the commonest?"),
        T("The kind is in brackets in the broker's answer. The client's own time-out is no refusal."),
        T("The client does not retry any of these: code 2 is not among the codes its send loop retries."),
        (
            Slip(
                T(
                    "No broker refused those: the client gave up waiting. What the broker did with them is another question."
                ),
                value="CLIENT_TIMEOUT",
            ),
        ),
        KINDS,
    ),
    Question(
        "83-3",
        "seconds",
        "longest",
        T("How many seconds did the longest single standstill of the broker last?"),
        T("No record is stored although messages are waiting: a hole in the store times."),
        T("There were {pauses} of them."),
        (
            Slip(T("That is a burst: several short standstills, with work in between."), "burst"),
            Slip(T("That is all of them together."), "together"),
        ),
        tolerance=0.05,
    ),
    Question(
        "83-4",
        "count",
        "stored",
        T("How many of the failed sends are stored all the same?"),
        T("Look the keys of the failed sends up in the store."),
        T("The sender was told of a failure, and consumers got the message."),
        (
            Slip(T("An exception says that no answer came, or a bad one; not that nothing was written."), value="0"),
            Slip(T("Those are the lost ones."), "lost"),
            Slip(T("Those are stored more than once; many others are stored once."), "twice"),
        ),
    ),
    Question(
        "83-5",
        "count",
        "says_busy_stored",
        T(
            "“System busy loses messages, broker busy does not.” How many sends refused with “broker busy” are in the store?"
        ),
        T("Kinds other than REJECTREQUEST say “broker busy”. Hold each kind against the store."),
        T("Of {says_busy} refused so. The belief is wrong: a refusal, whatever its words, came before the write."),
        (
            Slip(
                T(
                    "That is how many were refused so, and the belief is that they are safe. Look their keys up: a refused request was never written."
                ),
                "says_busy",
            ),
            Slip(T("Those are stored, but none of them was refused: look at their kind."), "stored"),
        ),
    ),
    Question(
        "83-6",
        "words",
        "kinds_stored",
        T("Of which kinds are the failed sends that are stored?"),
        T("One table does it: kind by stored and lost."),
        T(
            "The broker did its work, late. This is where duplicates come from: the client sends again what is already waiting."
        ),
        (
            Slip(T("A refused request is answered and dropped; nothing of it is stored."), value="REJECTREQUEST"),
            Slip(T("Taken out of the queue means: before it was written."), value="PCBUSY_CLEAN_QUEUE"),
            Slip(
                T("Taken out of the queue means: before it was written.", "从队列中清出，意味着还没有写入。"),
                value="TIMEOUT_CLEAN_QUEUE",
            ),
        ),
        KINDS,
    ),
    Question(
        "83-7",
        "count",
        "twice",
        T("How many keys are stored more than once with the same body?"),
        T("Count keys, not copies."),
        T(
            "They make {copies} {copies:record|records}. Resending to a second topic, as was tried at first, adds more of them."
        ),
        (
            Slip(T("Those are the copies of all of them."), "copies"),
            Slip(T("Stored in spite of an error is not stored twice."), "stored"),
        ),
    ),
    Question(
        "83-8",
        "word",
        "why",
        T("Why was the broker busy? Which explanation covers most of the failed sends?"),
        T("Hold the windows of each against the times of the failed sends."),
        T("It covers {share} of them. Raising a wait limit treats the symptom."),
        (
            Slip(
                T(
                    "It was the cause in the published case (Elasticsearch and Redis on the same server), and it is seen here too; "
                    "but it has no times, and so explains no single send."
                ),
                value="co-located-load",
            ),
            Slip(T("There were slow flushes, but fewer of the failed sends fall into them."), value="flush"),
            Slip(
                T(
                    "A busy host is a state, not a moment: it does not distinguish these sends from those that succeeded."
                ),
                value="host",
            ),
            Slip(T("That turns a wait into a refusal. It does not make anybody wait."), value="queue-wait"),
        ),
        WHYS,
        {"stall": "process-stood-still"},
    ),
)

LAB: Final = Lab(83, T("The busy broker"), lambda bench: QUESTIONS, facts)
