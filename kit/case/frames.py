"""The tables of a case as Spark DataFrames, and the session that serves them."""

from __future__ import annotations

import datetime as dt
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa

from kit.case.options import Options
from kit.case.progress import Stoppable
from kit.case.tables import specs
from kit.formats.commitlog.schema import FIELDS, TEXT
from kit.formats.values import NANO_FIRST_MS, NANO_LAST_MS
from kit.inventory.inventory import Inventory
from kit.spark import sessions
from kit.tables import frames, queries
from kit.tables.runner import Tables, local, plain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kit.tables.facts import Facts

HIDDEN: Final = ("events", "offset")
"""Columns of `entries` that `logs` does not show."""
BRIEF: Final = 4 << 30
"""Size of evidence, in bytes, below which a JVM's optimising compiler does not pay off."""
FILES: Final = pa.schema(
    [
        ("file", pa.string()),
        ("kind", pa.string()),
        ("source", pa.string()),
        ("bytes", pa.int64()),
        ("base", pa.int64()),
        ("first", pa.timestamp("us", "UTC")),
        ("last", pa.timestamp("us", "UTC")),
        ("zone", pa.string()),
        ("modified", pa.timestamp("us", "UTC")),
        ("replica_of", pa.string()),
        ("overlaps", pa.bool_()),
        ("sha256", pa.string()),
    ]
)
"""The files of the evidence as a table: `base` is the physical offset of the first byte of a commit log file; `overlaps`: some of its records may
be in another file."""
LIMITS: Final = pa.schema([("since", pa.timestamp("us", "UTC")), ("until", pa.timestamp("us", "UTC"))])
"""One row: what the user wants to see, null where nothing limits it."""
BRONZE: Final = (
    *(name for name in specs() if name not in ("messages", "logs", "consumequeue")),
    *(
        "queue_units",
        "message_bodies",
        "files",
        "limits",
        "stored_messages",
        "messages_within",
        "messages",
        "all_entries",
        "entries",
        "logs",
    ),
)
"""What was read, by the names queries use. `stored_messages` and `all_entries`: whatever their times, with the columns of the workspace."""
AS_MAP: Final = f"""case when {TEXT} <> '' then str_to_map({TEXT}, '\\u0002', '\\u0001') else cast(map() as map<string,string>) end"""


def _table(name: str, holds: str) -> Any:
    return property(lambda case: case.tables.frame(name), doc=holds)


