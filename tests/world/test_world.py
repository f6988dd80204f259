"""One strange thing beside a real incident: the incident's verdict stays, the strange thing is named, nothing raises, time is bounded; and every cause answers on tables that are empty, all null, full of gaps or at the edges of their columns.

Most of it needs no Spark: what breaks is reading, and every table of a small evidence is read in this process."""

import datetime as dt
import os
import random
import shutil
from pathlib import Path

import effort
import plain_reader
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import recorded
import strange

import kit
from kit.case import tables, unreadable
from kit.causes import results, triage

INCIDENT = "transaction-consistency"
SECONDS = 30
"""For one small strange thing on its own; the slowest of them takes three on a slow machine."""
QUICK = [name for name, one in strange.ALL.items() if not one.slow]
SLOW = [name for name, one in strange.ALL.items() if one.slow]


def named(found):
    """Return every name the inventory gives, of whatever it could do with the file."""
    return {each.file for each in (*found.items, *found.archives, *found.refused)} | set(found.not_recognised)


def missing(found, folder, prefix=""):
    """Return what lies in a folder and the inventory does not name, by its name or by those of its members."""
    shown = named(found)
    lying = [prefix + name for name in plain_reader.names(folder)]
    return [name for name in lying if name not in shown and not any(one.startswith(name + "!/") for one in shown)]


def unreported(case, made):
    """Return what should be reported as not, or not wholly, read and is not. `made`: where each strange thing lies."""
    lost = {part for damage in unreadable.of(case) for part in (damage.file, damage.file.split("!/")[0])}
    wanted = [prefix + each for name, prefix in made.items() for each in strange.ALL[name].unread]
    due = {name: prefix for name, prefix in made.items() if strange.ALL[name].reported}
    silent = [name for name, prefix in due.items() if not any(one.startswith(prefix) for one in lost)]
    return [name for name in wanted if name not in lost] + silent


@pytest.mark.recordings
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_alone(name, tmp_path):
    """Read everything there is to read of it."""
    made = strange.fill(tmp_path / "evidence", [name])[name]
    began = effort.worked()
    case = kit.open_case(made, tmp_path / "workspace")
    assert not missing(case.inventory, made)
    for table in tables.specs():
        rows = ds.dataset(case.folder(table), format="parquet").to_table()
        # As Spark hands it to pandas; what analyses get of messages and logs is cut before.
        cut = [n for n in ("ts", "born_timestamp", "store_timestamp") if n in rows.column_names]
        rows.drop_columns(cut).to_pandas(coerce_temporal_nanoseconds=True)
    one = strange.ALL[name]
    # Of all others nothing has to be reported; what all of them together make of the reports is looked at below.
    assert not (one.unread or one.reported) or not unreported(case, {name: ""})
    assert effort.worked() - began < SECONDS


def verdicts(findings):
    return {f["cause"]: f["verdict"] for f in findings["findings"]}


@pytest.mark.recordings
def test_everything_strange_at_once(tmp_path):
    undisturbed = kit.triage(recorded.case(INCIDENT))
    evidence = shutil.copytree(recorded.whole(INCIDENT), tmp_path / "evidence")
    made = strange.fill(evidence / "strange", QUICK)
    case = kit.open_case(evidence, tmp_path / "workspace")
    findings = kit.triage(case)
    for name, folder in made.items():
        assert not missing(case.inventory, folder, f"strange/{name}/"), name
    assert not unreported(case, {name: f"strange/{name}/" for name in made})
    after = verdicts(findings)
    assert "failed" not in after.values(), [f for f in findings["findings"] if f["verdict"] == "failed"]
    assert INCIDENT in findings["root_causes"]
    confirmed = {cause for cause, verdict in verdicts(undisturbed).items() if verdict == "confirmed"}
    assert confirmed <= {cause for cause, verdict in after.items() if verdict == "confirmed"}
    assert plain_reader.check(findings, evidence) > 10


