"""Broker addresses: those that clients tried and reached, those that brokers advertise, and the other ones of the
broker's host.

A broker registers brokerIP1 (else the first address of its host) with the name server, and clients connect to that and
to nothing else (`BrokerController`, `MQClientInstance.updateTopicRouteInfoFromNameServer`).
"""

from __future__ import annotations

import ipaddress
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, Final

from kit.analysis import refs
from kit.analysis.sends import attempts
from kit.rocketmq import ids, names
from kit.rocketmq.config import DOCKER_BRIDGE
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts, memo

PORT: Final = 10911
NAME_SERVER_PORT: Final = 9876

Row = dict[str, Any]
Tried = SimpleNamespace
"""An address tried by the clients of a log: file, source, address, failed, reached (entries), line (of the first
failure), reached_line, first, last."""
Advertised = SimpleNamespace
"""An address that a broker registers: address, and the file and line that show it."""
Own = SimpleNamespace
"""An address of a host: a row of `host_addresses`."""


def host(address: str) -> str:
    """Return the host of `host:port`, `[v6]:port` or `/host:port`."""
    return address.lstrip("/").rpartition(":")[0].strip("[]") or address


def port(address: str) -> int | None:
    last = address.rpartition(":")[2]
    return int(last) if last.isdecimal() else None


def _ip(text: str) -> Any:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def known_as(address: str) -> str | None:
    """Return why an address is not reachable from other hosts: loopback, link-local; None for any other."""
    ip = _ip(host(address))
    if ip is None:
        return "loopback" if host(address).lower() == "localhost" else None
    return "loopback" if ip.is_loopback else "link-local" if ip.is_link_local else None


def is_docker_default(address: str) -> bool:
    """Return whether an address is in Docker's default bridge network, and so is probably known to its host only."""
    ip = _ip(host(address))
    return ip is not None and ip in DOCKER_BRIDGE


@memo
def own_addresses(facts: Facts) -> list[Own]:
    """Return the addresses that `ip addr` and `ifconfig` outputs list, without IPv6 link-local ones."""
    rows = (row for row in facts.rows("host_addresses") if row["origin"] == "addresses")
    return [Own(**row) for row in rows if _ip(row["address"]) is not None]


def _statements(facts: Facts, *events: str) -> list[Row]:
    return [row for row in facts.rows("reach_statements") if row["event"] in events]


@memo
def tried(facts: Facts) -> list[Tried]:
    """Return the broker addresses that were tried according to the logs of clients and applications, without those of
    mqadmin, brokers, and name servers.

    If a connect failed, also the addresses that answered the senders (`source` sends).
    """
    rows = sorted(_statements(facts, "connect"), key=lambda row: (row["file"], row["address"]))
    if not rows:
        return []
    servers, tools = name_servers(facts), _tools(facts)
    brokers = {host(a.address) for a in advertised(facts)}
    found = []
    for row in rows:
        address = row["address"]
        name_server = address in servers or row["name_server"]
        unlike = host(address) not in brokers and port(address) in (NAME_SERVER_PORT, None)
        if row["source"] not in BROKER_SIDE and row["file"] not in tools and not name_server and not unlike:
            found.append(Tried(**row | {"line": row["failed_line"]}))
    return found + (_answered(facts) if any(one.failed for one in found) else [])


def _answered(facts: Facts) -> list[Tried]:
    """Return the addresses whose brokers answered SEND_OK, by the offset ids in send ledgers."""
    none: Row = {"source": "sends", "failed": 0, "line": None, "first": None, "last": None}
    return [
        Tried(file=row["file"], address=place[0], reached=row["n"], reached_line=row["line"], **none)
        for row in facts.rows("answered_hosts")
        if (place := ids.tried(row["offset_msg_id"] or ""))
    ]


def inner_of_failed_lists(facts: Facts) -> tuple[str, int, str, int] | None:
    """Return (address, lines, file, line) of a loopback or container address that gave no list of a group's members."""
    rows = [
        (str(row["address"]), row["n"], row["file"], row["line"])
        for row in _statements(facts, "consumer-list-failed")
        if known_as(str(row["address"])) or is_docker_default(str(row["address"]))
    ]
    return min(rows, key=lambda row: (-row[1], row[2], row[3]), default=None)


