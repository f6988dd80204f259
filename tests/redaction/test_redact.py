"""Redaction: pseudonyms join, keep lengths and the rest of an id, spare prose; no original is left."""

import ipaddress
import json
import re
from pathlib import Path

import click
import nbformat
import pandas as pd
import pytest
import recorded
from folders import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from message_ids import uniq_key
from table import rows_of

import kit
from kit.case.output import OutputRefused
from kit.charts import MIME as CHART
from kit.charts import PLOTLY_MIME, offline
from kit.evidence.workspace import Workspace
from kit.inventory.model import MAX_TEXT
from kit.notebook import prose
from kit.redaction import leaks
from kit.redaction import report as redacted
from kit.redaction.redactor import Redactor
from kit.rocketmq import ids

SALT = b"salt of a test"
NAMES = {
    "trade-order": "topic", "order-group": "group", "SO20260007": "key", "1025": "key", "order": "topic", "web-01": "host",
    "g" * 142: "group", "x y&z": "key", "支付_订单": "topic",
}  # fmt: skip

HELD = leaks.Originals(
    frozenset({"trade-order", "SO20260007", "web-01"}),
    frozenset({ipaddress.ip_address("10.20.44.11"), ipaddress.ip_address("10.20.44.21")}),
)


def redactor(addresses=("10.20.44.11", "10.20.44.21"), **more):
    return Redactor(SALT, NAMES | dict.fromkeys(addresses, "address"), **more)


PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
V4 = st.integers(11 << 24, (1 << 32) - 1).map(ipaddress.IPv4Address)
V4 = V4.filter(lambda ip: not ip.is_loopback and ip.packed[0] != 255)
V6 = st.integers(2, (1 << 128) - 1).map(ipaddress.IPv6Address).filter(lambda ip: ip.ipv4_mapped is None)
BEHIND = st.sampled_from(["", ":10911", " ", "]", "/24", ".", "@1227", "。"])
AROUND = st.sampled_from(["", " ", "/", "connect to <", "host=", "[", "地址", "a: ", ",", "\n"])


@PATIENT
@given(st.lists(V4, min_size=2, max_size=30, unique=True))
def test_addresses_map_one_to_one_onto_none_of_them(found):
    made = Redactor(SALT, dict.fromkeys(map(str, found), "address"))
    new = [made.text(str(ip)) for ip in found]
    assert len(set(new)) == len(found) and not set(new) & set(map(str, found))
    assert all(ipaddress.ip_address(text) in ipaddress.ip_network("100.64.0.0/10") for text in new)
    assert new == [Redactor(SALT, dict.fromkeys(map(str, reversed(found)), "address")).text(str(ip)) for ip in found]


@PATIENT
@given(st.lists(st.tuples(AROUND, V4, BEHIND), min_size=1, max_size=5), st.booleans())
def test_no_address_survives_in_text_or_hex(parts, lower):
    known = {str(ip): "address" for _, ip, _ in parts}
    made = Redactor(SALT, known)
    text = " ".join(f"{before}{ip}{after}" for before, ip, after in parts)
    packed = [ip.packed.hex().upper() for _, ip, _ in parts]
    hexed = " ".join(f"id={each}00002A9F0000000000001C7B, {each} _{each}00000C387F44" for each in packed)
    text += " " + (hexed.lower() if lower else hexed)
    new = made.text(text)
    assert made.text(text) == new == Redactor(SALT, known).text(text)
    for _, ip, _ in parts:
        assert not re.search(rf"(?<!\d){re.escape(str(ip))}(?!\d)", new)
        assert ip.packed.hex() not in new.lower()
    held = leaks.Originals(frozenset(), frozenset(ip for _, ip, _ in parts))
    assert leaks.leak(new, held) is None and leaks.leak(text, held) == "address"


@PATIENT
@given(V6, st.integers(0, 65535))
def test_long_addresses_too(ip, port):
    made = Redactor(SALT, {str(ip): "address"})
    new = made.text(f"connect to [{ip}]:{port} failed")
    host = new.removeprefix("connect to [").removesuffix(f"]:{port} failed")
    assert ipaddress.ip_address(host) in ipaddress.ip_network("2001:db8::/32") or ip.is_loopback
    text = ids.encode_offset_id(str(ip), 10911, 4096)
    assert ids.decode(made.text(text)).ip == ipaddress.ip_address(host)


