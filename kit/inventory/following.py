"""Follow growing files of one kind step by step: which complete entries or records are new since the last step.

A file is followed by content, not by name: device and inode find it again, hashes of its first bytes and of those
before the place reached show that it is the same. So a log that was renamed or copied is continued where it was left, one
that was truncated starts again. A state says where each step began and ended, so that it can be read again after a crash.
Packed files are not followed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import attrs
import msgspec

from kit.evidence.files import EvidenceFile, open_raw, walk
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
FORGET: Final = 600.0
"""Seconds after which a missing file is forgotten: until then a copy of it is recognised."""
MOST: Final = 256 << 20
"""Bytes of one step."""
HEAD: Final = 1024
"""First bytes that identify a file: a log's first lines have their times, a record its offset."""
MARK: Final = 64
"""Bytes before the place reached that show whether what was read is still there."""
_GLANCE: Final = 4096
"""A file that starts with this many bytes without a zero is no store."""
_PACKED: Final = re.compile(r"\.(?:gz|zst|bz2|xz|zip|tar|tgz)$")
_NEVER: Final = frozenset(
    {"consumequeue", "batchconsumequeue", "consumequeue_ext", "index", "timerwheel", "timerlog", "abort", "lock",
     "checkpoint"}
)  # fmt: skip


class Place(msgspec.Struct, omit_defaults=True):
    """How far one file was read. `name` is relative to root number `root`.

    `at`, `line`: bytes read, and the number of the line that begins there; `begin`, `first`: before the last step;
    `head` is the hash of the first `heads` bytes, `mark` that of the last `MARK` bytes before `at`; `gone`: when it was
    missed first, in seconds since 1970.
    """

    name: str
    root: int = 0
    at: int = 0
    line: int = 1
    begin: int = 0
    first: int = 1
    heads: int = 0
    head: str = ""
    mark: str = ""
    gone: float = 0.0


State = dict[str, Place]
"""By device and inode, as `device:inode`."""


