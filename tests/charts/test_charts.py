"""Charts: what they draw, what they say, and that evidence text stays text."""

from __future__ import annotations

import re
from pathlib import Path

import incidents
import numpy as np
import pandas as pd
import pytest
from plotly.offline import get_plotlyjs

import kit
from kit.charts import MAX_POINTS, MIME, Table, clean, common, downsample, escape, offline, pictures
from kit.charts.consumers import groups as consumers
from kit.charts.safe_text import brief
from kit.charts.table import MIME as TABLE_MIME
from kit.charts.transactions import half_topic


def test_growth_marks_every_doubling_at_its_time() -> None:
    chart = half_topic.growth(incidents.growth_frame(messages=4, doublings=10, seconds=5))
    assert list(chart.table["records"]) == [4 * 2**k for k in range(11)]
    assert list(chart.table["seconds"].dropna()) == [5.0] * 10
    assert chart.reading.startswith(
        "4 leaked messages became 4,096 half records in 51 s; the number doubled 10 times, typically every 5.0 s"
    )
    assert chart.figure.layout.yaxis.type == "log"


def test_growth_does_not_speak_of_doubling_below_three_terms() -> None:
    frame = incidents.growth_frame(messages=4, doublings=2)
    assert "too few" in half_topic.growth(frame).reading
    assert "doubled" in half_topic.growth(incidents.growth_frame(messages=4, doublings=3)).reading


def test_growth_takes_a_thinned_frame() -> None:
    frame = incidents.growth_frame()
    thinned = frame[frame["doubling"] | (frame["seq"] % 7 == 0)]
    assert half_topic.growth(thinned).table.equals(half_topic.growth(frame).table)


def test_no_trace_holds_more_points_than_a_report_can_carry() -> None:
    frame = incidents.growth_frame(doublings=12)
    assert len(frame) == 4 * 2**12 > 3 * MAX_POINTS
    chart = half_topic.growth(frame)
    assert all(len(trace.x) <= MAX_POINTS for trace in chart.figure.data)
    life = pd.concat([incidents.life_frame()] * 1000, ignore_index=True)
    assert all(len(trace.x) <= MAX_POINTS for trace in half_topic.life(life).figure.data)


def test_downsample_keeps_outline_and_ends() -> None:
    x = np.arange(100_000)
    y = np.zeros(100_000)
    y[31_337], y[4_242] = 9, -9
    kept = downsample(x, y, 500)
    assert len(kept) <= 500
    assert {0, 31_337, 4_242, 99_999} <= set(kept.tolist())


def test_flow_sums_both_sides_and_ends_loops_in_nodes_of_their_own() -> None:
    chart = half_topic.flow(incidents.flow_frame())
    sankey = chart.figure.data[0]
    assert chart.table["count"].sum() == 2 * (4 + 2044 + 2048 + 512)
    assert set(sankey.link.customdata) == {4, 2044, 2048, 4096, 512}
    assert "put back 2,044 more, diverted commits added 2,048, and 512 were discarded" in chart.reading
    loop = common.flow(pd.DataFrame({"source": ["A", "B"], "target": ["B", "A"], "count": [5, 5]}))
    assert [label.split("  ")[0] for label in loop.figure.data[0].node.label] == ["A", "B", "A (again)"]


def test_life_names_the_stage_of_each_record() -> None:
    assert list(half_topic.life(incidents.life_frame()).table["stage"]) == [
        "half message", "committed to its topic", "sent again by the consumer", "back in the half topic",
        "put back by a check", "commit, diverted by DELAY", "back in the half topic", "back in the half topic",
    ]  # fmt: skip


def test_fixes_shows_leaks_beside_retries_and_names_what_lets_them_through() -> None:
    chart = half_topic.fixes(incidents.fixes_frame())
    assert [list(each.x) for each in chart.figure.data] == [[4608, 2560, 0, 0], [0, 0, 0, 4]]
    assert chart.reading == "1 of these lets the retries reach the consumer: shorter group name."


def test_put_backs_and_commits_have_lanes_and_each_record_comes_from_another() -> None:
    rows = [
        ("re-sent", 10, 0), ("half topic", 20, 0), ("put back", 30, 0), ("commit", 40, 30), ("half topic", 50, 0),
        ("half topic", 60, 0),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["lane", "physical_offset", "made_from"])
    frame.insert(0, "store_timestamp", pd.date_range("2026-01-01", periods=6, freq="s"))
    chart = half_topic.one_becomes_two(frame)
    arrows = {(a.ax, a.x) for a in chart.figure.layout.annotations}
    at = dict(zip(frame["physical_offset"], frame["store_timestamp"], strict=True))
    assert arrows == {(at[a], at[b]) for a, b in ((10, 20), (20, 30), (30, 40), (30, 50), (40, 60))}
    assert len({tuple(trace.y) for trace in chart.figure.data}) == 4


