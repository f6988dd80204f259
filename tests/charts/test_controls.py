"""What a widget shows, and what people see of ids and lives."""

import json

import ipywidgets
import pandas as pd
import pytest
from click.testing import CliRunner
from table import rows_of

from kit.charts import PLOTLY_MIME, Chart, Table, figure, messages
from kit.charts.controls import outputs, standing
from kit.cli.main import cli
from kit.report import console


def table(text):
    return Table(pd.DataFrame({"said": [text]}), "said")


def test_what_is_drawn_first_stands_in_a_page_without_widgets(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.publish_display_data", lambda data, *_: shown.append(data))
    chart = Chart(figure({"type": "bar", "y": [1]}), pd.DataFrame({"a": [1]}), "reads", "alt", "title")
    drawn = outputs([table("<b>first</b>"), chart])
    standing(ipywidgets.Output(), drawn[:1])._ipython_display_()
    widget, still = shown
    assert "application/vnd.jupyter.widget-view+json" in widget and widget["text/plain"] == ""
    assert "&lt;b&gt;first" in still["text/html"] and "rmq-kit-still" in still["text/html"]
    assert "first" in still["text/plain"]
    # A chart comes with its table, and several things in their order.
    assert ["text/html" in o["data"] for o in drawn] == [True, True, True] and PLOTLY_MIME in drawn[1]["data"]
    assert "first" in str(drawn[0]) and drawn[2]["metadata"]["rmq-kit"] == {"twin": True}


OFFSET, UNIQ = "0A142C0B00002A9F00000000000004AA", "0A142C1500000C387F4466D0D88B0000"


def traced():
    """The life of a message that was consumed once and sent back, hostile text wherever evidence can put some."""
    life = rows_of(__file__, "life")
    return life | {"mentions": [life["mention"] | {"line": n} for n in range(1, 61)]}


def test_ids_are_taken_apart_in_both_languages():
    said = CliRunner().invoke(cli, ["msgid", OFFSET, UNIQ, "--near", "2026-11-20"])
    assert said.exit_code == 0
    for part in ("10.20.44.11:10911", "1194", "10.20.44.21", "2026-11-20 15:09:22.955"):
        assert part in said.output
    assert "存储主机" in CliRunner().invoke(cli, ["msgid", OFFSET, "--lang", "zh"]).output
    plain = messages.uniq_apart(pd.DataFrame({"uniq_key": [None, UNIQ]}))
    assert list(plain.frame["hex"]) == ["0A142C15", "0000", "0C387F44", "66D0D88B", "0000"]


def test_a_life_is_printed_drawn_and_listed():
    told = traced()
    text = console.life(told, "en")
    assert "\x1b" not in text and "4 copies" in text and "retry 1" in text and "and 20 more" in text
    assert console.life(json.loads(json.dumps(told)), "zh").count("副本") >= 1
    # A lane for each stage and one for the consumer.
    chart = messages.traced(told)
    assert list(chart.figure.layout.yaxis.categoryarray) == ["half", "commit", "schedule", "retry 1", "consumer"]
    copies, ends, links = chart.figure.data
    assert (len(copies.x), len(ends.x), sum(x is not None for x in links.x)) == (4, 1, 6)
    assert len(chart.table) == 5 and "4 offset ids" in chart.reading and "1 of them successful" in chart.reading
    assert "<b>x" not in chart.figure.to_json()
    local = messages.traced(told | {"handled": [one | {"time": one["time"][:-1]} for one in told["handled"]]})
    assert len(local.table) == 4 and "1 delivery, 1 of them successful; 1 is not drawn" in local.reading
    assert "deliver" not in messages.traced(told | {"handled": []}).reading
    tables = (messages.copies, messages.deliveries, messages.mentions, messages.consumers, messages.gaps)
    shown = [draw(told) for draw in tables]
    assert [len(table.frame) for table in shown] == [4, 1, 60, 1, 1]
    assert not any("<b>" in table.as_html() for table in shown)
    empty = {name: [] if isinstance(value, list) else "x" for name, value in told.items()}
    assert messages.traced(empty).table.empty
    assert messages.apart(empty).frame.empty and messages.mentions(empty).frame.empty


@pytest.mark.parametrize(("text", "fields"), rows_of(__file__, "bytes_of_ids"))
def test_an_id_is_cut_at_its_bytes(text, fields):
    frame = messages.anatomy(text).frame
    assert [len(h) // 2 for h in frame["hex"]] == fields and frame["bytes"].iloc[-1].endswith(f"–{len(text) // 2 - 1}")
    assert "".join(frame["hex"]) == text
