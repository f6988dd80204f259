"""Every transaction of the stores, one row each: half record, checks, op record, commits, discard, dead letter,
business row, and its state.

States, first that fits: `committed` (a commit record in a real topic) > `rolled_back` (an op record names one of its
half records, no commit) >
`discarded` (moved to the check-limit topic, or the log says so) > `pending`. A leaked retry (REAL_TOPIC = half topic)
is no transaction of its own.
Source: reference §4.3–§4.6; broker/processor/EndTransactionProcessor,
broker/transaction/queue/TransactionalMessageBridge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.analysis.messages.record_stage import is_commit
from kit.case import setup
from kit.case.memoize import once
from kit.rocketmq import names, versions
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

STATES: Final = ("committed", "rolled_back", "discarded", "pending")
MOST: Final = 64
"""Commits of one transaction that are kept one by one; a message in a carousel has thousands."""


@attrs.frozen
class Group:
    """Counts of one producer group's transactions. `covered`: first and last half message (UTC) whose business row is
    in the evidence.
    """

    name: str | None
    half_messages: int
    committed: int
    rolled_back: int
    discarded: int
    pending: int
    committed_twice: int
    checked: int
    renewed: int
    without_row: int
    immune: int
    first: Any
    last: Any
    covered: tuple[Any, Any] | None


@attrs.frozen
class Summary:
    """Counts over all transactions. `discarded` is None where the version keeps no discarded message and no log
    tells.
    """

    groups: tuple[Group, ...]
    dead_lettered: int
    knows_discarded: bool

    def total(self, name: str) -> int:
        return sum(getattr(group, name) for group in self.groups)

    @property
    def half_messages(self) -> int:
        return self.total("half_messages")

    @property
    def window(self) -> tuple[Any, Any] | None:
        times = [t for group in self.groups for t in (group.first, group.last) if t is not None]
        return (min(times), max(times)) if times else None

    def states(self) -> dict[str, int | None]:
        found: dict[str, int | None] = {state: self.total(state) for state in STATES}
        return found if self.knows_discarded else found | {"discarded": None}


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


def _host() -> Column:
    """Return the storing host as the offset message id spells it: everything but its 16 digits of offset."""
    return F.expr("left(offset_msg_id, length(offset_msg_id) - 16)")


def owners(case: Case) -> dict[str, str]:
    """Return {storing host: the host that stands for its broker}, hosts as in offset message ids.

    Half and op queues belong to a broker, and a broker changes its address when another member of its group leads:
    hosts that wrote
    into one file are one broker.
    """
    return once(case, "queue owners", lambda: joined(sorted(_hosts(case))))


def _hosts(case: Case) -> set[tuple[str, str]]:
    """Return (file, storing host) of all half and op records. Without Spark: it is a look at two columns."""
    pairs: set[tuple[str, str]] = set()
    wanted = ds.field("topic").isin([names.HALF_TOPIC, names.OP_TOPIC])
    for batch in ds.dataset(case.folder("messages"), format="parquet").to_batches(
        columns=["file", "offset_msg_id"], filter=wanted
    ):
        hosts = pc.utf8_slice_codeunits(batch["offset_msg_id"], 0, -16)
        seen = pa.table([batch["file"], hosts], ["file", "host"]).group_by(["file", "host"]).aggregate([])
        pairs |= {(row["file"], row["host"]) for row in seen.to_pylist()}
    return pairs


def joined(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return one name for all hosts that are connected through files."""
    root: dict[str, str] = {}

    def find(node: str) -> str:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for file, host in pairs:
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
    return (
        case.records.where(is_half() & F.col("uniq_key").isNotNull())
        .withColumn("broker", owner(case))
        .withColumn("renewed", is_renewed())
    )


