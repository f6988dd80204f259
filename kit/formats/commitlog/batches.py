"""Records → Arrow record batches with the columns of `messages`."""

import zlib
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.commitlog import columns as c
from kit.formats.commitlog.columns import BAD_BODY, BIG_BODY, LZ4, PLAIN, ZLIB, ZSTD
from kit.formats.commitlog.records import Bytes
from kit.formats.commitlog.schema import COLUMN_OF, LINEAGE, PROMOTED, TEXT, TRACED, Wanted, schema
from kit.formats.values import LAST_MS, TIMESTAMP, ranges
from kit.rocketmq import binary_format as f
from kit.rocketmq import names as rocketmq
from kit.rocketmq import stages

_HEX: Final = np.frombuffer(b"".join(b"%02X" % byte for byte in range(256)), np.uint16)
MAPPED: Final = bytes(10) + b"\xff\xff"
"""How an IPv6 address begins that is an IPv4 address."""


def texts(raw: pa.BinaryArray) -> tuple[pa.StringArray, np.ndarray | None]:
    """Return bytes as Java reads them (each broken sequence is U+FFFD), and which were broken, None for none."""
    if np.frombuffer(raw.buffers()[2] or b"", np.uint8).max(initial=0) < 0x80:  # quicker than to look at each text
        return raw.view(pa.string()), None
    try:
        return raw.cast(pa.string()), None
    except pa.ArrowInvalid:
        values = raw.to_pylist()
    decoded = pa.array([None if value is None else value.decode("utf-8", "replace") for value in values], pa.string())
    return decoded, pc.fill_null(pc.not_equal(decoded.cast(pa.binary()), raw), False).to_numpy(zero_copy_only=False)


def address(host: bytes) -> str:
    """Return an address as Java prints it: `10.0.0.1:10911`, `[fd20:0:0:0:0:0:0:1]:10911`."""
    octets = host[:-4].removeprefix(MAPPED)
    port = int.from_bytes(host[-4:], "big", signed=True)
    if len(octets) == 4:
        return f"{'.'.join(map(str, octets))}:{port}"
    groups = (f"{int.from_bytes(octets[i : i + 2], 'big'):x}" for i in range(0, 16, 2))
    return f"[{':'.join(groups)}]:{port}"


