"""What a group handled against what is stored: messages nobody handled, behind the group's offset and in front of it; messages handled twice."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import attrs

from kit.analysis.consumers import facts, positions
from kit.case.memoize import once
from kit.inventory.references import Ref

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from kit.case.case import Case


@attrs.frozen
class Topic:
    """One topic of a group. Counts of messages, None where nothing tells; `tags`: {(queue id, tags): messages nobody handled}."""

    topic: str
    stored: int | None
    nobody: int | None
    behind: int | None
    front: int | None
    records: tuple[Any, ...] = ()


def places(case: Case, group: str) -> set[str]:
    """Return the folders (hosts) in whose client logs a group consumes."""
    said = facts.of(
        case,
        "queues-assigned",
        "queues-assigned-go",
        "queue-taken",
        "pull-started",
        "heartbeat-data",
        "consumer-offset-saved",
    )
    mine = {s.place for s in said if s.group == group}
    return mine | {
        s.place for s in said if s.event == "heartbeat-data" and f"[groupName={group}," in s.values.get("data", "")
    }


def ledgers(case: Case, group: str) -> list[str] | None:
    """Return the delivery ledgers of a group's hosts; None where one of its hosts has none: what was handled there is
    not known.
    """
    found: list[str] = []
    for place in sorted(places(case, group)):
        here = [
            item.file
            for item in case.found.of_kind("rows")
            if item.detail.get("role") == "deliveries" and str(PurePosixPath(item.file).parent) == place
        ]
        if not here:
            return None
        found += here
    return found


def frame(case: Case, group: str) -> DataFrame | None:
    """Return the deliveries of a group's ledgers: file, line, uniq_key, key; None where they are not all there."""
    from pyspark.sql import functions as F  # noqa: N812

    files = ledgers(case, group)
    if not files:
        return None
    return case.rows.where(F.col("file").isin(files)).select("file", "line", "uniq_key", "key", "offset_msg_id")


def unhandled(case: Case, group: str, topics: tuple[str, ...]) -> list[Topic]:
    """Count what is stored of these topics and nobody of the group handled, by the last known offsets."""
    return once(case, f"unhandled {group} {topics}", lambda: [_topic(case, group, topic) for topic in topics])


def _topic(case: Case, group: str, topic: str) -> Topic:
    from pyspark.sql import functions as F  # noqa: N812

    last = last_positions(case, group, topic)
    front = None if last.empty or last["lag"].isna().any() else int(last["lag"].sum())
    done = frame(case, group)
    if not case.has("messages") or last.empty:
        return Topic(topic, None, front if front else None, None, front)
    records = case.records.where(F.col("topic") == topic)
    if done is None or last["broker"].nunique() > 1:
        # Of several brokers, a record does not say which one's offset it lies behind.
        return Topic(topic, records.count(), None, None, front)
    keys = done.where(F.col("uniq_key").isNotNull()).select("uniq_key").distinct()
    offset = F.lit(None).cast("long")
    rows: list[Any] = list(last.itertuples())
    for row in rows:
        if not _missing(row.offset):
            offset = F.when(F.col("queue_id") == int(row.queue_id), F.lit(int(row.offset))).otherwise(offset)
    marked = records.join(keys.withColumn("_done", F.lit(True)), "uniq_key", "left").withColumn(
        "_behind", F.col("queue_offset") < F.coalesce(offset, F.lit(0))
    )
    open_ = marked.where(F.col("_done").isNull()).drop("_done")
    counted = marked.agg(
        F.count("*").alias("stored"),
        F.count_if(F.col("_done").isNull()).alias("nobody"),
        F.count_if(F.col("_done").isNull() & F.col("_behind")).alias("behind"),
    ).collect()[0]
    shown = (
        tuple(open_.orderBy(~F.col("_behind"), "store_timestamp", "physical_offset").drop("_behind").limit(3).collect())
        if counted.nobody
        else ()
    )
    return Topic(topic, counted.stored, counted.nobody, counted.behind, counted.nobody - counted.behind, shown)


def last_positions(case: Case, group: str, topic: str) -> pd.DataFrame:
    """Return the last known position of each queue of a group's topic: the columns of `positions.every`."""
    every = positions.every(case)
    mine = every[(every["group"] == group) & (every["topic"] == topic) & (every["source"] != "status")]
    return mine.drop_duplicates(positions.KEYS, keep="last")


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def by_several(case: Case, group: str) -> tuple[int, tuple[Ref, ...], dict[str, set[int]]] | None:
    """Return (messages that more than one process of the group handled, lines, {topic: their queues}); None without the ledgers of two hosts."""
    from pyspark.sql import functions as F  # noqa: N812

    done = frame(case, group)
    if done is None or len(ledgers(case, group) or ()) < 2:
        return None
    name = F.coalesce("uniq_key", "key")
    twice = (
        done.where(name.isNotNull())
        .groupBy(name.alias("name"))
        .agg(F.count_distinct("file").alias("files"), F.collect_list(F.struct("file", "line")).alias("places"))
    )
    several = twice.where(F.col("files") > 1).persist()
    count = several.count()
    row = several.orderBy("name").limit(1).collect() if count else []
    refs = tuple(
        Ref(p["file"], case.line(p["file"], p["line"]), line=p["line"]) for p in (row[0]["places"][:2] if row else ())
    )
    queues: dict[str, set[int]] = {}
    if count and case.has("messages"):
        of = (
            case.records.join(several.select(F.col("name").alias("uniq_key")), "uniq_key", "left_semi")
            .select("topic", "queue_id")
            .distinct()
            .collect()
        )
        for each in of:
            queues.setdefault(each["topic"], set()).add(each["queue_id"])
    return count, refs, queues
