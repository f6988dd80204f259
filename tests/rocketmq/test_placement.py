"""Where the half message is sent: the published verdicts, and what failures leave beyond them."""

import pytest
from table import rows_of

from kit.rocketmq.placement import FAILURES, unsafe


@pytest.mark.parametrize(("looks_at_status", "places"), rows_of(__file__, "unsafe"))
def test_the_published_verdicts(looks_at_status, places):
    assert unsafe(looks_at_status=looks_at_status) == places


@pytest.mark.parametrize(("place", "failure", "worst"), rows_of(__file__, "leaves"))
def test_what_a_failure_leaves(place, failure, worst):
    assert getattr(FAILURES[failure], place) == worst
