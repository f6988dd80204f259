"""The forms of what must not leave a site, and the places where a key or a name is expected: `forms.yaml`, compiled."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from kit import data
from kit.inventory.references import MAX_TEXT
from kit.redaction import ordinary

Pattern = re.Pattern[str]


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is replaced (`form`) by what (`becomes`), and what stays in front of it (`head`)."""

    form: str
    becomes: str
    head: str = ""


CUT: Final = MAX_TEXT
"""Length at which a quoted line was cut, perhaps inside a name."""

_DATA: Final = data.read("redaction/forms.yaml", dict[str, Any])
_PARTS: Final[dict[str, str]] = _DATA["parts"]


def _filled(form: str) -> str:
    """Return a form with its parts in the place of their names."""
    return re.sub(r"<([a-z]+)>", lambda part: _filled(_PARTS[part[1]]) if part[1] in _PARTS else part[0], form)


def _compiled(rows: dict[str, str]) -> dict[str, Pattern]:
    return {name: re.compile(form) for name, form in rows.items()}


FORMS: Final = msgspec.convert({**_DATA["contexts"], **_DATA["words"]}, dict[str, Form])


def _any_of(names: Any) -> Pattern:
    """Return a pattern of forms, each a group of its name with the group `head_NAME` at its beginning."""
    parts = []
    for name in names:
        head, form = _filled(FORMS[name].head), _filled(FORMS[name].form)
        parts.append(f"(?P<{name}>(?P<head_{name}>{head})(?:{form}))")
    return re.compile("|".join(parts), re.ASCII)


PLAIN: Final = _any_of(_DATA["words"])
"""What is replaced by its form alone."""
ANY: Final = _any_of(FORMS)

PLACES: Final = _compiled(_DATA["places"])
"""What is before a key or a name, and the columns that hold them."""
MENTIONED: Final = _compiled(_DATA["mentioned"])
HOSTS: Final = _compiled(_DATA["hosts"])
KEPT: Final = {name: frozenset(fields.split()) for name, fields in _DATA["kept"].items()}
"""Fields of findings and of figures whose values stay."""
NUMBERED: Final = frozenset(_DATA["numbered"]["words"].split())
"""What is numbered and no machine: threads, queues, algorithms."""

QUAD: Final = re.compile(_PARTS["quads"])
DASHED: Final = re.compile(_PARTS["dashes"])
COLONS: Final = re.compile(_PARTS["colons"], re.ASCII)
HEX: Final = re.compile(r"[0-9A-Fa-f]{8,}")
WORD: Final = re.compile(r"[A-Za-z0-9]+")
WORDS: Final = re.compile(rf"(?P<word>(?P<head_word>){WORD.pattern})")
SPELLED: Final = re.compile(r"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4})")
"""Control characters as `kit.charts.clean` spells them: they end a word, as they did before."""
PATH: Final = re.compile(r"[A-Za-z0-9_.%@$#+!~/-]+")
SCHEME: Final = re.compile(rf"{_PARTS['schemes']}|[A-Za-z]:?")
KEY: Final = re.compile(r"""[^\s,;\])}'"&<|\\，。；、）】]+""")
QUADS: Final = re.compile(r"\d\.\d+\.\d+\.\d")
QUOTED: Final = re.compile(r"""^(\\?["']?).*?(\\?["'])?$""", re.DOTALL)
STOCK: Final = frozenset(part for word in ordinary.FOLDERS for part in WORD.findall(word))
"""Words of which RocketMQ's own names of files and folders are made."""
_CUT_WORD: Final = re.compile(r"""[^\s"'()<>\[\]{},;=:，。、：]{4,}(?=…)""")


def without_cut_word(text: str) -> str:
    """Return a text without the words of which only the beginning is left, perhaps of a name, an address or an id."""
    cut = text if "…" in text or len(text) != CUT else text + "…"
    return _CUT_WORD.sub(lambda hit: hit[0] if ordinary.is_ordinary(hit[0]) or hit[0].isdigit() else "", cut)


def inside(text: str, begin: int, end: int) -> bool:
    """Return whether a piece of text continues a word on either side."""
    before, after = text[begin - 1 : begin] if begin else "", text[end : end + 1]
    return (before.isascii() and before.isalnum() and text[begin].isalnum()) or (
        after.isascii() and after.isalnum() and text[end - 1].isalnum()
    )


def split_name(part: str) -> tuple[str, str]:
    """Return the stem of a file name and its known extensions."""
    stem, tail = part, ""
    while (dot := stem.rfind(".")) > 0 and (stem[dot + 1 :] in ordinary.EXTENSIONS or stem[dot + 1 :].isdigit()):
        stem, tail = stem[:dot], stem[dot:] + tail
    return stem, tail
