"""Long work in a notebook: a bar while somebody watches, an interrupt that stops it, a second notebook that waits."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kit.case.progress import Progress
from kit.notebook.progress import watched


class Case:
    """What is watched of a case."""

    def __init__(self) -> None:
        self.progress = self.quiet = Progress()
        self.cancelled = 0

    def cancel(self) -> None:
        self.cancelled += 1

    def resume(self) -> None: ...


@pytest.mark.parametrize("interactive", [True, False])
def test_a_bar_only_where_somebody_watches(interactive: bool, capsys: pytest.CaptureFixture[str]) -> None:
    case: Any = Case()
    with watched(case, "en", interactive):
        case.progress.begin("reading")
        case.progress.begin("asking", 3)
        for _ in range(3):
            case.progress.step()
    said = capsys.readouterr()
    assert said.out == "" and ("Examining the causes" in said.err) is interactive
    assert case.progress is case.quiet


def test_an_interrupt_stops_the_jobs_and_leaves_everything_as_it_was() -> None:
    case: Any = Case()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), watched(case, "en", interactive=True):
        case.progress.begin("asking", 3)
        signal.raise_signal(signal.SIGINT)
    assert case.cancelled == 1 and case.progress is case.quiet
    assert signal.getsignal(signal.SIGINT) is before
    with watched(case, "en", interactive=False):
        pass  # and again
    assert case.cancelled == 1


@pytest.mark.seconds
def test_two_at_once_on_one_case_wait_for_each_other(tmp_path: Path) -> None:
    lines = "".join(f"2026-11-20 23:19:20,{n % 1000:03} WARN [main] o.a.Order - line {n}\n" for n in range(20_000))
    (tmp_path / "app.log").write_text(lines)
    code = f"""
import kit
case = kit.open_case({str(tmp_path / "app.log")!r}, {str(tmp_path / "ws")!r}, tz_app="UTC")
print(len(kit.explore(case, interactive=False).entries))
"""
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "ab"
    ]
    for each in both:
        out, err = each.communicate(timeout=600)
        assert (each.returncode, out.strip()) == (0, b"20000"), err
