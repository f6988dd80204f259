"""What became of one message in each consumer group that could have consumed it, and why nobody did.

From subscriptions, offsets, queue owners, jumps of offsets, ledgers and the end of a replica.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import attrs
import pandas as pd

from kit.analysis import brokers
from kit.analysis.consumers import consumption, lag, members, positions, replicas
from kit.i18n import Sentence, labels
from kit.inventory.references import Ref
from kit.rocketmq import names, stages
from kit.tables.facts import Facts, memo

Fate = Literal[
    "consumed", "failed", "filtered", "skipped", "not-handled", "passed",
    "holds-queue", "behind-stuck", "queue-of-nobody", "not-reached", "later", "unknown", "deleted", "lost-with-master",
]  # fmt: skip
WHY: Final = labels("analysis")["outcomes"]
VISIBLE: Final = (stages.ORIGINAL, stages.COMMIT, stages.DUE, stages.RETRY)
"""Stages in which a copy can be consumed."""
MOST: Final = 200
"""Copies of which it is told."""
_TAGS: Final = re.compile(r"[^'\"=<>()]*")


@attrs.frozen
class Outcome:
    """What became of one copy in one group; None for what it is about none of."""

    fate: Fate
    why: Sentence
    group: str | None = None
    topic: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    offset_msg_id: str | None = None
    evidence: tuple[Ref, ...] = ()


def of(facts: Facts, records: Sequence[dict[str, Any]], deliveries: Sequence[dict[str, Any]], sent: Sequence[str]) -> list[Outcome]:  # fmt: skip
    """Return what became of the copies (rows with the columns of the records) of a message, and of sends of it that
    left no copy.

    `deliveries`: its rows in ledgers (file, line, uniq_key, offset_msg_id, success); `sent`: its UNIQ_KEYs or keys.
    """
    visible = [r for r in records if r["stage"] in VISIBLE and not names.is_system_topic(r["topic"])]
    found = [
        _in_group(facts, record, group, deliveries)
        for record in visible[:MOST]
        for group in groups(facts, record["topic"])
    ]
    return found if records else [*_without_record(facts, sent), *_handled_elsewhere(facts, deliveries)]


def groups(facts: Facts, topic: str) -> list[str]:
    """Return the users' groups that could have consumed a topic: by offsets, subscriptions, or because it is their retry topic."""
    if topic.startswith(names.RETRY_PREFIX):
        return [topic.removeprefix(names.RETRY_PREFIX)]
    return _groups(facts).get(topic, [])


@memo
def _groups(facts: Facts) -> dict[str, list[str]]:
    every = positions.every(facts)
    pairs = set(zip(every["topic"], every["group"], strict=True))
    pairs |= {(topic, s.group) for s in members.subscriptions(facts) for topic in s.topics}
    found: dict[str, list[str]] = {}
    for topic, group in sorted(pairs):
        found.setdefault(topic, []).append(group)
    return found


def _in_group(facts: Facts, record: dict[str, Any], group: str, deliveries: Sequence[dict[str, Any]]) -> Outcome:
    topic, queue, offset = record["topic"], record["queue_id"], record["queue_offset"]

    def told(fate: Fate, refs: Iterable[Ref] = (), say: str | None = None, **values: Any) -> Outcome:
        why = WHY[say or fate].say(**{"group": group, "queue": queue, **values})
        return Outcome(fate, why, group, topic, queue, offset, record["offset_msg_id"], tuple(refs))

    known = _position(facts, record, group)
    of_record = [h for h in deliveries if _is_of(h, record) and _belongs(facts, h, group, topic)]
    # A result that is no known word is one that ended it where the group's offset went on.
    done = [h for h in of_record if h["success"] or (h["success"] is None and (known is None or offset < known[0]))]
    refs = [facts.ref(h["file"], h["line"]) for h in (done or of_record)[:2]]
    if done:
        return told("consumed", refs, count=len(done))
    if known is None:
        return told("failed", refs, count=len(of_record)) if of_record else told("unknown")
    at, end, ref = known
    stuck = next((s for s in lag.stuck(facts) if (s.group, s.topic, s.queue_id, s.offset) == (group, topic, queue, at)), None)  # fmt: skip
    if stuck is not None and offset == at and of_record:
        return told("holds-queue", (*refs, *lag.refs(facts, group, topic, queue)), offset=at)
    if of_record:
        return told("failed", refs, count=len(of_record))
    if offset < at:
        return _behind(facts, record, group, at, told, ref)
    if _nobodys(facts, group, record):
        return told("queue-of-nobody", ref, offset=at)
    if stuck is not None:
        looks = lag.refs(facts, group, topic, queue)
        return told("holds-queue" if offset == at else "behind-stuck", looks, offset=at)
    if end is not None and offset >= end:
        return told("later", ref, offset=at)
    return told("not-reached", ref, offset=at, before=offset - at)


