"""Half messages against the size limit: which fit at every put-back until the check limit, and which will be refused
and make the check loop.

The arithmetic is that of `kit.rocketmq.size`, here as Spark columns over half records: a put-back adds
TRANSACTION_CHECK_TIMES (26 bytes, 27 from the tenth on),
within an immunity age TRAN_PREPARED_QUEUE_OFFSET as well (reference §4.5, §6.3). Brokers up to 4.5.2 put a compressed
body back uncompressed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.analysis.sizes import refusals
from kit.analysis.transactions import transactions
from kit.case import setup
from kit.case.memoize import once
from kit.formats.commitlog.schema import TEXT
from kit.rocketmq import binary_format, names, size
from kit.rocketmq.versions import NEWEST, OLDEST, Version, rule
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case
    from kit.inventory.references import Ref

OPEN: Final = ("pending", "discarded")
"""States of a transaction that neither a commit nor an op record ended."""
CHART_ROWS: Final = 4_000
TOPICS: Final = 5_000
IDS: Final = 1_000


@attrs.frozen
class Limits:
    """What the broker compares with what. `limit`: bytes of maxMessageSize, None where neither the evidence nor a
    default says it; `known` as in
    `case.setting`, `printed` where a refusal prints it. `how`: `total`, `body`, `body+64k`, None where the release is
    not known; `version`: the
    release it was reckoned with, None for unknown; `inferred`: from the records, not named.
    """

    limit: int | None
    where: Ref | None
    known: str | None
    how: str | None
    version: str | None
    inferred: bool
    check_max: int
    dledger: bool
    raw_put_backs: bool

    @property
    def properties(self) -> int:
        return int(rule("propertiesMax", OLDEST))


def limits(case: Case) -> Limits:
    """Return the limits in force; worked out once per case. Of several releases the oldest counts: it is the
    strictest.
    """
    return once(case, "size limits", lambda: _limits(case))


def _limits(case: Case) -> Limits:
    dledger = (
        bool(case.found.of_kind("dledger"))
        or (setup.setting(case, "enableDLegerCommitLog").value or "").lower() == "true"
    )
    known = setup.broker_versions(case)
    version = Version.parse(known[0]) if known else _writer(case)
    setting = setup.setting(case, "maxMessageSize")
    configured = _whole(setting.value)
    how = (
        size.size_rule(version, dledger=dledger)
        if version
        else _how_printed(case, configured if setting.known == "evidence" else None)
    )
    said: str | None = setting.known if configured is not None else None
    limit, where = configured, setting.where
    printed, at = _printed(case)
    slack = size.TOTAL_SLACK if how == "body+64k" else 0
    if printed is not None and configured not in (printed, printed - size.TOTAL_SLACK):
        limit, where, said = printed - slack, at, "printed"
    check_max = _whole(setup.setting(case, "transactionCheckMax").value)
    return Limits(
        limit,
        where,
        said,
        how,
        str(version) if version else None,
        not known,
        rule("transactionCheckMax", NEWEST) if check_max is None else check_max,
        dledger,
        bool(rule("decompressesOnPutBack", version)),
    )


def _whole(text: str | None) -> int | None:
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def _printed(case: Case) -> tuple[int | None, Ref | None]:
    """Return the limit that most refusals print, and the line that prints it first."""
    rows = refusals.told(case)
    # The text of a refused body prints the limit itself in every release.
    rows = rows[rows["limit"].notna()].sort_values(
        "event", key=lambda e: e != "message-body-size-exceeded", kind="stable"
    )
    if rows.empty:
        return None, None
    per_limit = rows[rows["event"] == rows["event"].iloc[0]].groupby("limit")["count"].sum()
    limit = int(per_limit.idxmax())
    return limit, refusals.quote(case, rows[rows["limit"] == limit], 1)[0]


def _how_printed(case: Case, configured: int | None) -> str | None:
    """Return what the broker measures, as its refusals show it where nothing names the release."""
    rows = refusals.told(case)
    if refs.seen(case, "message-body-size-exceeded"):
        return "body"
    totals = rows[rows["event"] == "message-size-exceeded"]
    return "total" if configured is not None and (totals["limit"] == configured).any() else None


def _writer(case: Case) -> Version | None:
    """Return a release that writes half records as these are, None where more than one rule fits.

    CLUSTER since 4.6.0, MSG_REGION since 5.0.0, __transactionId__ since 5.1.0; no separator at the end from 4.9.1 to
    5.1.x (`kit.rocketmq.versions`).
    """
    if not case.has("messages"):
        return None
    some = transactions.halves(case).where(~F.col("renewed")).limit(IDS)
    stated = F.octet_length(TEXT) + 1
    row: Any = some.agg(
        F.count("*").alias("n"),
        F.count_if(prop(names.CLUSTER).isNotNull()).alias("cluster"),
        F.count_if(prop(names.MSG_REGION).isNotNull()).alias("region"),
        F.count_if(prop(names.TRANSACTION_ID).isNotNull()).alias("id"),
        F.count_if(stated == properties_bytes()).alias("trailing"),
    ).collect()[0]
    if not row.n:
        return None
    if row.region:
        return Version(5, 1, 0) if row.id else Version(5, 0, 0)
    if not row.cluster:
        return Version(4, 5, 2)
    return Version(4, 6, 0) if row.trailing else None


# --- the arithmetic of kit.rocketmq.size as columns
# ---------------------------------------------------------------------------------


def properties_bytes() -> Column:
    """Return the bytes of the stored property string of a version 1 record: what its other fields leave."""
    host = F.when(F.col("sys_flag").bitwiseAND(binary_format.BORN_HOST_V6) != 0, size.HOST[True]).otherwise(
        size.HOST[False]
    )
    store = F.when(F.col("sys_flag").bitwiseAND(binary_format.STORE_HOST_V6) != 0, size.HOST[True]).otherwise(
        size.HOST[False]
    )
    # Length fields: 4 of the body, 1 of the topic, 2 of the properties.
    return F.col("store_size") - F.col("body_size") - F.octet_length("topic") - (size.HEADER + 4 + 1 + 2) - host - store


def check_times() -> Column:
    return prop(names.CHECK_TIMES).try_cast("int")


def growth(until: Column | int) -> Column:
    """Return what the put-back with check count `until` has more than the half record at hand:
    `kit.rocketmq.size.growth`.
    """
    times = check_times()
    last = F.greatest(F.lit(until) if isinstance(until, int) else until, F.coalesce(times, F.lit(0)))
    digits = F.length(last.cast("string"))
    counted = F.when(times.isNull(), F.lit(len(names.CHECK_TIMES) + 2) + digits).otherwise(
        digits - F.length(times.cast("string"))
    )
    immune = prop(names.CHECK_IMMUNITY).isNotNull() & prop(names.PREPARED_QUEUE_OFFSET).isNull()
    first = F.lit(len(names.PREPARED_QUEUE_OFFSET) + 2 + len("false") - len("true")) + F.length(
        F.col("queue_offset").cast("string")
    )
    return counted + F.when(immune, first).otherwise(0)


def refused(record: Column, body: Column, properties: Column, known: Limits) -> Column:
    """Return why the broker would refuse such a record (`total`, `body`, `dledger`, `properties`), null where it takes
    it: `kit.rocketmq.size.refusals`.
    """
    why = F.when(properties > known.properties, "properties")
    if known.limit is not None:
        how = known.how or "total"
        if how != "body":
            why = why.when(record > known.limit + (size.TOTAL_SLACK if how == "body+64k" else 0), "total")
        if how != "total":
            why = why.when(body > known.limit, "body")
    return why.when(record > size.DLEDGER_MAX_RECORD, "dledger") if known.dledger else why


def halves(case: Case) -> DataFrame:
    """Return the half records with what their put-backs come to: columns of `transactions.halves` plus `real_topic`,
    `next_size`, `last_size` (bytes of
    the next put-back and of the largest until the check limit), `overhead` (of the latter, without the body),
    `next_refused`, `refused` (why, or null).
    """
    known = limits(case)
    rows = transactions.halves(case)
    body = F.col("body_size")
    if known.raw_put_backs and not (packed := rows.where(F.col("body_codec") != "none")).isEmpty():
        rows, body = rows.join(_raw(case, packed), "offset_msg_id", "left"), F.coalesce("raw_size", "body_size")
    rest = F.col("store_size").cast("long") - F.col("body_size")
    more, one = growth(known.check_max), growth(F.coalesce(check_times(), F.lit(0)) + 1)
    found = rows.withColumns(
        {
            "real_topic": prop(names.REAL_TOPIC),
            "overhead": rest + more,
            "last_size": rest + body + more,
            "next_size": rest + body + one,
            "put_back_body": body,
            "last_properties": properties_bytes() + more,
            "next_refused": refused(rest + body + one, body, properties_bytes() + one, known),
        }
    )
    return found.withColumn(
        "refused", refused(F.col("last_size"), F.col("put_back_body"), F.col("last_properties"), known)
    )


def _raw(case: Case, packed: DataFrame) -> DataFrame:
    """Return the length of compressed half bodies as a put-back of 4.3.0-4.5.2 writes them: offset_msg_id, raw_size
    (null where undecodable).
    """
    bodies = case.read_messages(body=True).where((F.col("topic") == names.HALF_TOPIC) & (F.col("body_codec") != "none"))
    mine = bodies.select("offset_msg_id", F.length("body").alias("raw_size")).dropDuplicates(["offset_msg_id"])
    return mine.join(packed.select("offset_msg_id"), "offset_msg_id", "left_semi")


# --- results ---------------------------------------------------------------------------------------------------------------


def topics(case: Case) -> pd.DataFrame:
    """Return what each topic's transactions leave for a body: topic, half_records, overhead (largest, growth included),
    properties (longest, grown),
    refused (half records that some put-back would exceed), safe_body (None where no body is safe, or no limit known).
    """
    return once(case, "size topics", lambda: _topics(case))


def _topics(case: Case) -> pd.DataFrame:
    columns = ["topic", "half_records", "overhead", "properties", "refused"]
    if not case.has("messages"):
        return pd.DataFrame(columns=pd.Index([*columns, "safe_body"]))
    known = limits(case)
    grouped = (
        halves(case)
        .groupBy(F.col("real_topic").alias("topic"))
        .agg(
            F.count("*").alias("half_records"),
            F.max("overhead").alias("overhead"),
            F.max("last_properties").alias("properties"),
            F.count("refused").alias("refused"),
        )
    )
    found = grouped.where(F.col("topic").isNotNull()).orderBy("topic").limit(TOPICS).toPandas()
    found = found.dropna(subset=["overhead", "properties"])
    safe = [
        _safe(int(over), int(props), known) for over, props in zip(found["overhead"], found["properties"], strict=True)
    ]
    return found.assign(safe_body=pd.Series(safe, index=found.index, dtype=object))


def _safe(overhead: int, properties: int, known: Limits) -> int | None:
    if known.limit is None or known.how is None or properties > known.properties:
        return None
    # `body`, `body+64k` and `total` do not change within the releases of one rule.
    version = {"total": OLDEST, "body": Version(4, 9, 4), "body+64k": Version(4, 9, 5)}[known.how]
    most = size.safe_stored_body(overhead, version, known.limit)
    most = min(most, size.DLEDGER_MAX_RECORD - overhead) if known.dledger else most
    return most if most >= 0 else None


def at_risk(case: Case) -> pd.DataFrame | None:
    """Return the open transactions whose record some put-back would exceed: uniq_key, state, queue_offset,
    store_timestamp and place of the
    last half record, its sizes and why, in the order of the half queue. None where it cannot be known.
    """
    return once(case, "size at risk", lambda: _at_risk(case))


def _at_risk(case: Case) -> pd.DataFrame | None:
    columns = [
        "uniq_key",
        "state",
        "topic",
        "queue_offset",
        "store_timestamp",
        "file",
        "physical_offset",
        "offset_msg_id",
        "store_size",
        "next_size",
        "last_size",
        "refused",
    ]
    if not case.has("messages"):
        return None
    known = limits(case)
    if not int(topics(case)["refused"].sum()):
        return pd.DataFrame(columns=pd.Index(columns)) if known.limit is not None else None
    if known.how is None:
        return None
    states = transactions.accounts(case).where(F.col("state").isin(*OPEN)).select("uniq_key", "state")
    mine = halves(case).where(F.col("refused").isNotNull()).join(states, "uniq_key")
    last = mine.groupBy("uniq_key").agg(
        F.max_by(
            F.struct(*(F.col(c).alias(c) for c in columns[1:] if c != "topic"), F.col("real_topic").alias("topic")),
            F.struct("store_timestamp", "physical_offset"),
        ).alias("r")
    )
    found = last.select("uniq_key", "r.*").orderBy("queue_offset", "uniq_key").limit(100 * CHART_ROWS).toPandas()
    return found[columns]


def looping(case: Case) -> tuple[DataFrame | None, int | None]:
    """Return the half records whose put-back the log shows refused (columns of `halves`), and how many; (None, None)
    where no log names them.

    transaction.log names the record by its offset id. store.log prints sizes only: of the half records whose next
    put-back has these sizes, the first
    open one of the queue is it.
    """
    return once(case, "looping halves", lambda: _looping(case))


def _looping(case: Case) -> tuple[DataFrame | None, int | None]:
    rows = refusals.told(case)
    ids = sorted(rows.loc[rows["event"] == "put-back-failed", "msg_id"].dropna().str.upper().unique())
    if ids:
        return (halves(case).where(F.col("offset_msg_id").isin(ids[:IDS])) if case.has("messages") else None), len(ids)
    printed = refusals.for_size(rows, "put_back")[["total", "body"]].dropna().drop_duplicates().head(IDS)
    if printed.empty or not case.has("messages"):
        return None, None
    pairs = case.spark.createDataFrame(
        [(int(t), int(b)) for t, b in printed.itertuples(index=False, name=None)], "total long, body long"
    )
    states = transactions.accounts(case).select("uniq_key", F.col("state").isin(*OPEN).alias("open"))
    like = (
        halves(case)
        .join(pairs, (F.col("next_size") == F.col("total")) & (F.col("put_back_body") == F.col("body")))
        .join(states, "uniq_key", "left")
    )
    first = like.groupBy("total", "body").agg(
        F.min_by("offset_msg_id", F.struct(~F.coalesce("open", F.lit(False)), "queue_offset")).alias("id")
    )
    found = sorted({row.id for row in first.collect()})
    return (halves(case).where(F.col("offset_msg_id").isin(found)), len(found)) if found else (None, None)
