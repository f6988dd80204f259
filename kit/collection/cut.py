"""A smaller evidence folder: the records, lines and rows of a time window, a topic or some messages, in the same files.

A commitlog file keeps its name and every kept record its position, byte for byte; a range left out becomes the filler RocketMQ itself writes at
the end of a file (`CommitLog.BLANK_MAGIC_CODE`, in DLedger files that of `MmapFileList`), with a hole after its eight bytes. So offsets, message ids
and references stay valid, the file consists of filler and records only, and it takes no more disk than its records. Queue units keep their positions too;
log entries include their continuation lines, business rows their header. Configuration, mqadmin outputs, host metrics and pasted texts are small and are
copied completely. Left out, and counted: copies of other files, indexes (they can be built from the records), damaged ranges, and what was not recognised.
"""

from __future__ import annotations

import datetime as dt
import io
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd

from kit.case import output
from kit.case.tables import within
from kit.collection.collect import EMPTY_WINDOW
from kit.evidence.files import open_readonly
from kit.formats.commitlog.schema import promoted
from kit.formats.commitlog.segments import examine, spans
from kit.formats.queues import consumequeue
from kit.formats.tables import configs
from kit.i18n import Lang, T, labels
from kit.inventory import mentions
from kit.inventory.model import STORES
from kit.rocketmq import binary_format as f
from kit.rocketmq import names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case
    from kit.inventory.model import Item

WHOLE: Final = (
    "broker_conf", "store_json", "checkpoint", "mqadmin", "metrics", "network", "thread_dump", "text", "source_code",
    "document", "other_systems_log", "abort", "dledger_state",
)  # fmt: skip

NAMES: Final = labels("collection")["counts"]
KEPT_OF = T("{kept} of {of}", "{of} 中的 {kept}")


@attrs.frozen
class Wish:
    """What to keep: what satisfies all conditions given; without any, everything. `ids`: UNIQ_KEYs, offset ids or business keys."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()

    @property
    def window(self) -> bool:
        return self.since is not None or self.until is not None


def cut(case: Case, out: Path, wish: Wish) -> dict[str, tuple[int, int] | int]:
    """Write the smaller evidence into `out`, which must be empty or absent.

    Return what was kept: names of `NAMES` → (kept, there before), or a number. `case` must be opened without `since` and `until`. Raise `ValueError`
    if `out` is not empty, or the window is.
    """
    if wish.since and wish.until and wish.since > wish.until:
        raise ValueError(EMPTY_WINDOW.render(case.lang))
    output.fresh(out, case.lang)
    lives = _lives(case, wish.ids)
    offsets = _offsets(case, wish, lives) if case.has("messages") else {}
    counted: Counter[str] = Counter()
    before: Counter[str] = Counter()
    points = np.unique(np.concatenate([np.empty(0, np.int64), *offsets.values()]))
    spoken = _mentions(case, lives) if wish.ids else {}
    taken: set[Path] = set()
    for item in case.found.items:
        before["files"] += 1
        before["bytes"] += item.bytes
        if item.replica_of:
            counted["copies"] += 1
            continue
        target = _place(out, item.file, taken)
        name, part = _one(case, item, wish, target, offsets, points, spoken)
        counted[name] += part.kept
        before[name] += part.of
        counted["bytes"] += part.bytes
    counted["files"] = sum(1 for path in out.rglob("*") if path.is_file())
    counted["unknown"] += len(case.found.not_recognised)
    told: dict[str, tuple[int, int] | int] = {}
    for name in NAMES:
        if name in ("copies", "built", "unknown"):
            told |= {name: counted[name]} if counted[name] else {}
        elif before[name]:
            told[name] = (counted[name], before[name])
    return told


def count_text(count: tuple[int, int] | int, lang: Lang) -> str:
    """Return a count of `cut` for a reader."""
    return f"{count:,}" if isinstance(count, int) else KEPT_OF.say(kept=count[0], of=count[1]).render(lang)


def _one(
    case: Case,
    item: Item,
    wish: Wish,
    target: Path,
    offsets: dict[str, Longs],
    points: Longs,
    spoken: dict[str, list[int]],
) -> tuple[str, Part]:
    """Write the kept part of one file; return its count's name."""
    if item.kind in STORES:
        return "records", commitlog(
            item.file, item.path, item.base, offsets.get(item.file, np.empty(0, np.int64)), target
        )
    if item.kind == "consumequeue" and item.detail.get("unit", "plain") == "plain":
        return "units", queue(item.file, item.path, points, target)
    if item.kind == "log":
        begins, keep = _entries(case, item, wish, spoken.get(item.file))
        return "entries", Part(
            int(keep.sum()), int(keep.size), ranges(item.path, _runs(begins, keep, item.bytes), target)
        )
    if item.kind in ("rows", "sends") and item.detail.get("dialect") and wish.window:
        return "rows", _rows(case, item, wish, target)
    if item.kind in (*WHOLE, "rows", "sends"):
        return "whole", Part(0, 0, copy_whole(item.path, item.bytes, target))
    return ("unknown" if item.kind in ("empty", "other", "lock") else "built"), Part(1, 1, 0)


