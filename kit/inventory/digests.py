"""SHA-256 of large files, kept by what the file system says of them: evidence that grew by a file hashes that file only."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Final

import msgspec

from kit.evidence import disk
from kit.evidence.files import open_readonly

LARGE: Final = 1 << 20
"""Bytes from which on a file's digest is kept."""


class Digests:
    """The digests of one evidence. A file is the same while its number, size and both its times are: who sets back the
    time of change cannot set back that of the inode.
    """

    def __init__(self, root: Path, spool: Path) -> None:
        """Take what is kept of `root`; `spool` is the folder of the cache where each evidence has one."""
        name = hashlib.sha256(b"digests\0" + os.fsencode(root.resolve())).hexdigest()[:32]
        self._place = spool / name / "digests.json"
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            self._before = msgspec.json.decode(self._place.read_bytes(), type=dict[str, str])

    def of(self, path: Path) -> str:
        """Return the digest of a file's content. Raise `OSError`."""
        key = _identity(path)
        sha = self._before.get(key) or sha256(path)
        if path.stat().st_size >= LARGE and _identity(path) == key:  # else it changed while it was read
            self._now[key] = sha
        return sha

    def keep(self) -> None:
        """Write down the digests of the files that were asked for."""
        if self._now != self._before:
            self._place.parent.mkdir(mode=0o700, exist_ok=True)
            disk.write_text(self._place, json.dumps(self._now, sort_keys=True))


def _identity(path: Path) -> str:
    said = path.stat()
    return f"{said.st_dev}:{said.st_ino}:{said.st_size}:{said.st_mtime_ns}:{said.st_ctime_ns}"


def sha256(path: Path) -> str:
    """Return the digest of a file, read through. Raise `OSError`."""
    digest = hashlib.sha256()
    with open_readonly(path) as stream:
        while data := stream.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()