@PATIENT
@given(st.lists(st.text("abcXYZ09-_", min_size=1, max_size=40), min_size=2, max_size=20, unique=True))
def test_names_join_and_do_not_meet(found):
    made = Redactor(SALT, dict.fromkeys(found, "topic"))
    new = [made.value({"topic": name})["topic"] for name in found]
    named = [name for name in found if name in made.names]
    assert len({made.names[name] for name in named}) == len(named) and not set(made.names.values()) & set(named)
    assert all(len(made.names[name]) == len(name) for name in named if len(name) > 3)
    assert new == [made.names[name] for name in found]


def test_names_keep_length_and_prefix_small_keys_are_digits_and_dates_no_keys():
    made = redactor()
    long, both = made.text("%RETRY%" + "g" * 142), made.text("topic=trade-order, %DLQ%order-group")
    assert long.startswith("%RETRY%group-") and len(long) == 149
    assert re.fullmatch(r"topic=topic-\w{5}|topic=t\w{10}, %DLQ%g\w{10}", both)
    assert Redactor(b"another", NAMES).names["trade-order"] != made.names["trade-order"]
    new = made.names["1025"]
    assert len(new) == 4 and new.isdigit() and new != "1025"
    numbers = {"key": [1025, 1026], "store_size": [1025, 1026]}
    frame = made.value(pd.DataFrame({**numbers, "keys": ["SO20260007 1025", None]}))
    assert frame["key"][0] == new and list(frame["store_size"]) == [1025, 1026]
    assert frame["keys"][0] == f"{made.names['SO20260007']} {new}" and frame["keys"][1] is None
    columns = Redactor(SALT, {"at": "host", "file": "topic"}).value(pd.DataFrame({"at": ["x"], "file": ["a"]})).columns
    assert list(columns) == ["at", "file"]  # the kit finds them by these names
    assert "never-seen" not in made.text("dedupKey=never-seen-7 done")
    dated = Redactor(SALT, {"2026-11-20": "key", "4.6.1": "key"})
    said = "2026-11-20 15:09:23 release 4.6.1"
    assert dated.text(said) == said and "2026" not in dated.text("keys=2026-11-20")


def filled(value, names):
    """Put pseudonyms into the places `<name>` of a text, a list or an object."""
    if isinstance(value, dict):
        return {filled(name, names): filled(each, names) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, names) for each in value]
    return re.sub("<(.*?)>", lambda name: names[name[1]], value) if isinstance(value, str) else value


@pytest.mark.parametrize(("text", "becomes"), rows_of(__file__, "becomes"))
def test_a_text_or_value_becomes(text, becomes):
    """Names wherever they are, ordinary words and small numbers only where a name is expected."""
    made = redactor()
    assert (made.text(text) if isinstance(text, str) else made.value(text)) == filled(becomes, made.names)


@pytest.mark.parametrize("host", ["10.20.44.21", "fd00::17"])
def test_ids_keep_all_but_the_address(host):
    made = redactor((host,))
    uniq = uniq_key(host, 7_654_321, 0x0C387F44, 1_724_963_647, 3)
    offset = ids.encode_offset_id(host, 10911, 123_456_789_012)
    for text in (uniq, offset):
        old, new = ids.decode(text), ids.decode(made.text(f"msgId={text},").removeprefix("msgId=").rstrip(","))
        assert str(new.ip) == made.text(host) != host
        same = ("kind", "port", "offset", "pid", "loader", "millis", "counter")
        assert [getattr(new, name) for name in same] == [getattr(old, name) for name in same]
        assert made.text(text.lower()) == made.text(text).lower()
    assert made.text(uniq[:-12]) == made.text(uniq)[:-12]


def test_ids_of_grpc_clients_lose_their_mac_and_what_says_nothing_about_a_site_stays():
    made = redactor()
    text = "01A1B2C3D4E5F61F4A0B8A0B8C00000007"
    old, new = ids.decode(text), ids.decode(made.text(text))
    assert (new.pid, new.counter, new.times) == (old.pid, old.counter, old.times) and new.mac != old.mac
    assert made.text(f"mac {old.mac} up") == f"mac {new.mac} up"
    made = redactor()
    digest = "0a142c0b" + "ab" * 28
    assert all(made.text(text) == text for text in (digest, *rows_of(__file__, "stays")))
    assert leaks.leak(digest, leaks.Originals(frozenset(), frozenset({ipaddress.ip_address("10.20.44.11")}))) is None


