"""A selection of evidence: a time span and values, as one value that works as a filter."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import attrs
import numpy as np
import pandas as pd

from kit.case.case import Case
from kit.case.options import instant
from kit.charts import clean
from kit.i18n import T, labels
from kit.report import console

Part = Literal["entries", "records"]
COLUMNS: Final[dict[Part, dict[str, str]]] = {
    "entries": {
        "topics": "topic", "groups": "group", "hosts": "host", "levels": "level", "sources": "source",
        "threads": "thread", "events": "events",
    },
    "records": {"topics": "topic", "groups": "group", "hosts": "host", "stages": "stage"},
}  # fmt: skip
"""The column of entries and of records for each field of a selection; a missing column narrows nothing."""
KEYS: Final[Mapping[Part, tuple[str, str]]] = {"entries": ("file", "line"), "records": ("file", "physical_offset")}
"""What names one row."""
LABELS: Final = labels("explorer")
SAYS: Final[Mapping[str, T]] = LABELS["says"]
_TIMES: Final = ("ts", "at", "store_timestamp", "time", "start", "born_timestamp")
_ALSO: Final = {"groups": "consumer_group", "events": "event"}
"""Other names of a field's column in tables of the kit."""
EVENTS: Final = "|"
"""Separator between the known texts of an entry (`entries.sql`)."""


def each(column: str, value: Any) -> Iterable[Any]:
    """Return the values in a cell of a column."""
    if isinstance(value, str):
        return filter(None, value.split(EVENTS)) if column == "events" else (value,)
    return value if isinstance(value, list | tuple | np.ndarray) else (value,)


def _texts(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(dict.fromkeys(value or ()))


def _instant(text: str | dt.datetime | None) -> dt.datetime | None:
    at = instant(text or None)
    return None if at is None else at.astimezone(dt.UTC)


@attrs.frozen
class Selection:
    """Rows between two times (either may be open) that have one of these values; no values means all.

    `topics`, `groups` and `hosts` of a log entry are those it mentions; `events` are slugs of known texts, `stages`
    those of `kit.rocketmq.stages`. `text` is in an entry's first 500 characters, or in the key or UNIQ_KEY of a record,
    in capitals or not. A time without an offset is in UTC.
    """

    since: dt.datetime | None = attrs.field(default=None, converter=_instant)
    until: dt.datetime | None = attrs.field(default=None, converter=_instant)
    topics: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    groups: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    hosts: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    levels: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    sources: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    threads: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    events: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    stages: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    text: str = ""

    def __and__(self, other: Selection) -> Selection:
        """Return the intersection; of values, those of `other` if it has any."""
        since = max(filter(None, (self.since, other.since)), default=None)
        until = min(filter(None, (self.until, other.until)), default=None)
        named = {name: getattr(other, name) or getattr(self, name) for name in (*VALUES, "text")}
        return Selection(since, until, **named)

    def as_dict(self) -> dict[str, Any]:
        """Return what is set, as arguments that create this selection again: times as ISO texts, values as lists."""
        times = {name: at.isoformat() for name in ("since", "until") if (at := getattr(self, name))}
        fields = {"text": self.text} if self.text else {}
        return times | {name: list(values) for name in VALUES if (values := getattr(self, name))} | fields

    def options(self) -> dict[str, str]:
        """Return the times as options of a case or a command: `kit.open_case(…, **options)`."""
        return {name: value for name, value in self.as_dict().items() if name in ("since", "until")}

    def mask(self, frame: pd.DataFrame) -> np.ndarray:
        """Return which rows of any table are selected, by its first column of times and those named like a field; a
        window cuts no row without a time.
        """
        chosen = pd.Series(True, index=frame.index)
        time = next((name for name in _TIMES if name in frame), None)
        if time is not None and (self.since or self.until):
            at = pd.to_datetime(frame[time], utc=True, errors="coerce")
            inside = (at >= self.since) if self.since else True
            chosen &= at.isna() | (inside & ((at <= self.until) if self.until else True))
        for field, own in (COLUMNS["entries"] | COLUMNS["records"]).items():
            wanted = set(getattr(self, field))
            column = next((each for each in (own, _ALSO.get(field)) if each in frame), None)
            if wanted and column is not None:
                cells = frame[column]
                if isinstance(cells.dtype, pd.CategoricalDtype):  # each is looked at once
                    chosen &= cells.isin([v for v in cells.cat.categories if not wanted.isdisjoint(each(own, v))])
                else:
                    chosen &= np.array([not wanted.isdisjoint(each(own, v)) for v in cells], bool)
        if self.text:
            texts = [name for name in ("message", "text") if name in frame][:1]
            searched = [frame[name].astype("string") for name in texts or ("keys", "uniq_key") if name in frame]
            having = [text.str.contains(self.text, case=False, regex=False, na=False) for text in searched]
            chosen &= np.logical_or.reduce(having) if having else True
        return chosen.to_numpy(bool)

    def keep(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the selected rows of any table; see `mask`."""
        return frame[self.mask(frame)]

    def toggled(self, field: str, value: str) -> Selection:
        """Return the selection with a value of a field added, or left out if it is there."""
        values = getattr(self, field)
        changed = [v for v in values if v != value] if value in values else [*values, value]
        return Selection(**{**self.as_dict(), field: changed})

    def cut(self, case: Case, out: str = "DIR") -> str:
        """Return the command line that copies the evidence of these times and this topic into a folder, quoted for a
        POSIX shell. `rmq-kit cut` takes one topic; what else is selected is dropped, which keeps more, and is named in
        a line before.
        """
        chosen = {**case.options.declared(), **self.options()}
        if len(self.topics) == 1:
            chosen["topic"] = self.topics[0]
        command = console.command("rmq-kit cut", case.name, {"out": out, **chosen})
        dropped = [
            name for name in (*VALUES, "text") if getattr(self, name) and not (name == "topics" and "topic" in chosen)
        ]
        left_out = SAYS["left_out"].say(fields=[LABELS["fields"][name] for name in dropped]).render(case.lang)
        return (f"{left_out}\n" if dropped else "") + clean(command)


VALUES: Final = tuple(field.name for field in attrs.fields(Selection) if field.name not in ("since", "until", "text"))
