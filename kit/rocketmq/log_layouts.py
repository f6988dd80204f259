"""Log layouts as data: what a line of each looks like, where upstream defines it, and the zone of its times.

`kit.formats.logs.prefix` recognises the frequent layouts from the form of the time and the separators after it,
`kit.formats.logs.fallback_layouts` all others by regular expressions.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import attrs

Zone = Literal["GMT+8", "floating", "offset in text"]
Milliseconds = Literal["ms", "none", "seconds twice"]


@attrs.frozen
class Layout:
    """One way of printing a log entry. `grammar` describes the prefix; `…` is the message."""

    slug: str
    grammar: str
    zone: Zone
    milliseconds: Milliseconds
    example: str
    reference: str


BROKER_LOGBACK = (
    "distribution/conf/logback_broker.xml 4.3.0-5.0.0, broker/src/main/resources/rmq.broker.logback.xml 5.1.0-5.3.3"
)

LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout(
        "unknown", "…", "floating", "none", "For more information, please visit the url",
        "no layout fits: the line is before the first entry of its file",
    ),
    Layout(
        "broker", "time LEVEL thread - …", "GMT+8", "none",
        "2024-05-14 10:22:31 WARN SendMessageThread_1 - putMessage message topic length too long 149", BROKER_LOGBACK,
    ),
    Layout(
        "stats", "time LEVEL - …", "GMT+8", "none",
        "2024-05-14 10:23:00 INFO - [TOPIC_PUT_NUMS] [TopicA] Stats In One Minute, SUM: 120 TPS: 2.00 AVGPT: 1.00", BROKER_LOGBACK,
    ),
    Layout(
        "watermark", "time - …", "GMT+8", "none",
        "2024-05-14 10:22:31 - [WATERMARK] Send Queue Size: 0 SlowTimeMills: 0", BROKER_LOGBACK,
    ),
    Layout(
        "client-4.3", "time,fraction LEVEL logger - …", "floating", "seconds twice",
        "2019-05-14 10:22:31,031 WARN RocketmqClient - sendKernelImpl exception, resend at once, InvokeID: 123, RT: 203ms, Broker: null",
        "logging/inner/LoggingBuilder.DefaultLayout 4.3.0-4.7.1",
    ),
    Layout(
        "client-4.8", "time,fraction LEVEL logger - …", "floating", "ms",
        "2022-05-14 10:22:31,407 WARN RocketmqRemoting - closeChannel: close the connection to remote address[] result: true",
        "logging/inner/LoggingBuilder.DefaultLayout 4.8.0-5.0.0",
    ),
    Layout(
        "client-5", "time.fraction LEVEL [pid] [thread] [logger#method:line] - …", "GMT+8", "ms",
        "2026-11-20 23:12:32.876 INFO  [4212] [main] [o.a.r.c.i.p.DefaultMQProducerImpl#?:?] - register sendMessage Hook",
        "client/src/main/resources/rmq.client.logback.xml 5.1.0-5.3.3",
    ),
    Layout(
        "logback", "time LEVEL [thread] logger - …", "floating", "ms",
        "2026-11-20 22:34:18.328 INFO  [main] com.acme.Orders - started", "logback.qos.ch/manual/layouts.html",
    ),
    Layout(
        "logback-thread-first", "time [thread] LEVEL logger - …", "floating", "ms",
        "2024-05-14 10:22:31.123 [main] INFO  com.acme.Orders - started", "logback.qos.ch/manual/layouts.html",
    ),
    Layout(
        "spring-boot", "time LEVEL pid --- [thread] logger : …", "floating", "ms",
        "2024-05-14 10:22:31.123  INFO 4711 --- [           main] com.acme.Orders : started",
        "docs.spring.io/spring-boot/reference/features/logging.html",
    ),
    Layout(
        "log4j", "time LEVEL logger - …", "floating", "ms",
        "2024-05-14 10:22:31,123 INFO com.acme.Orders - started", "logging.apache.org/log4j/2.x/manual/pattern-layout.html",
    ),
    Layout(
        "level-only", "time LEVEL …", "floating", "ms",
        "2024-05-14 10:22:31.123 INFO started in 3 seconds", "any layout whose prefix ends with the level",
    ),
    Layout(
        "time-only", "time …", "floating", "ms", "2024-05-14 10:22:31 started in 3 seconds", "any layout with nothing but a time",
    ),
    Layout(
        "json", "one JSON object a line", "floating", "ms",
        '{"@timestamp":"2024-05-14T10:22:31.123+08:00","level":"INFO","thread_name":"main","logger_name":"com.acme.Orders","message":"started"}',
        "github.com/logfellow/logstash-logback-encoder, docs.docker.com/engine/logging/drivers/json-file",
    ),
    Layout(
        "no-date", "time of day …", "floating", "ms",
        "10:22:31.123 [main] ERROR com.acme.Orders - failed", "logging.apache.org/log4j/2.x: the default pattern",
    ),
    Layout(
        "level-first", "LEVEL time …", "floating", "ms",
        "INFO  2024-05-14 10:22:31,123 [main] com.acme.Orders - started", "dubbo, log4j 1 samples",
    ),
    Layout(
        "short-year", "yy-MM-dd time …", "floating", "ms", "24/05/14 10:22:31 INFO Orders: started", "log4j 1 samples, Spark and Hadoop defaults",
    ),
    Layout(
        "syslog", "Mon dd time host …", "floating", "none", "May 14 10:22:31 host-a broker[411]: started", "RFC 3164",
    ),
    Layout(
        "chat", "[time of day] name: …", "floating", "none", "[10:22 PM] Li Lei: [TIMEOUT_CLEAN_QUEUE]broker busy, anybody seen this?", "pasted conversations",
    ),
    Layout(
        "mqadmin", "…", "floating", "none", "#Cluster Name     #Broker Name            #BID  #Addr", "tools/command 4.3.0-5.3.3",
    ),
)  # fmt: skip

SLUGS: Final = tuple(layout.slug for layout in LAYOUTS)
BY_SLUG: Final = {layout.slug: layout for layout in LAYOUTS}

BROKER_SIDE: Final = (
    "broker", "store", "storeerror", "transaction", "watermark", "remoting", "stats", "filter", "lock", "protection", "commercial",
    "broker_default", "pop", "tiered_store", "rocksdb", "broker_traffic", "coldctr", "broker_metrics", "auth_audit", "namesrv",
)  # fmt: skip
"""Sources written by the broker's own loggers; the name is that of the log file without its extension."""


