"""JupyterLab itself, driven in a real Chromium: open a notebook on the sample, run all of it, use its widget, see the
chart change."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded

import kit
from kit.report import notebooks

pytestmark = [pytest.mark.browser, pytest.mark.spark]

TOKEN = "a-token-of-this-test"
BOOK = "20_half_topic_blowup.ipynb"
READY = 90
"""Seconds a server, a page or a run of a notebook whose results are known may take on a busy machine."""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Return the address of a JupyterLab on a folder with the notebook, its evidence triaged already."""
    workspace, root = tmp_path / "workspace", tmp_path / "root"
    kit.triage(kit.open_case(recorded.archive("half-topic-blowup"), workspace))
    root.mkdir()
    book = json.loads((notebooks.folder() / BOOK).read_text())
    for cell in book["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            cell["source"] = [
                f'evidence, workspace, lang = "{recorded.archive("half-topic-blowup")}", "{workspace}", "en"\n',
                "interactive, options = True, {}",
            ]
    (root / BOOK).write_text(json.dumps(book))
    port = free_port()
    # Settings, runtime files and workspaces of this test, not of whoever runs it.
    own = {
        name: str(tmp_path / name)
        for name in (
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
        )
    }
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--port-retries=0",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={root}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    path = os.pathsep.join(filter(None, (str(Path(kit.__path__[0]).parent), os.environ.get("PYTHONPATH"))))
    with (tmp_path / "lab.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **own, "PYTHONPATH": path})
    try:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + READY
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=2):
                break
            assert server.poll() is None and time.monotonic() < until, (tmp_path / "lab.log").read_text()[-2000:]
            time.sleep(0.3)
        yield address
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(root, ignore_errors=True)


def test_run_all_use_the_picker_and_see_the_chart_change(browser: Any, lab: str) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 3000})
    page = context.new_page()
    page.set_default_timeout(READY * 1000)
    page.goto(f"{lab}/lab/tree/{BOOK}?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    # Before its kernel is there, "run all" asks which one to take.
    page.wait_for_function("() => /\\(ipykernel\\) \\| Idle/.test(document.body.innerText)")
    page.wait_for_timeout(1000)
    page.click(".lm-MenuBar-itemLabel:text-is('Run')")
    page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
    page.wait_for_selector(".jp-Notebook .widget-dropdown select")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(p => !p.textContent.includes('*'))"
    )
    assert (
        page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr'] >> text=Traceback").count()
        == 0
    )
    page.wait_for_selector(".jp-OutputArea .js-plotly-plot svg.main-svg")
    picker = page.locator(".jp-Notebook .widget-dropdown select").first
    picker.scroll_into_view_if_needed()
    values = picker.locator("option").all_inner_texts()
    leaked = {
        r["properties"]["UNIQ_KEY"]
        for r in recorded.truth("half-topic-blowup")
        if r["topic"] == "RMQ_SYS_TRANS_HALF_TOPIC" == r["properties"].get("REAL_TOPIC")
    }
    assert set(values) == leaked
    chart = page.locator(".rmq-kit-live .js-plotly-plot").first
    chart.wait_for(timeout=15000)
    first = chart.evaluate("e => JSON.stringify(e.data.map(t => t.x))")
    picker.select_option(index=len(values) - 1)
    page.wait_for_function(
        "first => { const e = document.querySelector('.rmq-kit-live .js-plotly-plot'); return e && e.data && JSON.stringify(e.data.map(t => t.x)) !== first }",
        arg=first,
    )
    context.close()
