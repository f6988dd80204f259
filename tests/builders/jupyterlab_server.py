"""JupyterLab itself, for tests that drive it in a Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ports import free_port

import kit
from kit.report import notebooks

TOKEN = "a-token-of-this-test"
READY = 90
"""Seconds a server, a page or a run of a notebook whose results are known may take on a busy machine."""


def book(name: str, **parameters: Any) -> str:
    """Return one of the kit's notebooks with these parameters."""
    read = json.loads((notebooks.folder() / f"{name}.ipynb").read_text(encoding="utf-8"))
    for cell in read["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            cell["source"] += [f"\n{key} = {value!r}" for key, value in parameters.items()]
    return json.dumps(read)


def of_cells(*cells: str) -> str:
    """Return a notebook of these code cells."""
    from nbformat.v4 import new_code_cell, new_notebook

    made = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    made.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    return json.dumps(made)


@contextlib.contextmanager
def serving(folder: Path, **books: str) -> Iterator[str]:
    """Run a JupyterLab on these notebooks (name without suffix: their JSON); yield its address."""
    root = folder / "root"
    root.mkdir()
    for name, book in books.items():
        (root / f"{name}.ipynb").write_text(book, encoding="utf-8")
    port = free_port()
    # Settings, runtime files and workspaces of this test, not of whoever runs it.
    own = {
        name: str(folder / name)
        for name in (
            "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
        )
    }  # fmt: skip
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={root}", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    path = os.pathsep.join(filter(None, (str(Path(kit.__path__[0]).parent), os.environ.get("PYTHONPATH"))))
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **own, "PYTHONPATH": path})
    try:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + READY
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=2):
                break
            assert server.poll() is None and time.monotonic() < until, (folder / "lab.log").read_text()[-2000:]
            time.sleep(0.3)
        yield address
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(root, ignore_errors=True)


def opened(browser: Any, address: str, name: str, **options: Any) -> Any:
    """Return the page of a notebook whose kernel is ready."""
    context = browser.new_context(viewport={"width": 1400, "height": 3000}, **options)
    page = context.new_page()
    page.set_default_timeout(READY * 1000)
    page.goto(f"{address}/lab/tree/{name}.ipynb?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    # Before its kernel is there, "run all" asks which one to take.
    page.wait_for_function("() => /\\(ipykernel\\) \\| Idle/.test(document.body.innerText)")
    page.wait_for_timeout(1000)
    return page


def run_all(page: Any) -> None:
    """Run every cell and wait until all have run."""
    page.click(".lm-MenuBar-itemLabel:text-is('Run')")
    page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
    page.wait_for_timeout(500)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(p => !p.textContent.includes('*'))"
    )
    assert (
        page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr'] >> text=Traceback").count()
        == 0
    )


def run_cell(page: Any, number: int) -> str:
    """Run one cell again (the first is 0) and return what it prints."""
    cell = page.locator(".jp-CodeCell").nth(number)
    before = cell.locator(".jp-InputPrompt").inner_text()
    cell.locator(".jp-InputArea-editor").click(position={"x": 200, "y": 10})
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "([n, before]) => { const p = document.querySelectorAll('.jp-CodeCell')[n].querySelector('.jp-InputPrompt').innerText; return p != before && !p.includes('*') }",
        arg=[number, before],
    )
    page.wait_for_timeout(300)
    return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts())
