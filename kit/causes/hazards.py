"""What a hazard is, and the hazards that causes find already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import attrs

from kit.analysis.deployment import Place
from kit.i18n import Lang, Sentence, T

if TYPE_CHECKING:
    from kit.case.case import Case

Grade = Literal["hazard", "note"]

SHARED = T("{summary}")
SHARED_BECOMES = T("checks are answered by an application that cannot see the order: good transactions are rolled back")
NO_PLACE = T("the evidence as a whole")


@attrs.frozen
class Hazard:
    """One row of the table. `cause`: slug of what it can become, "" if that is no documented cause."""

    slug: str
    what: Sentence
    place: Place | Sentence
    cause: str
    becomes: Sentence
    instead: Sentence
    grade: Grade = "hazard"

    def where(self, lang: Lang) -> str:
        return str(self.place) if isinstance(self.place, Place) else self.place.render(lang)

    def as_dict(self, lang: Lang) -> dict[str, Any]:
        place = (
            {"file": self.place.file, "line": self.place.line, "physical_offset": self.place.offset}
            if isinstance(self.place, Place)
            else None
        )
        said = {"what": self.what, "becomes": self.becomes, "set": self.instead}
        return {
            "hazard": self.slug,
            "grade": self.grade,
            "where": place,
            "cause": self.cause,
            **{k: v.render(lang) for k, v in said.items()},
        }


def of_causes(case: Case) -> Iterable[Hazard]:
    """Return a shared producer group if the stored transactions and the broker's transaction.log show one."""
    from kit.causes import results

    kept = results.load(case)
    if kept is not None:
        finding = next((f for f in kept["findings"] if f["cause"] == "shared-producer-group"), None)
    elif case.found.of_kind("commitlog", "dledger") and case.has_source("transaction"):
        from kit.causes.neighbours import shared_producer_group

        finding = shared_producer_group.examine(case).as_dict(case.lang)
    else:
        finding = None
    return [] if finding is None or finding["verdict"] != "confirmed" else [_shared(finding)]


def _shared(finding: dict[str, Any]) -> Hazard:
    from kit.causes.neighbours import shared_producer_group

    refs = [ref for step in finding["steps"] for ref in step["evidence"]]
    place = Place(refs[0]["file"], refs[0].get("line"), refs[0].get("physical_offset")) if refs else NO_PLACE
    what = SHARED.say(summary=finding["summary"])
    return Hazard(
        "shared-producer-group",
        what,
        place,
        "transaction-consistency",
        SHARED_BECOMES,
        shared_producer_group.TEXTS.remedies["action"].action,
    )
