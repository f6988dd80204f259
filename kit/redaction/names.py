"""The names to replace in what is shown of the evidence: of its tables, its configuration and the shown texts.

Only names whose first word is shown are kept, so a hundred thousand business keys cost no more than the few quoted.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kit import data
from kit.analysis import setup
from kit.case.tables import AS_MAP
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.redaction import ordinary
from kit.redaction.forms import HEX, MENTIONED, QUAD, SPELLED, WORD
from kit.redaction.ordinary import is_ambiguous, is_ordinary
from kit.redaction.redactor import GONE, Redactor, host, mapped
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

SALT: Final = "redact-salt"
"""File of the workspace that holds the salt, in hex: whoever keeps it gets the same pseudonyms again."""
LONGEST: Final = 400
LONG: Final = 60
"""Characters from which a topic or group may consist of parts that are shown."""
LISTED: Final = "; "

_WHERE: Final = data.read("redaction/names.yaml", list[tuple[str, str]])
"""(kind of name, what is selected)."""
_NOBODYS: Final = re.compile(
    # Amounts and counts, and times as seconds or milliseconds since 1970; longer numbers are accounts and telephones.
    r"[-+]?\d{1,6}%?|[-+]?[\d,]*\.\d+%?|1\d{9}|1\d{12}|"
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[T ]?[\d:.,+Z -]*|\d{1,2}:\d{2}(:\d{2})?[.,\d]*|"
    rf"{HEX.pattern}|[A-Z][A-Z0-9_]*|(?i:null|none|true|false|nan)"
)
"""Cells of tables that name nobody: numbers, times, ids (which have their own form), constants such as `SEND_OK`."""


def of(case: Case, shown: Iterable[Any], paths: Iterable[str]) -> Redactor:
    """Return the redactor of a case for findings, frames, notebooks. `paths`: of this machine, replaced whole."""
    whole: dict[str, str] = {}
    mapped(list(shown), lambda text, field: whole.setdefault(text, text))
    texts = {part for text in whole for part in (SPELLED.split(text) if "\\" in text else (text,))}
    words = {word for text in texts for word in WORD.findall(text)}
    kinds: dict[str, str] = {}
    for value, kind in (*_tables(case), *mentioned(texts)):
        for name, its in _plain(str(value), kind):
            word = WORD.search(name)
            if its == "address" or ((not word or word.group() in words) and len(name) <= LONGEST):
                kinds.setdefault(name, its)
    files, inventory = {*paths, *case.unzoned.not_recognised}, case.unzoned
    files |= {item.file for item in (*inventory.items, *inventory.archives)} | {r.file for r in inventory.refused}
    redactor = Redactor(salt(case.workspace), kinds, exact=files)
    long = [name for name, kind in kinds.items() if kind in ("topic", "group") and len(name) > LONG]
    for text in sorted(text for text in texts if text.count(LISTED) > 1):
        # A list of what a long name consists of says the name.
        pieces = text.split(LISTED)
        if any(all(piece in name for piece in pieces) for name in long):
            redactor.exact[text] = LISTED.join(redactor.coin(piece, "value") for piece in pieces)
    # Lines of business tables and ledgers are left out, their place remains.
    for item in case.unzoned.of_kind("rows", "sends"):
        dialect = item.detail.get("dialect") or {}
        if dialect.get("delimiter"):
            with Path(item.path).open(encoding=dialect.get("encoding") or "utf-8", errors="replace") as lines:
                redactor.exact |= {line: GONE for raw in lines if (line := raw.rstrip("\r\n")) in texts}
    return redactor


def salt(workspace: ws.Workspace) -> bytes:
    """Return the salt of a workspace, created on first use."""
    path = workspace.folder / SALT
    with disk.locked(workspace.folder / "locks" / f"{SALT}.lock"):
        if not path.exists():
            disk.write_text(path, secrets.token_hex(32) + "\n")
            path.chmod(0o600)
        return path.read_text(encoding="utf-8").strip().encode()


# --- what the tables hold ---------------------------------------------------------------------------------------------


def _tables(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the values that the tables of a case hold, by kind: a hundred million keys are never held at once."""
    own = ", ".join(f"'{name}'" for name in sorted(names.PROPERTIES))
    for kind, query in _WHERE:
        rows = case.sql(f"select distinct {query.format(properties=AS_MAP, own=own)}")
        yield from ((row[0], kind) for row in rows.toLocalIterator() if row[0])
    for client in setup.clients(case.facts):
        yield from ((client["group"], "group"), (client["client_id"], "client"))
    for item in case.unzoned.of_kind("rows", "sends"):
        for column in item.detail.get("other_keys") or ():
            rows = case.sql(f"select distinct try_element_at(cells, :column) from all_{item.kind}", column=column)
            yield from ((row[0], "key") for row in rows.toLocalIterator() if row[0])


