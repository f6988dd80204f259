"""A store in plain Python: writes segments of a commit log, and reads them the slow way that the kernels are compared with."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

V1, V2, BLANK = b"\xda\xa3\x20\xa7", b"\xda\xa3\x20\xab", b"\xcb\xd4\x31\x94"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS = 253_402_300_799_999
BITS = {"none": 0, "zlib": 0x301, "old": 0x1}


@dataclass
class Record:
    """What a record says, in the words of the table `messages`."""

    topic: bytes = b"t"
    body: bytes = b""
    properties: bytes = b""
    v2: bool = False
    sys_flag: int = 0
    born_host: bytes = bytes([10, 0, 0, 1])
    store_host: bytes = bytes([10, 0, 0, 2])
    numbers: tuple[int, ...] = (0, 0, 0, 0, 0)
    born: int = 1_700_000_000_000
    stored: int = 1_700_000_000_001
    prepared: int = 0

    def encode(self, physical: int, crc: int | None = None) -> bytes:
        """Return the bytes as `CommitLog` writes them at a physical offset."""
        queue, flag, offset, port, again = self.numbers
        flags = self.sys_flag | (0x10 if len(self.born_host) == 16 else 0) | (0x20 if len(self.store_host) == 16 else 0)
        crc = zlib.crc32(self.body) & 0x7FFFFFFF if crc is None else crc
        rest = (
            (V2 if self.v2 else V1)
            + struct.pack(">iiiqqiq", crc, queue, flag, offset, physical, flags, self.born)
            + self.born_host
            + struct.pack(">iq", port, self.stored)
            + self.store_host
            + struct.pack(">iiqi", 10911, again, self.prepared, len(self.body))
            + self.body
            + struct.pack(">h" if self.v2 else ">b", len(self.topic))
            + self.topic
            + struct.pack(">h", len(self.properties))
            + self.properties
        )
        return struct.pack(">i", len(rest) + 4) + rest


@dataclass
class Store:
    """A segment file: its bytes, the physical offset of the first, 48 if DLedger's, and where its records (with entry) are."""

    data: bytes
    base: int
    head: int
    spans: list[tuple[int, int]] = field(default_factory=list)


def store(records: list[Record], base: int = 0, dledger: bool = False, end: bytes = b"", blank: int = 0) -> Store:
    """Write records behind each other; `end` stands behind the last, or behind a filler header if `blank` bytes are to be filled."""
    head = 48 if dledger else 0
    made = Store(b"", base, head)
    for number, record in enumerate(records):
        at = len(made.data)
        body = record.encode(base + at + head)
        entry = struct.pack(">iiqqqiiii", 1, 48 + len(body), number, 3, base + at, 0, 0, 0, len(body)) if dledger else b""
        made.data += entry + body
        made.spans.append((at, at + len(entry) + len(body)))
    if blank:
        made.data += (struct.pack(">ii", -1, blank) if dledger else struct.pack(">i", blank) + BLANK) + end.ljust(blank - 8, b"\0")[: blank - 8]
    else:
        made.data += end
    return made


def some_record(rng: random.Random) -> Record:
    """Return a random record: any version, addresses, codec, properties of all shapes."""
    names = ["KEYS", "TAGS", "UNIQ_KEY", "DELAY", "键", "a", "TRANSACTION_CHECK_TIMES", "WAIT"]
    items = []
    for _ in range(rng.choice((0, 1, 3, 8, 20))):
        value = rng.choice(("", "v", "ok\x01more", "订单 1", "0123456789abcdef" * rng.randint(0, 4), str(rng.random())))
        items.append(rng.choice((f"{rng.choice(names)}\x01{value}", f"n{rng.random()}\x01{value}", f"NAME{'x' * rng.randint(0, 20)}\x01{value}")))
    if rng.random() < 0.1:
        items.append(rng.choice(("", "no separator", "\x01no name")))
    raw = "\x02".join(items).encode() + (b"\x02" if items and rng.random() < 0.5 else b"")
    if rng.random() < 0.05:
        raw += b"bad\x01\xe4\xb8\x02\xff\x01x"
    body = rng.randbytes(rng.choice((0, 1, 7, 8, 9, 100, 3000)))
    codec = rng.choice(("none", "none", "zlib", "old"))
    v2 = rng.random() < 0.2
    host = lambda: rng.choice((rng.randbytes(4), rng.randbytes(4), rng.randbytes(16), bytes(10) + b"\xff\xff" + rng.randbytes(4), bytes(16)))  # noqa: E731
    return Record(
        topic=rng.choice(("t", "%RETRY%g", "主题")).encode() * (rng.randint(1, 60) if v2 else 1),
        body=body if codec == "none" else zlib.compress(body),
        properties=raw,
        v2=v2,
        sys_flag=BITS[codec] | rng.choice((0, 8)),
        born_host=host(),
        store_host=host(),
        numbers=(rng.randint(0, 7), rng.randint(-5, 5), rng.randint(0, 2**40), rng.randint(0, 65535), rng.randint(0, 16)),
        born=rng.randint(1_500_000_000_000, 1_900_000_000_000),
        stored=rng.randint(1_500_000_000_000, 1_900_000_000_000),
        prepared=rng.choice((0, 12345678901)),
    )


