"""Find the texts that RocketMQ is known to print in one pass (Aho-Corasick), and take out their values."""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Final

import ahocorasick_rs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.rocketmq import catalogue
from kit.rocketmq.catalogue import EVENTS, Event

LONG: Final = 32 << 10
"""Bytes of texts from which RE2, which compiles a pattern anew for each batch, is quicker than Python."""
_MATCH: Final = 3
"""Numbers of a match: the text, where it starts and where it ends."""


class Texts:
    """Groups of texts to look for; a group is found where any of its texts is."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        texts = [(text.encode(), group) for group, each in enumerate(groups) for text in each]
        self.group = np.array([group for _, group in texts], np.int64)
        self.groups = len(groups)
        small = ahocorasick_rs.Implementation.ContiguousNFA  # stays in the caches, where a DFA of all texts does not
        self._search = ahocorasick_rs.BytesAhoCorasick([text for text, _ in texts], implementation=small)

    def find(self, *columns: pa.BinaryArray) -> tuple[np.ndarray, np.ndarray]:
        """Return (entry, group) of each group in the texts of entries (one a column), once an entry, in order."""
        hits = [np.concatenate(each) for each in zip(*map(self._hits, columns), strict=True)]
        entry, group = hits[0], self.group[hits[1]]
        _, first = np.unique(entry * self.groups + group, return_index=True)
        first = first[np.lexsort([first, entry[first]])]
        return entry[first], group[first]

    def _hits(self, texts: pa.BinaryArray) -> tuple[np.ndarray, np.ndarray]:
        """Return (entry, text found) for each text inside one of an entry."""
        ends = np.frombuffer(texts.buffers()[1] or bytes(4), np.int32)[texts.offset :][: len(texts) + 1]
        data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[: ends[-1]].data
        matches = self._search.find_matches_as_indexes(data, overlapping=True)
        hits = np.fromiter(chain.from_iterable(matches), np.int64, _MATCH * len(matches)).reshape(-1, _MATCH)
        at = np.searchsorted(ends, hits[:, 1], "right") - 1
        within = (at >= 0) & (at < len(texts))
        within[within] = hits[within, 2] <= ends[at[within] + 1]
        return at[within], hits[within, 0]


@cache
def known_texts() -> Texts:
    """Return the texts of all events and known problems."""
    return Texts([row.needles for row in catalogue.IN_LOGS])


def confirmed(entry: np.ndarray, event: np.ndarray, texts: Callable[[np.ndarray, bool], pa.Array]) -> np.ndarray:
    """Return for each (entry, event) pair whether the event's second condition holds too.

    `texts` returns message and trace of entries, with their prefix if asked: known problems may depend on the thread.
    """
    keep = np.ones(entry.size, bool)
    for number in np.unique(event).tolist():
        conditions = catalogue.IN_LOGS[number].conditions
        if not conditions:
            continue
        at = np.flatnonzero(event == number)
        searched = texts(entry[at], number >= len(catalogue.EVENTS))
        for pattern, wanted in conditions:
            keep[at] &= _matched(searched, pattern) == wanted
    return keep


def _matched(texts: pa.BinaryArray, pattern: str) -> np.ndarray:
    if texts.nbytes >= LONG:
        with contextlib.suppress(pa.ArrowInvalid):  # RE2 looks at nothing around a match
            return np.asarray(pc.match_substring_regex(texts, pattern), bool)
    compiled = re.compile(pattern.encode())
    return np.array([compiled.search(text) is not None for text in texts.to_pylist()], bool)


# --- their values -----------------------------------------------------------------------------------------------------

VALUES: Final = pa.map_(pa.string(), pa.string())
ASKED: Final = (
    "address", "address_2", "behind_ms", "broker", "broker_2", "broker_id", "brokers", "client_id", "clients",
    "commit_log_offset", "commitlog", "consumequeue", "cost", "count", "counts", "data", "group", "group_2", "group_5",
    "half_offset", "how", "id", "keys", "kind", "language", "length", "max_offset", "min_offset", "msg_id", "new",
    "next", "offset", "old", "period", "queue", "queue_id", "queue_id_2", "queue_offset", "reconsume_times",
    "requested", "role", "set", "size", "slow", "status", "stored", "timestamp", "topic", "topic_2", "uniq_key",
    "version", "what",
)  # fmt: skip
"""Values that queries ask for: in a column of their own, for one out of the map costs more than a microsecond."""
COLUMNS: Final = {f"value_{name}": pa.string() for name in ASKED} | {"values": VALUES}
"""What is printed in a known text, beside where and when."""


def printed(entries: pa.RecordBatch, place: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield for each known text of entries (`place`, message, trace, events) their place, `event` and `COLUMNS`."""
    listed = entries["events"]
    at, slugs = pc.list_parent_indices(listed), pc.list_flatten(listed).dictionary_encode()
    text = pc.binary_join_element_wise(entries["message"], entries["trace"], "\n", null_handling="skip")
    # Known texts that print the same values are searched once.
    alike: dict[str, list[int]] = {}
    for number, slug in enumerate(slugs.dictionary.to_pylist()):
        alike.setdefault(EVENTS[slug].pattern if slug in EVENTS else "", []).append(number)
    for numbers in alike.values():
        event = EVENTS.get(slugs.dictionary[numbers[0]].as_py())
        chosen = pc.is_in(slugs.indices, pa.array(numbers, pa.int32()))
        rows = at.filter(chosen)
        columns = [*entries.select(list(place)).take(rows).columns, slugs.filter(chosen).dictionary_decode()]
        values = _values(event, text.take(rows)) if event and event.groups else {}
        nothing = {kind: pa.nulls(len(rows), kind) for kind in (pa.string(), VALUES)}  # one for all columns
        columns += [values.get(name, nothing[kind]) for name, kind in COLUMNS.items()]
        yield pa.RecordBatch.from_arrays(columns, names=[*place, "event", *COLUMNS])


def _values(event: Event, texts: pa.Array) -> dict[str, pa.Array]:
    """Return the values of an event in each text by name of the column, and all of them as a map (`values`); null where
    one is not printed or empty.
    """
    coded = texts.dictionary_encode()  # logs say many things again and again
    hits = [event.compiled.search(text) for text in coded.dictionary.to_pylist()]
    rows = [{name: hit[name] or None if hit else None for name in event.groups} for hit in hits]
    columns = {f"value_{name}": pa.array([row[name] for row in rows], pa.string()) for name in event.groups}
    columns["values"] = pa.array([list(row.items()) for row in rows], VALUES)
    return {name: column.take(coded.indices) for name, column in columns.items() if name in COLUMNS}
