"""transaction-consistency: a transaction is over, and its message and its business row disagree.

Pending transactions, undelivered checks, discards and dead letters alone are neighbours. Source of the mechanism:
client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction (exceptions are caught, results other than SEND_OK
roll back), broker/processor/EndTransactionProcessor (the answer is one-way).
"""

from typing import Final

import pandas as pd

from kit.analysis import brokers, refs, totals
from kit.analysis.messages import lookups
from kit.analysis.sends import attempts
from kit.causes.declared import Observed
from kit.causes.texts import read
from kit.inventory.model import Ref
from kit.tables.facts import Facts

GROUPS: Final = 5
"""Most producer groups that the summary names."""
MOST: Final = 99
"""Per cent of the committed transactions whose rows have to be here to say that all agree."""
TEXTS: Final = read("root_causes", "transaction-consistency")
REASONS: Final = ("exception", "error", "send_status", "rollback_answer", "commit_answer")
"""What a local step did that explains a disagreement."""
KINDS: Final = {"rows": "row_without_message", "messages": "message_without_row"}
ENDED: Final = "{state}: KEYS={key}, UNIQ_KEY={uniq_key}, topic={topic}, producerGroup={producer_group}"
LOCAL: Final = "local-transaction-exception"
PRODUCING: Final = (
    "local-transaction-answer", "client-check-rollback", "client-check-unknown", "end-transaction-failed",
)  # fmt: skip
"""Texts that only a transaction producer's client prints."""


def observe(facts: Facts) -> Observed:
    summary = totals.summary(facts)
    row = facts.rows("row_counts")[0] if summary and facts.has("rows") else {"present": False}
    # Tables of two clusters in one folder have the same keys: nobody knows whose row belongs to which transaction.
    mixed = row.get("shared") and brokers.elsewhere(facts) and all(broker.stored for broker in brokers.all_of(facts))
    present = row["present"] and not mixed
    counts = row if present else {}
    rows, joined, without, pending = map(counts.get, ("rows", "joined", "without_message", "pending"))
    if not brokers.of_each(facts, (item.file for item in facts.files.of_kind("rows"))):
        rows = joined = None  # which agree says nothing of the transactions of a cluster without its rows
    # Rows of a part of the time, or of one table among several, say nothing of the other transactions.
    agree = joined is not None and joined > 0 and 100 * joined >= MOST * (summary["committed"] or 0)
    # A disagreement is a row without a committed message, or a committed message without its row.
    some = present and summary and (without or summary["without_row"])
    wrong = facts("disagreements") if some else pd.DataFrame(columns=["state", "cause"])
    # Discarded ones are another cause's matter.
    finished = wrong[wrong["state"].isin(["committed", "rolled_back"])]
    caused = finished[finished["cause"].notna()]
    local, overtaken = refs.seen(facts, LOCAL), lookups.overtaken(facts)
    thrown = refs.seen(facts, LOCAL, source="client").count
    producers = (row for row in attempts.clients_of_users(facts) if row["role"] == "producer")
    printed = refs.seen(facts, LOCAL, *PRODUCING, source="client")
    client_log = bool(printed) or any(row["source"] == "client" for row in producers)
    none_stored = summary.get("half_messages") == 0
    # What is open here may be committed where the logs at hand have nothing.
    sure = summary.get("whole", True) or not pending
    values = {
        **summary, "none_stored": none_stored, "exceptions_in_local_transaction": thrown if client_log else None,
        "table_rows": rows, "rows_without_message": without if sure else None,
        "rows_pending": pending if sure else None,
        "messages_without_row": summary["without_row"] if present else None,
        "finished": (summary["committed"] or 0) + (summary["rolled_back"] or 0) if summary else None,
        "agree": agree,
        "wrong": len(finished), "caused": len(caused), "thrown": local and not len(finished) and not none_stored,
        "overtaken": overtaken,
        "unexplained": not none_stored and (not summary or not present or len(caused) < len(finished)),
        "rows_lacking": not none_stored and (not facts.has("rows") or (bool(summary) and not agree)),
    }  # fmt: skip
    quotes = {
        "local-step": refs.quote(facts, local), "exceptions": refs.quote(facts, local, 2) if thrown else (),
        "check-overtakes": overtaken,
    }  # fmt: skip
    observed = Observed(values, quotes, window=local.window if values["thrown"] else None)
    if len(finished):
        _disagree(facts, observed, finished, caused)
    if len(wrong):
        _repairs(observed, wrong)
        observed.tables = {"inconsistent": wrong}
    return observed


def _disagree(facts: Facts, observed: Observed, finished: pd.DataFrame, caused: pd.DataFrame) -> None:
    reasons = _reasons(caused)
    # How much of it is which producer group's, the most first.
    groups = finished.assign(producer_group=finished["producer_group"].fillna("?")).groupby("producer_group")
    ordered = sorted(groups, key=lambda each: (-len(each[1]), str(each[0])))[:GROUPS]
    observed.values |= _counts(finished) | {
        "groups": [TEXTS.say("of_group", group=group, **_counts(own)) for group, own in ordered],
        "reasons": [TEXTS.say(f"reasons-{cause}", count=reasons[cause]) for cause in REASONS if cause in reasons],
    }
    observed.actors = finished["producer_group"].value_counts().index
    # A row of a Parquet table has no line to quote.
    rows = finished[finished["row_line"].notna()].head(2)
    rows = rows[~rows["row_file"].astype(str).str.endswith(".parquet")]
    observed.quotes["disagree"] = _ends(finished) + refs.lines(facts, rows, which="row_")
    first = caused.groupby("cause", sort=True).head(2)
    observed.quotes["local-step"] = refs.lines(facts, first, 6, "evidence_")


def _repairs(observed: Observed, wrong: pd.DataFrame) -> None:
    left, reasons = wrong[wrong["state"] == "discarded"], _reasons(wrong[wrong["cause"].notna()])
    counts = _counts(wrong)
    groups = {
        name: tuple(wrong.loc[wrong["kind"] == kind, "producer_group"].value_counts().index)
        for name, kind in KINDS.items()
    }
    observed.window = refs.span(wrong["stored"], wrong["stored"])
    observed.quotes["discarded-rows"] = _ends(left)[:1]
    observed.values |= dict.fromkeys(reasons, True) | {
        "given_up": len(left), "no_reason": not reasons,
        "all_rows": counts["rows"], "all_messages": counts["messages"],
        "groups_of_rows": groups["rows"], "groups_of_messages": groups["messages"],
    }  # fmt: skip


def _counts(frame: pd.DataFrame) -> dict[str, int]:
    return {name: int((frame["kind"] == kind).sum()) for name, kind in KINDS.items()}


def _reasons(frame: pd.DataFrame) -> dict[str, int]:
    """Return how many rows each reason explains: the frame names each status of a send separately."""
    reasons = frame["cause"].where(frame["cause"].isin(REASONS), "send_status")
    return {str(reason): int(n) for reason, n in reasons.value_counts().items()}


def _ends(frame: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the records that ended the first transactions of each kind: op record or committed record."""
    first = frame.dropna(subset=["end_physical_offset"]).groupby("kind", sort=True).head(2)
    return refs.transactions(first, ENDED, len(first), "end_")
