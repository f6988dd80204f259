"""Where consumer groups stood in their queues at which time: copies of consumerOffset.json, consumerProgress and consumerStatus outputs, against the queues' ends."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import brokers, scan
from kit.case.memoize import per_case
from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS, real
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.model import Item

COLUMNS: Final = ("time", "source", "file", "line", "group", "topic", "broker", "queue_id", "offset", "end", "begin")
"""`source`: copy, progress or status; `time`: naive UTC, NaT where nothing shows it; `offset`: the next to be handled, <NA> for a queue the group has none for;
`end`, `begin`: the queue's max and min offset then, <NA> where not known."""
KEYS: Final = ["group", "topic", "broker", "queue_id"]
_OF_QUEUE: Final = ("#Topic", "#Broker Name", "#QID")
PRESERVED: Final = 120.0
"""Seconds a file may have been changed behind the last time it prints, if its time of change is that of the system it was taken from."""
OWN_COPY: Final = 60.0
"""Seconds a store's own consumerOffset.json may be older than its last record: it is saved every 5 s (flushConsumerOffsetInterval), and at the stop."""
BUCKETS: Final = 7_200
TOPICS: Final = 500
_FILE: Final = re.compile(r"(?:^|/)(?:commitlog/)?[^/]*$")
_EPOCH: Final = re.compile(r"(?:^|/)(1[4-9]\d{11})/[^/]+$")


@per_case
def every(case: Case) -> pd.DataFrame:
    """Return all positions of users' groups in order of time, with `COLUMNS` and `lag` (end − offset, from the queue's
    begin without an offset).
    """
    frame = _together(_copies(case), _progress(case), _status(case))
    frame = frame[frame["group"].map(names.of_users).astype(bool)]
    if frame.empty:
        return frame.assign(lag=pd.array([], dtype="Int64"))
    ends = curve(case)
    frame = _with_ends(case, _timed(case, _together(frame, _absent(frame, ends))), ends)
    frame["lag"] = (frame["end"] - frame["offset"].fillna(frame["begin"]).fillna(0)).clip(lower=0)
    return frame.sort_values(["time", "file", *KEYS], na_position="first").reset_index(drop=True)


