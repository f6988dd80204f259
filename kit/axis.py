"""One time axis of a busy broker: what arrived, what was stored, what failed, where it stood still, what its queues and its host did."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from pyspark.sql import functions as F  # noqa: N812

from kit import attempts, busy, refs
from kit.originals import is_original, trace_topics

if TYPE_CHECKING:
    from kit.case import Case
    from kit.sends import Ledger
    from kit.stalls import Stall

MOST: Final = 1500
"""Steps of the axis: what a chart can draw with a dozen series."""
AROUND: Final = 10
"""s shown before the first failure and behind the last."""
MOST_ARRIVALS: Final = 5000


def step_ms(window: tuple[dt.datetime, dt.datetime]) -> int:
    """Return the length of one step: 100 ms for a short incident, whole multiples of that for a long one."""
    seconds = (window[1] - window[0]).total_seconds() + 2 * AROUND
    return 100 * max(1, int(np.ceil(seconds * 10 / MOST)))


def seconds(case: Case, window: tuple[dt.datetime, dt.datetime], ledger: Ledger, found: list[Stall], holes: pd.DataFrame) -> pd.DataFrame:
    """Return one row per step of the axis.

    Columns time (naive UTC, start of the step), step_ms, born and stored (originals a second), one column per kind of error (failed sends in the step),
    stalled and hole (bool: the records, watermark.log stand still), send_queue (largest size in watermark.log), util (% of the busiest device),
    written_mb (MB/s on it), cpu (% busy). Null where there is no such evidence.
    """
    step = step_ms(window)
    low = (int(busy.ms(window[0])) - AROUND * 1000) // step * step
    high = int(busy.ms(window[1])) + AROUND * 1000
    frame = pd.DataFrame({"at": np.arange(low, high + step, step, dtype="int64")})
    frame["time"] = pd.to_datetime(frame["at"], unit="ms")
    frame["step_ms"] = step
    for name in ("born", "stored"):
        frame[name] = _rate(case, name, low, high, step, frame["at"])
    failed = ledger.failed[ledger.failed["ts"].notna()]
    ends = busy.intervals(ledger)[:, 1] // step * step
    for kind in attempts.KINDS:
        mine = pd.Series(ends[(failed["kind"] == kind).to_numpy()]).value_counts()
        if len(mine):
            frame[kind] = frame["at"].map(mine).fillna(0).astype("int64")
    frame["stalled"] = _inside(frame["at"], [(busy.ms(s.start), busy.ms(s.end)) for s in found], step)
    frame["hole"] = _inside(frame["at"], [(busy.ms(a), busy.ms(b)) for a, b in zip(holes["start"], holes["end"], strict=True)], step)
    frame["send_queue"] = _queue(case, frame["at"], step)
    return _host(case, frame).drop(columns="at")


def _rate(case: Case, name: str, low: int, high: int, step: int, at: pd.Series) -> pd.Series | None:
    """Return originals born or stored a second in each step."""
    if not case.has("messages"):
        return None
    time = F.unix_millis("born_timestamp" if name == "born" else "store_timestamp")
    counted = (
        case.records.where(is_original(trace_topics(case)) & time.between(low, high))
        .groupBy((F.floor(time / step) * step).alias("at"))
        .agg(F.count("*").alias("n"))
        .toPandas()
    )
    return at.map(dict(zip(counted["at"], counted["n"], strict=True))).fillna(0) * 1000 / step


def _inside(at: pd.Series, windows: list[tuple[float, float]], step: int) -> np.ndarray:
    inside = np.zeros(len(at), dtype=bool)
    for start, end in windows:
        inside |= ((at < end) & (at + step > start)).to_numpy()
    return inside


def _queue(case: Case, at: pd.Series, step: int) -> pd.Series | None:
    if not refs.seen(case, "watermark"):
        return None
    time = F.floor(F.unix_millis("ts") / step) * step
    blocks = case.event("watermark").where((F.col("queue") == "Send") & time.between(int(at.min()), int(at.max())))
    sizes = blocks.groupBy(time.alias("at")).agg(F.max(F.col("size").try_cast("long")).alias("n")).toPandas()
    return at.map(dict(zip(sizes["at"], sizes["n"], strict=True)))


def _host(case: Case, frame: pd.DataFrame) -> pd.DataFrame:
    metrics = busy.host_metrics(case, ["%util", "wkB/s", "%idle", "id"])
    metrics = metrics[metrics["ts"].notna()]
    metrics["at"] = [busy.ms(t) for t in metrics["ts"]]
    step = int(frame["step_ms"].iloc[0])
    metrics["at"] = (metrics["at"] // step * step).astype("int64")
    for column, names, scale in (("util", ["%util"], 1.0), ("written_mb", ["wkB/s"], 1 / 1024)):
        values = metrics[metrics["name"].isin(names)].groupby("at")["value"].max() * scale
        frame[column] = frame["at"].map(values)
    idle = metrics[metrics["name"].isin(["%idle", "id"])].groupby("at")["value"].min()
    frame["cpu"] = frame["at"].map(100 - idle)
    return frame


def arrivals(case: Case, window: tuple[dt.datetime, dt.datetime]) -> pd.DataFrame:
    """Return when messages were born around the incident, for replay: column at_ms (ms since the window's start, sorted), thinned to `MOST_ARRIVALS`."""
    if not case.has("messages"):
        return pd.DataFrame({"at_ms": pd.Series(dtype="float64")})
    low, high = int(busy.ms(window[0])) - AROUND * 1000, int(busy.ms(window[1])) + AROUND * 1000
    born = F.unix_millis("born_timestamp")
    mine = case.records.where(is_original(trace_topics(case)) & born.between(low, high)).select("offset_msg_id", born.alias("born"))
    every = max(1, -(-mine.count() // MOST_ARRIVALS))
    kept = mine.where(F.pmod(F.xxhash64("offset_msg_id"), F.lit(every)) == 0).select((F.col("born") - int(busy.ms(window[0]))).cast("double").alias("at_ms"))
    return kept.orderBy("at_ms").limit(2 * MOST_ARRIVALS).toPandas().assign(every=every)
