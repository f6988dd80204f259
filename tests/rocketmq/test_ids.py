"""Both ids, both ways. Expected fields: RocketMQ's decoder, or arithmetic on the layout (reference, section 2)."""

import calendar
import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_ids import encode, uniq_key
from recorded import BIG, SMALL, truth

from kit.rocketmq import ids, names
from kit.rocketmq.ids import candidates

UTC = dt.UTC
CST = dt.timezone(dt.timedelta(hours=8))


def host_of(text: str) -> tuple[str, int]:
    """`/10.20.13.21:51770`, as Java spells it."""
    host, _, port = text.lstrip("/").rpartition(":")
    return host.strip("[]"), int(port)


RESENT = {"RECONSUME_TIME", "MAX_RECONSUME_TIMES", "MIN_OFFSET", "MAX_OFFSET", "CONSUME_START_TIME"}
"""What only a consumer client writes: it sends a message again itself where sendMessageBack fails."""


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.recordings) for name in BIG)])
def test_every_recorded_id(name):
    seen = 0
    for record in truth(name):
        host, port = host_of(record["store_host"])
        assert ids.encode_offset_id(host, port, record["physical_offset"]) == record["msg_id"]
        stored = ids.decode(record["msg_id"])
        assert (stored.kind, stored.host, stored.offset) == ("offset", f"{host}:{port}", record["physical_offset"])
        properties = record["properties"]
        if (uniq := properties.get(names.UNIQ_KEY)) is None:
            continue
        seen += 1
        born = dt.datetime.fromtimestamp(record["born_timestamp"] / 1000, UTC)
        info = ids.decode(uniq, born, zones=[CST])
        assert info.kind == "uniq" and encode(info) == uniq
        if not RESENT & set(properties):
            assert dt.timedelta() <= born - info.times[0].at <= dt.timedelta(seconds=3.5), uniq
        # The v4 address is the born host's, except where the client wrote loopback; a re-sent copy was born elsewhere.
        copied = {names.REAL_TOPIC, names.RECONSUME_TIME} & set(properties) or record["topic"] == names.HALF_TOPIC
        if info.ip.version == 4 and not info.ip.is_loopback and not copied:
            assert str(info.ip) == host_of(record["born_host"])[0], record
    assert seen > (50_000 if name in BIG else 100)


@pytest.mark.parametrize(
    ("text", "fields", "sent"),
    [
        (
            "0A140D151A0C0C387F4466B0BCE60000",
            {"kind": "uniq", "ip": "10.20.13.21", "pid": 0x1A0C, "loader": 0x0C387F44, "millis": 0x66B0BCE6, "counter": 0},
            dt.datetime(2026, 11, 20, 14, 34, 18, 726000, tzinfo=UTC),
        ),
        (
            "0156F7E71C361B21BC024CCDBE00000000",
            {"kind": "grpc", "mac": "56:F7:E7:1C:36:1B", "pid": 0x21BC, "counter": 0},
            dt.datetime(2021, 1, 1, tzinfo=UTC) + dt.timedelta(seconds=0x024CCDBE),
        ),
        (
            "FD200114000000000000000000000021" + "00002A9F" + "000000000000026A",
            {"kind": "offset", "host": "[fd20:114::21]:10911", "offset": 0x26A},
            None,
        ),
        (' "0a140d0b00002a9f000000000000026a" ', {"kind": "offset", "text": "0A140D0B00002A9F000000000000026A"}, None),
    ],
)  # fmt: skip
def test_the_fields_of_each_kind(text, fields, sent):
    info = ids.decode(text, dt.datetime(2026, 11, 20, tzinfo=UTC), zones=[CST])
    assert {name: getattr(info, name) if name != "ip" else str(info.ip) for name in fields} == fields
    assert [each.at for each in info.times] == ([sent] if sent else [])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("hello world", "no hex digit"),
        ("ABC", "3 characters"),
        ("0" * 33, "33 characters"),
        ("02" + "0" * 32, "begin with 01"),
        ("G" * 32, "`G` is no hex digit"),
        ("A" * 5000, "5,000 characters"),
    ],
)
def test_garbage_is_one_helpful_sentence(text, says):
    with pytest.raises(ids.BadId, match=says) as caught:
        ids.decode(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250
    assert "十六进制" in caught.value.sentence.render("zh")


RAW = st.binary(min_size=16, max_size=16)


@given(RAW | st.binary(min_size=28, max_size=28) | RAW.map(lambda raw: b"\1" + raw))
def test_any_bytes_of_an_ids_length_round_trip(raw):
    text = raw.hex().upper()
    info = ids.decode(text)
    assert encode(info) == text == encode(ids.decode(text, dt.datetime(2026, 3, 1, tzinfo=UTC)))
    numbers = (info.port, info.offset, info.pid, info.loader, info.millis, info.counter)
    assert min(number for number in numbers if number is not None) >= 0


@given(st.text(max_size=80))
def test_any_text_is_decoded_or_refused(text):
    try:
        assert encode(ids.decode(text))
    except ids.BadId as bad:
        assert bad.sentence.render("zh")


V6 = ids.encode_offset_id("fd20::1", 10911, 7)
LOW_PORT, BEYOND = (ids.encode_offset_id("10.0.0.1", *at) for at in ((80, 5), (10911, ids.OFFSET_LIMIT + 1)))


@pytest.mark.parametrize(
    ("text", "hosts", "kind"),
    [
        (LOW_PORT, None, ("offset", "possible")),
        (LOW_PORT, {"10.0.0.1:80"}, ("offset", "certain")),
        (BEYOND, None, ("uniq", "certain")),
        (BEYOND, {"10.0.0.1:10911"}, ("offset", "certain")),
        (V6, {"[fd20::1]:10911"}, ("offset", "certain")),
        # A pid of 0 is no port.
        ("0A14101500000C387F4466B662A40000", None, ("uniq", "certain")),
    ],
)
def test_store_hosts_settle_the_kind(text, hosts, kind):
    assert ids.classify(text, hosts) == kind


@pytest.mark.parametrize(
    ("ip", "note"),
    [("127.0.0.1", "loopback"), ("0.12.7.9", "made_up"), ("233.1.2.3", "made_up"), ("fd20::2", "ipv6_key")],
)
def test_what_is_odd_about_an_id_is_explained(ip, note):
    info = ids.decode(uniq_key(ip, 2, 0x5FFD2B27, 0, 0))
    assert ids.SAYS[note] in [getattr(said, "text", said) for said in info.notes]


instants = st.integers(1_514_851_200_000, 1_893_456_000_000).map(
    lambda ms: dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=ms)
)


