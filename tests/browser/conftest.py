"""Chromium as it is installed, headless, with an empty profile and nothing that calls home."""

import shutil
from pathlib import Path
from typing import Any

import attrs
import pytest

QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    sync = pytest.importorskip("playwright.sync_api")
    found = [path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))]
    if not found:
        pytest.skip("no Chromium on this machine")
    with sync.sync_playwright() as play:
        made = play.chromium.launch(executable_path=found[0], args=QUIET)
        yield made
        made.close()


@attrs.define
class Opened:
    """A page with everything it asked for and complained about."""

    page: Any
    requests: list[str]
    complaints: list[str]


@pytest.fixture
def visit(browser):
    """Return `visit(path, width, **context)`: the file opened in a new profile, charts drawn."""
    contexts = []

    def _visit(path, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        opened = Opened(context.new_page(), [], [])
        url = path.resolve().as_uri()
        opened.page.on(
            "request", lambda request: opened.requests.append(request.url) if request.url.split("#")[0] != url else None
        )
        opened.page.on("console", lambda message: opened.complaints.append(f"{message.type}: {message.text}"))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on(
            "dialog", lambda dialog: (opened.complaints.append(f"dialog {dialog.message}"), dialog.dismiss())
        )
        opened.page.goto(url)
        opened.page.wait_for_function(
            "document.querySelectorAll('main > section figure[data-chart]:not([data-drawn])').length == 0",
            timeout=20_000,
        )
        return opened

    yield _visit
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def serious():
    """Return `serious(page)`: what axe finds on a page, its folds open, that is serious for somebody who needs help to read it."""
    axe = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js")

    def _serious(page):
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        page.add_script_tag(path=axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert found["testEngine"]["name"] == "axe-core"
        bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
        return [(v["id"], v["impact"], [n["target"] for n in v["nodes"][:3]]) for v in bad]

    return _serious
