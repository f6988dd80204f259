"""Narrow copies of a case's logs and records: a few columns of each row, which topic, group and host a log entry names.

They are workspace tables: written once, cut by the times of the case, each record once. In memory is what is filtered
and counted; the texts of the rows that are shown are read from the files.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import re
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame

from kit.case.case import Case
from kit.evidence import workspace as ws
from kit.explorer.selection import COLUMNS, KEYS, Part, Selection, each
from kit.tables.runner import read_parquet, write_parquet

MOST_NAMES: Final = 400
"""Number of topic or group names searched for in log texts, those with most records first."""
_NAME: Final = re.compile(r"[%|\w-]{3,255}", re.ASCII)
# In ASCII and without a number of repetitions: engines bound the size of a pattern.
_NAMED: Final = {
    "topic": r"(?i)\btopic(?:name)?[\"']?\s*[=:]\s*[\[\"']?([-%|A-Za-z0-9_]+)",
    "group": r"(?i)\b(?:consumer|producer)?group(?:name)?[\"']?\s*[=:]\s*[\[\"']?([-%|A-Za-z0-9_]+)",
    "address": r"\b(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\b",
}
_NEVER: Final = r"^\b$(.)"
SEARCHED: Final[dict[Part, tuple[str, ...]]] = {"entries": ("message",), "records": ("keys", "uniq_key")}
TEXTS: Final[dict[Part, tuple[str, ...]]] = {"entries": ("message",), "records": ("keys", "uniq_key", "store_size")}


@attrs.frozen(eq=False)
class Narrow:
    """The entries or records of a case. `frame`: key, time and fields, in order of time; `folder`: of Parquet files."""

    part: Part
    folder: Path
    frame: pd.DataFrame

    def mask(self, selection: Selection) -> np.ndarray:
        """Return which rows are selected."""
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
        """Return columns of the rows that meet one of these conditions."""
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
        return rows.mapInPandas(functools.partial(_keys, selection, key), rows.select(key).schema)


def _keys(selection: Selection, key: list[str], frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    yield from (selection.keep(frame)[key] for frame in frames)


@functools.lru_cache(8)
def _saying(narrow: Narrow, text: str) -> np.ndarray:
    """Return which rows have a text in what is shown of them."""
    (file, place), frame = KEYS[narrow.part], narrow.frame
    having = [pc.match_substring(pc.field(name), text, ignore_case=True) for name in SEARCHED[narrow.part]]
    rows = narrow._read([file, place], having)
    places = frame[[file, place]].astype({file: object}).merge(rows, how="left", indicator=True)
    return places["_merge"].eq("both").to_numpy()


def read(case: Case, part: Part) -> Narrow:
    """Return the narrow copy of entries or records; it is written if absent."""
    base = case.folder("logs" if part == "entries" else "messages")
    # A table that is read again, because a file has become readable, keeps its name but not its time.
    changed = (base / ws.DONE).stat().st_mtime_ns
    version = (base.name, changed, case.unzoned.content_key, case.options.digest(), ws.code_hash("explorer"))

    def write(folder: Path) -> None:
        query = resources.files("kit.explorer").joinpath(f"{part}.sql").read_text(encoding="utf-8")
        frame = case.sql(query, **(_patterns(case) if part == "entries" else {}))
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
    """Return the patterns for the topics, groups and addresses in a text."""
    patterns: dict[str, Any] = dict(_NAMED)
    for field, column in (("topics", "topic"), ("groups", "coalesce(consumer_group, property_PGROUP)")):
        common = (
            f"select {column} as name, count(*) as n from records group by 1 order by n desc, name limit {MOST_NAMES}"
        )
        names = [row["name"] for row in case.tables.answers(common) if row["name"] and _NAME.fullmatch(row["name"])]
        known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        patterns[field] = rf"(?:^|[^-%|A-Za-z0-9_])({known})(?:$|[^-%|A-Za-z0-9_])" if known else _NEVER
    return patterns
