"""offset-jump: by the recordings' truth, by a paste, and where nothing moved."""

from __future__ import annotations

from pathlib import Path

import pytest
import recorded
import taken_away

import kit
from kit import causes

PROGRESS = (
    "mqadmin consumerProgress -g points -n 10.20.30.40:9876\n"
    "#Topic                            #Broker Name                      #QID  #Broker Offset        #Consumer Offset      #Diff\n"
    + "".join(f"orders                            broker-a                          {q}     {{end}}                    {{offset}}                    {{diff}}\n" for q in (0, 1))
)  # fmt: skip


@pytest.mark.parametrize(("looks", "verdict"), [([(13, 13), (13, 0)], "suspected"), ([(13, 0), (13, 13)], "insufficient_evidence")])  # fmt: skip
def test_two_outputs_in_one_text_of_which_the_later_is_smaller(
    looks: list[tuple[int, int]], verdict: str, tmp_path: Path
) -> None:
    outputs = [PROGRESS.format(end=end, offset=offset, diff=end - offset) for end, offset in looks]
    found = causes.examine(
        taken_away.paste(tmp_path, "before:", outputs[0], "after the restart:", outputs[1]).facts, "offset-jump"
    )
    assert found.verdict == verdict
    if verdict == "suspected":
        assert "26 messages" in found.shown_summary.render() and "2 queues" in found.shown_summary.render()


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
