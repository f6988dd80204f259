"""The postmortem's own sentences: headings, proposals, what is not written yet."""

from __future__ import annotations

from typing import Final

from kit.i18n import T

WORDS: Final[dict[str, T]] = {
    "kicker": T("RocketMQ postmortem"),
    "skip": T("Skip to the postmortem"),
    "blameless": T(
        "This page asks how it could happen, not who is to blame. Everybody acted on what they knew at the time."
    ),
    "unwritten": T("Nobody has written this down yet. Section of the notes:"),
    "summary": T("Summary"),
    "impact": T("Impact"),
    "detection": T("Detection"),
    "timeline": T("Timeline"),
    "timeline_note": T(
        "From the evidence and from the team's notes, in order of time. Times without an offset in the notes are read in {zone}."
    ),
    "chain": T("Root cause"),
    "no_cause": T("No root cause is confirmed by this evidence."),
    "resolution": T("Resolution"),
    "went_well": T("What went well"),
    "went_badly": T("What went badly"),
    "lucky": T("Where we got lucky"),
    "actions": T("Actions"),
    "missing": T("What is missing"),
    "charts": T("What it looked like"),
    "suspected": T("Suspected, not proven"),
    "suspected_note": T(
        "Some evidence points to these causes, and none refutes them. What would decide is listed under what is missing."
    ),
    "explained": T("This follows from:"),
    "inputs": T("Evidence, notes and hashes"),
    "again": T("How to run this again"),
    "again_note": T(
        "The same evidence and the same notes give the same page, byte for byte. manifest.json next to it lists every input with its SHA-256; run.json says when and where it was created."
    ),
    "manifest": T("Manifest hash"),
    "undrawn": T("The chart needs JavaScript; its numbers are in the table below."),
    "behind": T("The table behind the chart"),
    "made": T("Created by rmq-kit {version} from evidence and notes only."),
}
COLUMNS: Final[dict[str, T]] = {
    "at": T("time (UTC)"),
    "source": T("source"),
    "what": T("what", "事件"),
    "place": T("where it says so"),
    "decides": T("decides"),
    "owner": T("owner"),
    "due": T("due"),
    "kind": T("kind"),
    "ticket": T("ticket"),
}
EVIDENCE, TEAM, DECISION = T("evidence"), T("team"), T("decision")
AS_WRITTEN = T("notes: {text}")
PROPOSED = T("proposed by the kit")
NOBODY = T("nobody yet")
UNKNOWN = T("Sections of the notes that are not used: {names}")
UNDATED = T("Entries of the notes without a valid time: {count}. They are at the end.")
WHO = T("{what} ({who})")
BECAUSE = T("{what} Why: {why}")
STATUS, SEVERITY, AUTHORS = T("status: {text}"), T("severity: {text}"), T("authors: {text}")
NOT_DRAWN = T("Charts that could not be drawn: {names}. Their numbers are in the tables of the report.")
