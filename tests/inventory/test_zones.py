"""Zones worked out from pairs. Expected: the difference the test itself puts between printed time and record."""

import datetime as dt
from pathlib import Path

import pytest
from folders import opened, put
from table import rows_of

import kit
from kit.inventory import spans, zones
from kit.inventory.model import Item
from kit.inventory.zones import Pair

T0 = 1_715_653_351_000  # 2024-05-14 02:22:31 UTC
MINUTE = 60_000
ID = "0A140D151A0C0C387F4466B0BCE6{:04X}"

EIGHT = T0 + 480 * MINUTE


@pytest.mark.parametrize(
    ("pairs", "moments", "expected"),
    [
        ([Pair(EIGHT + 40, (), (T0,)), Pair(EIGHT, (), (T0 - 10,))], {}, 480),
        # Printed long after.
        ([Pair(T0 + 487 * MINUTE, ("A",))], {"A": [T0]}, None),
        # No majority.
        ([Pair(EIGHT, ("A",)), Pair(T0, ("A",))], {"A": [T0]}, None),
        # A message looked at again hours later has copies stored then.
        ([Pair(T0 + 127 * MINUTE + 7, ("A",))], {"A": [T0, T0 + 7 * MINUTE]}, 120),
        *(
            ([Pair(T0 + m * MINUTE + late, ("A",)) for late in (5, 800, 3000, 90_000, -20)], {"A": [T0]}, m)
            for m in (0, 480, -420, 330, 345, 840)
        ),
    ],
)
def test_the_zone_is_the_difference(pairs: list[Pair], moments: dict[str, list[int]], expected: int | None) -> None:
    assert zones.infer(pairs, moments) == expected


def test_rows_of_a_table_in_no_order_of_time_begin_with_the_earlier(tmp_path: Path) -> None:
    path = tmp_path / "consumerProgress.txt"
    path.write_text("orders  broker-a  0  2026-11-20 22:34:52\norders  broker-a  3  2026-11-20 22:34:51\n")
    first, last = spans.printed(path, path.stat().st_size, dt.UTC)
    assert first and last and (first.second, last.second) == (51, 52)


def item(path: Path, **detail: object) -> Item:
    return Item(path.name, str(path), path.stat().st_size, "log", None, source="app", detail=dict(detail))


@pytest.mark.parametrize(("line", "first"), rows_of(__file__, "dates_that_are_not_iso"))
def test_dates_that_are_not_iso_span_a_file(tmp_path: Path, line: str, first: str) -> None:
    case = opened(tmp_path, {"app.log": f"{line}\n{line}\n"})
    (file,) = kit.triage(case)["evidence"]["files"]
    assert (file["first"], file["last"]) == (first, first)


@pytest.mark.parametrize(("lines", "zone"), rows_of(__file__, "rocketmqs_own_lines_in_a_text"))
def test_rocketmqs_own_lines_tell_the_zone_of_a_text(tmp_path: Path, lines: str, zone: str | None) -> None:
    assert opened(tmp_path, {"issue.txt": lines}).zones == {"issue.txt": zone}


def test_every_floating_file_gets_a_zone(tmp_path: Path) -> None:
    sent = [f"2024-05-14 10:22:31.{n:03} INFO sent msgId={ID.format(n)}\n" for n in range(20)]
    (tmp_path / "a.log").write_text("".join(sent))
    (tmp_path / "b.log").write_text("2024-05-14 10:22:31.000 INFO nothing to pair\n")
    (tmp_path / "zoned.log").write_text(f"2024-05-14T10:22:31.000+08:00 INFO msgId={ID.format(1)}\n")
    items = [item(tmp_path / name) for name in ("a.log", "b.log", "zoned.log")]
    asked: set[str] = set()

    def look_up(names: set[str]) -> list[tuple[str, int]]:
        asked.update(names)
        return [(ID.format(n), T0) for n in range(20)]

    found = zones.settle(items, look_up)
    assert found == {"a.log": "+08:00", "b.log": "+08:00", "zoned.log": "+08:00"}
    assert ID.format(3) in asked
    assert zones.settle(items[1:2], look_up) == {"b.log": None}
    assert set(zones.settle(items, look_up, "Asia/Tokyo").values()) == {"Asia/Tokyo"}


def test_business_keys_pair_too(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(f"2024-05-13 21:22:31 INFO order SO2024{n:04} paid\n" for n in range(5)))
    found = zones.settle([item(tmp_path / "a.log")], lambda _: [(f"SO2024{n:04}", T0) for n in range(5)])
    assert found["a.log"] == "-05:00"


def test_a_client_is_tied_by_its_first_heartbeat(tmp_path: Path) -> None:
    """The client prints its id when it starts, the broker at the first heartbeat, with epoch milliseconds (ClientChannelInfo.toString)."""
    put(
        tmp_path / "app" / "rocketmq_client.log",
        "2026-11-20 23:19:29,029 INFO RocketmqClient - Created new MQClientInstance for clientId:[10.20.13.21@6502]\n"
        "2026-11-20 23:19:29,029 INFO RocketmqClient - the producer [orders] start OK. sendMessageWithVIPChannel=false\n",
    )
    alone = kit.open_case(tmp_path / "app", tmp_path.parent / "ws-alone")
    assert alone.local_files == {"rocketmq_client.log"}
    assert alone.clock == "local"
    put(
        tmp_path / "broker" / "broker.log",
        "2026-11-20 23:19:30 INFO HeartbeatThread_1 - new producer connected, group: orders channel: ClientChannelInfo "
        "[channel=[id: 0xdf97938e, L:/10.20.13.11:10911 - R:/10.20.13.21:50298], clientId=10.20.13.21@6502, language=JAVA, "
        "version=335, lastUpdateTimestamp=1795187970000]\n",
    )
    both = kit.open_case(tmp_path, tmp_path.parent / "ws-both")
    assert both.zones["app/rocketmq_client.log"] == "+08:00"
    assert both.clock == dt.timezone(dt.timedelta(hours=8))
    declared = kit.open_case(tmp_path, tmp_path.parent / "ws-declared", tz_app="UTC")
    assert declared.clock is None, "two zones"
    assert both.local_files == frozenset()


def test_a_table_of_local_times_is_local(tmp_path: Path) -> None:
    head, seconds = "order_id,status,created_at\n", range(10, 40)
    local = head + "".join(f"SO{n},PAID,2026-11-20 23:09:{n}\n" for n in seconds)
    epoch = head + "".join(f"SO{n},PAID,17951879700{n}\n" for n in seconds)
    case = opened(tmp_path, {"local.csv": local, "epoch.csv": epoch})
    assert case.local_files == {"local.csv"}
    assert case.clock == "local"


@pytest.mark.parametrize(("line", "zone"), rows_of(__file__, "what_is_printed_tells_the_zone_of_a_line"))
def test_what_is_printed_tells_the_zone_of_a_line(tmp_path: Path, line: str, zone: str | None) -> None:
    (known,) = opened(tmp_path, {"app.log": f"{line}\n" * 3}).zones.values()
    assert known == zone
