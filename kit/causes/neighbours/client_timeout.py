"""client-timeout: a send timed out waiting for its answer, or its call ran out of time. Whether it is stored is open.

Deciding step: the client's own time-out of a send, in a log or in a send ledger (RemotingTimeoutException,
RemotingTooMuchRequestException:
client/impl/producer/DefaultMQProducerImpl, remoting/netty/NettyRemotingAbstract).
"""

from __future__ import annotations

from typing import Final

import attrs

from kit.analysis import refs
from kit.analysis.sends import attempts, sends
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, holds, supporting
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report how many sends timed out, and what became of them."""
    ledger = sends.ledger(facts)
    tries = (attempts.by_kind(facts) or {}).get("CLIENT_TIMEOUT", 0)
    mine = ledger.of_kind("CLIENT_TIMEOUT")
    count = (ledger.errors_by_kind or {}).get("CLIENT_TIMEOUT", len(mine))
    outcome = (ledger.outcome_by_kind or {}).get("CLIENT_TIMEOUT")
    happened = bool(count or tries)
    finding = TEXTS.finding()
    quoted = attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) or (refs.lines(facts, mine, 2) if len(mine) else ())
    late = refs.seen(facts, "late-response-stored")
    # An application's log prints the end of a send, not its attempts.
    claim = TEXTS["given_up"] if not tries else TEXTS["timed_out"] if count else TEXTS["attempts"]
    shown = holds(happened, ledger.knows_kinds)
    timed_out = claim.say(count=count, attempts=tries)
    finding.steps = [deciding("timed-out", timed_out, shown, quoted if happened else ())]
    if happened:
        finding.actors = attempts.brokers(facts)
        said = TEXTS.say("stored", stored=outcome["stored"]) if outcome else TEXTS["stored_open"]
        answered = TEXTS.say("late", count=late.count)
        finding.steps += [
            supporting("stored-all-the-same", said, outcome and outcome["stored"]),
            supporting("late-answers", answered, late, refs.quote(facts, late, 2)),
        ]
        finding.summary = (
            TEXTS.say("summary", count=count, stored=outcome["stored"], lost=outcome["lost"])
            if outcome
            else (TEXTS["summary_open"] if count else TEXTS["attempts"]).say(count=count, attempts=tries)
        )
        remedy = TEXTS.remedy("unknown", stored=outcome and outcome["stored"], count=count)
        finding.remedies = [remedy if outcome else attrs.evolve(remedy, why=TEXTS["why_open"])]
    elif not ledger.knows_kinds:
        finding.missing = [collect_next.ask("producer's client log", TEXTS["want"])]
    known = ledger.knows_kinds
    finding.figures = {
        "timed_out_sends": count if known or count else None,
        "timed_out_attempts": tries if attempts.by_kind(facts) is not None else None,
        "stored": outcome["stored"] if outcome else (0 if known and not count and facts.has("messages") else None),
        "late_answers": late.count if attempts.by_kind(facts) is not None else None,
    }
    return finding
