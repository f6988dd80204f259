"""Log entries with known texts, and the values printed in them, without Spark.

The same rows and values as `kit.spark.known_texts` gives to Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case.columnar import countable, one_chunk
from kit.case.datasets import both, dataset, times
from kit.case.memoize import once
from kit.formats.logs.schema import EVENT_FIELDS, SCHEMA
from kit.rocketmq.log_events.catalogue import BY_SLUG
from kit.spark.known_texts import free

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.rocketmq.log_events.event import Event

_LOG_COLUMNS: Final = (*SCHEMA.names, *(field.name for field in EVENT_FIELDS))
PLACE: Final = ("file", "source", "line", "ts")
"""Where and when an entry was printed."""
_TEXTS: Final = ("message", "trace")
"""Texts of which few rows are wanted: read dictionary-encoded, only those are copied."""
Marks = Mapping[str, Sequence[str]]
"""{column: words}: whether one of the words is in the entry."""


def hits(
    case: Case, slugs: Sequence[str], columns: Sequence[str], where: pc.Expression | None = None, *, cut: bool = True
) -> Iterator[pa.RecordBatch]:
    """Yield columns of the log entries with any of these texts; only row groups that have one are read.

    `where` may ask for any of `columns`. `cut`: false for entries outside the times of the case as well.
    """
    within = times(case, "logs") if cut else None
    kept = both(within, where)
    read = [name for name in dict.fromkeys([*columns, *(("ts",) if within is not None else ())]) if name != "events"]
    for part, schema, texts in _parts(case):
        asked = [texts[slug] for slug in slugs if slug in texts]
        if not asked or (within is not None and not part.subset(filter=within).row_groups):
            continue
        chosen = np.zeros(part.row_groups[0].num_rows, bool)
        chosen[np.concatenate(asked)] = True
        found = part.to_table(schema, columns=read).take(pa.array(np.flatnonzero(chosen)))
        if "events" in columns:
            found = found.append_column("events", _listed(texts, chosen))
        for name in (name for name in _TEXTS if name in read):
            found = found.set_column(found.schema.get_field_index(name), name, found[name].cast(pa.string()))
        found = (found if kept is None else found.filter(kept)).select(list(columns))
        yield from map(countable, found.combine_chunks().to_batches())


def _listed(texts: dict[str, np.ndarray], chosen: np.ndarray) -> pa.ListArray:
    """Return the known texts of the chosen rows: reading their column would take as long as reading all others."""
    each = [rows[chosen[rows]] for rows in texts.values()]
    every = np.concatenate(each)
    order = np.argsort(every, kind="stable")
    starts = np.flatnonzero(np.diff(every[order], prepend=-1))
    kinds = np.repeat(np.arange(len(each)), list(map(len, each)))[order]
    slugs = pa.array(list(texts), pa.string()).take(pa.array(kinds))
    return pa.ListArray.from_arrays(pa.array([*starts, len(every)], pa.int32()), slugs)


def _parts(case: Case) -> list[tuple[ds.ParquetFileFragment, pa.Schema, dict[str, np.ndarray]]]:
    """Return the row groups of the logs: each with its schema, and the indices of the rows with each known text."""
    return once(case, "texts by row group", lambda: list(_texts(dataset(case, "logs", _TEXTS))))


def _texts(logs: Any) -> Iterator[tuple[ds.ParquetFileFragment, pa.Schema, dict[str, np.ndarray]]]:
    for file in logs.get_fragments():
        for part in file.split_by_row_group():
            listed = one_chunk(part.to_table(logs.schema, columns=["events"])["events"])
            coded = pc.list_flatten(listed).dictionary_encode()
            rows = pc.list_parent_indices(listed).to_numpy().astype(np.int32)
            kinds = coded.indices.to_numpy()
            ends = np.cumsum(np.bincount(kinds, minlength=len(coded.dictionary)))
            each = np.split(rows[np.argsort(kinds, kind="stable")], ends)[:-1]
            yield part, logs.schema, dict(zip(coded.dictionary.to_pylist(), each, strict=True))


def entries(case: Case, slugs: Sequence[str], columns: Sequence[str], where: pc.Expression | None = None) -> pa.Table:
    """Return columns of the log entries with any of these texts."""
    kept = list(hits(case, slugs, columns, where))
    return pa.Table.from_batches(kept) if kept else dataset(case, "logs").schema.empty_table().select(list(columns))


def _no_entries(case: Case, columns: Sequence[str]) -> pa.RecordBatch:
    schema = dataset(case, "logs").schema
    return pa.RecordBatch.from_pylist([], schema=pa.schema([schema.field(name) for name in columns]))


def event(case: Case, slug: str, columns: Sequence[str] = ("file", "line")) -> pd.DataFrame:
    """Return the entries with one text as a frame, as `case.event` does: `columns`, and one for each value. Raise `KeyError` for an unknown slug."""
    return events(case, [slug], columns).drop_columns("event").to_pandas()


def events(
    case: Case,
    slugs: Sequence[str],
    columns: Sequence[str] = ("file", "line"),
    where: pc.Expression | None = None,
    *,
    marks: Marks | None = None,
    values: bool = True,
) -> pa.Table:
    """Return the entries with any of these texts: `columns`, a bool for each of `marks`, `event` (the first of `slugs`
    that is in the entry) and one text for each value, null where it is not printed.

    Values of the same name in several patterns share a column, with `_said` behind a name that the logs have. `values`:
    false for neither `event` nor values. Raise `KeyError` for a slug that is not in the catalogue.
    """
    read = list(dict.fromkeys([*columns, "message", "trace", "events"]))
    parts = []
    for batch in chain([_no_entries(case, read)], hits(case, slugs, read, where)):
        text = texts(batch)
        shown = {name: batch[name] for name in columns}
        shown |= {name: pa.array(contains(text, words)) for name, words in (marks or {}).items()}
        if values:
            shown |= values_in(batch["events"], text, slugs, [*_LOG_COLUMNS, "event"])
        parts.append(pa.table(shown))
    return pa.concat_tables(parts)


def texts(found: pa.Table | pa.RecordBatch) -> pa.Array:
    """Return the whole text of log entries: their message and the trace folded into them."""
    return one_chunk(
        pc.binary_join_element_wise(found["message"].fill_null(""), found["trace"], "\n", null_handling="skip")
    )


def holds(events: pa.Array | pa.ChunkedArray, slugs: Sequence[str]) -> np.ndarray:
    """Return for each entry whether it has one of these texts, by its `events`."""
    listed = one_chunk(events)
    held = np.zeros(len(listed), bool)
    one = pc.is_in(pc.list_flatten(listed), value_set=pa.array(slugs))
    held[pc.list_parent_indices(listed).filter(one).to_numpy(zero_copy_only=False)] = True
    return held


def firsts(events: pa.Array, slugs: Sequence[str]) -> np.ndarray:
    """Return for each entry the index in `slugs` of the first that it has, their number if it has none."""
    place = pc.index_in(pc.list_flatten(events), value_set=pa.array(slugs, pa.string())).fill_null(len(slugs))
    found = np.full(len(events), len(slugs))
    np.minimum.at(found, pc.list_parent_indices(events), place)
    return found


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


def values_in(listed: pa.Array, text: pa.Array, slugs: Sequence[str], taken: Sequence[str]) -> dict[str, pa.Array]:
    """Return `event` (the first of `slugs` that is in the entry) and each value of entries with these `events` and
    texts: of several texts with a value of one name the first that has it, `_said` behind a name that is `taken`.
    """
    parents, known = pc.list_parent_indices(listed), pc.list_flatten(listed)
    names = dict.fromkeys(["event", *(free(name, taken) for slug in slugs for name in BY_SLUG[slug].groups)])
    # Where each entry's value is among those found, -1 for none.
    places = {name: np.full(len(text), -1, np.int64) for name in names}
    parts: dict[str, list[pa.Array]] = {name: [] for name in names}
    for slug in slugs:
        rows = parents.filter(pc.equal(known, slug)).to_numpy(zero_copy_only=False)
        if not len(rows):
            continue
        printed = [(free(name, taken), each) for name, each in _printed(BY_SLUG[slug], text.take(pa.array(rows)))]
        for name, each in [("event", pa.repeat(slug, len(rows))), *dict(printed).items()]:
            new = each.is_valid().to_numpy(zero_copy_only=False) & (places[name][rows] < 0)
            places[name][rows[new]] = np.flatnonzero(new) + sum(map(len, parts[name]))
            parts[name].append(each)
    return {
        name: pa.concat_arrays(parts[name]).take(pa.array(places[name], mask=places[name] < 0))
        if parts[name]
        else pa.nulls(len(text), pa.string())
        for name in names
    }


def values(known: Event, texts: pa.Array) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (name, value in each of these texts) for each value of a known text, None where it is not printed."""
    for name, found in _printed(known, texts):
        yield name, found.to_numpy(zero_copy_only=False)


