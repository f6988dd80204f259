"""The table `transactions`, for those that still read it whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import columnar
from kit.case.memoize import once
from kit.formats.commitlog.schema import promoted
from kit.rocketmq import names, stages
from kit.tables.runner import plain

if TYPE_CHECKING:
    from kit.case.case import Case

STATES: Final = ("committed", "rolled_back", "discarded", "pending")
RENEWED: Final = tuple(map(promoted, stages.RENEWED))
"""Columns of which a half record that a check or the immunity time wrote has one."""


def is_real(topic: str) -> bool:
    """Return whether a topic is one that producers send to."""
    return topic not in names.SYSTEM_TOPICS and not topic.startswith((names.RETRY_PREFIX, names.DLQ_PREFIX))


def accounts(case: Case) -> pa.Table:
    """Return the table `transactions`."""
    return once(case, "transactions", lambda: plain(case.tables.frame("transactions").orderBy("uniq_key").toArrow()))


def rows(case: Case) -> pd.DataFrame:
    """Return the business rows of transactions: uniq_key, key, file, line, status, in this order."""
    from kit.analysis.transactions import business

    return once(case, "transaction rows", lambda: business.rows_of(case, accounts(case)))


def transactions(case: Case, where: pc.Expression | None = None) -> pd.DataFrame:
    """Return the rows of `accounts` that are transactions and that `where` keeps, as a frame."""
    mine = ds.field("state").is_valid()
    return columnar.to_pandas(accounts(case).filter(mine if where is None else mine & where))


def keeps_discarded(case: Case) -> bool:
    """Whether every known broker keeps a message that it discards."""
    return bool(case.fact_rows("discards_stored")[0]["kept"])
