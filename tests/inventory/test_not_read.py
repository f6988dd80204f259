"""What else a folder can hold: named for what it is, never read as a commitlog, a consume queue, a table or an output of a tool, and confirming nothing."""

import struct
from pathlib import Path

import busy_evidence
import pytest
from folders import opened, take
from stores import store
from table import rows_of

import kit

NAME = f"{0:020}"
UNITS = b"".join(struct.pack(">qiq", n * 150, 150, 7) for n in range(40))


def records(prefix: str) -> bytes:
    return store(busy_evidence.traffic(400, prefix=prefix), end=bytes(4096)).data


def entries() -> bytes:
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
    "store/epochFileCheckpoint": (b"1-0\n2-4096\n", "store_state"),
    "store/brokerIdentity": (b'{"clusterName":"c","brokerName":"broker-a","brokerId":1}', "store_state"),
    "store/config/topics/CURRENT": (b"MANIFEST-000005\n", "rocksdb"),
    "store/config/topics/MANIFEST-000005": (b"\xef\xbe\xad\xde\x1e\0\1\1\x1aleveldb.BytewiseComparator", "rocksdb"),
    "store/config/topics/OPTIONS-000007": (b"# This is a RocksDB option file.\n[DBOptions]\n  max_open_files=-1\n", "rocksdb"),
    "store/config/topics/LOG": (b"2024/05/14-10:00:00.123456 7f00aa RocksDB version: 8.4.4\n" * 3, "rocksdb"),
    "store/config/topics/000008.sst": (b"\0\x1borders" * 300, "rocksdb"),
    "store/config/topics/000009.log": (b"\x34\x12\0\0\x40\0\1\1\0\0\0\0\0\0\0\1\0\0\0orders", "rocksdb"),
    "logs/000001.log": (b"2024-05-14 10:00:00 WARN main - the topic orders not exist, apply first please!\n", "text"),
}  # fmt: skip


def test_each_file_is_named_for_what_it_is(tmp_path: Path) -> None:
    found = take(tmp_path, {name: data for name, (data, _) in HELD.items()})
    kinds = {item.file: item.kind for item in found.items}
    expected = {name: kind for name, (_, kind) in HELD.items()}
    assert not found.not_recognised and not found.disagree
    assert {name: kinds[name] for name in expected if expected[name] != "text"} == {
        name: kind for name, kind in expected.items() if kind != "text"
    }
    assert kinds["logs/000001.log"] in ("log", "text")


def test_each_text_is_named_for_what_it_is(tmp_path: Path) -> None:
    texts = rows_of(__file__, "texts")
    log = "2026-11-22 07:08:20.001 INFO [main] App - started\n" * 40
    files = {"a dump far inside.log": f"{log}Full thread dump OpenJDK 64-Bit Server VM (25.402-b06 mixed mode):\n"}
    for name, (_, text, *more) in texts.items():
        files[name] = text + "".join(more[1].format(n=n) for n in range(more[0])) if more else text
    found = take(tmp_path, files)
    kinds = {item.file: item.kind for item in found.items} | dict.fromkeys(found.not_recognised)
    assert kinds == {name: row[0] for name, row in texts.items()} | {"a dump far inside.log": "log"}


def test_send_results_alone_are_a_text_and_no_table(tmp_path: Path) -> None:
    result = "SendResult [sendStatus=SEND_OK, msgId={n:032X}, offsetMsgId={n:032X}, messageQueue=MessageQueue [topic=orders, brokerName=broker-a, queueId=1], queueOffset={n}]"
    for number, form in enumerate(("{s}", "K{n},{s}", "{n}\t{s}", '"{s}"', "2024-05-14 10:00:00,{s}")):
        lines = [form.format(n=n, s=result.format(n=n)) for n in range(30)]
        found = take(tmp_path / f"{number}", {"sent.csv": "\n".join(lines) + "\n"})
        assert found.items[0].kind in ("text", "log")


def test_one_word_of_a_quarter_megabyte_is_looked_at_once(tmp_path: Path) -> None:
    """A search that begins again at each of its letters takes minutes."""
    text = 'order_key,status\nk1,"' + "z" * 400_000 + '"\n'
    assert take(tmp_path, {"orders.csv": text}).not_recognised == ("orders.csv",)


BUSY = "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 10"

TEXTS = {
    "RUNBOOK.md": ("text", "broker-busy", f"# Busy\nIf clients see `{BUSY}`, look at the disk.\n"),
    "runbook.txt": ("text", "broker-busy", f"Busy:\n2026-11-20 10:00:00 ERROR {BUSY}\nThen look at the disk,\nthen at the host.\n"),
    "CHANGELOG": ("text", "broker-busy", f"4.9.0: print {BUSY}\n"),
    "REPLICAS.md": ("text", "replication-timeout", "If store.log says `do sync transfer other node, wait return, but failed`, look at the slave.\n"),
}  # fmt: skip
"""What quotes a message in words that somebody wrote: the kind of the file and what it makes suspected."""
OTHERS = {
    ".git/COMMIT_EDITMSG": ("document", None, f"Explain {BUSY}\n"),
    "history.txt": ("document", None, f"commit {'0a' * 20}\nAuthor: a\n\n    Explain {BUSY}\n"),
    "findings.json": ("document", None, '{"schema": 1, "kit_version": "1.0", "findings": []}'),
    "error.log": ("other_systems_log", None, "2026/11/20 10:00:00 [error] 12#12: *5 connect() failed (111: Connection refused)\n"),
    "redis.log": ("other_systems_log", None, "7:M 20 Nov 2026 10:00:00.000 # Failed opening the RDB file: No space left on device\n"),
}  # fmt: skip


@pytest.mark.parametrize("files", [*({name: row} for name, row in TEXTS.items()), OTHERS], ids=[*TEXTS, "others"])
def test_a_document_confirms_nothing(files: dict[str, tuple[str, str | None, str]], tmp_path: Path) -> None:
    conf = {"broker.conf": "brokerName=broker-a\nbrokerClusterName=c\nbrokerId=0\n"}
    case = opened(tmp_path, conf | {name: text for name, (*_, text) in files.items()})
    kinds = {each.file: each.kind for each in case.unzoned.items if each.file != "broker.conf"}
    assert kinds == {name: kind for name, (kind, *_) in files.items()}
    found = kit.triage(case)
    assert found["root_causes"] == []
    seen = {f["cause"]: f["verdict"] for f in found["findings"] if f["verdict"] in ("confirmed", "suspected")}
    assert seen == {cause: "suspected" for _, cause, _ in files.values() if cause}
