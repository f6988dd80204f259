"""Every transaction of the stores, one row each: half record, checks, op record, commits, discard, dead letter, and the state it ended in.

States, first that fits: `committed` (a commit record in a real topic) > `rolled_back` (an op record names one of its half records, no commit) >
`discarded` (moved to the check-limit topic, or the log says so) > `pending`. A leaked retry (REAL_TOPIC = half topic) is no transaction of its own.
Source: reference §4.3–§4.6; broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageBridge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
from pyspark.sql import functions as F  # noqa: N812

from kit import refs
from kit.facts import names, versions
from kit.leaks import is_commit, prop

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case import Case

STATES: Final = ("committed", "rolled_back", "discarded", "pending")
MOST: Final = 64
"""Half copies and commits of one transaction that are kept by position; a message in a carousel has thousands."""


@attrs.frozen
class Summary:
    """Counts over all transactions. `discarded` is None where the version keeps no discarded message and no log tells."""

    half_messages: int
    committed: int
    rolled_back: int
    discarded: int | None
    pending: int
    committed_twice: int
    dead_lettered: int
    checked: int
    renewed: int
    first: Any
    last: Any


def is_half() -> Column:
    """Whether a record is a half message or a put-back copy of one; leaked retries are not."""
    return (F.col("topic") == names.HALF_TOPIC) & (prop(names.REAL_TOPIC) != names.HALF_TOPIC)


def is_renewed() -> Column:
    """Whether a half record is a copy that a check or the immunity time made."""
    return prop(names.CHECK_TIMES).isNotNull() | prop(names.PREPARED_QUEUE_OFFSET).isNotNull()


def is_real(topic: Column) -> Column:
    """Whether a topic is one that producers send to."""
    internal = F.startswith(topic, F.lit(names.RETRY_PREFIX)) | F.startswith(topic, F.lit(names.DLQ_PREFIX))
    return ~topic.isin(*sorted(names.SYSTEM_TOPICS)) & ~internal


def in_transaction(case: Case) -> DataFrame:
    """Return the records of transactions (TRAN_MSG stays on every copy) and all dead letters."""
    mine = (prop(names.TRAN_MSG) == "true") | F.startswith("topic", F.lit(names.DLQ_PREFIX))
    return case.records.where(F.col("uniq_key").isNotNull() & mine)


def _host() -> Column:
    """Return the storing host as the offset message id spells it: everything but its 16 digits of offset."""
    return F.expr("left(offset_msg_id, length(offset_msg_id) - 16)")


def owners(case: Case) -> dict[str, str]:
    """Return {storing host: the host that stands for its broker}, hosts as in offset message ids.

    Half and op queues belong to a broker, and a broker changes its address when another member of its group leads: hosts that wrote
    into one file are one broker.
    """
    kept = case.memo.get("queue_owners")
    if kept is None:
        pairs = case.messages.where(F.col("topic").isin(names.HALF_TOPIC, names.OP_TOPIC)).select("file", _host().alias("host")).distinct().collect()
        kept = case.memo["queue_owners"] = _joined([(row.file, row.host) for row in pairs])
    return kept


def _joined(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return one name for all hosts that are connected through files."""
    root: dict[str, str] = {}

    def find(node: str) -> str:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for file, host in sorted(pairs):
        a, b = find(f"file {file}"), find(f"host {host}")
        root[max(a, b)] = min(a, b)
    return {host: find(f"host {host}") for _, host in pairs}


def owner(case: Case) -> Column:
    """Return the broker that a record's queue belongs to, as a column of `records` or `ops`."""
    known = owners(case)
    if len(set(known.values())) == len(known):
        return _host()
    table = F.create_map(*[F.lit(x) for pair in sorted(known.items()) for x in pair])
    return F.coalesce(F.try_element_at(table, _host()), _host())


def halves(case: Case) -> DataFrame:
    """Return every half record of a transaction: columns of `messages` plus `broker` and `renewed`."""
    return case.records.where(is_half() & F.col("uniq_key").isNotNull()).withColumn("broker", owner(case)).withColumn("renewed", is_renewed())


def ended(case: Case) -> DataFrame:
    """Return the transactions an op record names: uniq_key, `op` (its first: store_timestamp, physical_offset, file, half_offset), `ops` (half records ended)."""
    said = case.ops.where((F.col("queue_id") == 0) & F.col("half_queue_offset").isNotNull()).withColumn("broker", owner(case))
    named = said.select("broker", F.col("half_queue_offset").alias("queue_offset"), F.struct("store_timestamp", "physical_offset", "file").alias("op"))
    found = halves(case).select("uniq_key", "broker", "queue_offset", F.col("physical_offset").alias("half_offset")).join(named, ["broker", "queue_offset"])
    first = F.min(F.struct("op.store_timestamp", "op.physical_offset", "op.file", "half_offset"))
    return found.groupBy("uniq_key").agg(first.alias("op"), F.count_distinct("half_offset").alias("ops"))


def accounts(case: Case) -> DataFrame:
    """Return one row per transaction; kept for the case.

    Columns uniq_key, keys, topic, producer_group, born_host, `half` and `last_half` (store_timestamp, physical_offset, file, queue_offset),
    half_records, check_times (null before the first check), `op`, ops, commits, `commit_records` (array of store_timestamp, physical_offset, file,
    half_offset: the half record it commits), `discard`, `dead`, reconsumed, state.
    """
    kept = case.memo.get("transactions")
    if kept is None:
        kept = case.memo["transactions"] = _accounts(case).persist()
    return kept


