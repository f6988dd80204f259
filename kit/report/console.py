"""What `msgid` and `trace` print: a decoded id, the life of a message. Imports neither Spark nor pandas."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from rich.cells import cell_len

from kit.i18n import Lang, labels, printable, rendered

SHOWN_MENTIONS: Final = 40
SHOWN_RECORDS: Final = 300
WIDE: Final = 160

KINDS: Final = labels("report")["console kinds"]
SURE: Final = labels("report")["console sure"]
FIELDS: Final = labels("report")["console fields"]
TEXTS: Final = labels("report")["console"]


def ids(report: Iterable[dict[str, Any]], lang: Lang) -> str:
    """Return one block per id; one line for an invalid id. `report`: from `kit.rocketmq.ids.msgid_report`."""
    return "\n".join(_id(row, lang) for row in report)


def _id(row: dict[str, Any], lang: Lang) -> str:
    if "error" in row:
        return printable(rendered(row["error"], lang))
    fields = [(FIELDS[name].in_(lang) if name in FIELDS else name, value) for name, value in row["fields"]]
    lines = [
        row["id"],
        f"  {KINDS[row['kind']].in_(lang)} ({SURE[row['how_sure']].in_(lang)}: {rendered(row['why'], lang)})",
    ]
    lines += [f"  {line}" for line in aligned(fields).split("\n")]
    lines += [
        "  " + TEXTS["sent"].say(utc=t["utc"].removesuffix("+00:00"), zone=t["zone"]).render(lang) for t in row["times"]
    ]
    lines += ["  · " + rendered(note, lang) for note in row["notes"]]
    return "\n".join(wrapped(printable(line)) for line in lines) + "\n"


def life(told: dict[str, Any], lang: Lang) -> str:
    """Return the life of a message for a terminal. `told`: from `kit.trace`."""
    lines = [f"{told['id']}: {KINDS[told['kind']].in_(lang)}"]
    if len(told["uniq_keys"]) > 1 or (told["uniq_keys"] and told["kind"] != "uniq"):
        lines.append("  " + TEXTS["messages"].say(n=len(told["uniq_keys"]), keys=told["uniq_keys"][:8]).render(lang))
    if told["records"]:
        lines += ["", TEXTS["records"].say(n=len(told["records"])).render(lang)]
    for record in _telling(told["records"]):
        if isinstance(record, int):
            lines.append("    " + TEXTS["alike"].say(n=record).render(lang))
            continue
        place = f"{record['file']}@{record['physical_offset']}"
        lines.append(
            f"  {_when(record['store_timestamp'])}  {record['stage']:<10}  {record['topic']}  {record['offset_msg_id']}  {place}"
        )
        lines.append(wrapped(f"      {record['why']}"))
    if told["ops"]:
        lines += ["", TEXTS["ops"].say(n=len(told["ops"])).render(lang)]
        lines += [
            f"  {_when(op['store_timestamp'])}  → {op['half_offset_msg_id']}  {op['file']}@{op['physical_offset']}"
            for op in told["ops"][:SHOWN_RECORDS]
        ]
    if told["handled"]:
        lines += ["", TEXTS["handled"].say(n=len(told["handled"])).render(lang)]
        done = (
            (_when(h["time"]), h["result"] or "?", h["consumer"], h["offset_msg_id"], f"{h['file']}:{h['line']}")
            for h in told["handled"]
        )
        lines += [f"  {at}  {result:<8}  {who}  {copy}  {place}" for at, result, who, copy, place in done]
    if told["consumers"]:
        lines += ["", TEXTS["consumers"].in_(lang)]
        lines += [f"  {c['group'] or '–'}  {c['topic'] or '–'}  {c['text']}" for c in told["consumers"][:SHOWN_RECORDS]]
    if told["traces"]:
        lines += ["", TEXTS["traces"].say(n=len(told["traces"])).render(lang)]
        lines += [f"  {t['file']}@{t['physical_offset']}  {t['text']}" for t in told["traces"][:SHOWN_MENTIONS]]
    if told["mentions"]:
        lines += ["", TEXTS["mentions"].say(n=len(told["mentions"])).render(lang)]
        lines += [f"  {m['file']}:{m['line']}  {m['text']}" for m in told["mentions"][:SHOWN_MENTIONS]]
        if len(told["mentions"]) > SHOWN_MENTIONS:
            lines.append("  " + TEXTS["more"].say(n=len(told["mentions"]) - SHOWN_MENTIONS).render(lang))
    lines += [
        "",
        (TEXTS["gaps"] if told["gaps"] else TEXTS["no_gaps"]).in_(lang),
        *(wrapped(f"  {gap['text']}") for gap in told["gaps"][:SHOWN_MENTIONS]),
    ]
    return "\n".join(printable(line)[: 4 * WIDE] for line in "\n".join(lines).split("\n"))


def _telling(records: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any] | int]:
    """Yield the first two and the last copy of each kind in their order, and in between how many are left out: a message in a loop has thousands."""
    kinds = [(record["stage"], record["topic"], record["why"]) for record in records]
    last = {kind: n for n, kind in enumerate(kinds)}
    seen: Counter[Any] = Counter()
    left = 0
    for n, (record, kind) in enumerate(zip(records, kinds, strict=True)):
        seen[kind] += 1
        if seen[kind] > 2 and n != last[kind]:
            left += 1
            continue
        if left:
            yield left
            left = 0
        yield record


def lives(told: Iterable[dict[str, Any]], lang: Lang) -> str:
    """Return a line for each of several messages: how many copies, where and when the last one is, what is missing."""
    rows = list(told)
    wide = max((len(each["id"]) for each in rows), default=0)
    return "\n".join(printable(f"{each['id']:<{wide}}  {_brief(each, lang)}")[: 2 * WIDE] for each in rows)


def _brief(told: dict[str, Any], lang: Lang) -> str:
    if not told["records"]:
        return " ".join(gap["text"] for gap in told["gaps"][:1]) or TEXTS["mentions"].say(
            n=len(told["mentions"])
        ).render(lang)
    last = told["records"][-1]
    copies = TEXTS["copies"].say(n=len(told["records"])).render(lang)
    gaps = " ".join(gap["text"] for gap in told["gaps"] if gap["kind"] != "unquoted")
    return f"{copies}  {_when(last['store_timestamp'])}  {last['stage']}  {last['topic']}  {gaps}"


def _when(iso: str | None) -> str:
    return f"{(iso or '')[:23].replace('T', ' '):<23}"


def wrapped(text: str) -> str:
    """Return sentences with lines no longer than the terminal is wide, indented as they were; as they are where the output is no terminal."""
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or cell_len(text) <= width:
        return text
    from rich.console import Console
    from rich.text import Text

    screen, lines = Console(width=width), []
    for line in text.split("\n"):
        words = line.lstrip()
        indent = " " * (len(line) - len(words))
        lines += [indent + part.plain.rstrip() for part in Text(words).wrap(screen, max(20, width - len(indent)))]
    return "\n".join(lines)


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Return rows of texts in aligned columns, those in `right` (numbers from 0) right-aligned; a Chinese character takes two cells."""
    wide = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        pads = [" " * (width - cell_len(text)) for text, width in zip(row, wide, strict=True)]
        cells = zip(row, pads, strict=True)
        lines.append(
            "  ".join(pad + text if n in right else text + pad for n, (text, pad) in enumerate(cells)).rstrip()
        )
    return "\n".join(lines)
