"""The replay under other limits, by hand-made arithmetic."""

import numpy as np
import pytest
from table import rows_of

from kit.charts.sends import replayed

PAUSES = np.array([[1000.0, 2000.0], [5000.0, 9000.0]])
ARRIVALS = np.array([0.0, 1100, 1950, 3000, 5500, 8900])
"""Waits: none, 900, 50, none, 3500, 100 ms."""


@pytest.mark.parametrize(("timeout", "retries", "wait", "sends"), rows_of(__file__, "a_limit"))
def test_a_limit(timeout: float, retries: int, wait: float, sends: list[int]) -> None:
    assert list(replayed(ARRIVALS, PAUSES, timeout, retries, wait)["sends"]) == sends


def test_moments_count_as_often_as_messages_were_sent_in_them() -> None:
    many = replayed(ARRIVALS, PAUSES, 10_000, 0, 200, np.array([1, 10, 1, 1, 100, 1]))
    assert tuple(many["sends"]) == (4, 110, 0, 0)
