"""Leaked messages: half and schedule records whose REAL_TOPIC is the half topic itself.

No producer writes such a record. A consumer older than 4.6.1 does, when its send-back is refused and it sends the message anew with TRAN_MSG and a
delay still set (client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack, up to 4.6.0): the broker takes it for a half message and the delay
diverts it into SCHEDULE_TOPIC_XXXX, which overwrites REAL_TOPIC.
"""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow.dataset as ds

from kit.case import columnar, scan
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import names

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.case.case import Case

CHART_ROWS = 4_000
TIMELINE_ROWS = 300
RARE: Final = 100
"""Leaked copies double in each round: messages that leaked at the same time have similar numbers of them."""
_TARGET: Final = promoted(names.REAL_TOPIC)
_CHECKS: Final = promoted(names.CHECK_TIMES)
_FIELDS: Final = (
    "file",
    "physical_offset",
    "store_timestamp",
    "born_timestamp",
    "born_host",
    "store_host",
    "topic",
    "queue_offset",
    "sys_flag",
    "reconsume_times",
    "prepared_transaction_offset",
    "uniq_key",
    _TARGET,
    _CHECKS,
    promoted(names.RECONSUME_TIME),
)


@per_case
def leaked(case: Case) -> pd.DataFrame:
    """Return the leaked records of the case, once each, in store order: half, schedule and discarded ones.

    Columns file, physical_offset, store_timestamp (naive UTC), store_host, topic, queue_offset, sys_flag,
    reconsume_times, prepared_transaction_offset, uniq_key, real_topic, check_times (null before the first check),
    resent (bool: RECONSUME_TIME is set), committed (bool: written by a commit) and `place` (`half`, `schedule`,
    `discarded`).
    """
    half, discarded = names.HALF_TOPIC, names.DISCARD_TOPIC
    topic, target = ds.field("topic"), ds.field(_TARGET)
    # A leaked record that is discarded goes through SCHEDULE as well and names the discard topic as its target.
    placed = (topic.isin([half, names.SCHEDULE_TOPIC]) & (target == half)) | (
        topic.isin([names.SCHEDULE_TOPIC, discarded]) & (target == discarded)
    )
    marked = (ds.field(promoted(names.TRAN_MSG)) == "true") & ds.field(promoted(names.DELAY)).is_valid()
    frame = _with_undamaged_keys(_frame(scan.records(case, _FIELDS, placed & marked)))
    place = np.where(frame["topic"] == half, "half", "schedule")
    frame["place"] = np.where(frame["real_topic"] == discarded, "discarded", place)
    frame["resent"] = frame.pop(promoted(names.RECONSUME_TIME)).notna()
    return frame.sort_values(["store_timestamp", "file", "physical_offset"], ignore_index=True)


def _with_undamaged_keys(frame: pd.DataFrame) -> pd.DataFrame:
    """Give records with a damaged UNIQ_KEY that of the message they are of: all copies of a message keep when and at which client it was born, and of two
    keys with one birth and `RARE` times fewer records the rarer has a flipped bit.
    """
    born = ["born_timestamp", "born_host"]
    counts = frame.groupby([*born, "uniq_key"], observed=True).size().rename("n").reset_index()
    most = counts.sort_values("n").drop_duplicates(born, keep="last")
    pairs = counts.merge(most, on=born, suffixes=("", "_most"))
    right = pairs[pairs["n"] * RARE < pairs["n_most"]].set_index("uniq_key")["uniq_key_most"]
    if len(right):
        keys = frame["uniq_key"].astype(object)
        frame["uniq_key"] = keys.map(right[~right.index.duplicated()]).fillna(keys)
    return frame.drop(columns=born)


