"""Harmless texts in the logs of a case, counted: what was seen, how often, and why nobody needs to follow it. Needs no
Spark once the logs are read.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case.memoize import per_case
from kit.i18n import Lang, T
from kit.rocketmq.log_events.benign import BY_SLUG, STARTS

if TYPE_CHECKING:
    from kit.case.case import Case

HEAD: Final = T("Known benign messages")
SHOWN: Final = {
    "text": T("line"),
    "count": T("entries"),
    "first": T("first"),
    "file": T("file"),
    "line": T("line number"),
    "why": T("harmless because"),
}
"""Columns that readers see."""
AROUND: Final = 60
"""s around a start or stop: two heartbeats (heartbeatBrokerInterval, 30 s)."""
GOES_ON: Final = 120
"""s from which what should pass goes on."""
MINUTES: Final = 3
"""Distinct minutes in which it has to come."""
COLUMNS: Final = ("text", "count", "first", "file", "line", "why", "slug")


def seen(case: Case, lang: Lang | None = None) -> pd.DataFrame:
    """Return one row a harmless text, most frequent first.

    Columns: text (the first line with it), count (entries), first (UTC, null without times), file, line, why, slug.
    """
    symptoms = going_on(case)
    parts = [part for batch in _batches(case) if len(part := _counted(batch))]
    every = pd.concat(parts) if parts else pd.DataFrame({"event": []})
    every = every[~every["event"].isin(list(symptoms))]
    if every.empty:
        return pd.DataFrame(columns=pd.Index(COLUMNS)).astype({"line": "Int64"})
    by_file = (
        every.groupby(["event", "file"], sort=True)
        .agg(n=("n", "sum"), first=("first", "min"), line=("line", "min"))
        .reset_index()
    )
    heads = (
        by_file.sort_values(["first", "file"], na_position="last", kind="stable")
        .drop_duplicates("event")
        .set_index("event")
    )
    frame = heads.assign(count=by_file.groupby("event")["n"].sum(), slug=heads.index)
    frame["text"] = case.lines(
        [(str(file), int(line)) for file, line in zip(frame["file"], frame["line"], strict=True)]
    )
    frame["why"] = [BY_SLUG[str(slug)].why.in_(lang or case.lang) for slug in frame["slug"]]
    shown = frame[list(COLUMNS)].astype({"line": "Int64"})
    return shown.sort_values(["count", "slug"], ascending=[False, True], ignore_index=True)


@per_case
def going_on(case: Case) -> dict[str, tuple[dt.datetime, dt.datetime]]:
    """Return the texts that are harmless around a start or stop and go on here without one, with their first and last
    time (UTC): {slug: (first, last)}. Judged by how long they go on, in how many minutes they come, and how far from the
    next start or stop, never by the text alone.
    """
    passing = [noise.slug for noise in BY_SLUG.values() if noise.passing]
    seconds: dict[str, set[int]] = {slug: set() for slug in (*passing, *STARTS)}
    for batch in _batches(case):
        parents, events = pc.list_parent_indices(batch["events"]), pc.list_flatten(batch["events"])
        mine = pc.is_in(events, value_set=pa.array(list(seconds), pa.string()))
        times = pc.floor_temporal(batch["ts"].take(parents.filter(mine)), unit="second").cast(pa.timestamp("s", "UTC"))
        pairs = pa.table({"event": events.filter(mine), "at": times.cast(pa.int64())}).drop_null()
        for pair in pairs.group_by(["event", "at"]).aggregate([]).to_pylist():
            seconds[pair["event"]].add(pair["at"])
    starts = np.array(sorted(set().union(*(seconds[slug] for slug in STARTS))), dtype="int64")
    found = {}
    for slug in passing:
        at = np.array(sorted(seconds[slug]), dtype="int64")
        if len(starts) and len(at):
            near = np.searchsorted(starts, at)
            before = np.abs(at - starts[np.maximum(near - 1, 0)])
            behind = np.abs(starts[np.minimum(near, len(starts) - 1)] - at)
            at = at[np.minimum(before, behind) > AROUND]
        if len(at) and at[-1] - at[0] >= GOES_ON and len(np.unique(at // 60)) >= MINUTES:
            first, last = (dt.datetime.fromtimestamp(int(t), dt.UTC) for t in (at[0], at[-1]))
            found[slug] = (first, last)
    return found


def _batches(case: Case) -> Any:
    if not case.found.of_kind("log", "text", "mqadmin"):
        return ()
    time, cut = ds.field("ts"), ds.scalar(True)
    if case.options.since is not None:
        cut = cut & (time.is_null() | (time >= pa.scalar(case.options.since)))
    if case.options.until is not None:
        cut = cut & (time.is_null() | (time <= pa.scalar(case.options.until)))
    return ds.dataset(case.folder("logs"), format="parquet").to_batches(
        columns=["file", "line", "ts", "events"], filter=cut
    )


def _counted(batch: pa.RecordBatch) -> pd.DataFrame:
    """Count the harmless texts of a batch by file: event, file, n, first time and first line."""
    wanted = pa.array(list(BY_SLUG), pa.string())
    parents, events = pc.list_parent_indices(batch["events"]), pc.list_flatten(batch["events"])
    mine = pc.is_in(events, value_set=wanted)
    at = parents.filter(mine)
    table = pa.table({"event": events.filter(mine), **{name: batch[name].take(at) for name in ("file", "ts", "line")}})
    counted = table.group_by(["event", "file"]).aggregate([("line", "count"), ("ts", "min"), ("line", "min")])
    return counted.rename_columns({"line_count": "n", "ts_min": "first", "line_min": "line"}).to_pandas()
