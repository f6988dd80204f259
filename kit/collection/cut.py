"""A smaller evidence folder: the records and lines of a time window, a topic or some messages, in the same files.

A commitlog file keeps its name and every kept record its position, byte for byte; a range left out becomes the filler
RocketMQ itself writes at the end of a file (`CommitLog.BLANK_MAGIC_CODE`, in DLedger files that of `MmapFileList`),
with a hole after its eight bytes. So offsets, message ids and references stay valid, and a file takes no more disk than
its records. Queue units keep their positions too; log entries include their continuation lines. Business tables,
configuration, mqadmin outputs, host metrics and pasted texts are small and are copied completely. Left out, and
counted: copies of other files, indexes (records tell them), damaged ranges, what was not recognised.
"""

import datetime as dt
import struct
from collections import Counter
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
from kit.evidence.files import beginning, open_readonly
from kit.formats import queues
from kit.formats.commitlog.schema import COLUMN_OF
from kit.formats.commitlog.segments import examine, spans
from kit.formats.tables import configs
from kit.i18n import Lang, T, labels
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

Longs = np.ndarray[tuple[int], np.dtype[np.int64]]
NONE: Final[Longs] = np.empty(0, np.int64)


@attrs.frozen
class Wish:
    """What to keep: what meets all conditions given, else everything. `ids`: UNIQ_KEYs, offset ids, keys."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None
    topic: str | None = None
    ids: tuple[str, ...] = ()


def cut(case: Case, out: Path, wish: Wish) -> dict[str, tuple[int, int] | int]:
    """Write the smaller evidence into `out`, which must be empty or absent.

    Return what was kept: names of `NAMES` → (kept, there before), or a number. `case` must be opened without `since`
    and `until`. Raise `ValueError` if `out` is not empty, or the window is.
    """
    window(wish.since, wish.until)
    with output.fresh(out, case.lang) as staged:
        return _cut(case, staged, wish)


def _cut(case: Case, out: Path, wish: Wish) -> dict[str, tuple[int, int] | int]:
    lives = trace.records_of(case.facts, wish.ids) if wish.ids else []
    offsets = _offsets(case, wish, lives) if case.has("messages") else {}
    points = np.unique(np.concatenate([NONE, *offsets.values()]))
    lines = _mentions(case, lives) if wish.ids else {}
    kept, every = Counter[str](), Counter[str]()
    left_out = Counter(unknown=len(case.unzoned.not_recognised))
    for item in case.unzoned.items:
        target, name, count = _place(out, item.file), "", (0, 0)
        if item.replica_of:
            left_out["copies"] += 1
        elif item.kind in STORES:
            name = "records"
            count = commitlog(item.file, item.path, item.base, offsets.get(item.file, NONE), target)
        elif item.kind == "consumequeue":
            name, count = "units", queue(item.path, points, target)
        elif item.kind == "log":
            name, count = "entries", _entries(case, item, wish, lines.get(item.file, []), target)
        elif item.kind in WHOLE:
            _write(item.path, [(0, item.bytes)], target)
        else:
            left_out["unknown" if item.kind in ("empty", "other", "lock") else "built"] += 1
        kept[name], every[name] = kept[name] + count[0], every[name] + count[1]
    files = [path for path in out.rglob("*") if path.is_file()]
    about = [path.stat() for path in files]  # holes take no disk
    kept |= {"files": len(files), "bytes": sum(min(each.st_size, each.st_blocks * 512) for each in about)}
    every |= {"files": len(case.unzoned.items), "bytes": sum(item.bytes for item in case.unzoned.items)}
    counts = {name: (kept[name], every[name]) if every[name] else left_out[name] for name in NAMES}
    return {name: count for name, count in counts.items() if count}


def count_text(count: tuple[int, int] | int, lang: Lang) -> str:
    """Return a count of `cut` for a reader."""
    return f"{count:,}" if isinstance(count, int) else KEPT_OF.say(kept=count[0], of=count[1]).render(lang)


def _place(out: Path, file: str) -> Path:
    """Return the target of a file: its own path, unpacked if it was packed; archives become folders."""
    parts = [part for step in file.split("!/") for part in PurePosixPath(step).parts if part not in ("/", "..", ".")]
    target = out.joinpath(*parts[:-1], parts[-1].removesuffix(".gz"))
    while target.exists():
        target = target.with_name(f"_{target.name}")
    return target


# --- records ----------------------------------------------------------------------------------------------------------


def _offsets(case: Case, wish: Wish, lives: list[dict[str, Any]]) -> dict[str, Longs]:
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
    inside = frame.where(within("store_timestamp", wish.since, wish.until))
    rows = inside.select("file", "physical_offset").toPandas()
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


def _mentions(case: Case, lives: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return the lines of each log that mention one of the messages."""
    words = set().union(*map(trace.words, lives))
    logs = case.unzoned.of_kind("log", replicas=False)
    return grouped((each["file"], each["line"]) for each in quotes.mentions(logs, [words], most=1 << 40)[0][0])


def _entries(case: Case, item: Item, wish: Wish, lines: list[int], target: Path) -> tuple[int, int]:
    """Write the entries of a log in the window (without a time: inside) or with a message; a start's settings too."""
    everything = str(not wish.ids).lower()
    asked = case.sql(
        f"""
        select `offset`, line, {within("ts", wish.since, wish.until) if wish.since or wish.until else everything}
          or coalesce(source = 'broker' and thread = 'main' and message rlike :printed, false) as kept
        from all_entries where file = :file order by `offset`""",
        file=item.file,
        printed=configs.DUMPED,
    ).toPandas()
    keep = asked["kept"].to_numpy(bool, copy=True)
    if lines and keep.size:
        keep[np.searchsorted(asked["line"].to_numpy(np.int64), np.array(lines, np.int64), "right") - 1] = True
    # An entry extends to the next, the first begins with the file; adjacent ones are joined.
    limits = np.concatenate(([0], asked["offset"].to_numpy(np.int64)[1:], [item.bytes]))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], keep, [False])).astype(np.int8)))
    _write(item.path, ((int(limits[first]), int(limits[stop])) for first, stop in edges.reshape(-1, 2)), target)
    return int(keep.sum()), int(keep.size)


# --- parts of files ---------------------------------------------------------------------------------------------------


def commitlog(file: str, path: str, base: int | None, offsets: Longs, target: Path) -> tuple[int, int]:
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


def queue(path: str, offsets: Longs, target: Path) -> tuple[int, int]:
    """Write a consume queue with the units that point to these offsets; the others become `fillPreBlank`'s."""
    raw = np.frombuffer(beginning(path), np.uint8)
    units = raw[: raw.size // f.CQ_UNIT * f.CQ_UNIT].view(queues.UNIT).copy()
    used = (units["size"] != 0) & (units["size"] != f.CQ_PREFILL_SIZE)
    keep = used & np.isin(units["physical_offset"].astype(np.int64), offsets)
    if keep.any():
        units = units[: int(np.flatnonzero(keep)[-1]) + 1]
        units[~keep[: units.size]] = np.array((0, f.CQ_PREFILL_SIZE, 0), queues.UNIT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(units.tobytes())
    return int(keep.sum()), int(used.sum())
