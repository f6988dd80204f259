"""A recording written again as growing files, in the order and at the moments in which its bytes were written."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import attrs
import oracle

GMT8 = 8 * 3600
TIME = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")


@attrs.define
class Write:
    """Bytes that come to a file at one moment; `whole`: the file is replaced by them."""

    at: float
    name: str
    data: bytes
    start: int = 0
    whole: bool = False
    size: int = 0


@attrs.define
class Replay:
    """All writes of one evidence folder in order; `advance` does those up to a moment."""

    folder: Path
    writes: list[Write]
    done: int = 0

    @property
    def begin(self) -> float:
        return self.writes[0].at

    @property
    def end(self) -> float:
        return self.writes[-1].at

    def advance(self, until: float) -> None:
        while self.done < len(self.writes) and self.writes[self.done].at <= until:
            self._write(self.writes[self.done])
            self.done += 1

    def _write(self, write: Write) -> None:
        path = self.folder / write.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if write.whole:
            path.write_bytes(write.data)
        elif write.size:
            with path.open("r+b" if path.exists() else "w+b") as file:
                file.truncate(write.size)
                file.seek(write.start)
                file.write(write.data)
        else:
            with path.open("ab") as file:
                file.write(write.data)
        os.utime(path, (write.at, write.at))


def replay(evidence: Path, into: Path) -> Replay:
    """Plan the replay of an unpacked evidence folder."""
    writes: list[Write] = []
    times: dict[str, dict[int, float]] = {}
    files = sorted(p for p in evidence.rglob("*") if p.is_file())
    for path in files:
        if path.parent.name == "commitlog":
            base = int(path.name)
            stored = {base + at: _quarter(moment) for at, _, moment in records(path.read_bytes())}
            times.setdefault(str(path.parents[1]), {}).update(stored)
    for path in files:
        name = path.relative_to(evidence).as_posix()
        writes += _file(path, name, times.get(str(path.parents[3]) if len(path.parents) > 3 else "", {}))
    return Replay(into, sorted(writes, key=lambda each: each.at))


def _file(path: Path, name: str, times: dict[int, float]) -> Iterator[Write]:
    parts = name.split("/")
    changed = path.stat().st_mtime
    if parts[-2:-1] == ["commitlog"]:
        yield from _commitlog(path, name)
    elif "consumequeue" in parts:
        yield from _queue(path, name, times)
    elif "index" in parts or parts[-1] == "checkpoint":
        return
    elif "snapshots" in parts and "consumerOffset" in name:
        # What the broker kept at that moment is kept where the broker keeps it.
        yield Write(changed, f"{parts[0]}/store/config/consumerOffset.json", path.read_bytes(), whole=True)
    elif not name.endswith((".log", ".csv")):
        yield Write(changed, name, path.read_bytes(), whole=True)
    else:
        yield from _lines(path, name, changed)


def _lines(path: Path, name: str, changed: float) -> Iterator[Write]:
    """Yield the lines of a text by their own times (GMT+8, as all recordings have them), a second at once."""
    at, held = 0.0, []
    for line in path.read_bytes().splitlines(keepends=True):
        found = TIME.search(line[:40])
        moment = _moment(found[0]) if found else at
        if moment > at and held:
            yield Write(at or moment, name, b"".join(held))
            held = []
        at = max(at, moment)
        held.append(line)
    if held:
        yield Write(at or changed, name, b"".join(held))


def _moment(text: bytes) -> float:
    # The end of the second that is printed: what happened in it has happened.
    return datetime.fromisoformat(text.decode() + "+00:00").timestamp() - GMT8 + 0.999


def _commitlog(path: Path, name: str) -> Iterator[Write]:
    """Yield the records of a preallocated file by their store times, a quarter of a second at once."""
    data = path.read_bytes()
    at = begin = 0
    moment = 0.0
    for start, size, stored in records(data):
        due = _quarter(stored)
        if due > moment and start > begin:
            yield Write(moment, name, data[begin:start], begin, size=len(data))
            begin = start
        moment, at = max(moment, due), start + size
    blank = data[at + 4 : at + 8] == b"\xcb\xd4\x31\x94"
    if at:
        yield Write(moment, name, data[begin : at + (8 if blank else 0)], begin, size=len(data))


def records(data: bytes) -> Iterator[tuple[int, int, float]]:
    """Yield (position, size, store time in seconds) of the records of a file."""
    at = 0
    while (record := oracle.parse(data, at)) is not None:
        yield at, record["size"], record["stored"] / 1000
        at += record["size"]


def _quarter(seconds: float) -> float:
    return -(-seconds * 4 // 1) / 4


def _queue(path: Path, name: str, times: dict[int, float]) -> Iterator[Write]:
    """Yield the units of a preallocated queue file by the store times of their records."""
    data = path.read_bytes()
    # What clean-up has deleted was there before everything else.
    begin, moment = 0, min(times.values(), default=path.stat().st_mtime)
    at = 0
    for at in range(0, len(data) - 19, 20):
        physical, size = struct.unpack_from(">qi", data, at)
        if not size:
            break
        due = times.get(physical, moment)
        if due > moment:
            if at > begin:
                yield Write(moment, name, data[begin:at], begin, size=len(data))
                begin = at
            moment = due
    if at > begin:
        yield Write(moment, name, data[begin:at], begin, size=len(data))
