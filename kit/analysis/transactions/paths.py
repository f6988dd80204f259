"""The path every transaction took (local answer, checks, end, consumer), how many took it, and a few of each told
record by record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis.messages.record_stage import is_commit
from kit.analysis.transactions import answers, transactions
from kit.case.memoize import once
from kit.rocketmq import names
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

STEPS: Final = ("local", "checks", "last_check", "state", "commits", "consumer")
ORDER: Final = {"half": 0, "check": 1, "commit": 3, "op": 4, "discard": 5, "retry": 6, "dead letter": 7, "stored": 0}
"""What follows what within one second; answers are at 2, behind the check that asked and before what they cause."""
MOST_PATHS: Final = 200
TIMELINE_ROWS: Final = 4_000


def told(case: Case) -> DataFrame:
    """Return every transaction with the columns of its path.

    local: what the producer answered by itself (`COMMIT`, `ROLLBACK`, `UNKNOWN`, `exception`, `none`: no answer is
    known to have come) · checks (int) ·
    last_check (`COMMIT`, `ROLLBACK`, `UNKNOWN`, null: no answer seen) · state · commits (2: twice or more) · consumer
    (`dead letter`, `retried`, null).
    """
    mine = transactions.transactions(case)
    found = answers.per_transaction(case)
    if found is None:
        none = F.lit(None)
        said = mine.withColumn("first_answer", none).withColumn("check_answers", none)
        logged, asked, thrown = F.lit(None).cast("string"), F.lit(None).cast("string"), F.lit(None).cast("boolean")
    else:
        said = mine.join(found, "uniq_key", "left")
        logged, thrown = F.col("first_answer.said"), F.col("first_answer.exception")
        asked = F.try_element_at("check_answers", F.lit(-1))["said"]
    original = F.col("half.physical_offset")
    committed = F.exists("commit_records", lambda c: c["half_offset"] == original)
    renewed = F.exists("commit_records", lambda c: c["half_offset"] != original)
    local = (
        F.when(thrown, "exception")
        .when(logged.isNotNull(), logged)
        .when(committed, "COMMIT")
        # An op record on the original without a commit: the producer's own rollback, or its answer to an unlogged
        # check.
        .when((F.col("state") == "rolled_back") & (F.col("op.half_offset") == original), "ROLLBACK")
        .otherwise("none")
    )
    ended = F.when(renewed, "COMMIT").when(
        (F.col("state") == "rolled_back") & (F.col("op.half_offset") != original), "ROLLBACK"
    )
    checks = F.coalesce("check_times", F.lit(0))
    consumer = F.when(F.col("dead").isNotNull(), "dead letter").when(F.col("reconsumed") > 0, "retried")
    last = F.when(checks > 0, F.coalesce(ended, asked))
    twice = F.least("commits", F.lit(2))
    path = _named(local=local, checks=checks, last_check=last, commits=twice, consumer=consumer)
    return said.select("uniq_key", "keys", "producer_group", "half", "state", *path)


def _named(**columns: Column) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]


def paths(case: Case) -> pd.DataFrame:
    """Return how many transactions took each path: `STEPS`, producer_group, transactions, examples (list of up to three
    UNIQ_KEYs); commonest first.
    """
    return once(case, "transaction paths", lambda: _paths(case))


def _paths(case: Case) -> pd.DataFrame:
    stored = F.struct("half.store_timestamp", "uniq_key")
    mixed = F.struct(F.xxhash64("uniq_key").alias("n"), "uniq_key")
    grouped = (
        told(case)
        .groupBy(*STEPS, "producer_group")
        .agg(
            F.count("*").alias("transactions"),
            F.min(stored).alias("a"),
            F.max(stored).alias("b"),
            F.min(mixed).alias("c"),
        )
    )
    examples = F.array_distinct(F.array("a.uniq_key", "c.uniq_key", "b.uniq_key")).alias("examples")
    frame = grouped.select(*STEPS, "producer_group", "transactions", examples).toPandas()
    frame["path"] = [describe({str(k): v for k, v in row.items()}) for row in frame.to_dict("records")]
    return frame.sort_values(
        ["transactions", "path", "producer_group"], ascending=[False, True, True], ignore_index=True
    )


def describe(row: dict[str, Any]) -> str:
    """Return a path as one line of RocketMQ's own words."""
    parts = ["half", str(row["local"])]
    if row["checks"]:
        parts.append(f"check ×{int(row['checks'])} {row['last_check'] or '?'}")
    parts.append(str(row["state"]).replace("_", " ") + (" ×2" if row["commits"] == 2 else ""))
    if row["consumer"]:
        parts.append(str(row["consumer"]))
    return " → ".join(parts)


