"""Host metrics: what iostat, vmstat, sar, mpstat, pidstat, top, free, df, iotop, jstat, GC logs and monitoring print → one row per value.

The first block of iostat and the first line of vmstat are averages since boot; they are rows like the others. Times
without a zone are local to the host; `free` and `df` have none, unless a line before them holds one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa

from kit.evidence.files import open_readonly
from kit.formats.tables.host_tools import heads, jvm, monitoring, snapshots, sysstat
from kit.formats.tables.host_tools.clock import moment, time_of
from kit.formats.tables.host_tools.values import Value

__all__ = ["SCHEMA", "moment", "read", "sniff"]

SCHEMA: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("ts_text", pa.string()),
        ("origin", pa.string()),
        ("subject", pa.string()),
        ("name", pa.string()),
        ("value", pa.float64()),
    ]
)


_READERS: Final[dict[str, Callable[[list[str]], Iterator[Value]]]] = {
    "iostat": sysstat.iostat,
    "vmstat": sysstat.vmstat,
    "mpstat": sysstat.sar,
    "sar": sysstat.sar,
    "pidstat": sysstat.pidstat,
    "gc": jvm.gc,
    "jstat": jvm.jstat,
    "top": snapshots.top,
    "free": snapshots.free,
    "df": snapshots.df,
    "iotop": snapshots.iotop,
    "prometheus": monitoring.exposition,
}
_SEVERAL: Final = 16 << 20
"""Bytes up to which a file may hold several outputs, as a script collects them."""


def sniff(head: bytes) -> bool:
    """Return whether a file begins like outputs that this module reads."""
    return _whole(head) is not None or heads.sniff(head)


def _whole(head: bytes) -> tuple[str, Callable[[list[str]], Iterator[Value]]] | None:
    """Return the origin and the reader of a file that is one export of monitoring."""
    if heads.ANSWER.match(head):
        return "prometheus", monitoring.answer
    return ("grafana", monitoring.series) if monitoring.is_series(head) else None


def read(files: Iterable[tuple[str, str]], zone: str | int | None = None, *, short: bool = False) -> pa.Table:
    """Return the rows (`SCHEMA`) of metric files given as (name to show, path); `zone` is that of times without one (None: UTC).

    `short`: the files are other texts that may quote a short output.
    """
    tables = [SCHEMA.empty_table()]
    for name, path in files:
        with open_readonly(path) as stream:
            raw = stream.read()
        origins = heads.origins((raw if len(raw) <= _SEVERAL else raw[: heads.EXAMINED]).replace(b"\r", b""))
        origins = [origin for origin in origins if not short or origin not in heads.BY_LINES]
        lines = [
            line.rstrip("\r") for line in raw.decode("utf-8", "backslashreplace").removeprefix("\ufeff").split("\n")
        ]
        if not short and (whole := _whole(raw)) is not None:
            tables.append(_table(name, whole[0], list(whole[1](lines)), zone))
            continue
        for origin, own in _apart(lines, origins):
            tables.append(_table(name, origin, list(_READERS[origin](own)), zone))
    return pa.concat_tables(tables)


def _apart(lines: list[str], origins: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each output with its lines; those of others are empty, so that all keep their numbers."""
    if len(origins) < 2:
        yield from ((origin, lines) for origin in origins)
        return
    owners: list[str | None] = []
    owner: str | None = None
    for line in lines:
        owner = heads.of_line(line) or owner
        # Times, and the first line of sysstat's tools with the date, are for whatever follows.
        owners.append(None if line.startswith("Linux ") or time_of(line) is not None else owner)
    for origin in origins:
        yield origin, [line if whose in (None, origin) else "" for line, whose in zip(lines, owners, strict=True)]


def _table(file: str, origin: str, values: list[Value], zone: str | int | None) -> pa.Table:
    texts = {v.text for v in values if v.text}
    known = {text: moment(text, zone) for text in texts}
    moments = [known.get(v.text) if v.text else None for v in values]
    return pa.table(
        [
            pa.repeat(pa.scalar(file), len(values)),
            pa.array([v.line for v in values], pa.int32()),
            pa.array([None if m is None else m * 1000 for m in moments], pa.int64()).cast(SCHEMA.field("ts").type),
            pa.array([v.text for v in values], pa.string()),
            pa.repeat(pa.scalar(origin), len(values)),
            pa.array([v.subject for v in values], pa.string()),
            pa.array([v.name for v in values], pa.string()),
            pa.array([v.value if math.isfinite(v.value) else None for v in values], pa.float64()),
        ],
        schema=SCHEMA,
    )
