"""Harmless texts in the logs of a case: which, how often, and why; and those of a start or stop that do not end and so
are a symptom.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

import attrs
import pandas as pd

from kit.i18n import Lang, Sentence, labels
from kit.rocketmq.catalogue import BENIGN, PASSING, GoesOn
from kit.tables.facts import Facts, memo

SAYS: Final = labels("analysis")["harmless"]
HEAD: Final = SAYS["head"]
SHOWN: Final = labels("analysis")["harmless_columns"]
"""Columns that readers see."""
COLUMNS: Final = ("text", "count", "first", "file", "line", "why", "slug")


def harmless_texts(facts: Facts, lang: Lang | None = None) -> pd.DataFrame:
    """Return one row per harmless text, most frequent first.

    Columns: text (the first line with it), count (entries), first (UTC, null without times), file, line, why, slug.
    """
    texts = facts("known_texts")
    texts = texts[texts["event"].isin(list(BENIGN)) & ~texts["event"].isin(list(going_on(facts)))]
    if texts.empty:
        return pd.DataFrame(columns=pd.Index(COLUMNS)).astype({"line": "Int64"})
    ordered = texts.sort_values(["first", "file"], na_position="last", kind="stable")
    frame = ordered.drop_duplicates("event").set_index("event")
    frame = frame.assign(count=texts.groupby("event")["n"].sum(), slug=frame.index)
    frame["first"] = frame["first"].dt.tz_localize("UTC")
    frame["text"] = facts.lines((str(file), int(line)) for file, line in zip(frame["file"], frame["line"], strict=True))
    frame["why"] = [_why(facts, str(slug)).render(lang or facts.lang) for slug in frame["slug"]]
    shown = frame[list(COLUMNS)].astype({"line": "Int64"})
    return shown.sort_values(["count", "slug"], ascending=[False, True], ignore_index=True)


def _why(facts: Facts, slug: str) -> Sentence:
    why = BENIGN[slug].say()
    judged = _judged(facts).get(slug)
    if judged is None:
        return why
    if not judged.timed:
        return SAYS["no-times"].say(why=why)
    said_with = {"why": why, "n": judged.timed, "around": judged.text.around}
    return (
        SAYS["not-long"].say(outside=judged.outside, **said_with)
        if judged.outside
        else SAYS["all-near"].say(**said_with)
    )


@attrs.frozen
class Judged:
    """A text of a start or stop in a case: `timed` (entries with a time), of these `outside` the starts and stops of
    its own group.

    If it does not end, `first` and `last` (naive UTC), `groups` and `place` (file, line) are those of the entries that
    show it.
    """

    text: GoesOn
    timed: int = 0
    outside: int = 0
    first: dt.datetime | None = None
    last: dt.datetime | None = None
    groups: tuple[str, ...] = ()
    place: tuple[str, int] | None = None

    @property
    def goes_on(self) -> bool:
        return self.place is not None


def going_on(facts: Facts) -> dict[str, Judged]:
    """Return the texts of the catalogue that go on that occur here without a start or stop: judged by how often and how long they are
    printed and how far from the next start or stop, never by the text alone.
    """
    return {slug: judged for slug, judged in _judged(facts).items() if judged.goes_on}


@memo
def _judged(facts: Facts) -> dict[str, Judged]:
    """Return each text of the catalogue that go on that is in the logs."""
    if not any(row["event"] in PASSING for row in facts.rows("known_texts")):
        return {}
    seen = facts("passing_seconds")
    found = {}
    for slug in sorted(set(seen["event"]) & set(PASSING)):
        text = PASSING[slug]
        starts = seen[seen["event"].isin(text.start_events) & (seen["second"] >= 0)]
        parts = [
            _of_group(text, str(group), own, starts)
            for group, own in seen[seen["event"] == slug].groupby("group", sort=True)
        ]
        found[slug] = _together(text, parts)
    return found


def _of_group(text: GoesOn, group: str, own: pd.DataFrame, starts: pd.DataFrame) -> Judged:
    """Judge one text of one group; `own`, `starts`: rows of `passing_seconds`."""
    own = own[own["second"] >= 0].sort_values(["second", "file", "line"])
    timed = int(own["n"].sum())
    # A start that names another group is not this one's.
    mine = starts if not group else starts[starts["group"].isin(["", group])]
    if len(mine) and len(own):
        moments = mine[["second"]].drop_duplicates().sort_values("second").rename(columns={"second": "start"})
        near = pd.merge_asof(own, moments, left_on="second", right_on="start", direction="nearest")
        own = near[(near["second"] - near["start"]).abs() > text.around]
    outside = int(own["n"].sum())
    lasted = int(own["second"].max() - own["second"].min()) if len(own) else 0
    long = lasted >= text.lasts and (own["second"] // 60).nunique() >= text.minutes
    if not long or outside < text.least:
        return Judged(text, timed, outside)
    first, last = (
        dt.datetime.fromtimestamp(int(at), dt.UTC).replace(tzinfo=None)
        for at in (own["second"].iloc[0], own["second"].iloc[-1])
    )
    place = (str(own["file"].iloc[0]), int(own["line"].iloc[0]))
    return Judged(text, timed, outside, first, last, (group,) if group else (), place)


def _together(text: GoesOn, parts: list[Judged]) -> Judged:
    """Combine one text of all groups: the groups in which it does not end if there are any, else all of its entries."""
    on = [part for part in parts if part.goes_on]
    timed, outside = sum(part.timed for part in parts), sum(part.outside for part in on or parts)
    if not on:
        return Judged(text, timed, outside)
    return Judged(
        text,
        timed,
        outside,
        min(part.first for part in on if part.first),
        max(part.last for part in on if part.last),
        tuple(group for part in on for group in part.groups),
        min(on, key=lambda part: part.first or dt.datetime.max).place,  # noqa: DTZ901 - both naive UTC
    )
