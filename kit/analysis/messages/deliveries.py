"""Deliveries: which consumer handled which copy of a message, and the result; from the consumers' ledgers, else from
their logs.

A ledger is one table, or several instances' tables of one consumer group. The group is the one whose retry topic the
ledger's retries are in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import columnar, log_events, scan
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import names

if TYPE_CHECKING:
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
LEDGERS: Final = (ds.field("role") == "deliveries") & (
    ds.field("uniq_key").is_valid() | ds.field("offset_msg_id").is_valid()
)
"""Rows that say what a consumer did with a delivery, and name it by an id."""
_ID: Final = re.compile(r"(?<![0-9A-Za-z])([0-9A-F]{56}|[0-9A-F]{32}|01[0-9A-F]{32})(?![0-9A-Za-z])")
SAID_SUCCESS: Final = r"(?i)\b(granted|succeed\w*|success\w*|done|handled|processed|completed|finished|consumed|applied|credited|saved|consume ok)\b"
SAID_SUCCESS_ZH: Final = ("成功", "完成", "已处理", "已发放", "已消费", "入账")
SAID_FAILURE: Final = (
    r"(?i)(?:fail|error|exception|will retry|retry later|reconsume.?later|timeout|timed out|reject|skip|ignor|duplicate|already|"
    r"rolled? ?back|not (?:ok|done|processed))"
)
SAID_FAILURE_ZH: Final = ("失败", "异常", "错误", "稍后", "超时", "跳过", "忽略", "重复", "回滚", "未")
MOST_RESULTS: Final = 50
"""A column with more different texts is no result."""
_TYPES: Final[dict[str, Any]] = {"time": "datetime64[ns]", "line": "int32", "reconsume_times": float}
_ALL: Final = pc.CountOptions(mode="all")
GROUP_COLUMN: Final = r"(?i)group|消费组|消费者组"


@per_case
def deliveries(case: Case) -> pd.DataFrame:
    """Return one row per delivery that a consumer recorded, joined to the delivered record if the evidence has it.

    Columns file, line, consumer (group, else the ledger's file), uniq_key, key, offset_msg_id, reconsume_times, result,
    success (null: unknown), time, retry (a retry copy), origin (offset id of the stored message that it is a retry of),
    topic, by (`ledger` or `log`).
    """
    by_ledger = bool(results(case))
    rows = _ledger_rows(case) if by_ledger else _log_rows(case)
    return _joined(case, rows).assign(by="ledger" if by_ledger else "log")


@per_case
def results(case: Case) -> dict[str | None, int]:
    """Return how many deliveries of the ledgers ended with each result; empty if no ledger names messages by their ids."""
    counted = (
        scan.table(case, "rows", ["status"], LEDGERS)
        .group_by("status")
        .aggregate([("status", "count", _ALL)])
        .to_pylist()
    )
    return {row["status"]: row["status_count"] for row in counted}


def _ledger_rows(case: Case) -> pd.DataFrame:
    columns = ("file", "line", "uniq_key", "key", "offset_msg_id", "reconsume_times", "status", "time", "cells")
    table = scan.table(case, "rows", columns, LEDGERS)
    said = results(case)
    total = sum(said.values())
    known = {status: verdict(status, n / total) for status, n in said.items() if status}
    rows = columnar.to_pandas(table.drop_columns("cells")).rename(columns={"status": "result"})
    success = rows["result"].map(known if len(said) <= MOST_RESULTS else {}).astype(object)
    return rows.assign(
        declared=pd.Series(_declared(table["cells"]), rows.index, object), success=columnar.none_for_null(success)
    )


def _declared(cells: pa.ChunkedArray) -> list[str | None]:
    """Return the values of the first column that is named like a group."""
    found: list[str | None] = []
    for chunk in cells.chunks:
        at = chunk.offsets.to_numpy()
        hits = np.flatnonzero(pc.match_substring_regex(chunk.keys, GROUP_COLUMN).to_numpy(zero_copy_only=False))
        first = np.append(hits, np.iinfo(np.int64).max)[np.searchsorted(hits, at[:-1])]
        found += chunk.items.take(pa.array(first, mask=first >= at[1:])).to_pylist()
    return found


def verdict(result: str, share: float = 0.0) -> bool | None:
    """Return whether a result means that the message took effect; None if the word is unknown and not the most frequent result."""
    if FAILURE.search(result):
        return False
    if SUCCESS.search(result):
        return True
    return True if share > 0.5 else None


def _log_rows(case: Case) -> pd.DataFrame:
    """Return the deliveries in application logs: lines that name an id and its result, without those of senders."""
    columns = [
        "file",
        "line",
        "time",
        "declared",
        "uniq_key",
        "key",
        "offset_msg_id",
        "reconsume_times",
        "result",
        "success",
    ]
    each = _said_ids(case) if case.has("messages") else pd.DataFrame()
    if each.empty:
        return pd.DataFrame({name: pd.Series(dtype=_TYPES.get(name, object)) for name in columns})
    ids = pa.array(each["id"].unique(), pa.string())
    key = ds.field("uniq_key")
    copies = scan.records(case, ("offset_msg_id", "uniq_key"), key.is_valid() & scan.one_of("offset_msg_id", ids))
    of_offset = dict(zip(copies["offset_msg_id"].to_pylist(), copies["uniq_key"].to_pylist(), strict=True))
    keys = set(pc.unique(scan.records(case, ("uniq_key",), key.isin(ids))["uniq_key"]).to_pylist())
    each = each.assign(
        of_key=each["id"].where(each["id"].isin(keys)),
        of_offset=each["id"].map(of_offset),
        offset_msg_id=each["id"].where(each["id"].isin(list(of_offset))),
    )
    each = each[each["of_key"].notna() | each["of_offset"].notna()]
    lines = each.groupby(["file", "line"], sort=False)
    told = lines[["ts", "times", "success"]].first()
    # Of several ids of one kind the greatest counts.
    for name in ("of_key", "of_offset", "offset_msg_id"):
        told[name] = each.dropna(subset=[name]).groupby(["file", "line"])[name].max()
    told = told.reset_index().rename(columns={"ts": "time", "times": "reconsume_times"})
    told["uniq_key"] = told["of_key"].where(told["of_key"].notna(), told["of_offset"])
    told["success"] = columnar.none_for_null(told["success"])
    result = told["success"].map({True: "OK", False: "FAIL"})
    return told.assign(declared=None, key=None, result=columnar.none_for_null(result))[columns]


def _said_ids(case: Case) -> pd.DataFrame:
    """Return the ids that application logs name: file, line, ts, times (retries), success, id."""
    found: list[pa.Table] = []
    columns = ("file", "line", "ts", "level", "message", "events")
    for batch in scan.batches_of(case, "logs", columns, scan.text("source") == "app"):
        # Logs say many things again and again: each text is looked at once.
        coded = batch["message"].dictionary_encode()
        named = pc.match_substring_regex(coded.dictionary, "[0-9A-F]{32}").take(coded.indices)
        rows = batch.filter(pc.and_(named, pa.array(~log_events.holds(batch["events"], ("send-result",)))))
        coded = rows["message"].dictionary_encode()
        message, at = coded.dictionary, coded.indices
        each = [list(dict.fromkeys(_ID.findall(text))) for text in message.to_pylist()]
        ids = pa.array(each, pa.list_(pa.string())).take(at)
        retries = pc.struct_field(pc.extract_regex(message, r"(?i)reconsume_?times?\W{0,3}(?P<n>\d{1,3})"), "n")
        level = columnar.passes(
            pa.chunked_array([rows["level"]]), lambda name: name in ("ERROR", "WARN", "FATAL", "WARNING")
        )
        bad = level | _said(message, SAID_FAILURE, SAID_FAILURE_ZH)[at]
        good = _said(message, SAID_SUCCESS, SAID_SUCCESS_ZH)[at]
        said = {"times": retries.cast(pa.int32()).take(at), "success": pa.array(good & ~bad, mask=~(bad | good))}
        told = pa.table({name: rows[name] for name in ("file", "line", "ts")} | said)
        found.append(told.take(pc.list_parent_indices(ids)).append_column("id", pc.list_flatten(ids)))
    return columnar.to_pandas(pa.concat_tables(found)) if found else pd.DataFrame()


def _said(text: pa.Array, pattern: str, words: tuple[str, ...]) -> np.ndarray:
    """Return whether each text contains the pattern or one of the words."""
    said = pc.match_substring_regex(text, "|".join((pattern, *words)))
    return said.fill_null(fill_value=False).to_numpy(zero_copy_only=False)


def _joined(case: Case, rows: pd.DataFrame) -> pd.DataFrame:
    """Add the delivered record to each delivery, and determine the consumer."""
    origin = promoted(names.ORIGIN_MESSAGE_ID)
    theirs = {
        "offset_msg_id": "offset_msg_id",
        "uniq_key": "their_key",
        "topic": "topic",
        "reconsume_times": "their_times",
        origin: "their_origin",
        "consumer_group": "their_group",
    }
    if case.has("messages"):
        ids = pa.array(rows["offset_msg_id"].dropna().unique(), pa.string())
        records = columnar.to_pandas(scan.records(case, list(theirs), scan.one_of("offset_msg_id", ids))).rename(
            columns=theirs
        )
        rows = rows.merge(records, "left", "offset_msg_id")
    else:
        rows = rows.assign(**dict.fromkeys(list(theirs.values())[1:]))
    told = rows.groupby("file")["their_group"].agg(["nunique", "first"])
    groups = told["first"].where(told["nunique"] == 1)
    times = rows["reconsume_times"].astype(float)
    times = times.where(times.notna(), rows["their_times"].astype(float))
    retry = (times > 0) | rows["topic"].map(lambda t: isinstance(t, str) and t.startswith(names.RETRY_PREFIX)).astype(
        bool
    )
    first = rows["offset_msg_id"].where(times.fillna(0) == 0)
    return rows.assign(
        consumer=_either(rows["declared"], _either(rows["file"].map(groups), rows["file"])),
        uniq_key=_either(rows["uniq_key"], rows["their_key"]),
        reconsume_times=times.astype("Int64"),
        retry=retry,
        origin=_either(rows["their_origin"], first),
    ).drop(columns=["declared", "their_key", "their_times", "their_origin", "their_group"])


def _either(one: pd.Series[Any], other: pd.Series[Any]) -> pd.Series[Any]:
    either: pd.Series[Any] = columnar.none_for_null(one.where(one.notna(), other))
    return either


def twice(case: Case) -> pd.DataFrame:
    """Return messages that one consumer handled successfully more than once, the later time from a retry copy: another
    offset id, the same UNIQ_KEY.

    Columns consumer, uniq_key, first_file, first_line, first_offset_msg_id, first_time, file, line, offset_msg_id,
    time, reconsume_times, and `same` (False if the retry is one of another stored message: the producer sent it twice;
    null if the records do not show it).
    """
    every = deliveries(case)
    good = every[every["success"].eq(True) & every["uniq_key"].notna()]
    good = good.assign(level=good["reconsume_times"].fillna(0).astype(int))
    same, place = ["consumer", "uniq_key"], ["time", "file", "line"]
    first = good.sort_values(["level", *place], na_position="first").drop_duplicates(same)
    firsts = first[[*same, "file", "line", "offset_msg_id", "time", "level", "origin"]]
    named = {name: f"first_{name}" for name in ("file", "line", "offset_msg_id", "time", "level", "origin")}
    later = good.merge(firsts.rename(columns=named), on=same)
    level = later["reconsume_times"].fillna(1).astype(int)
    later = later[later["retry"] & (level > later["first_level"])]
    either = later["origin"].isna() | later["first_origin"].isna()
    equal = (later["origin"] == later["first_origin"]).astype(object)
    later = later.assign(same=columnar.none_for_null(equal.where(~either))).sort_values(place, na_position="first")
    columns = [*same, "first_file", "first_line", "first_offset_msg_id", "first_time"]
    columns += ["file", "line", "offset_msg_id", "time", "reconsume_times", "same"]
    return later.drop_duplicates(same).sort_values(["time", "uniq_key"], na_position="first", ignore_index=True)[
        columns
    ]


@per_case
def count_ended(case: Case) -> int:
    """Return how many deliveries are known to have ended well or badly."""
    said = results(case)
    if said:
        total = sum(said.values())
        return (
            sum(n for status, n in said.items() if status and verdict(status, n / total) is not None)
            if len(said) <= MOST_RESULTS
            else 0
        )
    return int(deliveries(case)["success"].notna().sum()) if case.has_source("app") else 0
