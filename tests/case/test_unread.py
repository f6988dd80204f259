"""Whatever one file makes a reader raise ends the reading of that file: it is named, and the rest goes on. Of evidence that grew only the new file is read."""

import errno
import gzip
import json
import os
import pkgutil

import busy_evidence as made
import pyarrow.dataset as ds
import pytest
from busy_evidence import sent, write_store
from folders import put
from stores import Record, store

import kit
from kit.case import tables, unreadable
from kit.evidence import archives, disk, workspace
from kit.formats.commitlog import segments
from kit.formats.logs import entries
from kit.formats.tables import business_tables, configs
from kit.inventory import zones
from kit.spark import sources

WEIRD = [
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ZeroDivisionError("integer division\nor modulo by zero"),
    KeyError("\ud800"),
    type("Strange", (Exception,), {"__str__": lambda self: "x" * 10_000})(),
]


@pytest.fixture
def evidence(tmp_path):
    """Two of each kind: of every pair, one is going to break."""
    root = tmp_path / "evidence"
    for name, broker, shift in (("bad", made.A, 5_000), ("good", made.B, 0)):
        made.write_store(root / name / "commitlog", made.traffic(2_000, 100, broker=broker, prefix=name))
        attempt = made.attempt(100 + shift, name, made.TIMEOUT)
        made.write_log(root / name / "rocketmq_client.log", [made.STARTED, *attempt])
        put(root / name / "broker.conf", f"brokerName=broker-{name}\nflushDiskType=ASYNC_FLUSH\n")
        orders = [f"{name}{n},PAID,2024-05-14 10:00:{n:02}" for n in range(20)]
        made.write_log(root / name / "orders.csv", ["order_id,status,created_at", *orders])
    return root


def opened(evidence):
    case = kit.open_case(evidence, evidence.parent / "ws")
    case.eager = False
    return case


def of_files(case, table):
    files = ds.dataset(case.folder(table), format="parquet").to_table(["file"])["file"]
    return {file.split("/")[0] for file in files.to_pylist()}


STALE = OSError(errno.ESTALE, "Stale file handle")
"""Of a drive that is away."""


def failing(real, error=STALE):
    """A function that raises for the files called bad."""

    def call(*args, **kwargs):
        if any("bad" in str(getattr(a, "file", a)) for a in args):
            raise error
        return real(*args, **kwargs)

    return call


def breaking(real, error, after=0):
    """A reader that raises for the files called bad, after so many batches."""

    def read(*args, **kwargs):
        named = next((str(getattr(a, "file", a)) for a in args if "bad" in str(getattr(a, "file", a))), None)
        for number, batch in enumerate(real(*args, **kwargs)):
            if named and number >= after:
                break
            yield batch
        if named:
            raise error

    return read


@pytest.mark.parametrize(
    ("error", "place"),
    [*((each, "recognise.recognise") for each in WEIRD), (WEIRD[0], "inventory.sha256"), (WEIRD[4], "zones.span")],
)
def test_while_it_is_recognised(evidence, monkeypatch, error, place):
    name = f"kit.inventory.{place}"
    monkeypatch.setattr(name, failing(pkgutil.resolve_name(name), error))
    case = opened(evidence)
    assert {i.file.split("/")[0] for i in case.unzoned.items} == {"good"}
    assert {r.file.split("/")[0] for r in case.unread()} == {"bad"} and len(case.unread()) == 4
    for refused in case.unread():
        for lang in ("en", "zh"):
            said = refused.say(lang)
            assert "\n" not in said and 5 < len(said) < 400
            json.dumps(said, ensure_ascii=False).encode()
    assert of_files(case, "messages") == {"good"}


READERS = [
    ("messages", segments, "messages"), ("skipped", segments, "skipped"), ("logs", entries, "batches"),
    ("rows", business_tables, "read"), ("config_files", configs, "configs"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "reader"), [(e, READERS[n % len(READERS)]) for n, e in enumerate(WEIRD)])
def test_while_a_table_is_built(evidence, monkeypatch, error, reader):
    case, (table, module, name) = opened(evidence), reader
    if table != "messages":
        case.zones  # noqa: B018 - inferred from the messages
    monkeypatch.setattr(module, name, breaking(getattr(module, name), error))
    if table == "skipped":
        case.folder(table)
    else:
        assert of_files(case, table) == {"good"}
    [refused] = case.unread()
    assert refused.file.startswith("bad/")
    assert [place.file for place in unreadable.of(case)] == [refused.file]
    monkeypatch.undo()
    # Kept as it was read: whoever opens the case again is told the same. Only what the memory of that moment did is tried again.
    again = opened(evidence)
    again.folder(table)
    assert again.unread() == ([] if isinstance(error, MemoryError) else [refused])


