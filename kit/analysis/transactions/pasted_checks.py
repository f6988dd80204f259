"""Checks that overtake a slow local transaction, as the lines of a paste tell it: an application's own words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kit.analysis.messages import pasted_ids
from kit.case.memoize import per_case
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

_CHECK: Final = re.compile(r"checkLocalTransaction|check[- ]?back|transaction check|回查", re.IGNORECASE)
_LOCAL: Final = re.compile(r"executeLocalTransaction|local transaction|本地事务", re.IGNORECASE)
_FRAME: Final = re.compile(r"^\s*at [\w.$]+\(")


@per_case
def overtaken(case: Case) -> tuple[Ref, ...]:
    """Return the lines of a paste in which a check comes between two lines of the local transaction, or that say both
    in one sentence; () for other evidence.
    """
    if not pasted_ids.is_paste(case):
        return ()
    (item,) = (item for item in case.found.items if item.replica_of is None)
    numbered = [(n, line) for n, line in enumerate(pasted_ids.text_of(case).split("\n"), 1) if not _FRAME.match(line)]
    checks = [(n, line) for n, line in numbered if _CHECK.search(line)]
    locals_ = [(n, line) for n, line in numbered if _LOCAL.search(line)]
    both = [each for each in checks if each in locals_]
    between = [
        (n, line)
        for n, line in checks
        if any(other < n for other, _ in locals_) and any(other > n for other, _ in locals_)
    ]
    named = list(dict.fromkeys([*both, *between, *(locals_ if between else [])]))[:3]
    return tuple(Ref(item.file, line.rstrip("\r"), line=n) for n, line in sorted(named))
