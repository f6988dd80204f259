"""Strange things that lie beside real incidents: each is written into a folder of its own, from nothing but this file and `strange.yaml`.

`ALL` holds them by name. What one writes must all be named by the inventory, and what it lists in `unread` must also be
reported as not read, wholly or in part. A file is a row of `strange.yaml`: its name, and the Python expression of its content.
"""

import bz2
import contextlib
import datetime as dt
import decimal
import gzip
import io
import json
import lzma
import os
import random
import socket
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from folders import put, tar_of, zip_of
from stores import BLANK, Record, store
from table import rows_of

USED = (bz2, decimal, gzip, lzma, random, tar_of, zip_of, zstandard, BLANK)
"""Named in `strange.yaml`."""


@dataclass(frozen=True)
class Strange:
    """One strange thing. `unread`: names that must be reported as not wholly read; `slow`: too big for every run."""

    name: str
    kind: str
    write: Callable[[Path], None]
    unread: tuple[str, ...] = ()
    slow: bool = False

    @property
    def reported(self):
        """Whether some value in it is out of range, which must be said."""
        return self.name in rows_of(__file__, "reported")


ALL: dict[str, Strange] = {}


def add(name, kind, write, *unread, slow=False):
    name = name.replace("_", "-")
    assert name not in ALL, name
    ALL[name] = Strange(name, kind, write, unread, slow)


def strange(kind, *unread, slow=False):
    def named(write):
        add(write.__name__, kind, write, *unread, slow=slow)
        return write

    return named


def put_raw(folder, name, data):
    """Write a file whose name is not text."""
    with open(os.path.join(os.fsencode(folder), name), "wb") as file:  # noqa: PTH118, PTH123 - names of bytes
        file.write(data.encode() if isinstance(data, str) else data)


def put_all(at, names, data):
    for name in names:
        put(at / name, data)


def put_rows(at, files):
    for name, expression in files.items():
        put(at / name, eval(expression, globals()))


# --- what the expressions name --------------------------------------------------------------------------------------------

LOG_LINE = "2026-11-20 10:00:00,000 INFO RocketmqClient - [client_x] started\n"
STARTED = "2026-11-20 10:00:{0:02},000 INFO RocketmqClient - the client factory [10.1.2.3@{0}] start OK\n"
LOG = "".join(map(STARTED.format, range(40)))
NOISE = b"".join(struct.pack(">I", zlib.crc32(struct.pack(">I", n))) for n in range(5000))
"""Bytes nothing packs any smaller."""
BIG_LOG = (LOG * 40).encode() + NOISE.hex().encode() + b"\n"
CHINESE = LOG + "2026-11-20 10:01:00,000 WARN RocketmqClient - 订单支付失败，库存不足，请稍后再试\n" * 20

BUSY = "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 201ms, size of queue: 7"
ERROR = THROWN = f"org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: {BUSY}"
SENT = "\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.processSendResponse(MQClientAPIImpl.java:668)"
SENDS = "\tat org.apache.rocketmq.client.producer.DefaultMQProducer.send(DefaultMQProducer.java:325)"
TRACE = f"{THROWN}\n{SENT}\n{SENDS}\n"
FRAME = "    at org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.{}(DefaultMQProducerImpl.java:{})"
FRAMES = f"{FRAME.format('sendKernelImpl', 831)}\n{FRAME.format('send', 539)}"
REFUSED = 30
"""Refused sends in each of the exports, which are the same log as what keeps, shows and forwards logs hands it out."""
FIRST_IS_LOST = ("log-behind-a-hole", "log-behind-a-long-hole")
"""Their first line begins with zeros, and so has no time."""
EPOCH = 1_795_140_000
FAILED = "2026-11-20 10:00:{0:02}.123 [main] ERROR c.a.Orders - send failed order SX{0:05}"
ENTRIES = [f"{FAILED.format(n)}\n{THROWN}\n{SENT}" for n in range(REFUSED)]
LINES = [line for each in ENTRIES for line in each.split("\n")]
EXPORTED = "\n".join(LINES) + "\n"

