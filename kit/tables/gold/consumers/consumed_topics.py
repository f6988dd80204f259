"""One row per topic that users' consumer groups consume, by saved offsets and mqadmin outputs: topic. As many rows as such topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("saved_offsets", "admin_cells")
SCHEMA: Final = pa.schema([("topic", pa.string())])


def fold(case: Case) -> pd.DataFrame:
    from kit.analysis.consumers import admin_output

    topics = {row["topic"] for row in case.fact_rows("saved_offsets") if names.of_users(row["group"] or "")}
    topics |= {b["#Topic"] for b in admin_output.admin_blocks(case) if "#Consumer Offset" in b and "#Topic" in b}
    return pd.DataFrame({"topic": sorted(topics - {None})}, dtype=object)
