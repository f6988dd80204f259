"""Recognise files: by their bytes first, by name if bytes do not decide (an empty queue, a lock)."""

from __future__ import annotations

import os
import re
import struct
from importlib import resources
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec
import numpy as np

from kit.evidence.files import EvidenceFile, open_readonly, stretches
from kit.formats.commitlog import records
from kit.formats.queues import consumequeue, index
from kit.formats.tables import business_tables, configs, delimited
from kit.rocketmq import binary_format as f

if TYPE_CHECKING:
    from kit.inventory.model import Item

HEAD: Final = 262_144
_STEP: Final = 1 << 20
_PLACES: Final = 32
"""Further places examined if a file's beginning is unknown: it may be damaged."""

_INDEX_UNIT: Final = np.dtype([("magic", ">i4"), ("pos", ">i8"), ("size", ">i4"), ("index", ">i8"), ("term", ">i8")])
_SLOT: Final = np.dtype([("time", ">i8"), ("first", ">i8"), ("last", ">i8"), ("num", ">i4"), ("magic", ">i4")])
_TIMER_LOG: Final = np.dtype(
    "i4,i8,i4,i8,i4,i8,i4,i4,i8"  # size, previous, magic, time, delay, offset, size of the record, hash of the topic, reserved
).newbyteorder(">")
_ENTRY: Final = struct.Struct(">iiqqqiiii")
"""io.openmessaging.storage.dledger.entry.DLedgerEntryCoder: magic, size, index, term, position, channel, two CRCs, size of the body."""


class _Kinds(msgspec.Struct, forbid_unknown_fields=True):
    """`kinds.yaml`. `not_read`: kind, path, how it begins."""

    not_read: tuple[tuple[str, str, str], ...]
    names: dict[str, str]
    texts: dict[str, str]
    heads: dict[str, str]


_KINDS: Final = msgspec.yaml.decode(resources.files("kit.inventory").joinpath("kinds.yaml").read_bytes(), type=_Kinds)
_NAMES: Final = {name: re.compile(form) for name, form in (_KINDS.names | _KINDS.texts).items()}
_HEADS: Final = {name: re.compile(form.encode()) for name, form in _KINDS.heads.items()}


def load() -> None:
    """Load the kernels, which the first file would wait for otherwise."""
    from kit.inventory import sniff

    records.sniff(bytes(8))
    sniff.sniff(b"", "")


def recognise(file: EvidenceFile) -> tuple[str | None, dict[str, Any]]:
    """Return (kind, detail); kind None if unknown. Raise `OSError` if the file cannot be read."""
    with open_readonly(file.path) as stream:
        head = stream.read(HEAD)
        return (
            _by_name_and_size(file, head)
            or _not_read(file, head)
            or _binary(file, head, stream.fileno())
            or _text(file, head)
            or _ruined(file)
            or (None, {})
        )


def _by_name_and_size(file: EvidenceFile, head: bytes) -> tuple[str, dict[str, Any]] | None:
    name = PurePosixPath(file.file).name
    if name in ("abort", "abort.bak") and file.bytes <= 20:
        return "abort", {"pid": head.decode("ascii", "replace").strip() or None, "left_over": name != "abort"}
    if name == "lock" and file.bytes <= 8:
        return "lock", {}
    return ("empty", {}) if not file.bytes else None


def _path(file: EvidenceFile) -> PurePosixPath:
    return PurePosixPath(file.file.replace("!/", "/").replace("\\", "/"))


def _not_read(file: EvidenceFile, head: bytes) -> tuple[str, dict[str, Any]] | None:
    path = str(_path(file))
    for kind, name, begins in _KINDS.not_read:
        if re.fullmatch(name, path) and re.match(begins.encode(), head):
            return kind, {}
    return ("dledger_other", {}) if _other_entries(head) else None


def _other_entries(head: bytes) -> bool:
    """Return whether a file begins with DLedger entries whose bodies are no messages: those of a controller are events."""
    at = entries = 0
    following = None
    while at + _ENTRY.size + 8 <= len(head):
        magic, size, index, _, position, _, _, _, body = _ENTRY.unpack_from(head, at)
        if magic != 1 or body < 0 or size != _ENTRY.size + body or following not in (None, (index, position)):
            break
        if int.from_bytes(head[at + _ENTRY.size + 4 :][:4], "big") in (f.MAGIC_V1, f.MAGIC_V2):
            return False
        following = (index + 1, position + size)
        entries += 1
        at += size
    return entries > 1


def _binary(file: EvidenceFile, head: bytes, handle: int) -> tuple[str, dict[str, Any]] | None:
    page = file.bytes == 4096
    found: dict[str, Any] | None
    if not any(head):
        found = _deeper(file, handle) or _zeros(file, handle)
    else:
        found = (
            (configs.sniff(head, file.file, file.bytes) if page else None)
            or _behind_filler(file, head, handle)
            or _entry_index(head)
            or records.sniff(head)
            or index.sniff(head, file.bytes)
            or consumequeue.sniff(head, file.file)
            or (_timer_check(head) if page else None)
            or _timer_log(head)
            or (_deeper(file, handle) if b"\0" in head else None)
        )
    return None if found is None else (found.pop("kind"), found)


