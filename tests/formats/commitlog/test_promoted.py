"""Properties as one text and as columns, against the plain-Python twin of RocketMQ's decoder."""

import tempfile
from pathlib import Path

import effort
import numpy as np
import oracle
import pytest
import stores
from folders import put
from hypothesis import given
from hypothesis import strategies as st
from table import rows_of

from kit.formats.commitlog import batches, schema, segments
from kit.rocketmq import names

WANTED = schema.Wanted((*(name for name in schema.STORED if name != "body"), "properties"))
FOLDER = tempfile.TemporaryDirectory(prefix="promoted-")
"""Goes with the process."""
SAME = ("keys", "tags", "uniq_key", "problem")


def stored(made):
    """Decode bytes into the columns of the workspace; rows in order of place."""
    path = put(Path(FOLDER.name, "f"), made.data)
    file = schema.File("f", str(path), len(made.data), len(made.data), 0, 0)
    rows = [row for batch in segments.messages(file, 0, file.used, WANTED) for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: row["physical_offset"])


def check(raws):
    """Compare what the kernels make of these properties with what RocketMQ makes of them."""
    made = stores.store([stores.Record(properties=raw) for raw in raws])
    rows = stored(made)
    assert len(rows) == len(raws)
    for row, (start, _) in zip(rows, made.spans, strict=True):
        expected = oracle.row(made.data, start)
        assert schema.as_dict(row[schema.TEXT]) == dict(row["properties"]) == expected["properties"]
        assert {name: row[name] for name in SAME} == {name: expected[name] for name in SAME}
        assert all(row[schema.COLUMN_OF[name]] == expected["properties"].get(name) for name in schema.PROMOTED)


NAME = st.one_of(
    st.sampled_from([name.encode() for name in sorted(names.PROPERTIES)]),
    st.sampled_from([b"", b"user", b"TRANSACTION_CHECK_TIMEZ", b"TRANSACTION_XHECK_TIMES", b"a" * 17 + b"bbbbbbbb"]),
    st.binary(max_size=20),
)
VALUE = st.one_of(st.binary(max_size=12), st.sampled_from([b"", b"true", b"\x01x", b"\xc3\xa9", b"\xff"]))
ITEM = st.one_of(st.tuples(NAME, VALUE).map(b"\x01".join), NAME)


@effort.examples(300)
@given(items=st.lists(st.lists(ITEM, max_size=8), min_size=1, max_size=6), ended=st.booleans(), again=st.booleans())
def test_any_bytes_say_what_they_say_to_rocketmq(items, ended, again):
    raws = [b"\x02".join(one) + (b"\x02" if ended and one else b"") for one in items]
    check(raws * 2 if again else raws)


def test_records_of_one_client_have_the_same_names_and_one_record_many_items():
    plain = b"UNIQ_KEY\x01%d\x02REAL_TOPIC\x01orders\x02mine\x01%d\x02TRANSACTION_CHECK_TIMES\x01%d"
    check([plain % (n, n % 3, n) for n in range(40)] + [plain % (1, 2, 3) + b"\x02mine\x01later"] + [plain % (4, 5, 6)])
    check([b"\x02".join(b"n%d\x01v" % n for n in range(3000)), b"\x02" * 500, b"\x02".join([b"n\x01v"] * 2000)])


def test_values_come_again_in_turn_and_shapes_of_any_length_repeat():
    plain = b"UNIQ_KEY\x01%06d\x02REAL_TOPIC\x01orders\x02mine\x01%030d\x02PGROUP\x01g%02d\x02CLUSTER\x01c%030d"
    for different in (2, 8, 9, 25):
        check([plain % (n, n, n % different, n % 3) for n in range(120)])
    for size in (0, 7, 31, 32, 33, 64, 2030, 2100):
        text = b"PGROUP\x01%b\x02mine\x01" + b"v" * size + b"\x02TAGS\x01%b"
        check([text % (b"group-%d" % (n % 2), b"t%d" % (n % 3)) for n in range(12)])


def test_message_traces_are_told_by_how_their_bodies_begin():
    traces = [kind.encode() + b"\x01more" for kind in names.TRACE_TYPES]
    others = [b"Pub\x01", b"Pub", b"", b"Pup\x01more", b"SubBetter\x01more", b"publish", b"EndTransaction"]
    bodies = [*traces, *others]
    rows = stored(stores.store([stores.Record(topic=b"mine", body=body) for body in bodies]))
    assert [row["traced"] for row in rows] == [body in traces for body in bodies]


def test_a_time_out_of_order_between_two_in_order_is_misplaced():
    assert batches.misplaced(np.array([10, 99, 11, 11, 3, 12, 12, 7])).tolist() == [0, 1, 0, 0, 1, 0, 0, 0]
    # A clock that was put back: what is in order on either side stays.
    assert not batches.misplaced(np.array([10, 11, 5, 6])).any()


@pytest.mark.parametrize("count", [3, 5000])
def test_columns_of_many_values(count):
    rows = stored(stores.store([stores.Record(properties=b"PGROUP\x01g%d" % n) for n in range(count)]))
    assert [row[schema.COLUMN_OF["PGROUP"]] for row in rows] == [f"g{n}" for n in range(count)]


@pytest.mark.spark
def test_the_map_of_a_case_is_rocketmqs(spark):
    from kit.case.tables import AS_MAP

    raws = [
        b"", b"A\x011\x02", b"A\x011\x02B\x01x\x01y\x02A\x012", b"A\x01\x02junk\x02KEYS\x01\xff k",
        b"\xff\x011\x02\xfe\x012",
    ]  # fmt: skip
    made = stores.store([stores.Record(properties=raw) for raw in raws])
    rows = [(n, row[schema.TEXT]) for n, row in enumerate(stored(made))]
    frame = spark.createDataFrame(rows, f"n int, {schema.TEXT} string")
    found = frame.selectExpr("n", f"{AS_MAP} as properties").orderBy("n").collect()
    expected = [oracle.row(made.data, start)["properties"] for start, _ in made.spans]
    assert [row.properties for row in found] == expected


@pytest.mark.parametrize(("topic", "properties", "flags", "expected"), rows_of(__file__, "stages"))
def test_stages_are_told_by_what_broker_and_producers_write(topic, properties, flags, expected):
    raw = properties.replace("=", "\x01").replace(" ", "\x02").encode()
    other = stores.Record(topic=b"other", properties=b"REAL_TOPIC\x01other")
    made = stores.store([other, stores.Record(topic=topic.encode(), properties=raw, sys_flag=flags), other])
    before, row, behind = stored(made)
    assert {name: row[name] for name in expected} == expected
    assert before["stage"] == behind["stage"] == "original"


@pytest.mark.parametrize(("old", "new"), rows_of(__file__, "changes"))
def test_records_of_one_shape_are_told_apart_by_any_byte(old, new):
    """Names, separators and values that change while all lengths stay: each change against the unchanged text."""
    plain = b"UNIQ_KEY\x01%04d\x02REAL_TOPIC\x01orders-paid\x02mine\x01value\x02PGROUP\x01g1\x02"
    changed = plain.replace(old.encode("latin-1"), new.encode("latin-1"))
    assert changed != plain
    same = [plain % n for n in range(6)]
    check([*same, changed % 7, *same, changed % 8, changed % 9, changed % 10])
