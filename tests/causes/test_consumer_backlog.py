"""consumer-backlog: when a lag is a backlog."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

import pytest

from kit.analysis.consumers import lag

START = dt.datetime(2026, 11, 22, 7)  # noqa: DTZ001 - naive UTC, as the analysis has it


def course(queue_id: int, first: tuple[int, int], last: tuple[int, int], broker: str = "broker-a") -> SimpleNamespace:
    """One queue by its (offset, end) at two times a minute apart."""
    lags = first[1] - first[0], last[1] - last[0]
    return lag.course({
        "broker": broker, "queue_id": queue_id, "first_offset": first[0], "first_end": first[1], "last_offset": last[0], "last_end": last[1],
        "first_lag": lags[0], "last_lag": lags[1], "peak": max(lags), "first": START, "last": START + dt.timedelta(minutes=1), "looks": 2,
        "begin": None, "stand_first": START if first[0] == last[0] else None,
    })  # fmt: skip


SLOW = [course(0, (10, 20), (40, 350)), course(1, (10, 20), (70, 380))]


def test_a_lag_that_grows_everywhere_while_offsets_go_on_is_a_backlog() -> None:
    slow = lag.pair("points", "orders", SLOW)
    assert slow.backlog and slow.lag == 310 + 310
    assert slow.growth_per_second == 10.0  # 300 messages a minute in each of two queues
    assert slow.per_queue == {"0": 310, "1": 310}


@pytest.mark.parametrize(
    "queues",
    [
        [*SLOW, course(2, (10, 20), (379, 380))],  # one keeps up
        [*SLOW, course(2, (10, 380), (340, 390))],  # shrinks
        [*SLOW, course(2, (10, 20), (15, 29))],  # what is under way
        [course(0, (10, 20), (10, 350)), course(1, (10, 20), (10, 380))],  # none handles anything: no slow group
    ],
)
def test_what_refutes_a_backlog(queues: list[SimpleNamespace]) -> None:
    assert not lag.pair("points", "orders", queues).backlog


def test_queues_of_several_brokers_are_told_apart() -> None:
    queues = [SLOW[0], course(0, (10, 20), (40, 350), "broker-b")]
    assert list(lag.pair("points", "orders", queues).per_queue) == ["broker-a:0", "broker-b:0"]
