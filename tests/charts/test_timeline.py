"""Axes of time: the timeline, every moment in its lane and those that decide numbered; a busy broker, a panel for what the evidence has."""

from __future__ import annotations

import itertools

import incidents
import pandas as pd

from kit.charts.sends import busy
from kit.charts.timeline import rows, timeline


def test_moments_that_decide_are_numbered_and_every_row_says_where() -> None:
    told = rows(incidents.result_table("timeline"))
    assert list(told["number"].fillna(0)) == [1, 0] and list(told["decides"]) == ["◆", ""]
    assert list(told["place"]) == ["broker/store/commitlog/00000000000000000000 @ 18468", "broker/logs/store.log:17"]
    assert list(rows(incidents.result_table("timeline"), "zh")["what"]) == ["第一条泄漏的记录", "记录被拒绝（4 条）"]


def test_lanes_are_named_above_them_and_bars_last() -> None:
    chart = timeline(incidents.result_table("timeline"))
    assert [note.text for note in chart.figure.layout.annotations] == ["half-topic-blowup", "refusals and time-outs"]
    assert not chart.figure.layout.yaxis.visible
    bars, marks, deciding = chart.figure.data
    assert [str(at)[17:19] for at in bars.x[:2]] == ["07", "50"]
    assert len(marks.x) == 1 and list(deciding.text) == ["1"]
    assert "2 moments from 2024-05-14 02:00:00 to 02:00:50 UTC" in chart.reading


def test_numbers_of_marks_that_lie_on_each_other_are_written_side_by_side() -> None:
    row = incidents.result_table("timeline").iloc[[0]]
    seconds = [0, 0, 1, 50, 100]
    frame = pd.concat([row] * len(seconds), ignore_index=True)
    frame = frame.assign(
        at=frame["at"] + pd.to_timedelta(seconds, unit="s"), until=frame["until"].where(frame["until"].isna())
    )
    (marks,) = (trace for trace in timeline(frame).figure.data if len(trace.x) == len(seconds))
    assert list(marks.text) == ["1, 2, 3", "", "", "4", "5"]


def test_a_timeline_of_nothing_says_so() -> None:
    chart = timeline(pd.DataFrame())
    assert chart.table.empty and "time" in chart.reading


def test_hostile_words_stay_words() -> None:
    frame = incidents.result_table("timeline").assign(en=incidents.HOSTILE, lane=incidents.HOSTILE)
    drawn = timeline(frame).figure.to_json()
    assert "<script" not in drawn and "<img" not in drawn


SECONDS = 6


def _steps(**columns: list[float | None]) -> pd.DataFrame:
    every: dict[str, object] = {
        "time": pd.date_range("2024-05-14 10:00", periods=SECONDS, freq="s"),
        "step_ms": 1000,
        "born": [10.0] * SECONDS,
        "stored": [10.0] * SECONDS,
        "CLIENT_TIMEOUT": [0, 0, 1, 0, 0, 0],
        "stalled": False,
        "send_queue": None,
        "written_mb": None,
        "util": None,
        "cpu": None,
    }
    return pd.DataFrame(every | columns)


def _panels(frame: pd.DataFrame) -> list[str]:
    """Return the axes with a place of their own, from the top."""
    layout = busy.axis(frame).figure.layout
    placed = {name: layout[name].domain for name in layout if name.startswith("yaxis") and layout[name].domain}
    return sorted(placed, key=lambda name: -placed[name][0])


def test_the_times_stand_below_the_lowest_panel_that_has_something_to_show() -> None:
    chart = busy.axis(_steps())
    assert _panels(_steps()) == ["yaxis", "yaxis2"]
    assert (chart.figure.layout.xaxis.anchor, chart.figure.layout.yaxis2.domain[0]) == ("y2", 0)
    assert chart.reading == "1 send failed."
    assert "nothing stored" not in {trace.name for trace in chart.figure.data}


def test_panels_do_not_overlap() -> None:
    frame = _steps(send_queue=[1.0] * SECONDS, cpu=[50.0] * SECONDS)
    domains = [busy.axis(frame).figure.layout[name].domain for name in _panels(frame)]
    assert [above[0] > below[1] for above, below in itertools.pairwise(domains)] == [True] * 3
    assert busy.axis(frame).figure.layout.xaxis.anchor == "y5"
