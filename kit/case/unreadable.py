"""Places of the evidence that could not be read: a command then ends with exit code 3."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final

import attrs

from kit.case.case import Case
from kit.evidence.files import open_readonly
from kit.i18n import labels
from kit.inventory.model import STORES
from kit.rocketmq import binary_format as f

SAYS: Final = labels("case")["unreadable"]
LARGE: Final = r"^\s*[+-]?([0-9]{10,}|[0-9]+([.][0-9]*)?[eE][+]?[0-9]+)([.][0-9]*)?\s*$"
"""A number that needs more than 32 bits; whether it fits 64 says the column, which is null where it does not."""

HEAD: Final = 4096
DOWNLOAD: Final = re.compile(rb'\[\{|\{.{0,2000}?(?P<hits>"hits" ?: ?\{)')
"""Begins what Grafana and Elasticsearch write all entries of a search to."""


@attrs.frozen
class Damage:
    """A place of the evidence that could not be read. `start`/`end`: bytes, None for the whole file."""

    file: str
    what: str
    sentence: str
    start: int | None = None
    end: int | None = None


def of(case: Case) -> list[Damage]:
    """Return which parts of the evidence are truncated, corrupt or unreadable, in order of file."""

    def damage(says: str, what: str, **values: Any) -> Damage:
        sentence = SAYS[says].say(**values).render(case.lang)
        return Damage(values["file"], what, sentence, values.get("start"), values.get("end"))

    ranges = case.facts.rows("unread_ranges")
    lost = [damage(r["reason"], r["reason"], **r) for r in ranges if r["reason"] in ("truncated", "corrupt")]
    lost += [damage("zeros", "corrupt", **each) for each in _zeros(case, ranges)]
    bases = {item.file: item.base or 0 for item in case.unzoned.items}
    for row in case.facts.rows("damaged_records") if case.has_read("messages") else ():
        # `start` and `end` count in the file, as those of skipped ranges do.
        base = bases.get(row["file"], 0)
        place = {"start": row["start"] - base, "end": row["end"] - base}
        lost.append(damage("records", "corrupt", file=row["file"], count=row["records"], **place))
    lost += [damage("disagree", "disagree", file=file, other=other) for file, other in case.unzoned.disagree]
    if case.has_read("messages") and case.has_read("logs"):
        # Stores of brokers that the logs do not show, and of several with one name, if a command read both.
        lost += [damage("foreign", "disagree", **row) for row in case.facts.rows("foreign_stores")]
        lost += [damage("same_name", "disagree", **row) for row in case.facts.rows("same_names")]
    lost += [damage("one_line", "one_line", file=file, path=path) for file, path in _one_line(case)]
    lost += [damage("values", "values", file=file, count=count) for file, count in _out_of_range(case).items()]
    case.folder("config_files")  # all else that may be unread was read above
    lost += [damage("not_read", each.reason, file=each.file, why=each.say(case.lang)) for each in case.unread()]
    return sorted(lost, key=lambda d: (d.file, d.start or 0, d.what))


def _one_line(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the downloads of logs that are one line of JSON, and where their entries stand in it: they are not read."""
    for item in case.unzoned.of_kind("text", replicas=False):
        with open_readonly(item.path) as stream:
            head = stream.read(HEAD).strip()
        if b"\n" not in head and (known := DOWNLOAD.match(head)):
            yield item.file, ".hits.hits[]" if known["hits"] else ".[]"


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


def _zeros(case: Case, ranges: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the unwritten ends of files that the log goes on behind: a broker fills a file up before it begins the
    next (`CommitLog` blank), but allocates the next one, of zeros, ahead.
    """
    ends = {row["file"]: row for row in ranges if row["reason"] == "zero_tail"}
    logs = [
        (str(PurePosixPath(item.file).parent), item.base or 0, item)
        for item in case.unzoned.of_kind(*STORES)
        if f.first_offset(PurePosixPath(item.file).name) is not None
    ]
    for (folder, base, item), (*behind, following) in pairwise(sorted(logs, key=lambda log: log[:2])):
        end = ends.get(item.file)
        if end is None or behind != [folder, base + item.bytes]:
            continue
        if following.file not in ends or ends[following.file]["start"] > 0:
            yield {"file": item.file, "start": end["start"], "end": end["end"], "following": following.file}
