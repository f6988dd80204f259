"""consumer-backlog: a group handles a topic more slowly than it is written, so messages pile up in all its queues.

A lag that shrinks again is a burst.
"""

from typing import Any

from kit.analysis import refs
from kit.analysis.consumers import consumer_logs, lag, members, stacks
from kit.causes.declared import Observed
from kit.data import grouped
from kit.formats.values import integer
from kit.inventory.model import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

MUCH = 1_000
"""Total lag, in messages, from which one look counts: pullThresholdForQueue, what a client keeps of one queue."""
FEWEST = 3
"""Consuming threads, all of them in one call, from which a dump counts by itself."""
FAR = 60_000
"""ms by which the pulls of a group have to be behind: a group that keeps up is less than a second behind."""


def observe(facts: Facts) -> Observed:
    """Measure whether a group falls behind, by how much, and in which call its threads are."""
    pairs, parts, in_hand = lag.pairs(facts), members.parts(facts), lag.in_hand(facts)
    # The group whose lag grows fastest, or one client of several; without it who lags in all queues at one look, and a
    # client whose lag need not grow.
    falling = [p for p in pairs if p.backlog] + [p for p in parts if p.backlog and p.client]
    worst = min(falling, key=lambda p: (-(p.growth_per_second or 0), p.name), default=None)
    once = None if worst else next((p for p in pairs if p.behind_everywhere), None)
    part = None if worst else next(iter(parts), None)
    strongest, client = worst or once or part, worst.client if worst else None
    groups = sorted(statement.group for statement in (*_held_back(facts, None), *in_hand) if statement.group)
    group = worst.group if worst else max(groups, key=groups.count, default=part.group if part else None)
    threads = stacks.of_group(facts, group) if group else []
    best = _best(stacks.shared(facts, stacks.of_client(facts, threads, client)))
    if not (pairs or groups):
        group, best = _all_in_one(facts)
    stack = best if worst else _best(stacks.shared(facts, stacks.consuming(facts)))
    moved = [p for p in pairs if p.growth_per_second is not None]
    fastest = worst or max(moved, key=lambda p: (abs(p.growth_per_second), p.name), default=None)
    values = {
        "group": group or (once and once.group), "all_known": lag.known(facts) and not in_hand and not part,
        "worst": worst, "client": client, "once": once,
        "part": part, "holder": part and part.client, "grows_in_part": part and part.backlog,
        "popped": lag.popped(facts), "pops": lag.pops(facts),
        "lags": {p.name: p.lag for p in pairs} or None,
        "lag_per_queue": {p.name: p.per_queue for p in pairs} or None,
        "growth_per_second": fastest and fastest.growth_per_second, "no_dump": not stacks.consuming(facts),
        "listener_frame": stack and stack.frame, "listener_threads": stack and stack.threads,
    }  # fmt: skip
    observed = Observed(values, actors=(strongest.group, strongest.topic) if strongest else ())
    if pairs:
        rows = lag.positions(facts).dropna(subset="end")
        shown = ["time", "source", *lag.KEYS, "offset", "end", "lag", "file", "line"]
        observed.tables["consumer_lag"] = rows[shown].head(5_000)
        if len(frames := stacks.table(facts)):
            observed.tables["consuming_threads"] = frames
    else:
        _totals(facts, observed)
    if worst:
        _worst(facts, observed, pairs, worst)
    else:
        _no_growth(facts, observed, pairs)
    if once:
        observed.quotes["lags-everywhere"] = lag.refs(facts, once.group, once.topic, *once.queues, most=1)
    if part:
        lines = consumer_logs.of(facts, "orderly-not-done", group=part.group)
        tried = {(s.topic, s.queue and s.queue[2], integer(s.queue_offset)) for s in lines}
        stand = {(part.topic, q.queue_id, q.stand_offset) for q in part.queues if q.stands} | tried
        if all((part.topic, q.queue_id, q.last_offset) in stand for q in part.queues):
            observed.consequence_of = ("consumer-stuck",)
        observed.quotes["lags-in-part"] = lag.refs(facts, part.group, part.topic, part.queues[0])
    if share := worst if client else part:
        queue_ids = lag.ids(share.queues, share.queues + share.going_on)
        observed.values |= {"queue_ids": queue_ids, "queues": len(queue_ids), "others": len(share.going_on)}
    _listener(facts, observed, group, worst, best)
    if worst and not observed.quotes["slow-listener"]:
        observed.consequence_of = members.misled_by(facts, worst.group)
    _statistics(facts, observed, worst.group if worst else None)
    if in_hand:
        most = max(in_hand, key=lambda s: s.high_count)
        several = [s for s in in_hand if (s.group, s.topic) == (most.group, most.topic)]
        observed.values |= {"in_hand": sum(s.high_count for s in several), "in_hand_of": most}
        observed.quotes["in-hand"] = consumer_logs.quote(facts, several[:2])
    return observed


