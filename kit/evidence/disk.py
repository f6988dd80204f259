"""Files that the kit itself writes: complete or not at all, private to their owner, locked while in use."""

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

IN_USE: Final = "in-use.lock"
"""A file in the folder of each case and each spool: locked while a process works there."""
_NUMBERS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NUMBER: Final = f"(?:{'|'.join(map(str, _NUMBERS))})"
_FULL: Final = re.compile(
    r"java\.\S*Exception: (?:No space left on device|Disk quota exceeded)"
    r"|Error encountered while finalizing writes"  # all that DataFusion says of it
    rf"|^OSError: \[Errno {_NUMBER}\]|\(os error {_NUMBER}\)",
    re.MULTILINE,
)


def is_full(error: BaseException | None) -> bool:
    """Return whether a full disk or a limit of file sizes caused an error; of Spark's own errors the text says so."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        spark = type(error).__module__.partition(".")[0] in ("py4j", "pyspark")
        if getattr(error, "errno", None) in _NUMBERS or (spark and _FULL.search(str(error))):
            return True
        error = error.__cause__ or error.__context__
    return False


def free(place: Path) -> int:
    """Return the bytes left on the disk where a file or folder is, or would be."""
    return shutil.disk_usage(next(path for path in (place, *place.resolve().parents) if path.exists())).free


def private(folder: Path) -> Path:
    """Create a folder that only its owner may read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def seal(folder: Path) -> None:
    """Remove other users' permissions from the files and folders below an existing folder."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


def part_of(path: Path) -> Path:
    """Return the temporary path of a file before it is renamed: a different one for every process and thread."""
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write a file: it appears at `path` when the block ends without an error, complete or not at all."""
    part = part_of(path)
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file; a second process waits. The lock ends with the process, however it ends."""
    private(path.parent)
    with _lock_file(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


def _lock_file(path: Path) -> IO[str]:
    return open(path, "a", opener=lambda name, flags: os.open(name, flags, 0o600))


def hold(folder: Path) -> IO[str]:
    """Keep every process from cleaning a folder, created if absent, while the returned file is open."""
    while True:
        private(folder)
        with contextlib.suppress(FileNotFoundError):
            file = _lock_file(folder / IN_USE)
            fcntl.flock(file, fcntl.LOCK_SH)
            if os.fstat(file.fileno()).st_nlink:
                return file
            file.close()  # cleaned between the two


@contextlib.contextmanager
def unused(folder: Path) -> Iterator[bool]:
    """Lock a folder that no process uses; yield False if one does."""
    with _lock_file(folder / IN_USE) as file:
        yield lock_now(file)


def lock_now(file: IO[str] | int) -> bool:
    """Lock an open file or folder until it is closed; return False if another process has locked it."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


@contextlib.contextmanager
def temporary() -> Iterator[None]:
    """Let everything this process writes into the temporary directory be in one folder there, gone with the block."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            own = tempfile.TemporaryDirectory(prefix="rmq-kit-run-", ignore_cleanup_errors=True)
            stack.callback(own.cleanup)
            stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
            tempfile.tempdir = own.name
        yield


def write_text(path: Path, text: str, *, private: bool = False, durable: bool = True) -> None:
    """Write a file completely or not at all. `private`: only its owner may read it; `durable`: it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if private else 0o666)
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a handle
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())


def write_json(path: Path, content: Any) -> None:
    """Write a file that a user asked for as JSON: keys in their order, UTF-8, one trailing newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:  # one of writing, unlike one of opening, names no file
        error.filename = error.filename or str(path)
        raise
