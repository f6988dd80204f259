"""What `msgid`, `size` and `trace` print, and the tables of every command. Imports neither Spark nor pandas."""

import io
import itertools
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kit.data import grouped
from kit.i18n import Lang, headings, labels, printable, rendered
from kit.rocketmq.ids import BadId, IdInfo, fields

SHOWN: Final = 40
"""How many places of a message are shown; --json has all."""
WIDE: Final = 160

KINDS: Final = labels("explanation")["id kinds"] | labels("report")["console kinds"]
SURE: Final = labels("report")["console sure"]
FIELDS: Final = labels("charts")["ids parts"]
TEXTS: Final = labels("report")["console"]
SIZES: Final = headings() | labels("report")["sizes"]
REFUSED: Final = labels("report")["sizes refused"]
MEASURED: Final = labels("report")["sizes measured"]


def table(rows: Iterable[Sequence[str | Text]], heads: Sequence[str] = (), right: Collection[int] = ()) -> str:
    """Return rows in columns as wide as the terminal, those in `right` (from 0) right-aligned.

    Text is never markup: `[bold]` or an escape sequence in a file name stays literal.
    """
    cells = [[each if isinstance(each, Text) else Text(printable(each)) for each in row] for row in rows]
    drawn = Table(box=None, pad_edge=False, header_style="bold", show_header=bool(heads))
    for n in range(max([len(heads), *map(len, cells)])):
        drawn.add_column(heads[n] if heads else "", overflow="fold", justify="right" if n in right else "left")
    for row in cells:
        drawn.add_row(*row)
    out, coloured = io.StringIO(), sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    screen = Console(
        file=out, width=shutil.get_terminal_size((WIDE, 50)).columns, force_terminal=coloured,
        color_system="standard" if coloured else None, legacy_windows=False,
    )  # fmt: skip
    screen.print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def command(program: str, evidence: str, options: Mapping[str, Any]) -> str:
    """Return a command line on some evidence, quoted for a POSIX shell; options without a value are left out."""
    words = [program, shlex.quote(evidence)]
    for name, value in options.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one not in (None, False, ""):
                words += [f"--{name.replace('_', '-')}", *([] if one is True else [shlex.quote(str(one))])]
    return " ".join(words)


def decoded(info: IdInfo | BadId, lang: Lang) -> str:
    if isinstance(info, BadId):
        return printable(rendered(info.sentence, lang))
    named = [(FIELDS[name].in_(lang) if name in FIELDS else name, value) for name, value in fields(info)]
    lines = [
        info.text,
        f"  {KINDS[info.kind].in_(lang)} ({SURE[info.how_sure].in_(lang)}: {rendered(info.why, lang)})",
        *(f"  {line}" for line in table(named).splitlines()),
    ]
    times = [(sent.at.isoformat(sep=" ", timespec="milliseconds"), str(sent.zone)) for sent in info.times]
    lines += ["  " + TEXTS["sent"].say(utc=at.removesuffix("+00:00"), zone=zone).render(lang) for at, zone in times]
    lines += ["  · " + rendered(note, lang) for note in info.notes]
    return "\n".join(map(printable, lines)) + "\n"


def size(spec: Mapping[str, Any], lang: Lang, *, broker: bool, client: bool, group: bool) -> str:
    """Return `kit.rocketmq.size.rewrites` as text; `broker`, `client`, `group`: whether it was given, not assumed."""
    version, limit = spec["broker"], spec["limit"]
    what = MEASURED[spec["rule"]].say(limit=limit, more=limit + 65536)
    lines = [
        SIZES["given" if broker else "assumed"].say(version=version),
        SIZES["measures"].say(what=what, check_max=spec["check_max"]),
        *([] if broker else [SIZES["before"].say()]),
        *([] if client else [SIZES["client"].say(version=version)]),
        *([] if group else [SIZES["group"].say()]),
    ]
    heads = [SIZES[name].in_(lang) for name in ("stage", "topic", "bytes", "growth", "left", "verdict")]
    rows = []
    for row in spec["rows"]:
        refused = ", ".join(REFUSED[why].in_(lang) for why in row["refused"]) or SIZES["yes"].in_(lang)
        left = f"{limit - row['bytes']:,}" if spec["rule"] == "total" else ""
        topic = row["topic"] if len(row["topic"]) <= 40 else f"{row['topic'][:39]}…"
        rows.append([row["text"].render(lang), topic, f"{row['bytes']:,}", f"+{row['growth']:,}", left, refused])
    ends = []
    for name in ("safe_stored_body", "safe_plain_body", "max_message_size"):
        largest = SIZES["no_body"] if spec[name] is None else spec[name]
        ends.append(SIZES[name].say(bytes=largest).render(lang))
    return " ".join(s.render(lang) for s in lines) + "\n\n" + table(rows, heads, (2, 3, 4)) + "\n" + "\n".join(ends)


