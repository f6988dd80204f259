"""Stalls found in the records of hand-made commitlogs: where they are, and where there only seem to be some."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from busy_evidence import START, B, sent, traffic, write_store
from stores import Record

import kit

CHANCES = ((1000, 1900), (4000, 4400), (4600, 5000))


def found(tmp_path: Path, *stores: list[Record]) -> list[Any]:
    for n, records in enumerate(stores):
        write_store(tmp_path / "evidence" / f"host-{n}" / "commitlog", records)
    return list(kit.open_case(tmp_path / "evidence", tmp_path / "ws").facts("stalls").itertuples(index=False))


def after(stall: Any) -> float:
    at: float = stall.start.replace(tzinfo=dt.UTC).timestamp()
    return at * 1000 - START


def test_pauses_are_found_and_close_ones_are_one_burst(tmp_path: Path) -> None:
    first, burst = found(tmp_path, traffic(8000, pauses=CHANCES), traffic(8000, broker=B, prefix="U"))
    assert after(first) == pytest.approx(1000, abs=20)
    assert first.seconds == pytest.approx(0.9, abs=0.02)
    assert (first.pauses, first.store_host) == (1, "10.0.0.2:10911")
    assert after(burst) == pytest.approx(4000, abs=20)
    assert burst.seconds == pytest.approx(1.0, abs=0.02)
    assert burst.pauses == 2
    assert burst.stood == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("skew", [-7_000, 7_000])
def test_a_client_clock_that_is_wrong_hides_and_invents_nothing(tmp_path: Path, skew: int) -> None:
    (only,) = found(tmp_path, traffic(8000, pauses=((1000, 1900),), skew=skew))
    assert after(only) == pytest.approx(1000, abs=20)
    assert only.seconds == pytest.approx(0.9, abs=0.02)


def test_holes_without_anybody_waiting_are_no_stalls(tmp_path: Path) -> None:
    quiet = traffic(60_000, every=700)
    # A client starts: its first messages wait for its own connection. Later one message is late by itself.
    starting = [sent(f"S{n}", 30_100 + n, 30_500 + n, port=50_000) for n in range(5)]
    hiccup = [sent("H", 40_650, 40_900)]
    assert found(tmp_path, quiet + starting + hiccup) == []


def test_copies_that_keep_their_birth_time_do_not_wait(tmp_path: Path) -> None:
    originals = traffic(3000)
    later = [sent(f"T{n}", n * 10, 9000 + n, REAL_TOPIC="orders", DELAY="3") for n in range(50)]
    retried = [sent(f"T{n}", n * 10, 15_000 + n, topic=b"%RETRY%points", REAL_TOPIC="%RETRY%points") for n in range(50)]
    assert found(tmp_path, originals + later + retried) == []


def test_a_burst_goes_on_over_a_pause_whose_waiters_were_all_refused(tmp_path: Path) -> None:
    records = [
        r
        for r in traffic(6000, pauses=((1000, 1400), (1600, 2000), (2200, 2600)))
        if r.stored - r.born < 5 or not 1590 < r.born - START < 2000
    ]
    (burst,) = found(tmp_path, records)
    assert burst.pauses == 3
    assert burst.seconds == pytest.approx(1.6, abs=0.02)


@pytest.mark.parametrize("bit", [17, 22, 36])
def test_a_flipped_bit_of_a_time_is_no_stall(bit: int, tmp_path: Path) -> None:
    """Of 800 records in eight seconds the times of three are a power of two too high or too low: 2^17 ms are two minutes, 2^36 two years."""
    log = tmp_path / "evidence" / "commitlog"
    write_store(log, traffic(8000))
    (file,) = log.iterdir()
    data = bytearray(file.read_bytes())
    begins = [0]
    while len(begins) < 800:
        begins.append(begins[-1] + int.from_bytes(data[begins[-1] : begins[-1] + 4], "big"))
    # storeTimestamp is the 8 bytes at 56, bornTimestamp those at 40: reference §1.2, a record with IPv4 addresses.
    for n, field in ((100, 56), (400, 56), (700, 56), (500, 40)):
        data[begins[n] + field + 7 - bit // 8] ^= 1 << bit % 8
    file.write_bytes(data)
    assert found(tmp_path) == []
