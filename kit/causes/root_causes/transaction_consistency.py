"""transaction-consistency: a transaction is over, and its message and its business row disagree.

Pending transactions, undelivered checks, discards and dead letters alone are neighbours. Source of the mechanism:
client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction (exceptions are caught, results other than SEND_OK
roll back), broker/processor/EndTransactionProcessor (the answer is one-way).
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.messages import lookups
from kit.analysis.sizes import limits
from kit.analysis.transactions import totals
from kit.causes.declared import Observed
from kit.causes.texts import texts_of
from kit.i18n import Sentence
from kit.inventory.references import Ref
from kit.tables.facts import Facts

GROUPS: Final = 5
"""Most producer groups that the summary names."""
TEXTS: Final = texts_of(__name__)
REASONS: Final = ("exception", "error", "send_status", "rollback_answer", "commit_answer")
"""What a local step did that explains a disagreement."""
ENDED: Final = "{state}: KEYS={key}, UNIQ_KEY={uniq_key}, topic={topic}, producerGroup={producer_group}"
LOCAL: Final = "local-transaction-exception"
PRODUCING: Final = (
    "local-transaction-answer", "client-check-rollback", "client-check-unknown", "end-transaction-failed",
)  # fmt: skip
"""Texts that only a transaction producer's client prints."""


def observe(facts: Facts) -> Observed:
    """Account for every transaction and compare the finished ones with the business rows."""
    summary = totals.summary(facts) if facts.has("messages") else None
    row = facts.rows("row_counts")[0] if summary and facts.has("rows") else {"present": False}
    counts = {
        name: row.get(name) if row["present"] else None for name in ("rows", "joined", "without_message", "pending")
    }
    wrong = facts("disagreements") if row["present"] else pd.DataFrame()
    # Discarded ones are another cause's matter.
    finished = wrong[wrong["state"].isin(["committed", "rolled_back"])] if len(wrong) else wrong
    caused = finished[finished["cause"].notna()] if len(finished) else finished
    local, overtaken = refs.seen(facts, LOCAL), lookups.overtaken(facts)
    thrown = _exception_count(facts)
    none_stored = summary is not None and not summary.half_messages
    # What is open here may be committed where the logs at hand have nothing.
    sure = summary is None or summary.whole or not counts["pending"]
    observed = Observed(
        {
            **(summary.states() if summary else dict.fromkeys(totals.STATES)), "none_stored": none_stored,
            "half_messages": summary.half_messages if summary else None,
            "committed_twice": summary.total("committed_twice") if summary else None,
            "dead_lettered": summary.dead_lettered if summary else None, "exceptions_in_local_transaction": thrown,
            "table_rows": counts["rows"],
            "joined": counts["joined"], "rows_without_message": counts["without_message"] if sure else None,
            "rows_pending": counts["pending"] if sure else None,
            "messages_without_row": summary.total("without_row") if summary and row["present"] else None,
            "finished": summary.total("committed") + summary.total("rolled_back") if summary else None,
            "wrong": len(finished), "caused": len(caused), "thrown": local and not len(finished) and not none_stored,
            "overtaken": overtaken,
            "unexplained": not none_stored and (summary is None or not row["present"] or len(caused) < len(finished)),
        },
        {
            "local-step": refs.quote(facts, local),
            "exceptions": refs.quote(facts, local, 2) if thrown else (),
            "check-overtakes": overtaken,
        },
    )  # fmt: skip
    if len(finished):
        _disagree(facts, observed, finished, caused)
    if len(wrong):
        _repairs(observed, wrong)
    unusual = ("discarded", "pending", "committed_twice")
    # Checks that ended well are normal, and the tables cost seconds.
    if summary and (
        len(wrong) or any(map(summary.total, unusual)) or (summary.half_messages and summary.dead_lettered)
    ):
        observed.tables = _tables(facts)
    return observed


