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

from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.analysis.messages import lookups
from kit.analysis.sizes import limits
from kit.analysis.transactions import totals
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Remedy, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.i18n import Sentence
from kit.inventory.references import Ref
from kit.tables.facts import Facts

GROUPS: Final = 5
"""Most producer groups that the summary names."""
TEXTS: Final = texts_of(__name__)
REASONS: Final = ("exception", "error", "send_status", "rollback_answer", "commit_answer")
"""What a local step did that explains a disagreement."""

LOCAL: Final = "local-transaction-exception"
PRODUCING: Final = (
    "local-transaction-answer", "client-check-rollback", "client-check-unknown", "end-transaction-failed",
)  # fmt: skip
"""Texts that only a transaction producer's client prints."""
COLUMNS: Final = ["kind", "uniq_key", "state", "cause", "stored", "end_physical_offset", "row_line"]


@attrs.frozen
class Counts:
    """Rows against messages, in business keys. All None if the evidence has no business table; `joined`: keys of transactions."""

    rows: int | None = None
    joined: int | None = None
    rows_without_message: int | None = None
    rows_pending: int | None = None
    messages_without_row: int | None = None


def examine(facts: Facts) -> Finding:
    """Account for every transaction and compare the finished ones with the business rows."""
    stored = facts.has("messages")
    summary = totals.summary(facts) if stored else None
    counts = _row_counts(facts, summary)
    wrong = facts("disagreements") if counts.rows is not None else pd.DataFrame(columns=COLUMNS)
    # Discarded ones are another cause's matter.
    finished = wrong[wrong["state"].isin(["committed", "rolled_back"])]
    thrown = _exception_count(facts)
    finding = TEXTS.finding()
    finding.steps = [
        _disagreement(facts, summary, counts, finished),
        _local_step(facts, summary, finished),
        _exceptions(facts, thrown),
        *_given_up(wrong),
        *_overtaken(facts),
    ]
    finding.figures = _figures(summary, counts, thrown)
    _say(finding, summary, finished, thrown)
    if not wrong.empty:
        finding.window = (wrong["stored"].min().to_pydatetime(), wrong["stored"].max().to_pydatetime())
        finding.remedies = _remedies(wrong)
    if summary is not None and _worth_telling(summary, wrong):
        finding.tables = _tables(facts)
    finding.missing = _missing(facts, summary, counts, finished)
    return finding


def _row_counts(facts: Facts, summary: totals.Summary | None) -> Counts:
    row = facts.rows("row_counts")[0] if summary is not None and facts.has("rows") else None
    if row is None or summary is None or not row["present"]:
        return Counts()
    return Counts(row["rows"], row["joined"], row["without_message"], row["pending"], summary.total("without_row"))


def _exception_count(facts: Facts) -> int | None:
    """Return how many exceptions of local transactions the client logs report; None if there is no producer's client log."""
    thrown = refs.count(facts, LOCAL, "client")
    if thrown or any(refs.count(facts, slug, "client") for slug in PRODUCING):
        return thrown
    started = refs.count(facts, "client-started", "client") and facts.rows("producers_started")[0]["clients"]
    return 0 if started else None


def _disagreement(facts: Facts, summary: totals.Summary | None, counts: Counts, finished: pd.DataFrame) -> Step:
    if not finished.empty:
        claim = TEXTS.say("disagree", **_counts(finished))
        return deciding("disagree", claim, True, _ends(finished) + _rows(facts, finished))
    if summary is not None and not summary.half_messages:
        return deciding("disagree", TEXTS["no_transactions"], False)
    if summary is None or counts.rows is None:
        return deciding("disagree", TEXTS["no_rows"], None)
    if not counts.joined:
        return deciding("disagree", TEXTS.say("not_joined", rows=counts.rows), None)
    ended = summary.total("committed") + summary.total("rolled_back")
    return deciding("disagree", TEXTS.say("agree", finished=ended), False)


def _local_step(facts: Facts, summary: totals.Summary | None, finished: pd.DataFrame) -> Step:
    caused = finished[finished["cause"].notna()]
    if not caused.empty:
        reasons = [
            TEXTS.say(f"reasons-{cause}", count=int(n)) for cause in REASONS if (n := (_reason(caused) == cause).sum())
        ]
        first = caused.groupby("cause", sort=True).head(2).head(6)
        quoted = facts.refs((str(row["evidence_file"]), int(row["evidence_line"])) for row in first.to_dict("records"))
        claim = TEXTS.say("local", caused=len(caused), wrong=len(finished), reasons=reasons)
        return deciding("local-step", claim, True, quoted)
    seen = refs.seen(facts, LOCAL)
    if seen and finished.empty and (summary is None or summary.half_messages):
        claim = TEXTS.say("thrown", count=_exception_count(facts))
        return deciding("local-step", claim, True, refs.quote(facts, seen))
    return deciding("local-step", TEXTS["no_local"], None)


def _reason(frame: pd.DataFrame) -> pd.Series[str]:
    """Return the cause of each row under the name its sentence uses: the frame names each status separately."""
    return frame["cause"].where(frame["cause"].isin(REASONS), "send_status")


def _exceptions(facts: Facts, thrown: int | None) -> Step:
    seen = refs.seen(facts, LOCAL)
    quoted = refs.quote(facts, seen, 2) if thrown else ()
    return supporting("exceptions", TEXTS.say("exceptions", count=thrown), thrown, quoted)


