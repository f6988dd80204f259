"""shared-producer-group: applications that do not know each other's orders share one producer group, so checks are answered by the wrong one.

Deciding steps: a check was answered from another host than the one the half message came from; such answers disagree with what happened there
(ROLLBACK for a transaction whose row exists or that was committed, or never COMMIT where the group's own hosts always do). Instances of one
application answer for each other all the time; only the disagreement shows it. Source: broker/client/ProducerManager.getAvailableChannel picks any
channel of the group (reference §6.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis import refs
from kit.causes import collect_next
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding
from kit.i18n import T
from kit.inventory.references import Ref

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

SLUG = "shared-producer-group"
KIND: Kind = "neighbour"
LEADS_TO = ("transaction-consistency",)
BY_CHECK: Final = ("check-answer-commit", "check-answer-rollback", "check-answer-pending")

TITLE = T("Different applications share a producer group")
SUMMARY = T(
    "In group {groups}, {foreign} {foreign:check was|checks were} answered by another host than the one that sent the message; {wrong} of these answers {wrong:is|are} wrong."
)
NONE = T("No check was answered wrongly by another application.")
FOREIGN = T(
    "{count} {count:check was|checks were} answered by another host than the one that sent the message ({hosts})."
)
NOT_FOREIGN = T("A check was answered by another host than the one that sent the message.")
WRONG = T(
    "{count} of them {count:is|are} wrong: ROLLBACK or UNKNOW for a transaction whose row exists, that was committed, or in a group whose own hosts answer COMMIT."
)
NOT_WRONG = T(
    "Such answers contradict what happened. Not shown: they may come from instances of one application, which answer for each other."
)
WANT_LOG = T("it prints the address from which each check was answered")
WANT_STORE = T("the half record names the host that sent it")
ACTION = T("Give each application a producer group of its own.")
WHY = T("The broker checks with any connection of the group; one that cannot see the order cannot answer.")
RISK = T("Open transactions name the old group: keep one instance of the right application in it until they are over.")
VERIFY = T("transaction.log shows `Check producer[…]` only with hosts of the sending application.")

LOOKS_LIKE = (
    ("transaction-consistency", T("the application itself rolled back; compare the answering address with bornHost")),
    ("producer-offline", T("nobody answers; here the wrong one does")),
)

FIGURES: Final = {
    "foreign_answers": Figure(T("checks answered by another host")),
    "wrong_answers": Figure(T("answers that contradict what happened")),
}


def examine(case: Case) -> Finding:
    """Report whether checks were answered by hosts of another application."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    stored, logged = case.has("messages"), case.has_source("transaction")
    found = case.facts("foreign_answers") if stored and refs.seen(case, *BY_CHECK) else None
    known = stored and logged
    if found is None or found.empty:
        finding.steps = [
            deciding("foreign-answers", NOT_FOREIGN, False if known else None),
            deciding("wrong-answers", NOT_WRONG, None),
        ]
        finding.figures = {"foreign_answers": 0 if known else None, "wrong_answers": 0 if known else None}
        if not known:
            finding.missing = (
                [collect_next.commitlog(WANT_STORE)]
                if not stored
                else [collect_next.broker_log("transaction.log", WANT_LOG)]
            )
        return finding
    wrong = found[found["wrong"]]
    # Other hosts that only ever commit are instances of the same application.
    agree = False if (found["said"] == "COMMIT").all() else None
    finding.steps = [
        deciding(
            "foreign-answers",
            FOREIGN.say(count=len(found), hosts=_hosts(found)),
            True,
            refs.lines(case, found, 2) + _records(found),
        ),
        deciding("wrong-answers", WRONG.say(count=len(wrong)), True, refs.lines(case, wrong, 2))
        if len(wrong)
        else deciding("wrong-answers", NOT_WRONG, agree),
    ]
    finding.figures = {"foreign_answers": len(found), "wrong_answers": len(wrong)}
    finding.tables = {"foreign_answers": found}
    if len(wrong):
        finding.summary = SUMMARY.say(
            groups=sorted(set(wrong["producer_group"].dropna())), foreign=len(found), wrong=len(wrong)
        )
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
        finding.window = (wrong["ts"].min().to_pydatetime(), wrong["ts"].max().to_pydatetime())
    return finding


def _hosts(frame: pd.DataFrame) -> list[str]:
    pairs = frame[["born_host", "address"]].map(lambda a: str(a).rsplit(":", 1)[0])
    return sorted({f"{row['born_host']} → {row['address']}" for row in pairs.to_dict("records")})[:5]


def _records(frame: pd.DataFrame) -> tuple[Ref, ...]:
    rows: list[dict[Any, Any]] = frame.head(1).to_dict("records")
    return tuple(
        Ref(
            r["half_file"],
            f"half: KEYS={r['key']}, UNIQ_KEY={r['uniq_key']}, bornHost={r['born_host']}",
            physical_offset=int(r["half_physical_offset"]),
        )
        for r in rows
    )
