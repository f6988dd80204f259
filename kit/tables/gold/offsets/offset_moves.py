"""One row per queue of a consumer group whose offset moved by more than was consumed: number, kind (deleted-before-consumed, reset, skip,
first-start), group, topic, broker, queue_id (null if only the broker's lines show it, which do not name the queue), start (the offset that
the group had reached, null if unknown), end (where it continued), exact (start is what it had handled), at, asked (when a reset was
requested), file, line (where it shows). In order of kind, group, topic, broker and queue; the last one if a queue moved several times.

Four reasons: the messages at the offset were deleted (`PullMessageProcessor`, OFFSET_TOO_SMALL), somebody reset the offset
(`AdminBrokerProcessor.resetOffset`, or at the next pull with useServerSideResetOffset), skipped ahead, or a new group began at the end of
its queues (CONSUME_FROM_LAST_OFFSET, `ConsumerManageProcessor.queryConsumerOffset`). A restart, which continues at its offset, is none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa

from kit.rocketmq.names import RETRY_PREFIX

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("offset_statements", "known_positions", "admin_queues", "files")
_TIME: Final = pa.timestamp("us", "UTC")
SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("kind", "group", "topic", "broker")),
        *((name, pa.int64()) for name in ("number", "queue_id", "start", "end")),
        *(("exact", pa.bool_()), ("at", _TIME), ("asked", _TIME), ("file", pa.string()), ("line", pa.int64())),
    ]
)
SOON: Final = dt.timedelta(seconds=60)
"""From the creation of a group to the first pull of its first client: the first rebalance comes within 20 s."""
TAKES_EFFECT: Final = dt.timedelta(minutes=2)
"""From a reset to the first commit of the new offset: the client sleeps 10 s and commits every 5 s."""
BEFORE: Final = dt.timedelta(seconds=2)
NEVER: Final = dt.datetime.max  # noqa: DTZ901 - compared with naive UTC

Row = dict[str, Any]


def fold(case: Case) -> pd.DataFrame:
    asked = _requests(case)
    moves: dict[tuple[Any, ...], Row] = {}
    for number, move in enumerate((*_deleted(case), *_resets(case, asked), *_first_starts(case))):
        if move["start"] != move["end"]:
            queue = (move["broker"], move["queue_id"]) if move["queue_id"] is not None else (None, -1 - number)
            moves[move["kind"], move["group"], move["topic"], *queue] = move
    names = ("kind", "group", "topic", "broker", "queue_id")
    rows = sorted(
        moves.values(), key=lambda m: tuple(m[n] if m[n] is not None else ("", -1)[n == names[4]] for n in names)
    )
    for number, row in enumerate(rows):
        request = asked.get((row["group"], row["topic"]))
        row |= {"number": number, "asked": request["at"] if request else None}
    frame = pd.DataFrame(rows, columns=SCHEMA.names, dtype=object)
    return frame.assign(**{name: pd.to_datetime(frame[name], utc=True) for name in ("at", "asked")})


def _move(kind: str, row: Row, start: int | None, end: int, *, exact: bool = False, **other: Any) -> Row:
    own = {name: row.get(name) for name in ("group", "topic", "broker", "queue_id", "file", "line")}
    return own | {"kind": kind, "start": start, "end": end, "exact": exact, "at": row.get("first")} | other


# --- deleted before consumed ---------------------------------------------------------------------------------------------------


def _deleted(case: Case) -> Iterator[Row]:
    """Yield the queues whose messages were deleted before the group consumed them."""
    from kit.analysis.consumers.offset_lines import lines

    told, kind = set(), "deleted-before-consumed"
    for row in lines(case, "pull-offset-illegal"):
        if _is_too_small(row) and not _began_there(case, row, row["offset"]):
            told.add((row["group"], row["topic"]))
            yield _move(kind, row, row["offset"], row["next"], exact=True)
    small = [row | {"next": row["min_offset"]} for row in lines(case, "offset-too-small")]
    known = {(r["group"], r["topic"], r["requested"], r["min_offset"]) for r in small}
    for row in lines(case, "offset-corrected") or small:
        named = (row["group"], row["topic"], row["requested"], row["next"])
        if named not in known or named[:2] in told or _began_there(case, row, row["requested"]):
            continue
        # One line for each pull of a queue: of several alike each is another queue, as far as there are that many.
        for queue in _queues_at(case, *named)[: row["n"]] or [None] * row["n"]:
            yield _move(kind, row, row["requested"], row["next"], exact=True, queue_id=queue)


def _is_too_small(row: Row) -> bool:
    known = None not in (row["offset"], row["next"], row["min_offset"])
    return known and row["offset"] < row["next"] == row["min_offset"]


def _began_there(case: Case, row: Row, offset: int) -> bool:
    """Return whether a new group asked for offset 0 (CONSUME_FROM_FIRST_OFFSET) of a queue whose first messages were deleted before it existed."""
    from kit.analysis.consumers.offset_lines import created

    born = created(case).get(row["group"])
    return offset == 0 and born is not None and row["first"] is not None and abs(row["first"] - born) < SOON


def _queues_at(case: Case, group: str, topic: str, offset: int, minimum: int) -> list[int | None]:
    """Return the queues whose first stored offset was `minimum` while the group was at `offset`."""
    from kit.analysis.consumers.offset_lines import copies, first_stored, lines

    first = {r["queue_id"]: r["min_offset"] for r in lines(case, "queue-min-offset", topic=topic)}
    at = {(r["queue_id"], r["offset"]) for r in copies(case) if r["group"] == group and r["topic"] == topic}
    low = first | first_stored(case, topic)
    return sorted(queue for queue, least in low.items() if least == minimum and (queue, offset) in at)


# --- resets --------------------------------------------------------------------------------------------------------------------


def _requests(case: Case) -> dict[tuple[str, str], Row]:
    """Return {(group, topic): the reset that was requested}: `at` of its earliest line, `timestamp` (ms since 1970, -1 for the end); in order of time."""
    from kit.analysis.consumers.offset_lines import RESETS, lines

    found: dict[tuple[str, str], Row] = {}
    for row in lines(case, *RESETS):
        if row["group"] and row["topic"]:
            request = found.setdefault((row["group"], row["topic"]), {"at": None, "timestamp": None})
            request["at"] = request["at"] or row["first"]
            request["timestamp"] = request["timestamp"] if row["timestamp"] is None else row["timestamp"]
    for row in _commands(case):
        found.setdefault((row["group"], row["topic"]), {"at": None, "timestamp": row["timestamp"]})
    return dict(sorted(found.items(), key=lambda each: (each[1]["at"] or NEVER, each[0])))


def _commands(case: Case) -> list[Row]:
    """Return the queues in the output of resetOffsetByTime and skipAccumulatedMessage: group, topic, timestamp, queue_id, start, end, file, line."""
    from kit.analysis.consumers.offset_lines import admin_queues, lines

    asked = {row["file"]: row for row in lines(case, "offset-reset-command")}
    found = []
    for row in admin_queues(case):
        line = asked.get(row["file"], {})
        group, topic = (row[name] or line.get(name) for name in ("group", "topic"))
        if row["reset_to"] is not None and row["broker"] and group and topic:
            moved = {"start": row["offset"], "end": row["reset_to"], "timestamp": line.get("timestamp"), "first": None}
            found.append(row | moved | {"group": group, "topic": topic})
    return found


def _resets(case: Case, asked: dict[tuple[str, str], Row]) -> Iterator[Row]:
    """Yield the queues that a reset moved, as far as the evidence shows from where to where."""
    from kit.analysis.consumers.offset_lines import lines

    for (group, topic), request in asked.items():
        before = _last_before(case, group, topic, request["at"])
        for queue, (start, exact, end, row) in sorted(_reset_queues(case, group, topic, request["at"]).items()):
            begin = before.get(queue) if start is None else start
            ahead = end > begin if begin is not None else request["timestamp"] == -1
            own = {"group": group, "topic": topic, "queue_id": queue}
            yield _move("skip" if ahead else "reset", row, begin, end, exact=exact, **own)
    for row in lines(case, "pull-offset-illegal"):
        known = (row["group"], row["topic"]) in asked or _is_too_small(row) or None in (row["offset"], row["next"])
        beyond = not known and row["max_offset"] is not None and row["offset"] > row["max_offset"]
        if not known and not (beyond and row["next"] == row["offset"]):
            yield _move("reset" if row["next"] < row["offset"] else "skip", row, row["offset"], row["next"])


def _reset_queues(
    case: Case, group: str, topic: str, at: dt.datetime | None
) -> dict[int, tuple[int | None, bool, int, Row]]:
    """Return {queue: (offset before, whether that was handled, offset after, the line that shows it)}, from the best source for each."""
    from kit.analysis.consumers.offset_lines import lines

    def within(slug: str) -> Iterator[Row]:
        for row in lines(case, slug, group=group, topic=topic):
            near = at is None or row["first"] is None or at - BEFORE <= row["first"] <= at + TAKES_EFFECT
            if row["queue_id"] is not None and near:
                yield row

    found: dict[int, tuple[int | None, bool, int, Row]] = {}
    for row in within("pull-started"):
        found.setdefault(row["queue_id"], (None, False, row["offset"], row))
    for row in _commands(case):
        if (row["group"], row["topic"]) == (group, topic):
            found[row["queue_id"]] = (row["start"], row["start"] is not None, row["end"], row)
    for row in within("pull-offset-illegal"):
        if not _is_too_small(row):
            found[row["queue_id"]] = (row["offset"], False, row["next"], row)
    for row in reversed([*within("consumer-offset-back")]):
        end = found[row["queue_id"]][2] if row["queue_id"] in found else row["requested"]
        if row["requested"] == end:
            found[row["queue_id"]] = (row["stored"], True, end, row)
    return found


def _last_before(case: Case, group: str, topic: str, at: dt.datetime | None) -> dict[int, int]:
    """Return the last offset of each queue in a copy taken before the reset."""
    from kit.analysis.consumers.offset_lines import copies

    earlier = [
        r for r in copies(case) if (r["group"], r["topic"]) == (group, topic) and at and r["time"] and r["time"] <= at
    ]
    return {row["queue_id"]: row["offset"] for row in sorted(earlier, key=lambda r: r["time"])}


# --- the first start of a group ------------------------------------------------------------------------------------------------


def _first_starts(case: Case) -> Iterator[Row]:
    """Yield the queues that a new group began to pull after their beginning: it had no offset, and all before the first pull is skipped."""
    from kit.analysis.consumers.offset_lines import lines

    needed = ("group", "topic", "queue_id", "offset", "first")
    first: dict[tuple[str, ...], Row] = {}
    for row in lines(case, "pull-started"):  # in order of time
        if all(row[name] is not None for name in needed):
            first.setdefault((row["group"], row["topic"], row["broker"] or "", row["queue_id"]), row)
    for (group, topic, *_), row in sorted(first.items()):
        if row["offset"] > 0 and not topic.startswith(RETRY_PREFIX) and _is_new(case, group, topic, row["first"]):
            yield _move("first-start", row, 0, row["offset"], exact=True)


def _is_new(case: Case, group: str, topic: str, at: dt.datetime) -> bool:
    """Return whether a group had no offset of a topic before `at`: the broker had just created it, or an earlier copy lacks it."""
    from kit.analysis.consumers.offset_lines import copies, copy_times, created

    if (born := created(case).get(group)) is not None:
        return abs(at - born) < SOON
    earlier = {file: taken for file, taken in copy_times(case).items() if taken <= at}
    with_group = {r["file"] for r in copies(case) if r["group"] == group and r["topic"] == topic}
    return bool(earlier) and max(earlier, key=lambda file: earlier[file]) not in with_group