class Stretch(msgspec.Struct, frozen=True):
    """The part of one file that one step reads: bytes `[place.begin, place.at)`, and what kernels need.

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

    def path(self) -> str:
        """Return where the file is, whatever its name is now. Raise `FileNotFoundError` if it is gone."""
        root = Path(self.root)
        own = root if root.is_file() else root / self.place.name
        for path in (own, *(path for _, path, _ in (walk(root)[0] if root.exists() else ()))):
            with contextlib.suppress(OSError), open_raw(path) as stream:
                if _holds(stream, self.place):
                    return str(path)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(own))


def _digest(stream: io.FileIO, size: int, at: int) -> str:
    return hashlib.sha256(os.pread(stream.fileno(), size, at)).hexdigest()[:16]


def _begins(stream: io.FileIO, place: Place) -> bool:
    return bool(place.heads) and _digest(stream, place.heads, 0) == place.head


def _holds(stream: io.FileIO, place: Place) -> bool:
    """Return whether a file begins as in `place` and is the same just before the place reached."""
    size = min(MARK, place.at)
    return _begins(stream, place) and _digest(stream, size, place.at - size) == place.mark


def _moved(stream: io.FileIO, place: Place, end: int, line: int = 1) -> Place:
    """Return `place` moved to `end`, with the hashes of what is before it."""
    if end <= place.at:
        return place
    heads, size = min(HEAD, end), min(MARK, end)
    head, mark = _digest(stream, heads, 0), _digest(stream, size, end - size)
    return msgspec.structs.replace(place, at=end, line=line, heads=heads, head=head, mark=mark)


@attrs.frozen
class Found:
    """A file as it is now, the key of its place, and its place: that of a file with the same bytes if it is new."""

    key: str
    file: EvidenceFile
    place: Place


def look(roots: Sequence[Path], before: State, now: float) -> tuple[list[Found], State]:
    """Return the files below `roots` that can be followed, and the places of those gone for less than `FORGET` seconds.

    What cannot be read now is left for the next look.
    """
    found: dict[str, Found] = {}
    for root, folder in enumerate(roots):
        with contextlib.suppress(OSError):
            for name, path, info in walk(folder)[0]:
                if not info.st_size or _PACKED.search(name) or _NEVER & set(PurePosixPath(name).parts[:-1]):
                    continue
                key = f"{info.st_dev}:{info.st_ino}"
                with contextlib.suppress(OSError), open_raw(path) as stream:
                    place = _place(stream, info.st_size, key, before) or Place(name)
                    place = msgspec.structs.replace(
                        place, name=name, root=root, begin=place.at, first=place.line, gone=0.0
                    )
                    found[key] = Found(key, EvidenceFile(name, path, info.st_size, modified=info.st_mtime), place)
    gone = {
        key: msgspec.structs.replace(place, gone=place.gone or now, begin=place.at, first=place.line)
        for key, place in before.items()
        if key not in found and place.at > 0 and now - (place.gone or now) < FORGET
    }
    return list(found.values()), gone


def _place(stream: io.FileIO, size: int, key: str, before: State) -> Place | None:
    """Return the place in a file, or in one with the same bytes, however it got another inode; None if it was not read.

    A copy that is still being written is shorter than what was read: it waits until it is longer.
    """
    known = before.get(key)
    if known is not None and (not known.at or (size >= known.at and _holds(stream, known))):
        return known
    others = [place for place in before.values() if place is not known and place.heads <= size]
    same = (place for place in others if _begins(stream, place) and (size < place.at or _holds(stream, place)))
    return max(same, key=lambda place: place.at, default=None)


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
    skipped: dict[str, int] = attrs.field(init=False, factory=dict)
    """Bytes passed over because they are no lines, by file: zeros, and lines longer than a step."""

    def step(self, before: State, *, first: bool) -> State:
        """Return the places after the complete entries of now. `first`: these files have not been followed before."""
        now, left = self.clock(), self.most
        found, after = look(self.roots, before, now)
        last = _last_of(found)
        for each in sorted(found, key=lambda one: (one.file.modified or 0.0, one.file.file)):
            place = each.place
            # If it was cut off or removed just now, the next look shows it.
            with contextlib.suppress(OSError), open_raw(each.file.path) as stream:
                if self._kind(stream, each.key, each.file)[0] not in self.kinds:
                    continue
                if first and (self.start == "latest" or (each.file.modified or now) < self.since):
                    place = self._at_end(stream, each, each.key in last)
                elif left > 0:
                    place = self._advanced(stream, each, now, left, each.key in last)
            left -= place.at - place.begin
            after[each.key] = place
        here = {each.key for each in found}
        for known in (self._known, self._quiet, self._bases):
            for key in known.keys() - after.keys() - here:
                known.pop(key)
        return after

    def stretches(self, state: State) -> Iterator[Stretch]:
        """Yield the stretches that the step to `state` has to read."""
        for key, place in state.items():
            if place.at > place.begin and not place.gone:
                yield self._stretch(key, place)

    def _kind(self, stream: io.FileIO, key: str, file: EvidenceFile) -> tuple[str, dict[str, Any]]:
        """Return kind and details of a file; determined again while its first bytes are still arriving."""
        from kit.inventory import recognise
        from kit.inventory.sniff import SAMPLE, seconds_twice

        glance = os.pread(stream.fileno(), _GLANCE, 0)
        known = self._known.get(key)
        # The inode of a deleted file may be reused.
        if known is not None and not glance.startswith(known[3]):
            known = None
            self._bases.pop(key, None)
            self._quiet.pop(key, None)
        if known is None or (known[0] < recognise.HEAD and file.bytes >= 2 * known[0]):
            kind, detail = recognise.recognise(file) if self.kinds == LOGS or 0 in glance else (None, dict[str, Any]())
            if known is not None and kind is None:  # zeros behind the first lines
                kind, detail = known[1], known[2]
            if kind in LOGS:
                detail["seconds_twice"] = seconds_twice(os.pread(stream.fileno(), SAMPLE, first_data(stream, 0)))
            known = self._known[key] = (file.bytes, kind or "", detail, glance[:MARK])
        return known[1], known[2]

    def _advanced(self, stream: io.FileIO, found: Found, now: float, most: int, is_last: bool) -> Place:
        place = found.place
        kind, detail = self._kind(stream, found.key, found.file)
        if kind not in LOGS:
            file = self._store_file(found.key, found.file.file, stream)
            return _moved(stream, place, stores.records_end(stream, file, place.at, most, is_last=is_last))
        if (data := first_data(stream, place.at)) > place.at:
            # A log that is copied and truncated while it is written has a hole where its text was.
            place = self._skipped(stream, place, data)
        end = self._log_end(stream, found, place.at, detail, most)
        if end == place.at and found.file.bytes - end > most:
            return self._skipped(stream, place, end + most)
        return _moved(stream, place, end, line=place.line + entries.count_lines(stream, place.at, end))

    def _skipped(self, stream: io.FileIO, place: Place, end: int) -> Place:
        """Return a place moved to `end` with nothing to read before it."""
        self.skipped[place.name] = self.skipped.get(place.name, 0) + end - place.at
        return msgspec.structs.replace(_moved(stream, place, end, line=place.line), begin=end)

    def _at_end(self, stream: io.FileIO, found: Found, is_last: bool) -> Place:
        """Return the place after everything in a file, as if it had been read."""
        if self._kind(stream, found.key, found.file)[0] in LOGS:
            end = entries.line_end(stream, 0, os.fstat(stream.fileno()).st_size)
            place = _moved(stream, found.place, end, line=1 + entries.count_lines(stream, 0, end))
        else:
            file = self._store_file(found.key, found.file.file, stream)
            place = _moved(stream, found.place, stores.present_end(stream, file) if is_last else file.length)
        return msgspec.structs.replace(place, begin=place.at, first=place.line)

    def _log_end(self, stream: io.FileIO, found: Found, begin: int, detail: dict[str, Any], most: int) -> int:
        now, size = self.clock(), os.fstat(stream.fileno()).st_size
        seen, since = self._quiet.get(found.key, (-1, 0.0))
        if seen != size:
            # For a new file only its modification time shows how long it has been quiet.
            since = now if seen >= 0 else min(now, found.file.modified or now)
            self._quiet[found.key] = (size, since)
        end = min(size, begin + most)
        if end == size and now - since >= UNFINISHED:
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
        stretch = Stretch(str(self.roots[place.root]), place, "")
        # When a step is read again after a crash, its file may be gone: its reader reports that.
        with contextlib.suppress(OSError), open_raw(path := stretch.path()) as stream:
            file = EvidenceFile(place.name, Path(path), os.fstat(stream.fileno()).st_size)
            kind, detail = self._kind(stream, key, file)
            known: dict[str, Any] = {"kind": kind}
            if kind in LOGS:
                known |= {name: detail.get(name) for name in ("encoding", "seconds_twice")}
                known["source"] = detail.get("source") or "text"
            elif kind in STORES:
                store = self._store_file(key, place.name, stream)
                known |= {"base": store.base, "entry_head": store.head}
            return msgspec.structs.replace(stretch, **known)
        return stretch


def first_data(stream: io.FileIO, at: int) -> int:
    """Return where the first byte that is not zero is, from `at` on: `at` where nothing else is behind yet."""
    begin, size = at, os.fstat(stream.fileno()).st_size
    while at < size:
        with contextlib.suppress(OSError):  # holes take no time where the system knows them
            at = os.lseek(stream.fileno(), at, os.SEEK_DATA)
        data = os.pread(stream.fileno(), 1 << 20, at)
        text = data.lstrip(b"\0")
        if text or not data:
            return at + len(data) - len(text) if data else begin
        at += len(data)
    return begin


def _last_of(found: Sequence[Found]) -> set[str]:
    """Return the keys of the last files of their folders: only these are still written."""
    last: dict[tuple[int, str], tuple[str, str]] = {}
    for each in found:
        folder = (each.place.root, str(PurePosixPath(each.file.file).parent))
        last[folder] = max(last.get(folder, ("", "")), (each.file.file, each.key))
    return {key for _, key in last.values()}
