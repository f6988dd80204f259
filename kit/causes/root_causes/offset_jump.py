"""offset-jump: a group's offset moved by more than it consumed: messages skipped, or handled again.

Deciding steps: an offset that moved by more than was handled (a pull the broker found too small and its correction, a reset and what it moved, a first pull
behind the beginning of the queues, a copy of the offsets that goes back) · the range that was skipped or repeated. A restart, a rebalance and clean-up lines
alone move nothing (reference: operators' incidents §5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.consumers import offset_lines, offset_ranges
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Missing, Remedy, Step, deciding, supporting
from kit.causes.root_causes.texts.offset_jump import FIXES, LOOKS_LIKE, Claim, Text
from kit.i18n import T
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.analysis.consumers.offset_ranges import Jump
    from kit.case.case import Case

SLUG = "offset-jump"
KIND: Kind = "root_cause"

FIGURES: Final = {
    "group": Figure(T("consumer group")),
    "topic": Figure(T("topic")),
    "kind": Figure(T("how the offset moved")),
    "moved": Figure(T("offsets before and after, by queue")),
    "skipped": Figure(T("messages skipped"), "lost"),
    "handled_again": Figure(T("messages handled again"), "repeated"),
    "skipped_still_stored": Figure(T("of the skipped messages still stored")),
}

ALERTS: Final = (
    Alert("offset-too-small", T("A group requests messages that clean-up has deleted; its offset jumps forward over them."), "corrected", severity="critical"),
    Alert("pull-offset-illegal", T("A consumer's offset is outside its queue and jumps to another place."), "corrected", severity="critical"),
    Alert("offset-reset-started", T("Somebody resets the offset of a group: messages will be skipped or handled again."), "reset-asked", by=("group",)),
    Alert("pull-started", T("A new group does not start at the first message of a topic: older messages are skipped."),
          "starts-late", within=10, by=("group",), also="group-created", when=lambda values: values["offset"] not in (None, "0")),
)  # fmt: skip

__all__ = ["KIND", "LOOKS_LIKE", "SLUG", "examine"]

MOST = 4
"""Most lines quoted of one kind."""


def examine(case: Case) -> Finding:
    """Report whose offset moved, from where to where, why, and how many messages were skipped or handled again."""
    jumps = offset_ranges.jumps(case)
    worst = jumps[0] if jumps else None
    hints = _hints(case, worst)
    finding = Finding(SLUG, KIND, Text.TITLE, Text.NONE)
    finding.steps = [_moved(case, worst, hinted=any(s.holds for s in hints)), _range(case, worst), *hints]
    finding.figures = _figures(worst, looked=finding.steps[0].holds is False)
    finding.missing = _missing(case, worst, suspicious=any(s.holds for s in hints))
    if worst is not None:
        finding.summary = _summary(worst)
        finding.window = worst.window
        finding.remedies = [Remedy(*fix) for fix in FIXES[worst.kind]]
        finding.tables = {"offset_moves": _table(jumps)}
    return finding


def _summary(jump: Jump) -> Any:
    said = {
        "group": jump.group,
        "topic": jump.topic,
        "queues": len(jump.moves),
        "skipped": jump.skipped,
        "again": jump.handled_again,
    }
    return Text.SUMMARY[jump.kind].say(**said)


def _moved(case: Case, jump: Jump | None, *, hinted: bool) -> Step:
    if jump is None:
        return deciding("moved", Claim.NOT_MOVED, False if _would_show(case) and not hinted else None)
    claim = Claim.MOVED[jump.kind].say(group=jump.group, topic=jump.topic, queues=len(jump.moves))
    return deciding("moved", claim, True, _quotes(case, jump))


def _would_show(case: Case) -> bool:
    """Return whether a jump would be seen: a consumer's client log prints the first offset of each queue, the broker's log every correction and reset.

    Where a new group started is only in its clients' logs.
    """
    if case.has_source("broker"):
        return not offset_ranges.unseen_starts(case)
    return bool(refs.seen(case, "pull-started")) and not offset_ranges.loose_starts(case)


def _quotes(case: Case, jump: Jump) -> tuple[Ref, ...]:
    """Quote who asked for a reset, then the lines of the moves."""
    slugs = {
        "reset": offset_lines.RESETS,
        "skip": offset_lines.RESETS,
        "first-start": ("group-created",),
        "deleted-before-consumed": ("offset-too-small",),
    }[jump.kind]
    asked: dict[str, tuple[str, int]] = {}
    for row in offset_lines.lines(case, *slugs, group=jump.group):
        asked.setdefault(row["event"], (row["file"], row["line"]))
    places = [*asked.values()][:2]
    places += [(m.file, m.line) for m in jump.moves[:MOST]]
    return case.refs(dict.fromkeys(places))


def _range(case: Case, jump: Jump | None) -> Step:
    if jump is None:
        return deciding("range", Claim.NO_RANGE, None)
    known = [m for m in jump.moves if m.start is not None]
    if not known:
        return deciding("range", Claim.RANGE_UNKNOWN.say(queues=len(jump.moves)), None)
    said = [
        Claim.QUEUE.say(queue="?" if m.queue_id is None else m.queue_id, start=m.start, end=m.end) for m in known[:8]
    ]
    quoted = case.refs(dict.fromkeys((m.file, m.line) for m in known[:MOST]))
    claim = Claim.RANGE.say(ranges=said, skipped=jump.skipped, again=jump.handled_again)
    return deciding("range", claim, True, quoted)


def _hints(case: Case, jump: Jump | None) -> list[Step]:
    """Return signs of a jump that do not prove one, and what supports a jump that is shown."""
    steps = []
    asked = refs.seen(case, *offset_lines.RESETS)
    if asked or (jump is not None and jump.kind in ("reset", "skip")):
        steps.append(supporting("reset-asked", Claim.ASKED.say(count=asked.count), asked, refs.quote(case, asked, 2)))
    small = refs.seen(case, "offset-too-small", "offset-corrected", "pull-offset-illegal", "pull-offset-fixed")
    if small and (jump is None or jump.kind == "deleted-before-consumed"):
        steps.append(supporting("corrected", Claim.CORRECTED.say(count=small.count), True, refs.quote(case, small, 2)))
    behind = offset_ranges.behind_the_first(case)
    if behind:
        named = {"group": behind[0].group, "topic": behind[0].topic}
        known = [b.first - b.offset for b in behind if b.first is not None]
        claim = (
            Claim.IN_FRONT_OF_FIRST.say(messages=sum(known), **named)
            if len(known) == len(behind)
            else Claim.IN_FRONT_DELETED.say(queues=len(behind), **named)
        )
        steps.append(supporting("deleted-in-front", claim, True, tuple(b.ref for b in behind[:2])))
    back = offset_ranges.once_back(case)
    if back:
        claim = Claim.WENT_BACK.say(queues=len(back), messages=sum(back))
        steps.append(supporting("went-back", claim, True, refs.quote(case, refs.seen(case, "consumer-offset-back"), 2)))
    smaller = next(iter(offset_ranges.looks_back(case)), None) if jump is None else None
    if smaller is not None:
        named = {"group": smaller.group, "topic": smaller.topic}
        claim = Claim.LOOKS_BACK.say(queues=smaller.queues, messages=smaller.messages, **named)
        steps.append(supporting("smaller-later", claim, True, case.refs(smaller.places[:2])))
    new = next((s for s in offset_ranges.unseen_starts(case) if s.skips), None) if jump is None else None
    if new is not None:
        claim = Claim.NEW_FROM_LAST.say(group=new.group, policy=new.policy, topic=new.topic, first=new.skips)
        steps.append(supporting("starts-late", claim, True, (new.ref,)))
    late = offset_ranges.loose_starts(case) if jump is None else []
    if late:
        claim = Claim.STARTS_LATE.say(queues=len(late), group=late[0]["group"], topic=late[0]["topic"])
        quoted = case.refs((row["file"], row["line"]) for row in late[:2])
        steps.append(supporting("starts-late", claim, True, quoted))
    deleted = refs.seen(case, "store-file-deleted")
    if deleted and jump is not None and jump.kind in ("deleted-before-consumed", "first-start"):
        steps.append(
            supporting("files-deleted", Claim.DELETED.say(count=deleted.count), True, refs.quote(case, deleted, 1))
        )
    if (
        jump is not None
        and jump.kind == "first-start"
        and (policy := offset_ranges.start_policy(case, jump.group)) is not None
    ):
        steps.append(supporting("consume-from", Claim.POLICY.say(policy=policy[0]), True, (policy[1],)))
    return steps


def _figures(jump: Jump | None, *, looked: bool) -> dict[str, Any]:
    if jump is None:
        none = 0 if looked else None
        return {
            "group": None,
            "topic": None,
            "kind": None,
            "moved": {} if looked else None,
            "skipped": none,
            "handled_again": none,
            "skipped_still_stored": none,
        }
    return {
        "group": jump.group,
        "topic": jump.topic,
        "kind": jump.kind,
        "moved": {m.name(several=jump.several_brokers): [m.start, m.end] for m in jump.moves if m.queue_id is not None},
        "skipped": jump.skipped,
        "handled_again": jump.handled_again,
        "skipped_still_stored": jump.still_stored,
    }


def _table(jumps: list[Jump]) -> pd.DataFrame:
    """Return every move: one row for each queue."""
    names = [
        "kind",
        "group",
        "topic",
        "broker",
        "queue_id",
        "start",
        "end",
        "skipped",
        "repeated",
        "at",
        "file",
        "line",
    ]
    rows = [[getattr(move, name) for name in names] for jump in jumps for move in jump.moves]
    frame = pd.DataFrame(rows, columns=pd.Index(names))
    whole = dict.fromkeys(("queue_id", "start", "end", "skipped", "repeated", "line"), "Int64")
    return frame.astype(whole).assign(at=pd.to_datetime(frame["at"]))


def _missing(case: Case, jump: Jump | None, *, suspicious: bool) -> list[Missing]:
    """Request what would decide: the copies of the offsets, the broker's log, the consumer's client log, its ledger."""
    wanted: list[Missing] = []
    unsure = jump is None and (suspicious or not _would_show(case))
    if unsure and not case.has_source("broker"):
        wanted.append(collect_next.broker_log("broker.log", Text.WANT_BROKER_LOG))
    if (
        unsure or (jump is not None and any(m.queue_id is None or m.start is None for m in jump.moves))
    ) and not refs.seen(case, "pull-started"):
        wanted.append(collect_next.client_log(collect_next.CONSUMER, Text.WANT_CLIENT_LOG))
    if (unsure or (jump is not None and any(m.start is None for m in jump.moves))) and not offset_lines.copies(case):
        wanted.append(collect_next.offset_copies(Text.WANT_COPIES))
    if unsure and (jump is None and suspicious):
        wanted.append(collect_next.consumer_progress(None, Text.WANT_PROGRESS))
    if jump is not None and (jump.skipped is None or jump.handled_again is None):
        wanted.append(collect_next.deliveries(Text.WANT_LEDGER))
    return wanted
