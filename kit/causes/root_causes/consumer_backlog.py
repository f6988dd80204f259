"""consumer-backlog: a group handles a topic more slowly than it is written, so messages pile up in all its queues.

Deciding steps: the lag grew in every queue that got messages while the offsets went on (two copies of consumerOffset.json against the store, or two
consumerProgress outputs) · the application's own frame that most consuming threads share in a dump, the time the listener takes (consumerStatus), or flow
control of that group (client/impl/consumer/DefaultMQPushConsumerImpl.pullMessage). A lag that shrinks again is a burst.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import attrs

from kit.analysis.consumers import admin_output, consumer_logs, consumption, lag, positions, stacks
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


MUCH = 1_000
"""Total lag, in messages, from which a single look counts: pullThresholdForQueue, what one client keeps of one queue."""
FAR = 60_000
"""ms by which the pulls of a group have to be behind: a group that keeps up is less than a second behind."""


def examine(facts: Facts) -> Finding:
    """Report whether a group falls behind, by how much, and in which call its threads are."""
    finding = TEXTS.finding()
    pairs = lag.pairs(facts)
    growing = sorted((p for p in pairs if p.backlog), key=lambda p: (-(p.growth_per_second or 0), p.name))
    worst = growing[0] if growing else None
    held_back = [said.group for said in _held_back(facts, None) if said.group]
    group = worst.group if worst else max(sorted(set(held_back)), key=held_back.count, default=None)
    threads = stacks.of_group(facts, group, frozenset(consumption.places(facts, group))) if group else []
    shared = stacks.shared(facts, threads)
    finding.steps = [_grew(facts, pairs, worst), _reason(facts, worst, group, shared), _others(facts, pairs, worst)]
    finding.steps += _statistics(facts, worst)
    finding.steps += _totals(facts) if not pairs else []
    once = next((p for p in pairs if p.behind_everywhere), None) if worst is None else None
    if once is not None:
        claim = TEXTS.say("one_look", name=once.name, lag=once.lag, queues=len(once.queues))
        refs = lag.refs(facts, once.group, once.topic, most=1)
        finding.steps.append(supporting("lags-everywhere", claim, True, refs))
        group = group or once.group
    behind = worst or once
    finding.actors = (behind.group, behind.topic) if behind else ()
    finding.figures = _figures(
        pairs, worst, _best(shared) if worst else _best(stacks.shared(facts, stacks.consuming(facts)))
    )
    finding.tables = _tables(facts, pairs)
    if worst is not None:
        finding.window = _window(worst)
        _tell(finding, worst, shared)
    elif finding.verdict == "suspected":
        lags = TEXTS.say("maybe_lags", name=once.name) if once else TEXTS.say("maybe_total")
        finding.summary = TEXTS["maybe"] if finding.steps[1].holds else lags
    if finding.verdict != "ruled_out":
        finding.missing = _missing(facts, finding, group)
    return finding


def _grew(facts: Facts, pairs: list[lag.Pair], worst: lag.Pair | None) -> Step:
    if worst is not None:
        before = sum(q.first_lag for q in worst.queues)
        active = sum(q.arrived > 0 for q in worst.queues)
        claim = TEXTS.say("grew", name=worst.name, before=before, after=worst.lag, queues=active)
        return deciding("lag-grows", claim, True, lag.refs(facts, worst.group, worst.topic))
    burst = max((p for p in pairs if p.shrinks), key=lambda p: p.peak, default=None)
    known = bool(pairs) and all(p.backlog_known for p in pairs)
    if known and burst is not None and burst.peak > lag.SMALL:
        claim = TEXTS.say("shrank", name=burst.name, before=burst.peak, after=burst.lag)
        return deciding("lag-grows", claim, False, lag.refs(facts, burst.group, burst.topic))
    return deciding("lag-grows", TEXTS["not_grew"], False if known else None)


def _statistics(facts: Facts, worst: lag.Pair | None) -> list[Step]:
    """Return the step that pulls were far behind, if stats.log shows it: of the lagging group, else of any."""
    far: dict[tuple[str, str], list[consumer_logs.Statement]] = defaultdict(list)
    for said in consumer_logs.of(facts, "group-falls-behind", group=worst.group if worst else None):
        if said.group and said.highest.get("behind_ms", 0) >= FAR and not said.values["topic"].startswith("%"):
            far[said.group, said.values["topic"]].append(said)
    if not far:
        return []
    (group, topic), lines = max(far.items(), key=lambda each: (len(each[1]), each[0]))
    most = max(said.highest["behind_ms"] for said in lines)
    claim = TEXTS.say(
        "behind", group=group, topic=topic, seconds=most // 1000, queues=len({said.queue for said in lines})
    )
    return [supporting("statistics", claim, True, tuple(said.ref(facts) for said in lines[:2]))]


def _totals(facts: Facts) -> list[Step]:
    """Return the step that a group lags in total, from a consumerProgress of all groups: without queues, at one moment."""
    rows = [
        b
        for b in admin_output.admin_blocks(facts)
        if b["command"] == "consumerProgress" and names.of_users(b.get("#Group") or "")
    ]
    lags = [(integer(row.get("#Diff Total")) or 0, row) for row in rows]
    most, row = max(lags, key=lambda each: each[0], default=(0, None))
    if row is None or most < MUCH:
        return []
    ref = facts.ref(row["file"], row["line"])
    return [supporting("lags-in-all", TEXTS.say("total", group=row["#Group"], lag=most), True, (ref,))]


def _reason(facts: Facts, worst: lag.Pair | None, group: str | None, shared: list[stacks.Shared]) -> Step:
    """Return why the group is slow: the frame its threads share, the listener's time, or that its pulls are held back."""
    best = _best(shared)
    held = _held_back(facts, group)
    lines = tuple(said.ref(facts) for said in held[:2])
    if best is not None and group:
        listener = TEXTS["serial"] if best.monitor else TEXTS["shared"]
        claim = listener.say(threads=best.threads, of=best.of, group=group, frame=best.frame)
        return deciding("slow-listener", claim, True, (*best.refs, *lines))
    if worst is not None and (slow := _slow(facts, worst)):
        return deciding("slow-listener", slow[0], True, (slow[1], *lines))
    if held:
        count = sum(said.count for said in held)
        claim = TEXTS.say("held_back", group=group, count=count) if group else TEXTS.say("held_back_some", count=count)
        if all(said.event == "receive-held-back" for said in held):
            claim = TEXTS.say("cache_full", count=count)
        return deciding("slow-listener", claim, True, lines)
    return deciding("slow-listener", TEXTS["no_reason"], None)


