"""Half records by broker, and the bytes of their property strings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis.transactions import owners, transactions
from kit.case import columnar, scan
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import binary_format, names, size

if TYPE_CHECKING:
    from kit.case.case import Case

_TOGETHER: Final = {False: 100_000, True: 1_000_000}
"""Records that are looked at together; of those that are alike few are left."""

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


def digits(numbers: Any) -> np.ndarray:
    """Return the number of digits of whole numbers."""
    return 1 + np.searchsorted(10 ** np.arange(1, 19), numbers, side="right")


def properties_bytes(rows: pd.DataFrame) -> pd.Series[int]:
    """Return the bytes of the stored property string of a version 1 record: its size less that of its other fields."""
    hosts = sum(
        np.where(rows["sys_flag"] & flag != 0, size.HOST[True], size.HOST[False])
        for flag in (binary_format.BORN_HOST_V6, binary_format.STORE_HOST_V6)
    )
    # Length fields: 4 of the body, 1 of the topic, 2 of the properties.
    return rows["store_size"] - rows["body_size"] - octets(rows["topic"]) - (size.HEADER + 4 + 1 + 2) - hosts


def by_broker(
    case: Case, where: pc.Expression | None, columns: tuple[str, ...], *, alike: bool = False, least: int | None = None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (broker, half records of it that `where` keeps), about `_TOGETHER` (or `least`) rows at a time: `columns`,
    which include `SIZES`, and check_times (-1: none). Brokers as in `owners.by_host`.

    `alike`: each combination of the columns once, with the number of its records as `n`; of queue_offset only the
    number of digits counts.
    """
    wanted = owners.HALF if where is None else owners.HALF & where
    known = owners.by_file(case)
    several = len(set(known.values())) > 1
    read = dict.fromkeys((*columns, "file") if several else columns)
    for table in scan.together(scan.batches(case, tuple(read), wanted), least or _TOGETHER[alike]):
        rows = columnar.zero_filled(_alike(table) if alike else table)
        found = columnar.to_pandas(rows).assign(check_times=columnar.integers(rows[promoted(names.CHECK_TIMES)]))
        if several:
            yield from found.groupby(found["file"].map(known), sort=False)
        else:
            for owner in set(known.values()):
                yield owner, found


def _alike(rows: pa.Table) -> pa.Table:
    """Return each combination of the columns once, `n` of them; queue_offset is the smallest number with as many
    digits.
    """
    at = rows.schema.get_field_index("queue_offset")
    short = 10 ** (digits(rows[at].fill_null(0).to_numpy()) - 1)
    rows = rows.set_column(at, "queue_offset", pa.array(short)).unify_dictionaries()
    grouped = rows.group_by(rows.column_names, use_threads=False).aggregate([([], "count_all")])
    return grouped.rename_columns([*rows.column_names, "n"])
