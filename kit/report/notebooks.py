"""Run notebooks headless and extract what a report shows: text, tables, charts. HTML in outputs is never used."""

import copy
import json
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import attrs
import mistune
from markupsafe import Markup, escape

import kit
from kit.causes.release_advice import confirmed_or_suspected
from kit.charts import MIME as CHART
from kit.charts import PLOTLY_MIME, Chart, offline
from kit.charts.safe_text import clean
from kit.charts.table import MIME as TABLE
from kit.evidence.failure import Failure
from kit.i18n import Lang
from kit.report.labels import PAGE
from kit.report.notebook_format import nbformat

KIT: Final = "rmq-kit"
"""Name of the kit's own entry in the metadata of notebooks, cells and outputs."""

INJECTED: Final = "injected-parameters"
"""Papermill's tag of the cell that sets parameters."""
AT_ONCE: Final = 2
CELL_SECONDS: Final = 600
OF_EVIDENCE: Final = (*"0123456", "70", "90")
"""How the names of the notebooks begin that ask any evidence; labs bring their own."""


def folder() -> Path:
    """Return the folder of the notebooks: inside the installed package, or next to it in a checkout."""
    package = Path(next(iter(kit.__path__)))
    installed = package / "notebooks"
    return installed if installed.is_dir() else package.parent / "notebooks"


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def chosen(findings: Mapping[str, Any], cause: str = "auto", where: Path | None = None) -> list[Path]:
    """Return the triage notebook and those of the wanted causes, in order of their numbers.

    A notebook says in its metadata which it is: `rmq-kit: {"report": "overview"}` or `{"causes": [SLUG, …]}`.
    """
    wanted = confirmed_or_suspected(findings) if cause == "auto" else {cause}
    about = {path: read(path).metadata.get(KIT, {}) for path in sorted((where or folder()).glob("*.ipynb"))}
    return [p for p in about if about[p].get("report") == "overview" or wanted.intersection(about[p].get("causes", ()))]


def localise(notebook: nbformat.NotebookNode, lang: Lang) -> nbformat.NotebookNode:
    """Return the notebook with its prose in `lang`; a text cell keeps its other languages in its metadata."""
    spoken = copy.deepcopy(notebook)
    for cell in spoken.cells:
        cell.source = cell.metadata.get(KIT, {}).get(lang, cell.source)
    return spoken


