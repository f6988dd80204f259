"""The ids of a paste: where somebody holds two kinds of id of messages against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import pyarrow.dataset as ds

from kit.case.memoize import per_case
from kit.evidence.files import open_readonly
from kit.explanation import pasted_ids
from kit.explanation.pasted_text import decoded
from kit.explanation.plain_lines import lines
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

PASTE: Final = 200
"""Log entries up to which evidence without records counts as a paste."""
LARGEST: Final = 1 << 20


def is_paste(case: Case) -> bool:
    """Tell whether the evidence is one short text: a few lines somebody copied."""
    files = [item for item in case.found.items if item.replica_of is None]
    if len(files) != 1 or files[0].kind not in ("log", "text") or files[0].bytes > LARGEST:
        return False
    return bool(ds.dataset(case.folder("logs"), format="parquet").count_rows() <= PASTE)


@per_case
def text_of(case: Case) -> str:
    """Return the text of a paste unchanged in its file: a line ends at LF and nowhere else."""
    (item,) = (item for item in case.found.items if item.replica_of is None)
    with open_readonly(item.path) as stream:
        return decoded(stream.read(LARGEST))


@attrs.frozen
class Mixed:
    """Ids of both kinds that are on different lines of a paste. `paired`: two of them are certainly of one message."""

    offset_ids: int
    uniq_keys: int
    paired: bool
    refs: tuple[Ref, ...]


@per_case
def mixed(case: Case) -> Mixed | None:
    """Return the ids of a paste that holds both kinds on different lines; None for other evidence.

    One line alone (a SendResult, a printed message) holds both in the ordinary course of things.
    """
    if not is_paste(case):
        return None
    (item,) = (item for item in case.found.items if item.replica_of is None)
    text = text_of(case)
    found = pasted_ids.find(list(lines(text)))
    offsets = [each for each in found if each.info.kind == "offset"]
    keys = [each for each in found if each.info.kind != "offset"]
    apart = [(one, two) for one in offsets for two in keys if one.line != two.line]
    if not apart:
        return None
    paired = [pair for pair in apart if pair[0].pair is not None and pair[0].pair[0].text == pair[1].info.text]
    one, two = (paired or apart)[0]
    raw = text.split("\n")
    refs = tuple(Ref(item.file, raw[each.line - 1].rstrip("\r"), line=each.line) for each in (one, two))
    return Mixed(len(offsets), len(keys), bool(paired), refs)
