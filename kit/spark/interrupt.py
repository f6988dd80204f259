"""How to stop the queries of a session, on either engine."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

PATIENCE: Final = 10.0
"""How many seconds Java has to confirm that it cancelled its jobs."""
PREPARES: Final = 5.0
"""How many seconds Java has to begin a job."""
TRIES: Final = 10
"""How often a connection to Java is tried."""


def cancel(spark: SparkSession) -> None:
    """Stop every query of a session; a signal handler may call it. The session stays usable."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        spark.interruptAll()
    else:
        _cancel_jobs(spark.sparkContext)


def _cancel_jobs(context: SparkContext) -> None:
    """Cancel every job; a signal handler may call it. The calling thread no longer waits for its answer."""
    # The connection of this thread may be waiting for the answer of the very job: Java would not read the request from
    # it before the job is over, and the answer, when it comes, would be taken for that to the next question.
    waits = _waits_for_java()
    asking = threading.Thread(target=lambda: _cancel(context, begin=waits), name="spark-cancel", daemon=True)
    asking.start()
    asking.join(PATIENCE)
    client = getattr(context._gateway, "_gateway_client", None)
    if client is not None and hasattr(client, "get_thread_connection"):
        _reconnect(client)


def _cancel(context: SparkContext, *, begin: bool) -> None:
    """Cancel every job; `begin`: also one that Java is still preparing, whose result nobody would read."""
    until = time.monotonic() + PREPARES
    while begin and not list(context.statusTracker().getActiveJobsIds()) and time.monotonic() < until:
        time.sleep(0.05)
    context.cancelAllJobs()


def _waits_for_java() -> bool:
    """Return whether this thread was interrupted while it waited for an answer from Java."""
    frame: Any = sys._getframe()
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("py4j."):
        frame = frame.f_back
    return frame is not None


def _reconnect(client: Any) -> None:
    """Give this thread a new connection. With the old one open Py4J would meet the KeyboardInterrupt by shutting down
    all idle connections, those of other threads too.
    """
    from py4j.protocol import Py4JError

    if (waiting := client.get_thread_connection()) is not None:
        waiting.close()
    for left in reversed(range(TRIES)):
        try:
            client.deque.append(client._create_new_connection())
            return
        except (Py4JError, OSError):
            # Java sometimes closes a connection that is opened while it ends another.
            client.thread_connection.connection = None
            time.sleep(0.1 if left else 0)
