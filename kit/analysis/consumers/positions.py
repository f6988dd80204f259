"""Offsets of consumer groups over time, from copies of consumerOffset.json, consumerProgress and consumerStatus outputs, with the queues' ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis.consumers import admin_output
from kit.case import brokers
from kit.case.memoize import per_case
from kit.formats.values import integer
from kit.rocketmq import names
from kit.tables.queries import fold

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.model import Item

COLUMNS: Final = ("time", "source", "file", "line", "group", "topic", "broker", "queue_id", "offset", "end", "begin")
"""`source`: copy, progress or status; `time`: naive UTC, NaT where nothing shows it; `offset`: the next to be handled, <NA> for a queue the group has none for;
`end`, `begin`: the queue's max and min offset then, <NA> where not known."""
QUEUE: Final = ["topic", "broker", "queue_id"]
KEYS: Final = ["group", *QUEUE]
PRESERVED: Final = 120.0
"""Seconds a file may have been changed behind the last time it prints, if its time of change is that of the system it was taken from."""
OWN_COPY: Final = 60.0
"""Seconds a store's own consumerOffset.json may be older than its last record: it is saved every 5 s (flushConsumerOffsetInterval), and at the stop."""


@per_case
def every(case: Case) -> pd.DataFrame:
    """Return the table `known_positions`: all positions of users' groups in order of time."""
    return case.facts("known_positions")


@fold(
    "time timestamp, source string, file string, line bigint, group string, topic string, broker string, queue_id bigint, offset bigint, "
    "end bigint, begin bigint, lag bigint, at_least boolean",
    "offsets", "admin", "messages_within", "consumequeue", "configs", "files",
)  # fmt: skip
def known_positions(case: Case) -> pd.DataFrame:
    """One row per look at a consumer group's offset in a queue: `COLUMNS`, `lag` (end − offset, from the queue's begin without an offset) and
    `at_least`: a copy was saved at its time or any time later, so that end and lag are at least these. In order of time, file and queue.
    """
    frame = _together(_copies(case), _progress(case), _status(case))
    frame = frame[frame["group"].map(names.of_users).astype(bool)]
    if frame.empty:
        return frame.assign(lag=pd.array([], dtype="Int64"), at_least=False)
    ends = curve(case)
    frame = _with_ends(case, _timed(case, _together(frame, _absent(frame, ends)), ends), ends)
    frame["lag"] = (frame["end"] - frame["offset"].fillna(frame["begin"]).fillna(0)).clip(lower=0)
    return frame.sort_values(["time", "file", *KEYS], na_position="first").reset_index(drop=True)


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    numbers = dict.fromkeys(("line", "queue_id", "offset", "end", "begin", "lag"), "Int64")
    texts = dict.fromkeys(("source", "file", "group", "topic", "broker"), "object")
    types = numbers | texts | {"time": "datetime64[us]"}
    return frame.astype({name: kind for name, kind in types.items() if name in frame.columns})


