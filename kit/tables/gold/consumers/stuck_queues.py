"""One row per queue of a consumer group whose offset stayed the same while other queues of the topic went on (`lag.stuck`): topic, queue_id,
queue_offset (of the message it is at). As many rows as such queues, which are different in topic, queue or offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from kit.case.case import Case

READS: Final = ("saved_offsets", "admin_cells", "queue_curve", "consumequeue_ends", "settings", "limits")
SCHEMA: Final = pa.schema([("topic", pa.string()), ("queue_id", pa.int64()), ("queue_offset", pa.int64())])


def fold(case: Case) -> pd.DataFrame:
    from kit.analysis.consumers import lag

    rows = sorted({(queue.topic, queue.queue_id, queue.offset) for queue in lag.stuck(case)})
    return pd.DataFrame(rows, columns=SCHEMA.names)
