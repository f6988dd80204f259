"""The cache: unpacked members, Parquet tables and results, one folder for each evidence set, keyed by its content.

Everything is written elsewhere and renamed into place, under a lock: commands killed or run at once leave nothing
partial. It contains message bodies: folders are 0700 and files 0600, but where workers of a cluster have to read them.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, Self

import attrs

from kit.evidence import disk
from kit.evidence.files import notes, valid_text
from kit.i18n import Lang, labels

DONE: Final = "_SUCCESS"
"""The marker of a complete table, by the name Spark gives it."""
READING: Final = ("rocketmq", "evidence", "formats", "inventory", "spark", "case/tables.py")
"""The folders and modules whose code determines the content of tables."""
RUN: Final = "RMQ_KIT_RUN"
"""Environment variable with the name of the process's run."""
RUN_ONLY: Final = "-run-"
"""In the names of results that are valid for one run only."""
ROOMS: Final = ("cases", "spool", "remote")
SAYS: Final = labels("evidence")["workspace"]
_KEY: Final = re.compile(r"[0-9a-f]{32}")


class WorkspaceInside(ValueError):
    """The workspace would be inside the evidence."""


class WorkspaceUnusable(ValueError):
    """The cache cannot be written; the message is one line that names another folder."""


def usable(root: Path, lang: Lang = "en", *, shared: bool = False) -> None:
    """Create the cache folder. Raise `WorkspaceUnusable` if it cannot be written. `shared`: by workers of a cluster."""
    mode = 0o777 if shared else 0o700
    try:
        root.mkdir(mode=mode, parents=True, exist_ok=True)
        for room in ROOMS:
            (root / room).mkdir(mode=mode, exist_ok=True)
        tempfile.TemporaryFile(dir=root).close()
    except OSError as error:
        if disk.is_full(error):
            raise
        other = Path(os.environ.get("TMPDIR") or "/tmp", f"rmq-kit-{os.getuid()}")
        sentence = SAYS["unusable"].say(path=str(root), why=error.strerror or str(error), other=str(other))
        raise WorkspaceUnusable(sentence.render(lang)) from None


