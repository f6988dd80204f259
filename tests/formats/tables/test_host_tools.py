"""top, free, df, iotop, jstat, mpstat, pidstat: values read by hand, sizes by arithmetic."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import kit
from kit.explanation.explain import explain
from kit.formats.tables import metrics

TOP = """\
top - 10:22:31 up 12 days,  3:11,  2 users,  load average: 38.12, 30.02, 22.11
Tasks: 212 total,   2 running, 210 sleeping,   0 stopped,   0 zombie
%Cpu(s): 12.3 us,  8.1 sy,  0.0 ni, 20.4 id, 58.9 wa,  0.0 hi,  0.3 si,  0.0 st
KiB Mem : 16265204 total,   201232 free, 12012312 used,  4051660 buff/cache
KiB Swap:  8388604 total,  1200004 free,  7188600 used.  3601232 avail Mem

  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND
 4711 root      20   0   23.1g   9.8g 123456 S 120.3 63.2 912:11.12 java
"""
TOP_OLD = """\
top - 10:22:31 up 1 min,  1 user,  load average: 0.10, 0.20, 0.30
Cpu(s):  0.7%us,  0.3%sy,  0.0%ni, 98.9%id,  0.1%wa,  0.0%hi,  0.0%si,  0.0%st
Mem:   8061212k total,  7900000k used,   161212k free,   200000k buffers
Swap:  4194296k total,        0k used,  4194296k free,  3000000k cached
"""
FREE = """\
              total        used        free      shared  buff/cache   available
Mem:          {}
Swap:         {}
"""
DF = """\
Filesystem      Size  Used Avail Use% Mounted on
/dev/vda1        40G   12G   26G  32% /
/dev/vdb        500G  478G   22G  96% /data
tmpfs           7.8G     0  7.8G   0% /dev/shm
"""
JSTAT = """\
  S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT     GCT
  0.00  99.80  12.11  97.32  95.11  91.22   1234   45.120    88  132.411  177.531
  0.00  99.80  52.11  98.32  95.11  91.22   1234   45.120    89  135.411  180.531
  0.00   0.00  10.11  99.32  95.11  91.22   1234   45.120    91  141.911  187.031
"""
MPSTAT = """\
Linux 3.10.0-1160.el7.x86_64 (mq-a)     11/23/2026      _x86_64_        (8 CPU)

10:22:31 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
10:22:36 AM  all   12.30    0.00    8.10   58.90    0.00    0.30    0.00    0.00    0.00   20.40
10:22:36 AM    3    0.00    0.00    0.00  100.00    0.00    0.00    0.00    0.00    0.00    0.00
"""
PIDSTAT = """\
Linux 3.10.0-1160.el7.x86_64 (mq-a)     11/23/2026      _x86_64_        (8 CPU)

10:22:31      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s  Command
10:22:36        0      4711      0.00  98112.00      0.00  java
Average:        0      4711      0.00      1.00      0.00  java
"""
IOTOP = """\
Total DISK READ :\t0.00 B/s | Total DISK WRITE :\t98.00 M/s
  PID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND
 4711 be/4 root        0.00 B/s   97.00 M/s  0.00 % 99.99 % java -server
