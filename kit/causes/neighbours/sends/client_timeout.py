"""client-timeout: a send timed out waiting for its answer, or its call ran out of time. Whether it is stored is open.

Deciding step: the client's own time-out of a send, in a log or in a send ledger (RemotingTimeoutException,
RemotingTooMuchRequestException:
client/impl/producer/DefaultMQProducerImpl, remoting/netty/NettyRemotingAbstract).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.analysis.sends import attempts, sends
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, holds, supporting
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "client-timeout"
KIND: Kind = "neighbour"
LEADS_TO = ("producer-retry-duplicate",)

TITLE = T("Sends timed out at the client")
NONE = T("No send timed out at a client.")
SUMMARY = T(
    "{count} {count:send|sends} ended with the client's own time-out; {stored} of them {stored:is|are} stored nevertheless, {lost} {lost:is|are} not."
)
SUMMARY_OPEN = T(
    "{count} {count:send|sends} ended with the client's own time-out; whether they are stored is not in this evidence."
)
TIMED_OUT = T(
    "{count} {count:send|sends} ended with a time-out of the client ({attempts} {attempts:single attempt|single attempts})."
)
STORED_OPEN = T("Some of them are stored all the same: the answer was late, not the message.")
STORED = T("{stored} of them {stored:is|are} stored all the same: the answer was late, not the message.")
LATE = T("{count} {count:late answer|late answers} came after the client had given up; each names a stored record.")
WANT = T("it prints every time-out of a send")
ACTION = T('Treat a time-out as "unknown": look the key up or send again, with consumers that tolerate a second copy.')
WHY_OPEN = T("A time-out of the client says nothing about storage.")
WHY = T("{stored} of {count} timed-out sends here {stored:is|are} stored.")
RISK = T("Sending a stored message again makes a second copy.")
VERIFY = T("Each business key has one effect, whatever the number of copies.")

LOOKS_LIKE = (
    ("broker-busy", T("a refusal is an answer, and such a send is not stored; a time-out may be stored")),
    ("producer-retry-duplicate", T("only the store shows it: a UNIQ_KEY with several originals")),
)

FIGURES: Final = {
    "late_answers": Figure(T("answers that came after the client had given up")),
    "stored": Figure(T("of these stored all the same")),
    "timed_out_attempts": Figure(T("single attempts that timed out")),
    "timed_out_sends": Figure(T("sends that timed out")),
}

ALERTS: Final = (
    Alert("client-call-timeout", T("Sends time out at the client without an answer."), "timed-out", least=5, within=120, lasts=5),
    Alert("client-wait-timeout", T("Brokers answer requests too late or not at all."), "timed-out", least=5, within=120, lasts=5),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report how many sends timed out, and what became of them."""
    ledger = sends.ledger(case)
    tries = (attempts.by_kind(case) or {}).get("CLIENT_TIMEOUT", 0)
    mine = ledger.of_kind("CLIENT_TIMEOUT")
    count = (ledger.errors_by_kind or {}).get("CLIENT_TIMEOUT", len(mine))
    outcome = (ledger.outcome_by_kind or {}).get("CLIENT_TIMEOUT")
    happened = bool(count or tries)
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    quoted = attempts.quotes(case, ("CLIENT_TIMEOUT",), 2) or (refs.lines(case, mine, 2) if len(mine) else ())
    late = refs.seen(case, "late-response-stored")
    finding.steps = [
        deciding(
            "timed-out",
            TIMED_OUT.say(count=count, attempts=tries),
            holds(happened, ledger.knows_kinds),
            quoted if happened else (),
        )
    ]
    if happened:
        said = STORED.say(stored=outcome["stored"]) if outcome else STORED_OPEN
        answered = LATE.say(count=late.count)
        finding.steps += [
            supporting("stored-all-the-same", said, outcome and outcome["stored"]),
            supporting("late-answers", answered, late, refs.quote(case, late, 2)),
        ]
        why = WHY.say(stored=outcome["stored"], count=count) if outcome else WHY_OPEN.say()
        finding.summary = (
            SUMMARY.say(count=count, stored=outcome["stored"], lost=outcome["lost"])
            if outcome
            else SUMMARY_OPEN.say(count=count)
        )
        finding.remedies = [Remedy(ACTION, why, RISK, VERIFY)]
    elif not ledger.knows_kinds:
        finding.missing = [collect_next.client_log(collect_next.PRODUCER, WANT)]
    known = ledger.knows_kinds
    finding.figures = {
        "timed_out_sends": count if known or count else None,
        "timed_out_attempts": tries if attempts.by_kind(case) is not None else None,
        "stored": outcome["stored"] if outcome else (0 if known and not count and case.has("messages") else None),
        "late_answers": late.count if attempts.by_kind(case) is not None else None,
    }
    return finding
