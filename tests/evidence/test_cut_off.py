"""A file that is cut off while it is read: a mapped one would end the process (SIGBUS), so each of these tests could end the whole run."""

import os

import numba
import numpy as np
import pytest
from folders import put
from stores import Record, store

from kit.evidence import buffers
from kit.evidence.files import Shrunk, open_raw, refusal
from kit.formats.commitlog import segments
from kit.formats.commitlog.schema import Wanted
from kit.formats.logs.schema import LogFile
from kit.formats.queues import consumequeue, index
from kit.inventory import mentions

ID = "0A142C1500000C387F4466D0DB3F0003"


@pytest.fixture
def commitlog(tmp_path):
    path = tmp_path / f"{0:020}"
    path.write_bytes(store([Record(body=bytes([n % 251]) * 900) for n in range(400)], 0).data)
    return path


def test_kernels_are_not_compiled_again_for_a_mapped_file(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    with open_raw(tmp_path / "x") as file:
        mapped = buffers.mapped(file, 3)
        assert numba.typeof(mapped) == numba.typeof(buffers.space(3))
        mapped[0] = 0
    assert (bytes(mapped), (tmp_path / "x").read_bytes()) == (b"\0bc", b"abc")


@pytest.mark.parametrize("how", [buffers.mapped, lambda file, size: buffers.read(file, buffers.space(size), 0, size)])
def test_a_file_that_is_shorter_than_it_was_is_named_so(tmp_path, how):
    (tmp_path / "x").write_bytes(b"abc")
    with open_raw(tmp_path / "x") as file, pytest.raises(Shrunk) as caught:
        how(file, 5000)
    assert (refusal("x", caught.value).reason, refusal("x", caught.value).detail) == ("shrunk", "3 / 5,000")


def test_a_commitlog(commitlog, monkeypatch):
    monkeypatch.setattr(segments, "BATCH_BYTES", 50_000)
    file = segments.examine("x", str(commitlog))
    read = segments.messages(file, 0, file.used, Wanted(("physical_offset", "body_crc")))
    rows = next(read).num_rows
    os.truncate(commitlog, 5_000)
    assert rows < 100 and rows + sum(batch.num_rows for batch in read) == 400
    with pytest.raises(Shrunk):
        next(segments.messages(file, 0, file.used, Wanted(("physical_offset",))))


def test_a_consume_queue(tmp_path, monkeypatch):
    units = np.zeros(2000, consumequeue.PLAIN)
    units["physical_offset"], units["size"] = np.arange(2000) * 200, 200
    path = put(tmp_path / "consumequeue" / "T" / "0" / f"{0:020}", units.tobytes())
    monkeypatch.setattr(consumequeue, "BATCH_UNITS", 100)
    read = consumequeue.units(str(path), str(path))
    next(read)
    os.truncate(path, 10)
    assert sum(batch.num_rows for batch in read) == 1900


def test_an_index_file(tmp_path, monkeypatch):
    path, count = tmp_path / "index", 1000
    head, table = np.zeros(1, index.HEAD), np.zeros(count + 1, index.ENTRY)
    at = 1_700_000_000_000
    head[0] = (at, at + 1000, 10, 10 + 200 * (count - 1), count // 2, count + 1)
    table["physical_offset"][1:], table["key_hash"][1:] = 10 + 200 * np.arange(count), np.arange(count)
    slots = np.zeros(count // 4, ">i4")
    slots[0] = 1
    path.write_bytes(head.tobytes() + slots.tobytes() + table.tobytes())
    monkeypatch.setattr(index, "BATCH_ENTRIES", 100)
    read = index.entries("x", str(path))
    next(read)
    os.truncate(path, 10)
    assert sum(batch.num_rows for batch in read) == 900


def test_a_log_that_is_searched(tmp_path, monkeypatch):
    path = tmp_path / "x.log"
    path.write_text("".join(f"line {n} {ID if n % 1000 == 0 else ''}\n" for n in range(1, 20_001)))
    monkeypatch.setattr(mentions, "WINDOW", 10_000)
    real = mentions._windows

    def cut(text):
        for number, data in enumerate(real(text)):
            yield data
            if number == 5:
                os.truncate(path, 100)

    [first, *_], counts = mentions.search([LogFile("x.log", str(path))], {"": [ID]})[""]
    assert (first.line, counts) == (1000, {"x.log": 20})
    monkeypatch.setattr(mentions, "_windows", cut)
    found, counts = mentions.search([LogFile("x.log", str(path))], {"": [ID]})[""]
    assert 0 < counts["x.log"] < 20 and found[0].line == 1000
