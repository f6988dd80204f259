"""Recognise a text file by its head: which logger's log, in which layout and encoding."""

from collections import Counter
from typing import Any, Final

import numpy as np

from kit.formats.logs import source_code, times
from kit.formats.logs.entries import lines
from kit.formats.logs.known_texts import known_texts
from kit.formats.logs.layouts import Matches, classify, unwrapped
from kit.formats.tables import delimited, metrics, mqadmin
from kit.formats.values import ranges
from kit.rocketmq import catalogue
from kit.rocketmq.log_layouts import LAYOUTS, NAME_OF_CLIENT, NAME_OF_LOG, NAME_OF_SOURCE, OF, SOURCES

SAMPLE: Final = 256 << 10
"""Bytes of a file's head that are examined."""


def sniff(head: bytes, name: str) -> dict[str, Any] | None:
    """Return {"source", "layout", "encoding", "seconds_twice"} of a text log from its first bytes (`SAMPLE`), or None.

    `source` is the broker-side logger (`broker`, `store`, …), `client`, `app`, `mqadmin` or `text` (with log lines).
    The content decides; `name` only if that is ambiguous. `encoding` is None for UTF-8, else `gb18030`.
    `seconds_twice`: see `_Lines`; absent where no line has a layout.
    """
    head = head[:SAMPLE].lstrip(b"\0")
    codec = delimited.encoding(head)
    if codec is None or not head.strip():
        return None
    encoding = None if codec.startswith("utf-8") else codec
    if mqadmin.sniff(head):
        return {"source": "mqadmin", "layout": "mqadmin", "encoding": encoding}
    whole = len(head) < SAMPLE
    log = _Lines(source_code.tidied(head) if whole else head, whole=whole)
    layouts = Counter(log.layouts[log.layouts != ""].tolist())
    texts = known_texts().find(ranges(log.text, log.starts, log.ends))[1]
    known = any(catalogue.IN_LOGS[group].own for group in np.unique(texts))
    if metrics.sniff(head) and not known:
        return None
    if not layouts:
        is_text = known or name.lower().endswith((".log", ".out"))
        return {"source": "text", "layout": "unknown", "encoding": encoding} if is_text else None
    layout = layouts.most_common(1)[0][0]
    if layout == "time-only" and not known:
        timed = np.flatnonzero(log.layouts == "time-only")
        behind = [log.text[at : at + 1] for at in log.matches.message[timed].tolist()]
        if sum(char in (b",", b";", b"\t", b'"') for char in behind) * 2 > timed.size:
            return None  # rows of a CSV file begin with a time too
    source = _source(log, layout, layouts, name, known)
    return {"source": source, "layout": layout, "encoding": encoding, "seconds_twice": log.seconds_twice}


class _Lines:
    """The lines of a file's head and the layout of each ("": none)."""

    def __init__(self, text: bytes, *, whole: bool) -> None:
        starts, ends = lines(text)
        if starts.size > 1 and not whole:
            starts, ends = starts[:-1], ends[:-1]
        self.text, self.starts, self.ends = unwrapped(text, starts, ends, "text")
        self.matches: Matches = classify(self.text, self.starts, self.ends, "text")
        self.layouts = np.array([*(row.layout for row in LAYOUTS), ""])[self.matches.row]
        self.seconds_twice: bool | None = None
        """Whether a client log prints the seconds in place of milliseconds (4.3.0-4.7.1); None without such lines."""
        client = np.flatnonzero(self.layouts == "client-4.3")
        if client.size:
            printed = times.parse(self.matches.column("ts", client))
            self.seconds_twice = bool((printed.fraction == printed.ms // 1000 % 60).all())
            self.layouts[client] = "client-4.3" if self.seconds_twice else "client-4.8"


def _source(log: _Lines, layout: str, layouts: Counter[str], name: str, known: bool) -> str:
    headed = log.layouts != ""
    loose = [
        line
        for at, end in zip(log.starts[~headed].tolist(), log.ends[~headed].tolist(), strict=True)
        if (line := log.text[at : min(end, at + 80)]) and not line.startswith(_OF_TRACES)
    ]
    families = Counter(OF[each] for each in layouts.elements())
    # A log with a few foreign lines stays a log; a quarter of them, or two fenced pieces, make it a paste.
    mixed = len(families) > 2 or (len(families) == 2 and min(families.values()) * 4 > families.total())
    if mixed or sum(line.startswith(b"```") for line in loose) > 2 or layouts.keys() & COPIED:
        return "text"
    if len(loose) > headed.sum() and not headed[0] and not NAME_OF_LOG.search(name):
        return "text"
    if OF[layout] == "client":
        return "client"
    by_name = NAME_OF_SOURCE.search(name)
    named = by_name[1].lower() if by_name else ""
    if OF[layout] == "broker":
        return _broker_source(log, named)
    if named and known and not log.matches.column("thread", np.flatnonzero(headed)).drop_null():
        return named
    return "client" if NAME_OF_CLIENT.search(name) and known else "app"


COPIED: Final = {"chat", "terminal"}
"""Layouts that nothing writes into a file: somebody copied the lines."""
_OF_TRACES: Final = (b"\t", b" ", b"Caused by", b"at ", b"For more information", b"...")
"""How lines of stack traces begin."""
_THREADS: Final = (
    b"Thread_", b"Service", b"Scheduled", b"Netty", b"ShutdownHook", b"main", b"Selector", b"Entry",
    b"MemberStateMaintainer", b"QuorumAckChecker", b"Executor", b"Thread-", b"DLedger", b"Checker", b"Handler",
    b"brokerOuter", b"HA",
)  # fmt: skip


def _broker_source(log: _Lines, named: str) -> str:
    """Return the broker-side logger whose typical texts occur most in the lines, the one `named` if none do."""
    headed = np.flatnonzero(log.layouts != "")
    present = [(source, [m for text in each if (m := text.encode()) in log.text]) for source, each in SOURCES.items()]
    score: Counter[str] = Counter()
    for begin, end in zip(log.matches.message[headed[:4000]].tolist(), log.ends[headed[:4000]].tolist(), strict=True):
        message = log.text[begin : min(end, begin + 2000)]
        score.update([source for source, each in present if any(m in message for m in each)][:1])
    best, points = score.most_common(1)[0] if score else ("", 0)
    # A file name that also fits beats a narrow lead: several loggers print the same lines at start and stop.
    if named and (score[named] * 3 >= points or points * 2 < headed.size / 10):
        return named
    if best:
        return best
    threads = Counter(log.matches.column("thread", headed[:4000]).drop_null().to_pylist())
    own = sum(count for thread, count in threads.items() if any(each in thread for each in _THREADS))
    return "broker_default" if own * 2 >= headed.size else "app"