@given(instants, st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "Asia/Kathmandu"]), st.floats(-10, 10))
def test_send_time_comes_back_near_a_date_within_ten_days(sent, zone_name, days):
    zone = ZoneInfo(zone_name)
    month = sent.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    millis = round((sent - month.astimezone(UTC)) / dt.timedelta(milliseconds=1))
    found = candidates(millis, sent + dt.timedelta(days=days), [zone])
    assert found[0].at == sent


@pytest.mark.parametrize(
    ("millis", "near", "days"),
    [
        (16 * 86_400_000 - 1, (2026, 11, 1), [(10, 16), (11, 16)]),
        (25 * 86_400_000, (2026, 11, 12), [(11, 26)]),  # 26 October is 17 days away
        (29 * 86_400_000, (2026, 12, 1), [(11, 30)]),
        # No 31st in February.
        (30 * 86_400_000, (2027, 3, 1), [(1, 31), (3, 31)]),
    ],
)
def test_the_months_near_a_date(millis, near, days):
    found = candidates(millis, dt.datetime(*near, tzinfo=UTC), [UTC])
    assert sorted((sent.at.month, sent.at.day) for sent in found) == days


def test_time_is_unsigned_and_a_step_back_is_said():
    day_30 = 29 * 86_400_000
    assert day_30 > 1 << 31  # negative, were it signed
    assert candidates(day_30, dt.datetime(2026, 11, 29, tzinfo=UTC), [UTC])[0].at == dt.datetime(
        2026, 11, 30, tzinfo=UTC
    )
    info = ids.decode(uniq_key("10.0.0.9", 7, 0x5FFD2B27, -5000, 0), dt.datetime(2026, 11, 1, tzinfo=UTC), zones=[UTC])
    assert info.times[0].at == dt.datetime(2026, 10, 31, 23, 59, 55, tzinfo=UTC)
    assert ids.SAYS["stepped_back"] in info.notes


def test_daylight_saving_counts_real_milliseconds():
    new_york = ZoneInfo("America/New_York")
    sent = dt.datetime(2026, 11, 15, 12, tzinfo=new_york)
    start = calendar.timegm((2026, 11, 1, 4, 0, 0))  # midnight EDT, before the clock goes back
    found = candidates(int(sent.timestamp() - start) * 1000, sent.astimezone(UTC), [new_york])
    assert found[0].at == sent


def test_report_takes_lists_apart_and_keeps_the_bad_ones():
    rows = ids.msgid_report(["0A140D0B00002A9F000000000000026A,0A140D0B00002A9F00000000000004D4", "nonsense"])
    assert [row.get("kind") for row in rows] == ["offset", "offset", None]
    assert "nonsense" in rows[2]["error"].render()
    assert dict(rows[1]["fields"])["physical offset"] == str(0x4D4)
