"""Recognise files: by their bytes first, by name if bytes do not decide (an empty queue) or if nothing reads them."""

import os
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Final

import attrs

from kit import data
from kit.evidence.files import EvidenceFile, beginning, first_data, open_readonly
from kit.explanation import context
from kit.formats import queues, thread_dumps
from kit.formats.commitlog import records
from kit.formats.logs import source_code
from kit.formats.patterns import byte_patterns, patterns
from kit.formats.tables import business_tables, configs, delimited, metrics, mqadmin
from kit.inventory import sniff
from kit.inventory.model import Item
from kit.rocketmq import binary_format as f
from kit.rocketmq import catalogue

HEAD: Final = 262_144
_STEP: Final = 1 << 20
_PLACES: Final = 32
"""Further places examined if a file's beginning is unknown: it may be damaged."""
_KINDS: Final = data.read("inventory/kinds.yaml", list[tuple[str, str, str]])
_NOT_READ: Final = [(kind, re.compile(path), re.compile(begin.encode())) for kind, path, begin in _KINDS]
_NAMES: Final = patterns("file_names")
_HEADS: Final = byte_patterns("file_heads")

Kind = tuple[str, dict[str, Any]]
"""Kind of a file, and what its readers need to know."""


@attrs.define(slots=False)
class Head:
    """The first bytes of a file, read once, and what the rules ask of them."""

    file: EvidenceFile
    data: bytes
    handle: int

    @cached_property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.file.file.replace("!/", "/").replace("\\", "/"))

    @cached_property
    def text(self) -> bytes:
        """The data without zeros in front: copying and truncating a log while it is written leaves a hole."""
        return self.data.lstrip(b"\0")

    @cached_property
    def codec(self) -> str | None:
        return delimited.encoding(self.text)

    @cached_property
    def words(self) -> str:
        return self.text.decode(self.codec or "utf-8", "replace")

    @property
    def is_text(self) -> bool:
        return self.codec is not None and bool(self.text) and not _HEADS["page"].match(self.text)

    def plain_text(self, **detail: Any) -> Kind:
        """Return the kind of a text of which nothing else is known."""
        encoding = None if (self.codec or "utf-8").startswith("utf-8") else self.codec
        return "text", {"source": "text", "layout": "unknown", "encoding": encoding, **detail}

    def at(self, place: int) -> bytes:
        return os.pread(self.handle, HEAD, place)


Rule = Callable[[Head], Kind | None]


def recognise(file: EvidenceFile) -> tuple[str | None, dict[str, Any]]:
    """Return (kind, detail) by the first rule that fits; kind None if none does. Raise `OSError`."""
    with open_readonly(file.path) as stream:
        head = Head(file, stream.read(HEAD), stream.fileno())
        for rule in BINARY:
            if kind := rule(head):
                return kind
        for rule in TEXTS if head.is_text else ():
            if kind := rule(head):
                return kind
    # A commitlog without a single record left is a corrupt commitlog, not an unknown file.
    store = _store_of(head)
    return (store, {"base": f.first_offset(head.path.name)}) if store else (None, {})


def _kind(known: dict[str, Any] | None) -> Kind | None:
    return None if known is None else (known.pop("kind"), known)


# --- by name ----------------------------------------------------------------------------------------------------------


def _named(head: Head) -> Kind | None:
    name, size, path = head.path.name, head.file.bytes, str(head.path)
    if name in ("abort", "abort.bak") and size <= 20:
        return "abort", {}
    kinds = (kind for kind, named, begin in _NOT_READ if named.fullmatch(path) and begin.match(head.data))
    kind = next(kinds, None) if size else "empty"
    return (kind, {}) if kind else None


# --- files of stores --------------------------------------------------------------------------------------------------


def _zeros(head: Head) -> Kind | None:
    """Recognise a file of zeros by what is behind them, else by its path: stores allocate files before writing."""
    if any(head.data):
        return None
    if kind := _deeper(head):
        return kind
    if at := first_data(head.handle):
        behind = Head(head.file, head.at(at), head.handle)
        known = next((kind for rule in TEXTS if (kind := rule(behind))), None) if behind.is_text else None
        return known if known and known[0] in ("log", "text") else ("other", {})
    if queues.place(head.file.file):
        return "consumequeue", {"empty": True}
    if store := _store_of(head):
        return store, {"base": f.first_offset(head.path.name), "empty": True}
    return ("checkpoint", {"empty": True}) if head.path.name == "checkpoint" else ("empty", {})


def _store_of(head: Head) -> str | None:
    """Return `commitlog` or `dledger` if a file's name and folder are those of one."""
    path = head.path
    if not _NAMES["digits"].fullmatch(path.name):
        return None
    if path.parent.name == "data" and "dledger" in str(path):
        return "dledger"
    return "commitlog" if "commitlog" in path.parent.name.lower() else None


def _records(head: Head) -> Kind | None:
    """Recognise a file by its records: the one behind the filler with which it begins, else the first ones."""
    size = _filler(head.data)
    record = records.sniff(head.at(size)) if 0 < size < head.file.bytes else None
    if known := (record and _based(record, size)) or _kind(records.sniff(head.data)):
        return known
    is_blank = size > 0 and head.data[4:8] == f.MAGIC_BLANK.to_bytes(4, "big")
    return ("commitlog", {"base": None}) if is_blank else None


def _filler(head: bytes) -> int:
    """Return how many bytes of filler a file begins with, as those cut to a few records do, 0 for none.

    A commit log's (`CommitLog.BLANK_MAGIC_CODE`) or a DLedger file's (`MmapFileList`).
    """
    if len(head) < 16:
        return 0
    first, second = int.from_bytes(head[:4], "big", signed=True), int.from_bytes(head[4:8], "big")
    if second == f.MAGIC_BLANK:
        return first if first >= 8 else 0
    return second if first == f.DLEDGER_BLANK and 8 <= second < 1 << 31 and not any(head[8:16]) else 0


