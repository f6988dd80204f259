"""Measurements while a broker was busy: the gaps of watermark.log, the metrics of its host, how full its disks were."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import pandas as pd

from kit.analysis import refs
from kit.case import setup

if TYPE_CHECKING:
    from kit.case.case import Case

STORES: Final = ("storePathCommitLog", "storePathRootDir")
NO_STORE: Final = ("/boot", "/dev", "/proc", "/run", "/snap", "/sys", "/media", "/cdrom", "/mnt/cdrom")
"""Mount points that hold no store; images mounted there are always full."""


def watermark_gaps(case: Case) -> pd.DataFrame:
    """Return the times without a block in watermark.log: file, line (of the next block), start, end (naive UTC),
    seconds between the blocks; in order of time.
    """
    if not refs.seen(case, "watermark"):
        return pd.DataFrame(columns=pd.Index(["file", "line", "start", "end", "seconds"]))
    return case.facts("watermark_gaps").sort_values(["start", "file"], ignore_index=True)


def over_time(case: Case) -> bool:
    """Return whether the host or its JVM was measured by more than a look at its memory and disks."""
    return case.has("metrics") and any(row["origin"] != "df" for row in case.fact_rows("measured_origins"))


def host_metrics(case: Case, *names: str) -> pd.DataFrame:
    """Return the host metrics of these names (the columns of the table `host_metrics`)."""
    metrics = case.facts("host_metrics")
    return metrics[metrics["name"].isin(names)].reset_index(drop=True)


def processors(case: Case) -> pd.DataFrame:
    """Return how busy the host's processors were: file, line, ts, busy and waiting (for a disk; part of neither busy nor
    idle), in percent.
    """
    idle, waits = host_metrics(case, "%idle", "id"), host_metrics(case, "%iowait", "wa")
    both = idle.merge(waits[["file", "line", "value"]], "left", ["file", "line"])
    waiting = both["value_y"].fillna(0.0)
    return both[["file", "line", "ts"]].assign(busy=(100 - both["value_x"] - waiting).clip(lower=0.0), waiting=waiting)


def store_paths(case: Case) -> list[str]:
    """Return the folders in which the evidence says the store is; none if it only has its default."""
    settings = [setup.setting(case, name) for name in STORES]
    paths = [path for setting in settings if setting.where for path in (setting.value or "").split(",")]
    return [path for path in paths if path.startswith("/")]


def full_disks(case: Case, percent: float) -> pd.DataFrame:
    """Return the file systems used to more than so many percent: the columns of `host_metrics`, subject the mount point.
    Where the folder of the store is known, only the one that holds it.

    RocketMQ computes its ratio as df does (common/UtilAll.getDiskPartitionSpaceUsedPercent); older releases count the
    blocks that are reserved for root as free.
    """
    used = host_metrics(case, "use%")
    if paths := store_paths(case):
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
