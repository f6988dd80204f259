"""Which file belongs to which broker: by the address it names, and by stores and configurations beside it."""

import os
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple, TypeVar

from kit.data import grouped
from kit.formats.values import integer
from kit.inventory.model import folder_of
from kit.rocketmq import ids
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

T = TypeVar("T")
ORIGINS: Final = ("broker.conf", "broker.log", "getBrokerConfig")
"""Where settings of a broker itself stand."""
ROLE: Final = ("brokerName", "brokerId", "brokerRole", "enableControllerMode")
Hosts = frozenset[str]
"""The addresses (`ip:port`) under which one broker stored records; empty if the broker is unknown."""
Queue = tuple[str, str, int]
"""Topic, broker ("" if it is not known), queue id."""


class Broker(NamedTuple):
    """A broker in the evidence. `root`: the folder above `commitlog`, or of its configuration; `printed`: brokerName,
    else the root; `slave`: None without a configuration of its own, and in controller mode; `stored`: it has a
    commitlog; `configured`: it has a configuration; `name`: as printed, but the root if that is the name of another
    cluster's broker: no host stored records in both.
    """

    root: str
    printed: str
    slave: bool | None
    stored: bool
    configured: bool
    name: str


def root_of(file: str) -> str:
    """Return the folder of a store from the name of one of its commitlog files."""
    folder = PurePosixPath(file).parent
    return str(folder.parent if folder.name == "commitlog" else folder)


def _near(a: str, b: str) -> int:
    """Return how many leading folders two paths share."""
    return len(os.path.commonprefix([PurePosixPath(a).parts, PurePosixPath(b).parts]))  # noqa: RUF071 - whole parts


def is_slave(settings: Mapping[str, str | None]) -> bool:
    """Return whether a broker is a slave by its settings; a member of a DLedger group prints -1 (BrokerStartup)."""
    return settings.get("brokerRole") == "SLAVE" or (integer(settings.get("brokerId")) or 0) > 0


@memo
def all_of(facts: Facts) -> tuple[Broker, ...]:
    """Return the brokers whose store or configuration is in the evidence, in order of root; behind them masters of
    other clusters that have the name of one of them, and neither here.
    """
    # A subscription group has its own brokerId: the broker from which it may be read.
    own = (row for row in facts.rows("settings") if row["origin"] in ORIGINS and not row["backup"])
    named = grouped((row["file"], (row["name"], (row["value"] or "").strip())) for row in own if row["name"] in ROLE)
    configured = {file: dict(settings) for file, settings in named.items()}
    stores, masters = _stores(facts), _elsewhere(facts)
    if stores:
        # Brokers of two clusters may have equal files, of which one is read.
        equal = ((item.file, item.replica_of) for item in facts.files.of_kind("broker_conf"))
        configured |= {file: configured[of] for file, of in equal if of in configured}
    roots = sorted(stores or {folder_of(file) for file in configured})
    stored = {r: {max(masters, key=lambda m: _near(m[0], r))[2]} for r in roots if masters and not stores}
    unstored = {root: name for root, name, at in masters if {at} not in stored.values()}
    roots += unstored
    stored |= addresses(facts) if len(roots) > 1 else {}
    brokers: list[Broker] = []
    for root in roots:
        nearest = max((_near(file, root) for file in configured), default=0)
        # A single store belongs to any configuration there is; one of several only to a configuration next to it.
        near = [v for file, v in configured.items() if _near(file, root) == nearest and (nearest or len(roots) == 1)]
        roles = [is_slave(v) for v in near]
        # A controller gives the role, and takes it (broker/controller/ReplicasManager).
        given = any(v.get("enableControllerMode") == "true" for v in near)
        slave = any(roles) if roles and not given else None
        names = {v["brokerName"] for v in near if v.get("brokerName")} | {*filter(None, [unstored.get(root)])}
        if len(names) != 1:
            # The only name in mqadmin outputs.
            names = {row["value"] for row in facts.rows("admin_names") if row["name"] == "#Broker Name"}
        printed = names.pop() if len(names) == 1 else root
        peers, hosts = [broker for broker in brokers if broker.printed == printed], stored.get(root)
        alike = [b.name for b in peers if not hosts or not stored.get(b.root) or stored[b.root] & hosts]
        name = alike[0] if alike else root if peers else printed
        if root in stores or not stores or peers:
            brokers.append(Broker(root, printed, slave, root in stores, bool(near), name))
    return tuple(brokers)


