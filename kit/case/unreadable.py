"""Places of the evidence that could not be read: a command then ends with exit code 3."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import attrs

from kit.case import reading
from kit.i18n import T
from kit.inventory.model import STORES
from kit.rocketmq import binary_format as f

if TYPE_CHECKING:
    from kit.case.case import Case

SPANS: Final = {
    "truncated": T("{file}: bytes {start}–{end} truncated", "{file}：字节 {start}–{end} 被截断"),
    "corrupt": T("{file}: bytes {start}–{end} corrupt", "{file}：字节 {start}–{end} 已损坏"),
}
RECORDS = T(
    "{file}: {count} {count:record|records} between bytes {start} and {end} damaged",
    "{file}：字节 {start}–{end} 之间有 {count} 条记录损坏",
)
ZEROS = T(
    "{file}: bytes {start}–{end} are zeros, although the log goes on in {following}",
    "{file}：字节 {start}–{end} 为零，而日志在 {following} 中继续",
)
BROKEN_CONFIG = T("{file}: invalid JSON, not read", "{file}：JSON 已损坏，未读取")
DISAGREE = T(
    "{file}: differs from {other}, a copy of the same commitlog", "{file}：与同一 commitlog 的副本 {other} 内容不一致"
)
NOT_READ = T("{file}: {why}", "{file}：{why}")
LARGE: Final = r"^\s*[+-]?([0-9]{10,}|[0-9]+([.][0-9]*)?[eE][+]?[0-9]+)([.][0-9]*)?\s*$"
"""A number that needs more than 32 bits; whether it fits 64 says the column, which is null where it does not."""
OUT_OF_RANGE = T(
    "{file}: {count} {count:time|times} or numbers out of range, treated as unknown",
    "{file}：{count} 个时间或数字超出范围，按未知处理",
)


@attrs.frozen
class Damage:
    """A place of the evidence that could not be read. `start`/`end`: bytes, None for the whole file."""

    file: str
    what: str
    sentence: str
    start: int | None = None
    end: int | None = None

    def __str__(self) -> str:
        return self.sentence


def of(case: Case) -> list[Damage]:
    """Return which parts of the evidence are truncated, corrupt or unreadable, in order of file."""
    inventory, lang = case.unzoned, case.lang
    ranges = case.facts.rows("unread_ranges")
    lost = [Damage(r.file, r.reason, NOT_READ.say(file=r.file, why=r.say(lang)).render(lang)) for r in case.unread()]
    lost += [
        Damage(r["file"], r["reason"], SPANS[r["reason"]].say(**r).render(lang), r["start"], r["end"])
        for r in ranges
        if r["reason"] in SPANS
    ]
    lost += [*_zeros(case, ranges), *_records(case)]
    lost += [
        Damage(file, "corrupt", BROKEN_CONFIG.say(file=file).render(lang)) for file in reading.broken_configs(inventory)
    ]
    lost += [
        Damage(file, "disagree", DISAGREE.say(file=file, other=other).render(lang))
        for file, other in inventory.disagree
    ]
    lost += [
        Damage(file, "values", OUT_OF_RANGE.say(file=file, count=count).render(lang))
        for file, count in _out_of_range(case).items()
    ]
    return sorted(lost, key=lambda d: (d.file, d.start or 0, d.what))


def _out_of_range(case: Case) -> dict[str, int]:
    """Return how many times and numbers of each file are out of range, and so null in the tables."""
    counts = Counter({row["file"]: row["n"] for row in case.facts.rows("values_out_of_range")})
    for table, field in (("rows", "reconsume_times"), ("sends", "cost_ms")):
        for item in case.unzoned.of_kind(table, replicas=False):
            if column := item.detail.get("columns", {}).get(field):
                large = f"select count(*) as n from {table} where file = :file and {field} is null and cells[:column] rlike :large"
                row = case.sql(large, file=item.file, column=column, large=LARGE).first()
                counts[item.file] += row.n if row else 0
    return {file: n for file, n in counts.items() if n}


def _zeros(case: Case, ranges: list[dict[str, Any]]) -> list[Damage]:
    """Return the unwritten ends of files that the log goes on behind: a broker fills a file up before it begins the
    next (`CommitLog` blank), but allocates the next one, of zeros, ahead.
    """
    ends = {row["file"]: row for row in ranges if row["reason"] == "zero_tail"}
    logs = [
        (str(PurePosixPath(item.file).parent), item.base or 0, item)
        for item in case.unzoned.of_kind(*STORES)
        if f.first_offset(PurePosixPath(item.file).name) is not None
    ]
    lost = []
    for (folder, base, item), (*behind, following) in pairwise(sorted(logs, key=lambda log: log[:2])):
        end = ends.get(item.file)
        if end is None or behind != [folder, base + item.bytes]:
            continue
        if following.file not in ends or ends[following.file]["start"] > 0:
            sentence = ZEROS.say(file=item.file, start=end["start"], end=end["end"], following=following.file)
            lost.append(Damage(item.file, "corrupt", sentence.render(case.lang), end["start"], end["end"]))
    return lost


def _records(case: Case) -> list[Damage]:
    """Return how many records of each file are damaged, and between which bytes, if a command read them."""
    if not case.has_read_messages():
        return []
    bases = {item.file: item.base or 0 for item in case.unzoned.items}
    damaged = []
    for row in case.facts.rows("damaged_records"):
        # `start` and `end` count in the file, as those of skipped ranges do.
        start, end = (row[name] - bases.get(row["file"], 0) for name in ("start", "end"))
        sentence = RECORDS.say(file=row["file"], count=row["records"], start=start, end=end).render(case.lang)
        damaged.append(Damage(row["file"], "corrupt", sentence, start, end))
    return damaged
