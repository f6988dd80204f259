"""References: the few lines and records that support a claim, out of many.

The table `known_texts` has counts, times and first places (`seen`); lines and records are quoted from the raw bytes.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any

import attrs
import pandas as pd

from kit.formats.commitlog.schema import promoted
from kit.inventory.references import Ref
from kit.tables.facts import Facts


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


def seen(facts: Facts, *slugs: str, outside: Collection[str] = ()) -> Seen:
    """Return where any of these known texts (slugs of the catalogue) occurs, without files in the folders `outside`."""
    rows = [
        row
        for row in facts.rows("known_texts")
        if row["event"] in slugs and str(PurePosixPath(row["file"]).parent) not in outside
    ]
    return of_rows(slugs, rows)


def of_rows(slugs: tuple[str, ...], rows: list[dict[str, Any]]) -> Seen:
    """Return the same by rows of `known_texts`, or others with file, source, n, line, first and last."""
    rows.sort(key=lambda r: (r["first"] or dt.datetime.max, r["file"]))  # noqa: DTZ901 - both naive UTC
    firsts = [r["first"] for r in rows if r["first"] is not None]
    lasts = [r["last"] for r in rows if r["last"] is not None]
    return Seen(
        slug=",".join(slugs), count=sum(r["n"] for r in rows), first=min(firsts, default=None),
        last=max(lasts, default=None), places=tuple((r["file"], r["line"]) for r in rows),
        sources=frozenset(r["source"] for r in rows if r["source"]),
    )  # fmt: skip


def count(facts: Facts, slug: str, source: str) -> int:
    """Return how many entries of one source (`client`, `transaction`, …) hold a known text."""
    return sum(row["n"] for row in facts.rows("known_texts") if row["event"] == slug and row["source"] == source)


def quote(facts: Facts, where: Seen, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first line of this text in up to `most` files."""
    return facts.refs(where.places[:most])


def lines(facts: Facts, rows: pd.DataFrame, most: int = 3) -> tuple[Ref, ...]:
    """Quote the lines of the first rows of a frame with `file` and `line`."""
    return facts.refs(_places(rows, most))


ROWS_OF_A_BLOCK = 24
"""Most rows that a block of iostat, vmstat or sar has below its head."""


def measured(facts: Facts, rows: pd.DataFrame, most: int) -> tuple[Ref, ...]:
    """Quote rows of host metrics, each behind the head of its block: the nearest line above without a number."""
    quoted: list[Ref] = []
    for file, line in _places(rows, most):
        *above, row = facts.refs((file, n) for n in range(max(1, line - ROWS_OF_A_BLOCK), line + 1))
        heads = [ref for ref in above if ref.text.strip() and not re.search(r"(?<![\w%])\d", ref.text)]
        quoted += [*heads[-1:], row]
    return tuple(dict.fromkeys(quoted))


def gaps(facts: Facts, rows: pd.DataFrame, most: int) -> tuple[Ref, ...]:
    """Quote the lines on both sides of gaps, given by the line behind each."""
    return facts.refs((file, n) for file, line in _places(rows, most) for n in (line - 1, line) if n)


def _places(rows: pd.DataFrame, most: int) -> list[tuple[str, int]]:
    return [(str(row["file"]), int(row["line"])) for row in rows[["file", "line"]].head(most).to_dict("records")]


QUOTED = ("ts", "file", "line", "message", "trace")
"""Columns of entries that are quoted."""


def earliest(facts: Facts, entries: pd.DataFrame, most: int = 3, *, within: str | None = None) -> tuple[Ref, ...]:
    """Quote the earliest of some entries, a frame with the columns of `QUOTED`.

    `within`: the quoted line is the first one of the entry that contains this text (a folded trace has many).
    """
    first = entries.astype({"file": object}).sort_values(["ts", "file", "line"], na_position="first").head(most)
    return tuple(
        entry(facts, row["file"], int(row["line"]), text(row["message"]), text(row["trace"]), within)
        for row in first.to_dict("records")
    )


def text(cell: Any) -> str | None:
    """Return a text of a frame, None for whatever pandas keeps where there is none."""
    return cell if isinstance(cell, str) else None


def entry(facts: Facts, file: str, line: int, message: str | None, trace: str | None, within: str | None) -> Ref:
    """Quote one entry, or the line of its folded trace that contains `within`."""
    if within and within not in (message or "") and within in (trace or ""):
        inner = line + 1 + (trace or "").split(within)[0].count("\n")
        # The trace of a JSON entry has lines that the file has not.
        with contextlib.suppress(IndexError):
            if within in (text := facts.lines([(file, inner)])[0]):
                return Ref(file, text, line=inner)
    return facts.ref(file, line)


def first_with(facts: Facts, file: str, text: str) -> Ref | None:
    """Quote the first line of a small text file with `text`, None if absent."""
    line = facts.first_with(file, text)
    return None if line is None else facts.ref(file, line)


SHOWN = (
    "REAL_TOPIC", "TRAN_MSG", "DELAY", "RETRY_TOPIC", "TRANSACTION_CHECK_TIMES", "RECONSUME_TIME", "UNIQ_KEY",
    "KEYS",
)  # fmt: skip
"""Properties that a quoted record shows: those that make it a half message, a delayed one, a retry, or name it."""
PRINTED = (
    "file", "physical_offset", "topic", "queue_id", "queue_offset", "sys_flag", "store_size", "reconsume_times",
    "prepared_transaction_offset", "offset_msg_id", *map(promoted, SHOWN),
)  # fmt: skip


def records_at(facts: Facts, frame: pd.DataFrame, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first records, by store time, of a frame with store_timestamp, file and physical_offset."""
    places = frame[["store_timestamp", "file", "physical_offset"]].astype({"file": object})
    places = places.dropna(subset=["file", "physical_offset"])
    first = places.sort_values(["store_timestamp", "file", "physical_offset"]).head(most)
    return tuple(
        record(facts.record(file, int(offset), PRINTED))
        for file, offset in zip(first["file"], first["physical_offset"], strict=True)
    )


def stored_at(facts: Facts, file: str, physical_offset: int) -> dt.datetime | None:
    """Return when a record was stored, None where that cannot be read or is no time."""
    with contextlib.suppress(KeyError, OSError, ValueError, OverflowError):
        at: dt.datetime | None = facts.record(file, physical_offset, ("store_timestamp",))["store_timestamp"]
        return at
    return None


def transactions(frame: pd.DataFrame, said: str, most: int, which: str = "") -> tuple[Ref, ...]:
    """Quote the records of the first rows by `said`, a format of their columns. `which` begins the names of the columns with file and offset."""
    return tuple(
        Ref(row[f"{which}file"], said.format_map(row), physical_offset=int(row[f"{which}physical_offset"]))
        for row in frame.astype({f"{which}file": object}).head(most).to_dict("records")
    )


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
