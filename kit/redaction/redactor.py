"""Stable pseudonyms for whatever names a site: addresses, topics, groups, hosts, keys, bodies, paths; one each.

A `Redactor` knows the names of one evidence set (gathered by `report.redactor_of`) and finds them at word boundaries;
addresses, ids, bodies, paths and whatever is where a key is it knows by their form. A pseudonym is as long as its
original: lengths of names are evidence.
"""

import base64
import contextlib
import functools
import hashlib
import hmac
import ipaddress
import itertools
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from kit.data import grouped
from kit.inventory.model import MAX_TEXT
from kit.redaction import forms as rf
from kit.redaction import ordinary
from kit.redaction.ordinary import SHORT, is_ambiguous, is_ordinary
from kit.rocketmq import names as own
from kit.rocketmq.ids import IN_TEXT, Address

HOMES: Final = ("home", "Users", "user")
"""Folders whose entries are people."""
GONE: Final = "[redacted]"
_NO_VALUE: Final = ("", "true", "false", "null")
_STOCK: Final = frozenset(part for word in ordinary.FOLDERS for part in rf.WORD.findall(word))
"""Words of which RocketMQ's own names of files and folders are made."""
_TAIL: Final = re.compile(rf"(?:\.(?:{'|'.join(sorted(ordinary.EXTENSIONS))}|[0-9]+))*\Z")


def mapped(value: Any, new: Callable[[str, str | None], str], field: str | None = None, *, keys: bool = True) -> Any:
    """Return anything JSON-like in its shape, with texts replaced by `new` of text and column; `keys`: of objects too."""
    if isinstance(value, str):
        return new(value, field)
    if isinstance(value, Mapping):
        if isinstance(value.get("columns"), list) and isinstance(value.get("rows"), list):
            heads = [str(column.get("name")) for column in value["columns"]]
            rows = [[mapped(cell, new, head) for cell, head in zip(row, heads, strict=False)] for row in value["rows"]]
            return {name: rows if name == "rows" else mapped(each, new, name) for name, each in value.items()}
        named = "topic" if field is not None and rf.FIELDS["name"].search(field) else None
        return {
            new(name, named) if keys and isinstance(name, str) else name: mapped(each, new, str(name), keys=keys)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple | set | np.ndarray):
        return [mapped(each, new, field, keys=keys) for each in value]
    if isinstance(value, pd.DataFrame):  # its numbers stay, but for those in a column of keys
        frame = value.astype(
            {name: str for name in value.select_dtypes("integer") if rf.FIELDS["key"].search(str(name))}
        )
        for name in frame.select_dtypes(["object", "string", "category"]):
            frame[name] = pd.Series([mapped(cell, new, str(name)) for cell in frame[name]], frame.index, dtype=object)
        return frame.set_axis([mapped(name, new) for name in frame.columns], axis="columns")
    return value