def _behind(facts: Facts, record: dict[str, Any], group: str, at: int, told: Any, ref: tuple[Ref, ...]) -> Outcome:
    """Return why a copy at or after the group's offset was not handled."""
    topic, queue, offset = record["topic"], record["queue_id"], record["queue_offset"]
    for move in facts.rows("offset_moves"):
        same = (move["group"], move["topic"], move["queue_id"]) == (group, topic, queue) and move["kind"] != "reset"
        if same and (move["start"] or 0) <= offset < move["end"]:
            line = (facts.ref(move["file"], move["line"]),)
            return told("skipped", line, f"skipped-{move['kind']}", start=move["start"], end=move["end"])
    complete = bool(consumption.ledgers(facts, group))
    expressions = _expressions(facts, group, topic)
    fits = {text: matches(text, record["tags"]) for text in expressions}
    refused = [text for text, fit in fits.items() if fit is False]
    if refused and (len(refused) == len(fits) or complete):
        say = "filtered" if len(refused) == len(fits) else "filtered-differing"
        refs = [expressions[text] for text in (*refused, *fits)][:2]
        return told("filtered", dict.fromkeys(refs), say, tag=record["tags"] or "–", expressions=sorted(fits))
    return told("not-handled" if complete else "passed", ref, offset=at)


def matches(expression: str, tag: str | None) -> bool | None:
    """Return whether a tag expression (`FilterAPI.buildSubscriptionData`) matches a tag; None for SQL92."""
    text = expression.strip()
    if text in ("", "*"):
        return True
    if not _TAGS.fullmatch(text) or re.search(r"(?i)\b(?:is|in|and|or|between|not)\b", text):
        return None
    return (tag or "") in {part.strip() for part in text.split("||")}


def _expressions(facts: Facts, group: str, topic: str) -> dict[str, Ref]:
    """Return {expression: a line that shows it} of the clients of a group that subscribe to a topic."""
    found: dict[str, Ref] = {}
    for each in members.subscriptions(facts):
        if each.group == group and topic in each.topics:
            found.setdefault(each.topics[topic], each.ref)
    return found


def _position(facts: Facts, record: dict[str, Any], group: str) -> tuple[int, int | None, tuple[Ref, ...]] | None:
    """Return (offset, end of the queue then, the line) of the last known position of a group in a copy's queue."""
    last = consumption.last_positions(facts, group, record["topic"])
    last = last[last["queue_id"] == record["queue_id"]]
    broker = brokers.of_file(facts, record["file"])
    if broker is not None and last["broker"].nunique() > 1:
        last = last[last["broker"] == broker.name]
    if last.empty:
        return None
    row = last.iloc[-1]
    at = next((int(row[name]) for name in ("offset", "begin") if pd.notna(row[name])), 0)
    refs = (facts.ref(row["file"], int(row["line"])),) if pd.notna(row["line"]) else ()  # fmt: skip
    return at, None if pd.isna(row["end"]) else int(row["end"]), refs


def _nobodys(facts: Facts, group: str, record: dict[str, Any]) -> bool:
    """Return whether no client of a group pulls a copy's queue: by the owners of the other queues, else because nothing
    in it was ever handled while others advanced.
    """
    topic, queue = record["topic"], record["queue_id"]
    if members.unowned(facts, group, topic, queue):
        return True
    pair = next((p for p in lag.pairs(facts) if (p.group, p.topic) == (group, topic)), None)
    if pair is None or members.owned(facts, group, topic, queue):
        return False
    idle = {q.queue_id for q in (*pair.untouched, *(q for q in pair.queues if q.stands and q.never_handled))}
    return queue in idle and any(q.advanced > 0 for q in pair.queues)


