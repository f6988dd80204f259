"""Which file belongs to which broker: by the address it names, and by which stores and configurations are in neighbouring folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final, TypeVar

import attrs

from kit.rocketmq import ids
from kit.tables.facts import Facts, memo

T = TypeVar("T")
_ORIGINS: Final = ("broker.conf", "broker.log", "getBrokerConfig")


@attrs.frozen
class Broker:
    """A broker's place in the evidence. `root`: the folder above `commitlog`, or of its configuration; `name`: brokerName, or the root if that is unknown."""

    root: str
    name: str
    slave: bool = False
    stored: bool = True
    """Whether there is a commitlog in it."""


def root_of(file: str) -> str:
    """Return the folder of a store from the name of one of its commitlog files."""
    folder = PurePosixPath(file).parent
    return str(folder.parent if folder.name == "commitlog" else folder)


def _near(a: str, b: str) -> int:
    """Return how many leading folders two paths share."""
    return len(os.path.commonprefix([PurePosixPath(a).parts, PurePosixPath(b).parts]))  # noqa: RUF071 - whole parts


@memo
def all_of(facts: Facts) -> tuple[Broker, ...]:
    """Return the brokers whose store or configuration is in the evidence, in order of root."""
    said: dict[str, dict[str, str]] = {}
    for row in facts.rows("settings"):
        # A subscription group has its own brokerId: the broker from which it may be read.
        own = row["origin"] in _ORIGINS and not row["backup"]
        if own and row["name"] in ("brokerName", "brokerId", "brokerRole"):
            said.setdefault(row["file"], {})[row["name"]] = (row["value"] or "").strip()
    stores = {root_of(item.file) for item in facts.files.of_kind("commitlog", "dledger")}
    roots = stores or {str(PurePosixPath(file).parent) for file in said}
    found = []
    for root in sorted(roots):
        nearest = max((_near(file, root) for file in said), default=0)
        # A single store belongs to any configuration there is; one of several only to a configuration next to it.
        mine = [said[file] for file in sorted(said) if _near(file, root) == nearest and (nearest or len(roots) == 1)]
        names = {values["brokerName"] for values in mine if values.get("brokerName")}
        slave = any(
            values.get("brokerRole") == "SLAVE" or values.get("brokerId", "0") not in ("0", "") for values in mine
        )
        found.append(
            Broker(root, next(iter(names)) if len(names) == 1 else _named(facts) or root, slave, root in stores)
        )
    return tuple(found)


@memo
def _named(facts: Facts) -> str | None:
    """Return the only broker name in mqadmin outputs, None if they have none or several."""
    if not facts.files.of_mqadmin():
        return None
    named = {row["value"] for row in facts.rows("admin_names") if row["name"] == "#Broker Name"}
    return next(iter(named)) if len(named) == 1 else None


def of_file(facts: Facts, file: str) -> Broker | None:
    """Return the broker a file belongs to, None if several are equally near."""
    known = all_of(facts)
    if len(known) <= 1:
        return known[0] if known else None
    nearest = max(_near(file, broker.root) for broker in known)
    mine = [broker for broker in known if _near(file, broker.root) == nearest]
    return mine[0] if len(mine) == 1 and nearest else None


def names(facts: Facts) -> dict[str, str]:
    """Return {root of a store: name of its broker}."""
    return {broker.root: broker.name for broker in all_of(facts)}


Hosts = frozenset[str]
"""The addresses (`ip:port`) under which one broker stored records; empty if the broker is unknown."""


@memo
def addresses(facts: Facts) -> dict[str, set[str]]:
    """Return {root of a store: addresses (`ip:port`) under which its records were stored}."""
    found: dict[str, set[str]] = {}
    if facts.files.of_kind("commitlog", "dledger"):
        for row in facts.rows("store_extent"):
            found.setdefault(root_of(row["file"]), set()).add(row["store_host"])
    return found


def is_of(facts: Facts, hosts: Hosts, file: str, address: str | None = None) -> bool | None:
    """Return whether a file (and the address it names, `ip:port`) belongs to the broker that stored under `hosts`.

    None if that is open: the file names no address of a known store and is next to none. If there is only one broker, all files are its own.
    """
    if not hosts or (len(all_of(facts)) < 2 and address is None):
        return None
    if address in hosts:
        return True
    stores = addresses(facts)
    if any(address in known for known in stores.values()):
        return False
    nearest = of_file(facts, file)
    near = stores.get(nearest.root) if nearest else None
    return not hosts.isdisjoint(near) if near else None


def of_this(facts: Facts, hosts: Hosts, told: Iterable[tuple[T, str, str | None]]) -> list[T]:
    """Return what concerns the broker at `hosts`, from `told`: (what, its file, the address it names). Items whose broker is
    open count only if nothing concerns this broker for certain; those of another broker never do.
    """
    judged = [(what, is_of(facts, hosts, file, address)) for what, file, address in told]
    own = [what for what, ours in judged if ours]
    return own or [what for what, ours in judged if ours is None]


# --- brokers of half messages --------------------------------------------------------------------------------------------------


def sharing(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return {host: one name for all hosts that are connected through files} of (file, host)."""
    root: dict[str, str] = {}

    def find(node: str) -> str:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for file, host in pairs:
        a, b = find(f"file {file}"), find(f"host {host}")
        root[max(a, b)] = min(a, b)
    return {host: find(f"host {host}") for _, host in pairs}


def half_hosts(facts: Facts) -> dict[str, str]:
    """Return {storing host: the host that represents its broker}, hosts as in offset message ids: the table `half_brokers`."""
    return {row["host"]: row["broker"] for row in facts.rows("half_brokers")}


def half_addresses(facts: Facts, broker: str | None = None) -> Hosts:
    """Return the addresses of a broker (named as in `half_hosts`); without one those of the only broker with half
    messages, none if several have them.
    """
    known = half_hosts(facts)
    if broker is None and len(set(known.values())) != 1:
        return frozenset()
    # A damaged record has no address that could be told from its id.
    places = [ids.tried(host + "0" * 16) for host, its in known.items() if broker in (None, its)]
    return frozenset(place[0] for place in places if place)


# --- what is missing -----------------------------------------------------------------------------------------------------------


def stretches(facts: Facts) -> list[dict[str, Any]]:
    """Return the table `stretches`: what is missing between the first and the last record of each broker's log. A record that lay there cannot be
    found, which says nothing about whether it was stored.
    """
    return facts.rows("stretches") if facts.files.of_kind("commitlog", "dledger") else []
