"""Offsets of consumer groups, by copies of consumerOffset.json and mqadmin outputs, and how their queues grew."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from kit.analysis import brokers
from kit.analysis.consumers import admin_output
from kit.formats.values import integer
from kit.rocketmq import names
from kit.tables import frames
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

COLUMNS: Final = (
    "time timestamp, source string, file string, line bigint, group string, topic string, broker string, "
    "queue_id bigint, offset bigint, end bigint, begin bigint, lag bigint, at_least boolean"
)
"""Those of `known_positions`."""
QUEUE: Final = ["topic", "broker", "queue_id"]
KEYS: Final = ["group", *QUEUE]
PRESERVED: Final = 120.0
"""Seconds behind the last time in a file at which it was last changed, if its time of change is the original one."""


@memo
def every(facts: Facts) -> pd.DataFrame:
    """Return the table `known_positions`: all positions of users' groups in order of time."""
    # Without any, nobody has to count how the queues grew.
    known = facts.rows("offset_looks")
    return facts("known_positions") if known else frames.to_pandas(frames.to_arrow([], COLUMNS))


def of_topic(facts: Facts, group: str, topic: str) -> pd.DataFrame:
    """Return the positions of one group in one topic, in order of time."""
    rows = every(facts)
    return rows[(rows["group"] == group) & (rows["topic"] == topic)]


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first positions with a known end, as a finding shows them."""
    return rows.loc[rows["end"].notna(), ["time", "source", *KEYS, "offset", "end", "lag", "file", "line"]].head(5_000)


@fold(
    "time timestamp, source string, file string, line bigint, group string, topic string, broker string, "
    "queue_id bigint, offset bigint, end bigint, sure boolean, own boolean, slave boolean, collected timestamp",
    "offsets", "admin", "settings", "files",
)  # fmt: skip
def offset_looks(facts: Facts) -> list[dict[str, Any]]:
    """One row per offset of a users' group in a file: time (of the file, or printed), source (copy, progress),
    file, line, group, topic, broker, queue_id, offset, end (as printed), sure (the time is that of the system it was
    taken from), own (a store's own file); the same in all rows: slave (there is one), collected (the evidence can have
    been collected until then, null if unknown).

    A slave's copies, which only follow its master's, count where there is no other.
    """
    known = brokers.all_of(facts)
    sure, collected = stamps(facts)
    same = {"slave": any(b.slave for b in known), "collected": collected, "sure": sure}
    saved = ("consumerOffset.json", "lmqConsumerOffset.json")
    own = {f"{b.root}/config/{name}".removeprefix("./") for b in known for name in saved}
    return [
        row | same | {"own": row["file"] in own}
        for row in (*_copies(facts), *_printed(facts))
        if names.of_users(row["group"])
    ]


def _copies(facts: Facts) -> list[dict[str, Any]]:
    rows = facts.rows("saved_offsets") if facts.files.of_kind("store_json", "broker_conf", "checkpoint") else []
    place = {file: brokers.of_file(facts, file) for file in {row["file"] for row in rows}}
    masters = {b.name for b in brokers.all_of(facts) if not b.slave}
    follow = {file for file, b in place.items() if b and b.slave and b.name in masters}
    broker = {file: b.name if b else "" for file, b in place.items()}
    return [
        row | {"source": "copy", "broker": broker[row["file"]], "offset": row["value"]}
        for row in rows
        if row["file"] not in follow
    ]


def _printed(facts: Facts) -> list[dict[str, Any]]:
    """Return the positions in consumerProgress outputs."""
    blocks = admin_output.blocks_of(facts, "consumerProgress")
    rows = [b for b in blocks if "#Consumer Offset" in b and "#Broker Offset" in b]
    # Without the command line the group's own retry topic names it.
    of_file = {b["file"]: group for b in rows if (group := b["#Topic"].removeprefix(names.RETRY_PREFIX)) != b["#Topic"]}
    return [
        {
            "time": b["time"], "source": "progress", "file": b["file"], "line": b["line"], "topic": b["#Topic"],
            "group": b.get("-g") or of_file.get(b["file"], ""), "broker": b["#Broker Name"], "queue_id": integer(b["#QID"]),
            "offset": integer(b["#Consumer Offset"]), "end": integer(b["#Broker Offset"]),
        }
        for b in rows
    ]  # fmt: skip


def stamps(facts: Facts) -> tuple[bool, Any]:
    """Return whether files have their original modification times, and until when evidence can have been collected.

    Those of logs and stores are original if they agree with the last time in them.
    """
    stored = facts.files.of_kind("log", "commitlog", "dledger")
    ages = [(i.last, (i.modified - i.last).total_seconds()) for i in stored if i.modified and i.last]
    original = [last for last, age in ages if -2 <= age <= PRESERVED]
    collected = max(original) + pd.Timedelta(seconds=PRESERVED) if original else None
    if ages:
        return len(original) * 2 >= len(ages), collected
    stamps = {item.modified for item in facts.files.of_kind("store_json", "mqadmin", "thread_dump")}
    return len(stamps - {None}) > 1, collected


@fold(
    "topic string, broker string, queue_id bigint, time timestamp, end bigint, begin bigint",
    "queue_curve", "consumequeue_ends", "messages_within", "settings",
)  # fmt: skip
def queue_growth(facts: Facts) -> pd.DataFrame:
    """One row per point of the curve by which a queue of a consumed topic grew: topic, broker, queue_id, time (begin of
    a second or more), end (max offset after it), begin. From the records; without any from the consume queues (then
    without times: one row a queue). As many rows as `queue_curve`.
    """
    known = {b.root: b.name for b in brokers.all_of(facts)}
    if not facts.has("messages"):
        name = next(iter(known.values())) if len(known) == 1 else ""
        return facts("consumequeue_ends").assign(broker=name, time=None)
    frame = facts("queue_curve")
    # One broker, or a root nobody names: whatever is consumed is of this broker.
    frame["broker"] = frame["root"].map(lambda root: known.get(root or ".", known.get(root, root)))
    frame = frame.groupby([*QUEUE, "time"], as_index=False).agg({"end": "max", "begin": "min"})
    queue = frame.groupby(QUEUE)
    return frame.assign(end=queue["end"].cummax(), begin=queue["begin"].transform("min"))
