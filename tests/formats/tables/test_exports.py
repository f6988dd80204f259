"""Tables in JSON and workbooks, and as `mysql` and `psql` print them: the rows that were put in come out."""

import csv
import json
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from folders import put, take, zip_of
from table import rows_of

from kit.evidence.files import Damaged
from kit.formats.tables import exports

HEADER = ["order_id", "status", "created_at"]
ROWS = [
    ["A-1", "PAID", "2026-11-20 23:36:50.140"],
    ["A-2", "已取消", "2026-11-20 23:36:51.000"],
    ["A-3", "", "2026-11-20 23:36:52.000"],
]
TABLE = [HEADER, *ROWS]
LINES = [json.dumps(dict(zip(HEADER, row, strict=True))) for row in ROWS]

BOXED = rows_of(__file__, "boxed")
PSQL = rows_of(__file__, "psql")
VERTICAL = rows_of(__file__, "vertical")
EXPANDED = rows_of(__file__, "expanded")

JSON = ["\n".join(LINES), "[\n" + ",\n".join(LINES) + "\n]\n", "\n".join([*LINES, '{"order_id": "A-4", ', "[[[["])]


@pytest.mark.parametrize("text", [BOXED, PSQL, VERTICAL, EXPANDED, BOXED.replace("\n", "\r\n"), *JSON])
def test_a_table_in_any_form_is_a_member_of_its_file(text, tmp_path):
    [member] = [item for item in take(tmp_path, {"t.txt": text}).items if "#" in item.file]
    assert member.kind == "rows"
    with Path(member.path).open(encoding="utf-8", newline="") as stream:
        assert list(csv.reader(stream)) == TABLE


def test_several_printed_tables_and_values_in_lines_of_json(tmp_path):
    found = list(exports.of_printed(f"{BOXED}\nand the consumers:\n{VERTICAL}\n{PSQL}".splitlines()))
    assert found == [(f"table {n}", cells) for n in (1, 2, 3) for cells in TABLE]
    row = {"ok": True, "sum": 1.5, "tags": ["a"], "none": None, "in": {"a": 1}}
    values = [["true", "1.5", '["a"]', "", '{"a": 1}']]
    path = put(tmp_path / "t", f"{json.dumps(row)}\n" * 2)
    found = exports.of_json(path, path.read_text(), "utf-8")
    assert found and [cells for _, cells in found] == [[*row], *values, *values]


@pytest.mark.parametrize("lines", rows_of(__file__, "lines_that_only_look_like_rules"))
def test_lines_that_only_look_like_rules(lines):
    assert list(exports.of_printed(lines)) == []


def book(path, sheets):
    """Write a workbook with what a reader needs and nothing else."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    def linked(name, kind, target):
        return f'<Relationship Id="{name}" Type="{relations}/{kind}" Target="{target}"/>'

    listed = "".join(f'<sheet name="{escape(s)}" sheetId="{n}" r:id="r{n}"/>' for n, s in enumerate(sheets, 1))
    links = "".join(linked(f"r{n}", "worksheet", f"worksheets/s{n}.xml") for n, _ in enumerate(sheets, 1))
    document = linked("r", "officeDocument", "xl/workbook.xml")
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">{document}</Relationships>',
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{relations}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{links}</Relationships>',
    }
    for n, rows in enumerate(sheets.values(), 1):
        data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/s{n}.xml"] = f"<worksheet {main}><sheetData>{data}</sheetData></worksheet>"
    return put(path, zip_of({name: text.encode() for name, text in parts.items()}))


def test_workbook_and_what_is_none(tmp_path, monkeypatch):
    path = book(tmp_path / "b.xlsx", {"Result 1": TABLE, "空": [], "n": [["id", "sum"], [20260001, 1.5]]})
    assert exports.is_workbook(path, path.read_bytes())
    found = list(exports.of_workbook(path))
    assert [cells for name, cells in found if name == "Result 1"] == TABLE
    assert [cells for name, cells in found if name == "n"] == [["id", "sum"], ["20260001", "1.5"]]
    assert len(found) == len(TABLE) + 2
    jar = put(tmp_path / "a.jar", zip_of({"META-INF/MANIFEST.MF": b"x"}))
    cut = put(tmp_path / "cut.xlsx", zip_of({"xl/workbook.xml": b"<workbook"}))
    assert not exports.is_workbook(jar, jar.read_bytes())
    assert exports.is_workbook(cut, cut.read_bytes())
    with pytest.raises(Damaged):
        list(exports.of_workbook(cut))
    monkeypatch.setattr(exports, "_UNPACKED", 5)
    with pytest.raises(Damaged):
        exports.is_workbook(cut, cut.read_bytes())
