"""Offsets of consumer groups, by copies of consumerOffset.json and mqadmin outputs, and the course of their lag."""

from itertools import groupby
from types import SimpleNamespace
from typing import Any, Final

import pandas as pd

from kit.analysis import brokers
from kit.analysis.consumers import consumer_logs
from kit.data import grouped
from kit.formats.printed_times import tzinfo, utc, when
from kit.inventory.model import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts, memo

LEAST: Final = 10
"""Messages in a queue up to which nothing waits: so many are under way (a pull takes 32)."""
SHRUNK: Final = 0.9
SAVED: Final = 15
"""Seconds in which an offset that moves is saved by its client and by the broker: each does every 5 s."""
REPORTED: Final = 10
"""Seconds in which a client reports the offsets of what it handled: every 5 s, the first time after 10 s."""
QUARTER: Final = 900
"""Seconds of a quarter of an hour."""
REBALANCED: Final = 20
"""Seconds for which a queue may rest that another client is to pull (client/impl/consumer/RebalanceService)."""
SMALL: Final = 100
"""Messages in a queue up to which one look at it says that there is no backlog."""
WAITING: Final = ("pull-held-back", "receive-held-back", "orderly-not-done")
KEYS: Final = ["group", "topic", "broker", "queue_id"]
INNER: Final = (names.RETRY_PREFIX, names.DLQ_PREFIX)

Course = SimpleNamespace
"""One queue of a group between its first and its last known position: a row of `queue_courses`."""
Pair = SimpleNamespace
"""A topic of a group with its queues: what `pair` returns."""
Stuck = SimpleNamespace
"""A queue that stood still: what `stuck` returns."""


@memo
def positions(facts: Facts) -> pd.DataFrame:
    """Return the table `known_positions`: all positions of users' groups in order of time."""
    # Without any, nobody has to count how the queues grew.
    looks = facts("offset_looks")
    return looks.assign(begin=None, lag=None, at_least=None) if looks.empty else facts("known_positions")


def of_topic(facts: Facts, group: str, topic: str) -> pd.DataFrame:
    """Return the positions of one group in one topic, in order of time."""
    rows = positions(facts)
    return rows[(rows["group"] == group) & (rows["topic"] == topic)]


def last_positions(facts: Facts, group: str, topic: str) -> pd.DataFrame:
    """Return the last known position of each queue of a group's topic: the columns of `positions`."""
    return of_topic(facts, group, topic).drop_duplicates(KEYS, keep="last")


def pair(group: str, topic: str, queues: list[Course], cluster: str = "") -> Pair:
    """Return a topic of a group in one cluster: name, queues, lag, peak, per_queue {queue id (behind its broker, of
    several): lag}, growth_per_second (messages, None with one look only), and what the looks show:

    shrinks (the lag was larger before, in a known order), ended (much waits still, and nothing came any more while it
    shrank), backlog (it grew in every queue that got messages, and the offsets advanced), still (it grew there, but no
    offset moved), idle (for so long that it would show), backlog_known (two looks, or no lag), held_up (the one queue
    in which much waits at last, and not less than at first, else None). part (the queues that fall behind, or in which
    much waits at a single look, as a pair with `going_on`, the others, in none of which a tenth as much waits; None
    without them). Of a single look: behind_everywhere (much waits in every queue, each was consumed from). Of the last
    look: untouched (queues in which much waits and nothing was handled, while another is at its end). A queue whose
    offset was `reported` just before its last look does not fall behind (`_reported`).
    """
    p = Pair(group=group, topic=topic, cluster=cluster, queues=queues, name=f"{topic}@{group}", client=None)
    p.name += f" ({cluster})" if cluster else ""
    p.lag, p.peak = sum(q.last_lag for q in queues), sum(q.peak for q in queues)
    p.per_queue = {str(name): q.last_lag for name, q in zip(ids(queues, queues), queues, strict=True)}
    rates = [(q.last_lag - q.first_lag) / q.seconds for q in queues if q.seconds > 0]
    p.growth_per_second = round(sum(rates), 2) if rates else None
    p.shrinks = p.lag < SHRUNK * p.peak and any(q.looks > 1 for q in queues)
    p.ended = p.shrinks and p.lag > SMALL and sum(q.since_peak for q in queues) <= LEAST
    active = [q for q in queues if q.arrived > 0]
    going = sum(q.advanced > 0 for q in active)
    p.backlog = bool(active) and all(q.grew for q in active) and 2 * going >= len(active) and not p.shrinks
    # What failed once comes back in portions, and POP counts what it handed out.
    p.backlog = p.backlog and not (topic.startswith(INNER) and p.lag <= SMALL)
    p.still = bool(active) and all(q.grew and q.advanced == 0 for q in active)
    p.idle = p.still and all(q.seconds >= SAVED for q in active)
    # Looks so near that fewer messages came than are always under way are one look.
    near = [q for q in queues if q.looks == 1 or (0 < q.seconds < SAVED and q.arrived < LEAST)]
    p.backlog_known = p.still == p.idle and all(q.peak <= SMALL for q in near)
    full = [q for q in near if q.last_lag > SMALL and not q.reported]
    far = [q for q in full if not q.never_handled]
    waiting = [q for q in queues if q.last_lag > LEAST]
    alone = waiting if len(waiting) == 1 < len(queues) else []
    p.behind_everywhere = len(far) == len(queues)
    p.held_up = next((q for q in alone if q in far or (q.grew and q.last_lag > SMALL and not q.never_handled)), None)
    goes_on = any(q.last_lag <= LEAST and not q.never_handled for q in queues)
    p.untouched = [q for q in queues if q.never_handled and q.last_lag > SMALL] if goes_on else []
    slow = [q for q in active if q.grew and q.last_lag > SMALL] or (far if len(far) > 1 else [])
    going_on = [q for q in active or queues if q not in slow]
    p.part = None
    if slow and going_on and all(10 * q.last_lag <= s.last_lag for q in going_on for s in slow):
        part = pair(group, topic, slow, cluster)
        part.going_on = going_on
        p.part = part if part.backlog or slow is far else None
    return p


