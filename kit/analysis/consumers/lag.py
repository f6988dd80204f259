"""The course of a group's lag: the topics in which it grew, and the queues that were stuck while others moved on."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd

from kit.analysis.consumers import positions
from kit.case.memoize import per_case
from kit.inventory.references import Ref
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

LEAST: Final = 10
"""Messages by which the lag of a queue has to grow: less is what is under way (a pull takes 32)."""
SHARE: Final = 0.05
"""Part of what arrived by which it has to grow: a group that keeps up is never exactly at the end."""
SHRUNK: Final = 0.9
SMALL: Final = 100
"""Messages in a queue up to which one look at it says that there is no backlog."""
PATIENCE: Final = 5.0
"""Seconds between two looks at a queue from which on it counts that its offset did not move (clients save theirs every 5 s)."""


@attrs.frozen
class Course:
    """One queue of a group between its first and its last known position. Offsets and ends are those of the queue,
    `seconds` the time between the two.
    """

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
    stands: bool
    """Its offset did not move between two looks although messages were waiting and more came."""
    begin: int | None = None

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
    def shrinks(self) -> bool:
        """Whether the lag was larger before than at the end."""
        return self.lag < SHRUNK * sum(q.peak for q in self.queues)

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
        """Whether the only sample shows much waiting in every queue, each of which was consumed from: a second sample
        would show whether it grows.
        """
        return bool(self.queues) and all(
            q.looks == 1 and q.last_lag > SMALL and not q.never_handled for q in self.queues
        )

    @property
    def held_up(self) -> Course | None:
        """The one queue in which the only sample shows much waiting while all others are at their end, else None."""
        waiting = [q for q in self.queues if q.last_lag > LEAST]
        only = waiting[0] if len(waiting) == 1 < len(self.queues) else None
        return only if only and only.looks == 1 and only.last_lag > SMALL and not only.never_handled else None

    @property
    def untouched(self) -> tuple[Course, ...]:
        """The queues of which the only sample shows that nothing was ever handled although much waits, while another
        queue is at its end.
        """
        idle = tuple(q for q in self.queues if q.looks == 1 and q.never_handled and q.last_lag > SMALL)
        return idle if any(q.last_lag <= LEAST and not q.never_handled for q in self.queues) else ()

    def per_queue(self) -> dict[str, int]:
        """Return {queue id: lag}; with several brokers the id follows the broker's name."""
        several = len({q.broker for q in self.queues}) > 1
        return {
            f"{q.broker}:{q.queue_id}" if several else str(q.queue_id): q.last_lag
            for q in sorted(self.queues, key=lambda q: (q.broker, q.queue_id))
        }


@per_case
def pairs(case: Case) -> list[Pair]:
    """Return every topic of every user's group with a known lag, the largest lag first; retry topics only if something
    waits in them.
    """
    every = positions.every(case)
    every = every[every["source"].isin(["copy", "progress"]) & every["end"].notna()]
    found = []
    for (group, topic), rows in _by(every, "group", "topic"):
        queues = tuple(
            _course(group, topic, broker, int(queue_id), mine)
            for (broker, queue_id), mine in _by(rows, "broker", "queue_id")
            if not mine["at_least"].all()
        )
        pair = Pair(group, topic, queues)
        if queues and (pair.lag or not topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX))):
            found.append(pair)
    return sorted(found, key=lambda p: (-p.lag, p.name))


def _course(group: str, topic: str, broker: str, queue_id: int, rows: pd.DataFrame) -> Course:
    shown = ["time", "offset", "end"]
    # What stands does so whenever these were taken; how far behind it was, copies of an unknown time cannot show.
    stands = _longest_stand(rows.drop_duplicates(shown))[0] is not None
    rows = rows[~rows["at_least"]].drop_duplicates(shown)
    first, last = rows.iloc[0], rows.iloc[-1]
    timed = rows["time"].nunique()
    return Course(
        group, topic, broker, queue_id, _int(first["offset"]), int(first["end"]), _int(last["offset"]), int(last["end"]), int(first["lag"]), int(last["lag"]),
        int(rows["lag"].max()), _time(first["time"]), _time(last["time"]), max(1, timed), stands, _int(first["begin"]),
    )  # fmt: skip


