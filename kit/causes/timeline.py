"""The timeline across all files, in UTC: signs of causes, restarts, changes, deployments, refusals."""

import contextlib
import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
import pandas as pd

from kit import data
from kit.analysis import noise, refs, setup
from kit.causes.findings import Finding, Moment
from kit.formats.printed_times import utc
from kit.i18n import T, labels
from kit.inventory.model import Ref
from kit.tables.facts import Facts

COLUMNS: Final = ("at", "until", "lane", "en", "zh", "count", "file", "line", "physical_offset", "decides")
TABLE: Final = "timeline"
SAYS: Final = labels("causes")["timeline"]


class Lane(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lane: str
    what: T


TEXTS: Final = data.read("causes/timeline.yaml", dict[str, dict[str, Lane]])
"""Known texts on the timeline, by slug: `moments` and `spans`."""


def table(facts: Facts, findings: Sequence[Finding]) -> pd.DataFrame:
    """Return the timeline, earliest first, with the columns of `COLUMNS`.

    `lane`: a cause's slug, or `deployment`, `store`, `refusals`, `transactions`, `consumers`; `en`, `zh`: what
    happened; `count`: entries, null for single moments; `decides`: whether a verdict rests on it.
    """
    concluded = [f for f in findings if f.verdict in ("confirmed", "suspected")]
    moments = (*_of_findings(facts, concluded), *_upgrades(facts), *_of_texts(facts))
    rows = []
    for lane, moment in moments:
        ref, sentences = moment.ref, (moment.what.render("en"), moment.what.render("zh"))
        place = (ref.file, ref.line, ref.physical_offset) if ref else (None, None, None)
        times = (utc(moment.at), moment.until and utc(moment.until))
        rows.append((*times, lane, *sentences, moment.count, *place, moment.decides))
    frame = typed(pd.DataFrame(rows, columns=pd.Index(COLUMNS)))
    frame = frame.sort_values(["at", "lane", "en", "file", "line"], kind="stable")
    return frame.drop_duplicates(["at", "lane", "en"], ignore_index=True)


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return timeline rows with all columns in their types; a time outside the range of nanoseconds is null."""
    full = frame.reindex(columns=list(dict.fromkeys([*COLUMNS, *frame.columns])))
    for name in ("at", "until"):
        full[name] = pd.to_datetime(full[name], utc=True, errors="coerce")
    return full.astype({"count": "Int64", "line": "Int64", "physical_offset": "Int64", "decides": bool})


Moments = Iterator[tuple[str, Moment]]
"""Each with its lane."""


def _of_findings(facts: Facts, findings: Sequence[Finding]) -> Moments:
    steps = [(f, step) for f in findings for step in f.steps if step.holds]
    times = _times(facts, (ref for _, step in steps for ref in step.evidence))
    for finding in findings:
        for sentence, at in zip((SAYS["first"], SAYS["last"]), finding.window or (), strict=False):
            yield finding.cause, Moment(at, sentence.say(title=finding.title))
        yield from ((finding.cause, moment) for moment in finding.moments)
    for finding, step in steps:
        timed = [(times[str(ref)], ref) for ref in step.evidence if str(ref) in times]
        if timed:
            at, ref = min(timed, key=lambda both: both[0])
            yield finding.cause, Moment(at, step.claim, ref, decides=step.role == "deciding")


def _upgrades(facts: Facts) -> Moments:
    for broker, starts in setup.upgrades(facts).items():
        for before, after in itertools.pairwise(starts):
            old, new = before["version"], after["version"]
            if old != new:
                sentence = SAYS["upgraded"].say(broker=broker, old=str(old), new=str(new))
                yield "deployment", Moment(after["at"], sentence, Ref(after["file"], line=after["line"]))


def _of_texts(facts: Facts) -> Moments:
    """Yield what somebody did (starts, stops, changes), spans of texts, and benign texts that go on without a start."""
    for row in facts.rows("first_moments"):
        moment = TEXTS["moments"][row["event"]]
        yield moment.lane, Moment(row["ts"], moment.what, Ref(row["file"], line=row["line"]))
    for slug, each in TEXTS["spans"].items():
        seen = refs.seen(facts, slug)
        if seen.first is not None:
            file, line = seen.places[0]
            sentence = SAYS["span"].say(what=each.what, count=seen.count)
            yield each.lane, Moment(seen.first, sentence, Ref(file, line=line), seen.last, count=seen.count)

    for judged in noise.going_on(facts).values():
        ref = Ref(judged.place[0], line=judged.place[1])
        sentence = SAYS["going_on"].say(what=judged.text.title)
        yield judged.text.lane, Moment(judged.first, sentence, ref, judged.last, count=judged.outside)


def _times(facts: Facts, refs: Iterable[Ref]) -> dict[str, dt.datetime]:
    """Return the time (UTC) of each reference whose log entry or record has one, by its place."""
    places = {str(ref): ref for ref in refs}
    times: dict[str, dt.datetime] = {}
    for place, ref in places.items():
        # What cannot be read, or is no time, has none.
        with contextlib.suppress(KeyError, OSError, ValueError, OverflowError):
            offset = ref.physical_offset
            if offset is not None and (at := facts.record(ref.file, offset, ("store_timestamp",))["store_timestamp"]):
                times[place] = utc(at)
    if lines := sorted(f"{ref.file}\x01{ref.line}" for ref in places.values() if ref.line is not None):
        for row in facts.answers("entries_around", places="\x02".join(lines)):
            times[f"{row['file']}:{row['line']}"] = utc(row["at"])
    return times
