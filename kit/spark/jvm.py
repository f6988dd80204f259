"""The Java that runs Spark, and a class archive for it: Spark loads some 15,000 classes at every start, and most of
that work can be kept.

The archive is made once, by `make env` (`python -m kit.spark.warm`), with the JDK's own class-data sharing (JEP 350,
Java 13 and newer). A JVM that does
not fit it, or finds it broken, leaves it alone and starts as ever.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

QUIET: Final = "-Xlog:disable -Xlog:all=error:stderr"
"""What the JVM says of classes that cannot be archived, some hundreds of lines."""


def executable() -> Path | None:
    """Return the `java` that Spark would run, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    return Path(java) if java and Path(java).exists() else None


def version() -> str | None:
    """Return its release as it names itself (`17.0.15`, `1.8.0_402`), None where there is none or it does not say."""
    java = executable()
    if java is None:
        return None
    try:
        # The file every JDK of the last ten years carries beside it: starting a JVM to ask takes a good part of a
        # second.
        release = (java.resolve().parent.parent / "release").read_text(encoding="utf-8", errors="replace")
        found = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.MULTILINE)
        if found:
            return found.group(1)
    except OSError:
        pass
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except OSError:
        return None
    found = re.search(r'version "([^"]+)"', said)
    return found.group(1) if found else None


def major(release: str | None) -> int | None:
    """Return 17 for `17.0.15` and 8 for `1.8.0_402`."""
    found = re.match(r"(?:1\.)?(\d+)", release or "")
    return int(found.group(1)) if found else None


def archive() -> Path:
    """Return the place of the archive for this Spark and this Java; it belongs to the environment, as Spark does."""
    import pyspark

    return Path(sys.prefix, "share", "rmq-kit", f"spark-{pyspark.__version__}-java-{version()}.jsa")


def options(*, record: bool = False) -> str:
    """Return the JVM options that use the archive where there is one, or with `record` those that write it when the JVM
    ends.
    """
    place = archive()
    if " " in str(place):
        return ""
    if record:
        return f"-XX:ArchiveClassesAtExit={place} {QUIET}"
    return f"-XX:SharedArchiveFile={place} {QUIET}" if place.exists() else ""
