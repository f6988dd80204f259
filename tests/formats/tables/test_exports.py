"""Tables as database tools print and export them: the rows that were put in come out, whatever form they were given."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from kit.evidence.files import Damaged
from kit.formats.tables.exports import ruled, sql, structured, workbook

HEADER = ["order_id", "status", "created_at"]
ROWS = [
    ["A-1", "PAID", "2026-11-20 23:36:50.140"],
    ["A-2", "已取消", "2026-11-20 23:36:51.000"],
    ["A-3", "", "2026-11-20 23:36:52.000"],
]
TABLE = [HEADER, *ROWS]


def of(found: Any, name: str | None = None) -> list[list[str]]:
    listed = list(found)
    assert name is None or {table for table, _ in listed} == {name}
    return [cells for _, cells in listed]


BOXED = """mysql> select * from t_order;
+----------+-----------+-------------------------+
| order_id | status    | created_at              |
+----------+-----------+-------------------------+
| A-1      | PAID      | 2026-11-20 23:36:50.140 |
| A-2      | 已取消    | 2026-11-20 23:36:51.000 |
| A-3      |           | 2026-11-20 23:36:52.000 |
+----------+-----------+-------------------------+
3 rows in set (0.01 sec)
"""
PSQL = """ order_id | status |       created_at
----------+--------+-------------------------
 A-1      | PAID   | 2026-11-20 23:36:50.140
 A-2      | 已取消 | 2026-11-20 23:36:51.000
 A-3      |        | 2026-11-20 23:36:52.000
(3 rows)
"""
MARKDOWN = """what I found:

| order_id | status | created_at |
|:---------|--------|-----------:|
| A-1 | PAID | 2026-11-20 23:36:50.140 |
| A-2 | 已取消 | 2026-11-20 23:36:51.000 |
| A-3 |  | 2026-11-20 23:36:52.000 |
"""
DRAWN = """┌─order_id─┬─status─┬─created_at──────────────┐
""" + BOXED.split("\n", 1)[1].replace("+-", "├─").replace("-+", "─┼").replace("--", "──").replace("|", "│")
VERTICAL = """*************************** 1. row ***************************
  order_id: A-1
    status: PAID
created_at: 2026-11-20 23:36:50.140
*************************** 2. row ***************************
  order_id: A-2
    status: 已取消
created_at: 2026-11-20 23:36:51.000
*************************** 3. row ***************************
  order_id: A-3
    status:
created_at: 2026-11-20 23:36:52.000
3 rows in set (0.00 sec)
"""
EXPANDED = """-[ RECORD 1 ]------------------------
order_id   | A-1
status     | PAID
created_at | 2026-11-20 23:36:50.140
-[ RECORD 2 ]------------------------
order_id   | A-2
status     | 已取消
created_at | 2026-11-20 23:36:51.000
-[ RECORD 3 ]------------------------
order_id   | A-3
status     |
created_at | 2026-11-20 23:36:52.000
"""


@pytest.mark.parametrize("text", [BOXED, PSQL, MARKDOWN, DRAWN, VERTICAL, EXPANDED, BOXED.replace("\n", "\r\n")])
def test_printed(text: str) -> None:
    assert of(ruled.tables(text.splitlines(keepends=True)), "table 1") == TABLE


def test_several_printed_tables_and_what_is_between_them() -> None:
    found = list(ruled.tables([*BOXED.splitlines(), "and the consumers:", *VERTICAL.splitlines(), *PSQL.splitlines()]))
    assert found == [(f"table {n}", cells) for n in (1, 2, 3) for cells in TABLE]


def test_lines_that_only_look_like_rules() -> None:
    log = ["2026-11-20 INFO a|b", "----------------", "--- exited ---", "a | b", "+++", "| x | y | z |", "----+----"]
    assert list(ruled.tables(log)) == []


def test_bar_inside_a_cell_of_markdown() -> None:
    assert of(ruled.tables(["|a|b|", "|--|--|", r"|x\|y|z|"])) == [["a", "b"], ["x|y", "z"]]


DUMP = """-- MySQL dump 10.13
CREATE TABLE `t_order` (
  `order_id` varchar(64) NOT NULL,
  `status` varchar(16) DEFAULT NULL,
  `created_at` datetime(3) NOT NULL,
  PRIMARY KEY (`order_id`),
  KEY `by_time` (`created_at`)
) ENGINE=InnoDB;
LOCK TABLES `t_order` WRITE;
INSERT INTO `t_order` VALUES ('A-1','PAID','2026-11-20 23:36:50.140'),('A-2','已取消','2026-11-20 23:36:51.000'),('A-3',NULL,'2026-11-20 23:36:52.000');
UNLOCK TABLES;
"""
NAMED = """INSERT INTO `trade`.`t_order` (`order_id`, `status`, `created_at`) VALUES ('A-1', 'PAID', '2026-11-20 23:36:50.140');
insert ignore into trade.t_order(order_id, created_at, status)
values ('A-2', '2026-11-20 23:36:51.000', '已取消'),
       ('A-3', '2026-11-20 23:36:52.000', null)
