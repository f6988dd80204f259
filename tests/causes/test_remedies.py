"""Remedies follow the diagnosis: each explanation and each reason has its own, and limits stay below what clients wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kit.analysis.sends import sends
from kit.causes.root_causes import broker_busy, transaction_consistency


def actions(wrong: list[tuple[str, str | None]]) -> list[Any]:
    frame = pd.DataFrame(wrong, columns=["kind", "cause"]).assign(producer_group="orders")
    return [remedy.action.text for remedy in transaction_consistency._remedies(frame)][1:]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("cause", "fix"),
    [("exception", "place"), ("FLUSH_SLAVE_TIMEOUT", "status"), ("rollback_answer", "answer"), (None, "place")],
)
def test_each_reason_of_a_disagreement_has_its_own_repair(cause: str | None, fix: str) -> None:
    assert actions([("row_without_message", cause)]) == [transaction_consistency.TEXTS.remedies[fix].action]


def remedies(monkeypatch: pytest.MonkeyPatch, *whys: str, longest: float | None = None) -> list[Any]:
    monkeypatch.setattr(broker_busy.setup, "setting", lambda case, name: SimpleNamespace(value=None))
    monkeypatch.setattr(broker_busy.attempts, "entries", lambda case: None)
    monkeypatch.setattr(broker_busy.busy, "printed_periods", lambda entries: pd.Series(dtype="float64"))
    stalls = [] if longest is None else [SimpleNamespace(stood=longest, pauses=1, seconds=longest)]
    seen = SimpleNamespace(ledger=sends.Ledger(None), stalls=stalls)
    found = broker_busy._remedies(None, seen, [SimpleNamespace(slug=slug) for slug in whys])  # type: ignore[arg-type]
    names = {texts.action: name for name, texts in broker_busy.TEXTS.remedies.items()}
    return [names[remedy.action.text] for remedy in found]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("whys", "longest", "fixes"),
    [
        (("gc",), None, ["resend", "gc"]),
        (("replication", "page-cache", "flush"), None, ["resend", "replica", "pages"]),
        ((), None, ["resend", "find"]),
        (("stall",), 1.6, ["resend", "stopped", "limits"]),
        # A client gives up after 3 s (sendMsgTimeout): beyond that the doctor calls it a hazard.
        (("stall",), 4.2, ["resend", "stopped"]),
    ],
)
def test_each_explanation_of_a_busy_broker_has_its_own_remedy(
    monkeypatch: pytest.MonkeyPatch, whys: tuple[str, ...], longest: float | None, fixes: list[str]
) -> None:
    assert remedies(monkeypatch, *whys, longest=longest) == fixes
