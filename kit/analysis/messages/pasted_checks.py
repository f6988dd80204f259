"""Checks that overtake a slow local transaction, in the words of a pasted application log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kit.analysis.messages import pasted_ids
from kit.case.memoize import per_case
from kit.inventory.references import Ref
from kit.pasted import complaints

if TYPE_CHECKING:
    from kit.case.case import Case


@per_case
def overtaken(case: Case) -> tuple[Ref, ...]:
    """Return the lines of a paste in which a check arrives during the local transaction; () for other evidence."""
    if not pasted_ids.is_paste(case):
        return ()
    return pasted_ids.quoted(case, complaints.overtaken(pasted_ids.text_of(case)))
