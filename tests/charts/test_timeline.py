"""The timeline: every moment in its lane, those that decide numbered."""

import incidents
import pandas as pd

from kit.charts.overview import rows, timeline


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
