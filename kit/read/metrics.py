"""Host metrics (iostat, vmstat, sar, GC logs) → rows."""

from __future__ import annotations

import re
from typing import Final

_HEADER: Final = re.compile(
    rb"^(?:Device:?\s+(?:r/s|tps|rrqm/s)|avg-cpu:|procs -+memory|\s*r\s+b\s+swpd|Linux \S+ \(.*CPU\)|(?:OpenJDK|Java HotSpot).* VM .*for |.*\[GC (?:pause|\()|.*\[Full GC|\[.*\]\[(?:info|debug|warning)[^\]]*\]\[(?:gc|safepoint))",
    re.MULTILINE,
)


def sniff(head: bytes) -> bool:
    """Tell whether a file's head is one of the metrics this module reads."""
    return bool(_HEADER.search(head[:8192]))