def _place(out: Path, file: str, taken: set[Path]) -> Path:
    """Return the target of a file: its own path, unpacked if it was packed; archives become folders."""
    parts = [part for step in file.split("!/") for part in PurePosixPath(step).parts if part not in ("/", "..", ".")]
    if parts[-1].endswith(".gz"):
        parts[-1] = parts[-1].removesuffix(".gz")
    target = out.joinpath(*parts)
    while target in taken:
        target = target.with_name(f"_{target.name}")
    taken.add(target)
    return target


# --- records -------------------------------------------------------------------------------------------------------------


def _lives(case: Case, ids: Sequence[str]) -> list[dict[str, Any]]:
    from kit.analysis.messages import trace

    return trace.traces(case, ids) if ids else []


def _offsets(case: Case, wish: Wish, lives: list[dict[str, Any]]) -> dict[str, Longs]:
    """Return the physical offsets of the records to keep, by file, sorted."""
    frame = case.stored_messages.where(within("store_timestamp", wish.since, wish.until))
    if wish.ids:
        frame = _of_messages(case, frame, lives)
    if wish.topic is not None:
        frame = _of_topic(case, frame, wish.topic)
    rows = frame.select("file", "physical_offset").toPandas()
    return {str(file): np.unique(mine.to_numpy(np.int64)) for file, mine in rows.groupby("file")["physical_offset"]}


def _of_messages(case: Case, frame: DataFrame, lives: list[dict[str, Any]]) -> DataFrame:
    """Return the records of these messages, and the message trace records about them."""
    from pyspark.sql import functions as F  # noqa: N812

    known = {r["offset_msg_id"] for life in lives for r in (*life["records"], *life["ops"])}
    keys = {key for life in lives for key in life["uniq_keys"]}
    kept = frame.where(F.col("offset_msg_id").isin(sorted(known)) | F.col("uniq_key").isin(sorted(keys)))
    listed = case.session.createDataFrame([(key,) for key in sorted(keys)], "uniq_key string")
    return _with_traces(case, frame, kept, listed)


def _with_traces(case: Case, frame: DataFrame, kept: DataFrame, keys: DataFrame) -> DataFrame:
    """Add the message trace records of these messages."""
    from pyspark.sql import functions as F  # noqa: N812

    if not case.has("traces"):
        return kept
    about = case.traces.join(keys, F.col("msg_id") == F.col("uniq_key"), "left_semi")
    places = about.select("file", "physical_offset").distinct()
    return kept.unionByName(frame.join(places, ["file", "physical_offset"], "left_semi").select(*frame.columns))


def _of_topic(case: Case, frame: DataFrame, topic: str) -> DataFrame:
    """Return the records of all messages sent to a topic, wherever their copies are, and the op records of their half messages."""
    from pyspark.sql import functions as F  # noqa: N812

    names_topic = [
        F.col(column) == topic
        for column in ("topic", *map(promoted, (names.REAL_TOPIC, names.RETRY_TOPIC, "DLQ_ORIGIN_TOPIC")))
    ]
    meant = F.coalesce(F.greatest(*(F.coalesce(each, F.lit(False)) for each in names_topic)), F.lit(False))
    keys = frame.where(meant).where("uniq_key is not null").select("uniq_key").distinct()
    others = frame.where(~meant).join(keys, "uniq_key", "left_semi").select(*frame.columns)
    mine = frame.where(meant).unionByName(others)
    brokers = case.tables.frame("half_brokers").select("file", "broker").distinct()
    halves = mine.where(F.col("topic") == names.HALF_TOPIC).join(brokers, "file")
    halves = halves.selectExpr("broker", "queue_offset as half_queue_offset")
    ending = case.ops.join(brokers, "file").join(halves, ["broker", "half_queue_offset"], "left_semi")
    ops = frame.where(F.col("topic") == names.OP_TOPIC).join(
        ending.select("offset_msg_id").distinct(), "offset_msg_id", "left_semi"
    )
    return _with_traces(case, frame, mine, keys).unionByName(ops.select(*frame.columns))


