"""Transactions against the business rows they should have written: which disagree, why, and the repair of each."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

import attrs
import pandas as pd
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis.transactions import answers, business, transactions
from kit.case.memoize import once

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

UNDONE: Final = r"(?i)cancel|clos|fail|reject|refus|roll|void|invalid|abort|delet|expire|timeout|denied|error|取消|关闭|失败|拒绝|作废|回滚|无效|删除|超时"
"""What the status of a row says that was taken back: such a row agrees with a message that was rolled back."""
SHOWN: Final = 100_000
"""Inconsistent keys that are listed; the figures count all of them."""
CAUSES: Final = ("exception", "error", "send_status", "rollback_answer", "commit_answer")
"""What can have caused a disagreement, the most telling first."""
COLUMNS: Final = (
    "kind",
    "key",
    "uniq_key",
    "state",
    "cause",
    "repair",
    "evidence_file",
    "evidence_line",
    "row_file",
    "row_line",
    "row_status",
    "topic",
    "producer_group",
    "half_file",
    "half_physical_offset",
    "end_file",
    "end_physical_offset",
    "stored",
    "all_causes",
)

_NUMBERS: Final = ("evidence_line", "row_line", "half_physical_offset", "end_physical_offset")


@attrs.frozen
class Counts:
    """Rows against messages, in business keys. All None where no business table is in the evidence; `joined`: keys that
    a transaction has.
    """

    rows: int | None = None
    joined: int | None = None
    rows_without_message: int | None = None
    rows_pending: int | None = None
    messages_without_row: int | None = None


def counts(case: Case) -> Counts:
    """Return the counts of rows without messages and of messages without rows; worked out once."""
    return once(
        case, "row counts", lambda: _counts(case) if business.present(case) and case.has("messages") else Counts()
    )


def _counts(case: Case) -> Counts:
    ours = transactions.transactions(case).select("state", F.explode("rows.key").alias("key"))
    found = ours.groupBy("key").agg(
        F.bool_or(F.col("state") == "committed").alias("committed"),
        F.bool_or(F.col("state") == "pending").alias("pending"),
    )
    row = (
        business.by_key(case)
        .select("key")
        .join(found, "key", "left")
        .agg(
            F.count("*").alias("rows"),
            F.count("committed").alias("joined"),
            F.count_if(~F.coalesce("committed", F.lit(False))).alias("missing"),
            F.count_if(~F.col("committed") & F.col("pending")).alias("pending"),
        )
        .collect()[0]
    )
    return Counts(row.rows, row.joined, row.missing, row.pending, transactions.summary(case).total("without_row"))


def inconsistent(case: Case) -> pd.DataFrame:
    """Return the transactions that are over and disagree with their business row, one a row, with cause and repair.

    Columns `COLUMNS`: kind (`row_without_message`, `message_without_row`), cause (one of `CAUSES`, None where no log
    tells), repair (`re-send`,
    `compensate`), evidence_… (the line that shows the cause), end_… (op, commit or discarded record), stored (of the
    half message), all_causes.
    """
    return once(case, "inconsistent", lambda: _inconsistent(case))


def _inconsistent(case: Case) -> pd.DataFrame:
    if not business.present(case) or not case.has("messages"):
        return pd.DataFrame(columns=list(COLUMNS))
    wrong = _disagreeing(case)
    if wrong.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    found = _causes(case, wrong)
    frame = (
        wrong.merge(found, "left", "uniq_key")
        if found is not None
        else wrong.assign(cause=None, evidence_file=None, evidence_line=None, all_causes="")
    )
    # Outside the time the rows cover, a row may be missing only because the table was cut there.
    frame = frame[frame["covered"] | frame["cause"].isin(["exception", "error"])]
    frame = frame.assign(
        repair=frame["kind"].map({"row_without_message": "re-send", "message_without_row": "compensate"})
    )
    frame = frame.astype(dict.fromkeys(_NUMBERS, "Int64"))
    return frame.sort_values(["stored", "uniq_key"], ignore_index=True)[list(COLUMNS)]


def _disagreeing(case: Case) -> pd.DataFrame:
    """Return the finished (or discarded) transactions that disagree with their rows.

    A message without a row counts where rows of its producer group are in the evidence; `covered` whether it lies
    between messages that have theirs.
    """
    mine, state, stored = transactions.transactions(case), F.col("state"), F.col("half.store_timestamp")
    spans = {group.name: group.covered for group in transactions.summary(case).groups if group.covered}
    if not spans:
        return pd.DataFrame()
    standing = F.filter("rows", lambda row: ~F.coalesce(F.rlike(row["status"], F.lit(UNDONE)), F.lit(False)))
    ours = reduce(lambda a, b: a | b, [(_of(name)) & stored.between(*span) for name, span in spans.items()])
    known = reduce(lambda a, b: a | b, [_of(name) for name in spans])
    row_alone = state.isin("rolled_back", "discarded") & (F.size(standing) > 0)
    kind = F.when(row_alone, "row_without_message").when(
        (state == "committed") & F.col("rows").isNull() & known, "message_without_row"
    )
    end = (
        F.when(state == "committed", F.try_element_at("commit_records", F.lit(1)).dropFields("half_offset"))
        .when(state == "rolled_back", F.col("op").dropFields("half_offset"))
        .otherwise(F.col("discard"))
    )
    row = F.try_element_at(standing, F.lit(1))
    shown = (
        mine.withColumn("kind", kind)
        .where("kind is not null")
        .select(
            "kind",
            F.coalesce(row["key"], F.split("keys", r"\s+")[0]).alias("key"),
            "uniq_key",
            "state",
            "topic",
            "producer_group",
            row["file"].alias("row_file"),
            row["line"].alias("row_line"),
            row["status"].alias("row_status"),
            F.col("half.file").alias("half_file"),
            F.col("half.physical_offset").alias("half_physical_offset"),
            end["file"].alias("end_file"),
            end["physical_offset"].alias("end_physical_offset"),
            stored.alias("stored"),
            (row_alone | ours).alias("covered"),
        )
    )
    frame = shown.orderBy("stored", "uniq_key").limit(SHOWN).toPandas()
    return _unless_done(case, frame) if (frame["kind"] == "row_without_message").any() else frame


def _of(group: str | None) -> Column:
    return F.col("producer_group").isNull() if group is None else F.col("producer_group") == group


def _unless_done(case: Case, frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out rows whose key another, committed transaction has: the attempt that failed was repeated."""
    keys = case.spark.createDataFrame(frame[["key"]].dropna().drop_duplicates(), "key string")
    committed = transactions.transactions(case).where((F.col("state") == "committed") & F.col("rows").isNotNull())
    done = (
        committed.select(F.explode("rows.key").alias("key"))
        .join(F.broadcast(keys), "key", "left_semi")
        .distinct()
        .toPandas()["key"]
    )
    return frame[(frame["kind"] != "row_without_message") | ~frame["key"].isin(done)]


