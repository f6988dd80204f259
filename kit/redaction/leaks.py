"""The check before a redacted report is written: which originals would a reader of each file still see?

It shares no code with the redactor but the policy of what is ambiguous: it gathers the originals itself, opens every
file as its readers do (JSON values, CSV cells, notebook outputs, the page's texts and attributes), and looks for
originals by plain search and for addresses, mail and secrets by its own forms.
"""

import base64
import contextlib
import csv
import html
import io
import ipaddress
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import attrs
import click
from ahocorasick_rs import AhoCorasick

from kit import data
from kit.case.case import Case
from kit.i18n import CATALOGUE, LANGS, Lang, T, labels
from kit.redaction import ordinary
from kit.rocketmq.ids import Address

KINDS: Final = labels("redaction")["kinds"]
TOKEN: Final = re.compile(r"[A-Za-z0-9_]+|[^\W\x00-\x7f]+")

_DATA: Final = data.read("redaction/leaks.yaml", dict[str, Any])
_FORMS: Final = {name: re.compile(form) for name, form in _DATA["forms"].items()}
_INSIDE: Final = re.compile("[A-Za-z0-9]{2}")
_NOBODYS: Final = [ipaddress.ip_network(net) for net in _DATA["nobodys"]]
_FILES: Final = {name: re.compile(form) for name, form in _DATA["files"].items()}


@attrs.frozen(slots=False)
class Originals:
    """What must not appear anywhere: names as in the evidence, and addresses. `own`: recognises pseudonyms."""

    names: frozenset[str]
    addresses: frozenset[Address]
    own: Callable[[str], bool] = lambda text: False

    @cached_property
    def _search(self) -> AhoCorasick:
        numbers = (int(ip) for ip in self.addresses if ip.version == 4)
        return AhoCorasick([*self.names, *map(str, [*self.addresses, *numbers])])

    def are_in(self, text: str) -> bool:
        """Return whether an original stands alone in a text: no word goes on at either side."""
        found = self._search.find_matches_as_indexes(text, overlapping=True)
        return any(not any(_INSIDE.match(text[max(0, at - 1) : at + 1]) for at in place[1:]) for place in found)


def of(case: Case, files: Iterable[Path], more: Iterable[str], own: Callable[[str], bool]) -> Originals:
    """Gather the originals whose first word is in these files, and `more`: of millions of keys few are held at once."""
    words = {token for path in files for text in texts(path) for token in TOKEN.findall(text)}
    names, addresses = set[str](), set[Address]()
    rows = (row for query in _DATA["originals"] for row in case.sql(f"select distinct {query}").toLocalIterator())
    for value in itertools.chain(more, (row[0] for row in rows if row[0])):
        for part in {value, *value.split(), value.rpartition("%")[2]}:
            bare = part.strip(" \t\"'/[]")
            token = TOKEN.search(bare)
            if (ip := _address(bare)) is not None:
                addresses.add(ip)
            elif token and token.group() in words and not ordinary.is_ambiguous(bare) and not ordinary.is_stock(bare):
                names.add(bare)
    return Originals(frozenset(names), frozenset(ip for ip in addresses if not _is_nobodys(ip)), own)


def _is_nobodys(ip: Address) -> bool:
    return any(ip in net for net in _NOBODYS)


def _address(text: str) -> Address | None:
    for candidate in (text, text.rpartition(":")[0].strip("[]")):
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(candidate)
    return None


# --- reading a file as its readers do ---------------------------------------------------------------------------------


def texts(path: Path) -> Iterator[str]:
    """Yield every text of evidence in a file of a report, without plotly's code, packed numbers and prose."""
    raw = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".json":
        yield from _json(raw)
    elif path.suffix == ".ipynb":
        book = json.loads(raw)
        injected = [c["source"] for c in book["cells"] if "injected-parameters" in c["metadata"].get("tags", ())]
        parts = [book["metadata"], injected, *(cell.get("outputs") for cell in book["cells"])]
        yield from _json(json.dumps(parts, ensure_ascii=False))
    elif path.suffix == ".csv":
        try:
            yield from [cell for row in csv.reader(io.StringIO(raw)) for cell in row]
        except csv.Error:  # a cell longer than Python's limit
            yield raw
    elif path.suffix == ".html":
        for block in _FILES["data"].finditer(raw):
            yield from _json(block[1])
        # Tags and texts in turn; of a tag the values of its attributes.
        for number, part in enumerate(re.split(r"<([^>]*)>", _FILES["code"].sub("", raw))):
            yield _FILES["markup"].sub(" ", part) if number % 2 else part
    else:
        yield raw


def _json(raw: str) -> Iterator[str]:
    """Yield the texts of JSON, names of fields too, but for versions: 17.0.21.1 is a Java."""
    yield from map(json.loads, _FILES["string"].findall(_FILES["fixed"].sub("", raw)))


# --- searching --------------------------------------------------------------------------------------------------------


def check(originals: Originals, files: Mapping[Path, Path], sentence: T, lang: Lang) -> None:
    """Look for originals in files (path → name to show); raise `click.ClickException` with file and kind, no original."""
    # What the page itself says, its headings and explanations, may use any single word.
    spoken = {word for text in CATALOGUE for each in LANGS for word in TOKEN.findall(text.in_(each))}
    on_page = attrs.evolve(originals, names=originals.names - spoken)
    for path, name in sorted(files.items()):
        wanted = on_page if path.suffix == ".html" else originals
        kind = next((kind for text in texts(path) if (kind := leak(text, wanted))), None)
        if kind is not None:
            raise click.ClickException(sentence.say(file=str(name), kind=KINDS[kind]).render(lang))


def _unpacked(text: str) -> Iterator[str]:
    """Yield what Base64 in a text says."""
    for packed in _FILES["packed"].findall(text):
        with contextlib.suppress(ValueError):
            yield base64.b64decode(packed + "==", "-_").decode()


def leak(text: str, originals: Originals) -> str | None:
    """Return the kind of the first original in a text (a key of `_FORMS`), None if absent."""
    text = html.unescape(_FILES["escaped"].sub(lambda hit: chr(int(hit[1], 16)) if hit[1] else " ", text))
    text = _FILES["digest"].sub(" ", text)
    text = "\n".join(dict.fromkeys((text, unquote(text), *_unpacked(text))))
    for form, pattern in _FORMS.items():
        for shown in (hit[hit.lastindex or 0] for hit in pattern.finditer(text)):
            if form == "address":
                ip = _address(shown.replace("-", "."))
                is_own = ip is None or _is_nobodys(ip)
            elif form == "hex":
                spelled = (ipaddress.ip_address(bytes.fromhex(part)) for part in (shown, shown[:8]))
                is_own = originals.addresses.isdisjoint(spelled)
            else:
                # A name that goes on, as `key-1x2y-retry` does, is the pseudonym and what was behind it.
                is_own = any(originals.own(shown[: end + 1]) for end in range(len(shown)))
            if not is_own:
                return form
    return "name" if originals.are_in(text) else None
