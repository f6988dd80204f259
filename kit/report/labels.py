"""The report's own sentences: headings, verdicts, what each figure counts, the glossary."""

from __future__ import annotations

from typing import Final

from kit.causes import findings
from kit.i18n import Lang, T

PAGE: Final[dict[str, T]] = {
    "kicker": T("RocketMQ incident report"),
    "skip": T("Skip to the report"),
    "contents": T("Contents"),
    "filter": T("Filter these rows"),
    "copy_text": T("Copy"),
    "copied": T("Copied"),
    "permalink": T("Link to claim"),
    "further_places": T("Further places"),
    "further_charts": T("Further charts"),
    "redacted": T(
        "Names, addresses, keys and paths on this page are pseudonyms: the same original always has the same one. Times, sizes, offsets and hashes are real."
    ),
    "no_cause": T("No root cause is confirmed"),
    "one_suspect": T("Not proven yet; the strongest lead is: {title}"),
    "quiet": T(
        "Nothing in this evidence points to a known fault. That does not prove the system healthy: see below what was read, and what was not."
    ),
    "too_little": T(
        "Insufficient evidence. What to collect, with the exact commands, is listed below; then run the report again."
    ),
    "what": T("What happened"),
    "timeline": T("Timeline"),
    "since": T("Since when"),
    "bad": T("How bad"),
    "why": T("Why"),
    "now": T("What to do now"),
    "collect": T("What to collect next"),
    "from_to": T("{first} to {last} UTC"),
    "lasted": T("for {span}"),
    "no_window": T("The evidence has no times for it."),
    "also": T("Also seen"),
    "in_brackets": T("({text})"),
    "then": T("; "),
    "chain": T("Why we say so"),
    "chain_note": T(
        "Each claim is based on lines and records of the evidence; file and line, or file and byte offset, are given so that anyone can check."
    ),
    "deciding": T("deciding"),
    "supporting": T("supporting"),
    "holds": T("shown"),
    "fails": T("shown false"),
    "open": T("not known"),
    "line": T("line {n}"),
    "byte": T("byte {n}"),
    "numbers": T("Numbers"),
    "not_known": T("Not known from this evidence:"),
    "charts": T("What it looked like"),
    "behind": T("The table behind the chart"),
    "undrawn": T("The chart needs JavaScript; its numbers are in the table below."),
    "remedies": T("What to do"),
    "helps": T("Why it helps"),
    "risk": T("Risk"),
    "verify": T("How to see that it worked"),
    "missing": T("What is missing"),
    "run_this": T("Run this, add the result to the evidence, and run the report again:"),
    "steps": T("The investigation, step by step"),
    "failed": T(
        "The notebook {name} stopped with an error before its end; its results up to there are below. The verdicts do not depend on it."
    ),
    "neighbours": T("Neighbouring findings"),
    "explains": T("This explains:"),
    "explained_by": T("This follows from:"),
    "look_alikes": T("Looks like, tell apart by"),
    "excluded": T("What it was not"),
    "excluded_note": T("Every known cause was examined. These were ruled out by the step that is shown to be false."),
    "undecided": T("What could not be decided"),
    "undecided_note": T("The evidence neither confirms nor rules out these causes. The commands collect what would."),
    "complete": T("What was read, and what was not"),
    "kinds": T("Evidence by kind"),
    "inventory": T("Files of the evidence"),
    "every_file": T("Every file, with its hash"),
    "unrecognised": T("Not recognised, so not used"),
    "damage": T("Damaged, refused or unreadable"),
    "skipped": T("Byte ranges that are not records"),
    "nothing_skipped": T("No damaged range: every byte belongs to a record or to known filler."),
    "everything_used": T("Every file was recognised."),
    "glossary": T("Words used here"),
    "again": T("How to run this again"),
    "again_note": T(
        "The same evidence gives the same report, byte for byte. manifest.json next to this page lists every input with its SHA-256."
    ),
    "manifest": T("Manifest hash"),
    "made_by": T("Created by rmq-kit {version}."),
    "unknown": T("unknown"),
    "parts_failed": T(
        "In the notebook {name}, {n} {n:part|parts} could not be shown; a table or a sentence replaces them. "
        "The verdicts do not depend on them."
    ),
    "part_failed": T("A part could not be shown here ({type})."),
    "not_examined": T("No root cause is confirmed, but not every cause could be examined: see the box above."),
    "cause_failed": T(
        "{title}: {summary} bug-report.txt next to this page has the details, without any content of the evidence."
    ),
    "cause": T("Cause"),
    "verdict": T("Verdict"),
    "reason": T("Reason"),
    "slug": T("Name in the kit"),
    "false_step": T("Shown false"),
    "refs": T("references"),
}

