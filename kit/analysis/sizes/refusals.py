"""Records that a broker refused to write for their size, according to its logs and its clients: put-backs, sends,
commits, deliveries.

A put-back loop prints the same two lines tens of thousands of times a second (reference §6.4), so entries are first
counted by file, writing thread and text; only the few that differ are parsed. A refused send is in store.log, in the
client's log and often in the application's; it counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.analysis import refs
from kit.analysis.sends import attempts
from kit.case import columnar, log_events, scan
from kit.case.memoize import once
from kit.inventory.references import Ref
from kit.rocketmq import names, versions
from kit.rocketmq.log_events.catalogue import BY_SLUG

if TYPE_CHECKING:
    from kit.case.case import Case

SIZE: Final = ("message-size-exceeded", "message-body-size-exceeded", "properties-too-long")
"""What the store prints when it refuses a record for its size."""
FAILED: Final = {"put-back-failed": "put_back", "schedule-put-failed": "schedule"}
"""What a service prints when the record it wanted to write was refused, for whatever reason."""
COLUMNS: Final = (
    "file",
    "source",
    "writer",
    "event",
    "msg_id",
    "total",
    "body",
    "limit",
    "length",
    "status",
    "topic",
    "count",
    "first",
    "last",
    "line",
    "last_line",
)
MOST: Final = 5_000
"""Refusals that differ in what they say; more are left out."""
ANSWERS: Final = 200_000
"""Entries of clients and applications that are followed one by one."""


def refused_writes(case: Case) -> pd.DataFrame:
    """Return the refused writes in broker logs: `COLUMNS`, one row for each file, writer and (except for sends) text.

    `writer`: `put_back`, `send`, `commit`, `schedule`, None if the thread is not printed; `total`, `body`, `limit`,
    `length` in bytes, the largest for sends; `first`/`last` naive UTC; `line`/`last_line` the first and last entry.
    """
    return once(case, "size refusals", lambda: _refused_writes(case))


def _refused_writes(case: Case) -> pd.DataFrame:
    slugs = (*SIZE, *FAILED)
    if not refs.seen(case, *slugs):
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    alike = _alike(case, slugs)
    text = pa.array(alike["message"], pa.string())
    held = {slug: np.array([slug in said for said in alike["events"]], bool) for slug in slugs}
    alike["event"] = columnar.choose([held[slug] for slug in slugs], slugs, None)
    wanted = dict.fromkeys(("total", "body", "limit", "length", "msg_id", "status", "topic"), slugs)
    for name in wanted:
        alike[name] = None
        for slug in slugs:
            if name in BY_SLUG[slug].groups and held[slug].any():
                value: Any = dict(log_events.values(BY_SLUG[slug], text))[name]
                alike[name] = alike[name].where(alike[name].notna() | ~held[slug], value)
    numbers = ["total", "body", "limit", "length"]
    alike[numbers] = (
        alike[numbers]
        .apply(lambda c: pd.to_numeric(c.where(c.str.fullmatch(r"[0-9]{1,18}", na=False).astype(bool))))
        .astype("Int64")
    )
    single = alike["writer"] != "send"  # of sends only the sum and the largest
    by = ["file", "source", "writer", "event", "msg_id", "limit", "status", "topic"]
    sized = [alike[name].where(single).rename(f"_{name}") for name in ("total", "body", "length")]
    counted = alike.groupby([*by, *sized], dropna=False).agg(
        **{name: (name, "max") for name in ("total", "body", "length")},
        count=("n", "sum"),
        first=("first", "min"),
        last=("last", "max"),
        line=("line", "min"),
        last_line=("last_line", "max"),
    )
    found = counted.reset_index(by).sort_values(["count", "file", "line"], ascending=[False, True, True]).head(MOST)
    found = found[list(COLUMNS)].astype(dict.fromkeys(("source", "writer", "msg_id", "status", "topic"), object))
    for name in ("source", "writer", "msg_id", "status", "topic"):
        found[name] = columnar.none_for_null(found[name])
    found = found.sort_values(["first", "file", "line"], ignore_index=True, na_position="last")
    return found.astype(dict.fromkeys(numbers, "Int64"))


def _alike(case: Case, slugs: tuple[str, ...]) -> pd.DataFrame:
    """Return the entries with these texts, equal ones counted: file, source, writer, message, events (their known
    texts), n, first, last, line, last_line.
    """
    wanted = pa.array(slugs)
    sums = [("n", "sum"), ("first", "min"), ("last", "max"), ("line", "min"), ("last_line", "max")]
    by = ["file", "source", "writer", "message", "events"]
    parts: list[pa.Table] = []
    for batch in scan.batches_of(case, "logs", ("file", "source", "thread", "message", "ts", "line", "events")):
        listed = batch["events"]
        hits = pc.is_in(pc.list_flatten(listed), value_set=wanted)
        if not pc.any(hits).as_py():
            continue
        rows = pa.Table.from_batches([batch.take(pc.unique(pc.list_parent_indices(listed).filter(hits)))])
        said = pc.binary_join(rows["events"], " ")
        thread, none = rows["thread"].cast(pa.string()), pa.nulls(len(rows), pa.string())
        writer: Any = none
        for name, wrote in reversed([*names.WRITERS.items()]):
            writer = pc.if_else(pc.fill_null(pc.match_substring(thread, name), fill_value=False), wrote, writer)
        for slug, wrote in reversed([*FAILED.items()]):
            writer = pc.if_else(pc.match_substring(said, slug), wrote, writer)
        plain = {name: rows[name].cast(pa.string()) for name in ("file", "source", "message")}
        spans = {"first": rows["ts"], "last": rows["ts"], "line": rows["line"], "last_line": rows["line"]}
        part = pa.table({**plain, "writer": writer, "events": said, "n": pa.repeat(1, len(rows)), **spans})
        parts.append(columnar.grouped(part, by, sums))
        if len(parts) > 64:
            parts = [columnar.grouped(pa.concat_tables(parts), by, sums)]
    return columnar.to_pandas(columnar.grouped(pa.concat_tables(parts), by, sums)).assign(
        events=lambda f: f["events"].str.split(" ")
    )


def for_size(rows: pd.DataFrame, writer: str | None) -> pd.DataFrame:
    """Return the rows of `refused_writes` in which the store names a size, of one writer."""
    return rows[rows["event"].isin(SIZE) & (rows["writer"].isna() if writer is None else rows["writer"] == writer)]


def rate(rows: pd.DataFrame) -> float | None:
    """Return refusals per second from the first to the last, None if they have no times; printed seconds count as whole
    ones.
    """
    first, last = rows["first"].min(), rows["last"].max()
    if rows.empty or pd.isna(first) or pd.isna(last):
        return None
    return round(int(rows["count"].sum()) / ((last - first).total_seconds() + 1), 1)


def window(rows: pd.DataFrame) -> tuple[Any, Any] | None:
    """Return the first and last time (naive UTC), None if the lines have none."""
    first, last = rows["first"].min(), rows["last"].max()
    return None if pd.isna(first) or pd.isna(last) else (first.to_pydatetime(), last.to_pydatetime())


def volume(case: Case, rows: pd.DataFrame) -> int:
    """Return roughly how many bytes of log these refusals make: each text's first line times its count."""
    most = rows.sort_values("count", ascending=False).head(20)
    return sum(
        (len(ref.text.encode()) + 1) * int(count)
        for ref, count in zip(refs.lines(case, most, len(most)), most["count"], strict=True)
    )


