"""Send-backs that a broker refused, and why: shared by the half-topic blow-up and its neighbours.

A consumer that fails a message sends it back (CONSUMER_SEND_MSG_BACK); the broker stores it under %RETRY% + group. If
that is refused, the client's catch branch sends the message anew. Source:
client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack; name limits: reference data in `kit.rocketmq.versions`.
"""

from collections import Counter
from types import SimpleNamespace
from typing import Any, Final

from kit.analysis import refs, setup
from kit.i18n import labels
from kit.rocketmq import names, versions
from kit.tables.facts import Facts, memo

REASONS: Final = labels("analysis")["send-backs"]
"""Why a send-back was refused; `unknown`: not known from this evidence."""
UNANSWERED: Final = ("timeout", "connection")


SendBack = SimpleNamespace
"""Refused send-backs of a case: `refusals` (entries that report one, of a client log, else the broker's store.log),
`resent_failed` (those that the client could not send anew either), `cleared` (whether every client is known to send it
anew without TRAN_MSG), `reason` (of `REASONS`, or None), `retry_topic_length` (in characters, null unless the length
was the reason), `printed_length` (of the longest name that the store says it refused, whoever it belongs to), `printed`
(these lines), `groups`, `window`; `refs`, `resent_refs`, `reason_refs`.
"""


@memo
def examine(facts: Facts) -> SendBack:
    """Return what the evidence shows about refused send-backs."""
    refused, too_long = refs.seen(facts, "send-back-exception"), refs.seen(facts, "topic-too-long")
    groups: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    rows = facts.rows("refused_send_backs") if refused else []
    for row in rows:
        reasons[row["reason"]] += row["entries"]
        if row["consumer_group"]:
            groups[row["consumer_group"]] += row["entries"]
    lengths = facts.rows("refused_names") if too_long else []
    reason, length = _reason(facts, reasons, list(groups), lengths)
    by_name, printed = reason == "name-too-long", max((row["length"] for row in lengths), default=0)
    if by_name and not groups:
        groups.update(row["consumer_group"] for row in lengths if row["consumer_group"] and row["length"] == length)
    # Without a client's log the broker's names the groups, and the releases of their clients.
    senders = rows or [{"consumer_group": group, "since_5_1": False} for group in groups]
    again = refs.seen(facts, "send-back-resend-failed")
    quoted = refs.earliest(facts, facts("first_send_backs"), 2, within="CODE:") if refused else ()
    names_quoted = refs.quote(facts, too_long, 2)
    return SendBack(
        refusals=refused.count or (too_long.count if by_name else 0),
        printed_length=printed if printed > store_limit(facts) else None, printed=too_long,
        resent_failed=again.count, reason=reason, retry_topic_length=length,
        cleared=bool(senders) and all(_clears(facts, row) for row in senders),
        groups=tuple(group for group, _ in groups.most_common()), window=refused.window or too_long.window,
        refs=quoted or (names_quoted if reason else ()),
        resent_refs=refs.quote(facts, again, 2),
        reason_refs=(by_name and names_quoted) or (quoted[:1] if reason else ()),
    )  # fmt: skip


def _clears(facts: Facts, row: dict[str, Any]) -> bool:
    """Return whether the clients of a refused send-back are known to clear TRAN_MSG before they send it anew."""
    consumers = [client for client in setup.clients(facts) if client["role"] == "consumer"]
    of_group = [client["version"] for client in consumers if client["group"] == row["consumer_group"]]
    known = ["5.1.0"] if row["since_5_1"] else of_group
    return bool(known) and all(versions.rule("fallbackClearsTranMsg", version) for version in known)


def _reason(
    facts: Facts, answers: Counter[str], groups: list[str], lengths: list[dict[str, Any]]
) -> tuple[str | None, int | None]:
    """Return the reason. MESSAGE_ILLEGAL is a name or properties too long: its own length and store.log decide."""
    limit, printed = store_limit(facts), {row["length"] for row in lengths}
    by_name = {len(names.RETRY_PREFIX) + len(group) for group in groups}
    long_names = {n for n in by_name | {row["length"] for row in lengths if row["consumer_group"]} if n > limit}
    if long_names and (answers["illegal"] or answers["name-too-long"] or long_names & printed):
        return "name-too-long", max(long_names & printed or long_names)
    if answers["illegal"]:
        return ("properties-too-long" if refs.seen(facts, "properties-too-long") else "other"), None
    named = [reason for reason, _ in answers.most_common() if reason not in ("illegal", "name-too-long")]
    return (named[0] if named else None), None


def store_limit(facts: Facts) -> int:
    """Return the longest retry topic that the brokers store; that of most releases if theirs is unknown."""
    known = setup.broker_versions(facts) or (versions.OLDEST,)
    return min(int(versions.rule("brokerRetryTopicMax", version)) for version in known)