def ids(some: list[Course], queues: list[Course]) -> list[Any]:
    """Return the ids of some queues of a topic, behind their broker if its queues are of several."""
    several = len({q.broker for q in queues}) > 1
    return [f"{q.broker}:{q.queue_id}" if several else q.queue_id for q in some]


def _rows(facts: Facts) -> list[dict[str, Any]]:
    return [] if positions(facts).empty else facts.rows("queue_courses")


@memo
def pairs(facts: Facts) -> list[Pair]:
    """Return every topic of every user's group with a known lag, the largest first; retry topics if something waits."""
    last = positions(facts).dropna(subset="end").drop_duplicates(KEYS, keep="last")
    looks, reported, clusters_of = last.to_dict("records"), _reported(facts), brokers.clusters(facts)
    current = {tuple(look[name] for name in KEYS) for look in looks if (look["file"], look["line"]) in reported}
    courses = [Course(**row) for row in _rows(facts) if row["peak"] is not None]
    for q in courses:
        q.reported = (q.group, q.topic, q.broker, q.queue_id) in current
        q.grew = q.grew and not q.reported
    every = []
    for place, queues in groupby(courses, lambda q: (q.group, q.topic)):
        clusters = grouped((clusters_of.get(q.broker, ""), q) for q in queues)
        every += [pair(*place, own, cluster if len(clusters) > 1 else "") for cluster, own in clusters.items()]
    known = (p for p in every if p.lag or not p.topic.startswith(INNER))
    return sorted(known, key=lambda p: (-p.lag, p.name))


@memo
def _reported(facts: Facts) -> set[tuple[str, int]]:
    """Return the lines of outputs by which the message in front of a group's offset (#LastTime) had been stored just
    before, as of a group that goes on: it reports its offsets after it handled them.
    """
    looks = [row for row in facts.rows("offset_looks") if row["source"] == "progress" and row["sure"] and row["time"]]
    times = {(row["file"], row["line"]): row["time"] for row in looks}
    zones = {item.file: item.zone for item in facts.zoned.items}
    ages = []
    for row in facts.rows("admin_queues") if times else ():
        at, stored = times.get((row["file"], row["line"])), when(row["last_time"])
        if at is not None and stored is not None:
            printed = stored.replace(tzinfo=stored.tzinfo or tzinfo(zones.get(row["file"])))
            age = (utc(at) - utc(printed)).total_seconds()
            ages.append(((row["file"], row["group"], row["topic"], at), (row["line"], age)))
    reported = set()
    for (file, *_), rows in grouped(ages).items():
        if not zones.get(file):  # zones are quarters of an hour apart: by chance one queue is so far behind, not all
            rows = [(line, age - QUARTER * round(age / QUARTER)) for line, age in rows]
            rows = rows if all(abs(age) <= REPORTED for _, age in rows) else []
        reported |= {(file, line) for line, age in rows if abs(age) <= REPORTED}
    return reported


