"""Times of failed sends, and which of them met a stall, a pause or a slow append."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS

if TYPE_CHECKING:
    from kit.analysis.sends.sends import Ledger
    from kit.analysis.sends.stalls import Stall

AFTER: Final = 1000
"""ms behind a stall in which what queued up in it is still refused or answered."""


def intervals(ledger: Ledger) -> np.ndarray:
    """Return when the failed sends were in progress: rows of (start, end) in ms since 1970. A log's time is that of the
    failure.
    """
    known = ledger.failed[ledger.failed["ts"].notna()]
    start = known["ts"].to_numpy("float64")
    cost = pd.to_numeric(known["cost_ms"], errors="coerce").fillna(0).to_numpy("float64")
    early = np.where(known["source"].to_numpy() == "ledger", 0, 1000)  # logs of 4.x clients have whole seconds
    return np.c_[start, start + np.maximum(cost, early)]


def share(under_way: np.ndarray, windows: list[tuple[float, float]]) -> float | None:
    """Return the share of failed sends in progress during one of the windows (ms), or just after it; None without
    times.
    """
    return float(inside(under_way, windows).mean()) if len(under_way) else None


def inside(under_way: np.ndarray, windows: list[tuple[float, float]]) -> np.ndarray:
    """Return for each failed send whether it was in progress during one of the windows (ms), or just after it."""
    hit = np.zeros(len(under_way), dtype=bool)
    for start, end in windows:
        hit |= (under_way[:, 0] <= end + AFTER) & (under_way[:, 1] >= start)
    return hit


def ms(instant: Any) -> float:
    """Return a time (naive: UTC) as ms since 1970."""
    return pd.Timestamp(instant).timestamp() * 1000


def windows(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Return the windows (ms) of a frame with `start` and `end`."""
    return [(ms(a), ms(b)) for a, b in zip(rows["start"], rows["end"], strict=True)]


def window(ledger: Ledger, found: list[Stall]) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the first failed send or stall to the last (naive UTC)."""
    under_way = intervals(ledger)
    edges = [(s.start, s.end) for s in found]
    # A ledger may hold any number for a time.
    under_way = under_way[((under_way > NANO_FIRST_MS) & (under_way < NANO_LAST_MS)).all(axis=1)]
    if len(under_way):
        low, high = (
            dt.datetime.fromtimestamp(t / 1000, dt.UTC).replace(tzinfo=None)
            for t in (under_way[:, 0].min(), under_way[:, 1].max())
        )
        edges.append((low, high))
    return (min(a for a, _ in edges), max(b for _, b in edges)) if edges else None
