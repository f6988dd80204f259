"""Where alerts go: JSON lines, a command's standard input, a folder with the evidence around them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Final

from kit.i18n import printable

Alert = dict[str, Any]
Outlet = Callable[[Alert], None]

TAIL: Final = 1 << 20
"""Bytes at the end of an alerts file that are searched for alerts a killed process has already written."""
HOOK_SECONDS: Final = 30
"""Seconds a hook may take; then it is killed, and the watch goes on."""
MOST_SAID: Final = 2000
"""Bytes shown of what a hook prints."""


def encoded(alert: Alert) -> str:
    return json.dumps(alert, ensure_ascii=False)


def lines(target: str) -> Outlet:
    """Return a function that appends alerts to a file, `-` for standard output. An alert already in the file is not added again."""
    if target == "-":

        def say(alert: Alert) -> None:
            print(encoded(alert), flush=True)

        return say
    path = Path(target)

    def append(alert: Alert) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            size = os.fstat(handle).st_size
            end = os.pread(handle, min(size, TAIL), max(0, size - TAIL))
            if f'"id": {json.dumps(alert["id"])}'.encode() in end:
                return
            # A process killed while writing leaves half a line.
            start = b"" if not end or end.endswith(b"\n") else b"\n"
            os.write(handle, start + encoded(alert).encode() + b"\n")
        finally:
            os.close(handle)

    return append


def hook(command: Sequence[str], complain: Callable[[str], None]) -> Outlet:
    """Return a function that passes each alert to a command on standard input: without a shell, and never as an argument."""

    def run(alert: Alert) -> None:
        try:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            complain(f"{command[0]}: {error.strerror or error}")
            return
        said = bytearray()
        reader = threading.Thread(target=_read, args=(child.stdout, said), daemon=True)
        reader.start()
        stop = threading.Timer(HOOK_SECONDS, lambda: _kill(child))
        stop.start()
        try:
            with contextlib.suppress(OSError), child.stdin as line:  # type: ignore[union-attr]
                line.write(encoded(alert).encode() + b"\n")
            code = child.wait()
        finally:
            stop.cancel()
        reader.join(1)
        if text := printable(bytes(said[:MOST_SAID]).decode(errors="replace").strip().replace("\n", " ")):
            complain(f"{command[0]}: {text}{'…' if len(said) > MOST_SAID else ''}")
        if code:
            complain(f"{command[0]}: {code}")

    return run


def _read(stream: IO[bytes], said: bytearray) -> None:
    """Take what a hook prints, so that it never waits, and keep the beginning of it."""
    with contextlib.suppress(OSError, ValueError):
        while data := stream.read1(1 << 16):  # type: ignore[attr-defined]
            said += data[: max(0, MOST_SAID + 1 - len(said))]


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a hook that takes too long, with everything it started."""
    with contextlib.suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
