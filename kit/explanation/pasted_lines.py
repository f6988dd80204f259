"""What people paste, as it was printed: text of any encoding, lines without quoting, prompts and colours."""

import contextlib
import re
import zlib
from collections.abc import Iterator
from typing import Final

import attrs

from kit.formats.logs import source_code
from kit.formats.patterns import patterns
from kit.rocketmq import copied_lines

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
    """A line of a paste. `number`: from 1; `text`: as printed; `frame`: of a stack trace or a program, or without own meaning."""

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
    """Return the text of UTF-8, UTF-16 with a byte order mark or GB 18030; other bytes are replaced.

    Of more than `MOST` bytes it is that of the lines within them.
    """
    if len(raw) > MOST:
        raw = raw[: raw.rfind(b"\n", 0, MOST) + 1] or raw[:MOST]
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
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
    text = _FORMS["unseen"].sub("", line).replace("\u00a0", " ")
    text = source_code.unescaped(_FORMS["quoting"].sub("", text))
    text = _FORMS["container"].sub("", copied_lines.bare(text))
    return _FORMS["prompt"].sub("", text).strip()
