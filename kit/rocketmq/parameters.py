"""The parameters of broker.conf and of clients that matter in an incident: meaning, unit, default, trade-off.

Classes: common/BrokerConfig, store/config/MessageStoreConfig, remoting/netty/NettyServerConfig; clients:
client/producer/DefaultMQProducer, client/consumer/DefaultMQPushConsumer. Defaults that differ by version are in
`versions.RULES`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from kit.i18n import T

Side = Literal["broker", "store", "client"]
Unit = Literal["ms", "s", "hours", "bytes", "percent", "count", "bool", "enum", "text"]


@attrs.frozen
class Parameter:
    """One setting. `since`/`until`: first and last release that reads it under this name; `default`: None if it differs by version (see
    `versions.RULES`) or has none.
    """

    name: str
    side: Side
    unit: Unit
    meaning: T
    trade: T | None = None
    default: Any = None
    since: str | None = None
    until: str | None = None
    read: bool = True
    """False: published guides set it, but no broker's getBrokerConfig has it."""


def _p(
    name: str, side: Side, unit: Unit, meaning: T, trade: T | None = None, default: Any = None, **more: Any
) -> Parameter:
    return Parameter(name, side, unit, meaning, trade, default, **more)


PARAMETERS: Final[dict[str, Parameter]] = {p.name: p for p in (
    # --- who and where
    _p("brokerClusterName", "broker", "text", T("cluster name; written into every message as CLUSTER from 4.6.0"),
       default="DefaultCluster"),
    _p("brokerName", "broker", "text", T("name shared by a master and its slaves")),
    _p("brokerId", "broker", "count", T("0 is the master, others are slaves"), default=0),
    _p("brokerIP1", "broker", "text", T("address that clients get and that is in offset ids"),
       T("wrong behind NAT or with several addresses: clients cannot connect")),
    _p("listenPort", "broker", "count", T("port for clients; is in offset ids"), default=10911),
    _p("namesrvAddr", "broker", "text", T("name servers")),
    _p("brokerRole", "store", "enum", T("ASYNC_MASTER, SYNC_MASTER or SLAVE"),
       T("SYNC_MASTER answers only after the slave has the record: safer, slower, SLAVE_NOT_AVAILABLE without a slave"), "ASYNC_MASTER"),
    _p("brokerPermission", "broker", "count", T("bits: 4 read, 2 write"), default=6),
    _p("enableDLegerCommitLog", "store", "bool", T("DLedger replication; the spelling is RocketMQ's"),
       T("each record is stored by a majority; records above 4,194,256 bytes fail"), False, since="4.5.0"),
    # --- storage
    _p("storePathRootDir", "store", "text", T("folder of the store"), default="~/store"),
    _p("storePathCommitLog", "store", "text", T("folder of the commitlog; several, separated by commas, from 4.9.2"),
       default="~/store/commitlog"),
    _p("mappedFileSizeCommitLog", "store", "bytes", T("size of a commitlog file"), since="4.5.2"),
    _p("mapedFileSizeCommitLog", "store", "bytes", T("size of a commitlog file (old spelling)"), default=1 << 30, until="4.5.1"),
    _p("fileReservedTime", "store", "hours", T("files are deleted after this, and half messages no longer checked"),
       T("longer keeps evidence and slow consumers, and needs disk")),
    _p("deleteWhen", "store", "text", T("hour of day at which old files are deleted")),
    _p("diskMaxUsedSpaceRatio", "store", "percent", T("disk use from which old files are deleted at any hour"),
       T("the broker refuses writes at 90 % regardless")),
    _p("flushDiskType", "store", "enum", T("ASYNC_FLUSH or SYNC_FLUSH"),
       T("SYNC_FLUSH answers after the flush: no loss in a power cut, but much slower")),
    _p("syncFlushTimeout", "store", "ms", T("wait for SYNC_FLUSH before FLUSH_DISK_TIMEOUT")),
    _p("slaveTimeout", "store", "ms", T("wait for the slave before FLUSH_SLAVE_TIMEOUT"), since="4.9.3"),
    _p("haSlaveFallbehindMax", "store", "bytes", T("slave lag from which SYNC_MASTER answers SLAVE_NOT_AVAILABLE"),
       until="4.9.8"),
    _p("haMaxGapNotInSync", "store", "bytes", T("slave lag from which it counts as out of sync"), default=256 << 20, since="5.0.0"),
    _p("flushIntervalCommitLog", "store", "ms", T("interval of asynchronous flushes"), default=500),
    _p("flushCommitLogLeastPages", "store", "count", T("dirty pages from which an asynchronous flush writes"), default=4),
    _p("flushCommitLogThoroughInterval", "store", "ms", T("flush everything after this time at the latest"), default=10000),
    _p("warmMapedFileEnable", "store", "bool", T("touch new files' pages in advance"),
       T("no page faults later, a burst of writes at each new file")),
    _p("transientStorePoolEnable", "store", "bool", T("write into an off-heap pool first, then into the page cache"),
       T("separates writes from reads; messages in the pool are lost with the process")),
    _p("transientStorePoolSize", "store", "count", T("buffers of that pool, each as large as a commitlog file")),
    _p("maxMessageSize", "store", "bytes", T("limit of a record (to 4.9.3) or of a body (4.9.4+)"),
       T("above the client's limit it has no effect; below it, sends and put-backs are refused")),
    _p("messageDelayLevel", "store", "text", T("delays of the levels 1, 2, …; retries begin at level 3"),
       default="1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"),
    _p("enableConsumeQueueExt", "store", "bool", T("extended consume queue units"), default=False),
    _p("messageIndexEnable", "store", "bool", T("index files, needed to look messages up by key"), default=True),
    _p("enabledAppendPropCRC", "store", "bool", T("append a CRC of the whole record to its properties"), default=False, since="5.2.0"),
    # --- sends under load
    _p("sendMessageThreadPoolNums", "broker", "count", T("threads that handle sends"),
       T("more than one thread needs useReentrantLockWhenPutMessage=true")),
    _p("useReentrantLockWhenPutMessage", "store", "bool", T("append under a mutex instead of a spin lock"),
       T("a spin lock wastes CPU with several send threads; a mutex is slower with one")),
    _p("sendThreadPoolQueueCapacity", "broker", "count", T("sends that may wait before [OVERLOAD]")),
    _p("waitTimeMillsInSendQueue", "broker", "ms", T("a send that waited longer is refused: [TIMEOUT_CLEAN_QUEUE]"),
       T("a longer time survives pauses, but clients time out while their sends are still stored")),
    _p("waitTimeMillsInTransactionQueue", "broker", "ms", T("an end-transaction call that waited longer is dropped"),
       T("nobody notices a dropped call, since it is one-way: the check has to repair it"), since="4.3.1"),
    _p("osPageCacheBusyTimeOutMills", "store", "ms", T("an append that holds its lock longer makes the broker refuse all sends"),
       T("a longer time means fewer refusals and slower answers")),
    _p("brokerFastFailureEnable", "broker", "bool", T("refuse waiting requests early"),
       T("off: no [..._CLEAN_QUEUE], clients wait until their own timeout")),
    _p("endTransactionThreadPoolNums", "broker", "count", T("threads that handle end-transaction calls"), since="4.3.1"),
    # --- transactions
    _p("transactionTimeOut", "broker", "ms", T("age from which a half message is checked"),
       T("if shorter than the local transaction: needless checks and second commits")),
    _p("transactionCheckMax", "broker", "count", T("checks before a half message is discarded")),
    _p("transactionCheckInterval", "broker", "ms", T("time between two rounds of checks"),
       T("with transactionCheckMax: how long a producer may be offline")),
    _p("transactionOpBatchInterval", "broker", "ms", T("op records are written at most twice this late"), since="5.1.0"),
    _p("transactionOpMsgMaxSize", "broker", "count", T("characters of an op record before it is written at once"), since="5.1.0"),
    _p("rejectTransactionMessage", "broker", "bool", T("refuse transactional messages"), default=False),
    # --- topics, groups, trace
    _p("autoCreateTopicEnable", "broker", "bool", T("create a topic at its first send"),
       T("handy in tests; in production topics land on one broker with four queues"), True),
    _p("autoCreateSubscriptionGroup", "broker", "bool", T("create a consumer group when it appears"), default=True),
    _p("defaultTopicQueueNums", "broker", "count", T("queues of an automatically created topic"), default=8),
    _p("traceTopicEnable", "broker", "bool", T("keep a message trace topic"), default=False, since="4.4.0"),
    _p("aclEnable", "broker", "bool", T("check access keys by plain_acl.yml (ACL 1.0; 5.3.0 and later have ACL 2.0 beside it)"), default=False, since="4.4.0"),
    _p("authenticationEnabled", "broker", "bool", T("ACL 2.0: each request names a user and is signed with the password"),
       T("brokers, proxies and mqadmin need a user of their own too: innerClientAuthenticationCredentials, tools.yml"), False, since="5.3.0"),
    _p("authenticationProvider", "broker", "text", T("ACL 2.0: class that checks signatures"), since="5.3.0"),
    _p("authenticationMetadataProvider", "broker", "text", T("ACL 2.0: class that keeps users; Local… in the broker's store, Proxy… asks the broker"), since="5.3.0"),
    _p("initAuthenticationUser", "broker", "text", T("ACL 2.0: first user (super user), made at the start where there is none"), since="5.3.0"),
    _p("innerClientAuthenticationCredentials", "broker", "text", T("ACL 2.0: user and password that brokers and proxies use among themselves; made a super user at the start where there is none of that name"),
       T("a password other than the stored one: slaves and proxies are refused"), since="5.3.0"),
    _p("authorizationEnabled", "broker", "bool", T("ACL 2.0: users may do only what a policy allows; super users anything"),
       T("an application's user without policies for topic, group and RMQ_SYS_TRACE_TOPIC is refused"), False, since="5.3.0"),
    _p("authorizationProvider", "broker", "text", T("ACL 2.0: class that checks policies"), since="5.3.0"),
    _p("authorizationMetadataProvider", "broker", "text", T("ACL 2.0: class that keeps policies"), since="5.3.0"),
    _p("migrateAuthFromV1Enabled", "broker", "bool", T("ACL 2.0: copy the accounts of plain_acl.yml at the start"), default=False, since="5.3.0"),
    _p("slaveReadEnable", "broker", "bool", T("let consumers read old messages from a slave"), default=False),
    _p("flushConsumerOffsetInterval", "broker", "ms", T("consumerOffset.json is saved this often"), default=5000),
    _p("isolateLogEnable", "broker", "bool", T("a separate log folder for each broker"), default=False, since="4.9.3"),
    _p("autoMessageVersionOnTopicLen", "store", "bool", T("write version 2 records for topics above 127 characters"), default=True, since="5.1.0"),
    # --- what published guides set as well
    _p("rocketmqHome", "broker", "text", T("folder of the installation; often names the release")),
    _p("brokerIP2", "broker", "text", T("address a slave replicates from"),
       T("no replication if slaves cannot reach the address")),
    _p("haListenPort", "store", "count", T("port a slave replicates from"), default=10912),
    _p("storePathConsumeQueue", "store", "text", T("folder of the consume queues"), default="storePathRootDir/consumequeue", read=False),
    _p("storePathIndex", "store", "text", T("folder of the index files"), default="storePathRootDir/index", read=False),
    _p("storeCheckpoint", "store", "text", T("file of the flush times that recovery starts from"), default="storePathRootDir/checkpoint", read=False),
    _p("abortFile", "store", "text", T("file that exists while the broker runs: if it is left, the last stop was not clean"), default="storePathRootDir/abort", read=False),
    _p("mappedFileSizeConsumeQueue", "store", "bytes", T("size of a consume queue file: entries × 20"),
       T("if changed on an existing store, its files no longer fit"), 6_000_000, since="4.5.2"),
    _p("mapedFileSizeConsumeQueue", "store", "bytes", T("older spelling"), default=6_000_000, until="4.5.1"),
    _p("destroyMapedFileIntervalForcibly", "store", "ms", T("how long a file still in use is kept after its deletion began"), default=120_000),
    _p("redeleteHangedFileInterval", "store", "ms", T("interval between attempts to delete such a file"), default=120_000),
    _p("deleteCommitLogFilesInterval", "store", "ms", T("pause between the deletions of two files"), default=100),
    _p("flushCommitLogTimed", "store", "bool", T("flush at fixed times instead of when woken"),
       T("larger and rarer writes; more is lost in a power cut")),
    _p("flushConsumeQueueLeastPages", "store", "count", T("pages of 4 KiB before a consume queue is flushed"), default=2),
    _p("flushConsumeQueueThoroughInterval", "store", "ms", T("time after which a consume queue is flushed regardless of its size"), default=60_000),
    _p("flushIntervalConsumeQueue", "store", "ms", T("interval between flushes of the consume queues"), default=1000),
    _p("accessMessageInMemoryMaxRatio", "store", "percent", T("share of memory within which a message counts as in memory"), default=40),
    _p("pullMessageThreadPoolNums", "broker", "count", T("threads that answer pulls"),
       T("more threads: more reads at once, which compete with writes for the disk")),
    _p("queryMessageThreadPoolNums", "broker", "count", T("threads that answer queries by key or id")),
    _p("adminBrokerThreadPoolNums", "broker", "count", T("threads that answer mqadmin"), default=16),
    _p("pullThreadPoolQueueCapacity", "broker", "count", T("pulls that may wait"), default=100_000),
    _p("waitTimeMillsInPullQueue", "broker", "ms", T("a pull that waited longer is refused: [TIMEOUT_CLEAN_QUEUE]"), default=5000),
    _p("checkCRCOnRecover", "store", "bool", T("verify every record while recovering"),
       T("off: a faster start, but damage is noticed later"), True),
    # --- clients
    _p("clientMaxMessageSize", "client", "bytes", T("DefaultMQProducer.maxMessageSize: limit of the raw body")),
    _p("compressMsgBodyOverHowmuch", "client", "bytes", T("bodies of this size or more are compressed")),
    _p("sendMsgTimeout", "client", "ms", T("time for a send with all its retries"),
       T("a timed-out send may still be stored")),
    _p("retryTimesWhenSendFailed", "client", "count", T("further attempts of a synchronous send")),
    _p("retryAnotherBrokerWhenNotStoreOK", "client", "bool", T("try another broker when the status is not SEND_OK"),
       T("on: duplicates, because the first broker stored it"), False),
    _p("maxReconsumeTimes", "client", "count", T("retries before the dead letter queue")),
    _p("consumeTimeout", "client", "count", T("minutes before a listener that does not return is sent back"), default=15),
)}  # fmt: skip

ALIASES: Final = {
    "mapedFileSizeCommitLog": "mappedFileSizeCommitLog",
    "mapedFileSizeConsumeQueue": "mappedFileSizeConsumeQueue",
    "haSlaveFallbehindMax": "haMaxGapNotInSync",
}
"""Old name → new name."""
BROKER_SETTINGS: Final = frozenset(p.name for p in PARAMETERS.values() if p.side != "client") | {
    "checkTransactionMessageEnable", "controllerAddr", "dLegerGroup", "dLegerPeers", "dLegerSelfId", "enableControllerMode", "enablePropertyFilter",
    "enableScheduleMessageStats", "fetchNamesrvAddrByAddressServer", "maxHashSlotNum", "maxIndexNum", "msgTraceTopicName", "regionId", "serverWorkerThreads",
    "storeType", "timerWheelEnable",
}  # fmt: skip
"""Names that identify a broker.conf among properties files: those above, and others in common use."""
