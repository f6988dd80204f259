"""The box to paste into, and its twin without widgets."""

from __future__ import annotations

import pytest

pytest.importorskip("ipywidgets")

import kit
from kit import notebook
from kit.charts import Table

LINE = "putMessage message topic length too long 149"


def test_without_widgets_it_is_a_table() -> None:
    table = notebook.paste_box(f"{LINE}\n<b>x</b> CODE: 9999", "en", interactive=False)
    assert isinstance(table, Table)
    assert list(table.frame["meaning"]) == [row["meaning"] for row in kit.explain(f"{LINE}\n<b>x</b> CODE: 9999")]
    assert "<b>" not in table.as_html()
    assert notebook.paste_box("", "zh", interactive=False).as_html()


def test_what_is_pasted_is_explained_when_asked() -> None:
    box = notebook.paste_box()
    field, button, place = box.children
    assert place.outputs == ()
    field.value = LINE
    button.click()
    (shown,) = place.outputs
    assert "retry" in shown["data"]["text/plain"].lower() and "149" in shown["data"]["text/plain"]


def test_a_given_line_is_explained_at_once() -> None:
    assert notebook.paste_box(LINE).children[2].outputs
