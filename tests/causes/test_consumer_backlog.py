"""consumer-backlog: when a lag is a backlog."""

from types import SimpleNamespace

import pytest

from kit.analysis.consumers import lag


def course(queue_id: int, first: tuple[int, int], last: tuple[int, int], broker: str = "broker-a") -> SimpleNamespace:
    """One queue by its (offset, end) at two times a minute apart."""
    lags = first[1] - first[0], last[1] - last[0]
    return SimpleNamespace(
        broker=broker, queue_id=queue_id, first_lag=lags[0], last_lag=lags[1], peak=max(lags), looks=2, seconds=60.0,
        arrived=last[1] - first[1], advanced=last[0] - first[0], grew=lags[1] - lags[0] >= 10, never_handled=False,
    )  # fmt: skip


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
        [*SLOW, course(2, (10, 20), (15, 29))],  # grows by less than is under way
        [course(0, (10, 20), (10, 350)), course(1, (10, 20), (10, 380))],  # none handles anything: no slow group
    ],
)
def test_what_refutes_a_backlog(queues: list[SimpleNamespace]) -> None:
    assert not lag.pair("points", "orders", queues).backlog


def test_queues_of_several_brokers_are_told_apart() -> None:
    queues = [SLOW[0], course(0, (10, 20), (40, 350), "broker-b")]
    assert list(lag.pair("points", "orders", queues).per_queue) == ["broker-a:0", "broker-b:0"]
