"""Originals: the records that a producer wrote, in contrast to the copies that RocketMQ makes of them.

Copies are made by check-backs (put-back into the half topic), commits, delayed delivery, send-backs and their retries,
and dead letters; op records, discarded half messages and message traces are not business messages. A half record or a
schedule record can be an original. Source: reference §4.2–§4.8 (what each hop adds or keeps),
common/message/MessageConst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import setup
from kit.rocketmq import names, stages

if TYPE_CHECKING:
    from kit.case.case import Case

NEW: Final = (
    (pc.bit_wise_and(ds.field("sys_flag"), names.TRANSACTION_MASK) < names.TRANSACTION_COMMIT)
    & ~ds.field("stage").isin([stages.RETRY, stages.DLQ])
    & (ds.field("reconsume_times") == 0)
    & (ds.field("prepared_transaction_offset") == 0)
)
"""What the fixed fields alone cannot rule out as an original; RocketMQ's own messages among it."""


def which(case: Case) -> pc.Expression:
    """Return the condition of originals for `scan.records`."""
    traces = trace_topics(case)
    return ds.field("original") & ~ds.field("topic").isin(traces) if traces else ds.field("original")


def trace_topics(case: Case) -> tuple[str, ...]:
    """Return the trace topic that the broker's configuration names, when it is not the usual one."""
    named = setup.setting(case, "msgTraceTopicName").value
    return (str(named),) if named and named != names.TRACE_TOPIC else ()
