"""duplicate-client-id: two processes of a group have the same client id, so both pull the same queues and nobody pulls the others.

Deciding steps: one client id on two connections of a group at the same time (consumerConnection, or the broker's log) · queues pulled by several processes, or
by nobody. The broker keys its table by connection, the rebalancing by client id (client/consumer/rebalance/AllocateMessageQueueAveragely: `cidAll.indexOf`),
so each of n such processes computes the first one's share. A client id is clientIP@instanceName (client/ClientConfig.buildMQClientId).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final, NamedTuple

from kit.analysis.consumers import admin_output, consumer_logs, consumption, lag, members
from kit.causes import collect_next
from kit.causes import untouched_queues as untouched
from kit.causes.findings import Finding, Missing, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.formats.values import integer
from kit.i18n import Sentence
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)

Shares = tuple[consumer_logs.Statement, consumer_logs.Statement]
STREAM = 5
"""Number of lines of offsets going back, from two addresses in one queue, above which it is no hand-over and no reset."""


def examine(facts: Facts) -> Finding:
    """Report which client id is used twice, which queues have several owners and which none."""
    finding = TEXTS.finding()
    twice = members.simultaneous(facts)
    group = next(iter(sorted(twice, key=lambda g: (-len(twice[g]), g))), None)
    listed, shares = _listed(facts), _same_shares(facts)
    named = group or (listed and listed.group) or _back_group(facts) or (shares[0][0].group if shares else None)
    several, nobody = _shares(facts, named, twice.get(named or "", [])) if named else ({}, {})
    doubled = consumption.by_several(facts, named) if named else None
    if doubled and doubled[0]:
        for topic, queues in doubled[2].items():
            several[topic] = sorted({*several.get(topic, []), *queues})
    finding.steps = [
        _twice(facts, group, twice, listed),
        _shares_step(facts, named, several, nobody),
        _back(facts, named),
        _same_share(facts, named, shares),
        _handled_twice(doubled),
        *untouched.steps(facts, named),
    ]
    finding.figures = {
        "group": named,
        "client_ids": _ids(twice.get(named or "", [])) or None,
        "queues_of_several": several or None,
        "queues_of_nobody": nobody or None,
        "handled_twice": doubled[0] if doubled else None,
    }
    if named is not None:
        finding.window = members.window([c.first for pair in twice.get(named, []) for c in pair], facts)
        _tell(facts, finding, named, twice.get(named, []), several, nobody, doubled[0] if doubled else None)
    elif finding.verdict == "suspected":
        finding.summary = finding.steps[0].claim if finding.steps[0].holds else TEXTS["maybe_idle"]
        if finding.steps[0].holds:
            finding.remedies = [TEXTS.remedy("upgrade")]
    if finding.verdict != "ruled_out":
        finding.missing = _missing(facts, finding, named or untouched.group(facts), doubled is None)
    return finding


def _handled_twice(doubled: tuple[int, tuple[Ref, ...], Any] | None) -> Step:
    if not doubled or not doubled[0]:
        return supporting("handled-twice", TEXTS["not_handled_twice"], None)
    return supporting("handled-twice", TEXTS.say("handled_twice", count=doubled[0]), True, doubled[1])


def _twice(facts: Facts, group: str | None, twice: dict[str, list[members.Pair]], listed: _Listed | None) -> Step:
    if group is not None:
        # A list taken at one moment shows it best, then the broker's log.
        first, second = max(twice[group], key=lambda pair: pair[0].listed)
        same = {c.address for pair in twice[group] for c in pair if c.client_id == first.client_id}
        claim = TEXTS.say("twice", id=first.client_id, count=len(same), group=group, addresses=sorted(same))
        return deciding("one-id-two-connections", claim, True, (first.ref(facts), second.ref(facts)))
    if listed is not None:
        return deciding("one-id-two-connections", listed.claim, True, listed.refs)
    known = bool(members.connections(facts))
    return deciding("one-id-two-connections", TEXTS["not_twice"], False if known else None)


class _Listed(NamedTuple):
    """Two lines of one list with the same client id; `group`: None if the list does not name it."""

    claim: Sentence
    refs: tuple[Ref, Ref]
    group: str | None


def _listed(facts: Facts) -> _Listed | None:
    """Return the lines in which an output of consumerStatus, or a list of connections of an unknown group, has one client id twice."""
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
            return _Listed(TEXTS.say("listed_here", id=block["#ClientId"], addresses=list(addresses)), refs, None)
        same_file = before.get("#ConsumerRunningInfoFile") == block.get("#ConsumerRunningInfoFile")
        if command == "consumerStatus" and before is not block and same_file:
            return _Listed(TEXTS.say("listed", id=block["#ClientId"], group=group), refs, group)
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


def _back_group(facts: Facts) -> str | None:
    found = _back_lines(facts)
    return max(sorted(found), key=lambda g: sum(s.count for s in found[g]), default=None)


def _back(facts: Facts, group: str | None) -> Step:
    lines = _back_lines(facts).get(group or "", [])
    if not lines:
        return supporting("offsets-go-back", TEXTS["not_back"], None)
    addresses = sorted({s.values["address"] for s in lines})
    claim = TEXTS.say("back", group=group, addresses=addresses, count=sum(s.count for s in lines))
    refs = [next(s for s in lines if s.values["address"] == address).ref(facts) for address in addresses[:2]]
    return supporting("offsets-go-back", claim, True, tuple(refs))


def _same_shares(facts: Facts) -> list[Shares]:
    """Return pairs of rebalance results in which two processes with one client id took the same queues, knowing that there are several clients."""
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


def _same_share(facts: Facts, group: str | None, pairs: list[Shares]) -> Step:
    pair = next(((a, b) for a, b in pairs if a.group == group), None)
    if pair is None:
        return supporting("same-share", TEXTS["not_same_share"], None)
    claim = TEXTS.say("same_share", id=pair[0].values.get("client_id"), topic=pair[0].values.get("topic"))
    return supporting("same-share", claim, True, (pair[0].ref(facts), pair[1].ref(facts)))


def _shares(facts: Facts, group: str, pairs: list[Any]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
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


def _shares_step(facts: Facts, group: str | None, several: dict[str, list[int]], nobody: dict[str, list[int]]) -> Step:
    if group is None or not (several or nobody):
        return deciding("shares-wrong", TEXTS["not_shares"], None)
    refs: list[Ref] = []
    for topic, queues in several.items():
        held = [
            h
            for h in members.holdings(facts)
            if h.group == group and h.queue[0] == topic and h.queue[2] == queues[0] and h.last is None
        ]
        refs += [h.ref for h in held[:2]]
    for topic, queues in nobody.items():
        refs += lag.refs(facts, group, topic, queues[0])
    if not refs:
        refs = [s.ref(facts) for s in _back_lines(facts).get(group, [])[:2]]
    return deciding("shares-wrong", _claim(group, several, nobody), True, tuple(dict.fromkeys(refs)))


def _claim(group: str, several: dict[str, list[int]], nobody: dict[str, list[int]]) -> Sentence:
    """Return which queues are pulled by several processes and which by nobody, as far as the evidence shows either."""
    one = TEXTS["shares_several"] if several else TEXTS["shares_nobody"]
    claim = TEXTS["shares"] if several and nobody else one
    return claim.say(several=_words(several), group=group, nobody=_words(nobody))


def _words(queues: dict[str, list[int]]) -> str:
    return ", ".join(f"{topic} {'/'.join(map(str, ids))}" for topic, ids in queues.items())


def _ids(pairs: list[members.Pair]) -> list[str]:
    """Return the client ids that several connections have at the same time, each once."""
    return sorted({c.client_id for pair in pairs for c in pair})


def _tell(
    facts: Facts, finding: Finding, group: str, pairs: list[Any], several: Any, nobody: Any, doubled: int | None
) -> None:
    ids = _ids(pairs)
    count = len({c.address for pair in pairs for c in pair})
    if not pairs:
        finding.summary = TEXTS.say("maybe", group=group)
    elif several or nobody:
        finding.summary = TEXTS.say("summary", ids=ids, count=count, shares=_claim(group, several, nobody))
    else:
        finding.summary = TEXTS.say("summary_plain", ids=ids, count=count, group=group)
    own = [p for p in lag.pairs(facts) if p.group == group]
    waiting = sum(q.last_lag for p in own for q in p.queues if q.queue_id in nobody.get(p.topic, []))
    finding.remedies = [TEXTS.remedy("action", waiting=waiting), TEXTS.remedy("upgrade")]
    if doubled:
        finding.remedies.append(TEXTS.remedy("idempotent", count=doubled))
    finding.tables = {"queue_owners": members.table(facts, group)}


def _missing(facts: Facts, finding: Finding, group: str | None, no_ledger: bool) -> list[Missing]:
    wanted = []
    if finding.steps[0].holds is None:
        wanted.append(collect_next.ask("connections", TEXTS["want_connection"], group=group))
    if finding.steps[1].holds is None:
        wanted += [
            collect_next.ask("consumer's client log", TEXTS["want_client"]),
            collect_next.ask("offsets", TEXTS["want_positions"], group=group),
        ]
    if no_ledger and finding.steps[0].holds:
        wanted.append(collect_next.ask("deliveries", TEXTS["want_ledger"]))
    return wanted
