"""A path → its plain files, archives unpacked into the cache: zip, tar, gzip, bzip2, xz, zstd, by their first bytes.

Nothing an archive declares is trusted: sizes are counted, names never become paths unchecked, memory is bounded.
Blocks of zeros cost no disk: a commitlog is mostly unwritten, and compresses ten thousand to one.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import datetime as dt
import gzip
import hashlib
import io
import os
import shutil
import struct
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast

import pyarrow as pa

from kit.evidence import disk, machine
from kit.evidence.files import EvidenceFile, Opened, Refused, open_readonly, plain, refusal, valid_text, walk

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
HEAD: Final = 1024
"""First bytes that identify an archive."""
BLOCK: Final = 1 << 16
"""Bytes read at once: what is lost before damage is less than that."""
ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
GZIP: Final = b"\x1f\x8b\x08"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
BZIP2: Final = tuple(b"BZh%d" % level + block for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90"))
XZ: Final = b"\xfd7zXZ\x00"
FOREIGN: Final = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")
PACKED: Final = (*ZIP, GZIP, ZSTD, *BZIP2, XZ, *FOREIGN)
_XZ_MEMORY: Final = 256 << 20
"""Most memory for an xz stream, in bytes: its highest level needs 65 MiB."""
_WIDE_LEAST: Final = 64
"""Smallest number of bytes to distinguish text without a byte order mark from numbers."""
_MAX_HEADER: Final = 1 << 20
_ZEROS: Final = bytes(BLOCK)
_ONE_FILE: Final = frozenset({"[Content_Types].xml", "META-INF/MANIFEST.MF"})
"""A member of a jar or an office file, each of which counts as one file, but for a workbook's sheets."""
_WORKBOOK_MOST: Final = 128 << 20
"""Most unpacked bytes of a workbook, which is read as a whole."""
_FATAL: Final = ("ratio", "members", "space")
"""Reasons to read nothing more of an archive."""


class Refusal(Exception):
    """A member, or a whole archive, must not be read further; said by a key of `kit.evidence.files.REASONS`."""


def open_evidence(path: Path, spool: Path) -> Opened:
    """Return the plain files of a folder, an archive or one file, unpacked into `spool`. Raise `FileNotFoundError`."""
    root = Path(path).resolve(strict=True)
    files, refused = walk(root)
    spool.mkdir(parents=True, exist_ok=True)
    members: set[str] = set()

    def take(item: tuple[str, Path, os.stat_result]) -> Opened:
        name, where, info = item
        try:
            with open_readonly(where) as file:
                head = file.peek(HEAD)[:HEAD]
                if head.startswith(PACKED) or is_tar(head) or wide(head):
                    return _Packed(spool, members, where, info).unpack(name, file)
                return Opened([EvidenceFile(name, plain(where, spool), info.st_size, modified=info.st_mtime)], [])
        except Exception as error:
            return Opened([], [refusal(name, error)])

    with ThreadPoolExecutor(min(4, machine.cores())) as pool:
        parts = list(pool.map(take, files))
    refused += [each for part in parts for each in part.refused]
    return Opened(
        sorted((each for part in parts for each in part.files), key=lambda f: f.file),
        sorted(refused, key=lambda r: (r.file, r.reason)),
        [each for part in parts for each in part.archives],
    )


