"""The records of a surviving replica compared with what its master acknowledged, and whether the master is gone.

An asynchronous master answers SEND_OK after its own append; the slave fetches later (`HAService`). An offset id names the broker and the physical offset of
its record, so an acknowledged record is missing if that offset is at or after the end of the replica.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import brokers, refs
from kit.analysis.consumers import admin_output
from kit.inventory.references import Ref
from kit.rocketmq import ids
from kit.tables.facts import Facts, memo

SLAVES_OWN: Final = (
    "ha-read-failed", "ha-expired", "ha-closed", "ha-connect-failed", "ha-offset-mismatch", "slave-sync-failed", "slave-master-known",
    "offset-not-corrected",
)  # fmt: skip
"""Lines of store/ha/HAClient, of broker/slave/SlaveSynchronize, and of pulls that only a slave leaves uncorrected."""


@attrs.frozen
class Ledger:
    """Acknowledged sends against the replica. `missing`: of these it lacks; `latest`: when the last of them was sent, None if unknown."""

    acknowledged: int
    missing: int
    latest: dt.datetime | None


@memo
def slaves(facts: Facts) -> tuple[brokers.Broker, ...]:
    """Return the slaves whose store or configuration is in the evidence."""
    return tuple(b for b in brokers.all_of(facts) if b.slave)


def ends(facts: Facts) -> dict[str, dict[str, Any]]:
    """Return {store host: its row of `store_ends`}, over every copy and replica."""
    return {row["store_host"]: row for row in facts.rows("store_ends")} if facts.has("messages") else {}


def replica_ends(facts: Facts) -> list[dict[str, Any]]:
    """Return those `ends` that are of slaves' stores; all of them where none is known to be a slave's."""
    return facts.rows("replica_ends") if facts.has("messages") else []


def last_record(row: dict[str, Any]) -> Ref:
    """Quote the last record of a row of `store_ends`."""
    host, offset, time = row["store_host"], row["last_offset"], row["last_time"]
    at = f"{time.isoformat(sep=' ', timespec='milliseconds')} UTC" if time else "-"
    stored = f"end={row['end']}, storeTimestamp={at}"
    return Ref(row["file"], f"the last record of {host}: physicalOffset={offset}, {stored}", physical_offset=offset)


def cut_short(facts: Facts, last: dict[str, Any]) -> bool:
    """Return whether the copy of a store ends inside a record: what it lacks behind that, the store itself may have. `last`: a row of `store_ends`."""
    return any(row["file"] == last["file"] for row in facts.rows("cut_files"))


def copied(facts: Facts) -> set[str]:
    """Return the addresses of the masters whose records are in the stores of slaves."""
    roots = {slave.root for slave in slaves(facts)}
    return (
        {host for root, hosts in brokers.addresses(facts).items() if root in roots for host in hosts}
        if roots
        else set()
    )


@memo
def ledger(facts: Facts) -> Ledger | None:
    """Return the acknowledged sends of the send ledgers against the stores; None without a ledger or without a store."""
    if not facts.has("sends") or not replica_ends(facts):
        return None
    rows = facts.rows("replica_seconds")
    latest = max((row["last_missing"] for row in rows if row["last_missing"] is not None), default=None)
    return Ledger(sum(r["acknowledged"] for r in rows), sum(r["missing"] for r in rows), latest)


def seconds(facts: Facts) -> pd.DataFrame:
    """Return what was acknowledged and what the replica stored, second by second: second, acknowledged, on_replica, missing."""
    rows = facts("replica_seconds").dropna(subset=["second"]).astype({"acknowledged": "int64", "missing": "int64"})
    both = rows.assign(on_replica=rows["acknowledged"] - rows["missing"])
    return both[["second", "acknowledged", "on_replica", "missing"]].reset_index(drop=True)


def answers(facts: Facts) -> dict[str, int]:
    """Return {SendStatus: sends answered with it}."""
    return {row["status"]: row["sends"] for row in facts.rows("send_answers")} if facts.has("sends") else {}


def of_id(text: str | None) -> tuple[str, int] | None:
    """Return (store host, physical offset) of an offset message id, of a batch the first (`MessageDecoder.createMessageId`); None for anything else."""
    return ids.tried((text or "").split(",")[0].strip())


def beyond(facts: Facts) -> list[dict[str, Any]]:
    """Return the queues in which a group's last known offset is beyond the end, by a slave's copies of offsets: rows of `offsets_beyond`."""
    places = {b.root for b in slaves(facts)}
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for row in facts.rows("offsets_beyond"):
        at = brokers.of_file(facts, row["file"])
        if not places or (at is not None and at.root in places):
            found[row["group"], row["topic"], row["queue_id"]] = row
    return list(found.values())


def reported(facts: Facts) -> dict[str, Any] | None:
    """Return the row of `reported_end` of a slave's brokerStatus, `behind` None where no ledger names records of one broker by offset id; with
    `whole`: all are in front of the end, which is that of another broker than the one that answered (-b).
    """
    rows = facts.rows("reported_end") if facts.files.of_mqadmin() and slaves(facts) else []
    if not rows:
        return None
    behind = rows[0]["behind"] if rows[0]["one_host"] else None
    asked = {block.get("-b") for block in _blocks(facts, "brokerStatus")}
    master = of_id(rows[0]["offset_msg_id"])
    return rows[0] | {
        "behind": behind,
        "whole": behind == 0 and master is not None and asked.isdisjoint({None, master[0]}),
    }


def _blocks(facts: Facts, command: str) -> list[dict[str, Any]]:
    """Return the rows of one command's tables: {column: cell}, with `file`, `line` and the command's arguments."""
    return [block for block in admin_output.admin_blocks(facts) if block["command"] == command]


# --- the master ----------------------------------------------------------------------------------------------------------------


@memo
def master_gone(facts: Facts) -> tuple[Ref, ...]:
    """Quote what shows that the master is gone: the name server lost it, clusterList has no broker 0, its slave cannot reach it."""
    found = list(_absent_in_cluster_list(facts))
    listed = {b["#Addr"] for b in _blocks(facts, "clusterList") if b.get("#BID") == "0" and "#Addr" in b}
    if refs.seen(facts, "broker-lost"):
        masters = ends(facts).keys() | listed
        found += _first(facts, "broker-lost", lambda row: row["broker_id"] == "0" or row["address"] in masters)
    if broken := _broken(facts):
        found += [*broken, *refs.quote(facts, refs.seen(facts, "ha-closed"), 1)]
    for slug in ("ha-connect-failed", "slave-sync-failed"):
        found += refs.quote(facts, refs.seen(facts, slug), 1)
    return tuple(found[:4])


def _first(facts: Facts, event: str, wanted: Any) -> list[Ref]:
    rows = (row for row in facts.rows("replica_statements") if row["event"] == event and wanted(row))
    return [facts.ref(row["file"], row["line"]) for row in rows][:1]


@memo
def _broken(facts: Facts) -> list[Ref]:
    """Quote where a slave's connection to its master broke; "read socket < 0" is an orderly end."""
    if not refs.seen(facts, "ha-read-failed"):
        return []
    return _first(facts, "ha-read-failed", lambda row: row["what"] == "exception")


