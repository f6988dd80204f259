"""Addresses: their kinds, those of a broker's host, and its listening sockets."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Final, Literal

import attrs

from kit.case.memoize import per_case
from kit.rocketmq.config import DOCKER_BRIDGE

if TYPE_CHECKING:
    from kit.case.case import Case


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


@per_case
def own_addresses(case: Case) -> list[Own]:
    """Return the addresses that `ip addr` and `ifconfig` outputs list, without IPv6 link-local ones."""
    found = []
    for row in case.fact_rows("host_addresses"):
        try:
            ip = ipaddress.ip_address(row["address"])
        except ValueError:
            continue
        if row["origin"] == "addresses" and not ip.is_link_local:
            found.append(Own(row["address"], row["interface"] or "", row["prefix"], row["file"], row["line"]))
    return found


def listening(case: Case, number: int) -> list[tuple[str, str, int]]:
    """Return (address, file, line) of the sockets that listen on a port; `0.0.0.0` and `::` are every address."""
    return [
        (row["address"], row["file"], row["line"])
        for row in case.fact_rows("host_addresses")
        if row["origin"] == "sockets" and row["port"] == number
    ]
