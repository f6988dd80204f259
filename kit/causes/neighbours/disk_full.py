"""disk-full: the broker marked its disk full and accepted no more messages.

Deciding step: store.log marks a disk full (store/DefaultMessageStore.CleanCommitLogService), or an answer of code 14 whose printed ratio is at the
limit (diskSpaceWarningLevelRatio, 0.90 by default; broker/processor/SendMessageProcessor). What `df` shows supports it only: it was printed at some
other time, and older releases count reserved blocks as free.
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.sends import sends, times
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, holds, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)

LIMIT: Final = 0.90


def examine(facts: Facts) -> Finding:
    """Report whether a disk was full, by the broker's log or by its answers."""
    marks, _, quoted = answers(facts, "marked")
    refused, ratio, told = answers(facts, "full")
    if ratio is None:
        ratio = answers(facts, "room")[1]
    happened = bool(marks or refused)
    looked = facts.has_source("store") or sends.ledger(facts).knows_kinds
    finding = TEXTS.finding()
    claim = TEXTS.say("full", marks=marks, refused=refused, limit=str(LIMIT))
    finding.steps = [deciding("marked-full", claim, holds(happened, looked), (*quoted, *told)[:3])]
    if not (measured := times.full_disks(facts, 100 * LIMIT)).empty:
        worst = measured.iloc[0]
        said = TEXTS["measured_store"] if times.store_paths(facts) else TEXTS["measured"]
        claim = said.say(mount=str(worst["subject"]), percent=round(worst["value"]), limit=round(100 * LIMIT))
        finding.steps.append(supporting("df", claim, True, refs.lines(facts, measured, 1)))
    finding.figures = {
        "marked_full": marks if facts.has_source("store") else None,
        "refused_answers": refused if sends.ledger(facts).whole or refused else None,
        "highest_ratio": ratio,
    }
    if happened:
        summary = TEXTS["summary"] if marks else TEXTS["summary_answers"]
        finding.summary = summary.say(marks=marks, refused=refused, ratio=str(LIMIT))
    if happened or not measured.empty:
        finding.remedies = [TEXTS.remedy("action")]
    if not happened and not looked:
        finding.missing = [collect_next.ask("store.log", TEXTS["want"])]
    return finding


def answers(facts: Facts, state: str) -> tuple[int, float | None, tuple[Ref, ...]]:
    """Return how many entries of the table `disk_answers` have a state, the highest ratio they print, and the first two."""
    if not refs.seen(facts, "disk-full", "service-not-available"):
        return 0, None, ()
    rows = facts("disk_answers")
    rows = rows[rows["state"] == state]
    if rows.empty:
        return 0, None, ()
    highest = rows["highest"].iloc[0]
    within = None if state == "marked" else "service not available now"
    quoted = refs.earliest(facts, rows, 2, within=within)
    return int(rows["n"].iloc[0]), None if pd.isna(highest) else float(highest), quoted
