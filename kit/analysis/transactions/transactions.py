"""Every transaction of the stores, one row each: half record, checks, op record, commits, discard, dead letter,
business row, and its state.

States, the first that fits: `committed` (a commit record in a real topic) > `rolled_back` (an op record names one of
its half records, no commit, and the logs at hand are whole between the two) > `discarded` (moved to the check-limit topic, or reported by the log) > `pending`. A
leaked retry (REAL_TOPIC = half topic) is not a transaction of its own. Source: reference §4.3–§4.6;
broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageBridge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs, unseen
from kit.analysis.transactions import business, owners
from kit.case import columnar, log_events, scan, setup
from kit.case.memoize import once, per_case
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import names, stages, versions

if TYPE_CHECKING:
    from kit.case.case import Case

SAME: Final = 1
"""ms that two records written together may be apart."""
STATES: Final = ("committed", "rolled_back", "discarded", "pending")
_READ: Final = (
    "uniq_key",
    "file",
    "physical_offset",
    "store_timestamp",
    "topic",
    "stage",
    "queue_offset",
    "sys_flag",
    "reconsume_times",
    "prepared_transaction_offset",
    "born_host",
    "keys",
    *map(promoted, (names.REAL_TOPIC, names.PGROUP, names.CLUSTER, names.CHECK_IMMUNITY, *stages.RENEWED)),
)


RENEWED: Final = tuple(map(promoted, stages.RENEWED))
"""Columns of which a half record that a check or the immunity time wrote has one."""


def is_real(topic: str) -> bool:
    """Return whether a topic is one that producers send to."""
    return topic not in names.SYSTEM_TOPICS and not topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX))


def accounts(case: Case) -> pa.Table:
    """Return one row per transaction (and per dead letter that is not one: its `state` is null); kept for the case.

    Columns uniq_key, keys, topic, producer_group, born_host, cluster and immune (bool: those properties are set) of the
    half message; `half_…`, `last_…` (its last copy), `op_…`, `commit_…`, `second_…` (commit), `discard_…`: time, file
    and offset (physical) of the first such record, for half records also queue; renewed_offset (of the first put-back
    copy), half_records, check_times (null before the first check), op_half (offset of the half record it ends), ops
    (half records ended), commits, named_first and named_last (least and greatest offset of a half record that a commit
    names), named_commit (offset of the first commit of the former), of_original and of_copy (bool: a commit names the
    original, or a copy), dead (bool), reconsumed, state, with_row (bool: a business row belongs to it).
    """
    return once(case, "transactions", lambda: _with_rows(case))


def _with_rows(case: Case) -> pa.Table:
    found = _accounts(case)
    linked = pa.array(rows(case)["uniq_key"].unique(), pa.string())
    return found.append_column("with_row", pc.is_in(found["uniq_key"], value_set=linked))


def rows(case: Case) -> pd.DataFrame:
    """Return the business rows of transactions: uniq_key, key, file, line, status, in this order."""
    return once(case, "transaction rows", lambda: business.rows_of(case, _accounts(case)))


def transactions(case: Case, where: pc.Expression | None = None) -> pd.DataFrame:
    """Return the rows of `accounts` that are transactions and that `where` keeps, as a frame."""
    mine = ds.field("state").is_valid()
    return columnar.to_pandas(accounts(case).filter(mine if where is None else mine & where))


@per_case
def _accounts(case: Case) -> pa.Table:
    mine = ds.field("uniq_key").is_valid() & (
        (ds.field(promoted(names.TRAN_MSG)) == "true") | (ds.field("stage") == stages.DLQ)
    )
    ended, given_up = _ended(case), _discarded_by_log(case)
    columns = _READ if given_up is None else (*_READ, "offset_msg_id")
    made = [_of_messages(case, rows, ended, given_up) for rows in scan.by_message(case, columns, mine)]
    return pa.concat_tables(made).unify_dictionaries()


def _ended(case: Case) -> pa.Table:
    """Return the first op record of each half record that one ends, in order of broker and half_queue_offset: columns
    of `ops`, broker, nth (of the op record).
    """
    wanted = ("store_timestamp", "physical_offset", "file", "half_queue_offset")
    ops = scan.table(case, "ops", wanted, (ds.field("queue_id") == 0) & ds.field("half_queue_offset").is_valid())
    files = sorted(pc.unique(ops["file"].cast(pa.string())).drop_null().to_pylist())
    rank = {file: n for n, file in enumerate(files)}
    place = (
        # A chunk's dictionary may name files of which no row is left.
        columnar.mapped(ops["file"], lambda file: rank.get(file, -1), len(files)),
        ops["physical_offset"].to_numpy(),
        ops["store_timestamp"].cast(pa.int64()).fill_null(np.iinfo(np.int64).max).to_numpy(),
    )
    order = np.lexsort(place)
    nth = np.empty(len(order), np.int64)
    nth[order] = np.cumsum(_changes(*(each[order] for each in place)))
    broker, half = owners.brokers(case, ops["file"]), ops["half_queue_offset"].to_numpy()
    order = np.lexsort((nth, half, broker))
    first = order[_changes(broker[order], half[order])]
    ops = ops.append_column("broker", pa.array(broker)).append_column("nth", pa.array(nth))
    return ops.take(pa.array(first))


def _changes(*columns: np.ndarray) -> np.ndarray:
    """Return for each row whether it is the first or differs from the one before."""
    changed = np.ones(len(columns[0]), bool)
    changed[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in columns])
    return changed


def _of_messages(case: Case, rows: pa.Table, ended: pa.Table, given_up: pa.Array | None) -> pa.Table:
    """Return the accounts of some messages from all of their records."""
    coded = rows["uniq_key"].combine_chunks().dictionary_encode()
    key, count = coded.indices.to_numpy(), len(coded.dictionary)
    at = {name: rows[name].to_numpy() for name in ("physical_offset", "queue_offset", "prepared_transaction_offset")}
    offset, prepared = at["physical_offset"], at["prepared_transaction_offset"]
    times = rows["store_timestamp"].cast(pa.int64()).fill_null(np.iinfo(np.int64).min).to_numpy()
    order = np.lexsort((offset, times))
    in_half = columnar.passes(rows["topic"], lambda t: t == names.HALF_TOPIC)
    half = in_half & columnar.passes(rows[owners.TARGET], lambda t: t != names.HALF_TOPIC)
    renewed = half & np.logical_or.reduce([rows[name].is_valid().to_numpy() for name in RENEWED])
    waits = columnar.passes(rows["topic"], lambda t: t == names.SCHEDULE_TOPIC)
    bit = (rows["sys_flag"].to_numpy() & names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT
    # Of another topic than the one it names it is none: one of the two names is damaged.
    whole = columnar.passes(rows["stage"], lambda stage: stage in (stages.COMMIT, stages.DUE))
    real = columnar.passes(rows["topic"], is_real)
    commit = bit & whole & real
    # Only a commit names a half record: one whose flag or topic is damaged is still one, where no other is.
    damaged = real & ~commit & (prepared > 0)
    if damaged.any():
        damaged[damaged] = np.isin(prepared[damaged], offset[half])
    # A commit with a delay waits in SCHEDULE first; it is on its way to its topic.
    times_consumed = rows["reconsume_times"].to_numpy()
    waiting = bit & waits & columnar.passes(rows[owners.TARGET], is_real) & (times_consumed == 0)
    discard = columnar.passes(rows["topic"], lambda t: t == names.DISCARD_TOPIC)
    discard |= waits & columnar.passes(rows[owners.TARGET], lambda t: t == names.DISCARD_TOPIC)
    dead = columnar.passes(rows["topic"], lambda t: t.startswith(names.DLQ_PREFIX))

    def first(mask: np.ndarray, among: np.ndarray = order) -> np.ndarray:
        """Return the row of each message that comes first among those of the mask, -1 where it has none."""
        chosen = among[mask[among]][::-1]
        found = np.full(count, -1)
        found[key[chosen]] = chosen
        return found

    def any_(mask: np.ndarray) -> np.ndarray:
        return np.bincount(key[mask], minlength=count) > 0

    def best(mask: np.ndarray, values: np.ndarray, *, least: bool = False) -> np.ndarray:
        most = np.iinfo(np.int64).max
        found = np.full(count, most if least else -1)
        (np.minimum if least else np.maximum).at(found, key[mask], values[mask])
        return found

    def taken(name: str, which: np.ndarray) -> pa.Array:
        return rows[name].take(pa.array(which, mask=which < 0)).combine_chunks()

    def place(name: str, which: np.ndarray, *more: str) -> dict[str, pa.Array]:
        fields = {"time": "store_timestamp", "offset": "physical_offset", "file": "file", "queue": "queue_offset"}
        return {f"{name}_{field}": taken(fields[field], which) for field in ("time", "offset", "file", *more)}

    original = first(half & ~renewed)
    one = first(commit)
    repeated = commit.copy()
    repeated[one[one >= 0]] = False
    discarded, commits = first(discard), np.bincount(key[commit], minlength=count)
    named = best(commit, prepared, least=True)
    own = np.where(original >= 0, offset[original], -1)
    checks = columnar.integers(rows[promoted(names.CHECK_TIMES)])
    checked = best(half & (checks >= 0), checks)
    halves = (owners.brokers(case, rows["file"]), at["queue_offset"], key, offset)
    op, op_half, ops = _ops(tuple(each[half] for each in halves), ended, count)
    by_op = ended.take(pa.array(op, mask=op < 0))
    logged = np.zeros(count, bool)
    if given_up is not None:
        logged = any_(half & pc.is_in(rows["offset_msg_id"], value_set=given_up).to_numpy())
    committed = (commits > 0) | any_(waiting) | any_(damaged)
    hidden = _may_hide_commit(case, times[original], by_op["store_timestamp"])
    over = [original < 0, committed, (ops > 0) & ~hidden, (discarded >= 0) | logged]
    state = columnar.choose(over, [-1, 0, 1, 2], 3)
    texts = {"keys": "keys", "topic": owners.TARGET, "producer_group": promoted(names.PGROUP), "born_host": "born_host"}
    of = {name: taken(column, original) for name, column in texts.items()}
    flags = {"cluster": names.CLUSTER, "immune": names.CHECK_IMMUNITY}
    is_set = {name: taken(promoted(prop), original).is_valid() for name, prop in flags.items()}
    return pa.table(
        {
            "uniq_key": coded.dictionary,
            **of,
            **place("half", original, "queue"),
            "renewed_offset": taken("physical_offset", first(renewed)),
            **place("last", first(half, order[::-1]), "queue"),
            "half_records": np.bincount(key[half], minlength=count),
            "check_times": pa.array(checked, mask=checked < 0),
            "op_time": by_op["store_timestamp"],
            "op_offset": by_op["physical_offset"],
            "op_half": pa.array(op_half, mask=op < 0),
            "op_file": by_op["file"],
            "ops": ops,
            "commits": commits,
            **place("commit", one),
            **place("second", first(repeated)),
            "named_first": named,
            "named_last": best(commit, prepared),
            "named_commit": taken("physical_offset", first(commit & (prepared == named[key]))),
            "of_original": any_(commit & (prepared == own[key])),
            "of_copy": any_(commit & (prepared != own[key])),
            **place("discard", discarded),
            "dead": any_(dead),
            "reconsumed": best(np.ones(len(key), bool), times_consumed),
            **is_set,
            "state": pa.array(STATES).take(pa.array(state, mask=state < 0)),
        }
    )


def _may_hide_commit(case: Case, half: np.ndarray, op: pa.Array) -> np.ndarray:
    """Return for each message whether a commit, which is written before its op record, may lie where the logs at hand have nothing."""
    ended = op.cast(pa.int64()).fill_null(np.iinfo(np.int64).min).to_numpy(zero_copy_only=False)
    return unseen.may_hold(unseen.stretches(case), half / 1000 - SAME, ended / 1000 + SAME)


def _ops(halves: tuple[np.ndarray, ...], ended: pa.Table, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each message the row of `ended` with its first op record (-1: none), the offset of the half record
    that this ends, and how many half records are ended. `halves`: broker, offset in the half queue, message, physical
    offset.
    """
    broker, queue_offset = halves[:2]
    known, by, nth = (ended[name].to_numpy() for name in ("half_queue_offset", "broker", "nth"))
    at = np.full(len(broker), -1)
    for each in np.unique(by):
        mine, (begin, end) = np.flatnonzero(broker == each), np.searchsorted(by, (each, each + 1))
        place = begin + np.searchsorted(known[begin:end], queue_offset[mine])
        found = known[np.minimum(place, end - 1)] == queue_offset[mine]
        at[mine[found]] = place[found]
    row, key, half = (each[at >= 0] for each in (at, *halves[2:]))
    order = np.lexsort((half, nth[row], key))
    first = order[_changes(key[order])]
    op, op_half = np.full(count, -1), np.full(count, -1)
    op[key[first]], op_half[key[first]] = row[first], half[first]
    order = np.lexsort((half, key))
    return op, op_half, np.bincount(key[order][_changes(key[order], half[order])], minlength=count)


def _discarded_by_log(case: Case) -> pa.Array | None:
    """Return the offset ids of the half copies that were discarded according to the log; None if the version keeps the
    message itself (4.5.2+).
    """
    if keeps_discarded(case) or not refs.seen(case, "check-discard"):
        return None
    return pc.unique(log_events.events(case, ["check-discard"])["msg_id"]).drop_null()


def keeps_discarded(case: Case) -> bool:
    """Whether every known broker keeps a message that it discards."""
    said = [versions.rule("discardTopic", version) for version in setup.broker_versions(case, owners.addresses(case))]
    return bool(said) and all(said)
