"""Java processes of one lab: started in their own process groups, paused, and ended by id however the lab ends."""

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from kit.live_lab.jars import ERRORS, LabError

FLAGS: Final = (
    "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.net.preferIPv4Stack=true",
    # Releases before 4.9 release their mapped files through these packages.
    "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
)  # fmt: skip
ZONE: Final = "GMT+08:00"
"""The zone of all hosts of the lab: the one that brokers' log layouts use anyway."""
GRACE: Final = 12.0
"""Seconds a process gets to stop by itself."""
START_WITHIN: Final = 40
"""Seconds a process gets to listen on its port."""


@attrs.define(eq=False)
class Host:
    """One running process. `home`: its working directory and user.home; `output`: the file of what it printed."""

    name: str
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def last_words(self) -> str:
        lines = self.output.read_text(errors="replace").strip().splitlines() if self.output.exists() else []
        return lines[-1][:200] if lines else "-"

    def ended(self) -> LabError:
        code, last = self.process.returncode, self.last_words()
        return LabError(ERRORS["ended"].say(name=self.name, code=code, last=last))

    def done(self) -> bool:
        return self.output.exists() and "DONE" in self.output.read_text(errors="replace").splitlines()


class Processes(contextlib.AbstractContextManager["Processes"]):
    """The processes of one lab; leaving the `with` block ends all of them."""

    def __init__(self, java: str, seconds: float) -> None:
        self.java = java
        self.deadline = time.monotonic() + seconds
        self._hosts: list[Host] = []
        atexit.register(self.stop)

    def __exit__(self, *_: object) -> None:
        self.stop()
        atexit.unregister(self.stop)

    def start(
        self,
        name: str,
        main: str,
        arguments: Sequence[str],
        home: Path,
        classpath: str,
        heap: str,
        properties: Mapping[str, str] | None = None,
    ) -> Host:
        """Start a main class under `LabHost`, which ends it at the lab's deadline or when this process is gone."""
        home.mkdir(parents=True, exist_ok=True)
        set_ = {"user.home": str(home), "user.timezone": ZONE, "java.io.tmpdir": str(home), **(properties or {})}
        left = max(5, int(self.deadline - time.monotonic()) + 30)
        flags = [f"-Xms{heap}", f"-Xmx{heap}", *FLAGS, *(f"-D{k}={v}" for k, v in set_.items())]
        command = [self.java, *flags, "-cp", classpath, "LabHost", str(left), main, *arguments]
        output = home / f"{name}.out"
        with output.open("ab") as out:
            streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": out, "stderr": subprocess.STDOUT}
            # A session of its own: Ctrl-C in the terminal reaches the lab alone, which then ends its processes in
            # order.
            process = subprocess.Popen(command, cwd=home, env=_environment(home), start_new_session=True, **streams)
        host = Host(name, process, output)
        self._hosts.append(host)
        return host

    def end(self, *hosts: Host) -> None:
        """End processes in order: all are asked first; those that do not exit in time are killed."""
        for host in hosts:
            _signal(host, signal.SIGCONT)
            _signal(host, signal.SIGTERM)
        until = time.monotonic() + GRACE
        for host in hosts:
            try:
                host.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(host, signal.SIGKILL)
                host.process.wait()
            if host.process.stdin:
                with contextlib.suppress(OSError):
                    host.process.stdin.close()

    def stop(self) -> None:
        """End everything that still runs, even if Ctrl-C is pressed again."""
        with handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM):
            self.end(*reversed(self._hosts))
        self._hosts.clear()


def pause(host: Host, seconds: float) -> None:
    """Pause a process, as on a throttled machine; from a separate shell, so that it resumes if the lab dies."""
    script = 'kill -STOP "$1"; sleep "$2"; kill -CONT "$1"'
    command = ["sh", "-c", script, "sh", str(host.process.pid), str(seconds)]
    subprocess.run(command, start_new_session=True, check=False, capture_output=True)


def wait_for(host: Host, port: int) -> None:
    """Wait until a process listens. Raise `LabError` if it exits or does not listen within `START_WITHIN` seconds."""
    until = time.monotonic() + START_WITHIN
    while time.monotonic() < until:
        if not host.running:
            raise host.ended()
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise LabError(ERRORS["silent"].say(name=host.name, port=str(port), seconds=START_WITHIN, last=host.last_words()))


def free_port(beside: Sequence[int] = (0,)) -> int:
    """Return a free port whose neighbours at these distances are free too (a broker uses three)."""
    for _ in range(200):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        with contextlib.ExitStack() as sockets, contextlib.suppress(OSError, OverflowError):
            for distance in beside:
                sockets.enter_context(socket.socket()).bind(("127.0.0.1", port + distance))
            return port
    raise LabError(ERRORS["no_port"].say())


def _environment(home: Path) -> dict[str, str]:
    """Return the environment without variables that change a RocketMQ process."""
    leads = ("ROCKETMQ_", "NAMESRV_", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")
    values = {name: value for name, value in os.environ.items() if not name.startswith(leads)}
    return {**values, "HOME": str(home), "ROCKETMQ_HOME": str(home)}


def _signal(host: Host, number: signal.Signals) -> None:
    if host.running:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(host.process.pid, number)


@contextlib.contextmanager
def handling(handler: Any, *numbers: signal.Signals) -> Iterator[None]:
    """Handle signals while the block runs; only the main thread may."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handler) for number in numbers} if is_main else {}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
