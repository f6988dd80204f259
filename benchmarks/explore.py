"""The explorer in JupyterLab and a Chromium, on a million records and on nine million log lines: how long after something is
brushed, clicked or chosen all views and tables have followed, and what the kernel takes.

Needs Chromium. `TRIAGE=1`: with the moments and the lag that causes know, after a triage.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import blowup, loglines
from benchmarks.common import HERE, WORK, keep

sys.path.insert(0, str(HERE.parent / "tests" / "builders"))

LINES: Final = 1_210_000_000
"""Bytes of nine million lines."""
QUIET: Final = 1500
"""Milliseconds without a change after which everything has followed."""
BRUSHES: Final = ((0.3, 0.5), (0.35, 0.45), (0.5, 0.7), (0.2, 0.6), (0.6, 0.64), (0.1, 0.9))
WATCH: Final = """() => {
  window.changed = [];
  window.seen?.disconnect();
  window.seen = new MutationObserver(() => window.changed.push(performance.now()));
  window.seen.observe(document.querySelector('.mosaic-widget'), { childList: true, subtree: true });
  for (const what of ['pointerup', 'input'])
    window.addEventListener(what, () => { window.begun = performance.now(); }, { capture: true, once: true });
}"""
TOOK: Final = "() => Math.round(Math.max(...window.changed) - window.begun)"
CELL: Final = """
import kit, threading, time
from pathlib import Path
peak = 0
def resident():
    text = Path("/proc/self/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024
def watch():
    global peak
    while True:
        peak = max(peak, resident()); time.sleep(0.05)
threading.Thread(target=watch, daemon=True).start()
began = time.time()
case = kit.open_case({evidence!r}, {workspace!r})
{triage}
opened = time.time()
explorer = kit.explore(case)
explorer.widget
ready = time.time()
explorer
"""
SAID: Final = "print('SAID', round(opened - began, 1), round(ready - opened, 1), round(peak), round(resident()))"


def took(page: Any, act: Any) -> int:
    """Return the milliseconds from letting go of what `act` does until the last change of the views."""
    page.evaluate(WATCH)
    act()
    page.wait_for_timeout(300)
    page.wait_for_function(
        f"() => window.changed.length && performance.now() - Math.max(...window.changed) > {QUIET}", timeout=60_000
    )
    return int(page.evaluate(TOOK))


def brush(page: Any, begin: float, end: float) -> None:
    box = page.locator(".mosaic-widget svg:has(g.interval-x)").first.bounding_box()
    y, width = box["y"] + box["height"] / 2, box["width"] - 80
    page.mouse.move(box["x"] + 60 + begin * width, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 60 + end * width, y, steps=6)
    page.mouse.up()


def click(page: Any, number: int) -> None:
    """Click one of the bars that can be seen."""
    boxes = page.locator(".mosaic-widget svg:not(:has(g.interval-x)) g[data-index] rect").evaluate_all(
        "every => every.map(e => e.getBoundingClientRect()).filter(r => r.width > 2 && r.right < innerWidth).map(r => [r.x + 1.5, r.y + r.height / 2])"
    )
    page.mouse.click(*boxes[number % len(boxes)])


def measure(evidence: Path, workspace: Path) -> dict[str, Any]:
    """Return seconds and MiB of opening, milliseconds of each way to point."""
    from jupyterlab_server import of_cells, opened, run_all, run_cell, serving
    from playwright.sync_api import sync_playwright

    triage = "kit.triage(case)" if os.environ.get("TRIAGE") else ""
    cell = CELL.format(evidence=str(evidence), workspace=str(workspace), triage=triage)
    found: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), b=of_cells(cell, SAID)) as address,
        sync_playwright() as play,
    ):
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = opened(browser, address, "b")
        page.set_default_timeout(600_000)
        run_all(page)
        page.set_default_timeout(30_000)
        page.wait_for_function("() => document.querySelectorAll('.mosaic-widget table tbody tr').length >= 40")
        page.wait_for_timeout(4000)
        ways: dict[str, list[int]] = {"brush": [took(page, partial(brush, page, *ab)) for ab in BRUSHES]}
        ways["click beside a brush"] = [took(page, partial(click, page, n)) for n in (0, 1, 0, 0)]
        ways["let go of the brush"] = [took(page, partial(brush, page, 0.05, 0.05))]
        ways["click"] = [took(page, partial(click, page, n)) for n in (0, 1, 2, 2)]
        for menu in page.locator(".mosaic-widget .input:has(select)").all():
            choose = menu.locator("select").select_option
            label = f"menu {menu.locator('label').inner_text()}"
            ways[label] = [took(page, partial(choose, index=n)) for n in (1, 2, 0)]
        said = run_cell(page, 1).split("SAID")[1].split()
        found |= dict(zip(("open_s", "explore_s", "peak_mib", "resident_mib"), map(float, said), strict=False))
        found["ms"] = {way: {"median": statistics.median(each), "each": each} for way, each in ways.items()}
        browser.close()
    return found


def run() -> dict[str, Any]:
    """Return what `measure` finds for each evidence, made where it is not there yet."""
    found = {}
    base = Path(os.environ.get("WORK", WORK))
    for name, make in (("blow", blowup.write), ("lines", lambda folder: loglines.write(folder, LINES))):
        evidence = base / name
        if not evidence.exists():
            make(evidence)
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            found[name] = measure(evidence, base / "workspace")
            print(name, found[name], flush=True)
    keep("explore", found)
    return found


if __name__ == "__main__":
    run()
