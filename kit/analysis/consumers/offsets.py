"""Offsets of groups that moved, by logs, outputs and copies of consumerOffset.json, and what only points to a move."""

import datetime as dt
from collections.abc import Iterator
from typing import Any, Final

from kit.analysis import brokers
from kit.analysis.consumers import consumer_logs, lag
from kit.data import grouped
from kit.formats.printed_times import utc
from kit.inventory.model import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

RESETS: Final = ("offset-reset-started", "offset-reset-done", "offset-reset-client", "offset-reset-command")
FROM_FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"
"""common/consumer/ConsumeFromWhere"""
SOON: Final = dt.timedelta(seconds=60)
"""From the creation of a group to the first pull of its first client: the first rebalance comes within 20 s."""
TAKES_EFFECT: Final = dt.timedelta(minutes=2)
"""From a reset to the first commit of the new offset: the client sleeps 10 s and commits every 5 s."""
BEFORE: Final = dt.timedelta(seconds=2)
DELETED: Final = "deleted-before-consumed"

Row = dict[str, Any]


def lines(facts: Facts, *slugs: str, group: str | None = None, topic: str | None = None) -> list[Row]:
    """Return the rows of `offset_statements` with these texts, of one group and topic if given, in order of time."""
    rows = (row for row in facts.rows("offset_statements") if row["event"] in slugs)
    return [row for row in rows if group in (None, row["group"]) and topic in (None, row["topic"])]


@memo
def created(facts: Facts) -> dict[str, dt.datetime]:
    """Return {group: when the broker created it}, when its first client connected (autoCreateSubscriptionGroup)."""
    rows = lines(facts, "group-created")
    return {r["group"]: r["first"] for r in reversed(rows) if r["group"] and r["first"] is not None}


@memo
def copies(facts: Facts) -> list[Row]:
    """Return the offsets of groups in copies of consumerOffset.json and consumerProgress outputs."""
    rows = [] if lag.positions(facts).empty else facts.rows("known_positions")
    return [row for row in rows if row["offset"] is not None]


def first_stored(facts: Facts, topic: str) -> dict[tuple[str, int], int]:
    """Return {(broker, queue): the first offset still stored} from the latest topicStatus."""
    rows = [row for row in facts.rows("admin_queues") if row["topic"] == topic and row["min_offset"] is not None]
    return {_queue(row): row["min_offset"] for row in sorted(rows, key=lambda row: row["min_offset"])}


# --- what only points to a move -----------------------------------------------------------------------------------


@memo
def unseen_starts(facts: Facts) -> list[Row]:
    """Return the new groups of which neither a client log shows the first pulls nor a ledger that each queue was
    handled from its first message on, and that do not begin with it by their policy: new_group, new_policy, ref (its
    line), new_topic, new_first (first offset, if above 0: a start from the end skips).

    CONSUME_FROM_LAST_OFFSET, the default, begins at the end of a queue whose first message is deleted
    (`ConsumerManageProcessor.queryConsumerOffset`).
    """
    starts = []
    for group in sorted(filter(names.of_users, _unprinted(facts))):
        policy, ref = start_policy(facts, group) or (FROM_FIRST, None)
        if policy == FROM_FIRST or _handled_all(facts, group):
            continue
        registered = (s.data for s in consumer_logs.of(facts, "consumer-registered", group=group))
        topics = {topic for data in registered for topic in consumer_logs.subscriptions(data).get(group, ())}
        own = sorted(topic for topic in topics if not topic.startswith(names.RETRY_PREFIX))
        first = {topic: min(first_stored(facts, topic).values(), default=0) for topic in own}
        topic = max(own, key=lambda name: first[name], default="")
        start: Row = {"new_group": group, "new_topic": topic, "new_first": first.get(topic) or None}
        starts.append(start | {"new_policy": policy, "ref": ref})
    return starts


def _handled_all(facts: Facts, group: str) -> bool:
    own = {(row["topic"], *_queue(row)) for row in copies(facts) if row["group"] == group and row["offset"]}
    starts = (row for row in facts.rows("ledger_starts") if row["group"] == group) if own and facts.has("rows") else ()
    return bool(own) and own <= {(row["topic"], *_queue(row)) for row in starts if row["offset"] == 0}


def _unprinted(facts: Facts) -> set[str]:
    """Return the new groups of which no client log shows the first pulls: clients of 5.0.0 and later print none, and a
    log that begins later may show others, or that of the retry topic alone.
    """
    pulls = (row for row in lines(facts, "pull-started") if not (row["topic"] or "").startswith(names.RETRY_PREFIX))
    return created(facts).keys() - {row["group"] for row in pulls if _from_the_beginning(facts, row)}


