"""The course of a group's lag: the topics in which it grew, and the queues that were stuck while others moved on."""

from __future__ import annotations

import datetime as dt
from itertools import groupby
from typing import Any, Final

import attrs

from kit.analysis.consumers import positions
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts, memo

LEAST: Final = 10
"""Messages by which the lag of a queue has to grow: less is what is under way (a pull takes 32)."""
SHARE: Final = 0.05
"""Part of what arrived by which it has to grow: a group that keeps up is never exactly at the end."""
SHRUNK: Final = 0.9
SMALL: Final = 100
"""Messages in a queue up to which one look at it says that there is no backlog."""
INNER: Final = (names.RETRY_PREFIX, names.DLQ_PREFIX)


@attrs.frozen
class Course:
    """One queue of a group between its first and its last known position, by a row of `queue_courses`."""

    group: str
    topic: str
    broker: str
    queue_id: int
    first_offset: int | None
    first_end: int
    last_offset: int | None
    last_end: int
    first_lag: int
    last_lag: int
    peak: int
    first: dt.datetime | None
    last: dt.datetime | None
    looks: int
    begin: int | None
    stand_first: dt.datetime | None

    @property
    def stands(self) -> bool:
        """Whether its offset did not move between two looks although messages were waiting and more came."""
        return self.stand_first is not None

    @property
    def seconds(self) -> float:
        return (self.last - self.first).total_seconds() if self.first and self.last else 0.0

    @property
    def arrived(self) -> int:
        return self.last_end - self.first_end

    @property
    def advanced(self) -> int:
        return (self.last_offset or 0) - (self.first_offset or 0)

    @property
    def grew(self) -> bool:
        return self.looks > 1 and self.last_lag - self.first_lag >= max(LEAST, SHARE * self.arrived)

    @property
    def never_handled(self) -> bool:
        """Whether nothing in it was ever handled: no offset, or the queue's first."""
        return self.last_offset is None or self.last_offset <= (self.begin or 0)


@attrs.frozen
class Pair:
    """A topic of a group: all its queues."""

    group: str
    topic: str
    queues: tuple[Course, ...]

    @property
    def name(self) -> str:
        return f"{self.topic}@{self.group}"

    @property
    def lag(self) -> int:
        return sum(q.last_lag for q in self.queues)

    @property
    def growth_per_second(self) -> float | None:
        """Messages per second by which the lag grew, None with one sample only."""
        rates = [(q.last_lag - q.first_lag) / q.seconds for q in self.queues if q.seconds > 0]
        return round(sum(rates), 2) if rates else None

    @property
    def peak(self) -> int:
        return sum(q.peak for q in self.queues)

    @property
    def shrinks(self) -> bool:
        """Whether the lag was larger before than at the end."""
        return self.lag < SHRUNK * self.peak

    @property
    def backlog(self) -> bool:
        """Whether the lag grew in every queue that got messages while the offsets advanced."""
        active = [q for q in self.queues if q.arrived > 0]
        going = [q for q in active if q.advanced > 0]
        return bool(active) and all(q.grew for q in active) and 2 * len(going) >= len(active) and not self.shrinks

    @property
    def backlog_known(self) -> bool:
        """Whether the positions show if there is a backlog: there are two samples, or no lag anywhere."""
        return all(q.looks > 1 or q.last_lag <= SMALL for q in self.queues)

    @property
    def behind_everywhere(self) -> bool:
        """Whether the only sample shows much waiting in every queue, though each was consumed from."""
        waits = [q.looks == 1 and q.last_lag > SMALL and not q.never_handled for q in self.queues]
        return bool(waits) and all(waits)

    @property
    def held_up(self) -> Course | None:
        """The one queue in which the only sample shows much waiting while all others are at their end, else None."""
        waiting = [q for q in self.queues if q.last_lag > LEAST]
        only = waiting[0] if len(waiting) == 1 < len(self.queues) else None
        return only if only and only.looks == 1 and only.last_lag > SMALL and not only.never_handled else None

    @property
    def untouched(self) -> tuple[Course, ...]:
        """The queues of which the only sample shows much waiting and nothing handled, while another is at its end."""
        idle = tuple(q for q in self.queues if q.looks == 1 and q.never_handled and q.last_lag > SMALL)
        return idle if any(q.last_lag <= LEAST and not q.never_handled for q in self.queues) else ()

    def per_queue(self) -> dict[str, int]:
        """Return {queue id: lag}; with several brokers the id follows the broker's name."""
        several = len({q.broker for q in self.queues}) > 1
        return {f"{q.broker}:{q.queue_id}" if several else str(q.queue_id): q.last_lag for q in self.queues}


@attrs.frozen
class Stuck:
    """A queue that was stuck while others of the group advanced. `offset`: of the message it is at; `end`: the queue's
    end when it was last seen stuck; `others`: queues of the topic that handled meanwhile what waited in them.
    """

    group: str
    topic: str
    broker: str
    queue_id: int
    offset: int
    begin: int
    end: int
    first: dt.datetime
    last: dt.datetime
    others: int


def _courses(facts: Facts) -> list[dict[str, Any]]:
    return [] if positions.every(facts).empty else facts.rows("queue_courses")


@memo
def pairs(facts: Facts) -> list[Pair]:
    """Return every topic of every user's group with a known lag, the largest first; retry topics if something waits."""
    rows = [row for row in _courses(facts) if row["peak"] is not None]
    every = [
        Pair(*place, tuple(Course(**{each.name: row[each.name] for each in attrs.fields(Course)}) for row in of_pair))
        for place, of_pair in groupby(rows, lambda row: (row["group"], row["topic"]))
    ]
    known = (pair for pair in every if pair.lag or not pair.topic.startswith(INNER))
    return sorted(known, key=lambda p: (-p.lag, p.name))


@memo
def stuck(facts: Facts) -> list[Stuck]:
    """Return the queues that stood still while another of the topic handled what had waited, the longest wait first."""
    queues = []
    for row in _courses(facts):
        if row["others"] and not row["topic"].startswith(INNER):
            place: dict[str, Any] = {name: row[name] for name in ("group", "topic", "broker", "queue_id", "others")}
            place |= {name: row[f"stand_{name}"] or 0 for name in ("offset", "begin", "end")}
            queues.append(Stuck(first=row["stand_first"], last=row["stand_last"], **place))
    return sorted(queues, key=lambda s: (s.begin >= s.offset, -(s.end - s.offset), s.group, s.topic, s.queue_id))


def refs(facts: Facts, group: str, topic: str, queue_id: int | None = None, most: int = 2) -> tuple[Ref, ...]:
    """Quote the first and the last line with a group's offset in a topic (or in one of its queues)."""
    every = positions.every(facts)
    looks = every[(every["group"] == group) & (every["topic"] == topic) & every["end"].notna() & every["line"].notna()]
    if queue_id is not None:
        looks = looks[looks["queue_id"] == queue_id]
    ends = looks.iloc[[0, -1]] if most > 1 and len(looks) else looks.tail(1)
    return facts.refs(dict.fromkeys((row["file"], int(row["line"])) for row in ends.to_dict("records")))
