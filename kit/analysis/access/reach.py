"""Broker addresses: those that clients tried and reached, those that brokers advertise, and the other ones of the
broker's host.

A broker registers brokerIP1 (else the first address of its host) with the name server, and clients connect to that and
to nothing else (`BrokerController`, `MQClientInstance.updateTopicRouteInfoFromNameServer`).
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import attrs

from kit.analysis import refs
from kit.analysis.sends import attempts
from kit.rocketmq import ids, names
from kit.rocketmq.config import DOCKER_BRIDGE
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts, memo

PORT: Final = 10911
NAME_SERVER_PORT: Final = 9876
_ADDRESS: Final = re.compile(r"(?<![\w.])(?:\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}(?![\w.])")
_IN_BRACKETS: Final = re.compile(r"^\[([^\[\]\s]+:\d+)\]$")
"""What a client was given is printed in brackets (remoting/netty/NettyRemotingClient.getAndCreateNameserverChannel): a name server, even without a port."""


Known = Literal["loopback", "bridge", "link-local"]
BRIDGE: Final = re.compile(
    r"^(?:docker|br-|virbr|cni|flannel|cali|veth|podman|lxcbr|lxdbr|weave|kube-bridge|cbr|tunl|vmnet|vboxnet)",
    re.IGNORECASE,
)
"""Interfaces whose network ends at the host: container and virtual machine bridges."""


@attrs.frozen
class Own:
    """An address of a broker's host: its interface, network bits, the line."""

    address: str
    interface: str
    prefix: int | None
    file: str
    line: int

    @property
    def only_the_host(self) -> bool:
        """Whether nothing outside the host can reach it."""
        return ipaddress.ip_address(self.address).is_loopback or bool(BRIDGE.match(self.interface))


@attrs.frozen
class Tried:
    """One broker address tried by the clients of one log file. `failed`, `reached`: entries; `line` of the first failure, `reached_line` of a success."""

    file: str
    source: str | None
    address: str
    failed: int
    reached: int
    line: int | None
    reached_line: int | None
    first: dt.datetime | None
    last: dt.datetime | None


@attrs.frozen
class Advertised:
    """An address that a broker registers, and the line that shows it; `settled`: by a configuration (brokerIP1)."""

    address: str
    file: str
    line: int
    text: str


def host(address: str) -> str:
    """Return the host of `host:port`, `[v6]:port` or `/host:port`."""
    return address.lstrip("/").rpartition(":")[0].strip("[]") or address


def port(address: str) -> int | None:
    last = address.rpartition(":")[2]
    return int(last) if last.isdecimal() else None


def known_as(address: str) -> Known | None:
    """Return why an address is not reachable from other hosts: loopback, link-local; None for any other."""
    try:
        ip = ipaddress.ip_address(host(address))
    except ValueError:
        return "loopback" if host(address).lower() == "localhost" else None
    return "loopback" if ip.is_loopback else "link-local" if ip.is_link_local else None


def is_docker_default(address: str) -> bool:
    """Return whether an address is in Docker's default bridge network, and so is probably known to its host only."""
    try:
        return ipaddress.ip_address(host(address)) in DOCKER_BRIDGE
    except ValueError:
        return False


@memo
def own_addresses(facts: Facts) -> list[Own]:
    """Return the addresses that `ip addr` and `ifconfig` outputs list, without IPv6 link-local ones."""
    found = []
    for row in facts.rows("host_addresses"):
        try:
            ip = ipaddress.ip_address(row["address"])
        except ValueError:
            continue
        if row["origin"] == "addresses" and not ip.is_link_local:
            found.append(Own(row["address"], row["interface"] or "", row["prefix"], row["file"], row["line"]))
    return found


def listening(facts: Facts, number: int) -> list[tuple[str, str, int]]:
    """Return (address, file, line) of the sockets that listen on a port; `0.0.0.0` and `::` are every address."""
    return [
        (row["address"], row["file"], row["line"])
        for row in facts.rows("host_addresses")
        if row["origin"] == "sockets" and row["port"] == number
    ]


def _statements(facts: Facts, *events: str) -> list[dict[str, Any]]:
    return [row for row in facts.rows("reach_statements") if row["event"] in events]


