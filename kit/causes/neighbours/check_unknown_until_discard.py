"""check-unknown-until-discard: producers answered UNKNOW at every check until the broker discarded the message.

Source: broker/transaction/queue/TransactionalMessageServiceImpl.needDiscard, broker/processor/EndTransactionProcessor
(reference §4.6, §6.5).
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.analysis import brokers, refs, setup
from kit.analysis.transactions import totals
from kit.causes.declared import Observed, span
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def observe(facts: Facts) -> Observed:
    """Count the discarded transactions that had been answered UNKNOW until the limit."""
    limit = setup.setting(facts, "transactionCheckMax", brokers.half_addresses(facts))
    values: dict[str, Any] = {"check_limit": integer(limit.value), "limit": limit.value, "limit_known": limit.known}
    if limit.known:
        values["known"] = TEXTS[f"known-{limit.known}"]
    if not facts.has("messages"):
        return _printed(facts, values)
    count = totals.summary(facts).states()["discarded"]
    if not count:
        return Observed({**values, "discarded": count, "answered_unknown": 0 if count == 0 else None})
    every = facts("discarded_transactions")
    rows = every[every["unknown"] > 0]
    thrown = rows[rows["thrown"]]
    values |= {
        "discarded": count, "answered_unknown": len(rows), "unknown": len(rows), "answers": int(rows["unknown"].sum()),
        "thrown": int(rows["thrown"].sum()),
    }  # fmt: skip
    quotes = {
        "discarded": refs.transactions(every, "discarded: KEYS={key}, UNIQ_KEY={uniq_key}", 2),
        "answered-unknown": _lines(facts, rows, "log"),
        "listener-threw": _lines(facts, thrown, "first") if len(thrown) else (),
    }
    if not len(rows):
        return Observed(values, quotes)
    table = {"unknown_until_discard": rows.drop(columns=["first_file", "first_line"])}
    groups = sorted(set(rows["producer_group"].dropna()))
    return Observed(values, quotes, span(rows["stored"], rows["time"]), actors=groups, tables=table)


def _printed(facts: Facts, values: dict[str, Any]) -> Observed:
    """Count by the log alone; copies of a leaked message belong to another cause."""
    rows = facts.rows("printed_discards") if refs.seen(facts, "check-discard") else []
    row = next((row for row in rows if not row["leaked"]), None)
    if row is None:
        return Observed(values)
    unknown = row["unknown_messages"]
    return Observed(
        {
            **values, "printed": True, "discarded": row["messages"] or None, "named": row["messages"],
            "lines": row["lines"],
            "unknown": unknown, "answers": row["unknowns"], "answered_unknown": unknown or None,
        },
        {
            "discarded": facts.refs([(row["file"], row["line"])]),
            "answered-unknown": facts.refs([(row["unknown_file"], row["unknown_line"])]) if unknown else (),
        },
        (row["first"], row["last"]) if unknown and row["first"] else None,
    )  # fmt: skip


def _lines(facts: Facts, rows: pd.DataFrame, which: str) -> tuple[Ref, ...]:
    return facts.refs((str(r[f"{which}_file"]), int(r[f"{which}_line"])) for r in rows.head(2).to_dict("records"))
