"""transaction-consistency: a transaction is over, and its message and its business row disagree.

Deciding steps: a finished transaction that disagrees with its row (rolled back with a row, committed without one); the
local step that caused it
(exception in or around the local transaction, wrong answer, ignored send result). Pending
transactions, undelivered checks, discards and dead
letters alone are neighbours. Source of the mechanism:
client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction (exceptions are caught,
results other than SEND_OK roll back), broker/processor/EndTransactionProcessor (the answer is one-way).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.analysis.messages import pasted_ids
from kit.analysis.sizes import limits
from kit.analysis.transactions import paths, totals
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Missing, Remedy, Step, supporting, with_ids
from kit.causes.root_causes.texts.transaction_consistency import REASONS, Claim, Fix, Text
from kit.i18n import T
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "transaction-consistency"
KIND: Kind = "root_cause"
LOCAL: Final = "local-transaction-exception"
PRODUCING: Final = (
    "local-transaction-answer",
    "client-check-rollback",
    "client-check-unknown",
    "end-transaction-failed",
)
"""Texts that only a transaction producer's client prints."""
COLUMNS: Final = ["kind", "uniq_key", "state", "cause", "stored", "end_physical_offset", "row_line"]
IDS = ("disagree", "local-step", "exceptions", "discarded-rows")

LOOKS_LIKE = (
    ("producer-offline", T("nothing is finished yet: the transaction is pending or discarded, not rolled back")),
    (
        "shared-producer-group",
        T("the ROLLBACK came from another host; the application's own hosts would have answered correctly"),
    ),
    ("check-unknown-until-discard", T("every answer was UNKNOW; the message went to the check-limit topic")),
    ("dead-letter", T("the message was committed; a consumer stopped retrying it later")),
)

FIGURES: Final = {
    "committed": Figure(T("transactions committed")),
    "rolled_back": Figure(T("rolled back", "个事务已回滚")),
    "discarded": Figure(T("discarded after the last check"), "lost"),
    "pending": Figure(T("still open"), "pending"),
    "half_messages": Figure(T("transactions in all")),
    "committed_twice": Figure(T("committed twice", "个事务被提交两次"), "repeated"),
    "dead_lettered": Figure(T("messages in dead-letter queues")),
    "rows_without_message": Figure(T("business rows without a message"), "lost"),
    "rows_pending": Figure(T("of these still open"), "pending"),
    "messages_without_row": Figure(T("messages without a business row"), "lost"),
    "exceptions_in_local_transaction": Figure(T("exceptions in local transactions")),
}

ALERTS: Final = (
    Alert("local-transaction-exception", T("A local transaction ended in an exception: its business row and its message may disagree."), "exceptions"),
)  # fmt: skip


@attrs.frozen
class Counts:
    """Rows against messages, in business keys. All None if the evidence has no business table; `joined`: keys of transactions."""

    rows: int | None = None
    joined: int | None = None
    rows_without_message: int | None = None
    rows_pending: int | None = None
    messages_without_row: int | None = None


def examine(case: Case) -> Finding:
    """Account for every transaction and compare the finished ones with the business rows."""
    stored = case.has("messages")
    summary = totals.summary(case) if stored else None
    counts = _row_counts(case, summary)
    wrong = case.facts("disagreements") if counts.rows is not None else pd.DataFrame(columns=COLUMNS)
    # Discarded ones are another cause's matter.
    finished = wrong[wrong["state"].isin(["committed", "rolled_back"])]
    thrown = _exception_count(case)
    finding = Finding(SLUG, KIND, Text.TITLE, Text.NONE.say())
    steps = [
        _disagreement(case, summary, counts, finished),
        _local_step(case, summary, finished),
        _exceptions(case, thrown),
        *_given_up(wrong),
    ]
    finding.steps = [*with_ids(IDS[: len(steps)], steps), *_overtaken(case)]
    finding.figures = _figures(summary, counts, thrown)
    _say(finding, summary, finished, thrown)
    if not wrong.empty:
        finding.window = (wrong["stored"].min().to_pydatetime(), wrong["stored"].max().to_pydatetime())
        finding.remedies = _remedies(wrong)
    if summary is not None and _worth_telling(summary, wrong):
        finding.tables = _tables(case)
    finding.missing = _missing(case, summary, counts, finished)
    return finding


def _row_counts(case: Case, summary: totals.Summary | None) -> Counts:
    row = case.fact_rows("row_counts")[0] if summary is not None and case.has("rows") else None
    if row is None or summary is None or not row["present"]:
        return Counts()
    return Counts(row["rows"], row["joined"], row["without_message"], row["pending"], summary.total("without_row"))


