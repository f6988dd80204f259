"""Hazards that causes already know how to find: asked of them, not worked out again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kit.analysis.deployment import Place
from kit.causes.doctor import Hazard
from kit.i18n import T

if TYPE_CHECKING:
    from kit.case.case import Case

SHARED = T("{summary}")
SHARED_BECOMES = T("checks are answered by an application that cannot see the order: good transactions are rolled back")
NO_PLACE = T("the evidence as a whole")


def hazards(case: Case) -> Iterable[Hazard]:
    """Return a shared producer group, where the stored transactions and the broker's transaction.log show one."""
    from kit.case import results

    told = results.load(case)
    if told is not None:
        finding = next((f for f in told["findings"] if f["cause"] == "shared-producer-group"), None)
    elif case.found.of_kind("commitlog", "dledger") and case.has_source("transaction"):
        from kit.causes import shared_producer_group

        finding = shared_producer_group.examine(case).as_dict(case.lang)
    else:
        finding = None
    return [] if finding is None or finding["verdict"] != "confirmed" else [_shared(finding)]


def _shared(finding: dict[str, Any]) -> Hazard:
    from kit.causes import shared_producer_group

    refs = [ref for step in finding["steps"] for ref in step["evidence"]]
    place = Place(refs[0]["file"], refs[0].get("line"), refs[0].get("physical_offset")) if refs else NO_PLACE
    what = SHARED.say(summary=finding["summary"])
    return Hazard(
        "shared-producer-group", what, place, "transaction-consistency", SHARED_BECOMES, shared_producer_group.ACTION
    )