def _together(*frames: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all frames; pandas looks at the types of empty ones, so these are left out."""
    some = [typed(frame) for frame in frames if len(frame)]
    return pd.concat(some, ignore_index=True) if some else typed(pd.DataFrame([], columns=list(COLUMNS)))


def _copies(case: Case) -> pd.DataFrame:
    """One row per group and queue of every copy of consumerOffset.json; a slave's copies, which only follow its master's, where there is no other."""
    rows = case.facts("saved_offsets").rename(columns={"value": "offset"})
    place = {file: brokers.of_file(case, file) for file in rows["file"].unique()}
    masters = {b.name for b in brokers.all_of(case) if not b.slave}
    follow = [file for file, b in place.items() if b and b.slave and b.name in masters]
    broker = rows["file"].map({file: b.name if b else "" for file, b in place.items()})
    rows = rows.assign(source="copy", broker=broker, end=None, begin=None)
    return rows.loc[~rows["file"].isin(follow), list(COLUMNS)]


def _progress(case: Case) -> pd.DataFrame:
    rows = [
        b
        for b in admin_output.admin_blocks(case)
        if b["command"] == "consumerProgress" and "#Consumer Offset" in b and "#Broker Offset" in b
    ]
    # Without the command line the group's own retry topic names it.
    by_file = {
        b["file"]: b["#Topic"].removeprefix(names.RETRY_PREFIX)
        for b in rows
        if b["#Topic"].startswith(names.RETRY_PREFIX)
    }
    return _printed(
        _row(b, "progress", b, b.get("-g") or by_file.get(b["file"], "")) | {"end": integer(b["#Broker Offset"])}
        for b in rows
    )


def _status(case: Case) -> pd.DataFrame:
    return _printed(
        _row(info, "status", row, info["group"])
        for info in admin_output.running(case)
        for row in info.get("offsets", ())
    )


def _row(output: dict[str, Any], source: str, row: dict[str, Any], group: str) -> dict[str, Any]:
    """Return the position that a row of an output shows."""
    queue = {"topic": row["#Topic"], "broker": row["#Broker Name"], "queue_id": integer(row["#QID"])}
    place = {"time": output["time"], "source": source, "file": output["file"], "line": row["line"], "group": group}
    return place | queue | {"offset": integer(row["#Consumer Offset"])}


def _printed(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(COLUMNS), dtype=object)


# --- times ---------------------------------------------------------------------------------------------------------------


@per_case
def preserved(case: Case) -> bool:
    """Return whether files still have their original modification times: those of logs and stores agree with their content."""
    if items := _with_content(case):
        return sum(map(_original, items)) * 2 >= len(items)
    stamps = {
        item.modified
        for item in case.found.of_kind("store_json", "mqadmin", "thread_dump")
        if item.modified is not None
    }
    return len(stamps) > 1


def _with_content(case: Case) -> list[Item]:
    """Return the logs and stores of which both is known: when they were changed, and the last time in them."""
    return [
        i for i in case.found.of_kind("log", "commitlog", "dledger") if i.modified is not None and i.last is not None
    ]


def _original(item: Item) -> bool:
    return -2 <= (item.modified - item.last).total_seconds() <= PRESERVED  # type: ignore[operator]


def _timed(case: Case, frame: pd.DataFrame, ends: pd.DataFrame) -> pd.DataFrame:
    """Put the time of the records in the place of a file's where copying lost that.

    What was handled had been stored before; behind the end that an output prints nothing was stored yet; and no copy of
    a broker's offsets is later than what was collected from it.
    """
    stored, behind = _stored_at(frame, ends, 0), _stored_at(frame[frame["end"].notna()], ends, 1).reindex(frame.index)
    if any(b.slave for b in brokers.all_of(case)):
        # A slave that takes over stores other records at offsets that its master had used.
        behind[:] = pd.NaT
    lowest = stored.groupby(frame["file"]).transform("max")
    highest = behind.groupby(frame["file"]).transform("min") + pd.Timedelta(seconds=_step(case) + 2)
    known = frame["time"].where((frame["source"] == "status") | preserved(case))
    wrong = known.isna() | (known < lowest - pd.Timedelta(seconds=2))
    copy = frame["source"] == "copy"
    # One damaged record may end a queue too early; a copied file is later than all that was collected as well.
    wrong |= (known > _collected(case)) & (copy | (known > highest))
    return frame.assign(time=known.where(~wrong, lowest), at_least=wrong & copy)


def _collected(case: Case) -> Any:
    """Return the time until when the evidence can have been collected: that of the last entry or record in a file with its original time, NaT without one."""
    lasts = [item.last for item in _with_content(case) if item.last and _original(item)]
    latest = admin_output.naive(max(lasts, default=None))
    return pd.NaT if latest is None else pd.Timestamp(latest) + pd.Timedelta(seconds=PRESERVED)


def _stored_at(frame: pd.DataFrame, ends: pd.DataFrame, after: int) -> pd.Series:
    """Return when the newest record that each position shows had been stored (`after` 0) or the first one it does not show (1), NaT where no record shows it."""
    newest = (frame["end"].fillna(frame["offset"]).fillna(0) + after).astype("int64")
    wanted = frame[QUEUE].assign(end=newest)[frame["queue_id"].notna() & (newest > 0)]
    reached = ends.dropna(subset=["end", "time"]).astype({"end": "int64"}).sort_values("end", kind="stable")
    if wanted.empty or reached.empty:
        return pd.Series(pd.NaT, index=frame.index, dtype="datetime64[us]")
    wanted = wanted.sort_values("end").reset_index()
    at = pd.merge_asof(wanted, reached[[*QUEUE, "end", "time"]], on="end", by=QUEUE, direction="forward")
    return at.set_index("index")["time"].reindex(frame.index)


# --- ends ----------------------------------------------------------------------------------------------------------------


@per_case
def curve(case: Case) -> pd.DataFrame:
    """Return how the queues of consumed topics grew: topic, broker, queue_id, time (begin of a second or more), end (max offset after it), begin.

    From the records; if absent from the consume queues (then without times: one row a queue, NaT).
    """
    known = brokers.names(case)
    columns = [*QUEUE, "time", "end", "begin"]
    if not case.has("messages"):
        name = next(iter(known.values())) if len(known) == 1 else ""
        return typed(case.facts("consumequeue_ends").assign(broker=name, time=None)[columns])
    frame = case.facts("queue_curve")
    # One broker, or a root nobody names: whatever is consumed is of this broker.
    frame["broker"] = frame["root"].map(lambda root: known.get(root or ".", known.get(root, root)))
    frame = frame.groupby([*QUEUE, "time"], as_index=False).agg({"end": "max", "begin": "min"})
    queue = frame.groupby(QUEUE)
    return typed(frame.assign(end=queue["end"].cummax(), begin=queue["begin"].transform("min"))[columns])


def _step(case: Case) -> int:
    """Return how many seconds one point of the curves covers."""
    steps = case.facts("queue_curve")["step"].head(1).tolist() if case.has("messages") else []
    return int(steps[0]) if steps else 1


def _absent(frame: pd.DataFrame, ends: pd.DataFrame) -> pd.DataFrame:
    """Return rows for queues of a topic that a copy has no offset of although the group consumes the topic: nobody pulled them yet."""
    copies = frame[frame["source"] == "copy"]
    if copies.empty or ends.empty:
        return frame.iloc[:0]
    there = copies.groupby(["file", "group", "topic", "broker"], as_index=False).agg(
        time=("time", "first"), line=("line", "first")
    )
    every_queue = there.merge(ends[QUEUE].drop_duplicates(), on=["topic", "broker"])
    marked = every_queue.merge(copies[["file", *KEYS]], on=["file", *KEYS], how="left", indicator=True)
    absent = marked[marked["_merge"] == "left_only"].drop(columns="_merge")
    return typed(absent.assign(source="copy", offset=None, end=None, begin=None)[list(COLUMNS)])


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
    unknown = frame["time"].isna() | frame["at_least"]
    own &= unknown | (frame["time"] >= latest - pd.Timedelta(seconds=OWN_COPY))
    frame["time"] = frame["time"].mask(own & unknown & pd.notna(latest), latest)
    frame["at_least"] &= ~own
    of_queue = ends.groupby(QUEUE).agg(first=("begin", "first"), last=("end", "last"))
    frame = frame.join(of_queue, on=QUEUE)
    open_ = frame["first"].notna() & frame["end"].isna() & (frame["source"] == "copy")
    dated = frame.loc[open_ & frame["time"].notna(), [*QUEUE, "time", "first"]].sort_values("time").reset_index()
    if len(dated) and ends["time"].notna().all():
        grown = ends[[*QUEUE, "time", "end"]].sort_values("time", kind="stable")
        before = pd.merge_asof(dated, grown, on="time", by=QUEUE, allow_exact_matches=False).set_index("index")
        frame.loc[before.index, "end"] = before["end"].fillna(before["first"])
    frame["begin"] = frame["begin"].fillna(frame["first"])
    frame["end"] = frame["end"].mask(own & frame["last"].notna(), frame["last"])
    return _at_the_end(frame)


def _at_the_end(frame: pd.DataFrame) -> pd.DataFrame:
    """Give copies of an unknown time their lag, nothing, where their group had handled all records of a topic's queues: no time of theirs makes it more."""
    done = frame["at_least"] & (frame["offset"] >= frame["last"]).fillna(value=False).astype(bool)
    done &= done.groupby([frame[name] for name in ("file", "group", "topic", "broker")]).transform("all")
    frame = frame.assign(end=frame["end"].mask(done, frame["last"]), at_least=frame["at_least"] & ~done)
    return frame.drop(columns=["first", "last"])
