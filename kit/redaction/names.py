"""The names to replace in what is shown of the evidence: gathered from its tables, its configuration and the shown
texts themselves.

Only names whose first word is shown somewhere are kept, so a hundred thousand business keys cost no more than the few
that a report quotes.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import shlex
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from kit import data
from kit.analysis import setup
from kit.case.tables import AS_MAP
from kit.evidence import disk
from kit.evidence import workspace as ws
from kit.formats.commitlog.schema import TEXT
from kit.redaction import ordinary
from kit.redaction.forms import COLONS, DASHED, HEX, HOSTS, MENTIONED, NUMBERED, QUAD, SPELLED, WORD, split_name
from kit.redaction.ordinary import is_ambiguous, is_ordinary
from kit.redaction.pseudonyms import host
from kit.redaction.redactor import GONE, Redactor
from kit.rocketmq import names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kit.case.case import Case

SALT: Final = "redact-salt"
"""File of the workspace that holds the salt, in hex: whoever keeps it gets the same pseudonyms again."""
LONGEST: Final = 400
LONG: Final = 60
"""Characters from which a topic or group may consist of parts that are shown."""
LISTED: Final = "; "

_WHERE: Final = data.read("redaction/names.yaml", list[tuple[str, str]])
"""(kind of name, what is selected)."""
_NUMBER: Final = re.compile(r"[-+]?\d{1,6}%?|[-+]?[\d,]*\.\d+%?|1\d{9}|1\d{12}|")
"""Amounts and counts, and times as seconds or milliseconds since 1970; longer numbers are accounts and telephones."""
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_TIME: Final = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[T ]?[\d:.,+Z -]*|\d{1,2}:\d{2}(:\d{2})?[.,\d]*")


def of(case: Case, shown: Iterable[Any], paths: Iterable[str]) -> Redactor:
    """Return the redactor of a case for findings, frames, notebooks. `paths`: of this machine, replaced whole."""
    texts = {part for text in strings(list(shown)) for part in (SPELLED.split(text) if "\\" in text else (text,))}
    words = {word for text in texts for word in WORD.findall(text)}
    kinds: dict[str, str] = {}

    def learn(name: Any, kind: str) -> None:
        for plain, its in _plain(name, kind):
            hit = WORD.search(plain)
            if (not hit or hit.group() in words) and len(plain) <= LONGEST:
                kinds.setdefault(plain, its)

    for name, kind in _tables(case):
        learn(name, kind)
    for name, kind in mentioned(texts):
        learn(name, kind)
    found = case.found
    files = {item.file for item in (*found.items, *found.archives)}
    files |= {refused.file for refused in found.refused} | set(found.not_recognised)
    for path in (*files, *paths):
        for part in re.split(r"[/\\]|!/", path):
            stem = split_name(part)[0]
            names_nobody = len(stem) <= 3 or stem.isdigit() or not ordinary.FOLDERS.isdisjoint((part, stem))
            if not names_nobody and not _made_of(stem, kinds):
                learn(stem, "dir")
    addresses = {*_hosts_of_records(case), *mentioned_addresses(texts)}
    redactor = Redactor(salt(case.workspace), kinds, addresses, exact={*files, *paths})
    long = [name for name, kind in kinds.items() if kind in ("topic", "group") and len(name) > LONG]
    for text in sorted(text for text in texts if text.count(LISTED) > 1):
        # A list of what a long name consists of says the name.
        pieces = text.split(LISTED)
        if any(all(piece in name for piece in pieces) for name in long):
            redactor.exact[text] = LISTED.join(redactor.coin(piece, "value") for piece in pieces)
    redactor.exact |= dict.fromkeys(_quoted_rows(case, texts), GONE)
    return redactor


def salt(workspace: ws.Workspace) -> bytes:
    """Return the salt of a workspace, created on first use."""
    path = workspace.folder / SALT
    with disk.locked(workspace.folder / "locks" / f"{SALT}.lock"):
        if not path.exists():
            disk.write_text(path, secrets.token_hex(32) + "\n")
            path.chmod(0o600)
        return path.read_text(encoding="utf-8").strip().encode()


def strings(value: Any) -> Iterator[str]:
    """Yield every text in anything JSON-like or in a frame, keys of objects too."""
    waiting = deque([value])
    while waiting:
        each = waiting.popleft()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            waiting.extend(each.keys())
            waiting.extend(each.values())
        elif isinstance(each, list | tuple | set | np.ndarray):
            waiting.extend(each)
        elif isinstance(each, pd.DataFrame):
            waiting.extend(
                each[name].tolist() for name in each.columns if not pd.api.types.is_numeric_dtype(each[name].dtype)
            )


def is_plain(cell: str) -> bool:
    """Return whether a table cell names nobody: numbers, times, truth values, ids (which have their own form)."""
    is_word = cell.lower() in ("null", "none", "true", "false", "nan")
    return is_word or any(form.fullmatch(cell) for form in (_NUMBER, _TIME, HEX))


def _plain(name: Any, kind: str) -> Iterator[tuple[str, str]]:
    """Yield what is replaced of a name: the group behind a prefix, each key of several, nothing of RocketMQ's."""
    text = str(name).strip() if name is not None else ""
    if kind == "key":
        for key in text.split():
            is_id = HEX.fullmatch(key) and len(key) in (32, 34, 56)
            if not is_id and not QUAD.fullmatch(key):
                yield key, kind
        return
    for prefix in (names.RETRY_PREFIX, names.DLQ_PREFIX, names.LMQ_PREFIX):
        if text.startswith(prefix):
            text, kind = text.removeprefix(prefix), "group"
    if kind == "client":
        text = text.partition("@")[2].partition("#")[0] if QUAD.match(text) else text
    nothing = (
        text.lower() in ("", "null", "true", "false", "default", "none") or ordinary.is_stock(text) or QUAD.match(text)
    )
    if not nothing and not (kind == "client" and text.isdigit()):
        yield text, kind


