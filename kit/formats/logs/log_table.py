"""What is known about a text file and its times, and the Arrow columns of its log entries."""

from __future__ import annotations

from typing import Final, Literal

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kit.formats.commitlog.coding import coded, number
from kit.formats.logs import fields as f
from kit.formats.logs import lines as ln
from kit.formats.logs.schema import EVENT_FIELDS, SCHEMA
from kit.formats.values import NANO_LAST_MS
from kit.rocketmq import catalogue
from kit.rocketmq.log_layouts import BROKER_SIDE, BY_SLUG

_SLUGS: Final = pa.array([*f.SLUG_OF_KIND.values(), "client-4.3"], pa.string())
_CLIENT_4_3: Final = len(_SLUGS) - 1
_FIXED: Final = np.array([BY_SLUG[s].zone == "GMT+8" for s in _SLUGS.to_pylist()])
_BROKER_ZONE: Final = np.array([s in ("broker", "stats", "watermark") for s in _SLUGS.to_pylist()])
_GMT8: Final = 480
_NAMES: Final = (f.LEVEL0, f.THREAD0, f.LOGGER0)


@attrs.frozen
class Piece:
    """A stretch of a file. An entry belongs to the piece in which its first line starts.

    `before` counts the line feeds in front of `start - 1`, where entries begin being searched for there; with `line`, the number of the line that
    begins at `start`, whole entries begin at `start` and end at `end`. `zone_minutes` is the zone of times that carry none (minutes east),
    `seconds_twice` whether the client prints the seconds again behind the comma (None: not known from the file's head, so decided by each line).
    """

    file: str
    path: str
    start: int
    end: int
    before: int = 0
    source: str = "text"
    encoding: str | None = None
    zone_minutes: int | None = None
    seconds_twice: bool | None = None
    line: int | None = None

    @property
    def mode(self) -> int:
        """Return the kind of file for the prefix kernel."""
        return (
            f.BROKER_SIDE
            if self.source in BROKER_SIDE
            else f.CLIENT
            if self.source == "client"
            else f.APP
            if self.source == "app"
            else f.ANY
        )


@attrs.frozen
class Options:
    """What applies to all files: declared zones (an IANA name or minutes east), and whether to search for known texts."""

    tz_broker: str | int | None = None
    tz_app: str | int | None = None
    events: bool = False

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([*SCHEMA, *EVENT_FIELDS]) if self.events else SCHEMA


def table(
    buf: np.ndarray,
    rows: np.ndarray,
    message: tuple[np.ndarray, np.ndarray],
    trace: tuple[np.ndarray, np.ndarray],
    line: np.ndarray,
    count: np.ndarray,
    offset: np.ndarray,
    found: tuple[np.ndarray, np.ndarray] | None,
    piece: Piece,
    options: Options,
) -> pa.RecordBatch:
    """Return the columns of entries whose fields point into `buf`, those with few values dictionary-coded; `message` and `trace` are Arrow offsets
    and data, `found` (entry, event) pairs.
    """
    n = rows.shape[0]
    kind = rows[:, f.KIND].copy()
    ms = rows[:, f.MS].copy()
    if piece.seconds_twice is None:
        twice = (kind == f.CLIENT_4) & (rows[:, f.FRACTION] == ms // 1000 % 60)
    else:
        twice = (kind == f.CLIENT_4) & piece.seconds_twice
    # The fraction of these is no time: 10:22:31,031 is some moment in second 31.
    ms[twice] -= np.maximum(rows[twice, f.FRACTION], 0)
    kind[twice] = _CLIENT_4_3

    def texts(starts: np.ndarray, ends: np.ndarray) -> pa.Array:
        return ln.strings(*ln.gather(buf, starts, ends), piece.encoding, starts < 0)

    begins, ends = (np.ascontiguousarray(rows[:, [b + end for b in _NAMES]]) for end in (0, 1))
    sizes = np.where(begins < 0, -1, np.maximum(ends - begins, 0))
    spots = np.stack([begins, sizes], axis=-1).reshape(n, -1)
    names = [
        values.array(texts(begins[values.firsts, i], ends[values.firsts, i]))
        for i, values in enumerate(number(buf, np.zeros(n, np.int64), spots))
    ]
    same = np.zeros(n, np.int32)
    columns: list[pa.Array] = [
        coded(same, pa.array([piece.file], pa.string()), absent=False),
        pa.array(line, pa.int32()),
        pa.array(count, pa.int32()),
        _times(
            ms,
            rows[:, f.ZONE],
            kind,
            (kind == f.NONE) | (ms < 0) | (rows[:, f.TS0] < 0) | (kind == f.MQADMIN),
            piece,
            options,
        ),
        texts(rows[:, f.TS0], rows[:, f.TS1]),
        *names,
        coded(same, pa.array([piece.source], pa.string()), absent=False),
        ln.strings(*message, piece.encoding),
        ln.strings(*trace, piece.encoding, np.diff(trace[0]) == 0),
        coded(kind.astype(np.int32), _SLUGS, absent=False),
    ]
    if options.events:
        entry, event = found if found is not None else (np.empty(0, np.int64), np.empty(0, np.int32))
        offsets = np.zeros(n + 1, np.int32)
        np.cumsum(np.bincount(entry, minlength=n), out=offsets[1:])
        columns.append(pa.ListArray.from_arrays(pa.array(offsets), catalogue.slugs().take(pa.array(event))))
        columns.append(pa.array(offset, pa.int64()))
    return pa.RecordBatch.from_arrays(columns, names=options.schema.names)


def _times(
    ms: np.ndarray, zone: np.ndarray, kind: np.ndarray, none: np.ndarray, piece: Piece, options: Options
) -> pa.Array:
    """Return instants. A zone in the line wins, then the declared one, then that of the layout, then the one given for the file, then UTC."""
    printed = zone != f.NO_ZONE
    broker = _BROKER_ZONE[kind]
    fixed = _FIXED[kind]
    none = none | (ms > NANO_LAST_MS)
    out = np.where(printed, ms - zone * 60000, 0)
    for mask, declared, otherwise in (
        (~printed & broker, options.tz_broker, _GMT8),
        (~printed & ~broker & fixed, options.tz_app, _GMT8),
        (~printed & ~fixed, piece.zone_minutes if piece.zone_minutes is not None else options.tz_app, 0),
    ):
        chosen = mask & ~none
        if chosen.any():
            out[chosen] = instants(ms[chosen], otherwise if declared is None else declared)
    return pa.array(out * 1000, pa.int64(), mask=none).cast(pa.timestamp("us", "UTC"))


def instants(local_ms: np.ndarray, zone: str | int) -> np.ndarray:
    """Return ms since 1970 UTC of local times in a zone: minutes east or an IANA name (the earlier of two in the hour that comes twice)."""
    if isinstance(zone, int):
        return local_ms - zone * 60000
    local = pa.array(local_ms, pa.int64()).cast(pa.timestamp("ms"))
    ambiguous: Literal["earliest"] = "earliest"
    return np.asarray(pc.assume_timezone(local, zone, ambiguous=ambiguous, nonexistent="latest").cast(pa.int64()))
