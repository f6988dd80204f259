"""Pastes as people write them: which of the causes that a few lines can show are named, and how surely.

Every fourth; what all of them show is kept in `golden/findings/pastes.json`.
"""

from __future__ import annotations

from pathlib import Path

import pastes
import pytest
from pastes import Paste

import kit
from kit.causes.root_causes import broker_busy, message_identity, message_size_mismatch, transaction_consistency

ASKED = (broker_busy, message_identity, message_size_mismatch, transaction_consistency)
NAMED = ("confirmed", "suspected")


@pytest.mark.parametrize("paste", pastes.EVERY[::4], ids=lambda paste: paste.name)
def test_a_paste_shows_what_it_shows(tmp_path: Path, paste: Paste) -> None:
    _shown(tmp_path, paste)


def _shown(tmp_path: Path, paste: Paste) -> None:
    (tmp_path / "paste.txt").write_text(paste.text, encoding="utf-8")
    case = kit.open_case(tmp_path / "paste.txt", tmp_path / "ws")
    found = {cause.TEXTS.slug: cause.examine(case.facts) for cause in ASKED}
    wanted = {slug: verdict for slug, verdict in paste.causes.items() if slug in found}
    assert {slug: one.verdict for slug, one in found.items() if one.verdict in NAMED} == wanted
    lines = paste.text.split("\n")
    for slug in wanted:
        refs = [ref for step in found[slug].steps for ref in step.evidence if step.holds]
        assert refs and all(ref.line is not None and ref.text == lines[ref.line - 1] for ref in refs)
