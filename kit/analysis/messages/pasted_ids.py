"""What a paste says: ids of two kinds that it compares, and checks that overtake a slow local transaction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import attrs

from kit.case.memoize import per_case
from kit.evidence.files import open_readonly
from kit.explanation import context
from kit.explanation.pasted_lines import decoded
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

PASTE: Final = 200
"""Log entries up to which evidence without records counts as a paste."""
SAVED: Final = 20
"""The same of a file that is named like a log and is one throughout: with more it is the log itself."""
_LOG_NAME: Final = re.compile(r"\.log(?:[._-]?[\d-]+)?(?:\.gz)?$", re.IGNORECASE)
LARGEST: Final = 1 << 20


@per_case
def is_paste(case: Case) -> bool:
    """Return whether the evidence is one short text: a few copied lines."""
    files = [item for item in case.found.items if item.replica_of is None]
    if len(files) != 1 or files[0].kind not in ("log", "text", "mqadmin") or files[0].bytes > LARGEST:
        return False
    most = SAVED if files[0].kind == "log" and _LOG_NAME.search(files[0].file) else PASTE
    return bool(case.tables.frame("all_entries").count() <= most)


@per_case
def text_of(case: Case) -> str:
    """Return the unchanged text of a paste: lines end at LF only."""
    (item,) = (item for item in case.found.items if item.replica_of is None)
    with open_readonly(item.path) as stream:
        return decoded(stream.read(LARGEST))


@attrs.frozen
class Mixed:
    """Ids of both kinds that a paste compares. `paired`: two of them certainly belong to one message."""

    offset_ids: int
    uniq_keys: int
    paired: bool
    refs: tuple[Ref, ...]


@per_case
def mixed(case: Case) -> Mixed | None:
    """Return the ids of a paste that compares both kinds; None for other evidence."""
    found = context.mixed(text_of(case)) if is_paste(case) else None
    return None if found is None else Mixed(found.offset_ids, found.uniq_keys, found.paired, quoted(case, found.at))


@per_case
def overtaken(case: Case) -> tuple[Ref, ...]:
    """Return the lines of a paste in which a check arrives during the local transaction; () for other evidence."""
    return quoted(case, context.overtaken(text_of(case))) if is_paste(case) else ()


def quoted(case: Case, numbers: Iterable[int]) -> tuple[Ref, ...]:
    """Quote lines of a paste, in full."""
    (item,) = (item for item in case.found.items if item.replica_of is None)
    raw = text_of(case).split("\n")
    return tuple(Ref(item.file, raw[number - 1].rstrip("\r"), line=number) for number in numbers)
