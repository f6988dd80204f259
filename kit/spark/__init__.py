"""The Spark session and the kit's data sources: `kit.spark.session()`."""

from __future__ import annotations

from kit.spark.sessions import JavaMissing, is_local, parquet, register, require_java, session, uri

__all__ = ["JavaMissing", "is_local", "parquet", "register", "require_java", "session", "uri"]
