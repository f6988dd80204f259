"""What moved offsets come to: messages skipped and handled again for each group and topic; and what only points to a move."""

from __future__ import annotations

import datetime as dt
import re
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.consumers import admin_output, consumer_logs, consumption, offset_lines, offset_moves, positions
from kit.case import log_events, scan
from kit.case.memoize import per_case
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.analysis.consumers.offset_moves import Kind, Move
    from kit.case.case import Case

NOTABLE: Final = 10
"""Messages a queue has to go back by before one line about it is worth a hint: a restart repeats what was not committed yet."""
A_PULL: Final = 32
"""client/consumer/DefaultMQPushConsumer.pullBatchSize: the most that a pull brings, unless it is set. While a broker stood still pulls
waited, and are then handled in any order, each with the offset of its time.
"""
FROM_FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"
"""common/consumer/ConsumeFromWhere"""
_POLICY: Final = re.compile(r"consumeFromWhere=(\w+)")


@attrs.frozen
class Jump:
    """Every moved queue of one group and topic. Numbers are messages, None where the evidence does not say."""

    kind: Kind
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


@attrs.frozen
class Behind:
    """A queue whose group is at an offset in front of the first message that is still stored."""

    group: str
    topic: str
    queue_id: int
    offset: int
    first: int | None
    """The first offset still stored, None where nothing says it."""
    ref: Ref


@attrs.frozen
class Start:
    """A group that the broker had just created while no log shows where it began. `skips`: the first offset of a topic of its where that is above 0, so that a start from the end skips."""

    group: str
    policy: str
    topic: str
    skips: int | None
    ref: Ref


@per_case
def jumps(case: Case) -> list[Jump]:
    """Return what moved, the most messages first."""
    asked = {(r.group, r.topic): r.at for r in offset_moves.requests(case)}
    found = []
    for (kind, group, topic), mine in groupby(offset_moves.moves(case), key=lambda m: (m.kind, m.group, m.topic)):
        moves = tuple(mine)
        at = asked.get((group, topic))
        when = None if at is None else at.to_pydatetime()
        if kind in ("reset", "skip"):
            found.append(_counted(case, kind, moves, when))
        else:
            still = _still_stored(case, moves) if kind == "first-start" else 0 if case.has("messages") else None
            found.append(Jump(kind, group, topic, moves, sum(m.skipped or 0 for m in moves), 0, still))
    return sorted(found, key=lambda j: (-(j.skipped or 0) - (j.handled_again or 0), j.group, j.topic))


def _counted(case: Case, kind: Kind, moves: tuple[Move, ...], asked: dt.datetime | None) -> Jump:
    """Count what a reset repeated or skipped: by what the group handled where its ledgers tell, else by offsets that are known exactly."""
    group, topic = moves[0].group, moves[0].topic
    by_queue = _handled(case, group, topic)
    if by_queue is not None:
        moves = tuple(_by_ledger(kind, move, by_queue) for move in moves)
    exact = all(m.start is not None and m.exact for m in moves)
    skipped: int | None = 0
    again: int | None = 0
    if kind == "reset":
        again = (
            _repeated(moves, by_queue)
            if by_queue is not None
            else sum(m.repeated or 0 for m in moves)
            if exact
            else None
        )
    else:
        skipped = sum(m.skipped or 0 for m in moves) if exact else None
    return Jump(kind, group, topic, moves, skipped, again, None, asked)


def _handled(case: Case, group: str, topic: str) -> dict[int, pd.Series] | None:
    """Return {queue: how often each queue offset was handled} by the ledgers of the group; None where they or the records are not all there."""
    done = consumption.rows(case, group) if case.has("messages") and case.has("rows") else None
    if done is None:
        return None
    times = pa.Table.from_struct_array(done["offset_msg_id"].drop_null().value_counts())
    where = (ds.field("topic") == topic) & ds.field("offset_msg_id").isin(times["values"].combine_chunks())
    stored = scan.records(case, ["offset_msg_id", "queue_id", "queue_offset"], where)
    both = stored.join(times, "offset_msg_id", "values", join_type="inner").group_by(["queue_id", "queue_offset"])
    joined = both.aggregate([("counts", "sum")]).rename_columns({"counts_sum": "times"}).to_pandas()
    if joined.empty:
        return None
    return {
        queue: rows.set_index("queue_offset")["times"].sort_index()
        for queue in joined["queue_id"].astype(int).unique().tolist()
        if len(rows := joined[joined["queue_id"] == queue])
    }


def _by_ledger(kind: Kind, move: Move, by_queue: dict[int, pd.Series]) -> Move:
    """Set where a queue stood by what was handled, where no line says it exactly."""
    times = by_queue.get(move.queue_id) if move.queue_id is not None else None
    if move.exact or times is None:
        return move
    if kind == "reset":
        repeated = times.index[(times > 1) & (times.index >= move.end)]
        return attrs.evolve(move, start=int(repeated.max()) + 1, exact=True) if len(repeated) else move
    before = times.index[times.index < move.end]
    return attrs.evolve(move, start=int(before.max()) + 1, exact=True) if len(before) else move


