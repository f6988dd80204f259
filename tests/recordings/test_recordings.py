"""Every recording is a test of every cause: exactly its root causes, at least its neighbours, and references that
resolve."""

from __future__ import annotations

from typing import Any

import pytest
import recorded

import kit

ROOTS = {cause for name in recorded.EVERY for cause in recorded.label(name)["root_causes"]}
BIG = 2 << 20
"""Bytes of an archive from which on its triage takes long."""


def every() -> list[Any]:
    return [
        pytest.param(name, marks=pytest.mark.recordings) if recorded.archive(name).stat().st_size > BIG else name
        for name in recorded.EVERY
    ]


def test_no_recording_is_left_out() -> None:
    found = {path.name.removesuffix(".tar.zst") for path in recorded.archive("healthy").parent.rglob("*.tar.zst")}
    assert found == set(recorded.EVERY) and len(found) == len(recorded.EVERY)


@pytest.mark.seconds
@pytest.mark.parametrize("name", every())
def test_a_recording(name: str) -> None:
    case = recorded.case(name)
    found = kit.triage(case)
    verdicts = {f["cause"]: f["verdict"] for f in found["findings"]}
    label = recorded.label(name)
    assert set(verdicts) >= ROOTS and "failed" not in verdicts.values()
    assert (
        set(label["root_causes"])
        <= set(found["root_causes"])
        <= {*label["root_causes"], *label.get("also_allowed", ())}
    ), verdicts
    confirmed = {f["cause"] for f in found["findings"] if f["verdict"] == "confirmed"}
    assert set(label.get("neighbours", ())) <= confirmed, confirmed
    if not label["root_causes"] and not label.get("neighbours"):
        # Where the master was killed, the sender's own ledger has sends that timed out.
        failed = label.get("truth", {}).get("other_outcomes", {})
        timed_out = {"client-timeout"} if "RemotingTooMuchRequestException" in failed else set()
        assert confirmed == timed_out, "a healthy system has nothing confirmed"
    assert recorded.check_references(found, case.path) or not confirmed
    for finding in found["findings"]:
        if finding["verdict"] == "insufficient_evidence":
            assert finding["missing"], finding["cause"]
