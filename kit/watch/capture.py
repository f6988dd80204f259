"""The evidence around an alert, copied before it rolls away: an evidence folder that triage opens.

`rmq-kit cut` opens all evidence to choose from it; on a running broker's host that would read every cold page of its store. So only what the watch
has just read is copied: the end of each log, the last records at their own offsets, and small files of settings and offsets.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from kit.evidence import disk, growing
from kit.evidence.files import open_raw, walk
from kit.evidence.growing import Place
from kit.watch.loop import Watch

LOG: Final = 8 << 20
"""Bytes copied from the end of a log."""
STORE: Final = 64 << 20
"""Bytes copied from the end of a commitlog."""
SMALL: Final = 1 << 20
"""Largest file of settings or offsets that is copied, in bytes."""
KEPT: Final = 20
"""Most captures in one folder; later alerts are not captured, so that a watch never fills the disk it warns about."""
SPARE: Final = 1 << 30
"""Bytes kept free on the disk of the captures."""
_SETTINGS: Final = re.compile(r"\.(json|conf|properties|ya?ml|xml)$")


def capture(watch: Watch, name: str, into: Path) -> Path | None:
    """Copy the evidence around an alert into `into/name`; return that folder, None if there is no space."""
    folder = into / re.sub(r"[^\w.-]", "_", name)
    disk.private(into)
    if folder.exists() or sum(1 for each in into.iterdir() if each.is_dir()) >= KEPT:
        return None
    if shutil.disk_usage(into).free < SPARE + STORE:
        return None
    disk.private(folder)
    for root, path in enumerate(watch.roots):
        target = folder / str(root) if len(watch.roots) > 1 else folder
        _logs(path, _of(watch.kept.logs.values(), root), target)
        _records(path, _of(watch.kept.stores.values(), root), target)
        _settings(path, target)
    return folder


def _of(places: Iterable[Place], root: int) -> list[Place]:
    return [place for place in places if place.root == root and not place.gone and place.at > 0]


def _source(root: Path, place: Place) -> Path:
    return root if root.is_file() else root / place.name


def _logs(root: Path, places: Sequence[Place], target: Path) -> None:
    for place in places:
        with contextlib.suppress(OSError), growing.text(_source(root, place)) as plain, open_raw(plain) as stream:
            end = os.fstat(stream.fileno()).st_size
            start = max(0, min(place.at, end) - LOG)
            data = os.pread(stream.fileno(), end - start if end - start < 2 * LOG else 2 * LOG, start)
            # The text of a packed log is stored, so its name must not say that it is packed.
            name = re.sub(r"\.(gz|zst|bz2|xz)$", "", place.name)
            _write(target, name, data[data.find(b"\n") + 1 :] if start else data)


def _records(root: Path, places: Sequence[Place], target: Path) -> None:
    left = STORE
    for place in sorted(places, key=lambda each: each.name, reverse=True):
        with contextlib.suppress(OSError), open_raw(_source(root, place)) as stream:
            start = max(0, place.at - left)
            left -= place.at - start
            path = _file(target, place.name)
            with path.open("wb") as out:
                # The part before is a hole: records keep their positions.
                out.truncate(os.fstat(stream.fileno()).st_size)
                out.seek(start)
                for at in range(start, place.at, 1 << 20):
                    out.write(os.pread(stream.fileno(), min(1 << 20, place.at - at), at))
        if left <= 0:
            return


def _settings(root: Path, target: Path) -> None:
    for name, path, info in walk(root)[0]:
        if info.st_size <= SMALL and _SETTINGS.search(name):
            with contextlib.suppress(OSError), open_raw(path) as stream:
                _write(target, name, stream.read(SMALL))


def _file(target: Path, name: str) -> Path:
    path = target / PurePosixPath(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write(target: Path, name: str, data: bytes) -> None:
    _file(target, name).write_bytes(data)
