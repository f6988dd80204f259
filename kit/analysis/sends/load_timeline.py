"""A busy broker on one time axis: messages that arrived, were stored or failed, its stalls, its queues and its host."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from kit.analysis.messages.originals import which
from kit.analysis.sends import attempts, measurements, stalls, when
from kit.case import scan
from kit.case.memoize import once

if TYPE_CHECKING:
    from kit.analysis.sends.sends import Ledger
    from kit.analysis.sends.stalls import Stall
    from kit.case.case import Case

MOST: Final = 1500
"""Steps of the axis: what a chart can draw with a dozen series."""
AROUND: Final = 10
"""s shown before the first failure and behind the last."""
FINE: Final = 10
"""Parts of a step in which arrivals are counted."""


def step_ms(window: tuple[dt.datetime, dt.datetime]) -> int:
    """Return the length of one step: 100 ms for a short incident, whole multiples of that for a long one."""
    seconds = (window[1] - window[0]).total_seconds() + 2 * AROUND
    return 100 * max(1, int(np.ceil(seconds * 10 / MOST)))


def seconds(case: Case, window: tuple[dt.datetime, dt.datetime], ledger: Ledger, found: list[Stall]) -> pd.DataFrame:
    """Return one row per step of the axis.

    Columns time (naive UTC, start of the step), step_ms, born and stored (originals per second), one column per kind of
    error (failed sends in the step), stalled and hole (bool: the records stall, watermark.log has a hole), send_queue
    (largest size in watermark.log), util (% of the busiest device), written_mb (MB/s on it), cpu (% busy). Null without
    such evidence.
    """
    step = step_ms(window)
    low, high = _edges(window)
    frame = pd.DataFrame({"at": np.arange(low, high + step, step, dtype="int64")})
    frame["time"] = pd.to_datetime(frame["at"], unit="ms")
    frame["step_ms"] = step
    rates = _rates(case, window)
    for name in ("born", "stored"):
        mine = rates[rates["which"] == name] if rates is not None else None
        frame[name] = (
            None
            if mine is None
            else frame["at"].map((mine["n"]).groupby(mine["at"] // step * step).sum()).fillna(0) * 1000 / step
        )
    failed = ledger.failed[ledger.failed["ts"].notna()]
    ends = when.intervals(ledger)[:, 1] // step * step
    for kind in attempts.KINDS:
        counts = pd.Series(ends[(failed["kind"] == kind).to_numpy()]).value_counts()
        if len(counts):
            frame[kind] = frame["at"].map(counts).fillna(0).astype("int64")
    single = stalls.single(case) if found else None
    frame["stalled"] = _inside(
        frame["at"], [] if single is None else list(zip(single["start"], single["end"], strict=True)), step
    )
    frame["hole"] = _inside(frame["at"], when.windows(measurements.holes(case)), step)
    frame["send_queue"] = _queue(case, frame["at"], step)
    return _host(case, frame).drop(columns="at")


def _edges(window: tuple[dt.datetime, dt.datetime]) -> tuple[int, int]:
    """Return the ends of the axis (ms); it starts at a whole step."""
    step = step_ms(window)
    return (int(when.ms(window[0])) - AROUND * 1000) // step * step, int(when.ms(window[1])) + AROUND * 1000


def _rates(case: Case, window: tuple[dt.datetime, dt.datetime]) -> pd.DataFrame | None:
    """Return how many originals were born and stored in each tenth of a step: which (born, stored), at (ms), n."""
    return once(case, f"busy rates {window}", lambda: _counted(case, window)) if case.has("messages") else None


def _counted(case: Case, window: tuple[dt.datetime, dt.datetime]) -> pd.DataFrame:
    low, high = _edges(window)
    fine = step_ms(window) // FINE
    counts: Counter[tuple[str, int]] = Counter()
    for batch in scan.batches(case, ("born_timestamp", "store_timestamp"), which(case)):
        for name, column in (("born", "born_timestamp"), ("stored", "store_timestamp")):
            at = batch[column].drop_null().cast(pa.int64()).to_numpy(zero_copy_only=False) // 1000
            parts, n = np.unique(at[(at >= low) & (at <= high)] // fine * fine, return_counts=True)
            counts.update(dict(zip(((name, part) for part in parts.tolist()), n.tolist(), strict=True)))
    rows = [(name, at, n) for (name, at), n in sorted(counts.items())]
    found = pd.DataFrame(rows, columns=pd.Index(["which", "at", "n"]))
    return found.astype({"at": "int64", "n": "int64"})


def _inside(at: pd.Series, windows: list[tuple[float, float]], step: int) -> np.ndarray:
    inside = np.zeros(len(at), dtype=bool)
    for start, end in windows:
        inside |= ((at + step / 2 < end) & (at + step / 2 > start)).to_numpy()
    return inside


def _queue(case: Case, at: pd.Series, step: int) -> pd.Series | None:
    blocks = measurements.watermarks(case)
    if blocks.empty:
        return None
    steps = (blocks["ts"].astype("datetime64[ms]").astype("int64") // step) * step
    return at.map(blocks["send_queue"].groupby(steps).max())


def _host(case: Case, frame: pd.DataFrame) -> pd.DataFrame:
    metrics = measurements.host_metrics(case, ["%util", "wkB/s"])
    metrics = metrics[metrics["ts"].notna()]
    metrics["at"] = [when.ms(t) for t in metrics["ts"]]
    step = int(frame["step_ms"].iloc[0])
    metrics["at"] = (metrics["at"] // step * step).astype("int64")
    for column, names, scale in (("util", ["%util"], 1.0), ("written_mb", ["wkB/s"], 1 / 1024)):
        values = metrics[metrics["name"].isin(names)].groupby("at")["value"].max() * scale
        frame[column] = frame["at"].map(values)
    processors = measurements.processors(case)
    processors = processors[processors["ts"].notna()]
    processors["at"] = [when.ms(t) for t in processors["ts"]]
    processors["at"] = (processors["at"] // step * step).astype("int64")
    frame["cpu"] = frame["at"].map(processors.groupby("at")["busy"].max())
    return frame


def arrivals(case: Case, window: tuple[dt.datetime, dt.datetime]) -> pd.DataFrame:
    """Return when messages were born around the incident, for replay: at_ms (ms since the window's start), sends (in
    that ms).
    """
    rates = _rates(case, window)
    if rates is None:
        return pd.DataFrame({"at_ms": pd.Series(dtype="float64"), "sends": pd.Series(dtype="int64")})
    born = rates[rates["which"] == "born"]
    return pd.DataFrame(
        {"at_ms": born["at"].to_numpy("float64") - when.ms(window[0]), "sends": born["n"].to_numpy("int64")}
    )


def pauses(case: Case, window: tuple[dt.datetime, dt.datetime]) -> pd.DataFrame:
    """Return the single pauses of the busiest broker, for replay: start_ms, end_ms since the window's start, sorted."""
    if not case.has("messages"):
        return pd.DataFrame({"start_ms": pd.Series(dtype="float64"), "end_ms": pd.Series(dtype="float64")})
    single = stalls.single(case)
    worst = single.groupby("store_host")["waiters"].sum().sort_values(ascending=False).head(1).index
    mine = single[single["store_host"].isin(worst)].sort_values("start")
    zero = when.ms(window[0])
    return pd.DataFrame(
        {"start_ms": mine["start"].to_numpy("float64") - zero, "end_ms": mine["end"].to_numpy("float64") - zero}
    )
