"""What the tables make of a few rows: each YAML file beside this one has the cases of one subject.

A case says in its name what is true, which rows are `given` to which tables, and which rows the `table` then has: at least the columns that are
named, those of a gold table in order unless `order: any`. `named`: a given table to whose keys of messages their ids are put. `!at 5` is five seconds after the beginning; a given row has the `defaults` of its table where it says nothing.
Below are tables of many rows, which are made by a rule, and cross-checks of a store: nothing on recordings; after damage exactly what was damaged.
"""

import datetime as dt
import json
import os
import struct
from collections import Counter
from pathlib import Path

import asked
import pytest
import recorded
import yaml
from asked import at

import kit
from kit.tables.queries import catalogue


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML with times."""


Loader.add_constructor("!at", lambda loader, node: at(float(node.value)))


def cases():
    found = []
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        subject = yaml.load(path.read_text(encoding="utf-8"), Loader)
        own = subject.get("defaults", {})
        found += [pytest.param(case, own, id=f"{path.stem}: {case['name']}") for case in subject["cases"]]
    if "RMQ_KIT_TEST_MASTER" in os.environ:  # a case of each table: Apache Spark needs a second or two for one
        found = list({each.values[0]["table"]: each for each in reversed(found)}.values())
    return found


def named(rows):
    """Put the ids beside the keys of messages, as `records` has them."""
    records = [{"file": "f", "physical_offset": n, "offset_msg_id": f"{n}", **row} for n, row in enumerate(rows)]
    fields = ("file", "physical_offset", "offset_msg_id", "uniq_key")
    frame = asked.case(records=[{name: row[name] for name in fields} for row in records]).tables.frame("records")
    ids = {row.uniq_key: row.id for row in frame.select("uniq_key", "id").collect()}
    return [{"id": ids[row["uniq_key"]], **row} for row in rows]


@pytest.mark.parametrize(("case", "defaults"), cases())
def test_a_table_makes_of_rows(case, defaults):
    given = {name: [defaults.get(name, {}) | row for row in rows] for name, rows in case["given"].items()}
    if case.get("named"):
        given[case["named"]] = named(given[case["named"]])
    found = asked.rows(case["table"], **given)
    expected = case["expect"]
    assert len(found) == len(expected), found
    if case.get("order") == "any" or catalogue()[case["table"]].layer == "silver":
        found = sorted(found, key=lambda row: str([row[name] for name in expected[0]]))
        expected = sorted(expected, key=lambda row: str(list(row.values())))
    for row, wanted in zip(found, expected, strict=True):
        # Times in tables are naive.
        shown = {n: v.replace(tzinfo=dt.UTC) if isinstance(v, dt.datetime) else v for n, v in row.items()}
        assert {name: shown[name] for name in wanted} == wanted


def test_each_row_of_a_long_output_keeps_its_own_cells_below_its_own_command():
    """A script asks for every group: 400 commands, each with 50 rows."""
    call = {"file": "f", "block": 0, "command": "consumerProgress", "name": "argument:-g"}
    names = ("#QID", "#Diff", "#Topic", "#Broker")
    given = [{**call, "line": 51 * n, "value": f"group-{n}"} for n in range(400)]
    for n, row in ((n, row) for n in range(400) for row in range(1, 51)):
        place = {"file": "f", "line": 51 * n + row, "block": 50 * n + row, "command": "consumerProgress"}
        given += [{**place, "name": name, "value": f"{name} {n} {row}"} for name in names]
    found = asked.rows("admin_blocks", admin=given)
    assert len(found) == 400 * 50
    for row in found:
        n, nth = divmod(row["line"], 51)
        assert dict(row["arguments"]) == {"-g": f"group-{n}"}
        assert dict(row["cells"]) == {name: f"{name} {n} {nth}" for name in names}


HOST, CLIENT = "10.0.0.2:10911", "10.0.1.7:40001"


def stored(n, seconds, born=None, **more):
    """Return an original, stored so many seconds after the start and born at once before if not told otherwise."""
    row = {
        "file": "00000000000000000000", "physical_offset": n * 100, "store_size": 100, "topic": "orders", "queue_id": 0, "queue_offset": n,
        "sys_flag": 0, "born_timestamp": at(seconds - 0.001 if born is None else born), "born_host": CLIENT, "store_timestamp": at(seconds),
        "store_host": HOST, "reconsume_times": 0, "prepared_transaction_offset": 0, "body_crc": n, "body_size": 10,
        "offset_msg_id": f"M{n}", "uniq_key": f"U{n}", "keys": f"K{n}", "stage": "original", "original": True, "misplaced": False,
    }  # fmt: skip
    return row | more


def traffic(seconds, *, missing, waiters=0):
    """Return a record every 10 ms, none in a hole; `waiters` of those that follow it were born in its first 10 ms."""
    start, end = missing
    times = [n / 100 for n in range(int(seconds * 100)) if not start < n / 100 < end]
    born = dict.fromkeys([t for t in times if t >= end][:waiters], start + 0.005)
    return [stored(n, t, born.get(t)) for n, t in enumerate(times)]


def ms(seconds):
    return int(at(seconds).timestamp() * 1000)


def test_a_hole_in_store_times_is_a_pause_if_three_originals_waited_for_its_end():
    (pause,) = asked.rows("pauses", records=traffic(8, missing=(4, 4.5), waiters=3))
    # The first of those that waited was born 5 ms after the last record before the hole.
    assert pause == {"store_host": HOST, "start_ms": ms(4.005), "end_ms": ms(4.5), "waiters": 3}
    # One waiter proves a hole of a second, none of half a second.
    assert asked.rows("pauses", records=traffic(8, missing=(4, 4.5), waiters=1)) == []
    assert len(asked.rows("pauses", records=traffic(8, missing=(4, 5.5), waiters=1))) == 1
    assert asked.rows("pauses", records=traffic(8, missing=(4, 4.5))) == []
    # Of a damaged record nobody knows whether a producer wrote it: a copy of a check is as late.
    late = traffic(8, missing=(4, 5.5), waiters=1)
    for row in late:
        waited = row["store_timestamp"] - row["born_timestamp"]
        row["problem"] = "properties" if waited > dt.timedelta(seconds=1) else None
    assert asked.rows("pauses", records=late) == []
    # A record that a flipped bit moves into the hole does not end it.
    moved = stored(9_999, 4.25, misplaced=True)
    assert asked.rows("pauses", records=[*traffic(8, missing=(4, 4.5), waiters=3), moved]) == [pause]


def test_the_clock_of_a_client_is_known_by_its_quickest_record():
    behind = [stored(n, 10 + n, 3 + n) for n in range(20)]
    (clock,) = asked.rows("client_clocks", records=behind)
    assert (clock["born_host"], clock["skew"]) == (CLIENT, 7000)
    # A difference that no network explains but a flipped bit does: the third quickest counts.
    flipped = [stored(n, 10 + n, 10 + n - 0.002 if n else 99) for n in range(20)]
    (clock,) = asked.rows("client_clocks", records=flipped)
    assert clock["skew"] == 0


HALF = "RMQ_SYS_TRANS_HALF_TOPIC"


def leaked(offset, key="L", born=0):
    """A half record whose REAL_TOPIC is the half topic, stored so many seconds after the beginning as its offset says."""
    return {
        "uniq_key": key, "file": "log", "physical_offset": offset, "queue_id": 0, "queue_offset": offset, "topic": HALF, "stage": "leaked", "sys_flag": 4,
        "store_timestamp": at(offset), "store_host": "h", "born_timestamp": at(born), "born_host": "10.0.0.9:1", "reconsume_times": 0,
        "prepared_transaction_offset": 0, "property_TRAN_MSG": "true", "property_REAL_TOPIC": HALF, "property_DELAY": "3",
    }  # fmt: skip


def test_the_curve_of_leaked_half_records_keeps_each_doubling_and_a_rare_key_is_damaged():
    """Two messages, 9,000 half records: every second one, the first and last, and 2 × 2^k."""
    records = [leaked(n, "LM"[n % 2], born=n % 2) for n in range(9_000)]
    found = asked.rows("leak_growth", records=records)
    doubled = [row["seq"] for row in found if row["doubling"]]
    assert doubled == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
    assert [row["seq"] for row in found[:3]] == [1, 2, 4] and len(found) == 4_501
    assert found[-1] | {"store_timestamp": None} == {
        "seq": 9_000, "store_timestamp": None, "half_queue_offset": 8_999, "check_times": None, "uniq_key": "M",
        "doubling": False, "from_the_beginning": True,
    }  # fmt: skip
    # Once checked, it was stored before: its first record is not there.
    late = [record | {"property_TRANSACTION_CHECK_TIMES": "4"} for record in records[:20]]
    assert {row["from_the_beginning"] for row in asked.rows("leak_growth", records=late)} == {False}
    # A rare key of one birth is damaged.
    copies = [leaked(n) for n in range(1, 202)] + [leaked(300, "M")]
    (row,) = asked.rows("leak_counts", records=copies)
    assert (row["records"], row["messages"]) == (202, 1)


GOOD = ("OK", "SUCCESS", "CONSUME_SUCCESS", "true", "成功", "ok: 3")
BAD = ("FAIL", "RECONSUME_LATER", "SKIPPED_DUPLICATE", "失败", "false", "err")
UNKNOWN = ("transferred", "7", "book")


def ledger(file, *results):
    named = {"role": "deliveries", "file": file, "uniq_key": "K"}
    return [{**named, "line": n, "status": result, "time": at(n)} for n, result in enumerate(results, 2)]


def test_an_unknown_word_is_a_success_only_where_most_deliveries_end_with_it():
    """First a ledger of each word with another one beside it, then each unknown word alone."""
    rows = [row for word in (*GOOD, *BAD, *UNKNOWN) for row in ledger(word, word, "other")]
    found = asked.rows("ledger_deliveries", rows=rows)
    wanted = dict.fromkeys(GOOD, True) | dict.fromkeys(BAD, False) | dict.fromkeys(UNKNOWN)
    assert {row["result"]: row["success"] for row in found if row["result"] != "other"} == wanted
    for word in UNKNOWN:
        (row,) = asked.rows("ledger_deliveries", rows=ledger("a.csv", word))
        assert row["success"] is True
    # A column of many different words is no result.
    found = asked.rows("ledger_deliveries", rows=ledger("a.csv", *(f"ok {n}" for n in range(51))))
    assert {r["success"] for r in found} == {None}


def test_a_long_curve_of_the_half_queue_is_thinned():
    half = {"file": "log", "topic": HALF, "stage": "half", "store_size": 700}
    places = [{"queue_offset": n, "physical_offset": 1000 * n, "store_timestamp": at(n)} for n in range(1000)]
    long = asked.rows("half_queue", records=[half | {"uniq_key": f"K{n}", **place} for n, place in enumerate(places)])
    assert len(long) <= 401 and long[-1]["offset"] == 1000


STORE = "broker/store"
TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"


def disagreeing(case):
    """Ask what docs/tables.md asks of a store: units, records, records behind a hole, offsets."""
    page = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
    questions = page.split("## Does a store agree with itself?")[1].split("```")[1].removeprefix("sql\n").splitlines()
    return [case.sql(question).toPandas() for question in questions]


def test_a_whole_store_agrees():
    whole = recorded.case("producer-offline")
    assert [len(rows) for rows in disagreeing(whole)] == [0, 0, 0, 0]
    units = whole.consumequeue.select("topic", "queue_id", "logical_offset", "physical_offset").collect()
    place = ("topic", "queue_id", "queue_offset", "physical_offset")
    records = [tuple(record[name] for name in place) for record in recorded.truth("producer-offline")]
    assert sorted(map(tuple, units)) == sorted(records)


def test_each_check_names_what_was_damaged(tmp_path):
    """A record overwritten, a unit turned elsewhere, the last unit of a queue gone, an offset far ahead."""
    root = recorded.unpack("producer-offline", tmp_path)
    halves = [t for t in recorded.truth("producer-offline") if t["topic"] == TOPIC]
    ((queue, _),) = Counter(t["queue_id"] for t in halves).most_common(1)
    records = sorted((t for t in halves if t["queue_id"] == queue), key=lambda t: t["queue_offset"])
    assert len(records) >= 6
    lost, moved, last = records[1], records[3], records[-1]
    log = root / STORE / "commitlog/00000000000000000000"
    data = bytearray(log.read_bytes())
    data[lost["physical_offset"] : lost["physical_offset"] + lost["store_size"]] = b"\xee" * lost["store_size"]
    log.write_bytes(data)
    path = root / STORE / f"consumequeue/{TOPIC}/{queue}/00000000000000000000"
    units = bytearray(path.read_bytes())
    struct.pack_into(">q", units, 20 * moved["queue_offset"], moved["physical_offset"] + 1)
    units[20 * last["queue_offset"] :] = bytes(len(units) - 20 * last["queue_offset"])
    path.write_bytes(units)
    offsets = root / STORE / "config/consumerOffset.json"
    ahead, fits = {str(queue): 99999}, {str(queue): last["queue_offset"]}
    offsets.write_text(json.dumps({"offsetTable": {f"{TOPIC}@ahead": ahead, f"{TOPIC}@fits": fits}}))
    units, unqueued, behind, beyond = disagreeing(kit.open_case(root))
    assert {*units["physical_offset"]} == {lost["physical_offset"], moved["physical_offset"] + 1}
    assert {*unqueued["physical_offset"]} == {moved["physical_offset"], last["physical_offset"]}
    assert {*behind["physical_offset"]} == {records[2]["physical_offset"]}
    assert beyond[["group", "end"]].values.tolist() == [["ahead", last["queue_offset"]]]