@memo
def tried(facts: Facts) -> list[Tried]:
    """Return the broker addresses that were tried according to the logs of clients and applications, without those of
    mqadmin, brokers, and name servers.

    If a connect failed, also the addresses that answered the senders (`source` sends).
    """
    servers, tools = name_servers(facts), _tools(facts)
    brokers = {host(a.address) for a in advertised(facts)}
    by_place: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in _statements(facts, "connect"):
        # `connect to null failed`: no name server could be used, and no address was tried.
        if row["address"] and row["address"] != "null":
            address = _IN_BRACKETS.sub(r"\1", row["address"].lstrip("/"))
            by_place.setdefault((row["file"], address), []).append(row)
    found = []
    for (file, address), rows in sorted(by_place.items()):
        by_client = rows[0]["source"] not in BROKER_SIDE and file not in tools
        name_server = address in servers or any(row["name_server"] for row in rows)
        unlike = host(address) not in brokers and port(address) in (NAME_SERVER_PORT, None)
        if by_client and not name_server and not unlike:
            found.append(_tried(file, address, rows))
    return found + (_answered(facts) if any(one.failed for one in found) else [])


def _tried(file: str, address: str, rows: list[dict[str, Any]]) -> Tried:
    good = [row for row in rows if row["how"] == "success"]
    bad = [row for row in rows if row["how"] != "success"]
    times = bad or rows
    return Tried(
        file, rows[0]["source"], address, sum(row["n"] for row in bad), sum(row["n"] for row in good),
        min((row["line"] for row in bad), default=None), min((row["line"] for row in good), default=None),
        min((row["first"] for row in times if row["first"]), default=None),
        max((row["last"] for row in times if row["last"]), default=None),
    )  # fmt: skip


def _answered(facts: Facts) -> list[Tried]:
    """Return the addresses whose brokers answered SEND_OK, by the offset ids in send ledgers: their senders reached them."""
    rows = ((row, ids.tried(row["offset_msg_id"] or "")) for row in facts.rows("answered_hosts"))
    return [
        Tried(row["file"], "sends", place[0], 0, row["n"], None, row["line"], None, None)
        for row, place in rows
        if place
    ]


def inner_of_failed_lists(facts: Facts) -> tuple[str, int, str, int] | None:
    """Return (address, lines, file, line) of a loopback or container address from which consumers failed to get the members of their group."""
    rows = [
        (str(row["address"]), row["n"], row["file"], row["line"])
        for row in _statements(facts, "consumer-list-failed")
        if known_as(str(row["address"])) or is_docker_default(str(row["address"]))
    ]
    return min(rows, key=lambda row: (-row[1], row[2], row[3]), default=None)


@memo
def name_servers(facts: Facts) -> frozenset[str]:
    """Return the addresses of name servers that configurations and mqadmin commands name."""
    names = ("namesrvAddr", "argument:-n", "argument:--namesrvAddr")
    return frozenset(
        part.strip()
        for row in facts.rows("reach_settings")
        if row["name"] in names
        for part in re.split(r"[;,]", row["value"] or "")
        if part.strip()
    )


@memo
def _tools(facts: Facts) -> frozenset[str]:
    """Return the client logs of mqadmin, which reaches every address of its host; none with a client of users."""
    if not facts.files.of_kind("log"):
        return frozenset()
    own = set(attempts.clients_of_users(facts)["file"])
    tools = {file for file, _ in refs.seen(facts, "admin-tool").places}
    sides = {str(PurePosixPath(i.file).parent) for i in facts.files.items if i.source in BROKER_SIDE}
    beside = {i.file for i in facts.files.items if i.source == "client" and str(PurePosixPath(i.file).parent) in sides}
    return frozenset((tools | beside) - own)


@memo
def advertised(facts: Facts) -> list[Advertised]:
    """Return the addresses of brokers that clients get: routes, registrations, clusterList, brokerIP1; each with its line."""
    found: dict[str, Advertised] = {}

    def add(address: str | None, file: str, line: int, text: str) -> None:
        if address:
            found.setdefault(address.lstrip("/"), Advertised(address.lstrip("/"), file, line, text))

    settings = facts.rows("reach_settings")
    for row in (row for row in settings if row["name"] == "#Addr"):
        add(row["value"], row["file"], row["line"], row["value"])
    printed = _statements(facts, "route-found", "broker-registered", "broker-boot")
    for row in sorted(printed, key=lambda row: (row["file"], row["line"])):
        for address in [row["address"]] if row["address"] else _ADDRESS.findall(row["brokers"] or ""):
            add(address, row["file"], row["line"], address)
    listen = {row["file"]: row["value"] for row in settings if row["name"] == "listenPort"}
    for row in (row for row in settings if row["name"] == "brokerIP1" and row["value"] and not row["backup"]):
        add(f"{row['value'].strip()}:{listen.get(row['file']) or PORT}", row["file"], row["line"], row["value"])
    return list(found.values())


