"""One message: its records in order, which id each call hands out, the look-ups read out of sessions and logs, and what clients' traces tell of it."""

import datetime as dt

import pandas as pd
import pytest
import recorded
from folders import put
from stores import Record, store
from table import rows_of

import kit
from kit.analysis.messages import lookups, trace
from kit.analysis.messages.lookups import parse
from kit.report import console
from kit.rocketmq import names, stages
from kit.tables.facts import Facts

START = dt.datetime(2024, 5, 14, 2, tzinfo=dt.UTC)
HOST = "0A140D0B00002A9F"
KEY = "0A140D1500000C387F4466D0DB3F0003"
GROUP = "points"
UNKNOWN = ("real_topic", "check_times", "delay_level", "origin_message_id", "due", "consumer_group")
RETRY, DLQ = names.RETRY_PREFIX + GROUP, names.DLQ_PREFIX + GROUP


def record(n, stage, topic, **more):
    return dict.fromkeys(UNKNOWN) | {
        "uniq_key": KEY, "file": "f", "physical_offset": n, "offset_msg_id": f"{HOST}{n:016X}", "topic": topic,
        "stage": stage, "sys_flag": 0, "store_timestamp": START + dt.timedelta(seconds=n), "store_host": "h",
        "reconsume_times": 0, "prepared_transaction_offset": 0, "queue_offset": n, "born_host": "p", "resent": False,
        "born_timestamp": START + dt.timedelta(seconds=n), "queue_id": 0, "properties": {},
    } | more  # fmt: skip


BACK = {"consumer_group": GROUP, "origin_message_id": f"{HOST}{3:016X}"}
LIFE = [
    record(1, stages.HALF, names.HALF_TOPIC, real_topic="orders"),
    record(2, stages.CHECK_BACK, names.HALF_TOPIC, real_topic="orders", check_times=1),
    record(3, stages.COMMIT, "orders", sys_flag=8, prepared_transaction_offset=2),
    record(4, stages.SCHEDULE, names.SCHEDULE_TOPIC, reconsume_times=1, real_topic=RETRY, delay_level=3, **BACK),
    record(5, stages.RETRY, RETRY, reconsume_times=1, real_topic=RETRY, **BACK),
    record(6, stages.SCHEDULE, names.SCHEDULE_TOPIC, reconsume_times=2, real_topic=DLQ, delay_level=4, **BACK),
    record(7, stages.DLQ, DLQ, reconsume_times=2, **BACK),
]


def test_each_copy_names_the_one_it_was_written_from():
    records = trace.with_lineage(LIFE)
    assert [r["copied_from"] and int(r["copied_from"][-16:], 16) for r in records] == [None, 1, 2, 3, 4, 5, 6]
    why = [r["why"].render("en") for r in records]
    assert ["new offset id" in text for text in why] == [False, True, *[False] * 5]
    assert "Check 1" in why[1] and "offset 2" in why[2] and "retry 1" in why[4].lower() and "gave it up" in why[6]
    assert all(any("\u4e00" <= c <= "\u9fff" for c in r["why"].render("zh")) for r in records)


@pytest.mark.parametrize("row", rows_of(__file__, "gaps"), ids=str)
def test_what_is_missing(row):
    after = lambda seconds: None if seconds is None else START + dt.timedelta(seconds=seconds)  # noqa: E731
    changed = {
        n: each | ({"due": after(each["due"])} if "due" in each else {}) for n, each in row.get("changed", {}).items()
    }
    records = [r | changed.get(r["physical_offset"], {}) for r in LIFE if r["physical_offset"] in row["records"]]
    ops = [{"half_offset_msg_id": f"{HOST}{n:016X}"} for n in row["ended"]]
    found = [gap["kind"] for gap in trace.gaps(trace.with_lineage(records), ops, after(row.get("last")))]
    assert found == row["missing"] if "missing" in row else row["among"] in found


def test_a_second_send_and_a_second_commit_are_told_apart():
    again = [record(1, stages.ORIGINAL, "t"), record(2, stages.ORIGINAL, "t")]
    batch = [record(n, stages.ORIGINAL, "t", born_timestamp=START) for n in (1, 2)]
    twice = [*LIFE[:3], record(9, stages.COMMIT, "orders", sys_flag=8, prepared_transaction_offset=1)]
    first = record(1, stages.SCHEDULE, names.TIMER_TOPIC, real_topic="t", due=START)
    recalled, rolled = (
        [first, record(2, stages.SCHEDULE, names.TIMER_TOPIC, real_topic="t", due=START, properties={name: "1"})]
        for name in ("TIMER_DEL_UNIQKEY", "TIMER_ROLL_TIMES")
    )
    assert "rmq_sys_wheel_timer" in trace.with_lineage([first])[0]["why"].render("en")
    late = START + dt.timedelta(hours=1)
    waiting = [[g["kind"] for g in trace.gaps(trace.with_lineage(rows), [], late)] for rows in (recalled, rolled)]
    assert waiting == [[], ["due-missing"]]
    told = ((again, "sent the same message again"), (batch, "same batch"), (twice, "second time"))
    for records, says in (*told, (recalled, "Recalled"), (rolled, "put back into")):
        why = [each["why"].render("en") for each in trace.with_lineage(records)]
        assert says in why[-1] and any("new offset id" in each for each in why) == (records is not batch)


