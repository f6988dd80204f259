"""The numba kernel that finds many fixed texts in one pass.

It looks at every fifth position for four bytes of some text's piece, and compares the whole piece only where these
occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final

import attrs
import numpy as np
from numba import njit

from kit.formats.commitlog.simd import load64
from kit.rocketmq import catalogue

WINDOW: Final = 8
"""Length of the piece of each needle that is looked for first; no needle may be shorter."""

_STEP: Final = 5
"""Of so many places next to each other one begins four bytes inside any piece."""
_MIX: Final = 0x9E3779B97F4A7C15
_WORD: Final = np.uint64(_MIX)
_GRAM_BITS, _PIECE_BITS = 16, 12
_GRAM, _FIRST, _PIECE = np.uint64(64 - _GRAM_BITS), np.uint64(32), np.uint64(64 - _PIECE_BITS)


@attrs.frozen(eq=False)
class Needles:
    """Tables for `find`: at which places of a piece four bytes with some hash are (a bit for each), which needles have a
    piece with some hash, and their pieces as numbers.
    """

    places: np.ndarray
    known: np.ndarray
    bucket: np.ndarray
    chain: np.ndarray
    word: np.ndarray
    piece: np.ndarray
    data: np.ndarray
    offsets: np.ndarray
    owner: np.ndarray
    owners: int
    longest: int


@cache
def compile_needles(texts: tuple[tuple[str, ...], ...]) -> Needles:
    """Return the tables for groups of needles; a group is found if any of its needles is. Raise `ValueError` for a
    short needle.
    """
    flat = [(text.encode(), owner) for owner, group in enumerate(texts) for text in group]
    for text, _ in flat:
        if len(text) < WINDOW:
            raise ValueError(f"needle shorter than {WINDOW} bytes: {text!r}")
    places = np.zeros(1 << _GRAM_BITS, np.uint8)
    known = np.zeros(1 << _GRAM_BITS, np.uint8)
    bucket = np.full(1 << _PIECE_BITS, -1, np.int32)
    chain = np.full(len(flat), -1, np.int32)
    piece = np.zeros(len(flat), np.int32)
    word = np.zeros(len(flat), np.uint64)
    for i, (text, _) in enumerate(flat):
        piece[i] = at = _rarest(text)
        for place in range(_STEP):
            places[_hash(text[at + place : at + place + 4], _GRAM_BITS)] |= 1 << place
        word[i] = int.from_bytes(text[at : at + WINDOW], "little")
        known[_hash(text[at : at + WINDOW], _GRAM_BITS)] = 1
        h = _hash(text[at : at + WINDOW], _PIECE_BITS)
        chain[i], bucket[h] = bucket[h], i
    lengths = np.array([len(t) for t, _ in flat], np.int64)
    return Needles(
        places,
        known,
        bucket,
        chain,
        word,
        piece,
        np.frombuffer(bytearray(b"".join(t for t, _ in flat)), np.uint8),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([o for _, o in flat], np.int32),
        len(texts),
        int(lengths.max()),
    )


def _hash(text: bytes, bits: int) -> int:
    """Return the hash of four or eight bytes, as the kernel computes it."""
    return (int.from_bytes(text, "little") * _MIX & (1 << 64) - 1) >> 64 - bits


def _rarest(text: bytes) -> int:
    """Return the start of the piece of `text` that is least likely in ordinary log text: capitals and signs are rare,
    blanks are not.
    """
    weights = [_WEIGHTS[c] for c in text]
    every = [0, *accumulate(weights)]
    # The last three bytes weigh thrice.
    scores = [3 * every[i] - 2 * every[i - 3] - every[i - WINDOW] for i in range(WINDOW, len(every))]
    return scores.index(max(scores))


_WEIGHTS: Final = [-2 if c == 32 else 3 if not chr(c).isalnum() else 2 if chr(c).isupper() else 0 for c in range(256)]


@njit(
    "int64(uint8[::1],int64[::1],int64[::1],int64[::1],uint8[::1],uint8[::1],int32[::1],int32[::1],uint64[::1],int32[::1],uint8[::1],int64[::1],int32[::1],int64[::1],int64[::1],int32[::1])",
    cache=True,
    nogil=True,
)
def _find_all(  # type: ignore[no-untyped-def]
    buf,
    starts,
    ends,
    entries,
    places,
    known,
    bucket,
    chain,
    word,
    piece,
    data,
    offsets,
    owner,
    last,
    out_entry,
    out_owner,
):
    """List (entry, group) for each group found in starts..ends, once for each entry; return how many, or -1 if there is
    no more room.
    """
    count = np.int64(0)
    for i in range(starts.size):
        s, e, entry = starts[i], ends[i], entries[i]
        # A piece that begins at t - 4 … t holds the four bytes from t on.
        for t in range(s + 4, e - 3, _STEP):
            found = places[((load64(buf, t - 4) >> _FIRST) * _WORD) >> _GRAM]
            if not found:
                continue
            # All five at once: a branch on each would mostly be guessed wrong.
            if t + WINDOW <= buf.size and not (
                known[(load64(buf, t - 4) * _WORD) >> _GRAM]
                | known[(load64(buf, t - 3) * _WORD) >> _GRAM]
                | known[(load64(buf, t - 2) * _WORD) >> _GRAM]
                | known[(load64(buf, t - 1) * _WORD) >> _GRAM]
                | known[(load64(buf, t) * _WORD) >> _GRAM]
            ):
                continue
            for back in range(4, -1, -1):
                at = t - back
                if at + WINDOW > e:
                    continue
                here = load64(buf, at)
                k = bucket[(here * _WORD) >> _PIECE]
                while k >= 0:
                    if word[k] == here and last[owner[k]] != entry:
                        a = offsets[k]
                        n = offsets[k + 1] - a
                        q = at - piece[k]
                        same = q >= s and q + n <= e
                        j = 0
                        while same and j < n:
                            same = buf[q + j] == data[a + j]
                            j += 1
                        if same:
                            if count >= out_entry.size:
                                return -1
                            last[owner[k]] = entry
                            out_entry[count] = entry
                            out_owner[count] = owner[k]
                            count += 1
                    k = chain[k]
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
            needles.places,
            needles.known,
            needles.bucket,
            needles.chain,
            needles.word,
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
