"""What the kernel of a host reports: named by `explain` and `triage`, with the times that it prints and no others.

Each line has the form of the format string in the Linux source that is named beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

import kit
from kit.causes import known_problems
from kit.causes.root_causes import broker_unreachable
from kit.rocketmq import catalogue

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


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        # mm/oom_kill.c up to 4.20, since 5.0, and of a cgroup
        ("Out of memory: Kill process 4711 (java) score 612 or sacrifice child", "kernel-oom-kill"),
        ("Killed process 4711 (java) total-vm:24112312kB, anon-rss:10212312kB, file-rss:0kB, shmem-rss:0kB", "kernel-oom-kill"),
        ("Out of memory: Killed process 1 (java) total-vm:2kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0", "kernel-oom-kill"),
        ("Memory cgroup out of memory: Killed process 1 (java) total-vm:2kB, anon-rss:1kB, file-rss:0kB", "kernel-oom-kill"),
        # kernel/hung_task.c
        ("INFO: task jbd2/vdb-8:312 blocked for more than 120 seconds.", "kernel-task-blocked"),
        # block/blk-core.c up to 4.x, 5.x, and with the operation
        ("end_request: I/O error, dev sdb, sector 41943040", "kernel-disk-error"),
        ("blk_update_request: critical medium error, dev sdb, sector 4", "kernel-disk-error"),
        ("I/O error, dev nvme1n1, sector 2048 op 0x1:(WRITE) flags 0x9800 phys_seg 1 prio class 2", "kernel-disk-error"),
        # fs/ext4/super.c, fs/xfs/xfs_fsops.c
        ("EXT4-fs (vdb): Remounting filesystem read-only", "kernel-filesystem-error"),
        ("XFS (sdb1): Log I/O Error Detected.  Shutting down filesystem", "kernel-filesystem-error"),
        # net/netfilter/nf_conntrack_core.c, net/ipv4/tcp_input.c with and without the address
        ("nf_conntrack: nf_conntrack: table full, dropping packet", "kernel-conntrack-full"),
        ("TCP: request_sock_TCP: Possible SYN flooding on port 10911. Sending cookies.  Check SNMP counters.", "kernel-accept-queue"),
        ("TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:9876. Sending cookies.", "kernel-accept-queue"),
        # kernel/watchdog.c
        ("NMI watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [java:4711]", "kernel-cpu-stuck"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "prefix", ["", "[1036802.123456] ", "Nov 23 10:22:31 mq-a kernel: ", "[Mon Nov 23 10:22:31 2026] "]
)
def test_a_message_is_named(line: str, slug: str, prefix: str) -> None:
    assert [problem.slug for problem in catalogue.problems_in(prefix + line)] == [slug]


@pytest.mark.parametrize(
    "line",
    [
        "blk_update_request: I/O error, dev fd0, sector 0",  # a floppy drive that a virtual machine has not
        "EXT4-fs (vda1): mounted filesystem with ordered data mode. Opts: (null)",
        "XFS (vdb): Ending clean mount",
        "Memory: 16265204K/16776692K available",
    ],
)
def test_what_is_normal_is_not_named(line: str) -> None:
    assert catalogue.problems_in("[    3.000000] " + line) == ()


def test_seconds_since_boot_are_no_time_of_day(tmp_path: Path) -> None:
    found = rows(tmp_path, "kernel.txt", UPTIME)
    assert [(row["line"], row["ts"]) for row in found] == [(n, None) for n in (1, 2, 3, 4)]


def test_a_boot_without_trouble_is_recognised(tmp_path: Path) -> None:
    boot = "[    0.000000] Command line: quiet\n[    2.123456] clocksource: Switched to clocksource kvm-clock\n"
    assert [row["ts"] for row in rows(tmp_path, "d.txt", boot)] == [None, None]


def test_times_of_dmesg_t_are_read(tmp_path: Path) -> None:
    found = rows(tmp_path, "d.txt", "[Mon Nov 23 10:22:31 2026] Out of memory: Kill process 1 (java) score 6 or\n" * 2)
    assert [f"{row['ts']:%Y-%m-%d %H:%M:%S}" for row in found] == ["2026-11-23 10:22:31"] * 2


def test_triage_suspects_what_the_kernel_reports(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "dmesg").write_text(UPTIME)
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    found = {finding.cause: finding.verdict for finding in known_problems.examine(case)}
    assert found == dict.fromkeys(
        ("kernel-oom-kill", "kernel-filesystem-error", "kernel-disk-error", "kernel-task-blocked"), "suspected"
    )


def test_a_probe_of_kubernetes_is_no_client() -> None:
    line = "Warning  Unhealthy  3m  kubelet  {} probe failed: dial tcp 10.1.2.3:10911: connect: connection refused"
    for kind in ("Liveness", "Readiness", "Startup"):
        assert [problem.slug for problem in catalogue.problems_in(line.format(kind))] == ["probe-failed"]
    # net/dial.go in a client of RocketMQ
    assert "go-dial-failed" in [
        p.slug for p in catalogue.problems_in("dial tcp 10.1.2.3:10911: connect: connection refused")
    ]


def test_a_probe_is_no_client_that_cannot_reach_its_broker(tmp_path: Path) -> None:
    (tmp_path / "pod.txt").write_text(
        "Name:  broker-0\nEvents:\n  Warning  Unhealthy  3m  kubelet  Liveness probe failed: dial tcp 10.1.2.3:10911: connect: connection refused\n"
    )
    case = kit.open_case(tmp_path / "pod.txt", tmp_path / "ws")
    assert broker_unreachable.examine(case).verdict == "insufficient_evidence"
