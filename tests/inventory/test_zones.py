"""Zones worked out from pairs. Expected: the difference the test itself puts between printed time and record."""

import datetime as dt

import pytest
from folders import opened
from table import rows_of

import kit
from kit.inventory import zones
from kit.inventory.model import Item
from kit.inventory.zones import Pair

T0 = 1_715_653_351_000  # 2024-05-14 02:22:31 UTC
ID = "0A140D151A0C0C387F4466B0BCE6{:04X}"


@pytest.mark.parametrize(("pairs", "moments", "expected"), rows_of(__file__, "the_zone_is_the_difference"))
def test_the_zone_is_the_difference(pairs, moments, expected):
    """Of what is printed so many ms after `T0` beside names or times; `moments`: when what is named was stored."""
    beside = lambda names: [tuple(names)] if isinstance(names[0], str) else [(), tuple(T0 + ms for ms in names)]  # noqa: E731
    found = [Pair(T0 + at, *beside(names)) for at, names in pairs]
    assert zones.infer(found, {name: [T0 + ms for ms in each] for name, each in moments.items()}) == expected


def item(path, **detail):
    return Item(path.name, str(path), path.stat().st_size, "log", None, source="app", detail=dict(detail))


@pytest.mark.parametrize(("line", "first"), rows_of(__file__, "dates_that_are_not_iso"))
def test_dates_that_are_not_iso_span_a_file(tmp_path, line, first):
    case = opened(tmp_path, {"app.log": f"{line}\n{line}\n"})
    (file,) = kit.triage(case)["evidence"]["files"]
    assert (file["first"], file["last"]) == (first, first)


def test_every_floating_file_gets_a_zone_and_rows_in_no_order_begin_with_the_earlier(tmp_path):
    sent = [f"2024-05-14 10:22:31.{n:03} INFO sent msgId={ID.format(n)}\n" for n in range(20)]
    (tmp_path / "a.log").write_text("".join(sent))
    (tmp_path / "b.log").write_text("2024-05-14 10:22:31.000 INFO nothing to pair\n")
    (tmp_path / "zoned.log").write_text(f"2024-05-14T10:22:31.000+08:00 INFO msgId={ID.format(1)}\n")
    items = [item(tmp_path / name) for name in ("a.log", "b.log", "zoned.log")]
    asked = set()

    def look_up(names):
        asked.update(names)
        return [(ID.format(n), T0) for n in range(20)]

    found = zones.settle(items, look_up)
    assert found == {"a.log": "+08:00", "b.log": "+08:00", "zoned.log": "+08:00"}
    assert ID.format(3) in asked
    assert zones.settle(items[1:2], look_up) == {"b.log": None}
    assert set(zones.settle(items, look_up, "Asia/Tokyo").values()) == {"Asia/Tokyo"}
    (tmp_path / "a.log").write_text("".join(f"2024-05-13 21:22:31 INFO order SO2024{n:04} paid\n" for n in range(5)))
    found = zones.settle([item(tmp_path / "a.log")], lambda _: [(f"SO2024{n:04}", T0) for n in range(5)])
    assert found["a.log"] == "-05:00"
    # Rows of a table in no order of time begin with the earlier.
    path = tmp_path / "consumerProgress.txt"
    path.write_text("orders  broker-a  0  2026-11-20 22:34:52\norders  broker-a  3  2026-11-20 22:34:51\n")
    first, last = zones.printed_span(path, path.stat().st_size, dt.UTC)
    assert first and last and (first.second, last.second) == (51, 52)


@pytest.mark.parametrize("row", rows_of(__file__, "zones"), ids=lambda row: row["name"])
def test_zones_of_files(tmp_path, row):
    case = opened(tmp_path, row["files"], **row.get("declared", {}))
    local = {name for name, zone in row["zones"].items() if zone == "local"}
    assert case.zones == {name: None if name in local else zone for name, zone in row["zones"].items()}
    if "clock" in row:
        clock = row["clock"]
        assert case.local_files == local
        assert case.clock == (dt.timezone(dt.timedelta(hours=clock)) if isinstance(clock, int) else clock)
