"""Every cause asked on tables that are empty, all null, full of gaps or at the edges of what their columns can hold: each answers."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import frames
import pyarrow as pa
import pytest
import recorded
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import kit
from kit.case import tables
from kit.causes import results, triage

pytestmark = pytest.mark.seconds
OFTEN = ("all null", "gaps", "extreme")
RECORDINGS = ("transaction-consistency", "message-identity", "topic-missing", "consumer-stuck", "duplicate-client-id")


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hosts of several small incidents in one folder: every kind of file there is."""
    folder = tmp_path_factory.mktemp("evidence")
    for name in RECORDINGS:
        recorded.unpack(name, folder / name)
    return folder


@pytest.fixture(scope="module")
def real(evidence: Path) -> dict[str, pa.Table]:
    return frames.real(kit.open_case(evidence, evidence.parent / "workspace"))


def ask(evidence: Path, real: dict[str, pa.Table], shapes: dict[str, str], seed: int) -> None:
    chance = random.Random(seed)
    folder = evidence.parent / f"tables-{seed}-{abs(hash(tuple(shapes.items())))}"
    shutil.rmtree(folder, ignore_errors=True)
    frames.write(folder, {name: frames.shaped(table, shapes[name], chance) for name, table in real.items()})
    case = frames.standing_on(kit.open_case(evidence, evidence.parent / "workspace"), folder)
    case.workspace.forget(results.key(case))
    found = triage._triage(case, "en")
    assert not case.failures, "\n\n".join(f"{f.what}: {f.type}: {f.message}\n{f.trace}" for f in case.failures)
    assert len(found["findings"]) > 20
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "shape", [pytest.param(shape, marks=() if shape in OFTEN else pytest.mark.slow) for shape in frames.SHAPES]
)
def test_every_cause_answers_on_tables_of_one_shape(evidence: Path, real: dict[str, pa.Table], shape: str) -> None:
    ask(evidence, real, dict.fromkeys(real, shape), 1)


@pytest.mark.slow
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
@given(
    st.fixed_dictionaries({name: st.sampled_from(frames.SHAPES) for name in tables.specs()}), st.integers(0, 1 << 20)
)
def test_every_cause_answers_on_tables_of_any_shapes(
    evidence: Path, real: dict[str, pa.Table], shapes: dict[str, str], seed: int
) -> None:
    ask(evidence, real, shapes, seed)


def test_the_recordings_fill_every_table(real: dict[str, pa.Table]) -> None:
    """Else nothing above would say anything about it."""
    assert [
        name
        for name, table in real.items()
        if not table.num_rows and name not in ("traces", "metrics", "network", "sends")
    ] == []
