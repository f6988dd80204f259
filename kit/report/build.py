"""Put a report together: triage → findings.json, tables, notebooks → report.html and manifest.json."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd
import pyarrow.dataset as ds

from kit.analysis import noise
from kit.i18n import Lang
from kit.report import html, manifest, notebooks
from kit.report.labels import SKIPPED

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
) -> Path:
    """Write `out/report.html` and `out/manifest.json` from findings and executed notebooks; return the page's path.

    `tables` may hold `inventory`, `damage` and `skipped` (the evidence appendix). Same arguments, same bytes of the
    page.
    `started`: when the work began, for the manifest's `run` block.
    """
    started = started or dt.datetime.now(dt.UTC)
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
    import kit
    from kit.report import redacted, write

    started = dt.datetime.now(dt.UTC)
    findings = kit.triage(case)
    if redact:
        return redacted.run(case, findings, out, cause, started)
    write.findings(findings, out / "findings.json")
    write.tables(case, out / "tables")
    executed = notebooks.execute(notebooks.chosen(findings, cause), out / "notebooks", parameters(case))
    return build(findings, evidence_tables(case), executed, out, case.lang, declared(case, cause), started)


def parameters(case: Case) -> dict[str, Any]:
    """Return what the notebooks of a case are run with."""
    return {
        "evidence": str(case.path.resolve()),
        # The folder all workspaces are in, as `open_case` takes it.
        "workspace": str(case.workspace.folder.parents[1]),
        "lang": case.lang,
        "interactive": False,
        "options": options(case),
    }


def declared(case: Case, cause: str) -> dict[str, Any]:
    """Return the options of a report, as the command line spells them."""
    return options(case) | ({} if cause == "auto" else {"cause": cause})


def options(case: Case) -> dict[str, Any]:
    """Return what the user declared and what changes results, as the command line spells it."""
    said = {
        name: value for name, value in attrs.asdict(case.options).items() if value and name not in ("master", "remote")
    }
    return {
        name: value.isoformat()
        if isinstance(value, dt.datetime)
        else list(value)
        if isinstance(value, tuple)
        else value
        for name, value in said.items()
    }


def evidence_tables(case: Case) -> dict[str, pd.DataFrame]:
    """Return what was read and what was not, without Spark: `inventory`, `damage` (each place), `skipped` (by reason),
    `harmless` (texts known as such).
    """
    items = pd.DataFrame([attrs.asdict(item, recurse=False) for item in case.inventory.items])
    columns = ["file", "kind", "source", "bytes", "first", "last", "zone", "replica_of", "sha256"]
    damage = pd.DataFrame([(d.file, str(d)) for d in case.damage()], columns=pd.Index(["file", "reason"]))
    ranges = (
        ds.dataset(case.folder("skipped"), format="parquet")
        .to_table(columns=["file", "start", "end", "reason"])
        .to_pandas()
    )
    reasons = {name: text.in_(case.lang) for name, text in SKIPPED.items()}
    ranges = ranges.assign(bytes=ranges["end"] - ranges["start"], reason=[reasons.get(r, r) for r in ranges["reason"]])
    skipped = ranges.groupby("reason", as_index=False).agg(
        files=("file", "nunique"), ranges=("start", "size"), bytes=("bytes", "sum")
    )
    harmless = noise.seen(case, case.lang)[list(noise.SHOWN)]
    return {"inventory": items.reindex(columns=columns), "damage": damage, "skipped": skipped, "harmless": harmless}
