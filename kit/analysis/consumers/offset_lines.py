"""What logs, outputs and copies of consumerOffset.json say of a group's offsets: lines by their values, new groups, first stored offsets."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from kit.analysis.consumers import admin_output, positions
from kit.case.memoize import per_case
from kit.formats.values import integer

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

RESETS: Final = ("offset-reset-started", "offset-reset-done", "offset-reset-client", "offset-reset-command")


@per_case
def _statements(case: Case) -> list[dict[str, Any]]:
    return case.fact_rows("offset_statements")


def lines(case: Case, *slugs: str, group: str | None = None, topic: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of the table `offset_statements` with these texts, of one group and topic if given."""
    return [
        row
        for row in _statements(case)
        if row["event"] in slugs and group in (None, row["group"]) and topic in (None, row["topic"])
    ]


@per_case
def created(case: Case) -> dict[str, dt.datetime]:
    """Return {group: when the broker created it}: a client of the group connected for the first time (autoCreateSubscriptionGroup)."""
    found: dict[str, dt.datetime] = {}
    for row in lines(case, "group-created"):  # in order of time
        if row["group"] and row["first"] is not None:
            found.setdefault(row["group"], row["first"])
    return found


@per_case
def copies(case: Case) -> list[dict[str, Any]]:
    """Return the offsets of groups in copies of consumerOffset.json and in consumerProgress outputs: file, group, topic, queue_id, offset, time."""
    known = positions.every(case)
    known = known[known["source"].isin(["copy", "progress"]) & known["offset"].notna()]
    return _rows(known[["file", "group", "topic", "queue_id", "offset", "time"]])


@per_case
def copy_times(case: Case) -> dict[str, dt.datetime]:
    """Return {copy of consumerOffset.json: when it was taken}, if that is known."""
    known = positions.every(case)
    timed = known[(known["source"] == "copy") & known["time"].notna()]
    found = {str(file): at.to_pydatetime() for file, at in timed.groupby("file")["time"].min().items()}
    # A copy in which no group has an offset yet has no positions.
    if positions.preserved(case):
        for item in case.found.of_kind("store_json"):
            copy = item.detail.get("name") == "consumerOffset" and not item.detail.get("backup")
            if copy and item.modified is not None and item.file not in set(known["file"]):
                found[item.file] = admin_output.naive(item.modified)
    return found


def first_stored(case: Case, topic: str) -> dict[int, int]:
    """Return {queue: the first offset still stored} from the latest topicStatus."""
    return {queue: low for (name, queue), low in _first_offsets(case).items() if name == topic}


@per_case
def _first_offsets(case: Case) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for block in admin_output.admin_blocks(case):
        low, queue, topic = integer(block.get("#Min Offset")), integer(block.get("#QID")), block.get("-t")
        if low is not None and queue is not None and topic is not None:
            found[topic, queue] = max(low, found.get((topic, queue), 0))
    return found


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    whole = frame.astype(object)
    return whole.where(whole.notna(), None).to_dict("records")  # type: ignore[return-value]
