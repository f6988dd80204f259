"""client-timeout: a send timed out waiting for its answer, or its call ran out of time. Whether it is stored is open.

An application's log prints the end of a send, not its attempts.
"""

from __future__ import annotations

from kit.analysis import refs
from kit.analysis.sends import attempts, sends
from kit.causes.declared import Observed
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the sends that timed out, and what became of them."""
    ledger, by_kind = sends.ledger(facts), attempts.by_kind(facts)
    tries = (by_kind or {}).get("CLIENT_TIMEOUT", 0)
    rows = ledger.of_kind("CLIENT_TIMEOUT")
    count = (ledger.errors_by_kind or {}).get("CLIENT_TIMEOUT", len(rows))
    happened = bool(count or tries)
    outcome = (ledger.outcome_by_kind or {}).get("CLIENT_TIMEOUT") if happened else None
    late = refs.seen(facts, "late-response-stored")
    quoted = attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) or (refs.lines(facts, rows, 2) if len(rows) else ())
    return Observed(
        {
            **(outcome or {}), "outcome": outcome, "happened": happened, "timed_out_sends": count, "tries": tries,
            "late": late.count,
            "late_answers": None if by_kind is None else late.count, "attempts_known": by_kind is not None,
            "knows_kinds": ledger.knows_kinds,
        },
        {"timed-out": quoted, "late-answers": refs.quote(facts, late, 2), "stored-all-the-same": ()},
        actors=attempts.brokers(facts) if happened else (),
    )  # fmt: skip