def _together(*frames: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all frames; pandas looks at the types of empty ones, so these are left out."""
    some = [_typed(frame) for frame in frames if len(frame)]
    return pd.concat(some, ignore_index=True) if some else _typed(pd.DataFrame([], columns=list(COLUMNS)))


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    types = {
        "line": "Int64",
        "queue_id": "Int64",
        "offset": "Int64",
        "end": "Int64",
        "begin": "Int64",
        "lag": "Int64",
        "time": "datetime64[us]",
    }
    texts = dict.fromkeys(("source", "file", "group", "topic", "broker"), "object")
    return frame.astype({name: kind for name, kind in (types | texts).items() if name in frame.columns})


def _copies(case: Case) -> pd.DataFrame:
    """One row per group and queue of every copy of consumerOffset.json; a slave's copies, which only follow its master's, where there is no other."""
    wanted = (ds.field("kind") == "consumer") & ~ds.field("backup")
    rows = ds.dataset(case.folder("offsets"), format="parquet").to_table(filter=wanted).to_pylist()
    place = {file: brokers.of_file(case, file) for file in {row["file"] for row in rows}}
    masters = {b.name for b in brokers.all_of(case) if not b.slave}
    kept = [row for row in rows if not ((b := place[row["file"]]) and b.slave and b.name in masters)]
    found = [
        (
            naive(row["time"]),
            "copy",
            row["file"],
            row["line"],
            row["group"],
            row["topic"],
            b.name if (b := place[row["file"]]) else "",
            row["queue_id"],
            row["value"],
            None,
            None,
        )
        for row in kept
    ]
    return pd.DataFrame(found, columns=list(COLUMNS))


@per_case
def admin_blocks(case: Case) -> list[dict[str, Any]]:
    """Return the rows of mqadmin outputs as dicts: their cells and `file`, `line`, `time`, `command`, and the command's arguments as `-g`, `-t`, …"""
    if not case.found.of_kind("mqadmin"):
        return []
    table = (
        ds.dataset(case.folder("admin"), format="parquet")
        .to_table()
        .sort_by([("file", "ascending"), ("line", "ascending")])
    )
    blocks: dict[tuple[str, int, str | None], dict[str, Any]] = {}
    arguments: dict[str, dict[str, str]] = {}
    call: dict[str, int] = {}
    for row in table.to_pylist():
        file, name = row["file"], row["name"] or ""
        if name.startswith("argument:"):
            if call.get(file) != row["line"]:
                call[file], arguments[file] = row["line"], {}
            arguments[file][name.removeprefix("argument:")] = row["value"]
            continue
        key = (file, row["block"], row["command"]) if row["block"] else (file, -row["line"], row["command"])
        block = blocks.setdefault(
            key,
            {
                **arguments.get(file, {}),
                "file": file,
                "line": row["line"],
                "time": naive(row["time"]),
                "command": row["command"],
            },
        )
        block[name] = row["value"]
    # A row that was cut says of no queue where its consumer is.
    return [b for b in blocks.values() if "#Consumer Offset" not in b or all(b.get(name) for name in _OF_QUEUE)]


def _progress(case: Case) -> pd.DataFrame:
    rows = [
        b
        for b in admin_blocks(case)
        if b["command"] == "consumerProgress" and "#Consumer Offset" in b and "#Broker Offset" in b
    ]
    # Without the command line the group's own retry topic names it.
    by_file = {
        b["file"]: b["#Topic"].removeprefix(names.RETRY_PREFIX)
        for b in rows
        if b["#Topic"].startswith(names.RETRY_PREFIX)
    }
    found = [
        (b["time"], "progress", b["file"], b["line"], b.get("-g") or by_file.get(b["file"], ""), b["#Topic"], b["#Broker Name"], number(b["#QID"]),
         number(b["#Consumer Offset"]), number(b["#Broker Offset"]), None)
        for b in rows
    ]  # fmt: skip
    return pd.DataFrame(found, columns=list(COLUMNS))


@per_case
def running(case: Case) -> list[dict[str, Any]]:
    """Return the running info files (consumerStatus -s): {"file", "time", "client_id", "group", "properties", "subscriptions", "queues"}.

    `subscriptions`: {topic: (expression, line)}; `queues`: rows with topic, broker, queue_id, line and the fields of ProcessQueueInfo;
    `rt`: {topic: (ms per message, line)} as the listener took them.
    """
    found: dict[str, dict[str, Any]] = {}
    for block in admin_blocks(case):
        if block["command"] != "consumerRunningInfo":
            continue
        item = case.found.get(block["file"])
        info = found.setdefault(
            block["file"],
            {
                "file": block["file"],
                "time": _printed(block["file"]) or block["time"],
                "client_id": _client_of(item),
                "group": "",
                "properties": {},
                "subscriptions": {},
                "queues": [],
                "rt": {},
            },
        )
        if "#SubExpression" in block and "#Topic" in block:
            info["subscriptions"][block["#Topic"]] = (block["#SubExpression"], block["line"])
        elif "commitOffset" in block:
            info["queues"] += [block] if all(block.get(name) for name in _OF_QUEUE) else []
        elif "#Consume RT" in block and "#Topic" in block:
            if (rt := real(block["#Consume RT"])) is not None:
                info["rt"][block["#Topic"]] = (rt, block["line"])
        elif "#Consumer Offset" in block:
            info.setdefault("offsets", []).append(block)
        else:
            own = {name: value for name, value in block.items() if name not in ("file", "line", "time", "command")}
            info["properties"].update(own)
            info["group"] = info["properties"].get("consumerGroup", info["group"])
    return sorted(found.values(), key=lambda i: (str(i["time"]), i["file"]))


def _client_of(item: Item | None) -> str:
    return "" if item is None else item.file.rsplit("/", 1)[-1]


def _printed(file: str) -> dt.datetime | None:
    """Return the time in the folder's name: consumerStatus writes its files below the milliseconds of the call."""
    found = _EPOCH.search(file)
    return None if found is None else dt.datetime.fromtimestamp(int(found[1]) / 1000, dt.UTC).replace(tzinfo=None)


def _status(case: Case) -> pd.DataFrame:
    found = [
        (
            info["time"],
            "status",
            info["file"],
            row["line"],
            info["group"],
            row["#Topic"],
            row["#Broker Name"],
            number(row["#QID"]),
            number(row["#Consumer Offset"]),
            None,
            None,
        )
        for info in running(case)
        for row in info.get("offsets", ())
    ]
    return pd.DataFrame(found, columns=list(COLUMNS))


def naive(time: dt.datetime | None) -> dt.datetime | None:
    """Return a time in UTC without its zone, as Spark's frames have them."""
    return None if time is None else time.astimezone(dt.UTC).replace(tzinfo=None)


def number(text: str | None) -> int | None:
    """Return a cell as a number, None for N/A and anything else."""
    return int(text) if text and re.fullmatch(r"-?\d{1,18}", text) else None


# --- times ---------------------------------------------------------------------------------------------------------------


@per_case
def preserved(case: Case) -> bool:
    """Tell whether files still have the times of change of the system they were taken from: those of logs and stores agree with what is in them."""
    apart = [
        (item.modified - item.last).total_seconds()
        for item in case.inventory.items
        if item.modified is not None and item.last is not None and item.kind in ("log", "commitlog", "dledger")
    ]
    if apart:
        return sum(-2 <= seconds <= PRESERVED for seconds in apart) * 2 >= len(apart)
    stamps = {
        item.modified
        for item in case.found.of_kind("store_json", "mqadmin", "thread_dump")
        if item.modified is not None
    }
    return len(stamps) > 1


def _timed(case: Case, frame: pd.DataFrame) -> pd.DataFrame:
    """Put the time of the records in the place of a file's where copying lost that: what was handled had been stored."""
    stored = _stored_at(frame, curve(case))
    lowest = stored.groupby(frame["file"]).transform("max")
    known = frame["time"].where((frame["source"] == "status") | preserved(case))
    wrong = known.isna() | (known < lowest - pd.Timedelta(seconds=2))
    return frame.assign(time=known.where(~wrong, lowest))


def _stored_at(frame: pd.DataFrame, ends: pd.DataFrame) -> pd.Series:
    """Return when the newest record that each position shows had been stored, NaT where no record shows it."""
    found = pd.Series(pd.NaT, index=frame.index, dtype="datetime64[us]")
    if ends.empty:
        return found
    newest = frame["end"].fillna(frame["offset"])
    by_queue = dict(list(ends.groupby(["topic", "broker", "queue_id"], sort=False)))
    for key, rows in frame.groupby(["topic", "broker", "queue_id"], sort=False):
        queue = by_queue.get(key)
        if queue is None:
            continue
        at = np.searchsorted(queue["end"].to_numpy(), newest[rows.index].fillna(0).to_numpy(dtype="int64"))
        inside = (at < len(queue)) & (newest[rows.index].fillna(0).to_numpy(dtype="int64") > 0)
        found.loc[rows.index[inside]] = queue["time"].to_numpy()[at[inside]]
    return found


# --- ends ----------------------------------------------------------------------------------------------------------------


@per_case
def curve(case: Case) -> pd.DataFrame:
    """Return how the queues of consumed topics grew: topic, broker, queue_id, time (begin of a second or more), end (max offset after it), begin.

    From the records; if absent from the consume queues (then without times: one row a queue, NaT).
    """
    empty = _typed(pd.DataFrame([], columns=["topic", "broker", "queue_id", "time", "end", "begin"]))
    wanted = topics(case)
    if not wanted:
        return empty
    known = brokers.names(case)
    if not case.has("messages"):
        return _from_queues(case, empty)
    mine = ds.field("topic").isin(wanted)
    if len(wanted) > TOPICS:
        mine = ~pc.starts_with(scan.text("topic"), "%")
    step = 1 if _short(case) else _step(case, mine)
    # Times are whole seconds, and of these each `step`th.
    at = pc.floor_temporal(ds.field("store_timestamp"), unit="second").cast(pa.int64())
    by = {name: ds.field(name) for name in ("file", "topic", "queue_id")}
    by["time"] = pc.divide(at, pa.scalar(step * 1_000_000))
    asked = [("queue_offset", "max"), ("queue_offset", "min")]
    frame = scan.extremes(case, by, asked, mine).to_pandas(integer_object_nulls=True)
    if frame.empty:
        return empty
    seconds = frame["time"].astype("Int64") * step
    counted = seconds.between(NANO_FIRST_MS // 1000 + step, NANO_LAST_MS // 1000 - step)
    frame["time"] = pd.to_datetime(seconds.where(counted), unit="s")
    frame["root"] = [_FILE.sub("", file) for file in frame["file"]]
    frame["end"], frame["begin"] = _end(frame["queue_offset_max"]), frame["queue_offset_min"].astype("Int64")
    # One broker, or a root nobody names: whatever is consumed is of this broker.
    frame["broker"] = frame["root"].map(lambda root: known.get(root or ".", known.get(root, root)))
    frame = frame.groupby(["topic", "broker", "queue_id", "time"], as_index=False).agg({"end": "max", "begin": "min"})
    frame = frame.sort_values(["topic", "broker", "queue_id", "time"])
    queue = frame.groupby(["topic", "broker", "queue_id"])
    frame["end"] = queue["end"].cummax()
    frame["begin"] = queue["begin"].transform("min")
    return _typed(frame[["topic", "broker", "queue_id", "time", "end", "begin"]]).reset_index(drop=True)


def _end(last: pd.Series) -> pd.Series:
    """Return the offset behind the last; none is behind the greatest number there is."""
    numbers = last.astype("Int64")
    return numbers.where(numbers < np.iinfo("int64").max) + 1


def _step(case: Case, mine: pc.Expression) -> int:
    """Return how many seconds one point of the curves covers."""
    asked = [("store_timestamp", "min"), ("store_timestamp", "max")]
    (span,) = scan.extremes(case, [], asked, mine).to_pylist() or [{}]
    first, last = span.get("store_timestamp_min"), span.get("store_timestamp_max")
    return 1 if first is None else max(1, round((last - first).total_seconds() / BUCKETS))


def _short(case: Case) -> bool:
    """Tell by the inventory whether the records span less than `BUCKETS` seconds: then no look at them is needed to choose the step."""
    items = case.found.of_kind("commitlog", "dledger")
    firsts, lasts = [i.first for i in items if i.first], [i.last for i in items if i.last]
    return bool(firsts and lasts) and (max(lasts) - min(firsts)).total_seconds() <= BUCKETS


def _from_queues(case: Case, empty: pd.DataFrame) -> pd.DataFrame:
    if not case.has("consumequeue"):
        return empty
    known = brokers.all_of(case)
    name = known[0].name if len(known) == 1 else ""
    mine = ds.field("topic").isin(topics(case)) & ds.field("queue_offset").is_valid()
    asked = [("queue_offset", "max"), ("queue_offset", "min")]
    frame = scan.extremes(case, ["topic", "queue_id"], asked, mine, "consumequeue").to_pandas()
    frame["end"], frame["begin"] = _end(frame["queue_offset_max"]), frame["queue_offset_min"]
    return _typed(frame.assign(broker=name, time=None)[["topic", "broker", "queue_id", "time", "end", "begin"]])


@per_case
def topics(case: Case) -> list[str]:
    """Return the topics that users' groups consume, by offsets, outputs and running info."""
    wanted = (ds.field("kind") == "consumer") & ~ds.field("backup")
    rows = ds.dataset(case.folder("offsets"), format="parquet").to_table(["topic", "group"], filter=wanted).to_pylist()
    found = {row["topic"] for row in rows if names.of_users(row["group"] or "")}
    found |= {b["#Topic"] for b in admin_blocks(case) if "#Consumer Offset" in b and "#Topic" in b}
    return sorted(found - {None})


def _absent(frame: pd.DataFrame, ends: pd.DataFrame) -> pd.DataFrame:
    """Return rows for queues of a topic that a copy has no offset of although the group consumes the topic: nobody pulled them yet."""
    copies = frame[frame["source"] == "copy"]
    if copies.empty or ends.empty:
        return frame.iloc[:0]
    there = copies.groupby(["file", "group", "topic", "broker"], as_index=False).agg(
        time=("time", "first"), line=("line", "first")
    )
    every_queue = there.merge(ends[["topic", "broker", "queue_id"]].drop_duplicates(), on=["topic", "broker"])
    marked = every_queue.merge(copies[["file", *KEYS]], on=["file", *KEYS], how="left", indicator=True)
    absent = marked[marked["_merge"] == "left_only"].drop(columns="_merge")
    return _typed(absent.assign(source="copy", offset=None, end=None, begin=None)[list(COLUMNS)])


def _with_ends(case: Case, frame: pd.DataFrame, ends: pd.DataFrame) -> pd.DataFrame:
    """Fill in the ends that a position does not bring along: of the records stored before its time; for the store's own file, of all its records."""
    ends = ends.dropna(subset=["end", "begin"])
    if ends.empty:
        return frame
    frame = frame.copy()
    own = frame["file"].isin(
        {
            f"{b.root}/config/{name}".removeprefix("./")
            for b in brokers.all_of(case)
            for name in ("consumerOffset.json", "lmqConsumerOffset.json")
        }
    )
    latest = ends["time"].max()
    own &= frame["time"].isna() | (frame["time"] >= latest - pd.Timedelta(seconds=OWN_COPY))
    by_queue = dict(list(ends.groupby(["topic", "broker", "queue_id"], sort=False)))
    for key, rows in frame.groupby(["topic", "broker", "queue_id"], sort=False):
        queue = by_queue.get(key)
        if queue is None:
            continue
        frame.loc[rows.index, "begin"] = frame.loc[rows.index, "begin"].fillna(int(queue["begin"].iloc[0]))
        open_ = rows.index[rows["end"].isna() & (rows["source"] == "copy")]
        times = frame.loc[open_, "time"]
        before = np.searchsorted(queue["time"].to_numpy(), times.to_numpy(), side="left")
        grown = np.concatenate([[int(queue["begin"].iloc[0])], queue["end"].to_numpy(dtype="int64")])
        values = pd.array(grown[before], dtype="Int64")
        frame.loc[open_, "end"] = values if queue["time"].notna().all() else pd.NA
        frame.loc[open_[times.isna()], "end"] = pd.NA
        frame.loc[rows.index[own[rows.index]], "end"] = int(queue["end"].iloc[-1])
    return frame
