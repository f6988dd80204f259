"""Records → Arrow record batches with the columns of `messages`."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Iterator
from functools import cached_property, lru_cache, reduce
from typing import Any, Final, NamedTuple

import lz4.frame
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from kit.formats.commitlog import columns as c
from kit.formats.commitlog.columns import BAD_BODY, BIG_BODY, LZ4, PLAIN, ZLIB, ZSTD, gather
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.schema import LINEAGE, PROMOTED, TEXT, TRACED, Wanted, promoted, schema
from kit.formats.values import TIMESTAMP
from kit.rocketmq import binary_format as f
from kit.rocketmq import names as rocketmq
from kit.rocketmq import stages

_HEX: Final = np.frombuffer(b"".join(b"%02X" % byte for byte in range(256)), np.uint16)
MAPPED: Final = bytes(10) + b"\xff\xff"
"""How an IPv6 address begins that is an IPv4 address."""


def binary(buf: Bytes, at: np.ndarray, sizes: np.ndarray) -> pa.BinaryArray:
    """Return the bytes at these positions; size -1 is null."""
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(np.maximum(sizes, 0), out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    gather(buf, at, offsets, data)
    absent = sizes < 0
    validity = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    return pa.Array.from_buffers(pa.binary(), len(sizes), [validity, pa.py_buffer(offsets), pa.py_buffer(data)])


def texts(raw: pa.BinaryArray) -> tuple[pa.StringArray, np.ndarray | None]:
    """Return bytes as texts, each broken sequence as U+FFFD (`new String(bytes, UTF_8)`), and which were broken, None for none."""
    try:
        return raw.cast(pa.string()), None
    except pa.ArrowInvalid:
        values = raw.to_pylist()
    decoded = pa.array([None if value is None else value.decode("utf-8", "replace") for value in values], pa.string())
    return decoded, pc.fill_null(pc.not_equal(decoded.cast(pa.binary()), raw), False).to_numpy(zero_copy_only=False)


def coded(
    buf: Bytes, at: np.ndarray, sizes: np.ndarray, decode: Callable[[bytes], str] | None = None
) -> tuple[pa.DictionaryArray, np.ndarray | None]:
    """Return values of which few are different as a dictionary column, and which of them were not UTF-8 (None: all were)."""
    different = binary(buf, at, sizes).dictionary_encode()
    known, broken = texts(different.dictionary)
    if decode:
        known, broken = pa.array([decode(value) for value in different.dictionary.to_pylist()], pa.string()), None
    column = pa.DictionaryArray.from_arrays(different.indices, known)
    if broken is None:
        return column, None
    return column, (sizes >= 0) & broken[different.indices.fill_null(0).to_numpy()]


def address(host: bytes) -> str:
    """Return an address as Java prints it: `10.0.0.1:10911`, `[fd20:0:0:0:0:0:0:1]:10911`; an IPv4 address inside an IPv6 one is one."""
    octets = host[:-4].removeprefix(MAPPED) if len(host) == 20 else host[:-4]
    port = int.from_bytes(host[-4:], "big", signed=True)
    if len(octets) == 4:
        return f"{'.'.join(map(str, octets))}:{port}"
    groups = (f"{int.from_bytes(octets[i : i + 2], 'big'):x}" for i in range(0, 16, 2))
    return f"[{':'.join(groups)}]:{port}"


def offset_ids(hosts: pa.BinaryArray, physical: np.ndarray) -> pa.StringArray:
    """Return offset message ids (`MessageDecoder.createMessageId`): store host and physical offset in upper-case hex."""
    sizes = np.diff(np.frombuffer(hosts.buffers()[1], np.int32)[: len(hosts) + 1])
    if len(sizes) and (sizes == sizes[0]).all():
        host = np.frombuffer(hosts.buffers()[2], np.uint8).reshape(len(hosts), sizes[0])
        raw = np.hstack([host, physical.astype(">i8").view(np.uint8).reshape(-1, 8)])
        offsets = np.arange(len(raw) + 1, dtype=np.int32) * (2 * raw.shape[1])
        digits = pa.py_buffer(np.ascontiguousarray(_HEX[raw]))
        return pa.Array.from_buffers(pa.string(), len(raw), [None, pa.py_buffer(offsets), digits])
    pairs = zip(hosts.to_pylist(), physical.tolist(), strict=True)
    return pa.array([(host + at.to_bytes(8, "big", signed=True)).hex().upper() for host, at in pairs], pa.string())


def tidy(text: bytes) -> tuple[bytes, bool]:
    """Return a property text with the items that count, each name once, and whether all items were well-formed."""
    items: dict[bytes, bytes] = {}
    whole = True
    for item in text.split(rocketmq.PROPERTY_SEPARATOR.encode()):
        name, separator, value = item.partition(rocketmq.NAME_VALUE_SEPARATOR.encode())
        whole &= bool(name) == bool(separator)
        if name and value:
            items.pop(name, None)
            items[name] = value
    return b"\x02".join(name + b"\x01" + value for name, value in items.items()), whole


def as_maps(text: pa.StringArray) -> pa.MapArray:
    """Return tidy property texts as maps."""
    items = pc.split_pattern(pc.if_else(pc.equal(text, ""), None, text), rocketmq.PROPERTY_SEPARATOR)
    pairs = pc.split_pattern(pc.list_flatten(items), rocketmq.NAME_VALUE_SEPARATOR, max_splits=1)
    return pa.MapArray.from_arrays(items.offsets, pc.list_element(pairs, 0), pc.list_element(pairs, 1))


MOST: Final = 64 << 20
"""Largest body that is unpacked: a message is at most 4 MiB by default, and rarely more."""


def limit(stored: int) -> int:
    """Return how large a stored body may become: zlib expands at most 1032 times, so anything beyond that is an attack."""
    return min(MOST, (1 << 20) + 1032 * stored)


def _zstd(body: bytes, most: int) -> tuple[bytes, bool]:
    # The window is allocated before the first byte is read: no larger than the result can be (8 MiB: what the
    # highest usual level takes).
    stream = zstandard.ZstdDecompressor(max_window_size=max(8 << 20, 1 << (most - 1).bit_length())).decompressobj()
    parts: list[bytes] = []
    held = 0
    # It returns everything its input unpacks to, and 4 bytes can stand for 128 KiB: it is fed a little at a time.
    for at in range(0, len(body), 512):
        if stream.eof or held > most:
            break
        parts.append(stream.decompress(body[at : at + 512]))
        held += len(parts[-1])
    return b"".join(parts), stream.eof


def unpack(body: bytes, codec: int) -> tuple[bytes | None, int]:
    """Return the body as the application wrote it and 0, or None and the mark that says why not."""
    if codec == PLAIN:
        return body, 0
    most = limit(len(body))
    try:
        if codec == ZLIB:
            inflate = zlib.decompressobj()
            data = inflate.decompress(body, most + 1)
            whole = inflate.eof
        elif codec == LZ4:
            frame = lz4.frame.LZ4FrameDecompressor()
            data = frame.decompress(body, max_length=most + 1)
            whole = frame.eof
        elif codec == ZSTD:
            data, whole = _zstd(body, most)
        else:
            return None, 0
    except (zlib.error, RuntimeError, zstandard.ZstdError, MemoryError, EOFError):
        return None, BAD_BODY
    if len(data) > most:
        return None, BIG_BODY
    return (data, 0) if whole else (None, BAD_BODY)


_OWN: Final = (rocketmq.KEYS, rocketmq.UNIQ_KEY)
"""Properties whose values are different in each record: their columns are plain texts."""
_NAMES: Final = (*_OWN, rocketmq.TAGS, *PROMOTED)
_NTH: Final = {promoted(name): n for n, name in enumerate(_NAMES)}
_HASHES: Final = np.array([c.name_hash(name.encode()) for name in _NAMES], np.uint64)
_TRACES: Final = tuple(f"{kind}{chr(f.TRACE_FIELD)}".encode() for kind in rocketmq.TRACE_TYPES)
_TRACE_TEXT, _TRACE_ENDS = np.frombuffer(b"".join(_TRACES), np.uint8), np.cumsum([0, *map(len, _TRACES)])
_CODECS: Final = pa.array(["none", "zlib", "lz4", "zstd"])
_MARKING: Final = ("topic", "born_host", "store_host", TEXT)
"""Columns that show what is wrong with a record."""
BODY_BATCH: Final = 32 << 20
"""How many bytes of unpacked bodies are handed on at once."""


class _Spots(NamedTuple):
    """Where the values of `_NAMES` are behind the begin of the properties, their sizes, and which texts do not say what counts."""

    at: np.ndarray
    sizes: np.ndarray
    untidy: np.ndarray


class Rows:
    """The records of one batch: their fixed fields, and where their strings are."""

    def __init__(self, buf: Bytes, starts: np.ndarray, sizes: np.ndarray, marks: np.ndarray, base: int) -> None:
        """Read the fixed fields of the records at `starts`."""
        count = len(starts)
        self.buf, self.sizes, self.marks = buf, sizes.copy(), marks.astype(np.int32)
        self.physical = starts + base
        self.longs, self.ints = np.empty((4, count), np.int64), np.empty((6, count), np.int32)
        self.where = np.empty((c.WIDTH, count), np.int64)
        c.headers(buf, starts, self.longs, self.ints, self.where, self.marks)

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
        if not mask.all():
            self.take(np.flatnonzero(mask))

    def take(self, rows: np.ndarray) -> None:
        """Keep these rows, in this order."""
        for name in ("sizes", "marks", "physical", "longs", "ints", "where"):
            setattr(self, name, np.take(getattr(self, name), rows, axis=-1))
        known = self.__dict__
        known.pop("text", None)
        if "topic" in known:
            self.topic = known["topic"].take(pa.array(rows))
        if "_spots" in known:
            self._spots = _Spots(*(np.take(each, rows, axis=-1) for each in known["_spots"]))

    def in_topics(self, topics: frozenset[str]) -> np.ndarray:
        """Return which rows are of one of these topics."""
        return np.array([name in topics for name in self.topic.dictionary.to_pylist()], bool)[
            self.topic.indices.to_numpy()
        ]

    def traced(self, topics: frozenset[str]) -> np.ndarray:
        """Return which rows are message traces: those in these topics, and those whose body begins like one (in a topic of the application's own)."""
        mask = self.in_topics(topics)
        c.begins(self.buf, self.where, self.ints, _TRACE_TEXT, _TRACE_ENDS, mask)
        return mask

    def by_stage(self) -> list[pa.Array]:
        """Group the rows by the stage of their messages, so that who asks for one stage reads few row groups; return the columns of `LINEAGE`."""
        columns = self.lineage()
        if len(columns[0].dictionary) < 2:
            return columns
        order = np.argsort(columns[0].indices.to_numpy(), kind="stable")
        self.take(order)
        return [column.take(pa.array(order)) for column in columns]

    def array(self, name: str) -> pa.Array:
        """Build one column; `file`, `body`, `problem` and `LINEAGE` are built for the batch."""
        return self.property_column(name) if name in _NTH else _COLUMNS[name](self)

    def lineage(self) -> list[pa.Array]:
        """Build the columns of `LINEAGE`."""
        transaction = self.ints[c.SYS_FLAG] & rocketmq.TRANSACTION_MASK
        fresh = (self.ints[c.RECONSUME] == 0) & (self.longs[c.PREPARED] == 0)
        target = self.property_column(promoted(rocketmq.REAL_TOPIC))
        return _lineage(self.topic, target, self._has, transaction, fresh)

    def problems(self) -> pa.Array:
        """Return what is wrong with each record, null if nothing is."""
        if not self.marks.any():
            return pa.nulls(len(self), pa.string())
        kinds, which = np.unique(self.marks, return_inverse=True)
        texts = [",".join(slug for bit, slug in c.PROBLEMS.items() if kind & bit) or None for kind in kinds]
        return pa.array(texts, pa.string()).take(pa.array(which))

    def check(self, built: Container[str]) -> None:
        """Mark what is wrong with the records, as far as no column that is built did."""
        for name in _MARKING:
            if name not in built:
                self.array(name)
        c.check_crc(self.buf, self.where, self.ints, c.CRC_TABLE, self.marks)

    def bodies(self) -> Iterator[tuple[int, int, pa.Array]]:
        """Yield (first row, row behind the last, bodies as the application wrote them), some 32 MiB at a time."""
        if not self.ints[c.CODEC].any():
            yield 0, len(self), self._strings(c.BODY)
            return
        first = held = 0
        unpacked: list[bytes | None] = []
        for row in range(len(self)):
            body, mark = self.body(row)
            self.marks[row] |= mark
            unpacked.append(body)
            held += len(body or b"")
            if held >= BODY_BATCH or row + 1 == len(self):
                yield first, row + 1, pa.array(unpacked, pa.binary())
                first, held, unpacked = row + 1, 0, []

    def body(self, row: int) -> tuple[bytes | None, int]:
        """Return the body of a record as the application wrote it, and 0; or None, and the mark of the reason."""
        at, size = self.where[c.BODY, row], self.where[c.BODY_LEN, row]
        return unpack(self.buf[at : at + size].tobytes(), int(self.ints[c.CODEC, row]))

    def stored_bodies(self, topics: frozenset[str]) -> pa.Array:
        """Build the stored bodies of the records in these topics; all other records get null."""
        sizes = np.where(self.in_topics(topics), self.where[c.BODY_LEN], -1)
        return binary(self.buf, self.where[c.BODY], sizes)

    def property_column(self, name: str) -> pa.Array:
        """Build the column of a well-known property."""
        at, sizes = self.where[c.PROPS] + self._spots.at[_NTH[name]], self._spots.sizes[_NTH[name]]
        if name in ("keys", "uniq_key"):
            column, broken = texts(binary(self.buf, at, sizes))
        else:
            column, broken = coded(self.buf, at, sizes)
        self._mark(broken, c.BAD_TEXT)
        return column

    @cached_property
    def _spots(self) -> _Spots:
        at, sizes = np.zeros((2, len(_NAMES), len(self)), np.int16)
        untidy = np.zeros(len(self), bool)
        c.properties(self.buf, self.where, _HASHES, at, sizes, untidy)
        return _Spots(at, sizes, untidy)

    def _has(self, *names: str) -> np.ndarray:
        """Return which rows have one of these properties."""
        return reduce(np.logical_or, [self._spots.sizes[_NTH[promoted(name)]] >= 0 for name in names])

    @cached_property
    def text(self) -> pa.Array:
        """Build the properties of each record as one text, without a separator at the end."""
        at, sizes = self.where[c.PROPS], self.where[c.PROPS_LEN]
        last = self.buf[np.maximum(at + sizes - 1, 0)]
        raw = binary(self.buf, at, sizes - ((sizes > 0) & (last == c.ITEM_END)))
        if (untidy := self._spots.untidy).any():
            rows = np.flatnonzero(untidy)
            rebuilt = [tidy(raw[row].as_py()) for row in rows.tolist()]
            raw = pc.replace_with_mask(raw, pa.array(untidy), pa.array([text for text, _ in rebuilt], pa.binary()))
            self.marks[rows[[not whole for _, whole in rebuilt]]] |= c.BAD_PROPERTIES
        text, broken = texts(raw)
        self._mark(broken, c.BAD_TEXT)
        return text

    def _mark(self, rows: np.ndarray | None, mark: int) -> None:
        if rows is not None:
            self.marks[rows] |= mark

    def _strings(self, field: int) -> pa.BinaryArray:
        return binary(self.buf, self.where[field], self.where[field + 1])

    @cached_property
    def topic(self) -> pa.DictionaryArray:
        column, broken = coded(self.buf, *self.where[c.TOPIC : c.TOPIC_LEN + 1])
        self._mark(broken, c.BAD_TEXT)
        return column

    def _hosts(self, field: int) -> pa.Array:
        at, sizes = self.where[field : field + 2]
        column, _ = coded(self.buf, at, sizes, address)
        ports = [int(host.rpartition(":")[2]) for host in column.dictionary.to_pylist()]
        bad = np.array([not 0 <= port <= 65535 for port in ports], bool)
        self._mark(bad[column.indices.to_numpy()], c.BAD_HOST)
        return column

    def _time(self, field: int) -> pa.Array:
        time = self.longs[field]
        unknown = (time < 0) | (time > c.LAST_MS)
        return pa.array(np.where(unknown, 0, time) * 1000, mask=unknown).view(TIMESTAMP)

    def _codec(self) -> pa.Array:
        codes = self.ints[c.CODEC]
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes == c.UNKNOWN), _CODECS)


