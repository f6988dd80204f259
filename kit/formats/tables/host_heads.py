"""How the outputs of a host's tools begin: what a file, or a stretch of a pasted text, is recognised by."""

from __future__ import annotations

import re
from typing import Final

_CLOCK: Final = r"\d\d:\d\d:\d\d(?: [AP]M)?\s+"
HEADS: Final[dict[str, str]] = {
    "iostat": r"Device:?\s+(?:r/s|tps|rrqm/s)|avg-cpu: ",
    "vmstat": r"procs -+ ?-*memory|[ \t]*r +b +swpd +free",
    "sar": _CLOCK + r"(?:CPU\s+%u|DEV\s|IFACE\s|tps\s|runq-sz|kbmemfree|pgpgin/s|proc/s|pswpin/s)",
    "gc": r"(?:\[[^\]\n]{1,40}\]){1,5}\[(?:gc|safepoint)[^\]\n]{0,40}\] |(?:\S{1,40}: )?\d+\.\d{3}: (?:\[(?:Full )?GC|Total time for which|Application time)"
    r"|(?:OpenJDK|Java HotSpot).{1,80} VM .{0,80}\bfor ",
    "df": r"(?:Filesystem|文件系统)\s+(?:(?:Type|类型)\s+)?(?:Size|容量|大小|Inodes|1?\d{0,4}[KMGB]?-(?:blocks|块))\s",
}
"""The beginning of a line that each output has."""
OFTEN_QUOTED: Final = "df"
"""It is short and often pasted between lines of logs; the others run for long, mostly into a file of their own."""
OF_LINE: Final = {origin: re.compile(head) for origin, head in HEADS.items()}
_IN_BYTES: Final = {origin: re.compile(f"^(?:{head})".encode(), re.MULTILINE) for origin, head in HEADS.items()}
_LOGGED: Final = re.compile(
    rb"^\W{0,3}\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\d.,Z+:]*\W+[A-Za-z\[]|\b(?:\w+\.)+\w*(?:Exception|Error)\b",
    re.MULTILINE,
)
EXAMINED: Final = 16384
"""Bytes of a file's head that are examined."""


def origins(text: bytes) -> list[str]:
    """Return the outputs whose heads are in a text."""
    text = text.replace(b"\r", b"")
    return [origin for origin, head in _IN_BYTES.items() if head.search(text)]


def sniff(head: bytes) -> bool:
    """Return whether a file is output of such tools: one runs for long, or nothing in it looks like a log."""
    head = head[:EXAMINED].replace(b"\r", b"")
    found = origins(head)
    return bool(found) and (found != [OFTEN_QUOTED] or not _LOGGED.search(head))


def quoted(text: bytes) -> bool:
    """Return whether a text of any kind holds a short output: of `df -h` between lines of a log, in a question."""
    return OFTEN_QUOTED in origins(text)


def of_line(line: str) -> str | None:
    """Return which output begins with a line."""
    return next((origin for origin, head in OF_LINE.items() if head.match(line)), None)