class Redactor:
    """The mapping of one report. Not thread-safe: new originals are added."""

    def __init__(self, salt: bytes, names: Mapping[str, str] | None = None, exact: Collection[str] = ()) -> None:
        """Take names (name → kind: topic, group, broker, cluster, host, client, key, value, dir, app, address).

        `exact`: paths that are also replaced as whole strings, and their parts wherever they are.
        """
        kinds = dict(sorted((names or {}).items()))
        self._pseudonyms = Pseudonyms(salt, kinds)
        self.pseudonym, self.is_pseudonym = self._pseudonyms.name, self._pseudonyms.given.__contains__
        self._replacements: dict[str, Callable[[str], str | None]] = {
            "redacted": lambda original: GONE,
            "quoted": lambda original: rf.PATTERNS["quoted"].sub(rf"\1{GONE}\2", original, count=1),
            "value": lambda original: original if self.is_pseudonym(original) else self.pseudonym(original, "value"),
            "address": self._pseudonyms.address_text,
            "mac": self._pseudonyms.mac,
            "web": self.path,
            "properties": self._properties,
            "dotted": self._dotted,
            "key": lambda original: None if rf.PATTERNS["quad"].search(original) else self._key(original),
            "word": self._pseudonyms.word,
            "packed": self._packed,
            "itself": lambda original: original,
            "pieces": lambda original: None,
        }
        """What a form of `forms.yaml` becomes; None: it is searched for shorter forms."""
        self.names = {name: self._pseudonyms.name(name, kind) for name, kind in kinds.items() if kind != "address"}
        # A cell of a table may be any word of a Chinese sentence.
        self._cells = {name for name, kind in kinds.items() if kind == "value" and not re.search("[A-Za-z0-9]", name)}
        self._index()
        self.exact = {path: self.path(path) for path in sorted(exact)}
        for path, new in self.exact.items():
            parts = zip(_parts(path)[::2], _parts(new)[::2], strict=False)
            for old, its in ((path, new), *((_stem(old)[0], _stem(its)[0]) for old, its in parts)):
                if old != its and len(old) > SHORT:
                    self.names[old] = self._pseudonyms.by_original.setdefault(old, its)
        self._index()
        self.text = functools.cache(self._replaced)
        """Returns a text with all originals replaced. `field`: its column or JSON field if it is a whole cell."""

    def _index(self) -> None:
        """Enter each name under its first word."""
        found = ((rf.WORD.search(name), -len(name)) for name in self.names.keys() - self._cells)
        shapes = grouped((word.group(), (size, word.start())) for word, size in found if word)
        self._shapes = {word: sorted(set(each)) for word, each in shapes.items()}

    def value(self, value: Any, *, is_figure: bool = False) -> Any:
        """Return anything JSON-like or a frame with its texts replaced; the names of a figure's fields are plotly's."""
        kept = rf.KEPT["figure" if is_figure else "findings"]
        return mapped(value, lambda text, its: text if its in kept else self.text(text, its), keys=not is_figure)

    # --- texts --------------------------------------------------------------------------------------------------------

    def _replaced(self, text: str, field: str | None = None) -> str:
        if text in self.exact:
            return self.exact[text]
        if field is not None:
            if rf.FIELDS["position"].search(field) and text.isdigit():
                return text
            if rf.FIELDS["part"].search(field):
                return re.sub("[^ ;]+", lambda part: self.pseudonym(part.group(), "value"), text)
            if rf.FIELDS["key"].search(field):
                return re.sub(r"\S+", lambda token: self._key(token.group()), text)
            if rf.FIELDS["name"].search(field) and text in self.names:
                return self.names[text]
        # Of a word only the beginning is left, perhaps of a name, an address or an id.
        cut = text if "…" in text or len(text) != MAX_TEXT else text + "…"
        whole = rf.PATTERNS["cut"].sub(lambda hit: hit[0] if is_ordinary(hit[0]) or hit[0].isdigit() else "", cut)
        plain, signs = rf.opened(whole, self._shapes)
        new = self._joined(plain, rf.ANY)
        for spelled, sign in signs.items():
            new = new.replace(sign, spelled)
        return new

    def _joined(self, text: str, forms: rf.Pattern) -> str:
        return "".join(old if new is None else new for old, new in self._pieces(text, forms))

    def _pieces(self, text: str, forms: rf.Pattern) -> Iterator[tuple[str, str | None]]:
        """Yield the text in pieces (original, replacement); None where a piece stays."""
        done = at = 0
        while (hit := forms.search(text, at)) is not None:
            tried: re.Match[str] | None = hit
            while tried is not None:
                form = str(tried.lastgroup)
                start, end, new = self._form(text, tried, done)
                if new is not None:
                    yield text[done:start], None
                    yield text[start:end], new
                    done = at = end
                    break
                # A word is not looked into; of another form the rest may be one.
                at = end if form == "word" else hit.start() + 1
                tried = rf.after(form).match(text, hit.start())
        yield text[done:], None

    def _form(self, text: str, hit: re.Match[str], done: int) -> tuple[int, int, str | None]:
        """Return where a match begins and ends, and its replacement (None: it stays)."""
        start, name = hit.start(), str(hit.lastgroup)
        form, begin = rf.FORMS[name], hit.end(f"head_{name}")
        if form.named:
            # Behind a head, what has a form of its own is replaced by that.
            at = rf.ANY.match(text, begin) if begin > start else hit
            its = str(at.lastgroup) if at else "word"
            known = self._name_at(text, begin, done, expected=begin > start) if rf.FORMS[its].named else None
            # A path that begins with a name goes on behind it.
            if known and (name != "absolute" or known[1] >= hit.end()):
                return known
            if begin > start and its not in ("word", "dotted", "packed"):
                return start, begin, None
        new = self._replacements[form.becomes](text[begin : hit.end()])
        return start, hit.end(), None if new is None else self._joined(text[start:begin], rf.WORDS) + new

    def _name_at(self, text: str, start: int, done: int, *, expected: bool = False) -> tuple[int, int, str] | None:
        """Return the longest known name whose first word begins here; where none is `expected`, no ambiguous one."""
        word = rf.WORD.search(text, start)
        for size, lead in self._shapes.get(word.group(), ()) if word else ():
            begin = word.start() - lead  # type: ignore[union-attr]
            end = begin - size
            name = text[begin:end]
            inside = any(re.fullmatch("[A-Za-z0-9]{2}", text[max(0, at - 1) : at + 1]) for at in (begin, end))
            if begin >= done and name in self.names and not inside:  # no word goes on at either side
                is_alone = text[max(begin - 1, 0) : begin] in " \t\"'[(" and text[end : end + 1] in " \t\"'])|,"
                is_number = name.isdigit() and len(name) >= 5 and is_alone
                if expected or is_number or not is_ambiguous(name):
                    more = rf.PATTERNS["below"].match(text, end)[0] if name.startswith("/") else ""  # type: ignore[index]
                    return begin, end + len(more), self.names[name] + self.path(more)
        return None

    # --- what the forms become ----------------------------------------------------------------------------------------

    def _key(self, token: str) -> str:
        """Return the replacement of a token where a key is expected: ids stay ids, harmless words stay."""
        if token not in self.names and IN_TEXT.fullmatch(token):
            return self._pseudonyms.hex_run(token)
        stays = token in _NO_VALUE or is_ordinary(token) or not rf.WORD.search(token)
        return token if stays and token not in self.names else self.pseudonym(token, "key")

    def _properties(self, text: str) -> str:
        """Return printed properties: RocketMQ's keep their values but for keys and names, a user's get pseudonyms."""
        head, _, inner = text.partition("{")
        return head + "{" + ", ".join(map(self._property, inner.split(", ")))

    def _property(self, part: str) -> str:
        name, sign, value = part.partition("=") if "=" in part else ("", "", part)
        stays = name in own.PROPERTIES or value.strip() in _NO_VALUE
        return name + sign + (self.text(value, name) if stays else self.pseudonym(value, "value"))

    def _dotted(self, text: str) -> str | None:
        """Return a package or a host with dots replaced, part by part."""
        if text.startswith(ordinary.VENDORS) or text.rpartition(".")[2] in ordinary.EXTENSIONS:
            return None
        return ".".join(
            part if part in ordinary.LABELS else self._pseudonyms.address_text(part) or self.pseudonym(part, "app")
            for part in text.split(".")
        )

    def _packed(self, text: str) -> str | None:
        """Return that Base64 is gone if what it packs would be replaced."""
        with contextlib.suppress(ValueError):
            plain = base64.b64decode(text + "==", "-_").decode()
            return None if self.text(plain) == plain else GONE
        return None

    # --- paths --------------------------------------------------------------------------------------------------------

    def path(self, text: str) -> str:
        """Return a path or address of the web with every part replaced that is not RocketMQ's own."""
        whole = re.match(r"[/\\~]|[A-Za-z]+:", text) is not None
        parts = _parts(text)
        return "".join(
            part if n % 2 else self._segment(part, whole, n >= 2 and parts[n - 2] in HOMES)
            for n, part in enumerate(parts)
        )

    def _segment(self, part: str, whole: bool, home: bool) -> str:
        """Return one part of a path; only in a `whole` one may short names be people's and hosts'."""
        stays = part.isdigit() or part in ordinary.FOLDERS or (whole and rf.PATTERNS["scheme"].fullmatch(part))
        if (stays and not home) or not part.strip(".~!") or (len(part) < SHORT and not whole):
            return part
        pieces = list(self._pieces(part, rf.PLAIN))
        left = "\0".join(old for old, new in pieces if new is None)
        if not home and _STOCK.issuperset(w for w in rf.WORD.findall(left) if not re.fullmatch("[0-9]+", w)):
            return "".join(old if new is None else new for old, new in pieces)
        stem, tail = _stem(part)
        return self.pseudonym(stem, "dir") + tail


