"""References: the few lines and records that support a claim, out of many.

One pass over all known texts gives each cause its counts, times and first places (`seen`); quoting is done by the case, from the raw bytes.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import columnar, log_events, scan
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import promoted
from kit.inventory import quotes
from kit.inventory.references import Ref
from kit.rocketmq.log_events import catalogue

if TYPE_CHECKING:
    from kit.case.case import Case


@attrs.frozen
class Seen:
    """How often one known text occurs in the evidence, and where it occurs first in each file.

    `count` in entries; `first`/`last` naive UTC times, None if no entry has one; `places` as (file, line), earliest
    file first.
    """

    slug: str
    count: int = 0
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    places: tuple[tuple[str, int], ...] = ()
    sources: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self.count > 0


def seen(case: Case, *slugs: str, outside: Collection[str] = ()) -> Seen:
    """Return where any of these known texts occurs (slugs of `kit.rocketmq.log_events.catalogue`), without files in the
    folders `outside`.
    """
    rows = [r for r in _summary(case) if r["event"] in slugs and str(PurePosixPath(r["file"]).parent) not in outside]
    return _of(slugs, rows)


def _of(slugs: tuple[str, ...], rows: list[dict[str, Any]]) -> Seen:
    rows.sort(key=lambda r: (r["first"] or dt.datetime.max, r["file"]))  # noqa: DTZ901 - both naive UTC
    firsts = [r["first"] for r in rows if r["first"] is not None]
    lasts = [r["last"] for r in rows if r["last"] is not None]
    return Seen(
        slug=",".join(slugs),
        count=sum(r["n"] for r in rows),
        first=min(firsts, default=None),
        last=max(lasts, default=None),
        places=tuple((r["file"], r["line"]) for r in rows),
        sources=frozenset(r["source"] for r in rows if r["source"]),
    )


_SUMS: Final = (("n", "sum"), ("first", "min"), ("last", "max"), ("line", "min"))


@per_case
def _summary(case: Case) -> list[dict[str, Any]]:
    """Return one row per known text and file, computed once per case."""
    parts = []
    for batch in log_events.hits(case, catalogue.slugs().to_pylist(), ("file", "source", "ts", "line", "events")):
        at = pc.list_parent_indices(batch["events"])
        each = {name: batch[name].take(at) for name in ("file", "source", "ts", "line")}
        each |= {"event": pc.list_flatten(batch["events"]).dictionary_encode(), "n": pa.repeat(1, len(at))}
        each["first"] = each["last"] = each.pop("ts")
        found = columnar.grouped(pa.table(each), ["event", "file", "source"], _SUMS)
        parts.append(pa.table({name: columnar.decoded(found[name]) for name in found.schema.names}))
    rows = columnar.grouped(pa.concat_tables(parts), ["event", "file", "source"], _SUMS).to_pylist() if parts else []
    for row in rows:
        row |= {name: row[name].replace(tzinfo=None) for name in ("first", "last") if row[name] is not None}
    return sorted(rows, key=lambda r: (r["event"], r["file"], r["line"]))


def among(entries: pd.DataFrame, *slugs: str) -> Seen:
    """Return the same for some entries, all of which have one of the texts: a frame with file, source, line, ts (naive
    UTC).
    """
    times = {"n": ("line", "size"), "first": ("ts", "min"), "last": ("ts", "max")}
    found = entries.groupby(["file", "source"], dropna=False).agg(**times, line=("line", "min"))
    rows = found.reset_index().to_dict("records")
    for row in rows:
        row |= {name: None if row[name] is pd.NaT else row[name].to_pydatetime() for name in ("first", "last")}
        row["source"] = row["source"] if isinstance(row["source"], str) else None
    return _of(slugs, [{str(name): value for name, value in row.items()} for row in rows])


def count(case: Case, slug: str, source: str) -> int:
    """Return how many entries of one source (`client`, `transaction`, …) hold a known text."""
    return sum(row["n"] for row in _summary(case) if row["event"] == slug and row["source"] == source)


def quote(case: Case, where: Seen, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first line of this text in up to `most` files."""
    return case.refs(where.places[:most])


def lines(case: Case, rows: pd.DataFrame, most: int = 3) -> tuple[Ref, ...]:
    """Quote the lines of the first rows of a frame with `file` and `line`."""
    return case.refs((str(file), int(line)) for file, line in rows[["file", "line"]].head(most).to_numpy())


QUOTED = ("ts", "file", "line", "message", "trace")
"""Columns of entries that are quoted."""


