"""The consuming threads of an application in thread dumps: its own frames that they share, and what they wait for."""

import re
from collections import Counter
from importlib import resources
from itertools import groupby
from types import SimpleNamespace
from typing import Final

import pandas as pd

from kit.analysis.consumers import members
from kit.data import grouped
from kit.inventory.model import folder_of
from kit.tables.facts import Facts, memo

GROUP_IN_NAME: Final = 100
LIBRARIES: Final = tuple(resources.files(__package__).joinpath("libraries.tsv").read_text().split())
"""Packages of libraries: a frame of theirs says how the application waits, not where."""

Consuming = SimpleNamespace
"""A row of `consuming_threads` with `own`, its frames in the application's code, innermost first, and their `lines`;
`place`, the folder of its file (one host or process); `client`, its id where the file is named so, else that.
"""
Shared = SimpleNamespace
"""The frame that most consuming threads of a dump share: what `shared` returns."""


def method(frame: str) -> str:
    """Return `class.method` of a frame, without its source and the numbers that the compiler added."""
    return re.sub(r"\$\$(?:Lambda|EnhancerBy|FastClassBy)[^.]*", "", frame.partition("(")[0])


def is_own(frame: str) -> bool:
    return "$$" not in frame.partition("(")[0] and not frame.startswith((*LIBRARIES, "LambdaForm", "$Proxy"))


@memo
def consuming(facts: Facts) -> list[Consuming]:
    """Return the consuming threads of every dump, in order of file, dump and line."""
    threads = [Consuming(**row) for row in facts.rows("consuming_threads")]
    for thread in threads:
        frames = zip(thread.frames or (), thread.frame_lines or (), strict=False)
        own = [(frame, line) for frame, line in frames if is_own(frame)]
        thread.own, thread.lines = [frame for frame, _ in own], [line for _, line in own]
        thread.place, thread.client = folder_of(thread.file), members.client_of(thread.file)
    return threads


def of_group(facts: Facts, group: str) -> list[Consuming]:
    """Return the threads of one group: by their names, before 4.9.0 by the folders (hosts) of its client logs."""
    folders = members.places(facts, group)
    return [t for t in consuming(facts) if (t.group == group[:GROUP_IN_NAME] if t.group else t.place in folders)]


def of_client(facts: Facts, threads: list[Consuming], client: str | None) -> list[Consuming]:
    """Return those of these threads that no file shows to be another client's; all without a client."""
    known = {row["place"]: row["client_id"] for row in facts.rows("queue_owners")}
    clients = ((t, t.client if "@" in t.client else known.get(t.place)) for t in threads)
    return [t for t, of in clients if not (of and client) or client in (of, of.partition("@")[0])]


def shared(facts: Facts, threads: list[Consuming]) -> list[Shared]:
    """Return the topmost frame that more than half of the threads share, for each dump that has one: frame, threads (in
    it), of (all), monitor (for which all but one of them wait, if it is one), dump, refs.
    """
    frames = []
    for (file, dump), of_dump in groupby(threads, lambda t: (t.file, t.dump)):
        members = list(of_dump)
        own = (enumerate(dict.fromkeys(map(method, thread.own))) for thread in members)
        depths = grouped((frame, depth) for frames in own for depth, frame in frames)
        most = [frame for frame, of_frame in depths.items() if len(of_frame) * 2 > len(members)]
        if not most:
            continue
        top = min(most, key=lambda frame: (max(depths[frame]), -len(depths[frame]), frame))
        inside = [t for t in members if top in map(method, t.own)]
        waits = Counter(t.waiting_for for t in inside if t.state == "BLOCKED" and t.waiting_for)
        monitor = next((at for at, n in waits.items() if n >= len(inside) - 1 and n > 1), None)
        refs = facts.refs((file, t.lines[[*map(method, t.own)].index(top)]) for t in inside[:3])
        frames.append(Shared(frame=top, threads=len(inside), of=len(members), monitor=monitor, dump=dump, refs=refs))
    return frames


def standing(threads: list[Consuming]) -> list[tuple[Consuming, Consuming]]:
    """Return the threads in the same frame of the application in two dumps of one process: (first seen, last seen)."""
    # The files of consumerStatus are named after the client, each call's in a folder of its own.
    by_thread = grouped(((t.client if "@" in t.client else t.place, t.thread), t) for t in threads if t.own)
    in_time = (sorted(m, key=lambda t: (t.time is None, t.time, t.file, t.dump)) for m in by_thread.values())
    pairs = [(members[0], members[-1]) for members in in_time]
    return [(a, b) for a, b in pairs if (a.file, a.dump) != (b.file, b.dump) and a.own == b.own]


def table(facts: Facts) -> pd.DataFrame:
    """Return what each consuming thread was doing in each dump; `frame`: its topmost own one."""
    columns = ["file", "dump", "time", "group", "thread", "state", "frame", "waiting_for", "deadlocked"]
    rows = [vars(t) | {"frame": method(t.own[0]) if t.own else None} for t in consuming(facts)[:5_000]]
    return pd.DataFrame(rows, columns=columns)
