"""The Spark session of the kit: local by default, any cluster by option or environment."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kit.evidence import disk, machine
from kit.evidence.workspace import default_base
from kit.i18n import Sentence, labels
from kit.spark import embedded, jvm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SAYS: Final = labels("spark")["java"]
_LOCAL: Final = re.compile(r"local(?:\[(?P<cores>\*|\d+)(?:, *\d+)?\])?")
"""A Spark master inside this process; `local[2, 3]` also says how often a task may fail."""
JAVA_OPTIONS: Final = (
    "-XX:+UseParallelGC -XX:InitialRAMPercentage=10 -XX:MetaspaceSize=512m -Duser.timezone=UTC "
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=192m"
)
"""With room to begin with: else a tenth of a triage's minute goes by while garbage is collected to make some. One fast
compiler: the second one takes a third of both cores for the first half minute, and pays back later. With one the JVM
sets 48 MB aside for its code, which a fourth case in one process fills.
"""


class JavaMissing(RuntimeError):
    """No Java on this machine can start Spark; the message is one line on how to get one."""


def session(master: str | None = None, remote: str | None = None) -> SparkSession:
    """Return a session with the kit's data sources registered; its temp views are its own.

    Without `master`/`remote`, `RMQ_KIT_MASTER`/`SPARK_REMOTE` or `spark-submit` it is one of the embedded engine, which
    needs no Java. Raise `JavaMissing` where Apache Spark is asked for and no fitting Java is found.
    """
    from kit.spark import sources

    kind, where = _engine(master, remote)
    if kind in ("embedded", "remote"):
        spark = embedded.session(where)
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
    else:
        spark = _apache(where, is_local=kind == "local")
    for source in sources.ALL:
        spark.dataSource.register(source)
    return spark


def _apache(master: str | None, *, is_local: bool) -> SparkSession:
    from pyspark.sql import SparkSession

    require_java(master)
    if not embedded.runs():  # what a process with an embedded engine leaves to those that it starts
        os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
    # Workers must be the same interpreter, with the kit and numba's cache at hand.
    # On a cluster somebody may have named the interpreter of the environment that is shipped.
    if is_local or "PYSPARK_PYTHON" not in os.environ:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("rmq-kit")
    if master:
        builder = builder.master(master)
    for name, value in _settings(master if is_local else None).items():
        builder = builder.config(name, value)
    before = signal.getsignal(signal.SIGINT)
    with _quiet():
        spark = builder.getOrCreate()
    # PySpark puts its own handler of interrupts in the place of any: of one that is not Python's default too.
    if before not in (None, signal.default_int_handler) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)
    spark.sparkContext.setLogLevel("ERROR")
    return spark.newSession()


def is_local(master: str | None = None, remote: str | None = None) -> bool:
    """Return whether `session` would read on this machine: the embedded engine, or `local`, `local[4]`, `local[*]`."""
    return _engine(master, remote)[0] in ("embedded", "local")


def engine(master: str | None = None, remote: str | None = None) -> str:
    """Return the name and release of the engine that answers, as run.json tells it."""
    import pyspark

    kind, where = _engine(master, remote)
    if kind == "embedded":
        import pysail

        return f"Sail {pysail.__version__}, embedded, PySpark {pyspark.__version__}"
    return f"Apache Spark at {where or 'spark-submit'}, PySpark {pyspark.__version__}"


def _engine(master: str | None, remote: str | None) -> tuple[str, str | None]:
    """Return the engine asked for: "remote" and its URL, "submitted", "local" or "cluster" and a master, "embedded"."""
    remote, master = remote or os.environ.get("SPARK_REMOTE"), master or os.environ.get("RMQ_KIT_MASTER")
    if remote:
        return "remote", remote
    if "SPARK_ENV_LOADED" in os.environ and "PYSPARK_GATEWAY_PORT" in os.environ:
        return "submitted", master
    if not master:
        return "embedded", None
    return ("local" if _LOCAL.fullmatch(master) else "cluster"), master


def require_java(master: str | None = None, remote: str | None = None) -> None:
    """Choose the Java that Apache Spark starts, if it is asked for. Raise `JavaMissing` if none is suitable."""
    if _engine(master, remote)[0] not in ("local", "cluster"):
        return
    from pyspark.util import is_remote_only

    if is_remote_only():
        raise JavaMissing(SAYS["no_spark"].say())
    java = jvm.find()
    if java is None:
        raise JavaMissing(SAYS["missing"].say(need=jvm.MIN_JAVA, found=_unfit()))
    jvm.use(java)


def _unfit() -> Sentence:
    """Return why the first Java that was tried does not work."""
    for java in jvm.candidates():
        if java.release:
            return SAYS["old"].say(source=java.source, version=java.release)
        if java.source == jvm.OWN:
            return SAYS["broken"].say(source=java.source, path=str(java.executable))
    return SAYS["absent"]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Send what the JVM prints to a file: it inherits our stderr, and its banners would be in every report and pipe."""
    log = default_base() / "spark.log"
    stderr = os.dup(2)
    try:
        disk.private(log.parent)
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        target = os.open(os.devnull, os.O_WRONLY)
    try:
        sys.stderr.flush()
        os.dup2(target, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(target)


SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    # Two property names that are not valid text can become the same; as in RocketMQ, the later one counts.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
}
"""What both engines are told."""


