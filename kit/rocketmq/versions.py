"""Differences between RocketMQ releases: release numbers, limits, defaults, rules, and when faults were fixed.

4.9.x and 5.x are parallel lines; every rule below was compared tag by tag, so the plain order of version numbers holds
for these rows. `reference` names the source file (below `org/apache/rocketmq`) and what was read or observed.
"""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from kit.i18n import T

VERSION_NUMBERS: Final[dict[int, str]] = {
    273: "4.3.0", 275: "4.3.1", 277: "4.3.2", 293: "4.4.0", 313: "4.5.0", 315: "4.5.1", 317: "4.5.2", 333: "4.6.0",
    335: "4.6.1", 353: "4.7.0", 355: "4.7.1", 373: "4.8.0", 393: "4.9.0", 395: "4.9.1", 397: "4.9.2", 399: "4.9.3",
    401: "4.9.4", 403: "4.9.5", 405: "4.9.6", 407: "4.9.7", 409: "4.9.8", 413: "5.0.0", 433: "5.1.0", 435: "5.1.1",
    437: "5.1.2", 439: "5.1.3", 441: "5.1.4", 453: "5.2.0", 473: "5.3.0", 475: "5.3.1", 477: "5.3.2", 479: "5.3.3",
}  # fmt: skip
"""Ordinal of common/MQVersion.Version → release: `version=` in broker.log's "new producer connected", brokerVersion of brokerStatus."""

NOT_A_VERSION = T("`{text}` is not a RocketMQ version; write it like 4.6.1, V4_6_1 or 335.")


