"""Business rows and transactions: which row belongs to which message.

A row belongs to a transaction if its key is one of the message's KEYS, or its message id the UNIQ_KEY. Tables of role
`business` count (a key and a status); transaction log tables and what a consumer recorded are shown as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import columnar, scan
from kit.case.memoize import once

if TYPE_CHECKING:
    from kit.case.case import Case


def present(case: Case) -> bool:
    """Whether a business table is in the evidence."""
    rows = once(
        case,
        "business rows",
        lambda: ds.dataset(case.folder("rows"), format="parquet").count_rows(filter=ds.field("role") == "business"),
    )
    return rows > 0


def by_key(case: Case) -> pd.DataFrame:
    """Return the business rows, each key once: key, file, line, status, named (the UNIQ_KEY in one of its rows, if
    any).
    """
    return once(case, "business rows by key", lambda: _by_key(case))


def _by_key(case: Case) -> pd.DataFrame:
    mine = (ds.field("role") == "business") & ds.field("key").is_valid()
    rows = columnar.to_pandas(scan.table(case, "rows", ["key", "file", "line", "status", "uniq_key"], mine))
    first = rows.sort_values(["key", "file", "line", "status"], na_position="first").drop_duplicates("key")
    named = rows.dropna(subset="uniq_key").sort_values("uniq_key").drop_duplicates("key").set_index("key")["uniq_key"]
    return first.drop(columns="uniq_key").assign(named=first["key"].map(named)).reset_index(drop=True)


def rows_of(case: Case, transactions: pa.Table) -> pd.DataFrame:
    """Return the business rows of transactions (a table with uniq_key and keys): uniq_key, key, file, line, status, in
    this order.
    """
    if not present(case):
        return pd.DataFrame(columns=["uniq_key", "key", "file", "line", "status"], dtype=object)
    table = by_key(case)
    linked = tokens(transactions).merge(table.drop(columns="named"), on="key")
    named = table.dropna(subset="named").rename(columns={"named": "uniq_key"})
    named = named[named["uniq_key"].isin(transactions["uniq_key"].to_pandas())]
    order = ["uniq_key", "key", "file", "line", "status"]
    return pd.concat([linked, named])[order].drop_duplicates().sort_values(order, ignore_index=True)


def tokens(transactions: pa.Table) -> pd.DataFrame:
    """Return each of a transaction's KEYS once: uniq_key, key."""
    listed = pc.split_pattern_regex(transactions["keys"], r"\s+").combine_chunks()
    at = pc.list_parent_indices(listed)
    found = pa.table({"uniq_key": transactions["uniq_key"].take(at), "key": pc.list_flatten(listed)})
    return columnar.to_pandas(found).drop_duplicates()