PLACES: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "ops": lambda op: (
        f"{_when(op['store_timestamp'])}  → {op['half_offset_msg_id']}  {op['file']}@{op['physical_offset']}"
    ),
    "handled": lambda h: (
        f"{_when(h['time'])}  {h['result'] or '?':<8}  {h['consumer']}  {h['offset_msg_id']}  {h['file']}:{h['line']}"
    ),
    "consumers": lambda c: f"{c['group'] or '–'}  {c['topic'] or '–'}  {c['text']}",
    "traces": lambda t: f"{t['file']}@{t['physical_offset']}  {t['text']}",
    "mentions": lambda m: f"{m['file']}:{m['line']}  {m['text']}",
    "gaps": lambda gap: gap["text"],
}
"""How a row of each part of a message's life is printed."""


def life(document: dict[str, Any], lang: Lang) -> str:
    """Return the life of a message for a terminal. `document`: from `kit.trace`."""
    lines = [f"{document['id']}: {KINDS[document['kind']].in_(lang)}"]
    keys = document["uniq_keys"]
    if len(keys) > 1 or (keys and document["kind"] != "uniq"):
        lines.append("  " + TEXTS["messages"].say(n=len(keys), keys=keys[:8]).render(lang))
    if document["records"]:
        lines += ["", TEXTS["records"].say(n=len(document["records"])).render(lang)]
    for record in _telling(document["records"]):
        if isinstance(record, int):
            lines.append("    " + TEXTS["alike"].say(n=record).render(lang))
            continue
        where = f"{record['offset_msg_id']}  {record['file']}@{record['physical_offset']}"
        lines.append(f"  {_when(record['store_timestamp'])}  {record['stage']:<10}  {record['topic']}  {where}")
        lines.append(f"      {record['why']}")
    for name, line in PLACES.items():
        rows = document[name]
        lines += ["", TEXTS[name].say(n=len(rows)).render(lang)] if rows else []
        lines += [f"  {line(row)}" for row in rows[:SHOWN]]
        lines += ["  " + TEXTS["more"].say(n=len(rows) - SHOWN).render(lang)] if len(rows) > SHOWN else []
    lines += [] if document["gaps"] else ["", TEXTS["no_gaps"].in_(lang)]
    return "\n".join(printable(line)[: 4 * WIDE] for line in "\n".join(lines).split("\n"))


def _telling(records: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any] | int]:
    """Yield the first two and the last copy of each kind, and in between how many are left out."""
    kinds = grouped(((each["stage"], each["topic"], each["why"]), n) for n, each in enumerate(records))
    chosen = sorted({n for places in kinds.values() for n in (*places[:2], places[-1])})
    for before, n in itertools.pairwise([-1, *chosen]):
        if n > before + 1:
            yield n - before - 1
        yield records[n]


def lives(documents: Iterable[dict[str, Any]], lang: Lang) -> str:
    """Return a line for each of several messages: how many copies, where and when the last one is, what is missing."""
    rows = []
    for each in documents:
        gaps = " ".join(gap["text"] for gap in each["gaps"] if gap["kind"] != "unquoted")
        if last := each["records"] and each["records"][-1]:
            copies = TEXTS["copies"].say(n=len(each["records"])).render(lang)
            rows.append((each["id"], copies, _when(last["store_timestamp"]), last["stage"], last["topic"], gaps))
        else:
            mentions = TEXTS["mentions"].say(n=len(each["mentions"])).render(lang)
            rows.append((each["id"], gaps or mentions, "", "", "", ""))
    return table(rows)


def _when(iso: str | None) -> str:
    return f"{(iso or '')[:23].replace('T', ' '):<23}"