def _behind_filler(file: EvidenceFile, head: bytes, handle: int) -> dict[str, Any] | None:
    """Examine the record after the filler with which a file begins."""
    size = records.filler(head)
    if not 0 < size < file.bytes:
        return None
    found = records.sniff(os.pread(handle, HEAD, size))
    if found is None or found["base"] is None or found["base"] < size:
        return None
    return {**found, "base": found["base"] - size}


def _deeper(file: EvidenceFile, handle: int) -> dict[str, Any] | None:
    """Look for records further on: a commitlog with a damaged first page is still a commitlog."""
    step = max(_STEP, file.bytes // _PLACES)
    for at in range(HEAD, file.bytes, step):
        part = os.pread(handle, HEAD, at)
        if any(part) and (found := records.sniff(part)) is not None:
            base = found["base"]
            if base is None or base >= at:
                return {**found, "base": None if base is None else base - at}
    if file.bytes % _SLOT.itemsize == 0 and file.bytes <= 1 << 28:
        slots = np.frombuffer(file.path.read_bytes() if file.packed else os.pread(handle, file.bytes, 0), _SLOT)
        used = slots[(slots["time"] != 0) | (slots["num"] != 0)]
        good = (used["time"] > 10**9) & (used["time"] < 10**11) & (used["num"] >= 0) & (used["last"] >= used["first"])
        if len(used) and good.all():
            return {"kind": "timerwheel"}
    return None


def _zeros(file: EvidenceFile, handle: int) -> dict[str, Any]:
    """Recognise a file that begins with zeros: by what is behind them, else by its path, since the store allocates files before it writes them."""
    for at in (at for begin, end in stretches(handle) for at in range(begin, end, _STEP)):
        if part := os.pread(handle, _STEP, at).lstrip(b"\0"):
            kind, detail = _text(file, part[:HEAD]) or ("", {})
            return {**detail, "kind": kind} if kind in ("log", "text") else {"kind": "other", "zeros": False}
    path = _path(file)
    if place := consumequeue.sniff(bytes(8), file.file):
        return {**place, "empty": True}
    if store := _store_of(file):
        return {"kind": store, "base": f.first_offset(path.name), "empty": True}
    if path.name in ("timerwheel", "checkpoint"):
        return {"kind": path.name, "empty": True}
    if path.parent.name == "timerlog" and _NAMES["digits"].fullmatch(path.name):
        return {"kind": "timerlog", "empty": True}
    return {"kind": "empty", "zeros": True}


def _store_of(file: EvidenceFile) -> str | None:
    """Return `commitlog` or `dledger` if a file's name and folder are those of one."""
    path = _path(file)
    if not _NAMES["digits"].fullmatch(path.name):
        return None
    if path.parent.name == "data" and "dledger" in str(path):
        return "dledger"
    return "commitlog" if "commitlog" in path.parent.name.lower() else None


def _ruined(file: EvidenceFile) -> tuple[str, dict[str, Any]] | None:
    """A commitlog without a single record left is a corrupt commitlog, not an unknown file."""
    kind = _store_of(file)
    return None if kind is None else (kind, {"base": f.first_offset(PurePosixPath(file.file).name)})


def _entry_index(head: bytes) -> dict[str, Any] | None:
    """A DLedger index file: 32-byte units in order (`store/file/DLedgerMmapFileStore.INDEX_UNIT_SIZE`)."""
    units = np.frombuffer(head[: len(head) // 32 * 32], _INDEX_UNIT)
    used = units[units["magic"] != 0]
    if not len(used) or not (used["magic"] == 1).all() or units["magic"][: len(used)].min() != 1:
        return None
    follow = (np.diff(used["index"]) == 1) & (np.diff(used["pos"]) > 0)
    good = follow.all() and ((used["size"] > 48) & (used["term"] >= -1)).all()
    return {"kind": "dledger_index"} if good else None


def _timer_check(head: bytes) -> dict[str, Any] | None:
    read, *_, stamp, _ = struct.unpack(">7q", head[:56])
    times = all(t == 0 or 10**12 < t < 10**13 for t in (read, stamp))
    return {"kind": "timercheck"} if times and (read or stamp) and not any(head[56:]) else None


def _timer_log(head: bytes) -> dict[str, Any] | None:
    units = np.frombuffer(head[: len(head) // _TIMER_LOG.itemsize * _TIMER_LOG.itemsize], _TIMER_LOG)
    used = units[units["f0"] != 0]
    good = (used["f0"] == _TIMER_LOG.itemsize) & (used["f3"] > 10**12) & (used["f3"] < 10**13) & (used["f5"] >= 0)
    return {"kind": "timerlog"} if len(used) and good.all() else None


def _text(file: EvidenceFile, head: bytes) -> tuple[str, dict[str, Any]] | None:
    from kit.explanation import context
    from kit.formats.logs import source_code, thread_dumps
    from kit.formats.tables import host_heads, host_network
    from kit.inventory import sniff
    from kit.rocketmq import catalogue

    if head.startswith(delimited.PARQUET):
        found = business_tables.sniff(file.path, head, file.bytes)
        return ("rows", {"role": None}) if found is None else (found.pop("kind"), found)
    # Copying and truncating a log that its program keeps writing leaves a hole.
    head = head.lstrip(b"\0")
    codec = delimited.encoding(head)
    if codec is None or not head or _HEADS["page"].match(head):
        return None
    if (document := _document(file.file, head, codec)) is not None:
        return document
    small = configs.sniff(head, file.file)
    if small is not None:
        return _pasted(head) or (small.pop("kind"), small)
    for kind, fits in (
        ("metrics", host_heads.sniff),
        ("network", host_network.sniff),
        ("thread_dump", thread_dumps.sniff),
    ):
        if fits(head):
            return kind, {}
    if source_code.is_program(head.decode(codec, "replace"), file.file):
        return "source_code", {}
    known: dict[str, Any] | None = sniff.sniff(head, file.file)
    if known is not None and known["source"] == "mqadmin":
        return "mqadmin", known
    tables = _quoted(head) if file.bytes < HEAD else {}
    known = known and known | tables
    if known is not None and known["source"] != "text" and known["layout"] != "time-only":
        return "log", known
    # A ledger's cells may contain log lines: its columns distinguish it from a paste.
    found = business_tables.sniff(file.path, head, file.bytes)
    if found is not None:
        return found.pop("kind"), found
    if known is not None:
        return ("text" if known["source"] == "text" else "log"), known
    if PurePosixPath(file.file).name in ("checkpoint", "currterm") and re.match(rb"\w+=-?\w+", head):
        return "dledger_state", {}
    text = head.decode(codec, "replace")
    if tables or _NAMES["relevant"].search(text) or context.speaks(text) or catalogue.problems_in(text):
        encoding = None if codec.startswith("utf-8") else codec
        return "text", {"source": "text", "layout": "unknown", "encoding": encoding, **tables}
    return None


def _document(name: str, head: bytes, codec: str) -> tuple[str, dict[str, Any]] | None:
    """Return that a text is a document, not a log: prose that quotes messages, or the history of a repository; None for any other text.

    Where many of its lines begin with a time it quotes a log at length: then it is a text like any other.
    """
    is_own = head.startswith(b"{") and _HEADS["own"].search(head[:4096])
    if is_own or name.endswith(".ipynb") or _NAMES["repository"].search(name):
        return "document", {}
    if _HEADS["foreign"].match(head) and not _HEADS["rocketmq"].search(head):
        return "other_systems_log", {}
    if _HEADS["commits"].search(head) and not _HEADS["timed"].search(head):
        return "document", {}
    named = _NAMES["guide"].search(name)
    if not (named or _NAMES["prose"].search(name)) or _is_mostly_log(head, share=2 if named else 4):
        return None
    encoding = None if codec.startswith("utf-8") else codec
    return "text", {"source": "text", "layout": "unknown", "encoding": encoding, "document": True}


def _is_mostly_log(head: bytes, share: int) -> bool:
    """Return whether one of so many lines begins with a time; prose that quotes a line or two has fewer."""
    written = sum(1 for line in head.split(b"\n") if line.strip())
    return len(_HEADS["timed"].findall(head)) * share >= max(written, 1)


def _quoted(head: bytes) -> dict[str, Any]:
    """Return which outputs stand between other lines of a text: of mqadmin (`tables`), of a host's tools (`measured`)."""
    from kit.formats.tables import host_heads, mqadmin

    found = {"tables": mqadmin.is_quoted(head), "measured": host_heads.quoted(head)}
    return {name: True for name, held in found.items() if held}


def _pasted(head: bytes) -> tuple[str, dict[str, Any]] | None:
    """A pasted question: settings with an error among them. It is read as a text and as settings."""
    from kit.inventory import sniff

    asked = re.sub(rb"(?m)^[ \t]*[#!].*$", b"", head)
    known = None if head.lstrip().startswith(b"{") else sniff.sniff(asked, "")
    return ("text", {**known, "settings": True}) if known is not None and known["layout"] == "unknown" else None


def without_rows(items: list[Item]) -> list[Item]:
    """Return the items with tables without rows recognised too: by the header of another table of the evidence.

    An empty ledger is evidence: nothing was handled there.
    """
    heads: dict[bytes, Item] = {}
    for item in items:
        if item.kind in ("rows", "sends") and item.detail.get("dialect") is not None:
            heads.setdefault(_head_line(item), item)
    return [
        attrs.evolve(item, kind=like.kind, source=None, detail=like.detail)
        if item.kind == "text" and item.bytes < _STEP and heads and (like := heads.get(_head_line(item, whole=True)))
        else item
        for item in items
    ]


def _head_line(item: Item, *, whole: bool = False) -> bytes:
    """Return the first line of a file; with `whole` an empty one if anything follows it."""
    with open_readonly(item.path) as stream:
        first, _, rest = stream.read(_STEP).partition(b"\n")
    return b"" if whole and rest.strip() else first.strip()
