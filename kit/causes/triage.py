"""Examine one case for every cause: `triage` returns findings.json, with which confirmed cause explains which."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import kit
from kit import causes
from kit.case import bug_report
from kit.causes import Cause, collect_next, declared, known_problems, results, shown_by, timeline
from kit.causes.findings import Finding
from kit.formats.printed_times import local_text, utc, utc_text
from kit.i18n import LANGS, Lang, labels, on_clock
from kit.inventory import zones
from kit.inventory.model import Item

if TYPE_CHECKING:
    from kit.case.case import Case

SCHEMA: Final = 1
WORKERS: Final = 4
"""Causes examined at once: they mostly wait for Spark, the first ones for the tables of records and logs too."""
LONGEST: Final = (
    "transaction-consistency", "half-topic-blowup", "broker-busy", "producer-retry-duplicate", "message-identity",
    "message-size-mismatch", "replica-loss",
)  # fmt: skip
"""Causes that read most of a large store, the longest first: they begin before those that wait for what these read."""


SAYS: Final = labels("causes")["triage"]


def triage(case: Case, lang: Lang | None = None) -> dict[str, Any]:
    """Examine every cause; return findings.json (schema 1) as a dict, in the case's language unless `lang` is given.

    An earlier result of the same code, evidence and options is returned. A cause that breaks has the verdict `failed`:
    `case.failures` and bug-report.txt in the workspace say more, and the next run examines it again.
    """
    known = results.load(case, lang)
    if known is not None:
        return known
    case.failures.clear()
    try:
        return _triage(case, lang)
    finally:
        case.progress.end()


def _triage(case: Case, lang: Lang | None) -> dict[str, Any]:
    case.progress.begin("reading")
    case.warm()
    findings = _ask(case)
    with case.noting("collect next"):
        collect_next.placed(case.facts, findings)
    with on_clock(case.clock):
        documents = {each: document(case, findings, each) for each in LANGS}
    shared = {}
    with case.noting(timeline.TABLE):
        shared[timeline.TABLE] = timeline.table(case.facts, findings)
    results.save(case, findings, documents, shared)
    if case.failures:
        bug_report.write(case.workspace.folder, case)
    return documents[lang or case.lang]


def _ask(case: Case) -> list[Finding]:
    def ask(cause: Cause) -> Finding:
        case.check_cancelled()
        try:
            with case.noting(cause.slug):
                return _weighed(case, declared.examine(case.facts, cause))
            failure = next(failure for failure in case.failures if failure.what == cause.slug)
            summary = SAYS["failed"].say(type=failure.type, where=failure.where)
            return Finding(cause.slug, cause.kind, cause.title, summary, error=failure.as_dict())
        finally:
            case.progress.begin("asking", len(every))
            case.progress.step()

    every = causes.discover()
    turns = sorted(every, key=lambda cause: LONGEST.index(cause.slug) if cause.slug in LONGEST else len(LONGEST))
    with ThreadPoolExecutor(WORKERS) as pool:
        pool.submit(case.folder, "logs")  # causes begin with the records; who needs the logs gets their error again
        by_cause = {finding.cause: finding for finding in pool.map(ask, turns)}
    answers = [by_cause[cause.slug] for cause in every]
    with case.noting("known problems"):
        problems = known_problems.examine(case.facts)
        problems += known_problems.unrecognised(case.facts, [*answers, *problems])
        return folded(answers, [_weighed(case, finding) for finding in problems])
    return answers


def _weighed(case: Case, finding: Finding) -> Finding:
    """Return the finding as `shown_by` weighs it, with the clock of its window: local where a file it refers to has no
    known zone. A missing value of a sentence in any language raises here, for this cause only.
    """
    finding = shown_by.weighed(case.facts, finding)
    quoted = {ref.file for step in finding.steps if step.holds for ref in step.evidence}
    finding.local = not case.local_files.isdisjoint(finding.window_of or quoted)
    for lang in LANGS:
        json.dumps(plain(finding.as_dict(lang)), allow_nan=False)
    return finding


def document(case: Case, findings: list[Finding], lang: Lang) -> dict[str, Any]:
    """Return findings.json in a fixed order and without run times: the same evidence gives the same bytes."""
    inventory = case.inventory
    explained = explained_by(findings)
    return {
        "schema": SCHEMA,
        "kit_version": kit.__version__,
        "evidence": {
            "path": case.name,
            "files": [file(item) for item in sorted(inventory.items, key=lambda i: i.file)],
            "not_recognised": list(inventory.not_recognised),
            "unreadable": [{"file": r.file, "reason": r.say(lang)} for r in case.unread()],
            **({"undated": undated} if (undated := case.undated) else {}),
        },
        "root_causes": [f.cause for f in ordered(findings, explained)],
        "findings": [plain(f.as_dict(lang, explained.get(f.cause, ()))) for f in findings],
    }


def plain(value: Any) -> Any:
    """Return a value for JSON: numpy numbers as Python's, NaN and infinity as null, times as ISO 8601."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dt.datetime):
        return utc_text(value)
    return value