# --- texts ---------------------------------------------------------------------------------------------------------------


def _mentions(case: Case, lives: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return the lines of each log that mention one of the messages, by any id of any copy or by a business key."""
    words = {word for life in lives for word in (life["id"], *life["uniq_keys"])}
    for record in (r for life in lives for r in (*life["records"], *life["ops"])):
        words |= {record["offset_msg_id"], *(record.get("keys") or "").split()}
    texts = [mentions.Text(i.file, i.path, i.detail.get("encoding")) for i in case.found.of_kind("log", replicas=False)]
    found, _ = mentions.search(texts, words, most=1 << 40)
    lines: dict[str, list[int]] = {}
    for one in found:
        lines.setdefault(one.file, []).append(one.line)
    return lines


def _entries(case: Case, item: Item, wish: Wish, lines: list[int] | None) -> tuple[Longs, np.ndarray]:
    """Return where the entries of a log begin and which are kept: those in the window, or that mention a message; settings printed at a start always."""
    asked = case.sql(
        """
        select `offset`, line, ts,
          coalesce(source = 'broker' and thread = 'main' and message rlike :printed, false) as started
        from all_entries where file = :file order by `offset`""",
        file=item.file,
        printed=configs.DUMPED,
    ).toPandas()
    begins = asked["offset"].to_numpy(np.int64)
    if not (wish.window or wish.ids):
        return begins, np.ones(begins.size, bool)
    keep = asked["started"].to_numpy(bool)
    if wish.window:
        keep = keep | _inside(asked["ts"], wish)
    if lines:
        keep = keep.copy()
        keep[np.searchsorted(asked["line"].to_numpy(np.int64), np.array(lines), "right") - 1] = True
    return begins, keep


def _inside(times: pd.Series, wish: Wish) -> np.ndarray:
    """Return which times are in the window; a missing time counts as inside."""
    known = pd.to_datetime(times, utc=True)
    inside = np.ones(len(times), bool)
    if wish.since is not None:
        inside &= (known.isna() | (known >= wish.since)).to_numpy()
    if wish.until is not None:
        inside &= (known.isna() | (known <= wish.until)).to_numpy()
    return inside


def _runs(begins: Longs, keep: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of kept entries, adjacent ones joined; an entry extends to the next, the first from the start of the file."""
    ends = np.append(begins[1:], size)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], keep, [False])).astype(np.int8)))
    for first, stop in edges.reshape(-1, 2).tolist():
        yield (0 if first == 0 else int(begins[first])), int(ends[stop - 1])


def _rows(case: Case, item: Item, wish: Wish, target: Path) -> Part:
    """Keep the rows of a table whose time is in the window or unknown, and all lines before the first row."""
    table, time = ("sends", "start") if item.kind == "sends" else ("rows", "time")
    rows = case.sql(
        f"select line, {time} as time from {table} where file = :file order by line", file=item.file
    ).toPandas()
    keep = _inside(rows["time"], wish)
    with open_readonly(item.path) as source:
        feeds, at = [np.zeros(1, np.int64)], 0
        while data := source.read(4 << 20):
            feeds.append(np.flatnonzero(np.frombuffer(data, np.uint8) == 10) + at + 1)
            at += len(data)
    lines = np.concatenate(feeds)
    begins = lines[np.minimum(rows["line"].to_numpy(np.int64) - 1, lines.size - 1)]
    runs = list(_runs(begins, keep, item.bytes))
    head = int(begins[0]) if begins.size else item.bytes
    wanted = [(0, head), *((max(a, head), b) for a, b in runs)]
    return Part(int(keep.sum()), int(keep.size), ranges(item.path, [(a, b) for a, b in wanted if a < b], target))


# --- parts of files ---------------------------------------------------------------------------------------------------

_CHUNK: Final = 4 << 20
_HEADER: Final = 8
_MOST: Final = (1 << 31) - 1
"""A filler's length is an int32; after a longer range a new file begins, named as in RocketMQ."""

Longs = np.ndarray[tuple[int], np.dtype[np.int64]]


@attrs.frozen
class Part:
    """What was written of one file: records (or units, entries, rows) kept and before, and their bytes."""

    kept: int
    of: int
    bytes: int


