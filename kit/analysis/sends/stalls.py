"""Stalls: times in which a broker stored nothing although its clients went on sending.

No log mentions them. In the commitlog they are holes in store_timestamp, each followed by originals that were born
before or in the hole and had to wait for its end (storeTimestamp is taken inside the append lock, bornTimestamp when
the request is built: reference §1.2). A pause of the whole process also leaves a hole in watermark.log, which otherwise
has a block every second (§7.2); an append that hangs does not.
"""

from __future__ import annotations

import datetime as dt
import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.messages.originals import NEW, which
from kit.analysis.sends import damaged_times
from kit.analysis.sends.damaged_times import ENOUGH, HOUR
from kit.case import scan
from kit.case.datasets import both
from kit.case.memoize import once
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kit.case.case import Case

_TOGETHER: Final = 1_000_000
SHORTEST: Final = 200
"""ms. A shorter pause refuses nothing by default: waitTimeMillsInSendQueue, common/BrokerConfig."""
LATE: Final = 150
"""ms an original must have waited to count as one that waited for the end of a stall."""
WAITERS: Final = 3
"""Originals that must have waited. One or two can be a hiccup of their own client."""
LONGEST: Final = 60_000
"""ms up to which one or two that waited are enough: beyond it a damaged time is likelier than a stall nobody else noticed."""
BURST: Final = 500
"""ms between the end of one pause and the start of the next within a burst."""
DENSE: Final = 10
"""Records to be expected in a hole, by the rate beside it, before its emptiness means something without a waiter."""


_SHOWN: Final = (
    "file",
    "physical_offset",
    "topic",
    "queue_id",
    "queue_offset",
    "born_timestamp",
    "store_timestamp",
    "offset_msg_id",
    "store_host",
)


@attrs.frozen
class Stall:
    """One stall or burst of stalls: `start` (naive UTC), `seconds` to the end of the last pause, `pauses`, `stood` (sum
    of their seconds).

    `waiters`: originals that waited; `store_host`: the broker, as in its records.
    """

    start: dt.datetime
    seconds: float
    pauses: int
    stood: float
    waiters: int
    store_host: str

    @property
    def end(self) -> dt.datetime:
        return self.start + dt.timedelta(seconds=self.seconds)

    def as_dict(self) -> dict[str, Any]:
        """Return start and seconds as findings.json has them."""
        return {
            "start": self.start.isoformat(timespec="milliseconds") + "Z",
            "seconds": self.seconds,
            "pauses": self.pauses,
        }


def single(case: Case) -> pd.DataFrame:
    """Return the single pauses, computed once per case: store_host, start, end (ms), waiters."""
    return once(case, "pauses", lambda: pauses(case))


def find(case: Case) -> list[Stall]:
    """Return the stalls that the records of the case show, earliest first; computed once per case."""
    return once(case, "stalls", lambda: _bursts(single(case)) if case.has("messages") else [])


def pauses(case: Case) -> pd.DataFrame:
    """Return the single pauses: columns store_host, start, end (ms since 1970), waiters."""
    kept = ["store_host", "start", "end", "waiters"]
    bins = [
        _binned(rows) for rows in _stamped(case, {name: ds.field(name) for name in ("store_host", "physical_offset")})
    ]
    parts = [(_clock(rows), _late(rows)) for rows in _new(case)]
    if not parts:
        return pd.DataFrame(columns=pd.Index(kept))
    clock, late = (pd.concat(each, ignore_index=True) for each in zip(*parts, strict=True))
    clocks = _clocks(clock)
    if clocks["skew"].abs().max() > LATE / 3:
        clocks = _clocks(damaged_times.without_outliers(_new(case), clock))
    if clocks["skew"].abs().max() > LATE / 3:
        late = pd.concat([_late(rows, _skew(rows, clocks)) for rows in _new(case)], ignore_index=True)
    holes = _holes(damaged_times.in_order(_merged(pd.concat(bins))), late)
    suspects = holes[holes["late"] > 0]
    if suspects.empty:
        return suspects.assign(waiters=0)[kept]
    waited = _waiters(late[late["original"]], clocks, suspects)
    holes = holes.merge(waited, on=["store_host", "end"], how="left").fillna({"waiters": 0})
    return _proven(holes)[kept].reset_index(drop=True)


def _new(case: Case) -> Iterator[pa.Table]:
    """Yield the records that may be originals by their fixed fields: store_host, born_host, stored, born (null if
    unknown), original.
    """
    columns = {name: ds.field(name) for name in ("store_host", "born_host")} | {"born": ds.field("born_timestamp")}
    yield from _stamped(case, columns | {"original": pc.coalesce(which(case), pc.scalar(False))}, NEW)


