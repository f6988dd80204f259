"""A case against what RocketMQ's own decoder says, and the promises of caching, cutting and quoting."""

import datetime as dt
import os
import random
import shutil
import time
from functools import partial

import folders
import numpy as np
import pandas as pd
import pytest
import recorded
import stores
from folders import opened, put
from table import rows_of

import kit
from kit.case import tables, unreadable
from kit.causes import results
from kit.causes.findings import Finding, Step
from kit.causes.triage import document, harm
from kit.i18n import LANGS, T
from kit.inventory import zones
from kit.inventory.model import Ref
from kit.report import terminal, write

NAME = "producer-offline"
SAMPLE = recorded.HERE.parent / "sample_data" / f"{NAME}.tar.zst"
pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def case(spark, cache):
    return kit.open_case(SAMPLE, cache)


@pytest.fixture(scope="module")
def truth():
    return list(recorded.truth(NAME))


def instant(ms):
    return dt.datetime.fromtimestamp(ms / 1000, dt.UTC)


def test_of_a_store_that_was_read_only_the_end_is_read_again(tmp_path):
    rng = random.Random(8)
    records = [stores.some_record(rng) for _ in range(8)]
    ends = stores.store(records, base=1 << 30, blank=300)
    damaged = stores.store(records, base=2 << 30, end=bytes(40))
    damaged.data = damaged.data[:100] + b"\1" * 50 + damaged.data[150:]
    for name, written in {"ends": ends, "damaged": damaged, "full": stores.store(records, base=3 << 30)}.items():
        put(tmp_path / "e" / name, written.data)
    case = kit.open_case(tmp_path / "e", tmp_path / "w")
    assert case.has("records")
    starts = {row["file"]: row["start"] for row in case.facts.rows("files_with_skipped")}
    assert starts == {"damaged": 0, "ends": ends.spans[-1][0]}
    whole = case.session.read.format("rocketmq.commitlog").option("table", "skipped").load(str(tmp_path / "e"))
    ranges = sorted(map(tuple, whole.collect()))
    assert sorted(map(tuple, case.skipped.collect())) == ranges
    assert ("ends", ends.spans[-1][1], len(ends.data), "blank") in ranges and len(ranges) > 2


def test_folders_may_have_any_name(truth, tmp_path):
    odd = tmp_path / "工作 区 50% 1+1 [a]{b}*?#é%2B"
    odd.mkdir()
    shutil.copy(SAMPLE, odd / SAMPLE.name)
    case = kit.open_case(odd / SAMPLE.name, odd / "cache")
    assert case.records.count() == len(truth) and case.logs.count() > 100
    assert ("records", len(truth)) in write.decoded(case, odd / "out", body=False, form="parquet")
    assert len(pd.read_parquet(odd / "out" / "messages", columns=["physical_offset"])) == len(truth)
    assert {path.name for path in tmp_path.iterdir()} == {odd.name}


def test_logs_are_written_in_the_order_of_their_lines(case, tmp_path):
    write.parsed_logs(case, tmp_path / "out", form="parquet")
    found = pd.read_parquet(tmp_path / "out" / "logs", columns=["file", "line"])
    assert len(found) == case.logs.count() and found.equals(found.sort_values(["file", "line"], ignore_index=True))


def test_every_table_is_there_and_times_are_instants_in_the_zone_of_the_records(case):
    filled = {name for name in (*tables.specs(), "ops", "configs") if case.has(name)}
    there = {"messages", "skipped", "ops", "logs", "consumequeue", "index", "configs", "offsets", "rows", "admin"}
    assert there <= filled and not {"sends", "traces", "metrics"} & filled
    assert case.sends.columns[:4] == ["file", "line", "key", "start"] and case.sends.count() == 0
    assert "events" in case.tables.frame("entries").columns and "events" not in case.logs.columns
    # Rows and application lines are within seconds of the records they name, whatever their zone.
    assert set(case.zones.values()) == {"+08:00"}
    late = case.sql(
        "select unix_millis(time) - unix_millis(min(born_timestamp)) as ms from rows join records on key = keys "
        "where role = 'business' and topic = 'RMQ_SYS_TRANS_HALF_TOPIC' group by key, time"
    ).collect()
    assert len(late) > 10 and all(abs(r.ms) < 10_000 for r in late)


