"""Cross-checks: nothing on recordings (each recorded record has exactly one unit); after damage exactly what was
damaged."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import recorded

import kit
from kit.analysis.messages import crosscheck

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kit.case.case import Case

pytestmark = pytest.mark.spark
CHECKS = (crosscheck.dangling, crosscheck.unqueued, crosscheck.queue_gaps, crosscheck.stray_offsets)
STORE = "broker/store"
TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"


def rows(frame: DataFrame, *columns: str) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in frame.select(*columns).collect()}


@pytest.fixture(scope="module")
def evidence() -> Path:
    return recorded.whole("producer-offline")


@pytest.fixture(scope="module")
def whole(spark: SparkSession) -> Case:
    return recorded.case("producer-offline")


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
def test_a_whole_store_agrees(check: Any, whole: Case) -> None:
    assert check(whole).collect() == []
    units = whole.consumequeue.select("topic", "queue_id", "logical_offset", "physical_offset").collect()
    assert sorted(tuple(u) for u in units) == sorted(
        (t["topic"], t["queue_id"], t["queue_offset"], t["physical_offset"]) for t in recorded.truth("producer-offline")
    )


def test_settings_changed_last(whole: Case, evidence: Path) -> None:
    config = evidence / STORE / "config"
    now, was = (
        json.loads((config / name).read_text())["topicConfigTable"] for name in ("topics.json", "topics.json.bak")
    )
    topics = {topic for topic in {*now, *was} if now.get(topic) != was.get(topic)}
    found = crosscheck.changed_configs(whole).collect()
    assert {row.subject for row in found} == topics
    assert {row.file for row in found} <= {f"{STORE}/config/topics.json"}


@pytest.fixture(scope="module")
def damaged(evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, dict[str, Any]]:
    """One record overwritten, one unit turned to another place, the last unit of a queue gone, an offset far ahead and
    one far behind."""
    folder = tmp_path_factory.mktemp("damaged")
    root = recorded.unpack("producer-offline", folder)
    mine = sorted(
        (t for t in recorded.truth("producer-offline") if t["topic"] == TOPIC),
        key=lambda t: (t["queue_id"], t["queue_offset"]),
    )
    by_queue: dict[int, list[dict[str, Any]]] = {}
    for t in mine:
        by_queue.setdefault(t["queue_id"], []).append(t)
    queue, records = max(by_queue.items(), key=lambda kv: len(kv[1]))
    assert len(records) >= 6
    lost, moved, last = records[1], records[3], records[-1]
    log = root / STORE / "commitlog/00000000000000000000"
    data = bytearray(log.read_bytes())
    data[lost["physical_offset"] : lost["physical_offset"] + lost["store_size"]] = b"\xee" * lost["store_size"]
    log.write_bytes(data)
    path = root / STORE / f"consumequeue/{TOPIC}/{queue}/00000000000000000000"
    units = bytearray(path.read_bytes())
    struct.pack_into(">q", units, 20 * moved["queue_offset"], moved["physical_offset"] + 1)
    units[20 * last["queue_offset"] :] = bytes(len(units) - 20 * last["queue_offset"])
    path.write_bytes(units)
    offsets = root / STORE / "config/consumerOffset.json"
    offsets.write_text(
        f'{{"offsetTable":{{"{TOPIC}@ahead":{{{queue}:99999}},"{TOPIC}@fits":{{{queue}:{last["queue_offset"] + 1}}}}}}}'
    )
    return kit.open_case(root), {"queue": queue, "lost": lost, "moved": moved, "last": last}


def test_units_that_point_nowhere(damaged: tuple[Case, dict[str, Any]]) -> None:
    case, said = damaged
    assert rows(crosscheck.dangling(case), "queue_id", "queue_offset", "physical_offset", "why") == {
        (said["queue"], said["lost"]["queue_offset"], said["lost"]["physical_offset"], crosscheck.NO_RECORD),
        (said["queue"], said["moved"]["queue_offset"], said["moved"]["physical_offset"] + 1, crosscheck.NO_RECORD),
    }


def test_records_without_a_unit(damaged: tuple[Case, dict[str, Any]]) -> None:
    case, said = damaged
    assert rows(crosscheck.unqueued(case), "physical_offset", "why") == {
        (said["moved"]["physical_offset"], crosscheck.NO_UNIT),
        (said["last"]["physical_offset"], crosscheck.BEHIND_QUEUE),
    }


def test_gaps_in_a_queue(damaged: tuple[Case, dict[str, Any]]) -> None:
    case, said = damaged
    at = said["lost"]["queue_offset"]
    assert rows(crosscheck.queue_gaps(case), "broker", "topic", "queue_id", "first", "last", "missing") == {
        (said["lost"]["msg_id"][:16], TOPIC, said["queue"], at, at, 1)
    }


def test_offsets_outside_their_queue(damaged: tuple[Case, dict[str, Any]]) -> None:
    case, said = damaged
    assert rows(crosscheck.stray_offsets(case), "group", "queue_id", "value", "end", "why") == {
        ("ahead", said["queue"], 99999, said["last"]["queue_offset"] + 1, crosscheck.BEYOND_END)
    }