def _stamped(case: Case, columns: dict[str, pc.Expression], where: pc.Expression | None = None) -> Iterator[pa.Table]:
    """Yield columns of the records that `where` keeps and when they were `stored`, about `_TOGETHER` rows at a time;
    times in ms.
    """
    stored = ds.field("store_timestamp")
    read = scan.batches(case, columns | {"stored": stored}, both(stored.is_valid(), where))
    for rows in scan.together(read, _TOGETHER):
        # A time that no nanoseconds can count is null by now.
        rows = rows.filter(rows["stored"].is_valid()).unify_dictionaries()
        for n, field in enumerate(rows.schema):
            if pa.types.is_timestamp(field.type):
                rows = rows.set_column(n, field.name, pc.divide(rows[n].cast(pa.int64()), 1000))
        yield rows


def _late(rows: pa.Table, skew: Any = 0) -> pd.DataFrame:
    """Return the new records that may have waited for the end of a stall, their birth corrected by `skew` ms."""
    born = rows["born"].to_numpy() + skew
    late = rows["stored"].to_numpy() - born >= LATE
    found = rows.filter(pa.array(late)).to_pandas().assign(born=born[late])
    return found.astype({"store_host": object, "born_host": object})


def _skew(rows: pa.Table, clocks: pd.DataFrame) -> np.ndarray:
    """Return for each record how far its connection's clock is behind the broker's (ms)."""
    hours = rows.select(["born_host"]).to_pandas().assign(hour=rows["stored"].to_numpy() // HOUR)
    skews = hours.merge(clocks[["born_host", "hour", "skew"]], on=["born_host", "hour"], how="left")["skew"]
    return skews.fillna(0).to_numpy()


def _each(rows: pa.Table, host: str, unit: str, ms: int, sums: dict[str, tuple[str, Any]]) -> pd.DataFrame:
    """Return sums of records by host and unit of time: `host`, `unit`, and a column for each of `sums`."""
    counted = rows.append_column(unit, pa.array(rows["stored"].to_numpy() // ms)).group_by(
        [host, unit], use_threads=False
    )
    found = counted.aggregate(list(sums.values())).rename_columns([host, unit, *sums])
    return found.to_pandas().astype({host: object})


def _clock(rows: pa.Table) -> pd.DataFrame:
    """Return by connection and hour how long the quickest new record took to be stored: born_host, hour, least, n,
    since.
    """
    soon = rows.append_column("soon", pc.subtract(rows["stored"], rows["born"]))
    return _each(
        soon,
        "born_host",
        "hour",
        HOUR,
        {"least": ("soon", "min"), "n": ("stored", "count"), "since": ("stored", "min")},
    )


def _clocks(clock: pd.DataFrame) -> pd.DataFrame:
    """Return by connection and hour what to add to `born` for clocks that differ: born_host, hour, skew (ms), since
    (ms, first store).
    """
    sums = {"least": "min", "n": "sum", "since": "min"}
    seen = clock.groupby(["born_host", "hour"]).agg(sums).reset_index()
    seen["host"] = seen["born_host"].str.replace(r":\d+$", "", regex=True)
    hourly = seen.groupby(["host", "hour"])
    ever = seen.groupby("host")["least"].transform("min").clip(upper=0)
    seen["skew"] = hourly["least"].transform("min").where(hourly["n"].transform("sum") >= ENOUGH, ever).fillna(0)
    seen["since"] = seen.groupby("born_host")["since"].transform("min")
    return seen


def _binned(rows: pa.Table) -> pd.DataFrame:
    """Return how many records a broker stored in `SHORTEST` ms, when the first and last, and at which offsets: store_host, bin, n, first, last, low, high."""
    sums = {"n": ("stored", "count"), "first": ("stored", "min"), "last": ("stored", "max")}
    sums |= {"low": ("physical_offset", "min"), "high": ("physical_offset", "max")}
    return _each(rows, "store_host", "bin", SHORTEST, sums)


def _merged(bins: pd.DataFrame) -> pd.DataFrame:
    """Return what `_binned` returns of all records from its parts, in order of broker and time."""
    sums = {"n": "sum", "first": "min", "last": "max", "low": "min", "high": "max"}
    return (
        bins.groupby(["store_host", "bin"])
        .agg(sums)
        .reset_index()
        .sort_values(["store_host", "bin"], ignore_index=True)
    )


def _holes(bins: pd.DataFrame, late: pd.DataFrame) -> pd.DataFrame:
    """Return every time of at least `SHORTEST` ms in which a broker stored nothing.

    Columns store_host, start, end (ms), bin (of the end), late (records after it that may have waited for its end),
    busy (records per ms before it).
    """
    place = ["store_host", "bin"]
    counted = late[["store_host"]].assign(bin=late["stored"] // SHORTEST).groupby(place).size()
    bins = bins.merge(counted.rename("late").reset_index(), on=place, how="left").fillna({"late": 0})
    bins = bins.sort_values(place, ignore_index=True).astype({"late": "int64"})
    by_broker = bins.groupby("store_host")
    bins["start"] = by_broker["last"].shift()
    bins["late"] += by_broker["late"].shift(-1).fillna(0).astype("int64")
    bins["busy"] = by_broker["n"].shift() / (bins["start"] - by_broker["first"].shift() + 1)
    holes = bins[bins["first"] - bins["start"] >= SHORTEST].rename(columns={"first": "end"}).reset_index(drop=True)
    return holes.astype({"start": "int64"})[["store_host", "start", "end", "bin", "late", "busy"]]


def _waiters(late: pd.DataFrame, clocks: pd.DataFrame, suspects: pd.DataFrame) -> pd.DataFrame:
    """Return how many originals waited for the end of each hole, and since when: columns store_host, end, waiters,
    since (ms).

    The first messages of a connection do not count: they waited for their own client's start.
    """
    behind = pd.concat([suspects[["store_host", "end", "bin"]].assign(bin=suspects["bin"] + k) for k in (0, 1)])
    known = clocks[["born_host", "since"]].drop_duplicates("born_host")
    waited = late.assign(bin=late["stored"] // SHORTEST).merge(behind, on=["store_host", "bin"])
    waited = waited[(waited["stored"] >= waited["end"]) & (waited["born"] <= waited["end"] - LATE)]
    waited = waited.merge(known, on="born_host")
    by_hole = waited[waited["since"] < waited["end"]].groupby(["store_host", "end"])["born"]
    return by_hole.agg(waiters="size", since="min").reset_index()


def _proven(holes: pd.DataFrame) -> pd.DataFrame:
    """Keep the holes that originals waited for, and those between two such holes that are empty against all
    expectation.
    """
    length = holes["end"] - holes["start"]
    enough = (holes["waiters"] >= WAITERS) | ((holes["waiters"] >= 1) & length.between(5 * SHORTEST, LONGEST))
    # The stall cannot have begun after the first of those that waited was born.
    holes = holes.assign(proven=enough, start=holes[["start", "since"]].max(axis=1).astype("int64"))
    kept = []
    for _, mine in holes.groupby("store_host", sort=True):
        starts, ends, proven = (mine[name].to_numpy() for name in ("start", "end", "proven"))
        empty = (mine["busy"].fillna(0).to_numpy() * (ends - starts)) >= DENSE
        near = np.r_[False, starts[1:] - ends[:-1] <= BURST]
        for i in range(1, len(mine) - 1):
            if not proven[i] and empty[i] and near[i] and near[i + 1] and proven[i - 1] and proven[i + 1]:
                proven[i] = True
        kept.append(mine[proven])
    return pd.concat(kept) if kept else holes


def _bursts(single: pd.DataFrame) -> list[Stall]:
    """Merge pauses that follow one another within `BURST` ms."""
    found: list[Stall] = []
    for host, mine in single.sort_values(["store_host", "start"]).groupby("store_host", sort=True):
        new = (mine["start"] - mine["end"].shift() > BURST).cumsum()
        for _, burst in mine.groupby(new, sort=True):
            start, end = int(burst["start"].min()), int(burst["end"].max())
            stood = int((burst["end"] - burst["start"]).sum())
            when = dt.datetime.fromtimestamp(start / 1000, dt.UTC).replace(tzinfo=None)
            found.append(
                Stall(when, (end - start) / 1000, len(burst), stood / 1000, int(burst["waiters"].sum()), str(host))
            )
    return sorted(found, key=lambda s: (s.start, s.store_host))


def frame(found: list[Stall]) -> pd.DataFrame:
    """Return stalls as a frame: start, end, seconds, pauses, stood_seconds, waiters, store_host."""
    rows = [(s.start, s.end, s.seconds, s.pauses, s.stood, s.waiters, s.store_host) for s in found]
    return pd.DataFrame(
        rows, columns=pd.Index(["start", "end", "seconds", "pauses", "stood_seconds", "waiters", "store_host"])
    )


def released(case: Case, found: list[Stall]) -> tuple[Ref, ...]:
    """Quote for each stall the original that waited longest for its end."""
    if not found:
        return ()
    at, unit = ds.field("store_timestamp"), pa.timestamp("us", "UTC")
    ends = [stall.end + dt.timedelta(milliseconds=SHORTEST) for stall in found]
    windows = [
        (ds.field("store_host") == stall.store_host)
        & (at >= pa.scalar(stall.start.replace(tzinfo=dt.UTC), unit))
        & (at <= pa.scalar(end.replace(tzinfo=dt.UTC), unit))
        for stall, end in zip(found, ends, strict=True)
    ]
    behind = scan.records(case, _SHOWN, which(case) & reduce(operator.or_, windows)).to_pandas()
    for name in ("born_timestamp", "store_timestamp"):
        behind[name] = behind[name].dt.tz_localize(None)
    behind = behind.assign(waited=behind["store_timestamp"] - behind["born_timestamp"], n=float("nan"))
    for n, (stall, end) in enumerate(zip(found, ends, strict=True)):
        mine = (behind["store_host"] == stall.store_host) & behind["store_timestamp"].between(stall.start, end)
        behind.loc[mine, "n"] = n
    longest = (
        behind.dropna(subset=["n"])
        .sort_values(["n", "waited", "physical_offset"], ascending=[True, False, True])
        .drop_duplicates("n")
    )
    return tuple(map(refs.with_times, longest.itertuples()))