def _slow(facts: Facts, worst: lag.Pair) -> tuple[Any, Ref] | None:
    """Return the claim and the line if the listener's time in consumerStatus is too long for the rate of arrival."""
    seconds = max(q.seconds for q in worst.queues)
    arrived = sum(q.arrived for q in worst.queues) / seconds if seconds else 0.0
    infos = {
        info["client_id"]: info
        for info in admin_output.running(facts)
        if info["group"] == worst.group and worst.topic in info["rt"]
    }
    known = [
        (info, *info["rt"][worst.topic], integer(info["properties"].get("PROP_THREADPOOL_CORE_SIZE")))
        for info in infos.values()
    ]
    if not known or any(not ms or not threads for _, ms, _, threads in known):
        return None
    most = sum(1000 * (threads or 0) / ms for _, ms, _, threads in known)
    if most >= arrived:
        return None
    info, ms, line, _ = max(known, key=lambda k: k[1])
    rates = {"most": round(most, 1), "arrived": round(arrived, 1)}
    claim = TEXTS.say("slow", group=worst.group, ms=ms, threads=sum(k[3] or 0 for k in known), **rates)
    return claim, facts.ref(info["file"], line)


def _held_back(facts: Facts, group: str | None) -> list[consumer_logs.Statement]:
    """Return the lines of pulls held back, of one group if known; those of a single stuck queue belong to another cause."""
    said = [
        s
        for s in consumer_logs.of(facts, "pull-held-back", "pull-held-back-cpp", "receive-held-back")
        if group is None or s.group in (group, None)
    ]
    still = [
        s
        for s in said
        if s.count > 1
        and s.lowest.get("min_offset") is not None
        and s.lowest["min_offset"] == s.highest.get("min_offset")
    ]
    return [] if still and len({s.queue for s in said}) == 1 else said


