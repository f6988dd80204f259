"""What tables mean, by their values (other names, languages, separators, encodings, orders of columns), and what a column can hold."""

import datetime as dt
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import rows_of

from kit.formats import printed_times, values
from kit.formats.tables import business_tables

UNIQ = "0A140D151A0C0C387F4466B0BCE6{:04X}"
OFFSET = "0A140D0B00002A9F{:016X}"
UNIQ6 = "FD20001300000000000000000000002300000C387F4466B0BD2E{:04X}"
N = 40


def day(n):
    return f"2024-05-14 10:{n % 60:02}:00.123"


def sniffed(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    data = path.read_bytes()
    return business_tables.sniff(path, data[:65536], len(data))


def table(head, line, **more):
    ids = lambda n: {"uniq": UNIQ.format(n), "off": OFFSET.format(n * 700), "uniq6": UNIQ6.format(n)}  # noqa: E731
    return "\n".join([head, *(line.format(n=n, time=day(n), **ids(n), **more) for n in range(N)), ""])


@pytest.mark.parametrize(("head", "row", "role", "columns"), rows_of(__file__, "columns_are_told_by_their_values"))
def test_columns_are_told_by_their_values(tmp_path, head, row, role, columns):
    found = sniffed(tmp_path, table(head, row))
    assert (found["role"], found["columns"]) == (role, columns)
    assert found["kind"] == ("sends" if role == "sends" else "rows")


def test_failures_late_in_a_ledger_are_seen(tmp_path):
    failed = "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2 DESC: broker busy"
    lines = [f"K{n:06},{day(n)},{'ok' if n < 5000 else failed}" for n in range(5010)]
    assert sniffed(tmp_path, "id,when,how\n" + "\n".join(lines) + "\n")["role"] == "sends"
    # US dates are told by a day past twelve.
    assert printed_times.month_first(["05/14/2024 10:00:00", "05/02/2024 10:00:00"]) is True
    assert printed_times.month_first(["14/05/2024 10:00:00"]) is False


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030"])
def test_encodings(tmp_path, codec):
    text = table("订单号,状态,创建时间", "DD{n:06},已支付,{time}")
    found = sniffed(tmp_path, text.encode(codec))
    got = list(business_tables.read(tmp_path / "t.csv", found, lambda ms: ms))
    assert (got[0]["key"], {row["status"] for row in got}, len(got)) == ("DD000000", {"已支付"}, N)


@pytest.mark.parametrize("row", rows_of(__file__, "read"), ids=lambda row: row["name"])
def test_rows_of_a_table(tmp_path, row):
    """Times in GMT+8 where the table names no zone."""
    found = sniffed(tmp_path, row["text"])
    got = list(business_tables.read(tmp_path / "t.csv", found, lambda ms: ms - 8 * 3_600_000))
    for each in got:
        time = each["time"] and dt.datetime.fromtimestamp(each["time"] / 1_000_000, dt.UTC)
        each |= {"time": time and f"{time:%F %T.%f}", "cells": dict(each["cells"])}
    assert [{name: each[name] for name in wanted} for each, wanted in zip(got, row["rows"], strict=True)] == row["rows"]


def test_a_parquet_table_is_read_like_a_csv_and_declared_columns_replace_guessed_ones(tmp_path):
    times = [dt.datetime(2024, 5, 14, 10, n) for n in range(N)]  # noqa: DTZ001
    orders = {"order_no": [f"SO{n:06}" for n in range(N)], "status": ["PAID"] * N, "at": times}
    pq.write_table(pa.table(orders), tmp_path / "x")
    data = (tmp_path / "x").read_bytes()
    found = business_tables.sniff(tmp_path / "x", data, len(data))
    assert (found["role"], found["columns"]) == ("business", {"key": "order_no", "status": "status", "time": "at"})
    got = list(business_tables.read(tmp_path / "x", found, lambda ms: ms))
    assert got[3]["time"] == 1_000_000 * dt.datetime(2024, 5, 14, 10, 3, tzinfo=dt.UTC).timestamp()
    assert business_tables.parse_override("a/b.csv:key=no,status=st") == ("a/b.csv", {"key": "no", "status": "st"})
    for bad in ("a.csv", "a.csv:", "a.csv:colour=red", "a.csv:key="):
        with pytest.raises(ValueError, match=r"FILE|a\.csv"):
            business_tables.parse_override(bad)
    path = tmp_path / "t.csv"
    path.write_text(table("a,b,c", "SO{n:06},T{n:06},{time}"))
    size = path.stat().st_size
    guessed = business_tables.sniff(path, path.read_bytes(), size)
    detail = business_tables.declared(path, size, guessed, {"key": "b", "status": "a"})
    assert (detail["columns"]["key"], detail["columns"]["status"], detail["role"]) == ("b", "a", "tx_log")
    with pytest.raises(ValueError, match="zz"):
        business_tables.declared(path, size, guessed, {"key": "zz"})


@pytest.mark.parametrize(("text", "time", "floating"), rows_of(__file__, "times_in_many_forms"))
def test_times_in_many_forms_keep_whether_they_name_a_zone(text, time, floating):
    found = printed_times.when(text)
    if time is None:
        assert found is None
    else:
        assert found is not None and (found.tzinfo is None) is floating
        assert printed_times.ms(found) == dt.datetime.fromisoformat(f"{time}Z").timestamp() * 1000


@pytest.mark.parametrize("cell", ["x" * (18 << 20), '"' + "x" * (18 << 20) + '"'], ids=["plain", "quoted"])
def test_a_cell_of_any_length_costs_only_its_row(tmp_path, cell):
    """Its pieces may be rows of their own; what is behind it stands on its own line."""
    rows = [f"SO{n:06},PAID,{day(n)}" for n in range(N)]
    found = sniffed(tmp_path, "\n".join(["order_id,status,created_at", *rows, f"SO9,{cell},{day(1)}", *rows, ""]))
    assert found["columns"] == {"key": "order_id", "status": "status", "time": "created_at"}
    read = list(business_tables.read(tmp_path / "t.csv", found, lambda ms: ms))
    assert [(r["line"], r["key"]) for r in read][-1] == (2 * N + 2, f"SO{N - 1:06}")
    assert {f"SO{n:06}" for n in range(N)} <= {r["key"] for r in read}


@pytest.mark.parametrize(("value", "bits", "expected"), rows_of(__file__, "integers") + [("9" * 5000, 64, None)])
def test_integer(value, bits, expected):
    assert values.integer(value, bits) == expected


@pytest.mark.parametrize(("text", "expected"), rows_of(__file__, "numbers_lose_their_fraction"))
def test_numbers_lose_their_fraction(text, expected):
    assert values.truncated(text) == expected


MAP = pa.map_(pa.string(), pa.string())
SCHEMA = pa.schema([("n", pa.int32()), ("t", pa.timestamp("us", "UTC")), ("s", pa.string()), ("m", MAP)])
ODD = st.sampled_from([None, "\ud800", [("a", "\udfff")]])
TEXTS = st.one_of(st.binary(max_size=4), st.text(st.characters(), max_size=4))
ANYTHING = st.one_of(ODD, st.integers(), st.floats(), st.booleans(), TEXTS)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(SCHEMA.names, ANYTHING)), max_size=5))
def test_a_batch_of_anything(rows):
    made = values.batch(rows, SCHEMA)
    assert made.schema == SCHEMA and made.num_rows == len(rows)
    for text in made.column("s").to_pylist():
        assert text is None or text.encode().decode() == text


def test_only_what_does_not_fit_is_lost_and_which_years_nanoseconds_count():
    rows = [{"n": 1, "t": 0, "s": "a", "m": [("k", "v")]}, {"n": 2**31, "t": 2**64, "s": "\ud800", "m": None}]
    assert values.batch(rows, SCHEMA).to_pylist() == [
        {"n": 1, "t": dt.datetime(1970, 1, 1, tzinfo=dt.UTC), "s": "a", "m": [("k", "v")]},
        {"n": None, "t": None, "s": "\\ud800", "m": None},
    ]
    epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - arithmetic only
    ms = [(dt.datetime(year, 1, 1) - epoch) // dt.timedelta(milliseconds=1) for year in (1677, 1678, 2261, 2262, 9999)]  # noqa: DTZ001
    assert [printed_times.instant(m) is not None for m in ms] == [False, True, True, False, False]
    assert printed_times.instant(1e30) is printed_times.instant(math.nan) is printed_times.instant(math.inf) is None