class _Packed:
    """One packed file of the evidence, and what comes out of it. `members`: the names of what was unpacked of all."""

    def __init__(self, spool: Path, members: set[str], path: Path, info: os.stat_result) -> None:
        self.spool, self.members, self.path, self.info = spool, members, path, info
        self.out = Opened([], [])
        self._unpacked = self._stored = 0

    def unpack(self, name: str, file: IO[bytes]) -> Opened:
        """An archive's time means nothing for its members, a packed log's is the log's."""
        raw = Stream(blocks(file))
        with self._noting(name):
            self._take(name, raw, self.info.st_mtime, 0)
        sha = raw.digest()
        if [each.file for each in self.out.files] != [name]:
            self.out.archives.append(EvidenceFile(name, Path(), self.info.st_size, sha))
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

    def _take(self, name: str, raw: Stream, modified: float | None, depth: int) -> None:
        """Read a file or member from its own bytes, as packed."""
        stream = unpacked(raw)
        head = stream.peek(HEAD)
        if head.startswith(FOREIGN):
            raise Refusal("unsupported")
        if not (head.startswith(ZIP) or is_tar(head)):
            encoding = wide(head)
            if encoding:  # as Windows' shells write logs; half a character at the end becomes U+FFFD
                texts = codecs.iterdecode(iter(stream.read, b""), encoding, "replace")
                stream = Stream(text.encode() for text in texts)
            self._write(name, stream, raw, modified)
            return
        if depth >= MAX_DEPTH:
            raise Refusal("nested")
        # The digest of a tar that was packed once more is asked for by nobody.
        stream.hashes = stream is raw
        if not head.startswith(ZIP):
            self._members(name, _of_tar(stream), depth)
        elif depth == 0 and stream is raw:
            self._zip(name, self.path, modified, depth)
        else:
            # The directory of a zip is at its end: of one in another archive a copy is made.
            copy = disk.part_of(place(self.spool, name))
            try:
                _, damage = self._copy(copy, stream)
                self._zip(name, copy, modified, depth)
                if damage is not None:
                    raise damage
            finally:
                copy.unlink(missing_ok=True)

    def _zip(self, name: str, path: Path, modified: float | None, depth: int) -> None:
        with open_readonly(path) as file, zipfile.ZipFile(file) as archive:
            if "xl/workbook.xml" in archive.NameToInfo:
                self._members(name, _of_workbook(archive, path), depth)
                return
            if not _ONE_FILE & archive.NameToInfo.keys():
                self._members(name, _of_zip(archive), depth)
                return
            file.seek(0)
            whole = Stream(blocks(file))
            self._write(name, whole, whole, modified)

    def _members(self, name: str, members: Iterable[_Member], depth: int) -> None:
        for member, reason, modified, data in members:
            with self._noting(f"{name}!/{member}", is_member=True):
                if reason:
                    raise Refusal(reason)
                parts = member.split("/")
                if member.startswith("/") or ".." in parts or "\0" in member:
                    raise Refusal("outside")
                shown = "/".join(part for part in parts if part not in ("", "."))
                self._take(f"{name}!/{shown}", Stream(data), modified, depth + 1)

    def _write(self, name: str, stream: Stream, raw: Stream, modified: float | None) -> None:
        if name in self.members or len(self.members) >= MAX_MEMBERS:
            raise Refusal("duplicate" if name in self.members else "members")
        self.members.add(name)
        target = place(self.spool, name)
        with disk.replacing(target) as part:
            size, damage = self._copy(part, stream)
        self.out.files.append(EvidenceFile(name, target, size, raw.digest(), stream.sha.hexdigest(), modified))
        if damage is not None:
            self.out.refused.append(_refused(name, damage))

    def _copy(self, target: Path, stream: Stream) -> tuple[int, Exception | None]:
        """Write `stream` with holes for zeros. Return its size, and what stopped it before its end. Raise `Refusal`."""
        size, damage, packed = 0, None, self.info.st_size
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
                if data == _ZEROS[: len(data)]:
                    file.seek(size)
                else:
                    file.write(data)
                    self._stored += len(data)
                    if shutil.disk_usage(self.spool).free < KEEP_FREE:
                        raise Refusal("space")
                self._unpacked += len(data)
                many_zeros = self._unpacked > max(TOTAL_FREE, 1000 * packed)
                if many_zeros or self._stored > max(RATIO_FREE, MAX_RATIO * packed):
                    raise Refusal("ratio")


