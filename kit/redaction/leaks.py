"""The check before a redacted report is written: which originals would a reader of each file still see?

It shares no code with the redactor but the policy of what is ambiguous: it gathers the originals itself, opens every
file as its readers do (JSON values, CSV cells, notebook outputs, the page's texts and attributes), and looks for
originals by plain search and for addresses, mail and secrets by its own forms.
"""

from __future__ import annotations

import csv
import html
import io
import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from kit import data
from kit.i18n import CATALOGUE, LANGS
from kit.redaction import ordinary
from kit.redaction.ordinary import is_ambiguous
from kit.report import manifest

if TYPE_CHECKING:
    from kit.case.case import Case

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

TOKEN: Final = re.compile(r"[A-Za-z0-9_]+|[^\W\x00-\x7f]+")
_PIECE: Final = re.compile(r"[A-Za-z0-9]+")
_ESCAPED: Final = re.compile(r"\\+(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4})")
"""Line ends and control characters as JSON and the kit spell them: they end a word, as they did before."""
PSEUDONYMOUS: Final = tuple(
    ipaddress.ip_network(net)
    for net in ("100.64.0.0/10", "127.0.0.0/8", "2001:db8::/32", "::/127", "0.0.0.0/32", "255.0.0.0/8")
)
"""Where pseudonyms of addresses come from, and addresses that every host has."""

_DATA: Final = data.read("redaction/leaks.yaml", dict[str, Any])
_FORMS: Final = {name: re.compile(form) for name, form in _DATA["forms"].items()}
_DIGEST: Final = re.compile(r"\b[0-9a-f]{64}\b|sha256-[A-Za-z0-9+/=]+")
_OPAQUE: Final = re.compile(r"^data:image/.*$")
_FIXED: Final = frozenset({"bdata", "sha256", "findings_sha256", "manifest_sha256", "kit_version"})


@attrs.frozen
class Originals:
    """What must not appear anywhere: names as in the evidence, and addresses."""

    names: frozenset[str]
    addresses: frozenset[Address]


def of(case: Case, files: Iterable[Path], more: Iterable[str] = ()) -> Originals:
    """Gather the originals of a case whose first word is anywhere in these files: a hundred million keys are never held
    at once.

    `more`: paths of this machine.
    """
    words = {token for path in files for text in texts(path) for token in TOKEN.findall(text)}
    found: set[str] = set()
    addresses: set[Address] = set()
    for value in (*more, *_values(case)):
        for part in {value, *value.split(), value.rpartition("%")[2]}:
            bare = part.strip(" \t\"'/[]")
            ip = _address(bare)
            token = TOKEN.search(bare)
            if ip is not None:
                addresses.add(ip)
            elif token and token.group() in words and not is_ambiguous(bare) and not ordinary.is_stock(bare):
                found.add(bare)
    return Originals(frozenset(found), frozenset(ip for ip in addresses if not _is_nobodys(ip)))


def _is_nobodys(ip: Address) -> bool:
    return any(ip in net for net in PSEUDONYMOUS if net.version == ip.version)


def _address(text: str) -> Address | None:
    for candidate in (text, text.rpartition(":")[0].strip("[]")):
        try:
            return ipaddress.ip_address(candidate)
        except ValueError:
            continue
    return None


def _values(case: Case) -> Iterator[str]:
    for query in _DATA["originals"]:
        yield from (row[0] for row in case.sql(f"select distinct {query}").toLocalIterator() if row[0])
    for row in case.sql(f"select distinct {_DATA['settings']}").collect():
        for part in re.split("[;,]", row.value or ""):
            yield from (word for place, word in enumerate(part.split()) if not place or "." in word or ":" in word)


# --- reading a file as its readers do ---------------------------------------------------------------------------------