"""
G = 2**30
Values = dict[tuple[int, str | None, str], float]


def rows(folder: Path, text: str, zone: str | int | None = None) -> list[dict[str, object]]:
    (folder / "m").write_text(text)
    return metrics.read([("m", str(folder / "m"))], zone).to_pylist()


def values(folder: Path, text: str) -> Values:
    assert metrics.sniff(text.encode())
    found = rows(folder, text)
    return {(r["line"], r["subject"], r["name"]): r["value"] for r in found}  # type: ignore[misc]


def test_top(tmp_path: Path) -> None:
    found = values(tmp_path, TOP)
    assert [found[1, None, f"ldavg-{minutes}"] for minutes in (1, 5, 15)] == [38.12, 30.02, 22.11]
    assert (found[3, "cpu", "wa"], found[3, "cpu", "id"]) == (58.9, 20.4)
    assert found[4, "mem", "used_bytes"] == 12012312 * 1024
    assert found[5, "swap", "used_bytes"] == 7188600 * 1024
    assert found[5, "mem", "available_bytes"] == 3601232 * 1024
    assert found[8, "java[4711]", "%CPU"] == 120.3
    assert found[8, "java[4711]", "res_bytes"] == pytest.approx(9.8 * G)
    assert found[8, "java[4711]", "shr_bytes"] == 123456 * 1024


def test_top_of_older_hosts(tmp_path: Path) -> None:
    found = values(tmp_path, TOP_OLD)
    assert found[2, "cpu", "id"] == 98.9
    assert found[3, "mem", "free_bytes"] == 161212 * 1024
    assert found[4, "mem", "cached_bytes"] == 3000000 * 1024
    assert found[4, "swap", "used_bytes"] == 0


@pytest.mark.parametrize(
    ("mem", "swap", "total", "used_swap"),
    [
        ("15884 11731 196 12 3956 3516", "8191 7020 1171", 15884 * 2**20, 7020 * 2**20),  # -m
        ("16265204 12012312 201232 12 1 1", "8388604 7188600 1", 16265204 * 2**10, 7188600 * 2**10),  # -k
        ("15 11 0 0 3 3", "7 6 1", 15 * G, 6 * G),  # -g
        ("16655568896 1 1 1 1 1", "8589930496 7361126400 1", 16655568896, 7361126400),  # -b
        ("15Gi 11Gi 196Mi 12Mi 3.9Gi 3.4Gi", "8.0Gi 6.5Gi 1.1Gi", 15 * G, 6.5 * G),  # -h
    ],
)
def test_free_in_any_unit(tmp_path: Path, mem: str, swap: str, total: float, used_swap: float) -> None:
    found = values(tmp_path, FREE.format(mem, swap))
    assert (found[2, "mem", "total_bytes"], found[3, "swap", "used_bytes"]) == (total, used_swap)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (DF, 500 * G),
        ("Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/vdb 1000 960 40 96% /data\n", 1000 * 1024),
        ("Filesystem 1M-blocks Used Available Use% Mounted on\n/dev/vdb 10 9 1 96% /data\n", 10 * 2**20),
        ("Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vdb 10 9 1 96% /data\n", 10 * 1024),
        ("Filesystem Type Size Used Avail Use% Mounted on\n/dev/vdb ext4 5G 4G 1G 96% /data\n", 5 * G),
        ("Filesystem Size Used Avail Use% Mounted on\n/dev/mapper/a-very-long-name\n   5G 4G 1G 96% /data\n", 5 * G),
        ("文件系统 容量 已用 可用 已用% 挂载点\n/dev/vdb 5G 4G 1G 96% /data\n", 5 * G),
    ],
)
def test_df(tmp_path: Path, text: str, size: float) -> None:
    found = {(subject, name): value for (_, subject, name), value in values(tmp_path, text).items()}
    assert (found["/data", "size_bytes"], found["/data", "use%"]) == (size, 96)


def test_inodes_are_no_bytes(tmp_path: Path) -> None:
    text = "Filesystem      Inodes IUsed   IFree IUse% Mounted on\n/dev/vdb  1000 1000 0 100% /data\ntmpfs - - - - /x\n"
    assert values(tmp_path, text) == {
        (2, "/data", "inodes"): 1000, (2, "/data", "iused"): 1000, (2, "/data", "ifree"): 0, (2, "/data", "iuse%"): 100,
    }  # fmt: skip


def test_jstat_and_the_mean_of_full_collections_between_samples(tmp_path: Path) -> None:
    found = values(tmp_path, JSTAT)
    assert (found[2, None, "O"], found[4, None, "FGC"]) == (97.32, 91)
    pauses = {line: value for (line, subject, name), value in found.items() if name == "pause_ms"}
    # 3 s for one of them, then 6.5 s for two
    assert pauses == {3: pytest.approx(3000), 4: pytest.approx(3250)}


def test_jstat_of_two_processes_has_no_pause_between_them(tmp_path: Path) -> None:
    head, first, *_, last = JSTAT.splitlines()
    found = values(tmp_path, "\n".join([head, first, head, last]))
    assert not [key for key in found if key[2] == "pause_ms"]


def test_mpstat_and_pidstat_without_averages(tmp_path: Path) -> None:
    found = values(tmp_path, MPSTAT)
    assert found[4, "all", "%iowait"] == 58.9
    found = values(tmp_path, PIDSTAT)
    assert found == {
        (4, "java[4711]", "kB_rd/s"): 0, (4, "java[4711]", "kB_wr/s"): 98112, (4, "java[4711]", "kB_ccwr/s"): 0,
    }  # fmt: skip


def test_a_processor_is_not_the_host(tmp_path: Path) -> None:
    from kit.analysis.sends import measurements

    (tmp_path / "mpstat.txt").write_text(MPSTAT)
    case = kit.open_case(tmp_path / "mpstat.txt", tmp_path / "ws")
    assert measurements.host_metrics(case, "%idle")["value"].tolist() == [20.4]


def test_iotop(tmp_path: Path) -> None:
    found = values(tmp_path, IOTOP)
    assert found[1, "total", "write_bytes/s"] == 98 * 2**20
    assert found[3, "java -server[4711]", "write_bytes/s"] == 97 * 2**20
    assert found[3, "java -server[4711]", "IO>"] == 99.99


@pytest.mark.parametrize(
    ("before", "seconds"),
    [
        ("", None),
        ("---- 2026-11-23 10:22:31\n", "2026-11-23 02:22:31"),
        ("Mon Nov 23 10:22:31 CST 2026\n", "2026-11-23 02:22:31"),  # the host's own zone
        ("Mon Nov 23 10:22:31 UTC 2026\n", "2026-11-23 10:22:31"),
        ("Mon 23 Nov 2026 10:22:31 PM CST\n", "2026-11-23 14:22:31"),
        ("some words 2026-11-23 10:22:31\n", None),
    ],
)
def test_a_time_comes_from_a_line_before(tmp_path: Path, before: str, seconds: str | None) -> None:
    times = {row["ts"] for row in rows(tmp_path, before + DF, 480)}
    assert times == {None if seconds is None else dt.datetime.fromisoformat(seconds).replace(tzinfo=dt.UTC)}


def test_the_date_before_top_completes_its_time(tmp_path: Path) -> None:
    (ts,) = {row["ts"] for row in rows(tmp_path, "Mon Nov 23 10:22:30 CST 2026\n" + TOP, 480)}
    assert ts == dt.datetime(2026, 11, 23, 2, 22, 31, tzinfo=dt.UTC)


def test_one_file_of_several_outputs(tmp_path: Path) -> None:
    text = f"2026-11-23 10:22:31\n{TOP}\n{DF}\n{FREE.format('15884 1 1 1 1 1', '8191 7020 1171')}\n{PIDSTAT}"
    found = rows(tmp_path, text)
    each = {origin: sum(row["origin"] == origin for row in found) for origin in ("top", "df", "free", "pidstat")}
    assert each == {"top": 3 + 8 + 4 + 3 + 1 + 5, "df": 12, "free": 6 + 3, "pidstat": 3}
    assert len(found) == sum(each.values())
    lines = text.split("\n")
    assert all(str(r["subject"]) in lines[r["line"] - 1] for r in found if r["origin"] == "df")  # type: ignore[operator]


def test_an_output_between_log_lines_is_read_as_well(tmp_path: Path) -> None:
    log = "2026-11-23 10:22:31 WARN main - broker busy, start flow control for a while\n"
    assert not metrics.sniff((log + DF).encode())
    (tmp_path / "paste.txt").write_text("what is this?\n" + log + DF + log)
    case = kit.open_case(tmp_path / "paste.txt", tmp_path / "ws")
    assert [item.kind for item in case.found.items] == ["text"]
    assert case.has("logs") and case.has("metrics")


def test_explain_says_what_an_output_is_and_leaves_out_its_rows() -> None:
    for text, tool in ((TOP, "top"), (DF, "df"), (FREE.format("1 2 3", "4 5 6"), "free"), (JSTAT, "jstat"),
                       (MPSTAT, "mpstat"), (PIDSTAT, "pidstat"), (IOTOP, "iotop")):  # fmt: skip
        assert [(row["slug"], row["title"]) for row in explain(text)] == [("host-output", f"An output of {tool}")]


def test_explain_goes_on_behind_an_output() -> None:
    known = "java.io.IOException: No space left on device"
    assert [row["slug"] for row in explain(f"{DF}{known}\nwhat does it mean?")] == [
        "host-output",
        "no-space-left",
        None,
    ]


def test_processors_that_wait_for_a_disk_are_not_busy(tmp_path: Path) -> None:
    from kit.analysis.sends import busy, measurements, sends

    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "mpstat.txt").write_text(MPSTAT)
    # The first screen of top covers no interval.
    (tmp_path / "e" / "top.txt").write_text(TOP.replace("58.9 wa", "99.0 wa") + "\n" + TOP)
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    found = measurements.processors(case)
    # 100 - 20.4 idle - 58.9 waiting, in both
    assert found["busy"].tolist() == [pytest.approx(20.7)] * 2
    assert found["waiting"].tolist() == [58.9] * 2
    (why,) = [each for each in busy.explain(case, sends.ledger(case), []) if each.slug == "host"]
    assert "59" in why.said.render("en") and [ref.file for ref in why.evidence] == ["mpstat.txt"]


def test_what_the_collecting_script_records_is_recognised(tmp_path: Path) -> None:
    # collection/collect.sh writes each command above its output.
    outputs = {
        "df -Pk": "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vdb 1000 960 40 96% /data\n",
        "df -Pi": "Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/vdb 1000 10 990 1% /data\n",
        "free -m": FREE.format("15884 11731 196 12 3956 3516", "8191 7020 1171"),
        "top -b -n 1": TOP,
    }
    for command, output in outputs.items():
        (tmp_path / f"{command.replace(' ', '')}.txt").write_text(f"$ {command}\n\n{output}")
    (tmp_path / "dmesg.txt").write_text("$ dmesg -T\n\n[Mon Nov 23 10:22:31 2026] EXT4-fs (vdb): mounted filesystem\n")
    case = kit.open_case(tmp_path, tmp_path.parent / "ws")
    kinds = {item.file: item.kind for item in case.found.items}
    assert kinds.pop("dmesg.txt") in ("text", "log")
    assert set(kinds.values()) == {"metrics"} and len(kinds) == len(outputs)
