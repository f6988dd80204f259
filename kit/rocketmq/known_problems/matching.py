"""Which known problems a log entry, an answer or an exception shows."""

from __future__ import annotations

from functools import cache
from typing import Final

from kit.rocketmq.known_problems.catalogue import PROBLEMS
from kit.rocketmq.known_problems.problem import Problem
from kit.rocketmq.known_problems.upstream import FormatString
from kit.rocketmq.known_problems.windows import Windows

BY_CLASS: Final = {cls: problem for problem in PROBLEMS for cls in problem.classes}


@cache
def _texts() -> tuple[tuple[Problem, str], ...]:
    return tuple((problem, needle) for problem in PROBLEMS for needle in problem.needles)


@cache
def _windows() -> Windows:
    return Windows(tuple(needle for _, needle in _texts()))


def problems_in(text: str) -> tuple[Problem, ...]:
    """Return the problems one of whose own texts is in a log entry, the longest text first; entries that are normal for one do not count for it."""
    texts = _texts()
    found: dict[str, tuple[int, Problem]] = {}
    for number in _windows().find(text):
        problem, needle = texts[number]
        if problem.slug not in found or len(needle) > found[problem.slug][0]:
            found[problem.slug] = len(needle), problem
    kept = [(length, problem) for length, problem in found.values() if problem.in_text(text)]
    return tuple(problem for _, problem in sorted(kept, key=lambda each: -each[0]))


def of_class(printed: FormatString) -> Problem | None:
    """Return the problem that explains the remaining lines of the class that prints a text, or of its whole project."""
    if not (printed.logged or printed.project):
        return None
    return BY_CLASS.get(printed.cls) or BY_CLASS.get(printed.cls.partition("/")[0] + "/*")
