"""The embedded engine: Sail, a Spark Connect server inside this process, to which PySpark's own client talks. No Java.

It listens on loopback only, on a port the system chooses, and ends with the process.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import threading
import time
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, Final

from kit.evidence import machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEMORY_SHARE: Final = 4
"""A query holds at most a quarter of the machine's memory; batches on their way from Python come on top."""
ASKS: Final = 5.0
"""Seconds in which the engine asks the system for interrupts, on a busy machine."""
PR_SET_THP_DISABLE: Final = 41
"""`man 2 prctl`: no transparent huge pages for this process."""
_lock = threading.Lock()
_server: Any = None


def url() -> str:
    """Return the address of the engine of this process, started on first use."""
    global _server
    with _lock:
        if _server is None:
            _settle()
            _server = _start()
            atexit.register(_server.stop)
        host, port = _server.listening_address
    return f"sc://{host}:{port}"


def runs() -> bool:
    """Return whether this process has started its engine."""
    return _server is not None


def session(address: str | None = None) -> SparkSession:
    """Return a new session, with views of its own, of the engine at `address` (default: the embedded one)."""
    from pyspark.sql import SparkSession

    main = sys.modules["__main__"]
    if main.__spec__ is None and not hasattr(main, "__file__"):
        # `python -c`: PySpark's client takes a main module of that kind for its doctests, and exits.
        main.__spec__ = ModuleSpec("__main__", None)
    _no_shell()
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as Connected

    if address:
        return SparkSession.builder.remote(address).create()
    # What `builder.remote` sets too: where Apache Spark is installed, `functions.col` would look for its JVM.
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    # Not through the proxy of the host, which `http_proxy` names for loopback too.
    channel = DefaultChannelBuilder(url(), [("grpc.enable_http_proxy", 0)])
    spark: Any = Connected.builder.channelBuilder(channel).create()
    # An engine in this process answers or is gone: the minutes a network may need would look like a hang.
    spark.client.set_retry_policies([DefaultPolicy(max_retries=3)])
    # Nothing is lost on the way within a process: no answer has to be kept until it is released.
    spark.client.disable_reattachable_execute()
    return spark


def _no_shell() -> None:
    """Keep PySpark's client from loading IPython, a fifth of a second, for a progress bar that is never shown."""
    terminal = "IPython.utils.terminal"
    if terminal in sys.modules:
        return
    sys.modules[terminal] = None  # type: ignore[assignment]
    try:
        from pyspark.sql.connect.shell import progress  # noqa: F401
    finally:
        del sys.modules[terminal]


def _start() -> Any:
    """Start a server, and keep what this process does at an interrupt: the engine takes one for its own end, and a
    notebook's next cell would have none.

    It asks the system for interrupts some time after it began. The handler is kept as the system holds it, since
    Python's own functions for it work in the main thread only.
    """
    from pysail.spark import SparkConnectServer

    libc = ctypes.CDLL(None)
    before, now = ctypes.create_string_buffer(512), ctypes.create_string_buffer(512)  # more than a `struct sigaction`
    handler = ctypes.sizeof(ctypes.c_void_p)  # the bytes of its first member
    libc.sigaction(signal.SIGINT, None, before)
    server = SparkConnectServer(port=0)  # loopback, a free port
    server.start(background=True)
    until = time.monotonic() + ASKS
    while libc.sigaction(signal.SIGINT, None, now) == 0 and now.raw[:handler] == before.raw[:handler]:
        if time.monotonic() > until:
            break
        time.sleep(0.001)
    libc.sigaction(signal.SIGINT, before, None)
    return server


def memory() -> int:
    """Return the bytes that queries may hold."""
    return max(512 << 20, machine.memory() // MEMORY_SHARE)


def _settle() -> None:
    """Hand the engine its settings, which it reads from the environment when it starts; what the user set stays."""
    if sys.platform == "linux":
        # Its allocator asks for huge pages and uses little of many: clearing them is a twentieth of a triage.
        ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    settings = {
        "RUST_LOG": "error",
        # With one core it makes plans without exchanges, and some of these it refuses itself (docs/engines.md).
        "SAIL_EXECUTION__DEFAULT_PARALLELISM": str(max(2, machine.cores())),
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "greedy",
        "SAIL_RUNTIME__MEMORY_POOL__GREEDY__MAX_SIZE": str(memory()),
        # What a notebook asked for is still there after lunch.
        "SAIL_SPARK__SESSION_TIMEOUT_SECS": str(7 * 86_400),
        "SAIL_PARQUET__COMPRESSION": "snappy",
        "SAIL_PARQUET__STATISTICS_ENABLED": "chunk",
        "SAIL_PARQUET__MAX_ROW_GROUP_SIZE": "131072",
        # Ids do not repeat, so a dictionary of them saves nothing: give it up at 128 KiB instead of a megabyte.
        "SAIL_PARQUET__DICTIONARY_PAGE_SIZE_LIMIT": "131072",
        # Its allocator hands memory back after 10 ms; clearing it for the next query is a tenth of a triage.
        "MIMALLOC_PURGE_DELAY": "1000",
        # Any reader of Parquet may read what is written: no Arrow types of the engine's own.
        "SAIL_PARQUET__SKIP_ARROW_METADATA": "true",
    }
    for name, value in settings.items():
        os.environ.setdefault(name, value)
