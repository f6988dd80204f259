"""The report's own sentences (`labels.yaml`), with the icon and name of each verdict."""

from __future__ import annotations

from typing import Final

from kit.causes import findings
from kit.i18n import Lang, T, labels

_ROOM: Final = labels("report")
PAGE, KEYS, INNER, SKIPPED, COLUMNS = (_ROOM[name] for name in ("page", "keys", "inner", "skipped", "columns"))
GLOSSARY: Final = tuple((term, _ROOM["meanings"][name]) for name, term in _ROOM["terms"].items())
_ICONS: Final = {"confirmed": "●", "suspected": "◐", "ruled_out": "○", "insufficient_evidence": "?", "failed": "!"}
VERDICTS: Final[dict[str, tuple[str, T]]] = {each: (_ICONS[each], name) for each, name in findings.VERDICTS.items()}


def page(lang: Lang) -> dict[str, str]:
    """Return the sentences without placeholders, for the template."""
    return {name: text.in_(lang) for name, text in PAGE.items()}