def file(item: Item) -> dict[str, Any]:
    text = local_text if zones.unknown(item) else utc_text
    return {
        "file": item.file, "kind": item.kind, "bytes": item.bytes, "sha256": item.sha256,
        **{name: None if at is None else text(at) for name, at in (("first", item.first), ("last", item.last))},
        "replica_of": item.replica_of,
    }  # fmt: skip


def explained_by(findings: Sequence[Finding]) -> dict[str, tuple[str, ...]]:
    """Return {cause: the confirmed causes it follows from}, for the causes seen: those that lead to it, or that its
    finding names, unless it was over before they began.
    """
    confirmed = [f for f in findings if f.verdict == "confirmed"]
    seen = {f.cause: f for f in findings if f.verdict in ("confirmed", "suspected")}
    results = {cause.slug: cause.leads_to for cause in causes.discover()}

    def explains(cause: Finding, result: Finding) -> bool:
        leads = result.cause in results.get(cause.cause, ()) or cause.cause in result.consequence_of
        if cause.window is None or result.window is None or cause.local != result.local:
            return leads  # unknown times allow it
        return leads and utc(result.window[1]) >= utc(cause.window[0])

    return {slug: tuple(sorted(f.cause for f in confirmed if explains(f, finding))) for slug, finding in seen.items()}


def folded(answers: Sequence[Finding], problems: Sequence[Finding]) -> list[Finding]:
    """Return the causes with those known problems whose lines no confirmed cause explains."""
    explained = explained_by([*answers, *problems])
    return [*answers, *(each for each in problems if each.verdict == "confirmed" or not explained.get(each.cause))]


def ordered(findings: Sequence[Finding], explained: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Return the confirmed root causes: each before those it explains, then by harm."""
    confirmed = {f.cause: f for f in findings if f.kind == "root_cause" and f.verdict == "confirmed"}
    explaining = {cause for slug in confirmed for cause in explained.get(slug, ())}

    def depth(slug: str, before: frozenset[str] = frozenset()) -> int:
        """Return how many causes precede this one; cycles are cut."""
        earlier = [c for c in explained.get(slug, ()) if c in confirmed and c not in before]
        return max((depth(c, before | {slug}) + 1 for c in earlier), default=0)

    return sorted(confirmed.values(), key=lambda f: (depth(f.cause), f.cause not in explaining, *harm(f)))


def harm(finding: Finding) -> tuple[int, int, int, str]:
    """Order by harm: most lost messages, then repeated, then pending, then slug."""
    declared = causes.figures()

    def total(kind: str) -> int:
        values = (finding.figures.get(name) for name, figure in declared.items() if figure.harm == kind)
        return sum(v for v in values if isinstance(v, int) and not isinstance(v, bool))

    return -total("lost"), -total("repeated"), -total("pending"), finding.cause