def default_base() -> Path:
    """Return the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rmq-kit")


def base(workspace: Path | str | None, evidence: Path) -> Path:
    """Return the parent folder of all workspaces. Raise `WorkspaceInside` if it is the evidence or below it."""
    chosen = Path(workspace) if workspace is not None else default_base()
    root = chosen.resolve()
    if root.is_relative_to(evidence.resolve()):
        raise WorkspaceInside(str(chosen))
    return root


@cache
def code_hash(*packages: str) -> str:
    """Return a digest of the kit's own code and data below these folders: results of other code are not reused."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in packages or (".",):
        parts = [path for path in (root / package).rglob("*") if path.suffix in (".py", ".sql", ".yaml", ".tsv")]
        for path in sorted(parts) or [root / package]:
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@attrs.frozen
class Workspace:
    """The folder of one evidence set."""

    folder: Path
    shared: bool = False
    """Whether the workers of a cluster read it: its files then have the modes of the umask."""
    _held: IO[str] | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def tables(self) -> Path:
        return self.folder / "tables"

    @classmethod
    def for_evidence(
        cls, evidence: Path, workspace: Path | str | None, content_key: str, *, shared: bool = False
    ) -> Self:
        """Return the workspace of evidence with this content, created if absent; not cleaned while the object lives."""
        root = base(workspace, evidence)
        sweep(root)
        folder = root / "cases" / content_key[:32]
        if shared:
            folder.mkdir(parents=True, exist_ok=True)
        place = cls(folder, shared, disk.hold(folder))
        place.write_json("about", {"evidence": valid_text(str(evidence.resolve())), "content_key": content_key})
        if RUN not in os.environ:  # else others read them
            place.forget_passing()
        return place

    def table(self, name: str) -> Path | None:
        """Return the folder of a complete table, None if absent."""
        folder = self.tables / name
        return folder if (folder / DONE).exists() else None

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path | None]:
        """Yield an empty folder for a table, None if it is complete already; it appears completely or not at all."""
        with self._locked(name):
            if self.table(name):
                yield None
                return
            final = self.tables / name
            own = f"{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}"
            part = self.folder / "tmp" / f"{name.replace('/', '_')}-{own}"
            try:
                for folder in (part.parent, part, self.tables, final.parent):
                    folder.mkdir(mode=0o777 if self.shared else 0o700, exist_ok=True)
                yield part
                (part / DONE).touch()
                if not self.shared:
                    disk.seal(part)
                if final.exists():
                    shutil.rmtree(final)
                part.rename(final)
            finally:
                shutil.rmtree(part, ignore_errors=True)

    def read_json(self, name: str) -> Any | None:
        """Return a stored JSON value, None if absent or unreadable."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        return None

    def write_json(self, name: str, value: Any) -> None:
        disk.write_text(self.folder / f"{name}.json", json.dumps(value, ensure_ascii=False), private=not self.shared)

    def forget_passing(self) -> None:
        """Remove tables that lack a file for a reason that may have passed (a drive was away), and all results."""
        for folder in self.tables.glob("*-*"):
            if any(refused.passing for refused in notes(folder)):
                self.forget(folder.name)
                self.forget("results")

    def forget(self, name: str) -> None:
        """Remove a table, so that it is built again the next time."""
        with self._locked(name):
            shutil.rmtree(self.tables / name, ignore_errors=True)

    def _locked(self, name: str) -> contextlib.AbstractContextManager[None]:
        return disk.locked(self.folder / "locks" / f"{name.replace('/', '_')}.lock")


# --- `workspace list` and `clean` -------------------------------------------------------------------------------------


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


def every_workspace(workspace: Path | str | None = None) -> list[dict[str, Any]]:
    """Return every workspace in the cache, last used first: evidence, bytes (on disk; unpacked members count for the
    evidence they came from), used (when it was last opened, in seconds since 1970).
    """
    root = Path(workspace) if workspace is not None else default_base()
    unpacked: dict[str, dict[Path, int]] = {}
    for inventory in (root / "spool").glob("*/inventory-*.json"):
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            key = json.loads(inventory.read_text(encoding="utf-8"))["content_key"]
            unpacked.setdefault(key, {})[inventory.parent] = _size(inventory.parent)
    folders = []
    for about in (root / "cases").glob("*/about.json"):
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            known = json.loads(about.read_text(encoding="utf-8"))
            size = _size(about.parent) + sum(unpacked.get(known["content_key"], {}).values())
            folders.append({"evidence": str(known["evidence"]), "bytes": size, "used": about.stat().st_mtime})
    return sorted(folders, key=lambda known: -known["used"])


def clean(workspace: Path | str | None = None) -> int:
    """Remove the kit's own files but for workspaces in use, remote copies too; return the bytes freed."""
    root = Path(workspace) if workspace is not None else default_base()
    freed = 0
    for room in ROOMS:
        for folder in _keyed(root / room):
            with disk.unused(folder) as unused:
                if unused:
                    freed += _size(folder)
                    shutil.rmtree(folder)
                    folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty, or not there
            (root / room).rmdir()
    return freed


def _keyed(room: Path) -> list[Path]:
    """Return the kit's own folders in a part of the cache: named by a hash, with a lock in them or beside them."""
    folders = sorted(room.iterdir()) if room.is_dir() else []
    named = (path for path in folders if _KEY.fullmatch(path.name) and path.is_dir() and not path.is_symlink())
    return [path for path in named if (path / disk.IN_USE).exists() or path.with_name(f"{path.name}.lock").exists()]


@cache
def sweep(root: Path) -> None:
    """Remove what killed runs left in the cache, once per process; what a running command uses is kept."""
    for folder in (*_keyed(root / "cases"), *_keyed(root / "spool")):
        left = [*folder.glob("tmp/*"), *folder.glob(".*.part"), *folder.glob(f"tables/results/*{RUN_ONLY}*")]
        if folder.parent.name == "spool" and not any(folder.glob("inventory-*.json")):
            left.append(folder / "files")
        if not left:
            continue
        with contextlib.suppress(OSError), disk.unused(folder) as unused:  # else somebody else's, or gone
            for path in left if unused else ():
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
