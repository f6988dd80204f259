"""Put a report or a postmortem together: triage → findings.json, tables, notebooks → the page, manifest and run.json."""

import datetime as dt
import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyspark  # from `pyspark-client` or `pyspark`

import kit
from kit.analysis import noise
from kit.case import bug_report, output, unreadable
from kit.case.case import Case
from kit.causes import release_advice, results, timeline
from kit.evidence import disk
from kit.evidence.failure import Failure
from kit.i18n import Lang, on_clock
from kit.report import html, notebooks, write
from kit.report.labels import SKIPPED
from kit.spark import sessions

PAGE_NAME = "report.html"
LIBRARIES: Final = ("jinja2", "numba", "numpy", "pandas", "papermill", "plotly", "pyarrow")
Findings = Mapping[str, Any]


def build(
    findings: Findings,
    tables: Mapping[str, pd.DataFrame],
    executed: Sequence[Path],
    out: Path,
    lang: Lang = "en",
    options: Mapping[str, Any] | None = None,
    failures: list[Failure] | None = None,
) -> Path:
    """Write `out/report.html` and `out/manifest.json`; return the page's path. The same arguments give the same bytes.

    `tables`: the evidence's own (`evidence_tables`). `failures`: list to which what failed is added.
    """
    out.mkdir(parents=True, exist_ok=True)
    content = manifest(findings, {**(options or {}), "lang": lang}, executed)
    verdicts = {finding["cause"]: finding["verdict"] for finding in findings["findings"]}
    stories = [notebooks.story(path, verdicts) for path in executed]
    page = html.render(findings, tables, stories, lang, options, content["manifest_sha256"], failures)
    return _written(out, PAGE_NAME, page, content)


def _written(out: Path, name: str, page: str, content: Mapping[str, Any]) -> Path:
    (out / name).write_text(page, encoding="utf-8", errors="backslashreplace")
    disk.write_json(out / "manifest.json", content)
    return out / name


@contextmanager
def _folder(case: Case, out: Path, command: str) -> Iterator[tuple[Path, Findings]]:
    """Yield a folder with findings.json and tables in it, and the findings; then add run.json and what failed."""
    started = dt.datetime.now(dt.UTC)
    with output.into(out, command, case.lang) as folder, results.one_run(), on_clock(case.clock):
        findings = kit.triage(case)
        case.progress.begin("writing")
        disk.write_json(folder / "findings.json", findings)
        write.tables(case, folder / "tables")
        yield folder, findings
        at = {"evidence": case.path, "workspace": case.workspace.folder.parents[1], "out": out}
        engine = sessions.engine(case.options.master, case.options.remote)
        places = {name: str(path.resolve()) for name, path in at.items()} | {"engine": engine}
        write_run(folder / "run.json", started, places)
        bug_report.write(folder, case)


def run(case: Case, out: Path, *, cause: str = "auto") -> Path:
    """Triage the case, run its notebooks, write everything a report consists of into `out`; return the page's path."""
    with _folder(case, out, "report") as (folder, findings):
        chosen = notebooks.chosen(findings, cause)
        given, replaced = parameters(case), neutral(case)
        executed = notebooks.execute(chosen, folder / "notebooks", given, case.failures, replaced)
        tables, options = evidence_tables(case), declared(case, cause)
        build(findings, tables, executed, folder, case.lang, options, case.failures)
    return out / PAGE_NAME


def postmortem(case: Case, out: Path, notes: Path | None, title: str = "") -> Path:
    """Run notebook 90 and write it as `out/postmortem.html`; return the page's path. `title`: the team's own."""
    name = "postmortem.html"
    with _folder(case, out, "postmortem") as (folder, findings):
        given = parameters(case) | {"notes": str(notes.resolve()) if notes else ""}
        replaced = neutral(case) | {"notes": notes.name if notes else ""}
        book = [notebooks.folder() / "90_postmortem.ipynb"]
        [done] = notebooks.execute(book, folder / "notebooks", given, case.failures, replaced)
        options = declared(case) | ({"notes": str(notes)} if notes else {})
        content = manifest(findings, {**options, "lang": case.lang}, [done], notes)
        causes = (f["title"] for f in findings["findings"] if f["cause"] in findings["root_causes"])
        title = title or " · ".join(causes) or html.PAGE["no_cause"].in_(case.lang)
        page = html.shell(
            "notebook.html.j2", findings, case.lang, options, content["manifest_sha256"], "postmortem",
            title=title, stories=[notebooks.story(done, shift=0)],
        )  # fmt: skip
        _written(folder, name, page, content)
    return out / name