def some_store(rng: random.Random) -> Store:
    """Return a random segment: plain or DLedger; ending with nothing, zeros, or a filler with stale records behind it."""
    dledger = rng.random() < 0.3
    base = rng.choice((0, 1 << 30, 8388608 * 7))
    records = [some_record(rng) for _ in range(rng.randint(0, 8))]
    kind = rng.choice(("none", "zeros", "blank", "stale"))
    if kind == "zeros":
        return store(records, base, dledger, bytes(rng.choice((1, 7, 8, 100, 9000))))
    if kind == "none":
        return store(records, base, dledger)
    stale = b"" if kind == "blank" or dledger else some_record(rng).encode(base + 5) * 2
    return store(records, base, dledger, stale, 8 + len(stale) + rng.randint(0, 300))


# What follows reads: no numpy, no cleverness.


def parse(data: bytes, at: int) -> dict[str, Any] | None:
    """Return the fields of the record at `at`, None if its lengths do not agree or it is not all there."""
    magic = data[at + 4 : at + 8]
    if at < 0 or at + 91 > len(data) or magic not in (V1, V2):
        return None
    size, = struct.unpack_from(">i", data, at)
    if size < 91 or at + size > len(data):
        return None
    one = data[at : at + size]
    try:
        crc, queue, flag, offset, physical, flags, born = struct.unpack_from(">iiiqqiq", one, 8)
        pos = 48
        born_host = one[pos : pos + (20 if flags & 0x10 else 8)]
        pos += len(born_host)
        (stored,) = struct.unpack_from(">q", one, pos)
        store_host = one[pos + 8 : pos + 8 + (20 if flags & 0x20 else 8)]
        pos += 8 + len(store_host)
        again, prepared, length = struct.unpack_from(">iqi", one, pos)
        pos += 16
        if length < 0 or pos + length > size:
            return None
        body = one[pos : pos + length]
        pos += length
        (count,) = struct.unpack_from(">h" if magic == V2 else ">b", one, pos)
        pos += 2 if magic == V2 else 1
        if count < 0 or pos + count > size:
            return None
        topic = one[pos : pos + count]
        pos += count
        (count,) = struct.unpack_from(">h", one, pos)
        if count < 0 or pos + 2 + count != size:
            return None
    except struct.error:
        return None
    return {
        "size": size, "crc": crc, "queue": queue, "flag": flag, "offset": offset, "physical": physical, "flags": flags, "born": born, "stored": stored,
        "born_host": born_host, "store_host": store_host, "again": again, "prepared": prepared, "body": body, "topic": topic, "properties": one[pos + 2 :],
    }  # fmt: skip


def frame(data: bytes, at: int, base: int, head: int) -> tuple[int, list[str]] | None:
    """Return (bytes, problems) of the record or entry that a walk in step meets at `at`."""
    one = parse(data, at + head)
    if one is None:
        return None
    problems = [] if one["physical"] == base + at + head else ["physical_offset"]
    if head:
        magic, size, _, _, pos, _, _, _, body = struct.unpack_from(">iiqqqiiii", data, at)
        if (magic, size, pos, body) != (1, 48 + one["size"], base + at, one["size"]):
            if problems:
                return None
            problems = ["dledger_header"]
    return head + one["size"], problems