@pytest.mark.parametrize("name", [b"\xb6\xa9\xb5\xa5", b"\xff\xfe", b"a\nb", b"-rf", "订单".encode()])
def test_a_strange_name_of_the_whole(name, tmp_path):
    folder = os.fsencode(tmp_path) + b"/" + name
    os.mkdir(folder)  # noqa: PTH102 - a name of bytes
    strange.put_raw(Path(os.fsdecode(folder)), b"rocketmq_client.log", strange.LOG)
    case = kit.open_case(os.fsdecode(folder), tmp_path / "workspace")
    assert [i.file for i in case.inventory.items] == ["rocketmq_client.log"]
    assert ds.dataset(case.folder("logs"), format="parquet").count_rows() == 40
    assert case.line("rocketmq_client.log", 1).startswith("2026-11-20")


@pytest.mark.parametrize(
    "given", ["a%20b/{here}/x", "{here}", "{here}/x.log", "../{above}/{here}", "-rf/../{here}", "to the folder"]
)
def test_strange_ways_to_say_where(given, tmp_path, monkeypatch):
    here = tmp_path / "a b"
    for folder in (here, tmp_path / "a%20b" / "a b" / "x", tmp_path / "-rf"):
        strange.put(folder / "x.log", strange.LOG)
    (tmp_path / "to the folder").symlink_to(here)
    monkeypatch.chdir(tmp_path)
    case = kit.open_case(given.format(here=here.name, above=tmp_path.name), tmp_path / "workspace")
    case.eager = False
    assert [(i.file, i.kind) for i in case.inventory.items] == [("x.log", "log")]
    assert case.line("x.log", 1) == strange.LOG.splitlines()[0]


@pytest.mark.parametrize("seconds", [-9_300_000_000, 16_725_225_600, 10**11])
def test_a_file_changed_in_a_strange_year_is_read(seconds, tmp_path):
    strange.put(tmp_path / "evidence" / "x.log", strange.LOG)
    os.utime(tmp_path / "evidence" / "x.log", (seconds, seconds))
    case = kit.open_case(tmp_path / "evidence", tmp_path / "workspace")
    case.eager = False
    [item] = case.inventory.items
    # Some file systems keep another year than they are told.
    assert item.kind == "log" and (item.modified is None or 1678 <= item.modified.year < 2262)


def test_nothing_is_not_the_current_folder(tmp_path, monkeypatch):
    strange.put(tmp_path / "x.log", strange.LOG)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        kit.open_case("", tmp_path.parent / "workspace")


@pytest.mark.parametrize("name", [name for name in strange.ALL if strange.ALL[name].kind == "exports"])
def test_what_a_search_in_logs_is_saved_as_is_read_as_a_log(name, tmp_path):
    """Each holds 30 refused sends at known times, however it wraps them."""
    case = kit.open_case(strange.fill(tmp_path / "evidence", [name])[name], tmp_path / "workspace")
    case.eager = False
    rows = ds.dataset(case.folder("logs"), format="parquet").to_table(["ts", "events"]).to_pylist()
    refused = [row for row in rows if "flow-control" in row["events"]]
    least = strange.REFUSED - (name in strange.FIRST_IS_LOST)
    assert len(refused) == strange.REFUSED
    assert sum(row["ts"] is not None for row in refused) >= least


def test_files_that_grow_after_the_inventory(tmp_path):
    evidence = tmp_path / "evidence"
    names = [
        "a-long-line", "a-parquet-ledger-with-failures", "commitlog-from-year-2500", "queue-of-odd-delays", "offsets-5",
        "csv-of-tabs", "vmstat-of-huge-numbers",
    ]  # fmt: skip
    strange.fill(evidence, names)
    strange.put(evidence / "kept.log", strange.LOG)
    case = kit.open_case(evidence, tmp_path / "workspace")
    assert len(case.inventory.items) > 5
    for item in case.inventory.items:
        if not item.path.endswith("kept.log"):
            Path(item.path).write_bytes(Path(item.path).read_bytes() * 2)
    for table in tables.specs():
        case.folder(table)
    files = ds.dataset(case.folder("logs"), format="parquet").to_table(columns=["file"]).column("file").to_pylist()
    assert files.count("kept.log") == 40


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
@pytest.mark.recordings
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


@pytest.mark.recordings
def test_the_recordings_fill_every_table(real):
    """Else nothing above would say anything about it."""
    left = ("traces", "metrics", "network", "sends")
    assert [name for name, table in real.items() if not table.num_rows and name not in left] == []