ODD_TIMES = tuple(rows_of(__file__, "odd_times"))
JSON_TIMES = eval(rows_of(__file__, "json_times"))


def json_rows(made):
    return "".join(json.dumps(row) + "\n" for row in made)


def broker_lines(times):
    text = "INFO BrokerControllerScheduledThread1 - dispatch behind commit log"
    return "".join(f"{time} {text} {n} bytes\n" for n, time in enumerate(times))


def client_lines(times):
    text = "INFO RocketmqClient - the client factory"
    return "".join(f"{time},000 {text} [10.1.2.3@{n}] start OK\n" for n, time in enumerate(times))


def json_lines(times):
    text = "MQBrokerException: CODE: 2 DESC: [REJECTREQUEST]"
    return json_rows([{"timestamp": t, "level": "ERROR", "message": f"{text} {n}"} for n, t in enumerate(times)])


def late_value(value):
    return "order_no,attempts,state,at\n" + "".join(
        f"LV{n:06},{1 if n != 500 else value},PAID,2026-11-20 10:00:{n % 60:02}\n" for n in range(1000)
    )


HEADER = ("order_id", "status", "created_at")
ROWS = [(f"CS{n:06}", "PAID", f"2026-11-20 10:00:{n % 60:02}") for n in range(60)]


def csv(rows=ROWS, by=",", end="\n", head=HEADER):
    return end.join(by.join(row) for row in [head, *rows]) + end


def parquet(table, **how):
    out = io.BytesIO()
    pq.write_table(table, out, **how)
    return out.getvalue()


ROWS_OF_PARQUET = 40
KEYS = pa.array([f"PK{n:06}" for n in range(ROWS_OF_PARQUET)])
STATES = pa.array(["PAID"] * ROWS_OF_PARQUET)


def orders(**columns):
    """Return orders in Parquet with these columns in place of theirs or beside them; one value stands in every row."""
    given = {n: c if isinstance(c, pa.Array) else pa.array([c] * ROWS_OF_PARQUET) for n, c in columns.items()}
    return parquet(pa.table({"order_id": KEYS, "status": STATES} | given))


def created(unit, value, zone=None):
    return orders(created_at=every(value, pa.int64()).cast(pa.timestamp(unit, zone)))


def every(value, kind):
    return pa.array([value] * ROWS_OF_PARQUET, kind)


LAST = 2**63 - 1
FLOATS = [float("nan"), float("inf"), -0.0, 1e308]
PLAIN = orders()


def record(**given):
    own = {"topic": b"strange", "body": b"b", "properties": b"UNIQ_KEY\1" + b"F" * 32 + b"\2KEYS\1ST0001\2"}
    return Record(**{**own, **given})


def segment(base, *records, end=bytes(4096)):
    return store(list(records), base, end=end).data


for slug, names in rows_of(__file__, "names").items():
    add(slug, "names", partial(put_all, names=names, data=LOG))
add("empty_files", "sizes", partial(put_all, names=rows_of(__file__, "empty"), data=b""))
for group in rows_of(__file__, "files"):
    things = {}
    for path, expression in group["files"].items():
        slug, _, name = path.partition("/")
        things.setdefault(slug, {})[name] = expression
    for slug, files in things.items():
        write = partial(put_rows, files=files)
        add(slug, group["kind"], write, *(files if group.get("unread") else []), slow=group.get("slow", False))
for n, number in enumerate(rows_of(__file__, "odd_numbers")):
    offsets = f'{{"offsetTable":{{"T@g":{{0:{number},1:5}}}}}}'
    add(f"offsets_{n}", "numbers", partial(put_all, names=["consumerOffset.json"], data=offsets))


# --- what is more than one file of some content -------------------------------------------------------------------------------


