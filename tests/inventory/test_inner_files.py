"""Tables inside files are members of them; what is beside them is still read."""

import json
import random
from pathlib import Path

import pytest
from folders import take, zip_of
from table import rows_of

from kit.evidence import archives
from kit.inventory import recognise

HEADER = ["order_id", "status", "created_at"]
ROWS = [[f"ORD2026{n:04}", "PAID" if n % 3 else "CANCELLED", f"2026-11-20 23:36:{n:02}.140"] for n in range(30)]

CSV = "".join(",".join(row) + "\n" for row in [HEADER, *ROWS])
JSON = "".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in ROWS)
RULE = "+--------------+-----------+-------------------------+\n"
BOX = "".join(f"| {a:12} | {b:9} | {c:23} |\n" for a, b, c in [HEADER, *ROWS]).replace("\n", f"\n{RULE}", 1)
BOX = f"mysql> select * from t_order;\n{RULE}{BOX}{RULE}"


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


def test_what_is_said_around_a_table_stays(tmp_path):
    said = "2026-11-20 23:37:00 [REJECTREQUEST]system busy, start flow control for a while\n"
    kinds = {i.file: i.kind for i in take(tmp_path, {"chat.txt": said + BOX}).items}
    assert kinds["chat.txt#table 1"] == "rows"
    assert kinds["chat.txt"] in ("text", "log")


@pytest.mark.parametrize(("name", "text", "times"), rows_of(__file__, "tables_that_are_no_evidence_are_left_out"))
def test_tables_that_are_no_evidence_are_left_out(name, text, times, tmp_path, monkeypatch):
    monkeypatch.setattr(recognise, "_SAMPLE", 10)
    found = take(tmp_path, {name: "".join(text.replace("#", str(n)) for n in range(times))})
    assert not [i.file for i in found.items if "#" in i.file or i.kind in ("rows", "sends")]
    assert not list((tmp_path / "w").glob("spool/*/files/*"))


def test_damage_is_named(tmp_path):
    book = zip_of({"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook"})
    found = take(tmp_path, {"t.parquet": b"PAR1" + bytes(100) + b"PAR1", "t.xlsx": book})
    assert [(r.file, r.reason) for r in found.refused] == [("t.parquet", "broken"), ("t.xlsx", "broken")]


def test_large_unknown_files_are_not_hashed(tmp_path, monkeypatch):
    hashed: list[str] = []
    monkeypatch.setattr("kit.inventory.inventory.sha256", lambda path: hashed.append(path.name) or "0" * 64)
    found = take(
        tmp_path, {"t_order.csv": CSV, "heap.hprof": b"JAVA PROFILE 1.0.2\0" + random.Random(2).randbytes(2 << 20)}
    )
    assert found.not_recognised == ("heap.hprof",)
    assert hashed == ["t_order.csv"]


def test_of_a_long_table_the_first_rows_are_read_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(recognise, "_SAMPLE", 10)
    monkeypatch.setattr(recognise, "MOST_ROWS", 20)
    found = take(tmp_path, {"orders.json": JSON})
    assert [(r.file, r.reason, r.detail) for r in found.refused] == [("orders.json#rows", "long", "20")]
    assert len(Path(found.items[0].path).read_text().splitlines()) == 20


def test_a_full_disk_is_named_and_nothing_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(recognise, "_SAMPLE", 5)
    monkeypatch.setattr(archives, "KEEP_FREE", 1 << 60)
    log = "2026-11-23 10:22:31 WARN main - putMessage message topic length too long 149\n"
    found = take(tmp_path, {"orders.json": JSON, "broker.log": log})
    assert [(r.file, r.reason) for r in found.refused] == [("orders.json", "space")]
    assert "broker.log" in {i.file for i in found.items}
    assert not list((tmp_path / "w").rglob("*#rows*"))
