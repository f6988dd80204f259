"""The most useful charts of each cause: result table and chart function. For pages without notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from kit.charts import Chart
from kit.charts.messages import retries
from kit.charts.sends import busy
from kit.charts.sizes import limit
from kit.charts.transactions import half_topic, transactions

if TYPE_CHECKING:
    from kit.notebook.inquiry import Inquiry

CHARTS: Final[Mapping[str, tuple[tuple[str, Callable[..., Chart]], ...]]] = {
    "half-topic-blowup": (("half_topic_growth", half_topic.growth), ("half_topic_flow", half_topic.flow)),
    "message-size-mismatch": (("size_half_queue", limit.half_queue), ("size_near_limit", limit.near_limit)),
    "message-identity": (("identity_funnel", retries.funnel),),
    "broker-busy": (("busy_axis", busy.axis), ("busy_outcome", busy.outcome)),
    "transaction-consistency": (("transaction_flow", transactions.accounting),),
}


def of(inquiry: Inquiry, cause: str) -> tuple[list[tuple[str, Chart]], list[str]]:
    """Return (table, chart) for each chart of a cause with rows in this evidence, and the tables whose chart failed."""
    drawn: list[tuple[str, Chart]] = []
    failed: list[str] = []
    for name, draw in CHARTS.get(cause, ()):
        frame = inquiry.table(name)
        if frame.empty:
            continue
        try:
            drawn.append((name, draw(frame, lang=inquiry.lang)))
        except Exception:  # a failed chart does not break the page: the page names it
            failed.append(name)
    return drawn, failed
