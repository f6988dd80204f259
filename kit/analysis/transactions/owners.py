"""The broker that a half message belongs to: hosts that share files are one broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import functions as F  # noqa: N812

from kit.case import columnar
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import ids, names, stages
from kit.tables.gold.transactions.half_brokers import joined as joined

if TYPE_CHECKING:
    from pyspark.sql import Column

    from kit.case.brokers import Hosts
    from kit.case.case import Case


TARGET: Final = promoted(names.REAL_TOPIC)
HALF: Final = (
    ds.field("stage").isin([stages.HALF, stages.CHECK_BACK])
    & ds.field(TARGET).is_valid()
    & ds.field("uniq_key").is_valid()
)
"""Half messages and put-back copies of them, as a condition for `scan.records`; leaked retries are not among them."""


def by_host(case: Case) -> dict[str, str]:
    """Return {storing host: the host that represents its broker}, hosts as in offset message ids: the table `half_brokers`."""
    return {row["host"]: row["broker"] for row in case.fact_rows("half_brokers")}


def addresses(case: Case, owner: str | None = None) -> Hosts:
    """Return the addresses of a broker (named as in `by_host`); without one those of the only broker with half
    messages, none if several have them.
    """
    known = by_host(case)
    if owner is None and len(set(known.values())) != 1:
        return frozenset()
    # A damaged record has no address that could be told from its id.
    places = [ids.tried(host + "0" * 16) for host, its in known.items() if owner in (None, its)]
    return frozenset(place[0] for place in places if place)


def owner(case: Case) -> Column:
    """Return the broker that a record's queue belongs to, as a column of `records` or `ops`."""
    known = by_host(case)
    host = F.expr("left(offset_msg_id, length(offset_msg_id) - 16)")
    if len(set(known.values())) == len(known):
        return host
    table = F.create_map(*[F.lit(x) for pair in sorted(known.items()) for x in pair])
    return F.coalesce(F.try_element_at(table, host), host)


def by_file(case: Case) -> dict[str, str]:
    """Return {file with half or op records: its broker, named as in `by_host`}."""
    return {row["file"]: row["broker"] for row in case.fact_rows("half_brokers")}


def brokers(case: Case, files: pa.ChunkedArray) -> np.ndarray:
    """Return a number for the broker whose queue each half or op record is in, by its file; -1 for other files."""
    known = by_file(case)
    numbers = {name: n for n, name in enumerate(sorted(set(known.values())))}
    return columnar.mapped(files, lambda file: numbers[known[file]] if file in known else -1, default=-1)
