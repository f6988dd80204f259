"""How far Spark is: the jobs that were begun, the stages and tasks of those that run; and how they are stopped."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from pyspark import SparkContext

PATIENCE: Final = 10.0
"""Seconds Java is given to say that it has cancelled its jobs."""
PREPARES: Final = 5.0
"""Seconds Java is given to begin the job that was asked for."""
TRIES: Final = 10
"""Times a connection to Java is opened."""


@attrs.frozen
class Doing:
    """Jobs done of those begun; stages and tasks done of those of the jobs that run."""

    jobs_done: int
    jobs: int
    stages_done: int
    stages: int
    tasks_done: int
    tasks: int


def cancel(context: SparkContext) -> None:
    """Cancel every job, from a signal handler as well. What the calling thread was waiting for is not waited for any more."""
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
    """Cancel every job; `begin`: one that Java is still preparing as well, it would run for nobody."""
    until = time.monotonic() + PREPARES
    while begin and not list(context.statusTracker().getActiveJobsIds()) and time.monotonic() < until:
        time.sleep(0.05)
    context.cancelAllJobs()


def _waits_for_java() -> bool:
    """Tell whether this thread was interrupted while it waited for an answer from Java."""
    frame: Any = sys._getframe()
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("py4j."):
        frame = frame.f_back
    return frame is not None


def _reconnect(client: Any) -> None:
    """Give this thread a connection nobody waits at. With the old one open Py4J would meet the KeyboardInterrupt by
    shutting down all idle connections, those of other threads too.
    """
    from py4j.protocol import Py4JError

    if (waiting := client.get_thread_connection()) is not None:
        waiting.close()
    for left in reversed(range(TRIES)):
        try:
            client.deque.append(client._create_new_connection())
            return
        except (Py4JError, OSError):
            # Java closes a connection that is opened while it ends another now and then.
            client.thread_connection.connection = None
            time.sleep(0.1 if left else 0)


def begun(context: SparkContext) -> int:
    """Return how many jobs were begun so far: they are numbered from 0."""
    return 1 + max(context.statusTracker().getJobIdsForGroup(), default=-1)


def doing(context: SparkContext, since: int = 0) -> Doing | None:
    """Return what runs now, jobs counted from number `since`; None where nothing runs."""
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