def _accounts(case: Case) -> DataFrame:
    place = F.struct("store_timestamp", "physical_offset", "file")
    half_place = F.struct("store_timestamp", "physical_offset", "file", "queue_offset")
    half, topic, target = is_half(), F.col("topic"), prop(names.REAL_TOPIC)
    original = half & ~is_renewed()
    commit = is_commit() & is_real(topic)
    # A commit with a delay waits in SCHEDULE first; it is on its way to its topic.
    waiting = is_commit() & (topic == names.SCHEDULE_TOPIC) & is_real(target) & (F.col("reconsume_times") == 0)
    discard = topic.isin(names.DISCARD_TOPIC, names.SCHEDULE_TOPIC) & ((topic == names.DISCARD_TOPIC) | (target == names.DISCARD_TOPIC))
    committed = F.struct("store_timestamp", "physical_offset", "file", F.col("prepared_transaction_offset").alias("half_offset"))
    per_key = in_transaction(case).groupBy("uniq_key").agg(
        F.min(F.when(original, half_place)).alias("half"),
        F.max(F.when(half, half_place)).alias("last_half"),
        F.min(F.when(original, F.struct("store_timestamp", prop(names.KEYS).alias("keys"), target.alias("topic"), prop(names.PGROUP).alias("group"),
                                        "born_host"))).alias("said"),
        F.count_if(half).alias("half_records"),
        F.max(F.when(half, prop(names.CHECK_TIMES).cast("int"))).alias("check_times"),
        F.array_sort(F.slice(F.collect_list(F.when(commit, committed)), 1, MOST)).alias("commit_records"),
        F.count_if(commit).cast("int").alias("commits"),
        F.bool_or(waiting).alias("commit_waits"),
        F.min(F.when(discard, place)).alias("discard"),
        F.min(F.when(F.startswith(topic, F.lit(names.DLQ_PREFIX)), place)).alias("dead"),
        F.max("reconsume_times").alias("reconsumed"),
    )  # fmt: skip
    joined = per_key.where(F.col("half").isNotNull()).join(ended(case), "uniq_key", "left")
    given_up = _discarded_by_log(case)
    if given_up is not None:
        joined = joined.join(given_up, "uniq_key", "left")
    logged = F.col("discard_logged").isNotNull() if given_up is not None else F.lit(False)
    state = (
        F.when((F.col("commits") > 0) | F.col("commit_waits"), "committed")
        .when(F.col("op").isNotNull(), "rolled_back")
        .when(F.col("discard").isNotNull() | logged, "discarded")
        .otherwise("pending")
    )
    return joined.select(
        "uniq_key", "said.keys", "said.topic", F.col("said.group").alias("producer_group"), "said.born_host", "half", "last_half", "half_records",
        "check_times", "op", F.coalesce("ops", F.lit(0)).alias("ops"), "commits", "commit_records", "discard", "dead", "reconsumed", state.alias("state"),
    )  # fmt: skip


def _discarded_by_log(case: Case) -> DataFrame | None:
    """Return the UNIQ_KEYs whose last half copy the log says was given up; None where the version keeps the message itself (4.5.2+)."""
    if keeps_discarded(case) or not refs.seen(case, "check-discard"):
        return None
    named = case.event("check-discard").select(F.col("msg_id").alias("offset_msg_id")).distinct()
    return halves(case).join(named, "offset_msg_id").select("uniq_key", F.lit(True).alias("discard_logged")).distinct()


def keeps_discarded(case: Case) -> bool:
    """Whether every broker known to this evidence keeps a message it gives up."""
    said = [versions.rule("discardTopic", version) for version in case.broker_versions()]
    return bool(said) and all(said)


def summary(case: Case) -> Summary:
    """Return the counts over all transactions; worked out once."""
    kept = case.memo.get("transaction_summary")
    if kept is None:
        kept = case.memo["transaction_summary"] = _summary(case)
    return kept


def _summary(case: Case) -> Summary:
    row = accounts(case).agg(
        F.count("*").alias("n"),
        *(F.count_if(F.col("state") == state).alias(state) for state in STATES),
        F.count_if(F.col("commits") > 1).alias("twice"),
        F.count_if(F.col("check_times") > 0).alias("checked"),
        F.sum(F.col("half_records") - 1).alias("renewed"),
        F.min("half.store_timestamp").alias("first"),
        F.max("last_half.store_timestamp").alias("last"),
    ).collect()[0]  # fmt: skip
    about = case.records.agg(
        F.count_distinct(F.when(F.startswith("topic", F.lit(names.DLQ_PREFIX)), F.col("uniq_key"))).alias("dead"),
        F.bool_or(F.when(F.col("topic") == names.HALF_TOPIC, prop(names.CLUSTER).isNotNull())).alias("cluster"),
    ).collect()[0]
    # CLUSTER is stored by 4.6.0 and later, which all keep what they give up.
    knows = bool(row.discarded or keeps_discarded(case) or about.cluster or case.has_source("transaction") or not row.n)
    return Summary(
        half_messages=row.n, committed=row.committed, rolled_back=row.rolled_back, discarded=row.discarded if knows else None, pending=row.pending,
        committed_twice=row.twice, dead_lettered=about.dead, checked=row.checked, renewed=row.renewed or 0, first=row.first, last=row.last,
    )  # fmt: skip
