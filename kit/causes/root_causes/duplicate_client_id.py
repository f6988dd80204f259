"""duplicate-client-id: two processes of a group have the same client id, so both pull the same queues and nobody
pulls the others.

The broker keys its table by connection, the rebalancing by client id
(client/consumer/rebalance/AllocateMessageQueueAveragely: `cidAll.indexOf`), so each of n such processes computes the
first one's share. A client id is clientIP@instanceName (client/ClientConfig.buildMQClientId).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from kit.analysis.consumers import admin_output, consumer_logs, consumption, lag, members
from kit.causes import untouched_queues as untouched
from kit.causes.declared import Observed
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)
Shares = tuple[consumer_logs.Statement, consumer_logs.Statement]
Queues = dict[str, list[int]]
"""Queues by topic."""
STREAM = 5
"""Number of lines of offsets going back, from two addresses in one queue, above which it is no hand-over and no
reset.
"""


def observe(facts: Facts) -> Observed:
    """Find the client id that is used twice, the queues that have several owners and those that have none."""
    twice, back, shares = members.simultaneous(facts), _back_lines(facts), _same_shares(facts)
    listed, quoted = _listed(facts) or ({}, None)
    group = next(iter(sorted(twice, key=lambda g: (-len(twice[g]), g))), None)
    turning = max(sorted(back), key=lambda g: sum(s.count for s in back[g]), default=None)
    named = group or listed.get("listed_group") or turning or (shares[0][0].group if shares else None)
    observed = Observed(
        {"group": named, "asked": named or untouched.group(facts), **listed}, steps=untouched.steps(facts, named)
    )
    pairs = twice.get(named or "", [])
    if group:
        # A list taken at one moment shows it best, then the broker's log.
        first, second = max(twice[group], key=lambda pair: pair[0].listed)
        same = {c.address for pair in twice[group] for c in pair if c.client_id == first.client_id}
        observed.values |= {"twice": first.client_id, "same": len(same), "addresses": sorted(same)}
        quoted = first.ref(facts), second.ref(facts)
    observed.quotes["one-id-two-connections"] = quoted or ()
    if pair := next(((a, b) for a, b in shares if a.group == named), None):
        observed.values |= {"share_id": pair[0].values.get("client_id"), "share_topic": pair[0].values.get("topic")}
        observed.quotes["same-share"] = [said.ref(facts) for said in pair]
    if lines := back.get(named or ""):
        addresses = sorted({s.values["address"] for s in lines})
        observed.values |= {"back": sum(s.count for s in lines), "back_addresses": addresses}
        observed.quotes["offsets-go-back"] = [
            next(s for s in lines if s.values["address"] == address).ref(facts) for address in addresses[:2]
        ]
    if named:
        _owners(facts, observed, named, pairs)
    return observed


def _owners(facts: Facts, observed: Observed, group: str, pairs: list[members.Pair]) -> None:
    """Add which queues of the group several processes pull, and which nobody; and what both of them handled."""
    several, nobody = _shares(facts, group)
    doubled = consumption.by_several(facts, group)
    if doubled and doubled[0]:
        for topic, queues in doubled[2].items():
            several[topic] = sorted({*several.get(topic, []), *queues})
    ids = sorted({c.client_id for pair in pairs for c in pair})
    waiting = [
        q for p in lag.pairs(facts) if p.group == group for q in p.queues if q.queue_id in nobody.get(p.topic, [])
    ]
    observed.values |= {
        "client_ids": ids or None, "count": len({c.address for pair in pairs for c in pair}),
        "queues_of_several": several or None,
        "queues_of_nobody": nobody or None, "several": _words(several), "nobody": _words(nobody),
        "handled_twice": doubled[0] if doubled else None,
        "waiting": sum(q.last_lag for q in waiting),
    }  # fmt: skip
    name = "shares" if several and nobody else "shares_several" if several else "shares_nobody"
    observed.values["shares"] = TEXTS.say(name, **observed.values)
    observed.quotes["handled-twice"] = doubled[1] if doubled else ()
    observed.quotes["shares-wrong"] = _share_refs(facts, group, several, nobody)
    observed.window = members.window([c.first for pair in pairs for c in pair], facts)
    observed.tables = {"queue_owners": members.table(facts, group)}


def _share_refs(facts: Facts, group: str, several: Queues, nobody: Queues) -> list[Ref]:
    refs: list[Ref] = []
    for topic, queues in several.items():
        at = [h for h in members.holdings(facts) if h.group == group and h.queue[0] == topic and h.last is None]
        refs += [h.ref for h in at if h.queue[2] == queues[0]][:2]
    for topic, queues in nobody.items():
        refs += lag.refs(facts, group, topic, queues[0])
    return list(dict.fromkeys(refs)) or [s.ref(facts) for s in _back_lines(facts).get(group, [])[:2]]


def _listed(facts: Facts) -> tuple[dict[str, Any], tuple[Ref, Ref]] | None:
    """Return two lines of one list with the same client id, None if absent."""
    seen: dict[tuple[str, str, str], dict[str, Any]] = {}
    for block in admin_output.admin_blocks(facts):
        command, group = block["command"], block.get("-g")
        if not block.get("#ClientId") or not (
            command == "consumerStatus" or (command == "consumerConnection" and not group)
        ):
            continue
        before = seen.setdefault((block["file"], command, block["#ClientId"]), block)
        refs = facts.ref(before["file"], before["line"]), facts.ref(block["file"], block["line"])
        addresses = before.get("#ClientAddr"), block.get("#ClientAddr")
        if command == "consumerConnection" and all(addresses) and addresses[0] != addresses[1]:
            return {"listed": block["#ClientId"], "addresses": list(addresses)}, refs
        same_file = before.get("#ConsumerRunningInfoFile") == block.get("#ConsumerRunningInfoFile")
        if command == "consumerStatus" and before is not block and same_file:
            return {"listed": block["#ClientId"], "listed_group": group}, refs
    return None


def _back_lines(facts: Facts) -> dict[str, list[consumer_logs.Statement]]:
    """Return, by group, the lines of offsets going back in a queue that two addresses write."""
    by_queue: dict[tuple[str, Any], list[consumer_logs.Statement]] = defaultdict(list)
    for said in consumer_logs.of(facts, "consumer-offset-back"):
        if said.group and names.of_users(said.group) and said.values.get("address"):
            by_queue[said.group, said.queue].append(said)
    found: dict[str, list[consumer_logs.Statement]] = defaultdict(list)
    for (group, _), lines in by_queue.items():
        if len({s.values["address"] for s in lines}) > 1:
            found[group] += lines
    return {group: lines for group, lines in found.items() if sum(s.count for s in lines) >= STREAM}


def _same_shares(facts: Facts) -> list[Shares]:
    """Return pairs of rebalance results with one client id, several clients, and the same queues."""
    by_share: dict[Any, list[consumer_logs.Statement]] = defaultdict(list)
    for said in consumer_logs.of(facts, "queues-assigned", "queues-assigned-go"):
        topic, several = said.values.get("topic", ""), (integer(said.values.get("clients")) or 2) > 1
        queues = consumer_logs.queues(said.values.get("set", ""))
        if (
            said.group
            and names.of_users(said.group)
            and not topic.startswith(names.RETRY_PREFIX)
            and several
            and queues
        ):
            by_share[said.group, said.values.get("client_id"), topic, queues].append(said)
    pairs = []
    for lines in by_share.values():
        second = next((s for s in lines if s.place != lines[0].place), None)
        if second is not None:
            pairs.append((lines[0], second))
    return pairs


def _shares(facts: Facts, group: str) -> tuple[Queues, Queues]:
    """Return ({topic: queues with several owners}, {topic: queues with none}) of a group, without its retry topic."""
    several: dict[str, set[int]] = defaultdict(set)
    nobody: dict[str, set[int]] = defaultdict(set)
    held = members.holders_at_end(facts, group)
    owners = {queue: places for queue, places in held.items() if not queue[0].startswith(names.RETRY_PREFIX)}
    for queue, places in owners.items():
        if len(places) > 1:
            several[queue[0]].add(queue[2])
    for said in _back_lines(facts).get(group, []):
        if said.queue:
            several[said.queue[0]].add(said.queue[2])
    for pair in lag.pairs(facts):
        if pair.group != group or pair.topic.startswith(names.RETRY_PREFIX):
            continue
        owned = {queue[2] for queue in owners if queue[0] == pair.topic}
        for course in pair.queues:
            idle = course.last_lag > 0 and (
                course.stands or (course.never_handled and course.looks == 1 and course.last_lag > lag.LEAST)
            )
            others_go = any(q.advanced > 0 or not q.last_lag for q in pair.queues if q is not course)
            if idle and others_go and course.queue_id not in owned:
                nobody[pair.topic].add(course.queue_id)
    return ({t: sorted(q) for t, q in sorted(several.items())}, {t: sorted(q) for t, q in sorted(nobody.items())})


def _words(queues: dict[str, list[int]]) -> str:
    return ", ".join(f"{topic} {'/'.join(map(str, ids))}" for topic, ids in queues.items())
