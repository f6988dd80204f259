"""Runs the declared queries of a case, each once; results are kept under the hash of text and inputs."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import pyarrow as pa

from kit.evidence import disk
from kit.evidence.workspace import code_hash
from kit.spark.sessions import JavaMissing, parquet, uri
from kit.spark.sources import plain
from kit.tables import frames
from kit.tables.facts import Once
from kit.tables.queries import NO_NAMES, Query, catalogue

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kit.case.case import Case

SCHEMA: Final = "_columns.json"
"""Beside a stored table: its columns, as PySpark writes them. Engines skip names with an underscore."""
_NAMES: Final = re.compile(r"\w+")
MOST: Final = 64
"""Queries that are asked at the same time."""
AGAIN: Final = ("memory pool", "Exception deserializing response")
"""In errors of a query that is asked again: the others leave the embedded engine too little memory for it; gRPC handed
on an answer that its client cannot read (grpc/grpc issue 34670), which is rare and passes.
"""
R = TypeVar("R")


class TableFailed(RuntimeError):
    """A declared table could not be worked out: `name`, and the engine's own words."""

    def __init__(self, name: str, error: Exception) -> None:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        super().__init__(f"table {name}: {type(error).__name__}: {first[:500]}")
        self.name = name


class Turns:
    """Queries side by side; one that failed for a reason that may pass (`AGAIN`) is asked again, alone."""

    def __init__(self) -> None:
        self._places = threading.Semaphore(MOST)
        self._alone = threading.Lock()

    def ask(self, work: Callable[[], R]) -> R:
        """Return what `work`, which asks the engine and waits for no other query, returns."""
        try:
            with self._places:
                return work()
        except Exception as error:  # the errors of engines share no class
            if not any(words in str(error) for words in AGAIN):
                raise
        with self._alone, ExitStack() as every_place:
            for _ in range(MOST):
                every_place.enter_context(self._places)
            return work()


class Tables:
    """Every table of one case, as temp views of its session and as facts."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._views = Once(case.check_cancelled)
        self._results = Once(case.check_cancelled)
        self._keys: dict[str, str] = {}
        self._turns = Turns()

    def frame(self, name: str) -> DataFrame:
        """Return a table as a DataFrame and make it a temp view. Raise `KeyError`, `TableFailed`."""
        self._view(name)
        return self._case.session.table(name)

    def arrow(self, name: str) -> pa.Table:
        """Return a gold table as Arrow. Raise `KeyError`, `TableFailed`."""
        return self._once(self._results, name, self._result)

    def answers(self, text: str, /, **values: Any) -> list[dict[str, Any]]:
        """Return the few rows that answer a query, as dicts of plain values like `rows`."""
        return frames.rows(collect(self.sql(text, **values)))

    def sql(self, text: str, /, **values: Any) -> DataFrame:
        """Return the answer to a query over any of the tables; `values` are bound to `:name` in it."""
        known = {*catalogue(), *self._case.bronze_names()}
        for name in dict.fromkeys(_NAMES.findall(NO_NAMES.sub(" ", text))):
            if name in known:
                self._view(name)
        return self._case.session.sql(text, args=values or None)

    def offer(self) -> None:
        """Make every table a temp view."""
        for name in (*self._case.bronze_names(), *catalogue()):
            if name != "message_bodies":  # the files would be looked at again
                self._view(name)

    def _once(self, known: Once, name: str, work: Callable[[str], R]) -> R:
        """Do `work` for a table once. Raise `TableFailed`, which names the table that failed."""

        def named() -> R:
            self._case.check_cancelled()
            try:
                return work(name)
            except (KeyError, TableFailed, OSError, JavaMissing):  # what is not the table's fault says so itself
                raise
            except Exception as error:
                raise TableFailed(name, error) from error

        return known.get(name, named)

    def _view(self, name: str) -> None:
        self._once(self._views, name, lambda each: self._table(each).createOrReplaceTempView(each))

    def _table(self, name: str) -> DataFrame:
        if name in self._case.bronze_names():
            return self._case.bronze(name)
        query = catalogue()[name]
        if query.layer == "gold":
            return local(self._case.session, self.arrow(name))
        if not query.stored:
            return self._asked(query)

        def write(folder: Path) -> None:
            frame = self._asked(query)
            self._turns.ask(lambda: write_parquet(frame, folder))

        folder = self._case.write_table(f"{name}-{self.key(name)}", write)
        return read_parquet(self._case.session, folder)

    def _asked(self, query: Query) -> DataFrame:
        for each in query.reads:
            if each in self._case.bronze_names() or each in catalogue():
                self._view(each)
        spark = self._case.session
        frame: DataFrame = unasked(spark, query.text) if query.ask is None else query.ask(spark)
        return frame

    def _result(self, name: str) -> pa.Table:
        query = catalogue()[name]
        path = self._case.results_folder() / f"{name}-{self.key(name)}.arrow"
        if not path.exists():
            if query.fold is not None:
                table = frames.to_arrow(query.fold(self._case.facts), query.columns)
            else:
                frame = self._asked(query)
                table = self._turns.ask(lambda: collect(frame))
            with disk.replacing(path) as part, pa.ipc.new_file(part, table.schema) as writer:
                writer.write_table(table)
        with pa.OSFile(str(path)) as file:
            return pa.ipc.open_file(file).read_all()

    def key(self, name: str) -> str:
        """Return the hash of a table's text and of all it is made from."""
        # Without a lock: a key may need the zones, which may need other tables. Two threads get the same.
        if name not in self._keys:
            query = catalogue().get(name)
            if query is None:
                self._keys[name] = self._case.table_key(name)
            else:
                known = {*catalogue(), *self._case.bronze_names()}
                parts = [query.text, *(self.key(each) for each in query.reads if each in known)]
                if query.fold is not None:  # what it calls is part of it
                    parts += [self._case.table_key("files"), code_hash("analysis", "rocketmq", "tables")]
                self._keys[name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        return self._keys[name]


def write_parquet(frame: DataFrame, folder: Path) -> None:
    """Write a DataFrame into an empty folder, with its columns in `SCHEMA`: without rows no file would name them."""
    for left in folder.glob("*.parquet"):  # of a query that was ended
        left.unlink()
    frame.write.mode("append").parquet(uri(folder))
    (folder / SCHEMA).write_text(frame.schema.json(), encoding="utf-8")


def read_parquet(spark: SparkSession, folder: Path) -> DataFrame:
    """Return what `write_parquet` wrote."""
    from pyspark.sql.types import StructType

    return parquet(spark, folder, StructType.fromJson(json.loads((folder / SCHEMA).read_text(encoding="utf-8"))))


def local(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a small Arrow table as a DataFrame; PySpark takes no schema from one without rows."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(table.schema)
    return spark.createDataFrame(table if len(table) else [], schema)


def unasked(spark: SparkSession, text: str) -> DataFrame:
    """Return a query as a DataFrame. `sql` of PySpark's client has it planned at once, and again when it is used."""
    if not type(spark).__module__.startswith("pyspark.sql.connect"):
        return spark.sql(text)
    from pyspark.sql.connect import dataframe, plan

    query: Any = dataframe.DataFrame(plan.SQL(text), cast("Any", spark))
    return query


def collect(frame: DataFrame) -> pa.Table:
    """Return all rows of a DataFrame, with plain types (`kit.spark.sources.plain`)."""
    # `toArrow` of PySpark's client has the question planned once more, for its columns.
    ask = getattr(frame, "_to_table", None)
    return plain(frame.toArrow() if ask is None else ask()[0])