def flow(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accounting as flows between stages: source, target, count (transactions). `frame`: that of `paths`."""
    rows: list[tuple[str, str, int]] = []
    for row in frame.to_dict("records"):
        n, state = int(row["transactions"]), str(row["state"])
        end = f"{state} twice" if row["commits"] == 2 else state
        at = f"answer {row['local']}"
        rows.append(("half", at, n))
        if row["checks"]:
            rows.append((at, "check", n))
            at = "check"
        rows.append((at, end, n))
        if row["consumer"]:
            rows.append((end, str(row["consumer"]), n))
    counts: dict[tuple[str, str], int] = {}
    for source, target, n in rows:
        counts[source, target] = counts.get((source, target), 0) + n
    return pd.DataFrame([(*pair, n) for pair, n in counts.items()], columns=["source", "target", "count"])


def timeline(case: Case, frame: pd.DataFrame, also: Sequence[str] = ()) -> pd.DataFrame:
    """Return the records and answers of the examples of each path, and of the transactions `also`, in time order,
    `TIMELINE_ROWS` at most.

    Columns path, uniq_key, key, stage (`half`, `check`, `op`, `commit`, `discard`, `retry`, `dead letter`, `answer …`),
    time (UTC), seconds (since the
    first half record), file, physical_offset or line, topic. `frame`: that of `paths`.
    """
    each = frame.head(MOST_PATHS).explode("examples")
    first = pd.DataFrame({"path": each["path"], "uniq_key": each["examples"]})
    more = [key for key in also if key not in set(first["uniq_key"])]
    if more:
        rows = told(case).where(F.col("uniq_key").isin(more)).select("uniq_key", *STEPS).orderBy("uniq_key").toPandas()
        rows["path"] = [describe({str(k): v for k, v in row.items()}) for row in rows.to_dict("records")]
        first = pd.concat([first, rows[["path", "uniq_key"]]], ignore_index=True)
    first = first.drop_duplicates("uniq_key")
    if first.empty:
        return pd.DataFrame(
            columns=["path", "uniq_key", "key", "stage", "time", "seconds", "file", "physical_offset", "line", "topic"]
        )
    chosen = F.broadcast(case.spark.createDataFrame(first[["uniq_key"]]))
    records = case.records.join(chosen, "uniq_key", "left_semi").select(
        "uniq_key",
        F.col("keys").alias("key"),
        _stage().alias("stage"),
        F.col("store_timestamp").alias("time"),
        "file",
        "physical_offset",
        "topic",
        F.lit(None).cast("int").alias("line"),
    )
    ended = (
        transactions.transactions(case)
        .join(chosen, "uniq_key", "left_semi")
        .where("op is not null")
        .select(
            "uniq_key",
            "keys",
            F.lit("op"),
            "op.store_timestamp",
            "op.file",
            "op.physical_offset",
            F.lit(names.OP_TOPIC),
            F.lit(None).cast("int"),
        )
    )
    every = records.where("stage is not null").union(ended)
    said = answers.answers(case)
    if said is not None:
        who = F.concat(F.lit("answer "), F.when(F.col("exception"), "exception").otherwise(F.col("said")))
        no = F.lit(None).cast("long")
        every = every.union(
            said.join(chosen, "uniq_key", "left_semi").select(
                "uniq_key", F.lit(None).cast("string"), who, "ts", "file", no, F.lit(""), "line"
            )
        )
    rows = every.orderBy("time", "physical_offset", "line").limit(TIMELINE_ROWS).toPandas().merge(first, on="uniq_key")
    start = rows[rows["stage"] == "half"].groupby("uniq_key")["time"].min()
    rows["seconds"] = (rows["time"] - rows["uniq_key"].map(start)).dt.total_seconds().round(3).clip(lower=0)
    rows["key"] = rows["uniq_key"].map(rows.dropna(subset=["key"]).groupby("uniq_key")["key"].first())
    order = {path: n for n, path in enumerate(dict.fromkeys(first["path"]))}
    # The broker's log knows whole seconds only: within one, things are in the order in which they happen.
    rows = rows.assign(
        place=rows["path"].map(order),
        second=rows["time"].dt.floor("s"),
        rank=rows["stage"].map(lambda stage: ORDER.get(stage, 2)),
    )
    rows = rows.sort_values(["place", "uniq_key", "second", "rank", "time"], kind="stable", ignore_index=True)
    told_rows: pd.DataFrame = rows[
        ["path", "uniq_key", "key", "stage", "time", "seconds", "file", "physical_offset", "line", "topic"]
    ]
    return told_rows


def _stage() -> Column:
    """Return what a record of a transaction is; null for a leaked retry and what waits for a delay."""
    topic, half = F.col("topic"), transactions.is_half()
    return (
        F.when(half & transactions.is_renewed(), "check")
        .when(half, "half")
        .when(topic == names.DISCARD_TOPIC, "discard")
        .when(F.startswith(topic, F.lit(names.DLQ_PREFIX)), "dead letter")
        .when(F.startswith(topic, F.lit(names.RETRY_PREFIX)), "retry")
        .when(is_commit() & transactions.is_real(topic), "commit")
        .when(prop(names.REAL_TOPIC).isNull(), "stored")
    )
