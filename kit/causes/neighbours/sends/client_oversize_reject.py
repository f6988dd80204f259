"""client-oversize-reject: a send refused at once for its size, by the client's own limit or by the broker's answer 13.

Deciding step: such a refusal in a client's or application's log, or the store's line from a send thread. The client looks at the raw body
(client/Validators.checkMessage), the broker at the record or the stored body (store/CommitLog, store/MessageExtEncoder); neither is retried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis.sizes import in_force, refusals
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, holds, supporting
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "client-oversize-reject"
KIND: Kind = "neighbour"

TITLE = T("Sends were refused at once for their size")
NONE = T("No send was refused for its size.")
SUMMARY = T(
    "{broker} {broker:send was|sends were} refused by the broker and {client} by the client itself for their size; none of them is stored."
)
SUMMARY_BROKER = T(
    "{broker} {broker:send was|sends were} refused by the broker for their size; none of them is stored."
)
SUMMARY_CLIENT = T(
    "{client} {client:send was|sends were} refused by the client itself for their size; none of them is stored."
)
REFUSED = T(
    "Sends were refused at once for their size: {broker} by the broker (code 13), {client} by the client before sending."
)
WORDS = T("The broker's answer mentions 128k and 32k; its real limit here is {limit} bytes.")
WANT = T("it prints each refused send with its message")
WANT_STORE = T("`message size exceeded` from a send thread prints size and limit")
ACTION = T("Set the producers' maxMessageSize below what the broker stores, and split or offload larger bodies.")
WHY = T("Both sides then agree, and the sender gets the error before anything is sent.")
RISK = T("Senders must handle the exception: the message is not stored anywhere.")
VERIFY = T("No answer of code 13 in client logs, no `size exceeded` from a send thread in store.log.")

LOOKS_LIKE = (
    ("message-size-mismatch", T("the send was accepted; later its put-back is refused, by the check thread")),
    ("retry-topic-too-long", T("the same answer (`the message is illegal …`) for a long name: store.log says which")),
)

FIGURES: Final = {
    "refused_by_broker": Figure(T("sends refused by the broker for their size")),
    "refused_by_client": Figure(T("sends refused by the client itself for their size")),
    "largest_refused_record": Figure(T("bytes of the largest refused record")),
}

ALERTS: Final = (
    Alert("message-illegal", T("A broker or client refuses messages for their size or properties when they are sent."), "refused-at-once"),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report how many sends were refused at once for their size, and by whom."""
    found = refusals.rejects(case)
    happened = bool(found.by_broker or found.by_client)
    looked = found.by_broker is not None or found.by_client is not None
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    claim = REFUSED.say(broker=found.by_broker, client=found.by_client)
    quoted = (*found.broker_refs, *found.client_refs)[:4]
    finding.steps = [deciding("refused-at-once", claim, holds(happened, looked), quoted if happened else ())]
    finding.figures = {
        "refused_by_broker": found.by_broker,
        "refused_by_client": found.by_client,
        "largest_refused_record": found.largest,
    }
    if happened:
        limit = in_force.limits(case)
        if found.by_broker and limit.limit is not None and limit.how == "total":  # 4.9.4+ print the limit itself
            finding.steps.append(
                supporting("limits", WORDS.say(limit=limit.limit), True, (limit.where,) if limit.where else ())
            )
        summary = SUMMARY_CLIENT if found.by_broker is None else SUMMARY_BROKER if found.by_client is None else SUMMARY
        finding.summary = summary.say(broker=found.by_broker, client=found.by_client)
        finding.window = found.window
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    elif not looked:
        finding.missing = [
            collect_next.client_log(collect_next.PRODUCER, WANT),
            collect_next.broker_log("store.log", WANT_STORE),
        ]
    return finding
