"""The scenarios, one row each: what runs, what is done to it, when it is over, and what `triage` must say of it.

A twin is the same incident with the remedy applied; `fixes` names the incident it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from kit.facts import names
from kit.texts import Lang, T

Settings = Mapping[str, str]


@attrs.frozen
class App:
    """An application host: its folder in the evidence, its role in LabClient.java and what that role is told."""

    folder: str
    role: str
    settings: Settings
    restart: bool = False
    """Started once more after a crash, with the orders that are left."""


@attrs.frozen
class Pause:
    """The broker process stands still: `at` seconds after the applications started, `times` times for `seconds`, with a short breath between."""

    at: float
    seconds: float
    times: int = 1


@attrs.frozen
class Scenario:
    """One incident or one twin. Times in seconds."""

    name: str
    title: T
    apps: tuple[App, ...]
    broker: str
    client: str
    config: Settings = attrs.field(factory=dict)
    pauses: tuple[Pause, ...] = ()
    settle: float = 8
    """How long checks, retries and late answers get after the applications are done."""
    until_half: int | None = None
    """Over as soon as the half topic holds this many records."""
    until_errors: int | None = None
    """Over as soon as this many errors stand in transaction.log."""
    deadline: float = 60
    """Over then in any case, from the start of the applications."""
    store_limit: int = 400 << 20
    """Over as soon as the store takes this many bytes on disk."""
    lookup: str | None = None
    """The id somebody looks up with queryMsgById at the end: `uniq_key` or `offset`."""
    roots: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    """What must be confirmed beside the root causes, which must be exactly `roots`."""
    fixes: str | None = None


ORDER_TOPIC: Final = "trade-order-event"
STOCK_TOPIC: Final = "stock-change"
TAGS: Final = "PAID,CANCELLED,REFUND_APPLIED,REFUNDED,SHIPPED,SIGNED,CLOSED,REOPENED,AFTER_SALE,EVALUATED,ARCHIVED"
LONG_GROUP: Final = f"cg-member-points-service_{ORDER_TOPIC}_" + TAGS.replace(",", "%")
"""A consumer group named after service, topic and tags: with `%RETRY%` before it more than a topic may have."""
SHORT_GROUP: Final = f"cg-member-points-service_{ORDER_TOPIC}_PAID"
ORDERS: Final[Settings] = {"service": "order-service", "logger": "com.shop.order.OrderTxService", "table": "t_order", "prefix": "SO", "group": "order-producer", "topic": ORDER_TOPIC, "half": "first"}
POINTS: Final[Settings] = {"service": "points-service", "logger": "com.shop.points.PointsConsumer", "table": "points", "group": "points-consumer", "topic": ORDER_TOPIC}
STOCK: Final[Settings] = {"service": "stock-service", "logger": "com.shop.stock.StockEventSender", "table": "sends", "prefix": "ST", "group": "stock-producer", "topic": STOCK_TOPIC}
LIMIT: Final = 65_536


def orders(folder: str = "o", *, restart: bool = False, **own: str) -> App:
    return App(folder, "orders", {**ORDERS, **own}, restart)


def points(folder: str = "c", **own: str) -> App:
    return App(folder, "consumer", {**POINTS, **own})


def stock(folder: str = "s", **own: str) -> App:
    return App(folder, "sender", {**STOCK, **own})


def _sweep() -> str:
    """Body sizes across the limit: well below, where the put-back no longer fits, where the record does not fit, and above."""
    overhead = 91 + len(names.HALF_TOPIC) + 230
    return ",".join(["2000", "9000", *(str(LIMIT - overhead + step) for step in range(-120, 121, 12)), str(LIMIT + 4000)])


BLOWUP: Final = T("A consumer group name too long for its retry topic, an old client, a check that answers COMMIT for topics it does not know", "消费组名过长，加上重试主题前缀后超限；客户端旧；回查对不认识的主题应答 COMMIT")
_blowup: Final = {"broker": "4.6.0", "client": "4.5.2", "until_half": 2500, "settle": 20, "deadline": 75, "config": {"transactionCheckInterval": "2000", "transactionTimeOut": "1500"}}
_failing: Final = "3,7,12,18"
_stalls: Final = (Pause(5, 0.4, 5), Pause(12, 4.2), Pause(20, 0.35, 6))

SCENARIOS: Final[tuple[Scenario, ...]] = (
    Scenario(
        "healthy", T("Transactions, checks, retries and plain sends with nothing wrong", "事务、回查、重试和普通发送，一切正常"),
        (points(failing="4,9"), orders(count="30", refused="5,15", unknown="8,21"), stock(seconds="5", threads="2", pause="60")),
        "4.6.1", "4.6.1", settle=9,
    ),
    Scenario(
        "half-topic-blowup", BLOWUP,
        (points(group=LONG_GROUP, failing=_failing), orders(count="25", no_handler="COMMIT_MESSAGE", tags=TAGS)),
        **_blowup, roots=("half-topic-blowup",),
    ),
    Scenario(
        "half-topic-blowup-fixed", T("The same with one consumer group a tag: its name is short", "同上，但按标签拆分消费组：组名短"),
        (points(group=SHORT_GROUP, failing=_failing), orders(count="25", no_handler="COMMIT_MESSAGE")),
        **{**_blowup, "settle": 8}, fixes="half-topic-blowup",
    ),
    Scenario(
        "half-topic-blowup-new-client", T("The same with client 4.6.1: the send-back is still refused, nothing leaks", "同上，但客户端为 4.6.1：回退仍被拒绝，但不再泄漏"),
        (points(group=LONG_GROUP, failing=_failing), orders(count="25", no_handler="COMMIT_MESSAGE", tags=TAGS)),
        **{**_blowup, "client": "4.6.1", "settle": 14}, neighbours=("send-back-refused", "retry-topic-too-long"), fixes="half-topic-blowup",
    ),
    Scenario(
        "half-topic-blowup-rollback", T("The same, but the check answers ROLLBACK for topics it does not know: leaks that no longer double", "同上，但回查对不认识的主题应答 ROLLBACK：仍泄漏，但不再翻倍"),
        (points(group=LONG_GROUP, failing=_failing), orders(count="25", no_handler="ROLLBACK_MESSAGE", tags=TAGS)),
        **_blowup, fixes="half-topic-blowup",
    ),
    Scenario(
        "message-size-mismatch", T("A broker limit of 64 KB that no client knows, bodies up to it, answers that come only by check", "Broker 上限 64 KB 而客户端不知道，消息体直逼上限，应答只靠回查"),
        (points(), orders(count="24", bodies=_sweep(), unknown=",".join(map(str, range(2, 24))), pause="50")),
        "4.6.0", "4.6.1", config={"maxMessageSize": str(LIMIT)}, until_errors=30_000, settle=25, deadline=45, roots=("message-size-mismatch",),
    ),
    Scenario(
        "message-size-mismatch-fixed", T("The same with a limit on the client that leaves room for the put-back", "同上，但客户端设置了为回写留有余量的上限"),
        (points(), orders(count="24", bodies=_sweep(), unknown=",".join(map(str, range(2, 24))), pause="50", max_body="64000")),
        "4.6.0", "4.6.1", config={"maxMessageSize": str(LIMIT)}, fixes="message-size-mismatch",
    ),
    Scenario(
        "transaction-consistency", T("The half message in the middle: the order is kept although its log row failed; one crash between row and message", "half 消息在中间：日志行失败而订单保留；另有一次在业务行与消息之间崩溃"),
        (points(), orders(count="30", half="middle", broken="6,13,20", refused="9", crash="25", restart=True)),
        "4.6.1", "4.6.1", settle=12, roots=("transaction-consistency",),
    ),
    Scenario(
        "transaction-consistency-fixed", T("The same failures with order, log row and answer in one local transaction", "同样的失败，但订单、日志行和应答在同一个本地事务中"),
        (points(), orders(count="30", half="first", broken="6,13,20", refused="9", crash="25", restart=True)),
        "4.6.1", "4.6.1", settle=12, fixes="transaction-consistency",
    ),
    Scenario(
        "message-identity", T("A consumer that knows messages by their offset id, and a look-up of a UNIQ_KEY by the wrong command", "消费者以 offset id 识别消息，并有人用错误的命令查询 UNIQ_KEY"),
        (points(dedup="offset", late="3,4,5,11,17", failing="8"), orders(count="25")),
        "4.6.1", "4.6.1", lookup="uniq_key", roots=("message-identity",),
    ),
    Scenario(
        "message-identity-fixed", T("The same with UNIQ_KEY as the key, and a look-up by offset id", "同上，但以 UNIQ_KEY 去重，并用 offset id 查询"),
        (points(dedup="uniq", late="3,4,5,11,17", failing="8"), orders(count="25")),
        "4.6.1", "4.6.1", lookup="offset", fixes="message-identity",
    ),
    Scenario(
        "broker-busy", T("A broker process that stands still under load", "负载之下 Broker 进程停顿"),
        (points(topic=STOCK_TOPIC, service="stock-audit", table="audit", group="stock-audit"), stock("o", seconds="28", threads="24", pause="8")),
        "4.6.0", "4.6.1", config={"osPageCacheBusyTimeOutMills": "20", "waitTimeMillsInSendQueue": "60"}, pauses=_stalls, settle=4, roots=("broker-busy",),
    ),
    Scenario(
        "broker-busy-fixed", T("Short standstills under the same load, with the longer limits of the published remedy", "同样的负载下只有短停顿，并采用公开案例中调大的上限"),
        (points(topic=STOCK_TOPIC, service="stock-audit", table="audit", group="stock-audit"), stock("o", seconds="28", threads="24", pause="8")),
        "4.6.0", "4.6.1", config={"osPageCacheBusyTimeOutMills": "5000", "waitTimeMillsInSendQueue": "3000"}, pauses=(_stalls[0], _stalls[2]), settle=4, fixes="broker-busy",
    ),
)  # fmt: skip
FIXED: Final = "-fixed"
NO_SUCH: Final = T("{name}: no such scenario; there are {known}", "{name}：没有这个场景；现有 {known}")


def find(name: str, lang: Lang = "en", *, fixed: bool = False) -> Scenario:
    """Return a scenario by name, with `fixed` its twin. Raise `KeyError` with one line that lists the known names."""
    known = {scenario.name: scenario for scenario in SCENARIOS}
    wanted = name if not fixed or name.endswith(FIXED) else name + FIXED
    if wanted not in known:
        raise KeyError(NO_SUCH.say(name=wanted[:60], known=list(known)).render(lang))
    return known[wanted]
