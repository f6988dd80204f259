"""What became of one message in each consumer group that could have consumed it, and why nobody did.

From subscriptions, offsets, queue owners, jumps of offsets, ledgers and the end of a replica.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pandas as pd

from kit.analysis import brokers
from kit.analysis.consumers import lag, members, offsets, replicas
from kit.data import grouped
from kit.i18n import labels
from kit.inventory.model import Ref, folder_of
from kit.rocketmq import names, stages
from kit.tables.facts import Facts, memo

WHY: Final = labels("analysis")["outcomes"]
VISIBLE: Final = (stages.ORIGINAL, stages.COMMIT, stages.DUE, stages.RETRY)
"""Stages in which a copy can be consumed."""
MOST: Final = 200
"""Copies of which it is told."""
PLACE: Final = ("topic", "queue_id", "queue_offset", "offset_msg_id")
"""Where a copy is."""
_TAGS: Final = re.compile(r"[^'\"=<>()]*")
Row = dict[str, Any]


def of(facts: Facts, records: Sequence[Row], deliveries: Sequence[Row], sent: Sequence[str]) -> list[Row]:
    """Return what became of the copies (rows with the columns of the records) of a message, and of sends of it that
    left no copy: group (None where it is of none), the columns of `PLACE`, fate, text (why), evidence.

    `deliveries`: its rows in ledgers (file, line, uniq_key, offset_msg_id, success); `sent`: its UNIQ_KEYs or keys.
    """
    if not records:
        return [*_without_record(facts, sent), *_handled_elsewhere(facts, deliveries)]
    visible = [r for r in records if r["stage"] in VISIBLE and not names.is_system_topic(r["topic"])]
    return [
        _outcome(*_judged(facts, r, group, deliveries), group, **{name: r[name] for name in PLACE})
        for r in visible[:MOST]
        for group in groups(facts, r["topic"])
    ]


def _outcome(says: str, refs: Iterable[Ref], values: Row, group: str | None = None, **place: Any) -> Row:
    """Return what became of one copy in a group; `says`: a key of `WHY`, which begins with the fate."""
    why = WHY[says].say(**{"group": group, "queue": place.get("queue_id"), **values})
    fate = next((fate for fate in ("skipped", "filtered") if says.startswith(fate)), says)
    where = {"group": group, **dict.fromkeys(PLACE), **place}
    return where | {"fate": fate, "text": why, "evidence": [ref.as_dict() for ref in refs]}


def groups(facts: Facts, topic: str) -> list[str]:
    """Return the users' groups that could have consumed a topic: by offsets, subscriptions, or as their retry topic."""
    known = sorted(group for name, group in _pairs(facts) if name == topic)
    own = [topic.removeprefix(names.RETRY_PREFIX)] if topic.startswith(names.RETRY_PREFIX) else []
    return known or own


@memo
def _pairs(facts: Facts) -> set[tuple[str, str]]:
    every = lag.positions(facts)
    subscribed = {(topic, s.group) for s in members.subscriptions(facts) for topic in s.topics}
    return subscribed | set(zip(every["topic"], every["group"], strict=True))


def _judged(facts: Facts, record: Row, group: str, deliveries: Sequence[Row]) -> tuple[str, Iterable[Ref], Row]:
    """Return what became of a copy in a group as (sentence of `WHY`, lines, values of the sentence)."""
    topic, queue, offset = record["topic"], record["queue_id"], record["queue_offset"]
    known = _position(facts, record, group)
    # A ledger is a group's if it names the group, or if only this one of the topic consumes on its host.
    among = groups(facts, topic)
    handled = [h for h in deliveries if _is_of(h, record)]
    own = [h for h in handled if h.get("consumer") == group or _beside(facts, h, among) == [group]]
    # A result that is no known word is one that ended it where the group's offset went on.
    done = [h for h in own if h["success"] or (h["success"] is None and (known is None or offset < known[0]))]
    refs = facts.refs((h["file"], h["line"]) for h in (done or own)[:2])
    if done:
        return "consumed", refs, {"count": len(done)}
    if known is None:
        return ("failed", refs, {"count": len(own)}) if own else ("unknown", (), {})
    at, end, ref = known
    values = {"offset": at}
    at_it = (s for s in lag.stuck(facts) if (s.group, s.topic, s.queue_id, s.offset) == (group, topic, queue, at))
    stuck = next((s for s in at_it if brokers.may_be(facts, record["file"], s.broker)), None)
    looks = lag.refs(facts, group, topic, stuck) if stuck else ()
    if own and stuck and offset == at:
        return "holds-queue", (*refs, *looks), values
    if own:
        return "failed", refs, {"count": len(own)}
    if offset < at:
        complete = bool(members.ledgers(facts, group))
        return _passed(facts, record, group, complete) or ("not-handled" if complete else "passed", ref, values)
    broker = brokers.of_file(facts, record["file"])
    if members.owned(facts, group, (topic, broker.name if broker else "", queue)) is False:
        return "queue-of-nobody", ref, values
    if stuck:
        return "holds-queue" if offset == at else "behind-stuck", looks, values
    if end is not None and offset >= end:
        return "later", ref, values
    return "not-reached", ref, {"offset": at, "before": offset - at}


