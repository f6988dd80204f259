"""The biography of one message: every copy of it, what wrote each, who handled it, what mentions it, and what is
missing.

Copies are joined by UNIQ_KEY; where one lost it, by ORIGIN_MESSAGE_ID or by the prepared offset of a commit; op records
by broker and half-queue offset.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis.consumers import fates
from kit.analysis.messages import client_traces, deliveries, lineage, record_stage
from kit.analysis.transactions import transactions
from kit.case import scan, tables
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import TEXT, as_dict, promoted
from kit.formats.printed_times import shown as iso_utc
from kit.inventory import mentions
from kit.rocketmq import ids, names

if TYPE_CHECKING:
    from kit.case.case import Case

MOST_RECORDS: Final = 100_000
"""Copies listed of one message; one caught in a doubling half topic has tens of thousands."""
MOST_LINKED: Final = 1_000
MOST_KEYLESS: Final = 200_000
TEXTS: Final = ("log", "text", "mqadmin", "rows", "sends")
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


_ORIGIN: Final = promoted(names.ORIGIN_MESSAGE_ID)
_LINKS: Final = ("uniq_key", "offset_msg_id", "keys", "sys_flag", "prepared_transaction_offset", _ORIGIN)


def trace(case: Case, id: str) -> dict[str, Any]:  # noqa: A002 - the public name of the argument
    """Tell the life of the message with this UNIQ_KEY, offset id of any copy, or business key (then of every message
    that has it).

    Return {"id", "kind" (`uniq`, `offset`, `grpc`, `key`), "uniq_keys", "records", "ops", "handled", "consumers", "traces",
    "mentions", "gaps"}. `records` are the copies in store
    order, each with `stage`, `why` and `copied_from`; `ops` the op records that ended its half messages; `traces` what
    clients wrote about it into the message trace topic; `consumers` what became of it in each group that could have
    consumed it, with the `fate` and why (`kit.analysis.consumers.fates`). An id that is nowhere gives empty lists.
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
        "consumers": _consumers(case, [r for r in done if r["uniq_key"] in (None, *keys)], told, [*keys, wanted]),
        "traces": [_shown(t, case.lang) for t in traces],
        "mentions": [{"file": m.file, "line": m.line, "text": m.text, "word": m.word} for m in texts],
        "gaps": [_shown(g, case.lang) for g in missing],
    }


def example(case: Case) -> str | None:
    """Return the UNIQ_KEY of the message with the longest journey; None where no record has one."""
    if not case.has("messages"):
        return None
    every = record_stage.journeys(case)
    longest = every.assign(n=-every["path"].str.len()).sort_values(["n", "example"]) if len(every) else every
    return str(longest["example"].iloc[0]) if len(longest) else None