def commitlog(file: str, path: str, base: int | None, offsets: Longs, target: Path) -> Part:
    """Write the records of a commitlog file that begin at these physical offsets (sorted) to `target`; no file without such records.

    A record in the wrong place (with another offset) is kept only right after a kept one: otherwise nothing could find it again.
    """
    known = examine(file, path, base)
    pieces = [
        (starts.copy(), sizes.copy(), marks.copy()) for _, starts, sizes, marks, *_ in spans(known, 0, known.used)
    ]
    empty = np.empty(0, np.int64)
    starts, sizes, marks = (
        (np.concatenate(column) if column else empty for column in zip(*pieces, strict=True))
        if pieces
        else (empty, empty, empty)
    )
    keep = np.isin(starts + known.base, offsets)
    begins, ends = starts - known.head, starts + sizes
    for i in np.flatnonzero(keep & (marks != 0)).tolist():
        keep[i] = i > 0 and bool(keep[i - 1]) and int(ends[i - 1]) == int(begins[i])
    runs = _joined(begins[keep], ends[keep])
    if runs:
        with open_readonly(path) as source:
            _write(source, runs, known.base, bool(known.head), target)
    return Part(int(keep.sum()), int(starts.size), int((ends - begins)[keep].sum()))


def _joined(begins: Longs, ends: Longs) -> list[tuple[int, int]]:
    """Join ranges that are closer than a filler's header; what is between them is kept."""
    if not begins.size:
        return []
    apart = np.flatnonzero(begins[1:] - ends[:-1] >= _HEADER)
    return list(
        zip(begins[np.append(0, apart + 1)].tolist(), ends[np.append(apart, begins.size - 1)].tolist(), strict=True)
    )


def _write(source: io.BufferedReader, runs: list[tuple[int, int]], base: int, dledger: bool, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    out = None
    zero = at = 0
    try:
        for begin, end in runs:
            if out is not None and begin - at > _MOST:
                out.close()
                out = None
            if out is None:
                far = begin > _MOST or at > 0
                zero = at = begin if far else 0
                out = (target.with_name(f"{base + begin:0{f.FILE_NAME_DIGITS}}") if far else target).open("xb")
            if 0 < begin - at < _HEADER:  # only before the first record: it cannot be filler
                copy(source, at, begin, out)
            elif begin > at:
                size = begin - at
                out.write(
                    struct.pack(">ii", f.DLEDGER_BLANK, size) if dledger else struct.pack(">iI", size, f.MAGIC_BLANK)
                )
                out.seek(begin - zero)
            copy(source, begin, end, out)
            at = end
    finally:
        if out is not None:
            out.close()


def copy(source: io.BufferedReader, start: int, end: int, out: io.BufferedWriter) -> None:
    """Append the bytes [start, end) of a file."""
    source.seek(start)
    while start < end and (data := source.read(min(_CHUNK, end - start))):
        out.write(data)
        start += len(data)


def ranges(path: str, wanted: Iterable[tuple[int, int]], target: Path) -> int:
    """Write the byte ranges of a file one after another; return the bytes written. No file without ranges."""
    total = 0
    parts = list(wanted)
    if parts:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_readonly(path) as source, target.open("xb") as out:
            for start, end in parts:
                copy(source, start, end, out)
            total = out.tell()
    return total


def copy_whole(path: str, size: int, target: Path) -> int:
    """Copy a file; return its bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_readonly(path) as source, target.open("xb") as out:
        copy(source, 0, size, out)
        return out.tell()


def queue(file: str, path: str, offsets: Longs, target: Path) -> Part:
    """Write a plain consume queue with the units that point to these physical offsets, at their positions; the others become `fillPreBlank`'s."""
    with open_readonly(path) as source:
        raw = np.frombuffer(source.read(), np.uint8)
    units = raw[: raw.size // f.CQ_UNIT * f.CQ_UNIT].view(consumequeue.PLAIN).copy()
    used = (units["size"] != 0) & (units["size"] != f.CQ_PREFILL_SIZE)
    keep = used & np.isin(units["physical_offset"].astype(np.int64), offsets)
    count = int(keep.sum())
    if count:
        units = units[: int(np.flatnonzero(keep)[-1]) + 1]
        units[~keep[: units.size]] = np.array((0, f.CQ_PREFILL_SIZE, 0), consumequeue.PLAIN)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            out.write(units.tobytes())
    return Part(count, int(used.sum()), count * f.CQ_UNIT)