def _refused(name: str, error: Exception) -> Refused:
    """Return why a packed file was not read to its end. Errors of the system have a number: they may be temporary."""
    if isinstance(error, Refusal):
        return Refused(name, str(error))
    if disk.is_full(error):
        return Refused(name, "space")
    if isinstance(error, NotImplementedError):  # such as Deflate64, in which Windows packs what is larger than 2 GiB
        return Refused(name, "unsupported")
    if isinstance(error, OSError) and error.errno:
        return refusal(name, error)
    return Refused(name, "damaged", str(error)[:200])


# --- members of either kind of archive --------------------------------------------------------------------------------

_Member = tuple[str, str, float | None, Iterator[bytes]]
"""One in its archive's order: its name, why it must not be read, seconds since 1970 of its change, its bytes."""


def _of_tar(stream: Stream) -> Iterator[_Member]:
    source: Any = stream
    with tarfile.open(fileobj=source, mode="r|", bufsize=BLOCK, tarinfo=TarInfo, errors="surrogateescape") as tar:
        for info in tar:
            if not info.isdir():
                reason = "" if info.isreg() else "link" if info.issym() or info.islnk() else "special"
                yield valid_text(info.name), reason, sane(info.mtime), _blocks(tar, info)
            tar.members = []  # type: ignore[attr-defined] # a streamed tar remembers every member otherwise


def _blocks(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    """Yield a member of a streamed tar up to where that breaks off, which tarfile's own reader loses."""
    if info.issparse():
        yield from blocks(cast("IO[bytes]", tar.extractfile(info)))
        return
    source, left = cast("IO[bytes]", tar.fileobj), info.size
    source.seek(info.offset_data)
    while left:
        data = source.read(min(BLOCK, left))
        if not data:
            raise EOFError("breaks off")
        left -= len(data)
        yield data


def _of_zip(archive: zipfile.ZipFile) -> Iterator[_Member]:
    """Raise `Refusal` if members share bytes, by which a small zip becomes any size."""
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    ends = [entry.header_offset + 30 + entry.compress_size for entry in entries]
    if any(end > behind.header_offset for end, behind in zip(ends, entries[1:], strict=False)):
        raise Refusal("overlap")
    for entry in entries:
        if not entry.is_dir():
            is_link = entry.create_system == 3 and (entry.external_attr >> 28) == 0xA
            reason = "encrypted" if entry.flag_bits & 0x1 else "link" if is_link else ""
            yield _zip_name(entry), reason, _zip_time(entry), _unzipped(archive, entry)


def _of_workbook(archive: zipfile.ZipFile, path: Path) -> Iterator[_Member]:
    """Yield each sheet of a workbook as CSV."""
    from python_calamine import CalamineWorkbook

    if sum(entry.file_size for entry in archive.infolist()) > _WORKBOOK_MOST:
        raise Refusal("ratio")
    book = CalamineWorkbook.from_path(str(path))
    for name in book.sheet_names:
        text = io.StringIO()
        rows = book.get_sheet_by_name(name).iter_rows()
        csv.writer(text, lineterminator="\n").writerows([_of_sheet(value) for value in row] for row in rows)
        yield f"{name}.csv", "", None, iter([text.getvalue().encode("utf-8", "replace")])


def _of_sheet(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a workbook has no whole numbers
    return value.isoformat(sep=" ", timespec="milliseconds") if isinstance(value, dt.datetime) else str(value)


def _unzipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as member:
        yield from blocks(member)


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 flag are in whatever code page the packer's system had: Chinese Windows writes GBK."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = valid_text(name.encode("cp437"))
    return name.replace("\\", "/")


def _zip_time(entry: zipfile.ZipInfo) -> float | None:
    """Return the time of change in UTC from the extended timestamp (Info-ZIP, 0x5455); the plain one has no zone."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return sane(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    return None


def sane(seconds: float) -> float | None:
    """Return a modification time in seconds since 1970, None if it is implausible."""
    return float(seconds) if 10**9 < seconds < 4 * 10**9 else None


def place(folder: Path, name: str) -> Path:
    """Return where a member is stored: no file system has to know its name."""
    return folder / hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()


# --- streams of packed bytes, recognised by their first bytes, read forwards in bounded memory ------------------------


class Stream(io.RawIOBase):
    """A forward-only stream of blocks, whose first bytes can be examined; hashes what is read unless told not to."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = filter(None, blocks)
        self._ahead = b""
        self.sha = hashlib.sha256()
        self.hashes = True

    def peek(self, size: int) -> bytes:
        while len(self._ahead) < size and (more := next(self._blocks, b"")):
            self._ahead += more
        return self._ahead[:size]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:  # type: ignore[override]
        data = self._ahead or next(self._blocks, b"")
        cut = len(data) if size < 0 else size
        data, self._ahead = data[:cut], data[cut:]
        if self.hashes:
            self.sha.update(data)
        return data

    def digest(self) -> str:
        """Return the hash of the whole, read to its end if that can be reached."""
        with contextlib.suppress(Exception):
            while self.read():
                pass
        return self.sha.hexdigest()


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a file from where it is."""
    return iter(lambda: file.read(BLOCK), b"")


# --- compressions of one stream: each yields the text before damage, then raises --------------------------------------

_BY_ARROW: Final = dict.fromkeys(BZIP2, "bz2") | {ZSTD: "zstd"}
"""Others' readers take a truncated frame of zstd for a complete one, and a Python may lack bzip2."""


def unpacked(stream: Stream) -> Stream:
    """Return what a compressed stream holds, another stream itself; a `.gz` inside a `.gz` too, as some proxies make."""
    for _ in range(2):
        head = stream.peek(HEAD)
        if head.startswith(GZIP):
            file = gzip.GzipFile(fileobj=cast("Any", stream), mode="rb")
            stream = Stream(iter(partial(file.read1, BLOCK), b""))
        elif head.startswith(XZ):
            stream = Stream(_unxz(stream))
        elif codec := next((codec for begin, codec in _BY_ARROW.items() if head.startswith(begin)), None):
            stream = Stream(blocks(pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), codec)))
    return stream


