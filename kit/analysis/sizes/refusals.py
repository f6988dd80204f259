"""Records that a broker refused to write for their size, as its logs and its clients report them: put-backs, sends,
commits, deliveries.

A put-back loop prints the same two lines tens of thousands of times a second (reference §6.4), so everything is counted
where it lies: by file, by the
thread that wrote and by the text; only the few that differ are parsed. A refused send is in store.log, in the
client's log and often in the
application's; it counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.analysis.sends import attempts
from kit.case import events
from kit.case.memoize import once
from kit.inventory.references import Ref
from kit.rocketmq import names, versions

if TYPE_CHECKING:
    from pyspark.sql import Column

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


def told(case: Case) -> pd.DataFrame:
    """Return what broker logs report refused writes: `COLUMNS`, one row for each file, writer and (sends apart) text.

    `writer`: `put_back`, `send`, `commit`, `schedule`, None where the thread is not printed; `total`, `body`, `limit`,
    `length` in bytes, largest for
    sends; `first`/`last` naive UTC; `line`/`last_line` the first and last entry.
    """
    return once(case, "size refusals", lambda: _told(case))


def _told(case: Case) -> pd.DataFrame:
    slugs = (*SIZE, *FAILED)
    if not refs.seen(case, *slugs):
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    thread = F.coalesce("thread", F.lit(""))
    writer: Column = F.when(F.array_contains("events", "put-back-failed"), "put_back").when(
        F.array_contains("events", "schedule-put-failed"), "schedule"
    )
    for name, wrote in names.WRITERS.items():
        writer = writer.when(F.contains(thread, F.lit(name)), wrote)
    mine = case.entries.where(F.arrays_overlap("events", F.array(*map(F.lit, slugs))))
    alike = mine.groupBy("file", "source", writer.alias("writer"), "message", "events").agg(
        F.count("*").alias("n"),
        F.min("ts").alias("first"),
        F.max("ts").alias("last"),
        F.min("line").alias("line"),
        F.max("line").alias("last_line"),
    )
    single = F.coalesce(F.col("writer") != "send", F.lit(True))  # of sends only the sum and the largest
    parsed = alike.withColumn("trace", F.lit(None).cast("string")).select(
        "file",
        "source",
        "writer",
        "n",
        "first",
        "last",
        "line",
        "last_line",
        F.coalesce(*(F.when(F.array_contains("events", slug), slug) for slug in slugs)).alias("event"),
        F.coalesce(events.value("put-back-failed", "msg_id"), events.value("schedule-put-failed", "msg_id")).alias(
            "msg_id"
        ),
        _number(SIZE[:2], "total").alias("total"),
        _number(SIZE[:2], "body").alias("body"),
        _number(SIZE[:2], "limit").alias("limit"),
        _number(SIZE[2:], "length").alias("length"),
        events.value("schedule-put-failed", "status").alias("status"),
        F.coalesce(events.value("put-back-failed", "topic"), events.value("schedule-put-failed", "topic")).alias(
            "topic"
        ),
    )
    by = ["file", "source", "writer", "event", "msg_id", "limit", "status", "topic"]
    sized = [F.when(single, F.col(name)).alias(f"_{name}") for name in ("total", "body", "length")]
    counted = parsed.groupBy(*by, *sized).agg(
        *(F.max(name).alias(name) for name in ("total", "body", "length")),
        F.sum("n").alias("count"),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        F.min("line").alias("line"),
        F.max("last_line").alias("last_line"),
    )
    found = counted.orderBy(F.desc("count"), "file", "line").limit(MOST).select(*COLUMNS).toPandas()
    found = found.sort_values(["first", "file", "line"], ignore_index=True, na_position="last")
    return found.astype(dict.fromkeys(("total", "body", "limit", "length"), "Int64"))


def _number(slugs: tuple[str, ...], name: str) -> Column:
    return F.coalesce(*(events.value(slug, name) for slug in slugs)).try_cast("long")


def for_size(rows: pd.DataFrame, writer: str | None) -> pd.DataFrame:
    """Return the rows of `told` in which the store names a size, of one writer."""
    return rows[rows["event"].isin(SIZE) & (rows["writer"].isna() if writer is None else rows["writer"] == writer)]


def rate(rows: pd.DataFrame) -> float | None:
    """Return refusals a second from the first to the last, None where they bear no times; printed seconds count
    whole.
    """
    first, last = rows["first"].min(), rows["last"].max()
    if rows.empty or pd.isna(first) or pd.isna(last):
        return None
    return round(int(rows["count"].sum()) / ((last - first).total_seconds() + 1), 1)


def quote(case: Case, rows: pd.DataFrame, most: int = 3) -> tuple[Ref, ...]:
    """Quote the first line of each row."""
    places = [
        (str(file), int(line)) for file, line in zip(rows["file"].head(most), rows["line"].head(most), strict=True)
    ]
    return tuple(Ref(file, text, line=line) for (file, line), text in zip(places, case.lines(places), strict=True))


def window(rows: pd.DataFrame) -> tuple[Any, Any] | None:
    """Return first and last time (naive UTC), None where the lines bear none."""
    first, last = rows["first"].min(), rows["last"].max()
    return None if pd.isna(first) or pd.isna(last) else (first.to_pydatetime(), last.to_pydatetime())


def volume(case: Case, rows: pd.DataFrame) -> int:
    """Return about how many bytes of log these refusals make: each text's first line times its count."""
    most = rows.sort_values("count", ascending=False).head(20)
    return sum(
        (len(ref.text.encode()) + 1) * int(count)
        for ref, count in zip(quote(case, most, len(most)), most["count"], strict=True)
    )


