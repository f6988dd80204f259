"""subscription-mismatch: recorded with different topics and with different tags, beside a rolling restart."""

from __future__ import annotations

from pathlib import Path

from consumer_evidence import paste

from kit.causes.root_causes import subscription_mismatch

CHANGED = (
    "2026-11-22 08:03:{second:02} INFO HeartbeatThread_1 - subscription changed, group: points OLD: SubscriptionData "
    "[classFilterMode=false, topic=paid, subString={old}, tagsSet=[{old}], codeSet=[1], subVersion=1, expressionType=TAG] "
    "NEW: SubscriptionData [classFilterMode=false, topic=paid, subString={new}, tagsSet=[{new}], codeSet=[2], subVersion=2, "
    "expressionType=TAG]"
)


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
