"""Outputs of ip and ss as hosts print them."""

from typing import Any

from table import rows_of

from kit.formats.tables import host_network

IP_ADDR = rows_of(__file__, "ip_addr")
SS = rows_of(__file__, "ss")


def rows(text: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row.get(name) for name in names) for row in host_network.parse(text)]


def test_addresses() -> None:
    expected = [("lo", "127.0.0.1", 8, 2), ("eth0", "10.20.109.11", 16, 5), ("docker0", "172.17.0.3", 16, 7)]
    assert rows(IP_ADDR, "interface", "address", "prefix", "line") == expected
    assert rows(IP_ADDR.replace("\n", "\r\n"), "interface", "address", "prefix", "line") == expected
    assert rows("eth0@if12  UP  10.0.0.3/24 fe80::1/64 \n", "interface", "address", "prefix") == [
        ("eth0", "10.0.0.3", 24),
        ("eth0", "fe80::1", 64),
    ]


def test_sockets() -> None:
    told = rows(SS, "address", "port", "peer", "state")
    assert told == [
        ("0.0.0.0", 10912, "0.0.0.0:*", "LISTEN"),
        ("0.0.0.0", 10911, "*:*", "LISTEN"),
        ("10.0.0.2", 10911, "[::ffff:10.0.0.9]:5123", "ESTAB"),
    ]
