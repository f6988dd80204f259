"""SHA-256 of large files, cached by inode, size and times: if a file is added to the evidence, only that file is hashed."""

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
"""Smallest file, in bytes, whose digest is cached."""


class Digests:
    """The digests of one evidence set. A file is the same while its inode, size and both times are: setting back the
    modification time does not set back the inode's.
    """

    def __init__(self, root: Path, spool: Path) -> None:
        """Load the cached digests of `root`; `spool` is the cache folder with one folder for each evidence set."""
        name = hashlib.sha256(b"digests\0" + os.fsencode(root.resolve())).hexdigest()[:32]
        self._place = spool / name / "digests.json"
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            self._before = msgspec.json.decode(self._place.read_bytes(), type=dict[str, str])

    def of(self, path: Path, *, spared: bool = False) -> str | None:
        """Return the digest of a file's content; of one that is `spared` only if it was hashed earlier. Raise `OSError`."""
        key = identity(path)
        sha = self._before.get(key) or (None if spared else sha256(path))
        # Otherwise it is small, or changed while it was read.
        if sha and path.stat().st_size >= LARGE and identity(path) == key:
            self._now[key] = sha
        return sha

    def keep(self) -> None:
        """Store the digests of the files that were requested."""
        if self._now != self._before:
            self._place.parent.mkdir(mode=0o700, exist_ok=True)
            disk.write_text(self._place, json.dumps(self._now, sort_keys=True))


def identity(path: Path) -> str:
    """Return what stays the same while a file does. Raise `OSError`."""
    said = path.stat()
    return f"{said.st_dev}:{said.st_ino}:{said.st_size}:{said.st_mtime_ns}:{said.st_ctime_ns}"


def sha256(path: Path) -> str:
    """Return the digest of a file, read completely. Raise `OSError`."""
    with open_readonly(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