def lives(case: Case, keys: Sequence[str], most: int = 300) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return (records, deliveries) of several messages at once, as in `trace` without texts and op records; each row
    has `id`, the UNIQ_KEY.

    At most `most` of each of a message.
    """
    rows = _fetch(case, ds.field("uniq_key").isin(list(keys))) if keys else []
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
    copies = ds.field("stage") != record_stage.OP
    copies &= ~ds.field("topic").isin(client_traces.topics(case))
    start = [row for row in _named(case, wanted, copies) if _names(row, wanted)][:MOST_RECORDS]
    keys = {row["uniq_key"] for row in start if row["uniq_key"]}
    loose = {row["offset_msg_id"] for row in start if not row["uniq_key"]}
    if not start:
        half = _ended_by(case, wanted.upper())
        keys, loose = {r["uniq_key"] for r in half if r["uniq_key"]}, {r["offset_msg_id"] for r in half}
    rows = (
        _fetch(case, ds.field("uniq_key").isin(_texts_of(keys)) | ds.field("offset_msg_id").isin(_texts_of(loose)))
        if keys or loose
        else []
    )
    known = {row["offset_msg_id"]: {**row, "link": None} for row in rows}
    linked = _linked(case, known) if known else {}
    if linked:
        more = _fetch(case, ds.field("offset_msg_id").isin(_texts_of(linked)))
        known |= {row["offset_msg_id"]: {**row, "link": linked[row["offset_msg_id"]]} for row in more}
    return sorted(known.values(), key=lineage.store_order)[:MOST_RECORDS]


def _texts_of(values: Iterable[str]) -> pa.Array:
    return pa.array(sorted(values), pa.string())


def _named(case: Case, wanted: str, copies: pc.Expression) -> Iterable[dict[str, Any]]:
    """Yield the records that an id or key may name: by UNIQ_KEY, offset id, key, or as the copy they were made from."""
    up = wanted.upper()
    mine = (
        ds.field("uniq_key").isin([wanted, up])
        | (ds.field("offset_msg_id") == up)
        | pc.match_substring(ds.field("keys"), wanted)
        | (ds.field(_ORIGIN) == up)
    )
    if re.fullmatch(r"[0-9A-F]{32,}", up) and 0 < (offset := int(up[-16:], 16)) < 1 << 63:
        mine |= (ds.field("prepared_transaction_offset") == offset) & pc.starts_with(
            ds.field("offset_msg_id"), up[:-16]
        )
    for batch in scan.batches(case, _LINKS, copies & mine):
        yield from scan.whole(pa.Table.from_batches([batch])).to_pylist()


def _names(row: dict[str, Any], wanted: str) -> bool:
    up = wanted.upper()
    by_id = {row["uniq_key"], row["offset_msg_id"], row[_ORIGIN], _half_id(row)}
    return up in by_id or row["uniq_key"] == wanted or wanted in re.split(r"\s+", row["keys"] or "", flags=re.ASCII)


def _half_id(row: dict[str, Any]) -> str | None:
    """Return the offset id of the half record that a commit was made from; None for other records."""
    committed = (row["sys_flag"] & names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT
    return lineage.half_id(row) if committed and row["prepared_transaction_offset"] > 0 else None


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
    mine = ds.field("uniq_key").is_null() & (ds.field("stage") != record_stage.OP)
    rows = itertools.chain.from_iterable(
        scan.whole(pa.Table.from_batches([batch])).to_pylist() for batch in scan.batches(case, _LINKS, mine)
    )
    kept = itertools.islice(rows, MOST_KEYLESS)
    return [{"offset_msg_id": r["offset_msg_id"], "origin": r[_ORIGIN], "half": _half_id(r)} for r in kept]


def _fetch(case: Case, condition: pc.Expression) -> list[dict[str, Any]]:
    more = {
        "real_topic": names.REAL_TOPIC,
        "check_times": names.CHECK_TIMES,
        "delay_level": names.DELAY,
        "origin_message_id": names.ORIGIN_MESSAGE_ID,
        "resent": names.MIN_OFFSET,
        "timer": "TIMER_OUT_MS",
    }
    columns = {name: ds.field(name) for name in (*_FIELDS, TEXT)} | {n: ds.field(promoted(p)) for n, p in more.items()}
    found = scan.countable(
        scan.records(
            case, columns, condition & ds.field("stage").isin([s for s in record_stage.STAGES if s != record_stage.OP])
        )
    )
    found = found.sort_by("store_timestamp").slice(0, MOST_RECORDS)
    timed = scan.frame(found.select(["topic", "queue_id", "store_timestamp", "timer"]))
    due = record_stage.due(case, timed.rename(columns={"timer": promoted("TIMER_OUT_MS")}))
    rows = found.drop_columns("timer").to_pylist()
    for row, at in zip(rows, due, strict=True):
        row |= {name: _whole(row[name]) for name in ("check_times", "delay_level")}
        waits = row["stage"] == record_stage.SCHEDULE and pd.notna(at)
        row |= {"resent": row["resent"] is not None, "due": _utc(at) if waits else None}
        row["properties"] = as_dict(row.pop(TEXT))
    return rows


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,9}", text) else None


def _utc(at: pd.Timestamp) -> dt.datetime | None:
    """Return a naive UTC time of a frame as the rows of Arrow have it."""
    return None if pd.isna(at) else at.tz_localize(dt.UTC).to_pydatetime()


def _ops(case: Case, halves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the op records that end one of these half records, with `decision`: a commit names the half record, or it
    was a rollback.
    """
    if not halves:
        return []
    brokers = transactions.brokers(case, pa.chunked_array([[h["offset_msg_id"] for h in halves]], pa.string()))
    mine = {(broker, h["queue_offset"]): h for broker, h in zip(brokers.tolist(), halves, strict=True)}
    said = ds.field("half_queue_offset").isin(sorted({offset for _, offset in mine}))
    found = []
    for broker, row in _op_records(case, said):
        half = mine.get((broker, row["half_queue_offset"]))
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


