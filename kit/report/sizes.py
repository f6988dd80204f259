"""What the command `size` prints: a message followed through every rewrite, and the largest body that stays safe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.i18n import Lang, labels, printable
from kit.report.console import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXTS: Final = labels("report")["sizes"]
REFUSED: Final = labels("report")["sizes refused"]
MEASURED: Final = labels("report")["sizes measured"]


def card(spec: Mapping[str, Any], lang: Lang, *, broker: bool, client: bool, group: bool) -> str:
    """Return `kit.rocketmq.rewrites.table` as text; `broker`, `client`, `group`: whether its version or name was given, not assumed."""
    version, limit = spec["broker"], spec["limit"]
    what = MEASURED[spec["rule"]].say(limit=limit, more=limit + 65536)
    said = [
        (TEXTS["given"] if broker else TEXTS["assumed"]).say(version=version),
        TEXTS["measures"].say(what=what, check_max=spec["check_max"]),
    ]
    if not broker:
        said.append(TEXTS["before"].say())
    if not client:
        said.append(TEXTS["client"].say(version=version))
    if not group:
        said.append(TEXTS["group"].say())
    rows = [
        [
            head.in_(lang)
            for head in (
                TEXTS["stage"],
                TEXTS["topic"],
                TEXTS["bytes"],
                TEXTS["growth"],
                TEXTS["left"],
                TEXTS["verdict"],
            )
        ]
    ]
    for row in spec["rows"]:
        refused = ", ".join(REFUSED[why].in_(lang) for why in row["refused"]) or TEXTS["yes"].in_(lang)
        left = f"{limit - row['bytes']:,}" if spec["rule"] == "total" else ""
        topic = row["topic"] if len(row["topic"]) <= 40 else f"{row['topic'][:39]}…"
        rows.append(
            [row["text"].render(lang), printable(topic), f"{row['bytes']:,}", f"+{row['growth']:,}", left, refused]
        )
    safe = [
        (TEXTS["safe"], spec["safe_stored_body"], TEXTS["what_safe"].in_(lang)),
        (TEXTS["safe_plain"], spec["safe_plain_body"], ""),
        (TEXTS["raw"], spec["max_message_size"], TEXTS["what_raw"].in_(lang)),
    ]
    ends = [
        f"{name.in_(lang)}: {TEXTS['no_body'].in_(lang) if value is None else f'{value:,}'}{f'  ({why})' if why else ''}"
        for name, value, why in safe
    ]
    return " ".join(s.render(lang) for s in said) + "\n\n" + aligned(rows, right=(2, 3, 4)) + "\n\n" + "\n".join(ends)
