"""Spark's progress (jobs started, stages and tasks of the running ones), and how to stop it."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from pyspark import SparkContext

PATIENCE: Final = 10.0
"""How many seconds Java has to confirm that it cancelled its jobs."""
PREPARES: Final = 5.0
"""How many seconds Java has to begin a job."""
TRIES: Final = 10
"""How often a connection to Java is tried."""


@attrs.frozen
class Doing:
    """Jobs done and started; stages and tasks of the running jobs, done and in total."""

    jobs_done: int
    jobs: int
    stages_done: int
    stages: int
    tasks_done: int
    tasks: int


def cancel(context: SparkContext) -> None:
    """Cancel every job; a signal handler may call it. The calling thread no longer waits for its answer."""
    # The connection of this thread may be waiting for the answer of the very job: Java would not read the request from it
    # before the job is over, and the answer, when it comes, would be taken for that to the next question.
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


def begun(context: SparkContext) -> int:
    """Return how many jobs have been started so far; they are numbered from 0."""
    return 1 + max(context.statusTracker().getJobIdsForGroup(), default=-1)


def doing(context: SparkContext, since: int = 0) -> Doing | None:
    """Return what is running now, with jobs counted from number `since`; None if nothing is."""
    tracker = context.statusTracker()
    active = list(tracker.getActiveJobsIds())
    if not active:
        return None
    jobs = [info for job in active if (info := tracker.getJobInfo(job)) is not None]
    ids = {stage for job in jobs for stage in job.stageIds}
    stages = [of for stage in ids if (of := tracker.getStageInfo(stage)) is not None]
    # A stage whose result is still there from an earlier job is skipped: it never has tasks under way, nor any done.
    return Doing(
        jobs_done=max(active) + 1 - since - len(active),
        jobs=max(active) + 1 - since,
        stages_done=sum(s.numCompletedTasks >= s.numTasks for s in stages),
        stages=len(stages),
        tasks_done=sum(s.numCompletedTasks for s in stages),
        tasks=sum(s.numTasks for s in stages),
    )