def _stores(facts: Facts) -> set[str]:
    return {root_of(item.file) for item in facts.files.of_kind("commitlog", "dledger")}


@memo
def _elsewhere(facts: Facts) -> list[tuple[str, str, str]]:
    """Return (folder that all files share which name it, brokerName, address) of masters whose store is not here, if
    that is not above a store; where there is no store, of all if they have one name, each in folders of its own.
    """
    stores = [PurePosixPath(store) for store in _stores(facts)]
    naming = grouped((row["address"], row) for row in facts.rows("unstored_brokers"))
    folders = {at: os.path.commonpath([folder_of(row["file"]) for row in naming[at]]) for at in naming}
    roots = sorted((folders[at], max(row["broker"] or "" for row in own), at) for at, own in naming.items())
    places = sorted(PurePosixPath(folder).parts for folder in folders.values())
    nested = any(b[: len(a)] == a for a, b in pairwise(places))
    if not stores and (nested or len(places) < 2 or len({name for _, name, _ in roots}) > 1):
        return []
    return [each for each in roots if not any(store.is_relative_to(each[0]) for store in stores)]


def of_file(facts: Facts, file: str) -> Broker | None:
    """Return the broker a file belongs to, None if several are equally near."""
    known = all_of(facts)
    if len(known) <= 1:
        return known[0] if known else None
    nearest = max(_near(file, broker.root) for broker in known)
    near = [broker for broker in known if _near(file, broker.root) == nearest]
    return near[0] if len({(broker.name, broker.slave) for broker in near}) == 1 and nearest else None


@memo
def addresses(facts: Facts) -> dict[str, set[str]]:
    """Return {root of a store: addresses (`ip:port`) under which its records were stored}; that of one elsewhere too."""
    rows = facts.rows("store_extent") if _stores(facts) else []
    hosts = grouped(
        [*((root_of(r["file"]), r["store_host"]) for r in rows), *((root, at) for root, _, at in _elsewhere(facts))]
    )
    return {root: set(own) for root, own in hosts.items()}


@memo
def clusters(facts: Facts) -> dict[str, str]:
    """Return the cluster of each broker, as far as it is known: by configurations and clusterList, those of one
    NameServer as one, whose topics and groups are on all of its brokers; where brokers of two have one name, that of
    the broker of this name in the nearest folder.
    """
    every = all_of(facts)
    twins = [b for b in every if any(b.printed == other.printed and b.name != other.name for other in every)]
    twins = [b for b in twins if b.printed == twins[0].printed]
    if twins:
        return {b.name: max(twins, key=lambda twin: (_near(b.root, twin.root), twin.name)).name for b in every}
    rows = [row for row in facts.rows("settings") if row["origin"] in ORIGINS and row["value"]]
    printed = {row["file"]: row["value"].strip() for row in rows if row["name"] == "brokerClusterName"}
    names = [(owner.name, printed[file]) for file in printed if (owner := of_file(facts, file))]
    servers = ((row["file"], row["value"]) for row in rows if row["name"] == "namesrvAddr" and row["file"] in printed)
    places = [(address.strip(), printed[file]) for file, value in servers for address in value.split(";")]
    for row in (row for row in facts.rows("admin_blocks") if row["command"] == "clusterList"):
        cells = dict(row["cells"])
        names.append((cells.get("#Broker Name", ""), cells.get("#Cluster Name", "")))
        places.append((row["file"], names[-1][1]))
    one: dict[str, set[str]] = {}
    for own in grouped(places).values():
        joined = set().union(*(one.get(cluster, {cluster}) for cluster in own))
        one |= dict.fromkeys(joined, joined)
    known = grouped((broker, min(one.get(cluster, {cluster}))) for broker, cluster in names if broker and cluster)
    return {broker: own[0] for broker, own in known.items() if len({*own}) == 1}


def apart(facts: Facts, one: str, other: str) -> bool:
    """Return whether two files are of brokers of two clusters."""
    known = clusters(facts)
    a, b = (known.get(owner.name) if (owner := of_file(facts, file)) else None for file in (one, other))
    return a is not None and b is not None and a != b


