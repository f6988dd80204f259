"""Statements of the logs, each once however often it was printed: how often, when first and last, and the range of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.case import log_events
from kit.case.columnar import decoded, grouped
from kit.case.datasets import dataset
from kit.case.log_events import PLACE, Marks, contains

if TYPE_CHECKING:
    from kit.case.case import Case

MOST: Final = 200_000
"""Different statements kept; more are never read by a person, and what is asked of them is first, last and how often."""
AT_ONCE: Final = 32 << 20
"""Bytes of different texts that are looked at together."""
_SUMS: Final = (("n", "sum"), ("first", "min"), ("last", "max"), ("line", "min"), ("last_line", "max"))


def counted(
    case: Case,
    slugs: Sequence[str],
    *,
    by: Sequence[str] | None = None,
    ranges: Sequence[str] = (),
    each: Sequence[str] = (),
    marks: Marks | None = None,
) -> pd.DataFrame:
    """Return every statement with these texts once: file, source, `event` and its values; `n` (entries), `line` and `last_line`, `first` and
    `last` (naive UTC, null without times).

    `by`: the values that tell statements apart (default: all but `ranges`); `ranges`: numbers whose minimum and maximum are kept, as
    `low_` and `high_`; `each`: texts of which every entry is a statement of its own, with its line in `own`.
    """
    parts: list[pa.Table] = []
    alone = [slugs.index(slug) for slug in each]

    def line(batch: pa.RecordBatch) -> pa.Array:
        return pc.if_else(pa.array(np.isin(log_events.firsts(batch["events"], slugs), alone)), batch["line"], None)

    for table in batches(case, slugs, line, by, ranges, marks):
        parts.append(table)
        if sum(map(len, parts)) > 4 * MOST:
            parts = [_summed(pa.concat_tables(parts)).slice(0, 2 * MOST)]
    if not parts:
        empty = _no_rows(case, slugs, marks)
        numbers = [f"{end}_{name}" for name in ranges if name in empty.schema.names for end in ("low", "high")]
        made = {name: pa.array([], pa.int64()) for name in ("n", "last_line", "own", *numbers)}
        same = {name: empty[name] for name in _same(empty.schema.names, by, ranges, marks)}
        return _frame(pa.table(same | made | {"first": empty["ts"], "last": empty["ts"]}))
    summed = _summed(pa.concat_tables(parts)).slice(0, MOST)
    found = _frame(pa.table({name: decoded(summed[name]) for name in summed.schema.names}))
    return found.sort_values(["first", "file", "line"], ignore_index=True)


def batches(
    case: Case,
    slugs: Sequence[str],
    own: Callable[[pa.RecordBatch], pa.Array],
    by: Sequence[str] | None = None,
    ranges: Sequence[str] = (),
    marks: Marks | None = None,
) -> Iterator[pa.Table]:
    """Yield what `counted` sums, many entries together: each different text of a file once, its values dictionary-encoded. Entries with another
    value of `own` are told apart. Logs repeat themselves: each text is searched for its values once.
    """
    held: list[tuple[pa.Table, pa.Array, pa.Array]] = []
    for batch in log_events.hits(case, slugs, [*PLACE, "message", "trace", "events"]):
        whole = log_events.texts(batch).dictionary_encode()
        text, line, time = whole.indices, batch["line"], batch["ts"]
        rows = {"file": batch["file"], "source": batch["source"], "own": own(batch), "text": text}
        sums = {"n": pa.repeat(1, len(batch)), "first": time, "last": time, "line": line, "last_line": line}
        _, place = np.unique(text, return_index=True)
        found = grouped(pa.table(rows | sums), list(rows), _SUMS)
        held.append((found, whole.dictionary, batch["events"].take(pa.array(place))))
        if sum(texts.nbytes for _, texts, _ in held) > AT_ONCE:
            yield _valued(held, slugs, by, ranges, marks)
            held = []
    if held:
        yield _valued(held, slugs, by, ranges, marks)


def _valued(
    held: Sequence[tuple[pa.Table, pa.Array, pa.Array]],
    slugs: Sequence[str],
    by: Sequence[str] | None,
    ranges: Sequence[str],
    marks: Marks | None,
) -> pa.Table:
    """Return rows of `batches` with the values in their texts, given (rows with the index of their text, texts, their events)."""
    tables, texts, events = zip(*held, strict=True)
    whole = pa.concat_arrays(texts).dictionary_encode()
    _, place = np.unique(whole.indices, return_index=True)
    printed = log_events.values_in(
        pa.concat_arrays(events).take(pa.array(place)), whole.dictionary, slugs, [*PLACE, "event"]
    )
    marked = {name: pa.array(contains(whole.dictionary, words)) for name, words in (marks or {}).items()}
    kept = _same([*PLACE, *marked, *printed], by, ranges, marks)
    shown = marked | {name: column.dictionary_encode() for name, column in printed.items() if name in kept}
    shown |= {f"{end}_{name}": _number(printed[name]) for name in ranges if name in printed for end in ("low", "high")}
    before = np.cumsum([0, *map(len, texts[:-1])])
    at = np.concatenate([found["text"].to_numpy() + n for found, n in zip(tables, before, strict=True)])
    text = whole.indices.take(pa.array(at))
    rows = pa.concat_tables(tables)
    alike = [name for name in (*kept, "own", *dict(_SUMS)) if name in rows.schema.names]
    return pa.table({name: rows[name] for name in alike} | {name: column.take(text) for name, column in shown.items()})


def _frame(table: pa.Table) -> pd.DataFrame:
    """Return rows with whole numbers as such, None where there is no number, and times in naive UTC."""
    found = table.to_pandas(integer_object_nulls=True)
    for name in table.schema.names:
        if pa.types.is_timestamp(table.schema.field(name).type):
            found[name] = found[name].dt.tz_localize(None)
    return found


def _no_rows(case: Case, slugs: Sequence[str], marks: Marks | None) -> pa.Table:
    logs = dataset(case, "logs").schema.empty_table().select(list(PLACE))
    empty = {name: decoded(logs[name].combine_chunks()) for name in PLACE}
    empty |= {name: pa.array([], pa.bool_()) for name in marks or {}}
    no_text = pa.array([], pa.string())
    return pa.table(
        empty | log_events.values_in(pa.array([], pa.list_(pa.string())), no_text, slugs, [*PLACE, "event"])
    )


def _same(names: Sequence[str], by: Sequence[str] | None, ranges: Sequence[str], marks: Marks | None) -> list[str]:
    """Return the columns of `rows` that `counted` keeps as they are."""
    kept = (*PLACE, "event", *(marks or {}), *by) if by is not None else names
    return [name for name in names if name in kept and name not in ("ts", *ranges)]


def _number(texts: pa.Array) -> pa.Array:
    fits = pc.match_substring_regex(texts, r"^-?\d{1,18}$")
    return pc.if_else(fits, texts, None).cast(pa.int64())


def _summed(table: pa.Table) -> pa.Table:
    sums: list[tuple[str, Any]] = [(name, how) for name, how in _SUMS]
    sums += [(name, "min") for name in table.schema.names if name.startswith("low_")]
    sums += [(name, "max") for name in table.schema.names if name.startswith("high_")]
    return grouped(table, [name for name in table.schema.names if name not in dict(sums)], sums)
