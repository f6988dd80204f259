"""The scenarios, one row each. A twin differs from its incident by the remedy only."""

from __future__ import annotations

from typing import Final

from kit.i18n import Lang, T
from kit.live_lab.scenario import App, Pause, Scenario
from kit.rocketmq import names

ORDER_TOPIC: Final = "trade-order-event"
STOCK_TOPIC: Final = "stock-change"
TAGS: Final = "PAID,CANCELLED,REFUND_APPLIED,REFUNDED,SHIPPED,SIGNED,CLOSED,REOPENED,AFTER_SALE,EVALUATED,ARCHIVED"
SHORT_GROUP: Final = f"cg-member-points-service_{ORDER_TOPIC}_PAID"
LONG_GROUP: Final = f"cg-member-points-service_{ORDER_TOPIC}_" + TAGS.replace(",", "%")
"""A consumer group named after service, topic and tags: with `%RETRY%` before it too long for a topic."""
LIMIT: Final = 65_536
ROOM: Final = 64_000
"""A body limit that leaves space for overhead, properties and everything a check adds."""

ORDERS: Final = App(
    "o",
    "orders",
    {
        "service": "order-service",
        "logger": "com.shop.order.OrderTxService",
        "table": "t_order",
        "prefix": "SO",
        "group": "order-producer",
        "topic": ORDER_TOPIC,
        "half": "first",
        "count": "25",
    },
)
POINTS: Final = App(
    "c",
    "consumer",
    {
        "service": "points-service",
        "logger": "com.shop.points.PointsConsumer",
        "table": "points",
        "group": "points-consumer",
        "topic": ORDER_TOPIC,
    },
)
STOCK: Final = App(
    "s",
    "sender",
    {
        "service": "stock-service",
        "logger": "com.shop.stock.StockEventSender",
        "table": "sends",
        "prefix": "ST",
        "group": "stock-producer",
        "topic": STOCK_TOPIC,
    },
)
AUDIT: Final = App(
    "c",
    "consumer",
    {
        "service": "stock-audit",
        "logger": "com.shop.stock.StockAudit",
        "table": "audit",
        "group": "stock-audit",
        "topic": STOCK_TOPIC,
    },
)


def _sweep() -> str:
    """Return body sizes across the limit: well below, where only the put-back does not fit, where the record does not fit, and far above."""
    overhead = 91 + len(names.HALF_TOPIC) + 230
    near = [LIMIT - overhead + step for step in range(-120, 121, 12)]
    return ",".join(map(str, [2000, 9000, 30_000, 63_000, *near, LIMIT + 4000]))


HEALTHY: Final = Scenario(
    "healthy",
    T("Transactions, checks, retries and plain sends with nothing wrong"),
    (
        POINTS.with_settings(failing="4,9"),
        ORDERS.with_settings(count="30", refused="5,15", unknown="8,21"),
        STOCK.with_settings(seconds="5", threads="2", pause="60"),
    ),
    "4.6.1",
    "4.6.1",
    settle=9,
)

_LONG: Final = POINTS.with_settings(group=LONG_GROUP, failing="3,7,12,18")
_COMMITS: Final = ORDERS.with_settings(no_handler="COMMIT_MESSAGE", tags=TAGS)
BLOWUP: Final = Scenario(
    "half-topic-blowup",
    T(
        "A consumer group name too long for its retry topic, an old client, a check that answers COMMIT for topics it does not know"
    ),
    (_LONG, _COMMITS),
    "4.6.0",
    "4.5.2",
    config={"transactionCheckInterval": "2000", "transactionTimeOut": "1500"},
    until_half=2500,
    deadline=75,
    roots=("half-topic-blowup",),
    neighbours=("retry-topic-too-long",),
)
BLOWUP_TWINS: Final = (
    BLOWUP.twin(
        "fixed",
        T("The same with one consumer group a tag: its name is short"),
        apps=(
            POINTS.with_settings(group=SHORT_GROUP, failing="3,7,12,18"),
            ORDERS.with_settings(no_handler="COMMIT_MESSAGE"),
        ),
        settle=5,
    ),
    BLOWUP.twin(
        "new-client",
        T("The same with client 4.6.1: the send-back is still refused, nothing leaks"),
        client="4.6.1",
        settle=12,
        neighbours=("send-back-refused", "retry-topic-too-long"),
    ),
    BLOWUP.twin(
        "rollback",
        T("The same, but the check answers ROLLBACK for topics it does not know: leaks that no longer double"),
        apps=(_LONG, _COMMITS.with_settings(no_handler="ROLLBACK_MESSAGE")),
        settle=18,
        neighbours=("retry-topic-too-long",),
    ),
)

