"""A path → its plain files, archives unpacked into the cache: zip, tar, gzip, bzip2, xz, zstd, by their first bytes.

Nothing an archive declares is trusted: sizes are counted, names never become paths unchecked, memory is bounded.
Blocks of zeros cost no disk: a commitlog is mostly unwritten, and compresses ten thousand to one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import struct
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Final, cast

from kit.evidence import disk, streams
from kit.evidence.files import EvidenceFile, Opened, Refused, open_readonly, plain, refusal, valid_text, walk
from kit.evidence.streams import BLOCK, HEAD, ZIP, Stream

MAX_DEPTH: Final = 2
"""Archives in archives: a bundle of hosts' bundles."""
MAX_MEMBERS: Final = 200_000
MAX_RATIO: Final = 200
RATIO_FREE: Final = 2 * 2**30
"""Up to so many bytes that are not zero a file may be packed however well."""
TOTAL_FREE: Final = 16 * 2**30
"""The same, zeros included; beyond it a thousand to one is still possible."""
KEEP_FREE: Final = 512 * 2**20
"""Disk left to others."""
_ZEROS: Final = bytes(BLOCK)
_ONE_FILE: Final = frozenset({"[Content_Types].xml", "META-INF/MANIFEST.MF"})
"""A member of a jar or an office file, each of which counts as one file."""
_FATAL: Final = ("ratio", "members", "space")
"""Reasons to read nothing more of an archive."""


class Refusal(Exception):
    """A member, or a whole archive, must not be read further. `reason` is a key of `kit.evidence.files.REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def open_evidence(path: Path, spool: Path) -> Opened:
    """Return the plain files of `path` (a folder, an archive or one file); what is packed is unpacked into `spool`.

    Raise `FileNotFoundError` if `path` does not exist.
    """
    root = Path(path).resolve(strict=True)
    files, refused = walk(root)
    shared = Spool(spool)

    def take(item: tuple[str, Path, os.stat_result]) -> Opened:
        name, where, info = item
        try:
            with open_readonly(where) as file:
                if streams.is_packed(file.peek(HEAD)[:HEAD]):
                    return _Packed(shared, where, info).unpack(name, file)
                return Opened([EvidenceFile(name, plain(where, spool), info.st_size, modified=info.st_mtime)], [])
        except Exception as error:
            return Opened([], [refusal(name, error)])

    out = Opened([], refused)
    with ThreadPoolExecutor(min(4, os.cpu_count() or 2)) as pool:
        for part in pool.map(take, files):
            out.files.extend(part.files)
            out.refused.extend(part.refused)
            out.archives.extend(part.archives)
    out.files.sort(key=lambda f: f.file)
    out.refused.sort(key=lambda r: (r.file, r.reason))
    return out


class Spool:
    """The folder into which everything is unpacked. Threads share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._room = shutil.disk_usage(folder).free - KEEP_FREE
        self._names: set[str] = set()

    def add(self, name: str) -> Path:
        """Return where a member is written. Raise `Refusal` for one too many, or the second of its name."""
        with self._lock:
            if len(self._names) >= MAX_MEMBERS:
                raise Refusal("members")
            if name in self._names:
                raise Refusal("duplicate")
            self._names.add(name)
        return place(self.folder, name)

    def spend(self, stored: int) -> None:
        with self._lock:
            self._room -= stored
            if self._room < 0:
                raise Refusal("space")


