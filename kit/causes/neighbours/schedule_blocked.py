"""schedule-blocked: the delivery of a delayed message is refused again and again, and its delay level is blocked with
everything behind it.

Similar to the put-back loop: the delivered copy differs from the waiting one only in its topic, so it outgrows the
limit if the real topic's name is longer than SCHEDULE_TOPIC_XXXX. Source: store/schedule/ScheduleMessageService
(4.x), broker/schedule/ScheduleMessageService (5.x).
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.sizes import limits, refusals
from kit.causes import shown_by
from kit.causes.declared import Observed
from kit.tables.facts import Facts

FOR_SIZE: Final = ("MESSAGE_ILLEGAL", "PROPERTIES_SIZE_EXCEEDED")
"""store/PutMessageStatus of a record that is too large."""
AGAIN: Final = 5
"""Seconds between failures that name no message, above which they are not one stop of the broker; the delivery is
retried after 10 s.
"""


def observe(facts: Facts) -> Observed:
    """Name the delay levels that are blocked, by which record, and count what waits behind it."""
    rows = facts("size_refusals")
    failed, named = _again(rows), refusals.for_size(rows, "schedule")
    too_large = _too_large(facts)
    blocked = _blocked(facts, failed, too_large)
    lines, sized = int(failed["count"].sum()), int(failed.loc[failed["status"].isin(FOR_SIZE), "count"].sum())
    by_store = int(named["count"].sum())
    happened = bool(len(failed) or len(named))
    levels = sorted({int(queue) + 1 for queue in blocked["queue_id"]})
    return Observed(
        {
            "happened": happened,
            "count": max(lines, by_store),
            "for_size": max(sized, by_store),
            "failed_deliveries": max(lines, by_store) if shown_by.has(facts, "store.log | broker.log") else None,
            "limit": limits.limits(facts).limit,
            "undeliverable_records": None
            if too_large is None
            else int(too_large["records"].max())
            if len(too_large)
            else 0,
            "levels": levels or None,
            "blocked_levels": levels,
            "waiting_behind": int(blocked["waiting"].sum()) if len(blocked) else None,
        },
        {
            "delivery-failed": (*refs.lines(facts, failed, 2), *refs.lines(facts, named, 1)),
            "too-large": () if too_large is None else refs.records_at(facts, too_large),
            "waiting-behind": refs.records_at(facts, blocked) if len(blocked) else (),
        },
        refusals.window(failed if len(failed) else named) if happened else None,
    )


def _again(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the failed deliveries that a stop of the broker does not explain."""
    failed = rows[rows["event"] == "schedule-put-failed"]
    if failed.empty:
        return failed
    by_id = failed.groupby("msg_id")["count"].transform("sum")  # null where the text names no message (4.9.3+)
    lasted = failed.groupby("status", dropna=False)[["first", "last"]].transform(
        lambda c: c.min() if c.name == "first" else c.max()
    )
    again = failed["msg_id"].isna() & (
        failed["status"].isin(FOR_SIZE) | ((lasted["last"] - lasted["first"]).dt.total_seconds() >= AGAIN)
    )
    return failed[again | (failed["msg_id"].notna() & (by_id > 1))]


def _too_large(facts: Facts) -> pd.DataFrame | None:
    """Return waiting records too large for their real topic (`schedule_misfits`); None if not known."""
    known = limits.limits(facts)
    if not facts.has("messages") or known.limit is None or known.how is None:
        return None
    rows = facts("schedule_misfits")
    return rows[rows["kind"] == "too_large"]


def _blocked(facts: Facts, failed: pd.DataFrame, too_large: pd.DataFrame | None) -> pd.DataFrame:
    """Return the first record of each level that is blocked: those the log names, else the too large ones."""
    if facts.has("messages") and failed["msg_id"].notna().any():
        rows = facts("schedule_misfits")
        return rows[rows["kind"] == "named"]
    return pd.DataFrame({"queue_id": []}) if too_large is None else too_large[too_large["nth"] == 1]
