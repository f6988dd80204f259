"""What the commands print: plain tables for a terminal, with control characters stripped from all evidence."""

from __future__ import annotations

import datetime as dt
import io
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kit.causes.findings import VERDICTS
from kit.formats.printed_times import is_local, iso
from kit.i18n import Lang, Sentence, T, on_clock, printable
from kit.inventory import zones

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kit.inventory.inventory import Inventory

CAUSE = T("cause")
VERDICT = T("verdict")
REASON = T("why", "理由")
WHERE = T("first evidence")
NEXT = T("Collect next:")
FILE = T("file")
KIND = T("kind")
BYTES = T("bytes")
FIRST = T("first")
LAST = T("last")
ZONE = T("zone")
LOCAL_TIME = T("unknown: local time")
REPLICA = T("copy of")
NOT_RECOGNISED = T("not recognised")
REFUSED = T("refused: {reason}")

FOUND = T("Root cause: {causes}")
PERHAPS = T("No root cause confirmed. Suspected: {causes}")
NOTHING_FOUND = T("No root cause found in this evidence.")
DO_NEXT = T("Do next: {action}")
TO_COLLECT = T("Collect next: {artefact}")

ORDER = ("confirmed", "suspected", "failed", "insufficient_evidence", "ruled_out")


def verdicts(findings: dict[str, Any], lang: Lang) -> str:
    """Return one table of all causes, confirmed first, then what to collect for the undecided ones."""
    table = sheet(CAUSE, VERDICT, REASON, WHERE, lang=lang)
    ranked = sorted(
        findings["findings"], key=lambda f: (ORDER.index(f["verdict"]), f["kind"] != "root_cause", f["cause"])
    )
    for finding in ranked:
        table.add_row(
            *map(cell, (finding["cause"], VERDICTS[finding["verdict"]].in_(lang), finding["summary"], _first(finding)))
        )
    warning = zone_warning(findings, lang)
    return printed(table) + (f"\n{warning}\n" if warning else "") + _wanted(ranked, lang)


ZONE_UNKNOWN: Final = T(
    "The zone of {files} is not known: these are the local times of {count:its host|their hosts}, joined with nothing else. If {count:that host is|these hosts are} in China, it is +08:00: with --tz-app +08:00 {local} is {utc} UTC."
)
AND_MORE: Final = T("{files} and {more} more {more:file|files}")
NAMED: Final = 3
"""Most files that a warning names."""


def zone_warning(findings: Mapping[str, Any], lang: Lang) -> str | None:
    """Return the warning that times of findings.json are local ones, None if all have a zone."""
    local = [f for f in findings["evidence"]["files"] if is_local(f["first"])]
    if not local:
        return None
    files: Sentence | str = ", ".join(f["file"] for f in local[:NAMED])
    if len(local) > NAMED:
        files = AND_MORE.say(files=files, more=len(local) - NAMED)
    first = iso(local[0]["first"])
    instant = first - dt.timedelta(hours=8)
    said = ZONE_UNKNOWN.say(files=files, count=len(local), local=f"{first:%H:%M:%S}", utc=f"{instant:%H:%M:%S}")
    with on_clock(None):
        return said.render(lang)


def closing(findings: dict[str, Any], lang: Lang) -> str:
    """Return what was found in three lines: the cause, its one sentence, what to do next."""
    roots = [f for f in findings["findings"] if f["kind"] == "root_cause"]
    confirmed = [f for slug in findings["root_causes"] for f in roots if f["cause"] == slug]
    first = confirmed or [f for f in roots if f["verdict"] == "suspected"]
    named = ", ".join(f["cause"] for f in first)
    lines = [(FOUND if confirmed else PERHAPS).say(causes=named).render(lang) if first else NOTHING_FOUND.in_(lang)]
    lines += [first[0]["summary"]] if first else []
    actions = [DO_NEXT.say(action=r["action"]) for f in first for r in f["remedies"]]
    wanted = [TO_COLLECT.say(artefact=m["artefact"]) for f in first or findings["findings"] for m in f["missing"]]
    lines += [said.render(lang) for said in (actions if confirmed else wanted)[:1]]
    return "\n".join(cell(line).plain for line in lines)


def _first(finding: dict[str, Any]) -> str:
    refs = [ref for step in finding["steps"] if step["holds"] for ref in step["evidence"]]
    if not refs:
        return ""
    return (
        f"{refs[0]['file']}:{refs[0]['line']}"
        if "line" in refs[0]
        else f"{refs[0]['file']}@{refs[0]['physical_offset']}"
    )


def _wanted(ranked: Iterable[dict[str, Any]], lang: Lang) -> str:
    """Return each request once, those of the most likely causes first."""
    wanted: dict[str, str] = {}
    for finding in ranked:
        if finding["verdict"] in ("suspected", "insufficient_evidence") or finding["missing"]:
            for missing in finding["missing"]:
                wanted.setdefault(
                    missing["command"], f"  {missing['artefact']}: {missing['why']}\n      {missing['command']}"
                )
    return "\n" + NEXT.in_(lang) + "\n" + "\n".join(list(wanted.values())[:12]) if wanted else ""


def inventory(found: Inventory, lang: Lang) -> str:
    """Return one row per file, those not recognised or refused last."""
    table = sheet(FILE, KIND, BYTES, FIRST, LAST, ZONE, T("SHA-256"), REPLICA, lang=lang)
    for item in found.items:
        span = [
            t.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00") if t else ""
            for t in (item.first, item.last)
        ]
        kind = f"{item.kind} ({item.source})" if item.source else item.kind
        zone = LOCAL_TIME.in_(lang) if zones.unknown(item) else item.zone or ""
        more = (zone, (item.sha256 or "")[:16], item.replica_of or "")
        table.add_row(*map(cell, (item.file, kind, f"{item.bytes:,}", *span, *more)))
    for name in found.not_recognised:
        table.add_row(cell(name), NOT_RECOGNISED.in_(lang))
    for refused in found.refused:
        table.add_row(cell(refused.file), REFUSED.say(reason=refused.say(lang)).render(lang))
    return printed(table)


def counts(rows: Iterable[tuple[str, Any]]) -> str:
    """Return `name  number` lines."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in rows:
        table.add_row(cell(name), f"{value:,}" if isinstance(value, int) else cell(str(value)))
    return printed(table)


def sheet(*heads: T, lang: Lang) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head.in_(lang), overflow="fold")
    return table


def cell(value: str) -> Text:
    """Return text, never markup: `[bold]` or an escape sequence in a file name stays literal."""
    return Text(printable(value))


def printed(table: Table) -> str:
    out = io.StringIO()
    Console(
        file=out, width=max(100, shutil.get_terminal_size((160, 50)).columns), color_system=None, legacy_windows=False
    ).print(table)
    return out.getvalue()
