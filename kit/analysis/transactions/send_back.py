"""Send-backs that a broker refused, and why: shared by the half-topic blow-up and its neighbours.

A consumer that fails a message sends it back (CONSUMER_SEND_MSG_BACK); the broker stores it under %RETRY% + group. If
that is refused, the client's catch branch sends the message anew. Source:
client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack; name limits: reference data in `kit.rocketmq.versions`.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, Final

import attrs
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.case import columnar, log_events, scan, setup
from kit.case.memoize import per_case
from kit.i18n import T
from kit.rocketmq import names, versions

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

REASONS: Final = {
    "name-too-long": T("the retry topic's name is too long for the broker"),
    "properties-too-long": T("the message's properties are too long"),
    "timeout": T("the broker did not answer in time"),
    "busy": T("the broker was busy"),
    "group-unknown": T("the consumer group does not exist on the broker"),
    "connection": T("the broker could not be reached"),
    "record-gone": T("the broker no longer had the record"),
    "store-unavailable": T(
        "the broker's store took no messages: its disk was full, it was a slave, or it was shutting down"
    ),
    "other": T("for a reason the log does not name"),
}
REASON_UNKNOWN: Final = T("why is not known from this evidence")

_ANSWERS: Final = (
    # What the exception behind "sendMessageBack Exception" says → reason. MESSAGE_ILLEGAL alone has two causes, told
    # apart below.
    ("length too long", "name-too-long"),
    ("longer than topic max length", "name-too-long"),
    ("subscription group not exist", "group-unknown"),
    ("look message by offset failed", "record-gone"),
    ("PROPERTIES_SIZE_EXCEEDED", "properties-too-long"),
    ("RemotingTimeoutException", "timeout"),
    ("RemotingConnectException", "connection"),
    ("RemotingSendRequestException", "connection"),
    ("CLEAN_QUEUE]", "busy"),
    ("REJECTREQUEST]", "busy"),
    # store/PutMessageStatus, which is the remark where a put-back is not stored (broker/processor/SendMessageProcessor).
    ("OS_PAGECACHE_BUSY", "busy"),
    ("SERVICE_NOT_AVAILABLE", "store-unavailable"),
    ("CREATE_MAPEDFILE_FAILED", "store-unavailable"),
    ("MESSAGE_ILLEGAL", "illegal"),
)


@attrs.frozen
class SendBack:
    """Refused send-backs of a case.

    `refusals`: entries that report one (client log, else the broker's store.log); `resent_failed`: those that the
    client could not send anew either. `retry_topic_length` in characters, null unless the length was the reason.
    """

    refusals: int = 0
    resent_failed: int = 0
    reason: str | None = None
    retry_topic_length: int | None = None
    groups: tuple[str, ...] = ()
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    refs: tuple[Ref, ...] = ()
    resent_refs: tuple[Ref, ...] = ()
    reason_refs: tuple[Ref, ...] = ()


@per_case
def examine(case: Case) -> SendBack:
    """Return what the evidence shows about refused send-backs; computed once per case."""
    return _examine(case)


def _examine(case: Case) -> SendBack:
    refused = refs.seen(case, "send-back-exception")
    too_long = refs.seen(case, "topic-too-long")
    if not refused and not too_long:
        return SendBack()
    answers = _answers(case) if refused else []
    groups = Counter({group: n for group, _, n in answers if group})
    reasons: Counter[str] = Counter()
    for _, answer, n in answers:
        reasons[answer] += n
    lengths = _printed_lengths(case) if too_long else Counter()
    reason, length = _reason(case, reasons, list(groups), lengths)
    again = refs.seen(case, "send-back-resend-failed")
    quoted = refs.first_lines(case, "send-back-exception", 2, within="CODE:") if refused else ()
    if reason == "name-too-long" and too_long:
        why = refs.quote(case, too_long, 2)
    else:
        why = quoted[:1] if reason else ()
    return SendBack(
        refusals=refused.count or (sum(lengths.values()) if reason == "name-too-long" else 0),
        resent_failed=again.count,
        reason=reason,
        retry_topic_length=length,
        groups=tuple(group for group, _ in groups.most_common()),
        first=refused.first or too_long.first,
        last=refused.last or too_long.last,
        refs=quoted or (refs.quote(case, too_long, 2) if reason else ()),
        resent_refs=refs.quote(case, again, 2),
        reason_refs=why,
    )


def _answers(case: Case) -> list[tuple[str | None, str, int]]:
    """Return (group, reason, entries) of the exceptions in the client's "sendMessageBack Exception"."""
    rows = log_events.events(case, ["send-back-exception"], ("message", "trace"))
    # 5.1.0 and later print the group elsewhere in the line.
    groups = pc.coalesce(rows["group"], rows["group_5"]).to_pylist()
    found: Counter[tuple[str | None, str]] = Counter()
    for group, text in zip(groups, log_events.texts(rows).to_pylist(), strict=True):
        found[group, next((reason for said, reason in _ANSWERS if said in text), "other")] += 1
    return sorted(((*pair, n) for pair, n in found.items()), key=lambda r: (-r[2], str(r)))


def _printed_lengths(case: Case) -> Counter[int]:
    lengths = columnar.integers(log_events.events(case, ["topic-too-long"])["length"])
    return Counter(length for length in lengths.tolist() if length > 0)


def _reason(
    case: Case, answers: Counter[str], groups: list[str], lengths: Counter[int]
) -> tuple[str | None, int | None]:
    """Return the reason. MESSAGE_ILLEGAL means a name or properties too long: the group's own length and store.log
    decide.
    """
    limit = store_limit(case)
    by_name = {len(names.RETRY_PREFIX) + len(group) for group in groups} | {
        n for n in map(len, retry_topics(case)) if n in lengths
    }
    long_names = {n for n in by_name if n > limit}
    if long_names and (answers["illegal"] or answers["name-too-long"] or long_names & set(lengths)):
        confirmed = long_names & set(lengths)
        return "name-too-long", max(confirmed or long_names)
    if answers["illegal"]:
        return ("properties-too-long" if refs.seen(case, "properties-too-long") else "other"), None
    named = [reason for reason, _ in answers.most_common() if reason not in ("illegal", "name-too-long")]
    return (named[0] if named else None), None


def store_limit(case: Case) -> int:
    """Return the longest name of a retry topic that the brokers of this case store; if their release is unknown, the
    limit of most releases.
    """
    known = setup.broker_versions(case)
    return min(
        (int(versions.rule("brokerRetryTopicMax", version)) for version in known),
        default=int(versions.rule("brokerRetryTopicMax", versions.OLDEST)),
    )


def retry_topics(case: Case) -> tuple[str, ...]:
    """Return the %RETRY% names of the consumer groups in the configuration and the offsets of the evidence."""
    own = ds.field("origin") == "subscriptionGroup"
    named = [scan.table(case, "offsets", ["group"])["group"], scan.table(case, "configs", ["subject"], own)["subject"]]
    groups = {group for column in named for group in pc.unique(column).to_pylist() if group}
    return tuple(sorted(names.RETRY_PREFIX + group for group in groups))
