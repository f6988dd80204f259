"""Offsets of a group that moved by more than was consumed: from where to where, in which queue, and why.

Four reasons (reference: operators' incidents §5): the messages at the offset were deleted (`PullMessageProcessor`,
OFFSET_TOO_SMALL), somebody reset the offset (`AdminBrokerProcessor.resetOffset`, or at the next pull with
useServerSideResetOffset), skipped ahead, or a new group began at the end of its queues (CONSUME_FROM_LAST_OFFSET,
`ConsumerManageProcessor.queryConsumerOffset`). A restart, which continues at its offset, is not one of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs
import pandas as pd

from kit.analysis.consumers import admin_output, offset_lines, positions
from kit.case.memoize import per_case
from kit.formats.values import integer
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

Kind = Literal["deleted-before-consumed", "reset", "skip", "first-start"]

SOON: Final = dt.timedelta(seconds=60)
"""From the creation of a group to the first pull of its first client: the first rebalance comes within 20 s."""
TAKES_EFFECT: Final = dt.timedelta(minutes=2)
"""From a reset to the first commit of the new offset: the client sleeps 10 s and commits every 5 s."""
NEVER: Final = pd.Timestamp.max


@attrs.frozen
class Move:
    """One queue. `start`: the offset that the group had reached, None if unknown; `end`: where it continued; `exact`:
    whether `start` is what it had handled.

    `queue_id`: None if only the broker's lines show it, which do not name the queue. `file`, `line`: the line that
    shows it.
    """

    kind: Kind
    group: str
    topic: str
    broker: str | None
    queue_id: int | None
    start: int | None
    end: int
    exact: bool
    at: dt.datetime | None
    file: str
    line: int

    def name(self, *, several: bool) -> str:
        """Return the queue's name in findings.json: its id, with the broker if there are several."""
        return f"{self.broker}/{self.queue_id}" if several else str(self.queue_id)

    @property
    def skipped(self) -> int | None:
        return None if self.start is None else max(0, self.end - self.start)

    @property
    def repeated(self) -> int | None:
        return None if self.start is None else max(0, self.start - self.end)


@attrs.frozen
class Request:
    """A reset that somebody requested. `at`: naive UTC, None if no line with a time reports it; `timestamp`: ms since
    1970, -1 for the end.
    """

    group: str
    topic: str
    timestamp: int | None
    at: pd.Timestamp | None


def moves(case: Case) -> list[Move]:
    """Return every move, one for each group, topic and queue: the last one if a queue moved several times."""
    kept: dict[tuple[Any, ...], Move] = {}
    for number, move in enumerate((*deleted(case), *resets(case), *first_starts(case))):
        if move.start != move.end:
            queue = (move.broker, move.queue_id) if move.queue_id is not None else (None, -1 - number)
            kept[move.kind, move.group, move.topic, *queue] = move
    return sorted(
        kept.values(),
        key=lambda m: (m.kind, m.group, m.topic, m.broker or "", -1 if m.queue_id is None else m.queue_id),
    )


# --- deleted before consumed -------------------------------------------------------------------------------------------------


def deleted(case: Case) -> Iterable[Move]:
    """Yield the queues whose messages were deleted before the group consumed them."""
    told = set()
    for row in _rows(offset_lines.of(case, "pull-offset-illegal")):
        if _is_too_small(row) and not _began_there(case, row):
            told.add((row["group"], row["topic"]))
            yield _move("deleted-before-consumed", row, row["offset"], row["next"], exact=True)
    corrected = offset_lines.of(case, "offset-corrected")
    small = offset_lines.of(case, "offset-too-small")
    known = {(r["group"], r["topic"], r["requested"], r["min_offset"]) for r in _rows(small)}
    for row in _rows(corrected if len(corrected) else small.assign(next=small["min_offset"])):
        named = (row["group"], row["topic"], row["requested"], row["next"])
        if named not in known or named[:2] in told or _began_there(case, {**row, "offset": row["requested"]}):
            continue
        # One line for each pull of a queue: of several alike each is another queue, as far as there are that many.
        queues = _queues_at(case, *named)
        for queue in queues[: row["n"]] if queues else [None] * row["n"]:
            yield _move(
                "deleted-before-consumed", {**row, "queue_id": queue}, row["requested"], row["next"], exact=True
            )


def _is_too_small(row: dict[str, Any]) -> bool:
    return (
        None not in (row["offset"], row["next"], row["min_offset"]) and row["offset"] < row["next"] == row["min_offset"]
    )


def _began_there(case: Case, row: dict[str, Any]) -> bool:
    """Return whether a new group asked for offset 0 (CONSUME_FROM_FIRST_OFFSET) of a queue whose first messages were deleted before it existed."""
    born = created(case).get(row["group"])
    return row["offset"] == 0 and born is not None and row["first"] is not None and abs(row["first"] - born) < SOON


