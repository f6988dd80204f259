"""Records that a broker refused to write for their size, according to its logs and its clients: put-backs, sends,
commits, deliveries.

A refused send is in store.log, in the client's log and often in the application's; it counts once.
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.analysis.sends import attempts
from kit.inventory.references import Ref
from kit.tables.facts import Facts, memo

SIZE: Final = ("message-size-exceeded", "message-body-size-exceeded", "properties-too-long")
"""What the store prints when it refuses a record for its size."""


def for_size(rows: pd.DataFrame, writer: str | None) -> pd.DataFrame:
    """Return the rows of the table `size_refusals` in which the store names a size, of one writer."""
    return rows[rows["event"].isin(SIZE) & (rows["writer"].isna() if writer is None else rows["writer"] == writer)]


def rate(rows: pd.DataFrame) -> float | None:
    """Return refusals per second from the first to the last, None without times; printed seconds are whole ones."""
    first, last = rows["first"].min(), rows["last"].max()
    if rows.empty or pd.isna(first) or pd.isna(last):
        return None
    return round(int(rows["count"].sum()) / ((last - first).total_seconds() + 1), 1)


def window(rows: pd.DataFrame) -> tuple[Any, Any] | None:
    """Return the first and last time (naive UTC), None if the lines have none."""
    first, last = rows["first"].min(), rows["last"].max()
    return None if pd.isna(first) or pd.isna(last) else (first.to_pydatetime(), last.to_pydatetime())


def volume(facts: Facts, rows: pd.DataFrame) -> int:
    """Return roughly how many bytes of log these refusals make: each text's first line times its count."""
    most = rows.sort_values("count", ascending=False).head(20)
    return sum(
        (len(ref.text.encode()) + 1) * int(count)
        for ref, count in zip(refs.lines(facts, most, len(most)), most["count"], strict=True)
    )


def rolled(rows: pd.DataFrame) -> tuple[bool, int]:
    """Return whether the logs of some kind begin amid the refusals, and how many seconds lack between files."""
    begun, gaps = False, 0
    for _, mine in rows.dropna(subset=["first"]).groupby("event"):
        files = (
            mine.groupby("file", as_index=False)
            .agg(first=("first", "min"), last=("last", "max"), line=("line", "min"))
            .sort_values(["first", "last"])
        )
        begun = begun or bool(files["line"].iloc[0] == 1)
        between = (files["first"] - files["last"].shift()).dt.total_seconds()
        # A file that begins with a refusal goes on where another ended; whole seconds are printed.
        gaps += int(between[(files["line"] == 1) & (between > 1)].sum())
    return begun, gaps


# --- sends -----------------------------------------------------------------------------------------------------------------


@attrs.frozen
class Rejects:
    """Sends refused at once for their size. Counts are None if there is no log that would show them.

    `by_broker`: answered with code 13; `by_client`: the client's own limit, before anything was sent. `largest`: bytes
    of the largest refused record. `sized`: whether store or client name the size; code 13 alone may also be a name, properties or a batch (DLedger to 4.7.1).
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
    store = for_size(facts("size_refusals"), "send")
    told = facts("size_rejects")
    answers, own = told[told["event"] == "message-illegal"], told[told["event"] == "client-body-too-large"]
    if _names_refused(facts, store):
        answers = answers.iloc[0:0]
    by_broker = max(int(store["count"].sum()), _sends(answers))
    by_client = _sends(own)
    looked = facts.has_source("store") or attempts.has_producer_log(facts)
    quoted = (
        *refs.lines(facts, store, 1),
        *refs.lines(facts, answers[answers["attempt"]], 1),
        *refs.lines(facts, answers[~answers["attempt"]], 1),
    )
    times = pd.concat([rows[["first", "last"]] for rows in (store, answers, own)])
    return Rejects(
        by_broker=by_broker if by_broker or looked else None,
        by_client=by_client if by_client or attempts.has_producer_log(facts) or facts.has_source("app") else None,
        largest=int(store["total"].max()) if store["total"].notna().any() else None, window=window(times),
        broker_refs=quoted, client_refs=refs.lines(facts, own), sized=bool(by_client or len(store)),
    )  # fmt: skip


def _names_refused(facts: Facts, store: pd.DataFrame) -> bool:
    """Return whether the store refused names: brokers up to 4.6.0 answer a topic too long with the same words."""
    return store.empty and bool(refs.seen(facts, "topic-too-long")) and facts.has_source("store")


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
