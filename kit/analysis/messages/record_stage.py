"""Copies, retries and missing steps, counted by the stage of each record in the life of its message (`kit.rocketmq.stages`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import columnar, scan, setup
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import promoted
from kit.formats.commitlog.strings import hashed
from kit.formats.values import NANO_LAST_MS
from kit.i18n import T
from kit.rocketmq import names
from kit.rocketmq.stages import CHECK_BACK, COMMIT, DISCARDED, DLQ, DUE, HALF, LEAKED, OP, ORIGINAL, RETRY, SCHEDULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kit.case.case import Case

STAGES: Final[dict[str, T]] = {
    ORIGINAL: T("written by the producer"),
    HALF: T("half message, invisible to consumers"),
    CHECK_BACK: T("half message put back by a check"),
    COMMIT: T("committed, now in its real topic"),
    OP: T("mark that a half message is finished"),
    SCHEDULE: T("waiting for its delay"),
    DUE: T("delivered to its topic when the delay was over"),
    RETRY: T("sent back by a consumer, to be consumed again"),
    DLQ: T("dead letter of its consumer group"),
    DISCARDED: T("discarded by the check"),
    LEAKED: T("a retry that became a half message"),
}
"""Stage → what it means."""
_STEPS: Final = ("sent back", RETRY, "given up")
"""Steps of the retry funnel in order; `dlq` is last."""
_GRACE: Final = pd.Timedelta(seconds=2)
"""How late a copy may come."""
LONGEST_PATH: Final = 60
"""Most steps of a journey that are shown."""
LONGEST_DELAY: Final = 100 * 86_400
"""Seconds. A level beyond is no delay anybody waits for, and could lead out of the times that can be shown."""


def identities(case: Case) -> tuple[int, int]:
    """Return (distinct UNIQ_KEYs, those with more than one offset id) over every record."""
    hashes = [hashed(batch["uniq_key"]) for batch in scan.batches(case, ("uniq_key",), ds.field("uniq_key").is_valid())]
    # Every record is there once and has an offset id of its own.
    _, counts = np.unique(np.concatenate([np.empty(0, np.uint64), *hashes]), return_counts=True)
    return len(counts), int((counts > 1).sum())


def copies(case: Case) -> pd.DataFrame:
    """Return the number of copies at each stage: topic, stage, reconsume_times, records, messages, first, last."""
    by = ["topic", "stage", "reconsume_times"]
    sums = [
        ("uniq_key", "count", pc.CountOptions("all")),
        ("uniq_key", "count_distinct", pc.CountOptions("only_valid")),
    ]
    parts = []
    for rows in scan.by_message(case, (*by, "uniq_key", "store_timestamp")):
        plain = {name: rows[name].cast(pa.string()) for name in by[:2]}
        table = pa.table({**plain, **{name: rows[name] for name in (by[2], "uniq_key", "store_timestamp")}})
        spans = [("store_timestamp", "min"), ("store_timestamp", "max")]
        parts.append(columnar.to_pandas(table.group_by(by).aggregate([*sums, *spans])))
    named = {"records": "uniq_key_count", "messages": "uniq_key_count_distinct"}
    spans_ = {"first": ("store_timestamp_min", "min"), "last": ("store_timestamp_max", "max")}
    summed = {name: (column, "sum") for name, column in named.items()}
    counted = pd.concat(parts).groupby(by, dropna=False).agg(**summed, **spans_).reset_index()
    return counted.sort_values(["first", *by], na_position="first", ignore_index=True)


def journeys(case: Case) -> pd.DataFrame:
    """Return how often each journey was taken: `path` (stages in store order, joined by ` > `), `messages`, `example`
    (a UNIQ_KEY).
    """
    found: dict[str, tuple[int, str]] = {}
    columns = ("uniq_key", "stage", "reconsume_times", "store_timestamp", "physical_offset")
    for rows in scan.by_message(case, columns, ds.field("uniq_key").is_valid()):
        for path, messages, example in _paths(rows):
            before, first = found.get(path, (0, example))
            found[path] = before + messages, min(first, example)
    ordered = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    return pd.DataFrame([(path, *said) for path, said in ordered], columns=["path", "messages", "example"])


def _paths(rows: pa.Table) -> Iterator[tuple[str, int, str]]:
    """Yield each journey of these messages, how many took it, and the least of their UNIQ_KEYs."""
    coded = rows["uniq_key"].combine_chunks().dictionary_encode()
    key, names_ = coded.indices.to_numpy(), coded.dictionary.to_pylist()
    stage = rows["stage"].cast(pa.string()).to_pylist()
    times = rows["reconsume_times"].to_pylist()
    said = [f"{RETRY} {n}" if each == RETRY else each for each, n in zip(stage, times, strict=True)]
    step, steps = pd.factorize(np.array(said, object))
    order = np.lexsort((rows["physical_offset"].to_numpy(), rows["store_timestamp"].cast(pa.int64()).to_numpy(), key))
    key, step = key[order], step[order]
    nth = np.arange(len(key)) - np.searchsorted(key, key)
    # The journeys so far, numbered: those of the next step are the pairs of one and the step.
    path, told = np.zeros(len(names_), np.int64), [""]
    for at in range(min(LONGEST_PATH, int(nth.max(initial=-1)) + 1)):
        mine = nth == at
        pairs, numbers = np.unique(path[key[mine]] * len(steps) + step[mine], return_inverse=True)
        path[key[mine]] = len(told) + numbers
        told += [" > ".join(filter(None, (told[n // len(steps)], steps[n % len(steps)]))) for n in pairs.tolist()]
    by_path = pd.DataFrame({"path": path, "key": names_}).groupby("path")["key"].agg(["size", "min"])
    yield from ((told[n], int(size), least) for n, size, least in by_path.itertuples())


def funnel(case: Case) -> pd.DataFrame:
    """Return the retry funnel: consumer_group, level (1 …, the reconsumeTimes), step (`sent back`, `retry`, `dlq`),
    messages, seconds.

    `sent back`: waits or waited for its delay; `retry`: reached the retry topic; `dlq`: became a dead letter.
    `seconds`: median time from the message's previous copy (the failed delivery's record for `sent back`) to this one.
    """
    target = promoted(names.REAL_TOPIC)
    retried = scan.records(case, ("uniq_key",), ds.field("consumer_group").is_valid() & ds.field("uniq_key").is_valid())
    columns = ("uniq_key", "stage", "consumer_group", "reconsume_times", target, "store_timestamp", "physical_offset")
    mine = ds.field("uniq_key").isin(pc.unique(retried["uniq_key"]))
    rows = columnar.to_pandas(scan.records(case, columns, mine)).sort_values(
        ["uniq_key", "store_timestamp", "physical_offset"]
    )
    rows["seconds"] = rows.groupby("uniq_key")["store_timestamp"].diff().dt.total_seconds()
    rows = rows[rows["consumer_group"].notna()].rename(columns={"reconsume_times": "level"})
    to_dlq = rows[target].fillna("").str.startswith(names.DLQ_PREFIX).astype(bool)
    rows["step"] = columnar.choose(
        [(rows["stage"] == SCHEDULE) & to_dlq, rows["stage"] == SCHEDULE], ["given up", "sent back"], rows["stage"]
    )
    grouped = rows.groupby(["consumer_group", "level", "step"])
    counted = grouped.agg(messages=("uniq_key", "nunique"), seconds=("seconds", "median")).reset_index()
    rank = counted["step"].map({step: n for n, step in enumerate(_STEPS)}).fillna(len(_STEPS))
    counted["seconds"] = counted["seconds"].round(3)
    return (
        counted.assign(rank=rank)
        .sort_values(["consumer_group", "level", "rank"], ignore_index=True)
        .drop(columns="rank")
    )


def never_came(case: Case) -> pd.DataFrame:
    """Return copies whose next step never came although it was due before the evidence ends.

    Columns uniq_key, offset_msg_id, file, physical_offset, store_timestamp, stage, target (the topic it should have
    reached), due. Covers everything that waits for a delay: delayed messages, retries, and dead letters in transit.
    """
    target, out = promoted(names.REAL_TOPIC), promoted("TIMER_OUT_MS")
    shown = ("uniq_key", "offset_msg_id", "file", "physical_offset", "store_timestamp", "stage")
    more = (target, out, "topic", "queue_id", "reconsume_times")
    waits = (ds.field("stage") == SCHEDULE) & ds.field("uniq_key").is_valid()
    waiting = columnar.to_pandas(scan.records(case, (*shown, *more), waits)).rename(columns={target: "target"})
    waiting["due"] = due(case, waiting)
    same = ["uniq_key", "target", "reconsume_times"]
    waiting = waiting.sort_values(["store_timestamp", "physical_offset"])
    waiting["nth"] = waiting.groupby(same, dropna=False).cumcount()
    keys = pa.array(waiting["uniq_key"].unique(), pa.string())
    came = ds.field("stage").isin([DUE, RETRY, DLQ, ORIGINAL, COMMIT]) & scan.one_of("uniq_key", keys)
    arrived = columnar.to_pandas(scan.records(case, ("uniq_key", "topic", "reconsume_times"), came))
    counts = arrived.groupby(["uniq_key", "topic", "reconsume_times"]).size().rename("arrived")
    waiting = waiting.join(counts.rename_axis(same), on=same)
    end = last_stored(case)
    late = (waiting["nth"] >= waiting["arrived"].fillna(0)) & (waiting["due"] + _GRACE < end)
    return waiting[late].sort_values(["due", "offset_msg_id"], ignore_index=True)[[*shown, "target", "due"]]


@per_case
def last_stored(case: Case) -> pd.Timestamp:
    """Return when the last record was stored (naive UTC), NaT without records."""
    ends = [pc.max(batch["store_timestamp"]) for batch in scan.batches(case, ("store_timestamp",))]
    times = columnar.to_pandas(pa.table({"end": pa.array([end.as_py() for end in ends], pa.timestamp("us", "UTC"))}))
    return times["end"].max()


def due(case: Case, scheduled: pd.DataFrame) -> pd.Series[pd.Timestamp]:
    """Return when the delay of schedule records is over, by its level (the queue) and the broker's messageDelayLevel;
    NaT if unknown. Needs the columns topic, queue_id, store_timestamp and TIMER_OUT_MS.
    """
    seconds = (scheduled["queue_id"] + 1).map(delay_levels(case))
    out = scheduled[promoted("TIMER_OUT_MS")]
    numbers = pd.to_numeric(out.where(out.str.fullmatch(r"[0-9]{1,13}", na=False).astype(bool))).astype("Int64")
    # As Int64: of floats with NaN among them pandas rounds memory it never wrote, and at times raises FloatingPointError.
    wheel = pd.to_datetime(numbers.where(numbers <= NANO_LAST_MS), unit="ms").astype("datetime64[ns]")
    after = scheduled["store_timestamp"] + pd.to_timedelta(seconds.astype(float), unit="s")
    return wheel.where(scheduled["topic"] == names.TIMER_TOPIC, after)


def delay_levels(case: Case) -> dict[int, int]:
    """Return {level: seconds} of the broker: its messageDelayLevel, else the default."""
    said = setup.setting(case, "messageDelayLevel").value
    try:
        levels = names.delay_seconds(str(said)) if said else names.delay_seconds()
    except ValueError:
        return names.delay_seconds()
    return {level: seconds for level, seconds in levels.items() if seconds <= LONGEST_DELAY}
