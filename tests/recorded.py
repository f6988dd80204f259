"""The recordings' truth: what RocketMQ's own decoder says about every record, and the stored bytes it says it about."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

HERE = Path(__file__).parent
SMALL = ("healthy", "healthy-5", "healthy-traced", "message-identity", "producer-offline", "size-mismatch", "transaction-consistency")
BIG = ("broker-busy", "half-topic-blowup")


def truth(name: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one recording, in file order."""
    with (HERE / "truth" / f"{name}.truth.jsonl.zst").open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        for line in io.TextIOWrapper(stream, "utf-8", newline="\n"):
            yield json.loads(line)


def label(name: str) -> dict[str, Any]:
    return json.loads((HERE / "truth" / f"{name}.label.json").read_text())


def commitlog(name: str) -> dict[int, bytes]:
    """Return {offset of the file's first byte: bytes} of the first broker's plain commitlog."""
    found = {}
    archive = HERE.parent / "sample_data" / f"{name}.tar.zst"
    with archive.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            path = Path(member.name)
            if path.parent.name == "commitlog" and (data := tar.extractfile(member)):
                found[int(path.name)] = data.read()
    return found
