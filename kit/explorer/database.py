"""The explorer's database: narrow copies of the logs and records of a case, in order of time, as views of a small DuckDB.

They are workspace tables like others: written once, cut by the times of the case, each record once. DuckDB keeps to
`MEMORY` and spills what does not fit into the workspace.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import threading
from collections.abc import Sequence
from concurrent import futures
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis.consumers import positions
from kit.causes import results, timeline
from kit.charts import clean
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.explorer.selection import COLUMNS, Part, quoted

if TYPE_CHECKING:
    import duckdb

    from kit.case.case import Case

MEMORY: Final = "1GB"
LONGEST: Final = 500
"""Characters of an entry's text in the explorer; the whole of it is in `Explorer.entries`."""
MOST_NAMES: Final = 400
"""Number of topic or group names searched for in log texts, those with most records first."""
FIRST, LAST = "TIMESTAMP '1971-01-01'", "TIMESTAMP '2262-01-01'"
"""Times outside are damage: they would squeeze the timeline into one bar."""
EVENTS: Final = "|"
"""Separator between the known texts of an entry."""
MOST_COUNTED: Final = 3_000_000
"""Most rows of a table of counts: if hardly two rows are alike, the rows themselves are queried."""
_LAG: Final = {"ts": "TIMESTAMP", "topic": "VARCHAR", "group": "VARCHAR", "lag": "BIGINT"}
_MOMENTS: Final = {"ts": "TIMESTAMP", "lane": "VARCHAR", "what": "VARCHAR"}
_NAME: Final = re.compile(r"[%|\w-]{3,255}", re.ASCII)
_ACTING: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\x{ad}\x{61c}\x{180e}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{fff9}-\x{fffb}]"
"""Characters that `clean` spells out; most texts contain none."""
_SAID_TOPIC: Final = r"(?i)\btopic(?:name)?[\"']?\s*[=:]\s*[\[\"']?([%|\w-]{1,255})"
_SAID_GROUP: Final = r"(?i)\b(?:consumer|producer)?group(?:name)?[\"']?\s*[=:]\s*[\[\"']?([%|\w-]{1,255})"
_ADDRESS: Final = r"\b(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\b"


