"""subscription-mismatch: recorded with different topics and with different tags, beside a rolling restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from consumer_evidence import commands, examine, paste, resolves, steps, truth

from kit.causes.root_causes import subscription_mismatch

CHANGED = (
    "2026-11-22 08:03:{second:02} INFO HeartbeatThread_1 - subscription changed, group: points OLD: SubscriptionData "
    "[classFilterMode=false, topic=paid, subString={old}, tagsSet=[{old}], codeSet=[1], subVersion=1, expressionType=TAG] "
    "NEW: SubscriptionData [classFilterMode=false, topic=paid, subString={new}, tagsSet=[{new}], codeSet=[2], subVersion=2, "
    "expressionType=TAG]"
)


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["subscription-mismatch", "subscription-mismatch-tags"])
def test_the_recorded_mismatch_is_confirmed_with_its_figures(name: str, tmp_path: Path) -> None:
    finding, said = examine(name, subscription_mismatch, tmp_path), truth(name)
    assert finding.verdict == "confirmed" and resolves(finding)
    assert finding.figures["group"] == said["group"]
    told = {tuple(topics.items()) for topics in finding.figures["subscriptions"].values()}
    assert told == {((topic, expression),) for topic, expression in said["subscriptions"].values()}
    for figure in ("handled_by_nobody", "behind_the_offset", "in_front_of_the_offset"):
        assert finding.figures[figure] == {topic: row[figure] for topic, row in said["per_topic"].items()}, figure


@pytest.mark.seconds
def test_a_rolling_restart_is_ruled_out(tmp_path: Path) -> None:
    assert examine("subscription-restart", subscription_mismatch, tmp_path).verdict == "ruled_out"


@pytest.mark.seconds
def test_without_ledgers_the_tags_are_suspected_and_ledgers_asked_for(tmp_path: Path) -> None:
    finding = examine("subscription-mismatch-tags", subscription_mismatch, tmp_path, ("*.csv",))
    assert finding.verdict == "suspected" and steps(finding)["messages-unhandled"] is None
    assert finding.figures["behind_the_offset"] == {"trade-paid": None}
    assert any("deliveries" in command for command in commands(finding))


def test_a_paste_of_expressions_that_come_and_go_is_suspected(tmp_path: Path) -> None:
    turns = [("A", "B"), ("B", "A"), ("A", "B")]
    lines = [CHANGED.format(second=n, old=old, new=new) for n, (old, new) in enumerate(turns)]
    assert paste(lines, subscription_mismatch, tmp_path).verdict == "suspected"


def test_the_lines_of_a_restart_alone_say_nothing(tmp_path: Path) -> None:
    lines = [CHANGED.format(second=n, old="A || B", new="A || B") for n in range(6)]
    lines += [
        "2026-11-22 08:03:09 WARN PullMessageThread_1 - The broker's subscription is not latest, group: points A || B"
    ]
    assert paste(lines, subscription_mismatch, tmp_path).verdict == "insufficient_evidence"
