"""The replay under other limits, by hand-made arithmetic."""

from __future__ import annotations

import numpy as np

from kit.rocketmq.busy_replay import what_if

PAUSES = np.array([[1000.0, 2000.0], [5000.0, 9000.0]])
ARRIVALS = np.array([0.0, 1100, 1950, 3000, 5500, 8900])
"""Waits: none, 900, 50, none, 3500, 100 ms."""


def replay(timeout: float, retries: int, wait: float) -> tuple[int, ...]:
    return tuple(what_if(ARRIVALS, PAUSES, timeout, retries, wait)["sends"])


def test_a_short_limit_refuses_what_waited_longer() -> None:
    assert replay(10_000, 0, 200) == (4, 2, 0, 0)
    assert replay(10_000, 0, 60) == (3, 3, 0, 0)


def test_a_long_limit_turns_refusals_into_waits_and_time_outs_that_are_stored() -> None:
    assert replay(10_000, 0, 5000) == (6, 0, 0, 0)
    assert replay(3000, 0, 5000) == (5, 0, 1, 0)


def test_a_client_can_give_up_on_what_is_refused_later() -> None:
    assert replay(3000, 0, 200) == (4, 1, 0, 1)


def test_a_retry_saves_what_was_refused_behind_the_pause() -> None:
    assert replay(10_000, 1, 200) == (6, 0, 0, 0)


def test_moments_count_as_often_as_messages_were_sent_in_them() -> None:
    many = what_if(ARRIVALS, PAUSES, 10_000, 0, 200, np.array([1, 10, 1, 1, 100, 1]))
    assert tuple(many["sends"]) == (4, 110, 0, 0)


def test_charts_have_twins_and_survive_emptiness() -> None:
    import pandas as pd

    from kit.charts import sends as busy

    frame = pd.DataFrame(
        {
            "time": pd.date_range("2024-05-14 02:00", periods=4, freq="100ms"),
            "step_ms": 100,
            "born": [10.0, 0, 0, 20],
            "stored": [10.0, 0, 0, 20],
            "REJECTREQUEST": [0, 0, 3, 0],
            "stalled": [False, True, True, False],
            "hole": False,
            "send_queue": [0, None, None, 7],
            "util": None,
            "written_mb": None,
            "cpu": None,
        }
    )
    for lang in ("en", "zh"):
        chart = busy.axis(frame, lang)
        assert "3" in chart.reading
        assert [bar.name for bar in chart.figure.data if bar.type == "bar"] == ["REJECTREQUEST"]
        assert len(chart.figure.layout.shapes) == 1
        assert len(chart.table) == 2
    assert busy.axis(frame.iloc[:0]).table.empty
    outcome = pd.DataFrame({"kind": ["<b>x</b>", "CLIENT_TIMEOUT"], "stored": [0, 32], "lost": [40, 0]})
    assert "40" in busy.outcome(outcome).reading
    assert "<b>" not in busy.outcome(outcome).figure.to_json().replace("\\u003c", "<")
    pauses = pd.DataFrame(PAUSES, columns=["start_ms", "end_ms"])
    replayed = busy.replay(pd.DataFrame({"at_ms": ARRIVALS, "sends": 1}), pauses, 10_000, 0, 200)
    assert list(replayed.table["sends"]) == [4, 2, 0, 0]
    assert busy.replay(pd.DataFrame({"at_ms": [], "sends": []}), pauses).table.empty
