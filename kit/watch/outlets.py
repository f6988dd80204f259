"""Where alerts go: JSON lines, a command's standard input, a folder with the evidence around them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

Alert = dict[str, Any]
Outlet = Callable[[Alert], None]

TAIL: Final = 1 << 20
"""Bytes at the end of an alerts file that are searched for alerts a killed process has already written."""
HOOK_SECONDS: Final = 30
"""Seconds a hook may take; then it is killed, and the watch goes on."""


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
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
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
            done = subprocess.run(
                list(command),
                input=encoded(alert).encode() + b"\n",
                timeout=HOOK_SECONDS,
                check=False,
                stdout=sys.stderr,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            complain(f"{command[0]}: {error}")
            return
        if done.returncode:
            complain(f"{command[0]}: {done.returncode}")

    return run
