"""Stalls found in the records of hand-made commitlogs: where they are, and where there only seem to be some."""

from pathlib import Path
from typing import Any

import pytest
from busy_evidence import sent, traffic, write_store
from stores import Record

import kit


def found(tmp_path: Path, *stores: list[Record]) -> list[Any]:
    for n, records in enumerate(stores):
        write_store(tmp_path / "evidence" / f"host-{n}" / "commitlog", records)
    return list(kit.open_case(tmp_path / "evidence", tmp_path / "ws").facts("stalls").itertuples(index=False))


def test_holes_without_anybody_waiting_are_no_stalls(tmp_path: Path) -> None:
    quiet = traffic(60_000, every=700)
    # A client starts: its first messages wait for its own connection. Later one message is late by itself.
    starting = [sent(f"S{n}", 30_100 + n, 30_500 + n, port=50_000) for n in range(5)]
    hiccup = [sent("H", 40_650, 40_900)]
    assert found(tmp_path, quiet + starting + hiccup) == []


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
