"""Broker addresses: those that clients tried and reached, that brokers advertise, and others of the broker's host.

A broker registers brokerIP1 (else the first address of its host) with the name server, and clients connect to that and
to nothing else (`BrokerController`, `MQClientInstance.updateTopicRouteInfoFromNameServer`).
"""

import ipaddress
from typing import Any, Final

from kit.analysis import refs
from kit.analysis.sends import attempts
from kit.data import grouped
from kit.inventory.model import folder_of
from kit.rocketmq import config, ids, names
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts, memo

PORT: Final = 10911
NAME_SERVER_PORT: Final = 9876
NOT_OF_USERS: Final = (names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP)

Row = dict[str, Any]
Place = tuple[str, int]
"""A file and a line."""


def host(address: str) -> str:
    """Return the host of `host:port`, `[v6]:port` or `/host:port`."""
    return address.lstrip("/").rpartition(":")[0].strip("[]") or address


def client_host(client_id: str) -> str:
    """Return the host of `ip@instance` (client/ClientConfig.buildMQClientId)."""
    return client_id.partition("@")[0]


def port(address: str) -> int | None:
    last = address.rpartition(":")[2]
    return int(last) if last.isdecimal() else None


def _is_ip(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def network(address: str) -> str | None:
    """Return `config.network` of the host of an address."""
    return config.network(host(address))


def own_addresses(facts: Facts) -> list[Row]:
    """Return the rows of `host_addresses` that `ip addr` and `ifconfig` outputs list."""
    rows = facts.rows("host_addresses")
    return [row for row in rows if row["origin"] == "addresses" and _is_ip(row["address"])]


def _statements(facts: Facts, event: str) -> list[Row]:
    texts = ("client-connect", "client-connect-failed") if event == "connect" else (event,)
    return [row for row in facts.rows("reach_statements") if row["event"] == event] if refs.seen(facts, *texts) else []


@memo
def tried(facts: Facts) -> list[Row]:
    """Return the rows of `reach_statements` about brokers that clients and applications tried, not mqadmin, brokers or
    name servers; if a connect failed, also those that answered SEND_OK, by offset ids in send ledgers (`source` sends),
    and those that stored messages of the clients that failed (with `physical_offset`).
    """
    rows = sorted(_statements(facts, "connect"), key=lambda row: (row["file"], row["address"]))
    if not rows:
        return []
    servers = {row["address"] for row in facts.rows("reach_addresses") if row["kind"] == "name server"}
    of_tools, brokers = tools(facts), set(map(host, advertised(facts)))
    rows = [
        row
        for row in rows
        if row["source"] not in BROKER_SIDE and row["file"] not in of_tools
        if not row["name_server"] and row["address"] not in servers
        if host(row["address"]) in brokers or port(row["address"]) not in (NAME_SERVER_PORT, None)
    ]
    failed = [row for row in rows if row["failed"]]
    if not failed:
        return rows
    none: Row = {"source": "sends", "failed": 0, "failed_line": None, "first": None, "last": None}
    answered = [
        none | {"file": row["file"], "address": place[0], "reached": row["n"], "reached_line": row["line"]}
        for row in facts.rows("answered_hosts")
        if (place := ids.tried(row["offset_msg_id"] or ""))
    ]
    return (
        rows + answered + [none | {"reached": row["n"], "reached_line": None} | row for row in _stored(facts, failed)]
    )


def _stored(facts: Facts, failed: list[Row]) -> list[Row]:
    """Return the rows of `stored_senders` that show that clients whose connects failed had reached the broker before.

    Logs that were cut off do not name their clients: then any host but the broker's shows it, unless that is one in a
    network which only containers of that host share.
    """
    named = {client_host(name) for row in failed if (name := clients(facts).get(row["file"]))}
    tried = {row["address"] for row in failed}
    return [
        row
        for row in (facts.rows("stored_senders") if facts.has("messages") else ())
        if row["address"] in tried and network(row["address"]) is None
        if row["host"] in named or (not named and row["host"] != host(row["address"]))
    ]


def inner_of_failed_lists(facts: Facts) -> Row | None:
    """Return the statement about an inner address nobody reached that most often gave no list of a group's members."""
    reached = {row["address"] for row in tried(facts) if row["reached"]}
    rows = (row | {"address": str(row["address"])} for row in _statements(facts, "consumer-list-failed"))
    inner = (row for row in rows if network(row["address"]) and row["address"] not in reached)
    return min(inner, key=lambda row: (-row["n"], row["file"], row["line"]), default=None)


@memo
def tools(facts: Facts) -> frozenset[str]:
    """Return the client logs of mqadmin, which reaches every address of its host; none with a client of users."""
    if not facts.files.of_kind("log"):
        return frozenset()
    own = {row["file"] for row in attempts.clients_of_users(facts)}
    admin = {file for file, _ in refs.seen(facts, "admin-tool").places}
    sides = {folder_of(i.file) for i in facts.files.items if i.source in BROKER_SIDE}
    beside = {i.file for i in facts.files.items if i.source == "client" and folder_of(i.file) in sides}
    return frozenset((admin | beside) - own)


def advertised(facts: Facts) -> dict[str, Place]:
    """Return the addresses that clients get, with their first lines: clusterList, routes, registrations, brokerIP1."""
    rows = facts.rows("reach_addresses")
    return {row["address"]: (row["file"], row["line"]) for row in rows if row["kind"] == "advertised"}


def reachable_instead(facts: Facts, address: str) -> tuple[str, tuple[Place, ...]] | None:
    """Return (ip:port, lines that show it) of an address of the same host that others can reach, None if none is shown.
    The host is known by its output of `ip addr`.
    """
    own, number = own_addresses(facts), port(address) or PORT
    files = {o["file"] for o in own if o["address"] == host(address) or network(address) in ("loopback", "link-local")}
    sockets = [row for row in facts.rows("host_addresses") if row["origin"] == "sockets" and row["port"] == number]
    others = [o for o in own if o["file"] in files and not o["only_the_host"] and ":" not in o["address"]]
    for other in (o for o in others if o["address"] != host(address)):
        listens = [s for s in sockets if s["address"] in ("0.0.0.0", "::", other["address"])]
        if listens or not sockets:
            places = tuple((row["file"], row["line"]) for row in (other, *listens[:1]))
            return f"{other['address']}:{number}", places
    return None


def clients(facts: Facts) -> dict[str, str]:
    """Return {log file: client id} of the clients created according to logs; the first one of a file."""
    rows = reversed(_statements(facts, "client-created"))
    return {row["file"]: row["client_id"] for row in rows if row["client_id"] is not None}


def of_several_hosts(facts: Facts) -> frozenset[str]:
    """Return the files in which clients of several hosts are created: who reached an address there is not told."""
    created = grouped((str(row["file"]), str(row["client_id"])) for row in _statements(facts, "client-created"))
    return frozenset(file for file, names in created.items() if len({*map(client_host, names)}) > 1)


@memo
def client_logs(facts: Facts) -> bool:
    """Return whether there is a client's log, neither mqadmin's nor an excerpt, that would show a failed connect: it
    has its client's start and a connect of some kind.
    """
    whole = {file for file, _ in refs.seen(facts, "client-created", "client-started", "client-connect").places}
    return any(i.source == "client" and i.file in whole and i.file not in tools(facts) for i in facts.files.items)


@memo
def every_client(facts: Facts) -> bool:
    """Return whether each client of users that the brokers' side names has its log here: no log tells, no client saw.

    Without that side nobody knows how many clients there are.
    """
    logged = {row["client_id"] for row in _statements(facts, "client-created")}
    connected = {row["client_id"] for row in facts.rows("clients_connected") if row["group"] not in NOT_OF_USERS}
    if connected:
        return connected <= logged
    hosts = facts.rows("record_names")
    stores = {host(row["value"]) for row in hosts if row["kind"] == "store_host"}
    senders = {host(row["value"]) for row in hosts if row["kind"] == "born_host"} - stores
    return bool(senders) and senders <= {client_host(str(name)) for name in logged}


def cut_off(facts: Facts) -> frozenset[str]:
    """Return the folders (hosts) whose clients tried brokers and never reached one: they timed out connecting."""
    failed, reached = ({folder_of(row["file"]) for row in tried(facts) if row[how]} for how in ("failed", "reached"))
    return frozenset(failed - reached)
