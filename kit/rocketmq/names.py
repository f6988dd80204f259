"""RocketMQ's own names: topics, groups, prefixes, message properties, the flag bits of a message's life."""

import re
from typing import Final

# --- topics: common/topic/TopicValidator (4.6.1+), common/MixAll (before) -------------------------------------------
HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
DISCARD_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
DISCARD_TOPIC_IN_LOGS: Final = "TRANS_CHECK_MAXTIME_TOPIC"
"""How log lines spell `DISCARD_TOPIC`: broker/transaction/queue/DefaultTransactionalMessageCheckListener 4.5.2+."""
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
OFFSET_MOVED_TOPIC: Final = "OFFSET_MOVED_EVENT"
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"
TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"
SYSTEM_PREFIX: Final = "rmq_sys_"
TRACE_TYPES: Final = ("Pub", "SubBefore", "SubAfter", "EndTransaction", "Recall")
"""What a context of a message trace begins with (`client/trace/TraceType`)."""

RETRY_PREFIX: Final = "%RETRY%"
DLQ_PREFIX: Final = "%DLQ%"
LMQ_PREFIX: Final = "%LMQ%"

SYSTEM_TOPICS: Final = frozenset({
    HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC, TRACE_TOPIC, "TBW102", "AUTO_CREATE_TOPIC_KEY",
    "SELF_TEST_TOPIC", "BenchmarkTest", OFFSET_MOVED_TOPIC, "CHECKPOINT_TOPIC",
})  # fmt: skip
"""Fixed names RocketMQ itself uses. Names of clusters and brokers are topics too, known from configuration."""

# --- groups: common/MixAll --------------------------------------------------------------------------------------------
TRANSACTION_GROUP: Final = "CID_RMQ_SYS_TRANS"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"
SCHEDULE_GROUP: Final = "SCHEDULE_CONSUMER"
INNER_PRODUCER_GROUP: Final = "CLIENT_INNER_PRODUCER"
ADMIN_GROUP: Final = "admin_ext_group"
OWN_GROUPS: Final = (
    SYSTEM_GROUP_PREFIX, "TOOLS_CONSUMER", "SELF_TEST", "FILTERSRV", "__MONITOR", "CID_ONS", "%SYS", SCHEDULE_GROUP,
    INNER_PRODUCER_GROUP,
    ADMIN_GROUP,
)  # fmt: skip
"""Prefixes of RocketMQ's own consumer groups (also broker/subscription/SubscriptionGroupManager)."""


def of_users(group: str) -> bool:
    return bool(group) and not group.startswith(OWN_GROUPS)


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
MIN_OFFSET: Final = "MIN_OFFSET"
CONSUME_START_TIME: Final = "CONSUME_START_TIME"
CHECK_TIMES: Final = "TRANSACTION_CHECK_TIMES"
CHECK_IMMUNITY: Final = "CHECK_IMMUNITY_TIME_IN_SECONDS"
PREPARED_QUEUE_OFFSET: Final = "TRAN_PREPARED_QUEUE_OFFSET"
TRANSACTION_ID: Final = "__transactionId__"
INSTANCE_ID: Final = "INSTANCE_ID"
CLUSTER: Final = "CLUSTER"
MSG_REGION: Final = "MSG_REGION"
TRACE_ON: Final = "TRACE_ON"

DEFAULT_REGION: Final = "DefaultRegion"
DEFAULT_CLUSTER: Final = "DefaultCluster"


