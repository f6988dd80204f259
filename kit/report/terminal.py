"""What the commands print: plain tables for a terminal, with control characters stripped from all evidence."""

from __future__ import annotations

import io
import shutil
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kit.causes.findings import VERDICTS
from kit.i18n import Lang, T, printable

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
    return printed(table) + _wanted(ranked, lang)


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
        more = (item.zone or "", (item.sha256 or "")[:16], item.replica_of or "")
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
