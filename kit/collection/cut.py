"""A smaller evidence folder: the records and lines of a time window, a topic or some messages, in the same files.

A commitlog file keeps its name and every kept record its position, byte for byte; a range left out becomes the filler
RocketMQ itself writes at the end of a file (`CommitLog.BLANK_MAGIC_CODE`, in DLedger files that of `MmapFileList`),
with a hole after its eight bytes. So offsets, message ids and references stay valid, and a file takes no more disk than
its records. Log entries include their continuation lines. Business tables, configuration, mqadmin outputs, host metrics
and pasted texts are small and are copied completely. Left out: copies of other files, consume queues and indexes
(records tell them; queues without any records are kept), damaged ranges, what was not recognised.
"""

import datetime as dt
import struct
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, Final

import attrs
import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis.messages import trace
from kit.case import output
from kit.case.case import Case
from kit.case.options import window
from kit.case.tables import within
from kit.data import grouped
from kit.evidence.files import open_readonly
from kit.formats.commitlog.schema import COLUMN_OF
from kit.formats.commitlog.segments import examine, spans
from kit.formats.tables import configs
from kit.i18n import T, labels
from kit.inventory import quotes
from kit.inventory.model import STORES, Item
from kit.rocketmq import binary_format as f
from kit.rocketmq import names

WHOLE: Final = (
    "broker_conf", "store_json", "checkpoint", "mqadmin", "metrics", "network", "thread_dump", "text", "source_code",
    "document", "other_systems_log", "abort", "dledger_state", "rows", "sends",
)  # fmt: skip
NAMES: Final = labels("collection")["counts"]
KEPT_OF = T("{kept} of {of}", "{of} 中的 {kept}")
FILLER: Final = 8
"""Bytes of a filler's header."""
_CHUNK: Final = 4 << 20


@attrs.frozen
class Wish:
    """What to keep: what meets all conditions given, else everything. `ids`: UNIQ_KEYs, offset ids, keys."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()


def cut(case: Case, out: Path, wish: Wish) -> dict[str, tuple[int, int]]:
    """Write the smaller evidence into `out`, which must be empty or absent.

    Return what was kept: names of `NAMES` → (kept, there before). `case` must be opened without `since` and `until`.
    Raise `ValueError` if `out` is not empty, or the window is.
    """
    window(wish.since, wish.until)
    items, counts = case.unzoned.items, {name: np.zeros(2, np.int64) for name in NAMES}
    with output.fresh(out, case.lang) as staged:
        lives = trace.records_of(case.facts, wish.ids) if wish.ids else []
        offsets = _offsets(case, wish, lives) if case.has("messages") else {}
        words = set().union(*map(trace.words, lives))
        logs = case.unzoned.of_kind("log", replicas=False)
        mentions = quotes.mentions(logs, [words], most=1 << 40)[0][0]
        lines = grouped((each["file"], each["line"]) for each in mentions)
        whole = WHOLE if case.has("messages") else (*WHOLE, "consumequeue")
        for item in (each for each in items if not each.replica_of):
            target = _place(staged, item.file)
            if item.kind in STORES:
                wanted = offsets.get(item.file, np.empty(0, np.int64))
                counts["records"] += commitlog(item.file, item.path, item.base, wanted, target)
            elif item.kind == "log":
                counts["entries"] += _entries(case, item, wish, lines.get(item.file, []), target)
            elif item.kind in whole:
                _write(item.path, [(0, item.bytes)], target)
        about = [path.stat() for path in staged.rglob("*") if path.is_file()]
    counts["files"] += len(about), len(items) + len(case.unzoned.not_recognised)
    on_disk = sum(min(each.st_size, each.st_blocks * 512) for each in about)  # holes take no disk
    counts["bytes"] += on_disk, sum(item.bytes for item in items)
    return {name: (int(kept), int(before)) for name, (kept, before) in counts.items() if before}


def _place(out: Path, file: str) -> Path:
    """Return the target of a file: its own path, unpacked if it was packed; archives become folders."""
    parts = [part for step in file.split("!/") for part in PurePosixPath(step).parts if part not in ("/", "..", ".")]
    target = out.joinpath(*parts[:-1], parts[-1].removesuffix(".gz"))
    while target.exists():
        target = target.with_name(f"_{target.name}")
    return target


# --- records ----------------------------------------------------------------------------------------------------------


def _offsets(case: Case, wish: Wish, lives: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return the physical offsets of the records to keep, by file, sorted."""
    frame = case.tables.frame("stored_messages")
    if wish.ids:
        known = {r["offset_msg_id"] for life in lives for r in (*life["records"], *life["ops"])}
        keys = sorted({key for life in lives for key in life["uniq_keys"]})
        listed = case.session.createDataFrame([(key,) for key in keys], "uniq_key string")
        frame = _messages(case, frame, F.col("offset_msg_id").isin(sorted(known)), listed)
    if wish.topic is not None:
        columns = "topic", COLUMN_OF[names.REAL_TOPIC], COLUMN_OF[names.RETRY_TOPIC], COLUMN_OF["DLQ_ORIGIN_TOPIC"]
        named = F.greatest(*(F.col(column) == wish.topic for column in columns))
        frame = _messages(case, frame, named, frame.where(named).select("uniq_key").dropna().distinct())
    frame = frame.where(within("store_timestamp", wish.since, wish.until))
    rows = frame.select("file", "physical_offset").toPandas()
    return {str(file): np.unique(own.to_numpy(np.int64)) for file, own in rows.groupby("file")["physical_offset"]}


