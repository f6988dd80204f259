"""producer-retry-duplicate: a timed-out send was retried by the client, and more than one attempt is stored.

Deciding step: originals with one UNIQ_KEY and one body more than once in one real topic, not transactional (sysFlag & 0xC = 0), born within the time
of one call; often on two brokers, and stored at the same moment, since all attempts waited for the same stalled broker (reference §7.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis.sends import attempts, sends, stored
from kit.causes import collect_next
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, supporting
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "producer-retry-duplicate"
KIND: Kind = "neighbour"

TITLE = T("Sends retried by the client are stored more than once")
NONE = T("No message of a producer is stored twice under one UNIQ_KEY.")
SUMMARY = T(
    "{messages} {messages:message is|messages are} stored {copies} {copies:time|times} in all; {brokers} of them {brokers:is|are} on more than one broker."
)
TWICE = T(
    "{messages} UNIQ_KEYs are stored more than once in their topic with the same body, born up to {apart} ms apart: attempts of one call."
)
NOT_TWICE = T("UNIQ_KEYs are stored more than once in their topic with the same body.")
TIMED_OUT = T("The client timed out and tried again ({count} {count:attempt|attempts}).")
WANT = T("it holds every copy of a retried send")
ACTION = T("Make consumers idempotent by business key (or UNIQ_KEY), not by the offset id.")
WHY = T("The {messages} {messages:message has|messages have} {copies} offset ids, but one UNIQ_KEY each.")
RISK = T("It needs a store of seen keys that are kept longer than retries last.")
VERIFY = T("Each key in duplicated.csv had one effect.")

LOOKS_LIKE = (
    ("message-identity", T("one original, a retry copy with another offset id")),
    ("duplicate-commit", T("transactional: the COMMIT bit is set on both")),
    ("client-timeout", T("a time-out alone; the store shows whether it was stored more than once")),
)

FIGURES: Final = {
    "copies": Figure(T("records of them")),
    "messages": Figure(T("messages", "条消息")),
    "on_several_brokers": Figure(T("stored on several brokers")),
}


def examine(case: Case) -> Finding:
    """Report which messages a client's retry stored more than once."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    known = case.has("messages")
    found = stored.repeated(case) if known else None
    tries = (attempts.by_kind(case) or {}).get("CLIENT_TIMEOUT", 0)
    again = supporting(
        "timed-out",
        TIMED_OUT.say(count=tries),
        tries and sends.ledger(case).source,
        attempts.quotes(case, ("CLIENT_TIMEOUT",), 2) if tries else (),
    )
    if found is None or found.empty:
        finding.steps = [deciding("stored-twice", NOT_TWICE, False if known else None)]
        finding.figures = {
            "messages": 0 if known else None,
            "copies": 0 if known else None,
            "on_several_brokers": 0 if known else None,
        }
        finding.missing = [] if known else [collect_next.commitlog(WANT)]
        return finding
    by_message = found.groupby("uniq_key")
    born = by_message["born_timestamp"]
    apart = int((born.max() - born.min()).max().total_seconds() * 1000)
    several = int((by_message["store_host"].nunique() > 1).sum())
    messages, copies = int(found["uniq_key"].nunique()), len(found)
    rows = found.sort_values(["uniq_key", "store_timestamp", "offset_msg_id"], ignore_index=True)
    finding.steps = [
        deciding("stored-twice", TWICE.say(messages=messages, apart=apart), True, stored.copy_refs(rows)),
        again,
    ]
    finding.figures = {"messages": messages, "copies": copies, "on_several_brokers": several}
    finding.summary = SUMMARY.say(messages=messages, copies=copies, brokers=several)
    finding.remedies = [Remedy(ACTION, WHY.say(messages=messages, copies=copies), RISK, VERIFY)]
    finding.window = (rows["store_timestamp"].min().to_pydatetime(), rows["store_timestamp"].max().to_pydatetime())
    finding.tables = {"retry_duplicates": rows.drop(columns=["body_crc", "body_size"])}
    return finding
