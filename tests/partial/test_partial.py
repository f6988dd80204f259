"""What a part of a recording shows does not contradict the whole: `python -m tests.partial` lists all that does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import golden
import partial
import pytest
import recorded

import kit

QUICK = {
    "acl-denied": "o logs", "broker-busy": "o/stock-service", "half-topic-blowup": "broker/store",
    "offset-jump": "a/rocketmq_client", "replica-loss": "slave/remoting", "size-mismatch": "c logs",
    "transaction-consistency": "m/order-service",
}  # fmt: skip
"""A part of each kind that once said more than it shows."""


def triaged(name: str, part: str, into: Path) -> dict[str, Any]:
    evidence = recorded.whole(name)
    files = partial.parts(evidence)[part]
    return kit.triage(kit.open_case(partial.link(evidence, files, into / "evidence"), into / "ws"))


@pytest.mark.parametrize(("name", "part"), QUICK.items())
def test_a_part_does_not_contradict_the_whole(name: str, part: str, tmp_path: Path) -> None:
    assert list(partial.contradictions(golden.load(name), triaged(name, part, tmp_path))) == []


@pytest.mark.recordings
@pytest.mark.parametrize("name", recorded.EVERY)
def test_no_part_contradicts_the_whole(name: str, tmp_path: Path) -> None:
    whole = golden.load(name)
    wrong = {}
    for n, part in enumerate(partial.parts(recorded.whole(name))):
        wrong[part] = list(partial.contradictions(whole, triaged(name, part, tmp_path / str(n))))
    assert {part: said for part, said in wrong.items() if said} == {}


def test_the_store_names_no_group_but_says_the_length(tmp_path: Path) -> None:
    """`topic length too long 149` of store.log alone: suspected, with the line quoted."""
    found = {f["cause"]: f for f in triaged("half-topic-blowup", "broker/store", tmp_path)["findings"]}
    long = found["retry-topic-too-long"]
    assert long["verdict"] == "suspected"
    (step,) = [s for s in long["steps"] if s["holds"]]
    assert step["evidence"][0]["text"].endswith("putMessage message topic length too long 149")


def test_times_without_a_zone_are_never_called_utc(tmp_path: Path) -> None:
    found = triaged("broker-busy", "o/stock-service", tmp_path)
    (busy,) = [f for f in found["findings"] if f["cause"] == "broker-busy"]
    assert busy["window"] == ["2026-11-20T23:19:38.941", "2026-11-20T23:20:02.223"]  # 15:19 UTC
    (file,) = found["evidence"]["files"]
    assert not file["first"].endswith("Z")
    store = next(m for m in busy["missing"] if "collect" in m["command"])
    assert "--since 2026-11-20T09:14Z --until 2026-11-21T11:25Z" in store["command"]  # true in every zone
