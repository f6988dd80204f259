"""Tables inside files are members of them; what is beside them is still read."""

from __future__ import annotations

import csv
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from table import rows_of

import kit
from kit.evidence import archives
from kit.inventory import inner_files, inventory

HEADER = ["order_id", "status", "created_at"]
ROWS = [[f"ORD2026{n:04}", "PAID" if n % 3 else "CANCELLED", f"2026-11-20 23:36:{n:02}.140"] for n in range(30)]


def as_csv(path: Path) -> None:
    with path.open("w", newline="") as out:
        csv.writer(out).writerows([HEADER, *ROWS])


def as_json(path: Path) -> None:
    path.write_text("".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in ROWS))


def as_box(path: Path) -> None:
    rule = "+--------------+-----------+-------------------------+"
    lines = [f"| {a:12} | {b:9} | {c:23} |" for a, b, c in [HEADER, *ROWS]]
    path.write_text("\n".join(["mysql> select * from t_order;", rule, lines[0], rule, *lines[1:], rule, ""]))


def read(folder: Path, workspace: Path) -> list[tuple[Any, ...]]:
    case = kit.open_case(folder, workspace)
    rows = case.rows.select("key", "status", "time_text", "role").collect()
    return sorted(tuple(row) for row in rows)


@pytest.mark.spark
@pytest.mark.parametrize("write", [as_json, as_box])
def test_same_rows_as_from_csv(write: Any, tmp_path: Path) -> None:
    for name, how in (("plain", as_csv), ("other", write)):
        (tmp_path / name).mkdir()
        how(tmp_path / name / "t_order.txt")
    expected = [(*row, "business") for row in ROWS]
    assert read(tmp_path / "plain", tmp_path / "w1") == expected
    assert read(tmp_path / "other", tmp_path / "w2") == expected


