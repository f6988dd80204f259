"""disk-full: the broker marked its disk full and accepted no more messages.

Deciding step: store.log marks a disk full (store/DefaultMessageStore.CleanCommitLogService), or an answer of code 14 whose printed ratio is at the
limit (diskSpaceWarningLevelRatio, 0.90 by default; broker/processor/SendMessageProcessor). What `df` shows supports it only: it was printed at some
other time, and older releases count reserved blocks as free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.sends import measurements, sends
from kit.causes import collect_next
from kit.causes.alerts import DISK_FULL, Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, holds, supporting
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

SLUG = "disk-full"
KIND: Kind = "neighbour"
LIMIT: Final = 0.90

TITLE = T("The broker's disk was full")
NONE = T("No disk was marked full.")
SUMMARY = T(
    "The broker marked its disk full ({marks} {marks:time|times}); {refused} {refused:answer prints|answers print} a ratio of {ratio} or more."
)
SUMMARY_ANSWERS = T(
    "The broker refused messages because its disk was full: {refused} {refused:answer says|answers say} it is at {ratio} or more."
)
FULL = T(
    "The disk was marked full ({marks} {marks:log entry|log entries}), or answers of code 14 print a ratio of at least {limit} ({refused} {refused:entry|entries})."
)
MEASURED = T(
    "df shows {mount} at {percent}%; a broker whose store is there refuses messages above {limit}% (diskSpaceWarningLevelRatio)."
)
MEASURED_STORE = T(
    "df shows {mount}, which holds the store, at {percent}%; a broker refuses messages above {limit}% (diskSpaceWarningLevelRatio)."
)
WANT = T("it shows when the disk was marked full")
ACTION = T("Free space or move the store; then lower fileReservedTime or enlarge the disk.")
WHY = T(
    "Files are deleted only when they are old enough or the ratio is exceeded; until then new messages are refused."
)
RISK = T("Messages not yet consumed are lost with the commitlog files that hold them.")
VERIFY = T("commitLogDiskRatio of brokerStatus falls below diskMaxUsedSpaceRatio.")

LOOKS_LIKE = (
    ("broker-not-available", T("code 14 with a ratio below 0.90: slave, shutdown, not a full disk")),
    ("broker-busy", T("flow control names no ratio; the disk may be slow but has room")),
)

FIGURES: Final = {
    "highest_ratio": Figure(T("highest share of the disk in use")),
    "marked_full": Figure(T("times a disk was marked full")),
    "refused_answers": Figure(T("sends refused for it")),
}

ALERTS: Final = (
    Alert("disk-full", T("The disk of a broker is full: it refuses messages."), "marked-full", severity="critical"),
    Alert(DISK_FULL, T("The disk of a store fills up: near 90% the broker refuses messages."), "marked-full", by=("path",), severity="critical", steady=True),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report whether a disk was full, by the broker's log or by its answers."""
    marks, _, quoted = answers(case, "marked")
    refused, ratio, told = answers(case, "full")
    if ratio is None:
        ratio = answers(case, "room")[1]
    happened = bool(marks or refused)
    looked = case.has_source("store") or sends.ledger(case).knows_kinds
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    claim = FULL.say(marks=marks, refused=refused, limit=str(LIMIT))
    finding.steps = [deciding("marked-full", claim, holds(happened, looked), (*quoted, *told)[:3])]
    if not (measured := measurements.full_disks(case, 100 * LIMIT)).empty:
        worst = measured.iloc[0]
        said = MEASURED_STORE if measurements.store_paths(case) else MEASURED
        claim = said.say(mount=str(worst["subject"]), percent=round(worst["value"]), limit=round(100 * LIMIT))
        finding.steps.append(supporting("df", claim, True, refs.lines(case, measured, 1)))
    finding.figures = {
        "marked_full": marks if case.has_source("store") else None,
        "refused_answers": refused if sends.ledger(case).whole or refused else None,
        "highest_ratio": ratio,
    }
    if happened:
        finding.summary = (SUMMARY if marks else SUMMARY_ANSWERS).say(marks=marks, refused=refused, ratio=str(LIMIT))
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    elif not measured.empty:
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    if not happened and not looked:
        finding.missing = [collect_next.broker_log("store.log", WANT)]
    return finding


def answers(case: Case, state: str) -> tuple[int, float | None, tuple[Ref, ...]]:
    """Return how many entries of the table `disk_answers` have a state, the highest ratio they print, and the first two."""
    if not refs.seen(case, "disk-full", "service-not-available"):
        return 0, None, ()
    rows = case.facts("disk_answers")
    rows = rows[rows["state"] == state]
    if rows.empty:
        return 0, None, ()
    highest = rows["highest"].iloc[0]
    within = None if state == "marked" else "service not available now"
    quoted = refs.earliest(case, rows, 2, within=within)
    return int(rows["n"].iloc[0]), None if pd.isna(highest) else float(highest), quoted
