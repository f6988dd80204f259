"""The recordings' truth: what RocketMQ's own decoder says about every record, and the stored bytes it says it about."""

import contextlib
import csv
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

import kit
from kit.case.case import Case
from kit.evidence import disk

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


@contextlib.contextmanager
def opened(name: str) -> Iterator[tarfile.TarFile]:
    """Open the archive of a recording, to be read from its begin to its end."""
    with (
        archive(name).open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        yield tar


def files(name: str, wanted: Callable[[tarfile.TarInfo], bool]) -> dict[str, bytes]:
    """Return the files of an archive that are wanted, by their paths in it."""
    with opened(name) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar if m.isfile() and wanted(m)}  # type: ignore[union-attr]


def commitlog(name: str) -> dict[int, bytes]:
    """Return {offset of the file's first byte: bytes} of the first broker's plain commitlog."""
    found = files(name, lambda member: Path(member.name).parent.name == "commitlog")
    return {int(Path(path).name): data for path, data in found.items()}


def stored(record: dict[str, Any], stores: dict[int, bytes]) -> bytes:
    """Return the bytes of a record of the truth, from what `commitlog` gives."""
    base = max(first for first in stores if first <= record["physical_offset"])
    return stores[base][record["physical_offset"] - base :][: record["store_size"]]


def unpack(name: str, into: Path) -> Path:
    """Unpack a recording's evidence and return its folder."""
    with opened(name) as tar:
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
    return files(name, lambda member: True)


def written(name: str, folder: str, into: Path) -> list[tuple[str, str]]:
    """Write the files of an archive below a folder of that name; return (path in the archive, path) of each."""
    found = files(name, lambda member: f"/{folder}/" in member.name)
    paths = [into / str(n) for n in range(len(found))]
    for path, data in zip(paths, found.values(), strict=True):
        path.write_bytes(data)
    return list(zip(found, map(str, paths), strict=True))


@cache
def texts(name: str) -> dict[str, bytes]:
    """Return the logs and mqadmin outputs that are neither empty nor compressed, by their paths inside the archive."""
    return files(name, lambda member: member.size > 0 and (member.name.endswith(".log") or "/mqadmin/" in member.name))


@cache
def log_entries(name: str, folder: Path) -> list[dict[str, Any]]:
    """Return all log entries of a recording, times without a zone taken as UTC."""
    from kit.formats.logs import entries
    from kit.formats.logs.schema import LogFile, Options
    from kit.spark.log_source import pieces

    rows = []
    for number, (path, data) in enumerate(texts(name).items()):
        plain = folder / str(number)
        plain.write_bytes(data)
        for piece in pieces(LogFile(path, str(plain))):
            rows += [row for batch in entries.batches(piece, Options(events=True)) for row in batch.to_pylist()]
    return rows


def rows(name: str, member: str) -> list[dict[str, str]]:
    """Return a CSV of a recording as one dict per row."""
    return list(csv.DictReader(io.StringIO(members(name)[member].decode())))
