"""What `explain` prints: one block for each known problem, text, code, setting or id."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Final

from kit.explanation.explain import releases_of
from kit.i18n import Lang, labels, printable

WIDE: Final = 100
SHOWN: Final = 160
LINES: Final = 6
UNKNOWN_SHOWN: Final = 10

TEXTS: Final = labels("explanation")["shown"]


def blocks(rows: Sequence[dict[str, Any]], lang: Lang) -> str:
    """Return the rows of `explain` for a terminal; the same answer for several lines is printed once."""
    if not rows:
        return TEXTS["nothing"].in_(lang)
    answers: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    unknown = []
    for row in rows:
        if row["kind"] == "log" and row["slug"] is None and not row["versions"]:
            unknown.append(row)
        else:
            answers.setdefault((row["kind"], row["title"], row["meaning"]), []).append(row)
    parts = [_block(same, lang) for same in answers.values()]
    if unknown:
        lines = [TEXTS["not_known"].say(n=len(unknown)).render(lang)]
        lines += [f"  {row['line']}: {_cut(row['text'])}" for row in unknown[:UNKNOWN_SHOWN]]
        lines += ["  …"] if len(unknown) > UNKNOWN_SHOWN else []
        parts.append("\n".join(lines))
    if releases := releases_of(rows):
        parts.append(TEXTS["releases"].say(releases=releases).render(lang))
    return "\n\n".join(parts)


def _block(same: Sequence[dict[str, Any]], lang: Lang) -> str:
    row = same[0]
    numbers = list(dict.fromkeys(str(each["line"]) for each in same))
    listed = ", ".join(numbers[:LINES])
    if len(numbers) > LINES:
        listed = TEXTS["and_more"].say(numbers=listed, n=len(numbers) - LINES).render(lang)
    slug = f" [{row['slug']}]" if row["slug"] else ""
    head = f"{row['title']}{slug} · {TEXTS['line'].say(numbers=listed).render(lang)}"
    lines = [printable(head), f"  > {_cut(row['text'])}", *_wrapped(row["meaning"])]
    if row["next"]:
        lines += _wrapped(f"{TEXTS['next'].in_(lang)}: {row['next']}")
    if row["versions"]:
        lines += _wrapped(f"{TEXTS['printed'].in_(lang)}: {row['versions']}")
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable(text), WIDE, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _cut(text: str) -> str:
    return printable(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
