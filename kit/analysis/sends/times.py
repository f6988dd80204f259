"""When sends failed and what the broker and its host did meanwhile: stalls, the gaps of watermark.log, the metrics of the host, all of it on one axis.

No log mentions a stall. In the commitlog it is a hole in store_timestamp, followed by originals that were born before or in the hole and had to wait
for its end (the tables `pauses` and `stalls`). A pause of the whole process also leaves a hole in watermark.log, which otherwise has a block every
second (reference §7.2); an append that hangs does not.
"""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd

from kit.analysis import refs, setup
from kit.analysis.sends import attempts
from kit.inventory.references import Ref
from kit.tables.facts import Facts

Windows = list[tuple[float, float]]
"""Spans of time: (start, end) in ms since 1970."""
AFTER: Final = 1000
"""ms behind a stall in which what queued up in it is still refused or answered."""
STORES: Final = ("storePathCommitLog", "storePathRootDir")
NO_STORE: Final = ("/boot", "/dev", "/proc", "/run", "/snap", "/sys", "/media", "/cdrom", "/mnt/cdrom")
"""Mount points that hold no store; images mounted there are always full."""


def intervals(failed: pd.DataFrame) -> pd.DataFrame:
    """Return when failed sends (ts, cost_ms, source) were in progress: start, end (ms). A log has the failure's."""
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


def window(facts: Facts) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the first failed send or stall to the last (naive UTC)."""
    for row in facts.rows("busy_window"):
        start, end = (dt.datetime.fromtimestamp(row[name] / 1000, dt.UTC) for name in ("start_ms", "end_ms"))
        return start.replace(tzinfo=None), end.replace(tzinfo=None)
    return None


def axis(facts: Facts) -> pd.DataFrame:
    """Return the table `busy_axis`, without the columns of errors that did not occur."""
    frame = facts("busy_axis").astype({"step_ms": "int64", "stalled": bool, "hole": bool})
    return frame.drop(columns=[kind for kind in attempts.KINDS if not frame[kind].any()])


def arrivals(facts: Facts) -> pd.DataFrame:
    """Return when messages were born around the incident, for replay: at_ms (since the window's start), sends."""
    if not facts.has("messages"):
        return pd.DataFrame({"at_ms": pd.Series(dtype="float64"), "sends": pd.Series(dtype="int64")})
    zero = facts.rows("busy_window")[0]["start_ms"]
    born = facts("arrivals").query("born_or_stored == 'born'").reset_index(drop=True)
    return pd.DataFrame({"at_ms": born["at_ms"].astype("float64") - zero, "sends": born["n"].astype("int64")})


def pauses(facts: Facts) -> pd.DataFrame:
    """Return the single pauses of the busiest broker, for replay: start_ms, end_ms since the window's start, sorted."""
    empty = pd.DataFrame({"start_ms": pd.Series(dtype="float64"), "end_ms": pd.Series(dtype="float64")})
    single = facts("pauses") if facts.has("messages") else empty
    if single.empty:
        return empty
    zero = facts.rows("busy_window")[0]["start_ms"]
    waiters = single.groupby("store_host")["waiters"].sum().sort_values(ascending=False, kind="stable")
    worst = single[single["store_host"] == waiters.index[0]].sort_values("start_ms", ignore_index=True)
    return worst[["start_ms", "end_ms"]].astype("float64") - zero


def watermark_gaps(facts: Facts) -> pd.DataFrame:
    """Return the times without a block in watermark.log: file, line (of the next), start, end (UTC), seconds."""
    if not refs.seen(facts, "watermark"):
        return pd.DataFrame(columns=pd.Index(["file", "line", "start", "end", "seconds"]))
    return facts("watermark_gaps").sort_values(["start", "file"], ignore_index=True)


def over_time(facts: Facts) -> bool:
    """Return whether the host or its JVM was measured by more than a look at its memory and disks."""
    return facts.has("metrics") and any(row["origin"] != "df" for row in facts.rows("measured_origins"))


def host_metrics(facts: Facts, *names: str) -> pd.DataFrame:
    """Return the host metrics of these names (the columns of the table `host_metrics`)."""
    metrics = facts("host_metrics")
    return metrics[metrics["name"].isin(names)].reset_index(drop=True)


def store_paths(facts: Facts) -> list[str]:
    """Return the folders in which the evidence says the store is; none if it only has its default."""
    settings = [setup.setting(facts, name) for name in STORES]
    paths = [path for setting in settings if setting.where for path in (setting.value or "").split(",")]
    return [path for path in paths if path.startswith("/")]


def full_disks(facts: Facts, percent: float) -> pd.DataFrame:
    """Return the file systems used to more than so many percent: the columns of `host_metrics`, subject the mount point.
    Where the folder of the store is known, only the one that holds it.

    RocketMQ computes its ratio as df does (common/UtilAll.getDiskPartitionSpaceUsedPercent); older releases count the
    blocks that are reserved for root as free.
    """
    used = host_metrics(facts, "use%")
    if paths := store_paths(facts):
        mounts = {mount for path in paths if (mount := _holding(path, set(used["subject"])))}
        of_store = used["subject"].isin(mounts)
    else:
        of_store = ~used["subject"].map(
            lambda mount: any(PurePosixPath(mount).is_relative_to(each) for each in NO_STORE)
        ).astype(bool)
    return used[of_store & (used["value"] > percent)].sort_values("value", ascending=False, kind="stable")


def _holding(path: str, mounts: set[str]) -> str | None:
    """Return the longest mount point above a folder."""
    above = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount)]
    return max(above, key=len, default=None)


def stalls(facts: Facts) -> list[Any]:
    """Return the stalls that the records of the case show: rows of the table `stalls`, earliest first."""
    return list(facts("stalls").itertuples(index=False)) if facts.has("messages") else []


def released(facts: Facts) -> tuple[Ref, ...]:
    """Quote for the first two stalls the original that waited longest for its end."""
    return tuple(map(refs.with_times, facts("stall_waiters").itertuples()))
