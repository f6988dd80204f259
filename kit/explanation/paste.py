"""What people paste, as it was printed: any encoding, lines without quoting, prompts and colours, ids in them."""

import contextlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from kit.formats.logs import source_code
from kit.formats.patterns import patterns
from kit.rocketmq import copied_lines, ids

LONGEST: Final = 20_000
"""Most characters of a line that are examined."""
MOST: Final = 4 << 20
"""Most bytes that are read, and unpacked: a few seconds."""

_FORMS: Final = patterns("paste_lines")
_SEVERAL: Final = (
    (re.compile(r"RpcError of RPC that terminated with:\s*$"), re.compile(r"^\s*(?:(?:status|details|debug_error_string) = |>\s*$)"), 4),
    (re.compile(r"a method that does not exist\. The attempt was made from the following location:\s*$"), re.compile(r"^\s*(?:$|[\w.$]+\(\w+\.java:\d+\)$)"), 2),
)  # fmt: skip
"""How an error of gRPC for Python and one of Spring Boot's failure analyzers begin and go on, and the most lines."""


@attrs.frozen
class Line:
    """A line of a paste. `number`: from 1; `text`: as printed; `frame`: of a stack trace, or without a meaning."""

    number: int
    text: str
    frame: bool


def unpacked(raw: bytes) -> bytes:
    """Return the bytes, of gzipped ones at most one more than `MOST`."""
    if raw.startswith(b"\x1f\x8b"):
        with contextlib.suppress(zlib.error):
            return zlib.decompressobj(wbits=31).decompress(raw, MOST + 1)
    return raw


def decoded(raw: bytes) -> str:
    """Return the text of UTF-8, UTF-16 with a byte order mark or GB 18030, of the lines within `MOST` bytes."""
    if len(raw) > MOST:
        raw = raw[: raw.rfind(b"\n", 0, MOST) + 1] or raw[:MOST]
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "gb18030"):
        with contextlib.suppress(UnicodeDecodeError):
            return raw.decode(encoding)
    return raw.decode("utf-8", "replace")


def lines(paste: str) -> Iterator[Line]:
    source_line = False
    for number, one in enumerate(_whole(paste.split("\n")), 1):
        for part in _FORMS["escaped"].sub("\n", _FORMS["docker"].sub(r"\1", one[:LONGEST])).split("\n"):
            text = plain(part)
            if any(map(str.isalnum, text)) and not _FORMS["fence"].match(text):
                below_frame, source_line = source_line, bool(_FORMS["python"].match(text))
                indented = below_frame and one[:1] in (" ", "\t")
                empty = _FORMS["frame"].match(text) or _FORMS["faq"].match(text) or source_code.LINE.match(text)
                yield Line(number, text, indented or bool(empty))


def _whole(lines: list[str]) -> list[str]:
    """Return the lines with each error of several lines whole at its first one and empty at the others."""
    for first, rest, most in _SEVERAL:
        for at in [number for number, line in enumerate(lines) if first.search(line)]:
            for n in range(at + 1, min(at + 1 + most, len(lines))):
                line = _FORMS["quoting"].sub("", lines[n].rstrip("\r"))
                if not rest.match(line):
                    break
                lines[at] = f"{lines[at].rstrip()} {line.strip()}"
                lines[n] = ""
    return lines


def plain(line: str) -> str:
    """Return a line without quoting or prompts around it."""
    text = _FORMS["quoting"].sub("", _FORMS["unseen"].sub("", line))
    text = source_code.unescaped(text).replace("\u00a0", " ")
    text = _FORMS["container"].sub("", copied_lines.bare(text))
    return _FORMS["prompt"].sub("", text).strip()


# --- ids --------------------------------------------------------------------------------------------------------------

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
_WORD: Final = re.compile(r"[-_/=@]|\.\w")
"""How a word goes on behind what is no id."""
MOST_IDS: Final = 500
"""Most different ids that are decoded."""


@attrs.frozen
class PastedId:
    """One id at its first place. `pair`: the other id of the same message and its line."""

    line: int
    text: str
    info: ids.IdInfo
    pair: tuple[ids.IdInfo, int] | None = None


def ids_in(pasted: Sequence[Line]) -> list[PastedId]:
    """Return the ids of a paste, each at its first place, in order."""
    first: dict[str, PastedId] = {}
    for line in pasted:
        for match in ids.IN_TEXT.finditer(line.text):
            key, before = match[0].upper(), line.text[: match.start()]
            if key in first or len(first) >= MOST_IDS or _DIGEST.search(before[-20:]):
                continue
            info = ids.decode(key)
            if info.kind != "uniq" or match[0] == key or _meant(before[-40:], match):
                first[key] = PastedId(line.number, line.text, info)
    paired = {key: (first[other].info, first[other].line) for key, other in _pairs(pasted, first)}
    return [attrs.evolve(each, pair=paired.get(key)) for key, each in first.items()]


def _meant(before: str, match: re.Match[str]) -> bool:
    """Return whether 32 digits in small letters, as no client writes them, are an id: not inside a longer word."""
    glued = before[-1:] in ("-", "_", ".", ":", "/", "=", "@") or _WORD.match(match.string, match.end())
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
