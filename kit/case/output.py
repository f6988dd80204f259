"""The `--out` folder: the kit replaces what it wrote there itself and touches nothing else.

A marker lists every file the kit wrote, with its size and time. New files are written into a hidden folder first, which
the next run removes if this one is killed, and moved into place at the end: where a command fails, nothing changes.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from kit.evidence import disk
from kit.i18n import Lang, labels

MARKER: Final = ".rmq-kit.json"
BUG_REPORT: Final = "bug-report.txt"
"""Results of the last run only: a successful run removes those of an earlier one."""
STAGED: Final = ".rmq-kit-unfinished"
LITTER: Final = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that file managers create in folders they open; they are kept."""

Written = dict[str, tuple[int, int, str]]
"""File, relative to the folder → size in bytes, time of its last change in ns, the command that wrote it."""


class Marker(msgspec.Struct):
    """What the kit wrote into a folder."""

    files: Written = {}
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
    check(out, lang)
    with _staged(out, lang) as staged:
        yield staged
        check(out, lang)
        _publish(out, staged, command)


@contextlib.contextmanager
def fresh(out: Path, lang: Lang = "en") -> Iterator[Path]:
    """Yield an empty folder; when the block ends without an error, what is in it is moved into `out`, which must be
    empty or absent: half an evidence looks like one. Raise `OutputRefused`.
    """
    check(out, lang)
    for path in out.iterdir() if out.exists() else ():
        if path.name != STAGED:
            raise refused("foreign", out, lang, name=path.name)
    with _staged(out, lang) as staged:
        yield staged
        for path in staged.iterdir():
            path.rename(out / path.name)


@contextlib.contextmanager
def _staged(out: Path, lang: Lang) -> Iterator[Path]:
    """Yield an empty folder in `out`, gone afterwards, as is an empty `out` that was not there; others are kept out."""
    created, staged = not out.exists(), out / STAGED
    with contextlib.ExitStack() as cleanup:
        with one_line(out, lang):
            out.mkdir(parents=True, exist_ok=True)
            if created:
                cleanup.callback(_remove_empty, [out])
            cleanup.enter_context(alone(out, lang))
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(0o700)
        cleanup.callback(shutil.rmtree, staged, ignore_errors=True)
        yield staged


def check(out: Path, lang: Lang = "en") -> None:
    """Raise `OutputRefused` if `out` is a link, no folder, or has what the kit did not write."""
    if out.is_symlink():
        raise refused("link", out, lang)
    if not out.exists():
        return
    if not out.is_dir():
        raise refused("not_folder", out, lang)
    with one_line(out, lang):
        written = _read(out)
        for name, info in _files(out):
            known = written.get(name)
            if known is None and name.rsplit("/", 1)[-1] not in LITTER:
                raise refused("foreign", out, lang, name=name)
            if known is not None and (not stat.S_ISREG(info.st_mode) or (info.st_size, info.st_mtime_ns) != known[:2]):
                raise refused("changed", out, lang, name=name)


def written_by_others(out: Path, command: str) -> set[Path]:
    """Return files in a folder that other commands of the kit wrote and a run of `command` keeps, relative to it."""
    return {Path(name) for name, (*_, by) in _read(out).items() if by != command and name != BUG_REPORT}


def _files(out: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files below `out`, links as links, by name, without the marker and what a run has not finished."""
    for path in sorted(out.rglob("*")):
        name, info = path.relative_to(out).as_posix(), path.lstat()
        if not stat.S_ISDIR(info.st_mode) and name != MARKER and name.split("/")[0] != STAGED:
            yield name, info


def _publish(out: Path, staged: Path, command: str) -> None:
    earlier = _read(out)
    new: Written = {name: (info.st_size, info.st_mtime_ns, command) for name, info in _files(staged)}
    _write(out, {**earlier, **new})
    gone = [name for name, (*_, by) in earlier.items() if (by == command or name == BUG_REPORT) and name not in new]
    for name in gone:
        (out / name).unlink(missing_ok=True)
    for name in new:
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (staged / name).replace(target)
    _remove_empty({parent for name in gone for parent in (out / name).parents if out in parent.parents})
    _write(out, {name: known for name, known in {**earlier, **new}.items() if name not in gone})


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in sorted(folders, reverse=True):
        with contextlib.suppress(OSError):  # it is not empty
            folder.rmdir()


def _read(out: Path) -> Written:
    try:
        marker = msgspec.json.decode((out / MARKER).read_bytes(), type=Marker)
    except (OSError, ValueError):
        return {}
    # A marker may come with a folder from somebody else: it must not name anything outside of it.
    return {name: known for name, known in marker.files.items() if not {"", ".."} & set(name.split("/"))}


def _write(out: Path, files: Written) -> None:
    marker = msgspec.json.encode(Marker(dict(sorted(files.items()))))
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


@contextlib.contextmanager
def one_line(out: Path, lang: Lang) -> Iterator[None]:
    """Let a folder that cannot be written to be one sentence for the user (`OutputRefused`)."""
    try:
        yield
    except OSError as error:
        if disk.is_full(error):
            raise
        raise refused("unwritable", out, lang, why=error.strerror or str(error)) from None
