"""The timeline across all files: signs of the causes found, restarts, configuration changes, deployments, pauses,
refusals. Times are instants in UTC, whatever zone a file is in.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import pandas as pd

from kit import data
from kit.analysis import noise, refs, setup
from kit.analysis.sends import busy, times
from kit.causes.findings import Finding
from kit.formats.printed_times import utc
from kit.i18n import Sentence, T, labels
from kit.inventory.references import Ref
from kit.tables.facts import Facts

COLUMNS: Final = ("at", "until", "lane", "en", "zh", "count", "file", "line", "physical_offset", "decides")
TABLE: Final = "timeline"
SAYS: Final = labels("causes")["timeline"]
LONG_PAUSE: Final = 10
"""How many JVM pauses are shown, the longest first."""


class Lane(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lane of a known text, and what its entries say there."""

    lane: str
    what: T


TEXTS: Final = data.read("causes/timeline.yaml", dict[str, dict[str, Lane]])
"""Known texts on the timeline, by slug: `moments` and `spans`."""


def table(facts: Facts, findings: Sequence[Finding]) -> pd.DataFrame:
    """Return the timeline, earliest first, with the columns of `COLUMNS`.

    `lane`: a cause's slug, or `deployment`, `host`, `store`, `refusals`, `transactions`, `consumers`; `en`, `zh`: what
    happened; `count`: entries, null for single moments; `decides`: whether a verdict rests on it.
    """
    found = [f for f in findings if f.verdict in ("confirmed", "suspected")]
    rows = [*_of_findings(facts, found), *_each(facts), *_upgrades(facts), *_spans(facts)]
    rows += [*_going_on(facts), *_pauses(facts)]
    frame = typed(pd.DataFrame(rows, columns=pd.Index(COLUMNS)))
    return frame.sort_values(["at", "lane", "en", "file", "line"], kind="stable", ignore_index=True).drop_duplicates(
        ["at", "lane", "en"], ignore_index=True
    )


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return timeline rows with all columns in their types; a time outside the range of nanoseconds is null."""
    full = frame.reindex(columns=list(dict.fromkeys([*COLUMNS, *frame.columns])))
    for name in ("at", "until"):
        full[name] = pd.to_datetime(full[name], utc=True, errors="coerce")
    return full.astype({"count": "Int64", "line": "Int64", "physical_offset": "Int64", "decides": bool})


def _row(
    at: dt.datetime,
    lane: str,
    what: Sentence,
    ref: Ref | None = None,
    *,
    until: dt.datetime | None = None,
    count: int | None = None,
    decides: bool = False,
) -> tuple[Any, ...]:
    place = (ref.file, ref.line, ref.physical_offset) if ref else (None, None, None)
    return utc(at), until and utc(until), lane, what.render("en"), what.render("zh"), count, *place, decides


def _of_findings(facts: Facts, found: Sequence[Finding]) -> list[tuple[Any, ...]]:
    """Return windows, steps (at the earliest time of their evidence) and moments of the causes found."""
    held = [(f, step) for f in found for step in f.steps if step.holds]
    times = times_of(facts, (ref.as_dict() for _, step in held for ref in step.evidence))
    rows = []
    for finding in found:
        for sentence, at in zip((SAYS["first"], SAYS["last"]), finding.window or (), strict=False):
            rows.append(_row(at, finding.cause, sentence.say(title=finding.title)))
        rows += [_row(m.at, finding.cause, m.what, m.ref, until=m.until, decides=m.decides) for m in finding.moments]
    for finding, step in held:
        timed = [(times[place], ref) for ref in step.evidence if (place := _place(ref.as_dict())) in times]
        if timed:
            at, ref = min(timed, key=lambda both: both[0])
            rows.append(_row(at, finding.cause, step.claim, ref, decides=step.role == "deciding"))
    return rows


def _each(facts: Facts) -> list[tuple[Any, ...]]:
    """Return what somebody did: starts, stops, changes. The first entries of each kind."""
    return [
        _row(row["ts"], each.lane, each.what, Ref(row["file"], "", line=row["line"]))
        for row in facts.rows("first_moments")
        for each in [TEXTS["moments"][row["event"]]]
    ]


def _upgrades(facts: Facts) -> list[tuple[Any, ...]]:
    """Return the starts of brokers with another release than before."""
    rows = []
    for starts in setup.upgrades(facts).values():
        for before, after in itertools.pairwise(starts):
            if before.version != after.version:
                said = SAYS["upgraded"].say(broker=after.broker, old=str(before.version), new=str(after.version))
                rows.append(_row(after.at, "deployment", said, after.ref))
    return rows


def _spans(facts: Facts) -> list[tuple[Any, ...]]:
    rows = []
    for slug, each in TEXTS["spans"].items():
        seen = refs.seen(facts, slug)
        if seen.first is None:
            continue
        file, line = seen.places[0]
        said = SAYS["span"].say(what=each.what, count=seen.count)
        rows.append(_row(seen.first, each.lane, said, Ref(file, "", line=line), until=seen.last, count=seen.count))
    return rows


def _going_on(facts: Facts) -> list[tuple[Any, ...]]:
    """Return texts that are harmless around a start or stop but go on here without one."""
    rows = []
    for judged in noise.going_on(facts).values():
        if judged.first and judged.place:
            ref = Ref(judged.place[0], "", line=judged.place[1])
            said_so = SAYS["going_on"].say(what=judged.text.title)
            rows.append(_row(judged.first, judged.text.lane, said_so, ref, until=judged.last, count=judged.outside))
    return rows


DAY: Final = 86_400_000
"""Milliseconds; no pause is longer."""


def _pauses(facts: Facts) -> list[tuple[Any, ...]]:
    """Return the longest pauses of the JVM that its log prints."""
    metrics = times.host_metrics(facts, "pause_ms", "stopped_ms")
    long = metrics[metrics["value"].between(busy.LONG_GC, DAY) & metrics["ts"].notna()]
    longest = long.sort_values(["value", "file", "line"], ascending=[False, True, True]).head(LONG_PAUSE)
    rows = []
    for pause in longest.to_dict("records"):
        # A pause is printed when it ends.
        end = pd.Timestamp(pause["ts"]).to_pydatetime()
        start = end - dt.timedelta(milliseconds=float(pause["value"]))
        place = Ref(str(pause["file"]), "", line=int(pause["line"]))
        rows.append(_row(start, "host", SAYS["pause"].say(ms=round(pause["value"])), place, until=end))
    return rows


Place = tuple[str, int | None, int | None]


def _place(ref: Mapping[str, Any]) -> Place:
    return ref["file"], ref.get("line"), ref.get("physical_offset")


def times_of(facts: Facts, found: Iterable[Mapping[str, Any]]) -> dict[Place, dt.datetime]:
    """Return the time of each reference, if its log entry or record has one: {(file, line, physical offset): UTC}."""
    places = sorted(set(map(_place, found)), key=str)
    times: dict[Place, dt.datetime] = {}
    for file, _, offset in places:
        if offset is not None and (at := refs.stored_at(facts, file, offset)) is not None:
            times[file, None, offset] = utc(at)
    lines = [f"{file}\x01{line}" for file, line, offset in places if offset is None and line is not None]
    if lines:
        for row in facts.answers("entries_around", places="\x02".join(lines)):
            times[row["file"], row["line"], None] = utc(row["at"])
    return times
