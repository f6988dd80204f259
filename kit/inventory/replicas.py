"""Files with the same content: equal bytes, an earlier copy of a file that grew, a slave's or a DLedger member's commitlog."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import attrs

from kit.evidence.files import open_readonly
from kit.inventory.model import STORES, Item

_GROWS: Final = ("log", "text", "mqadmin", "metrics", "rows", "sends")
"""Kinds of files whose earlier copy may be the beginning of a later one."""

_ALIKE: Final = (
    *_GROWS, "source_code", "document", "other_systems_log", "thread_dump", "store_json", "broker_conf", "checkpoint", "index",
    "consumequeue",
)  # fmt: skip
_CHUNK: Final = 1 << 20


def mark(items: list[Item]) -> tuple[list[Item], list[tuple[str, str]], bool]:
    """Return the items with `replica_of` set, the pairs that disagree, and whether commitlogs overlap partially."""
    originals: dict[str, str] = {}
    _equal(items, originals)
    _beginnings(items, originals)
    disagree, overlapping = _stores(items, originals)
    return (
        [attrs.evolve(i, replica_of=_root(i.file, originals)) if i.file in originals else i for i in items],
        disagree,
        overlapping,
    )


def _root(file: str, originals: dict[str, str]) -> str:
    seen = {file}
    while file in originals and originals[file] not in seen:
        file = originals[file]
        seen.add(file)
    return file


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
        if item.kind in _GROWS and item.file not in originals and item.bytes >= 256:
            with contextlib.suppress(OSError), open_readonly(item.path) as stream:
                alike[stream.read(256)].append(item)
    for group in alike.values():
        group.sort(key=lambda i: (i.bytes, i.file))
        for n, item in enumerate(group):
            larger = (other for other in group[n + 1 :] if other.bytes > item.bytes)
            if longer := next((other for other in larger if _same(item, 0, other, 0, item.bytes)), None):
                originals[item.file] = longer.file


def _same(a: Item, a_at: int, b: Item, b_at: int, size: int) -> bool | None:
    """Return whether two ranges are equal; None if one of them can no longer be read."""
    try:
        with open_readonly(a.path) as left, open_readonly(b.path) as right:
            left.seek(a_at)
            right.seek(b_at)
            while size > 0:
                part = min(_CHUNK, size)
                x, y = left.read(part), right.read(part)
                if x != y:
                    return False
                if not x:
                    break
                size -= part
    except OSError:
        return None
    return True


def _stores(items: Iterable[Item], originals: dict[str, str]) -> tuple[list[tuple[str, str]], bool]:
    logs = [i for i in items if i.kind in STORES and i.base is not None and i.detail.get("used")]
    disagree: list[tuple[str, str]] = []
    overlapping = False
    # The longest first: the others it covers are copies of it.
    logs.sort(key=lambda i: (-i.detail["used"], i.file))
    for n, item in enumerate(logs):
        for other in logs[:n]:
            if other.file in originals or other.kind != item.kind:
                continue
            low = max(item.base or 0, other.base or 0)
            high = min(_end(item), _end(other))
            if low >= high:
                continue
            same = _same(item, low - (item.base or 0), other, low - (other.base or 0), high - low)
            if same:
                if low == item.base and high == _end(item):
                    originals[item.file] = other.file
                    break
                overlapping = True
            elif same is False and _one_host(item, other):
                disagree.append((item.file, other.file))
                overlapping = True
    return sorted(disagree), overlapping


def _end(item: Item) -> int:
    return (item.base or 0) + int(item.detail["used"])


def _one_host(item: Item, other: Item) -> bool:
    return bool(item.detail.get("store_host")) and item.detail["store_host"] == other.detail.get("store_host")