;
"""
OTHERS = """INSERT [dbo].[t_order] ([order_id], [status], [created_at]) VALUES (N'A-1', N'PAID', CAST(N'2026-11-20 23:36:50.140' AS DateTime2))
INSERT INTO "public"."t_order" ("order_id", "status", "created_at") VALUES ('A-2', '已取消', TIMESTAMP '2026-11-20 23:36:51.000');
INSERT INTO T_ORDER (ORDER_ID,STATUS,CREATED_AT) VALUES ('A-3',NULL,TO_DATE('2026-11-20 23:36:52.000','YYYY-MM-DD'));
"""
COPY = """SET client_encoding = 'UTF8';
COPY public.t_order (order_id, status, created_at) FROM stdin;
A-1\tPAID\t2026-11-20 23:36:50.140
A-2\t已取消\t2026-11-20 23:36:51.000
A-3\t\\N\t2026-11-20 23:36:52.000
\\.
SELECT 1;
"""


@pytest.mark.parametrize("text", [DUMP, NAMED, COPY, DUMP.replace("\n", "\r\n")])
def test_sql(text: str) -> None:
    assert of(sql.tables(text.splitlines(keepends=True)), "t_order") == TABLE
    assert sql.is_script(text.splitlines())
    assert any(map(sql.BEGUN.match, text.splitlines()))


def test_values_of_other_databases() -> None:
    found = list(sql.tables(OTHERS.splitlines(keepends=True)))
    assert [cells for name, cells in found if name == "t_order"] == TABLE[:3]
    assert [cells for name, cells in found if name == "T_ORDER"] == [[c.upper() for c in HEADER], ROWS[2]]


def test_hostile_values_of_sql() -> None:
    values = r"""('it''s','a\'b','c\\','x),(y','line\nline','-1.5e3',"""
    told = f"INSERT INTO t VALUES {values}\n-7, 0x1F, now());\nINSERT INTO u VALUES ('1','2'"
    found = list(sql.tables(told.splitlines(keepends=True)))
    header = [f"c{n}" for n in range(1, 10)]
    assert found == [("t", header), ("t", ["it's", "a'b", "c\\", "x),(y", "line\nline", "-1.5e3", "-7", "0x1F", ""])]


def test_a_statement_in_prose_is_no_script() -> None:
    assert not sql.is_script(["", "we ran this by hand:", "INSERT INTO t VALUES (1, 2);"])


OBJECTS = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
OBJECTS_WITH_NULL = [{k: v or None for k, v in row.items()} for row in OBJECTS]


@pytest.mark.parametrize(
    "said",
    [
        OBJECTS,
        {"RECORDS": OBJECTS_WITH_NULL},
        {"code": 0, "data": {"total": 3, "rows": OBJECTS}},
        {"took": 3, "hits": {"hits": [{"_id": "1", "_source": row} for row in OBJECTS]}},
    ],
)
def test_json(said: Any) -> None:
    assert of(structured.of_document(json.dumps(said, ensure_ascii=False, indent=1)), "rows") == TABLE


def test_json_lines() -> None:
    text = [json.dumps(row) for row in OBJECTS]
    assert structured.has_lines(text)
    assert of(structured.of_lines(["", *text, '{"order_id": "A-4", '])) == TABLE
    assert not structured.has_lines(['{"a": 1}'])


def test_values_of_json() -> None:
    mongo = {"_id": {"$oid": "65aa"}, "n": {"$numberLong": "7"}, "ok": True, "sum": 1.5, "tags": ["a"], "none": None}
    assert of(structured.of_document(json.dumps([mongo]))) == [[*mongo], ["65aa", "7", "true", "1.5", '["a"]', ""]]


@pytest.mark.parametrize("text", ["[" * 100_000, '[{"a": 1', "[]", "[1, 2]", '{"a": {"b": {"c": {"d": [{"x": 1}]}}}}'])
def test_json_without_rows(text: str) -> None:
    assert of(structured.of_document(text)) == []


def test_page() -> None:
    cells = "".join(f"<tr>{''.join(f'<td> {escape(c)}<br></td>' for c in row)}</tr>" for row in TABLE)
    assert of(structured.of_page(f"<html><body><table border=1>{cells}</table></body></html>"), "table 1") == TABLE


def book(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    """Write a workbook with what a reader needs and nothing else."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    def cell(value: Any) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    with zipfile.ZipFile(path, "w") as out:
        out.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"/>')
        out.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="{escape(s)}" sheetId="{n}" r:id="r{n}"/>' for n, s in enumerate(sheets, 1))
        out.writestr("xl/workbook.xml", f'<workbook {main} xmlns:r="{relations}"><sheets>{listed}</sheets></workbook>')
        linked = "".join(
            f'<Relationship Id="r{n}" Type="{relations}/worksheet" Target="worksheets/s{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        out.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{linked}</Relationships>'
        )
        for n, rows in enumerate(sheets.values(), 1):
            data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            out.writestr(f"xl/worksheets/s{n}.xml", f"<worksheet {main}><sheetData>{data}</sheetData></worksheet>")
    return path


def test_workbook(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", {"Result 1": TABLE, "空": [], "n": [["id", "sum"], [20260001, 1.5]]})
    assert workbook.is_one(path, path.read_bytes())
    found = list(workbook.tables(path))
    assert [cells for name, cells in found if name == "Result 1"] == TABLE
    assert [cells for name, cells in found if name == "n"] == [["id", "sum"], ["20260001", "1.5"]]
    assert len(found) == len(TABLE) + 2


def test_what_is_no_workbook(tmp_path: Path) -> None:
    jar, cut = tmp_path / "a.jar", tmp_path / "cut.xls"
    with zipfile.ZipFile(jar, "w") as out:
        out.writestr("META-INF/MANIFEST.MF", "x")
    assert not workbook.is_one(jar, jar.read_bytes())
    cut.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    assert workbook.is_one(cut, cut.read_bytes())
    with pytest.raises(Damaged):
        list(workbook.tables(cut))
