"""The forms of what must not leave a site, and the places where a key or a name is expected: `forms.yaml`, compiled."""

import re
from collections.abc import Container
from functools import cache
from typing import Any, Final
from urllib.parse import unquote

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
LEVELS: Final = 6
"""Objects in objects that are told apart."""
_BEGIN, _END = ((LEVELS - 1) * part for part in _PARTS["nested"].split("<nested>"))
_PARTS["nested"] = f"{_BEGIN}<innermost>{_END}"


def _filled(form: str) -> str:
    return re.sub(r"<([a-z]+)>", lambda part: _filled(_PARTS[part[1]]) if part[1] in _PARTS else part[0], form)


def _compiled(form: str) -> Pattern:
    return re.compile(_filled(form), re.ASCII)


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
"""The columns that hold keys, names, parts of names and positions."""
MENTIONED: Final = [
    (row["kind"], _compiled(row.get("within", "(?s:(.*))")), _compiled(row["form"])) for row in _DATA["mentioned"]
]
"""(kind of name, in what, the form of one)."""
NOBODYS: Final = {kind: _compiled(form) for kind, form in _DATA["nobodys"].items()}
"""What names nobody, by the kind of name; of the others `name`."""
KEPT: Final = {name: frozenset(fields.split()) for name, fields in _DATA["kept"].items()}
"""Fields of findings and of figures whose values stay."""
PATTERNS: Final = {name: _compiled(form) for name, form in _DATA["patterns"].items()}
WORD: Final = PATTERNS["word"]


def opened(text: str, known: Container[str] = ()) -> tuple[str, dict[str, str]]:
    r"""Return a text with the characters that `\u4f60` and `%3D` spell, and (spelling → sign) of those that it has not.

    A sign stands for a blank, a control character or what `kit.charts.escape` would have escaped: words end there, but
    a body goes on behind `\n`. `known`: first words of names; where `\trade` begins with one, it is no tab.
    """
    signs: dict[str, str] = {}

    def read(hit: re.Match[str]) -> str:
        code, percent = hit["code"], hit["percent"]
        char = chr(int(code, 16)) if code else unquote(re.sub("%(?:25)+", "%", percent)) if percent else "\n"
        word = WORD.match(text, hit.end() - 1) if char == "\n" else None
        if hit["folder"] or "\ufffd" in char or (word and word.group() in known):
            return hit[0]
        if char.isprintable() and char not in " '<>&$":
            return '\\"' if char == '"' else char
        return signs.setdefault(hit[0], chr(0xF0000 + len(signs)))

    return PATTERNS["escape"].sub(read, text), signs
