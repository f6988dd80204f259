"""The pages about root causes: there, complete, linked, and naming what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kit.causes import discover, figures

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "causes"
ROOT_CAUSES = [cause.slug for cause in discover() if cause.kind == "root_cause"]
HEADS = [
    "What you see", "How it happens", "What decides it", "Its numbers", "Not to be confused with", "What to do",
    "What to collect",
]  # fmt: skip


@pytest.mark.parametrize("slug", ROOT_CAUSES)
def test_each_root_cause_has_its_page(slug: str) -> None:
    text = (PAGES / f"{slug}.md").read_text()
    assert re.findall(r"^## (.*)$", text, re.M) == HEADS
    assert f"docs/causes/{slug}.md" in (ROOT / "README.md").read_text()
    (like,) = re.findall(r"## Not to be confused with\n(.*?)\n\n", text, re.S)
    named = set(re.findall(r"`([a-z-]+)`", like))
    assert named and named <= {cause.slug for cause in discover()}
    (numbers,) = re.findall(r"## Its numbers\n(.*?)\n\n", text, re.S)
    assert set(re.findall(r"`([a-z_]+)`", numbers)) <= set(figures())
    for notebook in re.findall(r"`(\d\d_\w+)`", text):
        assert (ROOT / "notebooks" / f"{notebook}.ipynb").is_file()


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))])
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
        assert (ROOT / page).parent.joinpath(target).exists(), target