def test_members_are_named_and_their_file_is_their_archive(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    as_json(tmp_path / "e" / "orders.json")
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert [(i.file, i.kind) for i in found.items] == [("orders.json#rows", "rows")]
    assert [(a.file, a.kind) for a in found.archives] == [("orders.json", "archive")]
    assert found.not_recognised == found.refused == ()
    assert inventory.take(tmp_path / "e", tmp_path / "w") == found


GONE = {
    "page.html": b"<!DOCTYPE html><html><script>[REJECTREQUEST]system busy</script><pre>2026-11-23 10:22:31 WARN x</pre>",
    "notes.docx": "word/document.xml",
    "orders.ods": "content.xml",
    "orders.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
}
"""Forms that are not read: pages, documents, other workbooks."""


@pytest.mark.parametrize("name", GONE)
def test_what_is_not_read_is_listed(name: str, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    content = GONE[name]
    if isinstance(content, str):
        with zipfile.ZipFile(tmp_path / "e" / name, "w") as out:
            out.writestr("[Content_Types].xml", "<Types/>")
            out.writestr(content, "<w:t>2026-11-23 10:22:31 WARN [REJECTREQUEST]system busy</w:t>")
    else:
        (tmp_path / "e" / name).write_bytes(content)
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert (found.items, found.not_recognised) == ((), (name,))


def test_what_is_said_around_a_table_stays(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    path = tmp_path / "e" / "chat.txt"
    as_box(path)
    path.write_text(
        "2026-11-20 23:37:00 [REJECTREQUEST]system busy, start flow control for a while\n" + path.read_text()
    )
    kinds = {i.file: i.kind for i in inventory.take(tmp_path / "e", tmp_path / "w").items}
    assert kinds["chat.txt#table 1"] == "rows"
    assert kinds["chat.txt"] in ("text", "log")


def test_tables_that_are_no_evidence_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "a.md").write_text(
        "| name | meaning |\n|---|---|\n| broker | keeps messages |\n| topic | a name |\n"
    )
    (tmp_path / "e" / "b.json").write_text('{"a": 1}\n{"a": 2}\n')
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert not [i.file for i in found.items if "#" in i.file]
    assert not list((tmp_path / "w").rglob("*table 1*"))


def test_damage_is_named(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "t.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with zipfile.ZipFile(tmp_path / "e" / "t.xlsx", "w") as out:
        out.writestr("[Content_Types].xml", "<Types/>")
        out.writestr("xl/workbook.xml", "<workbook")
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert [(r.file, r.reason) for r in found.refused] == [("t.parquet", "broken"), ("t.xlsx", "broken")]


def test_large_unknown_files_are_not_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "e").mkdir()
    as_csv(tmp_path / "e" / "t_order.csv")
    (tmp_path / "e" / "heap.hprof").write_bytes(b"JAVA PROFILE 1.0.2\0" + os.urandom(2 << 20))
    hashed: list[str] = []
    monkeypatch.setattr("kit.inventory.inventory.sha256", lambda path: hashed.append(path.name) or "0" * 64)
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert found.not_recognised == ("heap.hprof",)
    assert hashed == ["t_order.csv"]


CONFIG_MAP = rows_of(__file__, "config_map")


def test_a_broker_conf_in_a_config_map(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    text = "---\n".join(CONFIG_MAP.format(name=name) for name in ("a", "b"))
    (tmp_path / "e" / "cm.yaml").write_text(text)
    items = {i.file: i for i in inventory.take(tmp_path / "e", tmp_path / "w").items}
    assert [items[f"cm.yaml#broker-{n} broker.conf"].kind for n in "ab"] == ["broker_conf"] * 2
    said = Path(items["cm.yaml#broker-b broker.conf"].path).read_text().splitlines()
    assert said == ["# b", "brokerName=b", "maxMessageSize=65536", "listenPort=10911"]


@pytest.mark.parametrize(
    "text", ["kind: ConfigMap\ndata: {a: [", "kind: List\nitems: 7\n", "kind: ConfigMap\ndata: 3\n"]
)
def test_config_maps_without_files(text: str, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "cm.yaml").write_text(text)
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert not found.refused and not [i for i in found.items if "#" in i.file]


_LAUGHS = "\n".join(f"k{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 26))
_LISTS = "\n".join(f"- &a{n} {{kind: List, items: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 26))
_DEEP = "[" * 90 + "]" * 90


@pytest.mark.parametrize(
    "text",
    [
        f"kind: ConfigMap\nk0: &a0 {{x: 1}}\n{_LAUGHS}\n",
        f"kind: List\nitems:\n- &a0 {{kind: List}}\n{_LISTS}\n",
        f"kind: ConfigMap\ndata: {_DEEP}\n",
        "kind: List\nitems: [" + "1," * 60_000 + "]\n",
    ],
)
def test_what_would_never_be_read_to_its_end_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "cm.yaml").write_text(text)
    (tmp_path / "e" / "ok.yaml").write_text(CONFIG_MAP.format(name="a"))
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert [(r.file, r.reason) for r in found.refused] == [("cm.yaml", "broken")]
    assert "ok.yaml#broker-a broker.conf" in {i.file for i in found.items}


def test_tags_are_no_orders(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    odd = "odd:\n- !!timestamp 7\n- !!binary '*'\n- !!python/object/apply:os.system [true]\n- 2026-99-99\n"
    (tmp_path / "e" / "cm.yaml").write_text(odd + CONFIG_MAP.format(name="a"))
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert not found.refused and "cm.yaml#broker-a broker.conf" in {i.file for i in found.items}


def test_answers_of_a_service_are_no_rows(tmp_path: Path) -> None:
    """What the dashboard answers has groups and states, and nothing that happened."""
    (tmp_path / "e").mkdir()
    groups = [{"group": f"stock-audit-{n}", "count": n, "consumeType": "CONSUME_PASSIVELY"} for n in range(20)]
    (tmp_path / "e" / "groups.json").write_text("".join(json.dumps(group) + "\n" for group in groups))
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert not [i for i in found.items if i.kind in ("rows", "sends")]


def test_a_ledger_of_sends_with_messages_of_errors_stays_one(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    rows = [
        [
            f"ORD{n:05}",
            f"2026-11-23 10:22:{n:02}",
            "SEND_OK" if n else "MQBrokerException",
            "" if n else "broker busy, start flow control",
        ]
        for n in range(30)
    ]
    with (tmp_path / "e" / "sends.csv").open("w", newline="") as out:
        csv.writer(out).writerows([["key", "time", "result", "message"], *rows])
    assert [(i.file, i.kind) for i in inventory.take(tmp_path / "e", tmp_path / "w").items] == [("sends.csv", "sends")]


def test_what_its_first_rows_show_to_be_no_evidence_is_not_written_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inner_files, "_SAMPLE", 10)
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "numbers.json").write_text("".join(json.dumps({"a": n, "b": -n}) + "\n" for n in range(1000)))
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert not [i for i in found.items if "#" in i.file]
    assert not list((tmp_path / "w").rglob("*#rows*"))


def test_of_a_long_table_the_first_rows_are_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inner_files, "_SAMPLE", 10)
    monkeypatch.setattr(inner_files, "MOST_ROWS", 20)
    (tmp_path / "e").mkdir()
    as_json(tmp_path / "e" / "orders.json")
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert [(r.file, r.reason, r.detail) for r in found.refused] == [("orders.json#rows", "long", "20")]
    assert len(Path(found.items[0].path).read_text().splitlines()) == 20


def test_a_full_disk_is_named_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner_files, "_SAMPLE", 5)
    monkeypatch.setattr(archives, "KEEP_FREE", 1 << 60)
    (tmp_path / "e").mkdir()
    as_json(tmp_path / "e" / "orders.json")
    (tmp_path / "e" / "broker.log").write_text(
        "2026-11-23 10:22:31 WARN main - putMessage message topic length too long 149\n"
    )
    found = inventory.take(tmp_path / "e", tmp_path / "w")
    assert [(r.file, r.reason) for r in found.refused] == [("orders.json", "space")]
    assert "broker.log" in {i.file for i in found.items}
    assert not list((tmp_path / "w").rglob("*#rows*"))
