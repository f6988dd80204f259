"""Processes of their own: Python with this kit (`typed("-m", "kit", "doctor", …)`), a function that may be killed, a port to listen on."""

import os
import socket
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import kit

ROOT = Path(kit.__file__).resolve().parents[1]


def typed(*words, **how):
    """Run `python WORDS…`, for ten minutes at most; `env` is added to the variables of this process, else as `subprocess.run` takes it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **how.pop("env", {})}
    how = {"capture_output": True, "text": True, "timeout": 600, "check": False, **how}
    return subprocess.run([sys.executable, *map(str, words)], env=env, **how)


def forked(function, *given):
    """Start it with these values as text."""
    process = get_context("fork").Process(target=function, args=tuple(map(str, given)))
    process.start()
    return process


def ended(process):
    """Wait for its end; return its exit code."""
    process.join(300)
    return process.exitcode


def free_port():
    """Return a port on which nothing listens now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