class _Packed:
    """One packed file of the evidence, and what comes out of it."""

    def __init__(self, spool: Spool, path: Path, info: os.stat_result) -> None:
        self.spool, self.path, self.info = spool, path, info
        self.out = Opened([], [])
        self._unpacked = self._stored = 0

    def unpack(self, name: str, file: IO[bytes]) -> Opened:
        """An archive's time means nothing for its members, a packed log's is the log's."""
        raw = Stream(streams.blocks(file))
        with self._noting(name):
            self._take(name, raw, raw, self.info.st_mtime)
        with contextlib.suppress(Exception):
            raw.drain()
        if [each.file for each in self.out.files] != [name]:
            self.out.archives.append(EvidenceFile(name, Path(), self.info.st_size, sha256=raw.sha.hexdigest()))
        return self.out

    @contextlib.contextmanager
    def _noting(self, name: str, *, is_member: bool = False) -> Iterator[None]:
        """Note what stops the reading of a file; what stops a member ends its archive only if it is fatal."""
        try:
            yield
        except Exception as error:
            refused = _refused(name, error)
            self.out.refused.append(refused)
            if is_member and refused.reason in _FATAL:
                raise

    def _take(self, name: str, stream: Stream, raw: Stream, modified: float | None, depth: int = 0) -> None:
        """Read a file or member. `raw`: the bytes of its own, as packed; `stream`: those inside."""
        single = streams.single(stream.peek(HEAD))
        for _ in range(2):  # .gz inside .gz, as some proxies make them
            if single is None:
                break
            stream = Stream(single(stream))
            single = streams.single(stream.peek(HEAD))
        head = stream.peek(HEAD)
        if head.startswith(streams.FOREIGN):
            raise Refusal("unsupported")
        if head.startswith(ZIP) or streams.is_tar(head):
            if depth >= MAX_DEPTH:
                raise Refusal("nested")
            # The digest of a tar that was packed once more is asked for by nobody.
            stream.hashes = stream is raw
            unpack = self._zip if head.startswith(ZIP) else self._tar
            unpack(name, stream, modified, depth)
        else:
            encoding = streams.wide(head)
            self._write(name, Stream(streams.utf8(stream, encoding)) if encoding else stream, raw, modified)

    def _tar(self, name: str, stream: Stream, modified: float | None, depth: int) -> None:
        source: Any = stream
        with tarfile.open(
            fileobj=source, mode="r|", bufsize=BLOCK, tarinfo=streams.TarInfo, errors="surrogateescape"
        ) as tar:
            for info in tar:
                inner = valid_text(info.name)
                if info.issym() or info.islnk():
                    self.out.refused.append(Refused(f"{name}!/{inner}", "link"))
                elif info.isreg():
                    with self._noting(f"{name}!/{inner}", is_member=True):
                        self._member(f"{name}!/{shown_name(inner)}", _blocks(tar, info), sane(info.mtime), depth)
                elif not info.isdir():
                    self.out.refused.append(Refused(f"{name}!/{inner}", "special"))
                tar.members = []  # type: ignore[attr-defined] # a streamed tar remembers every member otherwise

    def _member(self, name: str, member: Iterator[bytes], modified: float | None, depth: int) -> None:
        raw = Stream(member)
        self._take(name, raw, raw, modified, depth + 1)

    def _zip(self, name: str, stream: Stream, modified: float | None, depth: int) -> None:
        """Read a zip, whose directory is at its end: of one in another archive a copy is made."""
        if depth == 0 and stream.hashes:
            with open_readonly(self.path) as file:
                self._zip_file(name, file, modified, depth)
            return
        copy = self.spool.folder / f".zip-{os.getpid()}-{threading.get_ident()}-{depth}"
        try:
            _, damage = self._copy(copy, stream)
            with open_readonly(copy) as file:
                self._zip_file(name, file, modified, depth)
            if damage is not None:
                raise damage
        finally:
            copy.unlink(missing_ok=True)

    def _zip_file(self, name: str, file: IO[bytes], modified: float | None, depth: int) -> None:
        with zipfile.ZipFile(file) as archive:
            entries = sorted(archive.infolist(), key=lambda e: e.header_offset)
            if {e.filename for e in entries} & _ONE_FILE:
                file.seek(0)
                whole = Stream(streams.blocks(file))
                self._write(name, whole, whole, modified)
                return
            ends = [e.header_offset + 30 + len(_zip_raw(e)) + e.compress_size for e in entries]
            if any(end > following.header_offset for end, following in zip(ends, entries[1:], strict=False)):
                raise Refusal("overlap")
            for entry in entries:
                if not entry.is_dir():
                    inner = _zip_name(entry)
                    with self._noting(f"{name}!/{inner}", is_member=True):
                        if entry.flag_bits & 0x1:
                            raise Refusal("encrypted")
                        if entry.create_system == 3 and (entry.external_attr >> 28) == 0xA:
                            raise Refusal("link")
                        shown = f"{name}!/{shown_name(inner, windows=True)}"
                        with archive.open(entry) as member:
                            self._member(shown, streams.blocks(member), _zip_time(entry), depth)

    def _write(self, name: str, stream: Stream, raw: Stream, modified: float | None) -> None:
        target = self.spool.add(name)
        part = target.with_name(f".{os.getpid()}-{threading.get_ident()}.part")
        try:
            size, damage = self._copy(part, stream)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        with contextlib.suppress(Exception):
            raw.drain()
        sha, text_sha = raw.sha.hexdigest(), stream.sha.hexdigest()
        self.out.files.append(EvidenceFile(name, target, size, True, sha, text_sha, modified))
        if damage is not None:
            self.out.refused.append(_refused(name, damage))

    def _copy(self, target: Path, stream: Stream) -> tuple[int, Exception | None]:
        """Write `stream` with holes for zeros. Return its size, and what stopped it before its end. Raise `Refusal`."""
        size, damage = 0, None
        with target.open("wb") as file:
            while True:
                try:
                    data = stream.read()
                except Exception as error:
                    data, damage = b"", error
                if not data:
                    file.truncate(size)
                    return size, damage
                size += len(data)
                is_hole = data == _ZEROS[: len(data)]
                if is_hole:
                    file.seek(size)
                else:
                    file.write(data)
                self._spend(len(data), 0 if is_hole else len(data))

    def _spend(self, size: int, stored: int) -> None:
        """Count what was unpacked. Raise `Refusal` for an absurd ratio."""
        self.spool.spend(stored)
        self._unpacked += size
        self._stored += stored
        packed = self.info.st_size
        if self._stored > max(RATIO_FREE, MAX_RATIO * packed) or self._unpacked > max(TOTAL_FREE, 1000 * packed):
            raise Refusal("ratio")


