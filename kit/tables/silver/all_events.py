"""One row for each known text in each log entry, whatever its time: file, source, line, ts, thread, logger, level,
event (the text's slug), and `values`: what is printed in it, by the names that its pattern gives (null where nothing
is). What queries ask for is in a column of its own too: `value_group`, `value_topic`, …
"""

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kit.formats.logs import known_texts
from kit.spark.sources import ddl

READS: Final = ("all_entries",)
STORED: Final = True
PLACE: Final = ("file", "source", "line", "ts", "thread", "logger", "level")
ROWS: Final = 65_536
BYTES: Final = 32 << 20
"""Of entries that are looked at together."""
COLUMNS: Final = (
    "file string, source string, line int, ts timestamp, thread string, logger string, level string, event string, "
    + ddl(pa.schema(known_texts.COLUMNS))
)


def query(spark: SparkSession) -> DataFrame:
    known = spark.table("all_entries").where("known is not null").select(*PLACE, "message", "trace", "events")
    return known.mapInArrow(extract, COLUMNS)


def extract(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for several in gathered(batches):
        yield pa.concat_batches(list(known_texts.printed(several, PLACE)))


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of several batches as one: each text that is looked for costs the same in a small one."""
    waiting: list[pa.RecordBatch] = []
    for batch in filter(len, batches):
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS or sum(each.nbytes for each in waiting) >= BYTES:
            yield pa.concat_batches(waiting)
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting)
