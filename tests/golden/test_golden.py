"""Every recording finds what it found: verdicts, windows, figures, steps and the places that are quoted.

`python -m tests.golden NAME` prints the same differences; `--update` keeps what is found now, after it was read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import golden
import pytest
import recorded

import kit

LONG = ("broker-busy",)
"""Recordings whose triage takes long."""


def every() -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.recordings) if name in LONG else name for name in recorded.EVERY]


def test_every_recording_has_its_findings() -> None:
    assert {path.stem for path in golden.KEPT.glob("*.json")} == set(golden.NAMES)


@pytest.mark.seconds
@pytest.mark.parametrize("name", every())
def test_a_recording_finds_what_it_found(name: str) -> None:
    _same(golden.load(name), golden.digest(kit.triage(recorded.case(name))))


@pytest.mark.recordings
def test_pastes_show_what_they_showed(tmp_path: Path) -> None:
    _same(golden.load(golden.PASTES), golden.pasted(tmp_path))


def _same(expected: dict[str, Any], actual: dict[str, Any]) -> None:
    differ = golden.differences(expected, actual)
    assert not differ, f"{len(differ)} differences:\n" + "\n".join(differ)


@pytest.fixture
def found() -> dict[str, Any]:
    ref = {"file": "broker.log", "line": 7, "text": "slow"}
    steps = [{"id": "slow", "claim": "It is slow", "role": "deciding", "holds": True, "evidence": [ref]}]
    one = {"cause": "busy", "kind": "root_cause", "verdict": "confirmed", "window": None, "explained_by": []}
    return {
        "root_causes": ["busy"],
        "findings": [{**one, "figures": {"n": 3, "share": 0.1}, "missing": [], "steps": steps}],
    }


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("verdict", "suspected", 'busy / verdict: expected "confirmed", is "suspected"'),
        ("window", ["a", "b"], 'busy / window: expected nothing, is ["a", "b"]'),
        ("figures", {"n": 3.0, "share": 0.1 + 1e-12}, "busy / figures.n: expected 3, is 3.0"),
        ("figures", {"n": 3}, 'busy / figures.share: expected 0.1, is "absent"'),
        ("missing", [{}], "busy / missing: expected 0, is 1"),
        ("steps", [], 'busy / step slow: is not there: {"role": "deciding", "holds": true'),
    ],
)
def test_a_difference_says_where_it_is(found: dict[str, Any], name: str, value: Any, says: str) -> None:
    kept = golden.digest(found)
    found["findings"][0][name] = value
    (said,) = golden.differences(kept, golden.digest(found))
    assert said.startswith(says)


def test_a_cause_that_failed_says_why_and_no_more(found: dict[str, Any]) -> None:
    kept = golden.digest(found)
    error = {"type": "KeyError", "message": "no column", "where": "kit/x.py:3 in f"}
    found["findings"][0] |= {"verdict": "failed", "error": error, "steps": [], "figures": {}}
    (said,) = golden.differences(kept, golden.digest(found))
    assert said == 'busy: expected "confirmed", is "failed": KeyError in kit/x.py:3 in f: no column'


def test_another_line_quoted_or_a_changed_text_is_a_difference(found: dict[str, Any]) -> None:
    kept = golden.digest(found)
    found["findings"][0]["steps"][0]["evidence"][0]["text"] = "slower"
    (said,) = golden.differences(kept, golden.digest(found))
    assert said.startswith("busy / step slow / evidence:\n    - broker.log:7 #") and "\n    + broker.log:7 #" in said


def test_prose_is_not_compared(found: dict[str, Any]) -> None:
    kept = golden.digest(found)
    found["findings"][0]["steps"][0]["claim"] = "Said otherwise"
    assert golden.differences(kept, golden.digest(found)) == []
