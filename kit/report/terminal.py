"""What the commands print: plain tables for a terminal, with control characters stripped from all evidence."""

from __future__ import annotations

import datetime as dt
import io
import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kit.causes.findings import VERDICTS
from kit.charts.safe_text import brief
from kit.formats.printed_times import is_local, iso
from kit.i18n import Lang, Sentence, T, labels, on_clock, printable
from kit.inventory import zones
from kit.report.console import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kit.inventory.inventory import Inventory
    from kit.inventory.model import Item

TEXTS: Final = labels("report")["terminal"]


NARROW: Final = 120
"""Columns below which the table of files has none left for their names."""

ORDER = ("confirmed", "suspected", "failed", "insufficient_evidence", "ruled_out")


STYLES: Final = {"confirmed": "bold red", "suspected": "yellow", "failed": "magenta"}
FOLDED: Final = labels("report")["terminal folded"]


def verdicts(findings: dict[str, Any], lang: Lang, *, verbose: bool = False) -> str:
    """Return what holds as a table, what does not as a line each (`verbose`: as rows), what to collect, and last the root cause and what to do."""
    table = sheet(TEXTS["cause"], TEXTS["verdict"], TEXTS["reason"], TEXTS["where"], lang=lang)
    ranked = sorted(
        findings["findings"], key=lambda f: (ORDER.index(f["verdict"]), f["kind"] != "root_cause", f["cause"])
    )
    for finding in ranked:
        if verbose or finding["verdict"] not in FOLDED:
            verdict = Text(VERDICTS[finding["verdict"]].in_(lang), STYLES.get(finding["verdict"], "dim"))
            table.add_row(cell(finding["cause"]), verdict, cell(finding["summary"]), cell(_first(finding)))
    parts = [printed(table).rstrip()] if table.row_count else []
    counts = Counter(f["verdict"] for f in ranked)
    if not verbose:
        parts += [text.say(count=counts[verdict]).render(lang) for verdict, text in FOLDED.items() if counts[verdict]]
    parts += filter(None, (zone_warning(findings, lang), _wanted(ranked, lang, None if verbose else BRIEFLY)))
    return "\n\n".join(filter(None, [*parts, closing(findings, lang), next_command(findings, lang)]))


BRIEFLY: Final = 4
"""How many requests are shown: the first are those of the likeliest causes."""


def next_command(findings: dict[str, Any], lang: Lang) -> str:
    """Return the command that shows the evidence behind the verdicts, "" for what was pasted."""
    if findings["evidence"]["path"] == "-":
        return ""
    path = shlex.quote(findings["evidence"]["path"])
    return printable(TEXTS["read_on"].say(command=f"rmq-kit report {path} --out report/").render(lang))


NAMED: Final = 3
"""Most files that a warning names."""


def zone_warning(findings: Mapping[str, Any], lang: Lang) -> str | None:
    """Return the warning that times of findings.json are local ones, None if all have a zone."""
    local = [f for f in findings["evidence"]["files"] if is_local(f["first"])]
    if not local:
        return None
    files: Sentence | str = ", ".join(f["file"] for f in local[:NAMED])
    if len(local) > NAMED:
        files = TEXTS["and_more"].say(files=files, more=len(local) - NAMED)
    first = iso(local[0]["first"])
    instant = first - dt.timedelta(hours=8)
    said = TEXTS["zone_unknown"].say(files=files, local=f"{first:%H:%M:%S}", utc=f"{instant:%H:%M:%S}")
    with on_clock(None):
        return wrapped(said.render(lang))


