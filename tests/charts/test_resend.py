"""What becomes of a failed consumption under another name or release: the limits and fixes are those of RocketMQ's sources."""

from __future__ import annotations

import pytest
from table import rows_of

from kit.charts.transactions import resend

# CommitLog and DefaultMessageStore: topic names up to 127 characters; "%RETRY%" has 7. HookUtils of 5.1.0: retry topics up to 255.
LONG, SHORT = "g" * 121, "g" * 120


@pytest.mark.parametrize(("group", "client", "broker", "wanted"), rows_of(__file__, "each_way_a_retry_can_end"))
def test_each_way_a_retry_can_end(group: str, client: str, broker: str, wanted: str) -> None:
    assert resend.fate(group, client, broker) == wanted
    shown = resend.what_if(group, client, broker)
    assert list(shown.frame["answer"])[-1] == resend.FATES[wanted].render("en")
    assert ("does not apply" in shown.frame["answer"].iloc[2]) is (wanted == "delivered")


def test_names_stay_text_and_versions_are_versions() -> None:
    assert "<img" not in resend.what_if("<img src=x>", "4.6.0", "4.6.0").as_html()
    with pytest.raises(ValueError, match="nonsense"):
        resend.what_if("g", "nonsense", "4.6.0")


def test_fields_redraw_and_say_what_is_wrong() -> None:
    pytest.importorskip("ipywidgets")
    box = resend.explore(LONG, "4.6.0", "4.6.0")
    group, client, _, place = box.children
    assert "doubles" in str(place.outputs)
    group.value = SHORT
    assert "comes back" in str(place.outputs)
    client.value = "nonsense"
    assert "nonsense" in str(place.outputs)
    assert resend.explore(LONG, "4.6.0", "4.6.0", interactive=False).frame.equals(
        resend.what_if(LONG, "4.6.0", "4.6.0").frame
    )
