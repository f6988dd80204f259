"""What became of single messages in each group, against what the recordings' ledgers and stores show."""

from typing import Any

import pytest
import recorded
from table import rows_of

import kit
from kit.analysis.consumers import outcomes
from kit.charts import messages
from kit.report import console

STEP = 70
"""Every so many messages of a kind are asked about."""


@pytest.mark.parametrize(("expression", "tag", "fits"), rows_of(__file__, "a_tag_and_an_expression"))
def test_a_tag_and_an_expression(expression: str, tag: str | None, fits: bool | None) -> None:
    assert outcomes.matches(expression, tag) is fits


def told(name: str, *keys: str) -> list[dict[str | None, str]]:
    """{group: fate} of each of the messages with these keys, looked up at once."""
    traces = kit.traces(recorded.case(name), keys)
    assert len(traces) == len(keys) > 0
    return [{each["group"]: each["fate"] for each in trace["consumers"]} for trace in traces]


def truth(name: str) -> dict[str, Any]:
    return recorded.label(name)["truth"]


def ledger(name: str, member: str) -> list[str]:
    return list(dict.fromkeys(row["keys"] for row in recorded.rows(name, member)))


pytestmark = pytest.mark.seconds


@pytest.mark.parametrize(
    ("name", "where", "fate"), rows_of(__file__, "messages_that_nobody_handled_and_those_that_somebody_did")
)
def test_messages_that_nobody_handled_and_those_that_somebody_did(name: str, where: str, fate: str) -> None:
    said = truth(name)
    nobody = [key for topic in said["per_topic"].values() for key in topic[f"keys_{where}"][::STEP]]
    assert told(name, *nobody) == [{said["group"]: fate}] * len(nobody), nobody
    files = [f for f in recorded.paths(name) if f.endswith(("p/points.csv", "q/points.csv", "p/sms.csv", "q/sms.csv"))]
    handled = [key for file in files for key in ledger(name, file)[::STEP]]
    assert told(name, *handled) == [{said["group"]: "consumed"}] * len(handled), handled


def test_deleted_before_one_group_came_and_handled_by_the_other() -> None:
    said = truth("offset-jump")
    first, last = (int(key[2:]) for key in said["keys_never_handled_first_last"])
    numbers = (first - 1, first, (first + last) // 2, last, last + 1)
    before, *between, behind = told("offset-jump", *(f"IN{n:07}" for n in numbers))
    assert between == [{None: "deleted", said["healthy_group"]: "consumed"}] * 3
    assert before[said["group"]] == "consumed"
    assert behind == {said["group"]: "consumed", said["healthy_group"]: "consumed"}


def test_what_a_first_start_passed_over() -> None:
    """Queue offsets below the start: what is still stored of them was skipped, what comes after was handled."""
    said = truth("offset-first-start")
    keys = ledger("offset-first-start", "c/reports.csv")
    records = [r for r in recorded.truth("offset-first-start") if r["topic"] == "order-done"]
    starts = {int(queue): at for queue, at in said["topics"]["order-done"]["start_offset"].items()}
    skipped = [r["properties"]["KEYS"] for r in records if r["queue_offset"] < starts[r["queue_id"]]]
    found = [fate[said["group"]] for fate in told("offset-first-start", *keys[:3], *skipped[::STEP])]
    assert found == ["consumed"] * 3 + ["skipped"] * len(skipped[::STEP])


def test_the_message_that_holds_its_queue_and_one_behind_it() -> None:
    said = truth("consumer-stuck")
    handled = set(ledger("consumer-stuck", "c/ledger.csv"))
    waiting = [key for key in ledger("consumer-stuck", "a/audit.csv") if key not in handled]
    holds, *behind = told("consumer-stuck", said["uniq_key"], *waiting[::150])
    assert holds == {said["group"]: "holds-queue", said["healthy_group"]: "consumed"}
    assert behind == [{said["group"]: "behind-stuck", said["healthy_group"]: "consumed"}] * len(waiting[::150]) != []


def test_a_backlog_is_not_reached_yet() -> None:
    said = truth("consumer-backlog")
    handled = set(ledger("consumer-backlog", "c/points.csv"))
    waiting = [key for key in ledger("consumer-backlog", "a/audit.csv") if key not in handled]
    trace = kit.trace(recorded.case("consumer-backlog"), waiting[-1])
    (own,) = (c for c in trace["consumers"] if c["group"] == said["group"])
    before = own["queue_offset"] - said["end"]["lag_per_queue"][str(own["queue_id"])]["offset"]
    assert own["fate"] == "not-reached" and f"{before:,} messages" in own["text"]
    assert own["text"] in console.life(trace, "en")
    assert list(messages.consumers(trace).frame["group"]) == [c["group"] for c in trace["consumers"]]


def test_acknowledged_and_only_on_the_lost_master() -> None:
    said = truth("replica-loss")
    kept, *lost = told("replica-loss", "DC0000001", *said["keys_missing"][::500])
    assert None not in kept
    assert lost == [{None: "lost-with-master", said["group"]: "consumed"}] * len(lost) != []


def test_what_breaks_here_does_not_cost_the_journey(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(outcomes, "of", broken)
    case = recorded.case("consumer-stuck")
    found = kit.trace(case, truth("consumer-stuck")["uniq_key"])
    assert found["records"] and found["consumers"] == []
    assert [failure.what for failure in case.failures] == ["consumers"]
