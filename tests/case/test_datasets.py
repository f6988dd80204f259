"""Parts of a table that a condition leaves out by their statistics."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from kit.case import datasets, scan
from kit.formats.logs.entries import Options
from kit.spark.sources import parquet_writer

SOURCES = ("app", "broker", "broker")


@pytest.fixture
def case(tmp_path: Path) -> Any:
    """A case whose logs have one row group for each of `SOURCES`, of two entries each."""
    schema = Options(events=True).schema
    with parquet_writer(tmp_path / "part-0.parquet", schema) as writer:
        for number, source in enumerate(SOURCES):
            rows = [{"file": "a.log", "line": 2 * number + n, "source": source} for n in (1, 2)]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    options = SimpleNamespace(since=None, until=None)
    return SimpleNamespace(memo={}, folder=lambda _: tmp_path, options=options, go_on=lambda: None)


@pytest.mark.parametrize("source", [ds.field("source"), scan.text("source")], ids=["coded", "text"])
def test_parts_without_a_value_are_not_read(case: Any, source: Any) -> None:
    left = datasets.pruned(case, "logs", source == "broker")
    assert sum(len(part.row_groups) for part in left.get_fragments()) == SOURCES.count("broker")
    assert scan.table(case, "logs", ["line"], source == "broker")["line"].to_pylist() == [3, 4, 5, 6]


def test_nothing_is_left_where_no_part_has_the_value(case: Any) -> None:
    found = scan.table(case, "logs", ["line", "source"], ds.field("source") == "store")
    assert (len(found), found.column_names) == (0, ["line", "source"])


def test_every_part_is_read_where_each_has_the_value(case: Any) -> None:
    where = ds.field("file") == "a.log"
    assert datasets.pruned(case, "logs", where) is datasets.dataset(case, "logs")
    assert sum(batch.num_rows for batch in scan.batches_of(case, "logs", ["line"], where)) == 2 * len(SOURCES)


def test_empty_batches_are_left_out_of_those_put_together() -> None:
    batches = [pa.record_batch({"n": pa.array(range(size), pa.int64())}) for size in (2, 0, 2, 0, 1)]
    assert [table["n"].to_pylist() for table in scan.together(iter(batches), 4)] == [[0, 1, 0, 1], [0]]
