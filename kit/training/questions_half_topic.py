"""Lab 80, the half topic that feeds itself: the producer is suspected, then a delayed message, until the refused send-back explains it."""

from __future__ import annotations

import math
from typing import Any, Final

from kit.analysis.transactions.send_back import REASONS
from kit.i18n import T
from kit.training.bench import Bench
from kit.training.question import Lab, Question, Slip

CAUSE: Final = "half-topic-blowup"

WRITERS: Final = {
    "producer": T("the producer, with a send of its own"),
    "consumer": T("a consumer that hands a message back"),
    "check": T("the broker's check, which puts a half message back"),
    "commit": T("a commit"),
}
FIXES: Final = {
    "rollback-unknown-topic": T("answer ROLLBACK, not COMMIT, where the check finds no handler"),
    "client-4.6.1": T("upgrade the consumers' client to 4.6.1"),
    "split-tags": T("split the consumer's tags, which shortens the name of its group"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, what the store holds beside them, and what they are mistaken for."""
    figures = bench.figures(CAUSE)
    own = bench.figures("transaction-consistency")
    records, messages = figures["leaked_half_records"], figures["leaked_messages"]
    unfinished = None if own["pending"] is None else own["pending"] + (own["discarded"] or 0)
    found = {
        "records": records,
        "messages": messages,
        "unfinished": unfinished,
        "producers": own["half_messages"],
        "doubling": figures["doubling_seconds"],
    }
    return (
        found | _refusal(bench, figures["retry_topic_length"]) | (_store(bench, records, messages) if records else {})
    )


def _refusal(bench: Bench, length: int | None) -> dict[str, Any]:
    from kit.analysis.transactions import send_back
    from kit.rocketmq import names

    back = send_back.examine(bench.case)
    return {
        "refusals": back.refusals,
        "reason": back.reason if back.refusals else None,
        "length": length,
        "group_length": None if length is None else length - len(names.RETRY_PREFIX),
        "length_limit": send_back.store_limit(bench.case),
    }


def _store(bench: Bench, records: int, messages: int) -> dict[str, Any]:
    import pandas as pd
    from pyspark.sql import functions as F  # noqa: N812

    from kit.rocketmq import names

    counts, fixes = bench.table("half_topic_counts"), bench.table("half_topic_fixes")
    kept = counts[counts["place"] != "discarded"]
    # The first one in the order of the store: what the others descend from.
    places = bench.case.facts("leak_places")
    first: Any = places[places["role"] == "leaked"].iloc[0]
    writer = (
        "consumer"
        if first.reconsume_times
        else "commit"
        if first.committed
        else "check"
        if not pd.isna(first.check_times)
        else "producer"
    )
    window = counts["last"].max() - counts["first"].min()
    through = fixes[fixes["retries_delivered"].astype(bool) & (fixes["left"] == 0)]["fix"]
    return {
        "half_records": bench.case.records.where(F.col("topic") == names.HALF_TOPIC).count(),
        "anywhere": int(kept["records"].sum()),
        "writer": writer,
        "average": window.total_seconds() / math.log2(records / messages) if records > messages else None,
        "commits": int(counts["commits"].sum()),
        "with_bit": int(kept[kept["committed"].astype(bool)]["records"].sum()),
        "half_with_bit": int(counts[(counts["place"] == "half") & counts["committed"].astype(bool)]["records"].sum()),
        "fix": None if through.empty else str(through.iloc[0]),
        "left_by_rollback": _left(fixes, "rollback-unknown-topic"),
    }


def _left(fixes: Any, name: str) -> int | None:
    rows = fixes[fixes["fix"] == name]
    return None if rows.empty else int(rows["left"].iloc[0])


QUESTIONS: Final = (
    Question(
        "80-1",
        "count",
        "records",
        T("How many records of the half topic name the half topic itself as their REAL_TOPIC?"),
        T("Look at RMQ_SYS_TRANS_HALF_TOPIC, and only there; REAL_TOPIC is a property."),
        T("No producer writes such a record. They are copies of {messages} {messages:message|messages}."),
        (
            Slip(T("That counts messages (UNIQ_KEY); each of them has many records by now."), "messages"),
            Slip(
                T(
                    "That is every record of the half topic. Ordinary half messages, which name a real topic, are among them."
                ),
                "half_records",
            ),
            Slip(
                T("That includes their copies in SCHEDULE_TOPIC_XXXX, where the delay takes each of them first."),
                "anywhere",
            ),
        ),
    ),
    Question(
        "80-2",
        "count",
        "unfinished",
        T(
            "The business says “not consumed”, so the producer is suspected. How many of its own transactions were never finished (pending or discarded)?"
        ),
        T("Count transactions whose REAL_TOPIC is a real topic: each has a commit, or an op record, or neither."),
        T("Of {producers}. A producer that ends its transactions is no suspect: that was the first wrong turn."),
        (
            Slip(
                T(
                    "Those leaked messages are no transactions of the producer: it committed each of them, and they were delivered once already."
                ),
                "messages",
            ),
            Slip(T("Those leaked records are copies; the producer's transactions name a real topic."), "records"),
            Slip(T("That is all of the producer's transactions, finished or not."), "producers"),
        ),
    ),
    Question(
        "80-3",
        "word",
        "writer",
        T(
            "DELAY is set and the flag says commit: a delayed transaction message? Who wrote the first of the leaked records?"
        ),
        T("Look at the properties of the very first one: RECONSUME_TIME, RETRY_TOPIC."),
        T(
            "It had been consumed: it carries RECONSUME_TIME, and RETRY_TOPIC, which the client sets where its normal send-back has thrown."
        ),
        (
            Slip(
                T(
                    "A producer sets no delay on a transaction message, and its records name a real topic. This one was consumed before: see RECONSUME_TIME."
                ),
                value="producer",
            ),
            Slip(
                T(
                    "The check only copies what is in the half topic already; the first one has no TRANSACTION_CHECK_TIMES."
                ),
                value="check",
            ),
            Slip(T("A commit names the record it ends, so one must have been there before it."), value="commit"),
        ),
        WRITERS,
    ),
    Question(
        "80-4",
        "word",
        "reason",
        T("The consumer's log says that the broker refused to take messages back. Why?"),
        T(
            "The client prints MESSAGE_ILLEGAL, and two places of the broker answer that. Its own store.log names one of them."
        ),
        T("{refusals} {refusals:send-back was|send-backs were} refused for it."),
        (
            Slip(
                T(
                    "MESSAGE_ILLEGAL is also the answer to properties above 32,767 bytes, but store.log does not say so here."
                ),
                value="properties-too-long",
            ),
            Slip(
                T(
                    "A time-out would appear in the consumer's log as RemotingTimeoutException; here the broker answered."
                ),
                value="timeout",
            ),
            Slip(T("A busy broker answers with a kind in brackets, such as [REJECTREQUEST]."), value="busy"),
        ),
        {name: text for name, text in REASONS.items() if name != "other"},
    ),
    Question(
        "80-5",
        "count",
        "length",
        T("How many characters has the name that was refused?"),
        T("The store prints the length. What is refused is a topic, not a group."),
        T(
            "%RETRY% + group: the group alone has {group_length}, the store takes {length_limit}. The group's name was made of group, topic and all tags."
        ),
        (
            Slip(T("That is the group. The topic is %RETRY% + group."), "group_length"),
            Slip(T("That is the limit, not the length."), "length_limit"),
        ),
    ),
    Question(
        "80-6",
        "seconds",
        "doubling",
        T("Once it runs, after how many seconds have the leaked half records doubled?"),
        T("Take the times between the diamonds of the growth chart; the middle one will do."),
        T("It is the rhythm of the check rounds and of the delay, not of any traffic."),
        (
            Slip(
                T(
                    "That is the average over the whole window, which has a slow start and an end at the check limit in it. Take the median between doublings."
                ),
                "average",
            ),
        ),
        tolerance=0.1,
    ),
    Question(
        "80-7",
        "count",
        "commits",
        T("Why does it double? How many commits of leaked messages were diverted into the schedule topic?"),
        T(
            "A commit names the half record it ends (prepared_transaction_offset). A put-back copies the flag of what it copies, but not that."
        ),
        T("Each check wrote a put-back and, answered COMMIT, a commit; DELAY survived in both, and both came back."),
        (
            Slip(
                T(
                    "That counts put-backs as commits: put-backs of a committed copy keep the commit bit. Commits are those that name the record they end."
                ),
                "with_bit",
            ),
            Slip(
                T(
                    "That counts half records with the commit bit. They are what came back from the schedule topic, put-backs of committed copies among them."
                ),
                "half_with_bit",
            ),
            Slip(T("That is every leaked half record, however it was written."), "records"),
        ),
    ),
    Question(
        "80-8",
        "word",
        "fix",
        T("Which fix stops it and lets the consumer's retries through as well?"),
        T("Two of them leave the send-back refused."),
        T("It takes away what was refused. The other two only keep the refusal from doing harm."),
        (
            Slip(
                T(
                    "It clears TRAN_MSG, so nothing leaks any more; but the send-back is still refused and the retries never come."
                ),
                value="client-4.6.1",
            ),
            Slip(
                T(
                    "It ends the doubling. Still {left_by_rollback} leaked {left_by_rollback:record|records} would remain: the answer's op message goes to a queue the check never reads, "
                    "so each leaked message is put back until the check limit."
                ),
                value="rollback-unknown-topic",
            ),
        ),
        FIXES,
    ),
)

LAB: Final = Lab(80, T("The half topic that feeds itself"), lambda bench: QUESTIONS, facts)
