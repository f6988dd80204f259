"""The starting point of a what-if about sizes: a message of this evidence, with its topic, properties, release and
limit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.rocketmq import binary_format, names, rewrites

if TYPE_CHECKING:
    from kit.analysis.sizes.in_force import Limits

COLUMNS: Final = (
    "topic", "body", "properties", "broker", "limit", "producer_group", "check_max", "dledger", "v6", "cluster",
    "extra", "safe_body",
)  # fmt: skip
ADDED: Final = frozenset(
    {
        names.UNIQ_KEY,
        names.WAIT,
        names.CLUSTER,
        names.REAL_TOPIC,
        names.REAL_QID,
        names.TRAN_MSG,
        names.PGROUP,
        names.CHECK_TIMES,
        names.MSG_REGION,
        names.TRACE_ON,
        names.TRANSACTION_ID,
        names.PREPARED_QUEUE_OFFSET,
    }
)
"""Properties that client and broker add themselves: `kit.rocketmq.size` adds them again."""


def start(half: Any, known: Limits, safe_body: int | None) -> pd.DataFrame:
    """Return the one row of `COLUMNS` from a half record (a row of `sizes.halves`), none if limit or release are
    unknown.

    `body`: its stored body in bytes; `properties`: the application's, as JSON; `extra`: bytes of its record that the
    arithmetic does not explain (properties of other clients), kept in every copy; `safe_body`: the largest on its
    topic.
    """
    columns = pd.Index(COLUMNS)
    if known.limit is None or known.version is None:
        return pd.DataFrame(columns=columns)
    stored = dict(half.properties or {})
    own = {name: value for name, value in stored.items() if name not in ADDED}
    v6 = bool(half.sys_flag & binary_format.BORN_HOST_V6)
    cluster = stored.get(names.CLUSTER) or names.DEFAULT_CLUSTER
    group = stored.get(names.PGROUP, "")
    rows = rewrites.table(
        half.body_size, half.real_topic, own, broker=known.version, limit=known.limit, dledger=known.dledger,
        producer_group=group, check_max=known.check_max, cluster=cluster, v6=v6,
    )["rows"]  # fmt: skip
    reckoned = {row["stage"]: row["bytes"] for row in rows}["prepared"]
    counted = stored.get(names.CHECK_TIMES)
    written = half.store_size - (len(names.CHECK_TIMES) + len(counted) + 2 if counted else 0)
    values = (
        half.real_topic, half.body_size, json.dumps(own, ensure_ascii=False, sort_keys=True), known.version, known.limit,
        group, known.check_max, known.dledger, v6, cluster, written - reckoned, safe_body,
    )  # fmt: skip
    return pd.DataFrame([values], columns=columns)
