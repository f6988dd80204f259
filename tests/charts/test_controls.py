"""Controls over a drawing: drawn at once or at the button, redrawn at a change; and the what-if of a failed consumption."""

import pandas as pd
import pytest
from table import rows_of

from kit.charts import PLOTLY_MIME, Chart, Table, figure, resend
from kit.charts.controls import control


def table(text):
    return Table(pd.DataFrame({"said": [text]}), "said")


def live(draw, text):
    return control(draw, {"text": text}, {"text": "message"})


def said(box):
    return str(box.children[-1].outputs)


def test_the_first_drawing_is_in_the_state_and_a_change_replaces_it():
    box = live(table, "first")
    typed = box.children[0]
    assert "first" in said(box) and typed.description == "message"
    typed.value = "second"
    assert "second" in said(box) and "first" not in said(box)


def test_what_is_drawn_first_stands_in_a_page_without_widgets(monkeypatch):
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.publish_display_data", lambda data, *_: shown.append(data))
    live(table, "<b>first</b>")._ipython_display_()
    widget, still = shown
    assert "application/vnd.jupyter.widget-view+json" in widget and widget["text/plain"] == ""
    assert "&lt;b&gt;first" in still["text/html"] and "rmq-kit-still" in still["text/html"]
    assert "first" in still["text/plain"]


def test_a_chart_comes_with_its_table_and_several_things_in_their_order():
    chart = Chart(figure({"type": "bar", "y": [1]}), pd.DataFrame({"a": [1]}), "reads", "alt", "title")
    shown = live(lambda text: (table(f"n{text}"), chart), "3").children[-1].outputs
    assert ["text/html" in o["data"] for o in shown] == [True, True, True] and PLOTLY_MIME in shown[1]["data"]
    assert "n3" in str(shown[0]) and shown[2]["metadata"]["rmq-kit"] == {"twin": True}


def test_what_cannot_be_drawn_is_said_as_text():
    def fails(text):
        raise ValueError(f"<script>{text}\x1b[0m</script>")

    (shown,) = live(fails, "x").children[-1].outputs
    assert list(shown["data"]) == ["text/plain"] and "ValueError" in shown["data"]["text/plain"]
    assert "\x1b" not in shown["data"]["text/plain"]


def test_each_kind_of_value_has_its_control_and_without_interaction_it_is_a_call():
    given = {"on": True, "way": "b", "text": "x"}
    draw = lambda **chosen: table(repr(chosen))  # noqa: E731
    box = control(draw, given, {name: name for name in given}, {"way": ["a", "b"]})
    kinds = [type(each).__name__ for each in box.children]
    assert kinds == ["Checkbox", "Dropdown", "Text", "Output"] and repr(given) in said(box).replace("&#39;", "'")
    assert control(draw, given, {}, interactive=False).frame["said"].tolist() == [repr(given)]


# CommitLog and DefaultMessageStore: topic names up to 127 characters; "%RETRY%" has 7. HookUtils of 5.1.0: retry topics up to 255.
LONG, SHORT = "g" * 121, "g" * 120


@pytest.mark.parametrize(("group", "client", "broker", "wanted"), rows_of(__file__, "each_way_a_retry_can_end"))
def test_each_way_a_retry_can_end(group, client, broker, wanted):
    shown = resend.what_if(group, client, broker)
    assert list(shown.frame["answer"])[-1] == resend.FATES[wanted].render("en")
    assert ("does not apply" in shown.frame["answer"].iloc[2]) is (wanted == "delivered")


def test_fields_redraw_and_say_what_is_wrong_and_names_stay_text():
    box = resend.explore(LONG, "4.6.0", "4.6.0")
    group, client, _, place = box.children
    assert "doubles" in str(place.outputs)
    group.value = SHORT
    assert "comes back" in str(place.outputs)
    client.value = "nonsense"
    assert "nonsense" in str(place.outputs)
    assert "<img" not in resend.what_if("<img src=x>", "4.6.0", "4.6.0").as_html()
