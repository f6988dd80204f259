"""Failed attempts of a client's log, each with its message."""

from typing import Any

import pandas as pd
import pytest
from table import rows_of

from kit.analysis.sends import attempts


@pytest.mark.parametrize(("rows", "paired"), rows_of(__file__, "an_attempt_has_the_message_printed_after_it"))
def test_an_attempt_has_the_message_printed_after_it(rows: str, paired: list[str]) -> None:
    entries: list[dict[str, Any]] = []
    for line, row in enumerate(rows.split(" | "), 1):
        role, name, ts, thread = row.split()
        entries.append({
            "file": "client.log", "line": line, "ts": int(ts), "thread": thread, "role": role,
            "kind": name if role == "attempt" else None, "key": name if role == "message" else None,
        })  # fmt: skip
    made = attempts.paired(pd.DataFrame(entries, columns=list(attempts.COLUMNS)))
    assert made["key"].fillna("").tolist() == paired
