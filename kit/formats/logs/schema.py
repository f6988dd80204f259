"""The columns of log entries, and what is known about a text file before it is read."""

import attrs
import msgspec
import pyarrow as pa

from kit.formats.values import columns_of
from kit.rocketmq.log_layouts import Files, files_of


class LogFile(msgspec.Struct):
    """One text file: the name users see, the plain path to open, and what is known about it."""

    file: str
    path: str
    source: str | None = None
    encoding: str | None = None
    zone_minutes: int | None = None
    seconds_twice: bool | None = None


@attrs.frozen
class Piece:
    """A stretch of a file. An entry belongs to the piece in which its first line starts.

    `before` counts the line feeds in front of `start - 1`, where entries begin being searched for there; with `line`,
    the number of the line that begins at `start`, whole entries begin at `start` and end at `end`. `zone_minutes` is
    the zone of times that carry none (minutes east), `seconds_twice` whether the client prints the seconds again behind
    the comma (None: not known from the file's head, so decided by each line).
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
    def layouts(self) -> Files:
        """Return whose layouts hold in the file."""
        return files_of(self.source)


@attrs.frozen
class Options:
    """What applies to all files: declared zones (IANA or minutes east), whether known texts are looked for."""

    tz_broker: str | int | None = None
    tz_app: str | int | None = None
    events: bool = False

    @property
    def schema(self) -> pa.Schema:
        columns = columns_of("logs")
        return pa.schema([*columns, *columns_of("log_events")]) if self.events else columns
