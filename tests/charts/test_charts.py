"""Charts: what they draw and say, and that evidence text stays text. Expected numbers are arithmetic."""

import itertools
import json
import re
from decimal import Decimal
from pathlib import Path

import chart_frames as frames
import incidents
import pandas as pd
import pytest
from plotly.offline import get_plotlyjs
from table import rows_of

import kit
from kit.charts import Table, offline, overview, pictures, sends, sizes, transactions
from kit.charts.safe_text import clean, escape
from kit.i18n import brief, on_clock


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.seconds)])
@pytest.mark.parametrize("name", frames.CHARTS)
def test_every_chart_speaks_both_languages_and_bears_nothing_to_draw(name, lang):
    draw, frame = frames.CHARTS[name]
    whole = draw(frame, lang)
    for chart in (whole, draw(frame.iloc[:0], lang)):
        said = (chart.title, chart.alt, chart.reading)
        assert chart.title and chart.alt and not any("{" in text for text in said)
        assert any("\u4e00" <= c <= "\u9fff" for c in chart.title) == (lang == "zh")
        assert set(chart.names) <= set(chart.table.columns)
        assert chart.bundles()
    if whole.figure.layout.showlegend is not False:
        looks = [
            t.marker.pattern.shape if t.type == "bar" else (t.marker.symbol, t.line.dash, t.mode)
            for t in whole.figure.data
            if t.name and t.showlegend and t.type in ("bar", "scatter")
        ]
        # Colour is never the only difference: grey beside one other colour differs in brightness too; labels beside the bars name the outcomes of a replay.
        assert len(set(map(str, looks))) >= len(looks) - 1 or name in ("replay", "over time")


def test_what_is_shown_after_its_cell_still_says_by_which_clock_its_times_are():
    with on_clock("local"):
        frame = pd.DataFrame({"second": pd.to_datetime(["2026-11-20 23:36:54"]), "records": [1]})
        shown = (Table(frame, ""), pictures.lines(frame).twin)
    assert {each.as_dict()["notes"][0] for each in shown} == {"Times are local time, zone unknown."}


@pytest.mark.parametrize("name", frames.CHARTS)
def test_hostile_text_of_evidence_is_text_in_every_chart(name):
    draw, frame = frames.CHARTS[name]
    hostile = frames.HOSTILE.get(name, [])
    chart = draw(frame.assign(**dict.fromkeys(hostile, incidents.HOSTILE)), "en")
    drawn = json.dumps(json.loads(chart.figure.to_json()), ensure_ascii=False)
    assert not re.search("<script|<img|[\x1b\u202e$]", drawn)
    assert not re.search("<script|<img|[\x1b\u202e]", chart.twin.as_html(chart.reading))
    assert not hostile or "script" in drawn


def test_growth_marks_every_doubling_and_each_record_comes_from_another():
    frame = incidents.growth_frame(messages=4, doublings=10, seconds=5)
    chart = transactions.growth(frame)
    assert list(chart.table["seconds"].dropna()) == [5.0] * 10
    assert chart.figure.layout.yaxis.type == "log"
    assert {trace.type for trace in chart.figure.data} == {"scatter"}
    thinned = frame[frame["doubling"] | (frame["seq"] % 7 == 0)]
    assert transactions.growth(thinned).table.equals(chart.table.set_axis(transactions.growth(thinned).table.index))
    # Put-backs and commits have lanes.
    chart = transactions.one_becomes_two(frames.frame("two"))
    arrows = {(a.ax, a.x) for a in chart.figure.layout.annotations}
    at = dict(zip(frames.frame("two")["physical_offset"], frames.frame("two")["store_timestamp"], strict=True))
    assert arrows == {(at[a], at[b]) for a, b in ((10, 20), (20, 30), (30, 40), (30, 50), (40, 60))}
    assert len({tuple(trace.y) for trace in chart.figure.data}) == 4