def known(facts: Facts) -> bool:
    """Return whether the evidence shows of every queue of users' groups, those that wait too, whether its lag grows."""
    complete = all(p.backlog_known for p in pairs(facts)) and not any(row["beyond"] for row in _rows(facts))
    complete = complete and not pops(facts)
    waiting = {s.group for s in consumer_logs.of(facts, *WAITING) if s.group}
    return complete and bool(pairs(facts)) and waiting <= {p.group for p in pairs(facts)}


def popped(facts: Facts) -> str | None:
    """Return a group with offsets in a retry topic of POP (KeyBuilder): they move when messages are handed out."""
    rows = positions(facts)[["group", "topic"]].drop_duplicates().itertuples(index=False)
    retries = ((group, topic, names.RETRY_PREFIX + group) for group, topic in rows)
    return min((group for group, topic, of in retries if topic.startswith((f"{of}_", f"{of}+"))), default=None)


def pops(facts: Facts) -> bool:
    """Return whether any group takes messages by POP: a broker notes what it hands out in rmq_sys_REVIVE_LOG_ + cluster
    and reads on there as a group of its own (broker/processor/PopReviveService).
    """
    return bool(popped(facts) or facts.rows("revived"))


def in_hand(facts: Facts) -> list[consumer_logs.Statement]:
    """Return the last statement of each gRPC client that has many messages of a topic in its memory: the broker moves
    their group's offset when it hands them out, not when they are handled (broker/processor/PopMessageProcessor).
    """
    statements = consumer_logs.of(facts, "grpc-in-hand")
    last = {(s.place, s.client_id, s.broker, s.topic, s.queue_id): s for s in statements}
    return [s for s in last.values() if s.high_count > SMALL]


@memo
def stuck(facts: Facts) -> list[Stuck]:
    """Return the queues that stood still while `others` of the topic handled what had waited, the longest wait first:
    group, topic, broker, queue_id, offset (of the message it is at), begin, end, first, last (times), others.
    """
    rows = [row for row in _rows(facts) if row["others"] and not row["topic"].startswith(INNER)]
    stand = ("offset", "begin", "end", "first", "last")
    queues = [Stuck(**row | {name: row[f"stand_{name}"] for name in stand}) for row in rows]
    return sorted(queues, key=lambda s: (s.begin >= s.offset, -(s.end - s.offset), s.group, s.topic, s.queue_id))


def rested(queue: Stuck) -> bool:
    """Return whether a queue went on later, having stood no longer than a change of its owner takes."""
    went_on = queue.last_offset is not None and queue.last_offset > queue.offset
    return bool(went_on and queue.first and (queue.last - queue.first).total_seconds() < REBALANCED)


def untouched(facts: Facts, group: str | None) -> tuple[dict[str, Any], tuple[Ref, ...]]:
    """Return the queues of a group (None: any) of which nothing was ever handled while others move on, where most
    waits, as values of a sentence, and the line. looked_twice: offsets of it (None: of each) are known at two times.
    """
    own = [p for p in pairs(facts) if group in (None, p.group)]
    looked = {p.group for p in own if any(q.looks > 1 for q in p.queues)}
    values: dict[str, Any] = {"looked_twice": bool(looked) and looked == {p.group for p in own}}
    for p in own:
        if p.untouched:
            values |= {
                "untouched": ids(p.untouched, p.queues), "untouched_group": p.group,
                "untouched_topic": p.topic, "untouched_lag": sum(q.last_lag for q in p.untouched),
            }  # fmt: skip
            return values, refs(facts, p.group, p.topic, p.untouched[0], most=1)
    return values, ()


def refs(facts: Facts, group: str, topic: str, *queues: Course, most: int = 2) -> tuple[Ref, ...]:
    """Quote the first and the last line with a group's offset in some queues of a topic."""
    looks = of_topic(facts, group, topic).dropna(subset=["end", "line"])
    own = {(queue.broker, queue.queue_id) for queue in queues}
    looks = looks[[look in own for look in zip(looks["broker"], looks["queue_id"], strict=True)]]
    ends = looks.iloc[[0, -1]] if most > 1 and len(looks) else looks.tail(1)
    return facts.refs(dict.fromkeys((row["file"], int(row["line"])) for row in ends.to_dict("records")))
