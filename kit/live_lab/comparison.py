"""An incident and its twin side by side, for the live lab's notebook: two evidence sets, given or made."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd

from kit.charts import Chart, Table
from kit.charts import overview as drawing
from kit.i18n import Lang, labels
from kit.notebook import inquiry, prose
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

SAYS: Final = labels("live_lab")["comparison"]


@attrs.frozen
class Pair:
    """Two triaged cases; None if there is no evidence yet: then every view says how to create it."""

    without: inquiry.Inquiry | None
    fixed: inquiry.Inquiry | None
    lang: Lang

    def _both(self, view: Callable[[inquiry.Inquiry, inquiry.Inquiry], Any]) -> Any:
        if self.without is None or self.fixed is None:
            return Table(pd.DataFrame(), SAYS["how"], lang=self.lang)
        return view(self.without, self.fixed)

    def verdicts(self) -> Table:
        """Return each cause found on either side, with both verdicts."""
        return self._both(self._verdicts)  # type: ignore[no-any-return]

    def figures(self, cause: str = "") -> Table:
        """Return the figures of a cause on both sides; by default of the cause to look at first."""
        return self._both(lambda a, b: self._figures(a, b, cause or a.first()))  # type: ignore[no-any-return]

    def growth(self) -> Chart | Table:
        """Chart the growth of records on both sides."""
        return self._both(self._growth)  # type: ignore[no-any-return]

    def chain(self) -> Table:
        """Return the chain of evidence of the incident."""
        return self._both(lambda a, _: a.chain(a.first()))  # type: ignore[no-any-return]

    def _verdicts(self, a: inquiry.Inquiry, b: inquiry.Inquiry) -> Table:
        from kit.report.labels import VERDICTS as WORDS

        sides = [{f["cause"]: f for f in one.findings["findings"]} for one in (a, b)]
        held = [
            c for c in sides[0] if any(side.get(c, {}).get("verdict") in ("confirmed", "suspected") for side in sides)
        ]

        def told(found: Mapping[str, Any] | None) -> str:
            sign, word = WORDS[found["verdict"]] if found else ("", None)
            return f"{sign} {word.in_(self.lang)}: {found['summary']}" if found and word else ""

        said = [(cause, *(told(side.get(cause)) for side in sides)) for cause in held]
        heads = [SAYS["cause"].in_(self.lang), *(side.in_(self.lang) for side in drawing.SIDES.values())]
        return Table(pd.DataFrame(said, columns=pd.Index(heads)), SAYS["verdicts"].in_(self.lang), lang=self.lang)

    def _figures(self, a: inquiry.Inquiry, b: inquiry.Inquiry, cause: str) -> Table:
        from kit import causes

        known = causes.figures()

        other = b.finding(cause)["figures"]
        rows = [
            (name, value, other.get(name), known[name].label.in_(self.lang) if name in known else "")
            for name, value in a.finding(cause)["figures"].items()
        ]
        heads = ["", *(side.in_(self.lang) for side in drawing.SIDES.values()), SAYS["meaning"].in_(self.lang)]
        return Table(
            pd.DataFrame(rows, columns=pd.Index(heads), dtype=object), SAYS["numbers"].say(cause=cause), lang=self.lang
        )

    def _growth(self, a: inquiry.Inquiry, b: inquiry.Inquiry) -> Chart:
        frames = [counted(one.case).assign(side=side) for one, side in zip((a, b), drawing.SIDES, strict=True)]
        return drawing.growth(pd.concat(frames, ignore_index=True), self.lang)


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
    pair = live(scenario, Path(out), lang, interactive) if scenario else [_found(evidence), _found(fixed)]
    inquiries = [
        inquiry.start(path, workspace, lang, interactive, options, book=None) if path is not None else None
        for path in pair
    ]
    return Pair(inquiries[0], inquiries[1], lang)


def live(scenario: str, out: Path, lang: Lang = "en", interactive: bool = True) -> list[Path | None]:
    """Run a scenario and its twin on a real broker with a live view; return the two evidence folders."""
    from kit.live_lab import run
    from kit.live_lab import scenario as given
    from kit.live_lab.watch import watching

    stamp = time.strftime("%Y%m%d-%H%M%S")
    made: list[Path | None] = []
    for one in (given.find(scenario, lang), given.find(scenario, lang, fixed=True)):
        with watching(one, lang, live=interactive) as tell:
            made.append(run.run(one, out / f"{one.name}-{stamp}", watch=tell).evidence)
    return made


def scenarios(lang: Lang = "en") -> Table:
    """Return the scenarios that can be run, with their releases."""
    from kit.live_lab.scenario import scenarios as known

    rows = [(one.name, one.broker, one.client, one.title.in_(lang)) for one in known().values()]
    return Table(
        pd.DataFrame(rows, columns=pd.Index(["scenario", "broker", "client", " "])), SAYS["exists"].in_(lang), lang=lang
    )


def counted(case: Case) -> pd.DataFrame:
    """Return how many records half, schedule and business topics had after each second: kind, seconds, records."""
    from pyspark.sql import functions as F  # noqa: N812

    _ = case.spark
    topic = F.col("topic")
    system = topic.isin(sorted(names.SYSTEM_TOPICS)) | F.startswith(topic, F.lit("%"))
    kind = (
        F.when(topic == names.HALF_TOPIC, "half")
        .when(topic == names.SCHEDULE_TOPIC, "schedule")
        .when(~system, "business")
    )
    stored = case.records.select(kind.alias("kind"), F.date_trunc("second", "store_timestamp").alias("second")).where(
        "kind is not null"
    )
    frame = stored.groupBy("kind", "second").agg(F.count("*").alias("n")).orderBy("second").limit(15_000).toPandas()
    seconds = (frame["second"] - frame["second"].min()).dt.total_seconds()
    return pd.DataFrame({"kind": frame["kind"], "seconds": seconds, "records": frame.groupby("kind")["n"].cumsum()})


def _found(path: str) -> Path | None:
    try:
        return inquiry.locate(path) if path else None
    except FileNotFoundError:
        return None
