"""Network and processes of a host: `ip addr`, `ifconfig`, `ss`, `netstat`, `ps`, `jps` → one row per address, socket or
process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from kit.evidence.files import open_readonly

SCHEMA: Final = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int32()),
        ("origin", pa.string()),
        ("interface", pa.string()),
        ("address", pa.string()),
        ("prefix", pa.int32()),
        ("port", pa.int32()),
        ("peer", pa.string()),
        ("state", pa.string()),
        ("process", pa.string()),
    ]
)
"""`origin`: addresses, sockets or processes. `address` an IP without its port, `0.0.0.0` or `::` for every one; `prefix` its bits; `peer` ip:port."""

LIMIT: Final = 16 << 20
"""Bytes of one output that are read."""

_INTERFACE: Final = re.compile(r"^\d+: (?P<name>[\w.:-]+?)(?:@\S+)?: <")
_IFCONFIG: Final = re.compile(r"^(?P<name>[\w.:-]+?):? +(?:flags=\d+<|Link encap:)")
_BRIEF: Final = re.compile(r"^(?P<name>[\w.:@-]+) +(?:UP|DOWN|UNKNOWN) +(?P<rest>[\da-f:.]+/\d+.*)$")
_INET: Final = re.compile(
    r"^\s+inet6? (?:addr: ?)?(?P<address>[\da-fA-F:.]+)(?:/(?P<prefix>\d+))?(?:.*?(?:netmask |Mask:)(?P<mask>\S+))?"
)
_SOCKET: Final = re.compile(
    r"^(?:(?:tcp|udp)6? +)?(?:(?P<state>[A-Z][A-Z0-9-]{3,12}) +)?\d+ +\d+ +(?P<local>\S+:(?:\d+|\*)) +(?P<peer>\S+:(?:\d+|\*))(?: +(?P<late>[A-Z][A-Z0-9_]{3,12}))?(?P<process>.*)$"
)
_PROCESS: Final = re.compile(
    r"(?P<main>org\.apache\.rocketmq\.\w+\.\w+Startup|\b(?:Broker|Namesrv|Controller|Proxy)Startup\b)"
)
_HEAD: Final = re.compile(
    rb"^(?:\d+: [\w.@:-]+: <[A-Z]|[\w.:-]+:? +(?:flags=\d+<|Link encap:)|(?:Netid +)?State +Recv-Q +Send-Q|Proto +Recv-Q +Send-Q"
    rb"|(?:UID|USER|PID) +.*(?:CMD|COMMAND)\s*$|[\w.:@-]+ +(?:UP|DOWN|UNKNOWN) +[\da-f:.]+/\d+|\d+ (?:Broker|Namesrv)Startup\s*$)",
    re.MULTILINE,
)

_LOGGED: Final = re.compile(rb"^\W{0,3}\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\w(?:Exception|Error)\b", re.MULTILINE)


def sniff(head: bytes) -> bool:
    """Return whether a file begins with such an output: with lines of its form, and no log line among the first ones."""
    return not _LOGGED.search(head[:8192]) and bool(
        _HEAD.search(b"\n".join(head[:8192].replace(b"\r", b"").split(b"\n")[:12]))
    )


def read(files: Iterable[tuple[str, str]]) -> pa.Table:
    """Return the rows (`SCHEMA`) of outputs given as (name to show, path)."""
    rows = []
    for name, path in files:
        with open_readonly(path) as stream:
            text = stream.read(LIMIT).decode("utf-8", "backslashreplace")
        rows += [{"file": name, **row} for row in parse(text)]
    return pa.Table.from_pylist(rows, SCHEMA)


def parse(text: str) -> Iterator[dict[str, str | int | None]]:
    """Yield the rows of one output, without `file` and without what the output does not contain."""
    interface = None
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.rstrip("\r ")
        if named := _INTERFACE.match(line) or _IFCONFIG.match(line):
            interface = named["name"]
        elif brief := _BRIEF.match(line):
            name = brief["name"].partition("@")[0]
            for part in brief["rest"].split():
                address, _, digits = part.partition("/")
                prefix = int(digits) if digits.isdecimal() else None
                yield {"line": number, "origin": "addresses", "interface": name, "address": address, "prefix": prefix}
        elif interface and (inet := _INET.match(line)):
            bits = int(inet["prefix"]) if inet["prefix"] else _bits(inet["mask"])
            own = {"interface": interface, "address": inet["address"], "prefix": bits}
            yield {"line": number, "origin": "addresses", **own}
        elif socket := _SOCKET.match(line):
            address, port = _split(socket["local"])
            state = (socket["state"] or socket["late"] or "").replace("ESTABLISHED", "ESTAB") or None
            ends = {"address": address, "port": port, "peer": socket["peer"], "state": state}
            yield {"line": number, "origin": "sockets", **ends, "process": socket["process"].strip() or None}
        elif process := _PROCESS.search(line):
            yield {"line": number, "origin": "processes", "process": process["main"].rpartition(".")[2]}


def _split(socket: str) -> tuple[str, int | None]:
    """Return the address and port of `0.0.0.0:10911`, `*:10911`, `[::]:10911`, `:::10911`, `10.0.0.2%eth0:22`."""
    address, _, port = socket.rpartition(":")
    plain = address.strip("[]").partition("%")[0].removeprefix("::ffff:")
    return {"*": "0.0.0.0", "": "::"}.get(plain, plain), int(port) if port.isdecimal() else None


def _bits(mask: str | None) -> int | None:
    """Return the prefix length of a netmask: `255.255.0.0` or `0xffff0000`."""
    if not mask:
        return None
    try:
        value = int(mask, 16) if mask.startswith("0x") else int.from_bytes(bytes(int(part) for part in mask.split(".")))
    except ValueError:
        return None
    return value.bit_count()
