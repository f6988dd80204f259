"""A path → plain files, each with the name users see. Evidence is opened read-only; nothing is written next to it.

What cannot be read is `Refused` with a reason.
"""

import contextlib
import errno
import hashlib
import io
import json
import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import attrs

from kit.evidence import disk
from kit.i18n import Lang, T, labels

REASONS: Final[dict[str, T]] = labels("evidence")["reasons"]

_NOT_THE_FILE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})
"""Problems of this machine, not of a file."""


class Shrunk(OSError):
    """A file ended before the place to be read: it became shorter in the meantime."""

    def __init__(self, left: int, wanted: int) -> None:
        super().__init__(errno.EIO, f"{left:,} / {wanted:,}")


class Damaged(ValueError):
    """A file says what it is, and cannot be read as such."""


_REASONS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (FileNotFoundError, "removed"), (Shrunk, "shrunk"), (Damaged, "broken"), (OSError, "unreadable"),
    (MemoryError, "memory"), (RecursionError, "recursion"), (UnicodeError, "encoding"),
)  # fmt: skip

LARGEST: Final = 1 << 31
"""Bytes of a file of a store: its size is an int32."""
_NOTE: Final = "_unread-"
"""How notes in a table's folder begin; Spark and Arrow ignore files that begin with an underscore."""
log = logging.getLogger(__name__)
R = TypeVar("R")


@attrs.frozen
class EvidenceFile:
    """One plain file. `file`: the name users see; `path`: where its bytes are.

    `sha256` is known for unpacked files: that of a `.gz` log's packed bytes; `text_sha256`: of the bytes at `path`.
    `modified`: seconds since 1970 of the last change, as the folder or the archive has it.
    """

    file: str
    path: Path
    bytes: int
    sha256: str | None = None
    text_sha256: str | None = None
    modified: float | None = None


def _writable(text: str) -> str:
    """Return a message without the lone surrogates that file names can bring into it."""
    return text.encode("utf-8", "backslashreplace").decode()


@attrs.frozen
class Refused:
    """A part of the evidence that is not read. `reason`: a key of `REASONS`; `detail`: the system's message, or ""."""

    file: str
    reason: str
    detail: str = attrs.field(default="", converter=_writable)

    @property
    def passing(self) -> bool:
        """Whether the reason may pass: it is not in the content of the file."""
        return self.reason in ("removed", "shrunk", "unreadable", "memory", "space")

    def say(self, lang: Lang = "en") -> str:
        why = REASONS[self.reason].render(lang)
        return f"{why} ({self.detail})" if self.detail else why


def refusal(file: str, error: Exception) -> Refused:
    """Return why a file was not read. Raise `error` itself if the machine is the reason: no disk space."""
    if isinstance(error, OSError) and error.errno in _NOT_THE_FILE:
        raise error
    reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), "fault")
    words = error.strerror or "" if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
    return Refused(file, reason, "" if reason in ("removed", "memory", "recursion") else " ".join(words.split())[:200])