def _from_the_beginning(facts: Facts, pull: Row) -> bool:
    """Return whether a pull's log begins before its group was created, by another clock with its client's start, and no
    other client may have begun the queue.
    """
    born, begun = created(facts).get(pull["group"]), pull["begun"]
    if pull["group"] in _unlogged(facts):
        return False
    starts = born and begun and begun <= born + BEFORE and consumer_logs.of(facts, "client-created")
    return born is None or begun is None or begun <= born or any(s.file == pull["file"] for s in starts or ())


@memo
def _unlogged(facts: Facts) -> set[str]:
    """Return the new groups to which more clients connected in the first minute than have a log here."""
    unlogged = set()
    for group, born in created(facts).items():
        every = consumer_logs.of(facts, "consumer-connected", "queues-assigned", "pull-started", group=group)
        own = [s for s in every if s.event != "consumer-connected"]
        ids = {s.client_id for s in every if s.event == "consumer-connected" and s.first and abs(s.first - born) < SOON}
        if ids - {s.client_id for s in own} and len(ids) > max(1, len({s.file for s in own})):
            unlogged.add(group)
    return unlogged


def first_pulls_logged(facts: Facts) -> bool:
    """Return whether client logs print the first pull of every queue of which a group has an offset."""
    pulled = {(row["group"], row["topic"], row["queue_id"]) for row in lines(facts, "pull-started")}
    own = (row for row in copies(facts) if not row["topic"].startswith(lag.INNER))
    return bool(pulled) and all((row["group"], row["topic"], row["queue_id"]) in pulled for row in own)


def late_starts(facts: Facts) -> list[Row]:
    """Return the rows of `late_starts`, none where a new group says more."""
    return facts.rows("late_starts") if lines(facts, "pull-started") and not created(facts) else []


def start_policy(facts: Facts, group: str) -> tuple[str, Ref] | None:
    """Return the group's ConsumeFromWhere and the line that says it (`ConsumerData` in the broker's log)."""
    rows = (row for row in facts.rows("start_policies") if row["group"] == group)
    return next(((row["policy"], facts.ref(row["file"], row["line"])) for row in rows), None)


# --- moves --------------------------------------------------------------------------------------------------------


@fold(
    "kind string, group string, topic string, broker string, number bigint, queue_id bigint, start bigint, "
    "end bigint, exact boolean, at timestamp, asked timestamp, file string, line bigint, physical_offset bigint",
    "offset_statements", "moved_events", "known_positions", "admin_queues", "ledger_starts",
)  # fmt: skip
def offset_moves(facts: Facts) -> list[Row]:
    """One row per queue of a consumer group whose offset moved by more than was consumed: number, kind, group, topic,
    broker, queue_id (null if only the broker's lines show it, which do not name the queue), start (the offset that the
    group had reached, null if unknown), end (where it continued), exact (start is what it had handled), at, asked (when
    a reset was requested), file, line or physical_offset (where it shows). In order of kind, group, topic, broker and
    queue; the last one if a queue moved several times.

    Five kinds: deleted-before-consumed (`PullMessageProcessor`, OFFSET_TOO_SMALL), beyond-end (the queue ended in front
    of the offset: OFFSET_OVERFLOW_BADLY), reset and skip (back and ahead: `AdminBrokerProcessor.resetOffset`, or at the
    next pull with useServerSideResetOffset), first-start (a new group began at the end of its queues:
    CONSUME_FROM_LAST_OFFSET, `ConsumerManageProcessor.queryConsumerOffset`).
    """
    requests, pulls = _requests(facts), [*_refused_pulls(facts)]
    by_client = {(move["group"], move["topic"]) for move in pulls if move["kind"] == DELETED}
    stored = [*_stored(facts, by_client)]
    each = [*_resets(facts, requests), *pulls, *stored, *_corrected(facts, by_client, stored), *_first_starts(facts)]
    moves: dict[tuple[Any, ...], Row] = {}
    for number, move in enumerate(each):
        if move["start"] != move["end"]:
            queue = (move["broker"] or "", move["queue_id"]) if move["queue_id"] is not None else ("", -1 - number)
            moves[move["kind"], move["group"] or "", move["topic"] or "", *queue] = move
    rows = [moves[place] for place in sorted(moves, key=lambda place: (*place[:4], max(place[4], -1)))]
    asked = {place: at for place, (at, _) in requests.items()}
    return [row | {"number": n, "asked": asked.get((row["group"], row["topic"]))} for n, row in enumerate(rows)]


