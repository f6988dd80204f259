"""What the commitlogs hold of the messages that were sent: the originals of a failed send, and what is there more
than once.

Over all brokers and topics: a retried send often lies on two brokers (reference §7.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis.messages.originals import which
from kit.analysis.sends import attempts
from kit.case import scan
from kit.case.memoize import once
from kit.formats.commitlog.schema import promoted
from kit.formats.commitlog.strings import hashed
from kit.rocketmq import names
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case

MOST_COPIES: Final = 200_000
BODY: Final = ("body_crc", "body_size")
LONGEST_CALL: Final = 60
"""s between the first and the last attempt of one call: sendMsgTimeout is 3 s for all attempts, and rarely set beyond a
minute."""
COPY_COLUMNS: Final = (
    "key",
    "uniq_key",
    "copies",
    "brokers",
    "kind",
    "topic",
    "queue_id",
    "queue_offset",
    "born_timestamp",
    "store_timestamp",
    "store_host",
    "offset_msg_id",
    "file",
    "physical_offset",
)
_TARGET: Final = promoted(names.REAL_TOPIC)
PLACED: Final = ("key", "uniq_key", *COPY_COLUMNS[5:], "real_topic", *BODY)
"""An original as it is reported: its keys, where it lies, where it is bound for, its body."""


def parts(keys: Any) -> tuple[str, ...]:
    """Return the keys of a message as a whole and one by one: KEYS separates them with blanks."""
    return (keys, *keys.split()) if isinstance(keys, str) else ()


def copies_of(mine: DataFrame, failed: pd.DataFrame) -> pd.DataFrame:
    """Return the originals of the failed sends: `identity` and the columns of `PLACED`. By key where one is known, else
    by UNIQ_KEY.

    `failed` with identity, key, uniq_key. A message may have several keys, separated by blanks.
    """
    by_key = failed[failed["key"].notna()][["identity", "key"]]
    by_id = failed[failed["key"].isna() & failed["uniq_key"].notna()][["identity", "uniq_key"]].rename(
        columns={"uniq_key": "key"}
    )
    wanted = (
        pd.concat([by_key.assign(by="key"), by_id.assign(by="id")])
        .drop_duplicates()
        .astype(str)
        .rename(columns={"key": "sought"})
    )
    if wanted.empty:
        # No failed send, or none that says which message it was of.
        return pd.DataFrame(columns=pd.Index(["identity", *PLACED]))
    keys = F.transform(
        F.array_distinct(F.array_append(F.split("keys", " "), F.col("keys"))),
        lambda k: F.struct(F.lit("key").alias("by"), k.alias("sought")),
    )
    own = F.array(F.struct(F.lit("id").alias("by"), F.col("uniq_key").alias("sought")))
    each = (
        placed(mine).withColumn("said", F.explode(F.concat(F.coalesce(keys, F.array()), own))).select("said.*", *PLACED)
    )
    found = each.join(F.broadcast(mine.sparkSession.createDataFrame(wanted)), ["by", "sought"]).select(
        "identity", *PLACED
    )
    return found.limit(MOST_COPIES).toPandas()


def covered(case: Case, failed: pd.DataFrame) -> pd.Series:
    """Tell for each failed send whether the commitlogs at hand would hold it: all brokers it may have gone to, and its
    time.
    """
    if failed.empty:
        return pd.Series(dtype=bool)
    (row,) = case.records.agg(
        F.unix_millis(F.min("store_timestamp")).alias("first"),
        F.unix_millis(F.max("store_timestamp")).alias("last"),
        F.min("physical_offset").alias("low"),
        F.count_distinct("store_host").alias("brokers"),
    ).collect()
    # A store copied after the last line of the broker's logs cannot be told from one copied at that line.
    ends = [
        item.last.timestamp() * 1000
        for item in case.inventory.items
        if item.kind == "log" and item.source in BROKER_SIDE and item.last
    ]
    last = max([row["last"] or 0, *ends])
    named = attempts.attempts(case)["broker"].dropna().nunique()
    when = failed["ts"]
    inside = when.isna() | ((when <= last) & ((row["low"] == 0) | (when >= (row["first"] or 0))))
    return inside & (named <= (row["brokers"] or 0) or named <= 1)


def stored_twice(case: Case, failed: pd.DataFrame, copies: pd.DataFrame, *, listed: bool) -> pd.DataFrame:
    """Return the originals that share key and body with another one, one row each in order of key and store time
    (`COPY_COLUMNS`).

    With a ledger its keys count; without one, those of failed sends and those whose UNIQ_KEY is there twice.
    """
    if listed:
        found = twins(case)
        found = found[found["key"].notna() & found.duplicated(["key", *BODY], keep=False)]
        keys = pd.DataFrame(
            [(part, whole) for whole in found["key"].unique() for part in parts(whole)], columns=["key", "whole"]
        )
        found = found[found["key"].isin(_listed(case, keys))]
    else:
        sent = copies[copies.duplicated(["identity", *BODY], keep=False)]
        found = pd.concat([repeated(case), sent.drop(columns="identity")]).drop_duplicates("offset_msg_id")
        found = found[found["key"].notna()]
    same = found.groupby(["key", *BODY], sort=False)
    kinds = dict(zip(failed["key"], failed["kind"], strict=True))
    found = found.assign(
        copies=same["offset_msg_id"].transform("nunique"),
        brokers=same["store_host"].transform("nunique"),
        kind=found["key"].map(kinds),
    )
    return found.sort_values(["key", "store_timestamp", "offset_msg_id"], ignore_index=True)[list(COPY_COLUMNS)]


def _listed(case: Case, keys: pd.DataFrame) -> set[str]:
    """Return those of the whole KEYS of which the ledger lists one. `keys`: key (one of them), whole."""
    if keys.empty:
        return set()
    each = case.sends.select("key").distinct().join(F.broadcast(case.spark.createDataFrame(keys)), "key")
    return {row.whole for row in each.select("whole").distinct().collect()}


def repeated(case: Case) -> pd.DataFrame:
    """Return the originals whose UNIQ_KEY is stored more than once in one real topic with one body: what a retry of the
    client leaves behind.

    Transactional records are left out (a late commit repeats them for another reason); those born further apart than a
    call can last as well.
    """
    return once(case, "repeated originals", lambda: _repeated(case))


def _repeated(case: Case) -> pd.DataFrame:
    found = twins(case)
    plain = found[(found["sys_flag"] & names.TRANSACTION_MASK == names.TRANSACTION_NOT) & found["uniq_key"].notna()]
    columns = ["real_topic", "uniq_key", *BODY]
    plain = plain[plain.duplicated(columns, keep=False)]
    born = plain.groupby(columns)["born_timestamp"]
    close = born.transform("max") - born.transform("min") <= pd.Timedelta(LONGEST_CALL, unit="s")
    return plain[close][list(PLACED)].reset_index(drop=True)


def twins(case: Case) -> pd.DataFrame:
    """Return the originals that share UNIQ_KEY, topic and body with another one, and, where there is a send ledger,
    those that share KEYS and body.

    Columns of `PLACED` and sys_flag.
    """
    return once(case, "twin originals", lambda: _twins(case))


def _twins(case: Case) -> pd.DataFrame:
    listed = case.has("sends")
    columns = ("topic", _TARGET, "uniq_key", "keys", *BODY)
    mine = (hash_ for batch in scan.batches(case, columns, which(case)) for hash_ in _hashes(batch, listed)[1])
    same, counts = np.unique(np.concatenate([np.empty(0, np.uint64), *mine]), return_counts=True)
    twice = same[counts > 1][:MOST_COPIES]
    if not len(twice):
        return pd.DataFrame(columns=pd.Index([*PLACED, "sys_flag"]))
    # Two records can share a hash without sharing the values: whoever asks groups by the values.
    stored = [name for name in (*PLACED, "sys_flag", "keys") if name not in ("key", "real_topic")]
    found = []
    for batch in scan.batches(case, (*stored, _TARGET), which(case)):
        rows = [at[np.isin(hash_, twice)] for at, hash_ in zip(*_hashes(batch, listed), strict=True)]
        found.append(batch.take(pa.array(np.unique(np.concatenate(rows)))).to_pandas())
    frame = pd.concat([part for part in found if len(part)], ignore_index=True)
    frame = frame.astype(dict.fromkeys(("file", "topic", "store_host", _TARGET), object))
    for name in ("born_timestamp", "store_timestamp"):
        frame[name] = frame[name].dt.tz_localize(None)
    frame["real_topic"] = frame[_TARGET].fillna(frame["topic"])
    kept = frame.rename(columns={"keys": "key"})[[*PLACED, "sys_flag"]].head(2 * MOST_COPIES)
    return kept.drop_duplicates("offset_msg_id", ignore_index=True)


def _hashes(batch: pa.RecordBatch, listed: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the rows with a UNIQ_KEY and the hashes of topic, UNIQ_KEY and body; if `listed`, those with KEYS and the
    hashes of KEYS and body as well.
    """
    body = np.zeros(batch.num_rows, np.uint64)
    for name in BODY:
        body = body * np.uint64(1_000_003) + batch[name].to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    topic = pc.coalesce(batch[_TARGET].cast(pa.string()), batch["topic"].cast(pa.string()))
    rows, found = [], []
    for name, seed in (("uniq_key", hashed(topic, body)), ("keys", body + np.uint64(1)))[: 2 if listed else 1]:
        at = np.flatnonzero(batch[name].is_valid().to_numpy(zero_copy_only=False))
        rows.append(at)
        found.append(hashed(batch[name], seed)[at])
    return rows, found


def placed(mine: DataFrame) -> DataFrame:
    """Return originals with `real_topic` (where a waiting one is bound for) and `key` (KEYS as a whole)."""
    target = F.coalesce(prop(names.REAL_TOPIC), F.col("topic"))
    return mine.withColumn("real_topic", target).withColumn("key", F.col("keys"))
