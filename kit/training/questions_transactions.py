"""Lab 84, message and row that disagree: the consumer is suspected, then every transaction is given an end and held against its row."""

from __future__ import annotations

from typing import Any, Final

import attrs

from kit.charts.transactions.placement import PLACES
from kit.i18n import T
from kit.training.bench import Bench
from kit.training.question import Lab, Question, Slip

CAUSE: Final = "transaction-consistency"

REPAIRS: Final = {
    "re-send": T("send the message again, from the row"),
    "compensate": T("undo what consumers did with the message"),
    "delete-row": T("delete the row"),
    "wait": T("nothing: the check will finish it"),
}


def facts(bench: Bench) -> dict[str, Any]:
    """Return the figures of the cause, counts of the store beside them, and what they are mistaken for."""
    from pyspark.sql import functions as F  # noqa: N812

    from kit.rocketmq import names, stages

    figures = bench.figures(CAUSE)
    records = bench.case.records
    bit = F.col("sys_flag").bitwiseAND(names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT
    first = bit & (F.col("reconsume_times") == 0)
    commits = records.where(first & F.col("stage").isin(stages.COMMIT, stages.DUE)).count()
    return {
        "halves": figures["half_messages"],
        "half_records": records.where(F.col("topic") == names.HALF_TOPIC).count(),
        "committed": figures["committed"],
        "commits": commits,
        "rolled_back": figures["rolled_back"],
        "discarded": figures["discarded"],
        "twice": figures["committed_twice"],
        "dead": figures["dead_lettered"],
        "rows": figures["rows_without_message"],
        "alone": figures["messages_without_row"],
        "thrown": figures["exceptions_in_local_transaction"],
        "unsafe": _unsafe(),
        "unsafe_unchecked": _unsafe(checked=False),
        **_wrong(bench),
    }


def _unsafe(*, checked: bool = True) -> frozenset[str]:
    """Return the placements that can end inconsistent, by the kit's model of client and broker under the published failures."""
    from kit.rocketmq.models import placement

    given = attrs.evolve(placement.PUBLISHED_ASSUMPTIONS, looks_at_status=checked)
    return frozenset(p for p in placement.PLACEMENTS if not placement.safe(p, given))


def _wrong(bench: Bench) -> dict[str, Any]:
    wrong = bench.table("inconsistent")
    if wrong.empty:
        return {"dead_of_rows": None, "group": None, "repair": None}
    rows = wrong[(wrong["kind"] == "row_without_message") & (wrong["state"] != "discarded")]
    dead = bench.table("dead_letters")
    keys = set(dead["keys"].dropna().str.split().explode()) if len(dead) else set()
    groups = rows["producer_group"].dropna()
    return {
        "dead_of_rows": int(rows["key"].isin(list(keys)).sum()),
        "group": str(groups.mode().iloc[0]) if len(groups) else None,
        "repair": str(rows["repair"].mode().iloc[0]) if len(rows) else None,
    }


QUESTIONS: Final = (
    Question(
        "84-1",
        "count",
        "halves",
        T("“The consumer missed some orders.” Before that: how many transactions were begun?"),
        T("Half records that a producer wrote. The check writes copies into the same topic."),
        T("Each of them must end somewhere: committed, rolled back, discarded or pending."),
        (
            Slip(
                T("That counts put-backs too: each check writes another copy of the same transaction."), "half_records"
            ),
        ),
    ),
    Question(
        "84-2",
        "count",
        "committed",
        T("How many of them were committed?"),
        T("Count transactions, by UNIQ_KEY, not records."),
        T(
            "{twice} of them {twice:was|were} committed twice: a slow local transaction, finished by the check and once more by its own answer."
        ),
        (Slip(T("Those are committed records. Some transactions have two of them."), "commits"),),
    ),
    Question(
        "84-3",
        "count",
        "dead_of_rows",
        T(
            "{rows} {rows:row has|rows have} no message. The consumer is suspected, for {dead} {dead:message is|messages are} dead letters: how many of the rows are explained by them?"
        ),
        T("A dead letter was committed and delivered. Compare keys, not totals."),
        T("That was the wrong turn: dead letters are messages that exist, and their rows agree with them."),
        (
            Slip(T("That is the number of dead letters. Their messages were committed; compare the keys."), "dead"),
            Slip(T("None of these rows has a message that could have become a dead letter."), "rows"),
        ),
    ),
    Question(
        "84-4",
        "count",
        "alone",
        T("The other way round: how many messages were committed without a row?"),
        T("Keys of committed messages that no business table holds, within the time the tables cover."),
        T("Consumers acted on orders that do not exist."),
        (
            Slip(T("Those are the rows without a message."), "rows"),
            Slip(T("Discarded ones are gone: nobody received them."), "discarded"),
        ),
    ),
    Question(
        "84-5",
        "count",
        "thrown",
        T("How many exceptions of local transactions did the clients swallow?"),
        T("rocketmq_client.log, at INFO: executeLocalTransactionBranch exception."),
        T("Caught, logged at INFO, answered UNKNOW, and the caller was told nothing."),
        (
            Slip(
                T("Those were rolled back. The code may have asked for it, and an exception can end otherwise."),
                "rolled_back",
            ),
            Slip(
                T(
                    "Those are the rows that remained. Not every exception leaves one, and not each of them came from an exception."
                ),
                "rows",
            ),
            Slip(T("It is logged at INFO, so that a search for errors does not find it."), value="0"),
        ),
    ),
    Question(
        "84-6",
        "word",
        "group",
        T("Which producer group do the rows without a message belong to?"),
        T("PGROUP of the rolled back half records with these keys."),
        T("One service: so look at where it sends its half message."),
    ),
    Question(
        "84-7",
        "words",
        "unsafe",
        T(
            "Half message first, in the middle or last: which placement can leave them apart even if the application looks at the send status?"
        ),
        T("Where is the row written when executeLocalTransaction fails, and who hears of it?"),
        T(
            "The row is written outside; the exception inside never reaches it. Without looking at the status: {unsafe_unchecked}."
        ),
        (
            Slip(
                T("Only where nobody looks at SEND_OK: then the row stays although the client rolled back by itself."),
                value="last",
            ),
            Slip(
                T(
                    "Everything is inside: a failure takes the row along. Its price is needless checks, and a second commit where it is slow."
                ),
                value="first",
            ),
        ),
        PLACES,
        {"half-first": "first", "half-last": "last", "half-in-the-middle": "middle"},
    ),
    Question(
        "84-8",
        "word",
        "repair",
        T("What repairs a row whose message was rolled back?"),
        T("The row is the truth of the business; what is missing?"),
        T("With the same key, so that consumers that know it handle it once."),
        (
            Slip(T("That is for the other direction: a message without a row."), value="compensate"),
            Slip(T("The customer has ordered and paid. The row is right."), value="delete-row"),
            Slip(T("It is finished: rolled back, with its op record. No check comes again."), value="wait"),
        ),
        REPAIRS,
        {"resend": "re-send"},
    ),
)

LAB: Final = Lab(84, T("Message and row that disagree"), lambda bench: QUESTIONS, facts)
