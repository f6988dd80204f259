"""A smaller evidence folder: the records, lines and rows of a time window, a topic or some messages, in the same files.

Commitlog records keep their positions (see `kit.collection.cut_files`), as do queue units; log entries include their continuation lines,
business rows their header. Configuration, mqadmin outputs, host metrics and pasted texts are small and are copied completely. Left out, and counted: copies
of other files, indexes (they can be built from the records), damaged ranges, and what was not recognised.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd

from kit.case import output
from kit.case.tables import within
from kit.collection import cut_files
from kit.collection.collect import EMPTY_WINDOW
from kit.evidence.files import open_readonly
from kit.formats.commitlog.schema import promoted
from kit.formats.tables import configs
from kit.i18n import Lang, T, labels
from kit.inventory import mentions
from kit.inventory.model import STORES
from kit.rocketmq import names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case
    from kit.inventory.model import Item

WHOLE: Final = (
    "broker_conf",
    "store_json",
    "checkpoint",
    "mqadmin",
    "metrics",
    "network",
    "thread_dump",
    "text",
    "source_code",
    "document",
    "other_systems_log",
    "abort",
    "dledger_state",
)

NAMES: Final = labels("collection")["counts"]
KEPT_OF = T("{kept} of {of}")


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
    offsets: dict[str, cut_files.Longs],
    points: cut_files.Longs,
    spoken: dict[str, list[int]],
) -> tuple[str, cut_files.Part]:
    """Write the kept part of one file; return its count's name."""
    if item.kind in STORES:
        return "records", cut_files.commitlog(
            item.file, item.path, item.base, offsets.get(item.file, np.empty(0, np.int64)), target
        )
    if item.kind == "consumequeue" and item.detail.get("unit", "plain") == "plain":
        return "units", cut_files.queue(item.file, item.path, points, target)
    if item.kind == "log":
        begins, keep = _entries(case, item, wish, spoken.get(item.file))
        return "entries", cut_files.Part(
            int(keep.sum()), int(keep.size), cut_files.ranges(item.path, _runs(begins, keep, item.bytes), target)
        )
    if item.kind in ("rows", "sends") and item.detail.get("dialect") and wish.window:
        return "rows", _rows(case, item, wish, target)
    if item.kind in (*WHOLE, "rows", "sends"):
        return "whole", cut_files.Part(0, 0, cut_files.copy_whole(item.path, item.bytes, target))
    return ("unknown" if item.kind in ("empty", "other", "lock") else "built"), cut_files.Part(1, 1, 0)


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


def _offsets(case: Case, wish: Wish, lives: list[dict[str, Any]]) -> dict[str, cut_files.Longs]:
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


def _entries(case: Case, item: Item, wish: Wish, lines: list[int] | None) -> tuple[cut_files.Longs, np.ndarray]:
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


def _runs(begins: cut_files.Longs, keep: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of kept entries, adjacent ones joined; an entry extends to the next, the first from the start of the file."""
    ends = np.append(begins[1:], size)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], keep, [False])).astype(np.int8)))
    for first, stop in edges.reshape(-1, 2).tolist():
        yield (0 if first == 0 else int(begins[first])), int(ends[stop - 1])


def _rows(case: Case, item: Item, wish: Wish, target: Path) -> cut_files.Part:
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
    return cut_files.Part(
        int(keep.sum()), int(keep.size), cut_files.ranges(item.path, [(a, b) for a, b in wanted if a < b], target)
    )
