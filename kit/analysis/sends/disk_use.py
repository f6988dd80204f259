"""How full file systems were, as `df` printed it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import pandas as pd

from kit.analysis.sends import measurements
from kit.case import setup

if TYPE_CHECKING:
    from kit.case.case import Case

STORES: Final = ("storePathCommitLog", "storePathRootDir")
NO_STORE: Final = ("/boot", "/dev", "/proc", "/run", "/snap", "/sys", "/media", "/cdrom", "/mnt/cdrom")
"""Mount points that hold no store; images mounted there are always full."""


def store_paths(case: Case) -> list[str]:
    """Return the folders in which the evidence says the store is; none if it only has its default."""
    given = [setup.setting(case, name) for name in STORES]
    paths = [path for setting in given if setting.where for path in (setting.value or "").split(",")]
    return [path for path in paths if path.startswith("/")]


def over(case: Case, percent: float) -> pd.DataFrame:
    """Return the file systems used to more than so many percent: the columns of `host_metrics`, subject the mount point. Where the
    folder of the store is known, only the one that holds it.

    RocketMQ computes its ratio as df does (common/UtilAll.getDiskPartitionSpaceUsedPercent); older releases count the blocks
    that are reserved for root as free.
    """
    seen = measurements.host_metrics(case, ["use%"])
    paths = store_paths(case)
    if paths:
        mounts = {mount for path in paths if (mount := _holding(path, set(seen["subject"])))}
        mine = seen["subject"].isin(mounts)
    else:
        mine = ~seen["subject"].map(lambda mount: any(PurePosixPath(mount).is_relative_to(each) for each in NO_STORE))
    return seen[mine.astype(bool) & (seen["value"] > percent)].sort_values("value", ascending=False, kind="stable")


def _holding(path: str, mounts: set[str]) -> str | None:
    """Return the longest mount point above a folder."""
    above = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount)]
    return max(above, key=len, default=None)
