"""What producers answered about their transactions, and what went wrong in their local step: frames from the logs,
keyed by UNIQ_KEY.

transaction.log prints every answer but a plain COMMIT; the client catches an exception of the local transaction, logs
it at INFO and passes its
text on as the remark of an UNKNOWN answer. Source: broker/processor/EndTransactionProcessor,
client/impl/producer/DefaultMQProducerImpl.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.analysis.transactions import transactions
from kit.case import events, scan
from kit.case.memoize import once
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

SAID: Final = {
    "check-answer-commit": "COMMIT",
    "check-answer-rollback": "ROLLBACK",
    "check-answer-pending": "UNKNOWN",
    "end-transaction-rollback": "ROLLBACK",
    "end-transaction-pending": "UNKNOWN",
}
BY_CHECK: Final = tuple(slug for slug in SAID if slug.startswith("check-"))
LOCAL: Final = "local-transaction-exception"
PRINTED: Final = "send-attempt-message"
_LOCAL_CODE: Final = ("executeLocalTransaction", "sendMessageInTransaction", "checkLocalTransaction")
_APPLICATION: Final = ("app", "text")
"""Application logs, and texts in no known layout, which may be some."""
_PRODUCING: Final = (
    "local-transaction-answer",
    "client-check-rollback",
    "client-check-unknown",
    "end-transaction-failed",
)
"""Texts that only a transaction producer's client prints."""
_FOLLOWS: Final = 60
"""Lines after an exception within which the client prints the message it belongs to (the folded trace is not
counted)."""


def answers(case: Case) -> DataFrame | None:
    """Return every answer the broker logged, None if absent; kept for the case.

    Columns uniq_key, ts, file, line, said (COMMIT, ROLLBACK, UNKNOWN), from_check, address (`ip:port` of who answered),
    commit_log_offset (of the record
    named), exception (bool: the remark mentions one in the local transaction).
    """
    return once(case, "answers", lambda: _answers(case).persist() if refs.seen(case, *SAID) else None)


def _answers(case: Case) -> DataFrame:
    told = events.select_any(case.entries, tuple(SAID)).where(F.col("msg_id").isNotNull())
    said = F.create_map(*[F.lit(x) for pair in SAID.items() for x in pair])
    return told.select(
        F.upper("msg_id").alias("uniq_key"),
        "ts",
        "file",
        "line",
        F.try_element_at(said, F.col("event")).alias("said"),
        F.col("event").isin(*BY_CHECK).alias("from_check"),
        "address",
        F.col("commit_log_offset").try_cast("long").alias("commit_log_offset"),
        F.array_contains("events", LOCAL).alias("exception"),
    )


def per_transaction(case: Case) -> DataFrame | None:
    """Return the answers of each transaction: uniq_key, `first_answer` (the producer's own, not to a check),
    `check_answers` (array, in log order).

    Both of (ts, file, line, said, address, exception).
    """
    found = answers(case)
    if found is None:
        return None
    place = F.struct("ts", "file", "line", "said", "address", "exception")
    return found.groupBy("uniq_key").agg(
        F.min(F.when(~F.col("from_check"), place)).alias("first_answer"),
        F.slice(F.array_sort(F.collect_list(F.when(F.col("from_check"), place))), 1, 64).alias("check_answers"),
    )


def exception_count(case: Case) -> int | None:
    """Return how many exceptions of local transactions the client logs report; None where no producer's client log is
    among them.

    Consumers and mqadmin write client logs too, which could not tell.
    """
    told = refs.count(case, LOCAL, "client")
    if told or any(refs.count(case, slug, "client") for slug in _PRODUCING):
        return told
    if not refs.count(case, "client-started", "client"):
        return None
    started = scan.event(case, "client-started", ("source",))
    own = ~started["group"].isin([names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP]) & started["group"].notna()
    return 0 if (own & (started["source"] == "client") & (started["role"] == "producer")).any() else None


def local_errors(case: Case) -> DataFrame | None:
    """Return exceptions of local transactions by transaction: uniq_key, how (`exception`), ts, file, line.

    From the client's log (4.x prints the message in an entry of its own behind the exception) and from the remarks in
    transaction.log.
    """
    frames = []
    if refs.seen(case, LOCAL):
        frames.append(_client_exceptions(case))
    found = answers(case)
    if found is not None:
        frames.append(found.where("exception").select("uniq_key", "ts", "file", "line"))
    if not frames:
        return None
    return reduce(lambda a, b: a.unionByName(b), frames).withColumn("how", F.lit("exception"))