def ended(facts: Facts) -> tuple[Ref, ...]:
    """Quote where a slave's connection to its master ended without being broken. That alone shows no lost master: up to 4.5.1 both sides end it every 20 s while no message comes."""
    if _broken(facts):
        return ()
    slugs = ("ha-read-failed", "ha-closed", "ha-expired")
    return tuple(ref for slug in slugs for ref in refs.quote(facts, refs.seen(facts, slug), 1))


@memo
def told_by_a_slave(facts: Facts) -> bool:
    """Return whether the evidence has lines that only a slave writes, or a broker without a master in a list."""
    return bool(refs.seen(facts, *SLAVES_OWN)) or bool(_absent_in_cluster_list(facts))


def _absent_in_cluster_list(facts: Facts) -> list[Ref]:
    """Quote the first row of each clusterList output in which a broker has slaves and no master."""
    rows = [block for block in _blocks(facts, "clusterList") if block.get("#BID")]
    headed = {(row["file"], row.get("#Broker Name")) for row in rows if row["#BID"] == "0"}
    alone: dict[str, int] = {}
    for row in rows:
        if row["#BID"].isdecimal() and row["#BID"] != "0" and (row["file"], row.get("#Broker Name")) not in headed:
            alone.setdefault(row["file"], row["line"])
    return [facts.ref(file, line) for file, line in sorted(alone.items())]


@memo
def master_stored(facts: Facts) -> bool:
    """Return whether the store of a slave's master is in the evidence: one with records of the same broker."""
    hosts, stored = copied(facts), brokers.addresses(facts)
    masters = [b.root for b in brokers.all_of(facts) if b.stored and not b.slave]
    return any(not hosts or hosts & stored.get(root, set()) for root in masters)