PROPERTIES: Final = frozenset({
    "KEYS", "TAGS", "WAIT", "DELAY", "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID", "TRAN_MSG", "PGROUP", "MIN_OFFSET",
    "MAX_OFFSET", "CONSUME_START_TIME", "ORIGIN_MESSAGE_ID", "RECONSUME_TIME", "MAX_RECONSUME_TIMES", "MSG_REGION",
    "TRACE_ON", "UNIQ_KEY", "EXTEND_UNIQ_INFO", "TRAN_PREPARED_QUEUE_OFFSET", "TRANSACTION_CHECK_TIMES",
    "CHECK_IMMUNITY_TIME_IN_SECONDS", "__transactionId__", "INSTANCE_ID", "CORRELATION_ID", "REPLY_TO_CLIENT", "TTL",
    "ARRIVE_TIME", "PUSH_REPLY_TIME", "MSG_TYPE", "CLUSTER", "INNER_MULTI_DISPATCH", "INNER_MULTI_QUEUE_OFFSET",
    "INNER_NUM", "INNER_BASE", "DUP_INFO", "POP_CK", "POP_CK_OFFSET", "1ST_POP_TIME", "__SHARDINGKEY",
    "BORN_TIMESTAMP", "TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS", "TIMER_OUT_MS", "TIMER_ENQUEUE_MS",
    "TIMER_DEQUEUE_MS", "TIMER_ROLL_TIMES", "TIMER_DEL_UNIQKEY", "TIMER_DELAY_LEVEL", "DLQ_ORIGIN_TOPIC",
    "DLQ_ORIGIN_MESSAGE_ID", "__CRC32#",
})  # fmt: skip
"""Every property that RocketMQ itself writes, 4.3.0 to 5.3.3."""
NAME_VALUE_SEPARATOR: Final = "\x01"
PROPERTY_SEPARATOR: Final = "\x02"
"""common/message/MessageDecoder.messageProperties2String."""

# --- sysFlag: common/sysflag/MessageSysFlag ---------------------------------------------------------------------------
TRANSACTION_MASK: Final = 0xC
TRANSACTION_PREPARED: Final = 0x4
TRANSACTION_COMMIT: Final = 0x8

# --- topic permission bits: common/constant/PermName ------------------------------------------------------------------
PERM_READ: Final = 4

# --- delay levels: store/config/MessageStoreConfig.messageDelayLevel
DELAY_LEVELS: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
FIRST_RETRY_LEVEL: Final = 3
"""DELAY of a retried message = 3 + reconsumeTimes before it: broker/processor/SendMessageProcessor."""


def delay_seconds(levels: str = DELAY_LEVELS) -> dict[int, int]:
    """Parse `messageDelayLevel` into {level: seconds}; raise KeyError on a unit that is not s, m, h or d, ValueError."""
    unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    return {n: int(text[:-1]) * unit[text[-1]] for n, text in enumerate(levels.split(), 1)}


_LABELLED: Final = re.compile(
    r"""(?<![\w.])(?:(?:consumer|producer)?group(?:name|id)?|(?:re(?:al|try)_)?topic(?:name)?|brokername)["']?\s?[=:]\s?[\[{]?["']?(?P<name>[%|\w-]{2,255})"""
    r"""|(?<!\w)key=(?P<key>[%|\w-]+@[%|\w-]+)(?=,)""",
    re.ASCII | re.IGNORECASE,
)
"""How RocketMQ's classes print a group, a topic and a broker (`topic=`, `consumerGroup:`, `Group: `), and
ConsumerOffsetManager `key=topic@group`.
"""
_NO_NAME: Final = frozenset({"null", "none", "topic", "group", "is", "not"})


def labelled(text: str) -> list[str]:
    """Return the groups, topics of users and brokers that a printed line names as such; of a retry topic its group."""
    ids = [(match["name"] or match["key"]).removeprefix(RETRY_PREFIX) for match in _LABELLED.finditer(text)]
    return [name for name in dict.fromkeys(ids) if not is_system_topic(name) and name.lower() not in _NO_NAME]


def is_system_topic(topic: str) -> bool:
    """Return whether RocketMQ itself owns the topic; retry and dead letter topics are not system topics."""
    return topic in SYSTEM_TOPICS or topic.startswith(SYSTEM_PREFIX) or topic.endswith("_REPLY_TOPIC")