def _blocks(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    """Yield a member of a streamed tar up to where that breaks off, which tarfile's own reader loses."""
    if info.issparse():
        yield from streams.blocks(cast("IO[bytes]", tar.extractfile(info)))
        return
    source, left = cast("IO[bytes]", tar.fileobj), info.size
    source.seek(info.offset_data)
    while left:
        data = source.read(min(BLOCK, left))
        if not data:
            raise EOFError("breaks off")
        left -= len(data)
        yield data


def _refused(name: str, error: Exception) -> Refused:
    """Return why a packed file was not read to its end. Errors of the system have a number: they may be temporary."""
    if isinstance(error, Refusal):
        return Refused(name, error.reason)
    if disk.is_full(error):
        return Refused(name, "space")
    if isinstance(error, OSError) and error.errno:
        return refusal(name, error)
    return Refused(name, "damaged", str(error)[:200])


# --- names, times and places of members ------------------------------------------------------------------------------


def shown_name(name: str, *, windows: bool = False) -> str:
    """Return a member's name as it is shown. Raise `Refusal` if it is absolute or leads out of the archive."""
    if windows:
        name = name.replace("\\", "/")
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\0" in name or (windows and ":" in parts[0]):
        raise Refusal("outside")
    return "/".join(p for p in parts if p not in ("", "."))


def sane(seconds: float) -> float | None:
    """Return a modification time in seconds since 1970, None if it is implausible."""
    return float(seconds) if 10**9 < seconds < 4 * 10**9 else None


def _zip_time(entry: zipfile.ZipInfo) -> float | None:
    """Return the time of change in UTC from the extended timestamp (Info-ZIP, 0x5455); the plain one has no zone."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return sane(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    return None


def _zip_raw(entry: zipfile.ZipInfo) -> bytes:
    return entry.orig_filename.encode("utf-8" if entry.flag_bits & 0x800 else "cp437", "replace")


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 flag are in whatever code page the packer's system had: Chinese Windows writes GBK."""
    if entry.flag_bits & 0x800:
        return entry.filename
    with contextlib.suppress(UnicodeError):
        raw = entry.filename.encode("cp437")
        for encoding in ("utf-8", "gb18030"):
            with contextlib.suppress(UnicodeDecodeError):
                return raw.decode(encoding)
    return entry.filename


def place(folder: Path, name: str) -> Path:
    """Return where a member is stored: its own path below the spool if that is valid, else a hash."""
    parts = name.split("/")
    valid = (0 < len(p.encode("utf-8", "replace")) <= 200 and p.isprintable() and p not in (".", "..") for p in parts)
    if all(valid) and len(name.encode()) < 1500:
        target = folder.joinpath(*parts)
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_dir():
                return target
    target = folder / ".odd" / hashlib.sha256(name.encode("utf-8", "replace")).hexdigest() / "member"
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