@memo
def name_servers(facts: Facts) -> frozenset[str]:
    """Return the addresses of name servers that configurations and mqadmin commands name."""
    return frozenset(row["address"] for row in facts.rows("reach_addresses") if row["kind"] == "name server")


@memo
def _tools(facts: Facts) -> frozenset[str]:
    """Return the client logs of mqadmin, which reaches every address of its host; none with a client of users."""
    if not facts.files.of_kind("log"):
        return frozenset()
    own = {row["file"] for row in attempts.clients_of_users(facts)}
    tools = {file for file, _ in refs.seen(facts, "admin-tool").places}
    sides = {_folder(i.file) for i in facts.files.items if i.source in BROKER_SIDE}
    beside = {i.file for i in facts.files.items if i.source == "client" and _folder(i.file) in sides}
    return frozenset((tools | beside) - own)


def _folder(file: str) -> str:
    return str(PurePosixPath(file).parent)


@memo
def advertised(facts: Facts) -> list[Advertised]:
    """Return the addresses that clients get, with their first lines: clusterList, routes, registrations, brokerIP1."""
    return [Advertised(**row) for row in facts.rows("reach_addresses") if row["kind"] == "advertised"]


def reachable_instead(facts: Facts, address: str) -> tuple[str, Own, tuple[str, int] | None] | None:
    """Return (ip:port, the address of the host, where it listens) of an address of the same host that others can reach;
    None if nothing shows one.

    The host is known by its output of `ip addr`, which lists the advertised address. Of several addresses the one in a
    network of name servers or clients is returned.
    """
    own, number = own_addresses(facts), port(address) or PORT
    files = {o.file for o in own if o.address == host(address) or known_as(address)}
    peers = [ip for peer in (*map(host, name_servers(facts)), *client_hosts(facts)) if (ip := _ip(peer))]
    sockets = [row for row in facts.rows("host_addresses") if row["origin"] == "sockets" and row["port"] == number]

    def is_far(own: Own) -> bool:
        network = ipaddress.ip_network(f"{own.address}/{min(own.prefix or 24, 32)}", strict=False)
        return not any(peer in network for peer in peers)

    others = [
        o
        for o in own
        if o.file in files and not o.only_the_host and o.address != host(address) and ":" not in o.address
    ]
    for candidate in sorted(others, key=is_far):
        listens = [(s["file"], s["line"]) for s in sockets if s["address"] in ("0.0.0.0", "::", candidate.address)]
        if listens or not sockets:
            return f"{candidate.address}:{number}", candidate, next(iter(listens), None)
    return None


@memo
def clients(facts: Facts) -> dict[str, str]:
    """Return {log file: client id} of the clients created according to logs; the first one of a file."""
    rows = reversed(_statements(facts, "client-created"))
    return {row["file"]: row["client_id"] for row in rows if row["client_id"] is not None}


@memo
def client_logs(facts: Facts) -> bool:
    """Return whether there is a client's log, other than mqadmin's or an excerpt: it would show a failed connect.

    A complete log begins with its client's start, and has a connect of some kind.
    """
    whole = {file for file, _ in refs.seen(facts, "client-created", "client-started", "client-connect").places}
    return any(i.source == "client" and i.file in whole and i.file not in _tools(facts) for i in facts.files.items)


@memo
def every_client(facts: Facts) -> bool:
    """Return whether each client of users that the brokers' side names has its log here: no log tells, no client saw.

    Without that side nobody knows how many clients there are.
    """
    logged = {row["client_id"] for row in _statements(facts, "client-created")}
    own = (names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP)
    connected = {row["client_id"] for row in facts.rows("clients_connected") if row["group"] not in own}
    if connected:
        return connected <= logged
    hosts = facts.rows("record_names") if facts.has("messages") else []
    stores = {host(row["value"]) for row in hosts if row["kind"] == "store_host"}
    senders = {host(row["value"]) for row in hosts if row["kind"] == "born_host"} - stores
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
    failed = {_folder(one.file) for one in tried(facts) if one.failed}
    return frozenset(failed - {_folder(one.file) for one in tried(facts) if one.reached})