def _messages(case: Case, frame: DataFrame, named: Column, keys: DataFrame) -> DataFrame:
    """Return the records that are `named` and those of messages with these keys, wherever their copies are, the ops of
    their halves, and the message trace records about them; a record may come twice.
    """
    own = frame.where(named).unionByName(frame.join(keys, "uniq_key", "left_semi").select(*frame.columns))
    brokers = case.tables.frame("store_brokers").select("file", "broker").distinct()
    halves = own.where(F.col("topic") == names.HALF_TOPIC).join(brokers, "file")
    halves = halves.selectExpr("broker", "queue_offset as half_queue_offset")
    ops = case.tables.frame("ops").join(brokers, "file").join(halves, ["broker", "half_queue_offset"], "left_semi")
    own = own.unionByName(frame.join(ops, "offset_msg_id", "left_semi").select(*frame.columns))
    if case.has("traces"):
        about = case.traces.join(keys, F.col("msg_id") == F.col("uniq_key"), "left_semi")
        own = own.unionByName(frame.join(about, ["file", "physical_offset"], "left_semi").select(*frame.columns))
    return own


# --- logs -------------------------------------------------------------------------------------------------------------


def _entries(case: Case, item: Item, wish: Wish, lines: list[int], target: Path) -> tuple[int, int]:
    """Write the entries of a log in the window (without a time: inside) or with a message; a start's settings too."""
    inside = within("ts", wish.since, wish.until) if wish.since or wish.until or not wish.ids else "false"
    query = f"""
        select `offset`, line, {inside}
          or coalesce(source = 'broker' and thread = 'main' and message rlike :printed, false) as kept
        from all_entries where file = :file order by `offset`"""
    asked = case.sql(query, file=item.file, printed=configs.DUMPED).toPandas()
    keep = asked["kept"].to_numpy(bool, copy=True)
    if lines and keep.size:
        keep[np.searchsorted(asked["line"].to_numpy(np.int64), np.array(lines, np.int64), "right") - 1] = True
    # An entry extends to the next, the first begins with the file; adjacent ones are joined.
    limits = np.concatenate(([0], asked["offset"].to_numpy(np.int64)[1:], [item.bytes]))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], keep, [False])).astype(np.int8)))
    _write(item.path, ((int(limits[first]), int(limits[stop])) for first, stop in edges.reshape(-1, 2)), target)
    return int(keep.sum()), int(keep.size)


# --- parts of files ---------------------------------------------------------------------------------------------------


def commitlog(file: str, path: str, base: int | None, offsets: np.ndarray, target: Path) -> tuple[int, int]:
    """Write the records of a commitlog file at these physical offsets (sorted); return how many are kept, of how many.

    A record in the wrong place (with another offset) is kept only right behind a kept one: else nothing could find it.
    """
    known = examine(file, path, base)
    pieces = [np.array([starts, sizes, marks], np.int64) for _, starts, sizes, marks, *_ in spans(known, 0, known.used)]
    starts, sizes, marks = np.concatenate([np.empty((3, 0), np.int64), *pieces], axis=1)
    keep = np.isin(starts + known.base, offsets)
    begins, ends = starts - known.head, starts + sizes
    for i in np.flatnonzero(keep & (marks != 0)).tolist():
        keep[i] = i > 0 and bool(keep[i - 1]) and int(ends[i - 1]) == int(begins[i])
    begins, ends = begins[keep], ends[keep]
    before = np.concatenate(([0], ends[:-1]))
    # Where a gap is too small for filler, what is there stays.
    ranges = zip(np.where(begins - before < FILLER, before, begins).tolist(), ends.tolist(), strict=True)

    def filler(size: int) -> bytes:
        return struct.pack(">ii", f.DLEDGER_BLANK, size) if known.head else struct.pack(">iI", size, f.MAGIC_BLANK)

    _write(path, ranges if begins.size else (), target, filler)
    return int(keep.sum()), int(starts.size)


def _write(
    path: str, ranges: Iterable[tuple[int, int]], target: Path, filler: Callable[[int], bytes] | None = None
) -> None:
    """Write byte ranges of a file, in turn or each in its place behind `filler` of so many bytes; none, no file."""
    parts = list(ranges)
    if not parts:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with open_readonly(path) as source, target.open("xb") as out:
        for begin, end in parts:
            if filler and begin > out.tell():
                out.write(filler(begin - out.tell()))
                out.seek(begin)
            source.seek(begin)
            while data := source.read(max(0, min(_CHUNK, end - source.tell()))):
                out.write(data)