def _made_of(stem: str, known: Mapping[str, str]) -> bool:
    """Return whether a file name consists of known names and RocketMQ's words: only these are replaced."""
    left = stem
    for name in sorted((n for n in known if len(n) > 3 and n in stem), key=len, reverse=True):
        left = left.replace(name, " ")
    return all(word.isdigit() or word in ordinary.FOLDERS for word in re.split(r"[^A-Za-z0-9]+", left) if word)


def _tables(case: Case) -> Iterator[tuple[Any, str]]:
    """Yield the names that the tables of a case hold, by kind."""
    for kind, query in _WHERE:
        values = _each(case.sql(f"select distinct {query}"))
        if kind == "hosts":
            yield from ((host, "host") for value in values for host in _hosts(value))
        elif kind == "cell":
            yield from ((cell, "value") for cell in values if _names_somebody(cell))
        else:
            yield from ((value, kind) for value in values)
    for client in setup.clients(case.facts):
        yield client["group"], "group"
        yield client["client_id"], "client"
    yield from ((value, "value") for value in _own_properties(case))
    for item in case.found.of_kind("rows", "sends"):
        for column in item.detail.get("other_keys") or ():
            keys = case.sql(f"select distinct try_element_at(cells, :column) from {item.kind}", column=column)
            yield from ((key, "key") for key in _each(keys))


def _own_properties(case: Case) -> Iterator[str]:
    """Yield the different values of the properties that applications added."""
    from pyspark.sql import functions as F  # noqa: N812

    every = case.stored_messages.where(f"{TEXT} <> ''").selectExpr(f"explode({AS_MAP}) as (name, value)")
    yield from _each(every.where(~F.col("name").isin(sorted(names.PROPERTIES))).select("value").distinct())


def _each(frame: DataFrame) -> Iterator[str]:
    """Yield the texts of the only column that are not empty: a hundred million keys are never held at once."""
    yield from (row[0] for row in frame.toLocalIterator() if row[0])


def _names_somebody(cell: str) -> bool:
    """Return whether a cell needs a pseudonym: no number, time, constant such as `SEND_OK`, ordinary word."""
    bare = cell.strip()
    return not (is_plain(bare) or is_ambiguous(bare) or _CONSTANT.fullmatch(bare) or bare.startswith(ordinary.VENDORS))