def parameters(case: Case) -> dict[str, Any]:
    return {
        "evidence": str(case.path.resolve()),
        # The parent folder of all workspaces, as `open_case` takes it.
        "workspace": str(case.workspace.folder.parents[1]),
        "lang": case.lang,
        "interactive": False,
        "options": case.options.declared(),
    }


def neutral(case: Case) -> dict[str, Any]:
    """Return the parameters that executed notebooks show: the same for every run on this evidence."""
    elsewhere = case.path.is_relative_to(case.workspace.folder.parents[1])
    return parameters(case) | {"workspace": ""} | ({"evidence": case.name} if elsewhere else {})


def declared(case: Case, cause: str = "auto") -> dict[str, Any]:
    """Return the options of a report, as the command line spells them."""
    return case.options.declared() | ({} if cause == "auto" else {"cause": cause})


def evidence_tables(case: Case) -> dict[str, pd.DataFrame]:
    """Return the tables of no single cause. One that fails is left out and added to the failures of the case."""
    reasons = {name: text.in_(case.lang) for name, text in SKIPPED.items()}
    wanted: dict[str, Callable[[], pd.DataFrame]] = {
        "inventory": lambda: pd.DataFrame(
            [
                (i.file, i.called, i.bytes, i.first, i.last, i.zone, i.replica_of, i.sha256)
                for i in case.inventory.items
            ],
            columns=pd.Index(["file", "kind", "bytes", "first", "last", "zone", "replica_of", "sha256"]),
        ),
        "damage": lambda: pd.DataFrame([{"file": each.file, "reason": each.sentence} for each in unreadable.of(case)]),
        "skipped": lambda: case.facts("skipped_ranges").replace({"reason": reasons}),
        "harmless": lambda: noise.harmless_texts(case.facts, case.lang)[list(noise.SHOWN)],
        "timeline": lambda: results.table(case, timeline.TABLE),
        "releases": lambda: release_advice.fitting(case.facts, results.load(case)),
    }
    written = {}
    for name, make in wanted.items():
        try:
            written[name] = make()
        except Exception as error:
            case.failures.append(Failure.of(name, error))
    return written


# --- what went into it ------------------------------------------------------------------------------------------------


def manifest(
    findings: Mapping[str, Any], options: Mapping[str, Any], executed: Iterable[Path] = (), notes: Path | None = None
) -> dict[str, Any]:
    """Return inputs with SHA-256, options, versions, hashes of notebooks and notes; the engine is in run.json."""
    columns = ("file", "kind", "bytes", "sha256")
    libraries = {name: metadata.version(name) for name in LIBRARIES}
    content: dict[str, Any] = {
        "schema": 1,
        "kit_version": findings["kit_version"],
        "evidence": findings["evidence"]["path"],
        "inputs": [{name: file.get(name) for name in columns} for file in findings["evidence"]["files"]],
        "not_recognised": findings["evidence"]["not_recognised"],
        "options": json.loads(json.dumps(options, sort_keys=True, default=str)),
        "versions": {"python": platform.python_version(), **libraries, "pyspark": pyspark.__version__},
        "notebooks": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in executed},
        "findings_sha256": digest(findings),
    }
    if notes is not None and notes.name:
        content["notes"] = {"file": notes.name, "sha256": hashlib.sha256(notes.read_bytes()).hexdigest()}
    return content | {"manifest_sha256": digest(content)}


def digest(content: Any) -> str:
    """Return the SHA-256 of `content` as canonical JSON (sorted keys, no spaces, UTF-8)."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write_run(path: Path, started: dt.datetime, places: Mapping[str, str]) -> None:
    """Write run.json: when and where this run was, how long it took; never hashed. `places`: folders, by name."""
    ended = dt.datetime.now(dt.UTC)
    run = {
        "started": started.isoformat(timespec="seconds"),
        "ended": ended.isoformat(timespec="seconds"),
        "seconds": round((ended - started).total_seconds(), 1),
        **places,
    }
    disk.write_json(path, run)
