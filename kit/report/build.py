"""Put a report together: triage → findings.json, tables, notebooks → report.html and manifest.json."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from kit.analysis import noise
from kit.case import unreadable
from kit.causes import release_advice, results, timeline
from kit.evidence import disk
from kit.evidence.failure import Failure
from kit.i18n import Lang, on_clock
from kit.report import html, manifest, notebooks
from kit.report.labels import SKIPPED
from kit.spark import sessions

if TYPE_CHECKING:
    from kit.case.case import Case

PAGE_NAME = "report.html"


def build(
    findings: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    executed: Sequence[Path],
    out: Path,
    lang: Lang = "en",
    options: Mapping[str, Any] | None = None,
    started: dt.datetime | None = None,
    places: Mapping[str, str] | None = None,
    failures: list[Failure] | None = None,
) -> Path:
    """Write `out/report.html`, `out/manifest.json` and `out/run.json` from findings and executed notebooks; return the page's path.

    `tables` may hold `inventory`, `damage` and `skipped` (the evidence appendix). The same arguments give the same bytes of page and
    manifest. `started`, `places`: when and where the work was done, for run.json only. `failures`: list to which what failed is added.
    """
    started = started or dt.datetime.now(dt.UTC)
    out.mkdir(parents=True, exist_ok=True)
    content = manifest.manifest(findings, {**(options or {}), "lang": lang}, executed)
    verdicts = {finding["cause"]: finding["verdict"] for finding in findings["findings"]}
    stories = [notebooks.story(path, verdicts) for path in executed]
    page = html.render(findings, tables, stories, lang, options, content["manifest_sha256"], failures)
    target = out / PAGE_NAME
    target.write_text(page, encoding="utf-8", errors="backslashreplace")
    disk.write_json(out / "manifest.json", content)
    manifest.write_run(out / "run.json", started, places or {})
    return target


def run(case: Case, out: Path, *, cause: str = "auto") -> Path:
    """Triage the case, run its notebooks, write everything a report consists of into `out`; return the page's path."""
    import kit
    from kit.case import bug_report, output
    from kit.causes import results
    from kit.report import write

    started = dt.datetime.now(dt.UTC)
    with output.into(out, "report", case.lang) as folder, results.one_run():
        findings = kit.triage(case)
        case.progress.begin("writing")
        disk.write_json(folder / "findings.json", findings)
        write.tables(case, folder / "tables")
        chosen = notebooks.chosen(findings, cause)
        executed = notebooks.execute(chosen, folder / "notebooks", parameters(case), case.failures)
        notebooks.neutral(executed, neutral(case))
        at, options = places(case, out), declared(case, cause)
        with on_clock(case.clock):
            build(findings, evidence_tables(case), executed, folder, case.lang, options, started, at, case.failures)
        if case.failures:
            bug_report.write(folder, case)
    return out / PAGE_NAME


def parameters(case: Case) -> dict[str, Any]:
    """Return the parameters for the notebooks of a case."""
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


def places(case: Case, out: Path) -> dict[str, str]:
    """Return where this run read and wrote, and which engine answered, for run.json."""
    at = {"evidence": case.path, "workspace": case.workspace.folder.parents[1], "out": out}
    engine = {"engine": sessions.engine(case.options.master, case.options.remote)}
    return {name: str(path.resolve()) for name, path in at.items()} | engine


def declared(case: Case, cause: str) -> dict[str, Any]:
    """Return the options of a report, as the command line spells them."""
    return case.options.declared() | ({} if cause == "auto" else {"cause": cause})


def evidence_tables(case: Case) -> dict[str, pd.DataFrame]:
    """Return the tables that belong to no single cause, without Spark: `inventory`, `damage` (each place), `skipped` (by reason),
    `harmless` (known benign texts), `timeline`, `releases` (their faults that fit). A table that fails is left out and added to the failures of the case.
    """
    made: dict[str, pd.DataFrame] = {}
    for name, make in {
        "inventory": _files,
        "damage": _damage,
        "skipped": _skipped,
        "harmless": lambda case: noise.harmless_texts(case.facts, case.lang)[list(noise.SHOWN)],
        "timeline": lambda case: results.table(case, timeline.TABLE),
        "releases": lambda case: release_advice.fitting(case.facts, results.load(case)),
    }.items():
        try:
            made[name] = make(case)
        except Exception as error:
            case.failures.append(Failure.of(name, error))
    return made


def _files(case: Case) -> pd.DataFrame:
    columns = ["file", "kind", "source", "bytes", "first", "last", "zone", "replica_of", "sha256"]
    items = [attrs.asdict(item, recurse=False) for item in case.inventory.items]
    return pd.DataFrame(items).reindex(columns=columns)


def _damage(case: Case) -> pd.DataFrame:
    return pd.DataFrame([(d.file, str(d)) for d in unreadable.of(case)], columns=pd.Index(["file", "reason"]))


def _skipped(case: Case) -> pd.DataFrame:
    reasons = {name: text.in_(case.lang) for name, text in SKIPPED.items()}
    ranges = case.facts("skipped_ranges")
    return ranges.assign(reason=[reasons.get(reason, reason) for reason in ranges["reason"]])
