"""broker-not-available: the broker accepted no messages for a reason other than load: a slave, a shutdown, a missing permission.

Deciding step: an answer of code 14 whose printed disk ratio is below the limit, of code 16 (no permission), or the store's own line that it accepts no
writes (broker/processor/SendMessageProcessor, store/DefaultMessageStore.checkStoreStatus).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.analysis.sends import sends
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, holds
from kit.causes.neighbours import disk_full
from kit.causes.texts import texts_of

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

TEXTS: Final = texts_of(__name__)


def examine(case: Case) -> Finding:
    """Report whether a broker refused messages because of its role, a shutdown or a permission."""
    answers, _, quoted = disk_full.answers(case, "room")
    forbidden = refs.seen(case, "no-permission")
    lines, own = _store_lines(case, refused=bool(answers or forbidden))
    happened = bool(answers or forbidden or lines)
    looked = sends.ledger(case).knows_kinds
    said = {"answers": answers, "forbidden": forbidden.count, "lines": lines}
    finding = TEXTS.finding()
    quotes = (*quoted, *(refs.quote(case, forbidden, 1)), *own)
    finding.steps = [deciding("not-available", TEXTS.say("claim", **said), holds(happened, looked), quotes[:3])]
    finding.figures = dict(said) if looked or happened else dict.fromkeys(said)
    if happened:
        finding.summary = TEXTS.say("summary", **said)
        finding.remedies = [TEXTS.remedy("action")]
    elif not looked:
        finding.missing = [collect_next.client_log(collect_next.PRODUCER, TEXTS["want"])]
    return finding


def _store_lines(case: Case, *, refused: bool) -> tuple[int, tuple[Ref, ...]]:
    """Return the store's own lines: a slave was asked to write, or a write came after the shutdown.

    Every stop ends with reads and writes that come too late (reference §8.2): they count only if somebody was refused.
    """
    shown = ("store-not-writable", "store-shutdown") if refused else ("store-not-writable",)
    if not refs.seen(case, *shown):
        return 0, ()
    rows = [row for row in case.fact_rows("unwritable_stores") if row["event"] in shown]
    firsts = [next(row for row in rows if row["event"] == event) for event in dict.fromkeys(r["event"] for r in rows)]
    return sum(row["n"] for row in rows), case.refs((row["file"], row["line"]) for row in firsts)
