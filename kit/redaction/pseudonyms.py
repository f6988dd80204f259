"""Pseudonyms: of names, as long as the name and unique; of addresses in any form: dotted, with colons, or in hex at the
start of message ids.

An IPv4 address becomes one of 100.64.0.0/10, an IPv6 address one of 2001:db8::/32, a MAC address one that is locally
administered: none of them is a real one. Ports, process ids, offsets, times and counters of an id stay the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import itertools
import random
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from kit.redaction.forms import HEX
from kit.redaction.ordinary import SHORT
from kit.rocketmq.ids import Address

SPACES: Final = {4: (int(ipaddress.IPv4Address("100.64.0.0")), 22), 6: (int(ipaddress.IPv6Address("2001:db8::")), 96)}
"""By the version of an address: the first pseudonym, and bits below it."""
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def host(text: str) -> tuple[Address | None, str]:
    """Return an address and the port behind it, "" for none: Java prints `/fd00:0:0:0:0:0:0:1:9876`.

    Leading zeros are read as decimal; between the numbers there may be dashes or underscores, as in names of hosts.
    """
    bare, _, port = text.rpartition(":")
    for address, behind in [(text, ""), *([(bare, f":{port}")] if ":" in bare and port.isdigit() else ())]:
        numbers = re.fullmatch(r"(\d+)[._-](\d+)[._-](\d+)[._-](\d+)", address)
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(".".join(str(int(n)) for n in numbers.groups()) if numbers else address), behind
    return None, ""


def says_nothing(ip: Address) -> bool:
    """Return whether every host has this address: loopback, unspecified, broadcast and netmasks."""
    return ip.is_loopback or ip.is_unspecified or (ip.version == 4 and ip.packed[0] == 255)


class Pseudonyms:
    """The pseudonyms of one report. Without the salt nobody can find a name by trying.

    `names`, `addresses`: originals, none of which is ever given out as a pseudonym.
    """

    def __init__(self, salt: bytes, names: Iterable[str], addresses: Iterable[Address]) -> None:
        self._salt = salt
        known = sorted({ip for ip in addresses if not says_nothing(ip)}, key=lambda ip: (ip.version, ip))
        self._originals: set[Any] = {*names, *known}
        self._by_original: dict[Any, Any] = {}
        self._given: set[Any] = set()
        for ip in known:
            self.address(ip)
        self._hex = {ip.packed.hex().upper() for ip in known}
        self._decimal = {str(int(ip)): ip for ip in known if ip.version == 4}

    def _of(self, original: Any, create: Callable[[int], Any]) -> Any:
        """Return the pseudonym of an original; on first use the first that `create` returns and nothing has."""
        if original not in self._by_original:
            attempts = map(create, itertools.count())
            taken = (self._given, self._originals, (original,))
            new = self._by_original[original] = next(n for n in attempts if not any(n in some for some in taken))
            self._given.add(new)
        return self._by_original[original]

    def is_one(self, text: str) -> bool:
        """Return whether a text is one of these pseudonyms."""
        return text in self._given

    def _number(self, kind: str, text: str, attempt: int = 0) -> int:
        """Return 256 bits that depend only on the salt and the text."""
        message = f"{kind}\0{attempt}\0{text}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hmac.digest(self._salt, message, hashlib.sha256), "big")

    # --- names --------------------------------------------------------------------------------------------------------

    def name(self, name: str, kind: str = "key") -> str:
        """Return the pseudonym of a name: as long from four characters on, beginning with its kind if possible."""
        size = len(name) if len(name) > SHORT else 6
        is_number = name.isascii() and name.isdigit() and size == len(name)
        stem = "" if is_number else f"{kind}-" if size >= len(kind) + 7 else kind[0]

        def create(attempt: int) -> str:
            chosen = random.Random(self._number("letters", name, attempt))
            return stem + "".join(chosen.choices("123456789" if is_number else _ALPHABET, k=size - len(stem)))

        return str(self._of(name, create))

    # --- addresses ----------------------------------------------------------------------------------------------------

    def address(self, ip: Address) -> Address:
        """Return the pseudonym of an address; those that say nothing, and pseudonyms, stay."""
        if says_nothing(ip) or ip in self._given:
            return ip
        first, bits = SPACES[ip.version]
        number = self._number
        new: Address = self._of(ip, lambda attempt: type(ip)(first + number("address", str(ip), attempt) % (1 << bits)))
        return new

    def address_text(self, text: str) -> str | None:
        """Return an address in any spelling of `host` replaced, None where the text is not an address."""
        ip, port = host(text)
        if ip is None:
            return None
        mapped = getattr(ip, "ipv4_mapped", None)
        new = f"::ffff:{self.address(mapped)}" if mapped else str(self.address(ip))
        sign = next((sign for sign in "-_" if sign in text), ".")
        return text if new == str(ip) else new.replace(".", sign) + port

    def word(self, word: str) -> str | None:
        """Return a word with the addresses in it replaced, a known one also as one number; None without any."""
        if ip := self._decimal.get(word):
            return str(int(self.address(ip)))
        new = HEX.sub(lambda run: self.hex_run(run.group()), word)
        return None if new == word else new

    def mac(self, text: str) -> str:
        """Return a MAC address as another that is locally administered, with its separators and case kept."""
        digits = re.sub("[:.-]", "", text).lower()
        new = iter("02" + self._number("mac", digits).to_bytes(32, "big")[:5].hex())
        return _cased("".join(each if each in ":.-" else next(new) for each in text), text)

    def hex_run(self, run: str) -> str:
        """Return a run of hex digits with its address replaced: at the head of an id, or any known one."""
        size = len(run)
        if size in (32, 56):
            return self._swap(run, 0, 32 if size == 56 or run.upper() in self._hex else 8)
        if size == 34 and run.startswith("01"):
            return run[:2] + _cased(self.mac(run[2:14]), run) + run[14:]
        # A SHA-256 identifies a file; decimal digits are a time or an offset, unless exactly as long as an address.
        if size == 64 or (run.isdigit() and size != 8):
            return run
        at = 0
        while at + 8 <= size:
            width = next((w for w in (32, 8) if run[at : at + w].upper() in self._hex), None)
            run = self._swap(run, at, width) if width else run
            at += width or 1
        return run

    def _swap(self, run: str, at: int, width: int) -> str:
        ip = ipaddress.ip_address(bytes.fromhex(run[at : at + width]))
        return run[:at] + _cased(self.address(ip).packed.hex(), run) + run[at + width :]


def _cased(new: str, like: str) -> str:
    return new if any(c.islower() for c in like) else new.upper()
