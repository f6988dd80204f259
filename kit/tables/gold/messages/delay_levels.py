"""One row per delay level of the broker: level (1 …), seconds. Its messageDelayLevel, else the default; levels beyond 100 days are left out.

MessageStoreConfig.messageDelayLevel, ScheduleMessageService.parseDelayLevel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

from kit.case import setup
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("settings",)
SCHEMA: Final = pa.schema([("level", pa.int32()), ("seconds", pa.int64())])
LONGEST: Final = 100 * 86_400
"""Seconds. A level beyond is no delay anybody waits for, and could lead out of the times that can be shown."""


def fold(case: Case) -> pd.DataFrame:
    setting = setup.setting(case, "messageDelayLevel").value
    try:
        levels = names.delay_seconds(str(setting)) if setting else names.delay_seconds()
    except ValueError:
        levels = names.delay_seconds()
    rows = [(level, seconds) for level, seconds in sorted(levels.items()) if seconds <= LONGEST]
    return pd.DataFrame(rows, columns=SCHEMA.names)
