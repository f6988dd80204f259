"""Follow growing logs and stores step by step: which complete entries or records are new since the last step.

A file is followed by content, not by name: device and inode find it again, a hash of its first bytes shows that it is
the same. So a log that was renamed or copied is continued where it was left,
and one that was truncated starts again. Packed files are not followed.
"""

import contextlib
import errno
import hashlib
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from kit.evidence.files import EvidenceFile, first_data, open_raw, walk
from kit.formats import growing
from kit.formats.commitlog import segments
from kit.formats.commitlog.schema import File
from kit.formats.logs import entries
from kit.inventory import recognise
from kit.inventory.model import STORES, TEXTS

QUIET: Final = 1.0
"""Seconds after its last change from which the last entry of a log counts as complete."""
UNFINISHED: Final = 30.0
"""Seconds after its last change from which a last line without line feed counts as complete."""
FORGET: Final = 600.0
"""Seconds after which a missing file is forgotten: until then a copy of it is recognised."""
HEAD: Final = 4096
"""First bytes that identify a file: a log's first lines have their times, a record its offset."""
_IGNORED: Final = re.compile(
    r"\.(?:gz|zst|bz2|xz|zip|tar|tgz)$"
    r"|(?:^|/)(?:consumequeue|batchconsumequeue|consumequeue_ext|index|timerwheel|timerlog|abort|lock|checkpoint)/"
    r"|(?:^|/)config/[^/]+\.json(?:\.bak)?$"  # rewritten every few seconds
)


class Place(msgspec.Struct, omit_defaults=True):
    """How far one file was read, and what its readers need to know. `name` is relative to root number `root`.

    `size`: its bytes in the last step that read it; `at`, `line`: bytes read, and the number of the line that begins
    there; `begin`, `first`: the same before this step; `head`: the hash of the first `heads` bytes; `kind` is empty if
    nothing follows it; `base`, `entry_head`: of a commit log (`File`); `skipped`: bytes that are no lines (zeros, lines
    longer than a step); `gone`: when it was missed first.
    """

    name: str
    root: int = 0
    size: int = 0
    at: int = 0
    line: int = 1
    begin: int = 0
    first: int = 1
    heads: int = 0
    head: str = ""
    kind: str = ""
    source: str = "text"
    encoding: str | None = None
    seconds_twice: bool | None = None
    base: int = 0
    entry_head: int = 0
    skipped: int = 0
    gone: float = 0.0

    @property
    def is_new(self) -> bool:
        """Return whether this step has something to read: bytes `[begin, at)`."""
        return self.at > self.begin and not self.gone


State = dict[str, Place]
"""By device and inode, as `device:inode`."""


def step(roots: Sequence[Path], before: State, now: float, *, most: int, since: float = 0.0) -> State:
    """Return the places after the complete entries and records of now, some `most` bytes of logs and of stores further.

    Files last changed before `since` count as read. What cannot be read now is left for the next step.
    """
    files = [(root, *each) for root, folder in enumerate(roots) for each in walk(folder)[0]]
    files = [each for each in files if each[3].st_size and not _IGNORED.search(each[1])]
    last = {(root, name.rpartition("/")[0]): name for root, name, _, _ in files}  # in order of name
    after: State = {}
    left = {True: most, False: most}
    for root, name, path, info in sorted(files, key=lambda each: (each[3].st_mtime, each[1])):
        key = f"{info.st_dev}:{info.st_ino}"
        with contextlib.suppress(OSError), open_raw(path) as stream:
            known = _place(stream, info.st_size, key, before) or Place(name)
            # What has come since the last step is not quiet yet; where none was read, only the last change is known.
            quiet = now - info.st_mtime if known.size in (0, info.st_size) else 0.0
            place = msgspec.structs.replace(
                known, name=name, root=root, size=info.st_size, begin=known.at, first=known.line, gone=0.0
            )
            sniffed, size = (min(each, recognise.HEAD).bit_length() for each in (known.size, info.st_size))
            if size > sniffed:  # its size has passed a power of two: there is more of its beginning to go by
                _recognise(stream, EvidenceFile(name, path, info.st_size, modified=info.st_mtime), place)
            after[key] = place
            is_log, is_last = place.kind in TEXTS, last[root, name.rpartition("/")[0]] == name
            if place.kind and info.st_mtime < since:
                _pass_over(stream, place, path, is_last=is_last)
            elif place.kind and left[is_log] > 0 and is_log:
                _read_log(stream, place, quiet, left[True])
            elif place.kind and left[is_log] > 0:
                end = growing.records_end(stream, _store(stream, place, path), place.at, left[False], is_last=is_last)
                _move(stream, place, end)
            left[is_log] -= place.at - place.begin
    for key, place in before.items():
        if key not in after and place.at and now - (place.gone or now) < FORGET:
            after[key] = msgspec.structs.replace(place, gone=place.gone or now)
    return after


