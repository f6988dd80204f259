"""What the kernel of a host reports: named by `triage`, with the times that it prints and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

import kit

UPTIME = """\
[1036802.123456] Out of memory: Kill process 4711 (java) score 612 or sacrifice child
[1036810.000000] EXT4-fs error (device vdb): ext4_journal_check_start:56: Detected aborted journal
[1036811.000000] blk_update_request: I/O error, dev vdb, sector 123456
[1036812.000000] INFO: task java:4711 blocked for more than 120 seconds.
"""


def rows(folder: Path, name: str, text: str) -> list[dict[str, Any]]:
    (folder / name).write_text(text)
    case = kit.open_case(folder / name, folder / "ws")
    return ds.dataset(case.folder("logs"), format="parquet").to_table().to_pylist() if case.has("logs") else []


def test_seconds_since_boot_are_no_time_of_day(tmp_path: Path) -> None:
    found = rows(tmp_path, "kernel.txt", UPTIME)
    assert [(row["line"], row["ts"]) for row in found] == [(n, None) for n in (1, 2, 3, 4)]


def test_a_boot_without_trouble_is_recognised(tmp_path: Path) -> None:
    boot = "[    0.000000] Command line: quiet\n[    2.123456] clocksource: Switched to clocksource kvm-clock\n"
    assert [row["ts"] for row in rows(tmp_path, "d.txt", boot)] == [None, None]


def test_times_of_dmesg_t_are_read(tmp_path: Path) -> None:
    found = rows(tmp_path, "d.txt", "[Mon Nov 23 10:22:31 2026] Out of memory: Kill process 1 (java) score 6 or\n" * 2)
    assert [f"{row['ts']:%Y-%m-%d %H:%M:%S}" for row in found] == ["2026-11-23 10:22:31"] * 2
