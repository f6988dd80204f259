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
