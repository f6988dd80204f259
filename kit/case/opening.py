"""Open evidence: the public `kit.open_case`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path

from kit.case.case import Case
from kit.case.options import Options, instant
from kit.evidence import workspace as ws
from kit.evidence.remote import fetch, is_remote, without_credentials
from kit.formats.printed_times import converter
from kit.i18n import Lang, labels
from kit.spark import sessions


def open_case(
    evidence: str | Path,
    workspace: str | Path | None = None,
    *,
    lang: Lang = "en",
    tz_broker: str | None = None,
    tz_app: str | None = None,
    since: str | dt.datetime | None = None,
    until: str | dt.datetime | None = None,
    rows: Iterable[str] = (),
    master: str | None = None,
    remote: str | None = None,
) -> Case:
    """Open evidence: a folder, an archive, one file, or a URI of object storage. Nothing is read before a table is
    used.

    `workspace`: folder of the cache (default: the user's); `tz_broker`, `tz_app`: zones of times that have none, as an
    IANA name or `+08:00`;
    `since`, `until`: ISO times that cut every table with times (docs/tables.md); `rows`: `FILE:key=COLUMN,…` for tables
    whose columns are recognised wrongly;
    `master`, `remote`: a Spark cluster. Raise `FileNotFoundError`, `ValueError` (an invalid zone or time),
    `WorkspaceInside`.
    """
    shared = not sessions.is_local(master, remote)
    if workspace is None and shared:
        raise ValueError(labels("case")["opening"]["no_workspace"].render(lang))
    ws.usable(Path(workspace) if workspace is not None else ws.default_base(), lang, shared=shared)
    elsewhere = str(evidence) if is_remote(str(evidence)) else None
    path = fetch(elsewhere, workspace) if elsewhere else Path(evidence)
    # A shell makes "" of an unset variable; it does not mean the current folder.
    if not path.exists() or str(evidence) == "":
        raise FileNotFoundError(2, "No such file or folder", str(evidence))
    base = ws.base(workspace, path)
    for zone in (tz_broker, tz_app):
        converter(zone)
    options = Options(tz_broker, tz_app, instant(since), instant(until), tuple(sorted(rows)), master, remote)
    case = Case(path, Path(workspace) if workspace is not None else None, lang, options)
    case.name = without_credentials(elsewhere) if elsewhere else str(path)
    if elsewhere:
        copies = base / "remote"
        case.uses(next(folder for folder in path.resolve().parents if folder.parent == copies))
    return case
