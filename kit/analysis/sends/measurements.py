"""Measurements while a broker was busy: the blocks of watermark.log and the metrics of its host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.case import columnar, log_events
from kit.case.memoize import per_case

if TYPE_CHECKING:
    from kit.case.case import Case


@per_case
def watermarks(case: Case) -> pd.DataFrame:
    """Return the blocks of watermark.log: file, line (of the first line), ts (naive UTC), send_queue (size)."""
    if not refs.seen(case, "watermark"):
        return pd.DataFrame({"file": [], "line": [], "ts": pd.to_datetime([]), "send_queue": []})
    rows = columnar.to_pandas(
        log_events.events(case, ("watermark",), ("file", "line", "ts"), ds.field("ts").is_valid())
    )
    rows["send_queue"] = pd.to_numeric(rows["size"].where(rows["queue"] == "Send"), errors="coerce")
    blocks = rows.groupby(["file", "ts"], sort=True).agg(line=("line", "min"), send_queue=("send_queue", "max"))
    return blocks.reset_index()


def holes(case: Case) -> pd.DataFrame:
    """Return the times without a block in watermark.log: file, line (of the next block), start, end (naive UTC),
    seconds between the blocks.
    """
    blocks = watermarks(case)
    found = (
        blocks.assign(start=blocks.groupby("file")["ts"].shift()).rename(columns={"ts": "end"}).dropna(subset="start")
    )
    found["seconds"] = (found["end"] - found["start"]).dt.total_seconds()
    return found[found["seconds"] >= 2].sort_values(["start", "file"], ignore_index=True)[
        ["file", "line", "start", "end", "seconds"]
    ]


def over_time(case: Case) -> bool:
    """Return whether the host or its JVM was measured by more than a look at its memory and disks."""
    rows = ds.dataset(case.folder("metrics"), format="parquet")
    return bool(rows.count_rows(filter=~ds.field("origin").isin(["free", "df"])))


def processors(case: Case) -> pd.DataFrame:
    """Return how busy the host's processors were: file, line, ts, busy and waiting (for a disk; part of neither busy nor idle), in percent."""
    seen = host_metrics(case, ["%idle", "id", "%iowait", "wa"])
    idle = seen["name"].isin(["%idle", "id"])
    columns = ["file", "line", "ts", "value"]
    both = seen.loc[idle, columns].merge(seen.loc[~idle, ["file", "line", "value"]], "left", ["file", "line"])
    waiting = both["value_y"].fillna(0.0)
    return both[["file", "line", "ts"]].assign(busy=(100 - both["value_x"] - waiting).clip(lower=0.0), waiting=waiting)


def host_metrics(case: Case, names: list[str]) -> pd.DataFrame:
    """Return the host metrics of these names: file, line, ts, origin, subject, name, value; without averages since
    boot, and without the times of single processors, which say nothing of the host.
    """
    table = ds.dataset(case.folder("metrics"), format="parquet").to_table(filter=ds.field("name").isin(names))
    found = table.to_pandas()
    first = found.groupby(["file", "subject", "name"], dropna=False).cumcount() == 0
    known = np.isfinite(found["value"].to_numpy(dtype="float64", na_value=np.nan))
    single = found["name"].isin(["%idle", "%iowait"]) & found["subject"].fillna("").str.isdecimal()
    # The first screen of top shows the processors since boot, or during the moment in which top itself started.
    no_interval = found["origin"].isin(["iostat", "vmstat"]) | (
        (found["origin"] == "top") & (found["subject"] == "cpu")
    )
    return found[known & ~single & ~(first & no_interval)].reset_index(drop=True)
