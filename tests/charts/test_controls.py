"""Controls over a drawing: drawn at once or at the button, redrawn at a change, and saying what is wrong in place."""

from __future__ import annotations

import ipywidgets
import pandas as pd

from kit.charts import PLOTLY_MIME, Chart, Table, figure
from kit.charts.controls import live


def table(text: str) -> Table:
    return Table(pd.DataFrame({"said": [text]}), "said")


def said(box: ipywidgets.VBox) -> str:
    return str(box.children[-1].outputs)


def test_the_first_drawing_is_in_the_state_and_a_change_replaces_it() -> None:
    typed = ipywidgets.Text("first")
    box = live(table, text=typed)
    assert "first" in said(box) and typed.description == "text"
    typed.value = "second"
    assert "second" in said(box) and "first" not in said(box)


def test_with_a_button_nothing_is_drawn_before_it_is_pressed() -> None:
    box = live(table, button="go", text=ipywidgets.Text("slow"))
    assert said(box) == "()"
    box.children[1].click()
    assert "slow" in said(box)


def test_a_chart_comes_with_its_table_and_several_things_in_their_order() -> None:
    chart = Chart(figure({"type": "bar", "y": [1]}), pd.DataFrame({"a": [1]}), "reads", "alt", "title")
    shown = live(lambda n: (table(f"n{n}"), chart), n=ipywidgets.IntSlider(3)).children[-1].outputs
    assert ["text/html" in o["data"] for o in shown] == [True, True, True] and PLOTLY_MIME in shown[1]["data"]
    assert "n3" in str(shown[0]) and shown[2]["metadata"]["rmq-kit"] == {"twin": True}


def test_what_cannot_be_drawn_is_said_as_text() -> None:
    def fails(text: str) -> Table:
        raise ValueError(f"<script>{text}\x1b[0m</script>")

    (shown,) = live(fails, text=ipywidgets.Text("x")).children[-1].outputs
    assert (
        list(shown["data"]) == ["text/plain"]
        and "\x1b" not in shown["data"]["text/plain"]
        and "ValueError" in shown["data"]["text/plain"]
    )
