"""Decompress message bodies, each up to a limit."""

from __future__ import annotations

import zlib
from typing import Final

import lz4.frame
import zstandard

from kit.formats.commitlog.columns import BAD_BODY, BIG_BODY, LZ4, PLAIN, ZLIB, ZSTD

MOST: Final = 64 << 20
"""Largest body that is unpacked: a message is at most 4 MiB by default, and rarely more."""


def limit(stored: int) -> int:
    """Return how large a stored body may become: zlib expands at most 1032 times, so anything beyond that is an
    attack.
    """
    return min(MOST, (1 << 20) + 1032 * stored)


def _zstd(body: bytes, most: int) -> tuple[bytes, bool]:
    # The window is allocated before the first byte is read: no larger than the result can be (8 MiB: what the
    # highest usual level takes).
    stream = zstandard.ZstdDecompressor(max_window_size=max(8 << 20, 1 << (most - 1).bit_length())).decompressobj()
    parts: list[bytes] = []
    held = 0
    # It returns everything its input unpacks to, and 4 bytes can stand for 128 KiB: it is fed a little at a time.
    for at in range(0, len(body), 512):
        if stream.eof or held > most:
            break
        parts.append(stream.decompress(body[at : at + 512]))
        held += len(parts[-1])
    return b"".join(parts), stream.eof


def unpack(body: bytes, codec: int) -> tuple[bytes | None, int]:
    """Return the body as the application wrote it and 0, or None and the mark that says why not."""
    if codec == PLAIN:
        return body, 0
    most = limit(len(body))
    try:
        if codec == ZLIB:
            inflate = zlib.decompressobj()
            data = inflate.decompress(body, most + 1)
            whole = inflate.eof
        elif codec == LZ4:
            frame = lz4.frame.LZ4FrameDecompressor()
            data = frame.decompress(body, max_length=most + 1)
            whole = frame.eof
        elif codec == ZSTD:
            data, whole = _zstd(body, most)
        else:
            return None, 0
    except (zlib.error, RuntimeError, zstandard.ZstdError, MemoryError, EOFError):
        return None, BAD_BODY
    if len(data) > most:
        return None, BIG_BODY
    return (data, 0) if whole else (None, BAD_BODY)
