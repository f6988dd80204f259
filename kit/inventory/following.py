"""Follow growing files of one kind step by step: which complete entries, records or units are new since the last step.

Each step is a range of each file, so that a step can be read again after a crash: a state holds where the step began
and ended. The readers of these ranges (Spark's tasks, or a loop in this process) need nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import attrs
import msgspec

from kit.evidence import growing
from kit.evidence.files import EvidenceFile, open_raw, walk
from kit.evidence.growing import Found, Place, State
from kit.formats.commitlog import growing as stores
from kit.formats.commitlog.schema import File
from kit.formats.logs import entries
from kit.inventory.model import STORES
from kit.rocketmq import binary_format as f
from kit.rocketmq.log_layouts import files_of

LOGS: Final = ("log", "text", "mqadmin")
QUIET: Final = 1.0
"""Seconds without a new byte after which the last entry of a log counts as complete."""
UNFINISHED: Final = 30.0
"""Seconds without a new byte after which a last line without line feed counts as complete."""
MOST: Final = 256 << 20
"""Bytes of one step."""
_QUEUE_FOLDERS: Final = frozenset({"consumequeue", "batchconsumequeue", "consumequeue_ext"})
_BEGIN: Final = 64
"""First bytes that identify a file that was recognised."""
_GLANCE: Final = 4096
"""A file that starts with this many bytes without a zero is no store."""
_LOG_NAME: Final = re.compile(r"\.(?:log|out|txt)\b")
"""What zeros at the beginning may be a hole in: a store begins with zeros until its first record."""
_NEVER: Final = frozenset({"index", "timerwheel", "timerlog", "abort", "lock", "checkpoint"})


class Stretch(msgspec.Struct, frozen=True):
    """The part of one file that one step reads: bytes `[place.begin, place.at)` of its text, and what kernels need.

    `base`, `entry_head`: of a commit log (`kit.formats.commitlog.schema.File`).
    """

    root: str
    place: Place
    kind: str
    source: str = "text"
    encoding: str | None = None
    seconds_twice: bool | None = None
    base: int = 0
    entry_head: int = 0


@contextlib.contextmanager
def text(stretch: Stretch) -> Iterator[str]:
    """Yield a path with the text of a stretch, whatever its file's name is now. Raise `OSError` if it is gone."""
    root, place = Path(stretch.root), stretch.place
    path = root if root.is_file() else root / place.name
    for candidate in itertools.chain((path,), (other for _, other, info in _others(root) if other != path)):
        try:
            with growing.text(candidate) as plain:
                with open_raw(plain) as stream:
                    fits = growing.holds(stream, place)
                if fits:
                    yield str(plain)
                    return
        except OSError:
            continue
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _others(root: Path) -> Iterator[tuple[str, Path, os.stat_result]]:
    yield from walk(root)[0] if root.exists() else ()


