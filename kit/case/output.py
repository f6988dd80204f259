"""The `--out` folder: the kit replaces what it wrote there itself and touches nothing else.

A marker lists every file the kit wrote, with its size and time. New files are written into a hidden folder first and
moved into place at the end, so a command that fails leaves an earlier result unchanged.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kit.evidence import disk
from kit.i18n import Lang, T

MARKER: Final = ".rmq-kit.json"
BUG_REPORT: Final = "bug-report.txt"
"""Results of the last run only: a successful run removes those of an earlier one."""
STAGED: Final = ".rmq-kit-"
LITTER: Final = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that file managers create in folders they open; they are kept."""

LINK = T("{path}: a symbolic link; --out does not follow links", "{path}：是符号链接；--out 不跟随链接")
NOT_FOLDER = T("{path}: not a folder", "{path}：不是文件夹")
FOREIGN = T(
    "{path}: contains {name}, which was not written by this kit; choose an empty or new folder",
    "{path}：其中的 {name} 不是本工具写入的；请选择空目录或新目录",
)
CHANGED = T(
    "{path}: {name} was changed after this kit wrote it; choose an empty or new folder",
    "{path}：{name} 在本工具写入后被修改过；请选择空目录或新目录",
)
BUSY = T("{path}: another command is writing to this folder", "{path}：另一个命令正在写入该目录")
UNWRITABLE = T("{path}: cannot write there: {why}", "{path}：无法写入：{why}")

Written = dict[str, tuple[int, int, str]]
"""File, relative to the folder → size in bytes, time of its last change in ns, the command that wrote it."""


class OutputRefused(ValueError):
    """The folder cannot be used; the message is one line for the user."""


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
        raise OutputRefused(FOREIGN.say(path=str(out), name=path.name).render(lang))
    with one_line(out, lang):
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
    return out


def check(out: Path, lang: Lang = "en", staged: str | None = None) -> None:
    """Raise `OutputRefused` if `out` is a link, no folder, or has what the kit did not write, `staged` aside."""
    if out.is_symlink():
        raise OutputRefused(LINK.say(path=str(out)).render(lang))
    if not out.exists():
        return
    if not out.is_dir():
        raise OutputRefused(NOT_FOLDER.say(path=str(out)).render(lang))
    with one_line(out, lang):
        written, left = _read(out)
        for name, info in _files(out, {*left, staged} if staged else set(left)):
            known = written.get(name)
            if known is None and name.rsplit("/", 1)[-1] not in LITTER:
                raise OutputRefused(FOREIGN.say(path=str(out), name=name).render(lang))
            if known is not None and (not stat.S_ISREG(info.st_mode) or (info.st_size, info.st_mtime_ns) != known[:2]):
                raise OutputRefused(CHANGED.say(path=str(out), name=name).render(lang))


def written_by_others(out: Path, command: str) -> set[Path]:
    """Return files in a folder that other commands of the kit wrote and a run of `command` keeps, relative to it."""
    return {Path(name) for name, (*_, by) in _read(out)[0].items() if by != command and name != BUG_REPORT}


def _files(out: Path, ours: set[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files below `out`, links as links, by name, without the folders `ours` and the marker."""
    for folder, folders, names in os.walk(out):
        here = Path(folder)
        top = here == out
        folders[:] = sorted(name for name in folders if not (here / name).is_symlink() and not (top and name in ours))
        links = [entry.name for entry in os.scandir(folder) if entry.is_symlink() and entry.is_dir()]
        for name in sorted([*names, *links]):
            if not (top and name == MARKER):
                yield (here / name).relative_to(out).as_posix(), (here / name).lstat()


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
        marker: dict[str, Any] = json.loads((out / MARKER).read_text(encoding="utf-8"))
        files = {str(name): (int(size), int(time), str(by)) for name, (size, time, by) in marker["files"].items()}
        # A marker may come with a folder from somebody else: it must not name anything outside of it.
        files = {name: known for name, known in files.items() if not {"", ".."} & set(name.split("/"))}
        return files, [
            name
            for name in marker["unfinished"]
            if str(name).startswith(STAGED) and "/" not in name and not (out / name).is_symlink()
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}, []


def _write(out: Path, files: Written, unfinished: list[str]) -> None:
    disk.write_text(
        out / MARKER,
        json.dumps({"written_by": "rmq-kit", "files": files, "unfinished": unfinished}, indent=0, sort_keys=True),
    )


@contextlib.contextmanager
def alone(out: Path, lang: Lang) -> Iterator[None]:
    """Keep other commands out of a folder. Raise `OutputRefused` if one is there."""
    handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputRefused(BUSY.say(path=str(out)).render(lang)) from None
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
        raise OutputRefused(UNWRITABLE.say(path=str(out), why=error.strerror or str(error)).render(lang)) from None
