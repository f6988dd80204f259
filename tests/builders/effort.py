"""How many examples a property is tried with: a tenth of them in `make quick`, all of them in every other run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

quick = False
"""Set by tests/conftest.py before any test module is imported."""


def examples(count: int) -> settings:
    """Return settings for `count` examples in a whole run; how long one takes says nothing on a busy machine."""
    few = max(20, count // 10) if quick else count
    return settings(max_examples=few, deadline=None, suppress_health_check=list(HealthCheck))