def _exception_count(case: Case) -> int | None:
    """Return how many exceptions of local transactions the client logs report; None if there is no producer's client log."""
    thrown = refs.count(case, LOCAL, "client")
    if thrown or any(refs.count(case, slug, "client") for slug in PRODUCING):
        return thrown
    started = refs.count(case, "client-started", "client") and case.fact_rows("producers_started")[0]["clients"]
    return 0 if started else None


def _disagreement(case: Case, summary: totals.Summary | None, counts: Counts, finished: pd.DataFrame) -> Step:
    if not finished.empty:
        claim = Claim.DISAGREE.say(
            rows=_of(finished, "row_without_message"), messages=_of(finished, "message_without_row")
        )
        return Step(claim, "deciding", True, _ends(finished) + _rows(case, finished))
    if summary is not None and not summary.half_messages:
        return Step(Claim.NO_TRANSACTIONS, "deciding", False)
    if summary is None or counts.rows is None:
        return Step(Claim.NO_ROWS, "deciding", None)
    if not counts.joined:
        return Step(Claim.NOT_JOINED.say(rows=counts.rows), "deciding", None)
    return Step(Claim.AGREE.say(finished=summary.total("committed") + summary.total("rolled_back")), "deciding", False)


def _local_step(case: Case, summary: totals.Summary | None, finished: pd.DataFrame) -> Step:
    caused = finished[finished["cause"].notna()]
    if not caused.empty:
        reasons = [text.say(count=int(n)) for cause, text in REASONS.items() if (n := (_reason(caused) == cause).sum())]
        first = caused.groupby("cause", sort=True).head(2).head(6)
        quoted = case.refs((str(row["evidence_file"]), int(row["evidence_line"])) for row in first.to_dict("records"))
        return Step(Claim.LOCAL.say(caused=len(caused), wrong=len(finished), reasons=reasons), "deciding", True, quoted)
    seen = refs.seen(case, LOCAL)
    if seen and finished.empty and (summary is None or summary.half_messages):
        return Step(Claim.THROWN.say(count=_exception_count(case)), "deciding", True, refs.quote(case, seen))
    return Step(Claim.NO_LOCAL, "deciding", None)


def _reason(frame: pd.DataFrame) -> pd.Series[str]:
    """Return the cause of each row under the name its sentence uses: the frame names each status separately."""
    return frame["cause"].where(frame["cause"].isin(list(REASONS)), "send_status")


def _exceptions(case: Case, thrown: int | None) -> Step:
    seen = refs.seen(case, LOCAL)
    quoted = refs.quote(case, seen, 2) if thrown else ()
    return Step(Claim.EXCEPTIONS.say(count=thrown), "supporting", True if thrown else None, quoted)


def _overtaken(case: Case) -> list[Step]:
    """Return the step that a check came while the local transaction was still running, if a paste shows it."""
    said = pasted_ids.overtaken(case)
    return [supporting("check-overtakes", Claim.OVERTAKEN, True, said)] if said else []


def _given_up(wrong: pd.DataFrame) -> list[Step]:
    """Return the existing rows whose message was discarded, if any: only a supporting step, since discards alone are a neighbour."""
    left = wrong[wrong["state"] == "discarded"]
    return [Step(Claim.GIVEN_UP.say(count=len(left)), "supporting", None, _ends(left)[:1])] if len(left) else []


def _of(frame: pd.DataFrame, kind: str) -> int:
    return int((frame["kind"] == kind).sum())


