"""A small frame for each chart, and which of its columns hold text of the evidence."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import incidents
import pandas as pd
from incidents import START

from kit.charts import Chart, consumers, messages, overview, pictures, sends, sizes, transactions
from kit.rocketmq import record_fields


def at(seconds: float) -> pd.Timestamp:
    return START + pd.Timedelta(seconds=seconds)


def frame(columns: str, *rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=columns.split())


LAG = frame(
    "time source group topic broker queue_id offset end lag",
    *[
        (at(60 * m), "copy", group, "orders", "a", queue, 10, 10 + lag, lag)
        for m in (0, 1)
        for group, lag in (("slow", 100 * (m + 1)), ("quick", 1))
        for queue in (0, 1)
    ],
)
OWNERS = frame(
    "place client_id topic broker queue_id first last",
    ("p", "1", "orders", "a", 0, at(0), None),
    ("q", "1", "orders", "a", 0, at(60), None),
    ("p", "1", "orders", "a", 1, at(0), at(60)),
    ("q", "1", "orders", "a", 1, at(60), at(180)),
)
HANDLED = frame("topic stored handled behind front", ("orders", 805, 134, 671, 0))
MOVED = frame(
    "kind group topic broker queue_id start end skipped repeated at",
    ("reset", "g", "orders", "a", 0, 10, 60, 50, None, at(0)),
    ("reset", "g", "orders", "b", None, 60, 10, None, 50, at(1)),
)
CONNECTS = frame("client address failed reached", ("c1", "172.17.0.2:10911", 40, 0), ("c2", "10.0.0.1:10911", 0, 7))
FUNNEL = frame(
    "consumer_group level step messages seconds",
    ("a", 1, "sent back", 9, 0.1), ("a", 1, "retry", 9, 10.0), ("b", 1, "sent back", 5, 0.1), ("b", 1, "retry", 5, 10.0),
    ("b", 2, "given up", 2, 0.1), ("b", 2, "dlq", 2, 30.0),
)  # fmt: skip
AXIS = pd.DataFrame(
    {"time": pd.date_range("2024-05-14 10:00", periods=6, freq="s"), "step_ms": 1000, "born": 10.0, "stored": 10.0}
).assign(CLIENT_TIMEOUT=[0, 0, 1, 0, 0, 0], stalled=False, send_queue=None, written_mb=None, util=None, cpu=None)
OUTCOME = frame("kind stored lost", ("REJECTREQUEST", 0, 270), ("CLIENT_TIMEOUT", 80, 28))
REPLICA = frame("second acknowledged on_replica missing", (at(0), 50, 50, 0), (at(1), 50, 20, 30))
HALF = {
    "KEYS": "K1", "TRAN_MSG": "true", "UNIQ_KEY": "0" * 32, "WAIT": "true", "PGROUP": "g", "CLUSTER": "c",
    "REAL_TOPIC": "orders", "REAL_QID": "0",
}  # fmt: skip


def stages(limit: int | None = 1000) -> pd.DataFrame:
    """A half record of 990 bytes with a body of 700."""
    topic = "RMQ_SYS_TRANS_HALF_TOPIC"
    record = SimpleNamespace(topic=topic, body_size=700, store_size=990, properties=HALF, offset_msg_id="AB")
    return record_fields.stages(record, 700, limit)


NEAR = frame(
    "queue_offset store_size last_size fate",
    (7, 990, 1017, "refused"), (8, 985, 1012, "at_risk"), (9, 970, 997, "fits"), (10, 999, 1026, "ended"), (11, 300, 327, "fits"),
).assign(offset_msg_id="AB", limit=1000)  # fmt: skip
QUEUE = frame(
    "ts offset line",
    (at(0), 4, "stored"), (at(1), 0, "checked"), (at(2), 50, "stored"), (at(3), 18, "checked"), (at(9), 18, "checked"),
)  # fmt: skip
TWO = frame(
    "store_timestamp lane physical_offset made_from",
    (at(0), "re-sent", 10, 0), (at(1), "half topic", 20, 0), (at(2), "put back", 30, 0), (at(3), "commit", 40, 30),
    (at(4), "half topic", 50, 0), (at(5), "half topic", 60, 0),
)  # fmt: skip
ROUNDS = pd.DataFrame({"checks": range(4), "half_records": [4, 8, 16, 20]})
FIXES = frame(
    "fix leaked_records retries",
    ("as it happened", 4608, 0), ("rollback-unknown-topic", 2560, 0), ("client-4.6.1", 0, 0), ("split-tags", 0, 4),
)  # fmt: skip
HOPS = frame("hop records", ("sent", 10), ("stored", 4))
ACCOUNTS = frame(
    "source target count", ("half", "answer COMMIT", 9), ("answer COMMIT", "committed", 9), ("half", "check", 1)
)
JOURNEY = frame(
    "id row store_timestamp stage topic offset_msg_id copied_from why time result success consumer",
    (1, "copy", "2024-05-14T02:00:01.000Z", "half", "t", "A1", None, "because", None, None, None, None),
    (1, "copy", "2024-05-14T02:00:02.000Z", "commit", "t", "A2", "A1", "because", None, None, None, None),
    (1, "delivery", None, None, None, "A2", None, None, "2024-05-14T02:00:03.000Z", "OK", True, "c"),
)  # fmt: skip
STEPS = frame("ts by rows", *[(at(n), by, n + 1) for n in range(4) for by in ("INFO", "ERROR", None)])
SPANS = frame("kind first last", ("commitlog", at(0), at(600)), ("broker_log", at(-300), at(900)))
INCIDENTS = frame(
    "began name cause verdict",
    (at(0), "one", "The broker was busy", "confirmed"), (at(9), "two", "The broker was busy", "suspected"),
)  # fmt: skip
RUNS = frame(
    "side kind seconds records",
    *[
        (side, kind, n, n + 1)
        for side in ("without", "with")
        for kind in ("half", "schedule", "business")
        for n in range(3)
    ],
)
ANY = frame("time kind sends", *[(at(n), by, n + 1) for n in range(4) for by in "ab"])

Draw = Callable[[pd.DataFrame, Any], Chart]
MOMENTS = pd.DataFrame({"ts": [at(1)], "what": [incidents.HOSTILE]})
CHARTS: dict[str, tuple[Draw, pd.DataFrame]] = {
    "lag": (consumers.lag, LAG),
    "owners": (consumers.owners, OWNERS),
    "handled": (consumers.handled, HANDLED),
    "moved": (consumers.moved, MOVED),
    "connects": (consumers.connects, CONNECTS),
    "funnel": (messages.funnel, FUNNEL),
    "journey": (messages.first_life, JOURNEY),
    "axis": (sends.axis, AXIS),
    "outcome": (sends.outcome, OUTCOME),
    "replica": (sends.replica, REPLICA),
    "send path": (sends.path, HOPS),
    "fields": (sizes.fields, stages()),
    "near": (sizes.near_limit, NEAR),
    "queue": (sizes.half_queue, QUEUE),
    "growth": (transactions.growth, incidents.growth_frame()),
    "fixes": (transactions.fixes, FIXES),
    "two": (transactions.one_becomes_two, TWO),
    "rounds": (transactions.rounds, ROUNDS),
    "accounts": (transactions.accounting, ACCOUNTS),
    "over time": (lambda frame, lang: overview.over_time(frame, MOMENTS, "rows", lang), STEPS),
    "coverage": (lambda frame, lang: overview.coverage(frame, None, lang), SPANS),
    "incidents": (overview.occurrences, INCIDENTS),
    "comparison": (overview.growth, RUNS),
    "timeline": (overview.timeline, incidents.result_table("timeline")),
    "lines": (pictures.lines, ANY),
    "bars": (pictures.bars, ANY[["kind", "sends"]]),
    "lanes": (pictures.lanes, ANY),
}
HOSTILE = {
    "lag": ["broker", "topic", "group"], "owners": ["topic"], "handled": ["topic"], "moved": ["topic"], "connects": ["client", "address"],
    "funnel": ["consumer_group"], "journey": ["topic", "why", "stage"], "outcome": ["kind"], "near": ["offset_msg_id"], "accounts": ["target"],
    "coverage": ["kind"], "over time": ["by"], "incidents": ["cause", "name"], "timeline": ["en", "lane"],
    "lines": ["kind"], "bars": ["kind"], "lanes": ["kind", "sends"],
}  # fmt: skip