def _exception_count(facts: Facts) -> int | None:
    """Count the exceptions in local transactions; None without a producer's client log."""
    thrown = refs.count(facts, LOCAL, "client")
    if thrown or any(refs.count(facts, slug, "client") for slug in PRODUCING):
        return thrown
    started = refs.count(facts, "client-started", "client") and facts.rows("producers_started")[0]["clients"]
    return 0 if started else None


def _disagree(facts: Facts, observed: Observed, finished: pd.DataFrame, caused: pd.DataFrame) -> None:
    """Add which finished transactions disagree with their rows, and the local steps behind them."""
    reasons = _reason(caused)
    observed.values |= _counts(finished) | {
        "groups": _by_group(finished),
        "reasons": [
            TEXTS.say(f"reasons-{cause}", count=int(n)) for cause in REASONS if (n := (reasons == cause).sum())
        ],
    }
    observed.actors = finished["producer_group"].value_counts().index
    observed.quotes["disagree"] = _ends(finished) + _rows(facts, finished)
    first = caused.groupby("cause", sort=True).head(2).head(6)
    observed.quotes["local-step"] = facts.refs(
        (str(row["evidence_file"]), int(row["evidence_line"])) for row in first.to_dict("records")
    )


def _repairs(observed: Observed, wrong: pd.DataFrame) -> None:
    """Add what is to be repaired, rows of discarded transactions with it."""
    left, reasons, counts = (
        wrong[wrong["state"] == "discarded"],
        set(_reason(wrong[wrong["cause"].notna()])),
        _counts(wrong),
    )
    observed.window = refs.span(wrong["stored"], wrong["stored"])
    observed.quotes["discarded-rows"] = _ends(left)[:1] if len(left) else ()
    observed.values |= dict.fromkeys(reasons, True) | {
        "given_up": len(left), "all_rows": counts["rows"], "all_messages": counts["messages"], "repairs": True,
        "no_reason": not reasons,
        "groups_of_rows": _groups(wrong, "row_without_message"),
        "groups_of_messages": _groups(wrong, "message_without_row"),
    }  # fmt: skip


def _counts(frame: pd.DataFrame) -> dict[str, int]:
    """Return how many rows are without a message, and messages without a row."""
    kinds = {"rows": "row_without_message", "messages": "message_without_row"}
    return {name: int((frame["kind"] == kind).sum()) for name, kind in kinds.items()}


def _reason(frame: pd.DataFrame) -> pd.Series[str]:
    """Return the cause of each row under the name its sentence uses: the frame names each status separately."""
    return frame["cause"].where(frame["cause"].isin(REASONS), "send_status")


def _ends(frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the records that ended the first transactions of each kind: op record or committed record."""
    made = []
    for row in frame.dropna(subset=["end_physical_offset"]).groupby("kind", sort=True).head(2).to_dict("records"):
        text = ENDED.format_map({str(name): value for name, value in row.items()})
        made.append(Ref(str(row["end_file"]), text, physical_offset=int(row["end_physical_offset"])))
    return tuple(made)


def _rows(facts: Facts, frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the first rows whose message was rolled back; a row of a Parquet table has no line to quote."""
    standing = frame[frame["row_line"].notna()].head(2)
    return facts.refs(
        (str(row["row_file"]), int(row["row_line"]))
        for row in standing.to_dict("records")
        if not str(row["row_file"]).endswith(".parquet")
    )


def _by_group(finished: pd.DataFrame) -> list[Sentence]:
    """Return how much of it is which producer group's, the most first."""
    groups = finished.assign(producer_group=finished["producer_group"].fillna("?")).groupby("producer_group")
    ordered = sorted(groups, key=lambda each: (-len(each[1]), str(each[0])))[:GROUPS]
    return [TEXTS.say("of_group", group=group, **_counts(own)) for group, own in ordered]


def _groups(wrong: pd.DataFrame, kind: str) -> tuple[str, ...]:
    """Return the producer groups of one kind, the most first."""
    return tuple(wrong.loc[wrong["kind"] == kind, "producer_group"].value_counts().index)


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
