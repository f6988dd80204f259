"""What moved offsets come to: messages skipped and handled again for each group and topic; and what only points to a move."""

from __future__ import annotations

import datetime as dt
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs

from kit.analysis import refs
from kit.analysis.consumers import admin_output, consumer_logs, offset_lines, positions
from kit.case.memoize import per_case
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

NOTABLE: Final = 10
"""Messages a queue has to go back by before one line about it is worth a hint: a restart repeats what was not committed yet."""
A_PULL: Final = 32
"""client/consumer/DefaultMQPushConsumer.pullBatchSize: the most that a pull brings, unless it is set. While a broker stood still pulls
waited, and are then handled in any order, each with the offset of its time.
"""
FROM_FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"
"""common/consumer/ConsumeFromWhere"""


@attrs.frozen
class Move:
    """One queue that moved, a row of the table `offset_moves`. `start`: the offset that the group had reached, None if unknown; `end`: where it
    continued; `exact`: whether `start` is what it had handled; `queue_id`: None if only the broker's lines show it.
    """

    kind: str
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
class Jump:
    """Every moved queue of one group and topic. Numbers are messages, None where the evidence does not say."""

    kind: str
    group: str
    topic: str
    moves: tuple[Move, ...]
    skipped: int | None
    handled_again: int | None
    still_stored: int | None
    asked: dt.datetime | None = None

    @property
    def several_brokers(self) -> bool:
        return len({m.broker for m in self.moves if m.broker}) > 1

    @property
    def window(self) -> tuple[dt.datetime, dt.datetime] | None:
        times = [m.at for m in self.moves if m.at is not None] + ([self.asked] if self.asked else [])
        return (min(times), max(times)) if times else None


@per_case
def moves(case: Case) -> list[dict[str, Any]]:
    """Return the rows of `offset_moves`, of `moved_ranges` where there are records that tell more."""
    rows = case.fact_rows("offset_moves")
    return case.fact_rows("moved_ranges") if rows and case.has("messages") else rows


@per_case
def jumps(case: Case) -> list[Jump]:
    """Return what moved, the most messages first."""
    by = groupby(moves(case), key=lambda row: (row["kind"], row["group"], row["topic"]))
    found = [_jump(case, key, list(rows)) for key, rows in by]
    return sorted(found, key=lambda j: (-(j.skipped or 0) - (j.handled_again or 0), j.group, j.topic))


def _jump(case: Case, key: tuple[str, str, str], rows: list[dict[str, Any]]) -> Jump:
    """Count what a move skipped or repeated: by what the group handled where its ledgers tell, else by offsets that are known exactly."""
    kind, counted = key[0], bool(rows[0].get("counted"))
    reset = kind in ("reset", "skip")
    queues = tuple(move(_by_ledger(row) if reset and counted else row) for row in rows)
    exact = all(m.start is not None and m.exact for m in queues)
    skipped: int | None = sum(m.skipped or 0 for m in queues)
    again: int | None = 0
    if kind == "reset":
        skipped = 0
        again = sum(m.repeated or 0 for m in queues) if exact else None
        again = sum(row["repeated"] for row in rows) if counted else again
    elif kind == "skip" and not exact:
        skipped = None
    still = None
    if not reset and case.has("messages"):
        low = [(m, row["first_stored"]) for m, row in zip(queues, rows, strict=True) if kind == "first-start"]
        still = sum(max(0, m.end - max(first, m.start or 0)) for m, first in low if first is not None)
    return Jump(*key, queues, skipped, again, still, rows[0]["asked"])


def move(row: dict[str, Any]) -> Move:
    return Move(**{field.name: row[field.name] for field in attrs.fields(Move)})


def _by_ledger(row: dict[str, Any]) -> dict[str, Any]:
    """Set where a queue stood by what was handled, where no line says it exactly."""
    last = row["repeated_last"] if row["kind"] == "reset" else row["handled_before"]
    return row if row["exact"] or last is None else row | {"start": last + 1, "exact": True}


# --- what only points to a move ----------------------------------------------------------------------------------------------


@attrs.frozen
class Behind:
    """A queue whose group is at an offset in front of the first message that is still stored; `first`: its offset, None where nothing says it."""

    group: str
    topic: str
    queue_id: int
    offset: int
    first: int | None
    ref: Ref


@per_case
def behind_the_first(case: Case) -> list[Behind]:
    """Return the queues whose next message is deleted: consumerProgress finds no store time for the message in front of an offset that has a lag.

    `#LastTime` is that of the message at offset − 1 (`AdminBrokerProcessor.getConsumeStats`); N/A with a difference and an offset above 0 means that it,
    and what follows up to the queue's first offset, is no longer stored.
    """
    found = []
    for block in admin_output.admin_blocks(case):
        queue, offset, diff = (integer(block.get(name)) for name in ("#QID", "#Consumer Offset", "#Diff"))
        group, topic = block.get("-g"), block.get("#Topic")
        if block["command"] != "consumerProgress" or block.get("#LastTime") != "N/A" or not group or not topic:
            continue
        if queue is not None and offset is not None and diff is not None and offset > 0 and diff > 0:
            first = offset_lines.first_stored(case, topic).get(queue)
            if first is None or first > offset:
                found.append(Behind(group, topic, queue, offset, first, case.ref(block["file"], block["line"])))
    return found


