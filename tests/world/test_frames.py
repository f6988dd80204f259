"""Every cause answers on real tables that are empty, all null, full of gaps or at the edges of their columns."""

import datetime as dt
import random
import shutil

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import recorded

import kit
from kit.case import tables
from kit.causes import results, triage

pytestmark = pytest.mark.recordings
RECORDINGS = ("transaction-consistency", "message-identity", "topic-missing", "consumer-stuck", "duplicate-client-id")
PLACE = frozenset({"file", "line", "lines", "frame_lines", "physical_offset", "offset"})
"""Columns that say where a row is from: readers only name places that are there."""
OFTEN = ("all null", "gaps", "extreme")
SHAPES = (*OFTEN, "real", "empty", "one row", "a column null")
ROWS = 120
_YEARS = ((1, 1, 1), (1677, 9, 21), (1970, 1, 1), (2262, 4, 12), (2500, 1, 1), (9999, 12, 31, 23, 59, 59, 999999))
_TEXTS = [
    "", " ", "\0", "²", "N/A", "1e400", "-1", "9" * 30, "|`<b>", "a\nb", "%RETRY%", "%DLQ%", "%", "[]", "{", "x" * 3000,
    "\U0010ffff", "订单",
]  # fmt: skip


def extremes(kind):
    """Return what a column of this type can hold at its edges."""
    if pa.types.is_integer(kind):
        return [0, -1, 1, -(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1]
    if pa.types.is_list(kind):
        return [[], ["no-such-text"] if pa.types.is_string(kind.value_type) else extremes(kind.value_type)]
    edges = (
        (pa.types.is_timestamp, [dt.datetime(*year, tzinfo=dt.UTC) for year in _YEARS]),
        (pa.types.is_floating, [0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e308]),
        (pa.types.is_boolean, [True, False]),
        (pa.types.is_string, _TEXTS),
        (pa.types.is_binary, [b"", b"\xff", b"17,18,", b"9" * 30]),
        (pa.types.is_map, [[], [("", "")], [("x", None)]]),
    )
    return next(values for fits, values in edges if fits(kind))


def shaped(table, shape, chance):
    """Return some rows of a table in one of `SHAPES`."""
    if shape == "empty" or not table.num_rows:
        return table.schema.empty_table()
    count = 1 if shape == "one row" else min(ROWS, table.num_rows)
    rows = table.take(sorted(chance.sample(range(table.num_rows), count))).to_pylist()
    free = [field for field in table.schema if field.name not in PLACE]
    null = {"all null": free, "a column null": chance.sample(free, max(1, len(free) // 5))}.get(shape, [])
    for row in rows:
        for field in free:
            if field in null or (shape == "gaps" and chance.random() < 0.3):
                row[field.name] = None
            elif shape == "extreme" and chance.random() < 0.3:
                row[field.name] = chance.choice(extremes(field.type))
    return pa.Table.from_pylist(rows, table.schema)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """Hosts of several small incidents in one folder: every kind of file there is."""
    folder = tmp_path_factory.mktemp("evidence")
    for name in RECORDINGS:
        recorded.unpack(name, folder / name)
    return folder


@pytest.fixture(scope="module")
def real(evidence):
    """Every table of the case, its rows in an order of their own: readers that run at once write files as they end."""
    case = kit.open_case(evidence, evidence.parent / "workspace")
    found = {}
    for name, spec in tables.specs().items():
        table = ds.dataset(case.folder(name), spec.schema, format="parquet").to_table()
        plain = [field.name for field in table.schema if not pa.types.is_nested(field.type)]
        found[name] = table.sort_by([(name, "ascending") for name in plain])
    return found


@pytest.mark.parametrize(
    "shape", [pytest.param(shape, marks=() if shape in OFTEN else pytest.mark.slow) for shape in SHAPES]
)
def test_every_cause_answers_on_tables_of_one_shape(evidence, real, shape):
    chance, folder = random.Random(1), evidence.parent / f"tables-{shape}"
    for name, table in real.items():
        (folder / name).mkdir(parents=True)
        pq.write_table(shaped(table, shape, chance), folder / name / "part-0.parquet", store_schema=False)
    case = kit.open_case(evidence, evidence.parent / "workspace")
    case.folder = lambda name: folder / name
    case.workspace.forget(results.key(case))
    found = triage._triage(case, "en")
    assert not case.failures, "\n\n".join(f"{f.what}: {f.type}: {f.message}\n{f.trace}" for f in case.failures)
    assert len(found["findings"]) > 20
    shutil.rmtree(folder)


def test_the_recordings_fill_every_table(real):
    """Else nothing above would say anything about it."""
    left = ("traces", "metrics", "network", "sends")
    assert [name for name, table in real.items() if not table.num_rows and name not in left] == []
