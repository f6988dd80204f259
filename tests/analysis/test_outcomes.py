"""What became of single messages in each group, against what the recordings' ledgers and stores show."""

from typing import Any

import pytest
import recorded
from table import rows_of

import kit
from kit.analysis.consumers import outcomes
from kit.charts import messages
from kit.report import console


@pytest.mark.parametrize(("expression", "tag", "fits"), rows_of(__file__, "a_tag_and_an_expression"))
def test_a_tag_and_an_expression(expression: str, tag: str | None, fits: bool | None) -> None:
    assert outcomes.matches(expression, tag) is fits


def truth(name: str) -> dict[str, Any]:
    return recorded.label(name)["truth"]


pytestmark = pytest.mark.seconds


@pytest.mark.parametrize("row", rows_of(__file__, "fates"), ids=lambda row: row["name"])
def test_what_became_of_messages_in_each_group(row: dict[str, Any]) -> None:
    traces = kit.traces(recorded.case(row["name"]), list(row["keys"]))
    for (key, expected), trace in zip(row["keys"].items(), traces, strict=True):
        assert {each["group"] or "nobody": each["fate"] for each in trace["consumers"]} == expected, key


def test_a_backlog_is_not_reached_yet() -> None:
    said = truth("consumer-backlog")
    handled, audited = (
        {row["keys"]: None for row in recorded.rows("consumer-backlog", file)}
        for file in ("c/points.csv", "a/audit.csv")
    )
    trace = kit.trace(recorded.case("consumer-backlog"), [key for key in audited if key not in handled][-1])
    (own,) = (c for c in trace["consumers"] if c["group"] == said["group"])
    before = own["queue_offset"] - said["end"]["lag_per_queue"][str(own["queue_id"])]["offset"]
    assert own["fate"] == "not-reached" and f"{before:,} messages" in own["text"]
    assert own["text"] in console.life(trace, "en")
    assert list(messages.consumers(trace).frame["group"]) == [c["group"] for c in trace["consumers"]]


def test_what_breaks_here_does_not_cost_the_journey(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(outcomes, "of", broken)
    case = recorded.case("consumer-stuck")
    found = kit.trace(case, truth("consumer-stuck")["uniq_key"])
    assert found["records"] and found["consumers"] == []
    assert [failure.what for failure in case.failures] == ["consumers"]
