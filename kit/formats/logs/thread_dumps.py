"""Thread dumps → one row per thread: `jstack`, `jcmd Thread.print`, `kill -3`, `jcmd Thread.dump_to_file`, Arthas,
and the stacks in `mqadmin consumerStatus -s`.

Layouts of HotSpot 8 to 21: hotspot/share/runtime/vmOperations (VM_PrintThreads), java.lang.StackTraceElement.toString
(module prefixes `app//`, `java.base@17/`), jdk.internal.vm.ThreadDumper (dump_to_file); RocketMQ's own:
common/UtilAll.jstack (`NAME  TID: 27 STATE: RUNNABLE`, then the name before each frame).
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from kit.formats.patterns import byte_patterns, patterns
from kit.formats.printed_times import moment, when

LINES: Final = patterns("thread_dumps")
HEADS: Final = byte_patterns("thread_dumps_heads")
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
    dumps = _Dumps()
    for number, line in enumerate(text.split("\n"), 1):
        dumps.take(number, line.rstrip("\r"))
    return dumps.threads


def read(raw: bytes, zone: Callable[[int], int]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `threads` in one file. `zone(ms as printed)` gives ms since 1970."""
    for thread in parse(raw.decode("utf-8", "backslashreplace").removeprefix("\ufeff")):
        yield attrs.asdict(thread) | {"time": moment(thread.time, zone)}


@attrs.define
class _Dumps:
    """What was read so far: the threads, the last one of which may go on, and where in a dump the last line was."""

    threads: list[Thread] = attrs.field(factory=list)
    number: int = -1
    date_line: int = -9
    time: dt.datetime | None = None
    part: str = ""
    """`threads`, `deadlock` (the report below them) or `status` (RocketMQ's own form)."""
    is_inside: bool = False

    def take(self, number: int, line: str) -> None:
        if LINES["date"].match(line):  # `dump_to_file` has no title: pid, time, release, then threads
            self.date_line, self.time = number, when(line)
        elif LINES["title"].search(line):
            self.begin(timed=number - self.date_line <= 2)
        elif LINES["deadlock"].match(line):
            self.part, self.is_inside = "deadlock", False
        elif self.part == "deadlock" and (match := LINES["deadlocked"].match(line)):
            named = [each for each in self.threads if each.dump == self.number and each.thread == match["name"]]
            if not named:
                self.add(number, match, "deadlock")  # the report alone: its stacks are below it
            elif not named[-1].frames:
                self.threads.append(self.threads.pop(self.threads.index(named[-1])))
                self.is_inside = True
            for thread in named[-1:] or self.threads[-1:]:
                thread.deadlocked = True
        elif match := LINES["status"].match(line):
            if self.part != "status":
                self.begin(timed=False)
            self.add(number, match, "status")
        elif match := LINES["info"].match(line) or LINES["thread"].match(line) or LINES["dumped"].match(line):
            self.add(number, match, "status" if self.part == "status" else "threads")
        elif self.is_inside and self.part != "status":
            _detail(number, line, self.threads[-1])
        elif (
            self.is_inside and line.startswith(name := self.threads[-1].thread) and (frame := line[len(name) :].strip())
        ):
            self.threads[-1].add(number, frame)

    def begin(self, *, timed: bool) -> None:
        self.number += 1
        self.time = self.time if timed else None
        self.part, self.is_inside = "threads", False

    def add(self, number: int, match: re.Match[str], part: str) -> None:
        if self.number < 0:
            self.begin(timed=True)
        groups = match.groupdict()
        thread = Thread(number, self.number, self.time, groups["name"], groups.get("state"))
        thread.waiting_for = groups.get("at")
        self.threads.append(thread)
        self.part, self.is_inside = part, True


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