@attrs.frozen
class Source:
    """How to recognise the log of one broker-side logger by content."""

    slug: str
    markers: tuple[bytes, ...]


SOURCES: Final[tuple[Source, ...]] = (
    Source("watermark", (b"[WATERMARK]",)),
    Source("protection", (b"[PROTECT_BROKER]",)),
    Source("broker_traffic", (b"RequestCode Distribution", b"ResponseCode Distribution")),
    Source(
        "stats",
        (b"Stats In One Minute", b"Stats In One Hour", b"Stats In One Day", b"Stats Every 5 Minutes"),
    ),
    Source(
        "store",
        (
            b"[STORETPS]", b"[PAGECACHERT]", b"load commit log", b"size exceeded, msg ", b"length too long", b"mappedFile", b"MappedFile", b"mapped file",
            b"[NOTIFYME]putMessage", b"findPutMessageEntireTimePX", b"PERF_COUNTER_", b"SetReputOffset", b"Flush data to disk",
            b"selectMappedBuffer", b"physic disk", b"load logics queue", b"store checkpoint file", b"message store has shutdown", b"GroupCommitService",
            b"logics disk", b"TransientStorePool", b"recover physics", b"truncateDirtyLogicFiles", b"AppendMessageResult{", b"ConsumeQueueExt",
            b"the real topic of schedule msg", b"a message time up", b"in lock eclipse time", b"in lock elapsed time", b"illegal magic code",
            b"do groupcommit", b"do sync transfer", b"CleanCommitLogService", b"HAClient", b"HAConnection", b"load over, and the max phy offset",
            b"StoreScheduledThread", b"allocateMappedFileService",
        ),
    ),
    Source(
        "transaction",
        (
            b"PutBackToHalfQueueReturnResult", b"Before check, the queue=", b"After check, {", b"to check prepare message", b"transaction check service thread",
            b"Transaction request:", b"Check producer[", b"The producer[", b"has been checked too many times", b"checked-too-many-time",
            b"channel is null. groupId=", b"Transaction op message write", b"The miss offset", b"The miss op offset", b"transaction op batch thread",
            b"Check transaction. real_topic=", b"committed/rolled back", b"Get message from store return null", b"OpOffset: ", b"process time reach max",
            b"No new message. GetMessageStatus", b"Send check message", b"Half message exceed file reserved time", b"Fresh stored. the miss",
        ),
    ),
    Source(
        "pop",
        (b"reviveQueueId=", b"[PopBuffer]", b"start revive topic="),
    ),
    Source("coldctr", (b"ColdDataCgCtrService service", b"ColdDataPullRequestHoldService service", b"checkColdPullRequest-info")),
    Source("lock", (b"tryLockBatch, ", b"unlockBatch, ", b"RebalanceLockManager#")),
    Source(
        "remoting",
        (b"NETTY SERVER PIPELINE", b"NETTY CLIENT PIPELINE", b"closeChannel: ", b"createChannel: ", b"name server address updated", b"invokeOneway",
         b"NettyServerCodecThread", b"NettyClientSelector", b"too many requests and system thread pool busy"),
    ),
    Source(
        "broker",
        (
            b"new producer connected", b"new consumer connected", b"dispatch behind commit log", b"Dispatch task fall behind", b"Slave fall behind",
            b"slave fall behind", b"ClientManageThread", b"register broker", b"boot success. serializeType", b"consumer's group info not exist",
            b"subscription is not latest", b"from ProducerManager groupChannelTable", b"update consumer offset less than store", b"unregister a producer",
            b"unregister a consumer", b"updateAndCreateTopic", b"channel table is empty", b"Channel list is empty", b"HeartbeatThread_", b"HeartbeatThread-",
            b"PullMessageThread_", b"AdminBrokerThread_", b"BrokerControllerScheduledThread", b"create new topic", b"subscription changed",
            b"consumer rebalance", b"processRequestWrapper response", b"SendMessageThread_",
        ),
    ),
    Source(
        "namesrv",
        (b"NSScheduledThread", b"RouteInfoManager", b"new broker registered", b"new topic registered", b"NameServerHousekeeping"),
    ),
)  # fmt: skip
"""Message texts (or thread names) typical for one logger (reference §8.1, §8.2)."""

NAME_OF_SOURCE: Final = re.compile(
    rf"(?:^|[/!\\._-])({'|'.join(sorted(BROKER_SIDE, key=len, reverse=True))})(?:[._-]\d+)?\.log", re.IGNORECASE
)
NAME_OF_CLIENT: Final = re.compile(r"rocketmq_client|client.*\.log", re.IGNORECASE)


def table() -> str:
    """Return all layouts as a Markdown table, unchanged in docs/evidence.md: `python -m kit.rocketmq.log_layouts`."""

    def code(text: str) -> str:
        return "`" + text.replace("|", "\\|") + "`"

    shown = {"ms": "milliseconds", "none": "seconds", "seconds twice": "seconds (the fraction repeats them)"}
    rows = [("layout", "a line", "zone of its times", "resolution", "sample", "reference"), ("---",) * 6]
    rows += [
        (code(x.slug), code(x.grammar), x.zone, shown[x.milliseconds], code(x.example), x.reference.replace("|", "\\|"))
        for x in LAYOUTS
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    print(table())