def _no_growth(facts: Facts, observed: Observed, pairs: list[lag.Pair]) -> None:
    """Add a lag that shrank again, and a topic of which nothing is handled: neither is handled slowly."""
    burst = max((p for p in pairs if p.shrinks), key=lambda p: p.peak, default=None)
    if burst and observed.values["all_known"] and burst.peak > lag.SMALL:
        observed.values["ended" if burst.ended else "burst"] = burst
        observed.quotes["lag-grows"] = lag.refs(facts, burst.group, burst.topic, *burst.queues)
    if still := next((p for p in pairs if p.still), None):
        idle = still.idle and observed.values["all_known"]
        observed.values |= {"still": still, "still_before": sum(q.first_lag for q in still.queues), "idle": idle}
        observed.quotes["lag-grows"] = lag.refs(facts, still.group, still.topic, *still.queues)


def _worst(facts: Facts, observed: Observed, pairs: list[lag.Pair], worst: lag.Pair) -> None:
    """Add by how much the lag of the slowest group grew, and another group that keeps up with the same topic."""
    before, queues = sum(q.first_lag for q in worst.queues), sum(q.arrived > 0 for q in worst.queues)
    observed.values |= {"before": before, "queues": queues}
    observed.quotes["lag-grows"] = lag.refs(facts, worst.group, worst.topic, *worst.queues)
    firsts, lasts = [q.first for q in worst.queues if q.first], [q.last for q in worst.queues if q.last]
    observed.window = (min(firsts), max(lasts)) if firsts and lasts else None
    for other in pairs:
        keeps_up = all(q.last_lag <= lag.SMALL for q in other.queues) and any(q.advanced for q in other.queues)
        same = (other.topic, other.cluster) == (worst.topic, worst.cluster)
        if same and other.group != worst.group and keeps_up and "other" not in observed.values:
            observed.values["other"] = other.group
            observed.quotes["another-group-keeps-up"] = lag.refs(facts, other.group, other.topic, *other.queues, most=1)


def _listener(
    facts: Facts, observed: Observed, group: str | None, worst: lag.Pair | None, best: stacks.Shared | None
) -> None:
    """Add why the group is slow: the frame its threads share, the listener's time, or that its pulls are held back."""
    pauses = _held_back(facts, group)
    if worst is not None and worst.client:
        own = {q.queue_id for q in worst.queues}
        pauses = [s for s in pauses if s.queue is None or (s.topic == worst.topic and s.queue[2] in own)]
    quoted = consumer_logs.quote(facts, pauses[:2])
    if best is not None:
        observed.values |= {"best": best, "serial": best.monitor}
        quoted = (*best.refs, *quoted)
    elif worst is not None and (slow := _slow(facts, worst)):
        observed.values |= slow[0]
        quoted = (slow[1], *quoted)
    observed.values |= {"held": sum(statement.n for statement in pauses), "held_group": group}
    observed.values["cache_full"] = pauses and all(statement.event == "receive-held-back" for statement in pauses)
    observed.quotes["slow-listener"] = quoted
    observed.window = observed.window or (None if lag.pairs(facts) else refs.of_rows(map(vars, pauses)).window)


