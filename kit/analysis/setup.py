"""How the system was set up according to the evidence: releases of brokers and clients, settings in force."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final, Literal, NamedTuple

from kit.analysis import brokers
from kit.analysis.brokers import Hosts
from kit.data import grouped
from kit.formats.printed_times import utc
from kit.inventory.references import Ref
from kit.rocketmq import names, versions
from kit.rocketmq.versions import Version
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

ANY: Final[Hosts] = frozenset()
"""Any broker of the evidence."""


class Setting(NamedTuple):
    """A broker setting. `where`: its line, None for a default; `known`: None if not even the release is known."""

    value: str | None
    where: Ref | None
    known: Literal["evidence", "default"] | None


def setting(facts: Facts, name: str, hosts: Hosts = ANY) -> Setting:
    """Return a setting of the broker at `hosts`, or of any: answered, printed, configured, else the default."""
    given = ((row, row["file"], row["address"]) for row in facts.rows("broker_settings") if row["name"] == name)
    if of_broker := brokers.of_this(facts, hosts, given):
        row = of_broker[0]
        return Setting(row["value"], facts.ref(row["file"], row["line"]), "evidence")
    if (rule := versions.RULES.get(name)) is None:
        return Setting(None, None, None)
    known = releases_at(facts, hosts)
    # Without a release, a default that never changed is still known.
    values = {str(rule.at(v)) for v in known} if known else {str(value) for _, value in rule.rows}
    return Setting(values.pop(), None, "default") if len(values) == 1 else Setting(None, None, None)


# --- releases ---------------------------------------------------------------------------------------------------------


def broker_versions(facts: Facts, hosts: Hosts = ANY) -> tuple[str, ...]:
    """Return the releases that the evidence names for the broker at `hosts`, or for any broker, oldest first."""
    known = ((Version.maybe(row["version"]), row["file"], row["address"]) for row in facts.rows("broker_releases"))
    return _sorted(brokers.of_this(facts, hosts, (each for each in known if each[0])))


def _sorted(known: Iterable[Version | None]) -> tuple[str, ...]:
    return tuple(str(version) for version in sorted({version for version in known if version}))


@memo
def upgrades(facts: Facts) -> dict[str, list[dict[str, Any]]]:
    """Return {broker: its starts in order of time} of the brokers whose logs show starts with different releases: rows
    of `broker_starts` with `version` parsed, and `at` (UTC).
    """
    address = {row["file"]: row["address"] for row in facts.rows("broker_settings") if row["subject"] is None}
    starts = grouped(
        (
            address.get(row["file"]) or str(PurePosixPath(row["file"]).parent),
            row | {"version": version, "at": utc(row["ts"])},
        )
        for row in (facts.rows("broker_starts") if facts.has_source("broker") else ())
        if (version := Version.maybe(row["version"]))
    )
    return {broker: each for broker, each in starts.items() if len({start["version"] for start in each}) > 1}


def releases_at(facts: Facts, hosts: Hosts = ANY, at: dt.datetime | None = None) -> tuple[str, ...]:
    """Return those of `broker_versions` that ran at a time (UTC), or at the end: a start ends the release before."""
    running: set[Version] = set()
    ended: set[Version] = set()
    for broker, starts in upgrades(facts).items():
        if brokers.of_this(facts, hosts, ((start, start["file"], broker) for start in starts)):
            before = [start for start in starts if at is None or start["at"] <= at]
            running.add((before or starts[:1])[-1]["version"])
            ended.update(start["version"] for start in starts)
    return tuple(v for v in broker_versions(facts, hosts) if Version.parse(v) not in ended - running)


def clients(facts: Facts) -> list[dict[str, Any]]:
    """Return the rows of `clients_connected` of users' clients, `version` as RocketMQ writes it."""
    return [
        row | {"version": str(version)}
        for row in (facts.rows("clients_connected") if facts.has_source("broker") else ())
        if row["group"] != names.ADMIN_GROUP and (version := Version.maybe(row["version"]))
    ]


@memo
def client_versions(facts: Facts) -> tuple[str, ...]:
    """Return the releases of clients that the evidence names, oldest first."""
    created = facts.rows("client_releases") if facts.files.of_kind("log", "text") else []
    return _sorted(Version.maybe(row["version"]) for row in (*clients(facts), *created))


LONGEST_DELAY: Final = 100 * 86_400
"""Seconds. A level beyond is no delay anybody waits for, and could lead out of the times that can be shown."""


@fold("level int, seconds bigint", "settings")
def delay_levels(facts: Facts) -> list[dict[str, Any]]:
    """One row per delay level of the broker: level (1 …), seconds. Its messageDelayLevel, else the default; levels
    beyond 100 days are left out.

    MessageStoreConfig.messageDelayLevel, ScheduleMessageService.parseDelayLevel.
    """
    levels = names.delay_seconds()
    if text := setting(facts, "messageDelayLevel").value:
        with contextlib.suppress(ValueError):
            levels = names.delay_seconds(text)
    return [{"level": n, "seconds": seconds} for n, seconds in sorted(levels.items()) if seconds <= LONGEST_DELAY]


@fold("kept boolean", "store_brokers", "settings", "admin_names")
def discards_stored(facts: Facts) -> list[dict[str, Any]]:
    """One row: kept (whether every known broker stores what it discards, since 4.5.2)."""
    known = broker_versions(facts, brokers.half_addresses(facts))
    return [{"kept": bool(known) and all(versions.rule("discardTopic", version) for version in known)}]
