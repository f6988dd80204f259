"""Originals: the records a producer wrote, as against the copies that RocketMQ makes of them.

Copies are made by check-backs (put-back into the half topic), commits, delayed delivery, send-backs and their retries,
and dead letters; op records,
discarded half messages and message traces are nobody's business message. A half record or a schedule record can be an
original.
Source: reference §4.2–§4.8 (what each hop adds or keeps), common/message/MessageConst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from kit.case import setup
from kit.rocketmq import names
from kit.spark.properties import prop

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case

_WAITING: Final = (names.HALF_TOPIC, names.SCHEDULE_TOPIC, names.TIMER_TOPIC)
"""Topics in which a producer's own message waits; its target is REAL_TOPIC. Anywhere else REAL_TOPIC marks what came
out of them."""


def is_original(trace_topics: tuple[str, ...] = ()) -> Column:
    """Tell originals, as a condition on the columns of `messages`. `trace_topics`: further names of message trace
    topics.
    """
    target = prop(names.REAL_TOPIC)
    internal = names.SYSTEM_TOPICS - set(_WAITING)
    by_consumer = [
        prop(name).isNotNull() for name in (names.RETRY_TOPIC, names.ORIGIN_MESSAGE_ID, names.RECONSUME_TIME)
    ]
    renewed = [prop(name).isNotNull() for name in (names.CHECK_TIMES, names.PREPARED_QUEUE_OFFSET)]
    waits = F.col("topic").isin(*_WAITING)
    return (
        plainly_new()
        & ~F.col("topic").isin(*internal, *trace_topics)
        & ~F.startswith("topic", F.lit(names.TRACE_TOPIC_CLOUD_PREFIX))
        & (target.isNull() | (waits & (target != F.col("topic")) & ~target.isin(*internal)))
        & ~_any(by_consumer)
        & ~_any(renewed)
    )


def plainly_new() -> Column:
    """Tell what the fixed fields alone cannot rule out as an original: cheap, before the properties are looked at."""
    committed = F.col("sys_flag").bitwiseAND(names.TRANSACTION_MASK) >= names.TRANSACTION_COMMIT
    again = F.startswith("topic", F.lit(names.RETRY_PREFIX)) | F.startswith("topic", F.lit(names.DLQ_PREFIX))
    return ~committed & ~again & (F.col("reconsume_times") == 0) & (F.col("prepared_transaction_offset") == 0)


def originals(case: Case) -> DataFrame:
    """Return the originals of the case, each once (columns of `messages`)."""
    return case.records.where(is_original(trace_topics(case)))


def trace_topics(case: Case) -> tuple[str, ...]:
    """Return the trace topic that the broker's configuration names, when it is not the usual one."""
    named = setup.setting(case, "msgTraceTopicName").value
    return (str(named),) if named and named != names.TRACE_TOPIC else ()


def _any(conditions: list[Column]) -> Column:
    found = conditions[0]
    for condition in conditions[1:]:
        found = found | condition
    return found
