"""The kit's YAML files, each read into typed rows; and rows by what they have in common."""

import contextlib
import os
import sys
from collections.abc import Iterable
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

Read = TypeVar("Read")
K = TypeVar("K")
V = TypeVar("V")

KIT: Final = Path(__file__).parent


class Row(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A row: unknown fields and values of another type are errors when it is read."""


def read(name: str, kind: type[Read], part: str = "") -> Read:
    """Return the rows of `kit/<name>`, or of a part of it. Raise `msgspec.ValidationError`, which names the place."""
    rows = _plain(KIT / name)
    return msgspec.convert(rows[part] if part else rows, kind)


def compile_all() -> None:
    """Keep what every YAML file says beside the compiled modules."""
    for path in KIT.rglob("*.yaml"):
        _plain(path)


def text(name: str) -> str:
    return (KIT / name).read_text(encoding="utf-8")


def _plain(path: Path) -> Any:
    """Return what a YAML file says; kept beside the compiled modules, for reading all takes a quarter of a second."""
    compiled = Path(cache_from_source(str(path))).with_suffix(".msgpack")
    now = path.stat()
    change = [now.st_mtime_ns, now.st_size]
    with contextlib.suppress(OSError, ValueError):
        known, rows = msgspec.msgpack.decode(compiled.read_bytes(), type=tuple[list[int], Any])
        if known == change:
            return rows
    rows = msgspec.yaml.decode(path.read_bytes())
    if not sys.dont_write_bytecode:
        part = compiled.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            compiled.parent.mkdir(exist_ok=True)
            part.write_bytes(msgspec.msgpack.encode([change, rows]))
            part.replace(compiled)
    return rows


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the values of each key, both in the order of their first place."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
