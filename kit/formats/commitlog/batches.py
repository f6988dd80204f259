"""Records → Arrow record batches with the columns of `messages`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.arrow_types import TIMESTAMP, space, taken
from kit.formats.commitlog import bodies, coding, lineage, promoted, properties, strings
from kit.formats.commitlog import columns as c
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.schema import LINEAGE, PROMOTED, PROMOTED_COLUMNS, TEXT, TRACED, Wanted, schema
from kit.formats.commitlog.schema import promoted as promoted_column
from kit.rocketmq import binary_format as f
from kit.rocketmq import names as rocketmq

_CODECS: Final = pa.array(["none", "zlib", "lz4", "zstd"])
_LONGS: Final = {"queue_offset": c.QUEUE_OFFSET, "prepared_transaction_offset": c.PREPARED}
_INTS: Final = {
    "queue_id": c.QUEUE_ID,
    "flag": c.FLAG,
    "sys_flag": c.SYS_FLAG,
    "reconsume_times": c.RECONSUME,
    "body_crc": c.CRC,
}
_TIMES: Final = {"born_timestamp": c.BORN_TIME, "store_timestamp": c.STORE_TIME}
_HOSTS: Final = {"born_host": c.BORN, "store_host": c.STORE}
_CODED: Final = {"topic": c.TOPIC, "tags": c.TAGS}
_TEXTS: Final = {"keys": c.KEYS, "uniq_key": c.UNIQ}
_OWN: Final = {rocketmq.KEYS: c.KEYS, rocketmq.TAGS: c.TAGS, rocketmq.UNIQ_KEY: c.UNIQ}
_NOTED: Final = (*_OWN, *PROMOTED)
_NAMES: Final = promoted.Names.of((*_NOTED, *(name for name in rocketmq.PROPERTIES if name not in _NOTED)))
_NTH: Final = {column: n for n, column in enumerate(PROMOTED_COLUMNS)}
_TRACES: Final = tuple(f"{kind}{chr(f.TRACE_FIELD)}".encode() for kind in rocketmq.TRACE_TYPES)
_TRACE_DATA: Final = np.frombuffer(b"".join(_TRACES), np.uint8)
_TRACE_ENDS: Final = np.cumsum([0, *map(len, _TRACES)])
BODY_BATCH: Final = 32 << 20
"""How many bytes of unpacked bodies are handed on at once."""


class Rows:
    """The records of one batch: their fixed fields, and the positions of their strings."""

    def __init__(self, buf: Bytes, starts: np.ndarray, sizes: np.ndarray, marks: np.ndarray, base: int) -> None:
        """Read the fixed fields of the records at `starts`."""
        count = len(starts)
        self.buf, self.sizes, self.marks = buf, sizes.copy(), marks.astype(np.int32)
        self.physical = starts + base
        # One row per field: each row is an Arrow buffer as it is.
        self.longs = space((4, count), np.int64)
        self.ints = space((7, count), np.int32)
        self.where = space((c.WIDTH, count), np.int64)
        c.headers(buf, starts, self.longs, self.ints, self.where, self.marks)
        self._numbers: dict[int, coding.Coded] = {}
        # Filled by `_find`.
        self.spots, self.untidy, self.lengths = space((0, 0), np.int16), space(0, np.uint8), space(0, np.int64)
        self._values: list[coding.Coded] = []
        self._words: list[pa.Array] = []

    def __len__(self) -> int:
        return len(self.sizes)

    def keep(self, wanted: Wanted) -> None:
        """Drop the rows that a filter excludes before any column is built."""
        mask = np.ones(len(self), bool)
        if wanted.offsets:
            mask &= (self.physical >= wanted.offsets[0]) & (self.physical <= wanted.offsets[1])
        if wanted.times:
            time = self.longs[c.STORE_TIME]
            mask &= (time >= wanted.times[0]) & (time <= wanted.times[1])
        if wanted.topics is not None:
            mask &= self.in_topics(wanted.topics)
        self.select(mask)

    def in_topics(self, topics: frozenset[str]) -> np.ndarray:
        """Return which rows are of one of these topics."""
        coded = self._numbered(c.TOPIC)
        known = self._texts(c.TOPIC, self.where[:, coded.firsts])[0].to_pylist()
        return np.array([topic in topics for topic in known], bool)[coded.codes]

    def traced(self, topics: frozenset[str]) -> np.ndarray:
        """Return which rows are message traces: those in these topics, and those whose body begins like one (in a topic
        of the application's own).
        """
        mask = self.in_topics(topics)
        c.begins(self.buf, self.where, self.ints, _TRACE_DATA, _TRACE_ENDS, mask)
        return mask

    def select(self, mask: np.ndarray) -> None:
        """Keep only the rows where `mask` is true."""
        if not mask.all():
            self._numbers.clear()
            for name in ("sizes", "marks", "physical", "longs", "ints", "where"):
                setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., mask]))

    def _order(self, order: np.ndarray) -> None:
        """Reorder the rows; `_find` must have run."""
        for name in ("sizes", "marks", "physical", "longs", "ints", "where"):
            setattr(self, name, taken(getattr(self, name), order))
        self.spots, self.untidy = taken(self.spots, order, 0), taken(self.untidy, order)
        self.lengths = taken(self.lengths, order)
        self._numbers = dict(zip(self._numbers, coding.ordered([*self._numbers.values()], order), strict=True))
        self._values = coding.ordered(self._values, order)

    def arrays(self, names: tuple[str, ...], file: str) -> dict[str, pa.Array]:
        """Build the columns asked for, except `body` and `problem`. If they include `LINEAGE`, the rows are grouped
        by stage.
        """
        out: dict[str, pa.Array] = {}
        asked = set(names)
        if lived := asked & set(LINEAGE):
            self._find()
            made = self._lineage()
            if len(made[0].dictionary) > 1:
                # Small numbers are sorted by counting them.
                order = np.argsort(made[0].indices.to_numpy().astype(np.int8), kind="stable")
                self._order(order)
                made = [each.take(pa.array(order)) for each in made]
            out |= zip(LINEAGE, made, strict=True)
        if "properties" in asked:
            # This also finds keys, tags and UNIQ_KEY, and marks invalid properties.
            out["properties"] = self._properties()
            asked -= {"keys", "tags", "uniq_key", "problem"}
        if not lived and asked & {TEXT, "keys", "tags", "uniq_key", "problem", *PROMOTED_COLUMNS}:
            self._find()
        if asked & {TEXT, "problem"}:
            out[TEXT] = self._properties_text()
        if "problem" in names:
            c.check_crc(self.buf, self.where, self.ints, c.CRC_TABLE, self.marks)
        for name in dict.fromkeys((*names, *((*_HOSTS, "topic") if "problem" in names else ()))):
            if name == "file":
                out[name] = coding.coded(np.zeros(len(self), np.int32), pa.array([file]), absent=False)
            elif name == "physical_offset":
                out[name] = pa.array(self.physical)
            elif name == "store_size":
                out[name] = pa.array(self.sizes.astype(np.int32))
            elif name == "body_size":
                out[name] = pa.array(self.where[c.BODY_LEN].astype(np.int32))
            elif name == "body_codec":
                codes = np.where(self.ints[c.CODEC] == c.UNKNOWN, -1, self.ints[c.CODEC]).astype(np.int32)
                out[name] = coding.coded(codes, _CODECS, absent=True)
            elif name in _LONGS:
                out[name] = pa.array(self.longs[_LONGS[name]])
            elif name in _INTS:
                out[name] = pa.array(self.ints[_INTS[name]])
            elif name in _TIMES:
                time = self.longs[_TIMES[name]]
                unknown = (time < 0) | (time > c.LAST_MS) if (self.marks & c.BAD_TIME).any() else None
                micros = (time if unknown is None else np.where(unknown, 0, time)) * 1000
                out[name] = pa.array(micros, mask=unknown).view(TIMESTAMP)
            elif name in _HOSTS:
                out[name] = self._hosts(_HOSTS[name])
            elif name in _CODED:
                coded = self._numbered(_CODED[name])
                values, broken = self._texts(_CODED[name], self.where[:, coded.firsts])
                out[name] = coded.array(values)
                if broken is not None:
                    self._mark((coded.codes >= 0) & broken[coded.codes])
            elif name in _TEXTS:
                out[name], broken = self._texts(_TEXTS[name])
                self._mark(broken)
            elif name in _NTH:
                out[name] = self._promoted(name)
            elif name == TRACED:
                out[name] = pa.array(self.traced(frozenset({rocketmq.TRACE_TOPIC})))
            elif name == "offset_msg_id":
                offsets, data = space(len(self) + 1, np.int32), space(len(self) * 56, np.uint8)
                strings.offset_ids(self.buf, self.where, c.STORE, self.physical, offsets, data)
                out[name] = strings.array(offsets, data)
        return out

    def _lineage(self) -> list[pa.Array]:
        """Build the columns of `LINEAGE`."""
        topic = self.arrays(("topic",), "")["topic"]
        transaction = self.ints[c.SYS_FLAG] & rocketmq.TRANSACTION_MASK
        fresh = (self.ints[c.RECONSUME] == 0) & (self.longs[c.PREPARED] == 0)
        target = self._promoted(promoted_column(rocketmq.REAL_TOPIC))
        return lineage.columns(topic, target, self._has, transaction, fresh)

    def _has(self, *names: str) -> np.ndarray:
        """Return which rows have one of these properties."""
        found = [self._values[_NTH[promoted_column(name)]] for name in names]
        have = reduce(np.logical_or, [each.numbers >= 0 for each in found])
        return have if found[0].which is None else have[found[0].which]

    def problems(self) -> pa.Array:
        """Return what is wrong with each record, null if nothing is."""
        if not self.marks.any():
            return pa.nulls(len(self), pa.string())
        kinds, which = np.unique(self.marks, return_inverse=True)
        said = [",".join(slug for bit, slug in c.PROBLEMS.items() if kind & bit) or None for kind in kinds]
        return pa.array(said, pa.string()).take(pa.array(which))

    def bodies(self) -> Iterator[tuple[int, int, pa.Array]]:
        """Yield (first row, row behind the last, bodies as the application wrote them), some 32 MiB at a time."""
        if not self.ints[c.CODEC].any():
            offsets, data = space(len(self) + 1, np.int32), space(int(self.where[c.BODY_LEN].sum()) + c.SLACK, np.uint8)
            c.gather(self.buf, self.where, c.BODY, offsets, data)
            yield (
                0,
                len(self),
                pa.Array.from_buffers(pa.binary(), len(self), [None, pa.py_buffer(offsets), pa.py_buffer(data)]),
            )
            return
        first = held = 0
        unpacked: list[bytes | None] = []
        for row in range(len(self)):
            at, size = self.where[c.BODY, row], self.where[c.BODY_LEN, row]
            body, mark = bodies.unpack(self.buf[at : at + size].tobytes(), int(self.ints[c.CODEC, row]))
            self.marks[row] |= mark
            unpacked.append(body)
            held += len(body or b"")
            if held >= BODY_BATCH or row + 1 == len(self):
                yield first, row + 1, pa.array(unpacked, pa.binary())
                first, held, unpacked = row + 1, 0, []

    def stored_bodies(self, topics: frozenset[str]) -> pa.Array:
        """Build the stored bodies of the records in these topics; all other records get null."""
        mask = self.in_topics(topics)
        sizes = np.where(mask, self.where[c.BODY_LEN], 0)
        offsets, data = space(len(self) + 1, np.int32), space(int(sizes.sum()) + c.SLACK, np.uint8)
        c.gather(self.buf, np.stack([self.where[c.BODY], sizes]), 0, offsets, data)
        validity = pa.py_buffer(np.packbits(mask, bitorder="little"))
        return pa.Array.from_buffers(pa.binary(), len(self), [validity, pa.py_buffer(offsets), pa.py_buffer(data)])

    def _mark(self, broken: np.ndarray | None) -> None:
        if broken is not None:
            self.marks[broken] |= c.BAD_TEXT

    def _numbered(self, column: int) -> coding.Coded:
        """Return one of the strings in `where` as numbers of its distinct values."""
        if column not in self._numbers:
            self._numbers[column] = coding.number_at(self.buf, self.where[column], self.where[column + 1])
        return self._numbers[column]

    def _hosts(self, column: int) -> pa.Array:
        coded = self._numbered(column)
        count = len(coded.firsts)
        offsets, data = space(count + 1, np.int32), space(count * strings.HOST_TEXT, np.uint8)
        marks = np.zeros(count, np.int32)
        strings.hosts(self.buf, self.where[column : column + 2, coded.firsts], offsets, data, marks, c.BAD_HOST)
        if marks.any():
            self.marks |= marks[coded.codes]
        return coded.array(strings.array(offsets, data))

    def _texts(self, column: int, where: np.ndarray | None = None) -> tuple[pa.Array, np.ndarray | None]:
        where = self.where if where is None else where
        sizes = where[column + 1]
        offsets, data = space(len(sizes) + 1, np.int32), space(int(np.maximum(sizes, 0).sum()) + c.SLACK, np.uint8)
        ascii_only = c.gather(self.buf, where, column, offsets, data)
        offsets, data, broken = (offsets, data, None) if ascii_only else strings.valid(offsets, data)
        return strings.array(offsets, data, sizes < 0), broken

    def _find(self) -> None:
        """Find the values of well-known properties, and the records whose property text cannot be kept as it is."""
        self.spots = space((len(self), 2 * len(_NOTED)), np.int16)
        self.untidy, self.lengths = np.zeros(len(self), np.uint8), space(len(self), np.int64)
        table = (_NAMES.data, _NAMES.ends, _NAMES.slots)
        own, like = 2 * len(_OWN), space(len(self), np.int32)
        into = (self.spots, self.untidy, self.lengths, like)
        promoted.find(self.buf, self.where, self.marks, c.BAD_PROPERTIES, *table, own, *into)
        self._values = coding.number(self.buf, self.where[c.PROPS], self.spots[:, own:], like)
        self._words = self._promoted_texts(own)
        for n, column in enumerate(_OWN.values()):
            self.where[column] = self.where[c.PROPS] + self.spots[:, 2 * n]
            self.where[column + 1] = self.spots[:, 2 * n + 1]

    def _promoted(self, name: str) -> pa.DictionaryArray:
        """Build one property's column."""
        return self._values[_NTH[name]].array(self._words[_NTH[name]])

    def _promoted_texts(self, own: int) -> list[pa.Array]:
        """Return the different values of each property that has a column, whose spots begin at `own`."""
        ends = np.cumsum([0, *(len(each.firsts) for each in self._values)])
        rows = np.concatenate([each.firsts for each in self._values])
        spots = own + 2 * np.repeat(np.arange(len(self._values)), np.diff(ends))
        at, sizes = self.where[c.PROPS, rows] + self.spots[rows, spots], self.spots[rows, spots + 1].astype(np.int64)
        texts = self._texts(0, np.stack([at, sizes]))[0]
        return [texts[first:last] for first, last in pairwise(ends.tolist())]

    def _properties_text(self) -> pa.Array:
        """Build the properties of each record as one text, without a separator at the end."""
        untidy, sizes = self.untidy.view(bool), self.lengths
        if rebuilt := untidy.any():
            sizes = np.where(untidy, 0, sizes)
        texts, broken = self._texts(0, np.stack([self.where[c.PROPS], sizes]))
        self._mark(broken)
        return pc.replace_with_mask(texts, pa.array(untidy), self._joined(untidy)) if rebuilt else texts

    def _joined(self, untidy: np.ndarray) -> pa.Array:
        """Build the property texts of these rows from the items that count."""
        where = np.ascontiguousarray(self.where[:, untidy])
        items = properties.Items.of(self.buf, where, np.zeros(where.shape[1], np.int32))
        offsets, data = space(where.shape[1] + 1, np.int32), space(int(where[c.PROPS_LEN].sum()), np.uint8)
        promoted.join(items.maps, items.codes, *items.names, *items.values, offsets, data)
        offsets, data, broken = strings.valid(offsets, data)
        if broken is not None:
            self._mark(np.flatnonzero(untidy)[broken])
        return strings.array(offsets, data)

    def _properties(self) -> pa.Array:
        found, broken = properties.Items.of(self.buf, self.where, self.marks).array()
        self._mark(broken)
        return found


def batch(rows: Rows, wanted: Wanted, file: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows as record batches with exactly the columns asked for, in that order."""
    arrays = rows.arrays(wanted.columns, file)
    if "body" not in wanted.columns:
        parts: Iterator[tuple[int, int, pa.Array | None]] = iter([(0, len(rows), None)])
    elif wanted.body_topics is None:
        parts = rows.bodies()
    else:
        parts = iter([(0, len(rows), rows.stored_bodies(wanted.body_topics))])
    for first, last, body in parts:
        piece = {name: array.slice(first, last - first) for name, array in arrays.items()}
        if body is not None:
            piece["body"] = body
        if "problem" in wanted.columns:
            piece["problem"] = rows.problems().slice(first, last - first)
        yield pa.RecordBatch.from_arrays([piece[name] for name in wanted.columns], schema=schema(wanted.columns))
