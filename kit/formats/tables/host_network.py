"""Network of a host: `ip addr` and `ss` → one row per address or socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kit.formats.patterns import byte_patterns, patterns
from kit.formats.values import integer

LINES: Final = patterns("network")
HEADS: Final = byte_patterns("network_heads")


def sniff(head: bytes) -> bool:
    """Return whether a file begins with such an output, and no log line is among the first ones."""
    head = head[:8192]
    return not HEADS["logged"].search(head) and bool(
        HEADS["head"].search(b"\n".join(head.replace(b"\r", b"").split(b"\n")[:12]))
    )


def parse(text: str) -> Iterator[dict[str, str | int | None]]:
    """Yield the rows of `network` in one output, without what it does not contain."""
    interface = None
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.rstrip("\r ")
        row: dict[str, str | int | None] = {"line": number, "origin": "addresses"}
        if named := LINES["interface"].match(line):
            interface = named["name"]
        elif brief := LINES["brief"].match(line):
            for part in brief["rest"].split():
                address, _, prefix = part.partition("/")
                name = brief["name"].partition("@")[0]
                yield row | {"interface": name, "address": address, "prefix": integer(prefix, 32)}
        elif interface and (inet := LINES["inet"].match(line)):
            prefix = inet["prefix"] or ""
            yield row | {"interface": interface, "address": inet["address"], "prefix": integer(prefix, 32)}
        elif socket := LINES["socket"].match(line):
            address, port = _split(socket["local"])
            ends = {"address": address, "port": port, "peer": socket["peer"], "state": socket["state"]}
            yield row | {"origin": "sockets", **ends, "process": socket["process"].strip() or None}


def _split(socket: str) -> tuple[str, int | None]:
    """Return the address and port of `0.0.0.0:10911`, `*:10911`, `[::]:10911`, `10.0.0.2%eth0:22`."""
    address, _, port = socket.rpartition(":")
    plain = address.strip("[]").partition("%")[0].removeprefix("::ffff:")
    return {"*": "0.0.0.0", "": "::"}.get(plain, plain), integer(port, 32)
