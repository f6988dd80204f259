"""Recognise a text file by its head: which logger's log, in which layout and encoding."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from kit.formats.logs import fallback_layouts, pasted
from kit.formats.logs import fields as f
from kit.formats.logs import lines as ln
from kit.formats.logs import literal_matcher as nd
from kit.formats.logs.prefix import classify
from kit.rocketmq import catalogue
from kit.rocketmq.log_layouts import NAME_OF_CLIENT, NAME_OF_SOURCE, SOURCES

SAMPLE: Final = 256 << 10
"""Bytes of a file's head that are examined."""

_BROKER_KINDS: Final = (f.BROKER, f.STATS, f.WATERMARK)
_CHINESE: Final = range(0x4E00, 0xA000)


def sniff(head: bytes, name: str) -> dict[str, str | None] | None:
    """Return {"source", "layout", "encoding"} of a text log from its first bytes (up to `SAMPLE`), None if it is no log.

    `source` is the broker-side logger (`broker`, `store`, `transaction`, …), `client`, `app`, `mqadmin` or `text` (other text with log lines or
    texts of RocketMQ). The content decides; `name` only if that is ambiguous. `encoding` is None for UTF-8, else `gb18030` or `utf-16`.
    """
    from kit.formats.tables import host_heads, mqadmin

    head = head[:SAMPLE].lstrip(b"\0")
    encoding = encoding_of(head)
    if encoding == "utf-16":
        text = head.decode("utf-16", "replace").encode()
    elif encoding == "binary":
        return None
    else:
        text = head
    if not text.strip() or host_heads.sniff(text):
        return None
    if mqadmin.sniff(text):
        return {"source": "mqadmin", "layout": "mqadmin", "encoding": encoding}
    if len(head) < SAMPLE:
        text = pasted.tidied(text) or text
    raw = np.frombuffer(bytearray(text), np.uint8)
    starts, ends = ln.lines(raw)
    if starts.size > 1 and len(head) == SAMPLE:
        starts, ends = starts[:-1], ends[:-1]
    rows = classify(raw, starts, ends, f.ANY)
    for i in np.flatnonzero(rows[:, f.KIND] == f.RARE).tolist()[:2000]:
        fallback_layouts.understand(text[starts[i] : ends[i]], int(starts[i]), f.ANY, rows[i], 0)
    kinds = Counter(k for k in rows[:, f.KIND].tolist() if k > f.NONE)
    known = int(catalogue.own(nd.find(nd.known_texts(), raw, starts, ends, np.arange(starts.size))[1]).sum())
    if not kinds:
        return (
            {"source": "text", "layout": "unknown", "encoding": encoding}
            if known or name.lower().endswith((".log", ".out"))
            else None
        )
    kind = kinds.most_common(1)[0][0]
    if kind == f.TIME_ONLY and not known and _table(text, rows):
        return None
    layout = f.SLUG_OF_KIND[kind]
    if kind == f.CLIENT_4 and twice(rows):
        layout = "client-4.3"
    return {
        "source": _source(kind, kinds, rows, raw, starts, ends, name, bool(known)),
        "layout": layout,
        "encoding": encoding,
    }