@attrs.define
class Follower:
    """Follows the files of some kinds below some folders (or single files).

    `start`: `earliest` reads what exists at the first step, `latest` only what is added later; `since`: with
    `earliest`, only files changed after that time; `clock`: seconds since 1970.
    """

    roots: Sequence[Path]
    kinds: tuple[str, ...]
    start: str = "earliest"
    since: float = 0.0
    most: int = MOST
    clock: Callable[[], float] = time.time
    _known: dict[str, tuple[int, str, dict[str, Any], bytes]] = attrs.field(init=False, factory=dict)
    _quiet: dict[str, tuple[int, float]] = attrs.field(init=False, factory=dict)
    _bases: dict[str, tuple[int, int]] = attrs.field(init=False, factory=dict)
    _broken: dict[str, int] | None = attrs.field(init=False)
    skipped: dict[str, int] = attrs.field(init=False, factory=dict)
    """Bytes passed over because they are no lines, by file: zeros, and lines longer than a step."""

    def __attrs_post_init__(self) -> None:
        # Rolled logs are packed; stores are not.
        self._broken = {} if self.kinds == LOGS else None

    def step(self, before: State, *, first: bool) -> State:
        """Return the places after the complete entries of now. `first`: these files have not been followed before."""
        now, left = self.clock(), self.most
        found, after = growing.look(self.roots, before, now, self._is_asked, self._broken)
        last = _last_of(found)
        for each in sorted(found, key=lambda one: (one.file.modified or 0.0, one.file.file)):
            place = each.place
            # If it was cut off or removed just now, the next look shows it.
            with contextlib.suppress(OSError):
                if self._kind(each.key, each.file)[0] not in self.kinds:
                    if each.is_packed:
                        after[each.key] = _left(place)  # otherwise it would be unpacked again
                    continue
                if first and (self.start == "latest" or (each.file.modified or now) < self.since):
                    place = self._at_end(each, each.key in last)
                elif left > 0:
                    place = self._advanced(each, now, left, each.key in last)
            left -= place.at - place.begin
            after[each.key] = place
        here = {each.key for each in found}
        for known in (self._known, self._quiet, self._bases):
            for key in known.keys() - after.keys() - here:
                known.pop(key)
        return after

    def stretches(self, state: State) -> list[Stretch]:
        """Return the stretches that the step to `state` has to read."""
        every = [(key, place) for key, place in state.items() if place.at > place.begin >= 0 and not place.gone]
        return [self._stretch(key, place) for key, place in every]

    def _kind(self, key: str, file: EvidenceFile) -> tuple[str, dict[str, Any]]:
        """Return kind and details of a file; determined again while its first bytes are still arriving."""
        from kit.inventory.recognise import HEAD, recognise

        with open_raw(file.path) as raw:
            begin = os.pread(raw.fileno(), _BEGIN, 0)
        known = self._known.get(key)
        # The inode of a deleted file may be reused.
        if known is not None and not begin.startswith(known[3]):
            known = None
            self._bases.pop(key, None)
            self._quiet.pop(key, None)
        if known is None or (known[0] < HEAD and file.bytes >= 2 * known[0]):
            from kit.inventory.sniff import SAMPLE, seconds_twice

            with growing.text(file.path) as plain, open_raw(plain) as stream:
                kind, detail = None, dict[str, Any]()
                is_text = 0 not in os.pread(stream.fileno(), _GLANCE, 0)
                start = 0
                if not is_text and self.kinds == LOGS and _LOG_NAME.search(file.file):
                    start = first_data(stream, 0)
                    with tempfile.NamedTemporaryFile(prefix="rmq-kit-") as without_zeros:
                        without_zeros.write(os.pread(stream.fileno(), SAMPLE, start).replace(b"\0", b""))
                        without_zeros.flush()
                        kind, detail = recognise(attrs.evolve(file, path=Path(without_zeros.name)))
                elif not is_text or self.kinds == LOGS:
                    kind, detail = recognise(attrs.evolve(file, path=plain))
                if kind in LOGS:
                    detail["seconds_twice"] = seconds_twice(os.pread(stream.fileno(), SAMPLE, start))
            known = self._known[key] = (file.bytes, kind or "", detail, begin)
        return known[1], known[2]

    def _is_asked(self, name: str) -> bool:
        """Return whether a file can be of the kinds followed, before it is opened."""
        folders = set(PurePosixPath(name).parts[:-1])
        return not folders & (_QUEUE_FOLDERS | _NEVER)

    def _advanced(self, found: Found, now: float, most: int, is_last: bool) -> Place:
        place = found.place
        if place.at == growing.UNREAD or (found.is_packed and place.at >= found.file.bytes):
            return place
        kind, detail = self._kind(found.key, found.file)
        with growing.text(found.file.path) as plain, open_raw(plain) as stream:
            if kind in LOGS:
                place = self._past_zeros(stream, place)
                end = self._log_end(stream, attrs.evolve(found, place=place), detail, now, most)
                if end == place.at and found.file.bytes - end > most:
                    return self._skipped(stream, place, end + most)
                return _moved(stream, place, end, line=place.line + entries.count_lines(stream, place.at, end))
            file = self._store_file(found.key, found.file.file, stream)
            return _moved(stream, place, stores.records_end(stream, file, place.at, most, is_last=is_last))

    def _past_zeros(self, stream: io.FileIO, place: Place) -> Place:
        """Return the place behind zeros: a log that is copied and truncated while it is written has a hole where its text was."""
        end = first_data(stream, place.at)
        return place if end == place.at else self._skipped(stream, place, end)

    def _skipped(self, stream: io.FileIO, place: Place, end: int) -> Place:
        """Return a place moved to `end` with nothing to read before it."""
        self.skipped[place.name] = self.skipped.get(place.name, 0) + end - place.at
        return msgspec.structs.replace(_moved(stream, place, end, line=place.line), begin=end)

    def _at_end(self, found: Found, is_last: bool) -> Place:
        """Return the place after everything in a file, as if it had been read."""
        place = found.place
        if found.is_packed:
            return _left(place)
        kind, _ = self._kind(found.key, found.file)
        with open_raw(found.file.path) as stream:
            if kind in LOGS:
                end = entries.line_end(stream, 0, os.fstat(stream.fileno()).st_size)
                place = _moved(stream, place, end, line=1 + entries.count_lines(stream, 0, end))
            else:
                file = self._store_file(found.key, found.file.file, stream)
                place = _moved(stream, place, stores.present_end(stream, file) if is_last else file.length)
        return msgspec.structs.replace(place, begin=place.at, first=place.line)

    def _log_end(self, stream: io.FileIO, found: Found, detail: dict[str, Any], now: float, most: int) -> int:
        begin, size = found.place.at, os.fstat(stream.fileno()).st_size
        seen, since = self._quiet.get(found.key, (-1, 0.0))
        if seen != size:
            # For a new file only its modification time shows how long it has been quiet.
            since = now if seen >= 0 else min(now, found.file.modified or now)
            self._quiet[found.key] = (size, since)
        end = min(size, begin + most)
        if end == size and (found.is_packed or now - since >= UNFINISHED):
            return end
        if end == size and now - since >= QUIET:
            return entries.line_end(stream, begin, end)
        if detail.get("source") == "mqadmin":
            return begin
        whole = entries.last_entry(stream, begin, end, files_of(detail.get("source") or "text"))
        # An entry that fills a whole step is passed on in parts.
        return whole if whole > begin or end == size else entries.line_end(stream, begin, end)

    def _store_file(self, key: str, name: str, stream: io.FileIO) -> File:
        length = os.fstat(stream.fileno()).st_size
        if key not in self._bases:
            known = stores.base_of(stream)
            if known is None:
                return File(name, "", length, length, f.first_offset(PurePosixPath(name).name) or 0, 0)
            self._bases[key] = known
        return File(name, "", length, length, *self._bases[key])

    def _stretch(self, key: str, place: Place) -> Stretch:
        root = self.roots[place.root]
        known: dict[str, Any] = {"root": str(root), "place": place, "kind": ""}
        # When a step is read again after a crash, its file may be gone: its reader reports that.
        with contextlib.suppress(OSError), text(Stretch(str(root), place, "")) as plain, open_raw(plain) as stream:
            size = os.fstat(stream.fileno()).st_size
            kind, detail = self._kind(key, EvidenceFile(place.name, Path(plain), size))
            known["kind"] = kind
            if kind in LOGS:
                known |= {name: detail.get(name) for name in ("encoding", "seconds_twice")}
                known["source"] = detail.get("source") or "text"
            elif kind in STORES:
                file = self._store_file(key, place.name, stream)
                known |= {"base": file.base, "entry_head": file.head}
        return Stretch(**known)


