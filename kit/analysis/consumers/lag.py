"""The course of a group's lag: the topics in which it grew, and the queues that were stuck while others moved on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import attrs

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


@attrs.frozen
class Look:
    """One sample of a queue's position. `at_least`: it was taken then or later, so that `end` and `lag` are at least these."""

    time: dt.datetime | None
    offset: int | None
    end: int
    begin: int | None
    lag: int
    at_least: bool = False


Looks = dict[tuple[str, int], list[Look]]
"""The samples of each queue (broker, queue id) of a topic, in order of time."""


@per_case
def _looks(case: Case) -> dict[tuple[str, str], Looks]:
    """Return the samples of each topic of each group, by saved offsets and consumerProgress, in order of group, topic and queue."""
    every = positions.every(case)
    every = every[every["source"].isin(["copy", "progress"]) & every["end"].notna() & every["queue_id"].notna()]
    columns = ["group", "topic", "broker", "queue_id", *(field.name for field in attrs.fields(Look))]
    plain: Any = every[columns].astype(object)
    found: dict[tuple[str, str], Looks] = {}
    for group, topic, broker, queue_id, time, *look in plain.where(plain.notna(), None).itertuples(index=False):
        by_queue = found.setdefault((group, topic), {})
        by_queue.setdefault((broker, queue_id), []).append(Look(time.to_pydatetime() if time else None, *look))
    return {pair: dict(sorted(looks.items())) for pair, looks in sorted(found.items())}


def _distinct(looks: Iterable[Look]) -> list[Look]:
    """Return samples without those that show the same at the same time."""
    found: dict[tuple[Any, ...], Look] = {}
    for look in looks:
        found.setdefault((look.time, look.offset, look.end), look)
    return list(found.values())


@per_case
def pairs(case: Case) -> list[Pair]:
    """Return every topic of every user's group with a known lag, the largest lag first; retry topics only if something
    waits in them.
    """
    found = []
    for (group, topic), by_queue in _looks(case).items():
        queues = tuple(
            course(group, topic, broker, queue_id, looks)
            for (broker, queue_id), looks in by_queue.items()
            if not all(look.at_least for look in looks)
        )
        pair = Pair(group, topic, queues)
        if queues and (pair.lag or not topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX))):
            found.append(pair)
    return sorted(found, key=lambda p: (-p.lag, p.name))


def course(group: str, topic: str, broker: str, queue_id: int, looks: list[Look]) -> Course:
    """Return the course of a queue by its samples, of which one at least is of a known time."""
    # What stands does so whenever these were taken; how far behind it was, copies of an unknown time cannot show.
    stands = _longest_stand(_distinct(looks)) is not None
    looks = _distinct(look for look in looks if not look.at_least)
    first, last, timed = looks[0], looks[-1], {look.time for look in looks if look.time is not None}
    return Course(
        group, topic, broker, queue_id, first.offset, first.end, last.offset, last.end, first.lag, last.lag, max(look.lag for look in looks),
        first.time, last.time, max(1, len(timed)), stands, first.begin,
    )  # fmt: skip


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
    found = []
    for (group, topic), every in _looks(case).items():
        if topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX)):
            continue
        by_queue = {queue: _distinct(look for look in looks if look.time) for queue, looks in every.items()}
        for queue, looks in by_queue.items():
            stand = _longest_stand(looks)
            if stand is None:
                continue
            first, last = stand
            since, until = first.time, last.time
            assert since is not None and until is not None
            others = sum(_passed(other, since, until) for key, other in by_queue.items() if key != queue)
            if others:
                place = group, topic, *queue, last.offset or 0, last.begin or 0, last.end
                found.append(Stuck(*place, since, until, others))
    return sorted(found, key=lambda s: (s.begin >= s.offset, -(s.end - s.offset), s.group, s.topic, s.queue_id))


def _longest_stand(looks: list[Look]) -> tuple[Look, Look] | None:
    """Return the first and last sample of the longest time in which the offset stayed at a waiting message while the
    end grew, None if it never stood still.
    """
    best: tuple[float, Look, Look] | None = None
    timed = [look for look in looks if look.time is not None]
    first = before = timed[0] if timed else None
    for look in [*timed[1:], None]:
        if look and before and look.offset == before.offset and look.end >= before.end and before.lag > 0:
            before = look
            continue
        if first and before and first.time and before.time and before.end > first.end:
            seconds = (before.time - first.time).total_seconds()
            if seconds >= PATIENCE and (best is None or seconds > best[0]):
                best = seconds, first, before
        first = before = look
    return best and best[1:]


def _passed(looks: list[Look], start: dt.datetime, end: dt.datetime) -> bool:
    """Return whether a queue handled, between two times, what waited in it at the first, and advanced."""
    inside = [look for look in looks if look.time and start <= look.time <= end]
    if len(inside) < 2 or inside[-1].offset is None:
        return False
    return inside[0].end <= inside[-1].offset > (inside[0].offset or 0)


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
