"""References: the few lines and records that support a claim, out of many, quoted from the raw bytes."""

import contextlib
import datetime as dt
from collections.abc import Collection, Iterable
from typing import Any, Final

import attrs
import pandas as pd

from kit.formats.commitlog.schema import COLUMN_OF
from kit.inventory import quotes, zones
from kit.inventory.model import Ref, folder_of
from kit.tables.facts import Facts, memo


@attrs.frozen
class Seen:
    """How often known texts occur: `count`, `first`/`last` (naive UTC) of the files `timed`, `places`: their first."""

    count: int = 0
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    places: tuple[tuple[str, int], ...] = ()
    timed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def window(self) -> tuple[dt.datetime, dt.datetime] | None:
        return (self.first, self.last) if self.first and self.last else None


def seen(facts: Facts, *slugs: str, source: str | None = None, beside: Seen | None = None) -> Seen:
    """Return where any of these known texts (slugs of the catalogue) occurs, in logs of one `source` if given; `beside`
    others: if it does in their folders, in these only, as other brokers have their own.
    """
    rows = [r for r in facts.rows("known_texts") if r["event"] in slugs and source in (None, r["source"])]
    folders = {folder_of(file) for file, _ in beside.places} if beside else set()
    rows = [row for row in rows if folder_of(row["file"]) in folders] or rows
    return of_rows(rows, local_files(facts) if rows else ())


@memo
def local_files(facts: Facts) -> set[str]:
    """Return the files whose times are local ones of an unknown zone."""
    return zones.local(facts.zoned.items)


def of_rows(rows: Iterable[dict[str, Any]], local: Collection[str] = ()) -> Seen:
    """Return the same of rows with file, n, line, first and last; with times of `local` files if there are no others."""
    ordered = sorted(rows, key=lambda r: (r["first"] or dt.datetime.max, r["file"]))  # noqa: DTZ901 - both naive UTC
    dated = [r for r in ordered if r["first"] is not None and r["last"] is not None]
    timed = [r for r in dated if r["file"] not in local] or dated
    first, last = min((r["first"] for r in timed), default=None), max((r["last"] for r in timed), default=None)
    places, files = tuple((r["file"], r["line"]) for r in ordered), tuple(r["file"] for r in timed)
    return Seen(sum(r["n"] for r in ordered), first, last, places, files)


def quote(facts: Facts, where: Seen, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first line of these texts in up to `most` files."""
    return facts.refs(where.places[:most])


def span(first: pd.Series, last: pd.Series) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the earliest and the latest of some times, None without any."""
    begin, end = first.min(), last.max()
    return None if pd.isna(begin) or pd.isna(end) else (begin.to_pydatetime(), end.to_pydatetime())


def lines(facts: Facts, rows: pd.DataFrame, most: int = 3, which: str = "") -> tuple[Ref, ...]:
    """Quote the lines of the first rows of a frame with `file` and `line`; `which` begins the names of both."""
    first = rows.head(most)
    return facts.refs((str(f), int(n)) for f, n in zip(first[f"{which}file"], first[f"{which}line"], strict=True))


def earliest(facts: Facts, entries: pd.DataFrame, most: int = 3, *, within: str | None = None) -> tuple[Ref, ...]:
    """Quote the earliest of some entries (columns ts, file, line, message, trace): of each the first line, or with
    `within` that of its lines which contains this text first, as a folded trace has many.
    """
    first = entries.astype({"file": object}).sort_values(["ts", "file", "line"], na_position="first").head(most)
    quoted = []
    for file, line, *texts in first[["file", "line", "message", "trace"]].itertuples(index=False):
        ref = facts.ref(file, int(line))
        message, trace = (cell if isinstance(cell, str) else "" for cell in texts)
        if within and within not in message and within in trace:
            # The trace of a JSON entry has lines that the file has not.
            with contextlib.suppress(IndexError):
                inner = facts.ref(file, int(line) + 1 + trace.split(within)[0].count("\n"))
                ref = inner if within in inner.text else ref
        quoted.append(ref)
    return tuple(quoted)


def first_with(facts: Facts, file: str, text: str) -> Ref | None:
    """Quote the first line of a small text file with `text`, None if absent."""
    line = quotes.first_with(facts.files, file, text)
    return None if line is None else facts.ref(file, line)


# --- records ----------------------------------------------------------------------------------------------------------

SHOWN: Final = (
    "REAL_TOPIC", "TRAN_MSG", "DELAY", "RETRY_TOPIC", "TRANSACTION_CHECK_TIMES", "RECONSUME_TIME", "UNIQ_KEY",
    "KEYS",
)  # fmt: skip
"""Properties that a quoted record shows: those that make it a half message, a delayed one, a retry, or name it."""
PRINTED: Final = (
    "file", "physical_offset", "topic", "queue_id", "queue_offset", "sys_flag", "store_size", "reconsume_times",
    "prepared_transaction_offset", "offset_msg_id", *(COLUMN_OF[name] for name in SHOWN),
)  # fmt: skip


def records_at(facts: Facts, frame: pd.DataFrame, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first records, by store time, of a frame with store_timestamp, file and physical_offset."""
    places = frame[["store_timestamp", "file", "physical_offset"]].astype({"file": object})
    first = places.dropna(subset=["file", "physical_offset"]).sort_values(places.columns.tolist()).head(most)
    return tuple(record(facts, file, at) for file, at in zip(first["file"], first["physical_offset"], strict=True))


def record(facts: Facts, file: str, physical_offset: int) -> Ref:
    """Quote one record in the form of RocketMQ's own printout."""
    row = facts.record(file, int(physical_offset), PRINTED)
    properties = ", ".join(f"{name}={value}" for name in SHOWN if (value := row[COLUMN_OF[name]]) is not None)
    text = (
        f"topic={row['topic']}, queueId={row['queue_id']}, queueOffset={row['queue_offset']}, sysFlag={row['sys_flag']}, "
        f"storeSize={row['store_size']}, reconsumeTimes={row['reconsume_times']}, "
        f"preparedTransactionOffset={row['prepared_transaction_offset']}, msgId={row['offset_msg_id']}, "
        f"properties={{{properties}}}"
    )
    return Ref(row["file"], text, physical_offset=row["physical_offset"])


def transactions(frame: pd.DataFrame, text: str, most: int, which: str = "") -> tuple[Ref, ...]:
    """Quote the first rows by `text`, a format of their columns; `which` begins the names of their place."""
    return tuple(
        Ref(row[f"{which}file"], text.format_map(row), physical_offset=int(row[f"{which}physical_offset"]))
        for row in frame.astype({f"{which}file": object}).head(most).to_dict("records")
    )


def with_times(row: Any, *more: str) -> Ref:
    """Quote a row (of `itertuples`) with the moments, in UTC, at which its message was sent and stored, and `more`."""
    born, stored = (at.isoformat(sep=" ", timespec="milliseconds") for at in (row.born_timestamp, row.store_timestamp))
    place = f"topic={row.topic}, queueId={row.queue_id}, queueOffset={row.queue_offset}"
    times = f"bornTimestamp={born}, storeTimestamp={stored}, msgId={row.offset_msg_id}"
    return Ref(str(row.file), ", ".join((place, times, *more)), physical_offset=int(row.physical_offset))
