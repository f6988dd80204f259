"""The report's own sentences: headings, verdicts, what each figure counts, the glossary."""

from __future__ import annotations

from typing import Final

from kit.i18n import Lang, T

PAGE: Final[dict[str, T]] = {
    "kicker": T("RocketMQ incident report"),
    "skip": T("Skip to the report"),
    "contents": T("Contents"),
    "redacted": T(
        "Names, addresses, keys and paths on this page are pseudonyms: the same original always has the same one. Times, sizes, offsets and hashes are real."
    ),
    "no_cause": T("No root cause is confirmed"),
    "one_suspect": T("Not proven yet; the strongest lead is: {title}"),
    "quiet": T(
        "Nothing in this evidence points to a known fault. That is not proof of health: see below what was read, and what was not."
    ),
    "too_little": T(
        "What would decide is not in this evidence. What to fetch, and the exact commands, stand below; run the report again with it."
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
    "no_window": T("The evidence carries no times for it."),
    "also": T("Also seen"),
    "chain": T("Why we say so"),
    "chain_note": T(
        "Each claim stands on lines and records of the evidence; file and line, or file and byte offset, are given so that anyone can look."
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
        "The notebook {name} stopped with an error before its end; what it had shown until then is below. The verdicts do not depend on it."
    ),
    "neighbours": T("Neighbouring findings"),
    "explains": T("This explains:"),
    "explained_by": T("This follows from:"),
    "look_alikes": T("Looks like, tell apart by"),
    "excluded": T("What it was not"),
    "excluded_note": T("Every known cause was examined. These were ruled out, by the step that is shown false."),
    "undecided": T("What could not be decided"),
    "undecided_note": T("The evidence holds nothing that speaks for or against these. The commands fetch what would."),
    "complete": T("What was read, and what was not"),
    "kinds": T("Evidence by kind"),
    "inventory": T("Files of the evidence"),
    "every_file": T("Every file, with its hash"),
    "unrecognised": T("Not recognised, so not used"),
    "damage": T("Damaged, refused or unreadable"),
    "skipped": T("Byte ranges that are not records"),
    "nothing_skipped": T("No damaged range: every byte belongs to a record or is known filler."),
    "everything_used": T("Every file was recognised."),
    "glossary": T("Words used here"),
    "again": T("How to run this again"),
    "again_note": T(
        "The same evidence gives the same report, byte for byte. manifest.json beside this page names every input with its SHA-256."
    ),
    "manifest": T("Manifest hash"),
    "made_by": T("Made by rmq-kit {version}."),
    "unknown": T("unknown"),
    "cause": T("Cause"),
    "verdict": T("Verdict"),
    "reason": T("Reason"),
    "slug": T("Name in the kit"),
    "false_step": T("Shown false"),
    "refs": T("references"),
}

VERDICTS: Final[dict[str, tuple[str, T]]] = {
    "confirmed": ("●", T("confirmed", "labels")),
    "suspected": ("◐", T("suspected")),
    "ruled_out": ("○", T("ruled out", "labels")),
    "insufficient_evidence": ("?", T("not enough evidence")),
}

FIGURES: Final[dict[str, T]] = {
    "leaked_messages": T("messages leaked into the half topic"),
    "leaked_half_records": T("half records made from them"),
    "doubling_seconds": T("seconds to double"),
    "max_check_times": T("checks of one message at most"),
    "retry_topic_length": T("characters in the retry topic's name (127 allowed)"),
    "refused_send_backs": T("send-backs refused by the broker"),
    "retries_dropped": T("retries dropped when their delay was over"),
    "retries_unconsumable": T("retries stored where no consumer reads them"),
    "broker_limit": T("bytes allowed by the broker"),
    "at_risk_half_messages": T("transactions that will not fit when put back"),
    "looping_half_messages": T("half messages whose put-back is refused for ever"),
    "direct_rejects": T("sends refused at once for their size"),
    "safe_body_bytes": T("largest safe body in bytes, by topic"),
    "refused_by_broker": T("sends refused by the broker for their size"),
    "refused_by_client": T("sends refused by the client itself for their size"),
    "largest_refused_record": T("bytes of the largest refused record"),
    "failed_deliveries": T("failed deliveries of delayed messages"),
    "blocked_levels": T("delay levels that stand"),
    "waiting_behind": T("records waiting behind in these levels"),
    "undeliverable_records": T("waiting records too large to be delivered"),
    "uniq_keys": T("messages, told apart by UNIQ_KEY"),
    "uniq_keys_with_several_offset_ids": T("of them have several offset ids (normal)"),
    "wrong_space_lookups": T("look-ups with the wrong kind of id"),
    "handled_twice_by_offset_id": T("messages handled twice because offset ids were compared"),
    "errors_by_kind": T("failed sends, by kind"),
    "attempts_by_kind": T("single attempts, by kind"),
    "stalls": T("pauses of the broker seen in the records"),
    "sends": T("sends", "labels"),
    "sends_failed": T("sends that threw"),
    "failed_but_stored": T("failed for the sender, yet stored"),
    "lost": T("messages lost"),
    "stored_twice": T("messages stored twice"),
    "outcome_by_kind": T("what became of failed sends, by kind"),
    "committed": T("transactions committed"),
    "rolled_back": T("rolled back", "labels"),
    "discarded": T("discarded after the last check"),
    "pending": T("still open"),
    "half_messages": T("transactions in all"),
    "entries": T("log entries"),
    "committed_twice": T("committed twice", "labels"),
    "dead_lettered": T("messages in dead-letter queues"),
    "rows_without_message": T("business rows without a message"),
    "rows_pending": T("of these still open"),
    "messages_without_row": T("messages without a business row"),
    "lag": T("messages behind, by topic and group"),
    "lag_per_queue": T("messages behind, by queue"),
    "growth_per_second": T("messages a second by which the lag grows"),
    "listener_frame": T("where the consuming threads are"),
    "listener_threads": T("consuming threads that are there"),
    "group": T("consumer group"),
    "queue": T("the queue that stopped"),
    "uniq_key": T("UNIQ_KEY of the message that blocks it"),
    "why": T("why it blocks"),
    "queue_offset": T("offset at which the queue stopped"),
    "messages_behind": T("messages behind the one that blocks the queue"),
    "subscriptions": T("what each client subscribes to"),
    "handled_by_nobody": T("messages that nobody handled"),
    "behind_the_offset": T("of these behind the group's offset"),
    "in_front_of_the_offset": T("of these in front of the group's offset"),
    "client_ids": T("client ids, one for each connection"),
    "queues_of_several": T("queues pulled by several processes"),
    "queues_of_nobody": T("queues pulled by nobody"),
    "handled_twice": T("messages handled by two processes"),
    "exceptions_in_local_transaction": T("exceptions in local transactions"),
    "answered_not_ok": T("answers that were not SEND_OK although the message is stored"),
    "answered_unknown": T("of the discarded were answered UNKNOW"),
    "answers": T("answers from a broker that could not take the request"),
    "check_limit": T("checks allowed"),
    "copies": T("records of them"),
    "counted_by_broker": T("refusals the broker's own counters show"),
    "explanations": T("explanations, best shown first"),
    "failed_resends": T("fresh copies that failed too"),
    "forbidden": T("answers that the topic or broker allows no such access"),
    "foreign_answers": T("checks answered by another host"),
    "groups": T("producer groups that no producer was connected for"),
    "highest_ratio": T("highest share of the disk in use"),
    "kind_unknown": T("failed sends whose error is not known"),
    "late_answers": T("answers that came after the client had given up"),
    "late_commits": T("committed twice because the local transaction was slow"),
    "late_op_records": T("committed twice because the op record came late"),
    "lines": T("lines that say so"),
    "marked_full": T("times a disk was marked full"),
    "messages": T("messages", "labels"),
    "on_several_brokers": T("stored on several brokers"),
    "refused_answers": T("sends refused for it"),
    "stored": T("of them stored all the same"),
    "timed_out_attempts": T("single attempts that timed out"),
    "timed_out_sends": T("sends that timed out"),
    "unreached_checks": T("checks that reached nobody"),
    "unreadable_dlq_topics": T("dead letter topics nobody can read"),
    "wrong_answers": T("answers that do not fit what happened"),
    "topic": T("topic"),
    "kind": T("how the offset moved"),
    "moved": T("offsets before and after, by queue"),
    "skipped": T("messages skipped"),
    "handled_again": T("messages handled again"),
    "skipped_still_stored": T("of the skipped messages are still stored"),
    "advertised": T("address that the broker advertises"),
    "reachable": T("address of its host that clients could reach"),
    "failed_sends": T("sends that failed for it"),
    "clients": T("clients that never reached the broker"),
    "acknowledged": T("sends answered SEND_OK"),
    "acknowledged_missing": T("of them are not on the replica"),
    "replica_end_physical_offset": T("bytes of commit log on the replica"),
    "replica_last_store_timestamp": T("time of the last record on the replica"),
    "topics": T("topics that do not exist, with the sends that asked for them"),
    "consumer_groups": T("consumer groups that subscribe to them"),
    "denied": T("refusals by access control"),
    "reasons": T("whom it refused, by reason"),
}

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
        T("half message", "labels"),
        T(
            "A transaction message the broker keeps in RMQ_SYS_TRANS_HALF_TOPIC until the producer says commit or rollback; consumers do not see it."
        ),
    ),
    (
        T("check (check-back)"),
        T(
            "The broker asks the producer about a half message that stays open, after writing a fresh copy of it (put-back)."
        ),
    ),
    (T("op message"), T("The note in RMQ_SYS_TRANS_OP_HALF_TOPIC that a half message is finished.")),
    (
        T("send-back"),
        T(
            "A consumer that could not handle a message hands it back; the broker stores it in %RETRY%group for a later try."
        ),
    ),
    (
        T("SCHEDULE_TOPIC_XXXX"),
        T(
            "Where delayed messages wait. Going in, the topic a record was meant for is kept in its REAL_TOPIC property."
        ),
    ),
    (T("UNIQ_KEY"), T("The id a client gives a message once, at its first send; every copy keeps it.")),
    (
        T("offset message id"),
        T(
            "The broker's address and the byte offset of one stored record, in hex; every copy of a message has another."
        ),
    ),
    (T("commitlog"), T("The files in which a broker stores all records of all topics, one after another.")),
    (T("dead-letter queue"), T("%DLQ%group: messages whose retries ran out.")),
    (T("flow control"), T("A broker that refuses requests because it cannot keep up (“system busy”, “broker busy”).")),
)


def page(lang: Lang) -> dict[str, str]:
    """Return the sentences without placeholders, for the template."""
    return {name: text.in_(lang) for name, text in PAGE.items()}