def _move(kind: str, row: Row, start: int | None, end: int, *, exact: bool = False, **other: Any) -> Row:
    own = {name: row.get(name) for name in ("group", "topic", "broker", "queue_id", "file", "line", "physical_offset")}
    return own | {"kind": kind, "start": start, "end": end, "exact": exact, "at": row.get("first")} | other


def _refused_pulls(facts: Facts) -> Iterator[Row]:
    """Yield the queues in which a client's pull was answered with another offset."""
    for row in lines(facts, "pull-offset-illegal"):
        start, end = row["offset"], row["next"]
        if None in (start, end):
            continue
        if start < end == row["min_offset"]:
            if not _began_there(facts, row, start):
                yield _move(DELETED, row, start, end, exact=True)
        else:
            back = "beyond-end" if is_beyond_the_end(row) else "reset"
            yield _move(back if end < start else "skip", row, start, end)


def is_beyond_the_end(row: Row) -> bool:
    """Return whether a pull that was refused asked behind the last message: nobody moved its offset, the queue ends."""
    return None not in (row["offset"], row["max_offset"]) and row["offset"] > row["max_offset"]


def _corrected(facts: Facts, by_client: set[tuple[str, str]], moves: list[Row]) -> Iterator[Row]:
    """Yield the moves to what is not deleted that only the broker's log shows: it names no queue."""
    known = {(move["group"], move["topic"], move["start"]) for move in moves}
    known |= {(r["group"], r["topic"], r["requested"]) for r in lines(facts, "offset-not-corrected")}  # of a slave
    for row in lines(facts, "offset-too-small"):
        group, topic, offset, least = row["group"], row["topic"], row["requested"], row["min_offset"]
        if (group, topic) in by_client or (group, topic, offset) in known or _began_there(facts, row, offset):
            continue
        # A queue that began there while the group was at the offset; another for each line.
        first = {r["queue_id"]: r["min_offset"] for r in lines(facts, "queue-min-offset", topic=topic)}
        stored, there = first_stored(facts, topic), (r for r in copies(facts) if r["offset"] == offset)
        at = {_queue(r) for r in there if (r["group"], r["topic"]) == (group, topic)}
        queues: list[Any] = sorted(place[1] for place in at if stored.get(place, first.get(place[1])) == least)
        for queue in queues[: row["n"]] or [None] * row["n"]:
            yield _move(DELETED, row, offset, least, exact=True, queue_id=queue)


def _stored(facts: Facts, by_client: set[tuple[str, str]]) -> Iterator[Row]:
    """Yield the moves that only messages of the broker show; a group that asked for offset 0 may have been new."""
    for row in facts.rows("moved_events") if facts.has("messages") else ():
        complete = None not in (row["queue_id"], row["requested"], row["next"]) and not row["kept"]
        if complete and 0 < row["requested"] < row["next"] and (row["group"], row["topic"]) not in by_client:
            yield _move(DELETED, row, row["requested"], row["next"], exact=True)


def ref(facts: Facts, move: Row) -> Ref:
    """Return the line or the record in which a move shows."""
    if move["line"] is not None:
        return facts.ref(move["file"], move["line"])
    place = move["file"], move["physical_offset"]
    body = next(row["body"] for row in facts.rows("moved_events") if (row["file"], row["physical_offset"]) == place)
    return Ref(move["file"], body, physical_offset=move["physical_offset"])


def _began_there(facts: Facts, row: Row, offset: int) -> bool:
    """Return whether a group that asked for offset 0 was new, or may have been: what was deleted before is no loss."""
    born = created(facts).get(row["group"])
    if offset == 0 and born is None:
        queue = (row["group"], row["topic"])
        return not facts.has_source("broker") and queue not in {(r["group"], r["topic"]) for r in copies(facts)}
    return offset == 0 and row["first"] is not None and abs(row["first"] - born) < SOON


def _requests(facts: Facts) -> dict[tuple[str, str], tuple[dt.datetime | None, int | None]]:
    """Return {(group, topic): when its reset was first mentioned, and to which time (ms since 1970, -1: the end)}."""
    requests: dict[tuple[str, str], Any] = {}
    for row in (*lines(facts, *RESETS), *_commands(facts)):
        place = row["group"], row["topic"]
        if all(place):
            at, to = requests.get(place, (None, None))
            requests[place] = at or row["first"], to if row["timestamp"] is None else row["timestamp"]
    return requests


