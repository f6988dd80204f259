"""One row: kept (boolean): whether every known broker stores a message that it discards, which 4.5.2 began; before, only its log names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("half_brokers", "settings", "admin_names")
SCHEMA: Final = pa.schema([("kept", pa.bool_())])


def fold(case: Case) -> pd.DataFrame:
    from kit.analysis.transactions import owners
    from kit.case import setup
    from kit.rocketmq import versions

    rules = [versions.rule("discardTopic", version) for version in setup.broker_versions(case, owners.addresses(case))]
    return pd.DataFrame({"kept": [bool(rules) and all(rules)]})
