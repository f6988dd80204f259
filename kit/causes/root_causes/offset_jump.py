"""offset-jump: a group's offset moved by more than it consumed: messages skipped, or handled again.

Deciding steps: an offset that moved by more than was handled (a pull the broker found too small and its correction, a reset and what it moved, a first pull
behind the beginning of the queues, a copy of the offsets that goes back) · the range that was skipped or repeated. A restart, a rebalance and clean-up lines
alone move nothing (reference: operators' incidents §5).
"""

from __future__ import annotations

from typing import Any, Final

from kit.analysis import refs
from kit.analysis.consumers import offsets
from kit.causes import collect_next, shown_by
from kit.causes.findings import Finding, Missing, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


MOST = 4
"""Most lines quoted of one kind."""

MOVED: Final = [
    "kind", "group", "topic", "broker", "queue_id", "start", "end", "skipped", "repeated", "at", "file", "line",
]  # fmt: skip
"""Columns of the table of moves."""
Row = dict[str, Any]


def examine(facts: Facts) -> Finding:
    """Report whose offset moved, from where to where, why, and how many messages were skipped or handled again."""
    jumps = facts.rows("offset_jumps") if facts.rows("offset_moves") else []
    jump = jumps[0] if jumps else None
    hints = _hints(facts, jump)
    suspicious = any(step.holds for step in hints)
    finding = TEXTS.finding()
    finding.steps = [_moved(facts, jump, hinted=suspicious), _range(facts, jump), *hints]
    finding.figures = _figures(facts, jump, looked=finding.steps[0].holds is False)
    finding.missing = _missing(facts, jump, suspicious=suspicious)
    if jump is not None:
        finding.summary = TEXTS.say(f"summary-{jump['kind']}", **_said(jump))
        finding.window = (jump["first"], jump["last"]) if jump["first"] else None
        finding.remedies = [TEXTS.remedy(name) for name in TEXTS.remedies if name.startswith(jump["kind"])]
        finding.tables = {"offset_moves": facts("moved_ranges")[MOVED]}
    return finding


def _said(jump: Row) -> Row:
    return {**{name: jump[name] for name in ("group", "topic", "queues", "skipped")}, "again": jump["handled_again"]}


def _moves(facts: Facts, jump: Row) -> list[Row]:
    """Return the moved queues of a jump, rows of `moved_ranges`."""
    key = [jump[name] for name in ("kind", "group", "topic")]
    return [row for row in facts.rows("moved_ranges") if [row[name] for name in ("kind", "group", "topic")] == key]


def _moved(facts: Facts, jump: Row | None, *, hinted: bool) -> Step:
    if jump is None:
        return deciding("moved", TEXTS["not_moved"], False if _would_show(facts) and not hinted else None)
    slugs = {"first-start": ("group-created",), "deleted-before-consumed": ("offset-too-small",)}
    asked: dict[str, tuple[str, int]] = {}  # who asked for a reset, then the lines of the moves
    for row in offsets.lines(facts, *slugs.get(jump["kind"], offsets.RESETS), group=jump["group"]):
        asked.setdefault(row["event"], (row["file"], row["line"]))
    places = [*asked.values()][:2] + [(m["file"], m["line"]) for m in _moves(facts, jump)[:MOST]]
    return deciding("moved", TEXTS.say(f"moved-{jump['kind']}", **_said(jump)), True, facts.refs(dict.fromkeys(places)))


def _would_show(facts: Facts) -> bool:
    """Return whether a jump would be seen: a consumer's client log prints the first offset of each queue, the broker's log every correction and reset.

    Where a new group started is only in its clients' logs.
    """
    if facts.has_source("broker"):
        return not offsets.unseen_starts(facts)
    return bool(refs.seen(facts, "pull-started")) and not facts.rows("late_starts")


def _range(facts: Facts, jump: Row | None) -> Step:
    if jump is None:
        return deciding("range", TEXTS["no_range"], None)
    known = [m for m in _moves(facts, jump) if m["start"] is not None]
    if not known:
        return deciding("range", TEXTS.say("range_unknown", queues=jump["queues"]), None)
    ranges = [
        TEXTS.say("queue", queue="?" if m["queue_id"] is None else m["queue_id"], start=m["start"], end=m["end"])
        for m in known[:8]
    ]
    return deciding("range", TEXTS.say("range", ranges=ranges, **_said(jump)), True, _quoted(facts, known, MOST))


def _quoted(facts: Facts, rows: list[Row], most: int = 2) -> tuple[Ref, ...]:
    return facts.refs(dict.fromkeys((row["file"], row["line"]) for row in rows[:most]))