def test_a_picture_is_drawn_of_whatever_columns_there_are():
    at = pd.date_range("2026-01-01", periods=4, freq="s")
    frame = pd.DataFrame({"at": at, "who": ["a", "b", "a", "b"], "n": [1, 2, 3, 4]})
    assert [list(trace.y) for trace in pictures.lines(frame).figure.data] == [[2, 4], [1, 3]]
    few, many = (pictures.bars(frame[["who"]].assign(n=n)).figure for n in (1, 2))
    assert len(few.data) == few.layout.xaxis.dtick == 1 and many.layout.xaxis.dtick is None
    assert pictures.log_lines(frame).figure.layout.yaxis.type == "log"
    # A number tells series apart where it is alone: ids of queues; of several columns it is the text.
    assert len(pictures.lines(frame[["at", "n"]].assign(last=5)).figure.data) == 4
    assert len(pictures.lines(frame[["at", "n"]].assign(more=6, last=5)).figure.data) == 1
    decimals = frame.assign(n=[Decimal(n) for n in (1, 2, 3, 4)], at=[each.date() for each in at])
    assert [list(trace.y) for trace in pictures.lines(decimals).figure.data] == [[2, 4], [1, 3]]
    assert [len(trace.x) for trace in pictures.lanes(frame[["at", "who", "n"]]).figure.data] == [2, 2]
    # A title stands above a legend of many lines, and times are in ISO.
    series = [f"a series with a long name, number {n}" for n in range(6)]
    frame = pd.DataFrame({"at": pd.date_range("2026-01-01", periods=6, freq="s"), "who": series, "n": range(1, 7)})
    drawn = pictures.lines(frame)._repr_mimebundle_()["application/vnd.plotly.v1+json"]["layout"]
    assert drawn["margin"]["t"] >= 80 and drawn["title"]["y"] == 1
    assert drawn["xaxis"]["tickformatstops"][1]["value"].startswith("%H:%M:%S")


@pytest.mark.seconds
def test_a_page_draws_a_chart_from_what_it_holds_which_is_plotlys_own_release():
    html = transactions.growth(incidents.growth_frame())._repr_mimebundle_()["text/html"]
    assert "rmqKitPlotly" in html and "</script><" not in html.removesuffix("</script>") and "http" not in html
    assert "DecompressionStream" in offline.library() and len(offline.library()) < 700_000
    release = re.compile(r"plotly\.js v([\d.]+)")
    assert release.findall(offline.source()[:80]) == release.findall(get_plotlyjs()[:200])
    used = {trace.type for draw, frame in frames.CHARTS.values() for trace in draw(frame, "en").figure.data}
    sources = "".join(path.read_text() for path in Path(kit.__file__).parent.rglob("*.py"))
    made = set(re.findall(r"go\.([A-Z]\w+)\(", sources))
    assert used | {kind.lower() for kind in made} <= {"scatter", "bar", "heatmap", "sankey", "figure", "figurewidget"}
    assert all(f'name:"{kind}"' in offline.source() for kind in ("scatter", "bar", "heatmap", "sankey"))


def test_coverage_shades_the_incident_leaves_out_files_without_times_and_shows_moments():
    day, hour = pd.Timestamp("2024-05-14", tz="UTC"), pd.Timedelta(hours=1)
    spans = [("log", day, day + hour), ("log", day + hour, day + 2 * hour), ("photo", pd.NaT, pd.NaT)]
    frame = pd.DataFrame(spans, columns=["kind", "first", "last"])
    chart = overview.coverage(frame, (day, day + pd.Timedelta(minutes=1)))
    assert chart.table[["kind", "files"]].values.tolist() == [["log", 2]] and len(chart.figure.layout.shapes) == 1
    assert chart.figure.data[0].marker.line.width > 0  # what is seen of a bar from a moment to itself


@pytest.mark.parametrize(("name", "part", "reading", "rows", "columns"), rows_of(__file__, "readings"))
def test_what_a_chart_reads_out(name, part, reading, rows, columns):
    if name.startswith("growth "):
        draw, frame = transactions.growth, incidents.growth_frame(doublings=int(name.removeprefix("growth ")))
    else:
        draw, frame = frames.CHARTS[name]
    chart = draw(frame if part is None else frame.query(part), "en")
    assert reading in chart.reading and len(chart.table) == rows
    shown = chart.table.to_dict("list") | {"x of the bars": [list(each.x) for each in chart.figure.data]}
    assert {name: shown[name] for name in columns} == columns


