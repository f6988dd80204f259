"""A real kernel that is interrupted, as JupyterLab's stop button does, goes on; two kernels on one case wait for each other; and a bar while somebody watches."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from processes import ROOT

import kit
from kit import notebook
from kit.case.progress import Progress
from kit.notebook.inquiry import watched

LONG = 300
"""Seconds a kernel may take to start or to finish what a test asks of it, on a busy machine."""


class Kernel:
    """A kernel of this kit."""

    def __init__(self):
        from jupyter_client.manager import start_new_kernel

        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self.manager, self.client = start_new_kernel(LONG, "python3", env={**os.environ, "PYTHONPATH": path})

    def run(self, code):
        """Run a cell; return how it ended ("ok" or the exception's name) and what it printed."""
        said = []

        def hear(message):
            if message["msg_type"] == "stream":
                said.append(message["content"]["text"])

        answer = self.client.execute_interactive(code, store_history=False, timeout=LONG, output_hook=hear)["content"]
        return answer.get("ename", "ok"), "".join(said)

    def stopped(self, code, flag):
        """Run a cell, interrupt it once it has made this file, return how it ended."""

        def stop():
            until = time.monotonic() + LONG
            while not flag.exists() and time.monotonic() < until:
                time.sleep(0.05)
            self.manager.interrupt_kernel()

        with ThreadPoolExecutor(1) as beside:
            beside.submit(stop)
            return self.run(code)[0]


@pytest.fixture
def kernel():
    pytest.importorskip("ipykernel")
    made = []

    def start():
        made.append(Kernel())
        return made[-1]

    yield start
    for each in made:
        each.client.stop_channels()
        each.manager.shutdown_kernel(now=True)


def log(path, lines):
    """Write a log of so many entries, each of a topic of its own."""
    second = lambda n: f"{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}"  # noqa: E731
    with path.open("w") as out:
        out.writelines(
            f"2026-11-20 {second(n // 100)},{n % 1000:03} WARN [t-{n % 50}] o.a.Order - topic=orders-{n % 97} line {n}\n"
            for n in range(lines)
        )
    return path


@pytest.mark.spark
@pytest.mark.seconds
def test_stopped_while_spark_works_its_jobs_end_and_spark_goes_on(kernel, tmp_path):
    """The first time in the cell that starts the engine, which would take an interrupt for its own end."""
    evidence, workspace, flags = log(tmp_path / "app.log", 2_000), tmp_path / "ws", [tmp_path / "one", tmp_path / "two"]
    run = kernel()
    start = f"from kit import notebook\ninquiry = notebook.start({str(evidence)!r}, {str(workspace)!r})\nspark = inquiry.case.spark"
    for begin, flag in zip((start, "assert spark.range(7).count() == 7"), flags, strict=True):
        endless = "spark.range(10**13).selectExpr('max(id % 7)').collect()"
        how = run.stopped(f"{begin}\nopen({str(flag)!r}, 'w').close()\n{endless}", flag)
        assert how == "KeyboardInterrupt"
    assert run.run("print(inquiry.case.logs.count())") == ("ok", "2000\n")


@pytest.mark.seconds
def test_a_second_kernel_on_the_same_case_waits(kernel, tmp_path):
    evidence, workspace = log(tmp_path / "app.log", 40_000), tmp_path / "ws"
    code = (
        f"from kit import notebook\ninquiry = notebook.start({str(evidence)!r}, {str(workspace)!r}, interactive=False)\n"
        "explorer = inquiry.explore()\nprint(len(explorer.parts['entries'].frame), inquiry.findings['root_causes'])"
    )
    both = [kernel(), kernel()]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda each: each.run(code), both)) == [("ok", "40000 []\n")] * 2


class Case:
    """What is watched of a case."""

    def __init__(self):
        self.progress = self.quiet = Progress()
        self.cancelled = 0

    def cancel(self):
        self.cancelled += 1

    def resume(self): ...


@pytest.mark.parametrize("interactive", [True, False])
def test_a_bar_only_where_somebody_watches(interactive, capsys):
    case = Case()
    with watched(case, "en", interactive):
        case.progress.begin("reading")
        case.progress.begin("asking", 3)
        for _ in range(3):
            case.progress.step()
    said = capsys.readouterr()
    assert said.out == "" and ("Examining the causes" in said.err) is interactive
    assert case.progress is case.quiet


def test_an_interrupt_stops_the_jobs_and_leaves_everything_as_it_was():
    case = Case()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), watched(case, "en", interactive=True):
        case.progress.begin("asking", 3)
        signal.raise_signal(signal.SIGINT)
    assert case.cancelled == 1 and case.progress is case.quiet
    assert signal.getsignal(signal.SIGINT) is before
    with watched(case, "en", interactive=False):
        pass  # and again
    assert case.cancelled == 1


def test_a_line_is_explained_in_a_table():
    text = "putMessage message topic length too long 149\n<b>x</b> CODE: 9999"
    table = notebook.explained(text)
    assert list(table.frame["meaning"]) == [row["meaning"] for row in kit.explain(text)]
    assert "<b>" not in table.as_html() and notebook.explained("", "zh").as_html()
