"""RocketMQ's own names: topics, groups, prefixes, message properties, the flag bits of a message's life.

`upstream` in a row is the file of the RocketMQ source that defines it, `Class.java` below `org/apache/rocketmq`.
"""

from __future__ import annotations

from typing import Final

import attrs

from kit.i18n import T

# --- topics: common/topic/TopicValidator (4.6.1+), common/MixAll (before) -------------------------------------------
HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DISCARD_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
DISCARD_TOPIC_IN_LOGS: Final = "TRANS_CHECK_MAXTIME_TOPIC"
"""How log lines spell `DISCARD_TOPIC`: broker/transaction/queue/DefaultTransactionalMessageCheckListener 4.5.2+."""
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"
TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"
TRACE_TOPIC_CLOUD_PREFIX: Final = "rmq_sys_TRACE_DATA_"
TRACE_TYPES: Final = ("Pub", "SubBefore", "SubAfter", "EndTransaction", "Recall")
"""What a context of a message trace begins with (`client/trace/TraceType`)."""
AUTO_CREATE_TOPIC: Final = "TBW102"
AUTO_CREATE_TOPIC_4_3_0: Final = "AUTO_CREATE_TOPIC_KEY"
SELF_TEST_TOPIC: Final = "SELF_TEST_TOPIC"
BENCHMARK_TOPIC: Final = "BenchmarkTest"
OFFSET_MOVED_TOPIC: Final = "OFFSET_MOVED_EVENT"

RETRY_PREFIX: Final = "%RETRY%"
DLQ_PREFIX: Final = "%DLQ%"
LMQ_PREFIX: Final = "%LMQ%"
SYSTEM_TOPIC_PREFIX: Final = "rmq_sys_"
REPLY_TOPIC_POSTFIX: Final = "REPLY_TOPIC"

SYSTEM_TOPICS: Final = frozenset(
    {
        HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC, TRACE_TOPIC, AUTO_CREATE_TOPIC,
        AUTO_CREATE_TOPIC_4_3_0, SELF_TEST_TOPIC, BENCHMARK_TOPIC, OFFSET_MOVED_TOPIC, "CHECKPOINT_TOPIC",
    }
)  # fmt: skip
"""Fixed names RocketMQ itself uses. Cluster and broker names are topics too, but are known only from the configuration."""

# --- groups: common/MixAll --------------------------------------------------------------------------------------------
TRANSACTION_GROUP: Final = "CID_RMQ_SYS_TRANS"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"
SCHEDULE_GROUP: Final = "SCHEDULE_CONSUMER"
INNER_PRODUCER_GROUP: Final = "CLIENT_INNER_PRODUCER"
ADMIN_GROUP: Final = "admin_ext_group"
_OWN_GROUPS: Final = (
    SYSTEM_GROUP_PREFIX,
    "TOOLS_CONSUMER",
    "SELF_TEST",
    "FILTERSRV",
    "__MONITOR",
    "CID_ONS",
    "%SYS",
    SCHEDULE_GROUP,
    INNER_PRODUCER_GROUP,
    ADMIN_GROUP,
)
"""Prefixes of RocketMQ's own consumer groups (also broker/subscription/SubscriptionGroupManager)."""


def of_users(group: str) -> bool:
    """Return whether a consumer group belongs to users, not to RocketMQ itself."""
    return bool(group) and not group.startswith(_OWN_GROUPS)


# --- properties: common/message/MessageConst --------------------------------------------------------------------------
KEYS: Final = "KEYS"
TAGS: Final = "TAGS"
WAIT: Final = "WAIT"
DELAY: Final = "DELAY"
RETRY_TOPIC: Final = "RETRY_TOPIC"
REAL_TOPIC: Final = "REAL_TOPIC"
REAL_QID: Final = "REAL_QID"
TRAN_MSG: Final = "TRAN_MSG"
PGROUP: Final = "PGROUP"
UNIQ_KEY: Final = "UNIQ_KEY"
ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
RECONSUME_TIME: Final = "RECONSUME_TIME"
MAX_RECONSUME_TIMES: Final = "MAX_RECONSUME_TIMES"
MIN_OFFSET: Final = "MIN_OFFSET"
MAX_OFFSET: Final = "MAX_OFFSET"
CONSUME_START_TIME: Final = "CONSUME_START_TIME"
CHECK_TIMES: Final = "TRANSACTION_CHECK_TIMES"
CHECK_IMMUNITY: Final = "CHECK_IMMUNITY_TIME_IN_SECONDS"
PREPARED_QUEUE_OFFSET: Final = "TRAN_PREPARED_QUEUE_OFFSET"
TRANSACTION_ID: Final = "__transactionId__"
INSTANCE_ID: Final = "INSTANCE_ID"
CLUSTER: Final = "CLUSTER"
MSG_REGION: Final = "MSG_REGION"
TRACE_ON: Final = "TRACE_ON"
CRC32: Final = "__CRC32#"