def resync(data: bytes, at: int, base: int, head: int) -> int:
    """Return the first place from `at` where a record says that it belongs there."""
    for start in range(at, len(data) - head - 90):
        if data[start + head + 4] == 0xDA:
            one = parse(data, start + head)
            if one and one["physical"] == base + start + head:
                return start
    return len(data)


def blank(data: bytes, at: int, head: int) -> bool:
    rest = struct.pack(">i", len(data) - at)
    return data[at : at + 8] == (b"\xff" * 4 + rest if head else rest + BLANK)


def walk(data: bytes, base: int, head: int) -> tuple[list[tuple[int, list[str]]], list[tuple[int, int, str]]]:
    """Return (starts of records with their problems, ranges that are none with the reason)."""
    at, found, gaps = 0, [], []
    while at < len(data):
        step = frame(data, at, base, head)
        if step:
            found.append((at + head, step[1]))
            at += step[0]
            continue
        filled = _filler(data, at, base, head)
        if filled > at:
            gaps.append((at, filled, "blank"))
            at = filled
            continue
        following = resync(data, at, base, head)
        if following < len(data):
            gaps.append((at, following, "corrupt"))
        else:
            gaps += _tail(data, at, base, head)
        at = following
    return found, gaps


def _filler(data: bytes, at: int, base: int, head: int) -> int:
    rest = data[at:]
    if len(rest) < 8:
        return at
    if blank(data, at, head):
        return len(data)
    first, second = struct.unpack_from(">ii", rest)
    if head:
        if len(rest) >= 48 and rest[:8] == struct.pack(">ii", 1, 48) and rest[24:32] == struct.pack(">q", base + at) and rest[44:48] == bytes(4):
            return at + 48
        return len(data) if first == -1 and second > len(rest) and not any(rest[8:]) else at
    if rest[4:8] != BLANK:
        return at
    if 8 <= first < len(rest) and frame(data, at + first, base, head) and not frame(data, at + first, base, head)[1]:  # type: ignore[index]
        return at + first
    return len(data)


def _tail(data: bytes, at: int, base: int, head: int) -> list[tuple[int, int, str]]:
    rest = data[at:]
    if not any(rest):
        return [(at, len(data), "zero_tail")]
    if _cut(rest, at, base, head):
        return [(at, len(data), "truncated")]
    used = at + len(rest.rstrip(b"\0"))
    for place in range(at, min(used, len(data) - 7)):
        if blank(data, place, head):
            return [(at, place, "corrupt"), (place, len(data), "blank")]
    if len(data) - used < 8:
        return [(at, len(data), "corrupt")]
    return [(at, used, "corrupt"), (used, len(data), "zero_tail")]


def _cut(rest: bytes, at: int, base: int, head: int) -> bool:
    if len(rest) < 8:
        return True
    first, second = struct.unpack_from(">ii", rest)
    if head:
        return first == 1 and second > len(rest) and (len(rest) < 32 or rest[24:32] == struct.pack(">q", base + at))
    if rest[4:8] not in (V1, V2) or first <= len(rest) or first < 91:
        return False
    # What is there must be the beginning of a record of that size: the missing part, filled up, decides no length but its own.
    return (len(rest) < 36 or rest[28:36] == struct.pack(">q", base + at)) and _begins(rest, first)


def _begins(rest: bytes, size: int) -> bool:
    if len(rest) < 40:
        return True
    (flags,) = struct.unpack_from(">i", rest, 36)
    pos = 68 + (20 if flags & 0x10 else 8) + (20 if flags & 0x20 else 8)
    for width in (4, 2 if rest[4:8] == V2 else 1, 2):
        if pos + width > len(rest):
            return True
        length = int.from_bytes(rest[pos : pos + width], "big", signed=True)
        pos += width
        if length < 0 or pos + length > size:
            return False
        pos += length
    return pos == size