@pytest.mark.parametrize("row", rows_of(__file__, "calls"), ids=lambda row: row["name"])
def test_which_id_each_call_hands_out(row):
    """`at n`: the offset id of the record at that place; `no such call`: not one of that name is listed."""
    retried = row["records"] == "retried"
    records = LIFE[:5] if retried else [record(n, *each) for n, each in enumerate(row["records"], 1)]
    frame = lookups.of_copies(pd.DataFrame(records).assign(client_version=row.get("client")))
    found = dict(zip(frame["call"], frame["id"], strict=True))
    wanted = {"uniq": KEY, "none": None} | {f"at {n}": f"{HOST}{n:016X}" for n in range(9)}
    shown = {call: found.get(call, "no such call") for call in row["ids"]}
    assert shown == {call: wanted.get(id_, id_) for call, id_ in row["ids"].items()}
    assert not [call for call in found if call.startswith(row.get("no_call_begins_with", "-"))]


UNIQ = "0A142C1500000C387F4466D0D88B0000"
CONNECT = "RemotingConnectException: connect to 10.20.44.{} failed"


def read(text, file="session.txt"):
    return parse((file, n, line) for n, line in enumerate(text.split("\n"), 1))


def test_every_recorded_lookup_is_read():
    lookups = {}
    for name in ("message-identity", "healthy-traced"):
        for file, data in recorded.files(name, "**/mqadmin/*").items():
            lookups |= {(name, file.rsplit("/", 1)[1]): one for one in read(data.decode(), file)}
    shown = {" ".join(key): [one.reason, [*one.ids]] if one.reason else one.found for key, one in lookups.items()}
    assert shown == rows_of(__file__, "recorded_lookups")


@pytest.mark.parametrize("row", rows_of(__file__, "sessions"), ids=lambda row: row["name"])
def test_sessions(row):
    parsed, lookups = read(row["text"]), row["lookups"]
    shown = [{name: getattr(one, name) for name in wanted} for one, wanted in zip(parsed, lookups, strict=True)]
    assert shown == [one | ({"ids": tuple(one["ids"])} if "ids" in one else {}) for one in lookups]


def test_a_connection_to_anywhere_else_is_not_the_ids_fault():
    for port, failed in (("11:10911", False), ("21:3128", True)):
        [one] = read(f"mqadmin queryMsgById -i {UNIQ}\n{CONNECT.format(port)}")
        one.wrong = True
        assert one.failed_by_kind is failed
        one.found = True
        assert not one.failed_by_kind


NAME = "healthy-traced"
TOPIC = "RMQ_SYS_TRACE_TOPIC"


@pytest.mark.recordings
@pytest.mark.spark
def test_a_message_what_clients_wrote_about_it_and_the_id_of_a_trace_itself(monkeypatch):
    case, records = recorded.case(NAME), list(recorded.truth(NAME))
    about = [r for r in records if r["topic"] == TOPIC]
    copies = {}
    for record in records:
        if record["topic"] not in (TOPIC, "RMQ_SYS_TRANS_OP_HALF_TOPIC"):
            copies.setdefault(record["properties"]["UNIQ_KEY"], set()).add(record["msg_id"])
    key = next(k for r in about for k in r["properties"]["KEYS"].split() if k in copies)
    business = next(r["properties"]["KEYS"] for r in records if r["properties"].get("UNIQ_KEY") == key)
    places = {r["physical_offset"] for r in about if key in r["properties"]["KEYS"].split()}
    questions, answers = [], Facts.answers
    monkeypatch.setattr(Facts, "answers", lambda *a, **values: questions.append(a[1]) or answers(*a, **values))
    ids = [key, business, min(copies[key]), min(set(copies) - {key}), "nothing", ""]
    several = kit.traces(case, ids)
    assert (questions.count("copies"), questions.count("named_messages")) == (1, 1)
    assert several == [kit.trace(case, asked) for asked in ids]
    for told in several[:3]:
        assert told["uniq_keys"] == [key]
        assert {r["offset_msg_id"] for r in told["records"]} == copies[key]
        assert {t["physical_offset"] for t in told["traces"]} == places
        assert {t["uniq_key"] for t in told["traces"]} == {key} and "Pub" in {t["type"] for t in told["traces"]}
        assert all("line" in mention for mention in told["mentions"])
        assert f"@{min(places)}  type=" in console.life(told, "en")
    record = about[0]
    for asked in (record["msg_id"], record["properties"]["UNIQ_KEY"]):
        told = kit.trace(case, asked)
        assert told["records"] == [] and told["gaps"] == []
        assert {t["physical_offset"] for t in told["traces"]} == {record["physical_offset"]}
        assert {t["uniq_key"] for t in told["traces"]} <= set(record["properties"]["KEYS"].split())


@pytest.mark.spark
def test_a_key_is_found_as_it_stands_and_by_each_of_its_words(tmp_path):
    record = Record(b"orders", properties="KEYS\x01订单 1\x02UNIQ_KEY\x01mine\x02".encode())
    put(tmp_path / "store/commitlog" / f"{0:020}", store([record], end=bytes(4096)).data)
    told = kit.traces(kit.open_case(tmp_path / "store", tmp_path / "ws"), ["订单 1", "订单", "1", "mine", "单 1"])
    assert [(life["kind"], len(life["records"])) for life in told] == [("key", 1)] * 3 + [("uniq", 1), ("key", 0)]
