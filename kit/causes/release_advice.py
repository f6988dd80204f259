"""Known faults of the releases that the evidence names, those first that fit what was found:
`kit.rocketmq.versions.FIXED` and the known problems with a last release.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import setup
from kit.i18n import Lang, Sentence, labels
from kit.rocketmq.catalogue import PROBLEMS
from kit.rocketmq.versions import FIXED, Version
from kit.tables.facts import Facts

SAYS: Final = labels("causes")["release_advice"]
HEAD: Final = SAYS["head"]
COLUMNS: Final = labels("causes")["release_columns"]


@attrs.frozen
class Advice:
    """A fault of a release. `side`: broker or client; `fixed`: the first without it; `fits`: what was found."""

    slug: str
    side: str
    release: Version
    symptom: Sentence
    fixed: str | None
    reference: str
    fits: bool

    def as_dict(self, lang: Lang) -> dict[str, Any]:
        return {
            "fault": self.slug, "side": self.side, "release": str(self.release), "symptom": self.symptom.render(lang),
            "fixed_in": self.fixed, "reference": self.reference, "fits": self.fits,
        }  # fmt: skip

    def row(self, lang: Lang) -> tuple[str, str, str, str]:
        release = SAYS[self.side].say(version=str(self.release)).render(lang)
        fixed = self.fixed or SAYS["not_fixed"].in_(lang)
        return release, f"{self.slug}: {self.symptom.render(lang)}", fixed, self.reference


def advise(releases: Mapping[str, Iterable[Version]], causes: Collection[str] = ()) -> tuple[Advice, ...]:
    """Return the faults of these releases ({side: releases}); those that fit these `causes` (slugs) come first."""
    every: list[Advice] = []
    for side, known in releases.items():
        for version in known:
            for fix in (each for each in FIXED if each.side == side and each.has(version)):
                fits = not set(causes).isdisjoint(fix.leads_to)
                every.append(Advice(fix.slug, side, version, fix.symptom, fix.fixed, fix.reference, fits))
            for problem in PROBLEMS.values():
                fault, source = problem.fault, problem.printed_by.source
                # Without a last release it does not depend on releases.
                if fault.until and source.startswith("client/") == (side == "client") and fault.has(version):
                    fixed = fault.fixed or f"> {fault.until}"
                    fits = not {problem.slug, problem.seen.cause}.isdisjoint(causes)
                    every.append(Advice(problem.slug, side, version, problem.title, fixed, source, fits))
    return tuple(sorted(every, key=lambda each: not each.fits))


def confirmed_or_suspected(document: Mapping[str, Any] | None) -> frozenset[str]:
    every = document["findings"] if document else ()
    return frozenset(f["cause"] for f in every if f["verdict"] in ("confirmed", "suspected"))


def fitting(facts: Facts, document: Mapping[str, Any] | None) -> pd.DataFrame:
    """Return the faults that fit what was found, with the columns of `COLUMNS`; no rows if none does."""
    releases = {"broker": setup.broker_versions(facts), "client": setup.client_versions(facts)}
    rows = [each.row(facts.lang) for each in advise(releases, confirmed_or_suspected(document)) if each.fits]
    return pd.DataFrame(rows, columns=pd.Index(list(COLUMNS)), dtype=object)
