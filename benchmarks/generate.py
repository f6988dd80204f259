"""A commit log of any size, of realistic shape: plain messages and transactions whose half, op and committed records
belong together.

One block of records is written in plain Python, then again and again with everything that must differ patched in place:
physical and queue
offsets, times, ids, keys, what op records point at and their CRC. Nothing random between runs: the same arguments give
the same bytes.
"""

from __future__ import annotations

import random
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from kit.rocketmq import binary_format as f
from kit.rocketmq.names import TRANSACTION_COMMIT

UNITS: Final = 16_000
"""Messages in a block: some 15 MB."""
TRANSACTIONS: Final = 0.2
ROLLED_BACK: Final = 0.02
SPAN: Final = 8_000
"""Milliseconds a block takes: 2,000 messages a second."""
START: Final = 1_793_491_200_000
"""2026-11-01 00:00 UTC: the time part of the ids counts from there (GMT)."""
HALF_OFFSET: Final = 10_000_000
"""Where the half queue begins: its offsets keep their eight digits."""
HALF, OP = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"
TOPICS: Final = ("order-created", "order-paid", "stock-changed", "coupon-used", "trade-event")
QUEUES: Final = 4
BORN, STORE = struct.pack(">4Bi", 172, 21, 4, 17, 51112), struct.pack(">4Bi", 172, 21, 4, 30, 10911)
KEY = "O" + "0" * 12
UNIQ = "AC150411" + "1F9018B4AAC2" + "0" * 12


@attrs.frozen
class Block:
    """Records behind each other and, a row each, where they begin and what of them changes from block to block."""

    data: bytes
    start: np.ndarray
    unit: np.ndarray
    queue: np.ndarray
    """Number of the queue: its offsets run on from block to block."""
    nth: np.ndarray
    """Which of the block's records in that queue it is."""
    half: np.ndarray
    """Row of the half record that this one settles or commits, -1 for none."""
    uniq: np.ndarray
    key: np.ndarray
    body: np.ndarray
    """Where the UNIQ_KEY's changing digits, the key's digits and an op record's body are; -1 for none."""


def block(seed: int = 7) -> Block:
    """Return the block that all others are made from."""
    rng = random.Random(seed)
    data = bytearray()
    rows: list[tuple[int, ...]] = []
    counts: dict[tuple[str, int], int] = {}
    queues: dict[tuple[str, int], int] = {}

    def put(
        unit: int, topic: str, queue: int, body: bytes, items: dict[str, str], flags: int = 0, half: int = -1
    ) -> int:
        text = "".join(f"{name}\x01{value}\x02" for name, value in items.items()).encode()
        at = len(data)
        size = f.MIN_RECORD + len(body) + len(topic) + len(text)
        data.extend(
            struct.pack(">iIiiiqqiq", size, f.MAGIC_V1, zlib.crc32(body) & 0x7FFFFFFF, queue, 0, 0, 0, flags, START)
        )
        data.extend(BORN + struct.pack(">q", START) + STORE + struct.pack(">iqi", 0, 0, len(body)))
        body_at = len(data)
        data.extend(body + bytes([len(topic)]) + topic.encode() + struct.pack(">h", len(text)))
        text_at = len(data)
        data.extend(text)
        spot = (topic, queue)
        nth = counts[spot] = counts.get(spot, -1) + 1
        uniq = text_at + text.index(UNIQ.encode()) + 20 if UNIQ in items.values() else -1
        key = text_at + text.index(KEY.encode()) + 1 if KEY in items.values() else -1
        rows.append(
            (at, unit, queues.setdefault(spot, len(queues)), nth, half, uniq, key, body_at if topic == OP else -1)
        )
        return len(rows) - 1

    for unit in range(UNITS):
        topic, queue = rng.choice(TOPICS), rng.randrange(QUEUES)
        body = rng.randbytes(rng.randint(60, 700)).hex().encode()[: rng.randint(100, 1200)]
        own = {"KEYS": KEY, "UNIQ_KEY": UNIQ, "WAIT": "true", "TAGS": rng.choice(("A", "B", "PAID"))}
        if rng.random() >= TRANSACTIONS:
            put(unit, topic, queue, body, own)
            continue
        prepared = {**own, "TRAN_MSG": "true", "PGROUP": "order-producer", "REAL_TOPIC": topic, "REAL_QID": str(queue)}
        half = put(unit, HALF, 0, body, prepared)
        put(unit, OP, 0, b"0" * 8, {"TAGS": "d"}, half=half)
        if rng.random() >= ROLLED_BACK:
            put(unit, topic, queue, body, prepared, TRANSACTION_COMMIT, half)
    return Block(bytes(data), *np.array(rows, np.int64).T)


