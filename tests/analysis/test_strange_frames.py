"""Functions that take frames, handed strange ones: without rows, all null, one row, values at the edges of their columns."""

from __future__ import annotations

from typing import Any

import effort
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.analysis.sends import attempts, sends

TEXT = st.none() | st.sampled_from(
    ["", " ", "SO1", "SO1 SO2", "\ud800", "\0", "²", "0A142C1500000C387F4466D0DB3F0003", "CODE: 99999999999999999999"]
)
FILE = st.sampled_from(["a.log", "\udcff.log", ""])
LINE = st.sampled_from([1, 2, (1 << 63) - 1])
COUNT = st.sampled_from([1, 7, (1 << 31) - 1])
NUMBER = st.sampled_from([float("nan"), 0.0, -1.0, 9.2e18, 1.7e12])
KIND = st.sampled_from([None, *attempts.KINDS])

CALLS = {"key": TEXT, "uniq_key": TEXT, "kind": KIND, "attempts": COUNT, "ts": NUMBER, "file": FILE, "line": LINE}
TOLD = {"key": TEXT, "uniq_key": TEXT, "kind": KIND, "ts": NUMBER, "file": FILE, "line": LINE, "said": TEXT}
LEDGER = {"key": TEXT, "uniq_key": TEXT, "outcome": TEXT, "ts": NUMBER, "cost_ms": NUMBER, "file": FILE, "line": LINE}


def frames(columns: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[pd.DataFrame]:
    """Frames as they come from Arrow: times in microseconds, numbers with NaN, a column without any value of type object."""

    def made(rows: list[dict[str, Any]]) -> pd.DataFrame:
        frame = pd.DataFrame(rows, columns=list(columns))
        for name, values in columns.items():
            if values is NUMBER:
                frame[name] = frame[name].astype("float64")
        return frame

    return st.lists(st.fixed_dictionaries(columns), max_size=4).map(made)


@settings(effort.examples(60), database=None)
@given(frames(TOLD), frames(CALLS))
def test_failed_sends_from_logs_are_each_there_once(told: pd.DataFrame, calls: pd.DataFrame) -> None:
    failed = sends.from_logs(told, calls)
    assert len(failed) <= len(told) + len(calls)
    assert list(failed.columns) == list(sends.FAILED_COLUMNS)


@settings(effort.examples(60), database=None)
@given(frames(LEDGER), frames(TOLD), frames(CALLS))
def test_failed_sends_of_a_ledger_stay_as_many(rows: pd.DataFrame, told: pd.DataFrame, calls: pd.DataFrame) -> None:
    failed, others = sends.from_ledger(rows, told, calls)
    assert len(failed) == len(rows) and len(others) <= len(calls)
