"""The forms of what must not leave a site, and the places where a key or a name is expected: `forms.yaml`, compiled."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from typing import Final

import msgspec

from kit.inventory.references import MAX_TEXT
from kit.redaction import ordinary
from kit.redaction.ids import COLONS, DASHED, QUAD
from kit.rocketmq import names

Form = re.Pattern[str]

CUT: Final = MAX_TEXT
"""Length at which a quoted line was cut, perhaps inside a name."""
GONE: Final = "[redacted]"

_DATA: Final = msgspec.yaml.decode(
    resources.files("kit.redaction").joinpath("forms.yaml").read_bytes(), type=dict[str, dict[str, str]]
)
_PARTS: Final = {"quads": QUAD.pattern, "dashes": DASHED.pattern, "colons": COLONS.pattern, **_DATA["parts"]}


def _filled(form: str) -> str:
    """Return a form with its parts in the place of their names."""
    return re.sub(r"<([a-z]+)>", lambda part: _filled(_PARTS[part[1]]) if part[1] in _PARTS else part[0], form)


def _joined(*kinds: str) -> Form:
    every = [f"(?P<{name}>{_filled(form)})" for kind in kinds for name, form in _DATA[kind].items()]
    return re.compile("|".join(every), re.ASCII)


PLAIN: Final = _joined("words")
"""What is replaced by its form alone."""
FORMS: Final = _joined("contexts", "words")
SCHEMES: Final = _PARTS["schemes"]

PLACES: Final = {name: re.compile(form) for name, form in _DATA["places"].items()}
"""What is before a key or a name, and the columns that hold them."""
MENTIONED: Final = {name: re.compile(form) for name, form in _DATA["mentioned"].items()}
HOSTS: Final = tuple(re.compile(form) for form in _DATA["hosts"].values())
NUMBERED: Final = frozenset(_DATA["numbered"]["words"].split())
"""What is numbered and no machine: threads, queues, algorithms."""

WORD: Final = re.compile(r"[A-Za-z0-9]+")
SPELLED: Final = re.compile(r"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4})")
"""Control characters as `kit.charts.clean` spells them: they end a word, as they did before."""
PATH: Final = re.compile(r"[A-Za-z0-9_.%@$#+!~/-]+")
WORDS: Final = re.compile(rf"(?P<word>{WORD.pattern})")
QUADS: Final = re.compile(r"\d\.\d+\.\d+\.\d")
STOCK: Final = frozenset(part for word in ordinary.FOLDERS for part in WORD.findall(word))
"""Words of which RocketMQ's own names of files and folders are made."""

_ID_PROPERTIES: Final = frozenset({names.KEYS, "__SHARDINGKEY"})


def properties(
    said: str, key: Callable[[str], str], coin: Callable[[str, str], str], text: Callable[[str], str]
) -> str:
    """Return printed message properties: those of RocketMQ keep their values, but for keys and names; a user's own get pseudonyms."""
    head, _, inner = said.partition("{")
    made = []
    for part in inner.split(", "):
        name, sign, value = part.partition("=")
        if not sign:
            made.append(coin(part, "value") if part.strip() else part)
        elif name in _ID_PROPERTIES:
            made.append(f"{name}={' '.join(key(token) for token in value.split(' '))}")
        elif name in names.PROPERTIES:
            made.append(f"{name}={text(value)}")
        else:
            made.append(part if value in ("", "true", "false", "null") else f"{name}={coin(value, 'value')}")
    return head + "{" + ", ".join(made)


def without_body(said: str) -> str:
    """Return what names a body, `body=`, `"payload": `, `<content>`, without the body."""
    head = re.match(r"<[^>]*>|[^=:：＝]*[=:：＝]\s*", said)
    return (head.group() if head else "") + GONE


_SECRET: Final = re.compile(_filled(r"""(?:<scheme>|<called>)\\?["']?|<[^>]*>"""), re.ASCII)
_PERSON: Final = re.compile(_filled(r"(?:<people>|<homes>|<accounts>|<papers>)(?:<sign>|\s*)"), re.ASCII)
_TAIL: Final = re.compile(r"""\\?["']$""")


def without_secret(said: str) -> str:
    """Return what names a secret, `accessKey=`, `Bearer `, `<password>`, without the secret."""
    head = _SECRET.match(said)
    tail = _TAIL.search(said, head.end()) if head else None
    return (head.group() if head else "") + GONE + (tail.group() if tail else "")


def split_person(said: str) -> tuple[str, str]:
    """Return what names a person's name, address, account or paper, and the value behind it."""
    head = _PERSON.match(said)
    end = head.end() if head else 0
    return said[:end], said[end:]


_CUT_WORD: Final = re.compile(r"""[^\s"'()<>\[\]{},;=:，。、：]{4,}(?=…)""")


def without_cut_word(text: str) -> str:
    """Return a text without the words of which only the beginning is left, perhaps of a name, an address or an id."""
    cut = text if "…" in text or len(text) != CUT else text + "…"
    return _CUT_WORD.sub(lambda hit: hit[0] if ordinary.is_ordinary(hit[0]) or hit[0].isdigit() else "", cut)


def is_position(text: str, at: int) -> bool:
    """Return whether the text calls the number that begins here an offset, a size or a place."""
    return PLACES["position_before"].search(text, max(0, at - 24), at) is not None


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
