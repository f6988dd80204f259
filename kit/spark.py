"""The Spark session of the kit: local by default, any cluster by option or environment."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kit.texts import T

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

MIN_JAVA = 17
"""Oldest Java that starts Spark 4."""

NO_JAVA = T(
    "Spark needs Java {need} or newer, {found}. Get it with `apt-get install openjdk-17-jre-headless`, "
    "`brew install openjdk@17` or `conda install -c conda-forge openjdk=17`, then set JAVA_HOME.",
    "Spark 需要 Java {need} 或更新版本，{found}。可用 `apt-get install openjdk-17-jre-headless`、"
    "`brew install openjdk@17` 或 `conda install -c conda-forge openjdk=17` 安装，然后设置 JAVA_HOME。",
)
JAVA_ABSENT = T("none was found", "未找到")
JAVA_OLD = T("Java {version} was found", "找到的是 Java {version}")


class JavaMissing(RuntimeError):
    """No Java that can start Spark; the message says in one line how to get one."""


def java_version() -> int | None:
    """Return the major version of the Java that Spark would use, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not java or not Path(java).exists():
        return None
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except OSError:
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found.group(1)) if found else None


def _memory() -> str:
    """A third of the machine's memory for the driver (which is the executor too), 1 to 8 GiB."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return "2g"
    return f"{min(8, max(1, total // 3 // 2**30))}g"


def session(master: str | None = None, remote: str | None = None, **conf: str) -> SparkSession:
    """Return the session with the kit's data sources registered.

    `master`/`remote` win over `RMQ_KIT_MASTER`/`SPARK_REMOTE`; under `spark-submit` its settings stand.
    `conf` are extra Spark settings with `_` for `.`. Raise `JavaMissing` where no fitting Java is found.
    """
    from pyspark.sql import SparkSession

    remote = remote or os.environ.get("SPARK_REMOTE")
    master = master or os.environ.get("RMQ_KIT_MASTER")
    if not remote:
        _require_java()
    # Workers must be the same interpreter, with the kit and numba's cache at hand.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    submitted = "SPARK_ENV_LOADED" in os.environ and "PYSPARK_GATEWAY_PORT" in os.environ
    builder = SparkSession.builder.appName("rmq-kit")
    if remote:
        builder = builder.remote(remote)
    elif master:
        builder = builder.master(master)
    elif not submitted:
        builder = builder.master("local[*]")
    for name, value in {**_settings(local=not (remote or master or submitted)), **{k.replace("_", "."): v for k, v in conf.items()}}.items():
        builder = builder.config(name, value)
    with _quiet():
        spark = builder.getOrCreate()
    if not remote:
        spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    return spark


def register(spark: SparkSession) -> None:
    """Make the kit's formats readable by `spark.read.format(...)`."""
    from kit.read import data_sources

    for source in data_sources():
        spark.dataSource.register(source)


def _require_java() -> None:
    found = java_version()
    if found is None or found < MIN_JAVA:
        had = JAVA_ABSENT if found is None else JAVA_OLD.say(version=found)
        raise JavaMissing(NO_JAVA.say(need=MIN_JAVA, found=had).render())


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Send what the JVM prints to a file: it inherits our stderr, and its banners would stand in every report and pipe.

    `RMQ_KIT_SPARK_LOG` names another file, or `-` for the terminal.
    """
    wanted = os.environ.get("RMQ_KIT_SPARK_LOG")
    if wanted == "-":
        yield
        return
    log = Path(wanted or Path(tempfile.gettempdir(), f"rmq-kit-spark-{os.getuid()}.log"))
    kept = os.dup(2)
    try:
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        target = os.open(os.devnull, os.O_WRONLY)
    try:
        sys.stderr.flush()
        os.dup2(target, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)


def _settings(*, local: bool) -> dict[str, str]:
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # What Spark writes, other Parquet readers read: the default is a deprecated 12-byte form without a zone.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
    }
    if local:
        cores = os.cpu_count() or 2
        settings |= {
            # Small tables: a shuffle into 200 tasks would cost more than the work.
            "spark.sql.shuffle.partitions": str(max(2, cores)),
            "spark.driver.memory": _memory(),
            # The UI has no authentication and shows log text; nothing listens beyond loopback.
            "spark.ui.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.eventLog.enabled": "false",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -Duser.timezone=UTC",
        }
    return settings
