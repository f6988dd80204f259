"""The biography of one message: every copy of it, what wrote each, who handled it, what mentions it, and what is
missing.

Copies are joined by UNIQ_KEY; where one lost it, by ORIGIN_MESSAGE_ID or by the prepared offset of a commit; op records
by broker and half-queue offset.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from kit.analysis.messages import client_traces, deliveries, lineage, record_stage
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import TEXT, as_dict
from kit.formats.printed_times import shown as iso_utc
from kit.i18n import T
from kit.inventory import mentions
from kit.rocketmq import ids, names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

MOST_RECORDS: Final = 100_000
"""Copies listed of one message; one caught in a doubling half topic has tens of thousands."""
MOST_LINKED: Final = 1_000
MOST_KEYLESS: Final = 200_000
TEXTS: Final = ("log", "text", "mqadmin", "rows", "sends")
KINDS: Final[dict[str, T]] = {
    "uniq": T("UNIQ_KEY: one id for all copies"),
    "offset": T("offset id: the id of one copy"),
    "grpc": T("UNIQ_KEY of a gRPC client"),
    "key": T("business key"),
}
_FIELDS: Final = (
    "uniq_key",
    "file",
    "physical_offset",
    "offset_msg_id",
    "topic",
    "stage",
    "store_timestamp",
    "store_size",
    "queue_id",
    "queue_offset",
    "sys_flag",
    "reconsume_times",
    "prepared_transaction_offset",
    "born_timestamp",
    "born_host",
    "store_host",
    "keys",
    "tags",
    "consumer_group",
)


def trace(case: Case, id: str) -> dict[str, Any]:  # noqa: A002 - the public name of the argument
    """Tell the life of the message with this UNIQ_KEY, offset id of any copy, or business key (then of every message
    that has it).

    Return {"id", "kind" (`uniq`, `offset`, `grpc`, `key`), "uniq_keys", "records", "ops", "handled", "traces",
    "mentions", "gaps"}. `records` are the copies in store
    order, each with `stage`, `why` and `copied_from`; `ops` the op records that ended its half messages; `traces` what
    clients wrote about it into the message trace topic. An id that is nowhere gives empty lists.
    Times are ISO 8601 in UTC. Texts are in the case's language.
    """
    wanted = id.strip()
    found = _records(case, wanted) if wanted and case.has("messages") else []
    keys = list(dict.fromkeys(r["uniq_key"] for r in found if r["uniq_key"])) or _keys_elsewhere(case, wanted)
    ops = _ops(case, [r for r in found if r["stage"] in (record_stage.HALF, record_stage.CHECK_BACK)])
    done = lineage.told(found)
    told = _handled(case, keys, done, wanted)
    words = _words(wanted, keys, done, ops)
    texts, counts = mentions.search(_texts(case), words)
    traces = client_traces.entries(case, keys, wanted, itself=not found)
    missing = _gaps(case, wanted, done, ops, told) if found or not traces else []
    missing += [
        lineage.gap("unquoted", None, file=f, count=n, kept=k)
        for f, n in counts.items()
        if (k := sum(m.file == f for m in texts)) < n
    ]
    return {
        "id": wanted,
        "kind": _kind(wanted, found, keys),
        "uniq_keys": keys,
        "records": [_shown(r, case.lang) for r in done],
        "ops": [_shown(op, case.lang) for op in ops],
        "handled": [_shown(h, case.lang) for h in told],
        "traces": [_shown(t, case.lang) for t in traces],
        "mentions": [{"file": m.file, "line": m.line, "text": m.text, "word": m.word} for m in texts],
        "gaps": [_shown(g, case.lang) for g in missing],
    }


def example(case: Case) -> str | None:
    """Return the UNIQ_KEY of the message with the longest journey; None where no record has one."""
    if not case.has("messages"):
        return None
    longest = record_stage.journeys(case).orderBy(F.desc(F.length("path")), "example").first()
    return longest.example if longest else None


def lives(case: Case, keys: Sequence[str], most: int = 300) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return (records, deliveries) of several messages at once, as in `trace` without texts and op records; each row
    has `id`, the UNIQ_KEY.

    At most `most` of each of a message.
    """
    case.spark  # noqa: B018 - a column needs a session
    rows = _fetch(case, F.col("uniq_key").isin(list(keys))) if keys else []
    rows.sort(key=lineage.store_order)
    done = [(key, lineage.told([r for r in rows if r["uniq_key"] == key][:most])) for key in keys]
    handed = _handled(case, list(keys), [r for _, mine in done for r in mine], "") if keys else []
    records = [{"id": key, **_shown(r, case.lang)} for key, mine in done for r in mine]
    return records, [{"id": h["uniq_key"], **_shown(h, case.lang)} for h in handed if h["uniq_key"] in keys][
        : most * len(keys)
    ]


