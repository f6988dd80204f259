"""The broker that a half message belongs to: hosts that share files are one broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import functions as F  # noqa: N812

from kit.case import columnar
from kit.case.datasets import pruned
from kit.case.memoize import once, per_case
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import ids, names, stages

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def _host() -> Column:
    """Return the storing host in the form of offset message ids: everything before the 16 digits of the offset."""
    return F.expr("left(offset_msg_id, length(offset_msg_id) - 16)")


def by_host(case: Case) -> dict[str, str]:
    """Return {storing host: the host that represents its broker}, hosts as in offset message ids.

    Half and op queues belong to a broker, and a broker changes its address if another member of its group leads: hosts
    that wrote to one file are one broker.
    """
    return once(case, "queue owners", lambda: joined(sorted(_hosts(case))))


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


@per_case
def _hosts(case: Case) -> set[tuple[str, str]]:
    """Return (file, storing host) of all half and op records."""
    wanted = ds.field("topic").isin([names.HALF_TOPIC, names.OP_TOPIC])
    seen: dict[tuple[str, str], int] = {}
    for batch in _read(case, ["file", "store_host", "physical_offset"], wanted):
        # One record behind each change of file or address; the ids of all have their host in front.
        file, host = (batch[name].indices.fill_null(-1).to_numpy() for name in ("file", "store_host"))
        changes = np.flatnonzero((np.diff(file, prepend=-2) != 0) | (np.diff(host, prepend=-2) != 0))
        for row in batch.take(pa.array(changes)).to_pylist():
            seen.setdefault((row["file"], row["store_host"]), row["physical_offset"])
    at = ds.field("physical_offset").isin(sorted(set(seen.values())))
    rows = (row for batch in _read(case, ["file", "offset_msg_id"], wanted & at) for row in batch.to_pylist())
    return {(row["file"], row["offset_msg_id"][:-16]) for row in rows if row["file"] and row["offset_msg_id"]}


def _read(case: Case, columns: list[str], where: pc.Expression) -> Iterator[pa.RecordBatch]:
    """Yield columns of records, including those outside the times of the case."""
    for part, left in pruned(case, "messages", where):
        yield from part.to_batches(columns, filter=left)


def joined(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return one name for all hosts that are connected through files."""
    root: dict[str, str] = {}

    def find(node: str) -> str:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for file, host in pairs:
        a, b = find(f"file {file}"), find(f"host {host}")
        root[max(a, b)] = min(a, b)
    return {host: find(f"host {host}") for _, host in pairs}


def owner(case: Case) -> Column:
    """Return the broker that a record's queue belongs to, as a column of `records` or `ops`."""
    known = by_host(case)
    if len(set(known.values())) == len(known):
        return _host()
    table = F.create_map(*[F.lit(x) for pair in sorted(known.items()) for x in pair])
    return F.coalesce(F.try_element_at(table, _host()), _host())


def by_file(case: Case) -> dict[str, str]:
    """Return {file with half or op records: its broker, named as in `by_host`}."""
    known = by_host(case)
    return {file: known[host] for file, host in _hosts(case)}


def brokers(case: Case, files: pa.ChunkedArray) -> np.ndarray:
    """Return a number for the broker whose queue each half or op record is in, by its file; -1 for other files."""
    known = by_file(case)
    numbers = {name: n for n, name in enumerate(sorted(set(known.values())))}
    return columnar.mapped(files, lambda file: numbers[known[file]] if file in known else -1, default=-1)
