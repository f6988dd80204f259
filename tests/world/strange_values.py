"""Strange times, numbers, JSON, tables and store files. Importing this module adds them to `strange.ALL`."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import random
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from stores import BLANK, Record, store
from strange import LOG, expect, files, put, strange

ODD_TIMES = (
    "0001-01-01 00:00:00", "0000-00-00 00:00:00", "1677-09-21 00:12:43", "1899-12-31 23:59:59", "1969-12-31 23:59:59", "1970-01-01 00:00:00",
    "2262-04-11 23:47:17", "2263-01-01 00:00:00", "2999-12-31 23:59:59", "9999-12-31 23:59:59", "2026-02-30 10:00:00", "2026-13-01 10:00:00",
    "2026-11-20 24:00:00", "2026-11-20 23:59:60", "2026-11-20 10:00:99", "10000-01-01 00:00:00", "-001-01-01 00:00:00",
)  # fmt: skip


def broker_lines(times: tuple[str, ...]) -> str:
    return "".join(
        f"{time} INFO BrokerControllerScheduledThread1 - dispatch behind commit log {n} bytes\n"
        for n, time in enumerate(times)
    )


def client_lines(times: tuple[str, ...]) -> str:
    return "".join(
        f"{time},000 INFO RocketmqClient - the client factory [10.1.2.3@{n}] start OK\n" for n, time in enumerate(times)
    )


def json_lines(times: tuple[Any, ...]) -> str:
    lines = [
        {"timestamp": time, "level": "ERROR", "message": f"MQBrokerException: CODE: 2 DESC: [REJECTREQUEST] {n}"}
        for n, time in enumerate(times)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


JSON_TIMES = (
    1e30, -1e30, 1e300, -1, 0, 2**63, 2**64, 10**40, -(2**63), 1e18, 1.7e9, 1.7e12, True, None, "", "now", [], {}, {"epochSecond": 1e30}, {"epochSecond": "x"},
    {"epochSecond": 10**18}, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2026-11-20T10:00:00+99:99", "2026-11-20T10:00:00+18:59", "1e30",
    "2026-11-20T10:00:00.1234567890123Z", 253402300800000, 253402300799, 4611686018427387904, "\ud800",
)  # fmt: skip

files(
    "times",
    {
        "years_of_a_broker_log/broker.log": broker_lines(ODD_TIMES),
        "years_of_a_client_log/rocketmq_client.log": client_lines(ODD_TIMES),
        "a_log_of_year_1/store.log": broker_lines(("0001-01-01 00:00:00",) * 20),
        "a_log_of_year_9999/store.log": broker_lines(("9999-12-31 23:59:59",) * 20),
        "a_client_log_of_year_9999/rocketmq_client.log": client_lines(("9999-12-31 23:59:59",) * 20),
        "an_app_log_of_year_1/app.log": "".join(
            f"{t} [main] ERROR c.a.Orders - MQClientException\n" for t in ODD_TIMES
        ),
        "valid_until_9999/store.log": broker_lines(("2026-11-20 10:00:00",) * 20)
        + "2026-11-20 10:00:01 INFO main - licence valid until 9999-12-31 23:59:59\n",
        "valid_until_9999_in_an_app_log/app.log": LOG
        + "2026-11-20 10:00:01,000 [main] INFO c.a.L - valid until 9999-12-31 23:59:59\n",
        "valid_until_9999_in_a_text/paste.txt": "the broker is busy since 2026-11-20 10:00:00\nvalid until 9999-12-31 23:59:59\n",
        "text_from_year_1/paste.txt": "0001-01-01 00:00:00 broker\n9999-12-31 23:59:59 broker\n",
        "zones_of_an_app_log/app.log": "".join(
            f"2026-11-20T10:00:00.000{z} ERROR broker busy\n"
            for z in ("+14:00", "-12:00", "+18:59", "+99:99", "Z", "+0530")
        ),
        "edges_with_zones/app.log": "0001-01-01T00:00:00+14:00 ERROR broker\n9999-12-31T23:59:59-12:00 ERROR broker\n"
        * 10,
        "fractions_of_a_log/app.log": "".join(
            f"2026-11-20 10:00:00{f} ERROR broker\n" for f in (",1", ".123456789", ",1234567890123", ".", ":5", ",999")
        ),
        "json_log_of_odd_times/app.json": json_lines(JSON_TIMES),
        "json_log_of_year_1/app.json": json_lines(("0001-01-01T00:00:00.000+14:00",) * 20),
        "json_log_of_1e30/app.json": json_lines((1e30,) * 20),
        "docker_log_of_year_1/x-json.log": "".join(
            json.dumps({"log": f"{t} ERROR [main] c.a.Orders - MQBrokerException\n", "stream": "stdout", "time": t})
            + "\n"
            for t in ODD_TIMES
        ),
        "sar_of_odd_dates/sar.txt": "Linux 5.10 (host)  99/99/9999  _x86_64_\n\n10:00:00  CPU  %user  %idle\n10:00:01  all  1.00  99.00\n25:99:99  all  1  2\n",
        "iostat_of_odd_dates/iostat.txt": "".join(
            f"{t}\nDevice  r/s  w/s  await\nsda  1.00  2.00  3.00\n\n"
            for t in ("01/01/0001 10:00:00", "12/31/9999 23:59:59", "99/99/99 10:00:00", "2026-11-20T10:00:00+99:99")
        ),
        "gc_log_of_odd_dates/gc.log": "".join(
            f"{t}: 1.234: [GC pause (G1) 10M->5M(20M), 0.0100000 secs]\n"
            for t in ("0001-01-01T00:00:00.000+0800", "9999-12-31T23:59:59.999-0800", "2026-02-30T00:00:00.000+0800")
        ),
        "csv_of_year_9999/licences.csv": "id,valid_until,name\n"
        + "".join(f"LIC-{n:05},9999-12-31 23:59:59,n{n}\n" for n in range(40)),
        "csv_of_year_1/events.csv": "key,created_at,name\n"
        + "".join(f"EV-{n:05},0001-01-01 00:00:00,n{n}\n" for n in range(40)),
        "csv_of_odd_times/events.csv": "key,created_at,name\n"
        + "".join(
            f"ET-{n:05},{ODD_TIMES[n % len(ODD_TIMES)] if n % 20 == 0 else '2026-11-20 10:00:00'},n\n"
            for n in range(400)
        ),
        "csv_of_odd_epochs/events.csv": "key,ts,name\n"
        + "".join(f"EE-{n:05},{(9999999999999, 1700000000000, 4102444799999)[n % 3]},n\n" for n in range(40)),
    },
)


ODD_NUMBERS = ("1e400", "-1e400", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e30", "0.5", "-1", '"abc"', '"12"', '"1e400"', "null",
               "true", "[]", "{}", "1" * 400, "NaN", "Infinity", '"²"', '"٣"', '"\\ud800"')  # fmt: skip

files(
    "numbers",
    {
        f"offsets_{n}/consumerOffset.json": f'{{"offsetTable":{{"T@g":{{0:{number},1:5}}}}}}'
        for n, number in enumerate(ODD_NUMBERS)
    },
)
files(
    "numbers",
    {
        "offsets_of_odd_queues/consumerOffset.json": '{"offsetTable":{"T@g":{"99999999999":1,"-5":2,"x":3,"":4,"1.5":5,"²":6,"2147483648":7,"0":8}}}',
        "offsets_of_odd_names/consumerOffset.json": '{"offsetTable":{"T":{"0":1},"@":{"0":1},"a@b@c":{"0":1},"\\ud800@g":{"0":1},"":{"0":1}}}',
        "delay_offsets_beyond/delayOffset.json": '{"offsetTable":{99999999999:1,1:1e400,2:9223372036854775808,x:3}}',
        "delay_offsets_of_text/delayOffset.json": '{"offsetTable":{"1":"abc","2":null,"3":[],"4":7}}',
        "topics_of_odd_numbers/topics.json": '{"topicConfigTable":{"T":{"perm":1e400,"readQueueNums":9223372036854775808,"writeQueueNums":-1,"topicName":"T","topicSysFlag":null},'
        '"U":{"perm":"six","readQueueNums":[],"topicName":"U"},"V":6,"W":null,"X":[]}}',
        "groups_of_odd_numbers/subscriptionGroup.json": '{"subscriptionGroupTable":{"g":{"retryMaxTimes":1e400,"groupName":"g","brokerId":9223372036854775808},"h":null,"i":"x"}}',
        "conf_of_odd_numbers/broker.conf": "brokerClusterName=c\nbrokerName=b\nmaxMessageSize=99999999999999999999\ntransactionCheckMax=abc\ntransactionTimeOut=1e400\n"
        "transactionCheckInterval=-5\nwaitTimeMillsInSendQueue=²\nmessageDelayLevel=1s 5x 99999999999999999999d -1h ٣s\nbrokerId=\nlistenPort=0x1F\nfileReservedTime=١٢\n",
        "conf_of_lone_surrogates/broker.conf": "brokerClusterName=\\ud800\nbrokerName=b\\udfff\\ud800\nbrokerId=0\nlistenPort=10911\nmaxMessageSize=\\u00b2\n",
        "conf_cut_in_an_escape/broker.conf": "brokerClusterName=c\nbrokerName=b\nbrokerId=0\nnamesrvAddr=\\u12",
        "iostat_of_huge_numbers/iostat.txt": "Device  r/s  w/s  await\nsda  "
        + "9" * 400
        + "  1.00  2.00\nsdb 1e400 nan inf\n",
        "gc_log_of_huge_numbers/gc.log": "2026-11-20T10:00:00.000+0800: 1.234: [GC pause (G1) "
        + "9" * 400
        + "M->5M(20M), "
        + "9" * 400
        + ".0 secs]\n",
        "vmstat_of_huge_numbers/vmstat.txt": "procs -----------memory----------\n r  b   swpd   free   buff  cache\n"
        + " ".join(["9" * 330] * 6)
        + "\n",
        "log_texts_of_huge_numbers/broker.log": "".join(
            f"2026-11-20 10:00:{s:02} WARN SendMessageThread_1 - [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: {n}ms, size of queue: {n}\n"
            for s, n in enumerate(("9" * 30, "-1", "0", "9223372036854775808", "abc", ""))
        ),
        "client_texts_of_huge_numbers/rocketmq_client.log": "".join(
            f"2026-11-20 10:00:{s:02},000 WARN RocketmqClient - sendKernelImpl exception, resend at once, InvokeID: {n}, RT: {n}ms, Broker: MessageQueue "
            f"[topic=T, brokerName=b, queueId={n}]\norg.apache.rocketmq.client.exception.MQBrokerException: CODE: {n}  DESC: [REJECTREQUEST]system busy\n"
            for s, n in enumerate(("9" * 30, "-1", "9223372036854775808", "2147483648", "x"))
        ),
        "transaction_texts_of_huge_numbers/transaction.log": "".join(
            f"2026-11-20 10:00:{s:02} INFO TransactionalMessageCheckService - Fresh stored,the miss offset={n}, check it later, store={n}\n"
            f"2026-11-20 10:00:{s:02} ERROR TransactionalMessageCheckService - PutBackToHalfQueueReturnResult write failed, topic: T, queueId: {n}, msgId: {n}\n"
            for s, n in enumerate(("9" * 30, "-1", "9223372036854775808", "2147483648", "x"))
        ),
        "sends_of_huge_numbers/sends.csv": "key,start,cost_ms,outcome,error\n"
        + "".join(
            f"SH{n:05},2026-11-20 10:00:{n % 60:02},{('1e400', '9' * 25, '-5', 'nan')[n % 4] if n > 195 else n},SEND_OK,\n"
            for n in range(200)
        ),
        "deliveries_of_huge_numbers/deliveries.csv": "uniq_key,reconsume_times,result\n"
        + "".join(f"0A0A0A0A{n:024X},{('0', '1', '2')[n % 3] if n < 600 else '9' * 12},OK\n" for n in range(640)),
    },
)


def late_value(value: str) -> str:
    return "order_no,attempts,state,at\n" + "".join(
        f"LV{n:06},{1 if n != 500 else value},PAID,2026-11-20 10:00:{n % 60:02}\n" for n in range(1000)
    )


files(
    "numbers",
    {
        f"the_501st_value_is_{slug}/late.csv": late_value(v)
        for slug, v in (("na", "N/A"), ("squared", "²"), ("arabic", "٣"), ("huge", "9" * 40), ("nan", "NaN"))
    },
)


@strange("numbers")
def properties_of_odd_numbers(at: Path) -> None:
    """Records whose properties hold what RocketMQ never writes there."""
    odd = ["abc", "3s", "", "-1", "9" * 30, "1e400", "²", "٣", " 3 ", "\0", "NaN", "2147483648"]
    names = ("TRANSACTION_CHECK_TIMES", "DELAY", "RECONSUME_TIME", "MAX_RECONSUME_TIMES", "TRAN_PREPARED_QUEUE_OFFSET", "REAL_QID", "CHECK_IMMUNITY_TIME_IN_SECONDS",
             "TIMER_OUT_MS", "1ST_POP_TIME", "BORN_TIMESTAMP", "CLUSTER", "INNER_NUM", "__STARTDELIVERTIME")  # fmt: skip
    records = [
        Record(
            topic,
            b"body",
            f"UNIQ_KEY\1{0xFD00 + n:032X}\2TRAN_MSG\1true\2PGROUP\1strange-producers\2REAL_TOPIC\1strange\2".encode()
            + f"{name}\1{value}\2".encode(),
        )
        for topic in (b"RMQ_SYS_TRANS_HALF_TOPIC", b"SCHEDULE_TOPIC_XXXX", b"%RETRY%strange", b"strange")
        for n, (name, value) in enumerate((name, value) for name in names for value in odd)
    ]
    put(at / "store" / "commitlog" / f"{1 << 30:020}", store(records, 1 << 30).data)


SHAPES = {
    "array": "[1,2,3]", "nothing": "{}", "null": "null", "number": "7", "text": '"x"', "cut": '{"offsetTable":{"T@g":{0:1', "twice": '{"offsetTable":{},"offsetTable":{"T@g":{0:1}}}',
    "list": '{"offsetTable":[1,2]}', "word": '{"offsetTable":"x"}', "none": '{"offsetTable":null}', "flat": '{"offsetTable":{"T@g":5}}', "deeper": '{"offsetTable":{"T@g":{"0":{"a":1}}}}',
    "comment": '// x\n{"offsetTable":{"T@g":{0:1}}}', "single": "{'offsetTable':{'T@g':{0:1}}}", "tail": '{"offsetTable":{"T@g":{0:1}}} trailing', "bom": '\ufeff{"offsetTable":{"T@g":{0:1}}}',
    "surrogate": '{"offsetTable":{"\\ud800@g\\udc00":{0:1}}}', "nul": '{"offsetTable":{"T\\u0000@g":{0:1}}}', "deep": '{"offsetTable":' * 30_000, "brackets": "[" * 200_000,
    "big": '{"offsetTable":{' + ",".join(f'"T{n}@g":{{0:{n}}}' for n in range(20_000)) + "}}",
}  # fmt: skip

files("json shapes", {f"json_{name}/consumerOffset.json": text for name, text in SHAPES.items()})
files(
    "json shapes",
    {
        "json_topics_as_list/topics.json": '{"topicConfigTable":[{"topicName":"T"}]}',
        "json_topics_of_words/topics.json": '{"topicConfigTable":{"T":"x","U":{"attributes":{"+a":"b"},"topicName":["T"],"order":"maybe"}}}',
        "json_filters_of_anything/consumerFilter.json": '{"filterDataByTopic":{"T":null,"U":[],"V":{"groupFilterData":[1]},"W":{"groupFilterData":{"g":null}}}}',
        "json_groups_of_lists/subscriptionGroup.json": '{"subscriptionGroupTable":{"g":[],"h":{"groupName":null,"retryQueueNums":{}}},"forbiddenTable":[]}',
        "json_with_half_characters/topics.json": b'{"topicConfigTable":{"T\xff\xfe":{"topicName":"\xed\xa0\x80"}}}',
        "json_log_with_lone_surrogates/app.json": '{"timestamp":"2026-11-20T10:00:00Z","level":"ERROR","message":"MQClientException \\ud800 \\udfff"}\n'
        * 10,
        "json_log_of_shapes/app.json": "".join(
            f'{{"timestamp":"2026-11-20T10:00:00Z","level":{v},"thread":{v},"logger":{v},"message":"MQBrokerException CODE: 2","stack_trace":{v}}}\n'
            for v in ("1", "null", "[]", "{}", "1e400", '"x"', "true", '"\\u0000"', '"a\\nb"', "9" * 40)
        ),
        "json_log_pretty_printed/app.json": json.dumps(
            [{"timestamp": "2026-11-20T10:00:00Z", "level": "ERROR", "message": "MQBrokerException"}] * 5, indent=2
        )
        + "\n",
        "json_log_of_one_array/app.json": json.dumps(
            [{"timestamp": "2026-11-20T10:00:00Z", "level": "ERROR", "message": "MQBrokerException"}] * 50
        ),
    },
)


@strange("json shapes")
def json_log_with_failures_inside(at: Path) -> None:
    """References into such entries: the text that names the refusal is not printed as it reads."""
    trace = "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control\n\tat a.B(C.java:1)"
    lines = [
        {
            "@timestamp": f"2026-11-20T10:00:{s:02}.000Z", "level": "ERROR", "logger_name": "c.a.Orders",
            "message": f"send failed\nkeys=SO{s}\n{trace}", "stack_trace": trace,
        }
        for s in range(30)
    ]  # fmt: skip
    put(at / "app.json", "".join(json.dumps(line) + "\n" for line in lines))
    docker = [
        {
            "log": f"2026-11-20 10:00:{s:02}.000 ERROR [main] c.a.Orders - send failed\\n{trace}\n",
            "stream": "stdout",
            "time": "x",
        }
        for s in range(30)
    ]
    put(at / "docker-json.log", "".join(json.dumps(line) + "\n" for line in docker))


ROWS = [(f"CS{n:06}", "PAID", f"2026-11-20 10:00:{n % 60:02}") for n in range(60)]


def csv(
    rows: list[tuple[str, ...]] = ROWS,
    by: str = ",",
    end: str = "\n",
    head: tuple[str, ...] = ("order_id", "status", "created_at"),
) -> str:
    return end.join(by.join(row) for row in [head, *rows]) + end


files(
    "csv shapes",
    {
        "csv_with_cr_only/orders.csv": csv(end="\r"),
        "csv_with_mixed_ends/orders.csv": csv(ROWS[:20])
        + csv(ROWS[20:40], end="\r\n")[30:]
        + csv(ROWS[40:], end="\r")[30:],
        "csv_without_header/orders.csv": "".join(",".join(row) + "\n" for row in ROWS),
        "csv_of_one_column/orders.csv": "order_id\n" + "".join(row[0] + "\n" for row in ROWS),
        "csv_of_a_header/orders.csv": "order_id,status,created_at\n",
        "csv_of_two_headers/orders.csv": csv(ROWS[:20]) + csv(ROWS[20:]),
        "csv_with_equal_names/orders.csv": csv(head=("id", "id", "id")),
        "csv_with_empty_names/orders.csv": csv(head=("", "", "")),
        "csv_with_an_open_quote/orders.csv": csv(ROWS[:10]) + '"' + csv(ROWS[10:]),
        "csv_with_ragged_rows/orders.csv": csv() + "a,b,c,d,e,f\n,\n,,,,,,,\nx\n",
        "csv_with_nul/orders.csv": csv().replace("PAID", "PA\0ID"),
        "csv_with_formulas/orders.csv": csv([("=cmd|' /C calc'!A0", "+1", "-1"), ("@SUM(1)", "\t=1", "＝1")] + ROWS),
        "csv_with_a_long_cell/orders.csv": csv([*ROWS, ("CS999999", "x" * 300_000, "2026-11-20 10:00:00")]),
        "csv_of_many_columns/wide.csv": ",".join(f"c{n}" for n in range(3000))
        + "\n"
        + "\n".join([",".join(["1"] * 3000)] * 5)
        + "\n",
        "csv_after_blank_lines/orders.csv": "\n\n\n" + csv(),
        "csv_after_a_title/orders.csv": "Orders of 2026-11-20\nexported by DBeaver\n\n" + csv(),
        "csv_of_mysql/orders.txt": "+----------+------+\n| order_id | state |\n+----------+------+\n"
        + "".join(f"| {a} | {b} |\n" for a, b, _ in ROWS)
        + "+----+----+\n",
        "csv_of_nulls/orders.csv": csv([("NULL", "\\N", "null")] * 40),
        "csv_of_semicolons/orders.csv": csv(by=";"),
        "csv_of_tabs/orders.tsv": csv(by="\t"),
        "csv_of_pipes/orders.csv": csv(by="|"),
        "csv_with_newlines_in_cells/orders.csv": "order_id,status,note\n"
        + "".join(f'NL{n:05},PAID,"a\nb\r\nc\rd"\n' for n in range(40)),
        "csv_of_ids/ids.csv": "uniq_key,offset_msg_id,at\n"
        + "".join(f"{n:032X},{'0A0A0A0A00002A9F'}{n:016X},2026-11-20 10:00:00\n" for n in range(40)),
        "csv_with_quotes_everywhere/orders.csv": "\n".join(
            ",".join(f'"{c}"' for c in row) for row in [("order_id", "status", "created_at"), *ROWS]
        )
        + "\n",
    },
)


def parquet(table: pa.Table, **how: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **how)
    return out.getvalue()


ROWS_OF_PARQUET = 40
KEYS = pa.array([f"PK{n:06}" for n in range(ROWS_OF_PARQUET)])
STATES = pa.array(["PAID"] * ROWS_OF_PARQUET)


def orders(**columns: Any) -> bytes:
    """Return orders in Parquet with these columns in place of theirs or beside them; one value stands in every row."""
    given = {
        name: column if isinstance(column, pa.Array) else pa.array([column] * ROWS_OF_PARQUET)
        for name, column in columns.items()
    }
    return parquet(pa.table({"order_id": KEYS, "status": STATES} | given))


def created(unit: str, value: int, zone: str | None = None) -> bytes:
    at = pa.array([value] * ROWS_OF_PARQUET, pa.int64()).cast(pa.timestamp(unit, zone))
    return orders(created_at=at)


def every(value: Any, kind: pa.DataType) -> pa.Array:
    return pa.array([value] * ROWS_OF_PARQUET, kind)


LAST = 2**63 - 1
FLOATS = [float("nan"), float("inf"), -0.0, 1e308]
PLAIN = orders()
files(
    "parquet types",
    {
        "parquet_seconds_beyond_9999/x.parquet": created("ms", 253_402_300_800_000),
        "parquet_micros_of_2_to_the_63/x.parquet": created("us", LAST),
        "parquet_millis_of_2_to_the_63/x.parquet": created("ms", LAST),
        "parquet_millis_of_minus_2_to_the_63/x.parquet": created("ms", -LAST),
        "parquet_zoned_beyond_9999/x.parquet": created("us", 253_402_300_800_000_000, "Asia/Shanghai"),
        "parquet_of_year_1/x.parquet": created("us", -62_135_596_800_000_000),
        "parquet_nanoseconds/x.parquet": created("ns", 1_700_000_000_123_456_789),
        "parquet_an_unknown_zone/x.parquet": created("us", 1_700_000_000_000_000, "Mars/Phobos"),
        "parquet_dates/x.parquet": orders(d=every(2**31 - 1, pa.int32()).cast(pa.date32()), e=dt.date(2026, 11, 20)),
        "parquet_dates64/x.parquet": orders(d=every(dt.date(2026, 11, 20), pa.date64())),
        "parquet_times_of_day/x.parquet": orders(t=dt.time(1, 2, 3), u=every(1, pa.duration("us"))),
        "parquet_decimals/x.parquet": orders(amount=every(decimal.Decimal("1E+20"), pa.decimal256(60, 2))),
        "parquet_structs/x.parquet": orders(
            s={"a": [1, 2], "b": {"c": None}}, m=every([("k", 1)], pa.map_(pa.string(), pa.int32()))
        ),
        "parquet_binary/x.parquet": orders(order_id=b"\xff\xfe\0"),
        "parquet_uint64/x.parquet": orders(attempts=every(2**64 - 1, pa.uint64())),
        "parquet_floats/x.parquet": orders(f=pa.array(FLOATS * (ROWS_OF_PARQUET // len(FLOATS)))),
        "parquet_nulls/x.parquet": orders(order_id=every(None, pa.null()), status=every(None, pa.string())),
        "parquet_dictionary/x.parquet": orders(order_id=KEYS.dictionary_encode(), status=STATES.dictionary_encode()),
        "parquet_without_rows/x.parquet": orders(order_id=pa.array([], pa.string()), status=pa.array([], pa.string())),
        "parquet_without_columns/x.parquet": parquet(pa.table({})),
        "parquet_equal_names/x.parquet": parquet(pa.table([KEYS, STATES, STATES], names=["id", "id", "id"])),
        "parquet_odd_names/x.parquet": parquet(pa.table([KEYS, STATES], names=["", "a\nb`c"])),
        "parquet_brotli/x.parquet": parquet(pa.table({"order_id": KEYS, "status": STATES}), compression="brotli"),
        "parquet_large_strings/x.parquet": orders(
            order_id=KEYS.cast(pa.large_string()), status=STATES.cast(pa.large_string())
        ),
        "parquet_views/x.parquet": orders(order_id=KEYS.cast(pa.string_view())),
    },
)
files(
    "parquet types",
    {
        "parquet_cut/x.parquet": PLAIN[:-100],
        "parquet_of_a_magic/x.parquet": b"PAR1",
        "parquet_of_noise/x.parquet": b"PAR1" + random.Random(3).randbytes(5000) + b"PAR1",
        "parquet_with_a_rotten_page/x.parquet": PLAIN[:40] + bytes(200) + PLAIN[240:],
    },
    "unread",
)


@strange("parquet types")
def a_parquet_ledger_with_failures(at: Path) -> None:
    """Rows of such a ledger are numbered, not lines."""
    outcome = [
        "SEND_OK",
        "MQBrokerException: CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy",
        "SEND_OK",
        "RemotingTooMuchRequestException: sendDefaultImpl call timeout",
    ] * 10
    starts = pa.array([dt.datetime(2026, 11, 20, 2, 0, n, tzinfo=dt.UTC) for n in range(40)], pa.timestamp("us", "UTC"))
    columns = {"key": KEYS, "start": starts, "cost_ms": pa.array(range(40)), "outcome": pa.array(outcome)}
    put(at / "sends.parquet", parquet(pa.table(columns)))


def record(**given: Any) -> Record:
    return Record(
        **{"topic": b"strange", "body": b"b", "properties": b"UNIQ_KEY\1" + b"F" * 32 + b"\2KEYS\1ST0001\2", **given}
    )


def segment(base: int, *records: Record, end: bytes = bytes(4096)) -> bytes:
    return store(list(records), base, end=end).data


files(
    "store files",
    {
        "commitlog_of_noise/commitlog/00000000000000000000": random.Random(1).randbytes(200_000),
        "commitlog_of_ff/commitlog/00000000001073741824": b"\xff" * 100_000,
        "commitlog_of_noise_then_zeros/commitlog/00000000001073741824": random.Random(2).randbytes(10_000)
        + bytes(300_000),
        "commitlog_cut/commitlog/00000000001073741824": segment(1 << 30, record(), record(), end=b"")[:-20],
        "commitlog_of_an_html_page/commitlog/00000000000000000000": "<html><body>502 Bad Gateway</body></html>",
    },
    "unread",
)


files("store files", {"commitlog_of_text/commitlog/00000000000000000000": LOG})


def _named_by_folder(slug: str, name: str, data: bytes, *unread: str) -> None:
    def write(at: Path) -> None:
        put(at / name, data)

    write.__name__ = slug
    strange("store files", *unread)(write)


for _slug, _name, _data, _unread in (
    ("commitlog_named_20_nines", "commitlog/" + "9" * 20, segment(0, record(), record()), False),
    ("commitlog_of_noise_named_20_nines", "commitlog/" + "9" * 20, random.Random(4).randbytes(9000), True),
    ("commitlog_of_zeros", "commitlog/00000000001073741824", bytes(300_000), False),
    ("commitlog_of_filler", "commitlog/00000000001073741824", struct.pack(">i", 5000) + BLANK + bytes(4992), False),
    ("commitlog_of_a_negative_filler", "commitlog/00000000001073741824", struct.pack(">i", -5000) + BLANK + bytes(4992), False),
    ("commitlog_at_the_end_of_int64", "commitlog/09223372036854775000", segment(9_223_372_036_854_775_000, record(), end=b""), False),
    ("commitlog_of_odd_times", "commitlog/00000000001073741824",
     segment(1 << 30, *(record(born=t, stored=t) for t in (0, -1, 1, 2**63 - 1, -(2**63), 9_223_372_036_855, 32_503_680_000_000, 253_402_300_799_999, 253_402_300_800_000))), False),
    ("commitlog_from_year_9999", "commitlog/00000000001073741824", segment(1 << 30, *(record(born=253_402_300_799_000, stored=253_402_300_799_999) for _ in range(20))), False),
    ("commitlog_from_year_2500", "commitlog/00000000001073741824", segment(1 << 30, *(record(born=16_725_225_600_000 + n, stored=16_725_225_600_000 + n) for n in range(20))), False),
    ("commitlog_of_odd_numbers", "commitlog/00000000001073741824",
     segment(1 << 30, *(record(numbers=(n, n, n, n, n)) for n in (-1, 2**31 - 1, -(2**31))), *(record(numbers=(0, 0, n, 0, 0)) for n in (2**63 - 1, -(2**63))), record(prepared=2**63 - 1), record(prepared=-1), record(topic=b"\xff" * 100),
             record(topic=b""), record(properties=b"\1\2\1\2" * 50), record(properties=b"\xff\xfe\1\xed\xa0\x80\2"), record(body=b"", sys_flag=-1), record(sys_flag=0x7FFFFFCF)), False),
    ("commitlog_of_ipv6_hosts", "commitlog/00000000001073741824", segment(1 << 30, record(born_host=bytes(16), store_host=b"\xff" * 16)), False),
    ("commitlog_with_a_hole", "commitlog/00000000001073741824", segment(1 << 30, record()) + random.Random(5).randbytes(3000) + bytes(3000), True),
    ("queue_id_beyond_int32", "consumequeue/T/99999999999/" + "0" * 20, struct.pack(">qiq", 0, 100, 0) + bytes(20 * 9), False),
    ("queue_id_of_many_digits", "consumequeue/T/" + "9" * 60 + "/" + "0" * 20, struct.pack(">qiq", 0, 100, 0) + bytes(20 * 9), False),
    ("queue_named_20_nines", "consumequeue/T/0/" + "9" * 20, struct.pack(">qiq", 0, 100, 0) + bytes(20 * 9), False),
    ("queue_of_noise", "consumequeue/T/0/" + "0" * 20, random.Random(6).randbytes(6000), False),
    ("queue_cut_in_a_unit", "consumequeue/T/0/" + "0" * 20, struct.pack(">qiq", 0, 100, 0) * 3 + b"\0\0\0", False),
    ("queue_of_odd_numbers", "consumequeue/T/0/" + "0" * 20, b"".join(struct.pack(">qiq", o, s, t) for o in (2**63 - 1, -(2**63), -1) for s in (-1, 2**31 - 1) for t in (2**63 - 1, -1)), False),
    ("queue_of_odd_delays", "consumequeue/SCHEDULE_TOPIC_XXXX/2/" + "0" * 20, b"".join(struct.pack(">qiq", 100 * n, 100, t) for n, t in enumerate((1, 2**63 - 1, 253_402_300_799_999, 9_223_372_036_855, 1_700_000_000_000))), False),
    ("queue_of_a_strange_topic", "consumequeue/\u202e%RETRY%\n|`/0/" + "0" * 20, struct.pack(">qiq", 0, 100, 0) + bytes(20 * 9), False),
    ("index_of_noise", "index/20261120233650132", random.Random(7).randbytes(6000), False),
    ("index_of_odd_numbers", "index/20261120233650132", struct.pack(">qqqqii", 1_700_000_000_000, 1_700_000_100_000, 1, 2**55, 3, 2**31 - 1) + bytes(4000), False),
    ("index_of_odd_times", "index/20261120233650132", struct.pack(">qqqqii", 9_999_999_999_999, 9_999_999_999_999, 1, 2, 1, 2) + bytes(4000), False),
    ("checkpoint_of_noise", "checkpoint", random.Random(8).randbytes(4096), False),
    ("checkpoint_of_odd_numbers", "checkpoint", struct.pack(">5q", 9_999_999_999_999, 1, 2, 2**63 - 1, -(2**63)) + bytes(4056), False),
    ("checkpoint_cut", "checkpoint", struct.pack(">5q", 1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000, 0, 0), False),
    ("timerwheel_of_noise", "timerwheel", random.Random(9).randbytes(32 * 600), False),
    ("lock_of_text", "lock", b"not a lock, a note somebody left here\n", False),
    ("abort_of_noise", "abort", random.Random(10).randbytes(20), False),
):  # fmt: skip
    _named_by_folder(_slug, _name, _data, *([_name] if _unread else []))

expect(
    *(f"years-of-{log}" for log in ("a-broker-log", "a-client-log")),
    *(f"json-log-of-{what}" for what in ("odd-times", "1e30")),
    *(f"csv-of-{what}" for what in ("year-1", "year-9999", "odd-times")),
    *(f"parquet-{what}-63" for what in ("micros-of-2-to-the", "millis-of-2-to-the", "millis-of-minus-2-to-the")),
    *(f"offsets-{n}" for n, number in enumerate(ODD_NUMBERS) if number not in ("-1", '"12"')),
    *(f"json-{shape}" for shape in ("cut", "list", "word", "deep", "tail", "deeper")),
    "parquet-seconds-beyond-9999", "parquet-zoned-beyond-9999", "offsets-of-odd-queues", "delay-offsets-of-text", "sends-of-huge-numbers",
)  # fmt: skip