def offset_ids(codes: np.ndarray, hosts: pa.BinaryArray, physical: np.ndarray) -> pa.StringArray:
    """Return offset message ids: store host and physical offset in upper-case hex (`MessageDecoder`)."""
    bounds, raw = np.frombuffer(hosts.buffers()[1], np.int32), np.frombuffer(hosts.buffers()[2], np.uint8)
    offsets = np.zeros(len(codes) + 1, np.int32)
    np.cumsum(2 * (np.diff(bounds) + 8)[codes], dtype=np.int32, out=offsets[1:])
    digits = np.empty(int(offsets[-1]) // 2, np.uint16)
    c.hex_ids(raw, bounds, codes, physical, _HEX, digits)
    return pa.Array.from_buffers(pa.string(), len(codes), [None, pa.py_buffer(offsets), pa.py_buffer(digits)])


def misplaced(times: np.ndarray) -> np.ndarray:
    """Return which times are before or behind both of their neighbours, which are in order themselves."""
    outside = np.zeros(len(times), bool)
    before, own, behind = times[:-2], times[1:-1], times[2:]
    outside[1:-1] = (before <= behind) & ((own < before) | (own > behind))
    return outside


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


MOST: Final = 64 << 20
"""Largest body that is unpacked: a message is at most 4 MiB by default, and rarely more."""
_STREAMS: Final = {LZ4: "lz4", ZSTD: "zstd"}


def unpack(body: bytes, codec: int) -> tuple[bytes | None, int]:
    """Return the body as the application wrote it and 0, or None and the mark that says why not."""
    if codec == PLAIN:
        return body, 0
    if codec not in (ZLIB, *_STREAMS):
        return None, 0
    most = min(MOST, (1 << 20) + 1032 * len(body))  # zlib expands at most 1032 times, more is an attack
    try:
        if codec == ZLIB:  # several times as quick as Arrow's
            inflate = zlib.decompressobj()
            data = inflate.decompress(body, most + 1)
        else:
            data = pa.CompressedInputStream(pa.BufferReader(body), _STREAMS[codec]).read(most + 1)
    except (zlib.error, OSError, MemoryError):
        return None, BAD_BODY
    if len(data) > most:
        return None, BIG_BODY
    return (None, BAD_BODY) if not body or (codec == ZLIB and not inflate.eof) else (data, 0)


_HASHES: Final = {
    COLUMN_OF[name]: c.name_hash(name.encode()) for name in (rocketmq.KEYS, rocketmq.UNIQ_KEY, rocketmq.TAGS, *PROMOTED)
}
"""The columns of well-known properties, and the hashes of their names."""
_PLAIN: Final = tuple(_HASHES)[:2]
"""Those with a value of its own in nearly every record."""
_TRACE: Final = rf"^(?:{'|'.join(rocketmq.TRACE_TYPES)})\x{f.TRACE_FIELD:02x}(?s:.)"
_TRACE_BEGINS: Final = np.array(sorted({kind.encode()[0] for kind in rocketmq.TRACE_TYPES}), np.uint8)
_TRACE_HEAD: Final = 2 + max(map(len, rocketmq.TRACE_TYPES))
"""Bytes of a body in which that is."""
_CODECS: Final = pa.array(["none", "zlib", "lz4", "zstd"])
BODY_BATCH: Final = 32 << 20
"""How many bytes of unpacked bodies are handed on at once."""


def take_apart(
    buf: Bytes, at: np.ndarray, sizes: np.ndarray, names: Sequence[str], *, maps: bool = False
) -> tuple[c.Texts, pa.MapArray | None]:
    """Return the values of well-known properties in these texts, and on demand all properties as maps: those of tidy
    texts, None for broken UTF-8.
    """
    values = c.Texts.room(len(names), len(at))
    hashes = np.array([_HASHES[name] for name in names], np.uint64)
    size = int(sizes.sum()) if maps else 0
    firsts, ends = np.zeros(len(at) + 1 if maps else 0, np.int32), np.empty((2, 1 + size // 3), np.int32)
    data = np.empty((2, size + 8), np.uint8)
    plain = sum(name in _PLAIN for name in names)
    room = np.zeros(c.ITEMS + 1, c.ITEM), firsts, ends, *map(c.words, data)
    count = c.properties(c.words(buf), at, sizes, hashes, plain, values, room)
    if not maps:
        return values, None
    buffers = (
        [None, pa.py_buffer(each), pa.py_buffer(part[: each[count]])] for each, part in zip(ends, data, strict=True)
    )
    (keys, bad_keys), (items, bad_items) = (texts(pa.Array.from_buffers(pa.binary(), count, each)) for each in buffers)
    broken = bad_keys is not None or bad_items is not None
    return values, None if broken else pa.MapArray.from_arrays(pa.array(firsts), keys, items)


class Rows:
    """The records of one batch: their fields, and the places of well-known properties."""

    def __init__(
        self, buf: Bytes, starts: np.ndarray, sizes: np.ndarray, marks: np.ndarray, base: int, wanted: Wanted
    ) -> None:
        """Read the fields of the records at `starts`."""
        self.buf, self.wanted = buf, wanted
        columns = _HASHES if set(LINEAGE) & set(wanted.columns) else wanted.columns
        self._nth = {name: n for n, name in enumerate(name for name in _HASHES if name in columns)}
        self.records = np.empty(len(starts), c.RECORD)
        self.records["physical_offset"], self.records["store_size"], self.records["mark"] = starts + base, sizes, marks
        hosts = {"born_host", "store_host", "offset_msg_id", "problem"} & set(wanted.columns)
        self._texts = c.Texts.room(len(c.NUMBERED) if hosts else 1, len(starts))
        c.headers(buf, c.words(buf), starts, self.records, self._texts)
        self.records["misplaced"] = misplaced(self.records["store_timestamp"])

    def __len__(self) -> int:
        return len(self.records)

    def keep(self) -> None:
        """Drop the rows that a filter excludes before any column is built."""
        mask = np.ones(len(self), bool)
        for name, (low, high) in self.wanted.limits.items():
            mask &= (self.records[name] >= low) & (self.records[name] <= high)
        if self.wanted.topics is not None:
            mask &= self.in_topics(self.wanted.topics)
        if not mask.all():
            self.take(np.flatnonzero(mask))

    def take(self, rows: np.ndarray) -> None:
        self.records = np.take(self.records, rows)  # by an index NumPy would copy field by field
        self._texts = self._texts.take(rows)
        self.__dict__.pop("topic", None)
        if "_values" in self.__dict__:
            self._values = self._values.take(rows)

    def in_topics(self, topics: frozenset[str]) -> np.ndarray:
        chosen = np.array([name in topics for name in self.topic.dictionary.to_pylist()], bool)
        return chosen[self.topic.indices.to_numpy()]

    def traced(self) -> np.ndarray:
        """Return which rows are message traces: those in the trace topic, or whose body begins like one."""
        at, size = self.number("body"), self.number("body_size")
        like = np.isin(self.buf[at], _TRACE_BEGINS) & (self.records["body_codec"] == PLAIN)
        heads = ranges(self.buf, at[like], (at + np.minimum(size, _TRACE_HEAD))[like])
        like[like] = np.asarray(pc.match_substring_regex(heads, _TRACE))
        return self.in_topics(frozenset({rocketmq.TRACE_TOPIC})) | like

    def array(self, name: str) -> pa.Array:
        """Build one column; `file`, `body`, `problem` and `LINEAGE` are built for the batch."""
        if name in _HASHES:
            return self._property(name)
        if name in ("born_timestamp", "store_timestamp"):
            time = self.number(name)
            unknown = (time < 0) | (time > LAST_MS)
            return pa.array(np.where(unknown, 0, time) * 1000, mask=unknown).view(TIMESTAMP)
        if name in ("born_host", "store_host"):
            return self._hosts(name)
        if name == "body_codec":
            codes = self.number("body_codec")
            return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes == c.UNKNOWN), _CODECS)
        if name == "offset_msg_id":
            return offset_ids(*self._numbered("store_host"), self.records["physical_offset"])
        if name == TRACED:
            return pa.array(self.traced())
        other = {"topic": lambda: self.topic, TEXT: lambda: self.text, "properties": self._maps}
        return other.get(name, lambda: pa.array(self.number(name)))()

    def number(self, name: str) -> np.ndarray:
        """Return a field of `columns.RECORD` by itself."""
        return np.ascontiguousarray(self.records[name])

    def problems(self) -> pa.Array:
        """Return what is wrong with each record, null if nothing is."""
        if not self.records["mark"].any():
            return pa.nulls(len(self), pa.string())
        kinds, which = np.unique(self.records["mark"], return_inverse=True)
        slugs = [",".join(slug for bit, slug in enumerate(c.PROBLEMS) if kind >> bit & 1) or None for kind in kinds]
        return pa.array(slugs, pa.string()).take(pa.array(which))

    def check(self, built: Container[str]) -> None:
        """Mark what is wrong with the records, as far as no column that is built did."""
        for name in ("topic", "born_host", "store_host"):
            if name not in built:
                self.array(name)
        if "properties" not in built:
            self.array(TEXT)
        c.check_crc(c.words(self.buf), self.records, c.CRC_TABLE)

    def bodies(self) -> Iterator[tuple[int, int, pa.Array]]:
        """Yield (first row, row behind the last, bodies as the application wrote them), some 32 MiB at a time; of some
        topics (`body_topics`) as stored.
        """
        topics, at = self.wanted.body_topics, self.records["body"]
        if topics is not None or not self.records["body_codec"].any():
            absent = None if topics is None else ~self.in_topics(topics)
            yield 0, len(self), ranges(self.buf, at, at + self.records["body_size"], absent)
            return
        first = size = 0
        unpacked: list[bytes | None] = []
        for row in range(len(self)):
            body, mark = self.body(row)
            self.records["mark"][row] |= mark
            unpacked.append(body)
            size += len(body or b"")
            if size >= BODY_BATCH or row + 1 == len(self):
                yield first, row + 1, pa.array(unpacked, pa.binary())
                first, size, unpacked = row + 1, 0, []

    def body(self, row: int) -> tuple[bytes | None, int]:
        """Return the body of a record as the application wrote it, and 0; or None, and the mark of the reason."""
        one = self.records[row]
        return unpack(self.buf[one["body"] : one["body"] + one["body_size"]].tobytes(), int(one["body_codec"]))

    def _property(self, name: str) -> pa.Array:
        """Build the column of a known property: plain where nearly every record has its own value, else coded."""
        if name not in _PLAIN:
            return self._coded(*self._different(self._values, self._nth[name]))
        codes, values = (each[self._nth[name]] for each in self._values[:2])
        at, sizes = values["at"][codes], values["size"][codes]
        column, broken = texts(ranges(self.buf, at, at + sizes, codes < 0))
        self._mark(broken, c.BAD_TEXT)
        return column

    def _coded(self, codes: np.ndarray, values: pa.BinaryArray) -> pa.DictionaryArray:
        """Build a column of which few values are different; `codes`: -1 for no value."""
        known, broken = texts(values)
        if broken is not None:
            self._mark((codes >= 0) & broken[codes], c.BAD_TEXT)
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), known)

    @cached_property
    def _values(self) -> c.Texts:
        return take_apart(self.buf, self.number("properties"), self.number("properties_size"), tuple(self._nth))[0]

    def _maps(self) -> pa.MapArray:
        """Build the properties of each record as a map: from where they are, or from tidy texts."""
        at, sizes = self.number("properties"), self.number("properties_size")
        self._values, column = take_apart(self.buf, at, sizes, tuple(self._nth), maps=True)
        if column is not None and not self._values.untidy.any():
            return column
        _, bounds, data = self.text.buffers()
        bounds = np.frombuffer(bounds, np.int32)
        return take_apart(np.frombuffer(data or b"", np.uint8), bounds[:-1], np.diff(bounds), (), maps=True)[1]

    @cached_property
    def text(self) -> pa.Array:
        """Build the properties of each record as one text, without a separator at the end."""
        at, sizes = self.number("properties"), self.number("properties_size")
        last = self.buf[np.maximum(at + sizes - 1, 0)]
        raw = ranges(self.buf, at, at + sizes - ((sizes > 0) & (last == c.ITEM_END)))
        if (untidy := self._values.untidy).any():
            rows = np.flatnonzero(untidy)
            rebuilt = [tidy(raw[row].as_py()) for row in rows.tolist()]
            raw = pc.replace_with_mask(raw, pa.array(untidy), pa.array([text for text, _ in rebuilt], pa.binary()))
            self._mark(rows[[not whole for _, whole in rebuilt]], c.BAD_PROPERTIES)
        text, broken = texts(raw)
        self._mark(broken, c.BAD_TEXT)
        return text

    def _mark(self, rows: np.ndarray | None, mark: int) -> None:
        if rows is not None:
            self.records["mark"][rows] |= mark

    def _numbered(self, name: str) -> tuple[np.ndarray, pa.BinaryArray]:
        """Return the number of each string of a field, and the different strings."""
        return self._different(self._texts, c.NUMBERED.index(name))

    def _different(self, texts: c.Texts, nth: int) -> tuple[np.ndarray, pa.BinaryArray]:
        values = texts.values[nth, : texts.counts[nth]]
        return texts.codes[nth], ranges(self.buf, values["at"], values["at"] + values["size"])

    @cached_property
    def topic(self) -> pa.DictionaryArray:
        return self._coded(*self._numbered("topic"))

    def _hosts(self, name: str) -> pa.DictionaryArray:
        codes, different = self._numbered(name)
        hosts = [address(host) for host in different.to_pylist()]
        bad = np.array([not 0 <= int(host.rpartition(":")[2]) <= 65535 for host in hosts], bool)
        self._mark(bad[codes] if bad.any() else None, c.BAD_HOST)
        return pa.DictionaryArray.from_arrays(codes, pa.array(hosts, pa.string()))

    def lineage(self) -> list[pa.Array]:
        """Return the columns of `LINEAGE`, worked out once for each combination of topic, REAL_TOPIC and flags."""

        def has(*names: str) -> np.ndarray:
            return np.any([self._values.codes[self._nth[COLUMN_OF[name]]] >= 0 for name in names], axis=0)

        topic, target = self.topic, self._property(COLUMN_OF[rocketmq.REAL_TOPIC])
        transaction = self.records["sys_flag"] & rocketmq.TRANSACTION_MASK
        fresh = (self.records["reconsume_times"] == 0) & (self.records["prepared_transaction_offset"] == 0)
        delayed, renewed = has(rocketmq.DELAY, "TIMER_OUT_MS"), has(*stages.RENEWED)
        new = fresh & (transaction < rocketmq.TRANSACTION_COMMIT) & ~has(*stages.MADE_BY_CONSUMER)
        flags = np.stack([delayed, renewed, transaction == rocketmq.TRANSACTION_COMMIT, new])
        kinds = topic.indices.to_numpy().astype(np.int64) * (len(target.dictionary) + 1)
        kinds += target.indices.fill_null(-1).to_numpy() + 1
        for flag in flags:
            kinds = kinds << 1 | flag
        kind = pa.array(kinds).dictionary_encode().indices
        examples = np.empty(len(self), np.int64)
        examples[kind] = np.arange(len(self))
        lives = [
            _life(topic[row].as_py(), target[row].as_py(), *flags[:, row].tolist())
            for row in examples[: pc.max(kind).as_py() + 1].tolist()
        ]
        stage, group, original = (list(each) for each in zip(*lives, strict=True))
        coded = (pa.array(each, pa.string()).dictionary_encode().take(kind) for each in (stage, group))
        return [*coded, pa.array(original).take(kind)]


