"""Files that grow, roll, are packed, truncated and deleted while they are read: which of their bytes were read.

A file is followed by content, not by name: device and inode find it again, the hash of its first bytes and of
those before the place reached show that it is the same. A log that was renamed, copied or packed is continued where it was
left; one that was truncated starts again. Nothing here knows what the bytes mean.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Final

import attrs
import msgspec

from kit.evidence import streams
from kit.evidence.files import EvidenceFile, open_raw, walk

HEAD: Final = 1024
"""First bytes that identify a file: a log's first lines have their times, a record its offset."""
MARK: Final = 64
"""Bytes before the place reached that show whether what was read is still there."""
FORGET: Final = 600.0
"""Seconds after which a missing file is forgotten: until then a packed copy of it is recognised by its first bytes."""
UNREAD: Final = -1
"""`Place.at` of a packed file that existed before the first read."""
PACKED: Final = 8 << 30
"""Most bytes to which a packed file is unpacked."""


class Place(msgspec.Struct, omit_defaults=True):
    """How far one file was read. `name` is relative to root number `root`.

    `at`, `line`: bytes read (of the text inside, where the file is packed) and the number of the line that begins there; `begin`, `first`: the same
    before the last step, so that the step can be read again; `head` is the hash of the first `heads` bytes, `mark` that of the last `MARK` bytes
    before `at`; `size`, `changed`: as last looked at, of packed files; `gone`: when it was missed first, in seconds since 1970.
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
    size: int = 0
    changed: int = 0
    gone: float = 0.0


State = dict[str, Place]
"""By device and inode, as `device:inode`."""


@attrs.frozen
class Found:
    """A file as it is now: the key of its place, and its place if it was known before (or taken over from a file
    with the same bytes). `is_new`: nothing of it has been read.
    """

    key: str
    file: EvidenceFile
    place: Place
    is_new: bool
    is_packed: bool


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def is_packed(head: bytes) -> bool:
    """Return whether a file is packed like a single log, or a text in an encoding that is not based on ASCII."""
    return streams.single(head) is not None or streams.wide(head) is not None


@contextlib.contextmanager
def text(path: Path | str) -> Iterator[Path]:
    """Yield a path with the text of a file: its own, or that of a temporary file if it is packed.

    Raise `OSError`, also if it is incomplete: it may still be being packed.
    """
    with open_raw(path) as file:
        if not is_packed(os.pread(file.fileno(), streams.HEAD, 0)):
            yield Path(path)
            return
        with tempfile.NamedTemporaryFile(prefix="rmq-kit-") as out:
            _unpack(file, out)
            out.flush()
            yield Path(out.name)


def _unpack(file: io.FileIO, out: IO[bytes]) -> None:
    source = streams.Peek(file)
    head = source.peek(streams.HEAD)
    encoding, single = streams.wide(head), streams.single(head)
    reader: streams.Readable = streams.Utf8(source, encoding) if encoding else single(source) if single else source
    size = 0
    try:
        while data := reader.read(streams.CHUNK):
            size += len(data)
            if size > PACKED:
                raise OSError(f"unpacks to more than {PACKED >> 30} GiB")
            out.write(data)
    except (EOFError, ValueError) as error:
        raise OSError(str(error)) from error


def holds(file: io.FileIO, place: Place) -> bool:
    """Return whether a file's text begins as in `place` and is the same just before the place reached."""
    if not place.heads or digest(os.pread(file.fileno(), place.heads, 0)) != place.head:
        return False
    size = min(MARK, place.at)
    return digest(os.pread(file.fileno(), size, place.at - size)) == place.mark


def marked(file: io.FileIO, place: Place) -> Place:
    """Return a place with the hashes of what was read up to it."""
    heads, size = min(HEAD, place.at), min(MARK, place.at)
    head, mark = (digest(os.pread(file.fileno(), *part)) for part in ((heads, 0), (size, place.at - size)))
    return msgspec.structs.replace(place, heads=heads, head=head, mark=mark)


