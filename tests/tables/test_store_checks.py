"""Cross-checks of a store: nothing on recordings; after damage exactly what was damaged."""

import json
import struct
from collections import Counter

import pytest
import recorded

import kit

CHECKS = ("dangling_units", "unqueued_records", "queue_gaps", "stray_offsets")
STORE = "broker/store"
TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"


def rows(case, table, *columns):
    return {tuple(row[name] for name in columns) for row in case.facts.rows(table)}


@pytest.fixture(scope="module")
def evidence():
    return recorded.whole("producer-offline")


@pytest.fixture(scope="module")
def whole():
    return recorded.case("producer-offline")


def test_a_whole_store_agrees(whole):
    assert {check: whole.facts.rows(check) for check in CHECKS} == {check: [] for check in CHECKS}
    units = whole.consumequeue.select("topic", "queue_id", "logical_offset", "physical_offset").collect()
    place = ("topic", "queue_id", "queue_offset", "physical_offset")
    records = [tuple(record[name] for name in place) for record in recorded.truth("producer-offline")]
    assert sorted(map(tuple, units)) == sorted(records)


def test_settings_changed_last(whole, evidence):
    config = evidence / STORE / "config"
    files = (config / "topics.json", config / "topics.json.bak")
    now, was = (json.loads(file.read_text())["topicConfigTable"] for file in files)
    topics = {topic for topic in {*now, *was} if now.get(topic) != was.get(topic)}
    found = whole.facts.rows("changed_settings")
    assert {row["subject"] for row in found} == topics
    assert {row["file"] for row in found} <= {f"{STORE}/config/topics.json"}


@pytest.fixture(scope="module")
def damaged(evidence, tmp_path_factory):
    """A record overwritten, a unit turned elsewhere, the last unit of a queue gone, an offset far ahead."""
    folder = tmp_path_factory.mktemp("damaged")
    root = recorded.unpack("producer-offline", folder)
    halves = [t for t in recorded.truth("producer-offline") if t["topic"] == TOPIC]
    ((queue, _),) = Counter(t["queue_id"] for t in halves).most_common(1)
    records = sorted((t for t in halves if t["queue_id"] == queue), key=lambda t: t["queue_offset"])
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
    ahead, fits = {str(queue): 99999}, {str(queue): last["queue_offset"] + 1}
    offsets.write_text(json.dumps({"offsetTable": {f"{TOPIC}@ahead": ahead, f"{TOPIC}@fits": fits}}))
    return kit.open_case(root), {"queue": queue, "lost": lost, "moved": moved, "last": last}


def test_each_check_names_what_was_damaged(damaged):
    case, said = damaged
    queue, lost, moved, last = said["queue"], said["lost"], said["moved"], said["last"]
    assert rows(case, "dangling_units", "queue_id", "queue_offset", "physical_offset", "why") == {
        (queue, lost["queue_offset"], lost["physical_offset"], "no record there"),
        (queue, moved["queue_offset"], moved["physical_offset"] + 1, "no record there"),
    }
    assert rows(case, "unqueued_records", "physical_offset", "why") == {
        (moved["physical_offset"], "no unit for it"), (last["physical_offset"], "behind its last unit"),
    }  # fmt: skip
    at = lost["queue_offset"]
    assert rows(case, "queue_gaps", "broker", "topic", "queue_id", "first", "last", "missing") == {
        (lost["msg_id"][:16], TOPIC, queue, at, at, 1)
    }
    assert rows(case, "stray_offsets", "group", "queue_id", "value", "end", "why") == {
        ("ahead", queue, 99999, last["queue_offset"] + 1, "beyond the end")
    }