def test_a_fault_of_the_kit_is_no_table_that_cannot_be_read(case, monkeypatch):
    def fails(*args):
        raise AttributeError("of")

    monkeypatch.setattr(zones, "first_seen", fails)
    with pytest.raises(AttributeError):
        zones.settle(case.unzoned.items, lambda names: ())


def test_since_and_until_cut_on_read_and_a_second_opening_reads_no_evidence(case, cache, truth, monkeypatch):
    times = sorted(int(str(t["store_timestamp"])) for t in truth)
    low, high = times[len(times) // 4], times[len(times) // 2]
    cut = kit.open_case(SAMPLE, cache, since=instant(low), until=instant(high).isoformat())
    assert cut.messages.count() == sum(low <= t <= high for t in times)
    assert cut.configs.count() == case.configs.count()
    counted = case.messages.count()
    monkeypatch.setattr(tables, "tasks", None)
    assert kit.open_case(SAMPLE, cache).messages.count() == counted


PROGRESS = rows_of(__file__, "progress")
OFFSETS = '{"offsetTable":{"orders@points":{0:%d}}}'


@pytest.mark.parametrize("original", [True, False])
def test_a_window_cuts_outputs_and_copies_by_the_times_of_their_files(tmp_path, original):
    """Where the files have the times of a later copy, nothing is cut, and the triage names what has no time."""
    minutes = {"early": 0, "late": 60}
    moved = {"early": 100, "late": 700}
    files = {f"{name}/progress.txt": PROGRESS.format(offset=moved[name]) for name in minutes}
    files |= {f"{name}/consumerOffset.json": OFFSETS % moved[name] for name in minutes}
    files["late/clusterList.txt"] = rows_of(__file__, "clusters")
    quoted = PROGRESS.format(offset=400).replace("\n", "\n> ")
    files["chat.txt"] = f"is this bad?\n> mqadmin consumerProgress -g points\n> {quoted}"
    files["broker.log"] = "2026-11-20 18:00:00 INFO main - The broker[broker-a, 10.0.0.1:10911] boot success.\n"
    e = folders.written(tmp_path, files)
    start = dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC).timestamp() + 30
    for file in e.rglob("*.*"):
        os.utime(file, (0, start + (60 * minutes.get(file.parent.name, 0) if original else 86400)))
    case = kit.open_case(e, tmp_path / "w", since="2026-11-20T09:55Z", until="2026-11-20T10:05Z")
    kept = {"early"} if original else {"early", "late"}
    outputs = case.sql(
        "select distinct file, time is not null as known from admin_blocks where command = 'consumerProgress'"
    ).collect()
    # When a chat was saved says nothing of what it quotes.
    assert {row.file.partition("/")[0] for row in outputs} == kept | {"chat.txt"}
    assert {row.file for row in outputs if row.known} == ({"early/progress.txt"} if original else set())
    for table in ("offsets", "saved_offsets"):
        rows = [row for row in case.sql(f"select distinct file from {table}").collect() if "cluster" not in row.file]
        assert {row.file.partition("/")[0] for row in rows} == kept, table
    assert case.sql("select value from admin where name = '#Version'").first().value == "V4_9_4"
    everything = case.sql("select file from all_offsets").collect()
    assert {row.file.partition("/")[0] for row in everything} == {"early", "late"}
    findings = document(case, [], "en")
    undated = ["chat.txt"] if original else sorted(set(files) - {"broker.log"})
    assert findings["evidence"].get("undated", []) == undated
    assert any("early" in each and "--since" in each for each in terminal.warnings(findings, "en")) != original
    # The window is part of what a fact is kept under.
    assert len(kit.open_case(e, tmp_path / "w").facts("saved_offsets")) == 2