def _settings(master: str | None) -> dict[str, str]:
    settings = SETTINGS | {
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Other Parquet readers must be able to read it: Spark's default is a deprecated 12-byte form without a zone.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
    }
    if local := _LOCAL.fullmatch(master or ""):
        every = machine.cores()
        cores = every if local["cores"] == "*" else int(local["cores"] or 1)
        # The driver is also the executor: of more than so many GiB the rest would be filled with garbage, not used.
        memory = min(8, 2 * every, max(1, machine.memory() // 3 // 2**30))
        settings |= {
            # Small tables: a shuffle into 200 tasks would cost more than the work.
            "spark.sql.shuffle.partitions": str(max(2, cores)),
            "spark.driver.memory": f"{memory}g",
            # The UI has no authentication and shows log text; nothing listens beyond loopback.
            "spark.ui.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.eventLog.enabled": "false",
            "spark.sql.catalogImplementation": "in-memory",
            # Replanning between stages makes each of them a job, which pays only if stages take longer than jobs.
            "spark.sql.adaptive.enabled": "false",
            # Each sort and grouping takes a whole page at once, 64 MB by default, of which few rows fill a part.
            "spark.buffer.pageSize": "1m",
            "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        }
    return settings


def uri(path: Path) -> str:
    """Return a path as the engine takes it: Hadoop reads a percent sign literally, the embedded engine wants it quoted."""
    return path.resolve().as_uri() if embedded.runs() else f"file:{path.resolve()}"


def parquet(spark: SparkSession, folder: Path, schema: StructType) -> DataFrame:
    """Read a folder of Parquet files by its literal name: Spark would read `[`, `{`, `*` and `?` as a pattern."""
    files = spark.read.option("__globPaths__", "false").schema(schema).parquet(uri(folder))
    return files.select(*schema.names)


# --- stopping the queries of a session, on either engine --------------------------------------------------------------

PATIENCE: Final = 10.0
"""How many seconds Java has to confirm that it cancelled its jobs."""
PREPARES: Final = 5.0
"""How many seconds Java has to begin a job."""


def cancel(spark: SparkSession) -> None:
    """Stop every query of a session; a signal handler may call it. The session stays usable.

    On Apache Spark the calling thread no longer waits for its answer.
    """
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        spark.interruptAll()
        return
    context = spark.sparkContext
    waits = any(frame.f_globals.get("__name__", "").startswith("py4j.") for frame, _ in traceback.walk_stack(None))

    def ask() -> None:
        until = time.monotonic() + PREPARES
        # Also one that Java is still preparing, whose result nobody would read.
        while waits and not list(context.statusTracker().getActiveJobsIds()) and time.monotonic() < until:
            time.sleep(0.05)
        context.cancelAllJobs()

    # The connection of this thread may be waiting for the answer of the very job: Java would not read the request from
    # it before the job is over, and the answer, when it comes, would be taken for that to the next question.
    asking = threading.Thread(target=ask, name="spark-cancel", daemon=True)
    asking.start()
    asking.join(PATIENCE)
    # With it open Py4J would meet the KeyboardInterrupt by shutting down all idle ones, those of other threads too.
    if (client := context._gateway) is not None and (own := client._gateway_client.get_thread_connection()) is not None:
        own.close()
