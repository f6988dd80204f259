"""Message traces: the contexts clients wrote, in every layout of `TraceDataEncoder`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import recorded
import stores

from kit.formats.commitlog import segments, trace_contexts

TOPIC = frozenset({"RMQ_SYS_TRACE_TOPIC"})


def one(*fields: str) -> dict[str, Any]:
    (row,) = trace_contexts.contexts("\x01".join(fields) + "\x02")
    return row


def test_sends_with_and_without_an_offset_id() -> None:
    start = ("Pub", "1700000000123", "R", "g", "t", "ID", "null", "k1 k2", "10.0.0.1:10911", "12", "34", "1")
    row = one(*start, "OFFSET", "true", "10.0.0.9")
    assert (row["type"], row["time"], row["msg_id"], row["tags"], row["keys"]) == (
        "Pub", 1_700_000_000_123_000, "ID", None, "k1 k2",
    )  # fmt: skip
    assert (row["cost_ms"], row["msg_type"]) == (34, 1)
    assert (row["offset_msg_id"], row["success"], row["client_host"], row["problem"]) == (
        "OFFSET", True, "10.0.0.9", None,
    )  # fmt: skip
    row = one(*start, "false")
    assert (row.get("offset_msg_id"), row["success"], row["problem"]) == (None, False, None)


def test_deliveries_of_old_and_new_clients() -> None:
    before = one("SubBefore", "1700000000123", "null", "g", "req", "ID", "2", "k")
    assert (before["request_id"], before["retry_times"], before["region"], before["problem"]) == ("req", 2, None, None)
    old = one("SubAfter", "req", "ID", "5", "true", "k", "0")
    assert (old["success"], old["context_code"], old.get("group"), old["problem"]) == (True, 0, None, None)
    new = one("SubAfter", "req", "ID", "5", "false", "k", "4", "1700000000123", "g")
    assert (new["success"], new["context_code"], new["group"], new["problem"]) == (False, 4, "g", None)


def test_transactions_and_recalls() -> None:
    end = one(
        "EndTransaction", "1700000000123", "R", "g", "t", "ID", "a", "k", "h:1", "2", "TX", "COMMIT_MESSAGE", "true"
    )
    assert (end["transaction_id"], end["state"], end["from_check"], end["msg_type"]) == (
        "TX", "COMMIT_MESSAGE", True, 2,
    )  # fmt: skip
    assert one("Recall", "1700000000123", "R", "g", "t", "ID", "true")["success"] is True


def test_contexts_glued_together_come_apart() -> None:
    glued = "SubAfter\x01r\x01A\x015\x01true\x01k\x010SubAfter\x01r\x01B\x016\x01true\x01k\x012SubBefore\x011700000000123\x01R\x01g\x01r\x01C\x010\x01k\x02"
    rows = list(trace_contexts.contexts(glued))
    assert [(r["type"], r["msg_id"], r.get("context_code"), r["problem"]) for r in rows] == [
        ("SubAfter", "A", 0, None),
        ("SubAfter", "B", 2, None),
        ("SubBefore", "C", None, None),
    ]


@pytest.mark.parametrize("text", ["Other x", "Pub x", "Recall never R g t I true", "Recall 1 R g t I perhaps"])
def test_what_does_not_fit_is_said(text: str) -> None:
    row = one(*text.split())
    assert row["problem"] == "fields"


def read(data: bytes, folder: Path) -> list[dict[str, Any]]:
    (folder / "log").write_bytes(data)
    file = segments.examine("log", str(folder / "log"))
    return [row for batch in trace_contexts.trace_rows(file, 0, file.used, TOPIC) for row in batch.to_pylist()]


def test_traces_in_a_topic_of_their_own_are_found_by_their_body(tmp_path: Path) -> None:
    body = b"SubAfter\x01r\x01A\x015\x01true\x01k\x010\x02"
    made = stores.store(
        [
            stores.Record(topic=b"mine", body=body),
            stores.Record(body=b"Publish"),
            stores.Record(topic=b"mine", body=body),
        ]
    )
    found = [(r["type"], r["msg_id"], r["physical_offset"]) for r in read(made.data, tmp_path)]
    assert found == [("SubAfter", "A", made.spans[0][0]), ("SubAfter", "A", made.spans[2][0])]


def test_recorded_traces_name_stored_messages(tmp_path: Path) -> None:
    rows = []
    for data in recorded.commitlog("healthy-traced").values():
        rows += read(data, tmp_path)
    records = list(recorded.truth("healthy-traced"))
    stored = {record["msg_id"]: record for record in records}
    assert {row["physical_offset"] for row in rows} == {
        r["physical_offset"] for r in records if r["topic"] == "RMQ_SYS_TRACE_TOPIC"
    }
    assert not any(row["problem"] for row in rows)
    sends = [row for row in rows if row["type"] == "Pub"]
    assert sends
    for row in sends:
        record = stored[row["offset_msg_id"]]
        properties = record["properties"]
        # A delayed message was stored under another topic than the client sent it to.
        assert (row["msg_id"], row["topic"], row["keys"]) == (
            properties["UNIQ_KEY"],
            properties.get("REAL_TOPIC", record["topic"]),
            properties.get("KEYS"),
        )
        assert 0 <= record["store_timestamp"] / 1000 - row["time"].timestamp() < 60
    # The KEYS of a trace message are the ids and keys of what it tells.
    told: dict[int, set[str]] = {}
    for row in rows:
        told.setdefault(row["physical_offset"], set()).update({row["msg_id"], *(row["keys"] or "").split(" ")})
    for record in records:
        if record["topic"] == "RMQ_SYS_TRACE_TOPIC":
            assert set(record["properties"]["KEYS"].split(" ")) <= told[record["physical_offset"]]
