"""The limits that apply to a transaction: from the evidence if it has them, else the default of the version, and which
of the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis.transactions import owners, totals
from kit.case import setup
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

SETTINGS: Final = (
    ("transactionCheckMax", ""),
    ("transactionTimeOut", "ms"),
    ("transactionCheckInterval", "ms"),
    ("fileReservedTime", "h"),
)
COLUMNS: Final = ("limit", "value", "unit", "known", "where", "line")


def table(case: Case) -> pd.DataFrame:
    """Return the limits in force, one per row: limit, value (text, None if unknown), unit, known (`evidence`,
    `default`, None), where, line.
    """
    rows: list[tuple[Any, ...]] = []
    for name, unit in SETTINGS:
        value, where, known = setup.setting(case, name, owners.addresses(case))
        rows.append((name, value, unit, known, where.file if where else None, where.line if where else None))
    if case.has("messages"):
        immune = totals.summary(case).total("immune")
        rows.append((names.CHECK_IMMUNITY, f"{immune}", "transactions", "evidence", None, None))
    rows += _retries(case)
    # Both are fixed in the client: client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction.
    rows += [
        ("DELAY", None, "not allowed", "default", None, None),
        ("batch", None, "not allowed", "default", None, None),
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"line": "Int64"})


def _retries(case: Case) -> list[tuple[Any, ...]]:
    """Return the retries before the dead letter queue of each consumer group in the broker's configuration; the default
    16 if it has none.
    """
    found = [
        row
        for row in case.fact_rows("settings")
        if row["origin"] == "subscriptionGroup" and row["name"] == "retryMaxTimes" and not row["backup"]
    ]
    limits = {
        (r["subject"], r["value"]): r
        for r in sorted(found, key=lambda r: (r["subject"] or "", r["file"], r["line"]))
        if names.of_users(r["subject"] or "")
    }
    rows: list[tuple[Any, ...]] = [
        (f"retryMaxTimes {group}", value, "", "evidence", row["file"], row["line"])
        for (group, value), row in limits.items()
    ]
    return rows[:50] or [("retryMaxTimes", "16", "", "default", None, None)]