def test_a_picture_is_drawn_of_whatever_columns_there_are() -> None:
    frame = pd.DataFrame(
        {"at": pd.date_range("2026-01-01", periods=4, freq="s"), "who": ["a", "b", "a", "b"], "n": [1, 2, 3, 4]}
    )
    assert [list(trace.y) for trace in pictures.lines(frame).figure.data] == [[2, 4], [1, 3]]
    assert [trace.name for trace in pictures.bars(frame[["who", "n"]]).figure.data] == [""]
    assert pictures.log_lines(frame).figure.layout.yaxis.type == "log"


def test_a_title_stands_above_a_legend_of_many_lines_and_times_are_iso() -> None:
    series = [f"a series with a long name, number {n}" for n in range(6)]
    frame = pd.DataFrame({"at": pd.date_range("2026-01-01", periods=6, freq="s"), "who": series, "n": range(1, 7)})
    drawn = pictures.lines(frame)._repr_mimebundle_()["application/vnd.plotly.v1+json"]["layout"]
    assert drawn["margin"]["t"] >= 80 and drawn["title"]["y"] == 1
    assert drawn["xaxis"]["tickformatstops"][1]["value"].startswith("%H:%M:%S")


def test_a_page_draws_a_chart_from_what_it_holds() -> None:
    html = half_topic.growth(incidents.growth_frame())._repr_mimebundle_()["text/html"]
    assert "rmqKitPlotly" in html and "</script><" not in html.removesuffix("</script>") and "http" not in html
    assert "DecompressionStream" in offline.library() and len(offline.library()) < 700_000


def test_the_library_in_a_page_is_plotlys_own_release_and_draws_every_kind_of_chart() -> None:
    release = re.compile(r"plotly\.js v([\d.]+)")
    assert release.findall(offline.source()[:80]) == release.findall(get_plotlyjs()[:200])
    used = {
        kind
        for path in Path(kit.__file__).parent.rglob("*.py")
        for kind in re.findall(r"go\.([A-Z]\w+)\(", path.read_text())
    }
    assert used <= {"Scatter", "Bar", "Heatmap", "Sankey", "Figure", "FigureWidget"}
    assert all(f'name:"{kind}"' in offline.source() for kind in ("scatter", "bar", "heatmap", "sankey"))


def test_cells_that_decide_are_marked() -> None:
    frame = pd.DataFrame({"topic": ["a", "b"], "n": [1, None]})
    assert Table(frame, "", marked=["n"]).as_dict()["decides"] == [[0, 1]]
    assert Table(frame, "", marked={"topic": "b"}).as_html().count("<mark>") == 1
    assert "decides" not in Table(frame, "").as_dict()


def test_coverage_shades_the_incident_and_leaves_out_files_without_times() -> None:
    day = pd.Timestamp("2024-05-14", tz="UTC")
    hour = pd.Timedelta(hours=1)
    frame = pd.DataFrame(
        {
            "kind": ["log", "log", "photo"],
            "first": [day, day + hour, pd.NaT],
            "last": [day + hour, day + 2 * hour, pd.NaT],
        }
    )
    chart = common.coverage(frame, (day, day + pd.Timedelta(minutes=1)))
    assert list(chart.table["kind"]) == ["log"]
    assert chart.table["files"].item() == 2
    assert len(chart.figure.layout.shapes) == 1


