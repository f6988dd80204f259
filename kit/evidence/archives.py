"""Archives → plain files in the workspace: zip, tar, gzip, bzip2, xz, zstd, known by their first bytes, up to three deep.

Nothing an archive declares is trusted: sizes are counted while reading, names never become paths unchecked, memory is bounded. Runs of zero
bytes cost no disk: a commitlog is mostly unwritten, and really compresses ten thousand to one.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, cast

import attrs

from kit.evidence import disk, member_names
from kit.evidence.files import EvidenceFile, Opened, Refused, open_readonly, refusal, valid_text
from kit.evidence.streams import (
    BLOCK,
    BZIP2,
    CHUNK,
    FOREIGN,
    GZIP,
    HEAD,
    XZ,
    ZIP,
    ZSTD,
    Gunzip,
    Peek,
    Readable,
    TarInfo,
    Unpack,
    Unzstd,
    Utf8,
    is_packed,
    is_tar,
    wide,
)

__all__ = ["HEAD", "Spooler", "is_packed"]

MAX_DEPTH: Final = 3
"""Archives in archives: a bundle of hosts' bundles of log bundles."""

MAX_MEMBERS: Final = 200_000
MAX_RATIO: Final = 200
RATIO_FREE: Final = 2 * 2**30
"""Up to this size a member may have any compression ratio: no file of a store is larger (its size is an int32), and most are zeros."""
TOTAL_FREE: Final = 16 * 2**30
KEEP_FREE: Final = 512 * 2**20
"""Disk left to others."""

_ZEROS: Final = bytes(CHUNK)
_SINGLE: Final[dict[tuple[bytes, ...], Callable[[Peek], Readable]]] = {
    (GZIP,): Gunzip,
    (ZSTD,): Unzstd,
    (*BZIP2, XZ): Unpack,
}
"""Compressions of a single stream, by first bytes."""


