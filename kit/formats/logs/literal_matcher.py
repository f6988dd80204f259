"""The numba kernel that finds many fixed texts in one pass (Wu and Manber's algorithm over blocks of three bytes)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import attrs
import numpy as np
from numba import njit

from kit.rocketmq.log_events import catalogue

WINDOW: Final = 8
"""Length of the piece of each needle that is looked for first; no needle may be shorter."""

_BITS: Final = 16


@njit("int64(uint8,uint8,uint8)", cache=True, inline="always")
def _hash(a, b, c):  # type: ignore[no-untyped-def]
    return ((np.int64(a) << 9) ^ (np.int64(b) << 5) ^ np.int64(c) ^ (np.int64(b) >> 3 << 13)) & 0xFFFF


@attrs.frozen(eq=False)
class Needles:
    """Tables for `find`: how far the window may move by the hash of its last three bytes, and which needles end there."""

    shift: np.ndarray
    bucket: np.ndarray
    chain: np.ndarray
    piece: np.ndarray
    data: np.ndarray
    offsets: np.ndarray
    owner: np.ndarray
    owners: int
    longest: int


@cache
def compile_needles(texts: tuple[tuple[str, ...], ...]) -> Needles:
    """Return the tables for groups of needles; a group is found when one of its needles is. Raise `ValueError` for a short needle."""
    flat = [(text.encode(), owner) for owner, group in enumerate(texts) for text in group]
    for text, _ in flat:
        if len(text) < WINDOW:
            raise ValueError(f"needle shorter than {WINDOW} bytes: {text!r}")
    shift = np.full(1 << _BITS, WINDOW - 2, np.uint8)
    bucket = np.full(1 << _BITS, -1, np.int32)
    chain = np.full(len(flat), -1, np.int32)
    piece = np.zeros(len(flat), np.int32)
    for i, (text, _) in enumerate(flat):
        at = _rarest(text)
        piece[i] = at
        for j in range(2, WINDOW):
            h = _hash(*text[at + j - 2 : at + j + 1])
            shift[h] = min(int(shift[h]), WINDOW - 1 - j)
        h = _hash(*text[at + WINDOW - 3 : at + WINDOW])
        chain[i], bucket[h] = bucket[h], i
    lengths = np.array([len(t) for t, _ in flat], np.int64)
    return Needles(
        shift,
        bucket,
        chain,
        piece,
        np.frombuffer(bytearray(b"".join(t for t, _ in flat)), np.uint8),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([o for _, o in flat], np.int32),
        len(texts),
        int(lengths.max()),
    )


def _rarest(text: bytes) -> int:
    """Return where the piece of `text` starts that ordinary log text is least likely to hold: capitals and signs are rare, blanks are not."""

    def weight(c: int) -> int:
        return -2 if c == 32 else 3 if not chr(c).isalnum() else 2 if chr(c).isupper() else 0

    def score(i: int) -> int:
        # The last three bytes weigh thrice: they are what is hashed.
        return sum(weight(c) for c in text[i : i + WINDOW]) + 2 * sum(
            weight(c) for c in text[i + WINDOW - 3 : i + WINDOW]
        )

    scores = [score(i) for i in range(len(text) - WINDOW + 1)]
    return scores.index(max(scores))


@njit(
    "int64(uint8[::1],int64,int64,int64,uint8[::1],int32[::1],int32[::1],int32[::1],uint8[::1],int64[::1],int32[::1],int64[::1],int64[::1],int32[::1],int64)",
    cache=True,
)
def _find(buf, s, e, entry, shift, bucket, chain, piece, data, offsets, owner, last, out_entry, out_owner, count):  # type: ignore[no-untyped-def]
    """Append (entry, group) for each group found in s..e and not yet in that entry; return the new count, or -1 - count when the room ends."""
    p = s + 7
    while p < e:
        h = _hash(buf[p - 2], buf[p - 1], buf[p])
        step = np.int64(shift[h])
        if step:
            p += step
            continue
        k = bucket[h]
        while k >= 0:
            a = offsets[k]
            n = offsets[k + 1] - a
            q = p - 7 - piece[k]
            if q >= s and q + n <= e and last[owner[k]] != entry:
                same = True
                for j in range(n):
                    if buf[q + j] != data[a + j]:
                        same = False
                        break
                if same:
                    if count >= out_entry.size:
                        return -1 - count
                    last[owner[k]] = entry
                    out_entry[count] = entry
                    out_owner[count] = owner[k]
                    count += 1
            k = chain[k]
        p += 1
    return count


@njit(
    "int64(uint8[::1],int64[::1],int64[::1],int64[::1],uint8[::1],int32[::1],int32[::1],int32[::1],uint8[::1],int64[::1],int32[::1],int64[::1],int64[::1],int32[::1])",
    cache=True,
)
def _find_all(  # type: ignore[no-untyped-def]
    buf, starts, ends, entries, shift, bucket, chain, piece, data, offsets, owner, last, out_entry, out_owner
):
    count = np.int64(0)
    for i in range(starts.size):
        count = _find(
            buf,
            starts[i],
            ends[i],
            entries[i],
            shift,
            bucket,
            chain,
            piece,
            data,
            offsets,
            owner,
            last,
            out_entry,
            out_owner,
            count,
        )
        if count < 0:
            return count
    return count


def find(
    needles: Needles, buf: np.ndarray, starts: np.ndarray, ends: np.ndarray, entries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (entry, group) of the groups found in the byte ranges starts..ends, each once an entry, in the order found.

    `entries` names the entry of each range and does not decrease.
    """
    room = max(256, 2 * starts.size)
    while True:
        out_entry, out_owner = np.empty(room, np.int64), np.empty(room, np.int32)
        last = np.full(needles.owners, -1, np.int64)
        count = _find_all(
            buf,
            starts,
            ends,
            entries,
            needles.shift,
            needles.bucket,
            needles.chain,
            needles.piece,
            needles.data,
            needles.offsets,
            needles.owner,
            last,
            out_entry,
            out_owner,
        )
        if count >= 0:
            return out_entry[:count], out_owner[:count]
        room *= 4


def ordered(needles: Needles, texts: Sequence[str]) -> list[list[int]]:
    """Return for each text the groups found in it, in order."""
    raw = [t.encode() for t in texts]
    buf = np.frombuffer(bytearray(b"".join(raw) or b"\0"), np.uint8)
    ends = np.cumsum([len(r) for r in raw]).astype(np.int64)
    starts = ends - np.array([len(r) for r in raw], np.int64)
    entry, owner = find(needles, buf, starts, ends, np.arange(len(raw), dtype=np.int64))
    return [owner[entry == i].tolist() for i in range(len(raw))]


@cache
def known_texts() -> Needles:
    """Return the tables that find the texts of all events and known problems in one pass."""
    return compile_needles(catalogue.literals())