def _queues_at(case: Case, group: str, topic: str, offset: int, minimum: int) -> list[int]:
    """Return the queues whose first stored offset was `minimum` while the group was at `offset`."""
    said = offset_lines.of(case, "queue-min-offset", topic=topic)
    first = {r["queue_id"]: r["min_offset"] for r in _rows(said)} | first_stored(case, topic)
    at = {(r["queue_id"], r["offset"]) for r in copies(case) if r["group"] == group and r["topic"] == topic}
    return sorted(queue for queue, low in first.items() if low == minimum and (queue, offset) in at)


# --- resets ------------------------------------------------------------------------------------------------------------------


def requests(case: Case) -> list[Request]:
    """Return the resets that were requested, the earliest line of each first."""
    found: dict[tuple[str, str], Request] = {}
    for row in _rows(offset_lines.of(case, *offset_lines.RESETS)):
        if row["group"] and row["topic"]:
            before = found.get((row["group"], row["topic"]))
            at = None if row["first"] is None else pd.Timestamp(row["first"])
            timestamp = row["timestamp"] if row["timestamp"] is not None else (before.timestamp if before else None)
            first = before.at if before and before.at is not None else at
            found[row["group"], row["topic"]] = Request(row["group"], row["topic"], timestamp, first)
    for row in commands(case):
        found.setdefault((row["group"], row["topic"]), Request(row["group"], row["topic"], row["timestamp"], None))
    return sorted(found.values(), key=lambda r: (r.at or NEVER, r.group, r.topic))


def resets(case: Case) -> Iterable[Move]:
    """Yield the queues that a reset moved, as far as the evidence shows from where to where."""
    asked = {(r.group, r.topic): r for r in requests(case)}
    for (group, topic), request in asked.items():
        queues = _reset_queues(case, request)
        for queue, (start, exact, end, row) in sorted(queues.items()):
            ahead = (start is not None and end > start) or (start is None and request.timestamp == -1)
            kind: Kind = "skip" if ahead else "reset"
            yield _move(kind, {**row, "group": group, "topic": topic, "queue_id": queue}, start, end, exact=exact)
    for row in _rows(offset_lines.of(case, "pull-offset-illegal")):
        if (
            (row["group"], row["topic"]) not in asked
            and not _is_too_small(row)
            and None not in (row["offset"], row["next"])
        ):
            beyond = row["max_offset"] is not None and row["offset"] > row["max_offset"]
            if not beyond or row["next"] != row["offset"]:
                yield _move(
                    "reset" if row["next"] < row["offset"] else "skip", row, row["offset"], row["next"], exact=False
                )


def _reset_queues(case: Case, request: Request) -> dict[int, tuple[int | None, bool, int, dict[str, Any]]]:
    """Return {queue: (offset before, whether that was handled, offset after, the line that shows it)}, from the best
    source for each.
    """
    since = pd.Timestamp.min if request.at is None else request.at - pd.Timedelta(seconds=2)
    until = NEVER if request.at is None else request.at + TAKES_EFFECT

    def within(*slugs: str) -> list[dict[str, Any]]:
        rows = _rows(offset_lines.of(case, *slugs, group=request.group, topic=request.topic))
        return [r for r in rows if r["queue_id"] is not None and (r["first"] is None or since <= r["first"] <= until)]

    found: dict[int, tuple[int | None, bool, int, dict[str, Any]]] = {}
    for row in within("pull-started"):
        found.setdefault(row["queue_id"], (None, False, row["offset"], row))
    for row in commands(case):
        if (row["group"], row["topic"]) == (request.group, request.topic):
            found[row["queue_id"]] = (row["start"], row["start"] is not None, row["end"], row)
    for row in within("pull-offset-illegal"):
        if not _is_too_small(row):
            found[row["queue_id"]] = (row["offset"], False, row["next"], row)
    for row in reversed(within("consumer-offset-back")):
        end = found[row["queue_id"]][2] if row["queue_id"] in found else row["requested"]
        if row["requested"] == end:
            found[row["queue_id"]] = (row["stored"], True, end, row)
    before = _last_before(case, request)
    return {
        q: ((before.get(q), False, end, row) if start is None else (start, exact, end, row))
        for q, (start, exact, end, row) in found.items()
    }


def _last_before(case: Case, request: Request) -> dict[int, int]:
    """Return the last offset of each queue in a copy taken before the reset."""
    known: dict[int, int] = {}
    copies_before = [
        r for r in copies(case) if (r["group"], r["topic"]) == (request.group, request.topic) and r["time"] is not None
    ]
    for row in sorted(copies_before, key=lambda r: r["time"]):
        if request.at is not None and row["time"] <= request.at:
            known[row["queue_id"]] = row["offset"]
    return known


