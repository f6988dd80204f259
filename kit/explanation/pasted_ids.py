"""Ids in a paste: each decoded once, and which of them belong to one message."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from kit.explanation.pasted_lines import Line
from kit.rocketmq import ids

_SENT: Final = re.compile(r"\bmsgId=([0-9A-Fa-f]{32,56}), offsetMsgId=([0-9A-Fa-f]{32,56})")
_KEY: Final = re.compile(r"\bUNIQ_KEY=([0-9A-Fa-f]{32,56})")
_PLACE: Final = re.compile(r"\bcommitLogOffset=(\d+)")
_NAMED: Final = re.compile(
    r"(?:msg|message|uniq|unique|transaction|offset)[\w ]{0,12}(?:id|key)\W{0,4}$|(?:消息|(?<![A-Za-z])id)\W{0,4}$",
    re.IGNORECASE,
)
_UUID: Final = re.compile(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$")
"""A random UUID without dashes (RFC 4122: version 4), as traces have."""
_DIGEST: Final = re.compile(r"(?:md5|sha-?\d*|digest|signature|trace-?id|\bTID|span|\bKEYS)\W{0,4}$", re.IGNORECASE)
"""In front of a digest or a business key."""
MOST: Final = 500
"""Most different ids that are decoded."""


@attrs.frozen
class PastedId:
    """One id at its first place. `pair`: the other id of the same message and its line."""

    line: int
    text: str
    info: ids.IdInfo
    pair: tuple[ids.IdInfo, int] | None = None


def find(pasted: Sequence[Line]) -> list[PastedId]:
    """Return the ids of a paste, each at its first place, in order."""
    first: dict[str, PastedId] = {}
    for line in pasted:
        for match in ids.IN_TEXT.finditer(line.text):
            key = match[0].upper()
            if (
                key in first
                or len(first) >= MOST
                or _DIGEST.search(line.text[max(0, match.start() - 20) : match.start()])
            ):
                continue
            info = ids.decode(key)
            if info.kind != "uniq" or match[0] == key or _meant(line.text, match):
                first[key] = PastedId(line.number, line.text, info)
    pairs = dict(_pairs(pasted, first))
    return [
        attrs.evolve(each, pair=(first[pairs[key]].info, first[pairs[key]].line) if key in pairs else None)
        for key, each in first.items()
    ]


def _meant(text: str, match: re.Match[str]) -> bool:
    """Return whether 32 digits in small letters, as no client writes them, are an id: not inside a longer word."""
    before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 1]
    glued = before[-1:] in ("-", "_", ".", ":", "/", "=", "@") or after in ("-", "_", "/", "=", "@")
    glued = glued or bool(re.match(r"\.\w", text[match.end() :]))
    return bool(_NAMED.search(before)) or not (glued or _UUID.match(match[0]))


def _pairs(pasted: Iterable[Line], first: dict[str, PastedId]) -> Iterable[tuple[str, str]]:
    """Yield both directions of each pair: the ids of a SendResult, or a printed message and its offset id."""
    places = {each.info.offset: key for key, each in first.items() if each.info.kind == "offset"}
    for line in pasted:
        named = _SENT.search(line.text)
        if named:
            one, two = named[1].upper(), named[2].upper()
        else:
            key, place = _KEY.search(line.text), _PLACE.search(line.text)
            if not key or not place:
                continue
            one, two = key[1].upper(), places.get(int(place[1]), "")
        if one in first and two in first and first[one].info.kind != first[two].info.kind:
            yield one, two
            yield two, one
