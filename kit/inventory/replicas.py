"""Which files are copies of others: equal ones, earlier copies of a log that grew, commitlogs with the same records."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import Final

import attrs

from kit.evidence.files import open_readonly
from kit.inventory.model import STORES, Item

_GROWS: Final = ("log", "text", "mqadmin", "metrics", "rows", "sends")
"""Kinds of files whose earlier copy may be the beginning of a later one."""
_ALIKE: Final = (
    *_GROWS, "source_code", "document", "other_systems_log", "thread_dump", "store_json", "broker_conf", "checkpoint",
    "index", "consumequeue",
)  # fmt: skip
_CHUNK: Final = 1 << 20
_HEAD: Final = 256


def mark(items: list[Item]) -> tuple[list[Item], list[tuple[str, str]], bool]:
    """Return the items with `replica_of` set, the pairs that disagree, and whether commitlogs overlap partially."""
    originals: dict[str, str] = {}
    _equal(items, originals)
    _beginnings(items, originals)
    disagree, overlapping = _stores(items, originals)
    return [attrs.evolve(i, replica_of=_root(i.file, originals)) for i in items], disagree, overlapping


def _root(file: str, originals: dict[str, str]) -> str | None:
    """Return the file that a copy of a copy is a copy of."""
    original = originals.get(file)
    while original in originals:
        original = originals[original]
    return original


def _equal(items: list[Item], originals: dict[str, str]) -> None:
    first: dict[tuple[str, str, bool], str] = {}
    for item in items:
        content = item.detail.get("text_sha256") or item.sha256
        if item.kind in _ALIKE and content and item.bytes and not item.detail.get("empty"):
            known = first.setdefault((item.kind, content, bool(item.detail.get("backup"))), item.file)
            if known != item.file:
                originals[item.file] = known


def _beginnings(items: list[Item], originals: dict[str, str]) -> None:
    """A log copied at 10:00 is the beginning of the one copied at 10:30."""
    alike: dict[bytes, list[Item]] = defaultdict(list)
    for item in items:
        if item.kind in _GROWS and item.file not in originals and item.bytes >= _HEAD:
            with contextlib.suppress(OSError), open_readonly(item.path) as stream:
                alike[stream.read(_HEAD)].append(item)
    for group in alike.values():
        group.sort(key=lambda i: (i.bytes, i.file))
        for n, item in enumerate(group):
            larger = (other for other in group[n + 1 :] if other.bytes > item.bytes)
            if longer := next((other for other in larger if _same(item, other, 0, item.bytes)), None):
                originals[item.file] = longer.file


def _same(a: Item, b: Item, low: int, high: int) -> bool | None:
    """Return whether two files hold the same between two physical offsets; None if one can no longer be read."""
    try:
        with open_readonly(a.path) as left, open_readonly(b.path) as right:
            left.seek(low - (a.base or 0))
            right.seek(low - (b.base or 0))
            for at in range(low, high, _CHUNK):
                part = min(_CHUNK, high - at)
                if left.read(part) != right.read(part):
                    return False
    except OSError:
        return None
    return True


def _stores(items: list[Item], originals: dict[str, str]) -> tuple[list[tuple[str, str]], bool]:
    logs = [i for i in items if i.kind in STORES and i.base is not None and i.detail.get("used")]
    disagree: list[tuple[str, str]] = []
    overlapping = False
    # The longest first: the others it covers are copies of it.
    logs.sort(key=lambda i: (-i.detail["used"], i.file))
    for n, item in enumerate(logs):
        for other in logs[:n]:
            if other.file in originals or other.kind != item.kind:
                continue
            low, high = max(item.base or 0, other.base or 0), min(_end(item), _end(other))
            same = _same(item, other, low, high) if low < high else None
            if same and (low, high) == (item.base, _end(item)):
                originals[item.file] = other.file
                break
            host = item.detail.get("store_host")
            disagrees = same is False and bool(host) and host == other.detail.get("store_host")
            if disagrees:
                disagree.append((item.file, other.file))
            overlapping = overlapping or bool(same) or disagrees
    return sorted(disagree), overlapping


def _end(item: Item) -> int:
    return (item.base or 0) + int(item.detail["used"])
