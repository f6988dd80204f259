"""Places of the evidence that could not be read: a command then ends with exit code 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import pyarrow.dataset as ds

from kit.case import datasets, unknown_values
from kit.case.reading import small_tables
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SPANS: Final = {
    "truncated": T("{file}: bytes {start}–{end} truncated"),
    "corrupt": T("{file}: bytes {start}–{end} corrupt"),
}
RECORDS = T("{file}: {count} {count:record|records} between bytes {start} and {end} damaged")
DAMAGING: Final = ("crc", "topic", "properties", "timestamp", "host")
"""Problems of a record that only damage explains: no release of RocketMQ writes it so."""
BROKEN_CONFIG = T("{file}: invalid JSON, not read")
DISAGREE = T("{file}: differs from {other}, a copy of the same commitlog")
NOT_READ = T("{file}: {why}")
OUT_OF_RANGE = T("{file}: {count} times or numbers out of range, treated as unknown")


@attrs.frozen
class Damage:
    """A place of the evidence that could not be read. `start`/`end`: bytes, None for the whole file."""

    file: str
    what: str
    said: str
    start: int | None = None
    end: int | None = None

    def __str__(self) -> str:
        return self.said


def of(case: Case) -> list[Damage]:
    """Return which parts of the evidence are truncated, corrupt or unreadable, in order of file."""
    found, lang = case.found, case.lang
    skipped = datasets.rows(case, "skipped", where=ds.field("reason").isin(list(SPANS)))
    lost = [Damage(r.file, r.reason, NOT_READ.say(file=r.file, why=r.say(lang)).render(lang)) for r in case.unread()]
    lost += [
        Damage(r["file"], r["reason"], SPANS[r["reason"]].say(**r).render(lang), r["start"], r["end"]) for r in skipped
    ]
    lost += _records(case)
    lost += [
        Damage(file, "corrupt", BROKEN_CONFIG.say(file=file).render(lang))
        for file in small_tables.broken_configs(found)
    ]
    lost += [
        Damage(file, "disagree", DISAGREE.say(file=file, other=other).render(lang)) for file, other in found.disagree
    ]
    lost += [
        Damage(file, "values", OUT_OF_RANGE.say(file=file, count=count).render(lang))
        for file, count in unknown_values.of(case).items()
    ]
    return sorted(lost, key=lambda d: (d.file, d.start or 0, d.what))


def _records(case: Case) -> list[Damage]:
    """Return for each file with damaged records how many these are and between which bytes, if a command read the records."""
    folder = case.written_records()
    if folder is None:
        return []
    columns = ["file", "physical_offset", "store_size", "problem"]
    found = ds.dataset(folder, format="parquet").to_table(columns, filter=ds.field("problem").is_valid())
    bases = {item.file: item.base or 0 for item in case.inventory.items}
    rows = found.to_pandas().astype({"file": object})
    rows = rows[rows["problem"].str.split(",").map(lambda said: not set(DAMAGING).isdisjoint(said)).astype(bool)]
    damaged = []
    for file, mine in rows.groupby("file"):
        # `start` and `end` count in the file, as those of skipped ranges do.
        start = int(mine["physical_offset"].min()) - bases.get(file, 0)
        end = int((mine["physical_offset"] + mine["store_size"]).max()) - bases.get(file, 0)
        said = RECORDS.say(file=file, count=len(mine), start=start, end=end).render(case.lang)
        damaged.append(Damage(str(file), "corrupt", said, start, end))
    return damaged
