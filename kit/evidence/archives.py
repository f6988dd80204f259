"""A path → its plain files, with archives unpacked into the cache: zip, tar, gzip, bzip2, xz, zstd, known by their first bytes, also one inside another.

Nothing an archive declares is trusted: sizes are counted while reading, names never become paths unchecked, memory is bounded. Runs of zero
bytes cost no disk: a commitlog is mostly unwritten, and really compresses ten thousand to one.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import struct
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, cast

import attrs

from kit.evidence import disk, streams
from kit.evidence.files import EvidenceFile, Opened, Refused, open_readonly, plain, refusal, valid_text, walk
from kit.evidence.streams import BLOCK, CHUNK, HEAD, Peek, Readable

MAX_DEPTH: Final = 2
"""Archives in archives: a bundle of hosts' bundles."""
MAX_MEMBERS: Final = 200_000
MAX_RATIO: Final = 200
RATIO_FREE: Final = 2 * 2**30
"""Up to this size a member may have any compression ratio: no file of a store is larger (its size is an int32), and most are zeros."""
TOTAL_FREE: Final = 16 * 2**30
KEEP_FREE: Final = 512 * 2**20
"""Disk left to others."""
_ZEROS: Final = bytes(CHUNK)
_ONE_FILE: Final = frozenset({"[Content_Types].xml", "META-INF/MANIFEST.MF"})
"""A member of a jar or an office file, each of which counts as one file."""


class Refusal(Exception):
    """A member, or a whole archive, must not be read further. `reason` is a key of `kit.evidence.files.REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def open_evidence(path: Path, spool: Path) -> Opened:
    """Return the plain files of `path` (a folder, an archive or one file); archives and `.gz` files are unpacked into `spool`.

    Raise `FileNotFoundError` if `path` does not exist.
    """
    root = Path(path).resolve(strict=True)
    found, refused = walk(root)
    spooler = Spooler(spool)

    def take(item: tuple[str, Path, os.stat_result]) -> Opened:
        name, where, info = item
        try:
            with open_readonly(where) as stream:
                packed = streams.is_packed(stream.read(HEAD))
                if not packed:
                    return Opened([EvidenceFile(name, plain(where, spool), info.st_size, modified=info.st_mtime)], [])
                stream.seek(0)
                return spooler.unpack(name, stream, info)
        except Exception as error:
            return Opened([], [refusal(name, error)])

    out = Opened([], refused)
    with ThreadPoolExecutor(min(4, os.cpu_count() or 2)) as pool:
        for part in pool.map(take, found):
            out.files.extend(part.files)
            out.refused.extend(part.refused)
            out.archives.extend(part.archives)
    out.files.sort(key=lambda f: f.file)
    out.refused.sort(key=lambda r: (r.file, r.reason))
    return out


class Spooler:
    """Unpacks into `folder`. Bytes and members are counted over all archives; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._room = shutil.disk_usage(folder).free - KEEP_FREE
        self._names: set[str] = set()
        self._total = 0
        self._packed = 0

    def unpack(self, name: str, stream: Readable, info: os.stat_result) -> Opened:
        """Return the plain files of one packed file of the evidence. An archive's time means nothing for its members, a packed log's is the log's."""
        whole = Peek(stream)
        with self._lock:
            self._packed += info.st_size
        job = _Job(self)
        with job.guard(name):
            job.take(name, whole, whole)
        with contextlib.suppress(Exception):
            whole.drain()
        sha, out = whole.sha.hexdigest(), job.out
        if [f.file for f in out.files] == [name]:
            out.files[0] = attrs.evolve(out.files[0], sha256=sha, modified=info.st_mtime)
        else:
            out.archives.append(EvidenceFile(name, Path(), info.st_size, sha256=sha))
        return out

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

    def check(self, size: int, more: int, packed: int) -> None:
        """Count `more` bytes of a member, `size` so far from so many packed ones. Raise `Refusal` for an absurd ratio."""
        with self._lock:
            self._total += more
            absurd = self._total > TOTAL_FREE and self._total > 1000 * self._packed
        if absurd or (size > RATIO_FREE and size > MAX_RATIO * packed):
            raise Refusal("ratio")


