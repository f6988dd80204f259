"""Thread dumps → one row per thread: `jstack`, `jcmd Thread.print`, `kill -3`, `jcmd Thread.dump_to_file`, Arthas,
and the stacks in `mqadmin consumerStatus -s`.

Layouts of HotSpot 8 to 21: hotspot/share/runtime/vmOperations (VM_PrintThreads), java.lang.StackTraceElement.toString (module prefixes `app//`, `java.base@17/`),
jdk.internal.vm.ThreadDumper (dump_to_file); RocketMQ's own: common/UtilAll.jstack (`NAME  TID: 27 STATE: RUNNABLE`, then the name before each frame).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
import pyarrow as pa

from kit.formats.patterns import byte_patterns, patterns
from kit.formats.values import columns_of

SCHEMA: Final = columns_of("threads")

MARK: Final = b"Full thread dump"

LINES: Final = patterns("thread_dumps")
HEADS: Final = byte_patterns("thread_dumps_heads")


@attrs.define
class Thread:
    """One thread of one dump; `line`: the first is 1; `time`: as printed, without a zone unless `utc`."""

    line: int
    dump: int
    time: dt.datetime | None
    utc: bool
    thread: str
    state: str | None = None
    frames: list[str] = attrs.field(factory=list)
    frame_lines: list[int] = attrs.field(factory=list)
    locked: list[str] = attrs.field(factory=list)
    waiting_for: str | None = None
    waiting_class: str | None = None
    deadlocked: bool = False

    def add(self, number: int, frame: str) -> None:
        self.frames.append(_plain(frame))
        self.frame_lines.append(number)


def sniff(head: bytes) -> bool:
    """Return whether a file begins with a thread dump, and is not a log with one further on."""
    found = HEADS["head"].search(head[:16384])
    return bool(found) and head.count(b"\n", 0, found.start() if found else 0) < 12


def parse(text: str) -> list[Thread]:
    """Return the threads of every dump in a text, whatever surrounds them; broken or unknown lines are skipped."""
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.take(number, line.rstrip("\r"))
    return reader.threads


def read(name: str, raw: bytes, zone: Callable[[int], int]) -> Iterator[pa.RecordBatch]:
    """Yield the rows (`SCHEMA`) of one file. `zone(ms as printed)` gives ms since 1970."""
    text = raw.decode("utf-8", "backslashreplace").removeprefix("\ufeff")
    rows = [_row(name, thread, zone) for thread in parse(text)]
    if rows:
        yield pa.RecordBatch.from_pylist(rows, SCHEMA)


def _row(name: str, thread: Thread, zone: Callable[[int], int]) -> dict[str, Any]:
    row = {"file": name, **attrs.asdict(thread)}
    utc = row.pop("utc")
    if thread.time is not None:
        ms = int(thread.time.replace(tzinfo=dt.UTC).timestamp() * 1000)
        row["time"] = 1000 * (ms if utc else zone(ms))
    return row


class _Reader:
    """The state of the reader: the current dump and thread, and whether it is in a deadlock report."""

    def __init__(self) -> None:
        self.threads: list[Thread] = []
        self._dump = -1
        self._date_line = -9
        self._time: tuple[dt.datetime | None, bool] = (None, False)
        self._thread: Thread | None = None
        self._deadlock = False
        self._status = False

    def take(self, number: int, line: str) -> None:
        if date := LINES["date"].match(line):  # `dump_to_file` has no title: pid, time, release, then threads
            self._date_line, self._time = number, (dt.datetime.fromisoformat(f"{date[1]} {date[2]}"), bool(date[3]))
        elif LINES["title"].search(line):
            self._begin(timed=number - self._date_line <= 2)
        elif LINES["deadlock"].match(line):
            self._deadlock, self._thread = True, None
        elif self._deadlock and (found := LINES["deadlocked"].match(line)):
            named = [each for each in self.threads if each.dump == self._dump and each.thread == found["name"]]
            for thread in named[-1:]:
                thread.deadlocked = True
        elif found := LINES["status"].match(line):
            if not self._status:
                self._begin(timed=False)
            self._start(number, found)
            self._status = True
        elif found := LINES["info"].match(line) or LINES["thread"].match(line) or LINES["dumped"].match(line):
            self._start(number, found)
        elif self._thread is not None:
            (self._status_line if self._status else self._detail)(number, line, self._thread)

    def _begin(self, *, timed: bool) -> None:
        self._dump += 1
        self._time = self._time if timed else (None, False)
        self._thread, self._deadlock, self._status = None, False, False

    def _start(self, number: int, found: re.Match[str]) -> None:
        if self._dump < 0:
            self._begin(timed=True)
        self._deadlock = False
        told = found.groupdict()
        self._thread = Thread(number, self._dump, *self._time, told["name"], told.get("state"))
        self._thread.waiting_for, self._thread.waiting_class = told.get("at"), told.get("class")
        self.threads.append(self._thread)

    @staticmethod
    def _status_line(number: int, line: str, thread: Thread) -> None:
        if line.startswith(thread.thread) and (frame := line[len(thread.thread) :].strip()):
            thread.add(number, frame)
        elif thread.frames and not thread.frames[-1].endswith(")") and line.strip():
            # A terminal broke the line: every frame ends with its source in brackets.
            thread.frames[-1] = _plain(thread.frames[-1] + line.rstrip())

    @staticmethod
    def _detail(number: int, line: str, thread: Thread) -> None:
        if found := LINES["state"].match(line):
            thread.state = found["state"]
        elif found := LINES["frame"].match(line) or LINES["bare"].match(line):
            thread.add(number, found["frame"])
        elif found := LINES["owned"].match(line):
            thread.locked.append(found["at"])
        elif (found := LINES["lock"].match(line)) and found["what"] == "locked":
            # Object.wait() releases the monitor it shows as locked further down.
            thread.locked += [found["at"]] if found["at"] != thread.waiting_for else []
        elif found and found["what"] != "eliminated" and thread.waiting_for is None:
            thread.waiting_for, thread.waiting_class = found["at"], found["class"]


def _plain(frame: str) -> str:
    """Return a frame without modules and class loaders: `app//com.x.Y.z(Y.java:1)`, `java.lang.Thread.run(java.base@17/Thread.java:1)`."""
    return LINES["in_source"].sub("(", LINES["module"].sub("", frame), count=1)
