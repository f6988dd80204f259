"""How the system was set up according to the evidence: releases of brokers and clients, settings in force."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from kit.case import brokers, datasets, log_events, scan
from kit.case.brokers import Hosts
from kit.case.columnar import grouped
from kit.case.memoize import per_case
from kit.formats.printed_times import utc
from kit.inventory.references import Ref
from kit.rocketmq import names, versions
from kit.rocketmq.versions import Version

if TYPE_CHECKING:
    from kit.case.case import Case

Known = Literal["evidence", "default"] | None
ANY: Final[Hosts] = frozenset()
"""Any broker of the evidence."""

_HOME: Final = re.compile(r"rocketmq[\w-]*?(\d+\.\d+\.\d+)")
_CONNECTED: Final = re.compile(
    r"new (?P<role>producer|consumer) connected, group: (?P<group>\S+) .*?clientId=(?P<client_id>[^,\]]*), language=JAVA, version=(?P<version>\d+)"
)
_CLIENT_SAYS: Final = re.compile(r"ClientVersion:\s*(V\d+_\d+_\d+)")
_ALIASES: Final = (("mappedFile", "mapedFile"), ("MappedFile", "MapedFile"))

_RANK: Final = {"getBrokerConfig": 0, "broker.log": 1, "broker.conf": 2}
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


def broker_versions(case: Case, hosts: Hosts = ANY) -> tuple[str, ...]:
    """Return the releases that the evidence names for the broker at `hosts`, or for any broker, oldest first."""
    return tuple(str(v) for v in sorted(set(brokers.of_this(case, hosts, _releases(case)))))


@per_case
def _releases(case: Case) -> list[tuple[Version, str, str | None]]:
    """Return (release, the file that names it, the broker's address or None)."""
    said = list(_listed(case))
    for row in _configs(case, "rocketmqHome"):
        if home := _HOME.search(row["value"] or ""):
            said += [(v, row["file"], row["address"]) for v in _versions(home[1])]
    return said


def _listed(case: Case) -> Iterator[tuple[Version, str, str | None]]:
    """Yield the same of what mqadmin printed: clusterList, and brokerStatus with the address before the name or in the command."""
    if not case.found.of_mqadmin():
        return
    asked: dict[str, str] = {}
    cells: dict[tuple[str, int], str] = {}
    wanted = ["#Addr", "#Version", "argument:-b"]
    listed = ds.field("name").isin(wanted) | pc.match_substring(ds.field("name"), "brokerVersionDesc")
    for row in datasets.rows(case, "admin", ["file", "line", "command", "name", "value"], listed):
        file, name, value = row["file"], row["name"], row["value"] or ""
        if name == "argument:-b":
            asked[file] = value
        elif name == "#Addr":
            cells[file, row["line"]] = value
        elif name.endswith("brokerVersionDesc"):
            address = name.removesuffix("brokerVersionDesc").strip() or asked.get(file)
            yield from ((v, file, address) for v in _versions(value))
        elif row["command"] == "clusterList":  # in other tables a version is a client's
            yield from ((v, file, cells.get((file, row["line"]))) for v in _versions(value))


class Start(NamedTuple):
    """A start of a broker, as its log prints it. `at`: UTC."""

    version: Version
    broker: str
    ref: Ref
    at: dt.datetime


@per_case
def upgrades(case: Case) -> dict[str, list[Start]]:
    """Return {broker: its starts in order of time} of the brokers whose logs show starts with different releases."""
    starts: dict[str, list[tuple[Version, dict[str, Any]]]] = {}
    started = (ds.field("name") == "rocketmqHome") & (ds.field("origin") == "broker.log")
    for row in datasets.rows(case, "configs", where=started):
        if home := _HOME.search(row["value"] or ""):
            broker = _addresses(case).get((row["file"], row["subject"])) or str(PurePosixPath(row["file"]).parent)
            starts.setdefault(broker, []).extend((v, row) for v in _versions(home[1]))
    changed = {broker: told for broker, told in starts.items() if len({version for version, _ in told}) > 1}
    if not changed:
        return {}
    printed = pc.match_substring(ds.field("message"), "rocketmqHome=") & ds.field("ts").is_valid()
    lines = {(r["file"], r["line"]): r for r in datasets.rows(case, "logs", ["file", "line", "ts"], printed)}
    found = {
        broker: sorted(
            (
                Start(version, broker, Ref(row["file"], "", line=row["line"]), utc(entry["ts"]))
                for version, row in told
                if (entry := lines.get((row["file"], row["line"])))
            ),
            key=lambda start: (start.at, start.ref.file, start.ref.line),
        )
        for broker, told in changed.items()
    }
    return {broker: starts for broker, starts in found.items() if len({start.version for start in starts}) > 1}


def releases_at(case: Case, hosts: Hosts = ANY, at: dt.datetime | None = None) -> tuple[str, ...]:
    """Return those of `broker_versions` that ran at a time (UTC), or at the end of the logs: a start with another release ends the one before."""
    running: set[Version] = set()
    ended: set[Version] = set()
    for broker, starts in upgrades(case).items():
        if brokers.of_this(case, hosts, ((start, start.ref.file, broker) for start in starts)):
            before = [start for start in starts if at is None or start.at <= at]
            running.add((before or starts[:1])[-1].version)
            ended.update(start.version for start in starts)
    return tuple(v for v in broker_versions(case, hosts) if Version.parse(v) not in ended - running)


@per_case
def clients(case: Case) -> list[Client]:
    columns, of_broker = ("file", "line", "message", "source"), scan.text("source") == "broker"
    connected = log_events.hits(case, ("producer-connected", "consumer-connected"), columns, of_broker, cut=False)
    listed = []
    rows = (row for batch in connected for row in batch.to_pylist())
    for row in sorted(rows, key=itemgetter("file", "line")):
        found = _CONNECTED.search(row["message"])
        version = Version.maybe(found["version"]) if found else None
        if found and version and found["group"] != names.ADMIN_GROUP:
            ref = Ref(row["file"], row["message"], line=row["line"])
            listed.append(Client(found["role"], found["group"], found["client_id"], str(version), ref))
    return listed


@per_case
def client_versions(case: Case) -> tuple[str, ...]:
    said = {Version.parse(c.version) for c in clients(case)}
    created = [batch["message"] for batch in log_events.hits(case, ("client-created",), ["message"], cut=False)]
    if not created:  # a line whose beginning was cut off
        table = ds.dataset(case.folder("logs"), format="parquet")
        named = pc.match_substring(ds.field("message"), "ClientVersion:")
        created = table.to_table(["message"], filter=named)["message"].chunks
    for text in pc.unique(pa.chunked_array(created, pa.string())).to_pylist():
        for found in _CLIENT_SAYS.finditer(text or ""):
            said |= _versions(found[1])
    return tuple(str(v) for v in sorted(said))


def _versions(text: str) -> set[Version]:
    found = Version.maybe(text)
    return {found} if found else set()


@per_case
def _all_configs(case: Case) -> pa.Table:
    """Return the brokers' settings, each value once, with its last line: a broker prints hundreds each time it starts."""
    coded = ds.ParquetFileFormat(dictionary_columns=["file", "origin", "name"])
    table = ds.dataset(case.folder("configs"), format=coded).to_table(filter=ds.field("origin").isin(list(_RANK)))
    return grouped(table, [name for name in table.schema.names if name != "line"], [("line", "max")])


@per_case
def _addresses(case: Case) -> dict[tuple[str, str | None], str | None]:
    """Return the address of the broker whose settings each (file, subject) holds, None if unknown."""
    told: dict[tuple[str, str | None], dict[str, str]] = {}
    for row in reversed(_named(case, "brokerIP1", "listenPort")):
        told.setdefault((row["file"], row["subject"]), {})[row["name"]] = row["value"] or ""
    return {
        place: (ip := said.get("brokerIP1")) and f"{ip}:{said.get('listenPort', '10911')}"
        for place, said in told.items()
    }


def _named(case: Case, *wanted: str) -> list[dict[str, Any]]:
    """Return the settings with these names, the one that wins first; of several logs the one that goes on longest."""
    found = _all_configs(case).filter(ds.field("name").isin(list(wanted))).to_pylist()
    ends = {row["file"]: item.last for row in found if (item := case.found.get(row["file"])) and item.last}
    return sorted(
        found,
        key=lambda r: (
            _RANK[r["origin"]],
            bool(r["backup"]),
            -ends[r["file"]].timestamp() if r["file"] in ends else 0,
            r["file"],
            -(r["line"] or 0),
        ),
    )


def _configs(case: Case, *wanted: str) -> list[dict[str, Any]]:
    """Return the same with the `address` of each setting's broker."""
    return [row | {"address": _addresses(case).get((row["file"], row["subject"]))} for row in _named(case, *wanted)]


def setting(case: Case, name: str, hosts: Hosts = ANY) -> Setting:
    """Return a setting of the broker at `hosts`, or of any broker: as answered, printed at the last start or
    configured; else the default of its release.
    """
    wanted = {name}
    for new, old in _ALIASES:
        wanted |= {name.replace(new, old), name.replace(old, new)}
    told = brokers.of_this(case, hosts, ((r, r["file"], r["address"]) for r in _configs(case, *wanted)))
    if told:
        return Setting(told[0]["value"], case.ref(told[0]["file"], told[0]["line"]), "evidence")
    return Setting(*_default(case, name, hosts))


def _default(case: Case, name: str, hosts: Hosts) -> tuple[str | None, Ref | None, Known]:
    rule = versions.RULES.get(name)
    if rule is None:
        return None, None, None
    known = releases_at(case, hosts)
    # Without a release, a default that never changed is still known.
    values = {str(rule.at(v)) for v in known} if known else {str(value) for _, value in rule.rows}
    return (next(iter(values)), None, "default") if len(values) == 1 else (None, None, None)