@attrs.frozen(order=True)
class Version:
    """A release that can be ordered and compared."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str | int | Version) -> Version:
        """Read "4.6.1", "V4_6_1", "rocketmq-all-4.6.1-bin", "4.6", or an MQVersion ordinal; raise ValueError otherwise.

        A snapshot ordinal (one below a release's) reads as that release.
        """
        if isinstance(text, Version):
            return text
        plain = str(text).strip()
        if plain.isdecimal():
            return cls._of_ordinal(int(plain), plain)
        found = re.search(r"(?<!\d)(\d{1,2})[._](\d{1,2})(?:[._](\d{1,2}))?(?!\d)", plain)
        if not found:
            raise ValueError(NOT_A_VERSION.say(text=plain[:80]).render())
        return cls(int(found.group(1)), int(found.group(2)), int(found.group(3) or 0))

    @classmethod
    def _of_ordinal(cls, number: int, text: str) -> Version:
        # The enum lists .0 to .9 of every minor release, a snapshot before each; 4.9 is followed by 5.0.
        if not min(VERSION_NUMBERS) - 1 <= number < 613:
            raise ValueError(NOT_A_VERSION.say(text=text[:80]).render())
        step = number // 2 - min(VERSION_NUMBERS) // 2
        minor, patch = divmod(step, 10)
        minor += 3
        return cls(4 + minor // 10, minor % 10, patch)

    @classmethod
    def maybe(cls, text: object) -> Version | None:
        """Read a version, None if absent."""
        try:
            return cls.parse(text) if isinstance(text, str | int | Version) else None
        except ValueError:
            return None

    @property
    def number(self) -> int:
        """The MQVersion ordinal."""
        return 273 + 20 * ((self.major - 4) * 10 + self.minor - 3) + 2 * self.patch

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


OLDEST: Final = Version(4, 3, 0)
NEWEST: Final = Version(5, 3, 3)
RELEASES: Final = tuple(Version.parse(text) for text in VERSION_NUMBERS.values())


@attrs.frozen
class Rule:
    """Something that differs by version: `rows` are (first version, value), oldest first."""

    name: str
    side: str
    """`broker`, `client`: whose version decides."""
    rows: tuple[tuple[Version, Any], ...]
    reference: str

    def at(self, version: str | int | Version | None) -> Any:
        """Return the value in force at `version`; None if the version is unknown or older than the rule."""
        if version is None:
            return None
        wanted = Version.parse(version)
        value = None
        for since, row in self.rows:
            if wanted >= since:
                value = row
        return value


RULES: Final[dict[str, Rule]] = {}


def _rule(name: str, side: str, reference: str, **rows: Any) -> None:
    RULES[name] = Rule(
        name,
        side,
        tuple((Version.parse(since[1:].replace("_", ".")), value) for since, value in rows.items()),
        reference,
    )


KIB: Final = 1024
MIB: Final = 1024 * KIB

# fmt: off
# --- names ---------------------------------------------------------------------------------------------------------------
_rule("clientTopicMaxChars", "client", "client/Validators.checkTopic", v4_3_0=255, v4_6_1=127)
_rule("groupMaxChars", "client", "client/Validators.checkGroup", v4_3_0=255)
_rule("brokerTopicMax", "broker", "store/DefaultMessageStore, broker/util/HookUtils: characters until 4.9.8, bytes from 5.0.0", v4_3_0=127)
_rule("brokerTopicUnit", "broker", "store/DefaultMessageStore; broker/util/HookUtils.checkBeforePutMessage", v4_3_0="chars", v5_0_0="bytes")
_rule("brokerRetryTopicMax", "broker", "broker/util/HookUtils.checkBeforePutMessage: %RETRY% up to 255 bytes", v4_3_0=127, v5_1_0=255)
_rule("topicTooLongCode", "broker", "broker/processor/AbstractSendMessageProcessor.msgCheck", v4_3_0=13, v4_6_1=1, v5_3_2=29)
_rule("discardTopic", "broker", "broker/transaction/queue/DefaultTransactionalMessageCheckListener", v4_3_0=False, v4_5_2=True)
_rule("dlqPerm", "broker", "broker/processor/AbstractSendMessageProcessor: write-only dead letter topics", v4_3_0=2, v4_9_2=6)
_rule("autoCreateTopic", "broker", "common/MixAll", v4_3_0="AUTO_CREATE_TOPIC_KEY", v4_3_1="TBW102")
# --- sizes ---------------------------------------------------------------------------------------------------------------
_rule("maxMessageSize", "broker", "store/config/MessageStoreConfig", v4_3_0=4 * MIB)
_rule("clientMaxMessageSize", "client", "client/Validators.checkMessage: the body before compression", v4_3_0=4 * MIB)
_rule("sizeCheck", "broker", "store/CommitLog; store/MessageExtEncoder 5.1.0+", v4_3_0="total", v4_9_4="body", v4_9_5="body+64k")
_rule("sizeCheckDledger", "broker", "store/dledger/DLedgerCommitLog", v4_5_0="total", v4_9_4="body")
_rule("propertiesMax", "broker", "store/CommitLog: int16 length", v4_3_0=32767)
_rule("trailingSeparator", "writer", "common/message/MessageDecoder.messageProperties2String", v4_3_0=True, v4_9_1=False, v5_2_0=True)
_rule("storesCluster", "broker", "broker/processor/SendMessageProcessor", v4_3_0=False, v4_6_0=True)
_rule("storesRegionAndTrace", "broker", "broker/processor/AbstractSendMessageProcessor.buildMsgContext", v4_3_0=False, v5_0_0=True)
_rule("dropsWait", "broker", "broker/processor/SendMessageProcessor: plain single messages only", v4_3_0=False, v4_9_1=True, v5_0_0=False)
_rule("reencodesPlain", "broker", "broker/processor/SendMessageProcessor: before 4.6.0 the client's string is stored as it is", v4_3_0=False, v4_6_0=True)
_rule("halfCarriesTransactionId", "broker", "broker/transaction/queue/TransactionalMessageBridge.parseHalfMessageInner", v4_3_0=False, v5_1_0=True)
_rule("dlqThroughSchedule", "broker", "broker/processor/SendMessageProcessor.consumerSendMsgBack", v4_3_0=True, v4_9_2=False)
_rule("recordV2", "broker", "common/message/MessageVersion, autoMessageVersionOnTopicLen", v4_3_0=False, v5_1_0=True)
_rule("ipv6Hosts", "broker", "common/sysflag/MessageSysFlag", v4_3_0=False, v4_6_0=True)
_rule("compressionTypeBits", "client", "common/compression/CompressionType", v4_3_0=False, v4_9_4=True)
_rule("compressMsgBodyOverHowmuch", "client", "client/impl/producer/DefaultMQProducerImpl.tryToCompressMessage", v4_3_0=4096)
_rule("decompressesOnPutBack", "broker", "broker/transaction/queue/TransactionalMessageBridge.decodeMsgList", v4_3_0=True, v4_6_0=False)
_rule("dledgerBatches", "broker", "store/dledger/DLedgerCommitLog", v4_5_0=False, v4_8_0=True)
# --- transactions --------------------------------------------------------------------------------------------------------
_rule("transactionTimeOut", "broker", "common/BrokerConfig, ms", v4_3_0=3000, v4_3_1=6000)
_rule("transactionCheckMax", "broker", "common/BrokerConfig", v4_3_0=5, v4_3_1=15)
_rule("transactionCheckInterval", "broker", "common/BrokerConfig, ms", v4_3_0=60000, v5_1_1=30000)
_rule("transactionOpBatchInterval", "broker", "common/BrokerConfig, ms; None: one op record each", v4_3_0=None, v5_1_0=3000)
_rule("transactionOpMsgMaxSize", "broker", "common/BrokerConfig, characters", v4_3_0=None, v5_1_0=4096)
_rule("opBatching", "broker", "broker/transaction/queue/TransactionalMessageServiceImpl", v4_3_0=False, v5_1_0=True)
_rule("refusesLateCommit", "broker", "broker/processor/EndTransactionProcessor: code 604 beyond CHECK_IMMUNITY_TIME_IN_SECONDS", v4_3_0=False, v5_1_1=True)
_rule("clientClearsDelay", "client", "client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction", v4_3_0=False, v4_6_0=True)
_rule("fallbackClearsTranMsg", "client", "client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack, PR #1649", v4_3_0=False, v4_6_1=True)
_rule("oldFallback", "broker", "broker/processor/SendMessageProcessor, store/schedule/ScheduleMessageService: what a re-send with TRAN_MSG becomes", v4_3_0="carousel", v4_6_1="stored prepared, never consumed", v4_7_0="dropped when the delay expires",
      v5_0_0="stored prepared, never consumed")
_rule("checkLinesAtInfo", "broker", "broker/transaction/queue/TransactionalMessageServiceImpl: Send check message, Check topic", v4_3_0=True, v4_5_0=False)
# --- flow control ----------------------------------------------------------------------------------------------------------
_CODES = (17, 14, 1, 16, 204, 205)
_rule("retriedResponseCodes", "client", "client/impl/producer/DefaultMQProducerImpl; client/producer/DefaultMQProducer.retryResponseCodes",
      v4_3_0=_CODES, v5_3_0=(*_CODES, 2), v5_3_1=(*_CODES, 2, 1500))
_rule("retryTimesWhenSendFailed", "client", "client/producer/DefaultMQProducer", v4_3_0=2)
_rule("sendMsgTimeout", "client", "client/producer/DefaultMQProducer, ms for all attempts", v4_3_0=3000)
_rule("sendMessageThreadPoolNums", "broker", "common/BrokerConfig", v4_3_0=1, v4_9_1="min(cores,4)")
_rule("useReentrantLockWhenPutMessage", "broker", "store/config/MessageStoreConfig", v4_3_0=False, v4_9_1=True)
_rule("waitTimeMillsInSendQueue", "broker", "common/BrokerConfig, ms", v4_3_0=200)
_rule("waitTimeMillsInTransactionQueue", "broker", "common/BrokerConfig, ms; None: shares the send pool", v4_3_0=None, v4_3_1=3000)
_rule("osPageCacheBusyTimeOutMills", "broker", "store/config/MessageStoreConfig, ms", v4_3_0=1000)
_rule("sendThreadPoolQueueCapacity", "broker", "common/BrokerConfig", v4_3_0=10000)
_rule("brokerFastFailureEnable", "broker", "common/BrokerConfig", v4_3_0=True)
_rule("transientStorePoolEnable", "broker", "store/config/MessageStoreConfig", v4_3_0=False)
_rule("transientStorePoolSize", "broker", "store/config/MessageStoreConfig", v4_3_0=5)
_rule("warmMapedFileEnable", "broker", "store/config/MessageStoreConfig", v4_3_0=False)
_rule("flushDiskType", "broker", "store/config/MessageStoreConfig", v4_3_0="ASYNC_FLUSH")
_rule("syncFlushTimeout", "broker", "store/config/MessageStoreConfig, ms", v4_3_0=5000)
_rule("slaveTimeout", "broker", "store/config/MessageStoreConfig, ms", v4_3_0=None, v4_9_3=3000)
_rule("haSlaveFallbehindMax", "broker", "store/config/MessageStoreConfig, bytes; haMaxGapNotInSync in 5.x", v4_3_0=256 * MIB)
_rule("countsRefusals", "broker", "broker_traffic.log, ResponseCode Distribution", v4_3_0=False, v5_1_0=True)
# fmt: on
_rule(
    "closesSocketAtTimeout",
    "client",
    "remoting/netty/NettyClientConfig.clientCloseSocketIfTimeout",
    v4_3_0=False,
    v4_9_1=True,
)
# --- storage and consumers
# ---------------------------------------------------------------------------------------------------
_rule("fileReservedTime", "broker", "store/config/MessageStoreConfig, hours", v4_3_0=72)
_rule("deleteWhen", "broker", "store/config/MessageStoreConfig, hour of day", v4_3_0="04")
_rule("diskMaxUsedSpaceRatio", "broker", "store/config/MessageStoreConfig, percent", v4_3_0=75)
_rule(
    "mappedFileSizeCommitLog",
    "broker",
    "store/config/MessageStoreConfig; mapedFileSizeCommitLog until 4.5.1",
    v4_3_0=1024 * MIB,
)
_rule("maxReconsumeTimes", "client", "client/consumer/DefaultMQPushConsumer: -1 means 16", v4_3_0=16)
_rule("retryMaxTimes", "broker", "common/subscription/SubscriptionGroupConfig", v4_3_0=16)
_rule("staleBytesBehindBlank", "broker", "store/CommitLog.doAppend", v4_3_0=True, v4_9_1=False)
# --- ids -----------------------------------------------------------------------------------------------------------------------
_rule("uniqKeyPid", "client", "common/message/MessageClientIDSetter", v4_3_0="low", v4_6_0="high", v4_7_0="low")
_rule(
    "uniqKeyLoopback",
    "client",
    "common/UtilAll.getIP: 127.0.0.1 counts as a public address",
    v4_3_0=False,
    v4_8_0=True,
    v5_1_0=False,
)
_rule("uniqKeyIpv6", "client", "common/UtilAll.getIP", v4_3_0=False, v4_6_0=True)
_rule(
    "uniqKeyByBroker",
    "broker",
    "broker/processor/SendMessageProcessor.sendMessage creates one if the client sent none",
    v4_3_0=False,
    v5_0_0=True,
)
# --- logs ------------------------------------------------------------------------------------------------------------------------
_rule(
    "clientLogFraction",
    "client",
    "logging/inner/LoggingBuilder date pattern",
    v4_3_0="seconds again",
    v4_8_0="milliseconds",
)


def rule(name: str, version: str | int | Version | None) -> Any:
    """Return the value of `name` at `version`; None if the version is unknown. Raise KeyError for an unknown rule."""
    return RULES[name].at(version)


def table(version: str | int | Version) -> list[dict[str, Any]]:
    """Return every rule at one version: name, side, value, since, reference."""
    wanted = Version.parse(version)
    rows = []
    for each in RULES.values():
        since = [first for first, _ in each.rows if first <= wanted]
        rows.append({"name": each.name, "side": each.side, "value": each.at(wanted), "since": str(since[-1]) if since else None,
                     "reference": each.reference})  # fmt: skip
    return rows


@attrs.frozen
class Fix:
    """A known fault of some releases: `since` its first, `fixed` the first without it (None: not fixed up to `NEWEST`)."""

    slug: str
    side: str
    symptom: T
    since: Version
    fixed: Version | None
    reference: str

    def has(self, version: str | int | Version | None) -> bool | None:
        """Return whether `version` has the fault; None if the version is unknown."""
        if version is None:
            return None
        wanted = Version.parse(version)
        return self.since <= wanted and (self.fixed is None or wanted < self.fixed)


def _fix(slug: str, side: str, since: str, fixed: str | None, reference: str, symptom: T) -> Fix:
    return Fix(slug, side, symptom, Version.parse(since), Version.parse(fixed) if fixed else None, reference)


_PREPARED: Final = T("a retry re-sent with TRAN_MSG is stored as prepared and never consumed")

FIXED: Final[tuple[Fix, ...]] = (
    _fix("fallback-keeps-tran-msg", "client", "4.3.0", "4.6.1", "PR #1649 (ad7622c147), DefaultMQPushConsumerImpl",
         T("a consumer's own re-send keeps TRAN_MSG and becomes a half message")),
    _fix("schedule-into-half", "broker", "4.3.0", "4.6.1", "PR #1626 (3d778ef625), ScheduleMessageService",
         T("a scheduled record is delivered into the half topic")),
    _fix("half-guard-missing", "broker", "4.7.0", "5.0.0", "SendMessageProcessor.asyncSendMessage",
         T("a retry re-sent with TRAN_MSG is dropped when its delay expires")),
    _fix("prepared-retry-unconsumable", "broker", "4.6.1", "4.7.0", "SendMessageProcessor, the guard of 4.6.1", _PREPARED),
    _fix("prepared-retry-unconsumable", "broker", "5.0.0", None, "SendMessageProcessor, HookUtils.handleScheduleMessage", _PREPARED),
    _fix("compressed-half", "broker", "4.3.0", "4.6.0", "TransactionalMessageBridge.decodeMsgList",
         T("a compressed half message is put back uncompressed with the flag still set, and every check round aborts")),
    _fix("busy-not-retried", "client", "4.3.0", "5.3.0", "DefaultMQProducer.retryResponseCodes",
         T("SYSTEM_BUSY (code 2) is thrown at the application without a retry")),
    _fix("uniq-key-pid", "client", "4.6.0", "4.7.0", "MessageClientIDSetter",
         T("UNIQ_KEY contains the high half of the process id, 0000 in practice")),
    _fix("uniq-key-loopback", "client", "4.8.0", "5.1.0", "UtilAll.getIP",
         T("UNIQ_KEY says 127.0.0.1 on hosts that have private IPv4 addresses only")),
    _fix("client-accepts-long-topic", "client", "4.3.0", "4.6.1", "Validators.checkTopic",
         T("the client accepts topic names of up to 255 characters that the broker refuses")),
    _fix("discard-only-logged", "broker", "4.3.0", "4.5.2", "DefaultTransactionalMessageCheckListener",
         T("a half message at the check limit is only logged, not kept")),
    _fix("dlq-write-only", "broker", "4.3.0", "4.9.2", "AbstractSendMessageProcessor",
         T("dead letter topics are created write-only (perm 2)")),
    _fix("total-size-check", "broker", "4.3.0", "4.9.4", "CommitLog",
         T("the whole record counts against maxMessageSize, so a put-back can be refused")),
    _fix("put-back-loop", "broker", "4.3.0", None, "TransactionalMessageServiceImpl.check",
         T("a refused put-back is repeated without pause until the round's 60 s are over")),
    _fix("op-batch-late", "broker", "5.1.0", None, "TransactionalMessageServiceImpl, transactionOpBatchInterval",
         T("op records follow up to 6 s after the commit, so a short transactionTimeOut commits twice")),
    _fix("late-commit", "broker", "4.3.0", None, "EndTransactionProcessor",
         T("a commit that arrives after a check does not end the renewed copy, which is committed again")),
    _fix("end-transaction-in-send-pool", "broker", "4.3.0", "4.3.1", "BrokerController",
         T("end-transaction calls share the send queue and its 200 ms limit")),
    _fix("client-log-seconds-twice", "client", "4.3.0", "4.8.0", "LoggingBuilder",
         T("client log times show the seconds again where milliseconds belong")),
    _fix("client-log-literal-format", "client", "5.1.0", "5.3.0", "DefaultMQProducerImpl",
         T("failed sends are logged with unfilled placeholders (InvokeID: %s)")),
    _fix("rebalance-lock-log", "broker", "5.1.1", None, "rmq.broker.logback.xml",
         T("lock lines go to filter.log and filter lines nowhere")),
    _fix("stale-bytes-behind-blank", "broker", "4.3.0", "4.9.1", "CommitLog.doAppend",
         T("old message bytes remain after the end-of-file filler")),
)  # fmt: skip


def faults(version: str | int | Version, side: str) -> list[Fix]:
    """Return the known faults of `side` (`broker`, `client`) at `version`."""
    return [fix for fix in FIXED if fix.side == side and fix.has(version)]
