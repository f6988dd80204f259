"""The report's own sentences (`labels.yaml`), with the icon and name of each verdict."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kit.causes import findings
from kit.i18n import Lang, T, headings, labels

_ROOM: Final = labels("report")
PAGE, INNER, SKIPPED = (_ROOM[name] for name in ("page", "inner", "skipped"))
COLUMNS: Final = headings() | _ROOM["columns"]
GLOSSARY: Final = tuple(_ROOM["glossary"].values())
"""Each a term, a colon, its meaning."""
_ICONS: Final = {"confirmed": "●", "suspected": "◐", "ruled_out": "○", "insufficient_evidence": "?", "failed": "!"}
VERDICTS: Final[dict[str, tuple[str, T]]] = {each: (_ICONS[each], name) for each, name in findings.VERDICTS.items()}

ORDER: Final = ("confirmed", "suspected", "failed", "insufficient_evidence", "ruled_out")
KINDS: Final = ("root_cause", "neighbour", "hazard")
_OF_A_GROUP: Final = re.compile(r"^mqadmin .* -g (?!GROUP\b)")
HOLDS: Final = {True: ("yes", "✓", "holds"), False: ("no", "✗", "fails"), None: ("maybe", "?", "open")}
"""Class, mark and name of what a step is."""


def ranked(findings: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return findings in reading order: confirmed root causes by harm, suspected ones, neighbours; the rest by verdict.

    Of those that lack evidence, first what can be asked for the group that this evidence names: it is about consumers.
    """
    harm = {slug: n for n, slug in enumerate(findings["root_causes"])}

    def place(finding: Mapping[str, Any]) -> tuple[Any, ...]:
        verdict, slug = ORDER.index(finding["verdict"]), finding["cause"]
        suspected = ORDER.index("suspected")
        nameless = not any(_OF_A_GROUP.search(missing["command"]) for missing in finding["missing"])
        return max(verdict, suspected), KINDS.index(finding["kind"]), verdict, harm.get(slug, len(harm)), nameless, slug

    return sorted(findings["findings"], key=place)


def requests(findings: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return each request for evidence once, however many causes need it."""
    wanted: dict[str, dict[str, str]] = {}
    for missing in (missing for finding in findings for missing in finding["missing"]):
        wanted.setdefault(missing["command"], missing)
    return list(wanted.values())


def page(lang: Lang) -> dict[str, Any]:
    """Return the sentences for the templates, and `say`, which fills the placeholders of one."""
    return {name: text.in_(lang) for name, text in PAGE.items()} | {
        "say": lambda name, /, **values: PAGE[name].say(**values).render(lang)
    }
