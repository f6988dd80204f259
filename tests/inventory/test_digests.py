"""Digests of large files are kept while the file system says that a file is the same, and not longer."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from kit.inventory import inventory
from kit.inventory.inventory import LARGE, Digests
from kit.spark import kernels


def big(path: Path, letter: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(letter * LARGE)
    return path


def test_a_file_is_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = tmp_path / "evidence"
    first = big(evidence / "a.log", b"a")
    inventory.take(evidence, tmp_path / "cache")
    hashed = []
    read = inventory.sha256
    monkeypatch.setattr(inventory, "sha256", lambda path: hashed.append(path.name) or read(path))
    second = big(evidence / "b.log", b"b")
    found = inventory.take(evidence, tmp_path / "cache")
    assert hashed == ["b.log"]
    for path in (first, second):
        item = found.get(path.name)
        assert item is not None
        assert item.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_that_changed_is_hashed_again_even_with_its_old_time(tmp_path: Path) -> None:
    spool = tmp_path / "cache"
    spool.mkdir()
    path = big(tmp_path / "evidence" / "a.log", b"a")
    before = path.stat()
    kept = Digests(path.parent, spool)
    kept.of(path)
    kept.keep()
    path.write_bytes(b"z" * LARGE)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Digests(path.parent, spool).of(path) == hashlib.sha256(b"z" * LARGE).hexdigest()


def test_damaged_notes_are_as_none(tmp_path: Path) -> None:
    spool = tmp_path / "cache"
    spool.mkdir()
    path = big(tmp_path / "evidence" / "a.log", b"a")
    kept = Digests(path.parent, spool)
    kept.of(path)
    kept.keep()
    (notes,) = spool.glob("*/digests.json")
    for text in ("", "[1", '"x"', "[1, 2]"):
        notes.write_text(text)
        assert Digests(path.parent, spool).of(path) == hashlib.sha256(b"a" * LARGE).hexdigest()


def test_records_are_hashed_only_where_somebody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence whose records changed is other evidence all the same."""
    path = tmp_path / "evidence" / "commitlog" / "00000000000000000000"
    path.parent.mkdir(parents=True)
    path.write_bytes(kernels.sample() + bytes(LARGE))
    text = big(tmp_path / "evidence" / "a.log", b"a")

    def take(hashes: bool) -> inventory.Inventory:
        return inventory.take(tmp_path / "evidence", tmp_path / "cache", hashes=hashes)

    def content(found: inventory.Inventory) -> str | None:
        item = found.get("commitlog/00000000000000000000")
        assert item is not None
        assert item.kind == "commitlog"
        return item.content

    hashed = []
    read = inventory.sha256
    monkeypatch.setattr(inventory, "sha256", lambda path: hashed.append(path.name) or read(path))
    before = take(False)
    assert hashed == [text.name]
    path.write_bytes(kernels.sample() + b"\1" + bytes(LARGE - 1))
    changed = take(False)
    assert content(before) != content(changed)
    assert before.content_key != changed.content_key
    assert content(take(True)) == hashlib.sha256(path.read_bytes()).hexdigest()
    # Once it is known it costs nothing.
    assert content(take(False)) == content(take(True))
    assert hashed == [text.name, path.name]