SIZE: Final = Scenario(
    "message-size-mismatch",
    T("A broker limit of 64 KB that no client knows, bodies up to it, answers that come only by check"),
    (POINTS, ORDERS.with_settings(count="26", bodies=_sweep(), unknown=",".join(map(str, range(2, 26))), pause="50")),
    "4.6.0",
    "4.6.1",
    config={"maxMessageSize": str(LIMIT)},
    until_errors=30_000,
    deadline=45,
    roots=("message-size-mismatch",),
    neighbours=("client-oversize-reject",),
)
SIZE_FIXED: Final = SIZE.twin(
    "fixed",
    T("The same with a limit on the client that leaves room for the put-back"),
    apps=(POINTS, SIZE.apps[1].with_settings(max_body=str(ROOM))),
    neighbours=("client-oversize-reject",),
)

MIDDLE: Final = Scenario(
    "transaction-consistency",
    T(
        "The half message in the middle: the order is kept although its log row failed; one crash between row and message"
    ),
    (
        POINTS,
        App(
            "o",
            "orders",
            {**ORDERS.settings, "half": "middle", "count": "30", "broken": "6,13,20", "refused": "9", "crash": "25"},
            restart=True,
        ),
    ),
    "4.6.1",
    "4.6.1",
    settle=12,
    roots=("transaction-consistency",),
    allowed=("producer-offline",),
)
MIDDLE_FIXED: Final = MIDDLE.twin(
    "fixed",
    T("The same failures with order, log row and answer in one local transaction"),
    apps=(POINTS, MIDDLE.apps[1].with_settings(half="first")),
)

_LATE: Final = POINTS.with_settings(late="3,4,5,11,17", failing="8")
IDENTITY: Final = Scenario(
    "message-identity",
    T("A consumer that knows messages by their offset id, and a look-up of a UNIQ_KEY by the wrong command"),
    (_LATE.with_settings(dedup="offset"), ORDERS),
    "4.6.1",
    "4.6.1",
    lookup="uniq_key",
    roots=("message-identity",),
)
IDENTITY_FIXED: Final = IDENTITY.twin(
    "fixed",
    T("The same with UNIQ_KEY as the key, and a look-up by offset id"),
    apps=(_LATE.with_settings(dedup="uniq"), ORDERS),
    lookup="offset",
)

_STALLS: Final = (Pause(5, 0.4, 8), Pause(12, 4.2), Pause(20, 0.35, 10))
BUSY: Final = Scenario(
    "broker-busy",
    T("A broker process that freezes under load"),
    (AUDIT, App("o", "sender", {**STOCK.settings, "seconds": "28", "threads": "40", "pause": "12"})),
    "4.6.0",
    "4.6.1",
    config={"osPageCacheBusyTimeOutMills": "20", "waitTimeMillsInSendQueue": "60"},
    pauses=_STALLS,
    settle=4,
    roots=("broker-busy",),
    neighbours=("client-timeout",),
)
BUSY_FIXED: Final = BUSY.twin(
    "fixed",
    T("Short standstills under the same load, with the longer limits of the published remedy"),
    config={"osPageCacheBusyTimeOutMills": "5000", "waitTimeMillsInSendQueue": "3000"},
    pauses=(_STALLS[0], _STALLS[2]),
)

