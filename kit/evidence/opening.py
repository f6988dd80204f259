"""A path → its plain files, with archives unpacked into the cache."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs

from kit.evidence import archives
from kit.evidence.files import EvidenceFile, Opened, open_readonly, plain, refusal, walk


def _dated(opened: Opened, modified: float) -> Opened:
    """Give a packed log's time to the log in it; an archive's time means nothing for its members."""
    if not opened.archives:
        opened.files[:] = [attrs.evolve(f, modified=modified) for f in opened.files]
    return opened


def open_evidence(path: Path, spool: Path) -> Opened:
    """Return the plain files of `path` (a folder, an archive or one file); archives and `.gz` files are unpacked into `spool`.

    Raise `FileNotFoundError` if `path` does not exist.
    """
    root = Path(path).resolve(strict=True)
    found, refused = walk(root)
    out = Opened([], refused)
    spooler = archives.Spooler(spool)

    def take(item: tuple[str, Path, os.stat_result]) -> Opened:
        name, where, info = item
        try:
            with open_readonly(where) as stream:
                packed = archives.is_packed(stream.read(archives.HEAD))
                if not packed:
                    return Opened([EvidenceFile(name, plain(where, spool), info.st_size, modified=info.st_mtime)], [])
                stream.seek(0)
                return _dated(spooler.unpack(name, stream, info.st_size), info.st_mtime)
        except Exception as error:
            return Opened([], [refusal(name, error)])

    with ThreadPoolExecutor(min(4, os.cpu_count() or 2)) as pool:
        for part in pool.map(take, found):
            out.files.extend(part.files)
            out.refused.extend(part.refused)
            out.archives.extend(part.archives)
    out.files.sort(key=lambda f: f.file)
    out.refused.sort(key=lambda r: (r.file, r.reason))
    return out