def _op_records(case: Case, where: pc.Expression) -> list[tuple[int, dict[str, Any]]]:
    """Return the op records that `where` keeps, each once and in store order, with the number of their broker."""
    said = scan.countable(scan.table(case, "ops", tables.OPS.names, where & (ds.field("queue_id") == 0)))
    said = said.sort_by([("store_timestamp", "ascending"), ("physical_offset", "ascending")])
    brokers = transactions.brokers(case, said["offset_msg_id"]).tolist()
    once = {
        (r["offset_msg_id"], r["half_queue_offset"]): (b, r) for b, r in zip(brokers, said.to_pylist(), strict=True)
    }
    return list(once.values())


def _ended_by(case: Case, op_id: str) -> list[dict[str, Any]]:
    """Return the half records that the op record with this id ended."""
    ended = {(b, r["half_queue_offset"]) for b, r in _op_records(case, ds.field("offset_msg_id") == op_id)}
    if not ended:
        return []
    at = ds.field("queue_offset").isin(sorted({offset for _, offset in ended if offset is not None}))
    rows = scan.records(case, ("uniq_key", "offset_msg_id", "queue_offset"), transactions.HALF & at)
    brokers = transactions.brokers(case, rows["offset_msg_id"]).tolist()
    return [r for b, r in zip(brokers, rows.to_pylist(), strict=True) if (b, r["queue_offset"]) in ended]


def _keys_elsewhere(case: Case, wanted: str) -> list[str]:
    """Return the UNIQ_KEYs that tables of senders and consumers give for an id or key no record has."""
    up = wanted.upper()
    found: list[str] = []
    for table in ("rows", "sends"):
        if case.has(table):
            mine = (ds.field("uniq_key") == up) | (ds.field("offset_msg_id") == up) | (ds.field("key") == wanted)
            keys = pc.unique(scan.table(case, table, ["uniq_key"], mine)["uniq_key"]).to_pylist()
            found += sorted(filter(None, keys))[:200]
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
    every = deliveries.deliveries(case)
    mine = every[every["uniq_key"].isin(keys) | every["offset_msg_id"].isin([*copies, wanted.upper()])]
    names_ = ["file", "line", "consumer", "uniq_key", "offset_msg_id", "reconsume_times", "result", "success", "time"]
    rows = mine.sort_values(["time", "file", "line"], na_position="first").head(MOST_RECORDS)[names_].astype(object)
    listed: list[dict[str, Any]] = scan.none(rows).to_dict("records")
    return [{**row, "time": None if row["time"] is None else _utc(row["time"])} for row in listed]


def _consumers(
    case: Case, records: list[dict[str, Any]], told: list[dict[str, Any]], sent: list[str]
) -> list[dict[str, Any]]:
    return [
        {
            "group": one.group,
            "topic": one.topic,
            "queue_id": one.queue_id,
            "queue_offset": one.queue_offset,
            "offset_msg_id": one.offset_msg_id,
            "fate": one.fate,
            "text": one.why.render(case.lang),
            "evidence": [ref.as_dict() for ref in one.evidence],
        }
        for one in fates.of(case, records, told, sent)
    ]


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
        end = _utc(record_stage.last_stored(case))
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
    every = deliveries.deliveries(case) if case.has("rows") else None
    return set() if every is None else set(every.loc[every["by"] == "ledger", "topic"].dropna())


def _never_handled(
    case: Case, records: list[dict[str, Any]], told: list[dict[str, Any]], end: dt.datetime | None
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
        if record["topic"] in covered and stored and end and stored + dt.timedelta(seconds=2) < end:
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
