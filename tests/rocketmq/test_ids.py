"""Both ids, both ways. Expected fields: RocketMQ's decoder, or arithmetic on the layout (reference, section 2)."""

import calendar
import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from message_ids import encode, uniq_key
from recorded import BIG, DECODED, truth
from table import rows_of

from kit.rocketmq import ids, names
from kit.rocketmq.ids import candidates

UTC = dt.UTC
CST = dt.timezone(dt.timedelta(hours=8))


def host_of(text):
    """`/10.20.13.21:51770`, as Java spells it."""
    host, _, port = text.lstrip("/").rpartition(":")
    return host.strip("[]"), int(port)


RESENT = {"RECONSUME_TIME", "MAX_RECONSUME_TIMES", "MIN_OFFSET", "MAX_OFFSET", "CONSUME_START_TIME"}
"""What only a consumer client writes: it sends a message again itself where sendMessageBack fails."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.recordings) if n in BIG else n for n in DECODED])
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
        info = ids.decode(uniq, born)
        assert info.kind == "uniq" and encode(info) == uniq
        if not RESENT & set(properties):
            assert dt.timedelta() <= born - info.times[0].at <= dt.timedelta(seconds=3.5), uniq
        # The v4 address is the born host's, except where the client wrote loopback; a re-sent copy was born elsewhere.
        copied = {names.REAL_TOPIC, names.RECONSUME_TIME} & set(properties) or record["topic"] == names.HALF_TOPIC
        if info.ip.version == 4 and not info.ip.is_loopback and not copied:
            assert str(info.ip) == host_of(record["born_host"])[0], record
    assert seen > (50_000 if name in BIG else 100)


@pytest.mark.parametrize(("text", "fields", "sent"), rows_of(__file__, "fields_of_each_kind"))
def test_the_fields_of_each_kind(text, fields, sent):
    info = ids.decode(text, dt.datetime(2026, 11, 20, tzinfo=UTC))
    assert {name: getattr(info, name) if name != "ip" else str(info.ip) for name in fields} == fields
    times = [each.at for each in info.times if info.kind == "grpc" or each.zone == CST]
    assert times == ([dt.datetime.fromisoformat(sent)] if sent else [])


@pytest.mark.parametrize(("text", "times", "says"), rows_of(__file__, "garbage"))
def test_garbage_is_one_helpful_sentence(text, times, says):
    with pytest.raises(ids.BadId, match=says) as caught:
        ids.decode(text * times)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250
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


@pytest.mark.parametrize(("host", "port", "offset", "known", "kind"), rows_of(__file__, "store_hosts"))
def test_store_hosts_settle_the_kind(host, port, offset, known, kind):
    text = ids.encode_offset_id(host, port, offset)
    info, no_port = ids.decode(text, store_hosts=known and {known}), ids.decode("0A14101500000C387F4466B662A40000")
    assert [info.kind, info.how_sure] == kind
    assert (no_port.kind, no_port.how_sure) == ("uniq", "certain"), "a pid of 0 is no port"


@pytest.mark.parametrize(("ip", "note"), rows_of(__file__, "odd_ids"))
def test_what_is_odd_about_an_id_is_explained(ip, note):
    info = ids.decode(uniq_key(ip, 2, 0x5FFD2B27, 0, 0))
    assert ids.SAYS[note] in [getattr(said, "text", said) for said in info.notes]


EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)
instants = st.integers(1_514_851_200_000, 1_893_456_000_000).map(lambda ms: EPOCH + dt.timedelta(milliseconds=ms))


@given(instants, st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "Asia/Kathmandu"]), st.floats(-10, 10))
def test_send_time_comes_back_near_a_date_within_ten_days(sent, zone_name, days):
    zone = ZoneInfo(zone_name)
    month = sent.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    millis = round((sent - month.astimezone(UTC)) / dt.timedelta(milliseconds=1))
    found = candidates(millis, sent + dt.timedelta(days=days), [zone])
    assert found[0].at == sent


@pytest.mark.parametrize(("days", "more", "near", "expected"), rows_of(__file__, "months_near_a_date"))
def test_the_months_near_a_date(days, more, near, expected):
    found = candidates(days * 86_400_000 + more, dt.datetime.fromisoformat(near).replace(tzinfo=UTC), [UTC])
    assert sorted([sent.at.month, sent.at.day] for sent in found) == expected


def test_times_are_unsigned_and_reports_keep_what_is_no_id():
    day_30 = 29 * 86_400_000
    assert day_30 > 1 << 31  # negative, were it signed
    (first, *_) = candidates(day_30, dt.datetime(2026, 11, 29, tzinfo=UTC), [UTC])
    assert first.at == dt.datetime(2026, 11, 30, tzinfo=UTC)
    info = ids.decode(uniq_key("10.0.0.9", 7, 0x5FFD2B27, -5000, 0), dt.datetime(2026, 11, 1, tzinfo=UTC))
    assert info.times[0].at == dt.datetime(2026, 10, 31, 23, 59, 55, tzinfo=UTC)
    assert ids.SAYS["stepped_back"] in info.notes
    new_york = ZoneInfo("America/New_York")
    sent = dt.datetime(2026, 11, 15, 12, tzinfo=new_york)
    start = calendar.timegm((2026, 11, 1, 4, 0, 0))  # midnight EDT, before the clock goes back
    found = candidates(int(sent.timestamp() - start) * 1000, sent.astimezone(UTC), [new_york])
    assert found[0].at == sent
    # A report takes lists apart and keeps the bad ones.
    _, info, bad = ids.decode_each(["0A140D0B00002A9F000000000000026A,0A140D0B00002A9F00000000000004D4", "nonsense"])
    assert isinstance(info, ids.IdInfo) and dict(ids.fields(info))["physical offset"] == str(0x4D4)
    assert isinstance(bad, ids.BadId) and "nonsense" in str(bad)