def test_what_was_read_before_stays(evidence, monkeypatch):
    case = opened(evidence)
    case.unzoned  # noqa: B018 - the inventory reads the first records too
    monkeypatch.setattr(segments, "messages", breaking(segments.messages, ValueError("x"), after=1))
    assert of_files(case, "messages") == {"bad", "good"} and len(case.unread()) == 1


def test_a_value_that_has_no_place_in_the_table(evidence, monkeypatch):
    real = tables._read

    def read(name, item, *args):
        for batch in real(name, item, *args):
            at = batch.schema.get_field_index("line")
            yield batch.set_column(at, "line", ds.pa.array(["²"] * batch.num_rows)) if "bad" in item.file else batch

    monkeypatch.setattr(tables, "_read", read)
    case = opened(evidence)
    assert of_files(case, "rows") == {"good"} and [r.file for r in case.unread()] == ["bad/orders.csv"]


@pytest.mark.parametrize("how", ["removed", "shrunk", "empty", "fifo", "folder"])
def test_files_that_change_meanwhile(evidence, how):
    case = opened(evidence)
    assert len(case.unzoned.items) == 8
    case.zones  # noqa: B018
    for path in [p for p in (evidence / "bad").rglob("*") if p.is_file()]:
        if how == "shrunk":
            os.truncate(path, path.stat().st_size // 2)
        elif how == "empty":
            os.truncate(path, 0)
        else:
            path.unlink()
        if how == "fifo":
            os.mkfifo(path)
        elif how == "folder":
            path.mkdir()
    for table in tables.specs():
        case.folder(table)
    assert {r.file.split("/")[0] for r in case.unread()} == {"bad"}, case.unread()
    assert len({r.file for r in case.unread()}) == 4
    assert all("good" in of_files(case, table) for table in ("messages", "logs", "rows", "config_files"))
    assert case.inventory.items and unreadable.of(case)


def test_a_disk_that_is_full_is_nobodys_fault(evidence, monkeypatch):
    case = opened(evidence)
    case.zones  # noqa: B018
    monkeypatch.setattr(entries, "batches", breaking(entries.batches, OSError(28, "No space left on device")))
    with pytest.raises(Exception, match="No space left") as raised:
        case.folder("logs")
    assert disk.is_full(raised.value)


def test_a_table_with_an_unread_file_is_read_anew_for_other_evidence(evidence, monkeypatch):
    case = opened(evidence)
    with monkeypatch.context() as broken:
        broken.setattr(segments, "messages", breaking(segments.messages, ValueError("x")))
        assert of_files(case, "messages") == {"good"}
    (evidence / "notes.txt").write_text("2024-05-14 10:00:00 broker restarted\n")
    assert of_files(opened(evidence), "messages") == {"bad", "good"}


def test_permission_given_later(evidence):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    bad = evidence / "bad" / "orders.csv"
    bad.chmod(0)
    assert [r.reason for r in opened(evidence).unread()] == ["unreadable"]
    bad.chmod(0o600)
    assert opened(evidence).unread() == []


def test_a_drive_that_was_away_is_asked_again(evidence, monkeypatch):
    case = opened(evidence)
    with monkeypatch.context() as broken:
        broken.setattr(segments, "messages", failing(segments.messages))
        assert of_files(case, "messages") == {"good"}
        assert [r.reason for r in case.unread()] == ["unreadable"]
    with case.workspace.writing("results/earlier") as part:
        assert part is not None
    again = opened(evidence)
    assert of_files(again, "messages") == {"bad", "good"} and again.unread() == []
    assert again.workspace.table("results/earlier") is None


def test_what_is_not_asked_again_in_a_notebook_of_a_run_stays_as_it_is(evidence, monkeypatch):
    case = opened(evidence)
    case.zones  # noqa: B018
    with monkeypatch.context() as broken:
        broken.setattr(segments, "messages", failing(segments.messages))
        before = case.folder("messages").stat().st_ino
    monkeypatch.setenv(workspace.RUN, "run")
    assert opened(evidence).folder("messages").stat().st_ino == before


def test_a_drive_that_was_away_when_the_files_were_looked_at(evidence, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(zones, "span", failing(zones.span))
        assert {r.reason for r in opened(evidence).unread()} == {"unreadable"}
    assert len(opened(evidence).unzoned.items) == 8


def test_no_room_to_unpack_is_not_remembered(tmp_path, monkeypatch):
    put(tmp_path / "evidence" / "x.log.gz", gzip.compress(f"{made.STARTED}\n".encode()))
    with monkeypatch.context() as full:
        full.setattr(archives, "KEEP_FREE", 1 << 62)
        assert [r.reason for r in opened(tmp_path / "evidence").unread()] == ["space"]
    assert [i.file for i in opened(tmp_path / "evidence").unzoned.items] == ["x.log.gz"]


@pytest.mark.spark
@pytest.mark.parametrize("source", ["commitlog", "log", "consumequeue", "index", "trace"])
def test_in_a_spark_task(spark, evidence, source):
    """Files that are gone when the tasks are planned, and one that is a folder when they run."""
    bad, good = evidence / "bad", evidence / "good"
    path = "rocketmq_client.log" if source == "log" else f"commitlog/{0:020}"
    listed = [{"file": f"{p.name}/x", "path": str(p / path)} for p in (bad, good)]
    listed.append({"file": "gone/x", "path": str(evidence / "gone")})
    (bad / path).unlink()
    (bad / path).mkdir()
    notes = evidence.parent / "notes"
    notes.mkdir()
    reader = spark.read.format(f"rocketmq.{source}").option("files", json.dumps(listed))
    rows = reader.option("unread", str(notes)).load().select("file").distinct().collect()
    assert {row.file for row in rows} <= {"good/x"} and len(rows) == (source in ("commitlog", "log", "consumequeue"))
    from kit.evidence import files

    no_index = ["good/x"] if source == "index" else []  # it is a commit log
    assert [r.file for r in files.notes(notes)] == ["bad/x", "gone/x", *no_index]


@pytest.mark.parametrize(("following", "lost"), [(b"records", True), (b"zeros", False), (b"nothing", False)])
def test_zeros_in_the_middle_of_a_log_are_no_unwritten_end(tmp_path, following, lost):
    """A broker allocates the next file ahead, all zeros; it writes into it only when the one before is full."""
    records = [Record(topic=b"orders", numbers=(0, 0, n, 0, 0), body=b"abc") for n in range(9)]
    written = len(store(records).data)
    size = 4096
    log = tmp_path / "e" / "commitlog"
    put(log / f"{0:020}", store(records).data.ljust(size, b"\0"))
    if following != b"nothing":
        behind = store(records, base=size).data if following == b"records" else b""
        (log / f"{size:020}").write_bytes(behind.ljust(size, b"\0"))
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    found = [(each.label, each.start, each.end) for each in unreadable.of(case)]
    assert found == ([("zeros", written, size)] if lost else [])


LINE = "2024-05-04 10:00:{:02} INFO main - start {}\n"


def stores_and_logs(folder, *, files, end=""):
    """Stores of several brokers and as many logs; `end`: what the last log ends with."""
    for n in range(files):
        records = [sent(f"H{n}M{m}", m * 10, m * 10 + 1) for m in range(50)]
        for record in records:
            record.store_host = bytes([10, 0, 1, n])
        write_store(folder / f"host-{n}" / "commitlog", records)
        text = "".join(LINE.format(m % 60, f"{n}-{m}") for m in range(400))
        (folder / f"host-{n}" / "broker.log").write_text(text + (end if n == files - 1 else ""))
    return folder


@pytest.fixture
def every_file_a_task(monkeypatch):
    monkeypatch.setattr(sources, "SHARED", 4096)
    monkeypatch.setattr(sources, "CHUNK", 1 << 14)


def parts(case, table):
    """Return the files of a table by name, each with its number on disk: a linked file keeps it."""
    folder = case.folder(table)
    return {path.relative_to(folder).as_posix(): path.stat().st_ino for path in folder.rglob("part=*/*.parquet")}


def test_of_evidence_that_grew_only_new_and_changed_files_are_read(tmp_path, every_file_a_task):
    before = kit.open_case(stores_and_logs(tmp_path / "before", files=3), tmp_path / "ws")
    kept = {name: parts(before, name) for name in ("messages", "skipped", "logs")}
    grown = kit.open_case(stores_and_logs(tmp_path / "grown", files=4), tmp_path / "ws")
    for name, old in kept.items():
        assert old and old.items() < parts(grown, name).items(), name
    alone = kit.open_case(tmp_path / "grown", tmp_path / "another")
    keys = [sorted(row["keys"] for row in case.records.select("keys").collect()) for case in (grown, alone)]
    assert keys[0] == keys[1] == sorted(f"H{n}M{m}" for n in range(4) for m in range(50))
    lines = [sorted(map(tuple, case.logs.select("file", "line", "message").collect())) for case in (grown, alone)]
    assert lines[0] == lines[1] and len(lines[0]) == 4 * 400
    before = kit.open_case(stores_and_logs(tmp_path / "was", files=2), tmp_path / "ws")
    old = parts(before, "logs")
    more = stores_and_logs(tmp_path / "is", files=2, end=LINE.format(9, "once more"))
    grown = kit.open_case(more, tmp_path / "ws")
    new = parts(grown, "logs")
    assert old.keys() - new.keys() and old.keys() & new.keys()
    assert grown.logs.count() == 801