EMPTY = {
    half_topic.growth: incidents.growth_frame,
    half_topic.flow: incidents.flow_frame,
    half_topic.life: incidents.life_frame,
    half_topic.fixes: incidents.fixes_frame,
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("draw", EMPTY, ids=lambda draw: draw.__name__)
def test_every_chart_speaks_both_languages_and_bears_nothing_to_draw(draw, lang) -> None:
    for frame in (EMPTY[draw](), EMPTY[draw]().iloc[:0]):
        chart = draw(frame, lang=lang)
        assert chart.title and chart.reading and chart.alt
        assert chart.reading.isascii() == (lang == "en") or "“" in chart.reading
        assert set(chart.names) == set(chart.table.columns)


def test_colour_is_never_the_only_difference() -> None:
    life = half_topic.life(incidents.life_frame())
    marks = [(t.marker.color, t.marker.symbol) for t in life.figure.data if t.mode == "markers"]
    assert len({symbol for _, symbol in marks}) == len(marks) > 3


def test_evidence_text_acts_nowhere() -> None:
    shown = escape(incidents.HOSTILE, None)
    assert not set("<>$\x1b\u202e\u202c") & set(shown)
    assert "&lt;script&gt;" in shown and "\\x1b[31m" in shown and "\\u202e" in shown
    assert clean("a\tb\nc") == "a\tb\nc"
    assert clean("x" * 100, 10) == "x" * 9 + "…"


def test_hostile_topics_are_escaped_in_every_label() -> None:
    frame = incidents.life_frame().assign(topic=incidents.HOSTILE, real_topic=incidents.HOSTILE)
    for chart in (half_topic.life(frame), half_topic.flow(incidents.flow_frame().assign(target=incidents.HOSTILE))):
        drawn = chart.figure.to_json()
        assert "<script" not in drawn and "\\u003cscript" not in drawn and "\\u001b" not in drawn and "$" not in drawn


def test_table_formats_cells_and_escapes_them() -> None:
    frame = pd.DataFrame(
        {"n": [1234567, 2], "at": [pd.Timestamp("2024-05-14 02:00:00.123"), pd.NaT], "text": [incidents.HOSTILE, None]}
    )
    spec = Table(frame, "caption").as_dict()
    assert spec["rows"][0][:2] == ["1,234,567", "2024-05-14 02:00:00.123"]
    assert spec["rows"][1] == ["2", "–", "–"]
    assert [column["kind"] for column in spec["columns"]] == ["number", "time", "long"]
    html = Table(frame, "caption").as_html()
    assert "<script" not in html and "<caption>caption" in html and '<th scope="col"' in html


def test_a_list_of_values_is_shown_without_its_syntax() -> None:
    frame = pd.DataFrame({"offsets": [[67, 1311], ["a", None], [[1], 2]]})
    assert [row[0] for row in Table(frame, "c").as_dict()["rows"]] == ["67; 1,311", "a; –", "[[1], 2]"]


def test_table_says_how_much_it_leaves_out() -> None:
    spec = Table(pd.DataFrame({"n": range(1000)}), "c", max_rows=10).as_dict()
    assert len(spec["rows"]) == 10
    assert "10 of 1,000" in spec["notes"][0]


def test_notebook_outputs_carry_figure_reading_and_table() -> None:
    bundle = half_topic.growth(incidents.growth_frame())._repr_mimebundle_()
    assert bundle[MIME]["table"]["rows"][0][1] == "4"
    assert bundle["application/vnd.plotly.v1+json"]["data"][0]["type"] == "scatter"
    assert "4 leaked messages" in bundle["text/plain"]
    assert Table(pd.DataFrame(), "c")._repr_mimebundle_()[TABLE_MIME]["rows"] == []


def test_a_long_name_is_cut_in_the_middle_unless_it_is_to_be_copied() -> None:
    name = "cg-" + "x" * 60 + "%ARCHIVED"
    said = brief(f"停止 {name} 的监听器，请运行 `mqadmin -g {name}`: {name[:60]}")
    assert said == f"停止 cg-{'x' * 25}…xxx%ARCHIVED 的监听器，请运行 `mqadmin -g {name}`: {name[:60]}"


START = pd.Timestamp("2026-11-22 07:00:00")


def test_the_lag_of_the_group_that_lags_most_is_drawn() -> None:
    rows = [
        (START + pd.Timedelta(minutes=m), "copy", group, "orders", "a", queue, 10, 10 + lag, lag)
        for m in (0, 1)
        for group, lag in (("slow", 100 * (m + 1)), ("quick", 1))
        for queue in (0, 1)
    ]
    columns = ["time", "source", "group", "topic", "broker", "queue_id", "offset", "end", "lag"]
    chart = consumers.lag(pd.DataFrame(rows, columns=columns))
    assert len(chart.figure.data) == 2 and len(chart.table) == 8
    assert chart.reading == "orders@slow lags most: 400 messages at the end, in 2 queues."


def test_a_queue_of_two_processes_is_counted_and_a_hand_over_is_not() -> None:
    minute = pd.Timedelta(minutes=1)
    rows = [
        ("p", "1", "orders", "a", 0, START, None),
        ("q", "1", "orders", "a", 0, START + minute, None),
        ("p", "1", "orders", "a", 1, START, START + minute),
        ("q", "1", "orders", "a", 1, START + minute, START + 3 * minute),
    ]
    columns = ["place", "client_id", "topic", "broker", "queue_id", "first", "last"]
    chart = consumers.owners(pd.DataFrame(rows, columns=columns))
    assert chart.reading == "1 of 2 queues was pulled by more than one process at the same time."
    assert len(chart.figure.data) == 2 and len(chart.table) == 4


def test_what_nobody_handled_is_read_out() -> None:
    frame = pd.DataFrame([("orders", 805, 134, 671, 0)], columns=["topic", "stored", "handled", "behind", "front"])
    chart = consumers.handled(frame)
    assert chart.reading == "671 of 805 stored messages were not handled by anybody in the group."
    assert consumers.handled(frame.assign(behind=None)).reading.startswith("What was handled is not known")


def test_nothing_known_is_said() -> None:
    for draw in (consumers.lag, consumers.owners, consumers.handled):
        chart = draw(pd.DataFrame())
        assert "not known" in chart.reading
