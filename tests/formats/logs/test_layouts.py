"""Each layout's sample gives the fields a reader sees in it; the expected values are written by hand."""

import datetime as dt
from pathlib import Path

import pytest
from table import rows_of

from kit.formats.logs import entries
from kit.formats.logs.schema import LogFile, Options
from kit.inventory.sniff import sniff
from kit.rocketmq.log_layouts import LAYOUTS, table
from kit.spark.sources import pieces


def read(tmp_path, text, options=None, encoding="utf-8", **known):
    path = tmp_path / "x"
    path.write_bytes(text.encode(encoding))
    file = LogFile("x", str(path), **{"source": "text", **known})
    return [row for p in pieces(file) for b in entries.batches(p, options or Options()) for row in b.to_pylist()]


SOURCE = {"broker": "store", "client": "client", "app": "app", "text": "text"}


@pytest.mark.parametrize("row", LAYOUTS, ids=lambda row: f"{row.layout}: {row.line}")
def test_the_example_of_a_row_gives_what_the_row_says(tmp_path, row):
    """Everything expected is written in the row by hand; a new row of `layouts.yaml` needs no test of its own."""
    source = "mqadmin" if row.layout == "mqadmin" else SOURCE[row.files[-1]]
    if not row.entry:
        (entry,) = read(tmp_path, f"2024-05-14 10:22:31 WARN main - head\n{row.example}\n", source=source)
        assert entry["lines"] == 2
        return
    (entry,) = read(tmp_path, row.example + "\n", source=source)
    expected = {"message": row.example, **row.reads}
    assert entry["layout"] == row.layout
    assert entry["ts"] == (dt.datetime.fromisoformat(expected.pop("ts")) if "ts" in expected else None)
    assert {name: entry[name] for name in ("ts_text", "level", "thread", "logger", "message")} == {
        "ts_text": None, "level": None, "thread": None, "logger": None, **expected,
    }  # fmt: skip


def test_the_documented_table_is_this_one():
    assert table() in (Path(__file__).parents[3] / "docs/evidence.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "layout", "level", "thread", "logger", "message"), rows_of(__file__, "relatives_of_the_layouts")
)
def test_relatives_of_the_layouts(tmp_path, line, layout, level, thread, logger, message):
    (row,) = read(tmp_path, line)
    assert (row["layout"], row["level"], row["thread"], row["logger"], row["message"]) == (
        layout, level, thread, logger, message,
    )  # fmt: skip
    assert row["ts"].replace(microsecond=0).minute == 22


@pytest.mark.parametrize("row", rows_of(__file__, "entries"), ids=lambda row: row["name"])
def test_the_entries_of_a_text(tmp_path, row):
    """Of each entry what its row names."""
    how = Options(**row.get("options", {})), row.get("encoding", "utf-8")
    found = read(tmp_path, row["text"], *how, **row.get("known", {}))
    for each in found:
        each["ts"] = each["ts"] and f"{each['ts'].replace(tzinfo=None)}"
    shown = [{name: each[name] for name in wanted} for each, wanted in zip(found, row["entries"], strict=True)]
    assert shown == row["entries"]


def test_a_paste_is_a_text():
    (paste,) = (row["text"] for row in rows_of(__file__, "entries") if row["name"].startswith("a paste"))
    assert sniff(paste.encode(), "what they said.txt") == {
        "source": "text", "layout": "broker", "encoding": None, "seconds_twice": True,
    }  # fmt: skip
