"""What tables mean, by their values: other names, languages, separators, encodings, orders of columns."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table import rows_of

from kit.formats import printed_times
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
    lines = [
        line.format(n=n, time=day(n), uniq=UNIQ.format(n), off=OFFSET.format(n * 700), uniq6=UNIQ6.format(n), **more)
        for n in range(N)
    ]
    return "\n".join([head, *lines, ""])


@pytest.mark.parametrize(("head", "row", "role", "columns"), rows_of(__file__, "columns_are_told_by_their_values"))
def test_columns_are_told_by_their_values(tmp_path, head, row, role, columns):
    found = sniffed(tmp_path, table(head, row))
    assert found is not None
    assert found["role"] == role
    assert found["columns"] == columns
    assert found["kind"] == ("sends" if role == "sends" else "rows")


def test_failures_late_in_a_ledger_are_seen(tmp_path):
    failed = "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2 DESC: broker busy"
    lines = [f"K{n:06},{day(n)},{'ok' if n < 5000 else failed}" for n in range(5010)]
    found = sniffed(tmp_path, "id,when,how\n" + "\n".join(lines) + "\n")
    assert found is not None
    assert found["role"] == "sends"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030"])
def test_encodings(tmp_path, codec):
    text = table("订单号,状态,创建时间", "DD{n:06},已支付,{time}")
    found = sniffed(tmp_path, text.encode(codec))
    assert found is not None
    got = list(business_tables.read(tmp_path / "t.csv", found, lambda ms: ms))
    assert got[0]["key"] == "DD000000"
    assert {row["status"] for row in got} == {"已支付"}
    assert len(got) == N


@pytest.mark.parametrize("row", rows_of(__file__, "read"), ids=lambda row: row["name"])
def test_rows_of_a_table(tmp_path, row):
    """Times in GMT+8 where the table names no zone."""
    found = sniffed(tmp_path, row["text"])
    assert found is not None
    got = list(business_tables.read(tmp_path / "t.csv", found, lambda ms: ms - 8 * 3_600_000))
    for each in got:
        time = each["time"] and dt.datetime.fromtimestamp(each["time"] / 1_000_000, dt.UTC)
        each |= {"time": time and f"{time:%F %T.%f}", "cells": dict(each["cells"])}
    assert [{name: each[name] for name in wanted} for each, wanted in zip(got, row["rows"], strict=True)] == row["rows"]


@pytest.mark.parametrize(("dates", "first"), [(["05/14/2024", "05/02/2024"], True), (["14/05/2024"], False)])
def test_us_dates_are_told_by_a_day_past_twelve(dates, first):
    assert printed_times.month_first([f"{date} 10:00:00" for date in dates]) is first


def test_a_parquet_table_is_read_like_a_csv(tmp_path):
    times = [dt.datetime(2024, 5, 14, 10, n) for n in range(N)]  # noqa: DTZ001
    orders = {"order_no": [f"SO{n:06}" for n in range(N)], "status": ["PAID"] * N, "at": times}
    pq.write_table(pa.table(orders), tmp_path / "x")
    data = (tmp_path / "x").read_bytes()
    found = business_tables.sniff(tmp_path / "x", data, len(data))
    assert found is not None
    assert (found["role"], found["columns"]) == ("business", {"key": "order_no", "status": "status", "time": "at"})
    got = list(business_tables.read(tmp_path / "x", found, lambda ms: ms))
    assert got[3]["time"] == 1_000_000 * dt.datetime(2024, 5, 14, 10, 3, tzinfo=dt.UTC).timestamp()


def test_declared_columns_replace_guessed_ones(tmp_path):
    assert business_tables.parse_override("a/b.csv:key=no,status=st") == ("a/b.csv", {"key": "no", "status": "st"})
    for bad in ("a.csv", "a.csv:", "a.csv:colour=red", "a.csv:key="):
        with pytest.raises(ValueError, match=r"FILE|a\.csv"):
            business_tables.parse_override(bad)
    path = tmp_path / "t.csv"
    path.write_text(table("a,b,c", "SO{n:06},T{n:06},{time}"))
    size = path.stat().st_size
    guessed = business_tables.sniff(path, path.read_bytes(), size)
    assert guessed is not None
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
    assert found is not None and found["columns"] == {"key": "order_id", "status": "status", "time": "created_at"}
    read = list(business_tables.read(tmp_path / "t.csv", found, lambda ms: ms))
    assert [(r["line"], r["key"]) for r in read][-1] == (2 * N + 2, f"SO{N - 1:06}")
    assert {f"SO{n:06}" for n in range(N)} <= {r["key"] for r in read}