def _is_of(row: dict[str, Any], record: dict[str, Any]) -> bool:
    if row["offset_msg_id"]:
        return bool(row["offset_msg_id"] == record["offset_msg_id"])
    return record["stage"] != stages.RETRY and row["uniq_key"] is not None and row["uniq_key"] == record["uniq_key"]


def _belongs(facts: Facts, row: dict[str, Any], group: str, topic: str) -> bool:
    """Return whether a ledger belongs to a group: it names the group, or only this one of the topic's groups consumes on its host."""
    if row.get("consumer") == group:
        return True
    place = str(PurePosixPath(row["file"]).parent)
    here = [each for each in groups(facts, topic) if place in _places(facts).get(each, ())]
    return here == [group]


@memo
def _places(facts: Facts) -> dict[str, set[str]]:
    every = {group for found in _groups(facts).values() for group in found}
    return {group: consumption.places(facts, group) for group in sorted(every)}


# --- without a record ----------------------------------------------------------------------------------------------------


def _without_record(facts: Facts, sent: Sequence[str]) -> Iterable[Outcome]:
    """Yield the fate of a message that no store has, by senders' ledgers: deleted since, or lost with its master."""
    if not facts.has("sends") or not sent:
        return
    rows, ends = facts.answers("acknowledged_sends", names=list(sent)), replicas.ends(facts)
    for row in rows:
        place = replicas.of_id(row["offset_msg_id"])
        end = ends.get(place[0]) if place else None
        if place is None or end is None:
            continue
        ref, copy = facts.ref(row["file"], row["line"]), row["offset_msg_id"]
        if place[1] >= end["end"] and replicas.slaves(facts) and not replicas.master_stored(facts):
            why = WHY["lost-with-master"].say(end=end["end"])
            yield Outcome("lost-with-master", why, offset_msg_id=copy, evidence=(ref, replicas.last_record(end)))
        elif place[1] < end["begin"]:
            yield Outcome("deleted", WHY["deleted"].say(begin=end["begin"]), offset_msg_id=copy, evidence=(ref,))
            yield from _jumped_over(facts, copy, ref)


def _jumped_over(facts: Facts, copy: str, ref: Ref) -> Iterable[Outcome]:
    """Yield the groups whose offset jumped over deleted messages, where it can only have been in one topic."""
    jumped = [m for m in facts.rows("offset_moves") if m["kind"] == "deleted-before-consumed"]
    topics = {topic for topic in _groups(facts) if not topic.startswith(names.RETRY_PREFIX)}
    for group in sorted({m["group"] for m in jumped if topics == {m["topic"]}}):
        if consumption.ledgers(facts, group) and not facts.answers("deliveries_in_group", group=group, copy=copy):
            moves = [m for m in jumped if m["group"] == group]
            line = facts.ref(moves[0]["file"], moves[0]["line"])
            queues = sorted({m["queue_id"] for m in moves if m["queue_id"] is not None})
            why = WHY["skipped-deleted"].say(group=group, queues=queues)
            yield Outcome("skipped", why, group, moves[0]["topic"], offset_msg_id=copy, evidence=(ref, line))


def _handled_elsewhere(facts: Facts, deliveries: Sequence[dict[str, Any]]) -> Iterable[Outcome]:
    """Yield the groups whose ledgers have a message that no store has any longer."""
    by_group: dict[str, list[dict[str, Any]]] = {}
    for row in deliveries:
        place = str(PurePosixPath(row["file"]).parent)
        here = [group for group, places in _places(facts).items() if place in places]
        if len(here) == 1 and row["success"] is not False:
            by_group.setdefault(here[0], []).append(row)
    for group, rows in sorted(by_group.items()):
        refs = facts.refs((r["file"], r["line"]) for r in rows[:2])
        why = WHY["consumed"].say(group=group, count=len(rows))
        yield Outcome("consumed", why, group, offset_msg_id=rows[0]["offset_msg_id"], evidence=refs)
