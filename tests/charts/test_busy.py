"""The time axis of a busy broker has a panel for what the evidence has, and none for what it lacks."""

from __future__ import annotations

import itertools

import pandas as pd

from kit.charts.sends import busy

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