def ended(case: Case) -> DataFrame:
    """Return the transactions an op record names: uniq_key, `op` (the first: store_timestamp, physical_offset, file,
    half_offset), ops (half records ended).
    """
    said = case.ops.where((F.col("queue_id") == 0) & F.col("half_queue_offset").isNotNull()).withColumn(
        "broker", owner(case)
    )
    named = said.select(
        "broker",
        F.col("half_queue_offset").alias("queue_offset"),
        F.struct("store_timestamp", "physical_offset", "file").alias("op"),
    )
    found = (
        halves(case)
        .select("uniq_key", "broker", "queue_offset", F.col("physical_offset").alias("half_offset"))
        .join(named, ["broker", "queue_offset"])
    )
    first = F.min(F.struct("op.store_timestamp", "op.physical_offset", "op.file", "half_offset"))
    return found.groupBy("uniq_key").agg(first.alias("op"), F.count_distinct("half_offset").alias("ops"))


def accounts(case: Case) -> DataFrame:
    """Return one row per transaction (and per dead letter that is not one: its `state` is null); kept for the case.

    Columns uniq_key, keys, topic, producer_group, born_host, `half`, `renewed_half` (the first put-back copy) and
    `last_half` (store_timestamp,
    physical_offset, file, queue_offset),
    half_records, check_times (null before the first check), `op`, ops, commits, `commit_records` (array of
    store_timestamp, physical_offset, file,
    half_offset: the half record it commits), `discard`, `dead`, reconsumed, cluster and immune (bool: those properties
    are set), state,
    `rows` (array of key, file, line, status; null where it has no business row).
    """
    return once(case, "transactions", lambda: _accounts(case).persist())


def transactions(case: Case) -> DataFrame:
    """Return `accounts` without dead letters that are no transactions."""
    return accounts(case).where(F.col("state").isNotNull())


def _per_key(case: Case) -> DataFrame:
    place = F.struct("store_timestamp", "physical_offset", "file")
    half_place = F.struct("store_timestamp", "physical_offset", "file", "queue_offset")
    half, topic, target = is_half(), F.col("topic"), prop(names.REAL_TOPIC)
    original = half & ~is_renewed()
    commit = is_commit() & is_real(topic)
    # A commit with a delay waits in SCHEDULE first; it is on its way to its topic.
    waiting = is_commit() & (topic == names.SCHEDULE_TOPIC) & is_real(target) & (F.col("reconsume_times") == 0)
    discard = (topic == names.DISCARD_TOPIC) | ((topic == names.SCHEDULE_TOPIC) & (target == names.DISCARD_TOPIC))
    committed = F.struct(
        "store_timestamp", "physical_offset", "file", F.col("prepared_transaction_offset").alias("half_offset")
    )
    said = F.struct(
        "store_timestamp",
        prop(names.KEYS).alias("keys"),
        target.alias("topic"),
        prop(names.PGROUP).alias("group"),
        "born_host",
        prop(names.CLUSTER).isNotNull().alias("cluster"),
        prop(names.CHECK_IMMUNITY).isNotNull().alias("immune"),
    )
    dead = F.startswith(topic, F.lit(names.DLQ_PREFIX))
    # TRAN_MSG stays on every copy of a transactional message.
    mine = case.records.where(F.col("uniq_key").isNotNull() & ((prop(names.TRAN_MSG) == "true") | dead))
    return mine.groupBy("uniq_key").agg(
        F.min(F.when(original, half_place)).alias("half"),
        F.max(F.when(half, half_place)).alias("last_half"),
        F.min(F.when(half & is_renewed(), half_place)).alias("renewed_half"),
        F.min(F.when(original, said)).alias("said"),
        F.count_if(half).cast("int").alias("half_records"),
        F.max(F.when(half, prop(names.CHECK_TIMES).try_cast("int"))).alias("check_times"),
        F.array_sort(F.slice(F.collect_list(F.when(commit, committed)), 1, MOST)).alias("commit_records"),
        F.count_if(commit).cast("int").alias("commits"),
        F.bool_or(waiting).alias("commit_waits"),
        F.min(F.when(discard, place)).alias("discard"),
        F.min(F.when(dead, place)).alias("dead"),
        F.max("reconsume_times").alias("reconsumed"),
    )


