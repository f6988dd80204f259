"""Tables of the page that belong to no cause: what was undecided or ruled out, the evidence by kind and by file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from kit.causes import look_alikes
from kit.charts.table import Table
from kit.i18n import Lang, T
from kit.report.labels import COLUMNS, PAGE


def verdict_table(views: list[dict[str, Any]], lang: Lang) -> dict[str, Any]:
    rows = [(view["title"], view["summary"]) for view in views]
    names = (PAGE["cause"].in_(lang), PAGE["reason"].in_(lang))
    return Table(pd.DataFrame(rows, columns=pd.Index(names)), PAGE["undecided"], lang=lang).as_dict()


def excluded(views: list[dict[str, Any]], lang: Lang) -> dict[str, Any] | None:
    """Return the causes ruled out, each with what refutes it."""
    rows = [(v["title"], v["summary"]) for v in views]
    names = (PAGE["cause"].in_(lang), PAGE["reason"].in_(lang))
    return Table(pd.DataFrame(rows, columns=pd.Index(names)), PAGE["ruled_out"], lang=lang).as_dict() if rows else None


def _files(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row per file, times to the second, without empty columns."""
    frame = tables.get("inventory")
    if frame is None:
        frame = pd.DataFrame(
            findings["evidence"]["files"],
            columns=pd.Index(["file", "kind", "bytes", "first", "last", "sha256", "replica_of"]),
        )
    if "source" in frame:
        pairs = zip(frame["kind"], frame["source"], strict=True)
        frame = frame.assign(
            kind=[
                kind if source in (None, kind) or source != source else f"{kind} ({source})" for kind, source in pairs
            ]
        )
        frame = frame.drop(columns="source")
    times = {name: pd.to_datetime(frame[name], utc=True, format="ISO8601") for name in ("first", "last")}
    return frame.assign(**times)


def kinds(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any]:
    """Return the evidence by kind: files, bytes, first and last time."""
    frame = _files(findings, tables)
    by = frame.groupby("kind", as_index=False).agg(
        files=("file", "size"), bytes=("bytes", "sum"), first=("first", "min"), last=("last", "max")
    )
    return Table(by, PAGE["kinds"], COLUMNS, lang).as_dict()


def inventory(findings: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any]:
    frame = _files(findings, tables)
    frame = frame.dropna(axis="columns", how="all") if len(frame) else frame
    if "sha256" in frame:
        frame = frame.assign(sha256=frame["sha256"].str[:16])
    return Table(frame, PAGE["inventory"], COLUMNS, lang, max_rows=500).as_dict()


def apart(slugs: Sequence[str], lang: Lang) -> dict[str, Any] | None:
    frame = look_alikes.frame(lang, slugs)
    return None if frame.empty else Table(frame, PAGE["look_alikes"], look_alikes.COLUMNS, lang, max_rows=200).as_dict()


def maybe(
    tables: Mapping[str, pd.DataFrame], name: str, caption: str, lang: Lang, heads: Mapping[str, T] = COLUMNS
) -> dict[str, Any] | None:
    frame = tables.get(name)
    if frame is None or frame.empty:
        return None
    return Table(frame, caption, heads, lang, max_rows=200).as_dict()


def skipped(tables: Mapping[str, pd.DataFrame], lang: Lang) -> dict[str, Any] | bool | None:
    """Return the skipped ranges; False if nothing was skipped, None if they were not determined."""
    if "skipped" not in tables:
        return None
    return maybe(tables, "skipped", PAGE["skipped"].in_(lang), lang) or False
