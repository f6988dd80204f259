"""A real kernel that is interrupted, as JupyterLab's stop button does, goes on; two kernels on one case wait for each other."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kit

pytestmark = [pytest.mark.seconds]

LONG = 300
"""Seconds a kernel may take to start or to finish what a test asks of it, on a busy machine."""


class Kernel:
    """A kernel, what its cells printed, and how each ended."""

    def __init__(self) -> None:
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager(kernel_name="python3")
        root = str(Path(kit.__path__[0]).parent)
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        self.manager.start_kernel(env={**os.environ, "PYTHONPATH": path})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(LONG)

    def run(self, code: str) -> Callable[..., tuple[str, str]]:
        """Begin a cell; return what waits for it and returns how it ended ("ok" or the exception's name), what it said.

        That takes a pattern, too: then it waits until the cell has said so, and returns "busy" for how.
        """
        sent = self.client.execute(code, store_history=False)
        said: list[str] = []

        def ended(shows: str = "") -> tuple[str, str]:
            until, how = time.monotonic() + LONG, "ok"
            while True:
                message = self.client.get_iopub_msg(timeout=max(0.1, until - time.monotonic()))
                if message["parent_header"].get("msg_id") != sent:
                    continue
                kind, content = message["msg_type"], message["content"]
                if kind == "stream":
                    said.append(content["text"])
                elif kind == "display_data":
                    said.append(content["data"].get("text/plain", ""))
                elif kind == "error":
                    how = content["ename"]
                elif kind == "status" and content["execution_state"] == "idle":
                    return how, "".join(said)
                if shows and re.search(shows, "".join(said)):
                    return "busy", "".join(said)

        return ended

    def stopped(self, code: str, begun: Callable[[], object]) -> str:
        """Run a cell, interrupt it once `begun()`, return how it ended."""
        ended = self.run(code)
        until = time.monotonic() + LONG
        while not begun():
            assert time.monotonic() < until and self.manager.is_alive()
            time.sleep(0.05)
        self.manager.interrupt_kernel()
        return ended()[0]


@pytest.fixture
def kernel() -> Iterator[Callable[[], Kernel]]:
    pytest.importorskip("ipykernel")
    made: list[Kernel] = []

    def start() -> Kernel:
        made.append(Kernel())
        return made[-1]

    yield start
    for each in made:
        each.client.stop_channels()
        each.manager.shutdown_kernel(now=True)


def log(path: Path, lines: int) -> Path:
    """Write a log of so many entries, each of a topic of its own."""
    second = lambda n: f"{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}"  # noqa: E731
    with path.open("w") as out:
        out.writelines(
            f"2026-11-20 {second(n // 100)},{n % 1000:03} WARN [t-{n % 50}] o.a.Order - topic=orders-{n % 97} line {n}\n"
            for n in range(lines)
        )
    return path


@pytest.mark.spark
def test_stopped_while_spark_works_its_jobs_end_and_spark_goes_on(kernel: Any, tmp_path: Path) -> None:
    """The first time in the cell that starts the engine, which would take an interrupt for its own end."""
    evidence, workspace, flag = log(tmp_path / "app.log", 2_000), tmp_path / "ws", tmp_path / "begun"
    run = kernel()
    start = f"from kit import notebook\ninquiry = notebook.start({str(evidence)!r}, {str(workspace)!r})\nspark = inquiry.case.spark"
    endless = "spark.range(10**13).selectExpr('max(id % 7)').collect()"
    how = run.stopped(f"{start}\nopen({str(flag)!r}, 'w').close()\n{endless}", flag.exists)
    assert how == "KeyboardInterrupt"
    assert run.run("assert spark.range(7).count() == 7")()[0] == "ok"
    how = run.stopped(f"flag = open({str(flag) + '2'!r}, 'w').close()\n{endless}", Path(f"{flag}2").exists)
    assert how == "KeyboardInterrupt"
    assert run.run("print(inquiry.case.logs.count())")() == ("ok", "2000\n")


def test_a_second_kernel_on_the_same_case_waits(kernel: Any, tmp_path: Path) -> None:
    evidence, workspace = log(tmp_path / "app.log", 100_000), tmp_path / "ws"
    both = kernel(), kernel()
    code = (
        f"from kit import notebook\ninquiry = notebook.start({str(evidence)!r}, {str(workspace)!r}, interactive=False)\n"
        "explorer = inquiry.explore()\nprint(len(explorer.parts['entries'].frame), inquiry.findings['root_causes'])"
    )
    waiting = [each.run(code) for each in both]
    first, second = (ended() for ended in waiting)
    assert first == second == ("ok", "100000 []\n")
