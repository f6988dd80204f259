"""The cache: unpacked members, Parquet tables and results, one folder an evidence, keyed by what the evidence holds.

Everything is written beside its place and renamed into it, under a lock, so a command killed at any moment, or two at
once, leave no half table.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs

DONE: Final = "_SUCCESS"
"""The marker of a complete table, by the name Spark gives it; lists the table's Parquet files."""


class WorkspaceInside(ValueError):
    """The workspace would lie inside the evidence."""


def default_base() -> Path:
    """Return the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rmq-kit")


def base(workspace: Path | str | None, evidence: Path) -> Path:
    """Return the folder all workspaces are in. Raise `WorkspaceInside` where it is the evidence or below it."""
    chosen = Path(workspace) if workspace is not None else default_base()
    here, there = evidence.resolve(), chosen.resolve()
    if there == here or here in there.parents:
        raise WorkspaceInside(str(chosen))
    return there


READING: Final = ("rocketmq", "evidence", "formats", "inventory", "spark")
"""The folders whose code decides what a table holds."""


@cache
def code_hash(*packages: str) -> str:
    """Return a digest of the kit's own code below these folders of the package: results of other code are not read."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in packages or (".",):
        for path in sorted((root / package).rglob("*.py")) if (root / package).is_dir() else [root / package]:
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file; a second process waits. The lock ends with the process, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


@attrs.frozen
class Workspace:
    """The folder of one evidence."""

    folder: Path

    @property
    def tables(self) -> Path:
        return self.folder / "tables"

    @classmethod
    def for_evidence(cls, evidence: Path, workspace: Path | str | None, content_key: str) -> Workspace:
        """Return the workspace of an evidence with this content; made where it is not there yet."""
        folder = base(workspace, evidence) / "cases" / content_key[:32]
        folder.mkdir(parents=True, exist_ok=True)
        about = folder / "about.json"
        if not about.exists():
            write_text(about, json.dumps({"evidence": str(evidence.resolve()), "content_key": content_key}))
        os.utime(about)
        return cls(folder)

    def table(self, name: str) -> Path | None:
        """Return the folder of a complete table, None where it is not there."""
        folder = self.tables / name
        return folder if (folder / DONE).exists() else None

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path | None]:
        """Hand out an empty folder to write a table into, or None where it is complete already; it appears whole or not
        at all.
        """
        with locked(self.folder / "locks" / f"{name.replace('/', '_')}.lock"):
            if self.table(name):
                yield None
                return
            final = self.tables / name
            part = self.folder / "tmp" / f"{name.replace('/', '_')}-{os.getpid()}-{time.monotonic_ns()}"
            part.mkdir(parents=True)
            try:
                yield part
                (part / DONE).write_text(
                    "".join(f"{file.name}\n" for file in sorted(part.glob("*.parquet"))), encoding="utf-8"
                )
                final.parent.mkdir(parents=True, exist_ok=True)
                if final.exists():
                    shutil.rmtree(final)
                part.rename(final)
            finally:
                shutil.rmtree(part, ignore_errors=True)

    def adopt(self, name: str, part: Path) -> bool:
        """Link into `part` the files of a table that another evidence in this cache has under the same name; False
        where none has.

        Tables are named by what they hold, so an evidence to which a file was added has all tables that do not read it.
        """
        for done in sorted(self.folder.parent.glob(f"*/tables/{name}/{DONE}")):
            try:
                for called in done.read_text(encoding="utf-8").splitlines():
                    _link(done.parent / called, part / called)
            except OSError:  # cleaned meanwhile
                for file in part.iterdir():
                    file.unlink()
                continue
            return True
        return False

    def read_json(self, name: str) -> Any | None:
        """Return a kept JSON value, None where there is none that can be read."""
        try:
            return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write_json(self, name: str, value: Any) -> None:
        write_text(self.folder / f"{name}.json", json.dumps(value, ensure_ascii=False))


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except OSError:  # a file system without links; for a file that is gone the copy fails as well
        shutil.copyfile(file, target)


@attrs.frozen
class Kept:
    """One workspace as `workspace list` shows it. `bytes` on disk; `used`: seconds since 1970 it was last opened."""

    folder: Path
    evidence: str
    bytes: int
    used: float


def _size(folder: Path) -> int:
    """Return the bytes on disk; a file with several names counts in parts."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            info = path.lstat()
            total += info.st_blocks * 512 // (1 if path.is_dir() else info.st_nlink)
    return total


def kept(workspace: Path | str | None = None) -> list[Kept]:
    """Return every workspace in the cache, last used first; unpacked members count for the evidence they came from."""
    root = Path(workspace) if workspace is not None else default_base()
    spools: dict[str, set[Path]] = {}
    for spool in (root / "spool").glob("*/inventory-*.json"):
        with contextlib.suppress(OSError, ValueError):
            spools.setdefault(json.loads(spool.read_text(encoding="utf-8"))["content_key"], set()).add(spool.parent)
    found = []
    for about in (root / "cases").glob("*/about.json"):
        with contextlib.suppress(OSError, ValueError):
            said = json.loads(about.read_text(encoding="utf-8"))
            size = _size(about.parent) + sum(map(_size, spools.get(said["content_key"], ())))
            found.append(Kept(about.parent, said["evidence"], size, about.stat().st_mtime))
    return sorted(found, key=lambda k: -k.used)


def clean(workspace: Path | str | None = None) -> int:
    """Remove every workspace, all unpacked members and what was copied from elsewhere. Return the bytes freed. What is
    not the kit's stays.
    """
    root = Path(workspace) if workspace is not None else default_base()
    freed = 0
    for name in ("cases", "spool", "remote"):
        if (root / name).is_dir():
            freed += _size(root / name)
            shutil.rmtree(root / name)
    return freed