def texts(path: Path) -> Iterator[str]:
    """Yield every text of evidence in a file of a report, without plotly's code, packed numbers and prose."""
    raw = path.read_text(encoding="utf-8", errors="replace")
    try:
        if path.suffix == ".json":
            yield from _strings(json.loads(raw))
        elif path.suffix == ".ipynb":
            book = json.loads(raw)
            yield from _strings([cell.get("outputs") for cell in book["cells"]])
            yield from _strings(book["metadata"])
            injected = (cell for cell in book["cells"] if "injected-parameters" in cell["metadata"].get("tags", ()))
            yield from (str(cell["source"]) for cell in injected)
        elif path.suffix == ".csv":
            yield from (cell for row in csv.reader(io.StringIO(raw)) for cell in row)
        elif path.suffix == ".html":
            page = _Page()
            page.feed(raw)
            yield from page.found
        else:
            yield raw
    except (ValueError, KeyError, csv.Error):
        yield raw


def _strings(value: Any, field: str | None = None) -> Iterator[str]:
    if field in _FIXED:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _strings(each, str(name))
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, field)


class _Page(HTMLParser):
    """Texts and attributes of a page, and the JSON of its data blocks; styles and code stay out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._inside: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self._inside = None
        if tag == "style" or tag == "script":
            self._inside = "data" if about.get("type") == "application/json" else "code"
        else:
            said = (value for name, value in attrs if value and name not in ("class", "style", "content"))
            self.found.extend(value for value in said if not _OPAQUE.match(value))

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside == "data":
            self.found.extend(_strings(json.loads(data)))
        elif self._inside is None and not data.isspace():
            self.found.append(data)


# --- searching --------------------------------------------------------------------------------------------------------


def kind(path: Path, originals: Originals, own: Callable[[str], bool] = lambda text: False) -> str | None:
    """Return the kind of the first original in a file (a key of `_FORMS`, or `name`), None if absent.

    `own`: recognises pseudonyms. What the page itself says, its headings and explanations, may use any single word.
    """
    spoken = _spoken() if path.suffix == ".html" else frozenset()
    wanted = Originals(frozenset(name for name in originals.names if name not in spoken), originals.addresses)
    return next((found for text in texts(path) if (found := leak(text, wanted, own)) is not None), None)


@cache
def _spoken() -> frozenset[str]:
    return frozenset(word for text in CATALOGUE for lang in LANGS for word in TOKEN.findall(text.in_(lang)))


@cache
def _own_versions() -> frozenset[str | None]:
    """Return the versions that a report names: 17.0.21.1 is a Java, although it looks like an address."""
    return frozenset(manifest.versions().values())


def leak(text: str, originals: Originals, own: Callable[[str], bool] = lambda text: False) -> str | None:
    """Return the kind of the first original in a text, None if absent."""
    text = _DIGEST.sub(" ", html.unescape(_ESCAPED.sub(" ", text)))
    for form, pattern in _FORMS.items():
        for hit in pattern.finditer(text):
            if form == "address":
                ip = _address(hit[1] or hit[3] or hit[2].replace("-", "."))
                is_own = hit[1] in _own_versions() or ip is None or _is_nobodys(ip)
            else:
                said = hit[hit.lastindex or 0]
                # A name that goes on, as `key-1x2y-retry` does, is the pseudonym and what was behind it.
                is_own = any(own(said[: end + 1]) for end in range(len(said)))
            if not is_own:
                return form
    upper = text.upper()
    for ip in originals.addresses:
        hexed = ip.packed.hex().upper()
        is_hexed = any(_stands(each, upper, heads=True) for each in (hexed, f"0X{hexed}"))
        if is_hexed or _stands(str(ip), text) or (ip.version == 4 and _stands(str(int(ip)), text)):
            return "address"
    pieces = {part for token in TOKEN.findall(text) for part in (token, *_PIECE.findall(token))}
    for name in originals.names:
        if all(part in pieces for part in _PIECE.findall(name)) and _stands(name, text):
            return "name"
    return None


def _stands(name: str, text: str, *, heads: bool = False) -> bool:
    """Return whether a name stands alone in a text; with `heads` more may follow, as after an address in an id."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        closed = not (before.isascii() and before.isalnum() and name[0].isalnum())
        if closed and (heads or not (after.isascii() and after.isalnum() and name[-1].isalnum())):
            return True
        at = text.find(name, at + 1)
    return False
