"""Every notebook runs from top to bottom headless, on its own sample and, if it is a walk, on a healthy system; the labs do so in tests/training."""

import re
from pathlib import Path

import nbformat
import papermill
import pytest
from nbconvert import HTMLExporter

import kit
from kit import causes
from kit.charts import offline
from kit.notebook import Inquiry, walks
from kit.report import build, notebooks

ALL = sorted(notebooks.folder().glob("*.ipynb"))
PATHS = [path for path in ALL if not path.stem.startswith("8")]
WALKS = [path for path in PATHS if 20 <= int(path.stem[:2]) < 70]
HEALTHY = Path(__file__).parents[2] / "sample_data" / "healthy.tar.zst"

pytestmark = [pytest.mark.recordings, pytest.mark.spark]


def run(paths, folder, **more):
    failures = []
    chosen = {"lang": "en", "interactive": False, "workspace": str(folder.parent / "workspace"), **more}
    done = {path.stem: path for path in notebooks.execute(paths, folder, chosen, failures)}
    for failure in failures:  # shown beside whatever fails below
        print(failure.what, failure.type, failure.message, failure.trace, sep="\n")
    return done


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """All of them, two at once, in one workspace: what one has worked out the next one finds."""
    return run(PATHS, tmp_path_factory.mktemp("headless") / "out")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    return run(WALKS, tmp_path_factory.mktemp("healthy") / "out", evidence=str(HEALTHY))


def outputs(path):
    return [each for cell in notebooks.read(path).cells if cell.cell_type == "code" for each in cell.outputs]


def ended(path):
    told = notebooks.story(path)
    assert (told.failed, told.parts_failed) == (None, 0)
    cells = [cell for cell in notebooks.read(path).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    assert not [output for output in outputs(path) if output["output_type"] == "error"]
    assert any(cell.outputs for cell in cells)


@pytest.mark.parametrize("name", [path.stem for path in PATHS])
def test_it_runs_to_its_end_and_sentences_fit_the_sample(executed, name):
    ended(executed[name])
    if name not in [path.stem for path in WALKS]:
        return
    said = "\n".join(str(each.get("data", {}).get("text/plain", "")) for each in outputs(executed[name]))
    assert walks.OTHER_COLUMNS.en not in said
    assert said.count("So: ") >= 5
    drawing = [
        each for each in outputs(executed[name]) if offline.library() in each.get("data", {}).get("text/html", "")
    ]
    assert len(drawing) == 1, "a page made of it draws its charts without a network"


@pytest.mark.parametrize("name", [path.stem for path in WALKS])
def test_a_walk_runs_where_nothing_is_wrong_and_leaves_no_stop_without_a_word(healthy, name):
    ended(healthy[name])
    said = [str(each.get("data", {}).get("text/plain", "")) for each in outputs(healthy[name])]
    assert not any(text in each for text in (walks.OTHER_COLUMNS.en, "filtered away") for each in said)
    for each in outputs(healthy[name]):
        table = each.get("data", {}).get("application/vnd.rmq-kit.table+json")
        assert table is None or table["rows"], table


def test_a_page_of_them_all_has_no_failure_banner(executed, tmp_path):
    case = kit.open_case(HEALTHY, tmp_path / "workspace")
    page = build.build(kit.triage(case), {}, list(executed.values()), tmp_path / "out").read_text(encoding="utf-8")
    assert "stopped with an error" not in page and 'class="banner"' not in page


def test_a_page_made_of_a_walk_in_papermill_draws_each_chart_once_and_every_query_is_there(tmp_path):
    """As `papermill -p lang zh` leaves it: no report around it that puts the Chinese into its cells."""
    given = {"evidence": str(HEALTHY), "workspace": str(tmp_path / "ws"), "lang": "zh", "interactive": False}
    walk, chinese = notebooks.folder() / "20_half_topic_blowup.ipynb", tmp_path / "20.ipynb"
    papermill.execute_notebook(walk, chinese, given, kernel_name="python3", progress_bar=False)
    book = nbformat.read(chinese, 4)
    charts = [each for each in outputs(chinese) if "application/vnd.plotly.v1+json" in each.get("data", {})]
    page, _ = HTMLExporter().from_notebook_node(book)
    assert charts and page.count("plotly.newPlot(") == len(charts)
    assert page.count("window.rmqKitPlotly = window.rmqKitPlotly") == 1
    for each in charts:
        reading = each["data"]["application/vnd.rmq-kit.chart+json"]["reading"]
        assert not reading or len(re.findall(re.escape(f"<p>{reading}</p>"), page)) == 1
    inquiry = Inquiry(kit.open_case(HEALTHY, tmp_path / "ws"), {}, "en", False)
    for cause, step in ((each.slug, step) for each in causes.discover() for step in each.steps if step.tables):
        said = str(inquiry.query(step.id, cause))
        assert "select" in said or "def " in said
    one, every = (inquiry.query("queue-stands", cause).texts for cause in ("consumer-stuck", ""))
    assert set(one) < set(every)
    with pytest.raises(KeyError, match="leaked"):
        inquiry.query("nothing-of-the-kind")
