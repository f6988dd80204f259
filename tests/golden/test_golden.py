"""Every recording finds what it found (verdicts, windows, figures, steps, the places that are quoted) and what its label says.

`python -m tests.golden NAME` prints the same differences; `--update` keeps what is found now, after it was read.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import counted
import golden
import plain_reader
import pytest
import recorded

import kit

LONG = ("broker-busy",)
"""Recordings whose triage takes long."""
ROOTS = {cause for name in recorded.EVERY for cause in recorded.label(name)["root_causes"]}


def every() -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.recordings) if name in LONG else name for name in recorded.EVERY]


@functools.cache
def triaged(name: str) -> dict[str, Any]:
    return kit.triage(recorded.case(name))


def test_every_recording_has_its_findings() -> None:
    assert {path.stem for path in golden.KEPT.glob("*.json")} == set(golden.NAMES)
    found = {path.name.removesuffix(".tar.zst") for path in recorded.archive("healthy").parent.rglob("*.tar.zst")}
    assert found == set(recorded.EVERY) and len(found) == len(recorded.EVERY)


@pytest.mark.seconds
@pytest.mark.parametrize("name", every())
def test_a_recording_finds_what_it_found(name: str) -> None:
    _same(golden.load(name), golden.digest(triaged(name)))


@pytest.mark.seconds
@pytest.mark.parametrize("name", every())
def test_a_recording_finds_what_its_label_says(name: str) -> None:
    """Exactly its root causes, at least its neighbours, and references that resolve."""
    found, label = triaged(name), recorded.label(name)
    verdicts = {f["cause"]: f["verdict"] for f in found["findings"]}
    assert set(verdicts) >= ROOTS and "failed" not in verdicts.values()
    roots = set(label["root_causes"])
    assert roots <= set(found["root_causes"]) <= roots | set(label.get("also_allowed", ())), verdicts
    confirmed = {cause for cause, verdict in verdicts.items() if verdict == "confirmed"}
    assert set(label.get("neighbours", ())) <= confirmed, confirmed
    if not label["root_causes"] and not label.get("neighbours"):
        # Where the master was killed, the sender's own ledger has sends that timed out.
        failed = label.get("truth", {}).get("other_outcomes", {})
        timed_out = {"client-timeout"} if "RemotingTooMuchRequestException" in failed else set()
        assert confirmed == timed_out, "a healthy system has nothing confirmed"
    assert plain_reader.check(found, recorded.whole(name)) or not confirmed
    for finding in found["findings"]:
        if finding["verdict"] == "insufficient_evidence":
            assert finding["missing"], finding["cause"]


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


FIGURES = {
    ("half-topic-blowup", "half-topic-blowup"): counted.half_topic,
    ("half-topic-blowup", "transaction-consistency"): lambda: counted.transactions("half-topic-blowup"),
    ("transaction-consistency", "transaction-consistency"): lambda: counted.transactions("transaction-consistency"),
    ("size-mismatch", "message-size-mismatch"): counted.message_size,
    ("broker-busy", "broker-busy"): lambda: counted.broker_busy(recorded.whole("broker-busy")),
}


@pytest.mark.seconds
@pytest.mark.parametrize(("name", "cause"), FIGURES, ids=lambda value: value)
def test_the_kept_figures_are_counted_without_the_kit(name: str, cause: str) -> None:
    figures = golden.load(name)["findings"][cause]["figures"]
    for figure, value in FIGURES[name, cause]().items():
        assert figures[figure] == (value if isinstance(value, dict) else pytest.approx(value, rel=1e-6)), figure


ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "half-topic-blowup", "size-mismatch", "message-identity", "broker-busy", "transaction-consistency",
    "consumer-backlog", "replica-loss", "healthy",
)  # fmt: skip


def run(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    # A process in which the embedded engine ran cannot start a classic session.
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
    )


@pytest.mark.apache
@pytest.mark.parametrize(
    "names", [("consumer-backlog", "message-identity"), pytest.param(NAMES, marks=pytest.mark.recordings)]
)
def test_the_same_findings(names: tuple[str, ...]) -> None:
    done = run("tests.golden", *names, "--spark")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


@pytest.mark.apache
def test_every_table_makes_the_same_of_a_few_rows() -> None:
    done = run("pytest", "-q", "-x", "tests/tables", RMQ_KIT_TEST_MASTER="local[2]")
    assert done.returncode == 0, done.stdout[-6000:]
