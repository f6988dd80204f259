"""The records of a surviving replica compared with what its master acknowledged, and whether the master is gone.

An asynchronous master answers SEND_OK after its own append; the slave fetches later (`HAService`). An offset id names the broker and the physical offset of
its record, so an acknowledged record is missing if that offset is at or after the end of the replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.consumers import admin_output, refused_pulls
from kit.case import brokers, datasets, log_events, scan
from kit.case.memoize import per_case
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

ACKNOWLEDGED: Final = "SEND_OK"
"""client/producer/SendStatus: stored by the master, and by its slave where the master waits for it. FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE say it was not."""
MOST: Final = 200_000
SLAVES_OWN: Final = (
    "ha-read-failed",
    "ha-expired",
    "ha-closed",
    "ha-connect-failed",
    "ha-offset-mismatch",
    "slave-sync-failed",
    "slave-master-known",
    "offset-not-corrected",
)
"""Lines of store/ha/HAClient, of broker/slave/SlaveSynchronize, and of pulls that only a slave leaves uncorrected."""


@attrs.frozen
class End:
    """Where the records of one broker end in the stores of the evidence. `end`: physical offset behind the last; times naive UTC."""

    store_host: str
    end: int
    first_time: pd.Timestamp
    last_time: pd.Timestamp
    file: str
    last_offset: int

    @property
    def ref(self) -> Ref:
        text = f"the last record of {self.store_host}: physicalOffset={self.last_offset}, end={self.end}, storeTimestamp={self.last_time.isoformat(sep=' ', timespec='milliseconds')} UTC"
        return Ref(self.file, text, physical_offset=self.last_offset)


@attrs.frozen
class Ledger:
    """Acknowledged sends against the replica. `missing`: the rows of those it lacks (key, uniq_key, offset_msg_id, start, file, line)."""

    acknowledged: int
    missing: pd.DataFrame
    rows: pd.DataFrame
    by_id: bool


@attrs.frozen
class Beyond:
    """A queue in which a group's offset is beyond the replica's end."""

    group: str
    topic: str
    queue_id: int
    offset: int
    end: int
    ref: Ref


@per_case
def slaves(case: Case) -> tuple[brokers.Broker, ...]:
    """Return the slaves whose store or configuration is in the evidence."""
    return tuple(b for b in brokers.all_of(case) if b.slave)


@per_case
def ends(case: Case) -> dict[str, End]:
    """Return {store host: the end of its records}, over every copy and replica."""
    if not case.has("messages"):
        return {}
    right = ds.field("problem").is_null() & ds.field("store_host").is_valid() & ds.field("store_size").is_valid()
    asked = [("physical_offset", "max"), ("store_timestamp", "min"), ("store_timestamp", "max")]
    found = {}
    for host, offset, *times in scan.extremes(case, ["store_host"], asked, right).to_pandas().to_numpy().tolist():
        at = (ds.field("store_host") == host) & (ds.field("physical_offset") == offset)
        record = scan.records(case, ["file", "store_size"], right & at).to_pylist()[0]
        first, last = (pd.Timestamp(time).tz_localize(None) for time in times)
        found[host] = End(host, offset + record["store_size"], first, last, record["file"], offset)
    return found


@per_case
def replica_ends(case: Case) -> dict[str, End]:
    """Return those `ends` that are of slaves' stores; all of them where none is known to be a slave's."""
    hosts = _copied(case)
    return {host: end for host, end in ends(case).items() if not hosts or host in hosts}


def _copied(case: Case) -> set[str]:
    """Return the addresses of the masters whose records are in the stores of slaves."""
    roots = {slave.root for slave in slaves(case)}
    return (
        {host for root, hosts in brokers.addresses(case).items() if root in roots for host in hosts} if roots else set()
    )


@per_case
def ledger(case: Case) -> Ledger | None:
    """Return the acknowledged sends of the send ledgers against the stores; None without a ledger or without a store."""
    known = replica_ends(case)
    if not known or not case.has("sends"):
        return None
    rows = (
        answered(case, (ACKNOWLEDGED,), ["key", "uniq_key", "offset_msg_id", "start", "file", "line"]).head(MOST).copy()
    )
    rows["start"] = pd.to_datetime(rows["start"], utc=True).dt.tz_localize(None)
    place = [of_id(text) for text in rows["offset_msg_id"]]
    rows["store_host"], rows["physical_offset"] = (
        [p[0] if p else None for p in place],
        pd.array([p[1] if p else None for p in place], dtype="Int64"),
    )
    if rows["store_host"].notna().any():
        # Sends to another broker say nothing about this one's replica.
        of_master = rows[rows["store_host"].isin(list(known))]
        end = of_master["store_host"].map({name: e.end for name, e in known.items()}).astype("Int64")
        return Ledger(len(of_master), of_master[of_master["physical_offset"] >= end], of_master, by_id=True)
    stored = _stored(case)
    first, last = min(e.first_time for e in known.values()), max(e.last_time for e in known.values())
    # What is older than the store was deleted, not lost; what was sent long before its end and is not there is another broker's.
    late = rows["start"] >= max(first, last - pd.Timedelta(seconds=10))
    lacks = ~(rows["key"].isin(stored) | rows["uniq_key"].isin(stored)) & (
        rows["key"].notna() | rows["uniq_key"].notna()
    )
    return Ledger(len(rows), rows[lacks & late], rows, by_id=False)


def of_id(text: str | None) -> tuple[str, int] | None:
    """Return (store host, physical offset) of an offset message id, of a batch the first (`MessageDecoder.createMessageId`); None for anything else."""
    from kit.rocketmq import ids

    return ids.tried((text or "").split(",")[0].strip())


def _stored(case: Case) -> set[str]:
    found: set[str] = set()
    for batch in scan.batches(case, ["uniq_key", "keys"], repeated=True):
        found.update(batch["uniq_key"].drop_null().to_pylist())
        found.update(word for text in batch["keys"].drop_null().to_pylist() for word in (text, *text.split()))
        if len(found) > MOST * 10:
            break
    return found


def answered(case: Case, answers: tuple[str, ...], columns: list[str]) -> pd.DataFrame:
    """Return columns of the sends with this result."""
    rows = scan.table(case, "sends", [*columns, "outcome"]).to_pandas()
    said = rows["outcome"].fillna("").str.strip(" ").str.upper()
    return rows.loc[said.isin(answers), columns]


@per_case
def beyond(case: Case) -> list[Beyond]:
    """Return the queues in which a group's last known offset is beyond the end: by a slave's copies of offsets, or by
    the pulls in its log.
    """
    known = queue_ends(case)
    places = {b.root for b in slaves(case)}
    found: dict[tuple[str, str, int], Beyond] = {}
    where = (ds.field("kind") == "consumer") & ~ds.field("backup") & ds.field("value").is_valid()
    for row in datasets.rows(case, "offsets", where=where):
        at = brokers.of_file(case, row["file"])
        end = known.get((row["topic"], row["queue_id"]))
        if end is not None and row["value"] > end and (not places or (at is not None and at.root in places)):
            text = f"{row['topic']}@{row['group']}"
            ref = refs.first_with(case, row["file"], text)
            if ref is not None:
                found[row["group"], row["topic"], row["queue_id"]] = Beyond(
                    row["group"], row["topic"], row["queue_id"], row["value"], end, ref
                )
    return sorted(found.values(), key=lambda b: (b.group, b.topic, b.queue_id))


@per_case
def queue_ends(case: Case) -> dict[tuple[str, int], int]:
    """Return {(topic, queue): its end} by the records, else by topicStatus (of a name server that knows no master any more: the slave's)."""
    if case.has("messages"):
        right, by = ds.field("problem").is_null() & ds.field("queue_offset").is_valid(), ["topic", "queue_id"]
        rows = scan.extremes(case, by, [("queue_offset", "max")], right).to_pylist()
        return {(r["topic"], r["queue_id"]): r["queue_offset_max"] + 1 for r in rows}
    return status_ends(case)


def status_ends(case: Case) -> dict[tuple[str, int], int]:
    """Return {(topic, queue): max offset} of topicStatus outputs, the largest if several have it."""
    found: dict[tuple[str, int], int] = {}
    for block in blocks(case, "topicStatus"):
        topic, queue, end = block.get("-t"), block.get("#QID"), block.get("#Max Offset")
        if topic and queue and end and queue.isdecimal() and end.isdecimal():
            found[topic, int(queue)] = max(int(end), found.get((topic, int(queue)), 0))
    return found


def blocks(case: Case, command: str) -> list[dict[str, Any]]:
    """Return the rows of one command's tables: {column: cell}, with `file`, `line` and the command's arguments."""
    return [block for block in admin_output.admin_blocks(case) if block["command"] == command]


@per_case
def master_gone(case: Case) -> tuple[Ref, ...]:
    """Quote what shows that the master is gone: the name server lost it, clusterList has no broker 0, its slave cannot reach it."""
    found = list(_absent_in_cluster_list(case))
    if refs.seen(case, "broker-lost"):
        masters = set(ends(case)) | _masters(case)
        lost = log_events.event(case, "broker-lost", refs.QUOTED)
        address = lost["address"].where(lost["address"].notna(), lost["address_2"])
        found += refs.earliest(case, lost[(lost["broker_id"] == "0") | address.isin(masters)], 1)
    broken = _broken(case)
    found += [*broken, *refs.quote(case, refs.seen(case, "ha-closed"), 1)] if broken else []
    for slug in ("ha-connect-failed", "slave-sync-failed"):
        found += refs.quote(case, refs.seen(case, slug), 1)
    return tuple(found[:4])


@per_case
def _broken(case: Case) -> tuple[Ref, ...]:
    """Quote where a slave's connection to its master broke; "read socket < 0" is an orderly end."""
    if not refs.seen(case, "ha-read-failed"):
        return ()
    failed = log_events.event(case, "ha-read-failed", refs.QUOTED)
    return refs.earliest(case, failed[failed["what"] == "exception"], 1)


def ended(case: Case) -> tuple[Ref, ...]:
    """Quote where a slave's connection to its master ended without being broken. That alone shows no lost master: up to 4.5.1 both sides end it every 20 s while no message comes."""
    if _broken(case):
        return ()
    slugs = ("ha-read-failed", "ha-closed", "ha-expired")
    return tuple(ref for slug in slugs for ref in refs.quote(case, refs.seen(case, slug), 1))


@per_case
def told_by_a_slave(case: Case) -> bool:
    """Return whether the evidence is about a replica: it has lines that only a slave writes, or a list of brokers in
    which one has no master.
    """
    return bool(refs.seen(case, *SLAVES_OWN)) or bool(_absent_in_cluster_list(case))


def _absent_in_cluster_list(case: Case) -> list[Ref]:
    """Quote the first row of each clusterList output in which a broker has slaves and no master."""
    by_file: dict[str, list[dict[str, Any]]] = {}
    for block in blocks(case, "clusterList"):
        if "#BID" in block:
            by_file.setdefault(block["file"], []).append(block)
    found = []
    for file, rows in sorted(by_file.items()):
        headed = {r.get("#Broker Name") for r in rows if r["#BID"] == "0"}
        copies = [r for r in rows if r["#BID"] != "0" and r["#BID"].isdecimal()]
        alone = next((r for r in copies if r.get("#Broker Name") not in headed), None)
        if alone is not None:
            found.append(case.ref(file, alone["line"]))
    return found


@per_case
def _masters(case: Case) -> frozenset[str]:
    """Return the addresses that slaves fetched from, and those that clusterList gives for broker 0."""
    listed = {block["#Addr"] for block in blocks(case, "clusterList") if block.get("#BID") == "0" and "#Addr" in block}
    return frozenset(listed)


@per_case
def master_stored(case: Case) -> bool:
    """Return whether the store of a slave's master is in the evidence: one with records of the same broker."""
    copied, stored = _copied(case), brokers.addresses(case)
    masters = [b.root for b in brokers.all_of(case) if b.stored and not b.slave]
    return any(not copied or copied & stored.get(root, set()) for root in masters)


@per_case
def answered_alone(case: Case) -> int:
    """Return how many sends were answered that the master stored them without its slave."""
    if not case.has("sends"):
        return 0
    return len(answered(case, ("FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"), ["line"]))


@per_case
def refused_reads(case: Case) -> tuple[Ref, ...]:
    """Quote pulls that were refused as busy: a slave with slaveReadEnable=false (`PullMessageProcessor.rejectRequest`, 5.0.0 and later)."""
    return refused_pulls.quotes(case)


def seconds(compared: Ledger) -> pd.DataFrame:
    """Return what was acknowledged and what the replica stored, second by second: second, acknowledged, on_replica, missing."""
    rows = compared.rows.dropna(subset=["start"])
    missing = set(compared.missing.index)
    each = pd.DataFrame({"second": rows["start"].dt.floor("s"), "missing": [i in missing for i in rows.index]})
    if each.empty:
        return pd.DataFrame(
            {
                "second": pd.Series(dtype="datetime64[ns]"),
                "acknowledged": pd.Series(dtype="int64"),
                "on_replica": pd.Series(dtype="int64"),
                "missing": pd.Series(dtype="int64"),
            }
        )
    by = (
        each.groupby("second")["missing"]
        .agg(["size", "sum"])
        .rename(columns={"size": "acknowledged", "sum": "missing"})
        .reset_index()
    )
    step = max(1, len(by) // 2_000)
    by = by.groupby(by.index // step).agg(
        second=("second", "first"), acknowledged=("acknowledged", "sum"), missing=("missing", "sum")
    )
    return by.assign(on_replica=by["acknowledged"] - by["missing"])[
        ["second", "acknowledged", "on_replica", "missing"]
    ].reset_index(drop=True)