def test_disagreeing_copies_count_once_and_damage_names_its_range(tmp_path, truth):
    data = bytearray((recorded.whole(NAME) / "broker/store/commitlog/00000000000000000000").read_bytes())
    changed, at = truth[3]["physical_offset"], truth[10]["physical_offset"]
    whole, cut = bytes(data), bytes(data[: at + 50])
    data[changed + 95] ^= 0xFF  # inside a body
    twice = opened(tmp_path / "twice", {"a": whole, "b": bytes(data)})
    assert twice.records.count() == len(truth)
    assert [(d.file, d.label, d.start) for d in unreadable.of(twice)] == [
        ("b", "disagree", None), ("b", "records", changed),
    ]  # fmt: skip
    torn = '{"dataVersion":{"counter":1},"topicConfigTable":{"a":{"perm":6}'
    put(tmp_path / "damaged" / "e" / "link", "").unlink()
    (tmp_path / "damaged" / "e" / "link").symlink_to("/etc/hostname")
    searched = '[{"line": "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy"}]'
    damaged = unreadable.of(opened(tmp_path / "damaged", {"cut": cut, "lo ki.json": searched, "topics.json": torn}))
    assert "jq -c '.[]' 'lo ki.json'" in damaged[2].sentence
    assert [(d.file, d.label, d.start, d.end) for d in damaged] == [
        ("cut", "truncated", at, at + 50), ("link", "not_read", None, None), ("lo ki.json", "one_line", None, None),
        ("topics.json", "not_read", None, None),
    ]  # fmt: skip


def test_results_are_kept_in_both_languages_and_harm_orders_root_causes(case):
    title = T("It happened", "它发生了")
    step = Step(title, "deciding", True, (Ref("f", "text", line=1),))
    frame = pd.DataFrame({"n": [1], "mixed": ["x"]})
    figures = {"lost": np.int64(3), "share": float("nan"), "ends": [np.float64("inf"), 1.5]}
    figures["at"] = dt.datetime(2024, 5, 14, tzinfo=dt.UTC)
    finding = Finding("a-cause", "root_cause", title, title, [step], figures, tables={"frame": frame})
    documents = {lang: document(case, [finding], lang) for lang in LANGS}
    results.save(case, [finding], documents)
    assert results.load(case, "zh") == documents["zh"]
    assert documents["zh"]["findings"][0]["title"] == "它发生了"
    assert documents["en"]["root_causes"] == ["a-cause"]
    assert documents["en"]["findings"][0]["figures"] == {
        "lost": 3, "share": None, "ends": [None, 1.5], "at": "2024-05-14T00:00:00.000Z",
    }  # fmt: skip
    assert documents["en"]["schema"] == 1
    listed = {f["file"]: f for f in documents["en"]["evidence"]["files"]}
    assert set(next(iter(listed.values()))) == {"file", "kind", "bytes", "sha256", "first", "last", "replica_of"}
    assert results.names(case) == ["frame"]
    assert results.table(case, "frame").to_dict("list") == {"n": [1], "mixed": ["x"]}
    assert results.table(case, "none").empty
    figures = {
        "b": {}, "a": {}, "twice": {"stored_twice": 9}, "waits": {"pending": 500}, "loses": {"lost": 1}, "none": {"lost": None},
    }  # fmt: skip
    some = [Finding(slug, "root_cause", T("t", "t"), T("s", "s"), figures=each) for slug, each in figures.items()]
    assert [found.cause for found in sorted(some, key=harm)] == ["loses", "twice", "waits", "a", "b", "none"]


def test_columns_named_by_the_user_and_wrong_options_raise_at_once(cache, tmp_path):
    for said in ({"since": "yesterday"}, {"tz_app": "Mars/Olympus"}, {"lang": "fr"}):
        with pytest.raises(ValueError, match=r"yesterday|Mars|'fr' is not one of 'en', 'zh'"):
            kit.open_case(tmp_path, tmp_path.parent / "c", **said)
    named = kit.open_case(recorded.whole(NAME), cache, rows=["o/t_order.csv:key=status,status=order_id"])
    [row] = named.rows.where("file = 'o/t_order.csv'").limit(1).collect()
    assert (row.key, row.status) == ("PAID", row.cells["order_id"])


ACTIVE, MOST = set(), []


def slowly(number):
    ACTIVE.add(number)
    MOST.append(len(ACTIVE))
    time.sleep(0.02)
    ACTIVE.discard(number)
    return []


@pytest.mark.parametrize("table", ["config_files", "consumequeue"])
def test_many_small_files_are_read_a_few_at_a_time(case, tmp_path, table):
    """All at once took 13 GB for 2,900 files of one line."""
    parts = {f"part={number}": partial(slowly, number) for number in range(100)}
    MOST.clear()
    tables.write(case.session, table, parts, tmp_path)
    assert 1 <= max(MOST) <= tables.MOST_TASKS
    assert len(list(tmp_path.iterdir())) == len(MOST) == len(parts)
