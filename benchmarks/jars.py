"""RocketMQ's own decoder, by Maven coordinates: the jars are fetched, never kept in the repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.common import HERE, WORK

VERSION = "4.9.4"
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>bench</groupId><artifactId>bench</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.rocketmq</groupId><artifactId>rocketmq-common</artifactId><version>{version}</version></dependency></dependencies>
</project>"""


def classpath() -> str | None:
    """Return the class path of the compiled benchmark, None where Maven, a JDK or the jars are not to be had."""
    if not (shutil.which("mvn") and shutil.which("javac")):
        return None
    folder = WORK / "java"
    jars = folder / "jars"
    try:
        if not jars.exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "pom.xml").write_text(POM.format(version=VERSION))
            subprocess.run(["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={jars}"], cwd=folder, check=True, capture_output=True)
        subprocess.run(["javac", "-cp", f"{jars}/*", "-d", folder, HERE / "DecodeBench.java"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{folder}:{jars}/*"


def decode(path: str, files: list[Path], threads: int, rounds: int) -> list[tuple[int, int, float]]:
    """Return (records, bytes, seconds) for each round in one JVM: the first ones are cold."""
    command = ["java", "-Xmx4g", "-cp", path, "DecodeBench", str(threads), str(rounds), *map(str, files)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    return [(int(a), int(b), float(c)) for _, a, b, c in (line.split() for line in said.stdout.splitlines())]
