"""Files that grow, roll, are cut off and deleted under a follower: each entry and record once."""

import math
import os
import shutil
import struct
from pathlib import Path

import attrs
import pytest
from folders import put
from growing import Clock, write
from stores import Record, store

from kit.formats.logs.schema import Options
from kit.watch import following, loop
from kit.watch.following import FORGET, State


@attrs.define
class Tail:
    """Steps made by hand, and everything they have read. `since`: of the first step."""

    root: Path
    since: float = 0.0
    most: int = 1 << 30
    state: State = attrs.field(factory=dict)
    clock: Clock = attrs.field(factory=lambda: Clock(1_795_300_000.0))
    rows: list[dict] = attrs.field(factory=list)

    def step(self, seconds=0.1):
        self.clock.now += seconds
        self.state = following.step([self.root], self.state, self.clock.now, most=self.most, since=self.since)
        self.since = 0.0
        new = [row for place in self.state.values() if place.is_new for row in self.read(place)]
        self.rows += new
        return new

    def read(self, place):
        return [row for batch in loop.new_rows(self.root, place, Options(events=True)) for row in batch.to_pylist()]

    @property
    def messages(self):
        return [row.get("message") for row in self.rows]


def line(second, text):
    return f"2026-11-22 08:00:{second:02d} WARN SendMessageThread_1 - {text}\n"


@pytest.fixture
def log(tmp_path):
    tail = Tail(tmp_path / "logs")
    path = tmp_path / "logs" / "store.log"
    write(path, line(0, "first"), tail.clock.now)
    return tail, path


def test_an_entry_is_whole_when_the_next_begins_or_after_a_quiet_second(log):
    tail, path = log
    assert tail.step() == []
    write(path, "\tat org.Example.run\n" + line(1, "second"), tail.clock.now)
    (first,) = tail.step()
    assert (first["message"], first["trace"], first["line"], first["lines"]) == ("first", "\tat org.Example.run", 1, 2)
    assert tail.step(0.5) == []
    (second,) = tail.step(1.0)
    assert (second["message"], second["line"]) == ("second", 3)
    assert tail.step(60) == []


def test_a_copied_log_is_read_from_where_it_was_left(log):
    tail, path = log
    write(path, "".join(line(n, f"number {n}") for n in range(1, 40)), tail.clock.now)
    tail.step()
    write(path, line(41, "unread when it was rolled"), tail.clock.now)
    shutil.copy2(path, path.parent / "store.log.1")
    path.write_bytes(b"")
    write(path, line(42, "new file"), tail.clock.now)
    for _ in range(4):
        tail.step(2)
    expected = ["first", *(f"number {n}" for n in range(1, 40)), "new file", "unread when it was rolled"]
    assert sorted(tail.messages) == sorted(expected)


def test_a_log_that_was_cut_off_begins_anew(log):
    tail, path = log
    tail.step(2)
    path.write_text("", encoding="utf-8")
    write(path, line(7, "anew"), tail.clock.now)
    tail.step(2)
    tail.step(2)
    assert tail.messages == ["first", "anew"]
    assert tail.rows[-1]["line"] == 1


def test_a_deleted_log_is_forgotten_in_time_and_its_successor_is_read(log):
    tail, path = log
    tail.step(2)
    path.unlink()
    tail.step()
    assert len(tail.state) == 1
    tail.step(FORGET + 1)
    assert tail.state == {}
    write(path, line(9, "successor"), tail.clock.now)
    tail.step(2)
    tail.step(2)
    assert tail.messages == ["first", "successor"]


def test_latest_leaves_out_what_is_there_and_keeps_line_numbers(tmp_path):
    tail = Tail(tmp_path, since=math.inf)
    write(tmp_path / "broker.log", line(0, "old") * 7, tail.clock.now)
    tail.step()
    write(tmp_path / "broker.log", line(2, "new"), tail.clock.now)
    tail.step()
    tail.step(2)
    assert [(row["message"], row["line"]) for row in tail.rows] == [("new", 8)]


def test_a_step_reads_a_limited_number_of_bytes_and_none_is_lost(log):
    tail, path = log
    write(path, "".join(line(n % 60, f"number {n}") for n in range(1000)), tail.clock.now)
    tail.most = 4096
    sizes = [len(tail.step(2)) for _ in range(30)]
    assert max(sizes) <= 4096 // len(line(0, "number 0")) + 1
    assert len(tail.messages) == 1001
    assert [row["line"] for row in tail.rows] == list(range(1, 1002))


def test_an_interleaved_writer_and_roller_lose_and_double_nothing(tmp_path):
    tail = Tail(tmp_path / "logs")
    path = tmp_path / "logs" / "store.log"
    written = []
    for n in range(400):
        text = f"entry {n}"
        written.append(text)
        write(path, line(n % 60, text) + ("\tat some.Trace\n" if n % 7 == 0 else ""), tail.clock.now)
        if n % 50 == 49:
            path.rename(path.with_name(f"store.{n}.log"))
        if n % 3 == 0:
            tail.step(0.4)
    for _ in range(3):
        tail.step(2)
    assert sorted(tail.messages) == sorted(written)
    assert [row["trace"] for row in tail.rows if row["message"] == "entry 7"] == ["\tat some.Trace"]


def records(count):
    return [Record(topic=b"orders", body=b"x" * (50 + n), numbers=(0, 0, n, 0, 0)) for n in range(count)]


def preallocated(folder, base, size):
    path = put(folder / f"{base:020d}", "")
    os.truncate(path, size)
    return path


def overwrite(path, at, data):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def test_commitlog_records_come_once_as_they_are_written(tmp_path):
    tail = Tail(tmp_path)
    size = 1 << 20
    path = preallocated(tmp_path / "commitlog", 0, size)
    data = store(records(40)).data
    tail.step()
    assert tail.rows == []
    cut = len(data) // 2
    for start, stop in ((0, cut), (cut, cut + 3), (cut + 3, len(data))):
        overwrite(path, start, data[start:stop])
        tail.step()
    assert [row["queue_offset"] for row in tail.rows] == list(range(40))
    # The file ends with filler; the next one begins where it ends.
    overwrite(path, len(data), struct.pack(">iI", size - len(data), 0xCBD43194))
    second = store(records(3), base=size).data
    new = preallocated(tmp_path / "commitlog", size, size)
    tail.step()
    overwrite(new, 0, second)
    tail.step()
    tail.step()
    assert len(tail.rows) == 43
    assert tail.rows[-1]["physical_offset"] > size
    shutil.rmtree(tmp_path / "commitlog")
    assert tail.step() == []


def test_latest_begins_behind_the_records_that_are_there(tmp_path):
    tail = Tail(tmp_path, since=math.inf)
    data = store(records(30)).data
    path = preallocated(tmp_path / "commitlog", 0, 64 << 20)
    most = len(store(records(29)).data)
    overwrite(path, 0, data[:most])
    tail.step()
    overwrite(path, most, data[most:])
    tail.step()
    assert [row["queue_offset"] for row in tail.rows] == [29]


def test_an_inode_that_is_another_file_now_is_recognised_anew(log):
    tail, path = log
    tail.step(2)
    # The same inode, as a file system gives it to the next file.
    path.write_bytes(store(records(40)).data + bytes(4096))
    path.rename(path.with_name(f"{0:020d}"))
    tail.step(2)
    tail.step(2)
    assert tail.messages[:1] == ["first"]
    assert [row["queue_offset"] for row in tail.rows[1:]] == list(range(40))
