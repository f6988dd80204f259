"""RocketMQ's own decoder: the client's jars as the live lab fetches them, by Maven coordinates, and never keeps in the
repository.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.common import HERE, WORK
from kit.live_lab import jars
from kit.rocketmq.versions import Version

VERSION = Version.parse("4.9.4")


def classpath() -> str | None:
    """Return the class path of the compiled benchmark, None where Maven, a JDK or the jars are not to be had."""
    folder = WORK / "java"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        path = jars.classpath("client", VERSION)
        subprocess.run(["javac", "-cp", path, "-d", folder, HERE / "DecodeBench.java"], check=True, capture_output=True)
    except (jars.LabError, OSError, subprocess.CalledProcessError):
        return None
    return f"{folder}:{path}"


def decode(path: str, work: str, files: list[Path], threads: int, rounds: int) -> list[tuple[int, int, float]]:
    """Return (records, bytes, seconds) for each round in one JVM: the first ones are cold. `work`: "decode", or "read"
    for what the kit does too.
    """
    command = ["java", "-Xmx4g", "-cp", path, "DecodeBench", work, str(threads), str(rounds), *map(str, files)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    return [(int(a), int(b), float(c)) for _, a, b, c in (line.split() for line in said.stdout.splitlines())]