def row(data: bytes, start: int, base: int, problems: list[str]) -> dict[str, Any]:
    """Return the record at `start` as a row of `messages`, body included."""
    one = parse(data, start)
    assert one is not None
    said = list(problems)
    bits = (one["flags"] >> 8) & 7
    codec = {0: "zlib", 1: "lz4", 2: "zstd", 3: "zlib"}.get(bits) if one["flags"] & 1 else "none"
    begin = {"zlib": len(one["body"]) >= 2 and one["body"][0] % 16 == 8 and int.from_bytes(one["body"][:2], "big") % 31 == 0,
             "lz4": one["body"][:4] == bytes.fromhex("04224d18"), "zstd": one["body"][:4] == bytes.fromhex("28b52ffd"), "none": True, None: False}  # fmt: skip
    if one["body"] and zlib.crc32(one["body"]) & 0x7FFFFFFF != one["crc"]:
        said.append("crc")
    if not begin[codec]:
        said.append("body_codec")
    if not one["topic"]:
        said.append("topic")
    pairs, wrong = properties(one["properties"])
    if wrong:
        said.append("properties")
    times = [EPOCH + timedelta(milliseconds=t) if 0 <= t <= LAST_MS else None for t in (one["born"], one["stored"])]
    if None in times:
        said.append("timestamp")
    if any(not 0 <= int.from_bytes(h[-4:], "big", signed=True) <= 65535 for h in (one["born_host"], one["store_host"])):
        said.append("host")
    if any("\ufffd" in text and text.encode() != raw for text, raw in pairs) or "\ufffd" in one["topic"].decode("utf-8", "replace"):
        said.append("utf8")
    named = dict(_pairs(pairs))
    body: bytes | None = one["body"]
    if codec != "none":
        body, ok = _inflate(one["body"], codec)
        said += [] if ok or codec is None else ["body"]
    return {
        "physical_offset": base + start, "store_size": one["size"], "topic": one["topic"].decode("utf-8", "replace"), "queue_id": one["queue"],
        "queue_offset": one["offset"], "flag": one["flag"], "sys_flag": one["flags"], "born_timestamp": times[0], "born_host": host(one["born_host"]),
        "store_timestamp": times[1], "store_host": host(one["store_host"]), "reconsume_times": one["again"], "prepared_transaction_offset": one["prepared"],
        "body_crc": one["crc"], "body_size": len(one["body"]), "body_codec": codec, "body": body, "properties": named,
        "offset_msg_id": (one["store_host"] + struct.pack(">q", base + start)).hex().upper(), "uniq_key": named.get("UNIQ_KEY"),
        "keys": named.get("KEYS"), "tags": named.get("TAGS"), "problem": ",".join(said) or None,
    }  # fmt: skip


def properties(raw: bytes) -> tuple[list[tuple[str, bytes]], bool]:
    """Return names and values in turn, as text and bytes, and whether an item is none."""
    kept: dict[bytes, bytes] = {}
    wrong = False
    for item in raw.split(b"\2"):
        name, separator, value = item.partition(b"\1")
        wrong = wrong or bool(item and not (separator and name))
        if name and value:
            kept[name] = value
    return [(part.decode("utf-8", "replace"), part) for pair in kept.items() for part in pair], wrong


def _pairs(parts: list[tuple[str, bytes]]) -> Iterator[tuple[str, str]]:
    for at in range(0, len(parts), 2):
        yield parts[at][0], parts[at + 1][0]


def _inflate(body: bytes, codec: str | None) -> tuple[bytes | None, bool]:
    if codec != "zlib":
        return None, False
    try:
        return zlib.decompress(body), True
    except zlib.error:
        pass
    # Bytes behind the end of the stream do not matter to an inflater.
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(body)
    except zlib.error:
        return None, False
    return (data, True) if stream.eof else (None, False)


def host(raw: bytes) -> str:
    """Write an address as Java does."""
    port = int.from_bytes(raw[-4:], "big", signed=True)
    ip = raw[:-4]
    if len(ip) == 16 and ip[:12] == bytes(10) + b"\xff\xff":
        ip = ip[12:]
    if len(ip) == 4:
        return ".".join(str(b) for b in ip) + f":{port}"
    return "[" + ":".join(f"{int.from_bytes(ip[i : i + 2], 'big'):x}" for i in range(0, 16, 2)) + f"]:{port}"
