"""Copies, retries and missing steps, counted by the stage of each record in the life of its message (`kit.rocketmq.stages`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.case import columnar, scan, setup
from kit.case.memoize import per_case
from kit.formats.commitlog.schema import promoted
from kit.formats.values import NANO_LAST_MS
from kit.i18n import T
from kit.rocketmq import names
from kit.rocketmq.stages import CHECK_BACK, COMMIT, DISCARDED, DLQ, DUE, HALF, LEAKED, OP, ORIGINAL, RETRY, SCHEDULE

if TYPE_CHECKING:
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
LONGEST_DELAY: Final = 100 * 86_400
"""Seconds. A level beyond is no delay anybody waits for, and could lead out of the times that can be shown."""


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
