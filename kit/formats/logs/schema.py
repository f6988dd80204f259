"""The columns of log entries, and what is known about a text file before it is read."""

import attrs
import pyarrow as pa

from kit.formats.values import columns_of
from kit.rocketmq.log_layouts import FILES_OF, Files


@attrs.frozen
class Piece:
    """A stretch of a text file (`file`: the name users see, `path`: the one to open). An entry belongs to the piece in
    which its first line starts; with `line`, the number of the line at `start`, only whole entries up to `end` do.

    `source`: "" where nobody has looked yet; `before`: line feeds in front of `start - 1`; `zone_minutes`: of times
    that carry no zone (minutes east); `seconds_twice`: whether the client prints the seconds again behind the comma
    (None: not known from the file's head, so decided by each line).
    """

    file: str
    path: str
    start: int = 0
    end: int = 0
    before: int = 0
    source: str = ""
    encoding: str | None = None
    zone_minutes: int | None = None
    seconds_twice: bool | None = None
    line: int | None = None

    @property
    def layouts(self) -> Files:
        return FILES_OF.get(self.source, "text")


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
