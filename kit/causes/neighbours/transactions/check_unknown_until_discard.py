"""check-unknown-until-discard: producers answered UNKNOW at every check until the broker discarded the message.

Deciding steps: transactions were discarded (check-limit topic, or the log before 4.5.2); the producers had answered UNKNOWN for them. Source:
broker/transaction/queue/TransactionalMessageServiceImpl.needDiscard, broker/processor/EndTransactionProcessor (reference §4.6, §6.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis import refs
from kit.analysis.transactions import owners, totals
from kit.case import setup
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Remedy, deciding, supporting
from kit.formats.values import integer
from kit.i18n import T
from kit.inventory.references import Ref

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

SLUG = "check-unknown-until-discard"
KIND: Kind = "neighbour"

TITLE = T("Unknown at every check, then discarded")
SUMMARY = T(
    "{unknown} of {discarded} discarded transactions had been answered UNKNOW at their checks until the limit of {limit}."
)
NONE = T("No transaction was answered UNKNOW until it was discarded.")
DISCARDED = T(
    "{count} {count:transaction|transactions} reached the check limit ({limit}, {known}) and {count:was|were} discarded."
)
NOT_DISCARDED = T("A transaction reached the check limit and was discarded.")
UNKNOWN = T("For {count} of them the producer had answered UNKNOW ({answers} {answers:answer|answers}).")
NOT_UNKNOWN = T("The producer had answered UNKNOW for them.")
THROWN = T("For {count} of them it began with an exception in the local transaction; the client then answers UNKNOW.")
KNOWN = {"evidence": T("from the evidence"), "default": T("the version's default"), None: T("not known")}
WANT_STORE = T("discarded messages are in TRANS_CHECK_MAX_TIME_TOPIC")
WANT_LOG = T("every UNKNOW answer is a line there")
ACTION = T(
    "Make the check able to decide: write a log row in the local transaction and answer ROLLBACK once it can no longer appear."
)
WHY = T("UNKNOW is right while the transaction runs, and wrong once it has failed.")
RISK = T("A ROLLBACK that comes too early ends a slow but good transaction.")
VERIFY = T("No new record in TRANS_CHECK_MAX_TIME_TOPIC.")

LOOKS_LIKE = (
    ("producer-offline", T("no answer at all: `channel is null`; here `it's pending status` means UNKNOW")),
    ("transaction-consistency", T("a finished transaction disagrees with its row; here none was finished")),
)

FIGURES: Final = {
    "discarded": Figure(T("discarded after the last check"), "lost"),
    "answered_unknown": Figure(T("of these were answered UNKNOW")),
    "check_limit": Figure(T("checks allowed")),
}

ALERTS: Final = (
    Alert("stage:discarded", T("The broker discards transactions that were still open at their last check."), "discarded"),
    Alert("check-discard", T("The broker discards transactions that were still open at their last check."), "discarded"),
)  # fmt: skip


def examine(case: Case) -> Finding:
    """Report which discarded transactions had been answered UNKNOW until the limit."""
    finding = Finding(SLUG, KIND, TITLE, NONE.say())
    stored, logged = case.has("messages"), case.has_source("transaction")
    limit = setup.setting(case, "transactionCheckMax", owners.addresses(case))
    if not stored and (printed := _printed(case)) is not None:
        return _by_log(case, finding, printed, limit)
    count = totals.summary(case).states()["discarded"] if stored else None
    found = case.facts("discarded_transactions") if count else None
    unknown = found[found["unknown"] > 0] if found is not None else None
    given_up = deciding("discarded", NOT_DISCARDED, None if count is None else False)
    if found is not None:
        given_up = deciding(
            "discarded", DISCARDED.say(count=count, limit=limit.value, known=KNOWN[limit.known]), True, _records(found)
        )
    asked = deciding("answered-unknown", NOT_UNKNOWN, None if count is None or not logged else False)
    if unknown is not None and not unknown.empty:
        asked = deciding(
            "answered-unknown",
            UNKNOWN.say(count=len(unknown), answers=int(unknown["unknown"].sum())),
            True,
            _lines(case, unknown),
        )
    thrown = int(unknown["thrown"].sum()) if unknown is not None else 0
    finding.steps = [given_up, asked]
    if unknown is not None and thrown:
        finding.steps.append(
            supporting(
                "listener-threw", THROWN.say(count=thrown), True, _lines(case, unknown[unknown["thrown"]], "first")
            )
        )
    finding.figures = {
        "discarded": count,
        "answered_unknown": len(unknown) if unknown is not None else (0 if count == 0 else None),
        "check_limit": integer(limit.value),
    }
    if finding.verdict == "confirmed" and unknown is not None:
        finding.summary = SUMMARY.say(unknown=len(unknown), discarded=count, limit=limit.value)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
        finding.window = (unknown["stored"].min().to_pydatetime(), unknown["time"].max().to_pydatetime())
        finding.tables = {"unknown_until_discard": unknown.drop(columns=["first_file", "first_line"])}
    if not stored:
        finding.missing.append(collect_next.commitlog(WANT_STORE))
    if not logged and count != 0:
        finding.missing.append(collect_next.broker_log("transaction.log", WANT_LOG))
    return finding


def _printed(case: Case) -> dict[str, Any] | None:
    """Return what transaction.log prints of discarded transactions, a row of `printed_discards`; None where there are none.

    Copies of a leaked message are none: another cause made them.
    """
    rows = case.fact_rows("printed_discards") if refs.seen(case, "check-discard") else []
    return next((row for row in rows if not row["leaked"]), None)


def _by_log(case: Case, finding: Finding, printed: dict[str, Any], limit: setup.Setting) -> Finding:
    """Complete the finding by the log alone, which prints each discarded message and each UNKNOW answer."""
    count = printed["messages"] or None
    said = DISCARDED.say(count=count or printed["lines"], limit=limit.value, known=KNOWN[limit.known])
    finding.steps = [deciding("discarded", said, True, case.refs([(printed["file"], printed["line"])]))]
    unknown = printed["unknown_messages"]
    if unknown:
        said = UNKNOWN.say(count=unknown, answers=printed["unknowns"])
        quoted = case.refs([(printed["unknown_file"], printed["unknown_line"])])
        finding.steps.append(deciding("answered-unknown", said, True, quoted))
        finding.summary = SUMMARY.say(unknown=unknown, discarded=count, limit=limit.value)
        finding.remedies = [Remedy(ACTION, WHY, RISK, VERIFY)]
        finding.window = (printed["first"], printed["last"]) if printed["first"] else None
    else:
        finding.steps.append(deciding("answered-unknown", NOT_UNKNOWN, None))
    finding.figures = {"discarded": count, "answered_unknown": unknown or None, "check_limit": integer(limit.value)}
    finding.missing.append(collect_next.commitlog(WANT_STORE))
    return finding


def _records(frame: pd.DataFrame) -> tuple[Ref, ...]:
    rows: list[dict[Any, Any]] = frame.head(2).to_dict("records")
    return tuple(
        Ref(
            r["file"],
            f"discarded: KEYS={r['key']}, UNIQ_KEY={r['uniq_key']}",
            physical_offset=int(r["physical_offset"]),
        )
        for r in rows
    )


def _lines(case: Case, frame: pd.DataFrame, which: str = "log") -> tuple[Ref, ...]:
    return case.refs((str(r[f"{which}_file"]), int(r[f"{which}_line"])) for r in frame.head(2).to_dict("records"))