def _digits(data: np.ndarray, at: np.ndarray, value: np.ndarray, count: int, base: int) -> None:
    alphabet = np.frombuffer(b"0123456789ABCDEF", np.uint8)
    for i in range(count):
        data[at + count - 1 - i] = alphabet[value % base]
        value = value // base


def _number(data: np.ndarray, at: np.ndarray, value: np.ndarray) -> None:
    raw = value.astype(">i8").view(np.uint8).reshape(-1, 8)
    for i in range(8):
        data[at + i] = raw[:, i]


def records(first: Block, physical: np.ndarray, halves: np.ndarray, nth: int) -> np.ndarray:
    """Return block number `nth` with its records at these physical offsets; `halves`: those of the half records each
    belongs to (-1: none).
    """
    data = np.frombuffer(bytearray(first.data), np.uint8)
    at = first.start
    ends = np.zeros(first.queue.max() + 1, np.int64)
    np.maximum.at(ends, first.queue, first.nth + 1)
    half_queue = first.queue[first.half[first.half >= 0][0]]
    offsets = first.nth + nth * ends[first.queue] + np.where(first.queue == half_queue, HALF_OFFSET, 0)
    _number(data, at + f.AT_PHYSICAL_OFFSET, physical)
    _number(data, at + f.AT_QUEUE_OFFSET, offsets)
    time = START + nth * SPAN + first.unit * SPAN // UNITS
    _number(data, at + f.AT_BORN_TIMESTAMP, time)
    _number(data, at + f.AT_BORN_HOST + 8, time + 1)
    tied = first.half >= 0
    committed = tied & (first.body < 0)
    _number(data, at[committed] + f.AT_BORN_HOST + 28, halves[committed])
    number = nth * UNITS + first.unit
    own = first.uniq >= 0
    _digits(data, first.uniq[own], (time - START)[own], 8, 16)
    _digits(data, first.uniq[own] + 8, number[own] % 65536, 4, 16)
    own = first.key >= 0
    _digits(data, first.key[own], number[own], len(KEY) - 1, 10)
    op = first.body >= 0
    _digits(data, first.body[op], offsets[first.half[op]], 8, 10)
    crcs = (
        np.array([zlib.crc32(data[a : a + 8]) & 0x7FFFFFFF for a in first.body[op]], ">i4")
        .view(np.uint8)
        .reshape(-1, 4)
    )
    for i in range(4):
        data[at[op] + f.AT_BODY_CRC + i] = crcs[:, i]
    return data


def stream(size: int, segment: int) -> Iterator[tuple[int, bytes]]:
    """Yield (physical offset of the file, piece of it), files of `segment` bytes with a filler at their end, until
    `size` is written.
    """
    first = block()
    lengths = np.diff(np.r_[first.start, len(first.data)])
    base = at = nth = 0
    while base + at < size:
        physical = np.empty(len(lengths), np.int64)
        cuts: list[tuple[int, int, int]] = []
        begin, here, files = 0, at, base
        while begin < len(lengths):
            # As many records as leave room for the filler's eight bytes.
            ends = here + np.cumsum(lengths[begin:])
            many = int(np.searchsorted(ends, segment - 8, side="right"))
            physical[begin : begin + many] = files + np.r_[here, ends[: max(many - 1, 0)]][:many]
            cuts.append((begin, begin + many, files))
            begin += many
            here = int(ends[many - 1]) if many else here
            if begin < len(lengths):
                files, here = files + segment, 0
        data = records(first, physical, np.where(first.half >= 0, physical[first.half], -1), nth)
        for number, (low, high, file) in enumerate(cuts):
            if number:
                yield base, struct.pack(">iI", segment - at, f.MAGIC_BLANK) + bytes(segment - at - 8)
                base, at = file, 0
            piece = (
                data[first.start[low] : first.start[high] if high < len(lengths) else len(first.data)].tobytes()
                if high > low
                else b""
            )
            yield base, piece
            at += len(piece)
        nth += 1


def write(folder: Path, size: int, segment: int = 1 << 30) -> list[Path]:
    """Write files of a commit log of at least `size` bytes into a folder; return them. The last one ends where its
    records end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths: dict[Path, None] = {}
    for base, piece in stream(size, segment):
        path = folder / f"{base:0{f.FILE_NAME_DIGITS}d}"
        with path.open("ab" if path in paths else "wb") as out:
            out.write(piece)
        paths[path] = None
    return [*paths]


if __name__ == "__main__":
    for written in write(Path(sys.argv[1]), int(float(sys.argv[2]) * 1e9)):
        print(written)
