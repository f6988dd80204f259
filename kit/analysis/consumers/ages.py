"""The age of a group's next message, from consumerProgress: its #LastTime is the store time of the message before the
offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from kit.analysis.consumers import admin_output
from kit.formats import printed_times
from kit.formats.values import integer

if TYPE_CHECKING:
    from kit.case.case import Case


@attrs.frozen
class Age:
    """The queue of a topic in which a group is furthest behind. `hours`: how much older its next message is than the
    newest one handled in any queue of the topic.
    """

    group: str
    topic: str
    hours: float
    file: str
    line: int


def ages(case: Case) -> list[Age]:
    """Return the oldest queue of each topic of each group with messages waiting, in order of group and topic.

    All times of an output are in one zone, so they are compared with each other, not with a clock.
    """
    times: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}
    for block in admin_output.admin_blocks(case):
        last, diff = printed_times.when(block.get("#LastTime")), integer(block.get("#Diff"))
        if block["command"] == "consumerProgress" and last is not None and diff is not None and block.get("-g"):
            named = (block["-g"], block.get("#Topic", ""), block["file"])
            times.setdefault(named, []).append((last.ms, diff, block["line"]))
    found = []
    for (group, topic, file), rows in sorted(times.items()):
        newest = max(last for last, _, _ in rows)
        waiting = [(newest - last, line) for last, diff, line in rows if diff > 0]
        if waiting:
            behind, line = max(waiting)
            found.append(Age(group, topic, behind / 3_600_000, file, line))
    return found
