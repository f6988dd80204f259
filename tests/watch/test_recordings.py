"""Recordings written again as growing files: the right alert within 5 s of what decides it, none where all is well; and a day in fast forward."""

import os
import re
import resource
import struct
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import msgspec
import oracle
import plain_reader
import pytest
import recorded
from growing import Clock, watch, write
from stores import Record, store
from table import rows_of

pytestmark = pytest.mark.seconds
EVERY = 2.0
"""Seconds of the recording between two steps, as the command has it."""


def watched(name: str, tmp_path: Path) -> list[dict[str, Any]]:
    """Replay a recording under a watch; return its alerts."""
    growing = replay(recorded.whole(name), tmp_path)
    clock = Clock(growing.begin - EVERY)
    seen = watch(tmp_path, clock)
    alerts = seen.step()
    while clock.now < growing.end + 3 * EVERY:
        clock.now += EVERY
        growing.advance(clock.now)
        alerts += seen.step()
    assert seen.figures.signs["unreadable"] == 0
    return alerts


DECIDES = rows_of(__file__, "decides")
FAST = ("half-topic-blowup", "consumer-stuck")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST else pytest.mark.slow) for name in sorted(DECIDES)]
)
def test_the_right_alert_rings_within_five_seconds(name: str, tmp_path: Path) -> None:
    alerts = watched(name, tmp_path)
    cause, decided, step = DECIDES[name]
    mine = [alert for alert in alerts if alert["cause"] == cause]
    assert mine, [alert["cause"] for alert in alerts]
    late = datetime.fromisoformat(mine[0]["time"]) - datetime.fromisoformat(f"{decided}+00:00")
    assert late <= timedelta(seconds=5)
    assert mine[0]["state"] == "raised" and step in ("", mine[0]["step"])
    # Once an episode: whatever else is told of this place is that it gets worse.
    assert len([a for a in mine if a["state"] == "raised"]) == len({a["id"].rsplit("-", 2)[0] for a in mine})
    for alert in alerts:
        resolves(alert, tmp_path)
    if name == "half-topic-blowup":
        doubles(mine)


def doubles(alerts: list[dict[str, Any]]) -> None:
    """Check that a blow-up gets worse, and how fast: 42,000 half records of four messages in 84 s; log2(42000 / 4) is 13.4 doublings."""
    assert [alert["state"] for alert in alerts][:3] == ["raised", "worse", "worse"]
    assert 84 / 13.4 / 2 <= alerts[2]["figures"]["doubling_seconds"] <= 84 / 13.4 * 2
    assert datetime.fromisoformat(alerts[0]["figures"]["since"]).utcoffset() == timedelta(0)


def resolves(alert: dict[str, Any], folder: Path) -> None:
    """Check that each reference is a line or a record that is there."""
    assert alert["evidence"]
    for ref in alert["evidence"]:
        if "physical_offset" in ref:
            plain_reader.record(folder / ref["file"], ref["physical_offset"])
        elif not ref["file"].endswith(".gz"):
            line = plain_reader.line(folder / ref["file"], ref["line"])
            assert ref["text"].split("\n")[0][:60] in line or "→" in ref["text"] or " queue " in ref["text"]


QUIET = ("healthy", "subscription-restart", "healthy-5", "healthy-traced", "consumer-backlog-drained")


@pytest.mark.parametrize("name", [QUIET[0], *(pytest.param(name, marks=pytest.mark.slow) for name in QUIET[1:])])
def test_nothing_rings_where_all_is_well(name: str, tmp_path: Path) -> None:
    assert watched(name, tmp_path) == []


GMT8 = 8 * 3600
TIME = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")


@attrs.define
class Write:
    """Bytes that come to a file at one moment; `whole`: the file is replaced by them."""

    at: float
    name: str
    data: bytes
    start: int = 0
    whole: bool = False
    size: int = 0


@attrs.define
class Replay:
    """All writes of one evidence folder in order; `advance` does those up to a moment."""

    folder: Path
    writes: list[Write]
    done: int = 0

    @property
    def begin(self) -> float:
        return self.writes[0].at

    @property
    def end(self) -> float:
        return self.writes[-1].at

    def advance(self, until: float) -> None:
        while self.done < len(self.writes) and self.writes[self.done].at <= until:
            self._write(self.writes[self.done])
            self.done += 1

    def _write(self, write: Write) -> None:
        path = self.folder / write.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if write.whole:
            path.write_bytes(write.data)
        elif write.size:
            with path.open("r+b" if path.exists() else "w+b") as file:
                file.truncate(write.size)
                file.seek(write.start)
                file.write(write.data)
        else:
            with path.open("ab") as file:
                file.write(write.data)
        os.utime(path, (write.at, write.at))


def replay(evidence: Path, into: Path) -> Replay:
    """Plan the replay of an unpacked evidence folder."""
    writes: list[Write] = []
    times: dict[str, dict[int, float]] = {}
    files = sorted(p for p in evidence.rglob("*") if p.is_file())
    for path in files:
        if path.parent.name == "commitlog":
            base = int(path.name)
            stored = {base + at: _quarter(moment) for at, _, moment in records(path.read_bytes())}
            times.setdefault(str(path.parents[1]), {}).update(stored)
    for path in files:
        name = path.relative_to(evidence).as_posix()
        writes += _file(path, name, times.get(str(path.parents[3]) if len(path.parents) > 3 else "", {}))
    return Replay(into, sorted(writes, key=lambda each: each.at))