def look(
    roots: Sequence[Path], before: State, now: float, is_asked: Callable[[str], bool], broken: dict[str, int] | None
) -> tuple[list[Found], State]:
    """Return the wanted files below `roots`, each with its place, and the places of those that are
    gone for less than `FORGET` seconds. What cannot be read now is left for the next look.

    `broken`: incomplete packed files, with their modification time: they are tried again once that changes;
    None leaves packed files out.
    """
    found: list[Found] = []
    here: set[str] = set()
    for root, folder in enumerate(roots):
        with contextlib.suppress(OSError):
            for name, path, info in walk(folder)[0]:
                if not is_asked(name) or not info.st_size:
                    continue
                key = f"{info.st_dev}:{info.st_ino}"
                here.add(key)
                with contextlib.suppress(OSError):
                    one = _found(root, name, path, info, before.get(key), before, key, broken)
                    found += [one] if one is not None else []
    gone = {
        key: msgspec.structs.replace(place, gone=place.gone or now, begin=place.at, first=place.line)
        for key, place in before.items()
        if key not in {each.key for each in found} and place.at > 0 and now - (place.gone or now) < FORGET
    }
    for key in (broken or {}).keys() - here:
        (broken or {}).pop(key)
    return found, gone


def _found(
    root: int,
    name: str,
    path: Path,
    info: os.stat_result,
    known: Place | None,
    before: State,
    key: str,
    broken: dict[str, int] | None,
) -> Found | None:
    file = EvidenceFile(name, path, info.st_size, modified=info.st_mtime)
    here = {"name": name, "root": root, "gone": 0.0}
    if known is not None and known.size == info.st_size and known.changed == info.st_mtime_ns:
        return Found(key, file, _resting(known, **here), False, True)
    with open_raw(path) as opened:
        packed = is_packed(os.pread(opened.fileno(), streams.HEAD, 0))
        if known is not None and not packed and not known.size:
            if not known.at or (info.st_size >= known.at and holds(opened, known)):
                return Found(key, file, _resting(known, **here), False, False)
            if info.st_size < known.at and _begins(opened, known, info.st_size):
                return Found(key, file, _cut(opened, known, info.st_size, here), False, False)
    if not packed:
        with open_raw(path) as opened:
            place = _taken_over(opened, before, here)
        return Found(key, file, place or Place(name, root), place is None, False)
    if broken is None or broken.get(key) == info.st_mtime_ns:
        return None
    broken[key] = info.st_mtime_ns
    with text(path) as plain, open_raw(plain) as opened:
        broken.pop(key)
        place = _taken_over(opened, before, here)
        file = attrs.evolve(file, bytes=os.fstat(opened.fileno()).st_size, packed=True)
    stamp = {"size": info.st_size, "changed": info.st_mtime_ns}
    return Found(key, file, msgspec.structs.replace(place or Place(name, root), **stamp), place is None, True)


def _resting(place: Place, **here: object) -> Place:
    return msgspec.structs.replace(place, begin=place.at, first=place.line, **here)


def _begins(file: io.FileIO, place: Place, size: int) -> bool:
    """Return whether a file that became shorter begins as before."""
    return bool(place.heads) and size >= place.heads and digest(os.pread(file.fileno(), place.heads, 0)) == place.head


def _cut(file: io.FileIO, place: Place, size: int, here: dict[str, object]) -> Place:
    """Return the place in a file that lost its end: what comes next is new."""
    line = 1
    for at in range(0, size, streams.CHUNK):
        line += os.pread(file.fileno(), min(streams.CHUNK, size - at), at).count(b"\n")
    place = msgspec.structs.replace(place, at=size, line=line)
    return marked(file, _resting(place, **here))


def _taken_over(file: io.FileIO, before: State, here: dict[str, object]) -> Place | None:
    """Return the place of the file with the same text, however it got another inode; None if it was not read.

    A copy that is still being written is shorter than what was read: it waits until it is longer.
    """
    size = os.fstat(file.fileno()).st_size
    heads: dict[int, str] = {}
    best: Place | None = None
    for place in before.values():
        if not place.heads or place.heads > size or (best is not None and best.at >= place.at):
            continue
        if place.heads not in heads:
            heads[place.heads] = digest(os.pread(file.fileno(), place.heads, 0))
        if heads[place.heads] == place.head and (size < place.at or holds(file, place)):
            best = place
    return None if best is None else _resting(msgspec.structs.replace(best, size=0, changed=0), **here)