def rolled(rows: pd.DataFrame) -> tuple[bool, int]:
    """Return whether the logs of some kind begin in the middle of the refusals, and how many seconds are gone between
    their files.
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
    """Sends refused at once for their size. Counts are None where no log would tell.

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
    """Return the sends refused at once for their size, each once however many logs report it; worked out once per
    case.
    """
    return once(case, "size rejects", lambda: _rejects(case))


def _rejects(case: Case) -> Rejects:
    rows = told(case)
    store = for_size(rows, "send")
    answers, own = _answers(case, "message-illegal"), _answers(case, "client-body-too-large")
    if _names_refused(case, store):
        answers = answers.iloc[0:0]
    by_broker = max(int(store["count"].sum()), _sends(answers))
    by_client = _sends(own)
    looked = case.has_source("store") or attempts.has_producer_log(case)
    quoted = (
        *quote(case, store, 1),
        *quote(case, answers[answers["attempt"]], 1),
        *quote(case, answers[~answers["attempt"]], 1),
    )
    times = [t for column in (store["first"], store["last"], answers["ts"], own["ts"]) for t in column.dropna()]
    return Rejects(
        by_broker=by_broker if by_broker or looked else None,
        by_client=by_client if by_client or attempts.has_producer_log(case) or case.has_source("app") else None,
        largest=int(store["total"].max()) if store["total"].notna().any() else None,
        window=(min(times).to_pydatetime(), max(times).to_pydatetime()) if times else None,
        broker_refs=quoted,
        client_refs=quote(case, own),
    )


def _names_refused(case: Case, store: pd.DataFrame) -> bool:
    """Tell whether the store refused names, not sizes: brokers up to 4.6.0 answer a topic that is too long in the same
    words.
    """
    return store.empty and bool(refs.seen(case, "topic-too-long")) and case.has_source("store")


def _answers(case: Case, slug: str) -> pd.DataFrame:
    """Return the entries of clients and applications with this refusal: file, line, ts, source, thread, logger,
    attempt, in order.
    """
    columns = ["file", "line", "ts", "source", "thread", "logger", "attempt"]
    if not refs.seen(case, slug):
        return pd.DataFrame(columns=pd.Index(columns)).astype({"attempt": bool})
    topic = events.value("send-attempt-failed", "topic")
    fits = topic.isNull() | (F.length(topic) <= int(versions.rule("brokerTopicMax", versions.OLDEST)))
    attempt = F.array_contains("events", "send-attempt-failed").alias("attempt")
    rows = case.entries.where(F.array_contains("events", slug) & fits).select(*columns[:-1], attempt)
    return rows.limit(ANSWERS).toPandas().sort_values(["file", "line"], ignore_index=True)


def _sends(answers: pd.DataFrame) -> int:
    """Count the sends behind these entries.

    Code 13 is never retried, so each attempt in a client's log is a send. An application prints its own; where several
    of its loggers print one
    exception in a thread and second, that which prints most counts. Both kinds of log report the same sends: the
    longer list counts.
    """
    mine = answers[~answers["attempt"]]
    second = mine["ts"].astype("datetime64[s]")
    same = [mine["file"], mine["thread"].fillna(""), second]
    by_logger = mine.groupby([*same, mine["logger"].fillna("")], dropna=False).size()
    printed = by_logger.groupby(level=[0, 1, 2], dropna=False).max().sum() if len(mine) else 0
    return max(int(answers["attempt"].sum()), int(printed))
