"""`explain`, from the start of the process to its answer: one line, and a paste of a hundred."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.common import best, keep, machine, paired

LINE = "org.apache.rocketmq.client.exception.MQClientException: No route info of this topic: orders"
LINES = "\n".join(
    f"2026-11-20 10:00:{second % 60:02} WARN SendMessageThread_1 - putMessage not in lock elapsed time(ms)={700 + second}, bodyLength=75"
    for second in range(100)
)


def answered(paste: str) -> None:
    """Run the command on a paste at its standard input."""
    command = [sys.executable, "-m", "kit", "explain"]
    subprocess.run(command, input=paste.encode(), stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    times = paired(one=lambda: answered(LINE), hundred=lambda: answered(LINES))
    found = {name: best(each) for name, each in times.items()}
    for name, each in found.items():
        print(f"{name:8} {each['median']:6.2f} s (from {each['min']:.2f} to {each['max']:.2f})")
    keep("explain", {"machine": machine(), "seconds": found})


if __name__ == "__main__":
    main()
