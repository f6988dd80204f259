"""What people see of ids and lives: `msgid`, `trace`, the charts."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from table import rows_of

from kit.charts import Chart, messages
from kit.cli.main import cli
from kit.report import console

OFFSET, UNIQ = "0A142C0B00002A9F00000000000004AA", "0A142C1500000C387F4466D0D88B0000"


def traced():
    """The life of a message that was consumed once and sent back, hostile text wherever evidence can put some."""
    life = rows_of(__file__, "life")
    return life | {"mentions": [life["mention"] | {"line": n} for n in range(1, 61)]}


def test_msgid_takes_ids_apart_in_both_languages():
    said = CliRunner().invoke(cli, ["msgid", OFFSET, UNIQ, "--near", "2026-11-20"])
    assert said.exit_code == 0
    for part in ("10.20.44.11:10911", "1194", "10.20.44.21", "2026-11-20 15:09:22.955"):
        assert part in said.output
    assert "存储主机" in CliRunner().invoke(cli, ["msgid", OFFSET, "--lang", "zh"]).output


def test_a_life_is_printed_without_anything_that_acts_on_a_terminal():
    text = console.life(traced(), "en")
    assert "\x1b" not in text and "4 copies" in text and "retry 1" in text and "and 20 more" in text
    assert console.life(json.loads(json.dumps(traced())), "zh").count("副本") >= 1


def test_a_journey_has_a_lane_for_each_stage_and_one_for_the_consumer():
    chart = messages.traced(traced())
    assert list(chart.figure.layout.yaxis.categoryarray) == ["half", "commit", "schedule", "retry 1", "consumer"]
    copies, ends, links = chart.figure.data
    assert (len(copies.x), len(ends.x), sum(x is not None for x in links.x)) == (4, 1, 6)
    assert len(chart.table) == 5 and "4 offset ids" in chart.reading and "1 of them successful" in chart.reading
    assert "<b>x" not in chart.figure.to_json()


def test_tables_of_a_life():
    told = traced()
    shown = [
        draw(told)
        for draw in (messages.copies, messages.deliveries, messages.mentions, messages.consumers, messages.gaps)
    ]
    assert [len(table.frame) for table in shown] == [4, 1, 60, 1, 1]
    assert not any("<b>" in table.as_html() for table in shown)
    empty = {name: [] if isinstance(value, list) else "x" for name, value in told.items()}
    assert messages.traced(empty).table.empty
    assert messages.apart(empty).frame.empty and messages.mentions(empty).frame.empty


@pytest.mark.parametrize(
    ("text", "fields"),
    [(OFFSET, [4, 4, 8]), (UNIQ, [4, 2, 4, 4, 2]), ("FD200045" + "0" * 22 + "21" + UNIQ[8:], [16, 2, 4, 4, 2])],
)
def test_an_id_is_cut_at_its_bytes(text, fields):
    chart = messages.anatomy(text)
    assert [len(h) // 2 for h in chart.table["hex"]] == [bar.x[0] for bar in chart.figure.data] == fields
    assert "".join(chart.table["hex"]) == text


def test_the_id_widget_shows_what_its_twin_shows():
    frame = pd.DataFrame({"uniq_key": [None, UNIQ]})
    plain, widget = messages.explore(frame, interactive=False), messages.explore(frame)
    assert isinstance(plain, Chart) and list(plain.table["hex"]) == ["0A142C15", "0000", "0C387F44", "66D0D88B", "0000"]
    assert widget.children[0].value == UNIQ and "66D0D88B" in str(widget.children[-1].outputs)
