"""offset-jump: a group's offset moved by more than it consumed: messages skipped, or handled again.

A restart, a rebalance and clean-up lines alone move nothing (reference: operators' incidents §5).
"""

from typing import Any, Final

import attrs

from kit.analysis import refs
from kit.analysis.consumers import lag, members, offsets
from kit.causes import shown_by
from kit.causes.declared import Observed
from kit.causes.texts import read
from kit.inventory.model import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

TEXTS: Final = read("root_causes", "offset-jump")
MOST: Final = 4
"""Most lines quoted of one kind."""
ASKED: Final = {"first-start": ("group-created",), "deleted-before-consumed": ("offset-too-small",)}
"""The text that precedes each kind of move; a reset asked for by somebody precedes all others."""
Row = dict[str, Any]


def observe(facts: Facts) -> Observed:
    """Find whose offset moved, from where to where, why, and how many messages were skipped or handled again."""
    jumps = facts.rows("offset_jumps") if facts.rows("offset_moves") else []
    jump = next(iter(jumps), None)
    observed = Observed({"moved": {}}, proposed=())
    _hints(facts, observed, jump)
    if jump is None:
        _without_jump(facts, observed)
    hinted = any(observed.quotes.values())
    # A consumer's client log prints the first offset of each queue, the broker's log every correction and reset; where
    # a new group started is only in its clients' logs.
    started = refs.seen(facts, "pull-started")
    whole = shown_by.has(facts, "broker.log") or (offsets.first_pulls_logged(facts) and not offsets.late_starts(facts))
    unseen = offsets.unseen_starts(facts)
    ledgers = {row["group"] for row in facts.rows("group_ledgers")} if unseen and facts.has("rows") else set()
    would_show = whole and not unseen
    observed.values |= {
        "hinted": hinted, "would_show": would_show, "unsure": jump is None and (hinted or not would_show),
        "copies": offsets.copies(facts),
        # Clients of 5.x print no first pull: a log that is here is not asked for again.
        "client_logged": bool(started) or shown_by.has(facts, "consumer's client log"),
        "unseen_starts": unseen, "handled": ledgers.issuperset(start["new_group"] for start in unseen),
    }  # fmt: skip
    if jump is not None:
        _jump(facts, observed, jump)
        _others(facts, observed, jump, jumps[1:])
    return observed


def _jump(facts: Facts, observed: Observed, jump: Row) -> None:
    kind, several = jump["kind"], jump["brokers"] > 1
    key = [jump[name] for name in ("kind", "group", "topic")]
    moves = [row for row in facts.rows("moved_ranges") if [row[name] for name in ("kind", "group", "topic")] == key]
    asked: dict[str, tuple[str, int]] = {}  # who asked for a reset, then the lines of the moves
    for row in offsets.lines(facts, *ASKED.get(kind, offsets.RESETS), group=jump["group"]):
        asked.setdefault(row["event"], (row["file"], row["line"]))
    known = [m for m in moves if m["start"] is not None]
    observed.values |= jump | {
        "moved": {
            f"{m['broker']}/{m['queue_id']}" if several else str(m["queue_id"]): [m["start"], m["end"]]
            for m in moves
            if m["queue_id"] is not None
        },
        "ranges": [TEXTS.say("some_queue" if m["queue_id"] is None else "queue", **m) for m in known[:8]],
        "earlier": sum(1 for m in moves if m["repeated"]) or None,
        "some_skipped": jump["skipped"] or None,
        "some_again": jump["handled_again"] or None,
        "skipped_still_stored": jump["still_stored"] if facts.has("messages") else None,
    }
    reset = facts.refs([*asked.values()][:2])
    observed.quotes |= {"moved": (*reset, *_places(facts, moves)), "range": _places(facts, known)}
    if kind in ASKED:
        deleted = refs.seen(facts, "store-file-deleted")
        observed.values["deleted"] = deleted.count
        observed.quotes["files-deleted"] = refs.quote(facts, deleted, 1)
    if kind == "first-start" and (policy := offsets.start_policy(facts, jump["group"])):
        observed.values["policy"] = policy[0]
        observed.quotes["consume-from"] = [policy[1]]
    observed.window = (jump["first"], jump["last"]) if jump["first"] else None
    # The queue ends in front of the offset where the broker that answers lacks records.
    observed.consequence_of = ("replica-loss",) if kind == "beyond-end" else ()
    observed.proposed = [name for name in TEXTS.remedies if name.startswith(kind)]


