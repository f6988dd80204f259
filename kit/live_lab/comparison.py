"""An incident and its twin side by side, for the live lab's notebook: two evidence sets, given or made."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import pandas as pd

from kit import causes
from kit.case.case import Case
from kit.charts import Chart, Table
from kit.charts import overview as drawing
from kit.i18n import Lang, Sentence, labels
from kit.live_lab import run
from kit.live_lab.scenario import find
from kit.live_lab.scenario import scenarios as known
from kit.live_lab.watch import watching
from kit.notebook import inquiry, prose
from kit.report.labels import VERDICTS
from kit.rocketmq import names

SAYS: Final = labels("live_lab")["comparison"]
HOLDS: Final = ("confirmed", "suspected")
KINDS: Final = {names.HALF_TOPIC: "half", names.SCHEDULE_TOPIC: "schedule"}
STORED: Final = """
select topic, date_trunc('second', store_timestamp) as second, count(*) as n
from records group by topic, second order by second, topic limit 15000
"""


@attrs.frozen
class Pair:
    """The incident and its twin, triaged; no sides if there is no evidence yet: every view says how to create it."""

    sides: Sequence[inquiry.Inquiry]
    lang: Lang

    @property
    def _how(self) -> Table:
        return Table(pd.DataFrame(), SAYS["how"], lang=self.lang)

    def _beside(self, caption: Sentence, rows: Sequence[tuple[Any, ...]], first: str, *more: str) -> Table:
        heads = [first, *(side.in_(self.lang) for side in drawing.SIDES.values()), *more]
        return Table(pd.DataFrame(rows, columns=pd.Index(heads), dtype=object), caption, lang=self.lang)

    def verdicts(self) -> Table:
        """Return each cause found on either side, with both verdicts."""
        if not self.sides:
            return self._how
        both: dict[str, list[str]] = {}
        for n, side in enumerate(self.sides):
            for finding in side.findings["findings"]:
                sign, word = VERDICTS[finding["verdict"]]
                verdicts = both.setdefault(finding["cause"], ["", ""])
                verdicts[n] = f"{sign} {word.in_(self.lang)}: {finding['summary']}"
        holding = {f["cause"] for side in self.sides for f in side.findings["findings"] if f["verdict"] in HOLDS}
        rows = [(cause, *verdicts) for cause, verdicts in both.items() if cause in holding]
        return self._beside(SAYS["verdicts"], rows, SAYS["cause"].in_(self.lang))

    def figures(self) -> Table:
        """Return the figures on both sides of the cause to look at first."""
        if not self.sides:
            return self._how
        cause = self.sides[0].first()
        numbers, (own, other) = causes.figures(), (side.finding(cause)["figures"] for side in self.sides)
        meaning = {name: numbers[name].label.in_(self.lang) if name in numbers else "" for name in own}
        rows = [(name, value, other.get(name), meaning[name]) for name, value in own.items()]
        return self._beside(SAYS["numbers"].say(cause=cause), rows, "", SAYS["meaning"].in_(self.lang))

    def growth(self) -> Chart | Table:
        """Chart the growth of records on both sides."""
        if not self.sides:
            return self._how
        frames = [counted(one.case).assign(side=side) for one, side in zip(self.sides, drawing.SIDES, strict=True)]
        return drawing.growth(pd.concat(frames, ignore_index=True), self.lang)

    def chain(self) -> Table:
        """Return the chain of evidence of the incident."""
        return self.sides[0].chain(self.sides[0].first()) if self.sides else self._how


def start(
    evidence: str,
    fixed: str,
    scenario: str = "",
    out: str = "out/lab",
    workspace: str = "",
    lang: Lang = "en",
    interactive: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Pair:
    """Return the two sides: `evidence` and `fixed`, or with `scenario` two new runs below `out`, first the incident,
    then its twin.

    Raise `LabError` if the live lab cannot run here, `KeyError` for an unknown scenario.
    """
    prose.speak("75", lang, interactive)
    paths: list[Path] = []
    if scenario:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        both = (find(scenario, lang), find(scenario, lang, fixed=True))
        paths = [run.run(one, Path(out, f"{one.name}-{stamp}"), watch=watching(one, lang)).evidence for one in both]
    elif evidence and fixed:
        with contextlib.suppress(FileNotFoundError):
            paths = [inquiry.locate(evidence), inquiry.locate(fixed)]
    return Pair([inquiry.start(path, workspace, lang, interactive, options, book=None) for path in paths], lang)


def scenarios(lang: Lang = "en") -> Table:
    """Return the scenarios that can be run, with their releases."""
    rows = [(one.name, one.broker, one.client, one.title.in_(lang)) for one in known().values()]
    frame = pd.DataFrame(rows, columns=pd.Index(["scenario", "broker", "client", " "]))
    return Table(frame, SAYS["exists"], lang=lang)


def counted(case: Case) -> pd.DataFrame:
    """Return how many records half, schedule and business topics had after each second: kind, seconds, records."""
    frame = case.sql(STORED).toPandas()
    other = [topic for topic in frame["topic"] if topic.startswith("%") or names.is_system_topic(topic)]
    kinds = dict.fromkeys(frame["topic"], "business") | dict.fromkeys(other) | KINDS
    frame = frame.assign(kind=frame["topic"].map(kinds)).dropna(subset="kind")
    seconds = (frame["second"] - frame["second"].min()).dt.total_seconds()
    return pd.DataFrame({"kind": frame["kind"], "seconds": seconds, "records": frame.groupby("kind")["n"].cumsum()})
