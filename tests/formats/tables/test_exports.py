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
    others = rows_of(__file__, "lines_that_only_look_like_rules")
    assert [lines for lines in others if list(exports.of_printed(lines))] == []
    row = {"ok": True, "sum": 1.5, "tags": ["a"], "none": None, "in": {"a": 1}}
    values = [["true", "1.5", '["a"]', "", '{"a": 1}']]
    path = put(tmp_path / "t", f"{json.dumps(row)}\n" * 2)
    found = exports.of_json(path, path.read_text(), "utf-8")
    assert found and [cells for _, cells in found] == [[*row], *values, *values]


def sheet(rows):
    """Write a sheet whose cells are texts or numbers."""
    text = '<c t="inlineStr"><is><t>{}</t></is></c>'
    cells = [[text.format(escape(v)) if isinstance(v, str) else f"<c><v>{v}</v></c>" for v in row] for row in rows]
    return rows_of(__file__, "sheet").format("".join(f"<row>{''.join(row)}</row>" for row in cells))


def test_workbook_and_what_is_none(tmp_path, monkeypatch):
    sheets = [TABLE, [], [["id", "sum"], [20260001, 1.5]]]
    parts = rows_of(__file__, "workbook") | {f"xl/worksheets/s{n}.xml": sheet(rows) for n, rows in enumerate(sheets, 1)}
    path = put(tmp_path / "b.xlsx", zip_of({name: text.encode() for name, text in parts.items()}))
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
