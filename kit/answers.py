"""What producers answered about their transactions, and what went wrong in their local step: frames from the logs, keyed by UNIQ_KEY.

transaction.log prints every answer but a plain COMMIT; the client catches an exception of the local transaction, logs it at INFO and passes its
text on as the remark of an UNKNOWN answer. Source: broker/processor/EndTransactionProcessor, client/impl/producer/DefaultMQProducerImpl.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kit import refs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case import Case

SAID: Final = {
    "check-answer-commit": "COMMIT", "check-answer-rollback": "ROLLBACK", "check-answer-pending": "UNKNOWN",
    "end-transaction-rollback": "ROLLBACK", "end-transaction-pending": "UNKNOWN",
}  # fmt: skip
BY_CHECK: Final = tuple(slug for slug in SAID if slug.startswith("check-"))
LOCAL: Final = "local-transaction-exception"
_LOCAL_CODE: Final = ("executeLocalTransaction", "sendMessageInTransaction", "checkLocalTransaction")
_FOLLOWS: Final = 60
"""Lines after an exception within which the client prints the message it belongs to (the folded trace is not counted)."""


def answers(case: Case) -> DataFrame | None:
    """Return every answer the broker logged, None where there is none; kept for the case.

    Columns uniq_key, ts, file, line, said (COMMIT, ROLLBACK, UNKNOWN), from_check, address (`ip:port` of who answered), commit_log_offset (of the record
    named), exception (bool: the remark tells of one in the local transaction).
    """
    if "answers" not in case.memo:
        present = [slug for slug in SAID if refs.seen(case, slug)]
        case.memo["answers"] = reduce(lambda a, b: a.unionByName(b), [_answers(case, slug) for slug in present]).persist() if present else None
    found: DataFrame | None = case.memo["answers"]
    return found


def _answers(case: Case, slug: str) -> DataFrame:
    return case.event(slug).where(F.col("msg_id").isNotNull()).select(
        F.upper("msg_id").alias("uniq_key"), "ts", "file", "line", F.lit(SAID[slug]).alias("said"), F.lit(slug in BY_CHECK).alias("from_check"), "address",
        F.col("commit_log_offset").cast("long").alias("commit_log_offset"), F.array_contains("events", LOCAL).alias("exception"),
    )  # fmt: skip


def per_transaction(case: Case) -> DataFrame | None:
    """Return the answers of each transaction: uniq_key, `first_answer` (the producer's own, not to a check), `check_answers` (array, in log order).

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
    """Return how many exceptions of local transactions the client logs tell of; None without a client log."""
    if not case.has_source("client"):
        return None
    return refs.count(case, LOCAL, "client")


def local_errors(case: Case) -> DataFrame | None:
    """Return exceptions of local transactions by transaction: uniq_key, how (`exception`), ts, file, line.

    From the client's log (4.x prints the message in an entry of its own behind the exception) and from the remarks in transaction.log.
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
    wanted = ["ts", "file", "line", "uniq_key", "kind"]
    own = case.event(LOCAL).where(~F.col("source").isin("transaction", "broker"))
    thrown = own.withColumn("uniq_key", F.upper("msg_id")).withColumn("kind", F.lit("thrown")).select(*wanted, "lines")
    printed = case.event("send-attempt-message").where(F.col("msg_id").isNotNull())
    after = printed.select("ts", "file", "line", F.upper("msg_id").alias("uniq_key"), F.lit("printed").alias("kind"), "lines")
    order = Window.partitionBy("file").orderBy("line")
    both = thrown.unionByName(after)
    both = both.withColumn("next_key", F.lead("uniq_key").over(order)).withColumn("next_line", F.lead("line").over(order)).withColumn(
        "next_kind", F.lead("kind").over(order))  # fmt: skip
    near = (F.col("next_kind") == "printed") & (F.col("next_line") <= F.col("line") + F.col("lines") + _FOLLOWS)
    key = F.coalesce("uniq_key", F.when(near, F.col("next_key")))
    return both.where(F.col("kind") == "thrown").select(key.alias("uniq_key"), "ts", "file", "line").where(F.col("uniq_key").isNotNull())


def bad_results(case: Case) -> DataFrame | None:
    """Return send results that are not SEND_OK: uniq_key, how (the status), ts, file, line. The client then rolls back by itself."""
    if not refs.seen(case, "send-result"):
        return None
    results = case.event("send-result").where((F.col("status") != "SEND_OK") & F.col("msg_id").isNotNull())
    return results.select(F.upper("msg_id").alias("uniq_key"), F.col("status").alias("how"), "ts", "file", "line")


def logged_errors(case: Case, keys: DataFrame) -> DataFrame | None:
    """Return errors that producing applications logged with one of these business keys: uniq_key, how (`error`), ts, file, line.

    `keys`: uniq_key, key. A producing application is one that prints send results or whose stack trace runs through the transaction listener;
    what a consumer logs about the same key is another matter. Keys stand alone in the text: SO1 is not found in SO12.
    """
    if not case.has_source("app"):
        return None
    word = r"([\p{L}\p{N}_-]+)"
    files = [file for file, _ in refs.seen(case, "send-result").places]
    text = F.concat_ws("\n", "message", "trace")
    listener = reduce(lambda a, b: a | b, [F.contains(text, F.lit(name)) for name in _LOCAL_CODE])
    bad = F.upper(F.coalesce("level", F.lit(""))).isin("ERROR", "FATAL", "SEVERE") | F.contains(text, F.lit("Exception"))
    told = case.entries.where((F.col("source") == "app") & bad & (F.col("file").isin(files) | listener) & ~F.contains(text, F.lit("consumeMessage")))
    words = told.select("ts", "file", "line", text.alias("text"), F.explode(F.array_distinct(F.regexp_extract_all(F.substring(text, 1, 20_000), F.lit(word)))).alias("word"))
    tokens = F.regexp_extract_all("key", F.lit(word))
    longest = F.array_max(F.transform(tokens, lambda t: F.struct(F.length(t).alias("n"), t.alias("word"))))
    anchored = keys.withColumn("word", longest["word"]).where(F.length("key") >= 4)
    met = words.join(anchored, "word").where(F.contains("text", F.col("key")))
    return met.select("uniq_key", F.lit("error").alias("how"), "ts", "file", "line").distinct()


def group_answers(case: Case) -> DataFrame | None:
    """Return each check answer beside the host its transaction was born on: uniq_key, ts, file, line, said, address, born_host, foreign.

    `foreign`: the answering address is another host than the one that wrote the half message (ports differ after a reconnect).
    """
    from kit import transactions

    found = answers(case)
    if found is None:
        return None
    born = transactions.accounts(case).select("uniq_key", "born_host", "producer_group")
    host = F.regexp_replace(F.regexp_replace(F.col("address"), r":\d+$", ""), r"[\[\]]", "")
    home = F.regexp_replace(F.regexp_replace(F.col("born_host"), r":\d+$", ""), r"[\[\]]", "")
    return found.where("from_check").join(born, "uniq_key").withColumn("foreign", host != home)


