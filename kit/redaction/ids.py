"""Pseudonyms: of names, as long as the name and unique; of addresses in any form: dotted, with colons, or in hex at the start of message ids.

An IPv4 address becomes one of 100.64.0.0/10, an IPv6 address one of 2001:db8::/32, a MAC address one that is locally administered: none of them is
a real one. Ports, process ids, offsets, times and counters of an id stay the same.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import random
import re
from collections.abc import Iterable
from typing import Final

import attrs

from kit.redaction.ordinary import SHORT
from kit.rocketmq.ids import Address

V4_SPACE: Final = int(ipaddress.IPv4Address("100.64.0.0"))
V4_BITS: Final = 22
V6_SPACE: Final = int(ipaddress.IPv6Address("2001:db8::"))
V6_BITS: Final = 96

DIGEST: Final = 64
"""Hex digits of a SHA-256: what identifies an evidence file is no id."""
HEX: Final = re.compile(r"[0-9A-Fa-f]{8,}")
QUAD: Final = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d)")

DASHED: Final = re.compile(
    r"(?<!\d)(?<!\d[-_])\d{1,3}(?P<dash>[-_])\d{1,3}(?P=dash)\d{1,3}(?P=dash)\d{1,3}(?!\d|[-_]\d)"
)
"""An address inside the name of a host: `ip-10-1-2-3`."""

COLONS: Final = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:][0-9A-Fa-f:.]{1,44}(?![\w:])", re.ASCII
)
"""What may be an IPv6 address; times of day look like one from afar."""

_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@attrs.frozen
class Secret:
    """The secret of this evidence's pseudonyms: without the salt nobody can find a name by trying."""

    salt: bytes

    def number(self, kind: str, text: str, attempt: int = 0) -> int:
        """Return 256 bits that depend only on the salt and the text."""
        return int.from_bytes(
            hmac.digest(self.salt, f"{kind}\0{attempt}\0{text}".encode("utf-8", "surrogatepass"), hashlib.sha256), "big"
        )

    def letters(self, text: str, size: int, attempt: int = 0, alphabet: str = _ALPHABET) -> str:
        """Return `size` characters of the alphabet."""
        return "".join(random.Random(self.number("letters", text, attempt)).choices(alphabet, k=size))


def parsed(text: str) -> Address | None:
    """Parse an address; leading zeros are read as decimal."""
    try:
        return ipaddress.ip_address(
            ".".join(str(int(part)) for part in text.split(".")) if QUAD.fullmatch(text) else text
        )
    except ValueError:
        return None


def host(text: str) -> tuple[Address | None, str]:
    """Return an address and the port behind it, "" for none: Java prints `/fd00:0:0:0:0:0:0:1:9876`."""
    bare, colon, port = text.rpartition(":")
    ip = parsed(text)
    if ip is None and ":" in bare and port.isdigit():
        return parsed(bare), colon + port
    return ip, ""


def says_nothing(ip: Address) -> bool:
    """Return whether every host has this address: loopback, unspecified, broadcast and netmasks."""
    return ip.is_loopback or ip.is_unspecified or (ip.version == 4 and ip.packed[0] == 255)