def first_data(stream: io.FileIO, at: int) -> int:
    """Return where the first byte that is not zero is, from `at` on: `at` where there are no zeros, or nothing behind them yet."""
    begin, size = at, os.fstat(stream.fileno()).st_size
    while at < size:
        with contextlib.suppress(OSError):  # holes take no time where the system knows them
            at = os.lseek(stream.fileno(), at, os.SEEK_DATA)
        data = os.pread(stream.fileno(), 1 << 20, at)
        if text_at := len(data) - len(data.lstrip(b"\0")):
            at += text_at
        if len(data.lstrip(b"\0")) or not data:
            return at if data else begin
    return begin


def _left(place: Place) -> Place:
    return msgspec.structs.replace(place, at=growing.UNREAD, begin=growing.UNREAD)


def _moved(stream: io.FileIO, place: Place, end: int, line: int = 1) -> Place:
    """Return `place` moved to `end`."""
    return place if end <= place.at else growing.marked(stream, msgspec.structs.replace(place, at=end, line=line))


def _last_of(found: Sequence[Found]) -> set[str]:
    """Return the keys of the last files of their folders: only these are still written."""
    last: dict[tuple[int, str], tuple[str, str]] = {}
    for each in found:
        folder = (each.place.root, str(PurePosixPath(each.file.file).parent))
        last[folder] = max(last.get(folder, ("", "")), (each.file.file, each.key))
    return {key for _, key in last.values()}
