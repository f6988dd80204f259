"""Work that several threads ask for at the same time and that is done once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

R = TypeVar("R")


class Once:
    """Results by name. The first thread that asks works one out, others wait; what failed fails again with the same
    error.
    """

    def __init__(self) -> None:
        self._locks: dict[str, threading.RLock] = {}
        self._results: dict[str, Any] = {}
        self._errors: dict[str, Exception] = {}

    def get(self, name: str, work: Callable[[], R]) -> R:
        """Return the result of this name, of the first `work` that was given for it."""
        with self._locks.setdefault(name, threading.RLock()):
            if name in self._errors:
                raise self._errors[name]
            if name not in self._results:
                try:
                    self._results[name] = work()
                except Exception as error:
                    self._errors[name] = error
                    raise
            result: R = self._results[name]
        return result
