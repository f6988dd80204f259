"""Transactions against the business rows they should have written: which agree, which do not, why, and the repair of each.

A row belongs to a transaction when its key is one of the message's KEYS, or its message id the UNIQ_KEY. Tables of role `business` count (a key and a
status); transaction log tables and what a consumer wrote down are shown beside them.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import attrs
from pyspark.sql import functions as F  # noqa: N812

from kit import answers, transactions

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame

    from kit.case import Case

UNDONE: Final = r"(?i)cancel|clos|fail|reject|refus|roll|void|invalid|abort|delet|expire|timeout|denied|error|取消|关闭|失败|拒绝|作废|回滚|无效|删除|超时"
"""What the status of a row says that was taken back: such a row agrees with a message that was rolled back."""
SHOWN: Final = 100_000
"""Inconsistent keys that are listed; the figures count all of them."""
CAUSES: Final = ("exception", "error", "send_status", "rollback_answer", "commit_answer")
"""What can have caused a disagreement, the most telling first."""


@attrs.frozen
class Counts:
    """Rows against messages. All None where no business table is in the evidence.

    `joined`: business keys that belong to a transaction of the store.
    """

    rows: int | None = None
    joined: int | None = None
    rows_without_message: int | None = None
    rows_pending: int | None = None
    messages_without_row: int | None = None
    rows_not_attempted: int | None = None


def business(case: Case) -> DataFrame:
    """Return the business rows by key: key, `row` (file, line, status, uniq_key, time), rows."""
    found = case.rows.where((F.col("role") == "business") & F.col("key").isNotNull())
    return found.groupBy("key").agg(F.min(F.struct("file", "line", "status", "uniq_key", "time")).alias("row"), F.count("*").alias("rows"))


def links(case: Case) -> DataFrame:
    """Return which business key belongs to which transaction: uniq_key, key, `row`."""
    table = business(case)
    tokens = transactions.accounts(case).select("uniq_key", F.explode(F.array_distinct(F.split("keys", r"\s+"))).alias("key"))
    by_key = tokens.join(table, "key").select("uniq_key", "key", "row")
    by_id = table.where(F.col("row.uniq_key").isNotNull()).select(F.col("row.uniq_key").alias("uniq_key"), "key", "row")
    known = transactions.accounts(case).select("uniq_key")
    return by_key.unionByName(by_id.join(known, "uniq_key")).distinct()


def matched(case: Case) -> DataFrame:
    """Return `transactions.accounts` with `key` and `row` of its business row (null where it has none) and `row_taken_back`; kept for the case."""
    kept = case.memo.get("reconciled")
    if kept is None:
        mine = links(case).groupBy("uniq_key").agg(F.min(F.struct("key", "row")).alias("own"))
        joined = transactions.accounts(case).join(mine, "uniq_key", "left").select("*", "own.key", "own.row").drop("own")
        kept = case.memo["reconciled"] = joined.withColumn("row_taken_back", F.rlike("row.status", F.lit(UNDONE))).persist()
    return kept


def has_rows(case: Case) -> bool:
    """Whether a business table is in the evidence."""
    if "has_business_rows" not in case.memo:
        case.memo["has_business_rows"] = case.has("rows") and not case.rows.where(F.col("role") == "business").isEmpty()
    return bool(case.memo["has_business_rows"])


def counts(case: Case) -> Counts:
    """Return the counts of rows without messages and of messages without rows."""
    if not has_rows(case) or not case.has("messages"):
        return Counts()
    row = fates(case).agg(
        F.count("*").alias("rows"), F.count_if("in_store").alias("joined"), F.count_if(~F.col("committed")).alias("missing"),
        F.count_if(~F.col("committed") & F.col("pending")).alias("pending"), F.count_if(~F.col("in_store")).alias("alone"),
    ).collect()[0]  # fmt: skip
    lonely = matched(case).where((F.col("state") == "committed") & F.col("row").isNull()).count()
    return Counts(row.rows, row.joined, row.missing, row.pending, lonely, row.alone)


def fates(case: Case) -> DataFrame:
    """Return what became of the messages of each business key: key, in_store (a transaction has it), committed, pending."""
    states = links(case).join(transactions.accounts(case).select("uniq_key", "state"), "uniq_key")
    per_key = states.groupBy("key").agg(F.bool_or(F.col("state") == "committed").alias("committed"), F.bool_or(F.col("state") == "pending").alias("pending"))
    found = business(case).select("key").join(per_key.withColumn("in_store", F.lit(True)), "key", "left")
    return found.select("key", *(F.coalesce(name, F.lit(False)).alias(name) for name in ("in_store", "committed", "pending")))


def inconsistent(case: Case) -> pd.DataFrame:
    """Return the transactions that are over and disagree with their business row, one a row, with cause and repair.

    Columns kind (`row_without_message`, `message_without_row`), key, uniq_key, state, cause (one of `CAUSES`, None where no log tells), repair (`re-send`,
    `compensate`), evidence_file, evidence_line (what shows the cause), row_file, row_line, row_status, topic, producer_group, half_file,
    half_physical_offset, end_file, end_physical_offset (op, commit or discarded record), stored, cause_known_by (every cause that was found, joined).
    """
    wrong = _disagreeing(case)
    keys = wrong.select("uniq_key", F.explode(F.array_distinct(F.split(F.coalesce("key", "keys"), r"\s+"))).alias("key"))
    causes = _causes(case, wrong, keys)
    joined = wrong.join(causes, "uniq_key", "left") if causes is not None else wrong.withColumn("why", F.lit(None)).withColumn("whys", F.lit(None))
    end = F.when(F.col("state") == "committed", F.col("commit_records")[0].dropFields("half_offset")).when(
        F.col("state") == "rolled_back", F.col("op").dropFields("half_offset")).otherwise(F.col("discard"))  # fmt: skip
    why = F.col("why") if causes is not None else None
    shown = joined.where(_kept(why)).select(
        "kind", F.coalesce("key", F.split("keys", r"\s+")[0]).alias("key"), "uniq_key", "state",
        *(_part(why, name, kind, alias) for name, kind, alias in (("how", "string", "cause"),)),
        F.when(F.col("kind") == "row_without_message", "re-send").otherwise("compensate").alias("repair"),
        *(_part(why, name, kind, f"evidence_{name}") for name, kind in (("file", "string"), ("line", "int"))),
        F.col("row.file").alias("row_file"), F.col("row.line").alias("row_line"), F.col("row.status").alias("row_status"), "topic", "producer_group",
        F.col("half.file").alias("half_file"), F.col("half.physical_offset").alias("half_physical_offset"),
        end["file"].alias("end_file"), end["physical_offset"].alias("end_physical_offset"), F.col("half.store_timestamp").alias("stored"),
        F.array_join("whys", " + ").alias("cause_known_by") if causes is not None else F.lit(None).cast("string").alias("cause_known_by"),
    )  # fmt: skip
    return shown.orderBy("stored", "uniq_key").limit(SHOWN).toPandas()


def _part(why: Column | None, name: str, kind: str, alias: str) -> Column:
    return (F.lit(None).cast(kind) if why is None else why[name]).alias(alias)


def _kept(why: Column | None) -> Column:
    """Keep what is surely wrong: outside the time the table covers a message may lack its row only because the table was cut there."""
    told = F.lit(False) if why is None else F.coalesce(why["how"].isin("exception", "error"), F.lit(False))
    return F.col("covered") | told


def _disagreeing(case: Case) -> DataFrame:
    """Return the finished (or discarded) transactions that disagree with their rows: columns of `matched` plus `kind` and `covered`.

    A message without a row counts where its group's rows are in the evidence; `covered` whether it lies between messages that have theirs.
    """
    mine = matched(case)
    span = mine.where(F.col("row").isNotNull()).groupBy("producer_group").agg(
        F.min("half.store_timestamp").alias("from"), F.max("half.store_timestamp").alias("until"))  # fmt: skip
    done = links(case).join(mine.where(F.col("state") == "committed").select("uniq_key"), "uniq_key").select("key").distinct().withColumn("key_done", F.lit(True))
    seen = mine.join(F.broadcast(span), "producer_group", "left").join(done, "key", "left")
    stored = F.col("half.store_timestamp")
    row_alone = F.col("state").isin("rolled_back", "discarded") & F.col("row").isNotNull() & ~F.coalesce("row_taken_back", F.lit(False)) & F.col("key_done").isNull()
    message_alone = (F.col("state") == "committed") & F.col("row").isNull() & F.col("from").isNotNull()
    covered = row_alone | stored.between(F.col("from"), F.col("until"))
    kind = F.when(row_alone, "row_without_message").when(message_alone, "message_without_row")
    return seen.withColumn("kind", kind).withColumn("covered", covered).where(F.col("kind").isNotNull()).persist()


def _causes(case: Case, wrong: DataFrame, keys: DataFrame) -> DataFrame | None:
    """Return the cause of each disagreement: uniq_key, `why` (rank, ts, file, line, how), `whys` (every cause found)."""
    found = [f for f in (answers.local_errors(case), answers.logged_errors(case, keys)) if f is not None]
    results = answers.bad_results(case)
    if results is not None:
        found.append(results.withColumn("how", F.lit("send_status")))
    said = answers.answers(case)
    if said is not None:
        state = wrong.select("uniq_key", "kind")
        unfit = said.join(F.broadcast(state), "uniq_key").where(
            ((F.col("kind") == "row_without_message") & (F.col("said") == "ROLLBACK")) | ((F.col("kind") == "message_without_row") & (F.col("said") == "COMMIT")))  # fmt: skip
        how = F.when(F.col("said") == "ROLLBACK", "rollback_answer").otherwise("commit_answer")
        found.append(unfit.withColumn("how", how))
    if not found:
        return None
    columns = ["uniq_key", "how", "ts", "file", "line"]
    every = reduce(lambda a, b: a.unionByName(b), [f.select(*columns) for f in found]).join(wrong.select("uniq_key"), "uniq_key", "left_semi")
    rank = F.array_position(F.array(*map(F.lit, CAUSES)), F.col("how"))
    return every.groupBy("uniq_key").agg(
        F.min(F.struct(rank.alias("rank"), "ts", "file", "line", "how")).alias("why"), F.array_sort(F.collect_set("how")).alias("whys"))  # fmt: skip


def totals(frame: pd.DataFrame) -> dict[str, Any]:
    """Return how many inconsistent transactions of each kind and cause are in the frame of `inconsistent`: {(kind, cause): count}."""
    grouped = frame.assign(cause=frame["cause"].fillna("")).groupby(["kind", "cause"]).size()
    return {(kind, cause): int(n) for (kind, cause), n in grouped.items()}
