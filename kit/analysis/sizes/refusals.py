"""Records that a broker refused to write for their size, according to its logs and its clients: put-backs, sends,
commits, deliveries.

A refused send is in store.log, in the client's log and often in the application's; it counts once.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pandas as pd

from kit.analysis import refs
from kit.analysis.sends import attempts
from kit.inventory.references import Ref
from kit.tables.facts import Facts, memo

SIZE: Final = ("message-size-exceeded", "message-body-size-exceeded", "properties-too-long")
"""What the store prints when it refuses a record for its size."""

REJECTS: Final = ("message-illegal", "client-body-too-large")
"""What senders get: the broker's code 13, and their own client's limit."""


def for_size(rows: pd.DataFrame, writer: str | None) -> pd.DataFrame:
    """Return the rows of the table `size_refusals` in which the store names a size, of one writer."""
    return rows[rows["event"].isin(SIZE) & (rows["writer"].isna() if writer is None else rows["writer"] == writer)]


def rate(rows: pd.DataFrame) -> float | None:
    """Return refusals per second from the first to the last, None without times; printed seconds are whole ones."""
    span = refs.span(rows["first"], rows["last"])
    return round(int(rows["count"].sum()) / ((span[1] - span[0]).total_seconds() + 1), 1) if span else None


def volume(facts: Facts, rows: pd.DataFrame) -> int:
    """Return roughly how many bytes of log these refusals make: each text's first line times its count."""
    most = rows.sort_values("count", ascending=False).head(20)
    quoted = zip(refs.lines(facts, most, len(most)), most["count"], strict=True)
    return sum((len(ref.text.encode()) + 1) * int(count) for ref, count in quoted)


def rolled(rows: pd.DataFrame) -> tuple[bool, int]:
    """Return whether the logs of some kind begin amid the refusals, and how many seconds lack between files."""
    timed = rows.dropna(subset=["first"]).groupby(["event", "file"], as_index=False)
    files = timed.agg(first=("first", "min"), last=("last", "max"), line=("line", "min"))
    files = files.sort_values(["event", "first", "last"])
    between = (files["first"] - files.groupby("event")["last"].shift()).dt.total_seconds()
    # A file that begins with a refusal goes on where another ended; whole seconds are printed.
    gaps = between[(files["line"] == 1) & (between > 1)].sum()
    return bool((files.drop_duplicates("event")["line"] == 1).any()), int(gaps)


# --- sends ------------------------------------------------------------------------------------------------------------


class Rejects(NamedTuple):
    """Sends refused at once for their size. Counts are None if there is no log that would show them.

    `by_broker`: answered with code 13; `by_client`: the client's own limit, before anything was sent. `largest`: bytes
    of the largest refused record. `sized`: whether store or client name the size; code 13 alone may also be a name,
    properties or a batch (DLedger to 4.7.1).
    """

    by_broker: int | None
    by_client: int | None
    largest: int | None
    window: tuple[Any, Any] | None
    broker_refs: tuple[Ref, ...]
    client_refs: tuple[Ref, ...]
    sized: bool


@memo
def rejects(facts: Facts) -> Rejects:
    """Return the sends refused at once for their size, each once however many logs report it."""
    producer = attempts.has_producer_log(facts)
    if not refs.seen(facts, *SIZE, *REJECTS):
        sent = 0 if producer or facts.has_source("store") else None
        return Rejects(sent, 0 if producer or facts.has_source("app") else None, None, None, (), (), sized=False)
    store, rows = for_size(facts("size_refusals"), "send"), facts("size_rejects")
    answers, own = (rows[rows["event"] == event] for event in REJECTS)
    if store.empty and refs.seen(facts, "topic-too-long") and facts.has_source("store"):
        # Brokers up to 4.6.0 answer a topic too long with the same words.
        answers = answers.iloc[0:0]
    by_broker, by_client = max(int(store["count"].sum()), _sends(answers)), _sends(own)
    reports = (store, answers[answers["attempt"]], answers[~answers["attempt"]])
    times = pd.concat([each[["first", "last"]] for each in (store, answers, own)])
    return Rejects(
        by_broker=by_broker if by_broker or producer or facts.has_source("store") else None,
        by_client=by_client if by_client or producer or facts.has_source("app") else None,
        largest=int(store["total"].max()) if store["total"].notna().any() else None,
        window=refs.span(times["first"], times["last"]),
        broker_refs=tuple(ref for each in reports for ref in refs.lines(facts, each, 1)),
        client_refs=refs.lines(facts, own), sized=bool(by_client or len(store)),
    )  # fmt: skip


def _sends(answers: pd.DataFrame) -> int:
    """Count the sends that these entries report.

    Code 13 is never retried, so each attempt in a client's log is a send. An application prints its own; if several of
    its loggers print one exception in a thread and second, the one that prints most counts. Both kinds of log report
    the same sends: the longer list counts.
    """
    final = answers[~answers["attempt"]]
    by_logger = final.assign(second=final["first"].dt.floor("s"), thread=final["thread"].fillna(""))
    same = by_logger.groupby(["file", "thread", "second"], dropna=False)["count"]
    return max(int(answers.loc[answers["attempt"], "count"].sum()), int(same.max().sum()))
