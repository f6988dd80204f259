"""The 5.x gRPC clients and stats.log: lines after upstream's format strings, in the layouts their libraries print."""

from __future__ import annotations

from pathlib import Path

import pytest
import taken_away

from kit import causes
from kit.analysis.consumers import consumer_logs
from kit.case.opening import open_case

pytestmark = pytest.mark.seconds
CLIENT = "host-a@4212@0@lqn3k2v"
FULL = (
    "Process queue total cached messages quantity exceeds the threshold, threshold=1024, actual=1024, mq=broker-a.orders.2, clientId="
    + CLIENT
)
JAVA = f"2026-11-22 10:22:31.12{{n}} WARN  [4212] [RocketmqReceive-0-1] [o.a.r.c.j.i.c.ProcessQueueImpl#isCacheFull:350] - {FULL}"
CREATED = f"2026-11-22 10:20:01.000 INFO  [4212] [main] [o.a.r.c.j.i.c.PushConsumerImpl#create:258] - Create standard consume service, consumerGroup=points, clientId={CLIENT}"
FALL = "2026-11-22 10:{minute:02}:00 INFO - [GROUP_GET_FALL_TIME] [{queue}@orders@points] Stats Every 5 Minutes, Value: {value}"


def test_the_group_is_the_one_the_client_was_created_for(tmp_path: Path) -> None:
    (tmp_path / "rocketmq-client.log").write_text("\n".join([CREATED, *(JAVA.format(n=n) for n in range(4))]) + "\n")
    case = open_case(tmp_path / "rocketmq-client.log", tmp_path / "ws")
    (said,) = consumer_logs.of(case.facts, "receive-held-back")
    assert (said.group, said.queue, said.count, case.inventory.items[0].source) == (
        "points", ("orders", "broker-a", 2), 4, "client",
    )  # fmt: skip
    assert said.highest["count"] == 1024
    assert any("points" in missing.command for missing in causes.examine(case.facts, "consumer-backlog").missing)


@pytest.mark.parametrize(("value", "verdict"), [(402_177, "suspected"), (2_065, "insufficient_evidence")])
def test_statistics_of_pulls_far_behind(value: int, verdict: str, tmp_path: Path) -> None:
    """store/stats/BrokerStatsManager.GROUP_GET_FALL_TIME is in ms; a group that keeps up has a few."""
    lines = [FALL.format(minute=m, queue=q, value=value + m) for m in (5, 10) for q in range(4)]
    finding = causes.examine(taken_away.paste(tmp_path, *lines).facts, "consumer-backlog")
    assert finding.verdict == verdict
    claims = [step.claim.render() for step in finding.steps if step.id == "statistics"]
    assert claims == (
        [
            f"By the broker's statistics, pulls of group points on orders were up to {(value + 10) // 1000} s behind the newest message, in 4 queues."
        ]
        if verdict == "suspected"
        else []
    )
