"""Every notebook runs from top to bottom headless, on its own sample; the labs do so in tests/training."""

from __future__ import annotations

from pathlib import Path

import pytest

import kit
from kit.case.failures.bug_report import Failure
from kit.report import build, notebooks

ALL = sorted(notebooks.folder().glob("*.ipynb"))
PATHS = [path for path in ALL if not path.stem.startswith("8")]

pytestmark = [pytest.mark.recordings, pytest.mark.spark]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All of them, two at once, in one workspace: what one has worked out the next one finds."""
    failures: list[Failure] = []
    folder = tmp_path_factory.mktemp("headless")
    chosen = {"lang": "en", "interactive": False, "workspace": str(folder / "workspace")}
    done = {path.stem: path for path in notebooks.execute(PATHS, folder / "out", chosen, failures)}
    for failure in failures:  # shown beside whatever fails below
        print(failure.what, failure.type, failure.message, failure.trace, sep="\n")
    return done


@pytest.mark.parametrize("name", [path.stem for path in PATHS])
def test_it_runs_to_its_end(executed: dict[str, Path], name: str) -> None:
    told = notebooks.story(executed[name])
    assert (told.failed, told.parts_failed) == (None, 0)
    cells = [cell for cell in notebooks.read(executed[name]).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    assert not [output for cell in cells for output in cell.outputs if output["output_type"] == "error"]
    assert any(cell.outputs for cell in cells)


def test_a_page_of_them_all_has_no_failure_banner(executed: dict[str, Path], tmp_path: Path) -> None:
    case = kit.open_case(Path(__file__).parents[2] / "sample_data" / "healthy.tar.zst", tmp_path / "workspace")
    page = build.build(kit.triage(case), {}, list(executed.values()), tmp_path / "out").read_text(encoding="utf-8")
    assert "stopped with an error" not in page and 'class="banner"' not in page


def test_labs_are_played_in_their_own_tests() -> None:
    played = {path.stem[:2] for path in ALL} - {path.stem[:2] for path in PATHS}
    assert played and all(number.startswith("8") for number in played)