class Database:
    """The views `entries`, `records`, `lag`, `metrics`, `moments` of one case; `entries` and `records` without the rows that
    `narrow` leaves out. Closed with the value.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        scratch = case.workspace.folder / "tmp"
        disk.private(scratch)
        self._scratch = tempfile.TemporaryDirectory(prefix="explorer-", dir=scratch)
        self.con = connect(Path(self._scratch.name))
        self.folders: dict[Part, Path] = {"records": _kept(case, "records", self.con)}
        self.folders["entries"] = _kept(case, "entries", self.con)
        self._small("lag", _LAG, _lag(case))
        self._small("moments", _MOMENTS, _moments(case))
        self.ask(f"CREATE VIEW metrics AS SELECT * FROM ({_metrics(case)})")

    def narrow(self, entries: str = "true", records: str = "true") -> None:
        """Limit the views of entries and records to the rows that satisfy these conditions."""
        for part, where in (("entries", entries), ("records", records)):
            source = parquet(self.folders[part])  # type: ignore[index]
            # A joined text that is split in the query is read a hundred times as fast as many small lists.
            listed = (
                f"(SELECT *, string_split(known, '{EVENTS}') AS events FROM {source})" if part == "entries" else source
            )
            self.ask(f"CREATE OR REPLACE VIEW {part} AS SELECT * FROM {listed} WHERE {where}")

    def count_up(self, step: int) -> None:
        """Create the tables `entries_counts` and `records_counts`: how many `rows` have the same values within `step` ms.
        Charts and their selections query these.
        """
        for part, columns in COLUMNS.items():
            plain = [f'"{"known" if name == "events" else name}"' for name in columns.values()]
            by = f"time_bucket(INTERVAL {step} MILLISECOND, ts)"
            groups = self.ask(f"SELECT approx_count_distinct(hash({by}, {', '.join(plain)})) FROM {part}").fetchone()
            if groups and groups[0] > MOST_COUNTED:
                self.ask(f"CREATE OR REPLACE VIEW {part}_counts AS SELECT *, 1.0 AS rows FROM {part}")
                continue
            counted = (
                f"SELECT {by} AS ts, {', '.join(plain)}, CAST(count(*) AS DOUBLE) AS rows FROM {part} GROUP BY ALL"
            )
            self.ask(f"CREATE TABLE counted AS {counted}")
            coded = ", ".join(self._coded(part, column) for column in columns.values())
            self.ask(f"CREATE TABLE {part}_counts AS SELECT ts, rows, {coded} FROM counted ORDER BY ts")
            self.ask("DROP TABLE counted")

    def _coded(self, part: Part, column: str) -> str:
        """Return a column of the table `counted` with its values as numbers, which DuckDB groups three times as fast as texts."""
        if column == "events":
            return f"string_split(known, '{EVENTS}') AS events"
        values = f'SELECT DISTINCT "{column}" FROM counted WHERE "{column}" IS NOT NULL ORDER BY 1'
        if not self.ask(values).fetchall():
            return f'"{column}"'
        self.ask(f"CREATE TYPE {part}_{column} AS ENUM ({values})")
        return f'CAST("{column}" AS {part}_{column}) AS "{column}"'

    def ask(self, asked: str, values: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
        """Return the result of a query. An interrupt ends it at once; the next query works."""
        return ask(self.con, asked, values)

    def count(self, name: str) -> int:
        """Return the number of rows of a view."""
        found = self.ask(f"SELECT count(*) FROM {name}").fetchone()
        return int(found[0]) if found else 0

    def values(self, part: str, column: str, where: str = "true", most: int = 1000) -> list[str]:
        """Return the values of a column, the most frequent first, lists unnested. Call after `count_up`."""
        each = "unnest(events)" if column == "events" else f'"{column}"'
        asked = f"""
            SELECT v FROM (SELECT {each} AS v, rows FROM {part}_counts WHERE {where})
            WHERE v IS NOT NULL GROUP BY v ORDER BY sum(rows) DESC, v LIMIT {most}"""
        return [row[0] for row in self.ask(asked).fetchall()]

    def _small(self, name: str, columns: dict[str, str], frame: Any) -> None:
        """Load columns of a small result of the causes."""
        typed = ", ".join(f'"{each}" {kind}' for each, kind in columns.items())
        self.ask(f"CREATE TABLE {name} ({typed})")
        if not frame.empty:
            self.con.register("given", frame[list(columns)])
            self.ask(f"INSERT INTO {name} SELECT * FROM given")
            self.con.unregister("given")


def ask(con: duckdb.DuckDBPyConnection, asked: str, values: Sequence[Any] = ()) -> duckdb.DuckDBPyConnection:
    """Run a statement in a separate thread: interrupted in the kernel's thread, DuckDB continues to sort, and what it
    raises at other times is a `RuntimeError`.
    """
    asking: futures.Future[duckdb.DuckDBPyConnection] = futures.Future()

    def answer() -> None:
        if asking.set_running_or_notify_cancel():
            try:
                asking.set_result(con.execute(asked, values or None))
            except BaseException as error:
                asking.set_exception(error)

    try:
        threading.Thread(target=answer, daemon=True).start()
        return asking.result()
    except BaseException:
        # The interrupt may come while the thread starts: a statement that has not begun never does, a begun one ends first.
        while not asking.cancel() and not asking.done():
            con.interrupt()
            futures.wait([asking], timeout=0.05)
        raise


def connect(scratch: Path) -> duckdb.DuckDBPyConnection:
    """Return a database in memory that spills into `scratch`, fetches no extension and uses no network."""
    import duckdb

    con = duckdb.connect(
        config={
            "memory_limit": MEMORY,
            "temp_directory": str(scratch),
            "autoinstall_known_extensions": "false",
            "allow_community_extensions": "false",
        }
    )
    con.create_function("spelled", lambda text: clean(text), ["VARCHAR"], "VARCHAR")  # type: ignore[arg-type,list-item]
    return con


def parquet(folder: Path) -> str:
    """Return a folder of Parquet files as a source of SQL."""
    return f"read_parquet({quoted(str(folder / '**' / '*.parquet'))}, hive_partitioning = false)"


def _kept(case: Case, part: Part, con: duckdb.DuckDBPyConnection) -> Path:
    """Return the folder of the explorer's table of entries or records; it is written if absent."""
    base = case.folder("logs" if part == "entries" else "messages")
    copies = sorted(i.file for i in case.found.of_kind("commitlog", "dledger") if i.replica_of)
    # A table that is read again, because a file has become readable, keeps its name but not its time.
    said = [base.name, (base / ws.DONE).stat().st_mtime_ns, copies, case.options.digest(), ws.code_hash("explorer")]
    key = f"explorer_{part}-{hashlib.sha256(repr(said).encode()).hexdigest()[:12]}"
    with case.workspace.writing(key) as folder:
        if folder is not None:
            asked = _entries(case, base, con) if part == "entries" else _records(case, base, copies)
            into = quoted(str(folder / "part-00000.parquet"))
            ask(con, f"COPY (SELECT * FROM ({asked}) ORDER BY ts) TO {into} (FORMAT parquet)")
    made = case.workspace.table(key)
    assert made is not None
    return made