def _unxz(stream: Stream) -> Iterator[bytes]:
    """Read xz; concatenated streams are one. Raise `EOFError` for a truncated stream."""
    import lzma  # a Python may be built without

    given = b""
    while given := given or stream.read().lstrip(b"\0"):  # streams are padded with zeros
        stage = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        yield stage.decompress(given, BLOCK)
        while not stage.eof:
            given = stream.read() if stage.needs_input else b""
            if stage.needs_input and not given:
                raise EOFError("breaks off")
            yield stage.decompress(given, BLOCK)
        given = stage.unused_data.lstrip(b"\0")


def wide(head: bytes) -> str | None:
    """Return the encoding of a text in UTF-16 (printable; with a byte order mark or half of it ASCII), else None."""
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not marked and (len(head) < _WIDE_LEAST or b"\0" not in head):
        return None
    for encoding in ("utf-16",) if marked else ("utf-16-le", "utf-16-be"):
        with contextlib.suppress(UnicodeDecodeError):
            text = codecs.getincrementaldecoder(encoding)().decode(head)
            printable = sum(c.isprintable() or c in "\t\r\n\f\x1b" for c in text)
            is_known = marked or 2 * sum(map(str.isascii, text)) >= len(text)
            if text and is_known and printable >= 0.95 * len(text):
                return encoding
    return None


class TarInfo(tarfile.TarInfo):
    """A member whose extended header has a limited size: tarfile reads it at once."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.type in (b"L", b"K", b"x", b"g", b"X") and self.size > _MAX_HEADER:
            raise tarfile.ReadError("extended header too long")
        return cast("Any", super())._proc_member(tar)


def is_tar(head: bytes) -> bool:
    """Return whether it is a tar header, by its checksum: the letters `ustar` alone can be in any message body.

    One that is written: without digits it is 0, which the signed sum of a commit log's filler may be too.
    """
    with contextlib.suppress(tarfile.HeaderError):
        tarfile.TarInfo.frombuf(head[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
        return bool(head[148:156].strip(b"\0 "))
    return False
