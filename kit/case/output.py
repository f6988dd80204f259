"""The `--out` folder: the kit replaces what it wrote there itself and touches nothing else.

A marker lists every file the kit wrote, with its size and time. New files are written into a hidden folder first and
moved into place at the end, so a command that fails leaves an earlier result unchanged.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from kit.evidence import disk
from kit.i18n import Lang, labels

MARKER: Final = ".rmq-kit.json"
BUG_REPORT: Final = "bug-report.txt"
"""Results of the last run only: a successful run removes those of an earlier one."""
STAGED: Final = ".rmq-kit-"
LITTER: Final = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that file managers create in folders they open; they are kept."""

Written = dict[str, tuple[int, int, str]]
"""File, relative to the folder → size in bytes, time of its last change in ns, the command that wrote it."""


class Marker(msgspec.Struct):
    """What the kit wrote into a folder: `files`, and folders of runs that have not ended."""

    files: Written = {}
    unfinished: list[str] = []
    written_by: str = "rmq-kit"


class OutputRefused(ValueError):
    """The folder cannot be used; the message is one line for the user."""


def refused(label: str, out: Path, lang: Lang, **values: Any) -> OutputRefused:
    return OutputRefused(labels("case")["output"][label].say(path=str(out), **values).render(lang))


@contextlib.contextmanager
def into(out: Path, command: str, lang: Lang = "en") -> Iterator[Path]:
    """Yield an empty folder; when the block ends without an error, its files are moved into `out`.

    Files of an earlier run of `command` in `out` are removed then. Raise `OutputRefused` if `out` is a link, is no
    folder, cannot be written to, or contains anything the kit did not write.
    """
    created = not out.exists()
    check(out, lang)
    with contextlib.ExitStack() as cleanup:
        with one_line(out, lang):
            out.mkdir(parents=True, exist_ok=True)
            cleanup.enter_context(alone(out, lang))
            staged = Path(tempfile.mkdtemp(prefix=STAGED, dir=out))
        cleanup.callback(_forget_empty, out, created)
        cleanup.callback(shutil.rmtree, staged, ignore_errors=True)
        earlier, left = _read(out)
        _write(out, earlier, [*left, staged.name])
        for name in left:
            shutil.rmtree(out / name, ignore_errors=True)
        yield staged
        check(out, lang, staged.name)
        _publish(out, staged, earlier, command)


def fresh(out: Path, lang: Lang = "en") -> Path:
    """Create `out`, which must be empty or absent, and return it. Raise `OutputRefused`."""
    check(out, lang)
    for path in out.iterdir() if out.exists() else ():
        raise refused("foreign", out, lang, name=path.name)
    with one_line(out, lang):
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
    return out


def check(out: Path, lang: Lang = "en", staged: str | None = None) -> None:
    """Raise `OutputRefused` if `out` is a link, no folder, or has what the kit did not write, `staged` aside."""
    if out.is_symlink():
        raise refused("link", out, lang)
    if not out.exists():
        return
    if not out.is_dir():
        raise refused("not_folder", out, lang)
    with one_line(out, lang):
        written, left = _read(out)
        for name, info in _files(out, {*left, staged} if staged else set(left)):
            known = written.get(name)
            if known is None and name.rsplit("/", 1)[-1] not in LITTER:
                raise refused("foreign", out, lang, name=name)
            if known is not None and (not stat.S_ISREG(info.st_mode) or (info.st_size, info.st_mtime_ns) != known[:2]):
                raise refused("changed", out, lang, name=name)


def written_by_others(out: Path, command: str) -> set[Path]:
    """Return files in a folder that other commands of the kit wrote and a run of `command` keeps, relative to it."""
    return {Path(name) for name, (*_, by) in _read(out)[0].items() if by != command and name != BUG_REPORT}


def _files(out: Path, ours: set[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files below `out`, links as links, by name, without the folders `ours` and the marker."""
    for path in sorted(out.rglob("*")):
        name, info = path.relative_to(out).as_posix(), path.lstat()
        if not stat.S_ISDIR(info.st_mode) and name != MARKER and name.split("/")[0] not in ours:
            yield name, info


def _publish(out: Path, staged: Path, earlier: Written, command: str) -> None:
    new: Written = {name: (info.st_size, info.st_mtime_ns, command) for name, info in _files(staged, set())}
    _write(out, {**earlier, **new}, [staged.name])
    gone = [name for name, (*_, by) in earlier.items() if (by == command or name == BUG_REPORT) and name not in new]
    for name in gone:
        (out / name).unlink(missing_ok=True)
    for name in new:
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (staged / name).replace(target)
    for parent in sorted(
        {parent for name in gone for parent in (out / name).parents if out in parent.parents}, reverse=True
    ):
        with contextlib.suppress(OSError):  # it is not empty
            parent.rmdir()
    _write(out, {name: known for name, known in {**earlier, **new}.items() if name not in gone}, [])


def _read(out: Path) -> tuple[Written, list[str]]:
    """Return what the marker lists: files, and folders left by killed runs."""
    try:
        marker = msgspec.json.decode((out / MARKER).read_bytes(), type=Marker)
    except (OSError, ValueError):
        return {}, []
    # A marker may come with a folder from somebody else: it must not name anything outside of it.
    files = {name: known for name, known in marker.files.items() if not {"", ".."} & set(name.split("/"))}
    left = [name for name in marker.unfinished if name.startswith(STAGED) and "/" not in name]
    return files, [name for name in left if not (out / name).is_symlink()]


def _write(out: Path, files: Written, unfinished: list[str]) -> None:
    marker = msgspec.json.encode(Marker(dict(sorted(files.items())), unfinished))
    disk.write_text(out / MARKER, msgspec.json.format(marker, indent=1).decode())


@contextlib.contextmanager
def alone(out: Path, lang: Lang) -> Iterator[None]:
    """Keep other commands out of a folder. Raise `OutputRefused` if one is there."""
    handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not disk.lock_now(handle):
            raise refused("busy", out, lang)
        yield
    finally:
        os.close(handle)


def _forget_empty(out: Path, created: bool) -> None:
    """Remove a marker without a result, and a folder that only this run created."""
    if not _read(out)[0]:
        (out / MARKER).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            if created:
                out.rmdir()


@contextlib.contextmanager
def one_line(out: Path, lang: Lang) -> Iterator[None]:
    """Let a folder that cannot be written to be one sentence for the user (`OutputRefused`)."""
    try:
        yield
    except OSError as error:
        if disk.is_full(error):
            raise
        raise refused("unwritable", out, lang, why=error.strerror or str(error)) from None
