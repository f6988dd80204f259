"""Which connections of one client id existed at the same time: the same pairs as by comparing each with each."""

from __future__ import annotations

import datetime as dt
import random
from itertools import combinations, pairwise

import pytest

from kit.analysis.consumers.members import LATE_CLOSE, Connection, listed_together, open_together

START = dt.datetime(2026, 11, 20, 10)  # noqa: DTZ001 - naive UTC, as in the tables


def at(seconds: float | None) -> dt.datetime | None:
    return None if seconds is None else START + dt.timedelta(seconds=seconds)


def connection(address: str, first: float | None, last: float | None, line: int = 1) -> Connection:
    return Connection("orders", "10.1.2.3@7", address, at(first), at(last), "broker.log", line)


def together(a: Connection, b: Connection, saved: dict[str, dt.datetime | None]) -> bool:
    """Compare two connections of a broker's log, given when each address last saved offsets."""
    if a.address == b.address:
        return False
    other_host = a.address.split(":")[0] != b.address.split(":")[0]
    if a.first is None or b.first is None:
        return other_host
    early, late = (a, b) if a.first <= b.first else (b, a)
    assert late.first is not None
    if early.last is not None and early.last <= late.first:
        return False
    used = saved.get(early.address)
    if used is not None and used > late.first:
        return True
    return other_host if early.last is None else early.last - late.first > LATE_CLOSE


@pytest.mark.parametrize("seed", range(200))
def test_finds_the_same_pairs_as_comparing_each_with_each(seed: int) -> None:
    draw = random.Random(seed)

    def one(line: int) -> Connection:
        address = f"10.0.0.{draw.randint(1, 3)}:{draw.randint(1, 3)}"
        first = None if draw.random() < 0.15 else draw.randrange(0, 1000, 50)
        last = None if first is None or draw.random() < 0.3 else first + draw.choice([0, 50, 150, 151, 200, 500])
        return connection(address, first, last, line)

    drawn = [one(n) for n in range(draw.randint(0, 25))]
    saved = {c.address: at(draw.choice([None, *range(0, 1200, 50)])) for c in drawn}
    expected = [(n, m) for n, m in combinations(range(len(drawn)), 2) if together(drawn[n], drawn[m], saved)]
    assert sorted(open_together(drawn, lambda c: saved[c.address])) == expected
    listed = [(n, m) for n, m in combinations(range(len(drawn)), 2) if drawn[n].address != drawn[m].address]
    assert sorted(listed_together(drawn)) == listed


def test_a_client_that_reconnects_twenty_thousand_times_is_never_there_twice() -> None:
    times = [60.0 * n for n in range(20_001)]
    port = [connection(f"10.0.0.1:{n}", first, last) for n, (first, last) in enumerate(pairwise(times))]
    assert not list(open_together(port, lambda _: None))
    same = [connection("10.0.0.1:7", first, None) for first in times]  # its ends are rolled away
    assert not list(open_together(same, lambda _: None))
