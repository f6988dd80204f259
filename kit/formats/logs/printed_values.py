"""What known texts print: the values in log entries, taken out by the patterns of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.rocketmq.catalogue import EVENTS, Event

_BOUND: Final = re.compile(r"\{([01]),\d{4,}\}")
VALUES: Final = pa.map_(pa.string(), pa.string())


def of(entries: pa.RecordBatch, place: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield for each known text of these entries (columns `place`, message, trace, events) their place, `event` and `values`."""
    listed = entries["events"]
    at, slugs = pc.list_parent_indices(listed), pc.list_flatten(listed).dictionary_encode()
    text = pc.binary_join_element_wise(entries["message"], entries["trace"], "\n", null_handling="skip")
    # Logs say many things again and again: each different text is searched once, and once for all known texts that print the same values.
    coded = text.dictionary_encode()
    alike: dict[str, list[int]] = {}
    for number, slug in enumerate(slugs.dictionary.to_pylist()):
        alike.setdefault(EVENTS[slug].pattern if slug in EVENTS else "", []).append(number)
    for numbers in alike.values():
        event = EVENTS.get(slugs.dictionary[numbers[0]].as_py())
        chosen = pc.is_in(slugs.indices, pa.array(numbers, pa.int32()))
        rows = at.filter(chosen)
        columns = [*entries.select(list(place)).take(rows).columns, slugs.filter(chosen).dictionary_decode()]
        values = _values(event, coded.take(rows)) if event and event.groups else pa.nulls(len(rows), VALUES)
        yield pa.RecordBatch.from_arrays([*columns, values], names=[*place, "event", "values"])


def _values(event: Event, texts: pa.DictionaryArray) -> pa.Array:
    searched = texts.indices.unique()
    columns = _groups(event, texts.dictionary.take(searched))
    width, size = len(columns), len(searched)
    names = pa.array(event.groups, pa.string()).take(pa.array(np.tile(np.arange(width), size)))
    by_text = np.arange(width * size).reshape(width, size).T.ravel()
    values = pa.concat_arrays(columns).take(pa.array(by_text))
    ends: Any = pa.array(np.arange(0, size * width + 1, width, dtype=np.int32))
    return pa.MapArray.from_arrays(ends, names, values).take(pc.index_in(texts.indices, searched))


def _groups(event: Event, texts: pa.Array) -> list[pa.Array]:
    """Return each value of an event in each text, null where it is not printed or empty."""
    try:
        # A bound keeps Python from trying for ever; RE2 reads a text once, and counts to a thousand only.
        found = pc.extract_regex(texts, _BOUND.sub(lambda bound: "*" if bound[1] == "0" else "+", event.pattern))
        columns = [pc.struct_field(found, name) for name in event.groups]
    except pa.ArrowInvalid:  # RE2 looks at nothing ahead
        hits = [event.compiled.search(text) for text in texts.to_pylist()]
        columns = [pa.array([hit[name] if hit else None for hit in hits], pa.string()) for name in event.groups]
    return [pc.if_else(pc.equal(column, ""), None, column) for column in columns]
