"""Harmless texts in the logs of a case, and texts of a start or stop that go on without one and so are a symptom."""

import datetime as dt
from typing import Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.i18n import Lang, labels
from kit.rocketmq.catalogue import BENIGN, PASSING, GoesOn
from kit.tables.facts import Facts, memo

HEAD: Final = labels("analysis")["harmless"]["head"]
SHOWN: Final = labels("analysis")["harmless_columns"]
"""Columns that readers see."""


def harmless_texts(facts: Facts, lang: Lang | None = None) -> pd.DataFrame:
    """Return one row per harmless text, most frequent first: text (the first line with it), count (entries), first
    (UTC, null without times), file, line, why, slug.
    """
    harmless = {slug: seen for slug in BENIGN if slug not in going_on(facts) and (seen := refs.seen(facts, slug))}
    texts = facts.lines(seen.places[0] for seen in harmless.values())
    rows = []
    for (slug, seen), text in zip(harmless.items(), texts, strict=True):
        why = BENIGN[slug].in_(lang or facts.lang)
        rows.append((text, seen.count, seen.first, *seen.places[0], why, slug))
    columns = ["text", "count", "first", "file", "line", "why", "slug"]
    frame = pd.DataFrame(rows, columns=columns).astype({"count": "Int64", "line": "Int64"})
    frame["first"] = pd.to_datetime(frame["first"], utc=True)
    return frame.sort_values(["count", "slug"], ascending=[False, True], ignore_index=True)


@attrs.frozen
class Judged:
    """A text of a start or stop that goes on: `timed` (entries with a time), of these `outside` starts and stops of
    their own group; `first` and `last` (naive UTC), `groups` and `place` (file, line) are of the entries that show it.
    """

    text: GoesOn
    timed: int
    outside: int
    first: dt.datetime
    last: dt.datetime
    groups: tuple[str, ...]
    place: tuple[str, int]


@memo
def going_on(facts: Facts) -> dict[str, Judged]:
    """Return the texts of `catalogue.PASSING` that go on here without a start or stop, by number, time, distance."""
    if not any(row["event"] in PASSING for row in facts.rows("known_texts")):
        return {}
    seen = facts("passing_seconds").astype({"second": "int64", "n": "int64"}).sort_values(["second", "file", "line"])
    timed = seen[seen["second"] >= 0]
    judged = {slug: _judge(PASSING[slug], slug, timed) for slug in sorted(set(seen["event"]) & set(PASSING))}
    return {slug: text for slug, text in judged.items() if text is not None}


def _judge(text: GoesOn, slug: str, seen: pd.DataFrame) -> Judged | None:
    """Judge one text by the rows of `passing_seconds` with a time, in order of time; None where it does not go on."""
    own, starts = seen[seen["event"] == slug], seen[seen["event"].isin(text.start_events)]
    on: dict[str, pd.DataFrame] = {}
    for group, rows in own.groupby("group"):
        # Those further than `around` from every start that is not another group's.
        moments = starts.loc[starts["group"].isin(["", group]) | (group == ""), ["second"]].assign(near=True)
        near = pd.merge_asof(rows, moments, on="second", tolerance=text.around, direction="nearest")["near"]
        outside = rows[near.isna().to_numpy()]
        lasted = outside["second"].max() - outside["second"].min() if len(outside) else 0
        long = lasted >= text.lasts and (outside["second"] // 60).nunique() >= text.minutes
        if long and outside["n"].sum() >= text.least:
            on[str(group)] = outside
    if not on:
        return None
    rows = pd.concat(on.values()).sort_values("second", kind="stable")
    timed, far = int(own["n"].sum()), int(rows["n"].sum())
    first, last = (pd.Timestamp(rows["second"].iloc[at], unit="s").to_pydatetime() for at in (0, -1))
    place = (str(rows["file"].iloc[0]), int(rows["line"].iloc[0]))
    return Judged(text, timed, far, first, last, tuple(filter(None, on)), place)
