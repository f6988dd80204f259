"""What else a folder can hold: named for what it is, never read as what it is not, and confirming nothing."""

import random
import struct

import busy_evidence
import pytest
from folders import opened, take, zip_of
from stores import store
from table import rows_of

import kit
from kit.inventory import quotes

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
    f"store/batchconsumequeue/orders/0/{NAME}": (UNITS, "batchconsumequeue"),
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


def office(member):
    text = b"<w:t>2026-11-23 10:22:31 WARN [REJECTREQUEST]system busy</w:t>"
    return zip_of({"[Content_Types].xml": b"<Types/>", member: text})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", b"<!DOCTYPE html><html><script>[REJECTREQUEST]system busy</script><pre>2026-11-23 10:22:31 WARN x</pre>"),
        ("notes.docx", office("word/document.xml")),
        ("orders.ods", office("content.xml")),
        ("orders.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_not_read_is_listed(name, content, tmp_path):
    found = take(tmp_path, {name: content})
    assert (found.items, found.not_recognised) == ((), (name,))


def sheet(rows):
    """Write a sheet whose cells are texts or numbers."""
    text = '<c t="inlineStr"><is><t>{}</t></is></c>'
    cells = [[text.format(v) if isinstance(v, str) else f"<c><v>{v}</v></c>" for v in row] for row in rows]
    return rows_of(__file__, "sheet").format("".join(f"<row>{''.join(row)}</row>" for row in cells))


def test_the_sheets_of_a_workbook_are_its_members(tmp_path):
    table = [
        ["order_id", "status", "created_at"],
        *([20260000 + n, "PAID", f"2026-11-20 23:36:{n:02}"] for n in range(9)),
    ]
    parts = rows_of(__file__, "workbook") | {
        f"xl/worksheets/s{n}.xml": sheet(rows) for n, rows in enumerate([table, [], [["n", "sum"], [1, 1.5]]], 1)
    }
    found = take(tmp_path, {"orders.xlsx": zip_of({name: text.encode() for name, text in parts.items()})})
    [rows] = [item for item in found.items if item.kind == "rows"]
    assert rows.file == "orders.xlsx!/Result 1.csv"
    assert quotes.lines(found, [(rows.file, 2)]) == ["20260000,PAID,2026-11-20 23:36:00"]
    assert [item.file for item in found.archives] == ["orders.xlsx"]


def test_damage_is_named(tmp_path, monkeypatch):
    book = zip_of({"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook"})
    files = {"t.parquet": b"PAR1" + bytes(100) + b"PAR1", "t.xlsx": book}
    assert [(r.file, r.reason) for r in take(tmp_path, files).refused] == [
        ("t.parquet", "broken"),
        ("t.xlsx", "damaged"),
    ]
    monkeypatch.setattr("kit.evidence.archives._WORKBOOK_MOST", 5)
    assert [(r.file, r.reason) for r in take(tmp_path, files).refused] == [("t.parquet", "broken"), ("t.xlsx", "ratio")]


@pytest.mark.parametrize(("name", "text", "times"), rows_of(__file__, "tables_that_are_no_evidence_are_left_out"))
def test_tables_that_are_no_evidence_are_left_out(name, text, times, tmp_path):
    found = take(tmp_path, {name: "".join(text.replace("#", str(n)) for n in range(times))})
    assert not [i.file for i in found.items if i.kind in ("rows", "sends")]


def test_large_unknown_files_are_not_hashed(tmp_path, monkeypatch):
    hashed = []
    monkeypatch.setattr("kit.inventory.inventory.sha256", lambda path: hashed.append(path.name) or "0" * 64)
    heap = b"JAVA PROFILE 1.0.2\0" + random.Random(2).randbytes(2 << 20)
    found = take(
        tmp_path, {"t_order.csv": "order_id,status,created_at\n1,PAID,2024-05-14 10:22:31\n", "heap.hprof": heap}
    )
    assert (found.not_recognised, hashed) == (("heap.hprof",), ["t_order.csv"])
