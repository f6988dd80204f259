"""How the queues of consumed topics grew: their first and last offsets over time, from the records or the consume queues."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis.consumers import admin_output
from kit.case import brokers, datasets, scan
from kit.case.memoize import per_case
from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case


BUCKETS: Final = 7_200
"""Points of a curve."""
TOPICS: Final = 500
"""More consumed topics than this are not asked for by name."""
CUTS: Final = 64
"""Saved copies whose moments divide a point."""
_FILE: Final = re.compile(r"(?:^|/)(?:commitlog/)?[^/]*$")


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    types = {
        "line": "Int64",
        "queue_id": "Int64",
        "offset": "Int64",
        "end": "Int64",
        "begin": "Int64",
        "lag": "Int64",
        "time": "datetime64[us]",
    }
    texts = dict.fromkeys(("source", "file", "group", "topic", "broker"), "object")
    return frame.astype({name: kind for name, kind in (types | texts).items() if name in frame.columns})


@per_case
def curve(case: Case) -> pd.DataFrame:
    """Return how the queues of consumed topics grew: topic, broker, queue_id, time (begin of a second or more), end (max offset after it), begin.

    From the records; if absent from the consume queues (then without times: one row a queue, NaT).
    """
    empty = typed(pd.DataFrame([], columns=["topic", "broker", "queue_id", "time", "end", "begin"]))
    wanted = topics(case)
    if not wanted:
        return empty
    known = brokers.names(case)
    if not case.has("messages"):
        return _from_queues(case, empty)
    where, seconds = _consumed(case), step(case)
    # Times are whole seconds, and of these each `seconds`th.
    at = pc.floor_temporal(ds.field("store_timestamp"), unit="second").cast(pa.int64())
    by = {name: ds.field(name) for name in ("file", "topic", "queue_id")}
    by["time"] = pc.divide(at, pa.scalar(seconds * 1_000_000))
    # Within a point of several seconds a saved copy's own time divides: its ends are those of its moment.
    cuts = _saved(case) if seconds > 1 else []
    by["cut"] = reduce(
        lambda a, b: a + b,
        [(ds.field("store_timestamp") >= pa.scalar(c, pa.timestamp("us", "UTC"))).cast(pa.int64()) for c in cuts],
        pc.scalar(0),
    )
    asked = [("queue_offset", "max"), ("queue_offset", "min")]
    frame = scan.extremes(case, by, asked, where).to_pandas(integer_object_nulls=True)
    if frame.empty:
        return empty
    began = frame["time"].astype("Int64") * seconds
    counted = began.between(NANO_FIRST_MS // 1000 + seconds, NANO_LAST_MS // 1000 - seconds)
    frame["time"] = pd.to_datetime(began.where(counted), unit="s")
    if cuts:
        begins = pd.to_datetime(pd.Series([pd.NaT, *cuts], dtype="datetime64[us, UTC]")).dt.tz_localize(None)
        cut = begins.reindex(pd.to_numeric(frame["cut"])).set_axis(frame.index)
        frame["time"] = frame["time"].where(~(cut > frame["time"]), cut)
    frame["root"] = [_FILE.sub("", file) for file in frame["file"]]
    frame["end"], frame["begin"] = _end(frame["queue_offset_max"]), frame["queue_offset_min"].astype("Int64")
    # One broker, or a root nobody names: whatever is consumed is of this broker.
    frame["broker"] = frame["root"].map(lambda root: known.get(root or ".", known.get(root, root)))
    frame = frame.groupby(["topic", "broker", "queue_id", "time"], as_index=False).agg({"end": "max", "begin": "min"})
    frame = frame.sort_values(["topic", "broker", "queue_id", "time"])
    queue = frame.groupby(["topic", "broker", "queue_id"])
    frame["end"] = queue["end"].cummax()
    frame["begin"] = queue["begin"].transform("min")
    return typed(frame[["topic", "broker", "queue_id", "time", "end", "begin"]]).reset_index(drop=True)


def _saved(case: Case) -> list[Any]:
    """Return the times at which copies of offsets were saved, in order; the first and last of very many."""
    found = ds.dataset(case.folder("offsets"), format="parquet").to_table(
        ["time"], filter=(ds.field("kind") == "consumer") & ~ds.field("backup")
    )
    times = sorted(pc.unique(found["time"].drop_null()).to_pylist())
    return times if len(times) <= CUTS else [*times[: CUTS // 2], *times[-CUTS // 2 :]]


def _end(last: pd.Series) -> pd.Series:
    """Return the offset behind the last; none is behind the greatest number there is."""
    numbers = last.astype("Int64")
    return numbers.where(numbers < np.iinfo("int64").max) + 1


def _consumed(case: Case) -> pc.Expression:
    wanted = topics(case)
    return scan.one_of("topic", wanted) if len(wanted) <= TOPICS else ~pc.starts_with(scan.text("topic"), "%")


@per_case
def step(case: Case) -> int:
    """Return how many seconds one point of the curves covers."""
    if not case.has("messages") or _short(case):
        return 1
    asked = [("store_timestamp", "min"), ("store_timestamp", "max")]
    (span,) = scan.extremes(case, [], asked, _consumed(case)).to_pylist() or [{}]
    first, last = span.get("store_timestamp_min"), span.get("store_timestamp_max")
    return 1 if first is None else max(1, round((last - first).total_seconds() / BUCKETS))


def _short(case: Case) -> bool:
    """Return whether, by the inventory, the records span less than `BUCKETS` seconds: then no look at them is needed to choose the step."""
    items = case.found.of_kind("commitlog", "dledger")
    firsts, lasts = [i.first for i in items if i.first], [i.last for i in items if i.last]
    return bool(firsts and lasts) and (max(lasts) - min(firsts)).total_seconds() <= BUCKETS


def _from_queues(case: Case, empty: pd.DataFrame) -> pd.DataFrame:
    if not case.has("consumequeue"):
        return empty
    known = brokers.all_of(case)
    name = known[0].name if len(known) == 1 else ""
    # A unit of a batch is of many messages.
    plain = (ds.field("kind") == "plain") & ds.field("problem").is_null() & ds.field("logical_offset").is_valid()
    asked = [("logical_offset", "max"), ("logical_offset", "min")]
    frame = scan.extremes(
        case, ["topic", "queue_id"], asked, plain & scan.one_of("topic", topics(case)), "consumequeue"
    ).to_pandas()
    frame["end"], frame["begin"] = _end(frame["logical_offset_max"]), frame["logical_offset_min"]
    return typed(frame.assign(broker=name, time=None)[["topic", "broker", "queue_id", "time", "end", "begin"]])


@per_case
def topics(case: Case) -> list[str]:
    """Return the topics that users' groups consume, by offsets, outputs and running info."""
    wanted = (ds.field("kind") == "consumer") & ~ds.field("backup")
    rows = datasets.rows(case, "offsets", ["topic", "group"], wanted)
    found = {row["topic"] for row in rows if names.of_users(row["group"] or "")}
    found |= {b["#Topic"] for b in admin_output.admin_blocks(case) if "#Consumer Offset" in b and "#Topic" in b}
    return sorted(found - {None})
