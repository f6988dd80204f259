"""The replay under other limits, by hand-made arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from kit.charts.sends import replayed

PAUSES = np.array([[1000.0, 2000.0], [5000.0, 9000.0]])
ARRIVALS = np.array([0.0, 1100, 1950, 3000, 5500, 8900])
"""Waits: none, 900, 50, none, 3500, 100 ms."""


@pytest.mark.parametrize(
    ("timeout", "retries", "wait", "sends"),
    [
        # A short limit refuses what waited longer; a long one turns refusals into waits, and time-outs that are stored.
        (10_000, 0, 200, (4, 2, 0, 0)), (10_000, 0, 60, (3, 3, 0, 0)), (10_000, 0, 5000, (6, 0, 0, 0)), (3000, 0, 5000, (5, 0, 1, 0)),
        # A client can give up on what is refused later; a retry saves what was refused behind the pause.
        (3000, 0, 200, (4, 1, 0, 1)), (10_000, 1, 200, (6, 0, 0, 0)),
    ],
)  # fmt: skip
def test_a_limit(timeout: float, retries: int, wait: float, sends: tuple[int, ...]) -> None:
    assert tuple(replayed(ARRIVALS, PAUSES, timeout, retries, wait)["sends"]) == sends


def test_moments_count_as_often_as_messages_were_sent_in_them() -> None:
    many = replayed(ARRIVALS, PAUSES, 10_000, 0, 200, np.array([1, 10, 1, 1, 100, 1]))
    assert tuple(many["sends"]) == (4, 110, 0, 0)
