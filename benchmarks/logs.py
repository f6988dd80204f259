"""Broker log parsing: the kit, with continuation lines folded, beside DuckDB, polars and Spark's own text reader, which
cannot fold.

All give time, level, thread and message of every line of one log; the kit also its logger, source, layout and known
texts.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kit.spark
from benchmarks.common import WORK, keep, paired, unpacked
from kit.formats.logs.entries import batches
from kit.formats.logs.schema import Options, Piece
from kit.spark import sources

SIZE = 256 << 20
LINE = r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (\w+) (\S+) - (.*)$"


def log(size: int = SIZE) -> Path:
    """Return a broker log of `size` bytes: the lines of a recorded one, again and again."""
    target = WORK / f"broker-{size >> 20}.log"
    if not target.exists():
        folder = unpacked("half-topic-blowup")
        source = max(folder.rglob("*.log"), key=lambda p: p.stat().st_size if "logs" in p.parts else 0).read_bytes()
        with target.open("wb") as out:
            for _ in range(size // len(source) + 1):
                out.write(source)
    return target


def by_kit(path: Path) -> Callable[[], int]:
    pieces = list(sources.pieces(Piece(path.name, str(path))))
    return lambda: sum(b.num_rows for piece in pieces for b in batches(piece, Options()))


def by_duckdb(path: Path, threads: int) -> Callable[[], int] | None:
    try:
        import duckdb
    except ImportError:
        return None
    con = duckdb.connect(config={"threads": threads})
    query = f"""
        SELECT count(strptime(g.ts, '%Y-%m-%d %H:%M:%S')), count(g.level), count(g.thread), sum(length(g.message)) FROM (
          SELECT regexp_extract(line, '{LINE}', ['ts', 'level', 'thread', 'message']) AS g
          FROM read_csv('{path}', columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false, auto_detect=false,
                        parallel=true, max_line_size=16777216)
          WHERE regexp_matches(line, '{LINE}'))"""
    return lambda: con.execute(query).fetchone()[0]


def by_polars(path: Path) -> Callable[[], int] | None:
    try:
        import polars as pl
    except ImportError:
        return None

    def run() -> int:
        lines = pl.scan_csv(
            path, has_header=False, new_columns=["line"], separator="\x01", quote_char=None, truncate_ragged_lines=True
        )
        groups = (
            pl.col("line")
            .str.extract_groups(LINE)
            .struct.rename_fields(["ts", "level", "thread", "message"])
            .alias("g")
        )
        frame = (
            lines.select(groups)
            .unnest("g")
            .with_columns(pl.col("ts").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False))
            .drop_nulls("ts")
            .collect()
        )
        return frame.height

    return run


def by_spark(path: Path) -> Callable[[], None]:
    from pyspark.sql import functions as F  # noqa: N812

    spark = kit.spark.session()

    def run() -> None:
        lines = spark.read.text(str(path))
        parts = [
            F.regexp_extract("value", LINE, n).alias(name)
            for n, name in enumerate(("ts", "level", "thread", "message"), 1)
        ]
        lines.select(*parts).withColumn("ts", F.try_to_timestamp("ts")).write.format("noop").mode("overwrite").save()

    return run


def run(size: int = SIZE) -> dict[str, Any]:
    """Return bytes, and GB/s (median of the rounds) by contestant; DuckDB and polars use both cores, the kit one (its
    kernel) and both (through Spark).
    """
    path = log(size)
    spark = kit.spark.session()

    def through_spark() -> None:
        spark.read.format("rocketmq.log").load(str(path)).write.format("noop").mode("overwrite").save()

    chosen = {
        "kit_1_core": by_kit(path),
        "kit_spark": through_spark,
        "duckdb_1": by_duckdb(path, 1),
        "duckdb_2": by_duckdb(path, 2),
        "polars_2": by_polars(path),
        "spark_text": by_spark(path),
    }
    for name, each in chosen.items():
        if each is None:
            print(f"{name} is left out: not installed (uv pip install duckdb polars).")
    times = paired(**{name: each for name, each in chosen.items() if each is not None})
    bytes_ = path.stat().st_size
    speed = {name: round(bytes_ / statistics.median(each) / 1e9, 3) for name, each in times.items()}
    ratios = {
        f"kit_1_core/{other}": round(speed["kit_1_core"] / speed[other], 2)
        for other in speed
        if not other.startswith("kit")
    }
    found = {"bytes": bytes_, "gb_per_s": speed, "ratios": ratios}
    keep("logs", found)
    return found


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:14} {value}")
