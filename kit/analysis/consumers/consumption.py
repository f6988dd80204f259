"""Messages of a group, handled against stored: those nobody handled, before and after the group's offset, and those
handled twice.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import attrs
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.analysis import refs as quoting
from kit.analysis.consumers import consumer_logs, positions
from kit.case import scan
from kit.case.memoize import once
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case


SHOWN: Final = 3
"""Records that are quoted."""


@attrs.frozen
class Topic:
    """One topic of a group. Counts of messages, None if unknown; `records`: some that nobody handled, first those after
    the offset.
    """

    topic: str
    stored: int | None
    nobody: int | None
    behind: int | None
    front: int | None
    records: tuple[Ref, ...] = ()


def places(case: Case, group: str) -> set[str]:
    """Return the folders (hosts) in whose client logs a group consumes."""
    said = consumer_logs.of(
        case,
        "queues-assigned",
        "queues-assigned-go",
        "queue-taken",
        "pull-started",
        "heartbeat-data",
        "consumer-offset-saved",
    )
    mine = {s.place for s in said if s.group == group}
    return mine | {
        s.place for s in said if s.event == "heartbeat-data" and f"[groupName={group}," in s.values.get("data", "")
    }


def ledgers(case: Case, group: str) -> list[str] | None:
    """Return the delivery ledgers of a group's hosts; None if one of its hosts has none, so that what it handled is
    unknown.
    """
    found: list[str] = []
    for place in sorted(places(case, group)):
        here = [
            item.file
            for item in case.found.of_kind("rows")
            if item.detail.get("role") == "deliveries" and str(PurePosixPath(item.file).parent) == place
        ]
        if not here:
            return None
        found += here
    return found


def rows(case: Case, group: str) -> pa.Table | None:
    """Return the deliveries of a group's ledgers: file, line, uniq_key, key, offset_msg_id; None if a ledger is
    missing.
    """
    files = ledgers(case, group)
    if not files:
        return None
    columns = ["file", "line", "uniq_key", "key", "offset_msg_id"]
    return scan.table(case, "rows", columns, scan.one_of("file", files))


def unhandled(case: Case, group: str, topics: tuple[str, ...]) -> list[Topic]:
    """Count the stored messages of these topics that nobody of the group handled, by the last known offsets."""
    return once(case, f"unhandled {group} {topics}", lambda: [_topic(case, group, topic) for topic in topics])


def _topic(case: Case, group: str, topic: str) -> Topic:
    last = last_positions(case, group, topic)
    front = None if last.empty or last["lag"].isna().any() else int(last["lag"].sum())
    done = rows(case, group)
    if not case.has("messages") or last.empty:
        return Topic(topic, None, front if front else None, None, front)
    where = ds.field("topic") == topic
    stored = sum(batch.num_rows for batch in scan.batches(case, ["queue_id"], where))
    if done is None or last["broker"].nunique() > 1:
        # Of several brokers, a record does not say which one's offset it lies behind.
        return Topic(topic, stored, None, None, front)
    known = last[last["offset"].notna()]
    offsets = dict(zip(known["queue_id"].astype(int), known["offset"].astype(int), strict=True))
    keys = done["uniq_key"].drop_null().unique()
    columns = ["file", "physical_offset", "store_timestamp", "queue_id", "queue_offset"]
    nobody = behind = 0
    shown: dict[bool, list[pd.DataFrame]] = {True: [], False: []}
    for batch in scan.batches(case, columns, where & ~scan.one_of("uniq_key", keys)):
        open_ = batch.to_pandas().astype({"file": object}).sort_values(["store_timestamp", "physical_offset"])
        passed = open_["queue_offset"] < open_["queue_id"].map(offsets).fillna(0)
        nobody, behind = nobody + len(open_), behind + int(passed.sum())
        for at, found in shown.items():
            found[:] = [pd.concat([*found, open_[passed == at].head(SHOWN)])]
    refs = [ref for at in (True, False) for part in shown[at] for ref in quoting.records_at(case, part, SHOWN)]
    return Topic(topic, stored, nobody, behind, nobody - behind, tuple(refs[:SHOWN]))


def last_positions(case: Case, group: str, topic: str) -> pd.DataFrame:
    """Return the last known position of each queue of a group's topic: the columns of `positions.every`."""
    every = positions.every(case)
    looks = every[(every["group"] == group) & (every["topic"] == topic) & (every["source"] != "status")]
    return looks.drop_duplicates(positions.KEYS, keep="last")


def by_several(case: Case, group: str) -> tuple[int, tuple[Ref, ...], dict[str, set[int]]] | None:
    """Return (messages that more than one process of the group handled, lines, {topic: their queues}); None without the ledgers of two hosts."""
    done = rows(case, group)
    if done is None or len(ledgers(case, group) or ()) < 2:
        return None
    named = pa.table(
        {
            "name": pc.coalesce(done["uniq_key"], done["key"]),
            "file": done["file"].cast(pa.string()),
            "line": done["line"],
        }
    )
    files = named.filter(named["name"].is_valid()).group_by("name").aggregate([("file", "count_distinct")])
    several = files.filter(pc.greater(files["file_count_distinct"], 1))["name"].combine_chunks()
    if not len(several):
        return 0, (), {}
    first = named.filter(pc.equal(named["name"], pc.min(several))).to_pandas().sort_values(["file", "line"])
    places = list(first.drop_duplicates("file")[["file", "line"]].head(2).itertuples(index=False, name=None))
    quoted = case.refs(places)
    queues: dict[str, set[int]] = {}
    if case.has("messages"):
        of = scan.extremes(case, ["topic", "queue_id"], [], scan.one_of("uniq_key", several))
        for each in of.to_pylist():
            queues.setdefault(each["topic"], set()).add(each["queue_id"])
    return len(several), quoted, queues