@attrs.frozen
class Unread:
    """Where readers note files they could not read. `folder`: of the table being built; None: the log of this process."""

    folder: str | None = None

    def keep(self, refused: Refused) -> None:
        if self.folder is None:
            log.warning("%s: %s", refused.file, refused.say())
            return
        # One note per file, however many tasks read parts of it.
        name = hashlib.sha256(refused.file.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        disk.write_text(Path(self.folder, f"{_NOTE}{name}.json"), json.dumps(attrs.asdict(refused)))

    def through(self, file: str, read: Callable[[], Iterable[R]]) -> Iterator[R]:
        """Yield what `read` yields until it raises; the rest of the file is then noted."""
        try:
            yield from read()
        except Exception as error:
            self.keep(refusal(file, error))


def notes(folder: Path) -> list[Refused]:
    """Return what was noted in a table's folder, in order of file."""
    texts = (path.read_text(encoding="utf-8") for path in folder.glob(f"{_NOTE}*.json"))
    return sorted((Refused(**json.loads(text)) for text in texts), key=lambda refused: refused.file)


@attrs.frozen
class Opened:
    """All plain files of an evidence, by name; the archives they came from; what was refused."""

    files: list[EvidenceFile]
    refused: list[Refused]
    archives: list[EvidenceFile] = attrs.field(factory=list)


def open_raw(path: Path | str) -> io.FileIO:
    """Open for reading, without a buffer and, if the system permits, without changing the access time.

    Raise `OSError`, also for a pipe, socket or device: opening one can block for ever or have effects.
    """
    _regular(Path(path).stat(), path)
    flags = os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK
    try:
        handle = os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        handle = os.open(path, flags)
    opened = io.FileIO(handle, "rb")
    try:
        # It may have been replaced in between.
        _regular(os.fstat(handle), path)
    except OSError:
        opened.close()
        raise
    return opened


def _regular(info: os.stat_result, path: Path | str) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def open_readonly(path: Path | str) -> io.BufferedReader:
    """Open as `open_raw` does, with a buffer."""
    return io.BufferedReader(open_raw(path))


def beginning(path: Path | str, most: int = -1) -> bytes:
    """Return the first bytes of a file, all by default. Raise `OSError`."""
    with open_readonly(path) as stream:
        return stream.read(most)


def sha256(path: Path) -> str:
    """Return the digest of a file, read completely. Raise `OSError`."""
    with open_readonly(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def numbered_lines(path: Path | str, encoding: str = "utf-8-sig", longest: int = 1 << 16) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text, the first is 1, each without its end and cut at `longest` characters."""
    number, begins = 0, True
    with open_readonly(path) as raw, io.TextIOWrapper(raw, encoding, "backslashreplace", newline="\n") as text:
        while line := text.readline(longest):
            number += begins
            if begins:
                yield number, line.rstrip("\r\n")
            begins = line.endswith("\n")


def stretches(handle: int, at: int = 0) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of what is stored of a file from `at` on, without its holes, which a terabyte may be one of."""
    end, size = at, os.fstat(handle).st_size
    while end < size:
        try:
            begin = os.lseek(handle, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:  # a file system that does not tell
                yield end, size
            return
        end = os.lseek(handle, begin, os.SEEK_HOLE)
        yield begin, end


def first_data(handle: int, at: int = 0) -> int:
    """Return where the first byte that is not zero is, from `at` on: `at` where nothing else is behind yet."""
    for begin, end in stretches(handle, at):
        for place in range(begin, end, 1 << 20):
            data = os.pread(handle, 1 << 20, place)
            if text := data.lstrip(b"\0"):
                return place + len(data) - len(text)
    return at


def valid_text(name: str | bytes) -> str:
    """Return a file name as valid text, whatever its bytes."""
    raw = os.fsencode(name)
    for encoding in ("utf-8", "gb18030"):
        with contextlib.suppress(UnicodeDecodeError):
            return raw.decode(encoding)
    return raw.decode("utf-8", "backslashreplace")


def walk(root: Path) -> tuple[list[tuple[str, Path, os.stat_result]], list[Refused]]:
    """Return (name, path, stat) of regular files below a folder, or of one file, and the names of the rest."""
    files: list[tuple[str, Path, os.stat_result]] = []
    refused: list[Refused] = []
    left = [(valid_text(root.name), root)]
    while left:
        name, path = left.pop()
        try:
            info = path.stat(follow_symlinks=path is root)
            if stat.S_ISDIR(info.st_mode):
                prefix = "" if path is root else f"{name}/"
                left += [(prefix + valid_text(each.name), each) for each in path.iterdir()]
                continue
        except OSError as error:
            refused.append(Refused(name, "unreadable", error.strerror or ""))
            continue
        if stat.S_ISREG(info.st_mode):
            files.append((name, path, info))
        else:
            refused.append(Refused(name, "link" if stat.S_ISLNK(info.st_mode) else "special"))
    return sorted(files, key=lambda f: f[0]), sorted(refused, key=lambda r: r.file)


def plain(path: Path, spool: Path) -> Path:
    """Return a path that is valid text; for other paths a link in the workspace."""
    try:
        str(path).encode()
        return path
    except UnicodeEncodeError:
        link = spool / ".named" / hashlib.sha256(os.fsencode(path)).hexdigest()
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(path)
        return link
