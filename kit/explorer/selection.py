"""A selection of evidence: a time span and values, as one value that works as a filter; and what it filters: narrow
copies of a case's logs and records, a few columns of each row, which topic, group and host a log entry names.

The copies are workspace tables: written once, cut by the times of the case, each record once. In memory is what is
filtered and counted; the texts of the rows that are shown are read from the files.
"""

import datetime as dt
import functools
import hashlib
import operator
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, Self

import attrs
import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame

from kit import data
from kit.case.case import Case
from kit.case.options import instant
from kit.evidence import workspace as ws
from kit.i18n import T, labels
from kit.tables.runner import read_parquet, write_parquet

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

    def as_dict(self) -> dict[str, Any]:
        """Return what is set, as arguments that create this selection again: times as ISO texts, values as lists."""
        times = {name: at.isoformat() for name in ("since", "until") if (at := getattr(self, name))}
        fields = {"text": self.text} if self.text else {}
        return times | {name: list(values) for name in VALUES if (values := getattr(self, name))} | fields

    def mask(self, frame: pd.DataFrame) -> np.ndarray:
        """Return which rows of any table are selected: by their first time, if they have any, and by fields' columns."""
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
        return frame[self.mask(frame)]

    def toggled(self, field: str, value: str) -> Self:
        """Return the selection with a value of a field added, or left out if it is there."""
        values = getattr(self, field)
        changed = [v for v in values if v != value] if value in values else [*values, value]
        return type(self)(**{**self.as_dict(), field: changed})


VALUES: Final = tuple(field.name for field in attrs.fields(Selection) if field.name not in ("since", "until", "text"))


# --- narrow copies ----------------------------------------------------------------------------------------------------

MOST_NAMES: Final = 400
"""Number of topic or group names searched for in log texts, those with most records first."""
_NAME: Final = re.compile(r"[%|\w-]{3,255}", re.ASCII)
SEARCHED: Final[dict[Part, tuple[str, ...]]] = {"entries": ("message",), "records": ("keys", "uniq_key")}
TEXTS: Final[dict[Part, tuple[str, ...]]] = {"entries": ("message",), "records": ("keys", "uniq_key", "store_size")}


@attrs.frozen(eq=False)
class Narrow:
    """The entries or records of a case. `frame`: key, time and fields, in order of time; `folder`: of Parquet files."""

    part: Part
    folder: Path
    frame: pd.DataFrame

    def mask(self, selection: Selection) -> np.ndarray:
        chosen = selection.mask(self.frame)
        return chosen & _saying(self, selection.text) if selection.text else chosen

    def counts(self, field: str, mask: np.ndarray | None = None) -> dict[str, int]:
        """Return the number of rows of each value of a field, the most frequent first."""
        column = COLUMNS[self.part][field]
        rows = self.frame[column] if mask is None else self.frame.loc[mask, column]
        counts: Counter[str] = Counter()
        for value, count in rows.value_counts().items():
            counts.update(dict.fromkeys(each(column, value), int(count)))
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def steps(self, selection: Selection, by: str, most: int) -> pd.DataFrame:
        """Return how many selected rows there are in each step of time and value of `by`: columns ts, by, rows."""
        chosen = self.frame.loc[self.mask(selection), ["ts", by]].dropna(subset="ts")
        span = chosen["ts"].max() - chosen["ts"].min() if len(chosen) else pd.Timedelta(0)
        step = max(1, round(1000 * span.total_seconds() / most))
        start = chosen["ts"].dt.floor(f"{step}ms").dt.tz_localize(None)
        counted = chosen.groupby([start, by], observed=True, dropna=False).size()
        return counted.rename("rows").reset_index().rename(columns={by: "by"}).astype({"by": object})

    def rows(self, selection: Selection, most: int) -> pd.DataFrame:
        """Return the first selected rows in order of time, with their texts."""
        first, (file, place) = self.frame[self.mask(selection)].head(most), KEYS[self.part]
        wanted = [
            (pc.field(file) == name) & pc.field(place).isin(places.tolist())
            for name, places in first.groupby(file, observed=True)[place]
        ]
        texts = self._read([file, place, *TEXTS[self.part]], wanted or [pc.scalar(False)])
        return first.astype({file: object}).merge(texts, on=[file, place], how="left")

    def _read(self, columns: list[str], wanted: list[pc.Expression]) -> pd.DataFrame:
        if not len(self.frame):  # no files either
            return pd.DataFrame(columns=columns, dtype=object)
        source = ds.dataset(self.folder, format="parquet")
        return source.to_table(columns, filter=functools.reduce(operator.or_, wanted)).to_pandas()

    def spark(self, case: Case, selection: Selection) -> DataFrame:
        """Return the keys of the selected rows as a Spark DataFrame."""
        key = list(KEYS[self.part])
        rows = read_parquet(case.session, self.folder).select(
            *key, *TEXTS[self.part], "ts", *COLUMNS[self.part].values()
        )
        return rows.mapInPandas(
            lambda frames: (selection.keep(frame)[key] for frame in frames), rows.select(key).schema
        )


@functools.lru_cache(8)
def _saying(rows: Narrow, text: str) -> np.ndarray:
    """Return which rows have a text in what is shown of them."""
    (file, place), frame = KEYS[rows.part], rows.frame
    having = [pc.match_substring(pc.field(name), text, ignore_case=True) for name in SEARCHED[rows.part]]
    hits = rows._read([file, place], having)
    places = frame[[file, place]].astype({file: object}).merge(hits, how="left", indicator=True)
    return places["_merge"].eq("both").to_numpy()


def narrow(case: Case, part: Part) -> Narrow:
    """Return the narrow copy of entries or records; it is written if absent."""
    base = case.folder("logs" if part == "entries" else "messages")
    # A table that is read again, because a file has become readable, keeps its name but not its time.
    changed = (base / ws.DONE).stat().st_mtime_ns
    version = (base.name, changed, case.unzoned.content_key, case.options.digest(), ws.code_hash("explorer"))

    def write(folder: Path) -> None:
        frame = case.sql(data.text(f"explorer/{part}.sql"), **(_patterns(case) if part == "entries" else {}))
        write_parquet(frame, folder)

    folder = case.write_table(f"explorer_{part}-{hashlib.sha256(repr(version).encode()).hexdigest()[:12]}", write)
    fields = list(COLUMNS[part].values())
    columns = [*KEYS[part], "ts", *fields]
    if any(folder.rglob("*.parquet")):
        table = ds.dataset(folder, format="parquet").to_table(columns)
        frame = table.to_pandas(categories=[KEYS[part][0], *fields])
    else:
        frame = pd.DataFrame(columns=columns).astype({"ts": "datetime64[us, UTC]"})
    frame["ts"] = pd.to_datetime(frame["ts"], utc=True)
    frame = frame.astype(dict.fromkeys(fields, "category"))
    return Narrow(part, folder, frame.sort_values(["ts", *KEYS[part]], ignore_index=True))


def _patterns(case: Case) -> dict[str, Any]:
    """Return the patterns for the topics and groups of the records in a text."""
    patterns = {}
    for field, column in (("topics", "topic"), ("groups", "coalesce(consumer_group, property_PGROUP)")):
        common = (
            f"select {column} as name, count(*) as n from records group by 1 order by n desc, name limit {MOST_NAMES}"
        )
        names = [row["name"] for row in case.tables.answers(common) if row["name"] and _NAME.fullmatch(row["name"])]
        known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        patterns[field] = rf"(?:^|[^-%|A-Za-z0-9_])({known})(?:$|[^-%|A-Za-z0-9_])" if known else r"^\b$(.)"
    return patterns