_COLUMNS: Final[dict[str, Callable[[Rows], pa.Array]]] = {
    "physical_offset": lambda rows: pa.array(rows.physical),
    "store_size": lambda rows: pa.array(rows.sizes.astype(np.int32)),
    "topic": lambda rows: rows.topic,
    "queue_id": lambda rows: pa.array(rows.ints[c.QUEUE_ID]),
    "queue_offset": lambda rows: pa.array(rows.longs[c.QUEUE_OFFSET]),
    "flag": lambda rows: pa.array(rows.ints[c.FLAG]),
    "sys_flag": lambda rows: pa.array(rows.ints[c.SYS_FLAG]),
    "born_timestamp": lambda rows: rows._time(c.BORN_TIME),
    "born_host": lambda rows: rows._hosts(c.BORN),
    "store_timestamp": lambda rows: rows._time(c.STORE_TIME),
    "store_host": lambda rows: rows._hosts(c.STORE),
    "reconsume_times": lambda rows: pa.array(rows.ints[c.RECONSUME]),
    "prepared_transaction_offset": lambda rows: pa.array(rows.longs[c.PREPARED]),
    "body_crc": lambda rows: pa.array(rows.ints[c.CRC]),
    "body_size": lambda rows: pa.array(rows.where[c.BODY_LEN].astype(np.int32)),
    "body_codec": Rows._codec,
    "properties": lambda rows: as_maps(rows.text),
    "offset_msg_id": lambda rows: offset_ids(rows._strings(c.STORE), rows.physical),
    TEXT: lambda rows: rows.text,
    TRACED: lambda rows: pa.array(rows.traced(frozenset({rocketmq.TRACE_TOPIC}))),
}


