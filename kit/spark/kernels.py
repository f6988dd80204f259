"""Compiles every kernel once, so that no worker has to, and modules and YAML: `python -m kit.spark.kernels`."""

import compileall
import struct
import tempfile
import zlib
from pathlib import Path

from kit import data
from kit.formats import traces
from kit.formats.commitlog import batches, segments
from kit.formats.commitlog.records import sniff
from kit.formats.commitlog.schema import FIELDS, STORED
from kit.rocketmq import binary_format as f


def sample(physical_offset: int = 0) -> bytes:
    """Return one v1 record with a property that is not UTF-8 and one that occurs twice, so that every path runs."""
    body, topic, properties = b"body", b"t", b"KEYS\x01\xff\x02UNIQ_KEY\x01k\x02DELAY\x011\x02DELAY\x012"
    size = f.MIN_RECORD + len(body) + len(topic) + len(properties)
    host = bytes([127, 0, 0, 1]) + struct.pack(">i", 10911)
    head = (size, f.MAGIC_V1, zlib.crc32(body) & 0x7FFFFFFF, 0, 0, 0, physical_offset, 0)
    parts = (len(body), body, len(topic), topic, len(properties), properties)
    # After the head: born time and host, store time and host, attempts to consume it, offset of its half message.
    return struct.pack(
        f">iIiiiqqi q8s q8s iq i{len(body)}s B{len(topic)}s h{len(properties)}s", *head, 1, host, 1, host, 0, 0, *parts
    )


def warm() -> None:
    """Run each kernel on a tiny file; numba keeps the machine code in its cache folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "0" * f.FILE_NAME_DIGITS)
        first = sample()
        path.write_bytes(first + sample(len(first)) + bytes(8192))
        sniff(first)
        file = segments.examine(path.name, str(path))
        wanted = batches.Wanted(tuple(FIELDS), topics=frozenset({"t"}))
        list(segments.messages(file, 0, file.used, wanted))
        list(segments.messages(file, 0, file.used, batches.Wanted(STORED, body_topics=frozenset({"t"}))))
        list(segments.skipped(file, 0, file.used))
        list(traces.trace_rows(file, 0, file.used))


if __name__ == "__main__":
    warm()
    compileall.compile_dir(data.KIT, quiet=1)  # where PYTHONDONTWRITEBYTECODE is set no command would
    data.compile_all()
