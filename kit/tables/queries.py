"""The declared queries: each file below `silver/` and `gold/` is a table with the name of the file.

`.sql`: one SELECT; `.py` with `query(spark) -> DataFrame` where SQL says it badly, and what it reads in `READS`. The
comment at the head says the grain, what its columns do not say by their names and the query, the most rows where no
`limit` does, and where RocketMQ does what is asked for. A small gold table that is worked out in the driver from others
and the inventory is a fold: a function below `@fold`, in `kit.analysis`, above this room and loaded by name.
"""

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

import attrs

HERE: Final = Path(__file__).parent
NO_NAMES: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
"""Comments and literals of a query: what they mention is not read."""
_READS: Final = re.compile(r"\b(?:from|join)\s+(\w+)", re.IGNORECASE)
FOLDS: Final = ("brokers", "setup", "sizes", "sends.attempts", "consumers.members", "consumers.offsets")
"""The modules of `kit.analysis` that declare folds."""
Layer = Literal["silver", "gold"]
F = TypeVar("F", bound=Callable[..., Any])


@attrs.frozen
class Query:
    """One declared table. `reads`: the tables it is made from; `stored`: silver kept as Parquet, no view."""

    name: str
    layer: Layer
    text: str
    reads: tuple[str, ...]
    stored: bool
    ask: Callable[[Any], Any] | None = None
    """Its `query` where SQL says it badly: from a session to a DataFrame."""
    fold: Callable[[Any], Any] | None = None
    """What works it out in the driver: from facts to dicts or a frame."""
    columns: str = ""
    """Those of a fold: `name type, …` with Spark's names of types."""


_folds: Final[dict[str, Query]] = {}


def fold(columns: str, *reads: str) -> Callable[[F], F]:
    """Declare a function of facts as the gold table of its name: it returns dicts or a frame; times are naive UTC."""

    def declare(work: F) -> F:
        name = work.__name__
        _folds[name] = Query(name, "gold", inspect.getsource(work), reads, stored=True, fold=work, columns=columns)
        return work

    return declare


@functools.cache
def catalogue() -> Mapping[str, Query]:
    for module in FOLDS:
        importlib.import_module(f"kit.analysis.{module}")
    queries = [*_folds.values()]
    for layer in get_args(Layer):
        for path in sorted((HERE / layer).rglob("*")):
            text = path.read_text(encoding="utf-8") if path.suffix in (".sql", ".py") else ""
            stored = layer == "gold" or "-- stored" in text or "\nSTORED" in text
            if path.suffix == ".sql":
                reads = tuple(dict.fromkeys(_READS.findall(NO_NAMES.sub(" ", text))))
                queries.append(Query(path.stem, layer, text, reads, stored))
            elif path.suffix == ".py":
                place = path.relative_to(HERE).with_suffix("").parts
                python = importlib.import_module(".".join(("kit", "tables", *place)))
                queries.append(Query(path.stem, layer, text, tuple(python.READS), stored, ask=python.query))
    return {query.name: query for query in queries}