DEFAULT_REGION: Final = "DefaultRegion"
DEFAULT_CLUSTER: Final = "DefaultCluster"


@attrs.frozen
class Property:
    """A message property: since which release (None: always), who writes it, what it means."""

    name: str
    since: str | None
    meaning: T
    upstream: str = "common/message/MessageConst"


PROPERTIES: Final[dict[str, Property]] = {
    p.name: p
    for p in (
        Property(KEYS, None, T("business keys, separated by spaces")),
        Property(TAGS, None, T("tag of the message; `d` in op messages")),
        Property(WAIT, None, T("the sender waits until the message is stored")),
        Property(DELAY, None, T("delay level, 1 and up")),
        Property(RETRY_TOPIC, None, T("topic the retried message was first consumed from")),
        Property(REAL_TOPIC, None, T("target topic behind a half or schedule topic")),
        Property(REAL_QID, None, T("target queue behind a half or schedule topic")),
        Property(TRAN_MSG, None, T("transactional message")),
        Property(PGROUP, None, T("producer group with which the broker checks")),
        Property(MIN_OFFSET, None, T("set by a consumer on a pulled message: a stored one was re-sent by a consumer"), "client/impl/consumer/PullAPIWrapper"),
        Property(MAX_OFFSET, None, T("as MIN_OFFSET"), "client/impl/consumer/PullAPIWrapper"),
        Property(CONSUME_START_TIME, None, T("set by a consumer before its listener runs: a stored one was re-sent by a consumer"),
                 "client/impl/consumer/ConsumeMessageConcurrentlyService"),
        Property(ORIGIN_MESSAGE_ID, None, T("id of the first message of a retry chain (offset id on the broker's path, UNIQ_KEY on the client's)")),
        Property(RECONSUME_TIME, None, T("times consumed, only on a consumer's own re-send")),
        Property(MAX_RECONSUME_TIMES, None, T("limit of retries, only on a consumer's re-send")),
        Property(MSG_REGION, None, T("region of the broker, stored in every message from 5.0.0")),
        Property(TRACE_ON, None, T("message trace switch, stored in every message from 5.0.0")),
        Property(UNIQ_KEY, None, T("message id set once by the client, the same in every copy"),
                 "common/message/MessageClientIDSetter"),
        Property("EXTEND_UNIQ_INFO", "5.0.0", T("extension of UNIQ_KEY")),
        Property(PREPARED_QUEUE_OFFSET, None, T("half-queue offset of the first half record, on copies made during immunity")),
        Property(CHECK_TIMES, None, T("check-backs done so far")),
        Property(CHECK_IMMUNITY, None, T("no check-back before this age, seconds, set by the producer")),
        Property(TRANSACTION_ID, "5.1.0", T("transaction id, equal to UNIQ_KEY; stored in half messages"),
                 "broker/transaction/queue/TransactionalMessageBridge"),
        Property(INSTANCE_ID, "4.5.1", T("client namespace")),
        Property("CORRELATION_ID", "4.6.0", T("request-reply: id of the request")),
        Property("REPLY_TO_CLIENT", "4.6.0", T("request-reply: client that asked")),
        Property("TTL", "4.6.0", T("request-reply: time to live, ms")),
        Property("ARRIVE_TIME", "4.6.0", T("request-reply: arrival, ms")),
        Property("PUSH_REPLY_TIME", "4.6.0", T("request-reply: time of the answer, ms")),
        Property("MSG_TYPE", "4.6.0", T("request-reply: `reply`")),
        Property(CLUSTER, "4.6.0", T("cluster name, added by the broker on every send")),
        Property("INNER_MULTI_DISPATCH", "4.9.3", T("light queues the message is dispatched to"), "store/MultiDispatch"),
        Property("INNER_MULTI_QUEUE_OFFSET", "4.9.3", T("offsets in those light queues"), "store/MultiDispatch"),
        Property("INNER_NUM", "5.0.0", T("messages in an inner batch")),
        Property("INNER_BASE", "5.0.0", T("first logical offset of an inner batch")),
        Property("DUP_INFO", "5.0.0", T("duplication mode")),
        Property("POP_CK", "5.0.0", T("POP checkpoint")),
        Property("POP_CK_OFFSET", "5.0.0", T("offset of the POP checkpoint")),
        Property("1ST_POP_TIME", "5.0.0", T("first time popped, ms")),
        Property("__SHARDINGKEY", "5.0.0", T("ordering key")),
        Property("BORN_TIMESTAMP", "5.0.0", T("birth, ms, written by the proxy")),
        Property("TIMER_DELAY_SEC", "5.0.0", T("arbitrary delay, seconds")),
        Property("TIMER_DELAY_MS", "5.0.0", T("arbitrary delay, ms")),
        Property("TIMER_DELIVER_MS", "5.0.0", T("delivery time, ms")),
        Property("TIMER_OUT_MS", "5.0.0", T("delivery time in the timer wheel, ms")),
        Property("DLQ_ORIGIN_TOPIC", "5.1.0", T("topic before the dead letter queue")),
        Property("DLQ_ORIGIN_MESSAGE_ID", "5.1.0", T("message id before the dead letter queue")),
        Property(CRC32, "5.2.0", T("CRC over the record, 20 bytes at the end of the properties, off by default"), "store/CommitLog"),
    )
}  # fmt: skip