def _file(path: Path, name: str, times: dict[int, float]) -> Iterator[Write]:
    parts = name.split("/")
    changed = path.stat().st_mtime
    if parts[-2:-1] == ["commitlog"]:
        data = path.read_bytes()
        pieces = [(_quarter(stored), at, at + size) for at, size, stored in records(data)]
        end = pieces[-1][2] if pieces else 0
        filler = [(0.0, end, end + 8)] if end and data[end + 4 : end + 8] == b"\xcb\xd4\x31\x94" else []
        yield from _preallocated(name, data, [*pieces, *filler])
    elif "consumequeue" in parts:
        data = path.read_bytes()
        yield from _preallocated(name, data, _units(data, times, min(times.values(), default=changed)))
    elif "index" in parts or parts[-1] == "checkpoint":
        return
    elif "snapshots" in parts and "consumerOffset" in name:
        # What the broker kept at that moment is kept where the broker keeps it.
        yield Write(changed, f"{parts[0]}/store/config/consumerOffset.json", path.read_bytes(), whole=True)
    elif not name.endswith((".log", ".csv")):
        yield Write(changed, name, path.read_bytes(), whole=True)
    else:
        yield from _lines(path, name, changed)


def _lines(path: Path, name: str, changed: float) -> Iterator[Write]:
    """Yield the lines of a text by their own times (GMT+8, as all recordings have them), a second at once."""
    at, held = 0.0, []
    for line in path.read_bytes().splitlines(keepends=True):
        found = TIME.search(line[:40])
        moment = _moment(found[0]) if found else at
        if moment > at and held:
            yield Write(at or moment, name, b"".join(held))
            held = []
        at = max(at, moment)
        held.append(line)
    if held:
        yield Write(at or changed, name, b"".join(held))


def _moment(text: bytes) -> float:
    # The end of the second that is printed: what happened in it has happened.
    return datetime.fromisoformat(text.decode() + "+00:00").timestamp() - GMT8 + 0.999


def _preallocated(name: str, data: bytes, pieces: Iterable[tuple[float, int, int]]) -> Iterator[Write]:
    """Yield (due, start, end) of a preallocated file; what is due no later than what is before it comes with that."""
    moment = begin = stop = 0
    for due, start, end in pieces:
        if due > moment and start > begin:
            yield Write(moment, name, data[begin:start], begin, size=len(data))
            begin = start
        moment, stop = max(moment, due), end
    if stop > begin:
        yield Write(moment, name, data[begin:stop], begin, size=len(data))


def records(data: bytes) -> Iterator[tuple[int, int, float]]:
    """Yield (position, size, store time in seconds) of the records of a file."""
    at = 0
    while (record := oracle.parse(data, at)) is not None:
        yield at, record["size"], record["stored"] / 1000
        at += record["size"]


def _quarter(seconds: float) -> float:
    return -(-seconds * 4 // 1) / 4


def _units(data: bytes, times: dict[int, float], first: float) -> Iterator[tuple[float, int, int]]:
    """Yield the units of a queue by the store times of their records; what clean-up has deleted was there before."""
    for at in range(0, len(data) - 19, 20):
        physical, size = struct.unpack_from(">qi", data, at)
        if not size:
            break
        yield times.get(physical, first), at, at + 20


BEGIN = 1_795_305_600
STEP = 60
HOURS = 24


def broker_line(at: float, n: int) -> str:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at + 8 * 3600))
    pull = f"pull from 10.0.{n % 256}.{n % 199} took {n} ms"
    text = pull if n % 97 else "putMessage message topic length too long 149"
    return f"{stamp} WARN PullMessageThread_{n % 16} - {text}\n"


@pytest.mark.slow
def test_memory_and_state_stay_flat_over_a_day_of_rolled_and_deleted_files(tmp_path: Path) -> None:
    logs, stores = tmp_path / "logs", tmp_path / "store" / "commitlog"
    logs.mkdir()
    stores.mkdir(parents=True)
    clock, lines, segments = Clock(BEGIN), 0, 0
    seen = watch(tmp_path, clock)
    seen.step()
    sizes, held = [], []
    for minute in range(HOURS * 60):
        clock.now += STEP
        write(logs / "broker.log", "".join(broker_line(clock.now, lines + n) for n in range(200)), clock.now)
        lines += 200
        if minute % 30 == 29:
            # Every half hour the log is rolled, and all but the last five are deleted.
            (logs / "broker.log").rename(logs / f"broker.{minute // 30:04d}.log")
            for old in sorted(logs.glob("broker.*.log"))[:-5]:
                old.unlink()
        if minute % 20 == 0:
            base = segments << 20
            data = store([Record(topic=b"orders", body=b"x" * 200)] * 50, base=base).data
            (stores / f"{base:020d}").write_bytes(data + bytes((1 << 20) - len(data)))
            segments += 1
            for old in sorted(stores.iterdir())[:-4]:
                old.unlink()
        seen.step()
        sizes.append(len(msgspec.json.encode(seen.kept)))
        held.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize())
    for _ in range(3):
        clock.now += 40
        seen.step()
    # Nothing is lost or doubled; one episode, however long it lasts.
    assert seen.figures.entries == lines
    assert seen.figures.stages.total() == 50 * segments
    assert seen.figures.signs["topic-too-long"] == -(-lines // 97)
    assert len(seen.kept.episodes.open) == 1
    quarter = len(sizes) // 4
    assert max(sizes[quarter:]) < 2 * max(sizes[:quarter])
    assert max(sizes) < 64 << 10
    assert max(held[-quarter:]) < max(held[:quarter]) + (48 << 20)