class Frames(Stoppable, ABC):
    """The part of a `Case` that has tables as DataFrames, with the columns of the public interface. The engine starts with the first."""

    path: Path
    options: Options

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.RLock()

    @property
    @abstractmethod
    def found(self) -> Inventory: ...
    @property
    @abstractmethod
    def inventory(self) -> Inventory: ...
    @abstractmethod
    def folder(self, name: str) -> Path: ...
    @abstractmethod
    def table_key(self, name: str) -> str: ...
    @abstractmethod
    def write_table(self, name: str, write: Callable[[Path], None]) -> Path: ...
    @abstractmethod
    def results_folder(self) -> Path: ...
    @property
    @abstractmethod
    def facts(self) -> Facts: ...

    messages = _table("messages", "One row per commitlog record and file, replicas included.")
    stored_messages = _table(
        "stored_messages",
        "`messages` as the workspace keeps them: columns for the properties often used instead of the map.",
    )
    records = _table("records", "`stored_messages` with every record once: replicas and repeated copies left out.")
    ops = _table("ops", "Op records, one row for each half message they end.")
    logs = _table("logs", "Log entries, continuation lines folded.")
    entries = _table(
        "entries", "`logs` with `events` (slugs of known texts) and `offset` (byte position of the first line)."
    )
    skipped = _table("skipped", "Ranges of commitlog files that are not records.")
    consumequeue = _table("consumequeue", "Units of consume queues, each with the record it points to.")
    index = _table("index", "Entries of index files.")
    traces = _table("traces", "Contexts of message trace records.")
    configs = _table("configs", "Settings of brokers, topics and groups, from all sources.")
    offsets = _table("offsets", "Consumer offsets, delay offsets and the checkpoint.")
    admin = _table("admin", "Cells and fields of mqadmin outputs.")
    metrics = _table("metrics", "Host metrics and garbage collections.")
    network = _table("network", "Addresses and sockets of hosts.")
    threads = _table("threads", "Threads in thread dumps, and what each was doing.")
    rows = _table("rows", "Business tables, transaction log tables and delivery ledgers.")
    sends = _table("sends", "Send ledgers.")

    @cached_property
    def tables(self) -> Tables:
        """Every table, by name, as view, frame and facts."""
        return Tables(self)

    def sql(self, text: str, /, **values: Any) -> DataFrame:
        """Return the answer to a query over bronze, silver and gold tables; `values` are bound to `:name` in it."""
        return self.tables.sql(text, **values)

    def answers(self, text: str, /, **values: Any) -> list[dict[str, Any]]:
        """Return the few rows that answer a query, as dicts of plain values like `fact_rows`."""
        return frames.rows(plain(self.sql(text, **values).toArrow()))

    def ask(self, question: str, /, **values: Any) -> list[dict[str, Any]]:
        """Return the answer to one of `kit/tables/questions`, as `answers` does."""
        return self.answers(queries.question(question), **values)

    def fact_frame(self, name: str) -> pd.DataFrame:
        """Return a gold table as a small frame. Raise `KeyError`, `TableFailed`."""
        return self.tables.facts(name)

    def fact_rows(self, name: str) -> list[dict[str, Any]]:
        """Return a gold table as dicts of plain values. Raise as `fact_frame`."""
        return self.tables.rows(name)

    def query(self, name: str) -> str:
        """Return the text behind a silver or gold table."""
        return self.tables.text(name)

    def read_messages(self, *, body: bool = False) -> DataFrame:
        """Return `messages` read from the commitlog itself, with decompressed bodies if asked for."""
        import json

        from kit.case.reading import big_tables
        from kit.evidence.unread import Unread

        stores = json.dumps(big_tables.stores(self.found, Unread()))
        reader = (
            self.session.read.format("rocketmq.commitlog").option("files", stores).option("body", str(body).lower())
        )
        return reader.load().where(self._within("store_timestamp"))

    # --- what the runner of queries needs ------------------------------------------------------------------------------------------

    def bronze_names(self) -> tuple[str, ...]:
        return BRONZE

    def bronze(self, name: str) -> DataFrame:
        """Return one of `BRONZE`, read from the workspace; it is written there first if absent."""
        if name == "files":
            return local(self.session, self._files())
        if name == "limits":
            row = {"since": self.options.since, "until": self.options.until}
            return local(self.session, pa.Table.from_pylist([row], schema=LIMITS))
        if name == "stored_messages":
            return self._stored("messages")
        if name == "message_bodies":
            return self.read_messages(body=True)
        if name == "messages_within":
            columns = countable(specs()["messages"].schema)
            return self.tables.frame("stored_messages").where(self._within("store_timestamp")).selectExpr(*columns)
        if name == "messages":
            columns = [f"{AS_MAP} as properties" if each == "properties" else each for each in FIELDS if each != "body"]
            return self.tables.frame("stored_messages").where(self._within("store_timestamp")).selectExpr(*columns)
        if name == "all_entries":
            return self._stored("logs").selectExpr(*countable(specs()["logs"].schema))
        if name == "entries":
            return self.tables.frame("all_entries").where(self._within("ts"))
        if name == "logs":
            return self.tables.frame("entries").drop(*HIDDEN)
        name = "consumequeue" if name == "queue_units" else name
        spec = specs()[name]
        return self._stored(name).selectExpr(*countable(spec.schema)).where(self._within(spec.time))

    def _stored(self, name: str) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        return self.read_back(self.folder(name), from_arrow_schema(specs()[name].schema).jsonValue())

    def read_back(self, folder: Path, columns: dict[str, Any]) -> DataFrame:
        """Return a folder of Parquet files as a DataFrame with these columns, given as PySpark writes a schema as JSON."""
        from pyspark.sql.types import StructType

        schema = StructType.fromJson(columns)
        return sessions.parquet(self.session, folder, schema).select(*schema.names)

    def uri(self, folder: Path) -> str:
        return sessions.uri(folder)

    def _within(self, column: str | None) -> str:
        return within(column, self.options.since, self.options.until)

    def _files(self) -> pa.Table:
        overlaps = {"overlaps": self.found.overlapping}
        rows = [{name: getattr(item, name, None) for name in FILES.names} | overlaps for item in self.inventory.items]
        return pa.Table.from_pylist(rows, schema=FILES)

    # --- the session ---------------------------------------------------------------------------------------------------------------

    def warm(self) -> None:
        """Start the session in the background; what needs it waits. Raise `JavaMissing` if it cannot start."""
        from kit.evidence import files as evidence

        with self._lock:
            if self._spark is None:
                self._spark = sessions.begin(
                    self.options.master, self.options.remote, brief=lambda: evidence.weight(self.path) <= BRIEF
                )

    @property
    def session(self) -> SparkSession:
        """The session of this case; tables become its views when they are asked for."""
        self.warm()
        assert self._spark is not None
        return self._spark.result()

    @property
    def spark(self) -> SparkSession:
        """The session of this case, with every bronze, silver and gold table as a temp view."""
        self.tables.offer()
        return self.session


def countable(schema: pa.Schema) -> list[str]:
    """Return the columns with null for times before 1678 or after 2261: pandas, in which facts are small frames, would raise."""
    first, last = NANO_FIRST_MS * 1000, NANO_LAST_MS * 1000
    return [
        f"case when unix_micros(`{field.name}`) between {first} and {last} then `{field.name}` end as `{field.name}`"
        if pa.types.is_timestamp(field.type)
        else f"`{field.name}`"
        for field in schema
    ]


def within(column: str | None, since: dt.datetime | None, until: dt.datetime | None) -> str:
    """Return the condition that a time lies between two others, both included; rows without a time stay."""
    limits = [(sign, at) for sign, at in ((">=", since), ("<=", until)) if at is not None]
    if column is None or not limits:
        return "true"
    inside = [f"{column} {sign} timestamp_micros({int(at.timestamp() * 1_000_000)})" for sign, at in limits]
    return f"{column} is null or ({' and '.join(inside)})"