def _passed(facts: Facts, record: Row, group: str, complete: bool) -> tuple[str, Iterable[Ref], Row] | None:
    """Return why a copy in front of a group's offset was not handled, or None. `complete`: all its ledgers are here."""
    topic, queue, offset = record["topic"], record["queue_id"], record["queue_offset"]
    moves = (m for m in facts.rows("offset_moves") if m["kind"] != "reset" and (m["start"] or 0) <= offset < m["end"])
    for move in moves:
        same = (move["group"], move["topic"], move["queue_id"]) == (group, topic, queue)
        if same and brokers.may_be(facts, record["file"], move["broker"]):
            values = {"start": move["start"], "end": move["end"]}
            return f"skipped-{move['kind']}", (offsets.ref(facts, move),), values
    expressions: dict[str, Ref] = {}
    for each in members.subscriptions(facts):
        if each.group == group and topic in each.topics:
            expressions.setdefault(each.topics[topic], each.ref)
    refused = [text for text in expressions if matches(text, record["tags"]) is False]
    if refused and (len(refused) == len(expressions) or complete):
        says = "filtered" if len(refused) == len(expressions) else "filtered-differing"
        refs = dict.fromkeys([expressions[text] for text in (*refused, *expressions)][:2])
        return says, refs, {"tag": record["tags"] or "–", "expressions": sorted(expressions)}
    return None


def matches(expression: str, tag: str | None) -> bool | None:
    """Return whether a tag expression (`FilterAPI.buildSubscriptionData`) matches a tag; None for SQL92."""
    text = expression.strip()
    if text in ("", "*"):
        return True
    if not _TAGS.fullmatch(text) or re.search(r"(?i)\b(?:is|in|and|or|between|not)\b", text):
        return None
    return (tag or "") in {part.strip() for part in text.split("||")}


def _position(facts: Facts, record: Row, group: str) -> tuple[int, int | None, tuple[Ref, ...]] | None:
    """Return (offset, end of the queue then, the line) of the last known position of a group in a copy's queue."""
    last = lag.last_positions(facts, group, record["topic"])
    rows = last[last["queue_id"] == record["queue_id"]].to_dict("records")
    row = next((row for row in reversed(rows) if brokers.may_be(facts, record["file"], row["broker"])), None)
    if row is None:
        return None
    at = next((int(row[name]) for name in ("offset", "begin") if pd.notna(row[name])), 0)
    refs = (facts.ref(row["file"], int(row["line"])),) if pd.notna(row["line"]) else ()
    return at, None if pd.isna(row["end"]) else int(row["end"]), refs


def _is_of(row: Row, record: Row) -> bool:
    if row["offset_msg_id"]:
        return bool(row["offset_msg_id"] == record["offset_msg_id"])
    return record["stage"] != stages.RETRY and row["uniq_key"] is not None and row["uniq_key"] == record["uniq_key"]


def _beside(facts: Facts, row: Row, among: Iterable[str]) -> list[str]:
    """Return those of some groups that consume on the host of a ledger's row."""
    place = folder_of(row["file"])
    return [group for group in among if place in members.places(facts, group)]


def _without_record(facts: Facts, sent: Sequence[str]) -> Iterable[Row]:
    """Yield the fate of a message that no store has, by senders' ledgers: deleted since, or lost with its master."""
    for row in facts.answers("acknowledged_sends", names=list(sent)) if facts.has("sends") and sent else ():
        place = replicas.of_id(row["offset_msg_id"])
        end = replicas.ends(facts).get(place[0]) if place else None
        if place is None or end is None:
            continue
        ref, copy = facts.ref(row["file"], row["line"]), row["offset_msg_id"]
        if place[1] >= end["end"] and replicas.slaves(facts) and not replicas.master_stored(facts):
            evidence = (ref, replicas.last_record(end))
            yield _outcome("lost-with-master", evidence, {"end": end["end"]}, offset_msg_id=copy)
        elif place[1] < end["begin"]:
            yield _outcome("deleted", (ref,), {"begin": end["begin"]}, offset_msg_id=copy)


def _handled_elsewhere(facts: Facts, deliveries: Sequence[Row]) -> Iterable[Row]:
    """Yield the groups whose ledgers have a message that no store has any longer."""
    every = {group for _, group in _pairs(facts)}
    beside = ((_beside(facts, row, every), row) for row in deliveries if row["success"] is not False)
    for group, rows in sorted(grouped((here[0], row) for here, row in beside if len(here) == 1).items()):
        refs = facts.refs((r["file"], r["line"]) for r in rows[:2])
        yield _outcome("consumed", refs, {"count": len(rows)}, group, offset_msg_id=rows[0]["offset_msg_id"])
