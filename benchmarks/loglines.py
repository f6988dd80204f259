"""Logs of any size: the lines of a recorded healthy system again and again, each time later."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Final

from benchmarks.common import unpacked
from benchmarks.generate import START

STAMP: Final = re.compile(rb"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.M)
EACH: Final = 60
"""Seconds a round takes."""
ZONE: Final = dt.timezone(dt.timedelta(hours=8))


def write(folder: Path, size: int, recording: str = "healthy") -> list[Path]:
    """Write the text logs of a recording, every round one minute later, until they hold `size` bytes together; return
    them.
    """
    root = unpacked(recording)
    sources = [p for p in sorted(root.rglob("*.log")) if p.stat().st_size]
    texts = [p.read_bytes() for p in sources]
    folder.mkdir(parents=True, exist_ok=True)
    targets = [folder / p.relative_to(root).as_posix().replace("/", "-") for p in sources]
    written = round_ = 0
    while written < size:
        now = dt.datetime.fromtimestamp(START / 1000 + EACH * round_, ZONE)
        for target, text in zip(targets, texts, strict=True):
            # The lines of a round keep their order: one time for all of them.
            made = STAMP.sub(now.strftime("%Y-%m-%d %H:%M:%S").encode(), text)
            with target.open("ab" if round_ else "wb") as out:
                out.write(made)
            written += len(made)
        round_ += 1
    return targets