def reachable_instead(facts: Facts, address: str) -> tuple[str, Own, tuple[str, int] | None] | None:
    """Return (ip:port, the address of the host, where it listens) of an address of the same host that others can reach;
    None if nothing shows one.

    The host is known by its output of `ip addr`, which lists the advertised address. Of several addresses the one in a
    network of name servers or clients is returned.
    """
    own = own_addresses(facts)
    files = {o.file for o in own if o.address == host(address)} or {o.file for o in own if known_as(address) and o.file}
    others = [
        o
        for o in own
        if o.file in files and not o.only_the_host and o.address != host(address) and ":" not in o.address
    ]
    number = port(address) or PORT
    sockets = listening(facts, number)
    peers = [host(s) for s in name_servers(facts)] + client_hosts(facts)
    for candidate in sorted(others, key=lambda o: not any(_same_network(o, peer) for peer in peers)):
        socket = next(((f, line) for a, f, line in sockets if a in ("0.0.0.0", "::", candidate.address)), None)
        if socket or not sockets:
            return f"{candidate.address}:{number}", candidate, socket
    return None


def _same_network(own: Own, peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer) in ipaddress.ip_network(f"{own.address}/{own.prefix or 24}", strict=False)
    except ValueError:
        return False


@memo
def clients(facts: Facts) -> dict[str, str]:
    """Return {log file: client id} of the clients created according to logs; the first one of a file."""
    found: dict[str, str] = {}
    for row in _statements(facts, "client-created"):
        if row["client_id"] is not None:
            found.setdefault(row["file"], row["client_id"])
    return found


@memo
def client_logs(facts: Facts) -> bool:
    """Return whether there is a client's log, other than mqadmin's or an excerpt: it would show a failed connect.

    A complete log begins with its client's start, and has a connect of some kind.
    """
    tools = _tools(facts)
    whole = {file for file, _ in refs.seen(facts, "client-created", "client-started", "client-connect").places}
    return any(i.source == "client" and i.file not in tools and i.file in whole for i in facts.files.items)


@memo
def every_client(facts: Facts) -> bool:
    """Return whether each client of users that the brokers' side names has its log here: what no log tells then happened to no client.

    Without that side nobody knows how many clients there are.
    """
    logged = {row["client_id"] for row in _statements(facts, "client-created")}
    own = (names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP)
    connected = {row["client_id"] for row in facts.rows("clients_connected") if row["group"] not in own}
    if connected:
        return connected <= logged
    hosts: dict[str, set[str]] = {"store_host": set(), "born_host": set()}
    for row in facts.rows("record_names") if facts.has("messages") else ():
        hosts.setdefault(row["kind"], set()).add(host(row["value"]))
    senders = hosts["born_host"] - hosts["store_host"]
    return bool(senders) and senders <= {str(name).partition("@")[0] for name in logged}


def client_hosts(facts: Facts) -> list[str]:
    """Return the addresses in the ids of clients (clientIP@instanceName)."""
    return sorted({name.partition("@")[0] for name in clients(facts).values()})


@memo
def stored_by_clients(facts: Facts) -> bool:
    """Return whether any message of a client is stored or answered SEND_OK: then a client reached a broker."""
    return facts.has("messages") or bool(facts.rows("answered_hosts"))


@memo
def cut_off(facts: Facts) -> frozenset[str]:
    """Return the folders (hosts) whose clients tried brokers and never reached one: they timed out connecting."""
    by_folder: dict[str, list[Tried]] = {}
    for one in tried(facts):
        by_folder.setdefault(str(PurePosixPath(one.file).parent), []).append(one)
    return frozenset(
        f for f, mine in by_folder.items() if any(t.failed for t in mine) and not any(t.reached for t in mine)
    )