def _causes(case: Case, wrong: pd.DataFrame) -> pd.DataFrame | None:
    """Return what caused each disagreement: uniq_key, cause, evidence_file, evidence_line, all_causes."""
    state = F.broadcast(
        case.spark.createDataFrame(wrong[["uniq_key", "kind", "key"]], "uniq_key string, kind string, key string")
    )
    found = [
        f
        for f in (
            answers.local_errors(case),
            answers.logged_errors(case, state.select("uniq_key", "key")),
            answers.bad_results(case),
        )
        if f is not None
    ]
    said = answers.answers(case)
    if said is not None:
        fits: Column = F.when(F.col("kind") == "row_without_message", F.col("said") != "ROLLBACK").otherwise(
            F.col("said") != "COMMIT"
        )
        how = F.when(F.col("said") == "ROLLBACK", "rollback_answer").otherwise("commit_answer")
        found.append(said.join(state, "uniq_key").where(~fits).withColumn("how", how))
    if not found:
        return None
    every: DataFrame = reduce(
        lambda a, b: a.unionByName(b), [f.select("uniq_key", "how", "ts", "file", "line") for f in found]
    )
    rank = F.coalesce(
        F.nullif(F.array_position(F.array(*map(F.lit, CAUSES)), F.col("how")), F.lit(0)),
        F.lit(CAUSES.index("send_status") + 1),
    )
    mine = (
        every.join(state.select("uniq_key"), "uniq_key", "left_semi")
        .groupBy("uniq_key")
        .agg(
            F.min(F.struct(rank.alias("rank"), "ts", "file", "line", "how")).alias("why"),
            F.array_sort(F.collect_set("how")).alias("all"),
        )
    )
    return mine.select(
        "uniq_key",
        F.col("why.how").alias("cause"),
        F.col("why.file").alias("evidence_file"),
        F.col("why.line").alias("evidence_line"),
        F.array_join("all", " + ").alias("all_causes"),
    ).toPandas()


def totals(frame: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Return how many inconsistent transactions of each kind and cause are in the frame of `inconsistent`: {(kind,
    cause or ""): count}.
    """
    counted = frame.assign(cause=frame["cause"].fillna("")).groupby(["kind", "cause"]).size().reset_index(name="n")
    return {(str(row["kind"]), str(row["cause"])): int(row["n"]) for row in counted.to_dict("records")}


def finished(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `inconsistent` whose transaction was ended by somebody: discarded ones are a neighbour's
    matter.
    """
    return frame[frame["state"].isin(["committed", "rolled_back"])]


def fates(case: Case) -> pd.DataFrame:
    """Return what became of the rows of each table, transaction log tables beside: file, role, status, state (null: no
    transaction has the key), rows.
    """
    if not case.has("rows"):
        return pd.DataFrame(columns=["file", "role", "status", "state", "rows"])
    order = F.create_map(*[F.lit(x) for n, state in enumerate(transactions.STATES) for x in (state, n)])
    tokens = transactions.transactions(case).select(F.explode(F.split("keys", r"\s+")).alias("key"), "state")
    best = tokens.groupBy("key").agg(F.min_by("state", F.try_element_at(order, F.col("state"))).alias("state"))
    told = case.rows.where(F.col("role").isin("business", "tx_log") & F.col("key").isNotNull()).join(
        best, "key", "left"
    )
    grouped = told.groupBy("file", "role", "status", "state").agg(F.count("*").alias("rows"))
    return grouped.orderBy("role", "file", "status", "state").limit(2_000).toPandas()
