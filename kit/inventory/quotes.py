"""Unchanged lines of the evidence: what a reference points to."""

from __future__ import annotations

import contextlib
import os
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from kit.evidence.files import open_readonly
from kit.formats.commitlog.schema import File, Wanted
from kit.inventory.inventory import Inventory
from kit.inventory.model import STORES, Item

MAX_LINE: Final = 64 << 10
"""Bytes quoted of a line."""

MAX_SEARCH: Final = 64 << 20
"""Bytes of a file that are searched for a text."""

_BLOCK: Final = 128 << 10
"""Block size in bytes for counting line feeds."""
_FILES: Final = 4096
"""How many files' line positions are remembered."""


def lines(found: Inventory, places: Iterable[tuple[str, int]]) -> list[str]:
    """Return the lines at (file, line), in order. Raise `KeyError` for an unknown file, `IndexError` for a line after its end."""
    wanted = list(places)
    by_file: dict[str, set[int]] = defaultdict(set)
    for file, line in wanted:
        by_file[file].add(line)
    read = {file: dict(_each(found, file, sorted(numbers))) for file, numbers in by_file.items()}
    return [read[file][line] for file, line in wanted]


def first_with(found: Inventory, file: str, text: str) -> int | None:
    """Return the number of the first line with `text`, None if it is not within `MAX_SEARCH` bytes. Raise `KeyError` for an unknown file."""
    item = _item(found, file)
    encoding = item.detail.get("encoding") or "utf-8"
    with open_readonly(item.path) as stream:
        whole = stream.read(MAX_SEARCH).decode(encoding, "replace")
    at = whole.find(text)
    return None if at < 0 else whole.count("\n", 0, at) + 1


def raw(found: Inventory, file: str, most: int) -> bytes:
    """Return the first `most` bytes of a file. Raise `KeyError` for an unknown file."""
    with open_readonly(_item(found, file).path) as stream:
        return stream.read(most)


def commitlog(found: Inventory, file: str) -> File:
    """Return a file of the commit log, ready for `record`. Raise `KeyError` for another file, `OSError` if it is gone meanwhile."""
    from kit.formats.commitlog import segments  # its kernels take a moment to load

    item = _item(found, file)
    if item.kind not in STORES:
        raise KeyError(file)
    return segments.examine(file, str(item.path), item.base)


def record(log: File, physical_offset: int, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return some columns of one record as in `stored_messages`, read from the commit log itself. Raise `KeyError` for an offset without a record."""
    from kit.formats.commitlog import segments

    at = physical_offset - log.base - log.head
    wanted = Wanted(tuple(dict.fromkeys(("physical_offset", *columns))), offsets=(physical_offset, physical_offset))
    for batch in segments.messages(log, max(0, at), at + log.head + 1, wanted):
        for row in batch.to_pylist():
            return {"file": log.file, **row}
    raise KeyError(f"{log.file} @ {physical_offset}")


def _item(found: Inventory, file: str) -> Item:
    item = found.get(file)
    if item is None:
        raise KeyError(file)
    return item


def around(found: Inventory, file: str, line: int, most: int) -> dict[int, str]:
    """Return a line with up to `most` lines before and after it, by number. Raise as `lines` does for the line itself."""
    out: dict[int, str] = {}
    with contextlib.suppress(IndexError):
        out.update(
            _each(found, file, list(range(max(1, line - most), line + most + 1)))
        )  # the lines up to the end are kept
    if line not in out:
        raise IndexError(line)
    return out


def _rows(item: Item, numbers: list[int]) -> Iterator[tuple[int, str]]:
    """Yield rows of a Parquet file, which has no lines, as `name=value, …`."""
    from kit.formats.tables import delimited

    path, wanted = Path(item.path), set(numbers)
    names = delimited.names_of(path, None)
    for number, cells in delimited.rows(path, None, numbers[-1]):
        if number in wanted:
            wanted.remove(number)
            said = (f"{name}={cell}" for name, cell in zip(names, cells, strict=False) if cell is not None)
            yield number, ", ".join(said)
    if wanted:
        raise IndexError(numbers[-1])


def _each(found: Inventory, file: str, numbers: list[int]) -> Iterator[tuple[int, str]]:
    """Yield the lines with these ascending numbers."""
    item = _item(found, file)
    if numbers[0] < 1:
        raise IndexError(numbers[0])
    if item.kind in ("rows", "sends") and item.detail.get("dialect") is None:
        yield from _rows(item, numbers)
        return
    encoding = item.detail.get("encoding") or (item.detail.get("dialect") or {}).get("encoding") or "utf-8"
    if encoding == "utf-16":
        with open_readonly(item.path) as stream:
            text = stream.read().decode("utf-16", "replace").split("\n")
        for number in numbers:
            yield number, text[number - 1].rstrip("\r")
        return
    with open_readonly(item.path) as stream:
        begins, size = _begins(stream), os.fstat(stream.fileno()).st_size
        for number in numbers:
            if (at := begins.of(stream, number)) is None:
                raise IndexError(number)
            stream.seek(at)
            data = stream.read(MAX_LINE)
            if not data and number > 1 and at >= size:
                raise IndexError(number)
            yield number, data.split(b"\n", 1)[0].decode(encoding, "replace").rstrip("\r")


class _Begins:
    """Line positions of one file, as far as requested: the number of line feeds before each block."""

    def __init__(self) -> None:
        self._feeds = [0]
        self._lock = threading.Lock()

    def of(self, stream: IO[bytes], line: int) -> int | None:
        """Return the position of a line (the first is 1), None after the last line feed."""
        with self._lock:
            while self._feeds[-1] < line - 1:
                stream.seek((len(self._feeds) - 1) * _BLOCK)
                data = stream.read(_BLOCK)
                if not data:
                    return None
                self._feeds.append(self._feeds[-1] + data.count(b"\n"))
        # The line feed before it is in the last block with fewer line feeds before it.
        block = bisect_left(self._feeds, line - 1) - 1
        if block < 0:
            return 0
        stream.seek(block * _BLOCK)
        data, position = stream.read(_BLOCK), -1
        for _ in range(line - 1 - self._feeds[block]):
            position = data.find(b"\n", position + 1)
            if position < 0:  # the file was truncated in the meantime
                return None
        return block * _BLOCK + position + 1


_known: dict[tuple[int, ...], _Begins] = {}


def _begins(stream: IO[bytes]) -> _Begins:
    """Return the line positions of an open file, by its inode, size and time."""
    said = os.fstat(stream.fileno())
    key = (said.st_dev, said.st_ino, said.st_size, said.st_mtime_ns, said.st_ctime_ns)
    if key not in _known and len(_known) >= _FILES:
        _known.clear()
    return _known.setdefault(key, _Begins())
