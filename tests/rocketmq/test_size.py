"""Stored sizes. Expected: store_size of RocketMQ's decoder, bytes of the commitlog, arithmetic (reference, section 6)."""

import random
import zlib
from collections import defaultdict

import oracle
import pytest
import recorded
from hypothesis import given
from hypothesis import strategies as st
from recorded import SMALL, commitlog, label, truth
from table import rows_of

from kit.rocketmq import names, size, stages
from kit.rocketmq.versions import rule


def load(name):
    files, broker = commitlog(name), label(name)["recorded_as"]["broker"]
    trailing = rule("trailingSeparator", broker)
    rows = []
    for record in truth(name):
        one = oracle.parse(recorded.stored(record, files), 0)
        model = size.Record(record["topic"], len(one["body"]), record["properties"], trailing)
        # In a batch each message says twice that it waits for the store.
        more = max(one["properties"].count(b"WAIT\1true") - 1, 0)
        assert model.size + 10 * more == record["store_size"], record
        rows.append((record | {"batch": more > 0}, model))
    return rows


ADDED = {names.WAIT, names.CLUSTER, names.MSG_REGION, names.TRACE_ON}


def copy_of(record, model, earlier, broker):
    """Return what kind of copy a record is, and the record predicted from those of the same message before it."""
    props, topic, real = record["properties"], record["topic"], record["properties"].get(names.REAL_TOPIC, "")
    committed = record["sys_flag"] & names.TRANSACTION_MASK == names.TRANSACTION_COMMIT
    marks = {"delayed": names.DELAY in props, "renewed": bool({*stages.RENEWED} & set(props)), "committed": committed}
    group = stages.consumer_group_of(topic, real) or ""

    def last(*topics, **fields):
        return [m for r, m in earlier if r["topic"] in topics and fields.items() <= r.items()][-1]

    def without(*added):
        return size.Record(real, model.body, {k: v for k, v in props.items() if k not in added}, model.trailing)

    match stages.stage_of(topic, real or None, **marks):
        case stages.HALF:
            plain = without(names.REAL_TOPIC, names.REAL_QID, names.TRANSACTION_ID)
            return "prepared", size.prepared(plain, int(props[names.REAL_QID]), broker)
        case stages.CHECK_BACK:
            first = props.get(names.PREPARED_QUEUE_OFFSET)
            return "put_back", size.put_back(last(names.HALF_TOPIC), first_offset=int(first) if first else None)
        case stages.COMMIT:
            return "committed", size.delivered(last(names.HALF_TOPIC, physical_offset=record["prepared_offset"]))
        case stages.DISCARDED:
            return "discarded", last(names.HALF_TOPIC).with_(names.DISCARD_TOPIC)
        case stages.SCHEDULE if real.startswith(names.RETRY_PREFIX):
            times = record["reconsume_times"] - 1
            source = last(props[names.RETRY_TOPIC], real, reconsume_times=times)
            return "sent_back", size.sent_back(source, group, times, int(props[names.DELAY]))
        case stages.SCHEDULE if group:
            letter = size.dead_lettered(last(names.RETRY_PREFIX + group), group, broker)
            return "dead_letter_waiting", letter.with_(names.SCHEDULE_TOPIC)
        case stages.SCHEDULE if names.TRAN_MSG not in props:
            plain = without(names.REAL_TOPIC, names.REAL_QID, names.DELAY)
            return "scheduled", size.scheduled(plain, int(props[names.DELAY]), int(props[names.REAL_QID]))
        case stages.DLQ:
            return "dead_lettered", size.dead_lettered(last(names.RETRY_PREFIX + group), group, broker)
        case stages.DUE | stages.RETRY if names.DELAY in props:
            return "delivered", size.delivered(last(names.SCHEDULE_TOPIC, properties=props))
        case stages.ORIGINAL if names.UNIQ_KEY in props and not record["batch"]:
            app = {k: v for k, v in props.items() if k in {names.KEYS, names.TAGS, names.UNIQ_KEY}}
            return "sent", size.sent(topic, model.body, app, broker=broker)
    return "", None


COPIES = rows_of(__file__, "copies")


