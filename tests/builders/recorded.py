"""The recordings' truth: what RocketMQ's own decoder says about every record, and the stored bytes it says it about."""

import contextlib
import csv
import io
import json
import os
import tarfile
from functools import cache
from pathlib import Path

import zstandard

import kit
from kit.evidence import disk

HERE = Path(__file__).parents[1]
SMALL = (
    "healthy", "healthy-5", "healthy-traced", "message-identity", "producer-offline", "size-mismatch",
    "transaction-consistency",
)  # fmt: skip
BIG = ("broker-busy", "half-topic-blowup")
ARCHIVES = {path.name.removesuffix(".tar.zst"): path for path in sorted(HERE.parent.glob("sample_data/**/*.tar.zst"))}
EVERY = tuple(ARCHIVES)
DECODED = sorted(path.name.partition(".")[0] for path in HERE.glob("truth/*.truth.jsonl.zst"))
"""Of which RocketMQ's decoder says every record."""


def truth(name):
    """Yield the records of one recording, in file order."""
    with (
        (HERE / "truth" / f"{name}.truth.jsonl.zst").open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as stream,
    ):
        for line in io.TextIOWrapper(stream, "utf-8", newline="\n"):
            yield json.loads(line)


def label(name):
    return json.loads((HERE / "truth" / f"{name}.label.json").read_text())


@contextlib.contextmanager
def opened(name):
    """Open the archive of a recording, to be read from its begin to its end."""
    with (
        ARCHIVES[name].open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as plain,
        tarfile.open(fileobj=plain, mode="r|") as tar,
    ):
        yield tar


def stored(record, stores):
    """Return the bytes of a record of the truth, from what `commitlog` gives."""
    base = max(first for first in stores if first <= record["physical_offset"])
    return stores[base][record["physical_offset"] - base :][: record["store_size"]]


def unpack(name, into):
    """Unpack a recording's evidence and return its folder."""
    with opened(name) as tar:
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later
        tar.extractall(into)
    return into / "evidence"


@cache
def whole(name):
    """Return a recording's evidence folder, unpacked once a run: for tests that change nothing in it."""
    folder = Path(os.environ["XDG_CACHE_HOME"], "recordings", name)
    with disk.locked(folder.with_suffix(".lock")):
        if not folder.is_dir():
            part = folder.with_suffix(".part")
            unpack(name, part)
            part.rename(folder)
    return folder / "evidence"


def case(name):
    """Open a whole recording with the run's own cache: what another test has read or found is not worked out again."""
    return kit.open_case(whole(name))


def paths(name, pattern="**/*"):
    """Return the files of a recording that a pattern fits, by their paths in its evidence."""
    root = whole(name)
    return {path.relative_to(root).as_posix(): path for path in sorted(root.glob(pattern)) if path.is_file()}


def files(name, pattern="**/*"):
    """Return what is in them."""
    return {file: path.read_bytes() for file, path in paths(name, pattern).items()}


def commitlog(name):
    """Return {offset of the file's first byte: bytes} of the first broker's plain commitlog."""
    return {int(Path(file).name): data for file, data in files(name, "**/commitlog/*").items()}


def rows(name, pattern):
    """Return the rows of CSVs of a recording, one dict each."""
    return [row for data in files(name, pattern).values() for row in csv.DictReader(io.StringIO(data.decode()))]


def texts(name):
    """Return the logs and mqadmin outputs that are neither empty nor compressed."""
    shown = {file: path for file, path in paths(name).items() if "/mqadmin/" in file or file.endswith(".log")}
    return {file: path for file, path in shown.items() if path.stat().st_size}


@cache
def log_entries(name):
    """Return all log entries of a recording with their known texts, times without a zone taken as UTC."""
    from kit.formats.logs import entries
    from kit.formats.logs.schema import Options, Piece
    from kit.spark.sources import pieces

    parts = (piece for file, path in texts(name).items() for piece in pieces(Piece(file, str(path))))
    read = Options(events=True)
    return [row for piece in parts for batch in entries.batches(piece, read) for row in batch.to_pylist()]
