"""consumer-stuck: a recorded ordered listener that suspends one message for ever, and less evidence."""

from __future__ import annotations

from pathlib import Path

from consumer_evidence import paste

from kit.causes.root_causes import consumer_stuck

ATTEMPT = (
    "2026-11-22 07:15:{second:02},000 WARN RocketmqClient - consumeMessage Orderly return not OK, Group: ledger Msgs: "
    "[MessageExt [brokerName=broker-a, queueId=0, storeSize=494, queueOffset=64, sysFlag=0, bornTimestamp=1795302930372, "
    "bornHost=/10.0.0.21:58852, storeTimestamp=1795302930374, storeHost=/10.0.0.11:10911, "
    "msgId=0A00000B00002A9F000000000001F3CA, commitLogOffset=127946, bodyCRC=767298961, reconsumeTimes={times}, "
    "preparedTransactionOffset=0, toString()=Message{{topic='step', flag=0, properties={{KEYS=AC1, "
    "UNIQ_KEY=7F000001570C0C387F446DB443C40103, TAGS=A}}, body=[1], transactionId='null'}}]] MQ: MessageQueue [topic=step]"
)


def test_a_paste_of_attempts_names_the_message(tmp_path: Path) -> None:
    finding = paste([ATTEMPT.format(second=n, times=n) for n in range(5)], consumer_stuck, tmp_path)
    assert finding.verdict == "suspected"
    assert finding.figures["queue_offset"] == 64
    assert finding.figures["uniq_key"] == "7F000001570C0C387F446DB443C40103"
