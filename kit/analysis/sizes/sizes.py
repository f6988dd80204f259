"""Half messages against the size limit: which fit at every put-back up to the check limit, and which will be refused so
that the check loops.

The arithmetic is that of `kit.rocketmq.size`, here over columns of half records: a put-back adds
TRANSACTION_CHECK_TIMES (26 bytes, 27 from the tenth on), within an immunity age TRAN_PREPARED_QUEUE_OFFSET as well
(reference §4.5, §6.3). Brokers up to 4.5.2 put a compressed body back uncompressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis.sizes import half_records, in_force, refusals
from kit.analysis.sizes.half_records import digits
from kit.analysis.transactions import owners, transactions
from kit.case import columnar, scan
from kit.case.memoize import once, per_case
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import names, size
from kit.rocketmq.versions import OLDEST, Version

if TYPE_CHECKING:
    from kit.case.case import Case

OPEN: Final = ("pending", "discarded")
"""States of a transaction that neither a commit nor an op record ended."""
CHART_ROWS: Final = 4_000
TOPICS: Final = 5_000


# --- the arithmetic of kit.rocketmq.size over columns
# ---------------------------------------------------------------------------------


def growth(rows: pd.DataFrame, until: Any) -> np.ndarray:
    """Return how many bytes the put-back with check count `until` adds to the half record at hand:
    `kit.rocketmq.size.growth`.
    """
    times = rows["check_times"].to_numpy()
    long = digits(np.maximum(until, np.maximum(times, 0)))
    counted = np.where(times < 0, len(names.CHECK_TIMES) + 2 + long, long - digits(times))
    immune = rows[promoted(names.CHECK_IMMUNITY)].notna() & rows[promoted(names.PREPARED_QUEUE_OFFSET)].isna()
    first = len(names.PREPARED_QUEUE_OFFSET) + 2 + len("false") - len("true") + digits(rows["queue_offset"])
    return counted + np.where(immune, first, 0)


def refused(record: Any, body: Any, properties: Any, known: in_force.Limits) -> np.ndarray:
    """Return why the broker would refuse such records (`total`, `body`, `dledger`, `properties`), None if it accepts
    them: `kit.rocketmq.size.refusals`.
    """
    why = {"properties": properties > known.properties}
    if known.limit is not None:
        how = known.how or "total"
        if how != "body":
            why["total"] = record > known.limit + (size.TOTAL_SLACK if how == "body+64k" else 0)
        if how != "total":
            why["body"] = body > known.limit
    if known.dledger:
        why["dledger"] = record > size.DLEDGER_MAX_RECORD
    return columnar.choose(list(why.values()), list(why), None)


def halves(
    case: Case, where: pc.Expression | None = None, columns: tuple[str, ...] = half_records.READ, *, alike: bool = False
) -> Iterator[pd.DataFrame]:
    """Yield the half records that `where` keeps with the sizes of their put-backs: `columns`, check_times,
    `real_topic`, `owner` (broker, as in `owners.by_host`), `limit` (of that broker), `next_size`, `last_size` (bytes of
    the next put-back and of the largest up to the check limit), `overhead` (of the latter, without the body),
    `next_refused`, `refused` (why, or null). `alike` as in `half_records.by_broker`.
    """
    for owner, rows in half_records.by_broker(case, where, columns, alike=alike):
        known = in_force.limits(case, owner)
        body = rows["body_size"]
        if known.raw_put_backs and (rows["body_codec"].dropna() != "none").any():
            body = rows["offset_msg_id"].map(_raw(case)).fillna(body).astype("int64")
        rest, written = rows["store_size"] - rows["body_size"], half_records.properties_bytes(rows)
        grown, one = growth(rows, known.check_max), growth(rows, np.maximum(rows["check_times"], 0) + 1)
        yield rows.assign(
            real_topic=rows[owners.TARGET],
            owner=owner,
            limit=pd.array([known.limit] * len(rows), dtype="Int64"),
            overhead=rest + grown,
            last_size=rest + body + grown,
            next_size=rest + body + one,
            put_back_body=body,
            last_properties=written + grown,
            next_refused=refused(rest + body + one, body, written + one, known),
            refused=refused(rest + body + grown, body, written + grown, known),
        )


@per_case
def _raw(case: Case) -> dict[str, int]:
    """Return the length of compressed half bodies as a put-back of 4.3.0-4.5.2 writes them, by offset id; undecodable ones are not among them."""
    from pyspark.sql import functions as F  # noqa: N812

    bodies = case.read_messages(body=True).where((F.col("topic") == names.HALF_TOPIC) & (F.col("body_codec") != "none"))
    sized = bodies.select("offset_msg_id", F.length("body").alias("raw_size")).where("raw_size is not null").toArrow()
    return dict(zip(sized["offset_msg_id"].to_pylist(), sized["raw_size"].to_pylist(), strict=True))


# --- results ---------------------------------------------------------------------------------------------------------------


def topics(case: Case) -> pd.DataFrame:
    """Return how much each topic's transactions leave for a body: topic, half_records, overhead (largest, growth
    included), properties (longest, grown), refused (half records that some put-back would exceed), safe_body (None if
    no body is safe, or no limit known).
    """
    return once(case, "size topics", lambda: _topics(case))


def _topics(case: Case) -> pd.DataFrame:
    columns = ["topic", "half_records", "overhead", "properties", "refused"]
    if not case.has("messages"):
        return pd.DataFrame(columns=pd.Index([*columns, "safe_body"]))
    named = {"half_records": ("n", "sum"), "overhead": ("overhead", "max")}
    named |= {"properties": ("last_properties", "max"), "refused": ("n_refused", "sum")}
    every_limit = [in_force.limits(case, owner) for owner in set(owners.by_host(case).values())]
    # The ids are a third of the records' bytes; only the length of a compressed body is looked up by one.
    packed = owners.HALF & (ds.field("body_codec") != "none")
    raw = any(known.raw_put_backs for known in every_limit) and len(scan.records(case, ["file"], packed))
    read = (*half_records.SIZES, "offset_msg_id") if raw else half_records.SIZES
    counted = (
        rows.assign(n_refused=rows["n"].where(rows["refused"].notna(), 0))
        for rows in halves(case, columns=read, alike=True)
    )
    parts = [rows.groupby(["real_topic", "owner"]).agg(**named) for rows in counted]
    none = pd.MultiIndex.from_arrays([[], []], names=["real_topic", "owner"])
    every = pd.concat(parts) if parts else pd.DataFrame(columns=columns[1:], index=none)
    summed: dict[str, Any] = {"half_records": "sum", "overhead": "max", "properties": "max", "refused": "sum"}
    found = every.groupby(level=["real_topic", "owner"]).agg(summed).astype("int64").reset_index()
    safe = [
        _safe(int(over), int(props), in_force.limits(case, owner))
        for over, props, owner in zip(found["overhead"], found["properties"], found["owner"], strict=True)
    ]
    # What no broker can say, or one cannot, is open; else the strictest of a topic's brokers counts.
    found = found.assign(safe_body=pd.Series(safe, index=found.index, dtype="Int64"))
    by_topic = found.groupby("real_topic").agg(summed | {"safe_body": lambda s: s.min(skipna=False)})
    by_topic = by_topic.rename_axis("topic").reset_index().head(TOPICS)
    return by_topic.assign(safe_body=columnar.none_for_null(by_topic["safe_body"].astype(object)))


def _safe(overhead: int, properties: int, known: in_force.Limits) -> int | None:
    if known.limit is None or known.how is None or properties > known.properties:
        return None
    # `body`, `body+64k` and `total` do not change within the releases of one rule.
    version = {"total": OLDEST, "body": Version(4, 9, 4), "body+64k": Version(4, 9, 5)}[known.how]
    most = size.safe_stored_body(overhead, version, known.limit)
    most = min(most, size.DLEDGER_MAX_RECORD - overhead) if known.dledger else most
    return most if most >= 0 else None


def at_risk(case: Case) -> pd.DataFrame | None:
    """Return the open transactions whose record some put-back would exceed, in the order of the half queue; None if it
    cannot be known.

    Columns uniq_key, state, queue_offset, store_timestamp and place of the last half record, its sizes and why.
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
    known = [in_force.limits(case, owner) for owner in set(owners.by_host(case).values())] or [in_force.limits(case)]
    if not int(topics(case)["refused"].sum()):
        return None if any(k.limit is None for k in known) else pd.DataFrame(columns=pd.Index(columns))
    if any(k.how is None for k in known):
        return None
    parts = [rows[rows["refused"].notna()] for rows in halves(case)]
    risky = pd.concat(parts, ignore_index=True).sort_values(["store_timestamp", "physical_offset"])
    last = risky.drop_duplicates("uniq_key", keep="last").drop(columns="topic").rename(columns={"real_topic": "topic"})
    states = open_keys(case, list(last["uniq_key"]))
    found = last[last["uniq_key"].isin(states)].assign(state=lambda rows: rows["uniq_key"].map(states))
    found = found.sort_values(["queue_offset", "uniq_key"], ignore_index=True).head(100 * CHART_ROWS)
    return found[columns]


