"""Small gold tables that are worked out in the driver, from other gold tables and the inventory
(`kit.tables.queries.fold`).

Those that belong to one subject are with it: `offset_moves`, `send_calls`. All others are here.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from kit.analysis import brokers, setup, sizes
from kit.analysis.consumers import offsets  # noqa: F401 - declares its own
from kit.analysis.sends import attempts  # noqa: F401 - declares its own
from kit.data import grouped
from kit.rocketmq import ids, names, size, versions
from kit.tables.facts import Facts
from kit.tables.queries import fold

LONGEST_DELAY: Final = 100 * 86_400
"""Seconds. A level beyond is no delay anybody waits for, and could lead out of the times that can be shown."""


@fold("level int, seconds bigint", "settings")
def delay_levels(facts: Facts) -> list[dict[str, Any]]:
    """One row per delay level of the broker: level (1 …), seconds. Its messageDelayLevel, else the default; levels
    beyond 100 days are left out.

    MessageStoreConfig.messageDelayLevel, ScheduleMessageService.parseDelayLevel.
    """
    levels = names.delay_seconds()
    if setting := setup.setting(facts, "messageDelayLevel").value:
        with contextlib.suppress(ValueError):
            levels = names.delay_seconds(setting)
    return [{"level": n, "seconds": seconds} for n, seconds in sorted(levels.items()) if seconds <= LONGEST_DELAY]


@fold("file string, root string, broker string, slave boolean", "settings", "admin_names", "files")
def file_brokers(facts: Facts) -> list[dict[str, Any]]:
    """One row per file that belongs to one broker of the evidence: file, root (the folder of its store or
    configuration), broker (its name, else the root), slave (null without a configuration of its own).
    """
    known = ((item.file, brokers.of_file(facts, item.file)) for item in facts.files.items)
    return [{"file": file, "root": b.root, "broker": b.name, "slave": b.slave} for file, b in known if b]


@fold("file string, store_host string, host string, broker string, halves boolean", "file_hosts")
def store_brokers(facts: Facts) -> list[dict[str, Any]]:
    """One row per commit log file and host that stored records in it: file, store_host, host (as in offset message ids),
    broker (the host that represents it), halves (half or op records are among them).

    Half and op queues belong to a broker, and a broker changes its address if another member of its group leads: hosts
    that wrote to one file are one broker. At most as many rows as `file_hosts`.
    """
    # A damaged record may have no address.
    rows = [row | {"host": host} for row in facts.rows("file_hosts") if (host := ids.host_prefix(row["store_host"]))]
    connected: dict[str, set[str]] = {}
    for hosts in grouped((row["file"], row["host"]) for row in rows).values():
        joined = set().union(*(connected.get(host, {host}) for host in hosts))
        connected |= dict.fromkeys(joined, joined)
    return [row | {"broker": min(connected[row["host"]])} for row in rows]


@fold("kept boolean", "store_brokers", "settings", "admin_names")
def discards_stored(facts: Facts) -> list[dict[str, Any]]:
    """One row: kept (whether every known broker stores what it discards, since 4.5.2)."""
    known = setup.broker_versions(facts, brokers.half_addresses(facts))
    return [{"kept": bool(known) and all(versions.rule("discardTopic", version) for version in known)}]


@fold(
    "broker string, how string, max_size bigint, total_max bigint, body_max bigint, dledger_max bigint, properties_max bigint, check_max bigint, "
    "raw_put_backs boolean",
    "store_brokers", "half_writers", "size_refusals", "settings", "admin_names", "broker_starts", "store_extent",
)  # fmt: skip
def size_limits(facts: Facts) -> list[dict[str, Any]]:
    """One row per broker with half records, and one (broker null) for the broker whose half messages are refused, or
    the only one: what it compares with maxMessageSize. how (total, body, body+64k, null if unknown: then as total),
    max_size (bytes of maxMessageSize, null if unknown), total_max, body_max, dledger_max, properties_max (most bytes of a record, its stored body, a DLedger entry's record, the
    property string; null where nothing is compared), check_max (transactionCheckMax), raw_put_backs (a put-back writes
    a compressed body uncompressed, up to 4.5.2).

    Source: store/CommitLog, store/MessageExtEncoder, store/dledger/DLedgerCommitLog.
    """
    known = sorted(set(brokers.half_hosts(facts).values())) if facts.has("messages") else []
    rows = []
    for broker in (None, *known):
        its = sizes.limits(facts, broker)
        slack = size.TOTAL_SLACK if its.how == "body+64k" else 0
        rows.append({
            "broker": broker, "how": its.how, "max_size": its.limit,
            "total_max": None if its.limit is None or its.how == "body" else its.limit + slack,
            "body_max": its.limit if its.how in ("body", "body+64k") else None,
            "dledger_max": size.DLEDGER_MAX_RECORD if its.dledger else None, "properties_max": int(versions.rule("propertiesMax", versions.OLDEST)),
            "check_max": its.check_max, "raw_put_backs": its.raw_put_backs,
        })  # fmt: skip
    return rows


@fold("file string, physical_offset bigint, raw_size bigint", "size_limits", "stored_messages")
def raw_half_bodies(facts: Facts) -> list[dict[str, Any]]:
    """One row per half record with a compressed body that a put-back writes uncompressed: file, physical_offset,
    raw_size (bytes; undecodable bodies are left out). Brokers of 4.3.0 to 4.5.2 only (`size_limits.raw_put_backs`), no
    rows for any other.

    Source: broker/transaction/queue/TransactionalMessageBridge.renewHalfMessageInner.
    """
    raw = any(row["raw_put_backs"] and row["broker"] for row in facts.rows("size_limits"))
    return facts.answers("unpacked_halves") if raw and facts.answers("packed_halves")[0]["n"] else []
