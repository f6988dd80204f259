"""Parts of a table that a condition leaves out by their statistics."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from kit.case import datasets, scan
from kit.formats.logs.entries import Options
from kit.spark.sources import parquet_writer

SOURCES = ("app", "broker", "broker")
LOGGERS = ("a", "a", "a", None, "b", "b")


@pytest.fixture
def case(tmp_path: Path) -> Any:
    """A case whose logs have one row group for each of `SOURCES`, of two entries each."""
    schema = Options(events=True).schema
    with parquet_writer(tmp_path / "part-0.parquet", schema) as writer:
        for number, source in enumerate(SOURCES):
            said = [LOGGERS[2 * number + n] for n in (0, 1)]
            rows = [{"file": "a.log", "line": 2 * number + n, "source": source, "logger": said[n - 1]} for n in (1, 2)]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    options = SimpleNamespace(since=None, until=None)
    return SimpleNamespace(memo={}, folder=lambda _: tmp_path, options=options, go_on=lambda: None)


@pytest.mark.parametrize("source", [ds.field("source"), scan.text("source")], ids=["coded", "text"])
def test_parts_without_a_value_are_not_read(case: Any, source: Any) -> None:
    left = datasets.pruned(case, "logs", source == "broker")
    assert sum(len(file.row_groups) for part, _ in left for file in part.get_fragments()) == SOURCES.count("broker")
    assert scan.table(case, "logs", ["line"], source == "broker")["line"].to_pylist() == [3, 4, 5, 6]


def test_nothing_is_left_where_no_part_has_the_value(case: Any) -> None:
    found = scan.table(case, "logs", ["line", "source"], ds.field("source") == "store")
    assert (len(found), found.column_names) == (0, ["line", "source"])


def test_every_part_is_read_where_each_has_the_value(case: Any) -> None:
    where = ds.field("line") != 3
    assert [part is datasets.dataset(case, "logs") for part, _ in datasets.pruned(case, "logs", None)] == [True]
    assert sum(batch.num_rows for batch in scan.batches_of(case, "logs", ["line"], where)) == 2 * len(SOURCES) - 1


@pytest.mark.parametrize(
    ("where", "lines"),
    [
        (ds.field("line") > 2, [[], [3, 4, 5, 6]]),
        (ds.field("line") > 3, [[4], [5, 6]]),
        (ds.field("logger") == "a", [[3], [1, 2]]),
        (ds.field("logger").isin(["a", "b"]), [[3], [1, 2, 5, 6]]),
        (ds.field("logger") != "c", [[3], [1, 2, 5, 6]]),
        (ds.field("logger").is_valid() & (ds.field("line") > 1), [[2, 3], [5, 6]]),
        (~ds.field("thread").is_valid(), [[], [1, 2, 3, 4, 5, 6]]),
        (ds.field("thread") == "t", [[], []]),
    ],
    ids=str,
)
def test_parts_of_which_every_row_is_kept_are_not_asked(case: Any, where: pc.Expression, lines: list[Any]) -> None:
    asked = [left is not None for part, left in datasets.pruned(case, "logs", where)]
    read = [
        sorted(part.to_table(["line"], filter=left)["line"].to_pylist())
        for part, left in datasets.pruned(case, "logs", where)
    ]
    found = {True: [], False: []} | dict(zip(asked, read, strict=True))
    assert [found[True], found[False]] == lines


def test_empty_batches_are_left_out_of_those_put_together() -> None:
    batches = [pa.record_batch({"n": pa.array(range(size), pa.int64())}) for size in (2, 0, 2, 0, 1)]
    assert [table["n"].to_pylist() for table in scan.together(iter(batches), 4)] == [[0, 1, 0, 1], [0]]
