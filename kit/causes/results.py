"""What `kit.triage` found, kept in the workspace: findings in every language, the tables of charts. Needs no Spark."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from kit.causes.findings import Finding
from kit.evidence import workspace as ws
from kit.i18n import LANGS, Lang

if TYPE_CHECKING:
    from kit.case.case import Case


def key(case: Case) -> str:
    """Return the name of the results' folder, from everything that results depend on."""
    place = hashlib.sha256(str(case.path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"results/{ws.code_hash()}-{case.options.digest()}-{place}"


def _folder(case: Case, run: str | None) -> Path | None:
    """Return the folder of the results of this case, else of those of this run, None before a triage."""
    whole = case.workspace.table(key(case))
    return whole or (case.workspace.table(f"{key(case)}{ws.RUN_ONLY}{run}") if run else None)


@contextlib.contextmanager
def one_run() -> Iterator[None]:
    """Let processes started in the block see results in which a cause failed; no others do."""
    before = os.environ.get(ws.RUN)
    os.environ[ws.RUN] = before or secrets.token_hex(8)
    try:
        yield
    finally:
        if before is None:
            del os.environ[ws.RUN]


def load(case: Case, lang: Lang | None = None) -> dict[str, Any] | None:
    """Return the findings of an earlier triage in `lang`, None if absent."""
    folder = _folder(case, os.environ.get(ws.RUN))
    return json.loads((folder / f"findings-{lang or case.lang}.json").read_text(encoding="utf-8")) if folder else None


def save(
    case: Case,
    findings: Sequence[Finding],
    documents: dict[Lang, dict[str, Any]],
    shared: Mapping[str, pd.DataFrame] | None = None,
) -> None:
    """Store findings.json in every language and every result table. Of two triages at once the first one is kept.

    `shared`: tables that belong to no single cause. If something failed, the results are kept for this run only.
    """
    tables = {name: _parquet(frame) for name, frame in (shared or {}).items()}
    for finding in findings:
        for name, frame in finding.tables.items():
            with case.noting(f"{finding.cause}: {name}"):
                tables[name if name not in tables else f"{finding.cause}_{name}"] = _parquet(frame)
    name, case.run = key(case), None
    if case.failures:
        case.run = os.environ.get(ws.RUN) or secrets.token_hex(8)
        name = f"{name}{ws.RUN_ONLY}{case.run}"
        case.workspace.forget(name)
        atexit.register(case.workspace.forget, name)
    with case.workspace.writing(name) as part:
        if part is None:
            return
        for lang in LANGS:
            text = json.dumps(documents[lang], ensure_ascii=False, indent=1)
            (part / f"findings-{lang}.json").write_text(text, encoding="utf-8")
        (part / "tables").mkdir()
        for name, content in tables.items():
            (part / "tables" / f"{name}.parquet").write_bytes(content)


def _parquet(frame: pd.DataFrame) -> bytes:
    plain = frame.copy()
    for column in plain.select_dtypes("object").columns:
        # A mixed column (numbers and texts of a comparison) has no Parquet type.
        if len({type(v) for v in plain[column].dropna()}) > 1:
            plain[column] = [None if v is None else str(v) for v in plain[column]]
    return plain.to_parquet(index=False)


def names(case: Case) -> list[str]:
    """Return the result tables in order of name; [] before a triage."""
    folder = _folder(case, case.run or os.environ.get(ws.RUN))
    return sorted(p.name.removesuffix(".parquet") for p in (folder / "tables").glob("*.parquet")) if folder else []


def table(case: Case, name: str) -> pd.DataFrame:
    """Return one result table; an empty frame if the causes left none of that name."""
    folder = _folder(case, case.run or os.environ.get(ws.RUN))
    path = None if folder is None else folder / "tables" / f"{name}.parquet"
    return pd.read_parquet(path) if path is not None and path.exists() else pd.DataFrame()