def _kind(wanted: str, found: list[dict[str, Any]], keys: list[str]) -> str:
    up = wanted.upper()
    if any(r["offset_msg_id"] == up for r in found):
        return "offset"
    if up in keys:
        return "grpc" if len(up) == 34 else "uniq"
    if found:
        return "key" if any(wanted in (r["keys"] or "").split() for r in found) else "offset"
    try:
        return ids.classify(wanted)[0]
    except ids.BadId:
        return "key"


def _records(case: Case, wanted: str) -> list[dict[str, Any]]:
    """Return the copies in store order, each with `link`: what joined it where it has no UNIQ_KEY."""
    # The KEYS of a trace record are the ids and keys of the messages it is about: it is no copy of any of them.
    every = record_stage.staged(case)
    every = every.where((F.col("stage") != record_stage.OP) & ~F.col("topic").isin(client_traces.topics(case)))
    loose_id = F.when(F.col("uniq_key").isNull(), F.col("offset_msg_id")).alias("offset_msg_id")
    start = (
        every.where(_names(wanted)).select("uniq_key", loose_id).distinct().limit(MOST_RECORDS).toArrow().to_pylist()
    )
    keys = {row["uniq_key"] for row in start if row["uniq_key"]}
    loose = {row["offset_msg_id"] for row in start if not row["uniq_key"]}
    if not start:
        half = _ended_by(case, wanted.upper())
        keys, loose = {r["uniq_key"] for r in half if r["uniq_key"]}, {r["offset_msg_id"] for r in half}
    rows = (
        _fetch(case, F.col("uniq_key").isin(sorted(keys)) | F.col("offset_msg_id").isin(sorted(loose)))
        if keys or loose
        else []
    )
    known = {row["offset_msg_id"]: {**row, "link": None} for row in rows}
    linked = _linked(case, known) if known else {}
    if linked:
        more = _fetch(case, F.col("offset_msg_id").isin(sorted(linked)))
        known |= {row["offset_msg_id"]: {**row, "link": linked[row["offset_msg_id"]]} for row in more}
    return sorted(known.values(), key=lineage.store_order)[:MOST_RECORDS]


def _names(wanted: str) -> Column:
    """Tell the records an id or key names: by UNIQ_KEY, offset id, key, or as the copy they were made from."""
    up = wanted.upper()
    return (
        F.col("uniq_key").isin(wanted, up)
        | (F.col("offset_msg_id") == up)
        | F.array_contains(F.split("keys", r"\s+"), wanted)
        | (record_stage.prop(names.ORIGIN_MESSAGE_ID) == up)
        | (record_stage.is_commit() & (_half_id() == up))
    )


def _half_id() -> Column:
    """Return the offset id of the half record that a commit was made from."""
    head = F.substring(F.col("offset_msg_id"), F.lit(1), F.length("offset_msg_id") - 16)
    return F.when(
        F.col("prepared_transaction_offset") > 0, F.concat(head, F.lpad(F.hex("prepared_transaction_offset"), 16, "0"))
    )


