"""Work that several causes share, done once per case even if they ask at the same time."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar


class Remembers(Protocol):
    """An object that keeps shared results: a case."""

    memo: dict[str, Any]


R = TypeVar("R")
C = TypeVar("C", bound=Remembers)


def once(case: Remembers, name: str, work: Callable[[], R]) -> R:
    """Return the result of the first `work` called under this name; others wait for it."""
    lock: Any = case.memo.setdefault(f"{name} lock", threading.RLock())
    with lock:
        if name not in case.memo:
            case.memo[name] = work()
        found: R = case.memo[name]
    return found


def per_case(work: Callable[[C], R]) -> Callable[[C], R]:
    """Make a function run once for each case."""

    @functools.wraps(work)
    def ask(case: C) -> R:
        return once(case, f"{work.__module__}.{work.__qualname__}", lambda: work(case))

    return ask