LOOKS: Final = (14.0, 27.0)
"""A broker writes its offsets ten seconds after its start, then every five."""
_FLOW: Final = STOCK.with_settings(seconds="60", threads="1", pause="12")
"""Sends until the end of the run, about 80 a second, so that the looks happen during traffic."""
BACKLOG: Final = Scenario(
    "consumer-backlog",
    T("A listener whose call downstream grows from 1 to 400 ms: eight threads are too slow for what arrives"),
    (AUDIT.with_settings(work="400", slow_after="6", threshold="200"), App("o", "sender", _FLOW.settings)),
    "4.9.4",
    "4.9.4",
    deadline=32,
    looks=LOOKS,
    roots=("consumer-backlog",),
)
BACKLOG_FIXED: Final = BACKLOG.twin(
    "fixed",
    T("The same with a time-out of 20 ms on the call"),
    apps=(AUDIT.with_settings(work="20", slow_after="6", threshold="200"), BACKLOG.apps[1]),
)
STUCK: Final = Scenario(
    "consumer-stuck",
    T("An ordered listener that answers SUSPEND_CURRENT_QUEUE_A_MOMENT for one message for ever"),
    (AUDIT.with_settings(suspends="150"), App("o", "sender", _FLOW.settings)),
    "4.9.4",
    "4.9.4",
    deadline=32,
    looks=LOOKS,
    roots=("consumer-stuck",),
)
STUCK_FIXED: Final = STUCK.twin(
    "fixed",
    T("The same with a listener that puts the message aside and goes on"),
    apps=(AUDIT.with_settings(suspends="-1"), STUCK.apps[1]),
)
_TWO: Final = (AUDIT, App("q", "consumer", {**AUDIT.settings, "service": "stock-alarm", "table": "alarm"}))
_TAGGED: Final = App(
    "o", "sender", {**STOCK.settings, "seconds": "18", "threads": "1", "pause": "12", "tags": "IN,OUT"}
)
MISMATCH: Final = Scenario(
    "subscription-mismatch",
    T("Two services in one consumer group, one subscribes to tag IN, the other to tag OUT"),
    (_TWO[0].with_settings(expression="IN"), _TWO[1].with_settings(expression="OUT"), _TAGGED),
    "4.9.4",
    "4.9.4",
    settle=7,
    looks=LOOKS,
    roots=("subscription-mismatch",),
)
MISMATCH_FIXED: Final = MISMATCH.twin(
    "fixed",
    T("The same with a consumer group for each subscription"),
    apps=(MISMATCH.apps[0], MISMATCH.apps[1].with_settings(group="stock-alarm"), _TAGGED),
)
DUPLICATE: Final = Scenario(
    "duplicate-client-id",
    T("Two processes of one group with the same instanceName on one address: one client id"),
    (
        _TWO[0].with_settings(instance="audit"),
        _TWO[1].with_settings(instance="audit"),
        App("o", "sender", _FLOW.settings),
    ),
    "4.9.4",
    "4.9.4",
    deadline=32,
    looks=LOOKS,
    roots=("duplicate-client-id",),
)
DUPLICATE_FIXED: Final = DUPLICATE.twin(
    "fixed",
    T("The same with an instanceName of its own for each process"),
    apps=(_TWO[0].with_settings(instance="audit-1"), _TWO[1].with_settings(instance="audit-2"), DUPLICATE.apps[2]),
)

SCENARIOS: Final = (
    HEALTHY,
    BLOWUP,
    *BLOWUP_TWINS,
    SIZE,
    SIZE_FIXED,
    MIDDLE,
    MIDDLE_FIXED,
    IDENTITY,
    IDENTITY_FIXED,
    BUSY,
    BUSY_FIXED,
    BACKLOG,
    BACKLOG_FIXED,
    STUCK,
    STUCK_FIXED,
    MISMATCH,
    MISMATCH_FIXED,
    DUPLICATE,
    DUPLICATE_FIXED,
)
FIXED: Final = "-fixed"
NO_SUCH: Final = T("{name}: no such scenario; known: {known}")


def find(name: str, lang: Lang = "en", *, fixed: bool = False) -> Scenario:
    """Return a scenario by name, with `fixed` its twin. Raise `KeyError` with one line that lists the known names."""
    known = {scenario.name: scenario for scenario in SCENARIOS}
    wanted = name if not fixed or name.endswith(FIXED) else name + FIXED
    if wanted not in known:
        raise KeyError(NO_SUCH.say(name=wanted[:60], known=list(known)).render(lang))
    return known[wanted]