def test_bodies_properties_and_secrets():
    made = redactor()
    said = (
        "Message{topic='trade-order', properties={KEYS=1025, UNIQ_KEY=0A142C1500000C387F4466D0DB3F0003, shopId=88, TAGS=PAID}, body=[123, 34, 110], "
        'transactionId=\'null\'} accessKey=AK17 body={"name":"Li"} password = pw'
    )
    new = made.text(said)
    assert "body=[redacted], transactionId='null'" in new and not new.endswith("pw")
    assert not [secret for secret in ("Li", "123, 34", "AK17") if secret in new]
    assert "shopId=" in new and "shopId=88" not in new and "TAGS=PAID" in new and f"KEYS={made.names['1025']}" in new


def test_paths_keep_what_is_rocketmqs_own_and_their_parts_are_replaced_wherever_shown():
    made = redactor(exact=["c/web-01 logs/points.csv", "/srv/li na/evidence"])
    assert made.text("c/web-01 logs/points.csv: truncated") == made.exact["c/web-01 logs/points.csv"] + ": truncated"
    assert not re.search(r"\bli\b|\bna\b", made.text("evidence = '/srv/li na/evidence', more"))
    new = made.text("/home/li/rocketmqlogs/rocketmq_client.log of /data/acme/store/commitlog/00000000000000000000")
    kept = r"/home/.+/rocketmqlogs/rocketmq_client\.log of /data/.+/store/commitlog/00000000000000000000"
    assert re.fullmatch(kept, new) and not re.search(r"\bli\b|acme", new)
    file = "c/web-01 logs/points.csv"
    assert made.value({"file": file})["file"] == made.exact[file] == made.path(file)
    assert made.path("broker/logs/otherdays/transaction.1.log.gz") == "broker/logs/otherdays/transaction.1.log.gz"
    status = "x/topicStatus-%RETRY%{}-late.txt"
    assert made.path(status.format("order-group")) == status.format(made.names["order-group"])
    assert made.path("/srv/order.csv").partition(".")[2] == "csv"
    made = redactor(exact=["evidence/logs/主机web-01手机13917720345-x.log"])
    shown = made.text("logs/主机web-01手机13917720345-x.log: 7 lines")
    assert shown.startswith("logs/dir-") and shown.endswith(".log: 7 lines") and "13917720345" not in shown
    made = redactor(exact=["/srv/li peter/evidence", "/srv/acme"])
    shown = made.text("in /srv/li peter/evidence/adams/x.log of /srv/acme/berta/commitlog, /srv/acme-2/x")
    assert shown.startswith("in /srv/") and "/commitlog, /srv/" in shown
    assert not [name for name in ("li peter", "adams", "acme", "berta") if name in shown]


@pytest.mark.parametrize("cut", ["of trade-or…", "of 0A142…", "of 0A142C1500000C…", "of 10.20.4…", "of 10.20.4…, 12"])
def test_of_what_was_cut_nothing_is_left(cut):
    assert redactor().text(cut) == "of …" + cut.partition("…")[2]
    line = "x" * (MAX_TEXT - 9) + " trade-or"
    assert "trade" not in redactor().text(line) and redactor().text("waits for orders…") == "waits for orders…"


def test_the_salt_is_made_once_and_is_not_guessable(tmp_path):
    place = Workspace(tmp_path)
    first = redacted.salt(place)
    assert len(first) == 64 and redacted.salt(place) == first
    assert (tmp_path / redacted.SALT).stat().st_mode & 0o77 == 0
    (tmp_path / "other").mkdir()
    assert redacted.salt(Workspace(tmp_path / "other")) != first


