"""Streams of packed bytes, recognised by their first bytes: gzip, zstd, tar and UTF-16, read forwards in bounded memory."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import io
import tarfile
from collections.abc import Callable
from typing import Any, Final, Protocol, cast

import pyarrow as pa

HEAD: Final = 1024
"""First bytes that identify an archive."""

CHUNK: Final = 1 << 20
BLOCK: Final = 1 << 16
ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
GZIP: Final = b"\x1f\x8b\x08"
ZSTD: Final = b"\x28\xb5\x2f\xfd"
BZIP2: Final = tuple(b"BZh%d" % level + block for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90"))
XZ: Final = b"\xfd7zXZ\x00"
FOREIGN: Final = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")
_XZ_MEMORY: Final = 256 << 20
"""Most memory for an xz stream, in bytes: its highest level needs 65 MiB."""
_WIDE_LEAST: Final = 64
"""Smallest number of bytes to distinguish text without a byte order mark from numbers."""
_MAX_HEADER: Final = 1 << 20


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class Peek(io.RawIOBase):
    """A forward-only stream whose first bytes can be examined; counts all bytes, and hashes them unless told not to."""

    def __init__(self, stream: Readable) -> None:
        self.source = stream
        self._ahead = b""
        self.count = 0
        self.sha = hashlib.sha256()
        self.hashes = True

    def peek(self, size: int) -> bytes:
        while len(self._ahead) < size and (more := self.source.read(size - len(self._ahead))):
            self._ahead += more
        return self._ahead

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:  # type: ignore[override]
        if self._ahead:
            cut = len(self._ahead) if size < 0 else size
            data, self._ahead = self._ahead[:cut], self._ahead[cut:]
        else:
            data = self.source.read(CHUNK if size < 0 else size)
        self.count += len(data)
        if self.hashes:
            self.sha.update(data)
        return data

    def readinto(self, buffer: Any, /) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def drain(self) -> None:
        """Read to the end, so that the hash is that of the whole."""
        while self.read(CHUNK):
            pass


class Gunzip:
    """Returns the text before damage before it reports the damage."""

    def __init__(self, stream: Peek) -> None:
        self._file = gzip.GzipFile(fileobj=cast("Any", stream), mode="rb")

    def read(self, size: int = -1, /) -> bytes:
        return self._file.read1(size)


class Unzstd:
    """Arrow's reader, because zstandard's own treats a truncated frame as complete."""

    def __init__(self, stream: Peek) -> None:
        self._file = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")

    def read(self, size: int = -1, /) -> bytes:
        return self._file.read(min(size, BLOCK) if size >= 0 else BLOCK)


class Unpack:
    """bzip2 and xz: concatenated streams are one, and text before damage is returned before the damage is reported."""

    def __init__(self, stream: Peek) -> None:
        self._stream, self._is_xz = stream, stream.peek(len(XZ)) == XZ
        self._stage = self._begin()

    def _begin(self) -> Any:
        # A Python may be built without either.
        if self._is_xz:
            import lzma

            return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        import bz2

        return bz2.BZ2Decompressor()

    def read(self, size: int = -1, /) -> bytes:
        """Return some of the text. Raise `EOFError` for a truncated stream, `ValueError` for an invalid one."""
        most = min(size, BLOCK) if size >= 0 else BLOCK
        while True:
            given = b""
            if self._stage.eof:
                # Streams of xz are padded with zeros.
                given = self._stage.unused_data.lstrip(b"\0")
                while not given and (more := self._stream.read(BLOCK)):
                    given = more.lstrip(b"\0")
                if not given:
                    return b""
                self._stage = self._begin()
            elif self._stage.needs_input and not (given := self._stream.read(BLOCK)):
                raise EOFError("breaks off")
            try:
                data: bytes = self._stage.decompress(given, most)
            except Exception as error:
                raise ValueError(str(error)) from error
            if data:
                return data


class Utf8:
    """A UTF-16 text as UTF-8: Windows' shells write logs in UTF-16, and all readers of lines need ASCII as single bytes."""

    def __init__(self, stream: Peek, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def read(self, size: int = -1, /) -> bytes:
        """Return some of the text; half a character at the end of the file becomes U+FFFD."""
        while data := self._stream.read(min(size, BLOCK) if size >= 0 else BLOCK):
            if text := self._decoder.decode(data):
                return text.encode()
        return self._decoder.decode(b"", final=True).encode()


def single(head: bytes) -> Callable[[Peek], Readable] | None:
    """Return how a compression of a single stream is read, by its first bytes; None for anything else."""
    if head.startswith((*BZIP2, XZ)):
        return Unpack
    return Gunzip if head.startswith(GZIP) else Unzstd if head.startswith(ZSTD) else None


def wide(head: bytes) -> str | None:
    """Return the encoding of a UTF-16 text, None for anything else: recognised by its byte order mark, or by zeros in every
    other byte where it is ASCII, if the decoded characters are printable, some of them ASCII.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16" if _reads(head, "utf-16", 0.2) else None
    zeros = [head[first::2].count(0) for first in (0, 1)]
    if len(head) < _WIDE_LEAST or min(zeros) * 20 > max(zeros) or max(zeros) * 10 < len(head):
        return None
    encoding = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    return encoding if _reads(head, encoding, 0.5) else None


def _reads(head: bytes, encoding: str, ascii_share: float) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    plain = sum(c.isascii() for c in text)
    shown = sum(c.isprintable() or c in "\t\r\n\f\x1b" for c in text)
    return bool(text) and shown >= 0.95 * len(text) and plain >= ascii_share * len(text)


class TarInfo(tarfile.TarInfo):
    """A member whose extended header has a limited size."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.type in (b"L", b"K", b"x", b"g", b"X") and self.size > _MAX_HEADER:
            raise tarfile.ReadError("extended header too long")
        return cast("Any", super())._proc_member(tar)


def is_tar(head: bytes) -> bool:
    """Return whether it is a tar header, by its checksum: the letters `ustar` alone can be in any message body."""
    if len(head) < 512 or not any(head[:100]):
        return False
    with contextlib.suppress(ValueError):
        said = int(head[148:156].split(b"\0")[0].strip() or b"-1", 8)
        return said == sum(head[:148]) + 8 * 32 + sum(head[156:512])
    return False


def is_packed(head: bytes) -> bool:
    """Return whether a file that begins with `head` is an archive of any kind, or a text to be converted to UTF-8."""
    return head.startswith((*ZIP, GZIP, ZSTD, *BZIP2, XZ, *FOREIGN)) or is_tar(head) or wide(head) is not None