@attrs.define
class _Job:
    """One packed file of the evidence. `packed` is the stream whose bytes the unpacked ones are compared with."""

    spooler: Spooler
    out: Opened = attrs.field(factory=lambda: Opened([], []))

    @contextlib.contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """Note what stops the reading of a file."""
        try:
            yield
        except Refusal as refused:
            self.out.refused.append(Refused(name, refused.reason))
        except Exception as error:
            self.out.refused.append(Refused(name, "space") if disk.is_full(error) else _damaged(name, error))

    def take(self, name: str, stream: Peek, packed: Peek, depth: int = 0, singles: int = 0) -> None:
        head = stream.peek(HEAD)
        if head.startswith(streams.FOREIGN):
            raise Refusal("unsupported")
        single = streams.single(head)
        if single is not None and singles < 2:
            self.take(name, Peek(single(stream)), stream, depth, singles + 1)
        elif head.startswith(streams.ZIP) or streams.is_tar(head):
            if depth >= MAX_DEPTH:
                raise Refusal("nested")
            # Nobody asks for the digest of what was packed once more, only for those of the file and of each member.
            stream.hashes = not singles
            (self._zip if head.startswith(streams.ZIP) else self._tar)(name, stream, packed, depth)
        else:
            encoding = streams.wide(head)
            self._write(name, Peek(streams.Utf8(stream, encoding)) if encoding else stream, packed)

    def _tar(self, name: str, stream: Peek, packed: Peek, depth: int) -> None:
        source: Any = stream
        with tarfile.open(fileobj=source, mode="r|", tarinfo=streams.TarInfo, errors="surrogateescape") as tar:
            for info in tar:
                label = f"{name}!/{valid_text(info.name)}"
                if info.issym() or info.islnk():
                    self.out.refused.append(Refused(label, "link"))
                elif info.isreg():
                    if shown := self._shown(name, valid_text(info.name)):
                        raw = Peek(cast("Readable", tar.extractfile(info)))
                        with self._member(shown, raw, sane(info.mtime)):
                            self.take(shown, raw, packed, depth + 1)
                elif not info.isdir():
                    self.out.refused.append(Refused(label, "special"))
                cast("Any", tar).members = []  # a streamed tar remembers every member otherwise

    def _zip(self, name: str, stream: Peek, packed: Peek, depth: int) -> None:
        # A plain file of the evidence needs no copy; a member of a tar is a subclass of its class, but cannot seek.
        if type(stream.source) is io.BufferedReader:
            ahead = stream.source.tell()
            self._zip_file(name, stream.source, depth)
            stream.source.seek(ahead)
            return
        kept = self.spooler.folder / f".zip-{os.getpid()}-{threading.get_ident()}-{depth}"
        try:
            _, damage = self._copy(kept, stream, packed)
            with open_readonly(kept) as file:
                self._zip_file(name, file, depth)
            if damage is not None:
                raise damage
        finally:
            kept.unlink(missing_ok=True)

    def _zip_file(self, name: str, file: io.BufferedReader, depth: int) -> None:
        with zipfile.ZipFile(file) as archive:
            entries = sorted(archive.infolist(), key=lambda e: e.header_offset)
            if {e.filename for e in entries} & _ONE_FILE:
                file.seek(0)
                whole = Peek(file)
                self._write(name, whole, whole)
                return
            ends = [e.header_offset + 30 + len(_zip_raw(e)) + e.compress_size for e in entries]
            if any(end > nxt.header_offset for end, nxt in zip(ends, entries[1:], strict=False)):
                raise Refusal("overlap")
            for entry in entries:
                if not entry.is_dir():
                    self._zip_entry(name, archive, entry, depth)

    def _zip_entry(self, name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, depth: int) -> None:
        inner = _zip_name(entry)
        label = f"{name}!/{inner}"
        reason = None
        if entry.flag_bits & 0x1:
            reason = "encrypted"
        elif entry.create_system == 3 and (entry.external_attr >> 28) == 0xA:
            reason = "link"
        elif entry.file_size > RATIO_FREE and entry.file_size > MAX_RATIO * max(1, entry.compress_size):
            # No more than its declared size is read of a member.
            reason = "ratio"
        if reason:
            self.out.refused.append(Refused(label, reason))
            return
        if shown := self._shown(name, inner, windows=True):
            with self.guard(shown), archive.open(entry) as member:
                raw = Peek(cast("Readable", member))
                with self._member(shown, raw, _zip_time(entry)):
                    self.take(shown, raw, raw, depth + 1)

    def _shown(self, archive: str, inner: str, *, windows: bool = False) -> str | None:
        """Return the name users see, None for a member that would lead out of its archive."""
        try:
            return f"{archive}!/{shown_name(inner, windows=windows)}"
        except Refusal as refused:
            self.out.refused.append(Refused(f"{archive}!/{inner}", refused.reason))
            return None

    @contextlib.contextmanager
    def _member(self, label: str, raw: Peek, modified: float | None) -> Iterator[None]:
        """Read a member: what is damaged or refused is this one, an archive itself; those behind it are read all the same."""
        before = len(self.out.files)
        try:
            yield
            if len(self.out.files) == before + 1 and self.out.files[-1].file == label:
                raw.drain()
                own = self.out.files[-1]
                self.out.files[-1] = attrs.evolve(own, sha256=raw.sha.hexdigest(), modified=modified)
        except Refusal as refused:
            self.out.refused.append(Refused(label, refused.reason))
            if refused.reason in ("ratio", "members", "space"):
                raise
        except Exception as error:
            if disk.is_full(error):
                raise
            self.out.refused.append(_damaged(label, error))

    def _write(self, name: str, stream: Peek, packed: Peek) -> None:
        target = self.spooler.add(name)
        part = target.with_name(f".{os.getpid()}-{threading.get_ident()}.part")
        try:
            size, damage = self._copy(part, stream, packed)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        digest = stream.sha.hexdigest()
        self.out.files.append(EvidenceFile(name, target, size, packed=True, sha256=digest, text_sha256=digest))
        if damage is not None:
            self.out.refused.append(_damaged(name, damage))

    def _copy(self, target: Path, stream: Peek, packed: Peek) -> tuple[int, Exception | None]:
        """Write `stream` with holes for zeros. Return its size, and what stopped it before its end."""
        start, size = packed.count, 0
        with target.open("wb") as file:
            while True:
                try:
                    data = stream.read(CHUNK)
                except Refusal:
                    raise
                except Exception as error:
                    file.truncate(size)
                    return size, error
                if not data:
                    file.truncate(size)
                    return size, None
                size += len(data)
                self.spooler.spend(_write_sparse(file, data))
                self.spooler.check(size, len(data), max(1, packed.count - start))


def _damaged(name: str, error: Exception) -> Refused:
    """Return why a packed file was not read to its end. Only errors of the system have a number: they may be temporary."""
    if isinstance(error, OSError) and error.errno:
        return refusal(name, error)
    return Refused(name, "damaged", str(error)[:200])


def _write_sparse(file: io.BufferedWriter, data: bytes) -> int:
    """Write `data` block by block, skipping blocks of zeros. Return the bytes written."""
    stored = 0
    for start in range(0, len(data), BLOCK):
        block = data[start : start + BLOCK]
        if block == _ZEROS[: len(block)]:
            file.seek(len(block), os.SEEK_CUR)
        else:
            stored += file.write(block)
    return stored


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
