"""How the outputs of a host's tools begin: what a file, or a stretch of a pasted text, is recognised by."""

from __future__ import annotations

import re
from typing import Final

_CLOCK: Final = r"\d\d:\d\d:\d\d(?: [AP]M)?\s+"
HEADS: Final[dict[str, str]] = {
    "iostat": r"Device:?\s+(?:r/s|tps|rrqm/s)|avg-cpu: ",
    "vmstat": r"procs -+ ?-*memory|\s*r +b +swpd +free",
    "mpstat": _CLOCK + r"CPU\s+%usr\s+%nice\s+%sys\s+%iowait\s+%irq",
    "sar": _CLOCK + r"(?:CPU\s+%u|DEV\s|IFACE\s|tps\s|runq-sz|kbmemfree|pgpgin/s|proc/s|pswpin/s)",
    "pidstat": r"(?:" + _CLOCK + r"|#\s*Time\s+)(?:UID\s+)?T?G?I?D?\s*PID\s.*Command\s*$",
    "gc": r"(?:\[[^\]\n]{1,40}\]){1,5}\[(?:gc|safepoint)[^\]\n]{0,40}\] |(?:\S{1,40}: )?\d+\.\d{3}: (?:\[(?:Full )?GC|Total time for which|Application time)"
    r"|(?:OpenJDK|Java HotSpot).{1,80} VM .{0,80}\bfor ",
    "jstat": r"\s*(?:Timestamp\s+)?(?:S0\s+S1\s+E\s+O\s|S0C\s+S1C\s+S0U\s+S1U\s)",
    "top": r"top - \d\d:\d\d:\d\d up ",
    "free": r"\s*total\s+used\s+free\s+shared\s+buff",
    "df": r"(?:Filesystem|文件系统)\s+(?:(?:Type|类型)\s+)?(?:Size|容量|大小|Inodes|1?\d{0,4}[KMGB]?-(?:blocks|块))\s",
    "prometheus": r"# (?:HELP|TYPE) [a-zA-Z_:][\w:]* \S|rocketmq_\w+(?:\{[^}\n]{0,2000}\})? +\d",
    "iotop": r"(?:\d\d:\d\d:\d\d )?Total DISK READ ?:\s",
}
"""The beginning of a line that each output has."""
BY_LINES: Final = frozenset({"iostat", "vmstat", "sar", "gc", "mpstat", "pidstat"})
"""Outputs that run for long, mostly into a file of their own; the others are short and often pasted between lines of logs."""
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
    return [origin for origin, head in _IN_BYTES.items() if head.search(text)]


ANSWER: Final = re.compile(
    rb'\s*\{\s*"status"\s*:\s*"success"\s*,\s*"data"\s*:\s*\{\s*"resultType"\s*:\s*"(?:matrix|vector)"'
)
"""How an answer of Prometheus to a query begins."""


def sniff(head: bytes) -> bool:
    """Return whether a file is output of such tools: one runs for long, or nothing in it looks like a log."""
    head = head[:EXAMINED].replace(b"\r", b"")
    found = origins(head)
    return bool(found) and (not BY_LINES.isdisjoint(found) or not _LOGGED.search(head))


def quoted(text: bytes) -> bool:
    """Return whether a text of any kind holds short outputs: of `df -h` between lines of a log, in a question."""
    return not BY_LINES.issuperset(origins(text.replace(b"\r", b"")))


def of_line(line: str) -> str | None:
    """Return which output begins with a line."""
    return next((origin for origin, head in OF_LINE.items() if head.match(line)), None)
