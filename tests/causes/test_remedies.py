"""Remedies follow the diagnosis: each explanation and each reason has its own, and limits stay below what clients wait."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kit.analysis.sends import sends
from kit.causes.root_causes import broker_busy


@pytest.mark.parametrize(
    ("whys", "fixes"),
    [
        (("gc",), ["resend", "gc"]),
        (("replication", "page-cache", "flush"), ["resend", "replica", "pages"]),
        ((), ["resend", "find"]),
    ],
)
def test_each_explanation_of_a_busy_broker_has_its_own_remedy(whys: tuple[str, ...], fixes: list[str]) -> None:
    explained = [SimpleNamespace(slug=slug) for slug in whys]
    assert broker_busy._proposed(sends.Ledger(None), explained) == fixes  # type: ignore[arg-type]