@per_case
def commands(case: Case) -> list[dict[str, Any]]:
    """Return the queues in the output of resetOffsetByTime and skipAccumulatedMessage: group, topic, timestamp, queue_id, start, end, file, line."""
    asked = {row["file"]: row for row in _rows(offset_lines.of(case, "offset-reset-command"))}
    found = []
    for block in admin_output.admin_blocks(case):
        end = integer(next((block[n] for n in ("#offset", "#rollbackOffset", "#resetOffset") if n in block), None))
        queue = integer(block.get("#queueId"))
        if end is None or queue is None or "#brokerName" not in block:
            continue
        file = block["file"]
        line = asked.get(file, {})
        group, topic = block.get("-g") or line.get("group"), block.get("-t") or line.get("topic")
        if group and topic:
            timestamp = line.get("timestamp")
            found.append({"group": group, "topic": topic, "timestamp": timestamp, "queue_id": queue, "start": integer(block.get("#consumerOffset")),
                          "end": end, "broker": block["#brokerName"], "first": None, "file": file, "line": block["line"]})  # fmt: skip
    return found


# --- the first start of a group ----------------------------------------------------------------------------------------------


@per_case
def created(case: Case) -> dict[str, pd.Timestamp]:
    """Return {group: when the broker created it}: a client of the group connected for the first time (autoCreateSubscriptionGroup)."""
    rows = offset_lines.of(case, "group-created").dropna(subset=["group", "first"])
    return {str(group): pd.Timestamp(at) for group, at in rows.groupby("group")["first"].min().items()}


def first_starts(case: Case) -> Iterable[Move]:
    """Yield the queues that a new group began to pull after their beginning: it had no offset, and everything before
    the first pull is skipped.
    """
    starts = offset_lines.of(case, "pull-started").dropna(subset=["group", "topic", "queue_id", "offset", "first"])
    for (group, topic, _, _), mine in starts.groupby(["group", "topic", "broker", "queue_id"], dropna=False, sort=True):
        row = _rows(mine.sort_values(["first", "line"]).head(1))[0]
        if (
            row["offset"] > 0
            and not str(topic).startswith(names.RETRY_PREFIX)
            and is_new(case, str(group), str(topic), row["first"])
        ):
            yield _move("first-start", row, 0, row["offset"], exact=True)


def is_new(case: Case, group: str, topic: str, at: pd.Timestamp) -> bool | None:
    """Return whether a group had no offset of a topic before `at`: the broker had just created it, or an earlier copy
    lacks it. None: unknown.
    """
    born = created(case).get(group)
    if born is not None:
        return bool(abs(at - born) < SOON)
    earlier = {file: taken for file, taken in copy_times(case).items() if taken <= at}
    held = {r["file"] for r in copies(case) if r["group"] == group and r["topic"] == topic}
    return max(earlier, key=lambda file: earlier[file]) not in held if earlier else None


# --- copies of offsets, beginnings of queues ---------------------------------------------------------------------------------


@per_case
def copies(case: Case) -> list[dict[str, Any]]:
    """Return the offsets of groups in copies of consumerOffset.json and in consumerProgress outputs
    (`positions.COLUMNS`).
    """
    known = positions.every(case)
    return _rows(known[known["source"].isin(["copy", "progress"]) & known["offset"].notna()])


@per_case
def copy_times(case: Case) -> dict[str, pd.Timestamp]:
    """Return {copy of consumerOffset.json: when it was taken}, if that is known."""
    known = positions.every(case)
    timed = known[(known["source"] == "copy") & known["time"].notna()]
    found = {str(file): pd.Timestamp(at) for file, at in timed.groupby("file")["time"].min().items()}
    # A copy in which no group has an offset yet has no positions.
    if positions.preserved(case):
        for item in case.found.of_kind("store_json"):
            copy = item.detail.get("name") == "consumerOffset" and not item.detail.get("backup")
            if copy and item.modified is not None and item.file not in set(known["file"]):
                found[item.file] = pd.Timestamp(admin_output.naive(item.modified) or item.modified)
    return found


@per_case
def _first_offsets(case: Case) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for block in admin_output.admin_blocks(case):
        low, queue, topic = integer(block.get("#Min Offset")), integer(block.get("#QID")), block.get("-t")
        if low is not None and queue is not None and topic is not None:
            found[topic, queue] = max(low, found.get((topic, queue), 0))
    return found


def first_stored(case: Case, topic: str) -> dict[int, int]:
    """Return {queue: the first offset still stored} from the latest topicStatus."""
    return {queue: low for (name, queue), low in _first_offsets(case).items() if name == topic}


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dicts with None for what is unknown."""
    return [
        {str(name): (None if pd.isna(value) else value) for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def _move(kind: Kind, row: dict[str, Any], start: int | None, end: int, *, exact: bool) -> Move:
    at = None if row.get("first") is None else pd.Timestamp(row["first"]).to_pydatetime()
    queue, begin = (None if number is None else int(number) for number in (row.get("queue_id"), start))
    broker, place = row.get("broker"), (row["file"], int(row["line"]))
    return Move(kind, row["group"], row["topic"], broker, queue, begin, int(end), exact, at, *place)
