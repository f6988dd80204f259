"""retry-lost: what 4.6.1 and newer brokers do with a re-send that still carries TRAN_MSG (reference §4.8)."""

from __future__ import annotations

from pathlib import Path

from busy_evidence import START, clock, sent, uniq_key, write_log, write_store
from stores import Record

import kit
from kit import causes

DROPPED = "[BUG] the real topic of schedule msg is RMQ_SYS_TRANS_HALF_TOPIC, discard the msg. msg=MessageExt [queueId=2, storeSize=411]"
ORDINARY = "INFO StoreStatsService - [STORETPS] put_tps 12.3 get_found_tps 1.0 get_miss_tps 0.0 get_transfered_tps 1.0"
PREPARED, COMMIT = 4, 8  # MessageSysFlag: bits 2 and 3


def retry(key: str, sys_flag: int, topic: bytes = b"%RETRY%points") -> Record:
    properties = f"UNIQ_KEY\x01{uniq_key(key)}\x02TRAN_MSG\x01true\x02RETRY_TOPIC\x01orders\x02".encode()
    return Record(topic=topic, body=b"x", properties=properties, sys_flag=sys_flag, born=START, stored=START + 1)


def store_log(folder: Path, *errors: str) -> None:
    write_log(
        folder / "logs" / "store.log",
        [
            f"{clock(0)[:19]} {ORDINARY}",
            *(f"{clock(n)[:19]} ERROR ScheduleMessageTimerThread - {e}" for n, e in enumerate(errors)),
        ],
    )


def test_dropped_when_due(tmp_path: Path) -> None:
    store_log(tmp_path / "e", DROPPED, DROPPED, DROPPED)
    found = causes.examine(kit.open_case(tmp_path / "e", tmp_path / "ws"), "retry-lost")
    assert found.verdict == "confirmed"
    assert found.figures == {"retries_dropped": 3, "retries_unconsumable": None}
    assert [(ref.file, ref.line) for ref in found.steps[0].evidence] == [("logs/store.log", 2)]
    assert DROPPED in found.steps[0].evidence[0].text


def test_stored_as_prepared(tmp_path: Path) -> None:
    write_store(
        tmp_path / "e" / "commitlog",
        [retry("K1", PREPARED), retry("K2", COMMIT), retry("K3", PREPARED, b"orders"), retry("K4", PREPARED)],
    )
    found = causes.examine(kit.open_case(tmp_path / "e", tmp_path / "ws"), "retry-lost")
    assert found.verdict == "confirmed"
    assert found.figures == {"retries_dropped": None, "retries_unconsumable": 2}
    assert {uniq_key("K1"), uniq_key("K4")} == {
        key for ref in found.steps[0].evidence for key in (uniq_key("K1"), uniq_key("K4")) if key in ref.text
    }


def test_both_places_are_needed_to_rule_it_out(tmp_path: Path) -> None:
    write_store(tmp_path / "e" / "commitlog", [sent("K", 0, 1), retry("K2", COMMIT)])
    found = causes.examine(kit.open_case(tmp_path / "e", tmp_path / "ws"), "retry-lost")
    assert found.verdict == "insufficient_evidence"
    assert ["store-logs" in m.command for m in found.missing] == [True]
    store_log(tmp_path / "e")
    assert causes.examine(kit.open_case(tmp_path / "e", tmp_path / "ws"), "retry-lost").verdict == "ruled_out"
