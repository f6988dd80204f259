"""The forms of what must not leave a site, and the places where a key or a name is expected: `forms.yaml`, compiled."""

import re
from functools import cache
from typing import Any, Final

import msgspec

from kit import data

Pattern = re.Pattern[str]


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is replaced (`form`) by what (`becomes`), what stays in front of it (`head`), whether names go first."""

    form: str
    becomes: str
    head: str = ""
    named: bool = False


_DATA: Final = data.read("redaction/forms.yaml", dict[str, Any])
_PARTS: Final[dict[str, str]] = _DATA["parts"]


def _filled(form: str) -> str:
    return re.sub(r"<([a-z]+)>", lambda part: _filled(_PARTS[part[1]]) if part[1] in _PARTS else part[0], form)


FORMS: Final = msgspec.convert({**_DATA["contexts"], **_DATA["words"]}, dict[str, Form])
_ORDER: Final = list(FORMS)


@cache
def after(name: str | None = None) -> Pattern:
    """Return a pattern of the forms behind one, or of all: each a group of its name that begins with `head_NAME`."""
    parts = []
    for each in _ORDER[_ORDER.index(name) + 1 if name else 0 :]:
        head, form = _filled(FORMS[each].head), _filled(FORMS[each].form)
        parts.append(f"(?P<{each}>(?P<head_{each}>{head})(?:{form}))")
    return re.compile("|".join(parts) or "(?!)", re.ASCII)


ANY: Final = after()
PLAIN: Final = after(list(_DATA["contexts"])[-1])
"""What is replaced by its form alone."""
WORDS: Final = after(_ORDER[-2])

FIELDS: Final = {name: re.compile(form) for name, form in _DATA["fields"].items()}
"""The columns that hold keys, names and positions."""
MENTIONED: Final = [
    (
        row["kind"],
        re.compile(_filled(row.get("within", "(.*)")), re.ASCII | re.DOTALL),
        re.compile(_filled(row["form"]), re.ASCII),
    )
    for row in _DATA["mentioned"]
]
"""(kind of name, in what, the form of one)."""
NOBODYS: Final = re.compile(_DATA["nobodys"])
"""Cells of tables that name nobody."""
KEPT: Final = {name: frozenset(fields.split()) for name, fields in _DATA["kept"].items()}
"""Fields of findings and of figures whose values stay."""

QUAD: Final = re.compile(_PARTS["quads"])
SCHEME: Final = re.compile(rf"{_PARTS['schemes']}|[A-Za-z]:?")
HEX: Final = re.compile(r"[0-9A-Fa-f]{8,}")
WORD: Final = re.compile(_DATA["words"]["word"]["form"])
"""Where a name may begin: a word of ASCII, or a single letter of a script that has no blanks."""
SPELLED: Final = re.compile(r"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4})")
"""Control characters as `kit.charts.clean` spells them: they end a word, as they did before."""