@per_case
def once_back(case: Case) -> list[int]:
    """Return by how many messages queues went back of which the broker says once that a client committed a smaller offset, if that is notable.

    Two clients that share an id make a stream of such lines; a reset makes one for each queue; one queue that goes back
    by no more than a pull brings is a request that was late.
    """
    queues: dict[tuple[str, str], dict[int, list[dict[str, Any]]]] = {}
    for row in offset_lines.lines(case, "consumer-offset-back"):
        whole = None not in (row["group"], row["topic"], row["queue_id"], row["requested"], row["stored"])
        # A broker up to 4.5 prints it for its own place in the op queue.
        if whole and names.of_users(row["group"]):
            queues.setdefault((row["group"], row["topic"]), {}).setdefault(row["queue_id"], []).append(row)
    calm = [each for each in queues.values() if all(sum(r["n"] for r in rows) == 1 for rows in each.values())]
    back = [(rows[0]["stored"] - rows[0]["requested"], len(each) == 1) for each in calm for rows in each.values()]
    return [messages for messages, alone in back if messages >= NOTABLE and not (alone and messages <= A_PULL)]


@attrs.frozen
class WentBack:
    """Offsets of a group that a later look at it shows smaller. `messages`: by how many together; `places`: (file, line) of the later looks."""

    group: str
    topic: str
    queues: int
    messages: int
    places: tuple[tuple[str, int], ...]


@per_case
def looks_back(case: Case) -> list[WentBack]:
    """Return the groups whose offsets on a topic are smaller in a later copy or consumerProgress output, in all of its
    queues or by a notable number of messages; the most messages first.

    Two outputs in one file came one after the other; of two files only their times say so, and the ends of the queues
    have to agree with that: they only grow.
    """
    known = positions.every(case)
    known = known[known["source"].isin(["copy", "progress"]) & known["offset"].notna() & known["end"].notna()]
    found = []
    for (group, topic), rows in known.groupby(["group", "topic"], sort=True):
        back: list[tuple[int, str, int]] = []
        queues = rows.sort_values(["time", "file", "line"], na_position="first").groupby(["broker", "queue_id"])
        for _, looks in queues:
            looked: list[Any] = list(looks[["offset", "end", "time", "file", "line"]].itertuples(index=False))
            back += [
                (int(one.offset - after.offset), str(after.file), int(after.line))
                for one, after in pairwise(looked)
                if after.offset < one.offset and (after.end >= one.end if after.file == one.file else after.time > one.time and after.end > one.end)
            ][-1:]  # fmt: skip
        messages = sum(step[0] for step in back)
        if back and (messages >= NOTABLE or len(back) == queues.ngroups):
            found.append(WentBack(str(group), str(topic), len(back), messages, tuple(step[1:] for step in back)))
    return sorted(found, key=lambda each: (-each.messages, each.group, each.topic))


@attrs.frozen
class Start:
    """A group that the broker had just created while no log shows where it began. `skips`: the first offset of a topic of its where that is
    above 0, so that a start from the end skips.
    """

    group: str
    policy: str
    topic: str
    skips: int | None
    ref: Ref


@per_case
def unseen_starts(case: Case) -> list[Start]:
    """Return the new groups of which no client log shows the first pulls, and that do not begin with the first message.

    CONSUME_FROM_LAST_OFFSET, the default, begins at the end of a queue whose first message is deleted (`ConsumerManageProcessor.queryConsumerOffset`).
    """
    shown = {row["group"] for row in offset_lines.lines(case, "pull-started")}
    found = []
    for group in sorted(offset_lines.created(case).keys() - shown):
        policy = start_policy(case, group) if names.of_users(group) else None
        if policy is None or policy[0] == FROM_FIRST:
            continue
        topics = [topic for topic in _subscribed(case, group) if not topic.startswith(names.RETRY_PREFIX)]
        first = {topic: min(offset_lines.first_stored(case, topic).values(), default=0) for topic in topics}
        topic = max(sorted(first), key=lambda name: first[name], default="")
        found.append(Start(group, policy[0], topic, first.get(topic) or None, policy[1]))
    return found


def _subscribed(case: Case, group: str) -> set[str]:
    said = consumer_logs.of(case, "consumer-registered", group=group)
    return {topic for s in said for topic in consumer_logs.subscriptions(s.values.get("data", "")).get(group, {})}


@per_case
def loose_starts(case: Case) -> list[dict[str, Any]]:
    """Return first pulls behind the beginning of a queue that nothing explains: in a paste, or beside a topic of the same group that begins at 0."""
    if offset_lines.copies(case) or offset_lines.created(case):
        return []
    first: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in offset_lines.lines(case, "pull-started"):  # in order of time
        queue = (row["group"], row["topic"], row["queue_id"], row["broker"])
        if None not in (*queue[:3], row["offset"]) and not row["topic"].startswith(names.RETRY_PREFIX):
            first.setdefault(queue, row)
    # A whole log begins with the start of its client; a few lines out of one do not.
    excerpt = not refs.seen(case, "client-started", "client-created")
    zero = {row["group"] for row in first.values() if row["offset"] == 0}
    late = [row for row in first.values() if row["offset"] > 0]
    return [row for row in late if excerpt or row["source"] == "text" or row["group"] in zero]


def start_policy(case: Case, group: str) -> tuple[str, Ref] | None:
    """Return the group's ConsumeFromWhere and the line that says it (`ConsumerData` in the broker's log)."""
    rows = (row for row in case.fact_rows("start_policies") if row["group"] == group)
    return next(((row["policy"], case.ref(row["file"], row["line"])) for row in rows), None)
