"""Runs the declared queries of a case, each once; results are kept under the hash of text and inputs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import pyarrow as pa

from kit.evidence.workspace import code_hash
from kit.tables import frames
from kit.tables.queries import NO_NAMES, Query, catalogue

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    from kit.tables.facts import Facts

SCHEMA: Final = "_columns.json"
"""Beside a stored table: its columns, as PySpark writes them. Engines skip names with an underscore."""
_NAMES: Final = re.compile(r"\w+")
POOL: Final = "memory pool"
"""In what the embedded engine says to a query for which the others leave too little memory."""
R = TypeVar("R")


class Evidence(Protocol):
    """What the runner needs of a case: a session, bronze tables and their keys, and a folder for results."""

    @property
    def session(self) -> SparkSession: ...
    def bronze(self, name: str) -> DataFrame: ...
    def bronze_names(self) -> tuple[str, ...]: ...
    def table_key(self, name: str) -> str: ...
    def write_table(self, name: str, write: Callable[[Path], None]) -> Path: ...
    def results_folder(self) -> Path: ...
    def uri(self, folder: Path) -> str: ...
    def read_back(self, folder: Path, columns: Any) -> DataFrame: ...
    @property
    def facts(self) -> Facts: ...
    def check_cancelled(self) -> None: ...


class TableFailed(RuntimeError):
    """A declared table could not be worked out: `name`, and the engine's own words."""

    def __init__(self, name: str, error: Exception) -> None:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        super().__init__(f"table {name}: {type(error).__name__}: {first[:500]}")
        self.name = name