def _by(frame: pd.DataFrame, *columns: str) -> list[tuple[Any, pd.DataFrame]]:
    """Return the rows of each group with its key, in order of key."""
    return list(frame.groupby(list(columns), sort=True))


def _int(value: object) -> int | None:
    return None if pd.isna(value) else int(value)  # type: ignore[call-overload]


def _time(value: object) -> dt.datetime | None:
    return None if pd.isna(value) else pd.Timestamp(value).to_pydatetime()  # type: ignore[call-overload, arg-type]


@attrs.frozen
class Stuck:
    """A queue that was stuck while others of the group advanced. `offset`: of the message it is at; `end`: the queue's
    end when it was last seen stuck.
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
    """Queues of the topic that handled everything meanwhile that waited when this one was first seen standing."""


@per_case
def stuck(case: Case) -> list[Stuck]:
    """Return the queues whose offset stayed the same between two samples while another queue of the topic handled what
    had waited, the longest wait first.
    """
    every = positions.every(case)
    every = every[every["source"].isin(["copy", "progress"]) & every["end"].notna() & every["time"].notna()]
    found = []
    for (group, topic), rows in _by(every, "group", "topic"):
        if topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX)):
            continue
        by_queue = {
            key: mine.drop_duplicates(["time", "offset", "end"]) for key, mine in _by(rows, "broker", "queue_id")
        }
        for (broker, queue_id), mine in by_queue.items():
            begin, last = _longest_stand(mine)
            if begin is None or last is None:
                continue
            others = sum(
                _passed(other, begin.time, last.time) for key, other in by_queue.items() if key != (broker, queue_id)
            )
            if others:
                offset, low, end = _int(last.offset) or 0, _int(last.begin) or 0, int(last.end)
                since, until = begin.time.to_pydatetime(), last.time.to_pydatetime()
                found.append(Stuck(group, topic, broker, int(queue_id), offset, low, end, since, until, others))
    return sorted(found, key=lambda s: (s.begin >= s.offset, -(s.end - s.offset), s.group, s.topic, s.queue_id))


def _longest_stand(rows: pd.DataFrame) -> tuple[Any, Any]:
    """Return the first and last sample of the longest time in which the offset stayed at a waiting message while the
    end grew, (None, None) if it never stood still.
    """
    best: tuple[Any, Any] = (None, None)
    begin: Any = None
    before: Any = None
    looks: list[Any] = [row for row in rows.itertuples() if pd.notna(row.time)]
    for row in [*looks, None]:
        still = row is not None and before is not None and _int(row.offset) == _int(before.offset)
        if not (still and row.end >= before.end and before.lag > 0):
            stood = before is not None and before.end > begin.end
            if stood and (before.time - begin.time).total_seconds() >= PATIENCE:
                longer = best[0] is None or before.time - begin.time > best[1].time - best[0].time
                best = (begin, before) if longer else best
            begin = row
        before = row
    return best


def _passed(rows: pd.DataFrame, start: pd.Timestamp, end: pd.Timestamp) -> bool:
    """Return whether a queue handled, between two times, what waited in it at the first, and advanced."""
    inside = rows[(rows["time"] >= start) & (rows["time"] <= end)]
    if len(inside) < 2:
        return False
    first, last = inside.iloc[0], inside.iloc[-1]
    return bool(
        pd.notna(last["offset"])
        and last["offset"] >= first["end"]
        and last["offset"] > (first["offset"] if pd.notna(first["offset"]) else 0)
    )


def refs(case: Case, group: str, topic: str, queue_id: int | None = None, most: int = 2) -> tuple[Ref, ...]:
    """Quote the first and the last line with a group's offset in a topic (or in one of its queues)."""
    every = positions.every(case)
    looks = every[(every["group"] == group) & (every["topic"] == topic) & every["end"].notna() & every["line"].notna()]
    if queue_id is not None:
        looks = looks[looks["queue_id"] == queue_id]
    if looks.empty:
        return ()
    rows = [looks.iloc[0], looks.iloc[-1]] if most > 1 else [looks.iloc[-1]]
    places = dict.fromkeys((row["file"], int(row["line"])) for row in rows)
    return case.refs(places)
