"""Which consumer handled which copy of a message and how it ended: from the consumers' own ledgers, else from what
their logs say.

A ledger is one table, or several instances' tables of one consumer group. The group is the one whose retry topic the
ledger's retries are in.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis.messages import record_stage
from kit.analysis.semi_join import among
from kit.case.memoize import per_case
from kit.rocketmq import names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

FAILURE: Final = re.compile(
    r"fail|error|\berr\b|exce|later|reject|retry|retried|timeout|time.?out|refus|abort|cancel|roll.?back|rolled|skip|ignor|dup|repeat|already|received?$|start|begin|pending|null|none|"
    r"^(false|no|n|f|ko|nok|not.?ok)$|失败|异常|错误|重试|超时|跳过|忽略|重复|已处理过|拒绝|收到|开始|待",
    re.IGNORECASE,
)
"""Words of a result that did not take effect."""
SUCCESS: Final = re.compile(
    r"succ|^ok\b|\bok$|done|grant|handled|processed|complet|finish|commit|consumed|applied|credited|saved|stored|accepted|sent|paid|^(true|yes|y|t)$|"
    r"成功|完成|已处理|已发放|已消费|入账|发放",
    re.IGNORECASE,
)
ID: Final = r"(?<![0-9A-Za-z])([0-9A-F]{56}|[0-9A-F]{32}|01[0-9A-F]{32})(?![0-9A-Za-z])"
SAID_SUCCESS: Final = r"(?i)\b(granted|succeed\w*|success\w*|done|handled|processed|completed|finished|consumed|applied|credited|saved|consume ok)\b"
SAID_SUCCESS_ZH: Final = ("成功", "完成", "已处理", "已发放", "已消费", "入账")
SAID_FAILURE: Final = (
    # Java tries every alternative at every letter: a look at the first letters before makes it three times as fast.
    r"(?i)(?=[fewrtsidan])(?:fail|error|exception|will retry|retry later|reconsume.?later|timeout|timed out|reject|skip|ignor|duplicate|already|"
    r"rolled? ?back|not (?:ok|done|processed))"
)
SAID_FAILURE_ZH: Final = ("失败", "异常", "错误", "稍后", "超时", "跳过", "忽略", "重复", "回滚", "未")
MOST_RESULTS: Final = 50
"""A column with more different texts is no result."""
_ALL: Final = pc.CountOptions(mode="all")
GROUP_COLUMN: Final = r"(?i)group|消费组|消费者组"


@per_case
def deliveries(case: Case) -> DataFrame:
    """Return one row per delivery that a consumer wrote down, joined to the record delivered where the evidence has it.

    Columns file, line, consumer (group, else the ledger's file), uniq_key, key, offset_msg_id, reconsume_times, result,
    success (null: not known), time,
    retry (a retry copy), origin (offset id of the stored message it goes back to), topic, by (`ledger` or `log`).
    """
    by_ledger = bool(results(case))
    rows = _ledger_rows(case) if by_ledger else _log_rows(case)
    return _joined(case, rows, "ledger" if by_ledger else "log").persist()


@per_case
def results(case: Case) -> dict[str | None, int]:
    """Return how many deliveries of the ledgers ended with each result; empty where there is no ledger that names
    messages by their ids.
    """
    import pyarrow.dataset as ds

    named = ds.field("uniq_key").is_valid() | ds.field("offset_msg_id").is_valid()
    table = ds.dataset(case.folder("rows"), format="parquet").to_table(
        ["status"], filter=(ds.field("role") == "deliveries") & named
    )
    counted = table.group_by("status").aggregate([("status", "count", _ALL)]).to_pylist()
    return {row["status"]: row["status_count"] for row in counted}


def ledgers(case: Case) -> DataFrame:
    """Return the rows of `rows` that say what a consumer did with a delivery, and name it by an id."""
    return case.rows.where(
        (F.col("role") == "deliveries") & (F.col("uniq_key").isNotNull() | F.col("offset_msg_id").isNotNull())
    )


def _ledger_rows(case: Case) -> DataFrame:
    rows = ledgers(case)
    groups = F.map_filter("cells", lambda name, _: F.rlike(name, F.lit(GROUP_COLUMN)))
    said = rows.withColumn("declared", F.try_element_at(F.map_values(groups), F.lit(1)))
    said_ = results(case)
    success = F.lit(None).cast("boolean")
    for status in sorted(filter(None, said_)) if len(said_) <= MOST_RESULTS else ():
        success = F.when(
            F.col("status") == status, F.lit(verdict(status, said_[status] / sum(said_.values())))
        ).otherwise(success)
    columns = (
        "file",
        "line",
        "declared",
        "uniq_key",
        "key",
        "offset_msg_id",
        "reconsume_times",
        F.col("status").alias("result"),
        "time",
    )
    return said.withColumn("success", success).select(*columns, "success")


def verdict(result: str, share: float = 0.0) -> bool | None:
    """Tell whether a result means that the message took effect; None where the word is not known and not what most
    deliveries end with.
    """
    if FAILURE.search(result):
        return False
    if SUCCESS.search(result):
        return True
    return True if share > 0.5 else None


def _log_rows(case: Case) -> DataFrame:
    """Return what application logs say about deliveries: lines that name an id and say how it ended. Senders' lines are
    left out.
    """
    text = F.col("message")
    lines = case.entries.where(
        (F.col("source") == "app") & F.rlike(text, F.lit(ID)) & ~F.array_contains("events", "send-result")
    )
    found = F.regexp_extract_all(text, F.lit(ID), F.lit(1))
    times = F.nullif(F.regexp_extract(text, r"(?i)reconsume_?times?\W{0,3}(\d{1,3})", 1), F.lit("")).cast("int")
    bad = F.col("level").isin("ERROR", "WARN", "FATAL", "WARNING") | _said(text, SAID_FAILURE, SAID_FAILURE_ZH)
    success = F.when(bad, F.lit(False)).when(_said(text, SAID_SUCCESS, SAID_SUCCESS_ZH), F.lit(True))
    # The expressions are worked out once for a line, not for each id in it; and kept, because the ids are looked up
    # before they are joined.
    said = lines.select(
        "file", "line", "ts", times.alias("times"), success.alias("success"), F.array_distinct(found).alias("ids")
    )
    each = said.select("file", "line", "ts", "times", "success", F.explode("ids").alias("id")).persist()
    if not case.has("messages"):
        return each.limit(0).select(
            "file",
            "line",
            F.lit(None).cast("string").alias("declared"),
            *_blank(),
            F.col("ts").alias("time"),
            "success",
        )
    wanted = each.select("id")
    named = case.records.where(F.col("uniq_key").isNotNull()).select("uniq_key", "offset_msg_id")
    ids = among(named, "offset_msg_id", wanted).select(
        F.col("offset_msg_id").alias("id"), F.col("uniq_key").alias("of_offset")
    )
    keys = (
        among(named, "uniq_key", wanted)
        .select(F.col("uniq_key").alias("id"))
        .distinct()
        .withColumn("of_key", F.col("id"))
    )
    both = each.join(ids, "id", "left").join(keys, "id", "left")
    per_line = both.groupBy("file", "line").agg(
        F.first("ts", ignorenulls=True).alias("time"),
        F.first("times", ignorenulls=True).alias("reconsume_times"),
        F.first("success").alias("success"),
        F.coalesce(F.max("of_key"), F.max("of_offset")).alias("uniq_key"),
        F.max(F.when(F.col("of_offset").isNotNull(), F.col("id"))).alias("offset_msg_id"),
    )
    told = per_line.where(F.col("uniq_key").isNotNull()).persist()
    result = F.when(F.col("success"), "OK").when(~F.col("success"), "FAIL")
    return told.select(
        "file",
        "line",
        F.lit(None).cast("string").alias("declared"),
        "uniq_key",
        F.lit(None).cast("string").alias("key"),
        "offset_msg_id",
        "reconsume_times",
        result.alias("result"),
        "time",
        "success",
    )


def _said(text: Column, pattern: str, words: tuple[str, ...]) -> Column:
    """Tell whether a text holds the pattern or one of the words."""
    return reduce(lambda found, word: found | F.contains(text, F.lit(word)), words, F.rlike(text, F.lit(pattern)))


def _blank() -> list[Column]:
    types = {
        "uniq_key": "string",
        "key": "string",
        "offset_msg_id": "string",
        "reconsume_times": "int",
        "result": "string",
    }
    return [F.lit(None).cast(kind).alias(name) for name, kind in types.items()]


def _joined(case: Case, rows: DataFrame, by: str) -> DataFrame:
    """Put the record delivered beside each delivery, and work out who the consumer is."""
    copy = F.lit(None).cast("string")
    if case.has("messages"):
        records = among(case.records, "offset_msg_id", rows.select("offset_msg_id")).select(
            F.col("offset_msg_id"),
            F.col("uniq_key").alias("their_key"),
            "topic",
            F.col("reconsume_times").alias("their_times"),
            record_stage.prop(names.ORIGIN_MESSAGE_ID).alias("their_origin"),
            F.col("consumer_group").alias("their_group"),
        )
        rows = rows.join(records, "offset_msg_id", "left")
    else:
        rows = rows.select(
            "*",
            *(copy.alias(n) for n in ("their_key", "topic", "their_origin", "their_group")),
            F.lit(None).cast("int").alias("their_times"),
        )
    of_file = Window.partitionBy("file")
    groups = F.collect_set("their_group").over(of_file)
    consumer = F.coalesce("declared", F.when(F.size(groups) == 1, F.element_at(groups, 1)), F.col("file"))
    times = F.coalesce("reconsume_times", "their_times")
    return rows.select(
        "file",
        "line",
        consumer.alias("consumer"),
        F.coalesce("uniq_key", "their_key").alias("uniq_key"),
        "key",
        "offset_msg_id",
        times.alias("reconsume_times"),
        "result",
        "success",
        "time",
        (
            F.coalesce(times > 0, F.lit(False))
            | F.coalesce(F.startswith("topic", F.lit(names.RETRY_PREFIX)), F.lit(False))
        ).alias("retry"),
        F.coalesce("their_origin", F.when(F.coalesce(times, F.lit(0)) == 0, F.col("offset_msg_id"))).alias("origin"),
        "topic",
        F.lit(by).alias("by"),
    )


def twice(case: Case) -> DataFrame:
    """Return messages one consumer handled with success more than once, the later time from a retry copy: another
    offset id, the same UNIQ_KEY.

    Columns consumer, uniq_key, first_file, first_line, first_offset_msg_id, first_time, file, line, offset_msg_id,
    time, reconsume_times, and
    `same` (False where the retry is one of another stored message: the producer sent it twice; null where the records
    do not tell).
    """
    good = deliveries(case).where(F.col("success") & F.col("uniq_key").isNotNull())
    mine = Window.partitionBy("consumer", "uniq_key").orderBy(
        F.coalesce("reconsume_times", F.lit(0)), "time", "file", "line"
    )
    first = F.first(F.struct("file", "line", "offset_msg_id", "time", "reconsume_times", "origin")).over(mine)
    later = good.withColumn("before", first).where(
        F.col("retry") & (F.coalesce("reconsume_times", F.lit(1)) > F.coalesce("before.reconsume_times", F.lit(0)))
    )
    same = F.col("origin") == F.col("before.origin")
    once = F.row_number().over(Window.partitionBy("consumer", "uniq_key").orderBy("time", "file", "line"))
    told = later.withColumn("same", same).withColumn("nth", once).where(F.col("nth") == 1)
    columns = ("file", "line", "offset_msg_id", "time", "reconsume_times", "same")
    return told.select("consumer", "uniq_key", *_first_columns(F.col("before")), *columns).orderBy("time", "uniq_key")


def _first_columns(before: Column) -> list[Column]:
    return [before.getField(name).alias(f"first_{name}") for name in ("file", "line", "offset_msg_id", "time")]


@per_case
def known(case: Case) -> int:
    """Return how many deliveries are known to have ended well or badly."""
    said = results(case)
    if said:
        total = sum(said.values())
        return (
            sum(n for status, n in said.items() if status and verdict(status, n / total) is not None)
            if len(said) <= MOST_RESULTS
            else 0
        )
    return deliveries(case).where(F.col("success").isNotNull()).count() if case.has_source("app") else 0
