"""Unchanged lines and records of the evidence: what a reference points to, and the lines that mention an id or a key.

Raw bytes are searched for words, not parsed entries: lines that match no layout mention messages too.
"""

import os
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Final

import ahocorasick_rs

from kit.data import grouped
from kit.evidence.files import beginning, open_readonly
from kit.formats.commitlog.schema import File, Wanted
from kit.inventory.inventory import Inventory
from kit.inventory.model import MAX_TEXT, STORES, Item

MAX_LINE: Final = 64 << 10
"""Bytes quoted of a line."""
MAX_SEARCH: Final = 64 << 20
"""Bytes of a file that are searched for a text."""
_BLOCK: Final = 128 << 10
"""Block size in bytes for counting line feeds."""


def lines(inventory: Inventory, places: Iterable[tuple[str, int]]) -> list[str]:
    """Return lines at (file, line), in order. Raise `KeyError` for a file, `IndexError` for a line behind its end."""
    wanted = list(places)
    by_file = grouped(wanted)
    read = {file: dict(_each(_item(inventory, file), sorted(set(numbers)))) for file, numbers in by_file.items()}
    try:
        return [read[file][line] for file, line in wanted]
    except KeyError as error:
        raise IndexError(*error.args) from None


def around(inventory: Inventory, file: str, line: int, most: int) -> dict[int, str]:
    """Return a line with up to `most` lines before and after it, by number. Raise as `lines` does for the line."""
    read = dict(_each(_item(inventory, file), list(range(max(1, line - most), line + most + 1))))
    if line not in read:
        raise IndexError(line)
    return read


def first_with(inventory: Inventory, file: str, text: str) -> int | None:
    """Return the number of the first line with `text`, None if not within `MAX_SEARCH` bytes. Raise `KeyError`."""
    whole = raw(inventory, file, MAX_SEARCH).decode(_item(inventory, file).encoding, "replace")
    at = whole.find(text)
    return None if at < 0 else whole.count("\n", 0, at) + 1


def raw(inventory: Inventory, file: str, most: int) -> bytes:
    """Return the first `most` bytes of a file. Raise `KeyError` for an unknown file."""
    return beginning(_item(inventory, file).path, most)


def commitlog(inventory: Inventory, file: str) -> File:
    """Return a file of the commit log, ready for `record`. Raise `KeyError` for another file, `OSError`."""
    from kit.formats.commitlog import segments  # its kernels take a moment to load

    item = _item(inventory, file)
    if item.kind not in STORES:
        raise KeyError(file)
    return segments.examine(file, str(item.path), item.base)


