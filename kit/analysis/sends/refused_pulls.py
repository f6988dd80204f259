"""Pulls that were refused as busy: they are no refused sends, and a slave that may not be read gives the same answer.

`PullMessageProcessor.rejectRequest` refuses every pull of a slave with slaveReadEnable=false (5.0.0 and later) as `[REJECTREQUEST]system busy`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs
from kit.case.memoize import per_case
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kit.case.case import Case
    from kit.inventory.references import Ref

REFUSED: Final = ("flow-control", "thread-pool-busy")
OF_PULLS: Final = (
    "execute the pull request exception", "pullKernelImpl", "processPullResponse", "pullMessageAsync", "PullCallback", "PullMessageService", "popMessage",
    "updateConsumeOffsetToBroker", "getConsumerIdListByGroup", "HeartBeat", "heart beat", "queryConsumerOffset", "lockBatchMQ",
)  # fmt: skip
"""What a client prints around the refusal of anything that is no send: client/impl/consumer, MQClientAPIImpl, MQClientInstance; no sender's frame has one."""


def is_pull() -> Column:
    """Tell the entries whose refusal was one of a pull, or of something else that is no send."""
    text = F.concat_ws("\n", "message", "trace")
    found = F.lit(False)
    for words in OF_PULLS:
        found = found | F.contains(text, F.lit(words))
    return found & ~F.contains(text, F.lit("DefaultMQProducerImpl.send"))


@per_case
def entries(case: Case) -> DataFrame:
    """Return the entries in which something else than a send was refused as busy."""
    refused = F.arrays_overlap("events", F.array(*(F.lit(slug) for slug in REFUSED)))
    return case.entries.where(refused & is_pull())


@per_case
def count(case: Case) -> int:
    return entries(case).count() if refs.seen(case, *REFUSED) else 0


@per_case
def refused_sends(case: Case) -> refs.Seen:
    """Return where a send was refused as busy: every refusal but those of pulls."""
    if not count(case):
        return refs.seen(case, *REFUSED)
    refused = F.arrays_overlap("events", F.array(*(F.lit(slug) for slug in REFUSED)))
    return refs.among(case.entries.where(refused & ~is_pull()), *REFUSED)


def timed_out_sends(case: Case, slugs: tuple[str, ...], outside: Collection[str]) -> refs.Seen:
    """Return where a send timed out: not a pull, not a heartbeat, not a request of a broker of its own, and not in the
    folders `outside`.
    """
    if not refs.seen(case, *slugs, outside=outside):
        return refs.seen(case, *slugs, outside=outside)
    late = F.arrays_overlap("events", F.array(*(F.lit(slug) for slug in slugs)))
    own = F.coalesce(F.col("source").isin(*BROKER_SIDE), F.lit(False))
    there = F.regexp_replace(F.concat(F.lit("./"), "file"), "/[^/]*$", "").isin(
        *([_folder(f) for f in outside] or [""])
    )
    return refs.among(case.entries.where(late & ~is_pull() & ~own & ~there), *slugs)


def _folder(name: str) -> str:
    return "." if name == "." else f"./{name}"


@per_case
def quotes(case: Case) -> tuple[Ref, ...]:
    """Quote the earliest refused pulls: the line that names the refusal."""
    return refs.lines(case, entries(case), 2, within="system busy") if count(case) else ()
