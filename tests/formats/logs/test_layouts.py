"""Each layout's sample gives the fields a reader sees in it; the expected values are written by hand."""

import datetime as dt
import json
from pathlib import Path

import pytest
from table import rows_of

from kit.formats.logs import entries
from kit.formats.logs.schema import LogFile, Options
from kit.inventory.sniff import sniff
from kit.rocketmq.log_layouts import LAYOUTS, Layout, table
from kit.spark.sources import pieces


def read(tmp_path: Path, text: str | bytes, options: Options | None = None, **known: object) -> list[dict]:
    path = tmp_path / "x"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    file = LogFile("x", str(path), **{"source": "text", **known})
    return [row for p in pieces(file) for b in entries.batches(p, options or Options()) for row in b.to_pylist()]


def utc(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


SOURCE = {"broker": "store", "client": "client", "app": "app", "text": "text"}


@pytest.mark.parametrize("row", LAYOUTS, ids=lambda row: f"{row.layout}: {row.line}")
def test_the_example_of_a_row_gives_what_the_row_says(tmp_path: Path, row: Layout) -> None:
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


def test_the_documented_table_is_this_one() -> None:
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


@pytest.mark.parametrize("line", rows_of(__file__, "what_is_no_entry_is_folded"))
def test_what_is_no_entry_is_folded(tmp_path: Path, line: str) -> None:
    (row,) = read(tmp_path, f"2024-05-14 10:22:31 WARN main - head\n{line}\n")
    assert row["trace"] == line


def test_stack_trace_in_json_stands_before_folded_lines(tmp_path: Path) -> None:
    line = '{"time":1715653351123,"msg":"failed","level":"error","stack_trace":"java.lang.Error: x\\n\\tat a.B"}'
    (row,) = read(tmp_path, f"{line}\nmore\n")
    assert (row["ts"], row["message"], row["trace"]) == (
        utc("2024-05-14 02:22:31.123"),
        "failed",
        "java.lang.Error: x\n\tat a.B\nmore",
    )


def test_an_exception_collected_line_by_line_belongs_to_the_line_that_logged_it(tmp_path: Path) -> None:
    said = [
        "2024-05-14 10:22:31,123 WARN RocketmqClient - sendKernelImpl exception",
        "com.acme.BusyException: CODE: 2  DESC: busy",
        "\tat com.acme.Sender.send(Sender.java:7)",
        "2024-05-14 10:22:32,123 INFO RocketmqClient - next",
    ]
    lines = [json.dumps({"@timestamp": "2026-11-21T00:00:00.000Z", "message": line}) for line in said]
    first, last = read(tmp_path, "\n".join(lines))
    assert (first["message"], first["trace"]) == ("sendKernelImpl exception", "\n".join(said[1:3]))
    assert last["message"] == "next"
    # What a search for the exception finds: each is one of its own.
    found = read(tmp_path, "\n".join([lines[1]] * 3))
    assert [row["message"] for row in found] == [said[1]] * 3


def test_a_zone_in_the_line_wins_then_the_declared_one_then_the_layouts(tmp_path: Path) -> None:
    lines = "2024-07-01 10:00:00 WARN main - b\n2024-07-01 10:00:00.000 INFO [main] a.B - f\n2024-07-01 10:00:00.000+02:00 INFO [main] a.B - o\n"

    def hours(options: Options, **known: object) -> list[int]:
        return [row["ts"].hour for row in read(tmp_path, lines, options, **known)]

    assert hours(Options()) == [2, 10, 8]
    assert hours(Options(), zone_minutes=480) == [2, 2, 8]
    assert hours(Options(tz_app="America/New_York")) == [2, 14, 8]
    assert hours(Options(tz_broker=0, tz_app=540)) == [10, 1, 8]


def test_an_hour_that_comes_twice_is_the_earlier_one(tmp_path: Path) -> None:
    (row,) = read(tmp_path, "2024-11-03 01:30:00.000 INFO [main] a.B - f\n", Options(tz_app="America/New_York"))
    assert row["ts"] == utc("2024-11-03 05:30:00")


def test_seconds_twice_is_settled_for_the_whole_file(tmp_path: Path) -> None:
    real = "".join(f"2022-05-14 10:22:0{at} INFO RocketmqClient - x\n" for at in ("1,407", "2,002", "3,003"))
    assert [r["ts"].microsecond for r in read(tmp_path, real, source=None)] == [407000, 2000, 3000]
    assert {r["layout"] for r in read(tmp_path, real, source=None)} == {"client-4.8"}
    twice = "".join(f"2019-05-14 10:22:{s:02d},{s:03d} INFO RocketmqClient - x\n" for s in range(5))
    assert [r["ts"].microsecond for r in read(tmp_path, twice, source=None)] == [0] * 5
    assert {r["layout"] for r in read(tmp_path, twice, source=None)} == {"client-4.3"}


def test_a_paste_keeps_each_line_its_layout(tmp_path: Path) -> None:
    text = "hi all, our broker says\n> 2024-05-14 10:22:31 WARN main - a\nand the client\n2019-05-14 10:22:31,031 WARN RocketmqClient - b\n\tat x.Y\n"
    rows = read(tmp_path, text)
    layouts = [(1, 1, "unknown"), (2, 2, "broker"), (4, 2, "client-4.3")]
    assert [(r["line"], r["lines"], r["layout"]) for r in rows] == layouts
    assert sniff(text.encode(), "what they said.txt") == {
        "source": "text", "layout": "broker", "encoding": None, "seconds_twice": True,
    }  # fmt: skip
