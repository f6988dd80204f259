"""The cause that tells ids apart, and dead letters: against RocketMQ's decoder and the consumers' rows."""

import shutil
from pathlib import Path

import recorded

import kit
from kit import causes

NAME = "message-identity"
TWICE, KEYS = 13, 427
"""UNIQ_KEYs with a second success in c/points.csv that is a retry copy; all UNIQ_KEYs that RocketMQ's decoder reads."""


def test_without_the_ledger_the_logs_tell_and_without_both_it_gets_weaker(tmp_path: Path) -> None:
    """Without a table the application's own lines report the same messages; without its look-up: not enough."""
    for path in recorded.whole(NAME).rglob("*"):
        if (path.is_file() and "commitlog" in path.parts) or path.name == "points-service.log":
            (tmp_path / "a" / "x").mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "a" / "x" / (path.name if "commitlog" in path.parts else "app-7.txt"))
    finding = causes.examine(kit.open_case(tmp_path / "a").facts, "message-identity")
    assert finding.verdict == "confirmed"
    assert finding.figures["handled_twice_by_offset_id"] == TWICE
    assert "Look-ups" not in finding.summary.render(), "nobody looked anything up"
    (tmp_path / "a" / "x" / "app-7.txt").unlink()
    bare = causes.examine(kit.open_case(tmp_path / "a").facts, "message-identity")
    assert bare.verdict == "insufficient_evidence"
    assert bare.figures["handled_twice_by_offset_id"] is None and bare.figures["wrong_space_lookups"] is None
    assert bare.figures["uniq_keys"] == KEYS
    assert bare.missing
