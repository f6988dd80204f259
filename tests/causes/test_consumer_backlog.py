"""consumer-backlog: a recorded slow listener, a burst that drains, and less evidence."""

from __future__ import annotations

import datetime as dt

import attrs
import pytest

from kit.analysis.consumers.lag import Course, Pair

START = dt.datetime(2026, 11, 22, 7)  # noqa: DTZ001 - naive UTC, as the analysis has it


def course(queue_id: int, first: tuple[int, int], last: tuple[int, int], peak: int | None = None) -> Course:
    """One queue by its (offset, end) at two times a minute apart."""
    lags = first[1] - first[0], last[1] - last[0]
    later = START + dt.timedelta(minutes=1)
    end = {"first_offset": first[0], "first_end": first[1], "last_offset": last[0], "last_end": last[1]}
    return Course(
        "points", "orders", "broker-a", queue_id, **end, first_lag=lags[0], last_lag=lags[1], peak=peak or max(lags),
        first=START, last=later, looks=2, begin=None, stand_first=START if first[0] == last[0] else None,
    )  # fmt: skip


SLOW = Pair("points", "orders", (course(0, (10, 20), (40, 350)), course(1, (10, 20), (70, 380))))


def test_a_lag_that_grows_everywhere_while_offsets_go_on_is_a_backlog() -> None:
    assert SLOW.backlog and SLOW.lag == 310 + 310
    assert SLOW.growth_per_second == 10.0  # 300 messages a minute in each of two queues
    assert SLOW.per_queue() == {"0": 310, "1": 310}


@pytest.mark.parametrize(
    "queue",
    [
        course(2, (10, 20), (379, 380)),  # keeps up
        course(2, (10, 380), (340, 390)),  # shrinks
        course(2, (10, 20), (15, 29)),  # what is under way
    ],
)
def test_one_queue_that_does_not_fall_behind_refutes_it(queue: Course) -> None:
    assert not attrs.evolve(SLOW, queues=(*SLOW.queues, queue)).backlog


def test_a_group_that_handles_nothing_at_all_is_no_slow_one() -> None:
    assert not Pair("points", "orders", (course(0, (10, 20), (10, 350)), course(1, (10, 20), (10, 380)))).backlog


def test_queues_of_several_brokers_are_told_apart() -> None:
    other = attrs.evolve(SLOW.queues[0], broker="broker-b")
    assert list(Pair("points", "orders", (SLOW.queues[0], other)).per_queue()) == ["broker-a:0", "broker-b:0"]
