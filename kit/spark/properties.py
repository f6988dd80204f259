"""Message properties in Spark: the well-known ones as columns, and all of them as a map."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from kit.formats.commitlog.schema import TEXT, promoted
from kit.rocketmq import names


def prop(name: str) -> Column:
    """Return a property of a record of `case.records`, null if the record does not have it.

    Raise `KeyError` for a property without a column: name it in `kit.formats.commitlog.schema.PROMOTED` first.
    """
    return F.col(promoted(name))


def as_map() -> Column:
    """Return all properties as a map. The text of every record is split for it, so use it only when needed."""
    split = F.str_to_map(TEXT, F.lit(names.PROPERTY_SEPARATOR), F.lit(names.NAME_VALUE_SEPARATOR))
    return F.when(F.col(TEXT) != "", split).otherwise(F.create_map().cast("map<string,string>")).alias("properties")