def first_lines(case: Case, slug: str, most: int = 3, *, within: str | None = None) -> tuple[Ref, ...]:
    """Quote the earliest entries with a known text, as `earliest` does."""
    return earliest(case, columnar.to_pandas(log_events.entries(case, [slug], QUOTED)), most, within=within)


def earliest(case: Case, entries: pd.DataFrame, most: int = 3, *, within: str | None = None) -> tuple[Ref, ...]:
    """Quote the earliest of some entries, a frame with the columns of `QUOTED`.

    `within`: the quoted line is the first one of the entry that contains this text (a folded trace has many).
    """
    picked = entries.astype({"file": object}).sort_values(["ts", "file", "line"], na_position="first").head(most)
    return tuple(
        entry(case, file, int(line), message, trace, within)
        for file, line, message, trace in picked[["file", "line", "message", "trace"]]
        .astype(object)
        .replace({np.nan: None})
        .to_numpy()
    )


def entry(case: Case, file: str, line: int, message: str | None, trace: str | None, within: str | None) -> Ref:
    """Quote one entry, or the line of its folded trace that contains `within`."""
    if within and within not in (message or "") and within in (trace or ""):
        inner = line + 1 + (trace or "").split(within)[0].count("\n")
        # The trace of a JSON entry has lines that the file has not.
        with contextlib.suppress(IndexError):
            if within in (text := case.line(file, inner)):
                return Ref(file, text, line=inner)
    return case.ref(file, line)


def first_with(case: Case, file: str, text: str) -> Ref | None:
    """Quote the first line of a small text file with `text`, None if absent."""
    line = quotes.first_with(case.found, file, text)
    return None if line is None else case.ref(file, line)


SHOWN = (
    "REAL_TOPIC",
    "TRAN_MSG",
    "DELAY",
    "RETRY_TOPIC",
    "TRANSACTION_CHECK_TIMES",
    "RECONSUME_TIME",
    "UNIQ_KEY",
    "KEYS",
)
"""Properties that a quoted record shows: those that make it a half message, a delayed one, a retry, or name it."""
PRINTED = (
    "file",
    "physical_offset",
    "topic",
    "queue_id",
    "queue_offset",
    "sys_flag",
    "store_size",
    "reconsume_times",
    "prepared_transaction_offset",
    "offset_msg_id",
    *map(promoted, SHOWN),
)


def records_where(case: Case, where: pc.Expression, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first records, by store time, that a condition on the columns of `stored_messages` keeps."""
    found = scan.records(case, ("file", "physical_offset", "store_timestamp"), where)
    return records_at(case, found.to_pandas(), most)


def records_at(case: Case, frame: pd.DataFrame, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first records, by store time, of a frame with store_timestamp, file and physical_offset."""
    places = (
        frame[["store_timestamp", "file", "physical_offset"]]
        .astype({"file": object})
        .dropna(subset=["file", "physical_offset"])
    )
    first = places.sort_values(["store_timestamp", "file", "physical_offset"]).head(most)
    if first.empty:
        return ()
    files, offsets = first["file"].unique().tolist(), first["physical_offset"].tolist()
    rows = scan.records(case, PRINTED, ds.field("physical_offset").isin(offsets) & scan.one_of("file", files))
    by_place = {(row["file"], row["physical_offset"]): row for row in rows.to_pylist()}
    return tuple(record(by_place[file, offset]) for file, offset in zip(first["file"], offsets, strict=True))


def record(row: Any) -> Ref:
    """Quote one row of `stored_messages` in the form of RocketMQ's own printout."""
    shown = ", ".join(f"{name}={value}" for name in SHOWN if (value := row[promoted(name)]) is not None)
    text = (
        f"topic={row['topic']}, queueId={row['queue_id']}, queueOffset={row['queue_offset']}, sysFlag={row['sys_flag']}, "
        f"storeSize={row['store_size']}, reconsumeTimes={row['reconsume_times']}, "
        f"preparedTransactionOffset={row['prepared_transaction_offset']}, msgId={row['offset_msg_id']}, "
        f"properties={{{shown}}}"
    )
    return Ref(row["file"], text, physical_offset=row["physical_offset"])


def with_times(row: Any, *more: str) -> Ref:
    """Quote a row (of `itertuples`) with the moments, in UTC, at which its message was sent and stored; `more`: what else to say of it."""
    born, stored = (at.isoformat(sep=" ", timespec="milliseconds") for at in (row.born_timestamp, row.store_timestamp))
    place = f"topic={row.topic}, queueId={row.queue_id}, queueOffset={row.queue_offset}"
    times = f"bornTimestamp={born}, storeTimestamp={stored}, msgId={row.offset_msg_id}"
    return Ref(str(row.file), ", ".join((place, times, *more)), physical_offset=int(row.physical_offset))
