"""The watch on Structured Streaming tells what the one in a single process tells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from recorded import whole
from replayer import replay

from kit.watch import state_folder
from kit.watch.loop import Watch
from kit.watch.spark_engine import Engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def half_full(_: Path) -> tuple[int, int]:
    return 100, 50


def causes(alerts: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(alert["cause"], alert["step"]) for alert in alerts if alert["state"] == "raised"}


def test_both_engines_ring_the_same_and_a_batch_that_comes_again_rings_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    root, state = tmp_path / "broker", tmp_path / "state"
    growing = replay(whole("transaction-consistency"), root)
    growing.advance(growing.end)
    now = growing.end + 60

    def fresh(kept: state_folder.Kept | None = None) -> Watch:
        return Watch([root], kept or state_folder.Kept(), "earliest", clock=lambda: now, disk=half_full)

    alone = fresh()
    expected = [*alone.step(), *alone.step()]
    state.mkdir()
    told: list[dict[str, Any]] = []
    watch = fresh()
    engine = Engine(watch, state, [told.append])
    for query in engine.start(spark, 1.0, once=True):
        query.awaitTermination(600)
        assert query.exception() is None
    assert causes(told) == causes(expected)
    assert {each[0] for each in causes(told)} >= {"transaction-consistency", "dead-letter"}
    assert watch.figures.stages == alone.figures.stages
    # A new process: the checkpoint says that everything was read; a batch that comes again is known.
    before = len(told)
    again = Engine(fresh(state_folder.load(state)), state, [told.append])
    for query in again.start(spark, 1.0, once=True):
        query.awaitTermination(600)
    frame = spark.read.format("rocketmq.log").option("events", "true").load(str(root))
    again._batch("log-0", "log", 0)(frame, 0)
    assert len(told) == before