class Turns:
    """Queries side by side; one for which the others leave too little memory is asked again when it has all of it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._alone = False

    def ask(self, work: Callable[[], R]) -> R:
        """Return what `work`, which asks the engine and waits for no other query, returns."""
        try:
            with self._beside_others():
                return work()
        except Exception as error:  # the errors of engines share no class
            if POOL not in str(error):
                raise
        with self._without_others():
            return work()

    @contextlib.contextmanager
    def _beside_others(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def _without_others(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: not self._running)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()


class Tables:
    """Every table of one case, as temp views of its session and as facts."""

    def __init__(self, case: Evidence) -> None:
        self._case = case
        self._lock = threading.RLock()
        self._locks: dict[str, threading.RLock] = {}
        self._views: set[str] = set()
        self._results: dict[str, pa.Table] = {}
        self._failed: dict[str, Exception] = {}
        self._keys: dict[str, str] = {}
        self._turns = Turns()

    def frame(self, name: str) -> DataFrame:
        """Return a table as a DataFrame and make it a temp view. Raise `KeyError`, `TableFailed`."""
        self._once(name, self._view)
        return self._case.session.table(name)

    def facts(self, name: str) -> pd.DataFrame:
        """Return a gold table as a frame (`kit.tables.frames.to_pandas`). Raise `KeyError`, `TableFailed`."""
        return frames.to_pandas(self.arrow(name))

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return a gold table as dicts of plain values. Raise `KeyError`, `TableFailed`."""
        return frames.rows(self.arrow(name))

    def arrow(self, name: str) -> pa.Table:
        """Return a gold table as Arrow. Raise `KeyError`, `TableFailed`."""
        self._once(f"{name}:rows", partial(self._result, name))
        return self._results[name]

    def sql(self, text: str, /, **values: Any) -> DataFrame:
        """Return the answer to a query over any of the tables; `values` are bound to `:name` in it."""
        known = {*catalogue(), *self._case.bronze_names()}
        for name in dict.fromkeys(_NAMES.findall(NO_NAMES.sub(" ", text))):
            if name in known:
                self.frame(name)
        return self._case.session.sql(text, args=values or None)

    def text(self, name: str) -> str:
        """Return the text behind a silver or gold table. Raise `KeyError`."""
        return catalogue()[name].text

    def offer(self) -> None:
        """Make every table a temp view: silver and gold as the queries they are, folds once somebody asks."""
        for name in self._case.bronze_names():
            if name != "message_bodies":  # the files would be looked at again
                self._once(name, self._view)
        for name, query in catalogue().items():
            if not self._folds(query):
                self._once(name, self._view)

    def _folds(self, query: Query) -> bool:
        return query.fold is not None or any(
            self._folds(catalogue()[each]) for each in query.reads if each in catalogue()
        )

    def _once(self, name: str, work: Callable[..., None]) -> None:
        """Do `work` for a name once, however many threads ask; what failed fails again with the same error."""
        with self._lock:
            lock = self._locks.setdefault(name, threading.RLock())
        with lock:
            if name in self._failed:
                raise self._failed[name]
            try:
                work(name) if work == self._view else work()
            except (KeyError, KeyboardInterrupt, TableFailed):
                raise
            except Exception as error:
                self._case.check_cancelled()  # a cancelled query fails too
                raise self._fail(name, error) from error

    def _fail(self, name: str, error: Exception) -> Exception:
        # A full disk or a missing Java is not the table's fault, and says so itself.
        known = error if isinstance(error, OSError) or type(error).__name__ == "JavaMissing" else None
        self._failed[name] = known or TableFailed(name.removesuffix(":rows"), error)
        return self._failed[name]

    def _view(self, name: str) -> None:
        if name in self._views:
            return
        self._case.check_cancelled()
        self._table(name).createOrReplaceTempView(name)
        self._views.add(name)

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

            def rows() -> None:
                for left in folder.glob("*.parquet"):  # of a query that was ended
                    left.unlink()
                frame.write.mode("append").parquet(self._case.uri(folder))

            self._turns.ask(rows)
            # A table without rows has no file that would name its columns.
            (folder / SCHEMA).write_text(frame.schema.json(), encoding="utf-8")

        folder = self._case.write_table(f"{name}-{self.key(name)}", write)
        columns = json.loads((folder / SCHEMA).read_text(encoding="utf-8"))
        return self._case.read_back(folder, columns)

    def _asked(self, query: Query) -> DataFrame:
        for each in query.reads:
            if each in self._case.bronze_names() or each in catalogue():
                self._once(each, self._view)
        spark = self._case.session
        frame: DataFrame = spark.sql(query.text) if query.module is None else query.python.query(spark)
        return frame

    def _result(self, name: str) -> None:
        if name in self._results:
            return
        self._case.check_cancelled()
        query = catalogue()[name]
        path = self._case.results_folder() / f"{name}-{self.key(name)}.arrow"
        if not path.exists():
            if query.fold is not None:
                _write(path, frames.to_arrow(query.fold(self._case.facts), query.columns))
            else:
                frame = self._asked(query)
                _write(path, self._turns.ask(lambda: collect(frame)))
        with pa.OSFile(str(path)) as file:
            self._results[name] = pa.ipc.open_file(file).read_all()

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


def local(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a small Arrow table as a DataFrame; PySpark takes no schema from one without rows."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = from_arrow_schema(table.schema)
    return spark.createDataFrame(table if len(table) else [], schema)


def collect(frame: DataFrame) -> pa.Table:
    """Return all rows of a DataFrame, with plain types (`plain`)."""
    # `toArrow` of PySpark's client has the question planned once more, for its columns.
    ask = getattr(frame, "_to_table", None)
    return plain(frame.toArrow() if ask is None else ask()[0])


def plain(table: pa.Table) -> pa.Table:
    """Return a result with the plain types that both engines share: no views, no dictionaries, times in UTC."""
    fields = [pa.field(field.name, _plain(field.type)) for field in table.schema]
    return pa.table([table[n].cast(field.type) for n, field in enumerate(fields)], schema=pa.schema(fields))


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(each.name, _plain(each.type)) for each in kind])
    return kind


def _write(path: Path, table: pa.Table) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    with pa.OSFile(str(part), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    part.replace(path)