def _deeper(head: Head) -> Kind | None:
    """Look for records further on: a commitlog with a damaged first page is still a commitlog."""
    for at in range(HEAD, head.file.bytes, max(_STEP, head.file.bytes // _PLACES)):
        part = head.at(at)
        if any(part) and (record := records.sniff(part)) and (known := _based(record, at)):
            return known
    return None


def _based(record: dict[str, Any], at: int) -> Kind | None:
    """Return what was found `at` so many bytes behind a file's beginning, None if it cannot be there."""
    return None if record["base"] < at else _kind({**record, "base": record["base"] - at})


def _rows(head: Head) -> Kind | None:
    return _kind(business_tables.sniff(head.file.path, head.text, head.file.bytes))


# --- texts ------------------------------------------------------------------------------------------------------------


def _document(head: Head) -> Kind | None:
    """Recognise prose that quotes or explains messages, and the history of a repository, which are no logs.

    Where many of its lines begin with a time it quotes a log at length: then it is a text like any other.
    """
    name, text = head.file.file, head.text
    if _HEADS["commits"].search(text) and not _HEADS["timed"].search(text):
        return "document", {}
    guide = _NAMES["guide"].search(name)
    if not (guide or _NAMES["prose"].search(name) or source_code.is_guide(head.words)):
        return None
    # One of so many lines begins with a time; prose that quotes a line or two has fewer.
    written = sum(1 for line in text.split(b"\n") if line.strip())
    is_log = len(_HEADS["timed"].findall(text)) * (2 if guide else 4) >= max(written, 1)
    return None if is_log else head.plain_text(document=True, **({} if guide else _quoted(text)))


def _settings(head: Head) -> Kind | None:
    """Recognise files of settings; a pasted question with settings, and an error or log lines among them, is a text."""
    small = _kind(configs.sniff(head.text, head.file.file))
    if small is None or head.text.lstrip().startswith(b"{"):
        return small
    known = sniff.sniff(re.sub(rb"(?m)^[ \t]*[#!].*$", b"", head.text), "")
    return small if known is None else ("text", {**known, "source": "text", "settings": True})


def _output(head: Head) -> Kind | None:
    if metrics.sniff(head.text) and sniff.sniff(head.text, "") is None:
        return "metrics", {}
    rules = (("network", metrics.is_network), ("thread_dump", thread_dumps.sniff))
    if kind := next((kind for kind, fits in rules if fits(head.text)), None):
        return kind, {}
    return ("source_code", {}) if source_code.is_program(head.words, head.file.file) else None


def _log_or_table(head: Head) -> Kind | None:
    known: dict[str, Any] | None = sniff.sniff(head.text, head.file.file)
    if known is not None and known["source"] == "mqadmin":
        return "mqadmin", known | {"pasted": mqadmin.is_pasted(head.text)}
    quoted = _quoted(head.text) if head.file.bytes < HEAD else {}
    if known is not None and known["source"] != "text" and known["layout"] != "time-only":
        return "log", known | quoted
    # A ledger's cells may contain log lines: its columns distinguish it from a paste; a list of clients has bars as
    # well.
    table = None if quoted.get("mqadmin") else _rows(head)
    if table and (known is None or known["source"] == "text" or not table[1]["dialect"]["objects"]):
        return table
    if known is not None:
        return ("text" if known["source"] == "text" else "log"), known | quoted
    relevant = _NAMES["relevant"].search(head.words) or context.speaks(head.words) or catalogue.problems_in(head.words)
    return head.plain_text(**quoted) if quoted or relevant else None


def _quoted(text: bytes) -> dict[str, Any]:
    """Return which outputs stand between lines of a text: of mqadmin, of a host's tools."""
    detail = {"mqadmin": mqadmin.is_quoted(text), "metrics": bool(metrics.origins(text))}
    return {name: True for name, is_there in detail.items() if is_there}


BINARY: Final[tuple[Rule, ...]] = (
    _named,
    _zeros,
    lambda head: (_rows(head) or ("rows", {"role": None})) if head.data.startswith(delimited.PARQUET) else None,
    lambda head: ("checkpoint", {}) if configs.is_checkpoint(head.data) else None,
    _records,
    lambda head: ("index", {}) if queues.is_index(head.data, head.file.bytes) else None,
    lambda head: ("consumequeue", {}) if queues.is_queue(head.data) else None,
    lambda head: _deeper(head) if b"\0" in head.data else None,
)
TEXTS: Final[tuple[Rule, ...]] = (_document, _settings, _output, _log_or_table)


def without_rows(items: list[Item]) -> list[Item]:
    """Recognise tables without rows by the header of another: an empty ledger shows that nothing was handled there."""
    heads: dict[bytes, Item] = {}
    for item in items:
        if item.kind in ("rows", "sends") and item.detail.get("dialect") is not None:
            heads.setdefault(_lines(item)[0], item)
    for n, item in enumerate(items if heads else ()):
        if item.kind == "text" and item.bytes < _STEP:
            first, rest = _lines(item)
            if not rest and (like := heads.get(first)):
                own = {name: item.detail.get(name) for name in ("text_sha256", "same")}
                items[n] = attrs.evolve(item, kind=like.kind, source=None, detail=like.detail | own)
    return items


def _lines(item: Item) -> tuple[bytes, bytes]:
    first, _, rest = beginning(item.path, _STEP).partition(b"\n")
    return first.strip(), rest.strip()
