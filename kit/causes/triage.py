"""Every cause asked on one case: `triage` gives findings.json."""

from __future__ import annotations

import datetime as dt
import logging
import math
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import kit
from kit import causes
from kit.causes import collect_next, consequences, known_problems, results, timeline
from kit.causes.findings import Finding
from kit.i18n import LANGS, Lang

if TYPE_CHECKING:
    from kit.case.case import Case
    from kit.causes import Cause
    from kit.inventory.model import Item

SCHEMA: Final = 1
WORKERS: Final = 3
"""Causes asked at once: most of their time is waiting for Spark."""

log = logging.getLogger(__name__)


class CauseFailed(RuntimeError):
    """A cause broke; what the others found is kept. Names them."""


def triage(case: Case, lang: Lang | None = None, *, strict: bool = True) -> dict[str, Any]:
    """Ask every cause and return findings.json (schema 1) as a dict, in the case's language unless `lang` is given.

    What an earlier run with the same code, evidence and options found is returned as it was. A cause that breaks does
    not keep the others from
    answering: with `strict` the call then raises `CauseFailed` after all are done, else it goes on without that cause.
    """
    known = results.load(case, lang)
    if known is not None:
        return known
    try:
        return _triage(case, lang, strict=strict)
    finally:
        case.progress.end()


def _triage(case: Case, lang: Lang | None, *, strict: bool) -> dict[str, Any]:
    case.progress.begin("reading")
    case.warm()
    case.build("messages", "logs")
    case.spark  # noqa: B018 - a cause's columns need the session, not only its questions
    findings, failed = _ask(case)
    collect_next.placed(case, findings)
    documents = {each: document(case, findings, each) for each in LANGS}
    if not failed:
        results.save(case, findings, documents, {timeline.TABLE: timeline.table(case, findings)})
    elif strict:
        raise CauseFailed("\n".join(failed))
    return documents[lang or case.lang]


def _ask(case: Case) -> tuple[list[Finding], list[str]]:
    failed: list[str] = []

    def ask(cause: Cause) -> Finding | None:
        try:
            return cause.examine(case)
        except Exception:
            log.exception("%s failed", cause.SLUG)
            failed.append(f"{cause.SLUG}:\n{traceback.format_exc()}")
            return None
        finally:
            case.progress.step()

    every = causes.discover()
    case.progress.begin("asking", len(every))
    with ThreadPoolExecutor(WORKERS) as pool:
        answers = [a for a in pool.map(ask, every) if a is not None]
    try:
        answers += known_problems.examine(case)
    except Exception:
        log.exception("known problems failed")
        failed.append(f"known-problems:\n{traceback.format_exc()}")
    return answers, sorted(failed)


def document(case: Case, findings: list[Finding], lang: Lang) -> dict[str, Any]:
    """Return findings.json: no run times, everything in a fixed order, so that the same evidence gives the same
    bytes.
    """
    found = case.inventory
    explained = consequences.explained_by(findings)
    return {
        "schema": SCHEMA,
        "kit_version": kit.__version__,
        "evidence": {
            "path": case.name,
            "files": [file(item) for item in sorted(found.items, key=lambda i: i.file)],
            "not_recognised": list(found.not_recognised),
        },
        "root_causes": [f.cause for f in consequences.ordered(findings, explained)],
        "findings": [plain(f.as_dict(lang, explained.get(f.cause, ()))) for f in findings],
    }


def plain(value: Any) -> Any:
    """Return what JSON can hold: numbers out of frames as Python's, a number that is none as null, times as ISO
    8601.
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if hasattr(value, "item") and not isinstance(value, str):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dt.datetime):
        return _iso(value if value.tzinfo else value.replace(tzinfo=dt.UTC))
    return value


def file(item: Item) -> dict[str, Any]:
    """Return a file as findings.json lists it."""
    return {
        "file": item.file,
        "kind": item.kind,
        "bytes": item.bytes,
        "sha256": item.sha256,
        "first": _iso(item.first),
        "last": _iso(item.last),
        "replica_of": item.replica_of,
    }


def _iso(at: dt.datetime | None) -> str | None:
    return None if at is None else at.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