def _hosts(value: str) -> Iterator[str]:
    for part in re.split(r"[;,\s]+", value):
        host = re.sub(r"^(?:https?://|n\d+-)", "", part).rpartition(":")[0] or part
        if re.fullmatch(r"[A-Za-z][\w.-]*", host):
            yield host


def _hosts_of_records(case: Case) -> Iterator[str]:
    for column in ("born_host", "store_host"):
        hosts = _each(case.sql(f"select distinct {column} from stored_messages"))
        yield from (host.rpartition(":")[0].strip("[]/") for host in hosts)


def _quoted_rows(case: Case, texts: set[str]) -> Iterator[str]:
    """Yield the lines of business tables and ledgers that are shown: they are left out, their place remains."""
    for item in case.found.of_kind("rows", "sends"):
        dialect = item.detail.get("dialect") or {}
        if dialect.get("delimiter"):
            with Path(item.path).open(encoding=dialect.get("encoding") or "utf-8", errors="replace") as lines:
                yield from (line for raw in lines if (line := raw.rstrip("\r\n")) in texts)


# --- what only the shown texts tell -----------------------------------------------------------------------------------

_MENTIONED_KINDS: Final = ("topic", "broker", "cluster", "client", "instance")
_HOST_NAME: Final = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)*", re.ASCII)


def mentioned(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, kind) of the names that texts show by the words before them, or by their form."""
    for text in texts:
        for hit in MENTIONED["named"].finditer(text):
            name = hit["name"].strip("|.@#-")
            # The kit's own code and sentences say `group=name` too.
            if name and not is_ordinary(name) and not name.isdigit() and "." not in name:
                kind = next((kind for kind in _MENTIONED_KINDS if kind in hit["what"].lower()), "group")
                yield name, "client" if kind == "instance" else kind
        called = [hit[1] for form in HOSTS.values() for hit in form.finditer(text)]
        called += [word for hit in MENTIONED["command"].finditer(text) for word in _destinations(hit[1])]
        yield from ((name, "host") for each in called if _is_host(name := each.rstrip(".")))
        yield from ((hit.group(), "host") for hit in MENTIONED["generated"].finditer(text))
        yield from ((hit.group(), "host") for hit in MENTIONED["numbered"].finditer(text) if _is_machine(hit.group()))


def _destinations(arguments: str) -> Iterator[str]:
    """Yield what may be the host among the arguments of a command, up to the first word behind no option."""
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    for before, word in pairwise(["", *words]):
        if word.startswith("-"):
            continue
        name = re.split("[:/]", word.rpartition("@")[2])[0]
        if "://" not in word and _HOST_NAME.fullmatch(name):
            yield name
        if not before.startswith("-"):
            return


def _is_host(name: str) -> bool:
    return (
        not (_is_known(name) or name.startswith(ordinary.VENDORS))
        and name.rpartition(".")[2] not in ordinary.EXTENSIONS
    )


def _is_known(name: str) -> bool:
    return is_ordinary(name) or name in ordinary.FOLDERS or ordinary.is_stock(name)


def _is_machine(name: str) -> bool:
    parts = re.findall(r"[a-z]+", name)
    named = max(map(len, parts)) > 1 and not NUMBERED.intersection(parts) and not _is_known(name)
    return named and not (len(name) > 7 and HEX.fullmatch(name))


def mentioned_addresses(texts: Iterable[str]) -> set[str]:
    """Return every address: dotted, with colons, in a host's name, as one number, at the head of an id."""
    found: set[str] = set()
    for text in texts:
        found |= set(QUAD.findall(text)) | {str(ip) for hit in COLONS.findall(text) if (ip := host(hit.rstrip("."))[0])}
        found |= {re.sub("[-_]", ".", hit.group()) for hit in DASHED.finditer(text)}
        numbers = [int(digits) for digits in MENTIONED["decimal"].findall(text)]
        numbers += [int(digits, 16) for digits in MENTIONED["hex"].findall(text)]
        found |= {str(ipaddress.IPv4Address(number)) for number in numbers if number < 1 << 32}
        for run in HEX.findall(text):
            if len(run) in (32, 56):
                found.add(str(ipaddress.ip_address(bytes.fromhex(run[: 8 if len(run) == 32 else 32]))))
    return found