@strange("names")
def gbk_name(at):
    put_raw(at, "订单.csv".encode("gb18030"), csv(ROWS[:40]))


@strange("names")
def names_that_are_not_text(at):
    put_raw(at, b"\xff\xfe\x80.log", LOG)
    put_raw(at, b"\xed\xa0\x80.csv", "a,b,c\n1,2,3\n")
    put_raw(at, b"\xed\xa0\x80.parquet", PLAIN)


@strange("file types", "pipe.log", "00000000000000000000")
def a_pipe(at):
    os.mkfifo(at / "pipe.log")
    os.mkfifo(at / "00000000000000000000")


@strange("file types", "s.sock")
def a_socket(at):
    # A path of a socket is short; bound from inside its folder.
    with socket.socket(socket.AF_UNIX) as one, contextlib.chdir(at):
        one.bind("s.sock")


@strange("file types", "dangling.log", "loop", "self", "up", "zero.log")
def links(at):
    targets = {"dangling.log": "nowhere", "loop": "self", "self": "loop", "up": "..", "zero.log": "/dev/zero"}
    for name, target in targets.items():
        (at / name).symlink_to(target)


@strange("file types")
def folders_where_files_belong(at):
    put(at / "store" / "commitlog" / f"{0:020}" / "x.log", LOG)
    put(at / "broker.conf" / "x.log", LOG)
    (at / "store" / "config" / "topics.json").mkdir(parents=True)
    (at / "empty").mkdir()


@strange("file types")
def a_hard_link(at):
    put(at / "x.log", LOG)
    os.link(at / "x.log", at / "y.log")


@strange("sizes", slow=True)
def three_thousand_files(at):
    for n in range(3000):
        put(at / str(n % 50) / f"{n}.log", LOG_LINE)


@strange("sizes")
def two_hundred_tiny_files(at):
    for n in range(200):
        put(at / f"{n}.txt", f"2026-11-20 10:00:{n % 60:02} broker {n}\n")


@strange("sizes", slow=True)
def a_hole_of_a_gigabyte(at):
    (at / "commitlog").mkdir()
    with (at / "commitlog" / f"{1 << 30:020}").open("wb") as file:
        file.truncate(1 << 30)


def odd_properties():
    """Return records whose properties hold what RocketMQ never writes there."""
    odd, names = (rows_of(__file__, name) for name in ("odd_values", "properties"))
    pairs = [f"{name}\1{value}\2" for name in names for value in odd]
    lead = "\2TRAN_MSG\1true\2PGROUP\1strange-producers\2REAL_TOPIC\1strange\2"
    records = [
        Record(topic, b"body", f"UNIQ_KEY\1{0xFD00 + n:032X}{lead}{pair}".encode())
        for topic in (b"RMQ_SYS_TRANS_HALF_TOPIC", b"SCHEDULE_TOPIC_XXXX", b"%RETRY%strange", b"strange")
        for n, pair in enumerate(pairs)
    ]
    return store(records, 1 << 30).data


def failing_ledger():
    """Return a ledger of sends in Parquet: its rows are numbered, not lines."""
    outcome = ["SEND_OK", THROWN, "SEND_OK", "RemotingTooMuchRequestException: sendDefaultImpl call timeout"] * 10
    starts = pa.array([dt.datetime(2026, 11, 20, 2, 0, n, tzinfo=dt.UTC) for n in range(40)], pa.timestamp("us", "UTC"))
    return parquet(pa.table({"key": KEYS, "start": starts, "cost_ms": pa.array(range(40)), "outcome": outcome}))


def fill(folder, names=None):
    """Write each strange thing into a folder of its own under `folder`; return name → its folder."""
    made = {}
    for name, one in ALL.items():
        if name in names if names is not None else not one.slow:
            made[name] = folder / name
            made[name].mkdir(parents=True)
            one.write(made[name])
    return made
