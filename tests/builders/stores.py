"""Segments of a commit log, written in plain Python: whole, random, and damaged."""

import struct
import zlib
from dataclasses import dataclass, field

V1, V2, BLANK = b"\xda\xa3\x20\xa7", b"\xda\xa3\x20\xab", b"\xcb\xd4\x31\x94"
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

    def encode(self, physical, crc=None):
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
    """A segment file: its bytes, its first physical offset, 48 if DLedger's, where its records (with entry) are."""

    data: bytes
    base: int
    head: int
    spans: list[tuple[int, int]] = field(default_factory=list)


def store(records, base=0, dledger=False, end=b"", blank=0):
    """Write records behind each other, and `end`: behind the last, or behind a filler header of `blank` bytes."""
    head = 48 if dledger else 0
    made = Store(b"", base, head)
    for number, record in enumerate(records):
        at = len(made.data)
        body = record.encode(base + at + head)
        entry = struct.pack(">iiqqqiiii", 1, 48 + len(body), number, 3, base + at, 0, 0, 0, len(body))[:head]
        made.data += entry + body
        made.spans.append((at, at + head + len(body)))
    filler = struct.pack(">ii", -1, blank) if dledger else struct.pack(">i", blank) + BLANK
    made.data += filler + end.ljust(blank - 8, b"\0")[: blank - 8] if blank else end
    return made


def some_record(rng):
    """Return a random record: any version, addresses, codec, properties of all shapes."""
    names = ["KEYS", "TAGS", "UNIQ_KEY", "DELAY", "键", "a", "TRANSACTION_CHECK_TIMES", "WAIT"]
    items = []
    for _ in range(rng.choice((0, 1, 3, 8, 20))):
        value = rng.choice(("", "v", "ok\x01more", "订单 1", "0123456789abcdef" * rng.randint(0, 4), str(rng.random())))
        name = rng.choice((rng.choice(names), f"n{rng.random()}", f"NAME{'x' * rng.randint(0, 20)}"))
        items.append(f"{name}\x01{value}")
    if rng.random() < 0.1:
        items.append(rng.choice(("", "no separator", "\x01no name")))
    raw = "\x02".join(items).encode() + (b"\x02" if items and rng.random() < 0.5 else b"")
    if rng.random() < 0.05:
        raw += b"bad\x01\xe4\xb8\x02\xff\x01x"
    body = rng.randbytes(rng.choice((0, rng.randint(1, 100), 3000)))
    codec = rng.choice(("none", "none", "zlib", "old"))
    v2 = rng.random() < 0.2

    def host():
        mapped = bytes(10) + b"\xff\xff" + rng.randbytes(4)
        return rng.choice((rng.randbytes(4), rng.randbytes(4), rng.randbytes(16), mapped, bytes(16)))

    return Record(
        topic=rng.choice(("t", "%RETRY%g", "主题")).encode() * (rng.randint(1, 60) if v2 else 1),
        body=body if codec == "none" else zlib.compress(body),
        properties=raw,
        v2=v2,
        sys_flag=BITS[codec] | rng.choice((0, 8)),
        born_host=host(),
        store_host=host(),
        numbers=(
            rng.randint(0, 7), rng.randint(-5, 5), rng.randint(0, 2**40), rng.randint(0, 65535), rng.randint(0, 16),
        ),
        born=rng.randint(1_500_000_000_000, 1_900_000_000_000),
        stored=rng.randint(1_500_000_000_000, 1_900_000_000_000),
        prepared=rng.choice((0, 12345678901)),
    )  # fmt: skip


def some_store(rng):
    """Return a random segment: plain or DLedger; ending with nothing, zeros, or a filler with stale records."""
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


def change(data, kind, where, much, rng):
    """Damage bytes in place, `where` from 0 (begin) to 1 (end), or cut the end off."""
    at = int(where * max(0, len(data) - 1))
    if kind == "cut":
        del data[at:]
    elif data:
        size = 1 if kind == "flip" else min(much, len(data) - at)
        flipped = bytes([data[at] ^ (much & 255)])
        new = {"flip": flipped, "zero": bytes(size), "noise": rng.randbytes(size), "ones": b"\xff" * size}
        data[at : at + size] = new[kind]
