"""A day of a busy broker in fast forward: what is kept and what is held do not grow."""

import resource
import time
from pathlib import Path

import msgspec
import pytest
from growing import Clock, watch, write
from stores import Record, store

BEGIN = 1_795_305_600
STEP = 60
HOURS = 24


def line(at: float, n: int) -> str:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at + 8 * 3600))
    text = (
        "putMessage message topic length too long 149"
        if n % 97 == 0
        else f"pull from 10.0.{n % 256}.{n % 199} took {n} ms"
    )
    return f"{stamp} WARN PullMessageThread_{n % 16} - {text}\n"


@pytest.mark.slow
def test_memory_and_state_stay_flat_over_a_day_of_rolled_and_deleted_files(tmp_path: Path) -> None:
    logs, stores = tmp_path / "logs", tmp_path / "store" / "commitlog"
    logs.mkdir()
    stores.mkdir(parents=True)
    clock, lines, files = Clock(BEGIN), 0, 0
    seen = watch(tmp_path, clock)
    seen.step()
    sizes, held = [], []
    for minute in range(HOURS * 60):
        clock.now += STEP
        write(logs / "broker.log", "".join(line(clock.now, lines + n) for n in range(200)), clock.now)
        lines += 200
        if minute % 30 == 29:
            # Every half hour the log is rolled, and all but the last five are deleted.
            (logs / "broker.log").rename(logs / f"broker.{minute // 30:04d}.log")
            for old in sorted(logs.glob("broker.*.log"))[:-5]:
                old.unlink()
        if minute % 20 == 0:
            base = files << 20
            data = store([Record(topic=b"orders", body=b"x" * 200)] * 50, base=base).data
            (stores / f"{base:020d}").write_bytes(data + bytes((1 << 20) - len(data)))
            files += 1
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
    assert seen.figures.stages.total() == 50 * files
    assert seen.figures.signs["topic-too-long"] == -(-lines // 97)
    assert len(seen.kept.episodes.open) == 1
    quarter = len(sizes) // 4
    assert max(sizes[quarter:]) < 2 * max(sizes[:quarter])
    assert max(sizes) < 64 << 10
    assert max(held[-quarter:]) < max(held[:quarter]) + (48 << 20)
