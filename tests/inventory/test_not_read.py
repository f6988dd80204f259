"""What else a folder can hold: named for what it is, never read as a commitlog, a consume queue, a table or an output of a tool, and confirming nothing."""

import struct

import busy_evidence
import pytest
from folders import opened, take
from stores import store
from table import rows_of

import kit

NAME = f"{0:020}"
UNITS = b"".join(struct.pack(">qiq", n * 150, 150, 7) for n in range(40))


def records(prefix):
    return store(busy_evidence.traffic(400, prefix=prefix), end=bytes(4096)).data


def entries():
    """Write DLedger entries of a controller (DLedgerEntryCoder): their bodies are events."""
    body = b"\0\1" + b'{"brokerName":"broker-a"}'
    size = 48 + len(body)
    return b"".join(struct.pack(">iiqqqiiii", 1, size, n, 1, n * size, 0, 0, 5, len(body)) + body for n in range(9))


HELD = {
    f"store/commitlog/{NAME}": (records("T"), "commitlog"),
    # store/kv/CompactionStore: records with their place in this file as physical offset
    f"store/compaction/compactionLog/orders/0/{NAME}": (records("C"), "compaction"),
    f"store/compaction/compactionLog/orders/0/compacting/{NAME}": (records("D"), "compaction"),
    f"store/compaction/compactionCq/orders/0/{NAME}": (UNITS, "compaction"),
    # tieredstore/provider/PosixFileSegment: base/hash_cluster/broker/topic/queue/type/offset
    f"tiered/9f2c1b7a_c/broker-a/orders/0/COMMIT_LOG/cfcd2084{NAME}": (records("E"), "tiered_store"),
    f"tiered/9f2c1b7a_c/broker-a/orders/0/CONSUME_QUEUE/cfcd2084{NAME}": (UNITS, "tiered_store"),
    f"controller/dledger-n0/data/{NAME}": (entries() + bytes(8192), "dledger_other"),
    f"store/timerlog/{NAME}": (bytes(5200), "timerlog"),
    "store/config/topics/MANIFEST-000005": (b"\xef\xbe\xad\xde\x1e\0\1\1\x1aleveldb.BytewiseComparator", "rocksdb"),
    "store/config/topics/000008.sst": (b"\0\x1borders" * 300, "rocksdb"),
    "store/config/topics/000009.log": (b"\x34\x12\0\0\x40\0\1\1\0\0\0\0\0\0\0\1\0\0\0orders", "rocksdb"),
}  # fmt: skip


def test_each_file_is_named_for_what_it_is(tmp_path):
    found = take(tmp_path, {name: data for name, (data, _) in HELD.items()})
    kinds = {item.file: item.kind for item in found.items}
    assert not found.not_recognised and not found.disagree
    assert kinds == {name: kind for name, (_, kind) in HELD.items()}


def test_each_text_is_named_for_what_it_is(tmp_path):
    texts = rows_of(__file__, "texts")
    log = "2026-11-22 07:08:20.001 INFO [main] App - started\n" * 40
    files = {"a dump far inside.log": f"{log}Full thread dump OpenJDK 64-Bit Server VM (25.402-b06 mixed mode):\n"}
    for name, (_, text, *more) in texts.items():
        files[name] = text + "".join(more[1].format(n=n) for n in range(more[0])) if more else text
    found = take(tmp_path, files)
    kinds = {item.file: item.kind for item in found.items} | dict.fromkeys(found.not_recognised)
    assert kinds == {name: row[0] for name, row in texts.items()} | {"a dump far inside.log": "log"}


def test_one_word_of_a_quarter_megabyte_is_looked_at_once(tmp_path):
    """A search that begins again at each of its letters takes minutes."""
    text = 'order_key,status\nk1,"' + "z" * 400_000 + '"\n'
    assert take(tmp_path, {"orders.csv": text}).not_recognised == ("orders.csv",)


@pytest.mark.parametrize("row", rows_of(__file__, "documents"), ids=lambda row: row["name"])
def test_a_document_confirms_nothing(row, tmp_path):
    conf = {"broker.conf": "brokerName=broker-a\nbrokerClusterName=c\nbrokerId=0\n"}
    case = opened(tmp_path, conf | {name: text for name, (_, text) in row["files"].items()})
    kinds = {each.file: each.kind for each in case.unzoned.items if each.file != "broker.conf"}
    assert kinds == {name: kind for name, (kind, _) in row["files"].items()}
    found = kit.triage(case)
    assert found["root_causes"] == []
    seen = {f["cause"]: f["verdict"] for f in found["findings"] if f["verdict"] in ("confirmed", "suspected")}
    assert seen == row["seen"]
