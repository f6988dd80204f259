"""The Spark data source `rocketmq.log`: one row per log entry, continuation lines folded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec
import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from kit.evidence.files import open_raw
from kit.evidence.unread import Unread
from kit.formats.logs.schema import LogFile, Options, Piece
from kit.formats.printed_times import zone
from kit.spark.sources import Source, packed

CHUNK: Final = 64 << 20
"""How many bytes of a big file one partition reads; small files share partitions of up to half of this."""


@attrs.frozen
class Pieces(InputPartition):
    """What one task reads."""

    pieces: tuple[Piece, ...]


class LogDataSource(Source):
    """Text logs of brokers, clients and applications as `logs` (docs/architecture.md).

    Name: `rocketmq.log`.

    Options: the path given to `load`, or `files`, a JSON list of `LogFile`; `tz_broker`, `tz_app` (IANA name or
    `+08:00`): declared zones;
    `pieces`, what each task reads as `plan` says it; `unread`, `mode`: as for `rocketmq.commitlog`;
    `events=true`: two more columns, `events` (slugs of the known texts in the entry) and `offset` (byte position of its
    first line).

    Partitions: 64 MiB of a big file each, at entry starts; small files share one. Memory stays at a few windows of 8
    MiB whatever the length of a line;
    a message or trace over 1 MiB keeps its start and its end with `…[N bytes cut]…` between them.

    >>> spark.read.format("rocketmq.log").load("evidence/")                                  # doctest: +SKIP
    >>> spark.read.format("rocketmq.log").option("events", "true").load("transaction.log")   # doctest: +SKIP
    """

    format = "rocketmq.log"

    def fields(self) -> pa.Schema:
        return _options(self.options).schema

    def tasks(self) -> Sequence[InputPartition]:
        planned = self.options.get("pieces")
        groups = json.loads(planned) if planned else plan(self._files(), Unread.of(self.options))
        return [Pieces(tuple(Piece(**piece) for piece in group)) for group in groups]

    def rows(self, task: Pieces) -> Iterator[pa.RecordBatch]:
        from kit.formats.logs.entries import batches  # late: planning needs no reader

        options, unread = _options(self.options), Unread.of(self.options)
        for piece in task.pieces:
            yield from unread.through(piece.file, partial(batches, piece, options))

    def _files(self) -> list[LogFile]:
        if listed := self.options.get("files"):
            return msgspec.json.decode(listed, type=list[LogFile])
        path = self.options.get("path")
        if not path:
            raise ValueError("rocketmq.log needs a path, or the option `files`")
        from kit.inventory.inventory import TEXTS, log_files, take

        return log_files(take(path).of_kind(*TEXTS, replicas=False), {})


def plan(files: Iterable[LogFile], unread: Unread) -> list[list[dict[str, Any]]]:
    """Return what each task reads, for option `pieces` if it is known before Spark asks."""
    every = (piece for file in files for piece in unread.through(file.file, partial(pieces, file)))
    return list(packed(((attrs.asdict(piece), piece.end - piece.start) for piece in every), CHUNK // 2))


def _options(given: Mapping[str, str]) -> Options:
    return Options(
        zone(given.get("tz_broker")), zone(given.get("tz_app")), given.get("events", "false").lower() == "true"
    )


def pieces(file: LogFile, chunk: int = CHUNK) -> Iterator[Piece]:
    """Yield the stretches of one file, with the number of line feeds before each."""
    from kit.formats.logs.entries import count_lines
    from kit.inventory.sniff import SAMPLE, sniff

    size = Path(file.path).stat().st_size
    with open_raw(file.path) as opened:
        known: dict[str, Any] = {"source": file.source, "encoding": file.encoding, "seconds_twice": file.seconds_twice}
        if file.source is None:
            known |= sniff(opened.read(SAMPLE), file.file) or {"source": "text"}
            known.pop("layout", None)
        one = Piece(file.file, file.path, 0, size, zone_minutes=file.zone_minutes, **known)
        if size <= chunk or one.source == "mqadmin":
            yield one
            return
        before = 0
        for start in range(0, size, chunk):
            if start:
                before += count_lines(opened, max(start - chunk - 1, 0), start - 1)
            yield attrs.evolve(one, start=start, end=min(size, start + chunk), before=before)
