"""Thread dumps → one row per thread: `jstack`, `jcmd Thread.print`, `kill -3`, `jcmd Thread.dump_to_file`, Arthas,
and the stacks in `mqadmin consumerStatus -s`.

Layouts of HotSpot 8 to 21: hotspot/share/runtime/vmOperations (VM_PrintThreads), java.lang.StackTraceElement.toString
(module prefixes `app//`, `java.base@17/`), jdk.internal.vm.ThreadDumper (dump_to_file); RocketMQ's own:
common/UtilAll.jstack (`NAME  TID: 27 STATE: RUNNABLE`, then the name before each frame).
"""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from kit.formats.patterns import byte_patterns, patterns
from kit.formats.printed_times import moment, when

LINES: Final = patterns("thread_dumps")
HEADS: Final = byte_patterns("thread_dumps_heads")
_THREADS: Final = ("status", "info", "thread", "dumped")
"""The lines with which a thread begins."""
_LOGGED: Final = byte_patterns("host_tools_heads")["logged"]


@attrs.define
class Thread:
    """One thread of one dump; `line`: the first is 1; `time`: as printed, mostly without a zone."""

    line: int
    dump: int
    time: dt.datetime | None
    thread: str
    state: str | None = None
    frames: list[str] = attrs.field(factory=list)
    frame_lines: list[int] = attrs.field(factory=list)
    locked: list[str] = attrs.field(factory=list)
    waiting_for: str | None = None
    deadlocked: bool = False

    def add(self, number: int, frame: str) -> None:
        # Without modules and class loaders, as `app//` and `java.base@17/`.
        self.frames.append(LINES["in_source"].sub("(", LINES["module"].sub("", frame), count=1))
        self.frame_lines.append(number)


def sniff(head: bytes) -> bool:
    """Return whether a file begins with a thread dump, and is not a log with one further on."""
    match = HEADS["head"].search(head[:16384])
    before = head[: match.start()] if match else b""
    return bool(match) and before.count(b"\n") < 12 and not _LOGGED.search(before)


def parse(text: str) -> list[Thread]:
    """Return the threads of every dump in a text, whatever surrounds them; broken or unknown lines are skipped."""
    threads: list[Thread] = []
    dump, date_line = -1, -9
    part = ""  # of a dump: `threads`, `deadlock` (the report below them), `status` (RocketMQ's own form)
    time: dt.datetime | None = None
    last: Thread | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r")
        if LINES["date"].match(line):  # `dump_to_file` has no title: pid, time, release, then threads
            date_line, time = number, when(line)
        elif LINES["title"].search(line):
            dump, part, last = dump + 1, "threads", None
            time = time if number - date_line <= 2 else None
        elif LINES["deadlock"].match(line):
            part, last = "deadlock", None
        elif part == "deadlock" and (match := LINES["deadlocked"].match(line)):
            named = (each for each in reversed(threads) if each.dump == dump and each.thread == match["name"])
            last = next(named, None)
            if last is None:  # the report alone: its stacks are below it
                dump = max(dump, 0)
                last = Thread(number, dump, time, match["name"])
                threads.append(last)
            last.deadlocked = True
            last = None if last.frames else last
        elif match := next((match for form in _THREADS if (match := LINES[form].match(line))), None):
            if match.re is not LINES["status"]:
                dump, part = max(dump, 0), "status" if part == "status" else "threads"
            elif part != "status":
                dump, time, part = dump + 1, None, "status"
            groups = match.groupdict()
            last = Thread(number, dump, time, groups["name"], groups.get("state"), waiting_for=groups.get("at"))
            threads.append(last)
        elif last and part != "status":
            _detail(number, line, last)
        elif last and line.startswith(last.thread) and (frame := line[len(last.thread) :].strip()):
            last.add(number, frame)
    return threads


def read(raw: bytes, zone: Callable[[int], int]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `threads` in one file. `zone(ms as printed)` gives ms since 1970."""
    for thread in parse(raw.decode("utf-8", "backslashreplace").removeprefix("\ufeff")):
        yield attrs.asdict(thread) | {"time": moment(thread.time, zone)}


def _detail(number: int, line: str, thread: Thread) -> None:
    if match := LINES["state"].match(line):
        thread.state = match["state"]
    elif match := LINES["frame"].match(line) or LINES["bare"].match(line):
        thread.add(number, match["frame"])
    elif match := LINES["owned"].match(line):
        thread.locked.append(match["at"])
    elif (match := LINES["lock"].match(line)) and match["what"] == "locked":
        # Object.wait() releases the monitor it shows as locked further down.
        thread.locked += [match["at"]] if match["at"] != thread.waiting_for else []
    elif match and match["what"] != "eliminated" and thread.waiting_for is None:
        thread.waiting_for = match["at"]
