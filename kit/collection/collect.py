"""The script that collects evidence where nothing can be installed: POSIX sh, read-only, writes one archive.

`collect.sh` next to this module does the work; this adds the window, the topic and the language at its top.
Commitlog files are chosen by the storeTimestamp of their first records, logs and queues by modification time.
"""

import datetime as dt
import shlex
from importlib import resources
from typing import Final

from kit.case.options import instant, window
from kit.formats.printed_times import utc
from kit.i18n import Lang, labels

MARGIN: Final = dt.timedelta(minutes=10)
"""Margin at both ends of the window: clocks differ, and modification times are a little late."""

MESSAGES: Final = labels("collection")["messages"]
Time = dt.datetime | str | None


def script(since: Time = None, until: Time = None, topic: str | None = None, lang: Lang = "en") -> str:
    """Return the script for a window (ISO texts or datetimes, UTC without a zone) and a topic. Raise `ValueError`."""
    first, last = (instant(time or None) for time in (since, until))
    window(first, last)
    values = {
        "SINCE": utc(first).strftime("%Y-%m-%d %H:%M:%S") if first else "",
        "UNTIL": utc(last).strftime("%Y-%m-%d %H:%M:%S") if last else "",
        "SINCE_MARK": (utc(first) - MARGIN).strftime("%Y%m%d%H%M.%S") if first else "",
        "SINCE_S": str(int((first - MARGIN).timestamp())) if first else "",
        "UNTIL_S": str(int((last + MARGIN).timestamp())) if last else "",
        "TOPIC": (topic or "").replace("\0", ""),
        **{f"M_{name}": text.in_(lang) for name, text in MESSAGES.items()},
    }
    head = "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())
    body = resources.files(__package__).joinpath("collect.sh").read_text(encoding="utf-8")
    return "#!/bin/sh\n" + head + body
