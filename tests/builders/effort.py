"""How much a test tries and how much work the machine has had with it, however busy the machine is."""

import os

from hypothesis import settings

quick = False
"""Set by tests/conftest.py before any test module is imported."""


def worked():
    """Return the seconds of work of this process so far and of the processes that it has waited for."""
    return sum(os.times()[:4])


def examples(count):
    """Return settings for `count` examples, in `make quick` for a tenth."""
    return settings(max_examples=max(20, count // 10) if quick else count)