NAME_VALUE_SEPARATOR: Final = "\x01"
PROPERTY_SEPARATOR: Final = "\x02"
"""common/message/MessageDecoder.messageProperties2String."""

# --- sysFlag: common/sysflag/MessageSysFlag ---------------------------------------------------------------------------
TRANSACTION_MASK: Final = 0xC
TRANSACTION_NOT: Final = 0x0
TRANSACTION_PREPARED: Final = 0x4
TRANSACTION_COMMIT: Final = 0x8
TRANSACTION_ROLLBACK: Final = 0xC
INNER_BATCH: Final = 0x80

# --- broker threads that write records
# ----------------------------------------------------------------------------------
WRITERS: Final = {
    "TransactionalMessageCheckService": "put_back", "SendMessageThread": "send", "EndTransactionThread": "commit", "ScheduleMessage": "schedule",
}  # fmt: skip
"""What a broker thread writes, by part of its name: broker/BrokerController, broker/transaction/TransactionalMessageCheckService,
store/schedule/ScheduleMessageService. `send`: consumers' send-backs as well.
"""

# --- topic permission bits: common/constant/PermName ------------------------------------------------------------------
PERM_READ: Final = 4

# --- answers: common/protocol/ResponseCode, client/producer/SendStatus ------------------------------------------------
SEND_STATUS_STORED: Final = ("FLUSH_DISK_TIMEOUT", "SLAVE_NOT_AVAILABLE", "FLUSH_SLAVE_TIMEOUT")
"""Answers other than SEND_OK although the master stored the record; a transaction producer rolls back on them."""

# --- delay levels: store/config/MessageStoreConfig.messageDelayLevel
# ----------------------------------------------------
DELAY_LEVELS: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
FIRST_RETRY_LEVEL: Final = 3
"""DELAY of a retried message = 3 + reconsumeTimes before it: broker/processor/SendMessageProcessor."""


def delay_seconds(levels: str = DELAY_LEVELS) -> dict[int, int]:
    """Parse `messageDelayLevel` into {level: seconds}; raise ValueError on a unit that is not s, m, h or d."""
    unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    try:
        return {n: int(text[:-1]) * unit[text[-1]] for n, text in enumerate(levels.split(), 1)}
    except (KeyError, ValueError) as error:
        raise ValueError(f"not a messageDelayLevel: {levels!r}") from error


def retry_topic(group: str) -> str:
    """Return the retry topic of a consumer group."""
    return RETRY_PREFIX + group


def dlq_topic(group: str) -> str:
    """Return the dead letter topic of a consumer group."""
    return DLQ_PREFIX + group


def is_system_topic(topic: str) -> bool:
    """Return whether RocketMQ itself owns the topic; retry and dead letter topics are not system topics."""
    return (
        topic in SYSTEM_TOPICS
        or topic.startswith((SYSTEM_TOPIC_PREFIX, TRACE_TOPIC_CLOUD_PREFIX))
        or topic.endswith("_" + REPLY_TOPIC_POSTFIX)
    )
