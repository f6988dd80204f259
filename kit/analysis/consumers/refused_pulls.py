"""Pulls refused as busy: they are not refused sends, and a slave that may not be read answers in the same way.

`PullMessageProcessor.rejectRequest` refuses every pull of a slave with slaveReadEnable=false (5.0.0 and later) as
`[REJECTREQUEST]system busy`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.case import columnar, log_events, scan
from kit.case.memoize import per_case
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case
    from kit.inventory.references import Ref

REFUSED: Final = ("flow-control", "thread-pool-busy")
OF_PULLS: Final = (
    "execute the pull request exception", "pullKernelImpl", "processPullResponse", "pullMessageAsync", "PullCallback", "PullMessageService", "popMessage",
    "updateConsumeOffsetToBroker", "getConsumerIdListByGroup", "HeartBeat", "heart beat", "queryConsumerOffset", "lockBatchMQ",
    "checkClientInBroker", "DefaultMQPushConsumerImpl.start", "ListenerContainerConfiguration", "MQAdminExt",
)  # fmt: skip
"""What a client prints around the refusal of anything that is no send: client/impl/consumer, MQClientAPIImpl, MQClientInstance, tools/admin, the listeners of rocketmq-spring; no sender's frame has one."""


def _entries(case: Case, slugs: tuple[str, ...]) -> pd.DataFrame:
    """Return the entries with one of these texts: file, source, line, ts (naive UTC), pull (bool: about a pull or
    another request that is not a send).
    """
    marks = {"pull": OF_PULLS, "send": ("DefaultMQProducerImpl.send",)}
    found = columnar.to_pandas(log_events.events(case, slugs, log_events.PLACE, marks=marks, values=False))
    return found.assign(pull=found["pull"] & ~found["send"])


@per_case
def _refused(case: Case) -> pd.DataFrame:
    return _entries(case, REFUSED)


@per_case
def count(case: Case) -> int:
    """Return how many entries report a request other than a send as refused for busy."""
    return int(_refused(case)["pull"].sum())


@per_case
def refused_sends(case: Case) -> refs.Seen:
    """Return where a send was refused as busy: every refusal except those of pulls."""
    found = _refused(case)
    return refs.among(found[~found["pull"]], *REFUSED) if count(case) else refs.seen(case, *REFUSED)


def timed_out_sends(case: Case, slugs: tuple[str, ...], outside: Collection[str]) -> refs.Seen:
    """Return where a send timed out, rather than a pull, a heartbeat or a request of a broker itself, outside the
    folders `outside`.
    """
    if not refs.seen(case, *slugs, outside=outside):
        return refs.seen(case, *slugs, outside=outside)
    found = _entries(case, slugs)
    there = [str(PurePosixPath(file).parent) in outside for file in found["file"]]
    return refs.among(found[~found["pull"] & ~found["source"].isin(BROKER_SIDE) & ~np.array(there, bool)], *slugs)


@per_case
def quotes(case: Case) -> tuple[Ref, ...]:
    """Quote the earliest refused pulls: the line that names the refusal."""
    found = _refused(case)
    first = found[found["pull"]].sort_values(["ts", "file", "line"], na_position="first").head(2)
    at = scan.one_of("file", first["file"]) & ds.field("line").isin(list(first["line"]))
    texts = scan.table(case, "logs", refs.QUOTED, at).to_pandas() if len(first) else None
    return () if texts is None else refs.earliest(case, texts.astype({"file": object}).merge(first[["file", "line"]]), 2, within="system busy")  # fmt: skip