def _parts(path: str) -> list[str]:
    """Return the parts of a path and, every second, what is between; where slashes part, a backslash is of a name.

    What an address of the web asks for is left out.
    """
    return re.split(r"(:/+|/)" if "/" in path and "://" not in path else r"(:/+|[/\\])", path.partition("?")[0])


def _stem(part: str) -> tuple[str, str]:
    """Return the stem of a file name and its known extensions."""
    tail = _TAIL.search(part, 1)[0]  # type: ignore[index]
    return part.removesuffix(tail), tail


# --- pseudonyms -------------------------------------------------------------------------------------------------------

SPACES: Final[dict[int, Any]] = {4: ipaddress.ip_network("100.64.0.0/10"), 6: ipaddress.ip_network("2001:db8::/32")}
"""By the version of an address: its pseudonyms. None is a real one."""
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def host(text: str) -> tuple[Address | None, str]:
    """Return an address and the port behind it, "" for none: Java prints `/fd00:0:0:0:0:0:0:1:9876`."""
    bare, _, port = text.rpartition(":")
    for address, behind in [(text, ""), *([(bare.strip("[]/"), f":{port}")] if port.isdigit() else ())]:
        # Leading zeros are read as decimal; names of hosts have dashes or underscores between the numbers.
        numbers = re.fullmatch(r"(\d+)[._-](\d+)[._-](\d+)[._-](\d+)", address)
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(".".join(str(int(n)) for n in numbers.groups()) if numbers else address), behind
    return None, ""


