"""A small frame for each chart (`chart_frames.yaml`), and which of its columns hold text of the evidence."""

import importlib
from collections.abc import Callable
from typing import Any

import incidents
import pandas as pd
from incidents import START
from table import tables_of

from kit.charts import Chart, messages, overview, sends, sizes, transactions
from kit.rocketmq import record_fields

Draw = Callable[[pd.DataFrame, Any], Chart]
GIVEN = tables_of(__file__)


def at(seconds):
    return START + pd.Timedelta(seconds=seconds)


def frame(name):
    time = lambda v: at(float(v[1:])) if isinstance(v, str) and v.startswith("@") else v  # noqa: E731
    rows = [[*map(time, row)] for row in GIVEN[name]["rows"]]
    return pd.DataFrame(rows, columns=GIVEN[name]["columns"].split())


def drawn_by(name):
    module, _, function = GIVEN[name]["draw"].partition(".")
    return getattr(importlib.import_module(f"kit.charts.{module}"), function)


AXIS = pd.DataFrame(
    {"time": pd.date_range("2024-05-14 10:00", periods=6, freq="s"), "step_ms": 1000, "born": 10.0, "stored": 10.0}
).assign(CLIENT_TIMEOUT=[0, 0, 1, 0, 0, 0], stalled=False, send_queue=None, written_mb=None, util=None, cpu=None)
HALF = {
    "KEYS": "K1", "TRAN_MSG": "true", "UNIQ_KEY": "0" * 32, "WAIT": "true", "PGROUP": "g", "CLUSTER": "c",
    "REAL_TOPIC": "orders", "REAL_QID": "0",
}  # fmt: skip


def stages(limit=1000):
    """A half record of 990 bytes with a body of 700."""
    topic = "RMQ_SYS_TRANS_HALF_TOPIC"
    record = {"topic": topic, "body_size": 700, "store_size": 990, "properties": HALF, "offset_msg_id": "AB"}
    return record_fields.of_first(pd.DataFrame([record | {"put_back_body": 700, "limit": limit}]))


def life(copies):
    handled = frame("deliveries").to_dict("records")
    return {"uniq_keys": [], "records": copies.to_dict("records"), "handled": handled}


MOMENTS = pd.DataFrame({"ts": [at(1)], "what": [incidents.HOSTILE]})
CHARTS: dict[str, tuple[Draw, pd.DataFrame]] = {
    **{name: (drawn_by(name), frame(name)) for name in GIVEN if "draw" in GIVEN[name]},
    "axis": (sends.axis, AXIS),
    "coverage": (lambda frame, lang: overview.coverage(frame, None, lang), frame("coverage")),
    "fields": (sizes.fields, stages()),
    "growth": (transactions.growth, incidents.growth_frame()),
    "journey": (lambda copies, lang="en": messages.traced(life(copies), lang), frame("journey")),
    "over time": (lambda frame, lang: overview.over_time(frame, MOMENTS, "rows", lang), frame("over time")),
    "timeline": (overview.timeline, incidents.result_table("timeline")),
}
HOSTILE = {name: one.get("hostile", []) for name, one in GIVEN.items()} | {"timeline": ["en", "lane"]}