@pytest.mark.parametrize("planted", rows_of(__file__, "planted"))
def test_the_check_can_fail_and_names_no_original(tmp_path, planted):
    put(tmp_path / "tables" / "t.csv", f"a\n{planted}\n")
    with pytest.raises(click.ClickException) as raised:
        leaks.check(HELD, {tmp_path / "tables" / "t.csv": Path("tables/t.csv")}, redacted.SAYS["leak"], "en")
    said = raised.value.message
    assert "tables/t.csv" in said and planted.strip('"()') not in said and raised.value.exit_code == 1
    (tmp_path / "tables" / "t.csv").write_text("a\n100.64.3.7 topic-x4k2 order 1025 web-011 xtrade-ordery\n")
    leaks.check(HELD, {tmp_path / "tables" / "t.csv": Path("tables/t.csv")}, redacted.SAYS["stale"], "zh")


def test_outputs_of_a_notebook_are_drawn_anew(tmp_path):
    made = redactor()
    bar = {"type": "bar", "name": "trade-order", "x": {"bdata": "AAAA", "dtype": "i1"}}
    about = {"alt": "SO20260007", "min_width": 0}
    chart = {PLOTLY_MIME: {"data": [bar], "layout": {}}, CHART: about, "text/html": "<b>SO20260007</b>"}
    library = {"text/html": offline.library(), "text/plain": ""}
    error = {"ename": "ValueError", "evalue": "SO20260007", "traceback": ["/home/li/kit.py SO20260007"]}
    shown = [nbformat.v4.new_output("display_data", chart), nbformat.v4.new_output("error", **error)]
    shown.append(nbformat.v4.new_output("display_data", library, metadata=prose.LIBRARY))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=shown)])
    redacted.notebook(made, book, {}, "en")
    file = put(tmp_path / "book.ipynb", nbformat.writes(book))
    assert not any(leaks.leak(text, HELD) for text in leaks.texts(file)) and "/home/li" not in nbformat.writes(book)
    drawn, _, kept = book.cells[0].outputs
    assert drawn["data"][PLOTLY_MIME]["data"][0]["x"] == bar["x"] and "plotly.newPlot(" in drawn["data"]["text/html"]
    assert kept["data"] == library


@pytest.mark.seconds
def test_addresses_in_hex_long_cells_and_texts_are_searched_and_a_version_is_no_address(tmp_path):
    for text in ("id 0A142C0B00002A9F", "0x0a142c0b", "0X0A142c0B: no route", "0a142C0bffff"):
        assert leaks.leak(text, HELD) == "hex" and leaks.leak(text.replace("2", "3"), HELD) is None
    assert leaks.leak("TRADE-ORDER", HELD) is None and leaks.leak("trade-order", HELD) == "name"
    file = put(tmp_path / "t.csv", f"a,b\n{'x' * 200_000},10.1.2.3\n")
    assert any(leaks.leak(text, HELD) for text in leaks.texts(file))
    # Each letter of a word may begin an address of mail: looking on from each of them to the end took a day.
    texts = [part * 500_000 for part in ("x", "a-", ".a", "1", "\\")]
    assert [leaks.leak(text, HELD) for text in texts] == [None] * 5
    assert "10.20.44.11" not in redactor().text(f"{texts[0]} 10.20.44.11")
    # Some programs have releases of four numbers, such as 17.0.21.1.
    file = put(tmp_path / "manifest.json", json.dumps({"versions": {"python": "17.0.21.1"}, "evidence": "17.0.21.2"}))
    nothing = leaks.Originals(frozenset(), frozenset())
    assert [leaks.leak(text, nothing) for text in leaks.texts(file)] == [None, "address"]


@pytest.mark.recordings
@pytest.mark.spark
def test_a_leak_stops_the_report_before_anything_is_written(spark, tmp_path, monkeypatch):
    case = kit.open_case(recorded.unpack("healthy", tmp_path), tmp_path / "cache")
    monkeypatch.setattr(Redactor, "value", lambda self, value, **_: value)
    with pytest.raises(click.ClickException, match="would still show an original"):
        redacted.run(case, tmp_path / "out")
    assert not (tmp_path / "out").exists() and not list((case.workspace.folder / "tmp").iterdir())
    monkeypatch.undo()
    put(tmp_path / "out" / "older.csv", "trade-order-event\n")
    with pytest.raises(OutputRefused, match=r"older\.csv, which was not written"):
        redacted.run(case, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["older.csv"]
