"""The recordings' truth: what RocketMQ's own decoder says about every record, and the stored bytes it says it about."""

from __future__ import annotations

import csv
import io
import json
import os
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

import kit
from kit.evidence import disk

if TYPE_CHECKING:
    from kit.case.case import Case

HERE = Path(__file__).parents[1]
SMALL = (
    "healthy", "healthy-5", "healthy-traced", "message-identity", "producer-offline", "size-mismatch",
    "transaction-consistency",
)  # fmt: skip
BIG = ("broker-busy", "half-topic-blowup")
REACH = (
    "acl-denied", "broker-unreachable", "offset-first-start", "offset-jump", "offset-reset", "replica-loss",
    "replica-sync", "topic-missing",
)  # fmt: skip
"""Offsets, reach and replicas: their exact truth is in the label."""
NAMES = tuple(sorted((*SMALL, *BIG)))
CONSUMERS = (
    "consumer-backlog", "consumer-backlog-drained", "consumer-stuck", "duplicate-client-id", "subscription-mismatch",
    "subscription-mismatch-tags", "subscription-restart",
)  # fmt: skip
"""What consumers do: the label is kept, not what the decoder says of each record."""


EVERY = (*NAMES, *REACH, *CONSUMERS)


def archive(name: str) -> Path:
    folder = HERE.parent / "sample_data"
    return (folder / "consumers" if name in CONSUMERS else folder) / f"{name}.tar.zst"


def truth(name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one recording, in file order."""
    with (
        (HERE / "truth" / f"{name}.truth.jsonl.zst").open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
    ):
        for line in io.TextIOWrapper(stream, "utf-8", newline="\n"):
            yield json.loads(line)


def label(name: str) -> dict[str, Any]:
    return json.loads((HERE / "truth" / f"{name}.label.json").read_text())


def commitlog(name: str) -> dict[int, bytes]:
    """Return {offset of the file's first byte: bytes} of the first broker's plain commitlog."""
    found = {}
    with (
        archive(name).open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        for member in tar:
            path = Path(member.name)
            if path.parent.name == "commitlog" and (data := tar.extractfile(member)):
                found[int(path.name)] = data.read()
    return found


def unpack(name: str, into: Path) -> Path:
    """Unpack a recording's evidence and return its folder."""
    with (
        archive(name).open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later
        tar.extractall(into)
    return into / "evidence"


@cache
def whole(name: str) -> Path:
    """Return a recording's evidence folder, unpacked once a run: for tests that change nothing in it."""
    folder = Path(os.environ["XDG_CACHE_HOME"], "recordings", name)
    with disk.locked(folder.with_suffix(".lock")):
        if not folder.is_dir():
            part = folder.with_suffix(".part")
            unpack(name, part)
            part.rename(folder)
    return folder / "evidence"


def case(name: str) -> Case:
    """Open a whole recording with the run's own cache: what another test has read or found is not worked out again."""
    return kit.open_case(whole(name))


@cache
def members(name: str) -> dict[str, bytes]:
    """Return every file of a small recording by its path inside the archive."""
    with (
        archive(name).open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        return {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}  # type: ignore[union-attr]


def rows(name: str, member: str) -> list[dict[str, str]]:
    """Return a CSV of a recording as one dict per row."""
    return list(csv.DictReader(io.StringIO(members(name)[member].decode())))
