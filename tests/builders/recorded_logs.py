"""The text logs and mqadmin outputs of a recording, and the entries they hold."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

HERE = Path(__file__).parents[1]


@cache
def texts(name: str) -> dict[str, bytes]:
    """Return {path in the archive: bytes} of its logs and mqadmin outputs that are not empty and not compressed."""
    found = {}
    archive = HERE.parent / "sample_data" / f"{name}.tar.zst"
    with (
        archive.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        for member in tar:
            if (
                member.size
                and (member.name.endswith(".log") or "/mqadmin/" in member.name)
                and (data := tar.extractfile(member))
            ):
                found[member.name] = data.read()
    return found


@cache
def entries_of(name: str, folder: Path) -> list[dict[str, Any]]:
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
