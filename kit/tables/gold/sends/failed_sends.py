"""One row per failed send that send ledgers report, or, without any, the logs of applications and clients: identity (by which a send counts once),
key, uniq_key, kind, outcome, ts (ms since 1970), cost_ms, attempts, source, file, line; other: a call of another sender than the ledger's, which
counts among the errors only. At most 400,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case

READS: Final = ("send_failures", "ledger_failures", "clients_started", "events", "known_texts", "sends")
_TEXTS: Final = ("identity", "key", "uniq_key", "kind", "outcome", "source", "file")
_NUMBERS: Final = ("cost_ms", "attempts", "line")
SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in _TEXTS),
        ("ts", pa.float64()),
        *((name, pa.int64()) for name in _NUMBERS),
        ("other", pa.bool_()),
    ]
)


def fold(case: Case) -> pd.DataFrame:
    from kit.analysis.sends import sends

    return sends.failed(case)[SCHEMA.names].astype(dict.fromkeys(_NUMBERS, "Int64") | {"ts": "float64"})
