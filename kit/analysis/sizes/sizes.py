"""Half messages against the size limit: which fit at every put-back until the check limit, and which will be refused
and make the check loop.

The arithmetic is that of `kit.rocketmq.size`, here over columns of half records: a put-back adds
TRANSACTION_CHECK_TIMES (26 bytes, 27 from the tenth on),
within an immunity age TRAN_PREPARED_QUEUE_OFFSET as well (reference §4.5, §6.3). Brokers up to 4.5.2 put a compressed
body back uncompressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.sizes import refusals
from kit.analysis.transactions import transactions
from kit.case import scan, setup
from kit.case.memoize import once, per_case
from kit.formats.commitlog.schema import TEXT, promoted
from kit.rocketmq import binary_format, names, size
from kit.rocketmq.versions import NEWEST, OLDEST, Version, rule

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

OPEN: Final = ("pending", "discarded")
"""States of a transaction that neither a commit nor an op record ended."""
CHART_ROWS: Final = 4_000
TOPICS: Final = 5_000
IDS: Final = 1_000
_READ: Final = (
    *("uniq_key", "file", "physical_offset", "store_timestamp", "topic", "queue_offset", "sys_flag"),
    *("store_size", "body_size", "body_codec", "offset_msg_id", transactions.TARGET),
    *map(promoted, (names.CHECK_TIMES, names.CHECK_IMMUNITY, names.PREPARED_QUEUE_OFFSET)),
)
_TOGETHER: Final = 100_000
_PRINTED: Final = tuple(name for name in (*refs.PRINTED, TEXT) if name not in _READ)


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
    marks = (TEXT, *map(promoted, (names.CLUSTER, names.MSG_REGION, names.TRANSACTION_ID)))
    rows = next(_halves(case, ~_renewed(), marks), None)
    if rows is None:
        return None
    some = rows.head(IDS)
    if some[promoted(names.MSG_REGION)].notna().any():
        return Version(5, 1, 0) if some[promoted(names.TRANSACTION_ID)].notna().any() else Version(5, 0, 0)
    if not some[promoted(names.CLUSTER)].notna().any():
        return Version(4, 5, 2)
    return Version(4, 6, 0) if (_octets(some[TEXT]) + 1 == properties_bytes(some)).any() else None


def _renewed() -> pc.Expression:
    return reduce(lambda a, b: a | b, [ds.field(name).is_valid() for name in transactions.RENEWED])


# --- the arithmetic of kit.rocketmq.size over columns
# ---------------------------------------------------------------------------------


def _octets(texts: pd.Series[str]) -> np.ndarray:
    return pc.binary_length(pa.array(texts, pa.string())).fill_null(0).to_numpy()


def _digits(numbers: Any) -> np.ndarray:
    """Return how long whole numbers are in print."""
    return 1 + np.searchsorted(10 ** np.arange(1, 19), numbers, side="right")


def properties_bytes(rows: pd.DataFrame) -> pd.Series[int]:
    """Return the bytes of the stored property string of a version 1 record: what its other fields leave."""
    hosts = sum(
        np.where(rows["sys_flag"] & flag != 0, size.HOST[True], size.HOST[False])
        for flag in (binary_format.BORN_HOST_V6, binary_format.STORE_HOST_V6)
    )
    # Length fields: 4 of the body, 1 of the topic, 2 of the properties.
    return rows["store_size"] - rows["body_size"] - _octets(rows["topic"]) - (size.HEADER + 4 + 1 + 2) - hosts


def growth(rows: pd.DataFrame, until: Any) -> np.ndarray:
    """Return what the put-back with check count `until` has more than the half record at hand:
    `kit.rocketmq.size.growth`.
    """
    times = rows["check_times"].to_numpy()
    digits = _digits(np.maximum(until, np.maximum(times, 0)))
    counted = np.where(times < 0, len(names.CHECK_TIMES) + 2 + digits, digits - _digits(times))
    immune = rows[promoted(names.CHECK_IMMUNITY)].notna() & rows[promoted(names.PREPARED_QUEUE_OFFSET)].isna()
    first = len(names.PREPARED_QUEUE_OFFSET) + 2 + len("false") - len("true") + _digits(rows["queue_offset"])
    return counted + np.where(immune, first, 0)


def refused(record: Any, body: Any, properties: Any, known: Limits) -> np.ndarray:
    """Return why the broker would refuse such records (`total`, `body`, `dledger`, `properties`), None where it takes
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
    return scan.choose(list(why.values()), list(why), None)


def _halves(case: Case, where: pc.Expression | None, more: tuple[str, ...]) -> Iterator[pd.DataFrame]:
    """Yield the half records that `where` keeps, some `_TOGETHER` at once: `_READ`, `more` and check_times (-1: none)."""
    mine = transactions.HALF if where is None else transactions.HALF & where
    for table in scan.together(scan.batches(case, (*_READ, *more), mine), _TOGETHER):
        rows = scan.whole(table)
        yield scan.frame(rows).assign(check_times=scan.numbers(rows[promoted(names.CHECK_TIMES)]))