def _plain(value: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield what is replaced of a value: the group behind a prefix, each key of several, nothing of RocketMQ's."""
    text = value.strip()
    if kind == "key":
        plain = [key for key in text.split() if not (HEX.fullmatch(key) and len(key) in (32, 34, 56))]
        yield from ((key, kind) for key in plain if not QUAD.fullmatch(key))
    elif kind == "address":
        yield (text if host(text)[0] else text.rpartition(":")[0].strip("[]/")), kind
    elif kind == "hosts":
        for part in re.split(r"[;,\s]+", text):
            name = re.sub(r"^(?:https?://|n\d+-)", "", part).rpartition(":")[0] or part
            if re.fullmatch(r"[A-Za-z][\w.-]*", name):
                yield from _plain(name, "host")
    elif kind == "cell":
        if not (_NOBODYS.fullmatch(text) or is_ambiguous(text) or text.startswith(ordinary.VENDORS)):
            yield from _plain(text, "value")
    else:
        for prefix in (names.RETRY_PREFIX, names.DLQ_PREFIX, names.LMQ_PREFIX):
            if text.startswith(prefix):
                text, kind = text.removeprefix(prefix), "group"
        if kind == "client":
            text = text.partition("@")[2].partition("#")[0] if QUAD.match(text) else text
        is_word = text.lower() in ("", "null", "true", "false", "default", "none") or (
            kind == "client" and text.isdigit()
        )
        if not (is_word or ordinary.is_stock(text) or QUAD.match(text)):
            yield text, kind


# --- what only the shown texts tell -----------------------------------------------------------------------------------

_ADDRESSES: Final[dict[str, Callable[[str], Any]]] = {
    "address": lambda text: host(text)[0],
    "hex": lambda text: ipaddress.ip_address(bytes.fromhex(text)),
    "number": lambda text: ipaddress.IPv4Address(int(text) % (1 << 32)),
}
"""How a text of a kind spells an address."""


def mentioned(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, kind) of the names that texts show by the words before them, or by their form."""
    texts = list(texts)
    for kind, within, form in MENTIONED:
        parts = (part[1] for text in texts for part in within.finditer(text))
        for hit in (hit for part in parts for hit in form.finditer(part)):
            name = hit[hit.lastindex or 0]
            if kind in _ADDRESSES:
                if ip := _ADDRESSES[kind](name):
                    yield str(ip), "address"
            elif kind == "host":
                if _is_host(name := name.rstrip(".")):
                    yield name, kind
            # The kit's own code and sentences say `group=name` too.
            elif (name := name.strip("|.@#-")) and not (is_ordinary(name) or name.isdigit() or "." in name):
                yield name, kind


def _is_host(name: str) -> bool:
    is_known = is_ordinary(name) or name in ordinary.FOLDERS or ordinary.is_stock(name)
    return not (is_known or name.startswith(ordinary.VENDORS) or name.rpartition(".")[2] in ordinary.EXTENSIONS)