def test_panels_of_the_busy_axis_are_those_with_evidence_and_do_not_overlap():
    def panels(**columns):
        layout = sends.axis(frames.AXIS.assign(**columns)).figure.layout
        return [layout[name].domain for name in sorted(layout) if name.startswith("yaxis")]

    assert len(panels()) == 2 and panels()[-1][0] == pytest.approx(0)
    domains = panels(send_queue=[1.0] * 6, cpu=[50.0] * 6)
    assert len(domains) == 4 and all(above[0] > below[1] for above, below in itertools.pairwise(domains))
    chart = sends.axis(frames.AXIS)
    assert chart.reading == "1 send failed." and "nothing stored" not in {trace.name for trace in chart.figure.data}
    assert chart.table["CLIENT_TIMEOUT"].tolist() == [1]
    assert {trace.yaxis for trace in chart.figure.data if trace.type == "scatter"} == {"y", "y2"}


def test_fields_stack_up_to_the_put_back_that_does_not_fit():
    chart = sizes.fields(frames.stages())
    broker = sum(len(k) + len(frames.HALF[k]) + 2 for k in ("CLUSTER", "REAL_TOPIC", "REAL_QID"))
    sent = 990 - broker - len("RMQ_SYS_TRANS_HALF_TOPIC") + len("orders")
    assert list(chart.table["total"]) == [700, sent, 990, 1016]
    assert "the limit leaves 300" in chart.reading and "16 bytes too many" in chart.reading
    assert "too many" not in sizes.fields(frames.stages(None)).reading


def test_moments_that_decide_are_marked_in_lanes_and_every_row_says_where():
    told = overview.rows(incidents.result_table("timeline"))
    assert list(told["decides"]) == ["◆", ""]
    assert list(told["place"]) == ["broker/store/commitlog/00000000000000000000 @ 18468", "broker/logs/store.log:17"]
    chinese = overview.rows(incidents.result_table("timeline"), "zh")["what"]
    assert list(chinese) == ["第一条泄漏的记录", "记录被拒绝（4 条）"]
    chart = overview.timeline(incidents.result_table("timeline"))
    assert [note.text for note in chart.figure.layout.annotations] == ["half-topic-blowup", "refusals and time-outs"]
    assert not chart.figure.layout.yaxis.visible and chart.figure.layout.margin.l >= 40
    bars, marks, deciding = chart.figure.data
    assert [str(at)[17:19] for at in bars.x[:2]] == ["07", "50"]
    assert len(marks.x) == len(deciding.x) == 1
    assert "2 moments from 2024-05-14 02:00:00 to 02:00:50 UTC" in chart.reading


def test_evidence_text_acts_nowhere_and_cells_of_tables_are_formatted():
    shown = escape(incidents.HOSTILE, None)
    assert not set("<>$\x1b\u202e\u202c") & set(shown)
    assert "&lt;script&gt;" in shown and "\\x1b[31m" in shown and "\\u202e" in shown
    assert clean("a\tb\nc") == "a\tb\nc"
    assert clean("x" * 100, 10) == "x" * 9 + "…"
    name = "cg-" + "x" * 60 + "%ARCHIVED"
    said = brief(f"停止 {name} 的监听器，请运行 `mqadmin -g {name}`: {name[:60]}")
    assert said == f"停止 cg-{'x' * 25}…xxx%ARCHIVED 的监听器，请运行 `mqadmin -g {name}`: {name[:60]}"
    times = [pd.Timestamp("2024-05-14 02:00:00.123"), pd.NaT]
    frame = pd.DataFrame({"n": [1234567, 2], "at": times, "text": [incidents.HOSTILE, None]})
    spec = Table(frame, "caption").as_dict()
    assert spec["rows"][0][:2] == ["1,234,567", "2024-05-14 02:00:00.123"]
    assert spec["rows"][1] == ["2", "–", "–"]
    assert [column["kind"] for column in spec["columns"]] == ["number", "time", "long"]
    html = Table(frame, "caption").as_html()
    assert "<script" not in html and ">caption" in html and '<th scope="col"' in html
    assert Table(frame, "", marked=["at"]).as_dict()["decides"] == [[0, 1]] and "decides" not in spec
    assert Table(frame, "", marked={"n": 2}).as_html().count("<mark ") == 1
    lists = pd.DataFrame({"offsets": [[67, 1311], ["a", None], [[1], 2]]})
    assert [row[0] for row in Table(lists, "c").as_dict()["rows"]] == ["67; 1,311", "a; –", "[[1], 2]"]
    long = Table(pd.DataFrame({"n": range(1000)}), "c", max_rows=10).as_dict()
    assert len(long["rows"]) == 10 and "10 of 1,000" in long["notes"][0]
