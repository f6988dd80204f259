"""broker-not-available: the broker accepted no messages for a reason other than load: a slave, a shutdown, a missing permission.

Deciding step: an answer of code 14 whose printed disk ratio is below the limit, of code 16 (no permission), or the store's own line that it accepts no
writes (broker/processor/SendMessageProcessor, store/DefaultMessageStore.checkStoreStatus).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kit.analysis import refs
from kit.analysis.sends import sends
from kit.causes import collect_next
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, holds
from kit.causes.neighbours.sends import disk_full
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.inventory.references import Ref

SLUG = "broker-not-available"
KIND: Kind = "neighbour"

TITLE = T("The broker accepted no messages: slave, shutdown or permission")
NONE = T("No broker refused messages because of its role, a shutdown or a permission.")
SUMMARY = T(
    "{answers} {answers:answer says|answers say} that the service is not available, {forbidden} that sending is forbidden; the store itself logged it {lines} {lines:time|times}."
)
CLAIM = T(
    "The broker refused messages though its disk had room: not available ({answers}), forbidden ({forbidden}), not writable ({lines})."
)
WANT = T("the answer of the broker is in the exception")
ACTION = T(
    "Send to the master; check brokerRole, brokerPermission (6 = read and write) and whether the store was being shut down."
)
WHY = T("These answers are not about load; waiting longer does not help.")
RISK = T("Giving write permission to a broker that is being drained brings traffic back to it.")
VERIFY = T("clusterList shows the broker as master; a test send answers SEND_OK.")

LOOKS_LIKE = (
    ("disk-full", T("code 14 too, but the ratio printed is 0.90 or more")),
    ("broker-busy", T("code 2, or 1 with [PC_SYNCHRONIZED]: passes with the load")),
)

FIGURES: Final = {
    "answers": Figure(T("answers from a broker that could not accept the request")),
    "forbidden": Figure(T("answers that the topic or broker does not permit the access")),
    "lines": Figure(T("lines that say so")),
}


def examine(case: Case) -> Finding:
    """Report whether a broker refused messages because of its role, a shutdown or a permission."""
    answers, _, quoted = disk_full.answers(case, "room")
    forbidden = refs.seen(case, "no-permission")
    lines, own = _store_lines(case, refused=bool(answers or forbidden))
    happened = bool(answers or forbidden or lines)
    looked = sends.ledger(case).knows_kinds
    said = {"answers": answers, "forbidden": forbidden.count, "lines": lines}
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    quotes = (*quoted, *(refs.quote(case, forbidden, 1)), *own)
    finding.steps = [deciding("not-available", CLAIM.say(**said), holds(happened, looked), quotes[:3])]
    finding.figures = dict(said) if looked or happened else dict.fromkeys(said)
    if happened:
        finding.summary = SUMMARY.say(**said)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
    elif not looked:
        finding.missing = [collect_next.client_log(collect_next.PRODUCER, WANT)]
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
