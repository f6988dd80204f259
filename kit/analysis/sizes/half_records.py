"""Half records by broker, and the bytes of their property strings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis.transactions import owners, transactions
from kit.case import scan
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import binary_format, names, size

if TYPE_CHECKING:
    from kit.case.case import Case

_TOGETHER: Final = 100_000

SIZES: Final = (
    *("topic", "queue_offset", "sys_flag", "store_size", "body_size", "body_codec", owners.TARGET),
    *map(promoted, (names.CHECK_TIMES, names.CHECK_IMMUNITY, names.PREPARED_QUEUE_OFFSET)),
)
"""What the sizes of a half record and its put-backs follow from."""
READ: Final = (*SIZES, "uniq_key", "file", "physical_offset", "store_timestamp", "offset_msg_id")


def renewed() -> pc.Expression:
    return reduce(lambda a, b: a | b, [ds.field(name).is_valid() for name in transactions.RENEWED])


def octets(texts: pd.Series[str]) -> np.ndarray:
    return pc.binary_length(pa.array(texts, pa.string())).fill_null(0).to_numpy()


def properties_bytes(rows: pd.DataFrame) -> pd.Series[int]:
    """Return the bytes of the stored property string of a version 1 record: what its other fields leave."""
    hosts = sum(
        np.where(rows["sys_flag"] & flag != 0, size.HOST[True], size.HOST[False])
        for flag in (binary_format.BORN_HOST_V6, binary_format.STORE_HOST_V6)
    )
    # Length fields: 4 of the body, 1 of the topic, 2 of the properties.
    return rows["store_size"] - rows["body_size"] - octets(rows["topic"]) - (size.HEADER + 4 + 1 + 2) - hosts


def by_broker(case: Case, where: pc.Expression | None, columns: tuple[str, ...]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (broker, half records of it that `where` keeps), those of some `_TOGETHER` at once: `columns`, of which
    `SIZES` are some, and check_times (-1: none). The broker as `owners.by_host` calls it.
    """
    wanted = owners.HALF if where is None else owners.HALF & where
    known = owners.by_host(case)
    several = len(set(known.values())) > 1
    read = dict.fromkeys((*columns, "offset_msg_id") if several else columns)
    for table in scan.together(scan.batches(case, tuple(read), wanted), _TOGETHER):
        rows = scan.whole(table)
        found = scan.frame(rows).assign(check_times=scan.numbers(rows[promoted(names.CHECK_TIMES)]))
        if several:
            yield from found.groupby(found["offset_msg_id"].str[:-16].map(known), sort=False)
        else:
            for owner in set(known.values()):
                yield owner, found