def closing(findings: dict[str, Any], lang: Lang) -> str:
    """Return what was found in three lines: the cause, its one sentence, what to do next."""
    roots = [f for f in findings["findings"] if f["kind"] == "root_cause"]
    confirmed = [f for slug in findings["root_causes"] for f in roots if f["cause"] == slug]
    first = confirmed or [f for f in roots if f["verdict"] == "suspected"]
    named = ", ".join(f["cause"] for f in first)
    lines = [
        (TEXTS["found"] if confirmed else TEXTS["perhaps"]).say(causes=named).render(lang)
        if first
        else TEXTS["nothing_found"].in_(lang)
    ]
    lines += [first[0]["summary"]] if first else []
    actions = [TEXTS["do_next"].say(action=brief(r["action"])) for f in first for r in f["remedies"]]
    wanted = [
        TEXTS["to_collect"].say(artefact=m["artefact"]) for f in first or findings["findings"] for m in f["missing"]
    ]
    lines += [said.render(lang) for said in (actions if confirmed else wanted)[:1]]
    return "\n".join(wrapped(cell(line).plain) for line in lines)


def _first(finding: dict[str, Any]) -> str:
    refs = [ref for step in finding["steps"] if step["holds"] for ref in step["evidence"]]
    if not refs:
        return ""
    return (
        f"{refs[0]['file']}:{refs[0]['line']}"
        if "line" in refs[0]
        else f"{refs[0]['file']}@{refs[0]['physical_offset']}"
    )


def _wanted(ranked: Iterable[dict[str, Any]], lang: Lang, most: int | None) -> str:
    """Return each request once, those of the most likely causes first, at most `most`."""
    wanted: dict[str, str] = {}
    for finding in ranked:
        if finding["verdict"] in ("suspected", "insufficient_evidence") or finding["missing"]:
            for missing in finding["missing"]:
                request = wrapped(f"  {missing['artefact']}: {missing['why']}")
                wanted.setdefault(missing["command"], f"{request}\n      {missing['command']}")
    return "\n".join([TEXTS["next"].in_(lang), *list(wanted.values())[:most]]) if wanted else ""


def inventory(found: Inventory, lang: Lang) -> str:
    """Return one row per file, those not recognised or refused last; on a terminal too narrow for the table two lines per file."""
    rows = [[item.file, *_about(item, lang)] for item in found.items]
    rows += [[name, TEXTS["not_recognised"].in_(lang)] for name in found.not_recognised]
    rows += [[refused.file, TEXTS["refused"].say(reason=refused.say(lang)).render(lang)] for refused in found.refused]
    if width() < NARROW:
        lines = (wrapped(f"{row[0]}\n    {' · '.join(filter(None, row[1:]))}") for row in rows)
        return "\n".join(cell(line).plain for text in lines for line in text.split("\n"))
    table = sheet(
        TEXTS["file"],
        TEXTS["kind"],
        TEXTS["bytes"],
        TEXTS["first"],
        TEXTS["last"],
        TEXTS["zone"],
        T("SHA-256", "SHA-256"),
        TEXTS["replica"],
        lang=lang,
    )
    for row in rows:
        table.add_row(*map(cell, row))
    return printed(table)


def _about(item: Item, lang: Lang) -> list[str]:
    times = (
        t.isoformat(sep=" ", timespec="seconds").removesuffix("+00:00") if t else "" for t in (item.first, item.last)
    )
    kind = f"{item.kind} ({item.source})" if item.source else item.kind
    zone = TEXTS["local_time"].in_(lang) if zones.unknown(item) else item.zone or ""
    return [kind, f"{item.bytes:,}", *times, zone, (item.sha256 or "")[:16], item.replica_of or ""]


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


def width() -> int:
    """Return the columns of the terminal, 160 where there is none."""
    return max(60, shutil.get_terminal_size((160, 50)).columns)


def printed(table: Table) -> str:
    """Return a table as wide as the terminal; in colour on a terminal, unless NO_COLOR is set."""
    out = io.StringIO()
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    system: Literal["standard"] | None = "standard" if coloured else None
    Console(file=out, width=width(), color_system=system, force_terminal=coloured, legacy_windows=False).print(table)
    return out.getvalue()
