"""Broker addresses: those that clients tried and reached, those that brokers advertise, and the other ones of the
broker's host.

A broker registers brokerIP1 (else the first address of its host) with the name server, and clients connect to that and
to nothing else (`BrokerController`, `MQClientInstance.updateTopicRouteInfoFromNameServer`).
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import attrs
import pandas as pd
import pyarrow.dataset as ds

from kit.analysis import refs
from kit.analysis.access import host_addresses
from kit.analysis.consumers import replicas
from kit.analysis.sends import attempts
from kit.case import datasets, log_events, scan, statements
from kit.case.memoize import per_case
from kit.pasted import name_servers as name_servers_asked
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    from kit.case.case import Case


PORT: Final = 10911
MOST: Final = 20_000
_ADDRESS: Final = re.compile(r"(?<![\w.])(?:\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}(?![\w.])")


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
    first: pd.Timestamp | None
    last: pd.Timestamp | None


@attrs.frozen
class Advertised:
    """An address that a broker registered or was configured to register, and the line that shows it; `settled`: by a
    configuration (brokerIP1).
    """

    address: str
    file: str
    line: int
    text: str


@per_case
def connects(case: Case) -> pd.DataFrame:
    """Return connects by file and address: columns file, source, address, how (success, failed), n, line, first, last, name_server (bool: the request was one that goes to a name server).
    Name servers are included.

    A client prints a failed connect twice: the attempt (`createChannel`), and the exception of the call that waited for
    it.
    """
    asked = {"name_server": name_servers_asked.ASKED}
    found = statements.counted(case, ("client-connect", "client-connect-failed"), by=("address", "how"), marks=asked)
    # `connect to null failed`: no name server could be used, and no address was tried.
    found = found[found["address"].notna() & (found["address"] != "null")]
    address = found["address"].str.lstrip("/").str.replace(_IN_BRACKETS, r"\1", regex=True)
    found = found.assign(address=address, how=found["how"].where(found["how"] == "success", "failed"))
    same = found.groupby(["file", "source", "address", "how"], dropna=False)
    times = {
        "n": ("n", "sum"),
        "line": ("line", "min"),
        "first": ("first", "min"),
        "last": ("last", "max"),
        "name_server": ("name_server", "max"),
    }
    summed = same.agg(**times).reset_index().head(MOST)
    return summed.sort_values(["file", "address", "how"], ignore_index=True)


@per_case
def tried(case: Case) -> list[Tried]:
    """Return the broker addresses that were tried according to the logs of clients and applications, without those of
    mqadmin, brokers, and name servers.

    If a connect failed, also the addresses that answered the senders (`source` sends).
    """
    servers, tools = name_servers(case), _tools(case)
    brokers = {host_addresses.host(a.address) for a in advertised(case)}
    found = []
    for (file, address), mine in connects(case).groupby(["file", "address"], sort=True):
        source = mine["source"].iloc[0]
        is_broker = host_addresses.host(str(address)) in brokers
        if (
            source in BROKER_SIDE
            or file in tools
            or str(address) in servers
            or mine["name_server"].any()
            or (not is_broker and host_addresses.port(str(address)) in (NAME_SERVER_PORT, None))
        ):
            continue
        bad, good = mine[mine["how"] == "failed"], mine[mine["how"] == "success"]
        times = mine if bad.empty else bad
        first, last = times["first"].min(), times["last"].max()
        found.append(Tried(
            str(file), source, str(address), int(bad["n"].sum()), int(good["n"].sum()), int(bad["line"].min()) if len(bad) else None,
            int(good["line"].min()) if len(good) else None, None if pd.isna(first) else first, None if pd.isna(last) else last,
        ))  # fmt: skip
    return found + (_answered(case) if any(one.failed for one in found) else [])


def _answered(case: Case) -> list[Tried]:
    """Return the addresses whose brokers answered SEND_OK, by the offset ids in send ledgers: their senders reached them."""
    if not case.has("sends"):
        return []
    rows = replicas.answered(case, (replicas.ACKNOWLEDGED,), ["file", "line", "offset_msg_id"])
    rows = rows[rows["offset_msg_id"].notna()].sort_values(["file", "line"])
    first = rows.assign(host=rows["offset_msg_id"].str[:-16]).groupby(["file", "host"], observed=True)
    found = []
    for file, line, text, count in first.agg(line=("line", "first"), id=("offset_msg_id", "first"), n=("line", "size")).reset_index()[["file", "line", "id", "n"]].head(MOST).to_numpy():  # fmt: skip
        if (place := replicas.of_id(text)) is not None:
            found.append(Tried(str(file), "sends", place[0], 0, int(count), None, int(line), None, None))
    return found


NAME_SERVER_PORT: Final = 9876
_IN_BRACKETS: Final = r"^\[([^\[\]\s]+:\d+)\]$"
"""What a client was given is printed in brackets (remoting/netty/NettyRemotingClient.getAndCreateNameserverChannel): a name server, even without a port."""


def inner_of_failed_lists(case: Case) -> tuple[str, int, str, int] | None:
    """Return (address, lines, file, line) of a loopback or container address from which consumers failed to get the members of their group."""
    found = statements.counted(case, ("consumer-list-failed",), by=("address",))
    inner = found[
        [
            host_addresses.known_as(str(a)) is not None or host_addresses.is_docker_default(str(a))
            for a in found["address"]
        ]
    ]
    if inner.empty:
        return None
    row = inner.sort_values(["n", "file", "line"], ascending=[False, True, True]).iloc[0]
    return str(row["address"]), int(row["n"]), str(row["file"]), int(row["line"])


@per_case
def name_servers(case: Case) -> frozenset[str]:
    """Return the addresses of name servers that configurations and mqadmin commands name."""
    said = datasets.rows(case, "configs", ["value"], ds.field("name") == "namesrvAddr")
    asked = ds.field("name").isin(["argument:-n", "argument:--namesrvAddr"])
    return frozenset(
        part.strip()
        for row in (*said, *datasets.rows(case, "admin", ["value"], asked))
        for part in re.split(r"[;,]", row["value"] or "")
        if part.strip()
    )


@per_case
def _tools(case: Case) -> frozenset[str]:
    """Return the client logs of mqadmin, which runs on a broker's host and reaches every address of it; not logs with a
    producer or consumer of users.
    """
    if not case.found.of_kind("log"):
        return frozenset()
    own = set(attempts.clients_of_users(case)["file"])
    tools = {file for file, _ in refs.seen(case, "admin-tool").places}
    sides = {str(PurePosixPath(i.file).parent) for i in case.found.items if i.source in BROKER_SIDE}
    beside = {i.file for i in case.found.items if i.source == "client" and str(PurePosixPath(i.file).parent) in sides}
    return frozenset((tools | beside) - own)


@per_case
def advertised(case: Case) -> list[Advertised]:
    """Return the addresses of brokers that clients get: routes, registrations, clusterList, brokerIP1; each with its line."""
    found: dict[str, Advertised] = {}

    def add(address: str | None, file: str, line: int, text: str) -> None:
        if address:
            found.setdefault(address.lstrip("/"), Advertised(address.lstrip("/"), file, line, text))

    for row in datasets.rows(case, "admin", ["file", "line", "value"], ds.field("name") == "#Addr"):
        add(row["value"], row["file"], row["line"], row["value"])
    printed = statements.counted(case, ("route-found", "broker-registered", "broker-boot"), by=("address", "brokers"))
    for file, line, one, several in (
        printed.sort_values(["file", "line"])[["file", "line", "address", "brokers"]].head(MOST).to_numpy()
    ):
        for address in [one] if one else _ADDRESS.findall(several or ""):
            add(address, file, line, address)
    named = ds.field("name").isin(["listenPort", "brokerIP1"])
    configs = datasets.rows(case, "configs", ["file", "line", "name", "value", "backup"], named)
    listen = {r["file"]: r["value"] for r in configs if r["name"] == "listenPort"}
    for row in (r for r in configs if r["name"] == "brokerIP1" and r["value"] and not r["backup"]):
        add(f"{row['value'].strip()}:{listen.get(row['file']) or PORT}", row["file"], row["line"], row["value"])
    return list(found.values())


def reachable_instead(case: Case, address: str) -> tuple[str, host_addresses.Own, tuple[str, int] | None] | None:
    """Return (ip:port, the address of the host, where it listens) of an address of the same host that others can reach;
    None if nothing shows one.

    The host is known by its output of `ip addr`, which lists the advertised address. Of several addresses the one in a
    network of name servers or clients is returned.
    """
    own = host_addresses.own_addresses(case)
    files = {o.file for o in own if o.address == host_addresses.host(address)} or {
        o.file for o in own if host_addresses.known_as(address) and o.file
    }
    others = [
        o
        for o in own
        if o.file in files
        and not o.only_the_host
        and o.address != host_addresses.host(address)
        and ":" not in o.address
    ]
    number = host_addresses.port(address) or PORT
    sockets = host_addresses.listening(case, number)
    peers = [host_addresses.host(s) for s in name_servers(case)] + client_hosts(case)
    for candidate in sorted(others, key=lambda o: not any(_same_network(o, peer) for peer in peers)):
        socket = next(((f, line) for a, f, line in sockets if a in ("0.0.0.0", "::", candidate.address)), None)
        if socket or not sockets:
            return f"{candidate.address}:{number}", candidate, socket
    return None


def _same_network(own: host_addresses.Own, peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer) in ipaddress.ip_network(f"{own.address}/{own.prefix or 24}", strict=False)
    except ValueError:
        return False


@per_case
def clients(case: Case) -> dict[str, str]:
    """Return {log file: client id} of the clients created according to logs; the first one of a file with several
    names.
    """
    if not case.found.of_kind("log", "text"):
        return {}
    rows = log_events.event(case, "client-created", ["file", "line"]).sort_values(["file", "line"])
    named = rows[rows["client_id"].notna()].drop_duplicates("file").head(MOST)
    return dict(zip(named["file"].astype(str), named["client_id"], strict=True))


@per_case
def client_logs(case: Case) -> bool:
    """Return whether there is a client's log, other than mqadmin's or an excerpt: it would show a failed connect.

    A complete log begins with its client's start, and has a connect of some kind.
    """
    tools = _tools(case)
    whole = {file for file, _ in refs.seen(case, "client-created", "client-started", "client-connect").places}
    return any(i.source == "client" and i.file not in tools and i.file in whole for i in case.found.items)


def client_hosts(case: Case) -> list[str]:
    """Return the addresses in the ids of clients (clientIP@instanceName)."""
    return sorted({name.partition("@")[0] for name in clients(case).values()})


@per_case
def stored_by_clients(case: Case) -> bool:
    """Return whether any message of a client is stored or answered SEND_OK: then a client reached a broker."""
    if case.has("messages"):
        return True
    if not case.has("sends"):
        return False
    outcomes = scan.table(case, "sends", ["outcome"])["outcome"]
    return any((text or "").upper() == "SEND_OK" for text in outcomes.unique().to_pylist())


@per_case
def cut_off(case: Case) -> frozenset[str]:
    """Return the folders (hosts) whose clients tried brokers and never reached one: their timeouts waited for a
    connect.
    """
    by_folder: dict[str, list[Tried]] = {}
    for one in tried(case):
        by_folder.setdefault(str(PurePosixPath(one.file).parent), []).append(one)
    return frozenset(
        f for f, mine in by_folder.items() if any(t.failed for t in mine) and not any(t.reached for t in mine)
    )