def _others(facts: Facts, pairs: list[lag.Pair], worst: lag.Pair | None) -> Step:
    for other in pairs if worst is not None else ():
        keeps_up = all(q.last_lag <= lag.SMALL for q in other.queues) and any(q.advanced for q in other.queues)
        if worst is not None and other.topic == worst.topic and other.group != worst.group and keeps_up:
            quoted = lag.refs(facts, other.group, other.topic, most=1)
            return supporting("another-group-keeps-up", TEXTS.say("others", group=other.group), True, quoted)
    return supporting("another-group-keeps-up", TEXTS["no_others"], None)


def _best(shared: list[stacks.Shared]) -> stacks.Shared | None:
    """Return the dump in which most threads share a frame; of equals the last."""
    return max(shared, key=lambda s: (s.threads, s.dump), default=None)


def _figures(pairs: list[lag.Pair], worst: lag.Pair | None, best: stacks.Shared | None) -> dict[str, Any]:
    largest = worst or (pairs[0] if pairs else None)
    if worst is None:
        moved = [p for p in pairs if p.growth_per_second is not None]
        largest = max(moved, key=lambda p: (abs(p.growth_per_second or 0), p.name), default=largest)
    return {
        "lag": {p.name: p.lag for p in pairs} or None,
        "lag_per_queue": {p.name: p.per_queue for p in pairs} or None,
        "growth_per_second": largest.growth_per_second if largest else None,
        "listener_frame": best.frame if best else None,
        "listener_threads": best.threads if best else None,
    }


def _window(worst: lag.Pair) -> Any:
    firsts, lasts = [q.first for q in worst.queues if q.first], [q.last for q in worst.queues if q.last]
    return (min(firsts), max(lasts)) if firsts and lasts else None


def _tables(facts: Facts, pairs: list[lag.Pair]) -> dict[str, Any]:
    every = positions.every(facts)
    if not pairs:
        return {}
    shown = every[every["end"].notna()][
        ["time", "source", "group", "topic", "broker", "queue_id", "offset", "end", "lag", "file", "line"]
    ]
    tables: dict[str, Any] = {"consumer_lag": shown.head(5_000)}
    frames = stacks.table(facts)
    if len(frames):
        tables["consuming_threads"] = frames
    return tables


def _tell(finding: Finding, worst: lag.Pair, shared: list[stacks.Shared]) -> None:
    best = _best(shared)
    said = {"group": worst.group, "lag": worst.lag, "topic": worst.topic, "rate": worst.growth_per_second}
    finding.summary = TEXTS.say("summary", **said)
    if best is not None:
        finding.summary = TEXTS.say("summary_where", **said, threads=best.threads, of=best.of, frame=best.frame)
    first = TEXTS.remedy("faster", frame=best.frame if best else None)
    if best is None:
        first = attrs.evolve(first, action=TEXTS["action_any"])
    elif best.monitor:
        first = TEXTS.remedy("synchronized", frame=best.frame)
    finding.remedies = [first, TEXTS.remedy("scale", queues=len(worst.queues))]


def _missing(facts: Facts, finding: Finding, group: str | None) -> list[Missing]:
    grew, reason = finding.steps[0].holds, finding.steps[1].holds
    wanted = []
    if grew is None:
        wanted.append(collect_next.ask("offsets", TEXTS["want_positions"], group=group))
    if reason is None or (grew and not stacks.consuming(facts)):
        wanted += [
            collect_next.ask("thread dumps", TEXTS["want_dump"]),
            collect_next.ask("running clients", TEXTS["want_status"], group=group),
        ]
    return wanted