def _accounts(case: Case) -> DataFrame:
    from kit.analysis.transactions import business

    joined = _per_key(case).join(ended(case), "uniq_key", "left")
    given_up = _discarded_by_log(case)
    logged = F.lit(False)
    if given_up is not None:
        joined, logged = joined.join(given_up, "uniq_key", "left"), F.coalesce("discard_logged", F.lit(False))
    state = F.when(
        F.col("half").isNotNull(),
        F.when((F.col("commits") > 0) | F.col("commit_waits"), "committed")
        .when(F.col("op").isNotNull(), "rolled_back")
        .when(F.col("discard").isNotNull() | logged, "discarded")
        .otherwise("pending"),
    )
    return business.join(
        case,
        joined.select(
            "uniq_key",
            "said.keys",
            "said.topic",
            F.col("said.group").alias("producer_group"),
            "said.born_host",
            "half",
            "renewed_half",
            "last_half",
            "half_records",
            "check_times",
            "op",
            F.coalesce("ops", F.lit(0)).alias("ops"),
            "commits",
            "commit_records",
            "discard",
            "dead",
            "reconsumed",
            "said.cluster",
            "said.immune",
            state.alias("state"),
        ),
    )


def _discarded_by_log(case: Case) -> DataFrame | None:
    """Return the UNIQ_KEYs whose last half copy the log says was discarded; None where the version keeps the message
    itself (4.5.2+).
    """
    if keeps_discarded(case) or not refs.seen(case, "check-discard"):
        return None
    named = case.event("check-discard").select(F.col("msg_id").alias("offset_msg_id")).distinct()
    return halves(case).join(named, "offset_msg_id").select("uniq_key", F.lit(True).alias("discard_logged")).distinct()


def keeps_discarded(case: Case) -> bool:
    """Whether every broker known to this evidence keeps a message it gives up."""
    said = [versions.rule("discardTopic", version) for version in setup.broker_versions(case)]
    return bool(said) and all(said)


def summary(case: Case) -> Summary:
    """Return the counts over all transactions, by producer group; worked out once."""
    return once(case, "transaction summary", lambda: _summary(case))


def _summary(case: Case) -> Summary:
    state, stored, rows = F.col("state"), F.col("half.store_timestamp"), F.col("rows")
    found = (
        accounts(case)
        .groupBy("producer_group")
        .agg(
            F.count("state").alias("half_messages"),
            *(F.count_if(state == name).alias(name) for name in STATES),
            F.count_if(state.isNotNull() & (F.col("commits") > 1)).alias("committed_twice"),
            F.count_if(F.col("check_times") > 0).alias("checked"),
            F.coalesce(F.sum(F.when(state.isNotNull(), F.col("half_records") - 1)), F.lit(0)).alias("renewed"),
            F.count_if((state == "committed") & rows.isNull()).alias("without_row"),
            F.min(stored).alias("first"),
            F.max("last_half.store_timestamp").alias("last"),
            F.min(F.when(rows.isNotNull(), stored)).alias("covered_from"),
            F.max(F.when(rows.isNotNull(), stored)).alias("covered_until"),
            F.count("dead").alias("dead"),
            F.bool_or("cluster").alias("cluster"),
            F.count_if("immune").alias("immune"),
        )
        .orderBy("producer_group")
        .collect()
    )
    names_ = [a.name for a in attrs.fields(Group) if a.name not in ("name", "covered")]
    groups = [
        Group(
            name=r.producer_group,
            covered=(r.covered_from, r.covered_until) if r.covered_from else None,
            **{n: r[n] for n in names_},
        )
        for r in found
        if r.half_messages
    ]
    # CLUSTER is stored by 4.6.0 and later, which all keep what they give up.
    knows = (
        not groups
        or keeps_discarded(case)
        or any(r.discarded or r.cluster for r in found)
        or case.has_source("transaction")
    )
    return Summary(tuple(groups), sum(r.dead for r in found), knows)
