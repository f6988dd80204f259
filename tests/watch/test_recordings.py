"""Recordings written again as growing files: the right alert within 5 s of what decides it, none where all is well; and a day in fast forward."""

import os
import re
import resource
import struct
import time
from collections import defaultdict, deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

import attrs
import msgspec
import oracle
import plain_reader
import pytest
import recorded
from growing import Clock, watch, write
from stores import BLANK, Record, store
from table import rows_of

pytestmark = pytest.mark.seconds
EVERY = 2.0
"""Seconds of the recording between two steps, as the command has it."""


def watched(name, tmp_path):
    """Replay a recording under a watch; return its alerts."""
    writes = deque(replay(recorded.whole(name)))
    clock = Clock(writes[0].at - EVERY)
    seen = watch(tmp_path, clock)
    alerts = seen.step()
    end = writes[-1].at + 3 * EVERY
    while clock.now < end:
        clock.now += EVERY
        while writes and writes[0].at <= clock.now:
            writes.popleft().into(tmp_path)
        alerts += seen.step()
    assert seen.figures.signs["unreadable"] == 0
    return alerts


DECIDES = rows_of(__file__, "decides")
MARKS = {"consumer-stuck": (), "half-topic-blowup": pytest.mark.recordings}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=MARKS.get(name, pytest.mark.slow)) for name in sorted(DECIDES)]
)
def test_the_right_alert_rings_within_five_seconds(name, tmp_path):
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


def doubles(alerts):
    """Check that a blow-up gets worse, and how fast: 42,000 half records of four messages in 84 s; log2(42000 / 4) is 13.4 doublings."""
    assert [alert["state"] for alert in alerts][:3] == ["raised", "worse", "worse"]
    assert 84 / 13.4 / 2 <= alerts[2]["figures"]["doubling_seconds"] <= 84 / 13.4 * 2
    assert datetime.fromisoformat(alerts[0]["figures"]["since"]).utcoffset() == timedelta(0)


def resolves(alert, folder):
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
def test_nothing_rings_where_all_is_well(name, tmp_path):
    assert watched(name, tmp_path) == []


GMT8 = 8 * 3600
TIME = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
Cuts = Iterable[tuple[float, int]]
"""How a file grew: when it had bytes up to where."""


@attrs.define(order=True)
class Write:
    """Bytes that come to a file at one moment, behind what it has; `size`: of a file that was allocated ahead."""

    at: float
    name: str
    start: int
    data: bytes
    size: int = 0

    def into(self, folder):
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if self.start else "wb") as file:
            file.truncate(self.size or self.start)
            file.seek(self.start)
            file.write(self.data)
        os.utime(path, (self.at, self.at))


def replay(evidence):
    """Return all writes of an unpacked evidence folder in order."""
    stored = defaultdict(dict)
    writes = []
    # Of a store its commit log comes first: it has the times of what the queues name.
    for path in sorted((p for p in evidence.rglob("*") if p.is_file()), key=lambda p: "commitlog" not in p.parts):
        data, name, changed = path.read_bytes(), path.relative_to(evidence).as_posix(), path.stat().st_mtime
        if path.parent.name == "commitlog":
            times = stored[path.parents[1]]
            writes += growth(name, data, records(data, int(path.name), times), len(data))
        elif "consumequeue" in path.parts:
            writes += growth(name, data, units(data, stored[path.parents[3]]), len(data))
        elif "snapshots" in path.parts and "consumerOffset" in name:
            # What the broker kept at that moment is kept where the broker keeps it.
            writes.append(Write(changed, f"{name.split('/')[0]}/store/config/consumerOffset.json", 0, data))
        elif name.endswith((".log", ".csv")):
            writes += growth(name, data, lines(data, changed))
        elif path.name != "checkpoint" and path.parent.name != "index":
            writes.append(Write(changed, name, 0, data))
    return sorted(writes)


def growth(name, data, cuts, size=0):
    """Yield the writes of a file; what is due no later than what is before it comes with that."""
    moment = begin = stop = 0
    for due, end in cuts:
        if due > moment and stop > begin:
            yield Write(moment, name, begin, data[begin:stop], size)
            begin = stop
        moment, stop = max(moment, due), end
    if stop > begin:
        yield Write(moment, name, begin, data[begin:stop], size)


def lines(data, changed):
    """Yield the lines of a text by their own times (GMT+8, as all recordings have them): at the end of the second that is printed."""
    each = data.splitlines(keepends=True)
    found = [TIME.search(line[:40]) for line in each]
    dues = [one and datetime.fromisoformat(one[0].decode() + "+00:00").timestamp() - GMT8 + 0.999 for one in found]
    at, end = next(filter(None, dues), changed), 0
    for line, due in zip(each, dues, strict=True):
        at, end = max(at, due or 0), end + len(line)
        yield at, end


def records(data, base, times):
    """Yield the records of a commit log by their store times, a quarter of a second at once, then its filler; note the times."""
    at = 0
    while (record := oracle.parse(data, at)) is not None:
        times[base + at] = -(-record["stored"] // 250) / 4
        yield times[base + at], at + record["size"]
        at += record["size"]
    if at and data[at + 4 : at + 8] == BLANK:
        yield 0, at + 8


def units(data, times):
    """Yield the units of a queue by the store times of their records; what clean-up has deleted was there before."""
    first = min(times.values())
    for end in range(20, len(data) + 1, 20):
        physical, size = struct.unpack_from(">qi", data, end - 20)
        if not size:
            return
        yield times.get(physical, first), end


BEGIN = 1_795_305_600
STEP = 60
HOURS = 24


def broker_line(at, n):
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at + 8 * 3600))
    pull = f"pull from 10.0.{n % 256}.{n % 199} took {n} ms"
    text = pull if n % 97 else "putMessage message topic length too long 149"
    return f"{stamp} WARN PullMessageThread_{n % 16} - {text}\n"


@pytest.mark.slow
def test_memory_and_state_stay_flat_over_a_day_of_rolled_and_deleted_files(tmp_path):
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
        sizes.append(len(msgspec.json.encode(seen.state)))
        held.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize())
    for _ in range(3):
        clock.now += 40
        seen.step()
    # Nothing is lost or doubled; one episode, however long it lasts.
    assert seen.figures.entries == lines
    assert seen.figures.stages.total() == 50 * segments
    assert seen.figures.signs["topic-too-long"] == -(-lines // 97)
    assert len(seen.state.episodes.open) == 1
    quarter = len(sizes) // 4
    assert max(sizes[quarter:]) < 2 * max(sizes[:quarter])
    assert max(sizes) < 64 << 10
    assert max(held[-quarter:]) < max(held[:quarter]) + (48 << 20)
