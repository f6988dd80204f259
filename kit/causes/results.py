"""What `kit.triage` found, kept in the workspace: findings in every language and the small tables behind the charts.
Reading them needs no Spark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from kit.evidence import workspace as ws
from kit.i18n import LANGS, Lang
from kit.spark.sessions import uri

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.causes.findings import Finding


def key(case: Case) -> str:
    """Name of the results' folder: other code, options or zones give other results."""
    return f"results/{ws.code_hash()}-{case.options.digest()}"


def load(case: Case, lang: Lang | None = None) -> dict[str, Any] | None:
    """Return the findings of an earlier triage in `lang`, None where there are none."""
    folder = case.workspace.table(key(case))
    return (
        None
        if folder is None
        else json.loads((folder / f"findings-{lang or case.lang}.json").read_text(encoding="utf-8"))
    )


def save(
    case: Case,
    findings: Sequence[Finding],
    documents: dict[Lang, dict[str, Any]],
    shared: Mapping[str, pd.DataFrame] | None = None,
) -> None:
    """Keep findings.json in every language and every result table. Two triages at once: the first one stays.

    `shared`: tables that belong to no single cause.
    """
    with case.workspace.writing(key(case)) as part:
        if part is None:
            return
        for lang in LANGS:
            (part / f"findings-{lang}.json").write_text(
                json.dumps(documents[lang], ensure_ascii=False, indent=1), encoding="utf-8"
            )
        (part / "tables").mkdir()
        for name, frame in (shared or {}).items():
            _write(frame, part / "tables" / f"{_safe(name)}.parquet")
        taken: set[str] = set(shared or {})
        for finding in findings:
            for name, frame in finding.tables.items():
                unique = name if name not in taken else f"{finding.cause}_{name}"
                taken.add(unique)
                _write(frame, part / "tables" / f"{_safe(unique)}.parquet")


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def _write(frame: Any, path: Path) -> None:
    if isinstance(frame, pd.DataFrame):
        plain = frame.copy()
        for column in plain.select_dtypes("object").columns:
            # A mixed column (numbers and texts of a comparison) has no Parquet type.
            kinds = {type(v) for v in plain[column].dropna()}
            if len(kinds) > 1:
                plain[column] = [None if v is None else str(v) for v in plain[column]]
        plain.to_parquet(path, index=False)
    else:
        frame.write.parquet(uri(path))


def names(case: Case) -> list[str]:
    """Return the result tables in order of name; [] before a triage."""
    folder = case.workspace.table(key(case))
    return (
        [] if folder is None else sorted(p.name.removesuffix(".parquet") for p in (folder / "tables").glob("*.parquet"))
    )


def table(case: Case, name: str) -> pd.DataFrame:
    """Return one result table; an empty frame where the causes left none of that name."""
    folder = case.workspace.table(key(case))
    path = None if folder is None else folder / "tables" / f"{_safe(name)}.parquet"
    return pd.read_parquet(path) if path is not None and path.exists() else pd.DataFrame()
