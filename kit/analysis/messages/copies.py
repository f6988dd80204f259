"""The copies of messages: every record of one message, found by any of its ids, for many ids in one pass.

Copies are joined by UNIQ_KEY; if one lost it, by ORIGIN_MESSAGE_ID or by the prepared offset of a commit; op records by
broker and half-queue offset.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis.messages import client_traces, lineage, record_stage
from kit.analysis.transactions import owners
from kit.case import columnar, scan, tables
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import TEXT, as_dict, promoted
from kit.formats.values import integer
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

Record = dict[str, Any]
MOST_RECORDS: Final = 100_000
"""Copies listed of one message; one caught in a doubling half topic has tens of thousands."""
MOST_LINKED: Final = 1_000
MOST_KEYLESS: Final = 200_000
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


_OF_OP: Final = ("file", "physical_offset", "offset_msg_id", "queue_id", "store_timestamp", "half_queue_offset")
_ORIGIN: Final = promoted(names.ORIGIN_MESSAGE_ID)
_LINKS: Final = ("uniq_key", "offset_msg_id", "keys", "sys_flag", "prepared_transaction_offset", _ORIGIN)


def of(case: Case, ids: Sequence[str]) -> dict[str, list[Record]]:
    """Return for each id (UNIQ_KEY, offset id of a copy or an op record, business key) the copies in store order.

    Each has `link`: how it was joined if it has no UNIQ_KEY.
    """
    named = _named(case, ids)
    elsewhere = [each for each in ids if not named[each]]
    if elsewhere:
        named |= _ended_by(case, elsewhere)
    keys = {each: {row["uniq_key"] for row in named[each] if row["uniq_key"]} for each in ids}
    loose = {
        each: {row["offset_msg_id"] for row in named[each] if not row["uniq_key"] or each in elsewhere} for each in ids
    }
    mine = scan.one_of("uniq_key", _texts_of(set().union(*keys.values())))
    mine |= scan.one_of("offset_msg_id", _texts_of(set().union(*loose.values())))
    if len(ids) > 1 and scan.records(case, ["offset_msg_id"], mine).num_rows > MOST_RECORDS:
        return {each: of(case, [each])[each] for each in ids}
    of_key: defaultdict[str, list[Record]] = defaultdict(list)
    of_copy: dict[str, Record] = {}
    for row in fetch(case, mine) if any(named.values()) else ():
        of_key[row["uniq_key"]].append(row)
        of_copy[row["offset_msg_id"]] = row
    found = {}
    for each in ids:
        rows = [*(row for key in sorted(keys[each]) for row in of_key[key])]
        rows += [of_copy[one] for one in sorted(loose[each]) if one in of_copy]
        found[each] = _with_linked(case, rows)
    return found


def _with_linked(case: Case, rows: Iterable[Record]) -> list[Record]:
    known = {row["offset_msg_id"]: {**row, "link": None} for row in rows}
    if linked := _linked(case, known) if known else {}:
        more = fetch(case, scan.one_of("offset_msg_id", _texts_of(linked)))
        known |= {row["offset_msg_id"]: {**row, "link": linked[row["offset_msg_id"]]} for row in more}
    return sorted(known.values(), key=lineage.store_order)[:MOST_RECORDS]


def _texts_of(values: Iterable[str]) -> pa.Array:
    return pa.array(sorted(values), pa.string())


def _named(case: Case, ids: Sequence[str]) -> dict[str, list[Record]]:
    """Return for each id the records it names: by UNIQ_KEY, offset id, key, or as the copy they were made from."""
    upper = sorted({each.upper() for each in ids})
    mine = (
        scan.one_of("uniq_key", _texts_of({*ids, *upper}))
        | scan.one_of("offset_msg_id", upper)
        | pc.match_substring_regex(ds.field("keys"), "|".join(map(re.escape, ids)))
        | scan.one_of(_ORIGIN, upper)
    )
    offsets = [int(each[-16:], 16) for each in upper if re.fullmatch(r"[0-9A-F]{32,}", each)]
    if halves := [offset for offset in offsets if 0 < offset < 1 << 63]:
        mine |= ds.field("prepared_transaction_offset").isin(pa.array(halves, pa.int64()))
    # The KEYS of a trace record are the ids and keys of the messages it is about: it is no copy of any of them.
    copies = (ds.field("stage") != record_stage.OP) & ~scan.one_of("topic", client_traces.topics(case))
    by_id: defaultdict[str | None, list[Record]] = defaultdict(list)
    by_word: defaultdict[str | None, list[Record]] = defaultdict(list)
    for batch in scan.batches(case, _LINKS, copies & mine):
        for row in columnar.zero_filled(pa.Table.from_batches([batch])).to_pylist():
            for name in {row["uniq_key"], row["offset_msg_id"], row[_ORIGIN], _half_id(row)}:
                by_id[name].append(row)
            for word in {row["uniq_key"], *re.split(r"\s+", row["keys"] or "", flags=re.ASCII)}:
                by_word[word].append(row)
    found = {}
    for each in ids:
        rows = {row["offset_msg_id"]: row for row in (*by_id[each.upper()], *by_word[each])}
        found[each] = list(rows.values())[:MOST_RECORDS]
    return found


def _half_id(row: dict[str, Any]) -> str | None:
    """Return the offset id of the half record that a commit was made from; None for other records."""
    committed = (row["sys_flag"] & names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT
    return lineage.half_id(row) if committed and row["prepared_transaction_offset"] > 0 else None


def _linked(case: Case, known: dict[str, Record]) -> dict[str, str]:
    """Return {offset id: link} of copies that lost their UNIQ_KEY but name a copy of this message, or are named by one."""
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
def _keyless(case: Case) -> list[Record]:
    """Return the records without a UNIQ_KEY (except op records) with what they name: few, unless a client writes none."""
    mine = ds.field("uniq_key").is_null() & (ds.field("stage") != record_stage.OP)
    rows = itertools.chain.from_iterable(
        columnar.zero_filled(pa.Table.from_batches([batch])).to_pylist() for batch in scan.batches(case, _LINKS, mine)
    )
    kept = itertools.islice(rows, MOST_KEYLESS)
    return [{"offset_msg_id": r["offset_msg_id"], "origin": r[_ORIGIN], "half": _half_id(r)} for r in kept]


def fetch(case: Case, condition: pc.Expression) -> list[Record]:
    """Return the records that a condition on the columns of `messages` keeps, by store time, with the records they
    name.
    """
    more = {
        "real_topic": names.REAL_TOPIC,
        "check_times": names.CHECK_TIMES,
        "delay_level": names.DELAY,
        "origin_message_id": names.ORIGIN_MESSAGE_ID,
        "resent": names.MIN_OFFSET,
        "timer": "TIMER_OUT_MS",
    }
    columns = {name: ds.field(name) for name in (*_FIELDS, TEXT)} | {n: ds.field(promoted(p)) for n, p in more.items()}
    found = columnar.countable(
        scan.records(
            case, columns, condition & ds.field("stage").isin([s for s in record_stage.STAGES if s != record_stage.OP])
        )
    )
    found = found.sort_by("store_timestamp").slice(0, MOST_RECORDS)
    timed = columnar.to_pandas(found.select(["topic", "queue_id", "store_timestamp", "timer"]))
    due = record_stage.due(case, timed.rename(columns={"timer": promoted("TIMER_OUT_MS")}))
    rows = found.drop_columns("timer").to_pylist()
    for row, at in zip(rows, due, strict=True):
        row |= {name: integer(row[name]) for name in ("check_times", "delay_level")}
        waits = row["stage"] == record_stage.SCHEDULE and pd.notna(at)
        row |= {"resent": row["resent"] is not None, "due": utc(at) if waits else None}
        row["properties"] = as_dict(row.pop(TEXT))
    return rows


def utc(at: pd.Timestamp) -> dt.datetime | None:
    """Return a naive UTC time of a frame with its zone, as rows of Arrow have it."""
    return None if pd.isna(at) else at.tz_localize(dt.UTC).to_pydatetime()


def ops(case: Case, halves: list[Record]) -> list[Record]:
    """Return the op records that end one of these half records, with `decision`: a commit names the half record, or it was a rollback."""
    if not halves:
        return []
    brokers = owners.brokers(case, pa.chunked_array([[h["file"] for h in halves]], pa.string()))
    mine = {(broker, h["queue_offset"]): h for broker, h in zip(brokers.tolist(), halves, strict=True)}
    said = ds.field("half_queue_offset").isin(sorted({offset for _, offset in mine}))
    found = []
    for broker, row in _op_records(case, said):
        half = mine.get((broker, row["half_queue_offset"]))
        if half is not None:
            kept = {name: row[name] for name in _OF_OP}
            ended = {"uniq_key": half["uniq_key"], "half_offset_msg_id": half["offset_msg_id"]}
            found.append(kept | {"stage": record_stage.OP} | ended)
    return found


def _op_records(case: Case, where: pc.Expression) -> list[tuple[int, dict[str, Any]]]:
    """Return the op records that `where` keeps, each once and in store order, with the number of their broker."""
    said = columnar.countable(scan.table(case, "ops", tables.OPS.names, where & (ds.field("queue_id") == 0)))
    said = said.sort_by([("store_timestamp", "ascending"), ("physical_offset", "ascending")])
    brokers = owners.brokers(case, said["file"]).tolist()
    once = {
        (r["offset_msg_id"], r["half_queue_offset"]): (b, r) for b, r in zip(brokers, said.to_pylist(), strict=True)
    }
    return list(once.values())


def _ended_by(case: Case, op_ids: Sequence[str]) -> dict[str, list[Record]]:
    """Return for each id the half records that the op record with this id ended."""
    ended: dict[tuple[int, int], str] = {}
    named = {each.upper(): each for each in op_ids}
    for broker, row in _op_records(case, scan.one_of("offset_msg_id", sorted(named))):
        if row["half_queue_offset"] is not None:
            ended[broker, row["half_queue_offset"]] = named[row["offset_msg_id"]]
    found: dict[str, list[Record]] = {each: [] for each in op_ids}
    if not ended:
        return found
    at = ds.field("queue_offset").isin(sorted({offset for _, offset in ended}))
    rows = scan.records(case, ("uniq_key", "offset_msg_id", "queue_offset", "file"), owners.HALF & at)
    brokers = owners.brokers(case, rows["file"]).tolist()
    for broker, row in zip(brokers, rows.to_pylist(), strict=True):
        if each := ended.get((broker, row["queue_offset"])):
            found[each].append(row)
    return found
