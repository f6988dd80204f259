"""The consuming threads of an application, by its thread dumps: which of its own frames they share, and what they wait
for.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from importlib import resources
from pathlib import PurePosixPath
from typing import Final

import attrs
import pandas as pd

from kit.inventory.references import Ref
from kit.tables.facts import Facts, memo

CONSUMING: Final = re.compile(r"^ConsumeMessageThread_(?:(?P<group>.+)_)?\d+$")
"""client/impl/consumer/ConsumeMessage*Service: with the group in the name from 4.9.0 (its first 100 characters)."""

GROUP_IN_NAME: Final = 100
LIBRARIES: Final = tuple(resources.files(__package__).joinpath("libraries.tsv").read_text().split())
"""Packages of libraries: a frame of theirs says how the application waits, not where."""


@attrs.frozen
class Consuming:
    """One consuming thread in one dump. `own`: its frames in the application's code, innermost first; `lines`: where they are."""

    file: str
    dump: int
    time: dt.datetime | None
    group: str | None
    thread: str
    state: str | None
    line: int
    own: tuple[str, ...]
    lines: tuple[int, ...]
    waiting_for: str | None
    locked: tuple[str, ...]
    deadlocked: bool


@attrs.frozen
class Shared:
    """The frame that most consuming threads of one group share in one dump: `threads` of `of` threads are in it."""

    group: str | None
    file: str
    dump: int
    frame: str
    threads: int
    of: int
    refs: tuple[Ref, ...]
    monitor: str | None = None
    """The monitor for which all but one of them wait, where it is one."""


def method(frame: str) -> str:
    """Return `class.method` of a frame, without its source and the numbers that the compiler added."""
    return re.sub(r"\$\$(?:Lambda|EnhancerBy|FastClassBy)[^.]*", "", frame.partition("(")[0])


def is_own(frame: str) -> bool:
    """Return whether a frame is in the application's own code."""
    return (
        not frame.startswith(LIBRARIES)
        and "$$" not in frame.partition("(")[0]
        and not frame.startswith(("LambdaForm", "$Proxy"))
    )


@memo
def consuming(facts: Facts) -> list[Consuming]:
    """Return the consuming threads of every dump, in order of file, dump and line."""
    found = []
    for row in facts.rows("consuming_threads"):
        named = CONSUMING.match(row["thread"] or "")
        if not named:
            continue
        frames = zip(row["frames"] or (), row["frame_lines"] or (), strict=False)
        own = [(frame, line) for frame, line in frames if is_own(frame)]
        found.append(
            Consuming(
                **{name: row[name] for name in ("file", "dump", "time", "thread", "state", "line", "waiting_for")},
                group=named["group"],
                own=tuple(frame for frame, _ in own),
                lines=tuple(line for _, line in own),
                locked=tuple(row["locked"] or ()),
                deadlocked=bool(row["deadlocked"]),
            )
        )
    return found


def of_group(facts: Facts, group: str, folders: frozenset[str] = frozenset()) -> list[Consuming]:
    """Return the consuming threads of one group: by their names, before 4.9.0 by the folders (hosts) in whose client logs the group appears."""
    return [
        t
        for t in consuming(facts)
        if (group[:GROUP_IN_NAME] == t.group if t.group else str(PurePosixPath(t.file).parent) in folders)
    ]


def dumps(threads: list[Consuming]) -> dict[tuple[str, int], list[Consuming]]:
    """Return the threads of each dump, by (file, number in the file)."""
    found: dict[tuple[str, int], list[Consuming]] = defaultdict(list)
    for thread in threads:
        found[thread.file, thread.dump].append(thread)
    return dict(found)


def shared(facts: Facts, threads: list[Consuming]) -> list[Shared]:
    """Return the topmost frame that more than half of the consuming threads share, for each dump that has one."""
    found = []
    for (file, dump), members in dumps(threads).items():
        depth: dict[str, int] = {}
        count: Counter[str] = Counter()
        for thread in members:
            for place, frame in enumerate(dict.fromkeys(map(method, thread.own))):
                count[frame] += 1
                depth[frame] = max(place, depth.get(frame, 0))
        most = [frame for frame, n in count.items() if n * 2 > len(members)]
        if not most:
            continue
        top = min(most, key=lambda frame: (depth[frame], -count[frame], frame))
        places = [
            (t, next(line for f, line in zip(t.own, t.lines, strict=True) if method(f) == top))
            for t in members
            if top in map(method, t.own)
        ]
        waits = Counter(t.waiting_for for t, _ in places if t.state == "BLOCKED" and t.waiting_for)
        monitor = next((at for at, n in waits.items() if n >= len(places) - 1 and n > 1), None)
        refs = tuple(facts.ref(file, line) for _, line in places[:3])
        found.append(Shared(members[0].group, file, dump, top, count[top], len(members), refs, monitor))
    return found


def standing(threads: list[Consuming]) -> list[tuple[Consuming, Consuming]]:
    """Return the threads in the same frame of the application in two dumps of one process: (first seen, last seen)."""
    by_thread: dict[tuple[str, str], list[Consuming]] = defaultdict(list)
    for thread in threads:
        if thread.own:
            place = PurePosixPath(thread.file)
            # The files of consumerStatus are named after the client, each call's in a folder of its own.
            by_thread[place.name if "@" in place.name else str(place.parent), thread.thread].append(thread)
    found = []
    for members in by_thread.values():
        members.sort(key=lambda t: (t.time is None, t.time, t.file, t.dump))
        first, last = members[0], members[-1]
        if (first.file, first.dump) != (last.file, last.dump) and first.own == last.own:
            found.append((first, last))
    return found


def table(facts: Facts) -> pd.DataFrame:
    """Return what each consuming thread was doing in each dump: file, dump, time, group, thread, state, frame (its topmost own one), waiting_for, deadlocked."""
    columns = ["file", "dump", "time", "group", "thread", "state", "frame", "waiting_for", "deadlocked"]
    rows = [
        attrs.asdict(t, recurse=False) | {"frame": method(t.own[0]) if t.own else None}
        for t in consuming(facts)[:5_000]
    ]
    return pd.DataFrame(rows, columns=columns)
