"""Messages that outgrow the limit: hand-made incidents of several releases, by the reference's arithmetic."""

import json
from pathlib import Path
from typing import Any

import pytest
import size_evidence as made
from size_evidence import SEND, Evidence, put_back_failed, too_large

import kit
from kit import causes
from kit.analysis import sizes
from kit.case.case import Case
from kit.causes.findings import Finding
from kit.i18n import LANGS


def opened(evidence: Path) -> Case:
    return kit.open_case(evidence, evidence.parent / f"{evidence.name}-workspace")


def examined(evidence: Path) -> Finding:
    return causes.examine(opened(evidence).facts, "message-size-mismatch")


def incident(folder: Path, **how: Any) -> tuple[Evidence, Any]:
    """A store with a limit of 4,000. Sizes are of the half record; a put-back adds 26, from the tenth on 27."""
    evidence = Evidence(folder, **how)
    evidence.op(evidence.prepare("rolled-back", 3999))
    evidence.commit(evidence.prepare("committed", 4000))
    loops = evidence.prepare("loops", 3975)
    evidence.prepare("tenth-check-too-large", 3974)
    evidence.prepare("fits-to-the-byte", 3973)
    evidence.prepare("small", 600)
    return evidence, loops


def test_without_store_log_the_named_record_decides(tmp_path: Path) -> None:
    evidence, loops = incident(tmp_path / "e")
    failed = [put_back_failed(30, evidence.offset_id(loops))] * 9
    assert examined(evidence.write(transaction_log=failed)).verdict == "confirmed"


def test_a_failed_put_back_that_fits_is_not_confirmed(tmp_path: Path) -> None:
    evidence, _ = incident(tmp_path / "e")
    small = next(r for r in evidence.records if b"KEYS\x01small" in r.properties)
    started = made.line(1, "main", "load over, and the max phy offset = 0", "INFO")
    failed = [put_back_failed(30, evidence.offset_id(small))] * 9
    assert examined(evidence.write([started], failed)).verdict == "ruled_out"


def test_without_the_store_no_sentence_has_a_number_that_is_not_known(tmp_path: Path) -> None:
    evidence, loops = incident(tmp_path / "e", version=None, limit=None)
    refused = [too_large(30 * n, "TransactionalMessageCheckService", 4001, 3700) for n in range(9)]
    failed = [put_back_failed(30, evidence.offset_id(loops))] * 9
    found = examined(evidence.write(refused, failed, commitlog=False))
    assert found.verdict == "confirmed"
    said = {lang: json.dumps(found.as_dict(lang), ensure_ascii=False) for lang in LANGS}
    assert "unknown" not in said["en"] and "未知" not in said["zh"] and "None" not in said["en"]
    assert "Raise maxMessageSize of the broker and restart it" in said["en"]


def test_without_both_logs_it_is_suspected_from_records_and_limit(tmp_path: Path) -> None:
    """The release is not named either: CLUSTER and the final separator are written by 4.6.0 to 4.9.0."""
    evidence, _ = incident(tmp_path / "e", version=None)
    found = examined(evidence.write(saved=2))
    assert found.verdict == "suspected"
    figures = ("at_risk_half_messages", "looping_half_messages", "direct_rejects")
    assert [found.figures[name] for name in figures] == [2, None, None]
    assert [step.holds for step in found.steps] == [True, None, True, None, None, True, None]
    assert len(found.missing) == 2
    assert all(".log" in m.command for m in found.missing)


def test_a_delay_level_that_stands(tmp_path: Path) -> None:
    """The real topic's name is three characters longer than SCHEDULE_TOPIC_XXXX, the record two bytes below the limit."""
    evidence = Evidence(tmp_path / "e")
    topic = "orders-of-the-customer"
    head = made.text({"DELAY": "3", "REAL_TOPIC": topic, "REAL_QID": "0", "UNIQ_KEY": "0" * 32})
    for n, rest in enumerate((3998, 900, 900)):
        body = b"b" * (rest - 91 - len("SCHEDULE_TOPIC_XXXX") - len(head))
        evidence.put(made.Record(b"SCHEDULE_TOPIC_XXXX", body, head, numbers=(2, 0, n, 1, 0)))
    msg_id = evidence.offset_id(evidence.records[0])
    said = "ScheduleMessageService, a message time up, but reput it failed, topic: SCHEDULE_TOPIC_XXXX msgId "
    failed = [made.line(10 * n, "ScheduleMessageTimerThread", said + msg_id, "ERROR") for n in range(4)]
    named = [too_large(10 * n, "ScheduleMessageTimerThread", 4001, 3700) for n in range(4)]
    found = causes.examine(opened(evidence.write(named + failed)).facts, "schedule-blocked")
    assert found.verdict == "confirmed"
    assert found.figures == {
        "failed_deliveries": 4, "blocked_levels": [3], "waiting_behind": 2, "undeliverable_records": 1,
    }  # fmt: skip
    once = Evidence(tmp_path / "once", records=evidence.records[1:])
    # One failure is normal when a broker stops.
    later = made.line(900, "FlushRealTimeService", "ok", "INFO")
    assert causes.examine(opened(once.write([*failed[:1], later])).facts, "schedule-blocked").verdict == "ruled_out"


@pytest.mark.parametrize(("version", "mentioned"), [("V4_6_0", True), ("V5_3_3", False)])
def test_a_broker_that_prints_its_limit_is_not_said_to_mention_another(version, mentioned, tmp_path):
    """SendMessageProcessor answers 128k and 32k up to 4.9.3, and its own maxMessageSize in bytes later."""
    evidence = Evidence(tmp_path / "e", version=version)
    sends = [too_large(20 + n, SEND, 70_000 + n, 69_500 + n) for n in range(3)]
    found = causes.examine(opened(evidence.write(sends)).facts, "client-oversize-reject")
    assert found.figures["refused_by_broker"] == 3
    assert ("limits" in [step.id for step in found.steps]) is mentioned


def test_rolled_logs_are_said_so() -> None:
    import pandas as pd

    def at(second: int) -> pd.Timestamp:
        return pd.Timestamp("2024-05-14 02:00:00") + pd.Timedelta(seconds=second)

    files = [("2.gz", at(0), at(9), 82, 500), ("1.gz", at(9), at(20), 1, 900), ("log", at(27), at(30), 1, 600)]
    rows = pd.DataFrame(files, columns=["file", "first", "last", "line", "count"]).assign(event="put-back-failed")
    assert sizes.rolled(rows) == (False, 7)
    assert sizes.rolled(rows.iloc[1:2]) == (True, 0)
    assert sizes.rate(rows) == pytest.approx(2000 / 31, abs=0.1)
