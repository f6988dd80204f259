"""The stage of each stored record in the life of its message: half, check-back, commit, schedule, retry, dead letter, …

Who writes which record: broker/transaction/queue/TransactionalMessageBridge, broker/processor/EndTransactionProcessor,
store/CommitLog.putMessage (4.x) and broker/util/HookUtils (5.x) for delays, broker/processor/SendMessageProcessor for
retries and dead letters.
"""

from typing import Final

from kit.rocketmq import names

ORIGINAL, HALF, CHECK_BACK, COMMIT, OP = "original", "half", "check-back", "commit", "op"
SCHEDULE, DUE, RETRY, DLQ, DISCARDED, LEAKED = "schedule", "due", "retry", "dlq", "discarded", "leaked"
_WAITING: Final = (names.SCHEDULE_TOPIC, names.TIMER_TOPIC)


def stage_of(topic: str, target: str | None, *, delayed: bool, renewed: bool, committed: bool) -> str:
    """Return the stage of a record; a retry's number is its reconsumeTimes.

    `target`: its REAL_TOPIC; `delayed`: DELAY or TIMER_OUT_MS is set; `renewed`: TRANSACTION_CHECK_TIMES or
    TRAN_PREPARED_QUEUE_OFFSET is set; `committed`: sysFlag has the commit bit.
    """
    fixed = {names.OP_TOPIC: OP, names.DISCARD_TOPIC: DISCARDED}
    if topic in fixed:
        return fixed[topic]
    if target == names.HALF_TOPIC and topic in (names.HALF_TOPIC, names.SCHEDULE_TOPIC):
        return LEAKED
    if topic == names.HALF_TOPIC:
        return CHECK_BACK if renewed else HALF
    if topic in _WAITING:
        return SCHEDULE
    if topic.startswith(names.RETRY_PREFIX):
        return RETRY
    if topic.startswith(names.DLQ_PREFIX):
        return DLQ
    if delayed and target == topic:
        return DUE
    # A commit goes to the topic it names: a record whose damaged name is of another topic is no commit.
    return COMMIT if committed and target in (None, topic) else ORIGINAL


def may_be_original(topic: str, target: str | None) -> bool:
    """Return whether a record can be an original message of a producer: RocketMQ's own topics hold none, except those
    where one waits; elsewhere REAL_TOPIC (`target`) marks what came out of them.
    """
    waits = (names.HALF_TOPIC, *_WAITING)
    internal = names.SYSTEM_TOPICS - set(waits)
    again = (names.RETRY_PREFIX, names.DLQ_PREFIX, names.SYSTEM_PREFIX)
    if topic in internal or (topic.startswith(again) and topic not in waits):
        return False
    own = target is not None and (target in internal or target.startswith(names.SYSTEM_PREFIX))
    return target is None or (topic in waits and target != topic and not own)


MADE_BY_CONSUMER: Final = (names.RETRY_TOPIC, names.ORIGIN_MESSAGE_ID, names.RECONSUME_TIME)
"""Properties of a record written by a consumer, or by the broker for one."""
RENEWED: Final = (names.CHECK_TIMES, names.PREPARED_QUEUE_OFFSET)
"""Properties of a half record rewritten by a check or during the immunity time."""


def consumer_group_of(topic: str, target: str | None) -> str | None:
    """Return the consumer group of a retry or dead letter, also while it is delayed; None for others. What POP retries
    is in %RETRY% + group + "+" + topic (common/KeyBuilder; with "_" only offsets tell where the group ends).
    """
    name = (target or "") if topic in _WAITING else topic
    for prefix in (names.RETRY_PREFIX, names.DLQ_PREFIX):
        if name.startswith(prefix):
            return name.removeprefix(prefix).partition("+")[0] or None
    return None
