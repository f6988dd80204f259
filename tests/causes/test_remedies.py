"""Remedies follow the diagnosis: each explanation and each reason has its own, and limits stay below what clients wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kit.analysis.sends import sends
from kit.causes.root_causes import broker_busy, transaction_consistency
from kit.causes.root_causes.texts import broker_busy as busy_texts
from kit.causes.root_causes.texts.transaction_consistency import Fix


def actions(wrong: list[tuple[str, str | None]]) -> list[Any]:
    frame = pd.DataFrame(wrong, columns=["kind", "cause"])
    return [remedy.action for remedy in transaction_consistency._remedies(frame)][1:]


@pytest.mark.parametrize(
    ("cause", "fix"),
    [("exception", Fix.PLACE), ("FLUSH_SLAVE_TIMEOUT", Fix.STATUS), ("rollback_answer", Fix.ANSWER), (None, Fix.PLACE)],
)
def test_each_reason_of_a_disagreement_has_its_own_repair(cause: str | None, fix: Any) -> None:
    assert actions([("row_without_message", cause)]) == [fix]


def remedies(monkeypatch: pytest.MonkeyPatch, *whys: str, longest: float | None = None) -> list[Any]:
    monkeypatch.setattr(broker_busy.setup, "setting", lambda case, name: SimpleNamespace(value=None))
    monkeypatch.setattr(broker_busy.attempts, "entries", lambda case: None)
    monkeypatch.setattr(broker_busy.busy_config, "printed_periods", lambda entries: pd.Series(dtype="float64"))
    stalls = [] if longest is None else [SimpleNamespace(stood=longest, pauses=1, seconds=longest)]
    seen = SimpleNamespace(ledger=sends.Ledger(None), stalls=stalls)
    found = broker_busy._remedies(None, seen, [SimpleNamespace(slug=slug) for slug in whys])  # type: ignore[arg-type]
    return [getattr(remedy.action, "text", remedy.action) for remedy in found]


def test_each_explanation_of_a_busy_broker_has_its_own_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = busy_texts.Fix
    assert remedies(monkeypatch, "gc") == [texts.RESEND, texts.GC[0]]
    assert remedies(monkeypatch, "replication", "page-cache", "flush") == [
        texts.RESEND,
        texts.REPLICA[0],
        texts.PAGES[0],
    ]
    assert remedies(monkeypatch) == [texts.RESEND, texts.FIND[0]]


def test_waiting_longer_is_advised_only_below_what_clients_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    assert busy_texts.Fix.LIMITS in remedies(monkeypatch, "stall", longest=1.6)
    # A client gives up after 3 s (sendMsgTimeout): beyond that the doctor calls it a hazard.
    assert busy_texts.Fix.LIMITS not in remedies(monkeypatch, "stall", longest=4.2)
