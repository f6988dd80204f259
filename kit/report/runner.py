"""Runs notebooks in processes of their own, forked from one that has imported what they all need.

A kernel for each would import pandas, plotly and the kit again, which takes longer than any notebook of a report. This process is started before
the results are there (`python -m kit.report.runner`), reads one JSON list of notebooks from standard input, and prints a line for each that is done:
its number and how its process ended. A notebook is rewritten after every cell, so one whose process dies is kept as far as it came.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

AT_ONCE: Final = 2
CELL_SECONDS: Final = 600


class _Stream:
    """Standard output or error of a cell."""

    def __init__(self, name: str, outputs: list[dict[str, Any]]) -> None:
        self.name, self.outputs = name, outputs

    def write(self, text: str) -> int:
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == self.name:
            last["text"] += text
        elif text:
            self.outputs.append({"output_type": "stream", "name": self.name, "text": text})
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        return False


def run(path: Path) -> None:
    """Run every code cell of a notebook and write what it put out into it."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    notebook = json.loads(path.read_text(encoding="utf-8"))
    outputs: list[dict[str, Any]] = []
    quiet = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "NoColor"}})
    shell: Any = InteractiveShell.instance(config=quiet, ipython_dir=str(Path.cwd()))

    def publish(data: Any, metadata: Any = None, **_: Any) -> None:
        outputs.append({"output_type": "display_data", "data": data, "metadata": metadata or {}})

    def result(data: Any, metadata: Any = None) -> None:
        count = cell["execution_count"]
        outputs.append(
            {"output_type": "execute_result", "data": data, "metadata": metadata or {}, "execution_count": count}
        )

    def error(kind: type[BaseException], value: BaseException, lines: list[str]) -> None:
        outputs.append({"output_type": "error", "ename": kind.__name__, "evalue": str(value), "traceback": lines})

    hook = shell.displayhook
    shell.display_pub.publish, shell._showtraceback, hook.write_format_data = publish, error, result
    hook.start_displayhook = hook.write_output_prompt = hook.finish_displayhook = lambda: None
    sys.stdout, sys.stderr = _Stream("stdout", outputs), _Stream("stderr", outputs)  # type: ignore[assignment]
    signal.signal(signal.SIGALRM, _late)
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or not source.strip():
            continue
        outputs.clear()
        cell["execution_count"] = shell.execution_count
        signal.alarm(CELL_SECONDS)
        shell.run_cell(source, store_history=True)
        signal.alarm(0)
        cell["outputs"] = [dict(output) for output in outputs]
        path.write_text(json.dumps(notebook, default=str), encoding="utf-8")


def _late(*_: Any) -> None:
    raise TimeoutError(f"a cell took longer than {CELL_SECONDS} s")


def _fork(path: Path) -> int:
    child = os.fork()
    if child:
        return child
    ended = 1
    try:
        os.dup2(2, 1)  # what is not Python's prints elsewhere than into the answers
        # A notebook looks for modules in its working folder first: never the user's, which may hold the evidence.
        with tempfile.TemporaryDirectory(prefix="rmq-kit-") as scratch:
            os.chdir(scratch)
            run(path)
            os.chdir("/")
        ended = 0
    finally:
        os._exit(ended)


def main() -> None:
    """Import the modules that the command line names, then run the notebooks that standard input names."""
    for module in sys.argv[1:]:
        importlib.import_module(module)
    waiting = list(enumerate(json.loads(sys.stdin.readline() or "[]")))
    running: dict[int, int] = {}
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            number, path = waiting.pop(0)
            running[_fork(Path(path))] = number
        child, status = os.wait()
        if child in running:
            print(running.pop(child), os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