def _repeated(moves: tuple[Move, ...], by_queue: dict[int, pd.Series]) -> int:
    total = 0
    for move in moves:
        times = by_queue.get(move.queue_id) if move.queue_id is not None else None
        if times is not None:
            total += int(
                (
                    (times > 1)
                    & (times.index >= move.end)
                    & (times.index < (move.start if move.start is not None else times.index.max() + 1))
                ).sum()
            )
    return total


def _still_stored(case: Case, moves: tuple[Move, ...]) -> int | None:
    """Return how many of the skipped messages the store still holds."""
    if not case.has("messages"):
        return None
    where = ds.field("topic") == moves[0].topic
    first = scan.extremes(case, ["queue_id"], [("queue_offset", "min")], where)
    low = dict(zip(first["queue_id"].to_pylist(), first["queue_offset_min"].to_pylist(), strict=True))
    return sum(max(0, m.end - max(low[m.queue_id], m.start or 0)) for m in moves if m.queue_id in low)


# --- what only points to a move ----------------------------------------------------------------------------------------------


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
            first = offset_moves.first_stored(case, topic).get(queue)
            if first is None or first > offset:
                found.append(Behind(group, topic, queue, offset, first, case.ref(block["file"], block["line"])))
    return found


@per_case
def once_back(case: Case) -> pd.DataFrame:
    """Return the queues of which the broker says once that a client committed a smaller offset, by a notable number of messages (`offset_lines.COLUMNS`).

    Two clients that share an id make a stream of such lines; a reset makes one for each queue; one queue that goes back
    by no more than a pull brings is a request that was late.
    """
    rows = offset_lines.of(case, "consumer-offset-back").dropna(
        subset=["group", "topic", "queue_id", "requested", "stored"]
    )
    # A broker up to 4.5 prints it for its own place in the op queue.
    rows = rows[rows["group"].map(names.of_users).astype(bool)]
    queues = rows.groupby(["group", "topic", "queue_id"])["n"].sum()
    calm = {key for key, part in queues.groupby(level=["group", "topic"]) if (part == 1).all()}
    back = rows["stored"] - rows["requested"]
    alone = rows.groupby(["group", "topic"])["queue_id"].transform("nunique") == 1
    far = back.ge(NOTABLE) & ~(alone & back.le(A_PULL))
    return rows[
        far.fillna(False).astype(bool)
        & pd.Series(
            [(g, t) in calm for g, t in zip(rows["group"], rows["topic"], strict=True)], index=rows.index, dtype=bool
        )
    ]


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


@per_case
def unseen_starts(case: Case) -> list[Start]:
    """Return the new groups of which no client log shows the first pulls, and that do not begin with the first message.

    CONSUME_FROM_LAST_OFFSET, the default, begins at the end of a queue whose first message is deleted (`ConsumerManageProcessor.queryConsumerOffset`).
    """
    shown = set(offset_lines.of(case, "pull-started")["group"].dropna())
    found = []
    for group in sorted(set(offset_moves.created(case)) - shown):
        policy = start_policy(case, group) if names.of_users(group) else None
        if policy is None or policy[0] == FROM_FIRST:
            continue
        topics = [topic for topic in _subscribed(case, group) if not topic.startswith(names.RETRY_PREFIX)]
        first = {topic: min(offset_moves.first_stored(case, topic).values(), default=0) for topic in topics}
        topic = max(sorted(first), key=lambda name: first[name], default="")
        found.append(Start(group, policy[0], topic, first.get(topic) or None, policy[1]))
    return found


def _subscribed(case: Case, group: str) -> set[str]:
    said = consumer_logs.of(case, "consumer-registered", group=group)
    return {topic for s in said for topic in consumer_logs.subscriptions(s.values.get("data", "")).get(group, {})}


@per_case
def loose_starts(case: Case) -> pd.DataFrame:
    """Return first pulls behind the beginning of a queue that nothing explains: in a paste, or beside a topic of the same group that begins at 0."""
    starts = offset_lines.of(case, "pull-started").dropna(subset=["group", "topic", "queue_id", "offset"])
    starts = starts[~starts["topic"].str.startswith(names.RETRY_PREFIX)]
    first = starts.sort_values(["first", "file", "line"]).drop_duplicates(["group", "topic", "broker", "queue_id"])
    if offset_moves.copies(case) or offset_moves.created(case):
        return first.iloc[:0]
    # A whole log begins with the start of its client; a few lines out of one do not.
    excerpt = not refs.seen(case, "client-started", "client-created")
    zero = set(first.loc[first["offset"] == 0, "group"])
    late = (first["offset"] > 0).fillna(False) & (first["source"].eq("text") | first["group"].isin(zero) | excerpt)
    return first[late.astype(bool)]


def start_policy(case: Case, group: str) -> tuple[str, Ref] | None:
    """Return the group's ConsumeFromWhere and the line that says it (`ConsumerData` in the broker's log)."""
    rows = log_events.event(case, "consumer-registered", ("ts", "file", "line", "message"))
    printed = rows[(rows["group"] == group) & rows["message"].fillna("").str.contains("consumeFromWhere=", regex=False)]
    for row in printed.sort_values(["ts", "file", "line"], na_position="first").head(1).to_dict("records"):
        if said := _POLICY.search(row["message"]):
            return said[1], case.ref(row["file"], row["line"])
    return None
