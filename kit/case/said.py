"""What log entries with known texts say, without Spark: the values that the texts' patterns take out of them.

The same rows and values as `kit.spark.known_texts` gives to Spark, for questions whose answer is read or counted here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.case import scan
from kit.rocketmq.log_events.catalogue import BY_SLUG

if TYPE_CHECKING:
    import pyarrow.dataset as ds

    from kit.case.case import Case

PLACE: Final = ("file", "source", "line", "ts")
MOST: Final = 200_000
"""Different statements kept; more are never read by a person, and what is asked of them is first, last and how often."""
AT_ONCE: Final = 32 << 20
"""Bytes of different texts that are looked at together."""
_SUMS: Final = (("n", "sum"), ("first", "min"), ("last", "max"), ("line", "min"), ("last_line", "max"))
Marks = Mapping[str, Sequence[str]]


def rows(
    case: Case,
    slugs: Sequence[str],
    columns: Sequence[str] = PLACE,
    where: ds.Expression | None = None,
    marks: Marks | None = None,
    *,
    values: bool = True,
) -> Iterator[pa.Table]:
    """Yield the entries with any of these texts: `columns`, `event` (the first of `slugs` that is in the entry), one text for each value.

    Values of the same name in several patterns share a column, and get `_said` behind a name that is in `columns`. `marks`: {column: words}, true
    where message or trace holds one of the words; `values`: false for entries alone. Raise `KeyError` for a slug that is not in the catalogue.
    """
    for batch in scan.hits(case, slugs, list(dict.fromkeys([*columns, "message", "trace", "events"])), where):
        whole = scan.texts(batch)
        shown = {name: plain(batch[name]) for name in columns}
        shown |= {name: pa.array(contains(whole, words)) for name, words in (marks or {}).items()}
        yield pa.table(shown | (scan.said_in(batch["events"], whole, slugs, [*columns, "event"]) if values else {}))


def contains(whole: pa.Array, words: Sequence[str]) -> np.ndarray:
    """Return for each text whether one of these words is in it."""
    coded = whole.dictionary_encode()
    found = pc.match_substring_regex(coded.dictionary, "|".join(map(re.escape, words))).take(coded.indices)
    held: np.ndarray = found.to_numpy(zero_copy_only=False)
    return held


def matched(texts: pa.Array, pattern: str) -> np.ndarray:
    """Return the group `it` of a pattern in each text, None where it is not found."""
    nothing: Any = None
    coded = texts.dictionary_encode()
    each = pc.struct_field(pc.extract_regex(coded.dictionary, pattern), "it")
    found: np.ndarray = each.take(coded.indices).to_numpy(zero_copy_only=False)
    return np.where(found == "", nothing, found)


def plain(column: Any) -> Any:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def values(slug: str, text: pa.Array, here: np.ndarray) -> dict[str, np.ndarray]:
    """Return the values of one text in each entry that holds it, None in all others."""
    found = {name: np.full(len(text), None, object) for name in BY_SLUG[slug].groups}
    for name, each in scan.values(BY_SLUG[slug], text.filter(pa.array(here))):
        found[name][here] = each
    return found


def frame(
    case: Case,
    slugs: Sequence[str],
    columns: Sequence[str] = PLACE,
    where: ds.Expression | None = None,
    marks: Marks | None = None,
    *,
    values: bool = True,
) -> pd.DataFrame:
    """Return the rows of `rows` as a frame, times in naive UTC; with all its columns where no entry has one."""
    parts = list(rows(case, slugs, columns, where, marks, values=values))
    return _frame(pa.concat_tables(parts) if parts else _none(case, slugs, columns, marks))


def _frame(table: pa.Table) -> pd.DataFrame:
    found = table.to_pandas(integer_object_nulls=True)
    for name in table.schema.names:
        if pa.types.is_timestamp(table.schema.field(name).type):
            found[name] = found[name].dt.tz_localize(None)
    return found


def _none(case: Case, slugs: Sequence[str], columns: Sequence[str], marks: Marks | None) -> pa.Table:
    kept = scan.dataset(case, "logs").schema.empty_table().select(list(columns))
    empty = {name: plain(kept[name].combine_chunks()) for name in columns}
    empty |= {name: pa.array([], pa.bool_()) for name in marks or {}}
    no_text = pa.array([], pa.string())
    return pa.table(empty | scan.said_in(pa.array([], pa.list_(pa.string())), no_text, slugs, [*columns, "event"]))


def counted(
    case: Case,
    slugs: Sequence[str],
    *,
    by: Sequence[str] | None = None,
    ranges: Sequence[str] = (),
    each: Sequence[str] = (),
    marks: Marks | None = None,
) -> pd.DataFrame:
    """Return every different statement with these texts once: file, source, `event` and its values; `n` (entries), `line` and `last_line`, `first` and
    `last` (naive UTC, null without times).

    `by`: the values that make a statement another one (default: all but `ranges`); `ranges`: numbers of which the least and greatest are
    kept, as `low_` and `high_`; `each`: texts of which every entry is a statement, by its `own`, the line.
    """
    parts: list[pa.Table] = []
    alone = [slugs.index(slug) for slug in each]

    def line(batch: pa.RecordBatch) -> pa.Array:
        return pc.if_else(pa.array(np.isin(scan.firsts(batch["events"], slugs), alone)), batch["line"], None)

    for table in told(case, slugs, line, by, ranges, marks):
        parts.append(table)
        if sum(map(len, parts)) > 4 * MOST:
            parts = [_summed(pa.concat_tables(parts)).slice(0, 2 * MOST)]
    if not parts:
        empty = _none(case, slugs, PLACE, marks)
        numbers = [f"{end}_{name}" for name in ranges if name in empty.schema.names for end in ("low", "high")]
        made = {name: pa.array([], pa.int64()) for name in ("n", "last_line", "own", *numbers)}
        same = {name: empty[name] for name in _same(empty.schema.names, by, ranges, marks)}
        return _frame(pa.table(same | made | {"first": empty["ts"], "last": empty["ts"]}))
    summed = _summed(pa.concat_tables(parts)).slice(0, MOST)
    found = _frame(pa.table({name: plain(summed[name]) for name in summed.schema.names}))
    return found.sort_values(["first", "file", "line"], ignore_index=True)


def told(
    case: Case,
    slugs: Sequence[str],
    own: Callable[[pa.RecordBatch], pa.Array],
    by: Sequence[str] | None = None,
    ranges: Sequence[str] = (),
    marks: Marks | None = None,
) -> Iterator[pa.Table]:
    """Yield what `counted` sums, many entries together: each different text of a file once, its values dictionary-coded. What `own` says of an entry
    makes it another one. Logs say many things again and again: values are looked for in each text once.
    """
    held: list[tuple[pa.Table, pa.Array, pa.Array]] = []
    for batch in scan.hits(case, slugs, [*PLACE, "message", "trace", "events"]):
        whole = scan.texts(batch).dictionary_encode()
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
    """Return rows of `told` that go by the place of their text, given the texts and their events, with the values in these."""
    tables, texts, events = zip(*held, strict=True)
    whole = pa.concat_arrays(texts).dictionary_encode()
    _, place = np.unique(whole.indices, return_index=True)
    said_in = scan.said_in(pa.concat_arrays(events).take(pa.array(place)), whole.dictionary, slugs, [*PLACE, "event"])
    marked = {name: pa.array(contains(whole.dictionary, words)) for name, words in (marks or {}).items()}
    kept = _same([*PLACE, *marked, *said_in], by, ranges, marks)
    shown = marked | {name: column.dictionary_encode() for name, column in said_in.items() if name in kept}
    shown |= {f"{end}_{name}": _number(said_in[name]) for name in ranges if name in said_in for end in ("low", "high")}
    before = np.cumsum([0, *map(len, texts[:-1])])
    at = np.concatenate([found["text"].to_numpy() + n for found, n in zip(tables, before, strict=True)])
    text = whole.indices.take(pa.array(at))
    rows = pa.concat_tables(tables)
    alike = [name for name in (*kept, "own", *dict(_SUMS)) if name in rows.schema.names]
    return pa.table({name: rows[name] for name in alike} | {name: column.take(text) for name, column in shown.items()})


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


def grouped(table: pa.Table, by: list[str], asked: Sequence[tuple[str, Any]]) -> pa.Table:
    """Return a row for each value of `by`, with what was `asked` of other columns, (column, function), under the column's own name."""
    table = table.unify_dictionaries()
    # A column without any value tells no two rows apart, and looking at it costs as much as at another.
    empty = {name: table.schema.field(name).type for name in by if table[name].null_count == len(table) > 0}
    coded = {}
    for name in (name for name in by if pa.types.is_dictionary(table.schema.field(name).type) and len(table)):
        # Numbers are told apart faster than texts.
        coded[name] = table[name].chunk(0).dictionary
        numbers = pa.chunked_array([chunk.indices for chunk in table[name].chunks])
        table = table.set_column(table.schema.get_field_index(name), name, numbers)
    answered = table.group_by([name for name in by if name not in empty], use_threads=False).aggregate(list(asked))
    columns = {name: pa.nulls(len(answered), empty[name]) if name in empty else answered[name] for name in by}
    columns |= {
        name: pa.DictionaryArray.from_arrays(answered[name].combine_chunks(), values)
        for name, values in coded.items()
        if name not in empty
    }
    return pa.table(columns | {name: answered[f"{name}_{how}"] for name, how in asked})