def _life(
    topic: str, target: str | None, delayed: bool, renewed: bool, committed: bool, new: bool
) -> tuple[str, str | None, bool]:
    """Return stage, consumer group and whether a producer wrote a record; `new`: it says nothing of an earlier copy."""
    stage = stages.stage_of(topic, target, delayed=delayed, renewed=renewed, committed=committed)
    original = new and not renewed and stages.may_be_original(topic, target)
    return stage, stages.consumer_group_of(topic, target), original


def batch(rows: Rows, file: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows as record batches with exactly the columns asked for, in that order."""
    wanted = rows.wanted
    arrays: dict[str, Any] = {}
    if set(LINEAGE) & set(wanted.columns):
        arrays |= zip(LINEAGE, rows.lineage(), strict=True)
    for name in wanted.columns:
        if name == "file":
            arrays[name] = pa.DictionaryArray.from_arrays(np.zeros(len(rows), np.int32), pa.array([file]))
        elif name not in ("body", "problem", *LINEAGE):
            arrays[name] = rows.array(name)
    if "problem" in wanted.columns:
        rows.check(arrays)
    parts = rows.bodies() if "body" in wanted.columns else ((0, len(rows), None),)
    for first, last, body in parts:
        piece = {name: array.slice(first, last - first) for name, array in arrays.items()} | {"body": body}
        if "problem" in wanted.columns:
            piece["problem"] = rows.problems().slice(first, last - first)
        yield pa.RecordBatch.from_arrays([piece[name] for name in wanted.columns], schema=schema(wanted.columns))
