"""The script that collects evidence where nothing can be installed: POSIX sh, read-only, writes one archive.

`collect.sh` next to this module does the work; this adds the window, the topic and the language at its top.
Commitlog files are chosen by the storeTimestamp of their first records, logs and queues by modification time.
"""

from __future__ import annotations

import datetime as dt
import shlex
from importlib import resources
from typing import Final

from kit.case.options import instant
from kit.formats.printed_times import utc
from kit.i18n import Lang, T

MARGIN: Final = dt.timedelta(minutes=10)
"""Margin at both ends of the window: clocks differ, and modification times are a little late."""

MESSAGES: Final[dict[str, T]] = {
    "USAGE": T("Usage: sh collect.sh [options]. Only reads the store; writes one .tar.gz."),
    "O_LIST": T("only list what would be collected, with sizes"),
    "O_OUT": T("where the archive goes (default: here)"),
    "O_CONF": T("the broker.conf in use (default: that of the running brokers)"),
    "O_STORE": T("the store (default: storePathRootDir, ~/store)"),
    "O_LOGS": T("the logs (default: ~/logs/rocketmqlogs)"),
    "O_APP": T("an application's log, with its rolled files; may be repeated"),
    "O_NAMESRV": T("name server for mqadmin (default: namesrvAddr)"),
    "O_MAX": T("at most N GiB of commitlog, newest first (default 20)"),
    "O_INDEX": T("with the index files (400 MB each)"),
    "NO_DIR": T("no such folder"),
    "UNREADABLE": T("cannot be read"),
    "LEFT_OUT": T("left out, over --max-gb"),
    "OUT_INSIDE": T("is inside the store; nothing is written there"),
    "TOTAL": T("total before compression"),
    "FREE": T("free"),
    "NO_SPACE": T("not enough free space: choose another --out, a shorter window or a smaller --max-gb"),
    "TAR": T("the archive could not be written and was removed"),
    "DONE": T("written:"),
}

EMPTY_WINDOW = T("--since is after --until")


def script(
    since: dt.datetime | str | None = None,
    until: dt.datetime | str | None = None,
    topic: str | None = None,
    lang: Lang = "en",
) -> str:
    """Return the script for a window (ISO texts or datetimes, UTC if they have no zone) and a topic; None: everything.

    Raise ValueError with one sentence for an invalid time or an empty window.
    """
    first, last = (instant(time or None) for time in (since, until))
    if first and last and first > last:
        raise ValueError(EMPTY_WINDOW.render(lang))
    values = {
        "SINCE": _shown(first),
        "UNTIL": _shown(last),
        "SINCE_MARK": (utc(first) - MARGIN).strftime("%Y%m%d%H%M.%S") if first else "",
        "SINCE_S": str(int((first - MARGIN).timestamp())) if first else "",
        "UNTIL_S": str(int((last + MARGIN).timestamp())) if last else "",
        "TOPIC": (topic or "").replace("\0", ""),
        **{f"M_{name}": text.in_(lang) for name, text in MESSAGES.items()},
    }
    head = "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())
    body = resources.files(__package__).joinpath("collect.sh").read_text(encoding="utf-8")
    return "#!/bin/sh\n" + head + body


def _shown(time: dt.datetime | None) -> str:
    return utc(time).strftime("%Y-%m-%d %H:%M:%S") if time else ""