def _commands(facts: Facts) -> Iterator[Row]:
    """Yield the queues in outputs of resetOffsetByTime and skipAccumulatedMessage: `admin_queues` with timestamp."""
    asked = {row["file"]: row for row in lines(facts, "offset-reset-command")}
    for row in facts.rows("admin_queues"):
        line = asked.get(row["file"], {})
        place = {name: row[name] or line.get(name) for name in ("group", "topic")}
        if row["reset_to"] is not None and row["broker"] and all(place.values()):
            to_end = row["command"] == "skipAccumulatedMessage"  # it takes no time
            yield row | place | {"timestamp": -1 if to_end else line.get("timestamp"), "first": None}


def _resets(facts: Facts, requests: dict[tuple[str, str], Any]) -> Iterator[Row]:
    """Yield the queues that a reset moved, by the best source of each: a client's commit, the command, the next pull."""
    for (group, topic), (at, to) in requests.items():
        texts = lines(facts, "pull-started", "consumer-offset-back", group=group, topic=topic)
        numbered = (r for r in reversed(texts) if r["queue_id"] is not None)
        soon = [r for r in numbered if None in (at, r["first"]) or at - BEFORE <= r["first"] <= at + TAKES_EFFECT]
        moves = {_queue(r): _move("", r, None, r["offset"]) for r in soon if r["event"] == "pull-started"}
        for row in _commands(facts):
            if (row["group"], row["topic"]) == (group, topic):
                exact = row["offset"] is not None
                moves[_queue(row)] = _move("", row, row["offset"], row["reset_to"], exact=exact)
        for row in (r for r in soon if r["event"] == "consumer-offset-back"):  # the line names no broker
            known = [q for q in moves if q[1] == row["queue_id"] and brokers.may_be(facts, row["file"], q[0])]
            queue = known[0] if known else _queue(row)
            if queue not in moves or row["requested"] == moves[queue]["end"]:
                named = row | {"broker": queue[0] or None}
                moves[queue] = _move("", named, row["stored"], row["requested"], exact=True)
        own = [row for row in copies(facts) if (row["group"], row["topic"]) == (group, topic)]
        before = [row for row in own if at and row["time"] and row["time"] <= at]
        # For the end, or for the moment in which it was asked for (`-s now`).
        to_the_end = to == -1 or bool(at and to and to >= utc(at - BEFORE).timestamp() * 1000)
        for queue, move in sorted(moves.items()):
            starts = [r["offset"] for r in before if brokers.same_queue(facts, (topic, *_queue(r)), (topic, *queue))]
            start = next(reversed(starts), None) if move["start"] is None else move["start"]
            ahead = move["end"] > start if start is not None else to_the_end
            yield move | {"kind": "skip" if ahead else "reset", "start": start}


def _queue(row: Row) -> tuple[str, int]:
    return row["broker"] or "", row["queue_id"]


def _first_starts(facts: Facts) -> Iterator[Row]:
    """Yield the queues that a new group began after their beginning: all before the first pull is skipped.

    The first pull is in the client's log up to 4.9.8; later the first delivery in the group's ledger shows it.
    """
    wanted = ("group", "topic", "queue_id", "offset", "first")
    known = (row for row in lines(facts, "pull-started") if None not in map(row.get, wanted))
    pulls = grouped(((row["group"], row["topic"], row["broker"] or "", row["queue_id"]), row) for row in known)
    for (group, topic, *_), rows in sorted(pulls.items()):
        # Of several clients that start together one may begin a queue, and another go on with it in the same second.
        row = min((row for row in rows if row["first"] - rows[0]["first"] < SOON), key=lambda row: row["offset"])
        late = row["offset"] > 0 and not topic.startswith(names.RETRY_PREFIX) and not _from_first(facts, group)
        if late and _from_the_beginning(facts, row) and _is_new(facts, group, topic, row["first"]):
            yield _move("first-start", row, 0, row["offset"], exact=True)
    for row in facts.rows("ledger_starts") if facts.has("rows") and _unprinted(facts) else ():
        if not _from_first(facts, row["group"]):
            yield _move("first-start", row, 0, row["offset"], exact=True)


def _from_first(facts: Facts, group: str) -> bool:
    """Return whether a group's policy lets it begin with the first message: what it went on from, it had handled."""
    return (start_policy(facts, group) or ("",))[0] == FROM_FIRST


def _is_new(facts: Facts, group: str, topic: str, at: dt.datetime) -> bool:
    """Return whether a group had no offset of a topic before `at`: it was just created, or the copy before lacks it."""
    if (born := created(facts).get(group)) is not None:
        return abs(at - born) < SOON
    before = [row for row in copies(facts) if row["source"] == "copy" and row["time"] and row["time"] <= at]
    last = [(row["group"], row["topic"]) for row in before if row["file"] == before[-1]["file"]]
    return bool(last) and (group, topic) not in last
