"""The replay under other limits, by hand-made arithmetic."""

from __future__ import annotations

import numpy as np

from kit.busyreplay import what_if

PAUSES = np.array([[1000.0, 2000.0], [5000.0, 9000.0]])
ARRIVALS = np.array([0.0, 1100, 1950, 3000, 5500, 8900])
"""Waits: none, 900, 50, none, 3500, 100 ms."""


def replay(timeout: float, retries: int, wait: float) -> tuple[int, ...]:
    return tuple(what_if(ARRIVALS, PAUSES, timeout, retries, wait)["sends"])


def test_a_short_limit_refuses_what_waited_longer() -> None:
    assert replay(10_000, 0, 200) == (4, 2, 0, 0)
    assert replay(10_000, 0, 60) == (3, 3, 0, 0)


def test_a_long_limit_turns_refusals_into_waits_and_time_outs_that_are_stored() -> None:
    assert replay(10_000, 0, 5000) == (6, 0, 0, 0)
    assert replay(3000, 0, 5000) == (5, 0, 1, 0)


def test_a_client_can_give_up_on_what_is_refused_later() -> None:
    assert replay(3000, 0, 200) == (4, 1, 0, 1)


def test_a_retry_saves_what_was_refused_behind_the_pause() -> None:
    assert replay(10_000, 1, 200) == (6, 0, 0, 0)


def test_moments_count_as_often_as_messages_were_sent_in_them() -> None:
    many = what_if(ARRIVALS, PAUSES, 10_000, 0, 200, np.array([1, 10, 1, 1, 100, 1]))
    assert tuple(many["sends"]) == (4, 110, 0, 0)
