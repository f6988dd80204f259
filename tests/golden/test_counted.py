"""The figures kept as golden are those that RocketMQ's decoder, ledgers and logs give: counted here without the kit."""

from __future__ import annotations

import counted
import golden
import pytest
import recorded

FIGURES = {
    ("half-topic-blowup", "half-topic-blowup"): counted.half_topic,
    ("half-topic-blowup", "transaction-consistency"): lambda: counted.transactions("half-topic-blowup"),
    ("transaction-consistency", "transaction-consistency"): lambda: counted.transactions("transaction-consistency"),
    ("size-mismatch", "message-size-mismatch"): counted.message_size,
    ("broker-busy", "broker-busy"): lambda: counted.broker_busy(recorded.whole("broker-busy")),
}


@pytest.mark.parametrize(("name", "cause"), FIGURES, ids=lambda value: value)
def test_the_kept_figures_are_counted_without_the_kit(name: str, cause: str) -> None:
    figures = golden.load(name)["findings"][cause]["figures"]
    for figure, value in FIGURES[name, cause]().items():
        assert figures[figure] == (value if isinstance(value, dict) else pytest.approx(value, rel=1e-6)), figure
