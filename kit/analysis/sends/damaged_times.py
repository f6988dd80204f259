"""Records whose store or birth time a flipped bit moved: no checksum covers these fields, so their order in the commit log tells."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

HOUR: Final = 3_600_000
"""ms."""
ENOUGH: Final = 20
"""Originals of a client host in one hour that are enough to take the quickest for its clock difference."""
FEW: Final = 3
"""The quickest record that counts for a clock where the quickest of all cannot be right."""
DAMAGED: Final = 0.02
"""Part of a broker's records that may have a damaged time; more is something else."""


def in_order(bins: pd.DataFrame) -> pd.DataFrame:
    """Return the bins without the few whose records lie elsewhere in the commitlog than their time says: flipped bits moved them, and a hole beside
    such a record is none. `bins`: store_host, bin, n, first, last, low, high, in order of time. An address that hardly a record has is a damaged one.
    """
    records = bins.groupby("store_host")["n"].transform("sum")
    bins = bins[(records >= ENOUGH) | (records >= DAMAGED * records.max())]
    return pd.concat([_of_broker(mine) for _, mine in bins.groupby("store_host", sort=True)])


def _of_broker(bins: pd.DataFrame) -> pd.DataFrame:
    low, high, n = (bins[name].to_numpy() for name in ("low", "high", "n"))
    if not (low[1:] < np.maximum.accumulate(high)[:-1]).any():
        return bins
    # The longest chain in which time and offset both grow, kept as the last place of the chains of each length.
    least: list[int] = []
    last: list[int] = []
    before = np.full(len(low), -1)
    for at, offset in enumerate(low.tolist()):
        length = bisect.bisect_right(least, offset)
        before[at] = last[length - 1] if length else -1
        least[length : length + 1], last[length : length + 1] = [offset], [at]
    chain, at = np.zeros(len(low), bool), last[-1]
    while at >= 0:
        chain[at], at = True, before[at]
    # Of a bin that one wrong record fell into the highest offset is still where it belongs.
    kept = np.flatnonzero(chain)
    next_ = np.searchsorted(kept, np.arange(len(low)))
    behind = np.append(low[kept], np.iinfo(np.int64).max)[next_]
    chain |= (high >= np.insert(low[kept], 0, -1)[next_]) & (high <= behind)
    # Two brokers with one address, or a clock that was put back: more than damage explains.
    return bins[chain] if n[~chain].sum() <= DAMAGED * n.sum() else bins


def without_outliers(parts: Iterable[pa.Table], clock: pd.DataFrame) -> pd.DataFrame:
    """Return what `stalls._clock` returns, in the place of the quickest record one that some are quicker than: these may have a damaged time.

    `parts`: the records again (born_host, stored, born). A connection with fewer records in an hour says nothing about its clock.
    """
    by = ["born_host", "hour"]
    clock = clock.groupby(by).agg({"n": "sum", "since": "min"}).reset_index()
    clock["rank"] = FEW + (clock["n"] * DAMAGED / 10).astype("int64")
    quickest = pd.DataFrame(columns=pd.Index([*by, "least"]))
    for rows in parts:
        stored = rows["stored"].to_numpy()
        mine = rows.select(["born_host"]).to_pandas().astype(object)
        mine = mine.assign(hour=stored // HOUR, least=stored - rows["born"].to_numpy())
        every = pd.concat([quickest, mine]) if len(quickest) else mine
        every = every.sort_values([*by, "least"], kind="stable", ignore_index=True).merge(clock[[*by, "rank"]], on=by)
        place = every.groupby(by).cumcount() + 1
        quickest = every.loc[place <= every["rank"], [*by, "least"]]
    counted = quickest.groupby(by)["least"].agg(["size", "max"]).reset_index()
    known = clock.merge(counted, on=by)
    return known.assign(least=known["max"].where(known["size"] == known["rank"]))[[*by, "least", "n", "since"]]