def _client_exceptions(case: Case) -> DataFrame:
    told = events.select_any(case.entries, (LOCAL, PRINTED)).where(~F.col("source").isin("transaction", "broker"))
    order = Window.partitionBy("file").orderBy("line")
    key = F.upper("msg_id")
    told = told.withColumn("after", F.lead(F.struct("event", "line", key.alias("key"))).over(order))
    near = (F.col("after.event") == PRINTED) & (F.col("after.line") <= F.col("line") + F.col("lines") + _FOLLOWS)
    found = F.coalesce(key, F.when(near, F.col("after.key")))
    return (
        told.where(F.col("event") == LOCAL)
        .select(found.alias("uniq_key"), "ts", "file", "line")
        .where(F.col("uniq_key").isNotNull())
    )


def bad_results(case: Case) -> DataFrame | None:
    """Return send results that are not SEND_OK: uniq_key, how (the status), ts, file, line. The client then rolls back
    by itself.
    """
    if not refs.seen(case, "send-result"):
        return None
    results = case.event("send-result").where((F.col("status") != "SEND_OK") & F.col("msg_id").isNotNull())
    return results.select(F.upper("msg_id").alias("uniq_key"), F.col("status").alias("how"), "ts", "file", "line")


def logged_errors(case: Case, keys: DataFrame) -> DataFrame | None:
    """Return errors that producing applications logged with one of these business keys: uniq_key, how (`error`), ts,
    file, line.

    `keys`: uniq_key, key. A producing application is one that prints send results or whose stack trace runs through the
    transaction listener;
    what a consumer logs about the same key is another matter. Keys stand alone in the text: SO1 is not found in SO12.
    """
    if not any(case.has_source(source) for source in _APPLICATION):
        return None
    word = r"([\p{L}\p{N}_-]+)"
    files = [file for file, _ in refs.seen(case, "send-result").places]
    text = F.concat_ws("\n", "message", "trace")
    listener = reduce(lambda a, b: a | b, [F.contains(text, F.lit(name)) for name in _LOCAL_CODE])
    bad = F.upper(F.coalesce("level", F.lit(""))).isin("ERROR", "FATAL", "SEVERE") | F.contains(
        text, F.lit("Exception")
    )
    told = case.entries.where(
        F.col("source").isin(*_APPLICATION)
        & bad
        & (F.col("file").isin(files) | listener)
        & ~F.contains(text, F.lit("consumeMessage"))
    )
    every = F.array_distinct(F.regexp_extract_all(F.substring(text, 1, 20_000), F.lit(word)))
    words = told.select("ts", "file", "line", text.alias("text"), F.explode(every).alias("word"))
    tokens = F.regexp_extract_all("key", F.lit(word))
    longest = F.array_max(F.transform(tokens, lambda t: F.struct(F.length(t).alias("n"), t.alias("word"))))
    anchored = keys.withColumn("word", longest["word"]).where(F.length("key") >= 4)
    met = words.join(anchored, "word").where(F.contains("text", F.col("key")))
    return met.select("uniq_key", F.lit("error").alias("how"), "ts", "file", "line").distinct()


def group_answers(case: Case) -> DataFrame | None:
    """Return each check answer beside the host its transaction was born on: columns of `answers`, born_host,
    producer_group, foreign.

    `foreign`: the answering address is another host than the one that wrote the half message (ports differ after a
    reconnect).
    """
    found = answers(case)
    if found is None:
        return None
    born = transactions.transactions(case).select("uniq_key", "born_host", "producer_group")
    return (
        found.where("from_check").join(born, "uniq_key").withColumn("foreign", _host("address") != _host("born_host"))
    )


def one_host(case: Case) -> bool:
    """Tell whether all transactions were written and all checks answered by a single host, so that no answer can be
    foreign.
    """
    if not refs.seen(case, *SAID):
        return True
    half = (ds.field("topic") == names.HALF_TOPIC) & (ds.field(promoted(names.REAL_TOPIC)) != names.HALF_TOPIC)
    addresses = {
        a for batch in scan.batches(case, ("born_host",), half) for a in pc.unique(batch["born_host"]).to_pylist()
    }
    hosts = {host_of(address) for address in addresses}
    if len(hosts) < 2:
        # Only the addresses: all the other values of these lines cost a regular expression each.
        hosts |= {
            row.host
            for row in _answers(case)
            .where("from_check")
            .select(_host("address").alias("host"))
            .distinct()
            .limit(2)
            .collect()
        }
    return len(hosts) < 2


def host_of(address: str | None) -> str:
    """Return the host of an address as `_host` does."""
    return re.sub(r"^[/\[]+|\]+$", "", re.sub(r":\d+$", "", address or "")).lower()


def _host(column: str) -> Column:
    """Return the host of an address: without port, brackets and zeros that IPv6 may or may not spell out."""
    return F.lower(F.regexp_replace(F.regexp_replace(F.col(column), r":\d+$", ""), r"^[/\[]+|\]+$", ""))
