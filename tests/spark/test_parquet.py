"""A part of a table as Parquet: every row once, with the rows that queries choose in row groups of their own."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kit.spark import parquet
from kit.spark.parquet import LEAST_ROWS, MOST_ROWS, write

BATCH = 10_000


def batches(stages, *, coded=True):
    """Yield rows with these stages, `physical_offset` counting them, in batches."""
    for start in range(0, len(stages), BATCH):
        some = pa.array(stages[start : start + BATCH], pa.string())
        offsets = pa.array(range(start, start + len(some)), pa.int64())
        yield pa.RecordBatch.from_arrays(
            [some.dictionary_encode() if coded else some, offsets], ["stage", "physical_offset"]
        )


def written(path, *args):
    """Return [(stages, first offset, last offset, rows)] of the row groups as their statistics say it, and the rows."""
    schema = pa.schema([("stage", pa.string()), ("physical_offset", pa.int64())])
    write(path / "x.parquet", schema, *args)
    file = pq.ParquetFile(path / "x.parquet")
    about = file.metadata
    groups = [about.row_group(n) for n in range(about.num_row_groups)]
    said = [[group.column(n).statistics for n in (0, 1)] for group in groups]
    return [({s.min, s.max}, o.min, o.max, g.num_rows) for g, (s, o) in zip(groups, said, strict=True)], file.read()


def test_rows_of_one_stage_lie_together(tmp_path):
    stages = ["half", "commit", "original"] * BATCH + ["op", None] * 5
    groups, table = written(tmp_path, batches(stages), "stage")
    assert [(each[0], each[3]) for each in groups[:-1]] == [({s}, BATCH) for s in ("half", "commit", "original")]
    assert groups[-1][0] == {"op"} and groups[-1][3] == 10  # too few for a group each
    assert sorted(table["physical_offset"].to_pylist()) == list(range(len(stages)))
    assert {(s, o) for s, o in zip(*(table[n].to_pylist() for n in table.column_names), strict=True)} == {
        (s, o) for o, s in enumerate(stages)
    }
    assert all(low <= high for _, low, high, _ in groups)


@pytest.mark.parametrize("coded", [True, False])
def test_row_groups_end(tmp_path, coded, monkeypatch):
    groups, table = written(tmp_path, batches(["half"] * (MOST_ROWS + LEAST_ROWS), coded=coded))
    assert sum(each[3] for each in groups) == len(table) == MOST_ROWS + LEAST_ROWS
    assert max(each[3] for each in groups) <= MOST_ROWS and len(groups) > 1
    monkeypatch.setattr(parquet, "MOST_BYTES", BATCH)
    groups, _ = written(tmp_path, batches(["half"] * 5 * BATCH))
    assert [each[3] for each in groups] == [BATCH] * 5


def test_without_rows_there_are_columns(tmp_path):
    groups, table = written(tmp_path, iter(()), "stage")
    assert not groups and table.schema.names == ["stage", "physical_offset"]
