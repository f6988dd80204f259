"""consumer-stuck: a recorded ordered listener that suspends one message for ever, and less evidence."""

from __future__ import annotations

from pathlib import Path

import pytest
from consumer_evidence import POSITIONS, commands, examine, paste, resolves, steps, truth

from kit.causes.root_causes import consumer_stuck

ATTEMPT = (
    "2026-11-22 07:15:{second:02},000 WARN RocketmqClient - consumeMessage Orderly return not OK, Group: ledger Msgs: "
    "[MessageExt [brokerName=broker-a, queueId=0, storeSize=494, queueOffset=64, sysFlag=0, bornTimestamp=1795302930372, "
    "bornHost=/10.0.0.21:58852, storeTimestamp=1795302930374, storeHost=/10.0.0.11:10911, "
    "msgId=0A00000B00002A9F000000000001F3CA, commitLogOffset=127946, bodyCRC=767298961, reconsumeTimes={times}, "
    "preparedTransactionOffset=0, toString()=Message{{topic='step', flag=0, properties={{KEYS=AC1, "
    "UNIQ_KEY=7F000001570C0C387F446DB443C40103, TAGS=A}}, body=[1], transactionId='null'}}]] MQ: MessageQueue [topic=step]"
)


@pytest.mark.seconds
def test_the_recorded_message_is_named_with_its_queue(tmp_path: Path) -> None:
    finding, said = examine("consumer-stuck", consumer_stuck, tmp_path), truth("consumer-stuck")
    assert finding.verdict == "confirmed" and resolves(finding)
    queue = {"topic": said["topic"], "broker": "broker-a", "queue_id": said["queue_id"]}
    end = said["end"]["lag_per_queue"][str(said["queue_id"])]["end"]
    assert finding.figures == {
        "queue": queue,
        "queue_offset": said["queue_offset"],
        "uniq_key": said["uniq_key"],
        "why": "suspended",
        "messages_behind": end - said["queue_offset"] - 1,
    }


@pytest.mark.seconds
def test_without_positions_its_attempts_make_it_suspected(tmp_path: Path) -> None:
    finding = examine("consumer-stuck", consumer_stuck, tmp_path, POSITIONS)
    assert finding.verdict == "suspected" and steps(finding)["queue-stands"] is None
    assert any("consumerProgress" in command and "account-ledger" in command for command in commands(finding))


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["duplicate-client-id", "consumer-backlog-drained"])
def test_queues_without_owner_and_bursts_are_not_stuck(name: str, tmp_path: Path) -> None:
    assert examine(name, consumer_stuck, tmp_path).verdict == "ruled_out"


def test_a_paste_of_attempts_names_the_message(tmp_path: Path) -> None:
    finding = paste([ATTEMPT.format(second=n, times=n) for n in range(5)], consumer_stuck, tmp_path)
    assert finding.verdict == "suspected"
    assert finding.figures["queue_offset"] == 64
    assert finding.figures["uniq_key"] == "7F000001570C0C387F446DB443C40103"