@pytest.mark.parametrize("name", SMALL)
def test_every_copy_is_as_large_as_predicted(name):
    """Each is predicted from the record it was made from."""
    recorded_as = label(name)["recorded_as"]
    broker, client, seen = recorded_as["broker"], recorded_as.get("client"), set()
    copies = defaultdict(list)
    for record, model in load(name):
        props = record["properties"]
        earlier = copies[props.get(names.UNIQ_KEY, "")]
        kind, expected = copy_of(record, model, earlier, broker)
        if expected is not None:
            seen.add(kind)
            assert expected.size == record["store_size"], (kind, record)
        if kind == "prepared":
            brokers = {*ADDED, names.REAL_TOPIC, names.REAL_QID, names.TRANSACTION_ID}
            app = {name: value for name, value in props.items() if name not in brokers}
            whole = size.sent(props[names.REAL_TOPIC], model.body, app, broker=broker, client=client, transaction=True)
            assert size.prepared(whole, int(props[names.REAL_QID]), broker).size == record["store_size"]
        earlier.append((record, model))
    assert set(COPIES[name]) <= seen, seen


def test_formula_and_zlib_bound():
    assert size.Record("", 0, {}).size == 91
    assert size.Record("", 0, {}, v2=True).size == 92
    assert size.Record("主题", 5, {"K": "值"}).size == 91 + 6 + 5 + 1 + 3 + 2
    noise = random.Random(1).randbytes(70_000)
    assert all(len(zlib.compress(noise[:n], 5)) <= size.zlib_bound(n) for n in (4096, 16_384, 65_510, 70_000))


@pytest.mark.parametrize(("check_max", "times", "grown"), rows_of(__file__, "growth_of_put_backs"))
def test_growth_of_put_backs(check_max, times, grown):
    assert size.growth(check_max, times) == grown
    half = size.prepared(size.sent("T", 100, broker="4.6.0", transaction=True), 3, "4.6.0")
    before = size.put_back(half, times) if times else half
    assert size.put_back(before, check_max).size - before.size == grown


@pytest.mark.parametrize("row", rows_of(__file__, "limits_by_version"), ids=str)
def test_limits_by_version(row):
    broker, dledger, body, over, limit, refused = row
    record = size.Record("T", body, {"x" * (over - 94): ""})
    assert record.size == body + over
    assert size.refusals(record, broker, limit, dledger=dledger) == refused


@pytest.mark.parametrize(("prefix", "letter", "times", "broker", "too_long"), rows_of(__file__, "topics"))
def test_the_limit_of_a_topic(prefix, letter, times, broker, too_long):
    assert size.refusals(size.Record(prefix + letter * times, 0, {}), broker) == (["topic"] if too_long else [])


@given(
    st.integers(0, 500),
    st.sampled_from(["4.3.0", "4.6.0", "4.9.3", "4.9.4", "4.9.5", "5.1.4", "5.3.3"]),
    st.integers(1_000, 5_000_000),
    st.booleans(),
    st.integers(1, 20),
)
def test_the_safe_body_is_the_largest_whose_put_backs_all_fit(extra, broker, limit, dledger, check_max):
    how = {"broker": broker, "limit": limit, "dledger": dledger}
    got = size.rewrites(0, "topic", {"k": "v" * extra}, check_max=check_max, **how)

    def fits(body):
        properties = {"k": "v" * extra, names.TRAN_MSG: "true", names.PGROUP: ""}
        half = size.prepared(size.sent("topic", body, properties, broker=broker, transaction=True), 0, broker)
        copies = [size.put_back(half, n) for n in range(1, check_max + 1)]
        return not any(size.refusals(each, broker, limit, dledger=dledger) for each in copies)

    assert fits(got["safe_stored_body"]) and not fits(got["safe_stored_body"] + 1)


def test_no_body_is_safe_where_the_put_back_exceeds_the_properties():
    # 32,742 bytes of properties fit, 26 more do not (reference, section 6.3).
    for extra, safe in [(32_741, True), (32_742, False)]:
        properties = {names.TRAN_MSG: "true", names.PGROUP: "", "k": ""}
        half = size.prepared(size.sent("t", 0, properties, broker="5.3.3", transaction=True), 0, "5.3.3")
        room = extra - half.properties_length
        got = size.rewrites(0, "t", {"k": "v" * room}, broker="5.3.3", check_max=1)
        assert (got["safe_stored_body"] is not None) == (got["max_message_size"] is not None) == safe


@given(st.integers(0, 5_000_000))
def test_max_message_size_never_grows_beyond_what_is_safe(stored_bytes):
    """A compressed body is kept even when it grew."""
    most = size.max_message_size(stored_bytes)
    stored, more = (size.zlib_bound(n) if n >= size.COMPRESS_FROM else n for n in (most, most + 1))
    assert stored <= stored_bytes < more


def test_a_client_string_stays_as_it_is_before_4_6_0():
    old = size.sent("T", 10, {"K": "v"}, broker="4.5.2", client="4.9.4")
    assert not old.trailing
    assert size.scheduled(old, 3).trailing
    assert size.sent("T", 10, {"K": "v"}, broker="4.5.2", client="4.5.2").size == old.size + 1