def locate(root: Path, place: Place) -> str:
    """Return where a file is, whatever its name is now. Raise `FileNotFoundError` if it is gone."""
    own = root if root.is_file() else root / place.name
    for path in (own, *(path for _, path, _ in walk(root)[0])):
        with contextlib.suppress(OSError), open_raw(path) as stream:
            if _begins(stream, place):
                return str(path)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(own))


def _digest(stream: io.FileIO, size: int) -> str:
    return hashlib.sha256(os.pread(stream.fileno(), size, 0)).hexdigest()[:16]


def _begins(stream: io.FileIO, place: Place) -> bool:
    """Return whether a file begins as the one that was read up to a place."""
    return bool(place.heads) and _digest(stream, place.heads) == place.head


def _place(stream: io.FileIO, size: int, key: str, before: State) -> Place | None:
    """Return the place in a file, or in one that begins alike, however it got another inode; None if it was not read.

    A copy that is still being written is shorter than what was read: it waits until it is longer.
    """
    known = before.get(key)
    if known is not None and size >= known.at and _begins(stream, known):
        return known
    others = (place for place in before.values() if place is not known and place.at and place.heads <= size)
    return max((place for place in others if _begins(stream, place)), key=lambda place: place.at, default=None)


def _recognise(stream: io.FileIO, file: EvidenceFile, place: Place) -> None:
    kind, detail = recognise.recognise(file)
    if not place.at:
        place.heads = min(HEAD, file.bytes)
        place.head = _digest(stream, place.heads)
    if kind in TEXTS:
        place.source, place.encoding = detail.get("source") or "text", detail.get("encoding")
        place.seconds_twice = detail.get("seconds_twice")
    if kind in TEXTS or kind in STORES:
        place.kind = kind


def _move(stream: io.FileIO, place: Place, end: int, line: int = 1) -> None:
    """Move a place to `end`, with the hash of how the file begins."""
    if end > place.at:
        place.at, place.line, place.heads = end, line, min(HEAD, end)
        place.head = _digest(stream, place.heads)


def _skip(stream: io.FileIO, place: Place, end: int) -> None:
    """Move a place to `end` with nothing to read before it."""
    size = end - place.at
    _move(stream, place, end, place.line)
    place.begin, place.skipped = end, place.skipped + size


def _pass_over(stream: io.FileIO, place: Place, path: Path, *, is_last: bool) -> None:
    """Move a place behind everything in a file, as if it had been read."""
    if place.kind in TEXTS:
        _read_log(stream, place, QUIET, place.size)
    else:
        file = _store(stream, place, path)
        _move(stream, place, growing.present_end(stream, file) if is_last else file.length)
    place.begin, place.first, place.size = place.at, place.line, 0


def _store(stream: io.FileIO, place: Place, path: Path) -> File:
    """Return a store; its place notes what its first records say about it, once there are any."""
    if not place.at and any(os.pread(stream.fileno(), HEAD, 0)):
        known = segments.examine(place.name, str(path))
        place.base, place.entry_head = known.base, known.head
    return File(place.name, "", place.size, place.size, place.base, place.entry_head)


def _read_log(stream: io.FileIO, place: Place, quiet: float, most: int) -> None:
    """Move a place behind the complete entries of a log that did not change for `quiet` seconds."""
    if (data := first_data(stream.fileno(), place.at)) > place.at:
        # A log that is copied and truncated while it is written has a hole where its text was.
        _skip(stream, place, data)
    end = _entries_end(stream, place, quiet, most)
    if end == place.at and place.size - end > most:
        _skip(stream, place, end + most)
    else:
        _move(stream, place, end, place.line + entries.count_lines(stream, place.at, end))


def _entries_end(stream: io.FileIO, place: Place, quiet: float, most: int) -> int:
    size, begin = place.size, place.at
    end = min(size, begin + most)
    if end == size and quiet >= UNFINISHED:
        return end
    if end == size and quiet >= QUIET:
        return growing.line_end(stream, begin, end)
    if place.source == "mqadmin":
        return begin
    whole = growing.last_entry(stream, begin, end, place.source)
    # An entry that fills a whole step is passed on in parts.
    return whole if whole > begin or end == size else growing.line_end(stream, begin, end)
