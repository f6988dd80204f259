"""The streaming side of the Spark data sources: growing files, read step by step, each byte once.

Spark keeps the positions in its checkpoint. A step is planned on the driver from complete entries, records and units
(`kit.inventory.following`) and read by the tasks with the kernels of the batch sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kit.evidence.growing import Place, State
from kit.evidence.unread import Unread
from kit.inventory import following

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.formats.commitlog.schema import Wanted
    from kit.formats.logs.log_table import Options
    from kit.inventory.following import Stretch

SHARE: Final = 32 << 20
"""How many bytes of small stretches share a task."""
EARLIEST, LATEST = "earliest", "latest"


class Stretches(InputPartition):
    """The part of a step that one task reads, as JSON."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        super().__init__(None)
        self.encoded = msgspec.json.encode(stretches)

    @property
    def stretches(self) -> list[Stretch]:
        return msgspec.json.decode(self.encoded, type=list[following.Stretch])


class GrowingReader(DataSourceStreamReader):
    """Follows the files below the path of a source.

    Options: the path given to `load`; `startingOffsets`: `earliest` (default) or `latest`; `since`: an ISO time, only
    files changed after it; `maxBytesPerTrigger`.
    """

    def __init__(self, options: Any, kinds: tuple[str, ...]) -> None:
        self.options = dict(options)
        path = self.options.get("path")
        if not path:
            raise ValueError("Say what to follow: load(path).")
        start = self.options.get("startingOffsets", self.options.get("startingoffsets", EARLIEST))
        if start not in (EARLIEST, LATEST):
            raise ValueError(f"startingOffsets is earliest or latest, not {start!r}.")
        most = self.options.get("maxBytesPerTrigger", self.options.get("maxbytespertrigger"))
        since = self.options.get("since")
        self.kinds = kinds
        self.follower = following.Follower(
            [Path(path)], kinds, start, _seconds(since) if since else 0.0, int(most) if most else following.MOST
        )

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return {"steps": 0, "places": {}}

    def latestOffset(self, start: dict[str, Any], limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """Return the positions after everything that is complete now; `start` itself if nothing is new."""
        before = msgspec.convert(start["places"], State)
        after = self.follower.step(before, first=not start["steps"])
        if start["steps"] and _resting(before) == _resting(after) and not any(p.at > p.begin for p in after.values()):
            return start
        return {"steps": start["steps"] + 1, "places": msgspec.to_builtins(after)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start == end:
            return []
        tasks: list[InputPartition] = []
        held: list[Stretch] = []
        room = SHARE
        for stretch in self.follower.stretches(msgspec.convert(end["places"], State)):
            size = stretch.place.at - stretch.place.begin
            if held and size > room:
                tasks.append(Stretches(held))
                held, room = [], SHARE
            held.append(stretch)
            room -= size
        return [*tasks, Stretches(held)] if held else tasks

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Stretches)
        from kit.spark.sources import from_worker

        unread = Unread.of(self.options)
        return from_worker(
            batch
            for stretch in partition.stretches
            for batch in unread.through(stretch.place.name, partial(self.rows, stretch))
        )

    def rows(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one stretch."""
        raise NotImplementedError


def _resting(state: State) -> dict[str, Place]:
    """Return the positions without the start of the last step, and without files that are gone."""
    replace = msgspec.structs.replace
    return {key: replace(p, begin=p.at, first=p.line) for key, p in state.items() if not p.gone}


def _seconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class LogStreamReader(GrowingReader):
    """`rocketmq.log`: an entry is read when the next one begins, or after a quiet second."""

    def __init__(self, options: Any, read_options: Options) -> None:
        super().__init__(options, following.LOGS)
        self.read_options = read_options

    def rows(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        return log_entries(stretch, self.read_options)


class CommitLogStreamReader(GrowingReader):
    """`rocketmq.commitlog`: whole records."""

    def __init__(self, options: Any, wanted: Wanted) -> None:
        super().__init__(options, following.STORES)
        self.wanted = wanted

    def rows(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        from kit.spark.sources import plain

        return map(plain, messages(stretch, self.wanted))


class ConsumeQueueStreamReader(GrowingReader):
    """`rocketmq.consumequeue`: whole units."""

    def __init__(self, options: Any) -> None:
        super().__init__(options, following.QUEUES)

    def rows(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        return units(stretch)


def log_entries(stretch: Stretch, options: Options, zone_minutes: int | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the entries of a stretch of a log."""
    from kit.formats.logs.entries import Piece, batches
    from kit.spark.sources import plain

    place = stretch.place
    with following.text(stretch) as path:
        found = batches(
            Piece(
                place.name,
                path,
                place.begin,
                place.at,
                source=stretch.source,
                encoding=stretch.encoding,
                zone_minutes=zone_minutes,
                seconds_twice=stretch.seconds_twice,
                line=place.first,
            ),
            options,
        )
        yield from map(plain, found)


def messages(stretch: Stretch, wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """Yield the records of a stretch of a commit log."""
    from kit.formats.commitlog import segments
    from kit.formats.commitlog.schema import File

    place = stretch.place
    with following.text(stretch) as path:
        file = File(place.name, path, place.at, place.at, stretch.base, stretch.entry_head)
        yield from segments.messages(file, place.begin, place.at, wanted)


def units(stretch: Stretch) -> Iterator[pa.RecordBatch]:
    """Yield the units of a stretch of a consume queue."""
    from kit.formats.queues import consumequeue

    with following.text(stretch) as path:
        yield from consumequeue.units(stretch.place.name, path, stretch.place.begin, stretch.place.at)