class Addresses:
    """The mapping of one report. `known`: every address of the evidence that is to be shown; none of them is ever given out as a pseudonym."""

    def __init__(self, secret: Secret, known: Iterable[Address] = ()) -> None:
        self._secret = secret
        self.originals: set[Address] = {ip for ip in known if not says_nothing(ip)}
        self._given: dict[Address, Address] = {}
        self._taken: set[Address] = set()
        for ip in sorted(self.originals, key=lambda ip: (ip.version, ip)):
            self.of(ip)
        self._hex = {ip.packed.hex().upper() for ip in self.originals}
        self._decimal = {str(int(ip)): ip for ip in self.originals if ip.version == 4}

    def of(self, ip: Address) -> Address:
        """Return the pseudonym of an address; those that say nothing, and pseudonyms, stay."""
        given = self._given.get(ip)
        if given is not None:
            return given
        if says_nothing(ip) or ip in self._taken:
            return ip
        attempt = 0
        while (made := self._made(ip, attempt)) in self._taken or made in self.originals or made == ip:
            attempt += 1
        self._given[ip] = made
        self._taken.add(made)
        return made

    def _made(self, ip: Address, attempt: int) -> Address:
        number = self._secret.number("address", str(ip), attempt)
        if ip.version == 4:
            return ipaddress.IPv4Address(V4_SPACE + number % (1 << V4_BITS))
        return ipaddress.IPv6Address(V6_SPACE + number % (1 << V6_BITS))

    def text(self, text: str) -> str | None:
        """Return an address in its usual form replaced, None where the text is not an address."""
        ip, port = host(text)
        if ip is None:
            return None
        mapped = getattr(ip, "ipv4_mapped", None)
        if mapped is not None:
            return f"::ffff:{self.of(mapped)}{port}"
        new = self.of(ip)
        return text if new == ip else f"{new}{port}"

    def dashed(self, text: str) -> str | None:
        """Return the address in a host name such as `ip-10-1-2-3` replaced, None where it is not one."""
        sign = "-" if "-" in text else "_"
        new = self.text(text.replace(sign, "."))
        return None if new is None or new == text.replace(sign, ".") else new.replace(".", sign)

    def decimal(self, number: str) -> str | None:
        """Return a known address written as one number replaced, None for any other number."""
        ip = self._decimal.get(number)
        return None if ip is None else str(int(self.of(ip)))

    def mac(self, raw: bytes) -> bytes:
        """Return six other bytes, marked as locally administered."""
        return b"\x02" + self._secret.number("mac", raw.hex()).to_bytes(32, "big")[:5]

    def mac_text(self, text: str) -> str:
        """Return a MAC address with its separators and case kept."""
        new = self.mac(bytes.fromhex(re.sub("[:.-]", "", text))).hex(*(".", 2) if "." in text else text[2])
        return new if text == text.lower() else new.upper()

    def hex_run(self, run: str) -> str:
        """Return a run of hex digits with the address in it replaced: at the head of an id, or any known one in a run of another length."""
        size = len(run)
        if size == DIGEST:
            return run
        if size == 56 or (size == 32 and run.upper() in self._hex):
            return self._swap(run, 0, 32)
        if size == 32:
            return self._swap(run, 0, 8)
        if size == 34 and run.startswith("01"):
            return run[:2] + _cased(self.mac(bytes.fromhex(run[2:14])).hex(), run) + run[14:]
        return self._anywhere(run)

    def _anywhere(self, run: str) -> str:
        # A number of decimal digits only is a time or an offset, unless it is exactly as long as an address.
        if run.isdigit() and len(run) != 8:
            return run
        at = 0
        while at + 8 <= len(run):
            width = next((w for w in (32, 8) if run[at : at + w].upper() in self._hex), None)
            if width:
                run = self._swap(run, at, width)
            at += width or 1
        return run

    def _swap(self, run: str, at: int, width: int) -> str:
        ip = ipaddress.ip_address(bytes.fromhex(run[at : at + width]))
        return run[:at] + _cased(self.of(ip).packed.hex(), run) + run[at + width :]


def _cased(new: str, like: str) -> str:
    return new if any(c.islower() for c in like) else new.upper()


KINDS: Final = ("topic", "group", "broker", "cluster", "host", "client", "key", "value", "dir", "app")
"""What a name is; its pseudonym begins so where there is room."""


class Pseudonyms:
    """The pseudonyms in use. `taken`: originals, which are never used as pseudonyms."""

    def __init__(self, secret: Secret, taken: Iterable[str]) -> None:
        self._secret = secret
        self._coined: dict[str, str] = {}
        self._taken = set(taken)
        self._given: set[str] = set()

    def of(self, name: str, kind: str = "key") -> str:
        """Return the pseudonym of a name, created on first use: as long as the name, from four characters on."""
        if name not in self._coined:
            attempt = 0
            while (made := self._letters(name, kind, attempt)) in self._taken:
                attempt += 1
            self._taken.add(made)
            self._given.add(made)
            self._coined[name] = made
        return self._coined[name]

    def is_one(self, text: str) -> bool:
        """Return whether a text is one of these pseudonyms."""
        return text in self._given

    def _letters(self, name: str, kind: str, attempt: int) -> str:
        size = len(name) if len(name) > SHORT else 6
        if name.isascii() and name.isdigit() and size == len(name):
            return "123456789"[self._secret.number("digit", name, attempt) % 9] + self._secret.letters(
                name, size - 1, attempt, "0123456789"
            )
        stem = f"{kind}-" if size >= len(kind) + 7 else kind[0]
        return stem + self._secret.letters(name, size - len(stem), attempt)