def parameterised(notebook: nbformat.NotebookNode, parameters: Mapping[str, Any]) -> nbformat.NotebookNode:
    """Add the cell that sets these parameters, behind the one that declares them."""
    cell = nbformat.v4.new_code_cell(code(parameters), metadata={"tags": [INJECTED]}, id=INJECTED)
    tagged = (n for n, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", ()))
    notebook.cells.insert(next(tagged, -1) + 1, cell)
    return notebook


def code(parameters: Mapping[str, Any]) -> str:
    from papermill.translators import PythonTranslator

    return str(PythonTranslator.codify(dict(parameters)))


def copies(out: Path, parameters: Mapping[str, Any]) -> list[Path]:
    """Write copies of the notebooks about one evidence into `out`, with these parameters; one that is there stays."""
    out.mkdir(parents=True, exist_ok=True)
    targets = []
    for path in sorted(path for path in folder().glob("*.ipynb") if path.name.startswith(OF_EVIDENCE)):
        targets.append(target := out / path.name)
        if not target.exists():
            nbformat.write(parameterised(read(path), parameters), target)
    return targets


def execute(
    paths: Iterable[Path],
    out: Path,
    parameters: Mapping[str, Any],
    failures: list[Failure] | None = None,
    neutral: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Run notebooks with `parameters` (`lang` among them), at most two at once; return the copies in `out`.

    A cell that fails is replaced by one sentence and the others run; a notebook whose kernel dies is kept as far as it
    came. What failed is added to `failures` and marked in the metadata, for the report. `neutral`: the parameters that
    the copies show, the same whatever workspace they ran in.
    """
    from nbclient import NotebookClient

    out.mkdir(parents=True, exist_ok=True)
    # A kernel looks for modules in its working folder first: never the user's, which may hold the evidence.
    with tempfile.TemporaryDirectory(prefix="rmq-kit-") as scratch, ThreadPoolExecutor(AT_ONCE) as pool:
        # Let traitlets import the classes that Jupyter's clients name: it does so for the first one made, and two
        # threads that make theirs at once can find the name half replaced.
        NotebookClient(nbformat.v4.new_notebook(), kernel_name="python3").create_kernel_manager()
        done = list(pool.map(lambda path: _execute(path, scratch, parameters, neutral or parameters), paths))
    targets = [out / path.name for path, _, _ in done]
    for (_, book, broken), target in zip(done, targets, strict=True):
        nbformat.write(book, target)
        if failures is not None:
            failures += broken
    return targets


def _execute(
    path: Path, scratch: str, parameters: Mapping[str, Any], neutral: Mapping[str, Any]
) -> tuple[Path, nbformat.NotebookNode, list[Failure]]:
    """Run a notebook by papermill's engine, without its files: it changes the working folder of the whole process."""
    from papermill.engines import papermill_engines

    book = parameterised(localise(read(path), parameters["lang"]), parameters)
    for each in (book, *book.cells):
        each.metadata["papermill"] = {}
    died: list[Failure] = []
    try:
        papermill_engines.execute_notebook_with_engine(
            None, book, "python3", progress_bar=False, allow_errors=True, record_timing=False,
            execution_timeout=CELL_SECONDS, resources={"metadata": {"path": scratch}},
            coalesce_streams=True,  # a kernel sends printed text in arbitrary pieces
            extra_arguments=["--log-level=CRITICAL", "--HistoryManager.enabled=False"],
        )  # fmt: skip
    except Exception as error:  # a kernel can die in more ways than papermill has exceptions for
        died.append(Failure.of(path.stem, error))
    settle(book, neutral)
    failures = [*died, *replaced(book, path.stem, parameters["lang"])]
    about = book.metadata.setdefault(KIT, {})
    if died:
        about["failed"] = died[0].type
    elif failures:
        about["parts_failed"] = len(failures)
    return path, book, failures


def marks(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kit's own entry in the metadata of an output."""
    own: dict[str, Any] = output.get("metadata", {}).get(KIT, {})
    return own


def replaced(notebook: nbformat.NotebookNode, name: str, lang: Lang) -> list[Failure]:
    """Replace each failed cell by one sentence; return what failed, including charts and tables."""
    failures = []
    for cell in notebook.cells:
        for number, output in enumerate(cell.get("outputs", ())):
            if output["output_type"] == "error":
                failures.append(Failure.of_output(name, output))
                sentence = PAGE["part_failed"].say(type=failures[-1].type).render(lang)
                cell.outputs[number] = nbformat.v4.new_output("stream", name="stdout", text=sentence)
            elif broken := marks(output).pop("failure", None):
                failures.append(Failure(**broken))
    return failures


def settle(notebook: nbformat.NotebookNode, parameters: Mapping[str, Any]) -> None:
    """Remove what differs from run to run: papermill's record of durations, progress lines. Show these parameters."""
    for each in (notebook, *notebook.cells):
        each.metadata.pop("papermill", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if not marks(each).get("passing")]
        if INJECTED in cell.metadata.get("tags", ()):
            cell.source = code(parameters)


@attrs.frozen
class Story:
    """What one executed notebook shows: blocks of the kinds `markdown`, `table`, `text` and `chart`, in order."""

    name: str
    causes: tuple[str, ...]
    failed: str | None
    parts_failed: int
    blocks: list[dict[str, Any]]


def story(path: Path, verdicts: Mapping[str, str] | None = None, shift: int = 2) -> Story:
    """Read an executed notebook; code and foreign HTML are left out, and what comes with the reader's own queries.

    `verdicts`: {cause: verdict}; text about the documented case (`documented` in its metadata) is left out unless the
    cause is confirmed: nobody shall take it for this one's. `shift`: levels by which headings are lowered.
    """
    notebook = read(path)
    about = notebook.metadata.get(KIT, {})
    causes = tuple(about.get("causes", ()))
    untold = verdicts is not None and "confirmed" not in map(verdicts.get, causes)
    blocks: list[dict[str, Any]] = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith("inquiry.views("):
            break
        if cell.cell_type == "markdown" and not (untold and cell.metadata.get(KIT, {}).get("documented")):
            blocks.append({"kind": "markdown", "html": markdown(cell.source, shift)})
        blocks += filter(None, (_block(output, f"{path.stem}-{len(blocks)}") for output in cell.get("outputs", ())))
    return Story(path.stem, causes, about.get("failed"), about.get("parts_failed", 0), blocks)


def chart_block(chart: Chart, name: str) -> dict[str, Any]:
    """Return a chart for the page's templates; `name` becomes its id."""
    return chart.as_dict() | _chart(json.loads(chart.figure.to_json()), name)


def _chart(figure: Mapping[str, Any], name: str) -> dict[str, Any]:
    drawn = offline.script_safe({part: figure[part] for part in ("data", "layout")})
    return {"kind": "chart", "id": f"chart-{name}", "figure": Markup(drawn)}


def _block(output: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    data, about = output.get("data", {}), marks(output)
    if PLOTLY_MIME in data:
        plain = {"title": "", "reading": "", "alt": "", "min_width": 0, "table": None}
        return plain | data.get(CHART, {}) | _chart(data[PLOTLY_MIME], name)
    if TABLE in data:
        return {"kind": "table", "table": data[TABLE]}
    text = output.get("text") if output.get("name") == "stdout" else data.get("text/plain")
    if not text or about.get("twin"):
        return None
    if about.get("sentence"):
        lines = (Markup("<p>{}</p>").format(clean(line)) for line in text.splitlines())
        return {"kind": "markdown", "html": Markup("\n").join(lines)}
    return {"kind": "text", "text": text}


class _Plain(mistune.HTMLRenderer):
    """Markdown of notebooks: raw HTML is text, pictures their alternative text, links lead to the web only."""

    def __init__(self, shift: int) -> None:
        super().__init__(escape=True)
        self.shift = shift

    def heading(self, text: str, level: int, **attributes: Any) -> str:
        lower = min(6, level + self.shift)
        return "" if level == 1 else f"<h{lower}>{text}</h{lower}>\n"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return str(escape(text))

    def link(self, text: str, url: str, title: str | None = None) -> str:
        out = url.startswith(("https://", "http://"))
        return f'<a href="{escape(url)}" rel="noreferrer">{text}</a>' if out else text


def markdown(source: str, shift: int = 2) -> Markup:
    return Markup(mistune.create_markdown(renderer=_Plain(shift), plugins=["table"])(clean(source)))
