"""A function in a process of its own, which may be killed."""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess


def forked(function: Callable[..., None], *given: object) -> BaseProcess:
    """Start it with these values as text."""
    process = get_context("fork").Process(target=function, args=tuple(map(str, given)))
    process.start()
    return process


def ended(process: BaseProcess) -> int | None:
    """Wait for its end; return its exit code."""
    process.join(300)
    return process.exitcode
