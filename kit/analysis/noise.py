"""Harmless texts in the logs of a case: which, how often, and why; and those of a start or stop that do not end and so
are a symptom.

No Spark once the logs are read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import columnar, log_events, statements
from kit.case.memoize import per_case
from kit.i18n import Lang, Sentence, T
from kit.rocketmq.log_events import passing
from kit.rocketmq.log_events.benign import BY_SLUG
from kit.rocketmq.log_events.passing import Passing

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
ALL_NEAR = T("{why}; here all {n} are within {around} s of a start or stop")
NOT_LONG = T(
    "{why}; here {outside} of {n} are further than {around} s from any, too few or for too short a time to be more"
)
NO_TIMES = T("{why}; no times are known here, so whether it went on is not known")
COLUMNS: Final = ("text", "count", "first", "file", "line", "why", "slug")


def harmless_texts(case: Case, lang: Lang | None = None) -> pd.DataFrame:
    """Return one row per harmless text, most frequent first.

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
    frame["why"] = [_why(case, str(slug)).render(lang or case.lang) for slug in frame["slug"]]
    shown = frame[list(COLUMNS)].astype({"line": "Int64"})
    return shown.sort_values(["count", "slug"], ascending=[False, True], ignore_index=True)


def _why(case: Case, slug: str) -> Sentence:
    why = BY_SLUG[slug].why.say()
    judged = _judged(case).get(slug)
    if judged is None:
        return why
    if not judged.timed:
        return NO_TIMES.say(why=why)
    said_with = {"why": why, "n": judged.timed, "around": judged.text.around}
    return NOT_LONG.say(outside=judged.outside, **said_with) if judged.outside else ALL_NEAR.say(**said_with)


@attrs.frozen
class Judged:
    """A text of a start or stop in a case: `timed` (entries with a time), of these `outside` the starts and stops of
    its own group.

    If it does not end, `first` and `last` (naive UTC), `groups` and `place` (file, line) are those of the entries that
    show it.
    """

    text: Passing
    timed: int = 0
    outside: int = 0
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    groups: tuple[str, ...] = ()
    place: tuple[str, int] | None = None

    @property
    def goes_on(self) -> bool:
        return self.place is not None


def going_on(case: Case) -> dict[str, Judged]:
    """Return the texts of `passing` that occur here without a start or stop: judged by how often and how long they are
    printed and how far from the next start or stop, never by the text alone.
    """
    return {slug: judged for slug, judged in _judged(case).items() if judged.goes_on}


@per_case
def _judged(case: Case) -> dict[str, Judged]:
    """Return each text of `passing` that is in the logs."""
    seen = _seconds(case)
    if not (slugs := set(seen["event"]) & set(passing.BY_SLUG)):
        return {}
    found = {}
    for slug in sorted(slugs):
        text = passing.BY_SLUG[slug]
        starts = seen[seen["event"].isin(text.starts) & (seen["second"] >= 0)]
        parts = [
            _of_group(text, str(group), own, starts)
            for group, own in seen[seen["event"] == slug].groupby("group", sort=True)
        ]
        found[slug] = _together(text, parts)
    return found


def _of_group(text: Passing, group: str, own: pd.DataFrame, starts: pd.DataFrame) -> Judged:
    """Judge one text of one group; `own`, `starts`: rows of `_seconds`."""
    own = own[own["second"] >= 0].sort_values(["second", "file", "line"])
    timed = int(own["n"].sum())
    # A start that names another group is not this one's.
    mine = starts if not group else starts[starts["group"].isin(["", group])]
    moments = np.unique(mine["second"].to_numpy(dtype="int64"))
    at = own["second"].to_numpy(dtype="int64")
    if len(moments) and len(at):
        near = np.searchsorted(moments, at)
        behind = np.abs(at - moments[np.maximum(near - 1, 0)])
        ahead = np.abs(moments[np.minimum(near, len(moments) - 1)] - at)
        own = own[np.minimum(behind, ahead) > text.around]
        at = own["second"].to_numpy(dtype="int64")
    outside = int(own["n"].sum())
    long = len(at) > 0 and at[-1] - at[0] >= text.lasts and len(np.unique(at // 60)) >= text.minutes
    if not long or outside < text.least:
        return Judged(text, timed, outside)
    first, last = (dt.datetime.fromtimestamp(int(t), dt.UTC).replace(tzinfo=None) for t in (at[0], at[-1]))
    place = (str(own["file"].iloc[0]), int(own["line"].iloc[0]))
    return Judged(text, timed, outside, first, last, (group,) if group else (), place)


def _together(text: Passing, parts: list[Judged]) -> Judged:
    """Combine one text of all groups: the groups in which it does not end if there are any, else all of its entries."""
    on = [part for part in parts if part.goes_on]
    timed, outside = sum(part.timed for part in parts), sum(part.outside for part in on or parts)
    if not on:
        return Judged(text, timed, outside)
    return Judged(
        text,
        timed,
        outside,
        min(part.first for part in on if part.first),
        max(part.last for part in on if part.last),
        tuple(group for part in on for group in part.groups),
        min(on, key=lambda part: part.first or dt.datetime.max).place,  # noqa: DTZ901 - both naive UTC
    )


def _seconds(case: Case) -> pd.DataFrame:
    """Return how often each text of `passing`, and each start and stop, was printed in each second: event, group ("" if
    none is named), second (Unix time, -1 without), file, n (entries), line (the first).
    """
    columns = ["event", "group", "second", "file", "n", "line"]
    parts = [part for table in _timed(case) for part in [_by_second(table)] if len(part)]
    if not parts:
        return pd.DataFrame(columns=pd.Index(columns))
    every = pd.concat(parts)
    return every.groupby(columns[:4], as_index=False, sort=True).agg(n=("n", "sum"), line=("line", "min"))


def _timed(case: Case) -> Iterator[pa.Table]:
    if not case.found.of_kind("log", "text", "mqadmin"):
        return
    if not any(log_events.hits(case, tuple(passing.BY_SLUG), ("line",))):
        return
    yield from statements.batches(case, [*passing.BY_SLUG, *passing.STARTS], _second, ("group", "group_2"))


def _second(batch: pa.RecordBatch) -> pa.Array:
    second = pc.floor_temporal(batch["ts"], unit="second").cast(pa.timestamp("s", "UTC")).cast(pa.int64())
    return pc.fill_null(second, -1)


def _by_second(table: pa.Table) -> pd.DataFrame:
    names = [name for name in ("group", "group_2") if name in table.column_names]
    group = pc.coalesce(*(columnar.decoded(table[name]) for name in names), "") if names else pa.repeat("", len(table))
    kept = {name: columnar.decoded(table[name]) for name in ("event", "file", "n", "line")}
    return pa.table({**kept, "group": group, "second": table["own"]}).to_pandas()


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
