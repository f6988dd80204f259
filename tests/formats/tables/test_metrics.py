"""iostat, vmstat, sar and GC logs by hand-read values."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from kit.formats.tables import metrics

IOSTAT = """\
Linux 6.1.0 (b) \t11/20/26 \t_x86_64_\t(2 CPU)

11/20/26 23:19:28
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          18.60    1.58    6.96    0.20    0.04   72.62

Device            r/s     rkB/s   w_await  %util
vda             22.67   1333.92     2.79   1.20
nvme0n1          0.00      0.00     0.00   0.00

11/20/26 23:19:29
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          86.07    0.00   11.94    0.00    0.50    1.49
"""
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 CST
 4  0      0 19768036  11392 4351400    0    0   679  4754 1508 5201 20  7 73  0  0 2026-11-20 23:19:28
"""
SAR = """\
Linux 5.4.0 (b) \t11/20/2026 \t_x86_64_\t(2 CPU)

11:50:01 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle
11:51:01 PM     all     12.50      0.00      3.25      0.10      0.00     84.15
Average:        all      3.20      0.00      1.10      0.05      0.00     95.65

11:50:01 PM       tps      rtps      wtps   bread/s   bwrtn/s
11:51:01 PM      7.53      0.00      7.53      0.00    118.92
"""
GC_8 = """\
OpenJDK 64-Bit Server VM (25.292-b10) for linux-amd64 JRE (1.8.0_292-b10), built on Apr 21 2021 by "x" with gcc
2024-05-14T10:22:31.123+0800: 1.234: [GC (Allocation Failure) [PSYoungGen: 65536K->10720K(76288K)] 65536K->12345K(251392K), 0.0123456 secs] [Times: user=0.02 sys=0.00, real=0.01 secs]
2024-05-14T10:22:32.123+0800: 2.234: Total time for which application threads were stopped: 0.5000000 seconds, Stopping threads took: 0.0000100 seconds
"""
GC_17 = """\
[2024-05-14T10:22:31.123+0800][1.234s][info][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms
[1.500s][info][gc] GC(13) Pause Full (System.gc()) 24M->4M(256M) 30.5ms
[2024-05-14T10:22:33.123+0800][3.234s][info][safepoint] Safepoint "G1CollectForAllocation", Time since last: 1000 ns, Reaching safepoint: 2000 ns, At safepoint: 4000000 ns, Total: 4002000 ns
"""


def values(
    tmp_path: Path, text: str, zone: str | int | None = None
) -> dict[tuple[int, str | None, str], tuple[dt.datetime | None, float]]:
    path = tmp_path / "m"
    path.write_text(text)
    assert metrics.sniff(text.encode())
    return {
        (r["line"], r["subject"], r["name"]): (r["ts"], r["value"])
        for r in metrics.read([("m", str(path))], zone).to_pylist()
    }


def utc(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def test_iostat_with_several_reports(tmp_path: Path) -> None:
    found = values(tmp_path, IOSTAT, "Asia/Shanghai")
    assert found[5, "cpu", "%user"] == (utc("2026-11-20 15:19:28"), 18.6)
    assert found[8, "vda", "w_await"] == (utc("2026-11-20 15:19:28"), 2.79)
    assert found[9, "nvme0n1", "%util"][1] == 0.0
    assert found[13, "cpu", "%idle"] == (utc("2026-11-20 15:19:29"), 1.49)
    assert len(found) == 6 + 4 + 4 + 6


def test_vmstat_with_and_without_timestamps(tmp_path: Path) -> None:
    found = values(tmp_path, VMSTAT, 480)
    assert found[3, None, "bo"] == (utc("2026-11-20 15:19:28"), 4754.0)
    assert found[3, None, "st"][1] == 0.0
    assert len(found) == 17
    bare = values(tmp_path, VMSTAT.replace(" 2026-11-20 23:19:28", ""))
    assert bare[3, None, "cs"] == (None, 5201.0)


def test_sar_without_its_averages(tmp_path: Path) -> None:
    found = values(tmp_path, SAR, 480)
    assert found[4, "all", "%user"] == (utc("2026-11-20 15:51:01"), 12.5)
    assert found[8, None, "bwrtn/s"] == (utc("2026-11-20 15:51:01"), 118.92)
    assert not [key for key in found if key[0] == 5]


def test_gc_of_jdk_8(tmp_path: Path) -> None:
    found = values(tmp_path, GC_8)
    ts, pause = found[2, "GC (Allocation Failure)", "pause_ms"]
    assert ts == utc("2024-05-14 02:22:31.123")
    assert pause == pytest.approx(12.3456)
    assert found[2, "GC (Allocation Failure)", "after_bytes"][1] == 12345 * 1024
    assert found[3, "safepoint", "stopped_ms"] == (utc("2024-05-14 02:22:32.123"), 500.0)


def test_gc_of_jdk_17(tmp_path: Path) -> None:
    found = values(tmp_path, GC_17)
    assert found[1, "Pause Young (Normal) (G1 Evacuation Pause)", "pause_ms"] == (utc("2024-05-14 02:22:31.123"), 3.456)
    assert found[1, "Pause Young (Normal) (G1 Evacuation Pause)", "before_bytes"][1] == 24 * 2**20
    assert found[2, "Pause Full (System.gc())", "pause_ms"] == (None, 30.5)
    assert found[2, "Pause Full (System.gc())", "uptime_s"][1] == 1.5
    assert found[3, "safepoint G1CollectForAllocation", "stopped_ms"][1] == pytest.approx(4.002)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11/20/26 23:19:28", "2026-11-20 23:19:28"),
        ("11/20/2026 11:19:28 PM", "2026-11-20 23:19:28"),
        ("11/20/2026 12:00:01 AM", "2026-11-20 00:00:01"),
        ("2026-11-20T23:19:28+0800", "2026-11-20 15:19:28"),
        ("20.11.2026 23:19:28", "2026-11-20 23:19:28"),
        ("23:19:28", None),
        ("13/45/26 23:19:28", None),
    ],
)
def test_printed_times_become_instants_or_nothing(text: str, expected: str | None) -> None:
    assert metrics.moment(text, None) == (None if expected is None else int(utc(expected).timestamp() * 1000))


def test_what_is_no_metric() -> None:
    assert not metrics.sniff(b"2024-05-14 10:22:31 WARN main - x\n")
    assert not metrics.sniff(b"r,b,c\n1,2,3\n")