_ICONS: Final = {"confirmed": "●", "suspected": "◐", "ruled_out": "○", "insufficient_evidence": "?", "failed": "!"}
VERDICTS: Final[dict[str, tuple[str, T]]] = {each: (_ICONS[each], name) for each, name in findings.VERDICTS.items()}
"""The icon and name of each verdict."""

KEYS: Final[dict[str, T]] = {
    "safe_body_bytes": T("topic"),
    "lag": T("topic and group"),
    "lag_per_queue": T("topic and group"),
    "moved": T("queue"),
    "subscriptions": T("client id"),
    "handled_by_nobody": T("topic"),
    "behind_the_offset": T("topic"),
    "in_front_of_the_offset": T("topic"),
    "queues_of_several": T("topic"),
    "queues_of_nobody": T("topic"),
    "topics": T("topic"),
    "reasons": T("reason"),
}
"""What the keys of a figure with several values are."""

INNER: Final[dict[str, T]] = {
    "start": T("start (UTC)"),
    "seconds": T("seconds"),
    "pauses": T("pauses"),
    "stored": T("stored"),
    "lost": T("lost"),
    "why": T("why"),
    "share": T("share of the failed sends"),
}
"""Headings inside a figure."""

SKIPPED: Final[dict[str, T]] = {
    "zero_tail": T("unwritten end of the file"),
    "blank": T("filler at the end of a file"),
    "truncated": T("the file ends inside a record"),
    "corrupt": T("corrupt"),
}

COLUMNS: Final[dict[str, T]] = {
    "file": T("file"),
    "kind": T("kind"),
    "source": T("source"),
    "files": T("files"),
    "bytes": T("bytes"),
    "first": T("first time"),
    "last": T("last time"),
    "zone": T("zone"),
    "sha256": T("SHA-256 (start)"),
    "replica_of": T("copy of"),
    "reason": T("reason"),
    "start": T("from byte"),
    "end": T("to byte"),
    "ranges": T("ranges"),
}
"""Headings of the tables about the evidence itself."""

GLOSSARY: Final[tuple[tuple[T, T], ...]] = (
    (
        T("half message", "半消息"),
        T(
            "A transaction message the broker keeps in RMQ_SYS_TRANS_HALF_TOPIC until the producer answers commit or rollback; consumers do not see it."
        ),
    ),
    (
        T("check (check-back)"),
        T(
            "The broker asks the producer about a half message that is still open, after writing a new copy of it (put-back)."
        ),
    ),
    (T("op message"), T("The record in RMQ_SYS_TRANS_OP_HALF_TOPIC that a half message is finished.")),
    (
        T("send-back"),
        T(
            "A consumer that could not handle a message sends it back; the broker stores it in %RETRY%group for a later retry."
        ),
    ),
    (
        T("SCHEDULE_TOPIC_XXXX"),
        T("Where delayed messages wait. The original topic is kept in the record's REAL_TOPIC property."),
    ),
    (T("UNIQ_KEY"), T("The id a client gives a message once, when it is first sent; every copy keeps it.")),
    (
        T("offset message id"),
        T(
            "The broker's address and the byte offset of one stored record, in hex; every copy of a message has a different one."
        ),
    ),
    (T("commitlog"), T("The files in which a broker stores all records of all topics, one after another.")),
    (T("dead-letter queue"), T("%DLQ%group: messages whose retries ran out.")),
    (T("flow control"), T("A broker that refuses requests because it cannot keep up (“system busy”, “broker busy”).")),
)


def page(lang: Lang) -> dict[str, str]:
    """Return the sentences without placeholders, for the template."""
    return {name: text.in_(lang) for name, text in PAGE.items()}