def batch(rows: Rows, wanted: Wanted, file: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows as record batches with exactly the columns asked for, in that order."""
    arrays: dict[str, Any] = {}
    if set(LINEAGE) & set(wanted.columns):
        arrays |= zip(LINEAGE, rows.by_stage(), strict=True)
    for name in wanted.columns:
        if name == "file":
            arrays[name] = pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), pa.array([file]))
        elif name not in ("body", "problem", *LINEAGE):
            arrays[name] = rows.array(name)
    if "problem" in wanted.columns:
        rows.check(arrays)
    parts: Iterator[tuple[int, int, pa.Array | None]] = iter([(0, len(rows), None)])
    if "body" in wanted.columns:
        topics = wanted.body_topics
        parts = rows.bodies() if topics is None else iter([(0, len(rows), rows.stored_bodies(topics))])
    for first, last, body in parts:
        piece = {name: array.slice(first, last - first) for name, array in arrays.items()}
        if body is not None:
            piece["body"] = body
        if "problem" in wanted.columns:
            piece["problem"] = rows.problems().slice(first, last - first)
        yield pa.RecordBatch.from_arrays([piece[name] for name in wanted.columns], schema=schema(wanted.columns))


def _lineage(
    topic: pa.DictionaryArray,
    target: pa.DictionaryArray,
    has: Callable[..., np.ndarray],
    transaction: np.ndarray,
    fresh: np.ndarray,
) -> list[pa.Array]:
    """Return the columns of `LINEAGE`: what each record is in the life of its message, worked out once for each combination of topic, target and flags.

    `target`: REAL_TOPIC; `has` says which records have one of these properties; `transaction`: the bits of sysFlag for it;
    `fresh`: neither consumed before nor made from a half record.
    """
    targets = len(target.dictionary) + 1
    kinds = topic.indices.to_numpy().astype(np.int64) * targets + target.indices.fill_null(-1).to_numpy() + 1
    kinds = kinds << 4 | has(rocketmq.DELAY, "TIMER_OUT_MS").astype(np.int64) << 3
    kinds |= has(*stages.RENEWED).astype(np.int64) << 2
    kinds |= (transaction == rocketmq.TRANSACTION_COMMIT).astype(np.int64) << 1
    kinds |= fresh & (transaction < rocketmq.TRANSACTION_COMMIT) & ~has(*stages.MADE_BY_CONSUMER)
    different = pa.array(kinds).dictionary_encode()
    topics, known = topic.dictionary.to_pylist(), [None, *target.dictionary.to_pylist()]
    said = [
        _stage(topics[(kind >> 4) // targets], known[(kind >> 4) % targets], kind & 15)
        for kind in different.dictionary.to_pylist()
    ]
    stage, group, original = map(list, zip(*said, strict=True))
    which = different.indices.to_numpy()
    return [*(_texts(each, which) for each in (stage, group)), pa.array(np.array(original, bool)[which])]


@lru_cache(4096)
def _stage(topic: str, target: str | None, bits: int) -> tuple[str, str | None, bool]:
    """Return stage, consumer group and whether a producer wrote them, of records with these topics and `bits` of `_lineage`."""
    delayed, renewed, committed, new = (bool(bits >> bit & 1) for bit in (3, 2, 1, 0))
    stage = stages.stage_of(topic, target, delayed=delayed, renewed=renewed, committed=committed)
    original = new and not renewed and stages.may_be_original(topic, target)
    return stage, stages.consumer_group_of(topic, target), original


def _texts(said: list[str | None], which: np.ndarray) -> pa.DictionaryArray:
    """Return the column of the texts of these kinds."""
    known = pa.array(said, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(known.indices.take(pa.array(which)), known.dictionary)
