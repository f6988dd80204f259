"""Streams of packed bytes, recognised by their first bytes, read forwards in bounded memory."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO, Any, Final, cast

import pyarrow as pa

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
_XZ_MEMORY: Final = 256 << 20
"""Most memory for an xz stream, in bytes: its highest level needs 65 MiB."""
_WIDE_LEAST: Final = 64
"""Smallest number of bytes to distinguish text without a byte order mark from numbers."""
_MAX_HEADER: Final = 1 << 20


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

    def drain(self) -> None:
        """Read to the end, so that the hash is that of the whole."""
        while self.read():
            pass


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


def utf8(stream: Stream, encoding: str) -> Iterator[bytes]:
    """Yield a UTF-16 text as UTF-8, as Windows' shells write logs; half a character at its end becomes U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    while data := stream.read():
        yield decoder.decode(data).encode()
    yield decoder.decode(b"", final=True).encode()


def wide(head: bytes) -> str | None:
    """Return the encoding of a UTF-16 text, None for anything else.

    Recognised by its byte order mark, or by zeros in every other byte, if its characters are printable.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16" if _is_text(head, "utf-16", 0) else None
    zeros = [head[first::2].count(0) for first in (0, 1)]
    if len(head) < _WIDE_LEAST or min(zeros) * 20 > max(zeros) or max(zeros) * 10 < len(head):
        return None
    encoding = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    return encoding if _is_text(head, encoding, 0.5) else None


def _is_text(head: bytes, encoding: str, ascii_share: float) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    ascii_ = sum(c.isascii() for c in text)
    printable = sum(c.isprintable() or c in "\t\r\n\f\x1b" for c in text)
    return bool(text) and printable >= 0.95 * len(text) and ascii_ >= ascii_share * len(text)


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


def is_packed(head: bytes) -> bool:
    """Return whether a file that begins with `head` is an archive of any kind, or a text to be converted to UTF-8."""
    return head.startswith((*ZIP, GZIP, *_BY_ARROW, XZ, *FOREIGN)) or is_tar(head) or wide(head) is not None
