"""The state folder of a watch: places, episodes and unsent alerts, so that a new process continues where one was killed.

It contains only what the kit wrote, by its marker; only one watch uses it at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from kit.case.output import BUSY, FOREIGN, LINK, NOT_FOLDER, UNWRITABLE, OutputRefused
from kit.evidence import disk
from kit.evidence.workspace import default_base
from kit.i18n import Lang, labels, printable
from kit.watch.loop import Kept

MARKER: Final = ".rmq-kit-watch.json"
STATE: Final = "state.json"
OWN: Final = frozenset({MARKER, STATE})
SAYS: Final = labels("watch")["state_folder"]


def default(roots: Sequence[Path]) -> Path:
    """Return the default state folder of a watch over these folders."""
    name = hashlib.sha256("\0".join(sorted(str(root.resolve()) for root in roots)).encode("utf-8", "surrogateescape"))
    return default_base() / "watch" / name.hexdigest()[:16]


@contextlib.contextmanager
def alone(folder: Path, lang: Lang = "en") -> Iterator[None]:
    """Create the folder and keep others out of it. Raise `OutputRefused` if it contains anything the kit did not write."""
    if folder.is_symlink():
        raise OutputRefused(LINK.say(path=str(folder)).render(lang))
    if folder.exists() and not folder.is_dir():
        raise OutputRefused(NOT_FOLDER.say(path=str(folder)).render(lang))
    try:
        disk.private(folder)
        found = sorted(path.name for path in folder.iterdir())
        marker = folder / MARKER
        foreign = [name for name in found if name not in OWN and not name.startswith(f".{STATE}.")]
        if foreign or (found and MARKER not in found):
            raise OutputRefused(FOREIGN.say(path=str(folder), name=(foreign or found)[0]).render(lang))
        file = open(marker, "a+", opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
    except OSError as error:
        raise OutputRefused(UNWRITABLE.say(path=str(folder), why=error.strerror or str(error)).render(lang)) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputRefused(BUSY.say(path=str(folder)).render(lang)) from None
        file.truncate(0)
        file.write(json.dumps({"written_by": "rmq-kit", "command": "watch", "pid": os.getpid()}))
        file.flush()
        yield


def load(folder: Path, complain: Callable[[str], None] = lambda text: None, lang: Lang = "en") -> Kept:
    """Return the stored state; a damaged one (or one of another version) is said, and replaced by a new one."""
    path = folder / STATE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Kept)
    except FileNotFoundError:
        return Kept()
    except (OSError, msgspec.MsgspecError) as error:
        complain(SAYS["damaged"].say(path=str(path), why=printable(str(error))[:200]).render(lang))
        return Kept()


def save(folder: Path, kept: Kept, *, durable: bool) -> None:
    """Write the state completely or not at all; `durable`: flush it to disk first, for alerts."""
    path = folder / STATE
    part = disk.part_of(path)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "wb") as file:  # noqa: PTH123 - a handle
        file.write(msgspec.json.encode(kept))
        if durable:
            file.flush()
            os.fsync(file.fileno())
    part.replace(path)
