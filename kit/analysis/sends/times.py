"""When sends failed and what the broker and its host did meanwhile: stalls, the gaps of watermark.log, the metrics of
the host.

No log mentions a stall. In the commitlog it is a hole in store_timestamp, followed by originals that were born before
or in the hole and had to wait for its end (the tables `pauses` and `stalls`). A pause of the whole process also leaves
a hole in watermark.log, which otherwise has a block every second (reference §7.2); an append that hangs does not.
"""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd

from kit.analysis import setup
from kit.tables.facts import Facts

Windows = list[tuple[float, float]]
"""Spans of time: (start, end) in ms since 1970."""
AFTER: Final = 1000
"""ms behind a stall in which what queued up in it is still refused or answered."""
METRICS: Final = ("file", "line", "ts", "origin", "subject", "name", "value")
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


def window(facts: Facts) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the first failed send or stall to the last (naive UTC)."""
    for row in facts.rows("busy_window"):
        start, end = (dt.datetime.fromtimestamp(row[name] / 1000, dt.UTC) for name in ("start_ms", "end_ms"))
        return start.replace(tzinfo=None), end.replace(tzinfo=None)
    return None


def host_metrics(facts: Facts, *names: str) -> pd.DataFrame:
    """Return the host metrics of these names (the columns of the table `host_metrics`)."""
    metrics = facts("host_metrics") if facts.files.of_metrics() else pd.DataFrame(columns=pd.Index(METRICS))
    return metrics[metrics["name"].isin(names)].reset_index(drop=True)


def store_paths(facts: Facts) -> list[str]:
    """Return the folders in which the evidence says the store is; none if it only has its default."""
    settings = [setup.setting(facts, name) for name in STORES]
    paths = [path for setting in settings if setting.where for path in (setting.value or "").split(",")]
    return [path for path in paths if path.startswith("/")]


def full_disks(facts: Facts, percent: float) -> pd.DataFrame:
    """Return the file systems used to more than so many percent: the columns of `host_metrics`, subject the mount
    point.

    Where the folder of the store is known, only the one that holds it. RocketMQ computes its ratio as df does
    (common/UtilAll.getDiskPartitionSpaceUsedPercent); older releases count the blocks that are reserved for root as
    free.
    """
    used = host_metrics(facts, "use%")
    mounts, paths = set(used["subject"]), store_paths(facts)
    above = [[mount for mount in mounts if PurePosixPath(path).is_relative_to(mount)] for path in paths]
    stores = {max(each, key=len) for each in above if each}
    if not paths:
        stores = {m for m in mounts if not any(PurePosixPath(m).is_relative_to(each) for each in NO_STORE)}
    full = used[used["subject"].isin(stores) & (used["value"] > percent)]
    return full.sort_values("value", ascending=False, kind="stable")
