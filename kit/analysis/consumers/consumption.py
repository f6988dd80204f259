"""Messages of a group, handled against stored: those nobody handled, before and after the group's offset, and those
handled twice.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final, NamedTuple

import pandas as pd

from kit.analysis import refs as quoting
from kit.analysis.consumers import lag
from kit.inventory.references import Ref
from kit.tables.facts import Facts

SHOWN: Final = 3
"""Records that are quoted."""


class Topic(NamedTuple):
    """The messages of one topic that nobody of a group handled, by the last known offsets, some quoted: in all
    (`nobody`), behind the group's offset, in front of it; None where that is unknown.
    """

    topic: str
    front: int | None
    nobody: int | None = None
    behind: int | None = None
    records: tuple[Ref, ...] = ()


def places(facts: Facts, group: str) -> set[str]:
    """Return the folders (hosts) in whose client logs a group consumes."""
    return {str(PurePosixPath(row["file"]).parent) for row in facts.rows("group_logs") if row["group"] == group}


def ledgers(facts: Facts, group: str) -> list[str]:
    """Return the delivery ledgers of a group's hosts; none if one of its hosts has none: what it handled is unknown."""
    rows = facts.rows("group_ledgers") if facts.has("rows") else []
    return [row["file"] for row in rows if row["group"] == group]


def unhandled(facts: Facts, group: str, topic: str) -> Topic:
    """Count the messages of a topic that nobody of the group handled."""
    last = last_positions(facts, group, topic)
    front = None if last.empty or last["lag"].isna().any() else int(last["lag"].sum())
    if not facts.has("messages") or last.empty:
        return Topic(topic, front, nobody=front or None)
    if not ledgers(facts, group) or last["broker"].nunique() > 1:
        # Of several brokers, a record does not say which one's offset it lies behind.
        return Topic(topic, front)
    rows = facts("unhandled")
    rows = rows[(rows["group"] == group) & (rows["topic"] == topic)]
    passed, ahead = rows[rows["passed"]], rows[~rows["passed"]]
    behind, front = (int(part["messages"].max()) if len(part) else 0 for part in (passed, ahead))
    records = (*quoting.records_at(facts, passed, SHOWN), *quoting.records_at(facts, ahead, SHOWN))[:SHOWN]
    return Topic(topic, front, behind + front, behind, records)


def last_positions(facts: Facts, group: str, topic: str) -> pd.DataFrame:
    """Return the last known position of each queue of a group's topic: the columns of `lag.positions`."""
    return lag.of_topic(facts, group, topic).drop_duplicates(lag.KEYS, keep="last")


def by_several(facts: Facts, group: str) -> tuple[int, tuple[Ref, ...], set[tuple[str, int]]] | None:
    """Return (messages of several processes, lines, (topic, queue) of them); None without the ledgers of two hosts."""
    if len(ledgers(facts, group)) < 2:
        return None
    lines = [row for row in facts.rows("handled_by_several") if row["group"] == group]
    queues = facts.rows("queues_of_several") if lines and facts.has("messages") else []
    messages = max((row["messages"] for row in lines), default=0)
    several = {(row["topic"], row["queue_id"]) for row in queues if row["group"] == group}
    return messages, facts.refs((row["file"], row["line"]) for row in lines), several