def _ends(frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the records that ended the first transactions of each kind: op record or committed record."""
    made = []
    for row in frame.dropna(subset=["end_physical_offset"]).groupby("kind", sort=True).head(2).to_dict("records"):
        text = f"{row['state']}: KEYS={row['key']}, UNIQ_KEY={row['uniq_key']}, topic={row['topic']}, producerGroup={row['producer_group']}"
        made.append(Ref(str(row["end_file"]), text, physical_offset=int(row["end_physical_offset"])))
    return tuple(made)


def _rows(case: Case, frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the first business rows that exist although their message was rolled back; a row of a Parquet table has no line to quote."""
    standing = frame[frame["row_line"].notna()].head(2)
    return case.refs(
        (str(row["row_file"]), int(row["row_line"]))
        for row in standing.to_dict("records")
        if not str(row["row_file"]).endswith(".parquet")
    )


def _figures(summary: totals.Summary | None, counts: Counts, thrown: int | None) -> dict[str, Any]:
    """Return the fixed figures; without a store those from records are unknown."""
    states: dict[str, int | None] = summary.states() if summary else dict.fromkeys(totals.STATES)
    # What is open here may be committed where the logs at hand have nothing.
    sure = summary is None or summary.whole or not counts.rows_pending
    return {
        "half_messages": summary.half_messages if summary else None,
        **states,
        "committed_twice": summary.total("committed_twice") if summary else None,
        "dead_lettered": summary.dead_lettered if summary else None,
        "rows_without_message": counts.rows_without_message if sure else None,
        "rows_pending": counts.rows_pending if sure else None,
        "messages_without_row": counts.messages_without_row,
        "exceptions_in_local_transaction": thrown,
    }


def _say(finding: Finding, summary: totals.Summary | None, finished: pd.DataFrame, thrown: int | None) -> None:
    if not finished.empty:
        finding.summary = Text.SUMMARY.say(
            rows=_of(finished, "row_without_message"),
            messages=_of(finished, "message_without_row"),
            caused=int(finished["cause"].notna().sum()),
            wrong=len(finished),
        )
    elif summary is not None and not summary.half_messages:
        finding.summary = Text.NO_TRANSACTIONS.say()
    elif finding.verdict != "ruled_out":
        finding.summary = Text.ONLY_EXCEPTIONS.say(count=thrown) if thrown else Text.UNKNOWN.say()


def _remedies(wrong: pd.DataFrame) -> list[Remedy]:
    rows, messages = _of(wrong, "row_without_message"), _of(wrong, "message_without_row")
    made = []
    if rows:
        made.append(Remedy(Fix.RESEND.say(count=rows), Fix.RESEND_WHY, Fix.RESEND_RISK, Fix.RESEND_VERIFY))
    if messages:
        made.append(
            Remedy(Fix.COMPENSATE.say(count=messages), Fix.COMPENSATE_WHY, Fix.COMPENSATE_RISK, Fix.COMPENSATE_VERIFY)
        )
    reasons = set(_reason(wrong[wrong["cause"].notna()]))
    if "send_status" in reasons:
        made.append(Remedy(Fix.STATUS, Fix.STATUS_WHY, Fix.STATUS_RISK, Fix.STATUS_VERIFY))
    if reasons & {"rollback_answer", "commit_answer"}:
        made.append(Remedy(Fix.ANSWER, Fix.ANSWER_WHY, Fix.ANSWER_RISK, Fix.ANSWER_VERIFY))
    if reasons & {"exception", "error"} or not reasons:
        when = None if reasons else Fix.PLACE_WHEN
        made.append(Remedy(Fix.PLACE, Fix.PLACE_WHY, Fix.PLACE_RISK, Fix.PLACE_VERIFY, when))
    return made


def _worth_telling(summary: totals.Summary, wrong: pd.DataFrame) -> bool:
    """Return whether there is something to draw: checks that ended well are normal, and the tables cost seconds."""
    unusual = ("discarded", "pending", "committed_twice")
    return (
        not wrong.empty
        or any(summary.total(name) for name in unusual)
        or bool(summary.half_messages and summary.dead_lettered)
    )


def _tables(case: Case) -> dict[str, Any]:
    taken = paths.paths(case)
    return {
        "inconsistent": case.facts("disagreements"),
        "transaction_flow": paths.flow(taken),
        "transaction_paths": taken.drop(columns=["first", "any_of_them", "last"]),
        "transaction_timeline": paths.timeline(case),
        "transaction_limits": limits.table(case),
        "transaction_rows": case.facts("row_fates"),
    }


def _missing(case: Case, summary: totals.Summary | None, counts: Counts, finished: pd.DataFrame) -> list[Missing]:
    if summary is not None and not summary.half_messages:
        return []
    wanted = []
    if summary is None:
        wanted.append(collect_next.commitlog(Text.WANT_STORE))
    if counts.rows is None or not counts.joined:
        wanted.append(collect_next.rows(Text.WANT_ROWS))
    unexplained = not finished.empty and finished["cause"].isna().any()
    if counts.rows is None or summary is None or unexplained:
        if not case.has_source("client"):
            wanted.append(collect_next.client_log(collect_next.PRODUCER, Text.WANT_CLIENT_LOG))
        if not case.has_source("app"):
            wanted.append(collect_next.app_log(collect_next.PRODUCER, Text.WANT_APP_LOG))
        if not case.has_source("transaction"):
            wanted.append(collect_next.broker_log("transaction.log", Text.WANT_TRANSACTION_LOG))
    return wanted
