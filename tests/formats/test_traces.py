"""The contexts in the traces that clients wrote."""

import pytest
import recorded
import stores
from table import rows_of

from kit.formats import traces
from kit.formats.commitlog import segments


def one(*fields):
    (row,) = traces.contexts("\x01".join(fields) + "\x02")
    return row


@pytest.mark.parametrize(("fields", "expected"), rows_of(__file__, "contexts"))
def test_a_context_of_each_kind(fields, expected):
    row = one(*fields)
    assert {name: row.get(name) for name in expected} == expected and row["problem"] is None


def test_contexts_glued_together_come_apart_and_what_does_not_fit_is_said():
    glued = "SubAfter\x01r\x01A\x015\x01true\x01k\x010SubAfter\x01r\x01B\x016\x01true\x01k\x012SubBefore\x011700000000123\x01R\x01g\x01r\x01C\x010\x01k\x02"
    rows = [(r["type"], r["msg_id"], r.get("context_code"), r["problem"]) for r in traces.contexts(glued)]
    assert rows == [("SubAfter", "A", 0, None), ("SubAfter", "B", 2, None), ("SubBefore", "C", None, None)]
    unfit = ["Other x", "Pub x", "Recall never R g t I true", "Recall 1 R g t I perhaps"]
    assert [one(*text.split())["problem"] for text in unfit] == ["fields"] * 4


def read(data, folder):
    (folder / "log").write_bytes(data)
    file = segments.examine("log", str(folder / "log"))
    return [row for batch in traces.trace_rows(file, 0, file.used) for row in batch.to_pylist()]


def test_traces_name_stored_messages_and_are_found_by_their_body(tmp_path):
    body = b"SubAfter\x01r\x01A\x015\x01true\x01k\x010\x02"
    trace = stores.Record(topic=b"mine", body=body)
    made = stores.store([trace, stores.Record(body=b"Publish"), trace])
    found = [(r["type"], r["msg_id"], r["physical_offset"]) for r in read(made.data, tmp_path)]
    assert found == [("SubAfter", "A", made.spans[0][0]), ("SubAfter", "A", made.spans[2][0])]
    assert read(b"damage" * 100, tmp_path) == []
    rows = [row for data in recorded.commitlog("healthy-traced").values() for row in read(data, tmp_path)]
    records = list(recorded.truth("healthy-traced"))
    stored = {record["msg_id"]: record for record in records}
    stored_traces = [record for record in records if record["topic"] == "RMQ_SYS_TRACE_TOPIC"]
    assert {row["physical_offset"] for row in rows} == {record["physical_offset"] for record in stored_traces}
    assert not any(row["problem"] for row in rows)
    sends = [row for row in rows if row["type"] == "Pub"]
    assert sends
    for row in sends:
        record = stored[row["offset_msg_id"]]
        properties = record["properties"]
        # A delayed message was stored under another topic than the client sent it to.
        assert row["topic"] == properties.get("REAL_TOPIC", record["topic"])
        assert (row["msg_id"], row["keys"]) == (properties["UNIQ_KEY"], properties.get("KEYS"))
        assert 0 <= record["store_timestamp"] / 1000 - row["time"].timestamp() < 60
    # The KEYS of a trace message are the ids and keys of what it tells.
    told = {}
    for row in rows:
        told.setdefault(row["physical_offset"], set()).update({row["msg_id"], *(row["keys"] or "").split(" ")})
    for record in stored_traces:
        assert set(record["properties"]["KEYS"].split(" ")) <= told[record["physical_offset"]]