def rolled(rows: pd.DataFrame) -> tuple[bool, int]:
    """Return whether the logs of some kind begin in the middle of the refusals, and how many seconds are missing
    between their files.
    """
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
    of the largest refused record.
    """

    by_broker: int | None
    by_client: int | None
    largest: int | None
    window: tuple[Any, Any] | None
    broker_refs: tuple[Ref, ...]
    client_refs: tuple[Ref, ...]


def rejects(case: Case) -> Rejects:
    """Return the sends refused at once for their size, each once however many logs report it; computed once per case."""
    return once(case, "size rejects", lambda: _rejects(case))


def _rejects(case: Case) -> Rejects:
    rows = refused_writes(case)
    store = for_size(rows, "send")
    answers, own = _answers(case, "message-illegal"), _answers(case, "client-body-too-large")
    if _names_refused(case, store):
        answers = answers.iloc[0:0]
    by_broker = max(int(store["count"].sum()), _sends(answers))
    by_client = _sends(own)
    looked = case.has_source("store") or attempts.has_producer_log(case)
    quoted = (
        *refs.lines(case, store, 1),
        *refs.lines(case, answers[answers["attempt"]], 1),
        *refs.lines(case, answers[~answers["attempt"]], 1),
    )
    times = [t for column in (store["first"], store["last"], answers["ts"], own["ts"]) for t in column.dropna()]
    return Rejects(
        by_broker=by_broker if by_broker or looked else None,
        by_client=by_client if by_client or attempts.has_producer_log(case) or case.has_source("app") else None,
        largest=int(store["total"].max()) if store["total"].notna().any() else None,
        window=(min(times).to_pydatetime(), max(times).to_pydatetime()) if times else None,
        broker_refs=quoted,
        client_refs=refs.lines(case, own),
    )


def _names_refused(case: Case, store: pd.DataFrame) -> bool:
    """Return whether the store refused names, not sizes: brokers up to 4.6.0 answer a topic that is too long with the
    same words.
    """
    return store.empty and bool(refs.seen(case, "topic-too-long")) and case.has_source("store")


def _answers(case: Case, slug: str) -> pd.DataFrame:
    """Return the entries of clients and applications with this refusal: file, line, ts, source, thread, logger, attempt, in order."""
    columns = ["file", "line", "ts", "source", "thread", "logger", "attempt"]
    if not refs.seen(case, slug):
        return pd.DataFrame(columns=pd.Index(columns)).astype({"attempt": bool})
    rows = log_events.entries(case, [slug], (*columns[:-1], "message", "trace", "events"))
    attempt = log_events.holds(rows["events"], ("send-attempt-failed",))
    topic = pd.Series(
        dict(log_events.values(BY_SLUG["send-attempt-failed"], log_events.texts(rows)))["topic"], dtype=object
    )
    fits = ~attempt | topic.isna() | (topic.str.len() <= int(versions.rule("brokerTopicMax", versions.OLDEST)))
    told = columnar.to_pandas(rows.select(columns[:-1])).assign(attempt=attempt)
    return told[fits].sort_values(["file", "line"], ignore_index=True).head(ANSWERS)


def _sends(answers: pd.DataFrame) -> int:
    """Count the sends that these entries report.

    Code 13 is never retried, so each attempt in a client's log is a send. An application prints its own; if several of
    its loggers print one exception in a thread and second, the one that prints most counts. Both kinds of log report
    the same sends: the longer list counts.
    """
    final = answers[~answers["attempt"]]
    second = final["ts"].astype("datetime64[s]")
    same = [final["file"], final["thread"].fillna(""), second]
    by_logger = final.groupby([*same, final["logger"].fillna("")], dropna=False).size()
    printed = by_logger.groupby(level=[0, 1, 2], dropna=False).max().sum() if len(final) else 0
    return max(int(answers["attempt"].sum()), int(printed))
