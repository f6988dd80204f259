"""Names in every RocketMQ installation: groups, folders, files, packages. They do not show whose system it is.

`upstream` of the groups: common/MixAll, broker/subscription/SubscriptionGroupManager; of the folders and files:
store/config/StorePathConfigHelper,
distribution/conf (logback files, broker.conf), common/constant/LoggerName.
"""

from __future__ import annotations

from typing import Final

from kit.rocketmq import names

DEFAULT_BROKER: Final = "broker-a"
"""brokerName in the broker.conf that RocketMQ ships."""

_GROUPS: Final = frozenset(
    {
        names.SCHEDULE_GROUP, names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP, "TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "__MONITOR_CONSUMER",
        "SELF_TEST_C_GROUP", "SELF_TEST_P_GROUP", "CID_ONS-HTTP-PROXY", "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", "CID_ONSAPI_PULL",
        "DEFAULT_PRODUCER", "DEFAULT_CONSUMER", "DefaultHeartBeatSyncerTopic", "DEFAULT", "PROXY_CLIENT", "CLIENT_INNER_PRODUCER_GROUP",
    }
)  # fmt: skip
_PLACES: Final = frozenset(
    {
        names.DEFAULT_CLUSTER,
        names.DEFAULT_REGION,
        DEFAULT_BROKER,
        "localhost",
        "localhost.localdomain",
        "jmenv.tbsite.net",
    }
)

_WORDS: Final = (
    "commitlog consumequeue consumerqueue index config store store0 logs log rocketmqlogs rocketmq rocketmq_client rmqstore broker broker-a broker-b "
    "namesrv nameserver proxy controller client clients consumer producer app apps host hosts master slave admin mqadmin dledger dleger raft "
    "checkpoint abort lock timerwheel timerlog timercheck timermetrics compaction position batchconsumequeue consumerext topics consumerOffset "
    "delayOffset subscriptionGroup consumerFilter consumerOrderInfo lmqConsumerOffset messageFilter tools plain_acl acl otherdays default error "
    "storeerror transaction watermark remoting rebalance lite pull stats dlq filter protection commercial pop coldctr traffic auth audit "
    "broker_default broker_traffic gc jstack jstat jmap iostat vmstat sar top free dmesg df trace traces sends ledger late early before after bak old "
    "new gz zip tar zst tgz txt csv json conf properties yml yaml xml parquet ipynb out backup copy home root tmp var opt usr data data1 data2 mnt srv "
    "etc proc sys dev run local share Users user users lib bin java jdk jre jvm null queryMsgById queryMsgByUniqueKey queryMsgByKey queryMsgByOffset "
    "queryMsgTraceById printMsg printMsgByQueue consumeMessage sendMessage checkMsgSendRT updateTopic updateSubGroup deleteTopic deleteSubGroup "
    "topicStatus topicList topicRoute topicClusterList brokerStatus brokerConsumeStats getBrokerConfig getNamesrvConfig updateBrokerConfig clusterList "
    "clusterRT consumerConnection consumerProgress consumerStatus producerConnection statsAll allocateMQ resetOffsetByTime skipAccumulatedMessage "
    "cloneGroupOffset msgbodys evidence"
)
WORDS: Final = frozenset(_WORDS.split()) | names.SYSTEM_TOPICS | {names.DISCARD_TOPIC_IN_LOGS, "RETRY", "DLQ", "LMQ"}
"""Names of folders and files, or parts of them, that are in any store, log folder or collection of outputs."""

_LABELS: Final = "com org net io cn edu gov dev www java javax jakarta jdk sun apache rocketmq alibaba netty slf4j springframework tls user os file line path"
LABELS: Final = frozenset(_LABELS.split())
"""First parts of package names, system properties and domains that are no one's own."""
VENDORS: Final = (
    "org.apache.", "org.slf4j.", "org.springframework.", "org.mybatis.", "org.hibernate.", "org.postgresql.", "org.junit.", "org.jboss.", "java.", "javax.",
    "jakarta.", "jdk.", "sun.", "com.sun.", "com.mysql.", "com.zaxxer.", "com.fasterxml.", "com.google.", "com.alibaba.fastjson", "com.alibaba.druid",
    "com.alibaba.rocketmq.", "com.rocketmq.", "com.netflix.", "ch.qos.", "io.netty.", "io.grpc.", "io.opentelemetry.", "io.micrometer.", "io.openmessaging.",
    "reactor.", "kotlin.", "scala.", "tls.", "rocketmq.", "os.", "user.", "file.", "line.", "com.caucho.", "oracle.jdbc.", "redis.clients.", "feign.",
)  # fmt: skip
"""Beginnings of packages and system properties that anybody's logs hold."""
_EXTENSIONS: Final = (
    "java kt scala log gz zip tar zst tgz csv json txt conf properties yml yaml xml bak parquet ipynb html py sh md out"
)
EXTENSIONS: Final = frozenset(_EXTENSIONS.split())


def is_stock(name: str) -> bool:
    """Return whether a topic, group, broker, cluster or host name is RocketMQ's own or one that it ships."""
    return (
        name in _GROUPS
        or name in _PLACES
        or name in names.SYSTEM_TOPICS
        or name == names.DISCARD_TOPIC_IN_LOGS
        or name.startswith((names.SYSTEM_GROUP_PREFIX, "CID_ONS", "RMQ_SYS_", "TRANS_CHECK_"))
        or names.is_system_topic(name)
    )
