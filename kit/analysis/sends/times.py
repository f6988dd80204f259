"""Times of failed sends: which of them met a stall, a pause or a slow append, and all of it on one axis."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.sends import attempts, measurements

if TYPE_CHECKING:
    from kit.case.case import Case

Windows = list[tuple[float, float]]
"""Spans of time: (start, end) in ms since 1970."""
AFTER: Final = 1000
"""ms behind a stall in which what queued up in it is still refused or answered."""


def intervals(failed: pd.DataFrame) -> pd.DataFrame:
    """Return when failed sends (ts, cost_ms, source) were in progress: start and end, in ms since 1970. A log's time is
    that of the failure.
    """
    failed = failed[failed["ts"].notna()]
    start = failed["ts"].astype("float64")
    cost = pd.to_numeric(failed["cost_ms"], errors="coerce").astype("Float64").fillna(0).astype("float64")
    least = (failed["source"] != "ledger") * 1000.0  # logs of 4.x clients have whole seconds
    return pd.DataFrame({"start": start, "end": start + cost.where(cost >= least, least)})


def inside(under_way: pd.DataFrame, windows: Windows) -> pd.Series:
    """Return for each failed send whether it was in progress during one of the windows, or just after it."""
    hit = pd.Series(False, under_way.index)
    for start, end in windows:
        hit |= (under_way["start"] <= end + AFTER) & (under_way["end"] >= start)
    return hit


def share(under_way: pd.DataFrame, windows: Windows) -> float | None:
    """Return the share of failed sends in progress during one of the windows, or just after it; None without times."""
    return float(inside(under_way, windows).mean()) if len(under_way) else None


def ms(instant: Any) -> float:
    """Return a time (naive: UTC) as ms since 1970."""
    return pd.Timestamp(instant).timestamp() * 1000


def windows(rows: pd.DataFrame) -> Windows:
    """Return the windows of a frame with `start` and `end`."""
    return [(ms(a), ms(b)) for a, b in zip(rows["start"], rows["end"], strict=True)]


def window(case: Case) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the first failed send or stall to the last (naive UTC)."""
    for row in case.fact_rows("busy_window"):
        start, end = (dt.datetime.fromtimestamp(row[name] / 1000, dt.UTC) for name in ("start_ms", "end_ms"))
        return start.replace(tzinfo=None), end.replace(tzinfo=None)
    return None


def axis(case: Case, failed: pd.DataFrame) -> pd.DataFrame:
    """Return one row per step of the axis (the table `busy_window`, which has a row).

    Columns time (naive UTC, start of the step), step_ms, born and stored (originals per second), one column per kind of
    error (failed sends in the step), stalled and hole (bool: the records stall, watermark.log has a hole), send_queue
    (largest size in watermark.log), util (% of the busiest device), written_mb (MB/s on it), cpu (% busy). Null without
    such evidence.
    """
    window = case.fact_rows("busy_window")[0]
    step = window["step_ms"]
    at = pd.Series(range(window["low_ms"], window["high_ms"] + step, step), dtype="int64")
    frame = pd.DataFrame({"time": pd.to_datetime(at, unit="ms"), "step_ms": step})
    records = case.has("messages")
    rates = case.facts("arrivals") if records else None
    for name in ("born", "stored"):
        frame[name] = None
        if rates is not None:
            of_name = rates[rates["born_or_stored"] == name]
            sums = of_name["n"].groupby(of_name["at_ms"] // step * step).sum().astype("float64")
            frame[name] = at.map(sums).fillna(0) * 1000 / step
    known = failed[failed["ts"].notna()]
    ends = intervals(known)["end"] // step * step
    for kind in attempts.KINDS:
        if len(counts := ends[known["kind"] == kind].value_counts()):
            frame[kind] = at.map(counts).fillna(0).astype("int64")
    pauses = case.facts("pauses") if records else None
    spans = [] if pauses is None else list(zip(pauses["start_ms"], pauses["end_ms"], strict=True))
    frame["stalled"] = _met(at, spans, step)
    frame["hole"] = _met(at, windows(measurements.watermark_gaps(case)), step)
    frame["send_queue"] = None
    if refs.seen(case, "watermark"):
        sizes = case.facts("send_queue").set_index("at_ms")["size"].astype("float64")
        frame["send_queue"] = at.map(sizes)
    return _with_host(case, frame, at, step)


def _met(at: pd.Series, windows: Windows, step: int) -> pd.Series:
    met = pd.Series(False, at.index)
    for start, end in windows:
        met |= (at + step / 2 < end) & (at + step / 2 > start)
    return met


def _with_host(case: Case, frame: pd.DataFrame, at: pd.Series, step: int) -> pd.DataFrame:
    writes, util = measurements.host_metrics(case, "wkB/s"), measurements.host_metrics(case, "%util")
    columns = (("util", util, "value"), ("written_mb", writes, "value"), ("cpu", measurements.processors(case), "busy"))
    for name, rows, column in columns:
        rows = rows[rows["ts"].notna()]
        steps = rows["ts"].astype("datetime64[ms]").astype("int64") // step * step
        frame[name] = at.map(rows[column].groupby(steps).max())
    return frame.assign(written_mb=frame["written_mb"] / 1024)


def arrivals(case: Case) -> pd.DataFrame:
    """Return when messages were born around the incident, for replay: at_ms (ms since the window's start), sends (in
    that ms).
    """
    if not case.has("messages"):
        return pd.DataFrame({"at_ms": pd.Series(dtype="float64"), "sends": pd.Series(dtype="int64")})
    zero = case.fact_rows("busy_window")[0]["start_ms"]
    born = case.facts("arrivals").query("born_or_stored == 'born'").reset_index(drop=True)
    return pd.DataFrame({"at_ms": born["at_ms"].astype("float64") - zero, "sends": born["n"].astype("int64")})


def pauses(case: Case) -> pd.DataFrame:
    """Return the single pauses of the busiest broker, for replay: start_ms, end_ms since the window's start, sorted."""
    empty = pd.DataFrame({"start_ms": pd.Series(dtype="float64"), "end_ms": pd.Series(dtype="float64")})
    single = case.facts("pauses") if case.has("messages") else empty
    if single.empty:
        return empty
    zero = case.fact_rows("busy_window")[0]["start_ms"]
    waiters = single.groupby("store_host")["waiters"].sum().sort_values(ascending=False, kind="stable")
    worst = single[single["store_host"] == waiters.index[0]].sort_values("start_ms", ignore_index=True)
    return worst[["start_ms", "end_ms"]].astype("float64") - zero