def _linked(case: Case, known: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return {offset id: link} of copies that lost their UNIQ_KEY but name a copy of this message, or are named by
    one.
    """
    loose = [row for row in _keyless(case) if row["offset_msg_id"] not in known]
    mine = set(known)
    named = {r["origin_message_id"] for r in known.values()} | {
        lineage.half_id(r) for r in known.values() if r["stage"] == record_stage.COMMIT
    }
    found: dict[str, str] = {}
    grown = bool(loose)
    while grown:
        grown = False
        for row in loose:
            if row["offset_msg_id"] in found:
                continue
            by_origin = row["origin"] in mine or row["offset_msg_id"] in named
            if by_origin or row["half"] in mine:
                found[row["offset_msg_id"]] = names.ORIGIN_MESSAGE_ID if by_origin else "preparedTransactionOffset"
                mine.add(row["offset_msg_id"])
                named |= {row["origin"], row["half"]} - {None}
                grown = True
    return dict(list(found.items())[:MOST_LINKED])


@per_case
def _keyless(case: Case) -> list[dict[str, Any]]:
    """Return the records without a UNIQ_KEY (op records apart) with what they name: few, or a client that writes
    none.
    """
    mine = record_stage.staged(case).where(F.col("uniq_key").isNull() & (F.col("stage") != record_stage.OP))
    columns = (
        "offset_msg_id",
        record_stage.prop(names.ORIGIN_MESSAGE_ID).alias("origin"),
        F.when(record_stage.is_commit(), _half_id()).alias("half"),
    )
    return mine.select(*columns).limit(MOST_KEYLESS).toArrow().to_pylist()


def _fetch(case: Case, condition: Column) -> list[dict[str, Any]]:
    prop = record_stage.prop
    rows = record_stage.due(
        case,
        record_stage.staged(case)
        .where(condition & (F.col("stage") != record_stage.OP))
        .orderBy("store_timestamp")
        .limit(MOST_RECORDS),
    )
    resent = prop(names.MIN_OFFSET).isNotNull()
    more = (
        prop(names.REAL_TOPIC).alias("real_topic"),
        prop(names.CHECK_TIMES).try_cast("int").alias("check_times"),
        prop(names.DELAY).try_cast("int").alias("delay_level"),
        prop(names.ORIGIN_MESSAGE_ID).alias("origin_message_id"),
        resent.alias("resent"),
        F.when(F.col("stage") == record_stage.SCHEDULE, F.col("due")).alias("due"),
        F.col(TEXT).alias("properties"),
    )
    return [
        {**row, "properties": as_dict(row["properties"])} for row in rows.select(*_FIELDS, *more).toArrow().to_pylist()
    ]


def _ops(case: Case, halves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the op records that end one of these half records, with `decision`: a commit names the half record, or it
    was a rollback.
    """
    if not halves:
        return []
    from kit.analysis.transactions import transactions

    hosts = {h["store_host"] for h in halves}
    same = (
        case.records.where(F.col("store_host").isin(sorted(hosts)))
        .select("store_host", transactions.owner(case).alias("broker"))
        .distinct()
    )
    brokers = {row.store_host: row.broker for row in same.collect()}
    mine = {(brokers[h["store_host"]], h["queue_offset"]): h for h in halves}
    offsets = [offset for _, offset in mine]
    said = case.ops.where((F.col("queue_id") == 0) & F.col("half_queue_offset").between(min(offsets), max(offsets)))
    rows = (
        said.withColumn("broker", transactions.owner(case))
        .orderBy("store_timestamp", "physical_offset")
        .toArrow()
        .to_pylist()
    )
    found = []
    for row in rows:
        half = mine.get((row["broker"], row["half_queue_offset"]))
        if half is not None:
            kept = {
                name: row[name]
                for name in (
                    "file",
                    "physical_offset",
                    "offset_msg_id",
                    "queue_id",
                    "store_timestamp",
                    "half_queue_offset",
                )
            }
            found.append(
                {
                    **kept,
                    "stage": record_stage.OP,
                    "uniq_key": half["uniq_key"],
                    "half_offset_msg_id": half["offset_msg_id"],
                }
            )
    return found


def _ended_by(case: Case, op_id: str) -> list[dict[str, Any]]:
    """Return the half records that the op record with this id ended."""
    said = case.ops.where((F.col("offset_msg_id") == op_id) & (F.col("queue_id") == 0))
    if said.limit(1).isEmpty():
        return []
    from kit.analysis.transactions import transactions

    ended = said.withColumn("broker", transactions.owner(case)).select(
        "broker", F.col("half_queue_offset").alias("queue_offset")
    )
    return (
        transactions.halves(case)
        .join(ended, ["broker", "queue_offset"], "left_semi")
        .select("uniq_key", "offset_msg_id")
        .toArrow()
        .to_pylist()
    )


def _keys_elsewhere(case: Case, wanted: str) -> list[str]:
    """Return the UNIQ_KEYs that tables of senders and consumers give for an id or key no record has."""
    up = wanted.upper()
    found: list[str] = []
    for table in ("rows", "sends"):
        if case.has(table):
            frame: DataFrame = getattr(case, table)
            mine = frame.where((F.col("uniq_key") == up) | (F.col("offset_msg_id") == up) | (F.col("key") == wanted))
            found += [
                row.uniq_key
                for row in mine.select("uniq_key").distinct().orderBy("uniq_key").limit(200).collect()
                if row.uniq_key
            ]
    if found:
        return list(dict.fromkeys(found))
    try:
        return [up] if ids.classify(wanted)[0] != "offset" else []
    except ids.BadId:
        return []


def _handled(case: Case, keys: list[str], records: list[dict[str, Any]], wanted: str) -> list[dict[str, Any]]:
    """Return each delivery a consumer wrote down: file, line, consumer, copy, result, whether it took effect."""
    if not case.has("rows") and not case.has_source("app"):
        return []
    copies = sorted({r["offset_msg_id"] for r in records if r["uniq_key"] is None})[:MOST_LINKED]
    mine = deliveries.deliveries(case).where(
        F.col("uniq_key").isin(keys) | F.col("offset_msg_id").isin([*copies, wanted.upper()])
    )
    names_ = ("file", "line", "consumer", "uniq_key", "offset_msg_id", "reconsume_times", "result", "success", "time")
    return mine.select(*names_).orderBy("time", "file", "line").limit(MOST_RECORDS).toArrow().to_pylist()


def _words(wanted: str, keys: list[str], records: list[dict[str, Any]], ops: list[dict[str, Any]]) -> set[str]:
    business = {key for r in records if r["stage"] not in (record_stage.OP,) for key in (r["keys"] or "").split()}
    return {wanted, *keys, *business, *(r["offset_msg_id"] for r in (*records, *ops))}


def _texts(case: Case) -> Iterable[mentions.Text]:
    for item in case.found.of_kind(*TEXTS, replicas=False):
        dialect = item.detail.get("dialect") or {}
        if item.kind in ("rows", "sends") and not dialect:
            continue  # Parquet has no lines
        yield mentions.Text(item.file, item.path, item.detail.get("encoding") or dialect.get("encoding"))


def _gaps(
    case: Case, wanted: str, records: list[dict[str, Any]], ops: list[dict[str, Any]], told: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    if not records:
        found = [lineage.gap("not-found" if case.has("messages") else "no-store", None)]
    elif len(records) >= MOST_RECORDS:
        # What follows is not listed, so nothing can be said to be missing.
        found = [lineage.gap("cut", None, count=MOST_RECORDS)]
    else:
        end = case.records.agg(F.max("store_timestamp").alias("end")).toArrow().to_pylist()[0]["end"]
        found = (
            lineage.gaps(records, ops, end)
            + list(_never_handled(case, records, told, end))
            + list(_failed_last(records, told))
        )
    if 0 < len(wanted) < mentions.MIN_KEY:
        found.append(lineage.gap("short-key", None))
    return found


@per_case
def _covered(case: Case) -> set[str]:
    """Return the topics of which consumers wrote down their deliveries."""
    rows = (
        deliveries.deliveries(case).where(F.col("by") == "ledger").select("topic").distinct().collect()
        if case.has("rows")
        else []
    )
    return {row.topic for row in rows}


def _never_handled(
    case: Case, records: list[dict[str, Any]], told: list[dict[str, Any]], end: dt.datetime
) -> Iterable[dict[str, Any]]:
    """Name copies in topics whose consumers wrote down their deliveries, but not this one."""
    seen = {row["offset_msg_id"] for row in told}
    visible = [
        r
        for r in records
        if r["stage"] in (record_stage.ORIGINAL, record_stage.COMMIT, record_stage.DUE, record_stage.RETRY)
        and r["offset_msg_id"] not in seen
    ]
    if not visible:
        return
    covered = _covered(case)
    for record in visible:
        stored = record["store_timestamp"]
        if record["topic"] in covered and stored is not None and stored + dt.timedelta(seconds=2) < end:
            yield lineage.gap("never-handled", record)


def _failed_last(records: list[dict[str, Any]], told: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    by_copy = {r["offset_msg_id"]: r for r in records}
    last = max(
        (row for row in told if row["time"] is not None and row["offset_msg_id"] in by_copy),
        key=lambda row: row["time"],
        default=None,
    )
    if last is not None and last["success"] is False:
        copy = by_copy[last["offset_msg_id"]]
        if not any(r["copied_from"] == copy["offset_msg_id"] for r in records):
            yield lineage.gap(
                "failed-last",
                copy,
                at=last["time"].isoformat(sep=" ", timespec="milliseconds").replace("+00:00", " UTC"),
            )


def _shown(row: dict[str, Any], lang: Any) -> dict[str, Any]:
    """Return one row as JSON takes it: times as text, sentences rendered, a retry's number in its stage."""
    shown: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dt.datetime):
            shown[name] = iso_utc(value)
        elif hasattr(value, "render"):
            shown[name] = value.render(lang)
        else:
            shown[name] = value
    if shown.get("stage") == record_stage.RETRY:
        shown["stage"] = f"{record_stage.RETRY} {shown['reconsume_times']}"
    return shown
