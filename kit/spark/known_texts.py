"""Log entries with one known text, and the values printed in it as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kit.rocketmq.log_events.catalogue import BY_SLUG

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def select(logs: DataFrame, slug: str) -> DataFrame:
    """Return the rows of `logs` (which has the column `events`) with that text and one string column per value, null if
    it is not printed.

    Raise `KeyError` for a slug that is not in the catalogue. Everything runs in the JVM.
    """
    from pyspark.sql import functions as F  # noqa: N812

    event = BY_SLUG[slug]
    rows = logs.where(F.array_contains("events", slug))
    if not event.groups:
        return rows
    text = F.concat_ws("\n", "message", "trace")
    values = {name: F.regexp_extract(text, event.java, number) for number, name in enumerate(event.groups, 1)}
    return rows.select(
        "*", *(F.when(value != "", value).alias(free(name, logs.columns)) for name, value in values.items())
    )


def free(name: str, taken: Sequence[str]) -> str:
    """Return the column's name, with `_said` appended if the log table has one of that name."""
    return f"{name}_said" if name in taken else name