def _others(facts: Facts, observed: Observed, jump: Row, others: list[Row]) -> None:
    """Add the groups and topics whose offsets moved as well."""
    pairs = {(row["group"], row["topic"]): row for row in reversed(others)}
    pairs.pop((jump["group"], jump["topic"]), None)
    ranges = {(row["group"], row["topic"]): row for row in reversed(facts.rows("moved_ranges"))}
    rows = list(reversed(pairs.values()))
    moves = [TEXTS.say(f"other-{row['kind']}", **row) for row in rows[:MOST]]
    observed.values |= {"others": len(rows), "other_moves": moves}
    observed.quotes["others-moved"] = _places(facts, [ranges[place] for place in reversed(pairs) if place in ranges])


def _places(facts: Facts, moves: list[Row]) -> tuple[Ref, ...]:
    """Quote where the first of these moves show, each place once."""
    return tuple(dict.fromkeys(offsets.ref(facts, move) for move in moves[:MOST]))


def _quoted(facts: Facts, rows: list[Row], most: int = 2) -> Any:
    return facts.refs(dict.fromkeys((row["file"], row["line"]) for row in rows[:most]))


def _hints(facts: Facts, observed: Observed, jump: Row | None) -> None:
    """Add signs of a jump that do not prove one; beside a jump those of its own group."""
    kind, group = (jump["kind"], jump["group"]) if jump else (None, None)
    asked = _seen(facts, group, *offsets.RESETS)
    observed.values |= {"resets": asked.count, "by_reset": kind in ("reset", "skip")}
    observed.quotes["reset-asked"] = refs.quote(facts, asked, 2)
    if kind in (None, "deleted-before-consumed", "beyond-end"):
        small = _seen(facts, group, "offset-too-small", "offset-corrected", "pull-offset-illegal", "pull-offset-fixed")
        observed.values["corrected"] = small.count
        observed.quotes["corrected"] = refs.quote(facts, small, 2)
    if behind := facts.rows("behind_first") if facts.files.of_outputs("mqadmin") else []:
        waiting = [row["first"] - row["offset"] for row in behind if row["first"] is not None]
        observed.values |= {"front_group": behind[0]["group"], "front_topic": behind[0]["topic"]}
        in_front = sum(waiting) if len(waiting) == len(behind) else None
        observed.values |= {"front_queues": len(behind), "in_front": in_front}
        observed.quotes["deleted-in-front"] = _quoted(facts, behind)
    back = refs.seen(facts, "consumer-offset-back")
    # A broker up to 4.5 prints it for its own place in the op queue.
    once = [row for row in facts.rows("once_back") if names.of_users(row["group"])] if back else []
    if len(once) == 1:
        # A group that takes only some tags of a topic passes over others: a late pull goes far back.
        own = (s.topics for s in members.subscriptions(facts) if s.group == once[0]["group"])
        once = [] if any(topics.get(once[0]["topic"], "*") != "*" for topics in own) else once
    if rows := [row for row in once if group in (None, row["group"])]:
        observed.values |= {"back_queues": len(rows), "back_messages": sum(row["messages"] for row in rows)}
        observed.quotes["went-back"] = refs.quote(facts, _seen(facts, group, "consumer-offset-back"), 2)


def _seen(facts: Facts, group: str | None, *slugs: str) -> refs.Seen:
    """Return where these texts occur, of one group if given: then the first place of each text."""
    if group is None:
        return refs.seen(facts, *slugs)
    rows = offsets.lines(facts, *slugs, group=group)
    places = {row["event"]: (row["file"], row["line"]) for row in reversed(rows)}
    return attrs.evolve(refs.of_rows(rows), places=tuple(sorted(places.values())))


def _without_jump(facts: Facts, observed: Observed) -> None:
    """Add signs that count only where no jump is shown."""
    several_looks = lag.positions(facts).duplicated(lag.KEYS).any()
    if rows := facts.rows("smaller_offsets") if several_looks else []:
        values = ("smaller_group", "smaller_topic", "smaller_queues", "smaller_messages")
        observed.values |= {value: rows[0][value.removeprefix("smaller_")] for value in values}
        observed.quotes["smaller-later"] = _quoted(facts, rows, min(2, rows[0]["queues"]))
    if new := next((start for start in offsets.unseen_starts(facts) if start["new_first"]), None):
        observed.values |= new
        observed.quotes["new_group"] = [new["ref"]]
    if late := offsets.late_starts(facts):
        observed.values |= {"late_queues": len(late), "late_group": late[0]["group"], "late_topic": late[0]["topic"]}
        observed.quotes["late_queues"] = _quoted(facts, late)