def _overtaken(facts: Facts) -> list[Step]:
    """Return the step that a check came while the local transaction was still running, if a paste shows it."""
    said = lookups.overtaken(facts)
    return [supporting("check-overtakes", TEXTS["overtaken"], True, said)] if said else []


def _given_up(wrong: pd.DataFrame) -> list[Step]:
    """Return the existing rows whose message was discarded, if any: only a supporting step, since discards alone are a neighbour."""
    left = wrong[wrong["state"] == "discarded"]
    if left.empty:
        return []
    return [supporting("discarded-rows", TEXTS.say("given_up", count=len(left)), None, _ends(left)[:1])]


def _counts(frame: pd.DataFrame) -> dict[str, int]:
    """Return how many rows are without a message, and messages without a row."""
    kinds = {"rows": "row_without_message", "messages": "message_without_row"}
    return {name: int((frame["kind"] == kind).sum()) for name, kind in kinds.items()}


def _ends(frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the records that ended the first transactions of each kind: op record or committed record."""
    made = []
    for row in frame.dropna(subset=["end_physical_offset"]).groupby("kind", sort=True).head(2).to_dict("records"):
        text = f"{row['state']}: KEYS={row['key']}, UNIQ_KEY={row['uniq_key']}, topic={row['topic']}, producerGroup={row['producer_group']}"
        made.append(Ref(str(row["end_file"]), text, physical_offset=int(row["end_physical_offset"])))
    return tuple(made)


def _rows(facts: Facts, frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the first business rows that exist although their message was rolled back; a row of a Parquet table has no line to quote."""
    standing = frame[frame["row_line"].notna()].head(2)
    return facts.refs(
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
        finding.actors = tuple(finished["producer_group"].value_counts().index)
        caused, groups = int(finished["cause"].notna().sum()), _by_group(finished)
        finding.summary = TEXTS.say("summary", caused=caused, wrong=len(finished), groups=groups, **_counts(finished))
    elif summary is not None and not summary.half_messages:
        finding.summary = TEXTS.say("text_no_transactions")
    elif finding.verdict != "ruled_out":
        finding.summary = TEXTS.say("only_exceptions", count=thrown) if thrown else TEXTS.say("unknown")


def _by_group(finished: pd.DataFrame) -> list[Sentence]:
    """Return how much of it is which producer group's, the most first."""
    groups = finished.assign(producer_group=finished["producer_group"].fillna("?")).groupby("producer_group")
    ordered = sorted(groups, key=lambda each: (-len(each[1]), str(each[0])))[:GROUPS]
    return [TEXTS.say("of_group", group=group, **_counts(own)) for group, own in ordered]


def _groups(wrong: pd.DataFrame, kind: str) -> tuple[str, ...]:
    """Return the producer groups of one kind, the most first."""
    return tuple(wrong.loc[wrong["kind"] == kind, "producer_group"].value_counts().index)


def _remedies(wrong: pd.DataFrame) -> list[Remedy]:
    rows, messages = _counts(wrong).values()
    made = []
    if rows:
        own = _groups(wrong, "row_without_message")
        made.append(attrs.evolve(TEXTS.remedy("resend", count=rows), actors=own))
    if messages:
        own = _groups(wrong, "message_without_row")
        made.append(attrs.evolve(TEXTS.remedy("compensate", count=messages), actors=own))
    reasons = set(_reason(wrong[wrong["cause"].notna()]))
    if "send_status" in reasons:
        made.append(TEXTS.remedy("status"))
    if reasons & {"rollback_answer", "commit_answer"}:
        made.append(TEXTS.remedy("answer"))
    if reasons & {"exception", "error"} or not reasons:
        when = None if reasons else TEXTS["place_when"]
        made.append(attrs.evolve(TEXTS.remedy("place"), when=when))
    return made


def _worth_telling(summary: totals.Summary, wrong: pd.DataFrame) -> bool:
    """Return whether there is something to draw: checks that ended well are normal, and the tables cost seconds."""
    unusual = ("discarded", "pending", "committed_twice")
    return (
        not wrong.empty
        or any(summary.total(name) for name in unusual)
        or bool(summary.half_messages and summary.dead_lettered)
    )


def _tables(facts: Facts) -> dict[str, Any]:
    taken = facts("transaction_paths")
    return {
        "inconsistent": facts("disagreements"),
        "transaction_flow": totals.flow(taken),
        "transaction_paths": taken.drop(columns=["first", "any_of_them", "last"]),
        "transaction_timeline": facts("transaction_timeline"),
        "transaction_limits": limits.table(facts),
        "transaction_rows": facts("row_fates"),
    }


def _missing(facts: Facts, summary: totals.Summary | None, counts: Counts, finished: pd.DataFrame) -> list[Missing]:
    if summary is not None and not summary.half_messages:
        return []
    wanted = []
    if summary is None:
        wanted.append(collect_next.ask("commitlog", TEXTS["want_store"]))
    if counts.rows is None or not counts.joined:
        wanted.append(collect_next.ask("business rows", TEXTS["want_rows"]))
    unexplained = not finished.empty and finished["cause"].isna().any()
    if counts.rows is None or summary is None or unexplained:
        if not facts.has_source("client"):
            wanted.append(collect_next.ask("producer's client log", TEXTS["want_client_log"]))
        if not facts.has_source("app"):
            wanted.append(collect_next.ask("application log", TEXTS["want_app_log"]))
        if not facts.has_source("transaction"):
            wanted.append(collect_next.ask("transaction.log", TEXTS["want_transaction_log"]))
    return wanted