def twice(rows: np.ndarray) -> bool | None:
    """Return whether a client log prints the seconds in place of milliseconds (4.3.0-4.7.1); None without such lines."""
    mine = rows[(rows[:, f.KIND] == f.CLIENT_4) & (rows[:, f.FRACTION] >= 0)]
    if not mine.shape[0]:
        return None
    return bool((mine[:, f.FRACTION] == mine[:, f.MS] // 1000 % 60).all())


def seconds_twice(head: bytes) -> bool | None:
    """Return `twice` for the lines of a file's head."""
    raw = np.frombuffer(bytearray(head[:SAMPLE]), np.uint8)
    starts, ends = ln.lines(raw)
    return twice(classify(raw, starts, ends, f.CLIENT))


def encoding_of(head: bytes) -> str | None:
    """Return None for UTF-8 (or nearly), `gb18030`, `utf-16`, or `binary`."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    data = np.frombuffer(head, np.uint8)
    text = data[data != 0]
    if text.size < data.size / 2:
        return "binary"
    odd = np.count_nonzero((text < 9) | ((text > 13) & (text < 32) & (text != 27)) | (text == 127))
    if odd * 50 > text.size:
        return "binary"
    if not (text >= 0x80).any():
        return None
    try:
        head[:-4].decode("utf-8")
        return None
    except UnicodeDecodeError as failed:
        if len(head) - failed.start < 8:
            return None
    decoded = head[:-4].decode("gb18030", "replace")
    foreign = [c for c in decoded if ord(c) >= 0x80]
    chinese = sum(ord(c) in _CHINESE or 0x3000 <= ord(c) < 0x3040 or 0xFF00 <= ord(c) < 0xFFF0 for c in foreign)
    if foreign and chinese >= 0.8 * len(foreign):
        return "gb18030"
    return "binary" if np.count_nonzero(text >= 0x80) * 3 > text.size else None


def _table(text: bytes, rows: np.ndarray) -> bool:
    """Return whether the lines that begin with a time look like rows of a CSV file."""
    mine = rows[rows[:, f.KIND] == f.TIME_ONLY]
    return sum(text[int(r[f.TS1]) : int(r[f.TS1]) + 1] in (b",", b";", b"\t", b'"') for r in mine) > mine.shape[0] / 2


def _source(
    kind: int,
    kinds: Counter[int],
    rows: np.ndarray,
    raw: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    name: str,
    known: bool,
) -> str:
    headed = rows[:, f.KIND] > f.NONE
    loose = [
        i
        for i in np.flatnonzero(~headed).tolist()
        if ends[i] > starts[i] and not _trace_like(raw[starts[i] : ends[i]].tobytes()[:80])
    ]
    families = Counter[str]()
    for k, n in kinds.items():
        families[_family(k)] += n
    # A log with a few foreign lines stays a log; a quarter of them make it a paste, and so do two pieces that somebody fenced.
    fences = sum(1 for i in loose if raw[starts[i] : starts[i] + 3].tobytes() == b"```")
    if (
        fences > 2
        or f.CHAT in kinds
        or len(families) > 2
        or (len(families) == 2 and min(families.values()) * 4 > families.total())
    ):
        return "text"
    if len(loose) > headed.sum() and not headed[0] and not name.lower().endswith(".log"):
        return "text"
    if kind in (f.CLIENT_4, f.CLIENT_5):
        return "client"
    if kind in _BROKER_KINDS:
        return _broker_source(rows, raw, ends, kinds, name)
    by_name = NAME_OF_SOURCE.search(name)
    if by_name and known and not any(rows[:, f.THREAD0] >= 0):
        return by_name.group(1).lower()
    if NAME_OF_CLIENT.search(name) and known:
        return "client"
    return "app"


def _family(kind: int) -> str:
    return "broker" if kind in _BROKER_KINDS else "client" if kind in (f.CLIENT_4, f.CLIENT_5) else "app"


def _trace_like(line: bytes) -> bool:
    return line[:1] in (b"\t", b" ") or line.startswith((b"Caused by", b"at ", b"For more information", b"..."))


_THREADS: Final = (
    b"Thread_",
    b"Service",
    b"Scheduled",
    b"Netty",
    b"ShutdownHook",
    b"main",
    b"Selector",
    b"Entry",
    b"MemberStateMaintainer",
    b"QuorumAckChecker",
    b"Executor",
    b"Thread-",
    b"DLedger",
    b"Checker",
    b"Handler",
    b"brokerOuter",
    b"HA",
)


def _broker_source(rows: np.ndarray, raw: np.ndarray, ends: np.ndarray, kinds: Counter[int], name: str) -> str:
    """Return the broker-side logger whose typical texts occur most in the lines, by file name if none do."""
    headed = np.flatnonzero(rows[:, f.KIND] > f.NONE)
    score: Counter[str] = Counter()
    named_threads: Counter[bytes] = Counter()
    text = raw.tobytes()
    there = [(source.slug, [m for m in source.markers if m in text]) for source in SOURCES]
    there = [(slug, markers) for slug, markers in there if markers]
    for i in headed[:4000].tolist():
        named_threads[text[rows[i, f.THREAD0] : rows[i, f.THREAD1]] if rows[i, f.THREAD0] >= 0 else b""] += 1
        message = text[rows[i, f.MESSAGE] : min(ends[i], rows[i, f.MESSAGE] + 2000)]
        for slug, markers in there:
            if any(m in message for m in markers):
                score[slug] += 2
                break
    threads = sum(n for thread, n in named_threads.items() if any(t in thread for t in _THREADS))
    by_name = NAME_OF_SOURCE.search(name)
    if score:
        best, points = score.most_common(1)[0]
        # A file name that also fits beats a narrow lead: several loggers print the same lines at start and stop.
        named = by_name.group(1).lower() if by_name else ""
        return (
            named
            if named in score and score[named] * 3 >= points
            else best
            if points >= headed.size / 10 or not named
            else named
        )
    if by_name:
        return by_name.group(1).lower()
    if kinds.get(f.STATS, 0) + kinds.get(f.WATERMARK, 0) > headed.size / 2:
        return "stats" if kinds.get(f.STATS) else "watermark"
    return "broker_default" if threads * 2 >= headed.size else "app"
