"""Ask one declared table what it makes of a few rows: `rows("known_texts", events=[{"event": "disk-full", "file": "a.log"}])`.

Tables that are given stand for themselves, all others of the evidence are empty; columns that are not given are null. `records` and `events`
are given as read (`messages_within`, `all_events`), so that what is worked out from them is worked out.
"""

import datetime as dt
import functools
import os
import tempfile
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa

from kit.case.options import Options
from kit.case.tables import BRONZE, FILES, LIMITS, READ_AS, specs
from kit.formats.logs.known_texts import ASKED, COLUMNS
from kit.spark import session
from kit.spark.sources import plain
from kit.tables import frames
from kit.tables.facts import Facts
from kit.tables.runner import Tables, local

EVENTS = pa.schema(
    [
        *((name, pa.string()) for name in ("file", "source")),
        ("line", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        *((name, pa.string()) for name in ("thread", "logger", "level", "event")),
        *COLUMNS.items(),
    ]
)
SCHEMAS = {
    **{name: spec.schema for name, spec in specs().items()},
    **{name: specs()[READ_AS[name]].schema for name in READ_AS},
    "files": FILES,
    "limits": LIMITS,
    "all_events": EVENTS,
    "known_positions": frames.schema(
        "time timestamp, source string, file string, line bigint, group string, topic string, broker string, queue_id bigint, offset bigint, "
        "end bigint, begin bigint, lag bigint, at_least boolean"
    ),
}
RESULTS = tempfile.TemporaryDirectory(prefix="asked-")
"""Goes with the process."""
GIVEN_AS = {"records": "messages_within", "events": "all_events", "configs": "config_files"}


def at(seconds):
    """Return a time so many seconds after 2026-01-01 in UTC."""
    return dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)


@functools.cache
def _session():
    """Return one session for all: what a test asks for, it names anew."""
    spark = session(os.environ.get("RMQ_KIT_TEST_MASTER"))
    if "RMQ_KIT_TEST_MASTER" in os.environ:  # to compile a query takes Apache Spark longer than a few rows do
        spark.conf.set("spark.sql.codegen.wholeStage", "false")
        spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        spark.conf.set("spark.sql.adaptive.enabled", "false")
    return spark


@attrs.define(eq=False, slots=False)
class Given:
    """Evidence of a few rows, as the runner of queries wants it."""

    given: dict[str, pa.Table]
    options: Options = attrs.field(factory=Options)
    found: Any = None
    lang: str = "en"
    session: Any = attrs.field(factory=_session)
    folder: Path = attrs.field(factory=lambda: Path(tempfile.mkdtemp(dir=RESULTS.name)))
    tables: Tables = attrs.field(init=False, default=attrs.Factory(Tables, takes_self=True))

    def bronze_names(self):
        return (*BRONZE, "all_events", *self.given)

    def bronze(self, name):
        if name == "limits" and name not in self.given:
            return local(self.session, pa.Table.from_pylist([{"since": None, "until": None}], schema=LIMITS))
        return local(self.session, self.given[name] if name in self.given else SCHEMAS[name].empty_table())

    def table_key(self, name):
        return name

    def write_table(self, name, write):
        (self.folder / name).mkdir(exist_ok=True)
        write(self.folder / name)
        return self.folder / name

    def results_folder(self):
        return self.folder

    def check_cancelled(self):
        """Nothing stops a test."""

    @functools.cached_property
    def facts(self):
        return Facts(self)

    def has(self, table):
        return len(self.given.get(GIVEN_AS.get(table, table), ())) > 0


def case(*, options=None, found=None, **tables):
    """Return evidence with these rows. A table that is no bronze one has the columns of its rows, typed by their values, or those of its fold."""
    from kit.tables.queries import catalogue

    given = {}
    for name, rows in ({"file_brokers": []} | tables).items():  # there are no files
        known = GIVEN_AS.get(name, name)
        if known == "all_events":
            values = [{k: v for k, v in dict(row.get("values", {})).items() if k in ASKED} for row in rows]
            rows = [{f"value_{k}": v for k, v in asked.items()} | row for asked, row in zip(values, rows, strict=True)]
        if READ_AS.get(known) == "logs":
            texts = [row.get("events") or [None] for row in rows]
            rows = [{"known": each[0] if len(each) == 1 else "*"} | row for each, row in zip(texts, rows, strict=True)]
        query = catalogue().get(known)
        schema = frames.schema(query.columns) if query and query.fold else SCHEMAS.get(known)
        if rows or schema:  # a query without rows is asked of tables without rows
            given[known] = pa.Table.from_pylist(rows, schema=schema)
    return Given(given, options or Options(), found)


def rows(table, **tables):
    """Return what a gold or silver table makes of these rows, as dicts."""
    given = case(**tables)
    from kit.tables.queries import catalogue

    if catalogue()[table].layer == "gold":
        return frames.rows(given.tables.arrow(table))
    return frames.rows(plain(given.tables.frame(table).toArrow()))
