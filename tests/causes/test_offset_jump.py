"""offset-jump: by the recordings' truth, by a paste, and where nothing moved."""

from pathlib import Path

import recorded

import kit
from kit import causes


def test_a_first_start_that_the_client_does_not_print(tmp_path: Path) -> None:
    """Clients from 5.0.0 on print no `add a new pull request`: the group's ledger shows the first message of each queue."""
    evidence = recorded.unpack("offset-first-start", tmp_path)
    for log in evidence.rglob("rocketmq_client.log"):
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        log.write_text("".join(line for line in lines if "add a new pull request" not in line), encoding="utf-8")
    truth = recorded.label("offset-first-start")["truth"]
    found = causes.examine(kit.open_case(evidence, tmp_path / "ws").facts, "offset-jump")
    told = truth["topics"]["order-done"]
    assert found.verdict == "confirmed"
    assert (found.figures["group"], found.figures["skipped"]) == (truth["group"], told["skipped"])
    assert found.figures["moved"] == {queue: [0, first] for queue, first in told["start_offset"].items()}