def values_where(slug: str, text: pa.Array, here: np.ndarray) -> dict[str, np.ndarray]:
    """Return {name: values} of one known text in the entries that are `here`, None in all others."""
    found = {name: np.full(len(text), None, object) for name in BY_SLUG[slug].groups}
    for name, each in values(BY_SLUG[slug], text.filter(pa.array(here))):
        found[name][here] = each
    return found


def _printed(known: Event, texts: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield what `values` does as Arrow columns."""
    if not known.groups:
        return
    # Logs say many things again and again; looking for a pattern takes longer than telling that a text was there before.
    coded = texts.dictionary_encode()
    repeated = len(coded.dictionary) * 2 < len(texts)
    each = coded.dictionary if repeated else texts
    try:
        found = pc.extract_regex(each, known.pattern)
        columns = [(name, pc.struct_field(found, name)) for name in known.groups]
    except pa.ArrowInvalid:  # RE2 looks at nothing ahead, and counts to a thousand only
        hits = [known.compiled.search(text) for text in each.to_pylist()]
        columns = [(name, pa.array([hit[name] if hit else None for hit in hits], pa.string())) for name in known.groups]
    for name, column in columns:
        value = pc.if_else(pc.equal(column, ""), None, column)
        yield name, value.take(coded.indices) if repeated else value