class Spooler:
    """Unpacks into `folder`. Bytes, members and depth are counted over all archives; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._room = shutil.disk_usage(folder).free - KEEP_FREE
        self._names: set[str] = set()
        self._total = 0
        self._packed = 0

    def unpack(self, name: str, stream: Readable, size: int) -> Opened:
        """Return the plain files of one packed file of the evidence."""
        out = Opened([], [])
        whole = Peek(stream)
        with self._lock:
            self._packed += size
        with self._guard(name, out):
            self._take(name, whole, 0, out, lambda: whole.count)
        with contextlib.suppress(Exception):
            whole.drain()
        if [f.file for f in out.files] == [name]:
            out.files[0] = _with_hash(out.files[0], whole.sha.hexdigest())
        else:
            out.archives.append(EvidenceFile(name, Path(), size, sha256=whole.sha.hexdigest()))
        return out

    @contextlib.contextmanager
    def _guard(self, name: str, out: Opened) -> Iterator[None]:
        try:
            yield
        except member_names.Refusal as refusal:
            out.refused.append(Refused(name, refusal.reason))
        except Exception as error:
            out.refused.append(Refused(name, "space") if disk.is_full(error) else _damaged(name, error))

    def _take(
        self, name: str, stream: Peek, depth: int, out: Opened, packed: Callable[[], int], singles: int = 0
    ) -> None:
        head = stream.peek(HEAD)
        if head.startswith(FOREIGN):
            raise member_names.Refusal("unsupported")
        single = next((make for begin, make in _SINGLE.items() if head.startswith(begin)), None)
        if single is not None and singles < 2:
            self._take(name, Peek(single(stream)), depth, out, packed, singles + 1)
        elif head.startswith(ZIP) or is_tar(head):
            if depth >= MAX_DEPTH:
                raise member_names.Refusal("nested")
            # Nobody asks for the digest of what was packed once more, only for those of the file and of each member.
            stream.hashes = not singles
            (self._zip if head.startswith(ZIP) else self._tar)(name, stream, depth, out, packed)
        else:
            encoding = wide(head)
            self._write(name, Peek(Utf8(stream, encoding)) if encoding else stream, out, packed)

    def _tar(self, name: str, stream: Peek, depth: int, out: Opened, packed: Callable[[], int]) -> None:
        with tarfile.open(fileobj=cast("Any", stream), mode="r|", tarinfo=TarInfo, errors="surrogateescape") as tar:
            for info in tar:
                label = f"{name}!/{valid_text(info.name)}"
                if info.isdir():
                    continue
                if info.issym() or info.islnk():
                    out.refused.append(Refused(label, "link"))
                elif not info.isreg():
                    out.refused.append(Refused(label, "special"))
                else:
                    raw = Peek(cast("Readable", tar.extractfile(info)))
                    self._member(
                        name, valid_text(info.name), raw, depth, out, packed, modified=member_names.sane(info.mtime)
                    )
                cast("Any", tar).members = []  # a streamed tar remembers every member otherwise

    def _zip(self, name: str, stream: Peek, depth: int, out: Opened, packed: Callable[[], int]) -> None:
        # A plain file of the evidence needs no copy; a member of a tar is a subclass of its class, but cannot seek.
        if type(stream.source) is io.BufferedReader:
            ahead = stream.source.tell()
            self._zip_file(name, stream.source, depth, out, packed)
            stream.source.seek(ahead)
            return
        kept = self.folder / f".zip-{os.getpid()}-{threading.get_ident()}-{depth}"
        try:
            _, damage = self._copy(kept, stream, packed)
            with open_readonly(kept) as file:
                self._zip_file(name, cast("io.BufferedReader", file), depth, out, packed)
            if damage is not None:
                raise damage
        finally:
            kept.unlink(missing_ok=True)

    def _zip_file(self, name: str, file: io.BufferedReader, depth: int, out: Opened, packed: Callable[[], int]) -> None:
        with zipfile.ZipFile(file) as archive:
            entries = sorted(archive.infolist(), key=lambda e: e.header_offset)
            if {e.filename for e in entries} & {"[Content_Types].xml", "META-INF/MANIFEST.MF"}:
                # A jar or an office file counts as one file.
                file.seek(0)
                self._write(name, Peek(file), out, packed)
                return
            ends = [e.header_offset + 30 + len(member_names.zip_raw(e)) + e.compress_size for e in entries]
            if any(end > nxt.header_offset for end, nxt in zip(ends, entries[1:], strict=False)):
                raise member_names.Refusal("overlap")
            for entry in entries:
                if not entry.is_dir():
                    self._zip_entry(name, archive, entry, depth, out)

    def _zip_entry(self, name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, depth: int, out: Opened) -> None:
        inner = member_names.zip_name(entry)
        label = f"{name}!/{inner}"
        if entry.flag_bits & 0x1:
            out.refused.append(Refused(label, "encrypted"))
        elif entry.create_system == 3 and (entry.external_attr >> 28) == 0xA:
            out.refused.append(Refused(label, "link"))
        elif entry.file_size > RATIO_FREE and entry.file_size > MAX_RATIO * max(1, entry.compress_size):
            out.refused.append(Refused(label, "ratio"))
        else:
            with self._guard(label, out), archive.open(entry) as member:
                raw = Peek(cast("Readable", member))
                self._member(
                    name,
                    inner,
                    raw,
                    depth,
                    out,
                    lambda: entry.compress_size * raw.count // max(1, entry.file_size),
                    windows=True,
                    modified=member_names.zip_time(entry),
                )

    def _member(
        self,
        archive: str,
        inner: str,
        raw: Peek,
        depth: int,
        out: Opened,
        packed: Callable[[], int],
        *,
        windows: bool = False,
        modified: float | None = None,
    ) -> None:
        label = f"{archive}!/{inner}"
        try:
            label = f"{archive}!/{member_names.shown_name(inner, windows=windows)}"
            before = len(out.files)
            self._take(label, raw, depth + 1, out, packed)
            if len(out.files) == before + 1 and out.files[-1].file == label:
                raw.drain()
                out.files[-1] = attrs.evolve(_with_hash(out.files[-1], raw.sha.hexdigest()), modified=modified)
        except member_names.Refusal as refusal:
            out.refused.append(Refused(label, refusal.reason))
            if refusal.reason in ("ratio", "members", "space"):
                raise
        except Exception as error:
            if disk.is_full(error):
                raise
            # What is damaged is this member, an archive itself: those behind it are read all the same.
            out.refused.append(_damaged(label, error))

    def _write(self, name: str, stream: Peek, out: Opened, packed: Callable[[], int]) -> None:
        with self._lock:
            if len(self._names) >= MAX_MEMBERS:
                raise member_names.Refusal("members")
            if name in self._names:
                raise member_names.Refusal("duplicate")
            self._names.add(name)
        target = member_names.place(self.folder, name)
        part = target.with_name(f".{os.getpid()}-{threading.get_ident()}.part")
        try:
            size, damage = self._copy(part, stream, packed)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        digest = stream.sha.hexdigest()
        out.files.append(EvidenceFile(name, target, size, packed=True, sha256=digest, text_sha256=digest))
        if damage is not None:
            out.refused.append(_damaged(name, damage))

    def _copy(self, target: Path, stream: Peek, packed: Callable[[], int]) -> tuple[int, Exception | None]:
        """Write `stream` with holes for zeros. Return its size, and what stopped it before its end."""
        start_packed, size, damage = packed(), 0, None
        with target.open("wb") as file:
            while True:
                try:
                    data = stream.read(CHUNK)
                except member_names.Refusal:
                    raise
                except Exception as error:
                    damage = error
                    break
                if not data:
                    break
                size += len(data)
                if data == _ZEROS[: len(data)]:
                    file.seek(len(data), os.SEEK_CUR)
                else:
                    self._spend(_write_sparse(file, data))
                self._check(size, len(data), max(1, packed() - start_packed))
            file.truncate(size)
        return size, damage

    def _spend(self, stored: int) -> None:
        with self._lock:
            self._room -= stored
            if self._room < 0:
                raise member_names.Refusal("space")

    def _check(self, size: int, more: int, packed: int) -> None:
        with self._lock:
            self._total += more
            absurd = self._total > TOTAL_FREE and self._total > 1000 * self._packed
        if absurd or (size > RATIO_FREE and size > MAX_RATIO * packed):
            raise member_names.Refusal("ratio")


def _damaged(name: str, error: Exception) -> Refused:
    """Return why a packed file was not read to its end. Only errors of the system have a number: they may be temporary."""
    if isinstance(error, OSError) and error.errno:
        return refusal(name, error)
    return Refused(name, "damaged", str(error)[:200])


def _with_hash(file: EvidenceFile, sha256: str) -> EvidenceFile:
    return attrs.evolve(file, sha256=sha256)


def _write_sparse(file: Any, data: bytes) -> int:
    """Write `data` block by block, skipping blocks of zeros. Return the bytes written."""
    stored = 0
    for start in range(0, len(data), BLOCK):
        block = data[start : start + BLOCK]
        if block == _ZEROS[: len(block)]:
            file.seek(len(block), os.SEEK_CUR)
        else:
            stored += file.write(block)
    return stored
