"""Messages that outgrow the limit: columns against the arithmetic of the reference, hand-made incidents of several
releases, the recording."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import recorded
import size_evidence as made
from click.testing import CliRunner
from size_evidence import CHECK, SEND, Evidence, put_back_failed, too_large

import kit
from kit import causes
from kit.analysis.sizes import refusals
from kit.cli import main

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.causes.findings import Finding


def opened(evidence: Path) -> Case:
    return kit.open_case(evidence, evidence.parent / f"{evidence.name}-workspace")


def examined(evidence: Path) -> Finding:
    return causes.examine(opened(evidence).facts, "message-size-mismatch")


def holds(finding: Finding) -> list[bool | None]:
    return [step.holds for step in finding.steps]


def incident(folder: Path, **how: Any) -> tuple[Evidence, Any]:
    """A store with a limit of 4,000: what the names say. Sizes are of the stored half record; a put-back adds 26, from
    the tenth on 27."""
    evidence = Evidence(folder, **how)
    evidence.op(evidence.prepare("rolled-back", 3999))
    evidence.commit(evidence.prepare("committed", 4000))
    loops = evidence.prepare("loops", 3975)
    evidence.prepare("tenth-check-too-large", 3974)
    evidence.prepare("fits-to-the-byte", 3973)
    evidence.prepare("small", 600)
    return evidence, loops


REFUSED = [too_large(n // 4 + 30, CHECK, 4001, 0) for n in range(40)]


def test_it_stands_on_both_logs(tmp_path: Path) -> None:
    evidence, loops = incident(tmp_path / "e")
    sends = [too_large(20, SEND, 5000 + n, 4700 + n) for n in range(3)]
    case = opened(
        evidence.write(
            sends + REFUSED, [put_back_failed(30 + n // 4, evidence.offset_id(loops)) for n in range(40)], saved=2
        )
    )
    found = causes.examine(case.facts, "message-size-mismatch")
    assert found.verdict == "confirmed"
    # 4,000 less everything but the body of the record with the longest properties, less 27.
    rest = max(len(r.encode(0)) - len(r.body) for r in evidence.records if r.topic == made.HALF)
    assert found.figures == {
        "broker_limit": 4000,
        "at_risk_half_messages": 2,
        "looping_half_messages": 1,
        "direct_rejects": 3,
        "safe_body_bytes": {"orders": 4000 - rest - 27},
    }
    assert holds(found) == [True] * 7
    queue = found.steps[5]
    assert "RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS" in queue.evidence[0].text
    assert found.missing == []
    table = found.tables["size_refusals"]
    assert Counter(dict(zip(table["writer"] + " " + table["event"], table["count"], strict=True))) == {
        "put_back message-size-exceeded": 40,
        "put_back put-back-failed": 40,
        "send message-size-exceeded": 3,
    }
    rejected = causes.examine(case.facts, "client-oversize-reject")
    assert rejected.verdict == "confirmed"
    assert rejected.figures == {"refused_by_broker": 3, "refused_by_client": None, "largest_refused_record": 5002}
    assert causes.examine(case.facts, "schedule-blocked").verdict == "ruled_out"


def test_without_store_log_the_named_record_decides(tmp_path: Path) -> None:
    evidence, loops = incident(tmp_path / "e")
    assert (
        examined(evidence.write(transaction_log=[put_back_failed(30, evidence.offset_id(loops))] * 9)).verdict
        == "confirmed"
    )


def test_a_failed_put_back_that_fits_is_not_confirmed(tmp_path: Path) -> None:
    evidence, _ = incident(tmp_path / "e")
    small = next(r for r in evidence.records if b"KEYS\x01small" in r.properties)
    found = examined(
        evidence.write(
            [made.line(1, "main", "load over, and the max phy offset = 0", "INFO")],
            [put_back_failed(30, evidence.offset_id(small))] * 9,
        )
    )
    assert found.verdict == "ruled_out"


def test_without_both_logs_it_is_suspected_from_records_and_limit(tmp_path: Path) -> None:
    """The release is not named either: CLUSTER and the final separator are written by 4.6.0 to 4.9.0."""
    evidence, _ = incident(tmp_path / "e", version=None)
    found = examined(evidence.write(saved=2))
    assert found.verdict == "suspected"
    assert (
        found.figures["at_risk_half_messages"],
        found.figures["looping_half_messages"],
        found.figures["direct_rejects"],
    ) == (2, None, None)
    assert holds(found) == [True, None, True, None, None, True, None]
    assert len(found.missing) == 2
    assert all(".log" in m.command for m in found.missing)


def test_without_logs_and_commitlog_there_is_not_enough(tmp_path: Path) -> None:
    evidence, _ = incident(tmp_path / "e")
    case = opened(evidence.write(saved=2, commitlog=False))
    found = causes.examine(case.facts, "message-size-mismatch")
    assert found.verdict == "insufficient_evidence"
    commands = [m.command for m in found.missing]
    assert any(command.startswith("rmq-kit collect ") for command in commands)
    assert {command.split()[2] for command in commands} >= {"transaction-logs.tar.gz", "store-logs.tar.gz"}
    assert found.figures == {
        "broker_limit": 4000,
        **dict.fromkeys(("at_risk_half_messages", "looping_half_messages", "direct_rejects", "safe_body_bytes")),
    }
    for other in ("client-oversize-reject", "schedule-blocked"):
        answer = causes.examine(case.facts, other)
        assert answer.verdict == "insufficient_evidence" and answer.missing


@pytest.mark.parametrize(("version", "safe"), [("V4_9_4", 4000), ("V4_9_5", 4000)])
def test_a_broker_that_measures_the_body_has_none_at_risk(version: str, safe: int, tmp_path: Path) -> None:
    evidence, _ = incident(tmp_path / "e", version=version, trailing=False)
    found = examined(evidence.write(["2024-05-14 10:00:00 INFO main - load over, and the max phy offset = 0"]))
    assert found.verdict == "ruled_out"
    assert found.figures["at_risk_half_messages"] == 0
    assert found.figures["safe_body_bytes"] == {"orders": safe}


@pytest.mark.spark
def test_a_compressed_body_is_put_back_raw_up_to_4_5_2(tmp_path: Path) -> None:
    """Stored, the record is tiny; its raw body alone has as many bytes as the limit. Nothing is wrong with it from
    4.6.0 on."""
    risk = {}
    for version in ("V4_5_2", "V4_6_0"):
        evidence = Evidence(tmp_path / version, version=version, limit=5000)
        evidence.prepare("packed", None, body=b"x" * 5000, packed=True)
        evidence.prepare("other", None, body=b"x" * 4000, packed=True)
        risk[version] = examined(evidence.write()).figures["at_risk_half_messages"]
    assert risk == {"V4_5_2": 1, "V4_6_0": 0}


def test_properties_that_outgrow_their_own_limit(tmp_path: Path) -> None:
    """32,767 bytes of properties are stored, 26 more are not, in every release; no body is safe then."""
    evidence = Evidence(tmp_path / "e", version="V5_1_4", limit=None)
    long = evidence.prepare("a", None, body=b"")
    evidence.prepare("b", None, body=b"", fill="x" * (32767 - len(long.properties) - len("fill") - 2))
    evidence.prepare("c", None, body=b"", fill="x" * (32767 - 27 - len(long.properties) - len("fill") - 2))
    found = examined(evidence.write())
    assert [len(r.properties) for r in evidence.records] == [len(long.properties), 32767, 32740]
    assert found.figures["at_risk_half_messages"] == 1
    assert found.figures["safe_body_bytes"] == {"orders": None}
    assert found.verdict == "suspected"


def test_a_delay_level_that_stands(tmp_path: Path) -> None:
    """The real topic's name is three characters longer than SCHEDULE_TOPIC_XXXX, the record two bytes below the
    limit."""
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
    assert causes.examine(opened(once.write(failed[:1])).facts, "schedule-blocked").verdict == "ruled_out", (
        "one failure is normal when a broker stops"
    )


def test_refusals_of_names_and_of_clients(tmp_path: Path) -> None:
    """Brokers up to 4.6.0 answer a topic that is too long in the words they have for a body; the client's own refusal
    never reaches a broker."""
    logs = tmp_path / "e" / "logs"
    logs.mkdir(parents=True)
    illegal = "CODE: 13  DESC: the message is illegal, maybe msg body or properties length not matched. msg body length limit 128k, msg properties length limit 32k."
    app = [f"2024-05-14 10:00:0{n}.000 ERROR [main] com.shop.Sender - failed: {illegal}" for n in range(4)]
    (logs / "shop.log").write_text("\n".join(app) + "\n")
    (logs / "store.log").write_text(made.line(1, SEND, "putMessage message topic length too long 149") + "\n")
    assert causes.examine(opened(tmp_path / "e").facts, "client-oversize-reject").verdict == "ruled_out"
    own = tmp_path / "own"
    own.mkdir()
    text = "org.apache.rocketmq.client.exception.MQClientException: CODE: 13  DESC: the message body size over max value, MAX: 4194304"
    lines = [
        f"2024-05-14 10:00:0{n}.000 ERROR [main] com.shop.{name} - failed: {text}"
        for n in range(4)
        for name in ("Wrapper", "Sender")
    ]
    (own / "shop.log").write_text("\n".join(lines) + "\n")
    found = causes.examine(opened(own).facts, "client-oversize-reject")
    assert found.verdict == "confirmed"
    assert found.figures["refused_by_client"] == 4, "two loggers of one thread report the same four sends"


@pytest.mark.parametrize(("version", "mentioned"), [("V4_6_0", True), ("V5_3_3", False)])
def test_a_broker_that_prints_its_limit_is_not_said_to_mention_another(
    version: str, mentioned: bool, tmp_path: Path
) -> None:
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

    rows = pd.DataFrame(
        [
            ("put-back-failed", "2.gz", at(0), at(9), 82, 500),
            ("put-back-failed", "1.gz", at(9), at(20), 1, 900),
            ("put-back-failed", "log", at(27), at(30), 1, 600),
        ],
        columns=["event", "file", "first", "last", "line", "count"],
    )
    assert refusals.rolled(rows) == (False, 7)
    assert refusals.rolled(rows.iloc[1:2]) == (True, 0)
    assert refusals.rate(rows) == pytest.approx(2000 / 31, abs=0.1)


class TestSizeCommand:
    def run(self, *args: str) -> Any:
        return CliRunner().invoke(main.cli, ["size", *args])

    def test_it_says_the_bytes_of_the_looping_record(self) -> None:
        """The record that loops in the recording: stored 65,512, put back 65,538, largest safe body 65,191 (less 27 at
        the tenth check)."""
        record = next(r for r in recorded.truth("size-mismatch") if r["store_size"] == 65512)
        own = [
            f"{k}={v}" for k, v in record["properties"].items() if k in ("KEYS", "TAGS", "PGROUP", "bizType", "shopId")
        ]
        topic, body = record["properties"]["REAL_TOPIC"], str(record["body_len"])
        done = self.run(
            "--topic",
            topic,
            "--body",
            body,
            "--broker",
            "4.6.0",
            "--client",
            "4.6.1",
            "--limit",
            "65536",
            "--properties",
            *own,
        )
        assert done.exit_code == 0, done.output
        assert {"65,512", "65,538"} <= set(done.output.split())
        assert f"{65536 - (65512 - int(body)) - 27:,}" in done.output
        assert "assumed" not in done.output
        assert "not given" not in done.output

    def test_it_says_what_it_assumed(self) -> None:
        done = self.run("--body", "10", "--topic", "t")
        assert "5.3.3 assumed" in done.output
        assert "未给出 Broker 版本" in self.run("--body", "10", "--topic", "t", "--lang", "zh").output

    @pytest.mark.parametrize(
        "args",
        [
            ("--body", "-1", "--topic", "t"),
            ("--body", "1"),
            ("--body", "1", "--topic", "t", "--broker", "abc"),
            ("--body", "1", "--topic", "t", "--properties", "KEYS"),
            ("--body", "1", "--topic", "t", "--broker", "3.2.6"),
        ],
    )
    def test_wrong_usage_is_2_in_one_line(self, args: tuple[str, ...]) -> None:
        done = self.run(*args)
        assert done.exit_code == 2
        assert "Traceback" not in done.output
