"""What people paste, as it was printed: text of any encoding, lines without quoting, prompts and colours."""

import contextlib
import re
import zlib
from collections.abc import Iterator
from typing import Final

import attrs

from kit.formats.logs import source_code
from kit.rocketmq import copied_lines

LONGEST: Final = 20_000
"""Most characters of a line that are examined."""
MOST: Final = 4 << 20
"""Most bytes that are read, and unpacked: a few seconds."""

_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_ESCAPED: Final = re.compile(
    r"(?:\\r)?\\n(?:\\t)?(?=[\t ]*(?:at |Caused by|\.\.\. \d|See http|For more |(?:[a-z]\w*\.){2}|\d{4}-\d\d-\d\d|[\"'}]|$))"
)
"""A line end inside a JSON or Java string before what begins a line; a Windows path may hold the same."""
_DOCKER: Final = re.compile(r'^\{"log":"(.*?)(?:\\r)?(?:\\n)?","stream":"std(?:out|err)",.{0,200}\}\s*$')
"""A line as Docker's driver json-file keeps it."""
_QUOTING: Final = re.compile(r"^(?:\s{0,3}[>|│┃＞]\s?)+")
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)\w*\s*$")
_CONTAINER: Final = re.compile(
    r"^(?:[\w.-]{1,60}\s{1,20}\|\s|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)\s(?:std(?:out|err)\s[FP]\s+)?(?=\S|\s*(?:at |$)))"
)
_PROMPT: Final = re.compile(
    r"^\s*(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[\s:][^\]#$%\n]{0,80}\]?\s?[#$%]|(?:bash|sh)-?[\d.]*[#$]|[$#](?=\s)|(?:PS )?[A-Za-z]:\\[^>\n]{0,80}>)\s*"
)
_FRAME: Final = re.compile(
    r"^\s*(?:at\s+[\w.$/<>@-]+\(|\.\.\. \d+ (?:more|common frames)|- (?:locked|waiting|parking) |(?:\w+\.){2,}[\w$<>]+\(\w+\.java:\d+\)$|at [^()]{1,120} \([^()]{1,300}:\d+:\d+\)$|File \"[^\"]+\", line \d+|goroutine \d+ \[[^\]]+\]:$|created by \S+\.|\S+\.go:\d+(?: \+0x[0-9a-f]+)?$|Traceback \(most recent call last\):$)"
)
_PYTHON: Final = re.compile(r"File \"[^\"]+\", line \d+")
"""A frame of Python; the source line stands below it."""
_SEVERAL: Final = (
    (re.compile(r"RpcError of RPC that terminated with:\s*$"), re.compile(r"^\s*(?:(?:status|details|debug_error_string) = |>\s*$)"), 4),
    (re.compile(r"a method that does not exist\. The attempt was made from the following location:\s*$"), re.compile(r"^\s*(?:$|[\w.$]+\(\w+\.java:\d+\)$)"), 2),
)  # fmt: skip
"""How an error of gRPC for Python and one of Spring Boot's failure analyzers begin and go on, and the most lines."""
_FAQ: Final = re.compile(
    r"(?:See https?://\S+ for further details\.?[\"']?|For more information, please visit the url, \S+|\S.{0,40} VM warning: ignoring option .*)$"
)
"""What client/common/FAQUrl adds below every exception, and a JVM to mqadmin's output: the scripts' options are old."""


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
        for part in _ESCAPED.sub("\n", _DOCKER.sub(r"\1", one[:LONGEST])).split("\n"):
            text = plain(part)
            if any(map(str.isalnum, text)) and not _FENCE.match(text):
                below_frame, source_line = source_line, bool(_PYTHON.match(text))
                indented = below_frame and one[:1] in (" ", "\t")
                empty = _FRAME.match(text) or _FAQ.match(text) or source_code.LINE.match(text)
                yield Line(number, text, indented or bool(empty))


def _whole(lines: list[str]) -> list[str]:
    """Return the lines with each error of several lines whole at its first one and empty at the others."""
    for first, rest, most in _SEVERAL:
        for at in [number for number, line in enumerate(lines) if first.search(line)]:
            for n in range(at + 1, min(at + 1 + most, len(lines))):
                line = _QUOTING.sub("", lines[n].rstrip("\r"))
                if not rest.match(line):
                    break
                lines[at] = f"{lines[at].rstrip()} {line.strip()}"
                lines[n] = ""
    return lines


def plain(line: str) -> str:
    """Return a line without quoting or prompts around it."""
    text = _COLOUR.sub("", line).replace("\r", "").replace("\ufeff", "").replace("\u00a0", " ").replace("\u200b", "")
    text = source_code.unescaped(_QUOTING.sub("", text))
    text = _CONTAINER.sub("", copied_lines.bare(text))
    return _PROMPT.sub("", text).strip()
