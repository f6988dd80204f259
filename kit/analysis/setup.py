"""How the system was set up according to the evidence: releases of brokers and clients, settings in force."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final, Literal, NamedTuple

import attrs

from kit.analysis import brokers
from kit.analysis.brokers import Hosts
from kit.formats.printed_times import utc
from kit.inventory.references import Ref
from kit.rocketmq import names, versions
from kit.rocketmq.versions import Version
from kit.tables.facts import Facts, memo

Known = Literal["evidence", "default"] | None
ANY: Final[Hosts] = frozenset()
"""Any broker of the evidence."""

HOME: Final = re.compile(r"rocketmq[\w-]*?(\d+\.\d+\.\d+)")
_ALIASES: Final = (("mappedFile", "mapedFile"), ("MappedFile", "MapedFile"))

RANK: Final = {"getBrokerConfig": 0, "broker.log": 1, "broker.conf": 2}
"""Which origin wins: what the running broker answers, then what it printed at its start, then its configuration."""


@attrs.frozen
class Client:
    """A client that connected to a broker: `role` producer or consumer."""

    role: str
    group: str
    client_id: str
    version: str
    ref: Ref


class Setting(NamedTuple):
    """A broker setting. `where`: its line, None for a default; `known`: None if not even the release is known."""

    value: str | None
    where: Ref | None
    known: Known


def broker_versions(facts: Facts, hosts: Hosts = ANY) -> tuple[str, ...]:
    """Return the releases that the evidence names for the broker at `hosts`, or for any broker, oldest first."""
    return tuple(str(v) for v in sorted(set(brokers.of_this(facts, hosts, _releases(facts)))))


@memo
def _releases(facts: Facts) -> list[tuple[Version, str, str | None]]:
    """Return (release, the file that names it, the broker's address or None)."""
    said = list(_listed(facts))
    for row in _configs(facts, "rocketmqHome"):
        if home := HOME.search(row["value"] or ""):
            said += [(v, row["file"], row["address"]) for v in _versions(home[1])]
    return said


def _listed(facts: Facts) -> Iterator[tuple[Version, str, str | None]]:
    """Yield the same of what mqadmin printed: clusterList, and brokerStatus with the address before the name or in the command."""
    if not facts.files.of_mqadmin():
        return
    asked: dict[str, str] = {}
    cells: dict[tuple[str, int], str] = {}
    for row in facts.rows("admin_names"):
        file, name, value = row["file"], row["name"], row["value"] or ""
        if name == "argument:-b":
            asked[file] = value
        elif name == "#Addr":
            cells[file, row["line"]] = value
        elif name.endswith("brokerVersionDesc"):
            address = name.removesuffix("brokerVersionDesc").strip() or asked.get(file)
            yield from ((v, file, address) for v in _versions(value))
        elif name == "#Version":
            yield from ((v, file, cells.get((file, row["line"]))) for v in _versions(value))


class Start(NamedTuple):
    """A start of a broker, as its log prints it. `at`: UTC."""

    version: Version
    broker: str
    ref: Ref
    at: dt.datetime


@memo
def upgrades(facts: Facts) -> dict[str, list[Start]]:
    """Return {broker: its starts in order of time} of the brokers whose logs show starts with different releases."""
    starts: dict[str, list[Start]] = {}
    for row in facts.rows("broker_starts"):
        if home := HOME.search(row["home"]):
            broker = _addresses(facts).get((row["file"], None)) or str(PurePosixPath(row["file"]).parent)
            ref = Ref(row["file"], "", line=row["line"])
            starts.setdefault(broker, []).extend(Start(v, broker, ref, utc(row["ts"])) for v in _versions(home[1]))
    return {
        broker: sorted(each, key=lambda start: (start.at, start.ref.file, start.ref.line))
        for broker, each in starts.items()
        if len({start.version for start in each}) > 1
    }


def releases_at(facts: Facts, hosts: Hosts = ANY, at: dt.datetime | None = None) -> tuple[str, ...]:
    """Return those of `broker_versions` that ran at a time (UTC), or at the end of the logs: a start with another release ends the one before."""
    running: set[Version] = set()
    ended: set[Version] = set()
    for broker, starts in upgrades(facts).items():
        if brokers.of_this(facts, hosts, ((start, start.ref.file, broker) for start in starts)):
            before = [start for start in starts if at is None or start.at <= at]
            running.add((before or starts[:1])[-1].version)
            ended.update(start.version for start in starts)
    return tuple(v for v in broker_versions(facts, hosts) if Version.parse(v) not in ended - running)


@memo
def clients(facts: Facts) -> list[Client]:
    """Return each client that connected once, with the first line that says so."""
    return [
        Client(row["role"], row["group"], row["client_id"], str(version), Ref(row["file"], "", line=row["line"]))
        for row in facts.rows("clients_connected")
        if row["group"] != names.ADMIN_GROUP and (version := Version.maybe(row["version"]))
    ]


@memo
def client_versions(facts: Facts) -> tuple[str, ...]:
    connected = {Version.parse(client.version) for client in clients(facts)}
    created = {version for row in facts.rows("client_releases") for version in _versions(row["version"])}
    return tuple(str(version) for version in sorted(connected | created))


def _versions(text: str) -> set[Version]:
    found = Version.maybe(text)
    return {found} if found else set()


@memo
def _settings(facts: Facts) -> dict[str, list[dict[str, Any]]]:
    """Return the brokers' settings by name."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in facts.rows("settings"):
        if row["origin"] in RANK:
            by_name.setdefault(row["name"], []).append(row)
    return by_name


@memo
def _addresses(facts: Facts) -> dict[tuple[str, str | None], str | None]:
    """Return the address of the broker whose settings each (file, subject) holds, None if unknown."""
    told: dict[tuple[str, str | None], dict[str, str]] = {}
    for row in reversed(_named(facts, "brokerIP1", "listenPort")):
        told.setdefault((row["file"], row["subject"]), {})[row["name"]] = row["value"] or ""
    return {
        place: (ip := said.get("brokerIP1")) and f"{ip}:{said.get('listenPort', '10911')}"
        for place, said in told.items()
    }


def _named(facts: Facts, *wanted: str) -> list[dict[str, Any]]:
    """Return the settings with these names, the one that wins first; of several logs the one that goes on longest."""
    found = [row for name in wanted for row in _settings(facts).get(name, ())]
    ends = {row["file"]: item.last for row in found if (item := facts.files.get(row["file"])) and item.last}

    def order(row: dict[str, Any]) -> tuple[Any, ...]:
        latest_first = -ends[row["file"]].timestamp() if row["file"] in ends else 0
        return RANK[row["origin"]], bool(row["backup"]), latest_first, row["file"], -(row["line"] or 0)

    return sorted(found, key=order)


def _configs(facts: Facts, *wanted: str) -> list[dict[str, Any]]:
    """Return the same with the `address` of each setting's broker."""
    return [row | {"address": _addresses(facts).get((row["file"], row["subject"]))} for row in _named(facts, *wanted)]


def setting(facts: Facts, name: str, hosts: Hosts = ANY) -> Setting:
    """Return a setting of the broker at `hosts`, or of any: answered, printed, configured, else the default."""
    wanted = {name}
    for new, old in _ALIASES:
        wanted |= {name.replace(new, old), name.replace(old, new)}
    told = brokers.of_this(facts, hosts, ((r, r["file"], r["address"]) for r in _configs(facts, *wanted)))
    if told:
        return Setting(told[0]["value"], facts.ref(told[0]["file"], told[0]["line"]), "evidence")
    return Setting(*_default(facts, name, hosts))


def _default(facts: Facts, name: str, hosts: Hosts) -> tuple[str | None, Ref | None, Known]:
    rule = versions.RULES.get(name)
    if rule is None:
        return None, None, None
    known = releases_at(facts, hosts)
    # Without a release, a default that never changed is still known.
    values = {str(rule.at(v)) for v in known} if known else {str(value) for _, value in rule.rows}
    return (next(iter(values)), None, "default") if len(values) == 1 else (None, None, None)
