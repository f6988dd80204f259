"""A report in which every name, address, key and path is a pseudonym. It is put together in the workspace and checked
there before any of it is written out.
"""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import kit
from kit.case import bug_report, output
from kit.causes import results
from kit.charts import MIME as CHART
from kit.charts import PLOTLY_MIME
from kit.charts.table import BEHIND, drawn, spelled
from kit.charts.table import MIME as TABLE
from kit.evidence import disk
from kit.i18n import Lang, labels, on_clock
from kit.redaction import leaks
from kit.redaction import names as redactnames
from kit.redaction.redactor import Redactor
from kit.report import build, notebooks, write
from kit.report.notebook_format import nbformat

if TYPE_CHECKING:
    from kit.case.case import Case

SAYS: Final = labels("redaction")["report"]


def run(case: Case, out: Path, *, cause: str = "auto") -> Path:
    """Write the report with pseudonyms into `out`; return the page's path. Raise `click.ClickException`, with nothing
    written, where an original is left.
    """
    with output.into(out, "report", case.lang) as folder, results.one_run():
        _write(case, folder, out, cause)
    return out / build.PAGE_NAME


def _write(case: Case, target: Path, out: Path, cause: str) -> None:
    started = dt.datetime.now(dt.UTC)
    findings = kit.triage(case)
    case.progress.begin("writing")
    parameters = build.parameters(case)
    options = build.declared(case, cause)
    place = case.workspace.folder / "tmp"
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="redact-", dir=place) as folder:
        staged = Path(folder)
        chosen = notebooks.chosen(findings, cause)
        executed = notebooks.execute(chosen, staged / "notebooks", parameters, case.failures)
        books = {path: notebooks.read(path) for path in executed}
        tables = {name: results.table(case, name) for name in results.names(case)}
        evidence = build.evidence_tables(case)
        # What notebooks show of the evidence: outputs and failures, not their own prose and code.
        outputs = [cell.get("outputs", []) for book in books.values() for cell in book.cells]
        outputs += [book.metadata.get(notebooks.KIT, {}).get("failed") for book in books.values()]
        everything = [findings, parameters, options, *outputs, *tables.values(), *evidence.values()]
        paths = {findings["evidence"]["path"], parameters["evidence"], parameters["workspace"], str(Path.home())}
        redactor = redactnames.of(case, everything, paths)

        replaced = redactor.value(findings)
        disk.write_json(staged / "findings.json", replaced)
        for name, frame in tables.items():
            write.csv(redactor.value(frame), staged / "tables" / f"{name}.csv")
        for path, book in books.items():
            notebook(redactor, book, redactor.value(build.neutral(case)), case.lang)
            nbformat.write(book, path)
        frames = {name: redactor.value(frame) for name, frame in evidence.items()}
        with on_clock(case.clock):
            build.build(replaced, frames, executed, staged, case.lang, redactor.value(options) | {"redact": True})
        build.write_run(staged / "run.json", started, {})

        if case.failures:
            report = bug_report.text(case.failures, case, redactor.value(options))
            (staged / output.BUG_REPORT).write_text(redactor.text(report), encoding="utf-8")
        files = {path: path.relative_to(staged) for path in staged.rglob("*") if path.is_file()}
        older = {out / name: name for name in output.written_by_others(out, "report") if name not in files.values()}
        originals = leaks.of(case, [*files, *older], paths, redactor.is_pseudonym)
        leaks.check(originals, files, SAYS["leak"], case.lang)
        leaks.check(originals, older, SAYS["stale"], case.lang)
        shutil.copytree(staged, target, dirs_exist_ok=True)


def notebook(redactor: Redactor, book: nbformat.NotebookNode, parameters: Mapping[str, Any], lang: Lang) -> None:
    """Replace originals in an executed notebook, in place; HTML is drawn anew from the tables beside it."""
    from papermill.translators import PythonTranslator

    about = book.metadata.get(notebooks.KIT, {})
    if about.get("failed"):
        about["failed"] = redactor.text(about["failed"])
    for cell in book.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.source = PythonTranslator.codify(parameters)
        chart: dict[str, Any] | None = None
        for one in cell.get("outputs", ()):
            chart = _output(redactor, one, chart, lang) or chart


def _output(
    redactor: Redactor, output: dict[str, Any], chart: Mapping[str, Any] | None, lang: Lang
) -> dict[str, Any] | None:
    """Replace originals in one output; return its chart: the output behind a chart is its table."""
    if output["output_type"] == "error":
        # A trace shows values and the paths of this machine; the name of the error is enough.
        output.update(evalue=redactor.text(output["evalue"]), traceback=[])
    if "text" in output:
        output["text"] = redactor.text(output["text"])
    data = output.get("data")
    if data is None:
        return None
    foreign = data.pop("text/html", None)
    for mime in data:
        data[mime] = redactor.figure(data[mime]) if mime == PLOTLY_MIME else redactor.value(data[mime])
    if TABLE in data:
        data.update({"text/html": drawn(data[TABLE]), "text/plain": spelled(data[TABLE])})
    elif foreign and chart and output.get("metadata", {}).get(notebooks.KIT, {}).get("twin"):
        data["text/html"] = drawn(chart["table"], chart["reading"], BEHIND.render(lang))
    return data.get(CHART)