def open_keys(case: Case, keys: list[str]) -> dict[str, str]:
    """Return those of these transactions that neither a commit nor an op record ended: {UNIQ_KEY: state}."""
    where = ds.field("state").isin(OPEN) & ds.field("uniq_key").isin(pa.array(keys, pa.string()))
    found = transactions.accounts(case).filter(where)
    return dict(zip(found["uniq_key"].to_pylist(), found["state"].to_pylist(), strict=True))


def looping(case: Case) -> tuple[pd.DataFrame | None, int | None]:
    """Return the half records whose put-back was refused according to the log (columns of `halves`), and how many;
    (None, None) if no log names them.

    transaction.log names the record by its offset id. store.log prints sizes only: of the half records whose next
    put-back has these sizes, it is the first open one of the queue.
    """
    return once(case, "looping halves", lambda: _looping(case))


def _looping(case: Case) -> tuple[pd.DataFrame | None, int | None]:
    rows = case.facts("size_refusals")
    ids = sorted(rows.loc[rows["event"] == "put-back-failed", "msg_id"].dropna().str.upper().unique())
    if ids:
        return (with_ids(case, ids[: in_force.IDS]) if case.has("messages") else None), len(ids)
    printed = refusals.for_size(rows, "put_back")[["total", "body"]].dropna().drop_duplicates().head(in_force.IDS)
    if printed.empty or not case.has("messages"):
        return None, None
    wanted = printed.astype("int64").rename(columns={"total": "next_size", "body": "put_back_body"})
    columns = ["next_size", "put_back_body", "queue_offset", "offset_msg_id", "uniq_key"]
    like = pd.concat([rows[columns].merge(wanted) for rows in halves(case)] or [pd.DataFrame(columns=columns)])
    ended = ~like["uniq_key"].isin(open_keys(case, list(like["uniq_key"].unique())))
    first = like.assign(ended=ended).sort_values(["ended", "queue_offset"]).drop_duplicates(columns[:2])
    found = sorted(first["offset_msg_id"].unique())
    return (with_ids(case, found), len(found)) if found else (None, None)


def with_ids(case: Case, ids: list[str]) -> pd.DataFrame:
    """Return the half records with these offset ids, in the order of the half queue: `halves` with what `refs.record`
    quotes and their properties.
    """
    columns = (*half_records.READ, *in_force.PRINTED)
    found = [*halves(case, scan.one_of("offset_msg_id", ids), columns)] or [pd.DataFrame(columns=list(columns))]
    return pd.concat(found).sort_values(["queue_offset", "offset_msg_id"], ignore_index=True)
