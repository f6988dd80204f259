"""What of this machine, or of the container on it, a process may use."""

import contextlib
import os
from pathlib import Path


def memory() -> int:
    """Return the bytes that this machine or container has."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):  # no container, or `max`
            total = min(total, int(Path(limit).read_text(encoding="ascii")))
    return total


def cores() -> int:
    """Return the cores that this process may use: of a container with a quota no more than it has."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):  # no container, or `max`
        quota, period = map(int, Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split())
        count = min(count, max(1, quota // period))
    return count
