"""Put a report together: triage → findings.json, tables, notebooks → report.html and manifest.json."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from kit.report import html, manifest, notebooks
from kit.texts import Lang

if TYPE_CHECKING:
    from kit.case import Case

PAGE_NAME = "report.html"


def build(
    findings: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    executed: Sequence[Path],
    out: Path,
    lang: Lang = "en",
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Write `out/report.html` and `out/manifest.json` from findings and executed notebooks; return the page's path.

    `tables` may hold `inventory`, `refused` and `skipped` (the evidence appendix). Same arguments, same bytes of the page.
    """
    started = dt.datetime.now(dt.UTC)
    out.mkdir(parents=True, exist_ok=True)
    content = manifest.manifest(findings, {**(options or {}), "lang": lang}, executed)
    stories = [notebooks.story(path) for path in executed]
    page = html.render(findings, tables, stories, lang, options, content["manifest_sha256"])
    target = out / PAGE_NAME
    target.write_text(page, encoding="utf-8", errors="backslashreplace")
    manifest.write(content, out / "manifest.json", started, dt.datetime.now(dt.UTC))
    return target


def run(case: Case, out: Path, *, cause: str = "auto", redact: bool = False) -> Path:
    """Triage the case, run its notebooks, write everything a report consists of into `out`; return the page's path."""
    from kit import investigate
    from kit.report import write

    findings = investigate.triage(case)
    write.findings(findings, out / "findings.json")
    write.tables(case, out / "tables")
    parameters = {
        "evidence": str(Path(case.path).resolve()),
        "workspace": str(case.workspace.root),
        "lang": case.lang,
        "interactive": False,
        "options": dict(case.options),
    }
    executed = notebooks.execute(notebooks.chosen(findings, cause), out / "notebooks", parameters)
    return build(findings, evidence_tables(case), executed, out, case.lang, case.options)


def evidence_tables(case: Case) -> dict[str, pd.DataFrame]:
    """Return what was read and what was not: `inventory`, `refused`, `skipped` (ranges that are not records)."""
    found = case.inventory
    items = [attrs.asdict(item) for item in found.items]
    columns = ["file", "kind", "source", "bytes", "first", "last", "zone", "replica_of", "sha256"]
    return {
        "inventory": pd.DataFrame(items).reindex(columns=columns),
        "refused": pd.DataFrame([attrs.asdict(r) for r in found.refused]),
        "skipped": case.skipped.orderBy("file", "start").toPandas(),
    }
