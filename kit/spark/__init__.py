"""The Spark session and the kit's data sources: `kit.spark.session()`."""

from kit.spark.sessions import session

__all__ = ["session"]