def _statistics(facts: Facts, observed: Observed, group: str | None) -> None:
    """Add how far behind pulls were, if stats.log shows it: of the lagging group, else of any."""
    known = [s for s in consumer_logs.of(facts, "group-falls-behind", group=group) if s.group and s.high_behind_ms]
    far = [s for s in known if s.high_behind_ms >= FAR and not s.topic.startswith("%")]
    if by_topic := grouped(((s.group, s.topic), s) for s in far):
        lines = max(by_topic.values(), key=lambda lines: (len(lines), lines[0].group, lines[0].topic))
        seconds, queues = max(s.high_behind_ms for s in lines) // 1000, len({s.queue for s in lines})
        observed.values |= {"far": lines[0], "far_queues": queues, "seconds": seconds}
        observed.quotes["statistics"] = consumer_logs.quote(facts, lines[:2])


def _totals(facts: Facts, observed: Observed) -> None:
    """Add which group lags most in total by consumerProgress: the last look, and the first if their order is known."""
    rows = [row for row in members.blocks_of(facts, "consumerProgress") if integer(row.get("#Diff Total")) is not None]
    groups = grouped((row["#Group"], row) for row in rows if names.of_users(row.get("#Group") or ""))
    for looks in groups.values():
        timed = all(row["time"] for row in looks)
        in_order = timed or len({row["file"] for row in looks}) == 1
        looks.sort(key=lambda row: (row["time"] if timed else 0, 0 if in_order else int(row["#Diff Total"])))
        before, last = int(looks[0]["#Diff Total"]), int(looks[-1]["#Diff Total"])
        if last >= max(MUCH, observed.values.get("total", 0)):
            first = before if in_order and len(looks) > 1 else None
            observed.values |= {"total": last, "total_group": looks[-1]["#Group"], "total_before": first}
            shown = [looks[-1]] if first is None else [looks[0], looks[-1]]
            observed.quotes["lags-in-all"] = facts.refs((row["file"], row["line"]) for row in shown)


def _slow(facts: Facts, worst: lag.Pair) -> tuple[dict[str, Any], Ref] | None:
    """Return the numbers and the line if the listener's time in consumerStatus is too long for the rate of arrival."""
    seconds = max(q.seconds for q in worst.queues)
    arrived = sum(q.arrived for q in worst.queues) / seconds if seconds else 0.0
    running = (i for i in members.running(facts) if i["group"] == worst.group and worst.topic in i["rt"])
    running = (i for i in running if worst.client in (None, i["client_id"]))
    infos = {info["client_id"]: info for info in running}
    known: list[tuple[Any, ...]] = [
        (*info["rt"][worst.topic], integer(info["properties"].get("PROP_THREADPOOL_CORE_SIZE")), info["file"])
        for info in infos.values()
    ]
    if not known or not all(ms and threads for ms, _, threads, _ in known):
        return None
    most = sum(1000 * threads / ms for ms, _, threads, _ in known)
    if most >= arrived:
        return None
    ms, line, _, file = max(known, key=lambda each: each[0])
    rates = {"most": round(most, 1), "arrived": round(arrived, 1)}
    return {"ms": ms, "all_threads": sum(each[2] for each in known), **rates}, facts.ref(file, line)


def _held_back(facts: Facts, group: str | None) -> list[consumer_logs.Statement]:
    """Return the pulls held back, without those of a single stuck queue."""
    statements = consumer_logs.concerning(facts, group, "pull-held-back", "pull-held-back-cpp", "receive-held-back")
    still = any(statement.n > 1 and consumer_logs.at_one_message(statement) for statement in statements)
    return [] if still and len({statement.queue for statement in statements}) == 1 else statements


def _all_in_one(facts: Facts) -> tuple[str | None, stacks.Shared | None]:
    """Return the group whose consuming threads are all in the same call of a dump (before 4.9.0 threads name no group),
    and that dump; None without one, and where threads are deadlocked.
    """
    by_group = grouped((thread.group or None, thread) for thread in stacks.consuming(facts))
    busy = [
        (group, each)
        for group, threads in by_group.items()
        for each in stacks.shared(facts, threads)
        if each.threads == each.of >= FEWEST and not any(t.deadlocked for t in threads)
    ]
    return max(busy, key=lambda one: one[1].threads, default=(None, None))


def _best(shared: list[stacks.Shared]) -> stacks.Shared | None:
    """Return the dump in which most threads share a frame; of equals the last."""
    return max(shared, key=lambda s: (s.threads, s.dump), default=None)