def record(log: File, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return columns of one record as in `stored_messages`. Raise `KeyError` for an offset without a record."""
    from kit.formats.commitlog import segments

    at = physical_offset - log.base - log.head
    limits = {"physical_offset": (physical_offset, physical_offset)}
    wanted = Wanted(tuple(dict.fromkeys(("physical_offset", *columns))), limits=limits)
    for batch in segments.messages(log, max(0, at), at + log.head + 1, wanted):
        for row in batch.to_pylist():
            return {"file": log.file, **row}
    raise KeyError(f"{log.file} @ {physical_offset}")


def _item(inventory: Inventory, file: str) -> Item:
    item = inventory.get(file)
    if item is None:
        raise KeyError(file)
    return item


def _each(item: Item, numbers: list[int]) -> Iterator[tuple[int, str]]:
    """Yield those of the lines with these ascending numbers that are there."""
    if not item.has_lines:
        yield from _rows(item, set(numbers))
        return
    with open_readonly(item.path) as stream:
        info = os.fstat(stream.fileno())
        feeds = _feeds(item.path, info.st_ino, info.st_size, info.st_mtime_ns)
        for number in numbers:
            data = _line(stream, feeds, number) if number > 0 else b""
            if data or number == 1:
                yield number, data.removesuffix(b"\n").decode(item.encoding, "replace").rstrip("\r")


@lru_cache(maxsize=4096)
def _feeds(path: str, *_: int) -> list[int]:
    """Return how many line feeds are before each block of a file. What else is given tells whether it is the same."""
    with open_readonly(path) as stream:
        return [0, *accumulate(block.count(b"\n") for block in iter(lambda: stream.read(_BLOCK), b""))]


def _line(stream: IO[bytes], feeds: list[int], number: int) -> bytes:
    """Return what is at the begin of a line, nothing behind the last one."""
    if number > 1 and feeds[-1] < number - 1:
        return b""
    # The line feed before it is in the last block with fewer line feeds before it.
    block = max(0, bisect_left(feeds, number - 1) - 1)
    stream.seek(block * _BLOCK)
    for _ in range(number - 1 - feeds[block]):
        stream.readline(_BLOCK)
    return stream.readline(MAX_LINE)


def _rows(item: Item, numbers: set[int]) -> Iterator[tuple[int, str]]:
    """Yield rows of a Parquet file, which has no lines, as `name=value, …`."""
    from kit.formats.tables import delimited

    path = Path(item.path)
    names = delimited.names_of(path, None)
    for number, cells in delimited.rows(path, None, max(numbers)):
        if number in numbers:
            named = (f"{name}={cell}" for name, cell in zip(names, cells, strict=False) if cell is not None)
            yield number, ", ".join(named)


# --- lines that mention a word ----------------------------------------------------------------------------------------

MOST: Final = 200
"""Mentions kept of one file; a message in a loop is printed millions of times."""
MIN_KEY: Final = 4
"""Shorter keys match everywhere and mean nothing."""
WINDOW: Final = 8 << 20
LONGEST: Final = 64 << 20
"""Bytes of a line held at once; in a longer line a word across that boundary is not found."""
Row = dict[str, Any]
"""A line with one of some words: file, line (the first is 1), text, word."""
Mentions = tuple[list[Row], Counter[str]]
"""Such lines, and how many of them each file has."""


def mentions(texts: Iterable[Item], groups: Sequence[Collection[str]], most: int = MOST) -> list[Mentions]:
    """Return for each group of words the lines with one, at most `most` of a file (first and last), and their counts.

    Only whole words match: `SO1` is not found in `SO12`. Words shorter than `MIN_KEY` are left out.
    """
    owners = grouped((word, n) for n, words in enumerate(groups) for word in words if len(word) >= MIN_KEY)
    wanted = sorted(owners)
    of_group: list[Mentions] = [([], Counter()) for _ in groups]
    automaton = ahocorasick_rs.BytesAhoCorasick([word.encode() for word in wanted])
    for text in texts if wanted else ():
        quoted: dict[int, list[Row]] = defaultdict(list)
        counts: Counter[int] = Counter()
        try:
            for line, data, named in _lines_with(text, wanted, automaton):
                shown = data[: 4 * MAX_TEXT].decode(text.encoding, "replace").rstrip("\r\n")[:MAX_TEXT]
                # Of each group the first word on the line.
                for n, word in {n: each for each in reversed(named) for n in owners[each]}.items():
                    counts[n] += 1
                    if len(quoted[n]) == most:
                        del quoted[n][most - most // 4]
                    quoted[n].append({"file": text.file, "line": line, "text": shown, "word": word})
        except OSError:  # gone in the meantime; the table of logs reports it
            continue
        for n, rows in quoted.items():
            of_group[n][0].extend(rows)
            of_group[n][1][text.file] = counts[n]
    return of_group


def _lines_with(
    text: Item, words: list[str], automaton: ahocorasick_rs.BytesAhoCorasick
) -> Iterator[tuple[int, bytes, list[str]]]:
    """Yield each line of a file with one of the words: its number, its bytes, the words on it in order."""
    number = 1
    for data in _windows(text):
        counted, matches = 0, automaton.find_matches_as_indexes(data, overlapping=True)
        whole = [
            (data.rfind(b"\n", 0, start) + 1, start, words[word])
            for word, start, end in matches
            if not data[start - 1 : start].isalnum() and not data[end : end + 1].isalnum()
        ]
        for begin, named in groupby(sorted(whole), itemgetter(0)):
            number += data.count(b"\n", counted, begin)
            counted = begin
            end = data.find(b"\n", begin)
            yield number, data[begin : len(data) if end < 0 else end], [word for *_, word in named]
        number += data.count(b"\n", counted)


def _windows(text: Item) -> Iterator[bytes]:
    """Yield a file in windows that end with a line. It is read, not mapped: a log may be truncated while it is read."""
    with open_readonly(text.path) as stream:
        carried = b""
        while data := stream.read(WINDOW):
            lines, feed, rest = data.rpartition(b"\n")
            if feed or len(carried) > LONGEST:
                yield carried + lines + feed
                carried = b""
            carried += rest
        yield carried
