"""What is new in a growing file, read with the kernels that read a whole one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kit.inventory import following
from kit.spark.sources import plain

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.formats.commitlog.schema import Wanted
    from kit.formats.logs.schema import Options
    from kit.inventory.following import Stretch


def log_entries(stretch: Stretch, options: Options) -> Iterator[pa.RecordBatch]:
    """Yield the entries of a stretch of a log."""
    from kit.formats.logs.entries import batches
    from kit.formats.logs.schema import Piece

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