def elsewhere(facts: Facts) -> bool:
    """Return whether the evidence names a master of another cluster: one without a store here, called like one with a
    store; where there is no store, one called like another at a different address.
    """
    masters = {(row["broker"], row["address"]) for row in facts.rows("unstored_brokers") if row["broker"]}
    printed = [name for name, _ in masters]
    stored = {broker.printed for broker in all_of(facts) if broker.stored}
    return any(name in stored for name in printed) if facts.has("messages") else len(set(printed)) < len(printed)


def of_each(facts: Facts, files: Iterable[str]) -> bool:
    """Return whether some of these files are there, and of each cluster where brokers of several have one name."""
    every, seen = all_of(facts), set(files)
    owners = {owner.name for file in seen if (owner := of_file(facts, file))}
    return bool(seen) and (all(b.name == b.printed for b in every) or owners >= {b.name for b in every})


def may_be(facts: Facts, file: str, name: str | None) -> bool:
    """Return whether a file may be of the broker of this name: each has queues of the same numbers."""
    broker = of_file(facts, file)
    return broker is None or same(facts, broker.name, name)


def same(facts: Facts, one: str, other: str | None) -> bool:
    """Return whether two names may be of one broker: one is not known, or is the folder of a store without a name."""
    if not one or not other or one == other:
        return True
    nameless = {broker.root for broker in all_of(facts) if broker.name == broker.root}
    return (one in nameless) != (other in nameless)


def same_queue(facts: Facts, one: Queue, other: Queue) -> bool:
    """Return whether two may be one queue: of one topic and number, and perhaps of one broker."""
    return (one[0], one[2]) == (other[0], other[2]) and same(facts, one[1], other[1])


def is_of(facts: Facts, hosts: Hosts, file: str, address: str | None = None) -> bool | None:
    """Return whether a file, and the address it names, is of the broker that stored under `hosts`; None if open: of the
    only broker a file may be whatever address it names.
    """
    if not hosts or (len(all_of(facts)) < 2 and address not in hosts):
        return None
    if address in hosts:
        return True
    stores = addresses(facts)
    if any(address in known for known in stores.values()):
        return False
    nearest = of_file(facts, file)
    near = stores.get(nearest.root) if nearest else None
    return not hosts.isdisjoint(near) if near else None


def of_this(facts: Facts, hosts: Hosts, items: Iterable[tuple[T, str, str | None]]) -> list[T]:
    """Return what concerns the broker at `hosts`, of (what, its file, the address it names).

    Items whose broker is open count only if nothing concerns this broker for certain; those of another broker never do.
    """
    judged = [(what, is_of(facts, hosts, file, address)) for what, file, address in items]
    own = [what for what, ours in judged if ours]
    return own or [what for what, ours in judged if ours is None]


def half_addresses(facts: Facts, broker: str | None = None) -> Hosts:
    """Return the addresses of a broker with half records; without one those of the only such broker, else none."""
    rows = [row for row in facts.rows("store_brokers") if row["halves"] and broker in (None, row["broker"])]
    several = len({row["broker"] for row in rows}) > 1
    return frozenset() if several else frozenset(row["store_host"] for row in rows)


def stretches(facts: Facts) -> list[dict[str, Any]]:
    """Return the table `stretches`: where a record cannot be found, which says nothing about whether it was stored."""
    return facts.rows("stretches") if facts.has("messages") else []


@fold(
    "file string, root string, printed string, broker string, slave boolean, stored boolean",
    "settings", "admin_names", "files", "store_extent", "unstored_brokers",
)  # fmt: skip
def file_brokers(facts: Facts) -> list[dict[str, Any]]:
    """One row per file that belongs to one broker of the evidence: file, root (the folder of its store or
    configuration), printed (its name, else the root), broker (the same, but the root if another cluster's broker has
    that name), slave (null without a configuration of its own), stored (its store is here).
    """
    known = ((item.file, of_file(facts, item.file)) for item in facts.files.items)
    return [{"file": file, "broker": broker.name} | broker._asdict() for file, broker in known if broker]


@fold("file string, store_host string, host string, broker string, halves boolean", "file_hosts")
def store_brokers(facts: Facts) -> list[dict[str, Any]]:
    """One row per commit log file and host that stored records in it: file, store_host, host (as in offset message
    ids), broker (the host that represents it), halves (half or op records are among them).

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
