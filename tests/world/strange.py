"""Strange things that lie beside real incidents: each is written into a folder of its own, from nothing but this file.

`ALL` holds them by name. One is a function that fills an empty folder; what it writes must all be named by the inventory, and what it lists in
`unread` must also be reported as not read, wholly or in part. Further modules (`strange_*.py`) add to `ALL` by being imported.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import socket
import struct
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import zstandard
from packing import tar_of, zip_of
from table import rows_of

LOG_LINE = "2026-11-20 10:00:00,000 INFO RocketmqClient - [client_x] started\n"
LOG = "".join(
    f"2026-11-20 10:00:{s:02},000 INFO RocketmqClient - the client factory [10.1.2.3@{s}] start OK\n" for s in range(40)
)


@dataclass(frozen=True)
class Strange:
    """One strange thing. `kind`: its class; `unread`: names (relative to its folder) that must be reported as not or not wholly read;

    `slow`: too big for every run; `reported`: some value in it is out of range, which must be said.
    """

    name: str
    kind: str
    write: Callable[[Path], None]
    unread: tuple[str, ...] = ()
    slow: bool = False
    reported: bool = False


ALL: dict[str, Strange] = {}


def strange(kind: str, *unread: str, slow: bool = False) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def add(write: Callable[[Path], None]) -> Callable[[Path], None]:
        name = write.__name__.strip("_").replace("_", "-")
        assert name not in ALL, name
        ALL[name] = Strange(name, kind, write, unread, slow)
        return write

    return add


def expect(*names: str) -> None:
    """Note that these must be reported as not wholly understood."""
    for name in names:
        ALL[name] = replace(ALL[name], reported=True)


def files(kind: str, made: dict[str, bytes | str], *unread: str) -> None:
    """Add one strange thing for each file: name in `ALL` → content; a name's part behind the last `/` is the file's."""
    for path, data in made.items():
        slug, _, name = path.partition("/")

        def write(at: Path, name: str = name, data: bytes | str = data) -> None:
            put(at / name, data)

        write.__name__ = slug
        strange(kind, *(name for _ in unread))(write)


def put(path: Path, data: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def put_raw(folder: Path, name: bytes, data: bytes | str) -> None:
    """Write a file whose name is not text."""
    with open(os.path.join(os.fsencode(folder), name), "wb") as file:  # noqa: PTH118, PTH123 - names of bytes
        file.write(data.encode() if isinstance(data, str) else data)


@strange("names")
def gbk_name(at: Path) -> None:
    put_raw(
        at,
        "订单.csv".encode("gb18030"),
        "order_id,status,created_at\n" + "".join(f"GB{n:05},PAID,2026-11-20 10:00:{n % 60:02}\n" for n in range(40)),
    )


@strange("names")
def names_that_are_not_text(at: Path) -> None:
    put_raw(at, b"\xff\xfe\x80.log", LOG)
    put_raw(at, b"\xed\xa0\x80.csv", "a,b,c\n1,2,3\n")
    put_raw(at, b"\xed\xa0\x80.parquet", parquet_bytes())


def all_with(kind: str, names: dict[str, list[str]], data: bytes | str) -> None:
    """Add one strange thing for each list of names: files of these names with one content."""
    for slug, each in names.items():

        def write(at: Path, each: list[str] = each) -> None:
            for name in each:
                put(at / name, data)

        write.__name__ = slug
        strange(kind)(write)


all_with("names", rows_of(__file__, "names"), LOG)
all_with("sizes", rows_of(__file__, "empty"), b"")


@strange("names")
def a_deep_folder(at: Path) -> None:
    put(at.joinpath(*["d"] * 120) / "x.log", LOG)


@strange("file types", "pipe.log", "00000000000000000000")
def a_pipe(at: Path) -> None:
    os.mkfifo(at / "pipe.log")
    os.mkfifo(at / "00000000000000000000")


@strange("file types", "s.sock")
def a_socket(at: Path) -> None:
    # A path of a socket is short; bound from inside its folder.
    before = Path.cwd()
    with socket.socket(socket.AF_UNIX) as one:
        os.chdir(at)
        try:
            one.bind("s.sock")
        finally:
            os.chdir(before)


@strange("file types", "dangling.log", "loop", "self", "up", "zero.log")
def links(at: Path) -> None:
    (at / "dangling.log").symlink_to("nowhere")
    (at / "loop").symlink_to("self")
    (at / "self").symlink_to("loop")
    (at / "up").symlink_to("..")
    (at / "zero.log").symlink_to("/dev/zero")


@strange("file types")
def folders_where_files_belong(at: Path) -> None:
    put(at / "store" / "commitlog" / f"{0:020}" / "x.log", LOG)
    put(at / "broker.conf" / "x.log", LOG)
    (at / "store" / "config" / "topics.json").mkdir(parents=True)
    (at / "empty").mkdir()


@strange("file types")
def a_hard_link(at: Path) -> None:
    put(at / "x.log", LOG)
    os.link(at / "x.log", at / "y.log")


@strange("sizes")
def files_of_one_byte(at: Path) -> None:
    for number, byte in enumerate((b"\0", b"{", b"[", b"\n", b"\r", b"\xff", b"P", b"\x1f", b"1", b'"', b"=", b"#")):
        put(at / f"{number}.x", byte)
    put(at / "commitlog" / f"{0:020}", b"\1")
    put(at / "one.log", "\n")


@strange("sizes")
def a_long_line(at: Path) -> None:
    put(
        at / "long.log",
        LOG_LINE * 3 + "2026-11-20 10:00:01,000 WARN RocketmqClient - body=" + "x" * 9_000_000 + "\n" + LOG_LINE,
    )


@strange("sizes", slow=True)
def a_line_of_100_mb(at: Path) -> None:
    put(at / "long.log", b"x" * 100_000_000)


@strange("sizes", slow=True)
def three_thousand_files(at: Path) -> None:
    for n in range(3000):
        put(at / str(n % 50) / f"{n}.log", LOG_LINE)


@strange("sizes")
def two_hundred_tiny_files(at: Path) -> None:
    for n in range(200):
        put(at / f"{n}.txt", f"2026-11-20 10:00:{n % 60:02} broker {n}\n")


@strange("sizes", slow=True)
def a_hole_of_a_gigabyte(at: Path) -> None:
    (at / "commitlog").mkdir()
    with (at / "commitlog" / f"{1 << 30:020}").open("wb") as file:
        file.truncate(1 << 30)


NOISE = b"".join(struct.pack(">I", zlib.crc32(struct.pack(">I", n))) for n in range(5000))
"""Bytes nothing packs any smaller."""

BIG_LOG = (LOG * 40).encode() + NOISE.hex().encode() + b"\n"

files(
    "archives",
    {
        "cut_gzip/x.log.gz": gzip.compress(BIG_LOG)[:-9000],
        "cut_zip/x.zip": zip_of({"x.log": BIG_LOG, "y.log": LOG.encode()})[:-900],
        "cut_tar_gz/x.tar.gz": gzip.compress(tar_of({"x.log": LOG.encode(), "y.log": BIG_LOG}))[:-9000],
        "cut_tar/x.tar": tar_of({"x.log": LOG.encode(), "y.log": BIG_LOG})[:-20000],
        "cut_zstd/x.log.zst": zstandard.compress(BIG_LOG)[:-9000],
        "cut_bzip2/x.log.bz2": bz2.compress(BIG_LOG)[:-9000],
        "cut_xz/x.log.xz": lzma.compress(BIG_LOG)[:-9000],
        "rotten_gzip/x.log.gz": gzip.compress(BIG_LOG)[:200] + bytes(2000) + gzip.compress(BIG_LOG)[2200:],
        "rotten_bzip2/x.log.bz2": bz2.compress(BIG_LOG)[:200] + bytes(2000) + bz2.compress(BIG_LOG)[2200:],
        "rotten_xz/x.log.xz": lzma.compress(BIG_LOG)[:200] + bytes(2000) + lzma.compress(BIG_LOG)[2200:],
        "seven_zip/x.7z": b"7z\xbc\xaf\x27\x1c\0\4" + NOISE[:400],
        "rar/x.rar": b"Rar!\x1a\x07\1\0" + NOISE[:400],
        "slipping_tar/x.tar": tar_of({"../../evil.log": LOG.encode()}),
        "absolute_tar/x.tar": tar_of({"/etc/evil.log": LOG.encode()}),
        "slipping_zip/x.zip": zip_of({"../../evil.log": LOG.encode(), "ok.log": LOG.encode()}),
    },
    "unread",
)
files(
    "archives",
    {
        "plain_bzip2/x.log.bz2": bz2.compress(LOG.encode()),
        "bzip2_of_two_streams/x.log.bz2": bz2.compress(LOG.encode()) + bz2.compress(LOG.encode()),
        "plain_xz/x.log.xz": lzma.compress(LOG.encode()),
        "tar_bzip2/x.tar.bz2": bz2.compress(tar_of({"a/x.log": LOG.encode()})),
        "tar_xz/x.tar.xz": lzma.compress(tar_of({"a/x.log": LOG.encode()})),
        "gzip_of_gzip/x.log.gz": gzip.compress(gzip.compress(LOG.encode())),
        "gzip_with_a_tail/x.log.gz": gzip.compress(LOG.encode()) + bytes(512),
        "gzip_of_nothing/x.log.gz": gzip.compress(b""),
        "bzip2_of_nothing/x.log.bz2": bz2.compress(b""),
        "xz_of_nothing/x.log.xz": lzma.compress(b""),
        "empty_zip/x.zip": zip_of({}),
        "empty_tar/x.tar": tar_of({}),
        "misnamed_zip/x.log": zip_of({"x.log": LOG.encode()}),
        "misnamed_gzip/x.txt": gzip.compress(LOG.encode()),
        "text_named_gzip/x.log.gz": LOG,
        "text_named_zip/x.zip": LOG,
        "zip_of_odd_names/x.zip": zip_of(
            {"a\nb.log": LOG.encode(), "订单.log": LOG.encode(), "x" * 240 + ".log": LOG.encode(), "a//b.log": b"x"}
        ),
        "tar_of_odd_names/x.tar": tar_of(
            {"a\nb.log": LOG.encode(), "é\udcff.log": LOG.encode(), "./././x.log": LOG.encode(), "": b"x"}
        ),
        "twice_the_same_member/x.tar": tar_of({"x.log": LOG.encode(), "./x.log": LOG.encode()}),
    },
)


@strange("archives", "x.zip")
def an_encrypted_zip(at: Path) -> None:
    data = bytearray(zip_of({"x.log": LOG.encode()}))
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    put(at / "x.zip", bytes(data))


@strange("archives", "x.zip")
def a_zip_of_an_unknown_method(at: Path) -> None:
    data = bytearray(zip_of({"x.log": LOG.encode()}))
    data[8] = 97
    data[data.index(b"PK\1\2") + 10] = 97
    put(at / "x.zip", bytes(data))


@strange("archives", "x.zip")
def a_zip_inside_zips(at: Path) -> None:
    data = zip_of({"x.log": LOG.encode()})
    for n in range(6):
        data = zip_of({f"{n}.zip": data})
    put(at / "x.zip", data)


@strange("archives", "x.tar")
def a_tar_of_links(at: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, kind, target in (
            ("l", tarfile.SYMTYPE, "/etc/passwd"),
            ("h", tarfile.LNKTYPE, "l"),
            ("p", tarfile.FIFOTYPE, ""),
            ("c", tarfile.CHRTYPE, ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    put(at / "x.tar", out.getvalue())


@strange("archives")
def a_zip_that_packs_well(at: Path) -> None:
    put(at / "x.zip", zip_of({"commitlog/00000000000000000000": bytes(30_000_000)}))


CHINESE = LOG + "2026-11-20 10:01:00,000 WARN RocketmqClient - 订单支付失败，库存不足，请稍后再试\n" * 20

files(
    "encodings",
    {
        "log_in_gbk/x.log": CHINESE.encode("gb18030"),
        "log_in_utf16_le/x.log": b"\xff\xfe" + CHINESE.encode("utf-16-le"),
        "log_in_utf16_be/x.log": b"\xfe\xff" + CHINESE.encode("utf-16-be"),
        "log_in_utf16_le_without_bom/x.log": CHINESE.encode("utf-16-le"),
        "log_in_utf16_be_without_bom/x.log": CHINESE.encode("utf-16-be"),
        "log_in_utf16_with_half_a_character/x.log": (b"\xff\xfe" + CHINESE.encode("utf-16-le"))[:-1],
        "log_in_utf16_with_lone_surrogates/x.log": b"\xff\xfe"
        + LOG.encode("utf-16-le")
        + b"\x00\xd8x\x00\x00\xdc\n\x00"
        + LOG.encode("utf-16-le"),
        "log_in_utf32/x.log": b"\xff\xfe\0\0" + CHINESE.encode("utf-32-le"),
        "log_in_latin1/x.log": (LOG + "2026-11-20 10:01:00,000 WARN RocketmqClient - größer café\n").encode("latin-1"),
        "log_in_shift_jis/x.log": (
            LOG + "2026-11-20 10:01:00,000 WARN RocketmqClient - 注文が失敗しました\n" * 10
        ).encode("shift-jis"),
        "log_in_ebcdic/x.log": LOG.encode("cp500"),
        "log_with_utf8_bom/x.log": b"\xef\xbb\xbf" + CHINESE.encode(),
        "log_with_a_bom_on_every_line/x.log": b"".join(
            b"\xef\xbb\xbf" + line for line in LOG.encode().splitlines(keepends=True)
        ),
        "log_with_runs_of_nul/x.log": LOG.encode() + bytes(70_000) + LOG.encode() + bytes(3) + LOG.encode(),
        "log_of_nul/x.log": bytes(10_000),
        "log_with_cr_only/x.log": LOG.replace("\n", "\r"),
        "log_with_crlf_and_lf/x.log": LOG.replace("\n", "\r\n") + LOG + LOG.replace("\n", "\r\r\n"),
        "log_in_colours/x.log": "".join(f"\x1b[32m{line}\x1b[0m\n" for line in LOG.splitlines()),
        "log_with_broken_utf8/x.log": LOG.encode()
        + b"2026-11-20 10:01:00,000 WARN RocketmqClient - \xed\xa0\x80 \xc0\xaf \xf8\x88\x80\x80\x80 \xff\n"
        + LOG.encode(),
        "log_with_odd_line_ends/x.log": LOG.replace("\n", "\u2028")
        + LOG.replace("\n", "\x0b")
        + LOG.replace("\n", "\x85")
        + LOG,
        "log_with_zero_width_characters/x.log": "".join(f"\u200b\ufeff{line}\n" for line in LOG.splitlines()),
        "log_in_full_width/x.log": "".join(chr(ord(c) + 0xFEE0) if 33 <= ord(c) < 127 else c for c in LOG),
        "log_with_emoji/x.log": LOG.replace("start OK", "start 🚀👩‍👩‍👧‍👦 \U0010ffff"),
        "csv_in_gbk/x.csv": (
            "订单号,状态,创建时间\n" + "".join(f"GK{n:06},已支付,2026-11-20 10:00:{n % 60:02}\n" for n in range(50))
        ).encode("gb18030"),
        "csv_in_utf16/x.csv": b"\xff\xfe"
        + (
            "订单号\t状态\t创建时间\r\n"
            + "".join(f"GU{n:06}\t已支付\t2026-11-20 10:00:{n % 60:02}\r\n" for n in range(50))
        ).encode("utf-16-le"),
        "conf_in_gbk/broker.conf": "# 中文注释\nbrokerClusterName=集群\nbrokerName=甲\nbrokerId=0\n".encode("gb18030"),
        "json_in_utf16/topics.json": b"\xff\xfe"
        + '{"dataVersion":{},"topicConfigTable":{"主题":{"topicName":"主题"}}}'.encode("utf-16-le"),
    },
)


TRACE = (
    "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, "
    "period in queue: 201ms, size of queue: 7\n"
    "\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.processSendResponse(MQClientAPIImpl.java:668)\n"
    "\tat org.apache.rocketmq.client.producer.DefaultMQProducer.send(DefaultMQProducer.java:325)\n"
)

files(
    "logs",
    {
        "log_without_times/x.log": "the broker is down\nMessageStore has been shutdown\nshutdown hook over\n" * 20,
        "log_without_levels/x.log": "".join(f"2026-11-20 10:00:{s:02} broker busy?\n" for s in range(60)),
        "log_of_clock_times/x.log": "".join(
            f"10:00:{s:02}.123 [main] INFO c.a.Orders - order {s}\n" for s in range(60)
        ),
        "log_of_one_line_without_end/x.log": LOG_LINE.rstrip("\n"),
        "log_of_blank_lines/x.log": "\n" * 5000,
        "log_of_traces_alone/x.log": TRACE.split("\n", 1)[1] * 30,
        "log_with_another_years_lines/x.log": LOG + LOG.replace("2026", "1999"),
        "log_backwards/x.log": "".join(reversed(LOG.splitlines(keepends=True))),
        "syslog/messages": "".join(
            f"Nov 20 10:00:{s:02} host kernel: [{s}.0] oom-killer: java invoked\n" for s in range(50)
        ),
        "journal/journal.txt": "".join(
            f"Nov 20 10:00:{s:02} host mqbroker[{s}]: java.lang.OutOfMemoryError: Java heap space\n" for s in range(50)
        ),
        "access_log/access.log": "".join(
            f'10.0.0.{s} - - [20/Nov/2026:10:00:{s:02} +0800] "GET / HTTP/1.1" 200 {s}\n' for s in range(50)
        ),
        "kubectl_log/x.log": "".join(
            f"2026-11-20T02:00:{s:02}.123456789Z stdout F {line}\n" for s, line in enumerate(LOG.splitlines())
        ),
        "docker_log/x-json.log": "".join(
            f'{{"log":"{line}\\n","stream":"stdout","time":"2026-11-20T02:00:00.1Z"}}\n' for line in LOG.splitlines()
        ),
        "html_saved/x.html": "<html><body><pre>" + LOG.replace("<", "&lt;") + "</pre></body></html>\n",
        "an_xml/logback.xml": '<?xml version="1.0"?>\n<configuration><appender name="x"/></configuration>\n',
        "a_yaml/application.yml": "rocketmq:\n  name-server: 10.0.0.1:9876\n  producer:\n    group: g\n",
        "a_java_source/Orders.java": "public class Orders { void send() throws MQClientException { } }\n",
        "a_thread_dump_cut/jstack.txt": '2026-11-20 10:00:00\nFull thread dump OpenJDK 64-Bit Server VM (25.1 mixed mode):\n\n"main" #1 prio=5 os_prio=0 tid=0x1 nid=0x1 waiting on con',
        "an_image/screen.png": b"\x89PNG\r\n\x1a\n" + NOISE[:3000],
        "a_heap_dump/heap.hprof": b"JAVA PROFILE 1.0.2\0" + NOISE[:3000],
        "a_class_file/X.class": b"\xca\xfe\xba\xbe\0\0\0\x34" + NOISE[:1000],
        "an_sqlite_file/x.db": b"SQLite format 3\0" + NOISE[:4080],
        "an_elf_file/x": b"\x7fELF\2\1\1\0" + NOISE[:3000],
        "a_pcap/x.pcap": b"\xd4\xc3\xb2\xa1\2\0\4\0" + NOISE[:3000],
    },
)


@strange("logs")
def sends_that_failed_without_a_logger(at: Path) -> None:
    """A layout that prints neither thread nor logger, so that both columns of what is found in it are all null."""
    put(at / "x.log", "".join(f"2026-11-20 10:00:{s:02} ERROR {TRACE}" for s in range(30)))


@strange("logs")
def exceptions_without_anything(at: Path) -> None:
    put(at / "x.log", TRACE * 20)


def parquet_bytes() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({"order_id": [f"PQ{n:05}" for n in range(40)], "status": ["PAID"] * 40}), out)
    return out.getvalue()


def fill(folder: Path, names: list[str] | None = None, *, slow: bool = False) -> dict[str, Path]:
    """Write each strange thing into a folder of its own under `folder`; return name → its folder."""
    made = {}
    for name, one in ALL.items():
        if (names is None and (slow or not one.slow)) or (names is not None and name in names):
            made[name] = folder / name
            made[name].mkdir(parents=True)
            one.write(made[name])
    return made


def unlock(folder: Path) -> None:
    """Make removable what a strange thing made unreadable."""
    for root, folders, _ in os.walk(folder):
        for name in folders:
            with contextlib.suppress(OSError):
                Path(root, name).chmod(0o700)