def _records(case: Case, base: Path, copies: Sequence[str]) -> str:
    mine = f"file NOT IN ({', '.join(map(quoted, copies))})" if copies else "true"
    id_ = "coalesce(offset_msg_id, concat(file, physical_offset))"
    once = f"QUALIFY row_number() OVER (PARTITION BY {id_} ORDER BY file, physical_offset) = 1"
    return f"""
        SELECT {_at("store_timestamp")} AS ts, {_safe("topic")} AS topic, stage,
          {_safe("coalesce(consumer_group, property_PGROUP)")} AS "group", regexp_replace(born_host, ':[0-9]+$', '') AS host,
          queue_id, queue_offset, uniq_key, {_safe("keys")} AS keys, {_safe("tags")} AS tags, store_size, body_size,
          reconsume_times, offset_msg_id, file, physical_offset
        FROM {parquet(base)} WHERE {mine} AND {_cut(case, "store_timestamp")} {once if case.found.overlapping else ""}"""


def _entries(case: Case, base: Path, con: duckdb.DuckDBPyConnection) -> str:
    records = parquet(_kept(case, "records", con))
    text = "concat_ws(' ', message, trace)"

    def named(column: str, said: str) -> str:
        asked = f'SELECT "{column}" FROM {records} WHERE "{column}" IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT {MOST_NAMES}'
        known = [re.escape(name) for (name,) in ask(con, asked).fetchall() if _NAME.fullmatch(name)]
        among = rf"(?:^|[^%|\w-])({'|'.join(sorted(known, key=len, reverse=True))})(?:$|[^%|\w-])"
        parts = [
            f"nullif(regexp_extract({text}, {quoted(each)}, 1), '')" for each in ([among] if known else []) + [said]
        ]
        return f"coalesce({', '.join(parts)})"

    return f"""
        SELECT {_at("ts")} AS ts, level, source, {_safe("thread")} AS thread, {_safe("logger")} AS logger,
          list_aggregate(events, 'string_agg', '{EVENTS}') AS known,
          {named("topic", _SAID_TOPIC)} AS topic, {named("group", _SAID_GROUP)} AS "group",
          nullif(regexp_extract(message, {quoted(_ADDRESS)}, 1), '') AS host, file, line,
          {_safe(f"substr(message, 1, {LONGEST})")} AS message
        FROM {parquet(base)} WHERE {_cut(case, "ts")}"""


def _lag(case: Case) -> pd.DataFrame:
    """Return the lag of each group in a topic, all queues together, at each look."""
    looks = positions.every(case).rename(columns={"time": "ts"})
    return looks.groupby(["ts", "topic", "group"])["lag"].sum(min_count=1).dropna().reset_index()


def _moments(case: Case) -> Any:
    """Return the moments that the causes report, with naive times; none before a triage."""
    frame = results.table(case, timeline.TABLE)
    if frame.empty:
        return frame
    at = pd.to_datetime(frame["at"], utc=True).dt.tz_localize(None)
    return frame.assign(ts=at, what=frame[case.lang].map(clean))[frame["at"].notna()]


def _metrics(case: Case) -> str:
    return f"""
        SELECT {_at("ts")} AS ts, file, concat_ws(' ', origin, subject, name) AS metric, value
        FROM {parquet(case.folder("metrics"))} WHERE ts IS NOT NULL AND {_cut(case, "ts")}"""


def _at(column: str) -> str:
    """Return a time in UTC without its zone; null if it is damage."""
    at = f"make_timestamp(epoch_us({column}))"
    return f"CASE WHEN {at} BETWEEN {FIRST} AND {LAST} THEN {at} END"


def _safe(column: str) -> str:
    """Return a text of the evidence made harmless."""
    return f"CASE WHEN regexp_matches({column}, {quoted(_ACTING)}) THEN spelled({column}) ELSE {column} END"


def _cut(case: Case, column: str) -> str:
    """Return the condition of the case's `--since` and `--until`: rows without a time stay."""
    said = [
        f"epoch_us({column}) {sign} {round(at.timestamp() * 1e6)}"
        for at, sign in ((case.options.since, ">="), (case.options.until, "<="))
        if at is not None
    ]
    return f"({column} IS NULL OR ({' AND '.join(said)}))" if said else "true"