def _hints(facts: Facts, jump: Row | None) -> list[Step]:
    """Return signs of a jump that do not prove one, and what supports a jump that is shown."""
    kind = None if jump is None else jump["kind"]
    steps = []
    asked = refs.seen(facts, *offsets.RESETS)
    if asked or kind in ("reset", "skip"):
        steps.append(
            supporting("reset-asked", TEXTS.say("asked", count=asked.count), asked, refs.quote(facts, asked, 2))
        )
    small = refs.seen(facts, "offset-too-small", "offset-corrected", "pull-offset-illegal", "pull-offset-fixed")
    if small and kind in (None, "deleted-before-consumed"):
        steps.append(
            supporting("corrected", TEXTS.say("corrected", count=small.count), True, refs.quote(facts, small, 2))
        )
    if behind := offsets.behind_the_first(facts):
        named = {name: behind[0][name] for name in ("group", "topic")}
        waiting = [row["first"] - row["offset"] for row in behind if row["first"] is not None]
        claim = TEXTS.say("in_front_deleted", queues=len(behind), **named)
        if len(waiting) == len(behind):
            claim = TEXTS.say("in_front_of_first", messages=sum(waiting), **named)
        steps.append(supporting("deleted-in-front", claim, True, _quoted(facts, behind)))
    back = refs.seen(facts, "consumer-offset-back")
    # A broker up to 4.5 prints it for its own place in the op queue.
    queues = [row for row in facts.rows("once_back") if names.of_users(row["group"])] if back else []
    if queues:
        claim = TEXTS.say("went_back", queues=len(queues), messages=sum(row["messages"] for row in queues))
        steps.append(supporting("went-back", claim, True, refs.quote(facts, back, 2)))
    return [*steps, *(_without_jump(facts) if jump is None else _with_jump(facts, jump))]


def _without_jump(facts: Facts) -> list[Step]:
    steps = []
    if rows := facts.rows("smaller_offsets"):
        named = {name: rows[0][name] for name in ("group", "topic", "queues", "messages")}
        quoted = _quoted(facts, rows, min(2, rows[0]["queues"]))
        steps.append(supporting("smaller-later", TEXTS.say("looks_back", **named), True, quoted))
    new = next((s for s in offsets.unseen_starts(facts) if s.skips), None)
    if new is not None:
        claim = TEXTS.say("new_from_last", group=new.group, policy=new.policy, topic=new.topic, first=new.skips)
        steps.append(supporting("starts-late", claim, True, (new.ref,)))
    if late := facts.rows("late_starts") if refs.seen(facts, "pull-started") else []:
        claim = TEXTS.say("starts_late", queues=len(late), group=late[0]["group"], topic=late[0]["topic"])
        steps.append(supporting("starts-late", claim, True, _quoted(facts, late)))
    return steps


def _with_jump(facts: Facts, jump: Row) -> list[Step]:
    steps = []
    deleted = refs.seen(facts, "store-file-deleted")
    if deleted and jump["kind"] in ("deleted-before-consumed", "first-start"):
        claim = TEXTS.say("deleted", count=deleted.count)
        steps.append(supporting("files-deleted", claim, True, refs.quote(facts, deleted, 1)))
    policy = offsets.start_policy(facts, jump["group"]) if jump["kind"] == "first-start" else None
    if policy is not None:
        steps.append(supporting("consume-from", TEXTS.say("policy", policy=policy[0]), True, (policy[1],)))
    return steps


def _figures(facts: Facts, jump: Row | None, *, looked: bool) -> Row:
    if jump is None:
        numbers = dict.fromkeys(("skipped", "handled_again", "skipped_still_stored"), 0 if looked else None)
        return {"group": None, "topic": None, "kind": None, "moved": {} if looked else None, **numbers}
    several = jump["brokers"] > 1
    return {
        **{name: jump[name] for name in ("group", "topic", "kind", "skipped", "handled_again")},
        "moved": {
            f"{m['broker']}/{m['queue_id']}" if several else str(m["queue_id"]): [m["start"], m["end"]]
            for m in _moves(facts, jump)
            if m["queue_id"] is not None
        },
        "skipped_still_stored": jump["still_stored"] if facts.has("messages") else None,
    }


def _missing(facts: Facts, jump: Row | None, *, suspicious: bool) -> list[Missing]:
    """Request what would decide: the copies of the offsets, the broker's log, the consumer's client log, its ledger."""
    wanted: list[Missing] = []
    unsure = jump is None and (suspicious or not _would_show(facts))
    open_start = jump is not None and jump["without_start"] > 0
    if unsure and not facts.has_source("broker"):
        wanted.append(collect_next.ask("broker.log", TEXTS["want_broker_log"]))
    no_queue = jump is not None and jump["without_queue"] > 0
    # Clients of 5.x print no first pull: a log that is here is not asked for again.
    logged = bool(refs.seen(facts, "pull-started")) or shown_by.has(facts, "consumer's client log")
    if (unsure or open_start or no_queue) and not logged:
        wanted.append(collect_next.ask("consumer's client log", TEXTS["want_client_log"]))
    if (unsure or open_start) and not offsets.copies(facts):
        wanted.append(collect_next.ask("copies of offsets", TEXTS["want_copies"]))
    if unsure and suspicious:
        wanted.append(collect_next.ask("offsets", TEXTS["want_progress"]))
    unseen = unsure and not facts.has("rows") and offsets.unseen_starts(facts)
    if unseen or (jump is not None and None in (jump["skipped"], jump["handled_again"])):
        wanted.append(collect_next.ask("deliveries", TEXTS["want_ledger"]))
    return wanted