def halves(case: Case, where: pc.Expression | None = None, more: tuple[str, ...] = ()) -> Iterator[pd.DataFrame]:
    """Yield the half records that `where` keeps with what their put-backs come to: `_READ` and the columns `more`, plus
    check_times, `real_topic`, `next_size`, `last_size` (bytes of
    the next put-back and of the largest until the check limit), `overhead` (of the latter, without the body),
    `next_refused`, `refused` (why, or null).
    """
    known = limits(case)
    for rows in _halves(case, where, more):
        body = rows["body_size"]
        if known.raw_put_backs and (rows["body_codec"] != "none").any():
            body = rows["offset_msg_id"].map(_raw(case)).fillna(body).astype("int64")
        rest, written = rows["store_size"] - rows["body_size"], properties_bytes(rows)
        grown, one = growth(rows, known.check_max), growth(rows, np.maximum(rows["check_times"], 0) + 1)
        yield rows.assign(
            real_topic=rows[transactions.TARGET],
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
    """Return the length of compressed half bodies as a put-back of 4.3.0-4.5.2 writes them, by offset id; undecodable ones
    are not among them.
    """
    from pyspark.sql import functions as F  # noqa: N812

    bodies = case.read_messages(body=True).where((F.col("topic") == names.HALF_TOPIC) & (F.col("body_codec") != "none"))
    sized = bodies.select("offset_msg_id", F.length("body").alias("raw_size")).where("raw_size is not null").toArrow()
    return dict(zip(sized["offset_msg_id"].to_pylist(), sized["raw_size"].to_pylist(), strict=True))


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
    named = {"half_records": ("overhead", "size"), "overhead": ("overhead", "max")}
    named |= {"properties": ("last_properties", "max"), "refused": ("refused", "count")}
    parts = [rows.groupby("real_topic").agg(**named) for rows in halves(case)]
    every = pd.concat(parts) if parts else pd.DataFrame(columns=columns[1:], index=pd.Index([], name="real_topic"))
    grouped = every.groupby(level=0).agg(
        {"half_records": "sum", "overhead": "max", "properties": "max", "refused": "sum"}
    )
    found = grouped.astype("int64").rename_axis("topic").reset_index().head(TOPICS)
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
    parts = [rows[rows["refused"].notna()] for rows in halves(case)]
    mine = pd.concat(parts, ignore_index=True).sort_values(["store_timestamp", "physical_offset"])
    last = mine.drop_duplicates("uniq_key", keep="last").drop(columns="topic").rename(columns={"real_topic": "topic"})
    states = open_keys(case, list(last["uniq_key"]))
    found = last[last["uniq_key"].isin(states)].assign(state=lambda rows: rows["uniq_key"].map(states))
    found = found.sort_values(["queue_offset", "uniq_key"], ignore_index=True).head(100 * CHART_ROWS)
    return found[columns]


def open_keys(case: Case, keys: list[str]) -> dict[str, str]:
    """Return those of these transactions that neither a commit nor an op record ended: {UNIQ_KEY: state}."""
    mine = ds.field("state").isin(OPEN) & ds.field("uniq_key").isin(pa.array(keys, pa.string()))
    found = transactions.accounts(case).filter(mine)
    return dict(zip(found["uniq_key"].to_pylist(), found["state"].to_pylist(), strict=True))


def looping(case: Case) -> tuple[pd.DataFrame | None, int | None]:
    """Return the half records whose put-back the log shows refused (columns of `halves`), and how many; (None, None)
    where no log names them.

    transaction.log names the record by its offset id. store.log prints sizes only: of the half records whose next
    put-back has these sizes, the first
    open one of the queue is it.
    """
    return once(case, "looping halves", lambda: _looping(case))


def _looping(case: Case) -> tuple[pd.DataFrame | None, int | None]:
    rows = refusals.told(case)
    ids = sorted(rows.loc[rows["event"] == "put-back-failed", "msg_id"].dropna().str.upper().unique())
    if ids:
        return (with_ids(case, ids[:IDS]) if case.has("messages") else None), len(ids)
    printed = refusals.for_size(rows, "put_back")[["total", "body"]].dropna().drop_duplicates().head(IDS)
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
    """Return the half records with these offset ids, in the order of the half queue: `halves` with what `refs.record` quotes and
    their properties.
    """
    found = [*halves(case, ds.field("offset_msg_id").isin(ids), _PRINTED)] or [
        pd.DataFrame(columns=[*_READ, *_PRINTED])
    ]
    return pd.concat(found).sort_values(["queue_offset", "offset_msg_id"], ignore_index=True)