class Pseudonyms:
    """The pseudonyms of one report. Without the salt nobody can find a name by trying."""

    def __init__(self, salt: bytes, kinds: Mapping[str, str]) -> None:
        self._salt = salt
        addresses = {ip for text, kind in kinds.items() if kind == "address" and (ip := host(text)[0])}
        self._originals: set[Any] = {*kinds, *addresses}
        """None of these is ever given out as a pseudonym."""
        self.by_original: dict[Any, Any] = {}
        self.given: set[Any] = set()
        for ip in sorted(addresses, key=lambda ip: (ip.version, ip)):
            self.address(ip)
        self._hex = {ip.packed.hex().upper() for ip in self.by_original}
        self._decimal = {str(int(ip)): ip for ip in self.by_original if ip.version == 4}

    def _of(self, original: Any, create: Callable[[int], Any]) -> Any:
        """Return the pseudonym of an original; on first use the first that `create` returns and nothing has."""
        if original not in self.by_original:
            self._originals.add(original)
            attempts = map(create, itertools.count())
            new = next(each for each in attempts if each not in self.given and each not in self._originals)
            self.by_original[original] = new
            self.given.add(new)
        return self.by_original[original]

    def _number(self, kind: str, text: str, attempt: int = 0) -> int:
        """Return 256 bits that depend only on the salt and the text."""
        message = f"{kind}\0{attempt}\0{text}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hmac.digest(self._salt, message, hashlib.sha256), "big")

    def name(self, name: str, kind: str = "key") -> str:
        """Return the pseudonym of a name: as long from four characters on, beginning with its kind if possible."""
        size = len(name) if len(name) > SHORT else 6
        is_number = name.isascii() and name.isdigit() and size == len(name)
        stem = "" if is_number else f"{kind}-" if size >= len(kind) + 7 else kind[0]

        def create(attempt: int) -> str:
            chosen = random.Random(self._number("letters", name, attempt))
            return stem + "".join(chosen.choices("123456789" if is_number else _ALPHABET, k=size - len(stem)))

        return str(self._of(name, create))

    def address(self, ip: Address) -> Address:
        """Return the pseudonym of an address; what every host has (netmasks too) and pseudonyms stay."""
        if ip.is_loopback or ip.is_unspecified or (ip.version == 4 and ip.packed[0] == 255) or ip in self.given:
            return ip
        space = SPACES[ip.version]
        new: Address = self._of(ip, lambda n: space[self._number("address", str(ip), n) % space.num_addresses])
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
        new = rf.PATTERNS["hex"].sub(lambda run: self.hex_run(run.group()), word)
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
            return run[:2] + self.mac(run[2:14]) + run[14:]
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
