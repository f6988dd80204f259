"""The parameters of broker.conf and of clients that matter in an incident: meaning, unit, default, what they trade.

Classes: common/BrokerConfig, store/config/MessageStoreConfig, remoting/netty/NettyServerConfig; clients:
client/producer/DefaultMQProducer, client/consumer/DefaultMQPushConsumer. Defaults that differ by version stand in `versions.RULES`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from kit.texts import T

Side = Literal["broker", "store", "client"]
Unit = Literal["ms", "s", "hours", "bytes", "percent", "count", "bool", "enum", "text"]


@attrs.frozen
class Parameter:
    """One setting. `since`/`until`: first and last release that reads it under this name; `default`: None where it differs by version
    (see `versions.RULES`) or has none.
    """

    name: str
    side: Side
    unit: Unit
    meaning: T
    trade: T | None = None
    default: Any = None
    since: str | None = None
    until: str | None = None


def _p(name: str, side: Side, unit: Unit, meaning: T, trade: T | None = None, default: Any = None, **more: str) -> Parameter:
    return Parameter(name, side, unit, meaning, trade, default, **more)


PARAMETERS: Final[dict[str, Parameter]] = {p.name: p for p in (
    # --- who and where
    _p("brokerClusterName", "broker", "text", T("cluster name; written into every message as CLUSTER from 4.6.0",
                                                "集群名；4.6.0 起写入每条消息的 CLUSTER 属性"),
       default="DefaultCluster"),
    _p("brokerName", "broker", "text", T("name shared by a master and its slaves", "主从共用的 Broker 名")),
    _p("brokerId", "broker", "count", T("0 is the master, others are slaves", "0 为主，其余为从"), default=0),
    _p("brokerIP1", "broker", "text", T("address clients get, and that stands in offset ids", "客户端得到的地址，也写入 offset id"),
       T("wrong behind NAT or with several addresses: clients cannot connect", "在 NAT 或多地址环境中填错会导致客户端无法连接")),
    _p("listenPort", "broker", "count", T("port for clients; stands in offset ids", "客户端端口，也写入 offset id"), default=10911),
    _p("namesrvAddr", "broker", "text", T("name servers", "NameServer 地址")),
    _p("brokerRole", "store", "enum", T("ASYNC_MASTER, SYNC_MASTER or SLAVE", "ASYNC_MASTER、SYNC_MASTER 或 SLAVE"),
       T("SYNC_MASTER answers only after the slave has the record: safer, slower, SLAVE_NOT_AVAILABLE without a slave",
         "SYNC_MASTER 等从节点收到后才应答：更安全但更慢，没有从节点时返回 SLAVE_NOT_AVAILABLE"), "ASYNC_MASTER"),
    _p("brokerPermission", "broker", "count", T("bits: 4 read, 2 write", "位：4 读，2 写"), default=6),
    _p("enableDLegerCommitLog", "store", "bool", T("DLedger replication; the spelling is RocketMQ's", "DLedger 复制；拼写即如此"),
       T("a majority stores each record; records above 4,194,256 bytes fail", "多数派存储每条记录；超过 4,194,256 字节的记录会失败"), False, since="4.5.0"),
    # --- storage
    _p("storePathRootDir", "store", "text", T("folder of the store", "存储根目录"), default="~/store"),
    _p("storePathCommitLog", "store", "text", T("folder of the commitlog; several, separated by commas, from 4.9.2",
                                                "commitlog 目录；4.9.2 起可用逗号分隔多个"),
       default="~/store/commitlog"),
    _p("mappedFileSizeCommitLog", "store", "bytes", T("size of a commitlog file", "commitlog 单文件大小"), since="4.5.2"),
    _p("mapedFileSizeCommitLog", "store", "bytes", T("size of a commitlog file (old spelling)",
                                                     "commitlog 单文件大小（旧拼写）"), default=1 << 30, until="4.5.1"),
    _p("fileReservedTime", "store", "hours", T("files are deleted after this, and half messages no longer checked",
                                               "文件保留时长，超过后删除，half 消息也不再回查"),
       T("longer keeps evidence and slow consumers, and needs disk", "越长越能保留证据和照顾慢消费者，但占用磁盘")),
    _p("deleteWhen", "store", "text", T("hour of day at which old files are deleted", "每天删除过期文件的时刻（小时）")),
    _p("diskMaxUsedSpaceRatio", "store", "percent", T("disk use from which old files are deleted at any hour", "磁盘使用率达到该值时随时删除旧文件"),
       T("the broker refuses writes at 90 % of its own accord", "达到 90% 时 Broker 会自行拒绝写入")),
    _p("flushDiskType", "store", "enum", T("ASYNC_FLUSH or SYNC_FLUSH", "ASYNC_FLUSH 或 SYNC_FLUSH"),
       T("SYNC_FLUSH answers after the disk has it: no loss at a power cut, much slower", "SYNC_FLUSH 落盘后才应答：断电不丢，但慢得多")),
    _p("syncFlushTimeout", "store", "ms", T("wait for SYNC_FLUSH before FLUSH_DISK_TIMEOUT", "SYNC_FLUSH 等待上限，超时返回 FLUSH_DISK_TIMEOUT")),
    _p("slaveTimeout", "store", "ms", T("wait for the slave before FLUSH_SLAVE_TIMEOUT", "等待从节点的上限，超时返回 FLUSH_SLAVE_TIMEOUT"), since="4.9.3"),
    _p("haSlaveFallbehindMax", "store", "bytes", T("slave lag from which SYNC_MASTER answers SLAVE_NOT_AVAILABLE",
                                                   "从节点落后超过该值时 SYNC_MASTER 返回 SLAVE_NOT_AVAILABLE"),
       until="4.9.8"),
    _p("haMaxGapNotInSync", "store", "bytes", T("slave lag from which it counts as out of sync",
                                                "从节点落后超过该值即视为不同步"), default=256 << 20, since="5.0.0"),
    _p("flushIntervalCommitLog", "store", "ms", T("interval of asynchronous flushes", "异步刷盘间隔"), default=500),
    _p("flushCommitLogLeastPages", "store", "count", T("dirty pages from which an asynchronous flush writes", "异步刷盘的最少脏页数"), default=4),
    _p("flushCommitLogThoroughInterval", "store", "ms", T("at the latest flush everything after this", "最长间隔后强制全部刷盘"), default=10000),
    _p("warmMapedFileEnable", "store", "bool", T("touch new files' pages in advance", "预先写入新文件的内存页"),
       T("no page faults later, a burst of writes at each new file", "避免之后的缺页，但每个新文件会产生一阵写入")),
    _p("transientStorePoolEnable", "store", "bool", T("write into an off-heap pool first, then into the page cache", "先写堆外内存池，再写入页缓存"),
       T("separates writes from reads; what is in the pool is lost with the process", "读写分离；进程崩溃会丢失池中数据")),
    _p("transientStorePoolSize", "store", "count", T("buffers of that pool, each as large as a commitlog file", "内存池的缓冲块数，每块与 commitlog 文件等大")),
    _p("maxMessageSize", "store", "bytes", T("limit of a record (to 4.9.3) or of a body (4.9.4+)", "记录（至 4.9.3）或消息体（4.9.4 起）的大小上限"),
       T("above the client's limit it never bites; below, sends and put-backs are refused", "高于客户端上限则不起作用；低于则会拒绝发送和回写")),
    _p("messageDelayLevel", "store", "text", T("delays of the levels 1, 2, …; retries begin at level 3", "各延时级别的时长；重试从第 3 级开始"),
       default="1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"),
    _p("enableConsumeQueueExt", "store", "bool", T("extended consume queue units", "启用扩展消费队列"), default=False),
    _p("messageIndexEnable", "store", "bool", T("index files, needed to look messages up by key", "索引文件，按 key 查询消息时需要"), default=True),
    _p("enabledAppendPropCRC", "store", "bool", T("append a CRC of the whole record to its properties",
                                                  "在属性末尾追加整条记录的 CRC"), default=False, since="5.2.0"),
    # --- sends under load
    _p("sendMessageThreadPoolNums", "broker", "count", T("threads that handle sends", "处理发送请求的线程数"),
       T("more than one wants useReentrantLockWhenPutMessage=true", "大于 1 时应设置 useReentrantLockWhenPutMessage=true")),
    _p("useReentrantLockWhenPutMessage", "store", "bool", T("append under a mutex instead of a spin lock", "追加写使用互斥锁而非自旋锁"),
       T("a spin lock burns CPU with several send threads; a mutex is slower with one", "多线程发送时自旋锁空耗 CPU；单线程时互斥锁较慢")),
    _p("sendThreadPoolQueueCapacity", "broker", "count", T("sends that may wait before [OVERLOAD]", "发送队列容量，超出返回 [OVERLOAD]")),
    _p("waitTimeMillsInSendQueue", "broker", "ms", T("a send that waited longer is refused: [TIMEOUT_CLEAN_QUEUE]",
                                                     "发送请求等待超过该值即拒绝：[TIMEOUT_CLEAN_QUEUE]"),
       T("longer rides out pauses, and lets clients time out while their sends are still stored", "调大可熬过停顿，但客户端可能已超时而消息仍被存储")),
    _p("waitTimeMillsInTransactionQueue", "broker", "ms", T("an end-transaction call that waited longer is dropped", "结束事务请求等待超过该值即丢弃"),
       T("a dropped one is one-way and unseen: the check has to repair it", "该请求是单向的，丢弃无感知，只能靠回查修复"), since="4.3.1"),
    _p("osPageCacheBusyTimeOutMills", "store", "ms", T("an append that holds its lock longer makes the broker refuse all sends",
                                                       "追加持锁超过该值时 Broker 拒绝所有发送"),
       T("longer means fewer refusals and slower answers", "调大可减少拒绝，但应答变慢")),
    _p("brokerFastFailureEnable", "broker", "bool", T("refuse waiting requests early", "提前拒绝排队的请求"),
       T("off: no [..._CLEAN_QUEUE], clients wait until their own timeout", "关闭后没有 [..._CLEAN_QUEUE]，客户端一直等到自身超时")),
    _p("endTransactionThreadPoolNums", "broker", "count", T("threads that handle end-transaction calls", "处理结束事务请求的线程数"), since="4.3.1"),
    # --- transactions
    _p("transactionTimeOut", "broker", "ms", T("age from which a half message is checked", "half 消息开始被回查的时长"),
       T("shorter than the local transaction: needless checks, and second commits", "短于本地事务时会产生不必要的回查和重复提交")),
    _p("transactionCheckMax", "broker", "count", T("checks before a half message is discarded", "half 消息被丢弃前的回查次数")),
    _p("transactionCheckInterval", "broker", "ms", T("time between two rounds of checks", "两轮回查之间的间隔"),
       T("with transactionCheckMax: how long a producer may be away", "与 transactionCheckMax 一起决定生产者可以离线多久")),
    _p("transactionOpBatchInterval", "broker", "ms", T("op records are written this late at most, twice over",
                                                       "op 记录的批量写入间隔，最迟两个间隔"), since="5.1.0"),
    _p("transactionOpMsgMaxSize", "broker", "count", T("characters of an op record before it is written at once",
                                                       "op 记录达到该字符数时立即写入"), since="5.1.0"),
    _p("rejectTransactionMessage", "broker", "bool", T("refuse transactional messages", "拒绝事务消息"), default=False),
    # --- topics, groups, trace
    _p("autoCreateTopicEnable", "broker", "bool", T("create a topic at its first send", "首次发送时自动创建主题"),
       T("handy in tests; in production topics land on one broker with four queues", "测试方便；生产中主题会只落在一个 Broker 且只有四个队列"), True),
    _p("autoCreateSubscriptionGroup", "broker", "bool", T("create a consumer group when it appears", "自动创建消费组"), default=True),
    _p("defaultTopicQueueNums", "broker", "count", T("queues of a topic created by itself", "自动创建主题的队列数"), default=8),
    _p("traceTopicEnable", "broker", "bool", T("keep a message trace topic", "启用消息轨迹主题"), default=False, since="4.4.0"),
    _p("aclEnable", "broker", "bool", T("check access keys", "启用访问控制"), default=False, since="4.4.0"),
    _p("slaveReadEnable", "broker", "bool", T("let consumers read old messages from a slave", "允许消费者从从节点读取旧消息"), default=False),
    _p("flushConsumerOffsetInterval", "broker", "ms", T("consumerOffset.json is saved this often", "consumerOffset.json 的保存间隔"), default=5000),
    _p("isolateLogEnable", "broker", "bool", T("a log folder for each broker", "每个 Broker 使用独立日志目录"), default=False, since="4.9.3"),
    _p("autoMessageVersionOnTopicLen", "store", "bool", T("write version 2 records for topics above 127 characters",
                                                          "主题超过 127 字符时写版本 2 记录"), default=True, since="5.1.0"),
    # --- clients
    _p("clientMaxMessageSize", "client", "bytes", T("DefaultMQProducer.maxMessageSize: limit of the raw body",
                                                    "DefaultMQProducer.maxMessageSize：压缩前消息体上限")),
    _p("compressMsgBodyOverHowmuch", "client", "bytes", T("bodies from here on are compressed", "消息体达到该值时压缩")),
    _p("sendMsgTimeout", "client", "ms", T("time for a send with all its retries", "一次发送（含重试）的总时限"),
       T("says nothing about storage: a timed-out send may be stored", "超时并不代表未存储")),
    _p("retryTimesWhenSendFailed", "client", "count", T("further attempts of a synchronous send", "同步发送的重试次数")),
    _p("retryAnotherBrokerWhenNotStoreOK", "client", "bool", T("try another broker when the status is not SEND_OK", "状态不是 SEND_OK 时换 Broker 重试"),
       T("on: duplicates, because the first broker has stored it", "开启会产生重复，因为第一个 Broker 已经存储"), False),
    _p("maxReconsumeTimes", "client", "count", T("retries before the dead letter queue", "进入死信队列前的重试次数")),
    _p("consumeTimeout", "client", "count", T("minutes before a listener that does not return is sent back", "监听器不返回时，多少分钟后发回重试"), default=15),
)}  # fmt: skip

ALIASES: Final = {"mapedFileSizeCommitLog": "mappedFileSizeCommitLog", "haSlaveFallbehindMax": "haMaxGapNotInSync"}
"""Old name → new name."""
