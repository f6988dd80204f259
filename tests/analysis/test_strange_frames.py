"""Functions that take frames, handed strange ones: without rows, all null, one row, values at the edges of their columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import effort
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.analysis.sends import attempts, busy, sends
from kit.analysis.sizes import refusals
from kit.analysis.transactions import totals
from kit.causes import timeline

TEXT = st.none() | st.sampled_from(
    ["", " ", "SO1", "SO1 SO2", "\ud800", "\0", "²", "0A142C1500000C387F4466D0DB3F0003", "CODE: 99999999999999999999"]
)
FILE = st.sampled_from(["a.log", "\udcff.log", ""])
LINE = st.sampled_from([1, 2, (1 << 63) - 1])
COUNT = st.sampled_from([1, 7, (1 << 31) - 1])
NUMBER = st.sampled_from([float("nan"), 0.0, -1.0, 9.2e18, 1.7e12])
TIME = st.sampled_from(
    [None, *(dt.datetime(*when) for when in ((1, 1, 1), (1677, 9, 21), (1970, 1, 1), (2262, 4, 12), (9999, 12, 31)))]  # noqa: DTZ001 - naive UTC
)
KIND = st.sampled_from([None, *attempts.KINDS])
TRUTH = st.booleans()

ENTRIES = {
    "file": FILE, "line": LINE, "ts": NUMBER, "source": TEXT, "thread": TEXT, "logger": TEXT, "role": st.sampled_from(["attempt", "message", "call"]), "kind": KIND,
    "key": TEXT, "uniq_key": TEXT, "said": TEXT, "period": NUMBER, "queue": NUMBER, "rt": NUMBER, "broker": TEXT, "thrown": TRUTH, "at": LINE,
}  # fmt: skip
CALLS = {"key": TEXT, "uniq_key": TEXT, "kind": KIND, "attempts": COUNT, "ts": NUMBER, "file": FILE, "line": LINE}
TOLD = {"key": TEXT, "uniq_key": TEXT, "kind": KIND, "ts": NUMBER, "file": FILE, "line": LINE, "said": TEXT}
LEDGER = {"key": TEXT, "uniq_key": TEXT, "outcome": TEXT, "ts": NUMBER, "cost_ms": NUMBER, "file": FILE, "line": LINE}
PATHS = {
    "local": TEXT, "checks": st.sampled_from([0, 1, 15]), "last_check": TEXT, "state": TEXT, "commits": st.sampled_from([0, 1, 2]), "consumer": TEXT, "transactions": COUNT,
}  # fmt: skip
REFUSED = {
    "file": FILE, "writer": TEXT, "event": st.sampled_from([*refusals.SIZE, "put-back-failed"]), "first": TIME, "last": TIME, "line": LINE, "last_line": LINE, "count": COUNT,
}  # fmt: skip
MOMENTS = {"at": TIME, "until": TIME, "lane": TEXT, "en": TEXT, "zh": TEXT, "count": NUMBER, "file": FILE, "line": LINE, "decides": TRUTH}  # fmt: skip


def frames(columns: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[pd.DataFrame]:
    """Frames as they come from Arrow: times in microseconds, numbers with NaN, a column without any value of type object."""

    def made(rows: list[dict[str, Any]]) -> pd.DataFrame:
        frame = pd.DataFrame(rows, columns=list(columns))
        for name, values in columns.items():
            if values is TIME:
                frame[name] = pd.Series([row[name] for row in rows], dtype="datetime64[us]")
            elif values is NUMBER:
                frame[name] = frame[name].astype("float64")
        return frame

    return st.lists(st.fixed_dictionaries(columns), max_size=4).map(made)


ONE: dict[str, tuple[Callable[[pd.DataFrame], Any], dict[str, st.SearchStrategy[Any]]]] = {
    "paired": (attempts.paired, ENTRIES),
    "printed periods": (busy.printed_periods, ENTRIES),
    "flow": (totals.flow, PATHS),
    "for size": (lambda rows: [refusals.for_size(rows, writer) for writer in (None, "send")], REFUSED),
    "rate": (refusals.rate, REFUSED),
    "window": (refusals.window, REFUSED),
    "rolled": (refusals.rolled, REFUSED),
    "typed": (timeline.typed, MOMENTS),
}


@pytest.mark.parametrize("name", ONE)
def test_questions_about_one_frame_bear_any_rows_and_leave_them_unchanged(name: str) -> None:
    ask, columns = ONE[name]

    @settings(effort.examples(40), database=None)
    @given(frames(columns))
    def check(frame: pd.DataFrame) -> None:
        before = frame.copy()
        ask(frame)
        pd.testing.assert_frame_equal(frame, before)

    check()


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
