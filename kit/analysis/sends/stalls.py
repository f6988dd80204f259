"""Stalls: times in which a broker stored nothing although its clients went on sending.

No log mentions them. In the commitlog they are holes in store_timestamp, each followed by originals that were born
before or in the hole and had to wait for its end (the tables `pauses` and `stalls`). A pause of the whole process also
leaves a hole in watermark.log, which otherwise has a block every second (reference §7.2); an append that hangs does not.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from kit.analysis import refs
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case


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


def find(case: Case) -> list[Stall]:
    """Return the stalls that the records of the case show, earliest first."""
    if not case.has("messages"):
        return []
    return [
        Stall(
            start=dt.datetime.fromtimestamp(row["start_ms"] / 1000, dt.UTC).replace(tzinfo=None),
            seconds=(row["end_ms"] - row["start_ms"]) / 1000,
            pauses=row["pauses"],
            stood=row["stood_ms"] / 1000,
            waiters=row["waiters"],
            store_host=row["store_host"],
        )
        for row in case.fact_rows("stalls")
    ]


def frame(stalls: list[Stall]) -> pd.DataFrame:
    """Return stalls as a frame: start, end, seconds, pauses, stood_seconds, waiters, store_host."""
    rows = [(s.start, s.end, s.seconds, s.pauses, s.stood, s.waiters, s.store_host) for s in stalls]
    columns = ["start", "end", "seconds", "pauses", "stood_seconds", "waiters", "store_host"]
    return pd.DataFrame(rows, columns=pd.Index(columns))


def released(case: Case) -> tuple[Ref, ...]:
    """Quote for the first two stalls the original that waited longest for its end."""
    return tuple(map(refs.with_times, case.facts("stall_waiters").itertuples()))
