"""What it is, what it is not, what is missing: merged incidents, and evidence of which one kind was taken away."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import plain_reader
import pytest
import recorded

import kit
from kit.inventory import inventory

pytestmark = [pytest.mark.spark, pytest.mark.recordings]

ROOTS = ("half-topic-blowup", "message-size-mismatch", "message-identity", "broker-busy", "transaction-consistency")
QUICK = ("transaction-consistency", "broker-busy")
"""Those whose causes hang on single kinds of evidence."""
ASKED = {
    "commitlog": "commitlog", "store": "store.log", "transaction": "transaction.log", "client": "client",
    "rows": "rows", "sends": "sends",
}  # fmt: skip
"""Words that a request for a kind of evidence must hold."""


def triage(evidence: Path, workspace: Path) -> dict[str, Any]:
    return kit.triage(kit.open_case(evidence, workspace))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("message-identity", "transaction-consistency"),
        ("healthy-5", "message-identity"),
        ("half-topic-blowup", "size-mismatch"),
        ("broker-busy", "transaction-consistency"),
    ],
)
def test_two_brokers_in_one_folder_give_both_causes(one: str, other: str, tmp_path: Path) -> None:
    both = tmp_path / "both"
    for name, place in ((one, "cluster-a"), (other, "cluster-b")):
        shutil.move(recorded.unpack(name, tmp_path / name), both / place)
    found = triage(both, tmp_path / "workspace")
    labels = [recorded.label(one), recorded.label(other)]
    roots = {cause for label in labels for cause in label["root_causes"]}
    allowed = roots | {cause for label in labels for cause in label.get("also_allowed", ())}
    assert roots <= set(found["root_causes"]) <= allowed
    confirmed = {f["cause"] for f in found["findings"] if f["verdict"] == "confirmed"}
    assert {cause for label in labels for cause in label.get("neighbours", ())} <= confirmed
    assert plain_reader.check(found, both)


def kinds(evidence: Path) -> dict[str, list[str]]:
    """Return the files of each kind; logs by what wrote them."""
    found: dict[str, list[str]] = {}
    for item in inventory.take(evidence, workspace=None).items:
        found.setdefault(item.source or "log" if item.kind == "log" else item.kind, []).append(item.file)
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow)
        for n in (*QUICK, "message-identity", "producer-offline", "healthy-traced")
    ],
)
def test_without_one_kind_verdicts_get_weaker_never_wrong(name: str, tmp_path: Path) -> None:
    whole = recorded.unpack(name, tmp_path)
    label = recorded.label(name)
    for kind, files in sorted(kinds(whole).items()):
        less = tmp_path / "less"
        shutil.copytree(whole, less)
        for file in files:
            (less / file).unlink()
        found = triage(less, tmp_path / "workspace")
        findings = {f["cause"]: f for f in found["findings"]}
        assert set(found["root_causes"]) <= {*label["root_causes"], *label.get("also_allowed", ())}, kind
        for cause in label["root_causes"]:
            finding = findings[cause]
            assert finding["verdict"] != "ruled_out", (kind, cause)
            if finding["verdict"] != "confirmed":
                words = " ".join(m["artefact"] + m["command"] for m in finding["missing"])
                assert words, (kind, cause)
                assert ASKED.get(kind, "") in words, (kind, cause, words)
        plain_reader.check(found, less)
        shutil.rmtree(less)


def test_the_figures_of_one_incident_do_not_change_beside_a_healthy_one(tmp_path: Path) -> None:
    alone = triage(recorded.unpack("message-identity", tmp_path / "alone"), tmp_path / "workspace")
    both = tmp_path / "both"
    for name in ("message-identity", "healthy-5"):
        shutil.move(recorded.unpack(name, tmp_path / name), both / f"{random.Random(name).getrandbits(32):08x}")
    beside = triage(both, tmp_path / "workspace")
    told = [
        next(f["figures"] for f in found["findings"] if f["cause"] == "message-identity") for found in (alone, beside)
    ]
    for figure in ("wrong_space_lookups", "handled_twice_by_offset_id"):
        assert told[0][figure] == told[1][figure] > 0
