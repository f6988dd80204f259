"""The records of a surviving replica compared with what its master acknowledged, and whether the master is gone.

An asynchronous master answers SEND_OK after its own append; the slave fetches later (`HAService`). An offset id names
the broker and the physical offset of its record: an acknowledged one at or after the end of the replica is missing.
"""

from typing import Any, Final

from kit.analysis import brokers, refs
from kit.analysis.consumers import members
from kit.inventory.model import Ref
from kit.rocketmq import ids
from kit.tables.facts import Facts, memo

SLAVES_OWN: Final = (
    "ha-read-failed", "ha-expired", "ha-closed", "ha-connect-failed", "ha-offset-mismatch", "slave-sync-failed",
    "slave-master-known", "offset-not-corrected",
)  # fmt: skip
"""Lines of store/ha/HAClient, of broker/slave/SlaveSynchronize, and of pulls that only a slave leaves uncorrected."""
Row = dict[str, Any]


def slaves(facts: Facts) -> list[brokers.Broker]:
    """Return the slaves whose store or configuration is in the evidence."""
    return [broker for broker in brokers.all_of(facts) if broker.slave]


def ends(facts: Facts) -> dict[str, Row]:
    """Return {store host: its row of `store_ends`}, over every copy and replica."""
    return {row["store_host"]: row for row in facts.rows("store_ends")} if facts.has("messages") else {}


def taken_over(facts: Facts, host: str | None) -> tuple[Row, Row] | None:
    """Return the rows of `store_ends` of a broker and of the one that wrote on in the same store behind its last
    record, as the next master of its group does (store/ha/autoswitch, DLedger).
    """
    rows = ends(facts)
    together = {other for hosts in brokers.addresses(facts).values() if host in hosts for other in hosts}
    later = [row for name, row in rows.items() if name in together and row["begin"] >= rows[str(host)]["end"]]
    return (rows[str(host)], min(later, key=lambda row: int(row["begin"]))) if later else None


def last_record(row: Row) -> Ref:
    """Quote the last record of a row of `store_ends`."""
    at = f"{row['last_time'].isoformat(sep=' ', timespec='milliseconds')} UTC" if row["last_time"] else "-"
    place = f"the last record of {row['store_host']}: physicalOffset={row['last_offset']}"
    return Ref(row["file"], f"{place}, end={row['end']}, storeTimestamp={at}", physical_offset=row["last_offset"])


def ledger(facts: Facts) -> Row | None:
    """Return the `acknowledged` sends, those `missing`, and their `latest`; None without slave, ledger or store."""
    if not (has_slave(facts) and facts.has("sends") and facts.has("messages") and facts.rows("replica_ends")):
        return None
    rows = facts.rows("replica_seconds")
    latest = max((row["last_missing"] for row in rows if row["last_missing"] is not None), default=None)
    return {name: sum(row[name] for row in rows) for name in ("acknowledged", "missing")} | {"latest": latest}


def of_id(text: str | None) -> tuple[str, int] | None:
    """Return (store host, physical offset) of an offset id, of a batch the first; None for anything else."""
    return ids.tried((text or "").split(",")[0].strip())


def reported(facts: Facts) -> Row | None:
    """Return the row of `reported_end` of a slave's brokerStatus, `behind` None where no ledger names one broker's
    records; with `whole`: all are in front of the end, and another broker than theirs was asked (-b).
    """
    rows = facts.rows("reported_end") if facts.files.of_outputs("mqadmin") and slaves(facts) else []
    if not rows:
        return None
    behind = rows[0]["behind"] if rows[0]["one_host"] else None
    master = of_id(rows[0]["offset_msg_id"])
    asked = {block.get("-b") for block in members.blocks_of(facts, "brokerStatus")}
    whole = behind == 0 and master is not None and asked.isdisjoint({None, master[0]})
    return rows[0] | {"behind": behind, "whole": whole}


# --- the master -------------------------------------------------------------------------------------------------------


def master_gone(facts: Facts) -> tuple[Ref, ...]:
    """Quote what shows that the master is gone: the name server, clusterList without a broker 0, its slave."""
    blocks = members.blocks_of(facts, "clusterList")
    masters = {b["#Addr"] for b in blocks if b.get("#BID") == "0" and "#Addr" in b}
    lost = facts.rows("replica_statements") if refs.seen(facts, "broker-lost") else []
    lost = [row for row in lost if row["event"] == "broker-lost"]
    masters |= ends(facts).keys() if lost else set()
    places = [(row["file"], row["line"]) for row in lost if row["broker_id"] == "0" or row["address"] in masters]
    broken = _broken(facts)
    signs = [*_without_master(facts), *facts.refs(places[:1]), *broken]
    for slug in _of_slaves(facts, *(["ha-closed"] if broken else []), "ha-connect-failed", "slave-sync-failed"):
        signs += refs.quote(facts, refs.seen(facts, slug), 1)
    return tuple(signs[:4])


def _broken(facts: Facts) -> tuple[Ref, ...]:
    """Quote where a slave's connection to its master broke; "read socket < 0" is an orderly end."""
    rows = facts.rows("replica_statements") if refs.seen(facts, "ha-read-failed") else []
    failed = [row for row in rows if row["event"] == "ha-read-failed" and row["what"] == "exception"]
    return facts.refs((row["file"], row["line"]) for row in failed[:1])


def ended(facts: Facts) -> tuple[Ref, ...]:
    """Quote where a slave's connection to its master ended without being broken, which alone shows no lost master: up
    to 4.5.1 both sides end it every 20 s while no message comes.
    """
    slugs = () if _broken(facts) else ("ha-read-failed", "ha-closed", "ha-expired")
    return tuple(ref for slug in slugs for ref in refs.quote(facts, refs.seen(facts, slug), 1))


def has_slave(facts: Facts) -> bool:
    """Return whether the evidence is of a slave: its store or configuration, lines only it writes, no master listed."""
    return bool(slaves(facts) or refs.seen(facts, *_of_slaves(facts, *SLAVES_OWN)) or _without_master(facts))


def _of_slaves(facts: Facts, *slugs: str) -> tuple[str, ...]:
    """Return the texts that show a slave: none with DLedger, where members follow one another and lose nothing."""
    return () if refs.seen(facts, "dledger-role-changed") else slugs


def _without_master(facts: Facts) -> tuple[Ref, ...]:
    """Quote the first row of each clusterList output in which a broker has slaves and no master."""
    rows = [b for b in members.blocks_of(facts, "clusterList") if (b.get("#BID") or "").isdecimal()]
    headed = {(b["file"], b.get("#Broker Name")) for b in rows if b["#BID"] == "0"}
    alone = {b["file"]: b["line"] for b in reversed(rows) if (b["file"], b.get("#Broker Name")) not in headed}
    return facts.refs(sorted(alone.items()))


@memo
def master_stored(facts: Facts) -> bool:
    """Return whether the store of a slave's master is in the evidence: one with records of the same broker."""
    stored = brokers.addresses(facts)
    hosts = {host for slave in slaves(facts) for host in stored.get(slave.root, ())}
    masters = [b.root for b in brokers.all_of(facts) if b.stored and b.slave is False]
    return any(not hosts or hosts & stored.get(root, set()) for root in masters)