def _frame(table: pa.Table) -> pd.DataFrame:
    """Return records as a frame: properties under their own names, whether the commit bit is set."""
    # Whoever wrote the property may have written anything.
    checks = columnar.integers(table[_CHECKS])
    frame = table.drop_columns(_CHECKS).to_pandas(split_blocks=True)
    for name in frame.select_dtypes("category"):
        frame[name] = frame[name].cat.set_categories(sorted(frame[name].cat.categories))
    frame["store_timestamp"] = frame["store_timestamp"].dt.tz_localize(None)
    frame["check_times"] = pd.arrays.IntegerArray(checks.astype(np.int32), checks < 0)
    frame["committed"] = (frame["sys_flag"] & names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT
    return frame.rename(columns={_TARGET: "real_topic"})


def half_records(case: Case) -> pd.DataFrame:
    """Return those of `leaked` in the half topic."""
    every = leaked(case)
    return every[every["place"] == "half"]


def resent(case: Case) -> pd.DataFrame:
    """Return the records with which the leak began: written by a consumer, seen once, not checked yet."""
    every = leaked(case)
    return every[
        (every["place"] == "schedule") & (every["reconsume_times"] > 0) & every["resent"] & every["check_times"].isna()
    ]


def committed_again(case: Case) -> pd.DataFrame:
    """Return the leaked records with the commit bit: written by a commit that was diverted, or copied from one."""
    every = leaked(case)
    return every[every["committed"] & (every["place"] != "discarded")]


def twins(case: Case) -> pd.DataFrame:
    """Return leaked half records that share UNIQ_KEY and check count with another one: one message became two."""
    half = half_records(case)
    return half[half["uniq_key"].notna() & half.duplicated(["uniq_key", "check_times"], keep=False)]


def _is_commit_itself(frame: pd.DataFrame) -> pd.Series:
    """Return whether a commit itself wrote the record: it names the record it ends; put-backs of a committed copy keep
    the bit, not the name.
    """
    return (frame["topic"] == names.SCHEDULE_TOPIC) & frame["committed"] & (frame["prepared_transaction_offset"] != 0)


def counts(case: Case) -> pd.DataFrame:
    """Return records by place and descent: columns place, committed (it or an ancestor was committed), records,
    commits, messages, max_check_times, first and last (times).

    `commits` are the records that a commit itself wrote into SCHEDULE: they name the record they end, put-backs of them
    do not.
    """
    every = leaked(case)
    grouped = every.assign(commit=_is_commit_itself(every)).groupby(["place", "committed"], sort=True)
    return grouped.agg(
        records=("place", "size"),
        commits=("commit", "sum"),
        messages=("uniq_key", "nunique"),
        max_check_times=("check_times", "max"),
        first=("store_timestamp", "min"),
        last=("store_timestamp", "max"),
    ).reset_index()


def growth(case: Case, messages: int, records: int) -> pd.DataFrame:
    """Return leaked half records in the order of their offsets, thinned out for a chart; each doubling (messages × 2^k)
    is kept.

    Columns seq (1 …), store_timestamp, half_queue_offset, check_times, uniq_key, doubling (bool).
    """
    marks = doublings(messages, records)
    half = half_records(case).sort_values(["store_host", "physical_offset"])
    seq = np.arange(1, len(half) + 1)
    shown = (seq % max(1, records // CHART_ROWS) == 0) | np.isin(seq, [1, records, *marks])
    columns = ["seq", "store_timestamp", "half_queue_offset", "check_times", "uniq_key"]
    kept = half.rename(columns={"queue_offset": "half_queue_offset"}).assign(seq=seq)[shown][columns]
    return kept.assign(doubling=kept["seq"].isin(marks)).reset_index(drop=True)


def doublings(messages: int, records: int) -> list[int]:
    """Return messages × 2^k for k = 0, 1, … up to the number of records."""
    marks = []
    m = messages
    while 0 < m <= records:
        marks.append(m)
        m *= 2
    return marks


def from_the_beginning(case: Case) -> bool:
    """Return whether the first leaked half record of each message is one that no check has renewed: if the head of the commit log is missing, counting from
    what is left would measure how fast one round is written.
    """
    half = half_records(case).sort_values(["store_host", "physical_offset"])
    return bool(half.drop_duplicates("uniq_key")["check_times"].isna().all())


def doubling_seconds(growth_frame: pd.DataFrame, messages: int, records: int) -> float | None:
    """Median time from the m-th to the 2m-th leaked half record, m = messages × 2^k; None below three terms."""
    when = growth_frame.set_index("seq")["store_timestamp"]
    marks = doublings(messages, records)
    terms = [(when[b] - when[a]).total_seconds() for a, b in itertools.pairwise(marks)]
    if len(terms) < 3:
        return None
    return round(statistics.median(terms), 3)


def flow(case: Case) -> pd.DataFrame:
    """Return how leaked records moved between topics: columns writer, target, records. Read from the records themselves.

    A leaked schedule record came from the consumer (reconsumed), from a check's put-back, or from a commit; it goes where its REAL_TOPIC says.
    Put-backs of a committed copy keep its commit bit; only the commit itself names the record it ends (preparedTransactionOffset).
    """
    every = leaked(case)
    waiting = every[every["topic"] == names.SCHEDULE_TOPIC]
    by_consumer = (waiting["reconsume_times"] > 0) & waiting["check_times"].isna()
    writer = np.where(_is_commit_itself(waiting), "commit", np.where(by_consumer, "consumer", "check"))
    grouped = waiting.assign(writer=writer, target=waiting["real_topic"].astype(str)).groupby(["writer", "target"])
    return grouped.size().rename("records").reset_index()


def timelines(case: Case, most: int = 8) -> pd.DataFrame:
    """Return the records of the first leaked messages (`most` at most) in store order, the first `TIMELINE_ROWS` of
    each, with their `uniq_key`.
    """
    began = pd.concat([resent(case).assign(rank=0), half_records(case).assign(rank=1)])
    first = began.sort_values(["rank", "store_timestamp", "uniq_key"]).drop_duplicates("uniq_key")
    keys = list(first["uniq_key"].dropna().head(most))
    more = ("queue_id", "offset_msg_id")
    columns = [
        name
        for name in (*_FIELDS, *more)
        if name not in ("store_host", "born_timestamp", "born_host", promoted(names.RECONSUME_TIME))
    ]
    frame = _frame(scan.records(case, columns, scan.one_of("uniq_key", keys)))
    waits = frame["topic"] == names.SCHEDULE_TOPIC
    frame["committed"] &= ~waits | (frame["prepared_transaction_offset"] != 0)
    order: Any = {key: n for n, key in enumerate(keys)}
    frame = frame.sort_values(
        ["uniq_key", "store_timestamp", "physical_offset"],
        key=lambda c: c.map(order) if c.name == "uniq_key" else c,
        ignore_index=True,
    )
    frame = frame[frame.groupby("uniq_key").cumcount() < TIMELINE_ROWS].reset_index(drop=True)
    shown = [
        "uniq_key",
        "store_timestamp",
        "file",
        "physical_offset",
        "topic",
        "queue_id",
        "queue_offset",
        "offset_msg_id",
    ]
    shown += ["sys_flag", "reconsume_times", "real_topic", "check_times", "committed"]
    return frame[shown].astype(dict.fromkeys(("file", "topic", "real_topic"), object))
