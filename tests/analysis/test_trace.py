"""Message traces of clients: entries of a list of their own, never copies of the messages they are about."""

import pytest
import recorded

import kit
from kit.report import console

NAME = "healthy-traced"
TOPIC = "RMQ_SYS_TRACE_TOPIC"

pytestmark = [pytest.mark.recordings, pytest.mark.spark]


@pytest.fixture(scope="module")
def case():
    return recorded.case(NAME)


def test_a_message_and_what_clients_wrote_about_it(case):
    records = list(recorded.truth(NAME))
    about = [r for r in records if r["topic"] == TOPIC]
    copies: dict[str, set[str]] = {}
    for record in records:
        if record["topic"] not in (TOPIC, "RMQ_SYS_TRANS_OP_HALF_TOPIC"):
            copies.setdefault(record["properties"]["UNIQ_KEY"], set()).add(record["msg_id"])
    key = next(k for r in about for k in r["properties"]["KEYS"].split() if k in copies)
    business = next(r["properties"]["KEYS"] for r in records if r["properties"].get("UNIQ_KEY") == key)
    places = {r["physical_offset"] for r in about if key in r["properties"]["KEYS"].split()}
    for asked in (key, business, min(copies[key])):
        told = kit.trace(case, asked)
        assert told["uniq_keys"] == [key]
        assert {r["offset_msg_id"] for r in told["records"]} == copies[key]
        assert {t["physical_offset"] for t in told["traces"]} == places
        assert {t["uniq_key"] for t in told["traces"]} == {key} and "Pub" in {t["type"] for t in told["traces"]}
        assert all("line" in mention for mention in told["mentions"])
        assert f"@{min(places)}  type=" in console.life(told, "en")


def test_the_id_of_a_trace_record_itself(case):
    record = next(r for r in recorded.truth(NAME) if r["topic"] == TOPIC)
    for asked in (record["msg_id"], record["properties"]["UNIQ_KEY"]):
        told = kit.trace(case, asked)
        assert told["records"] == [] and told["gaps"] == []
        assert {t["physical_offset"] for t in told["traces"]} == {record["physical_offset"]}
        assert {t["uniq_key"] for t in told["traces"]} <= set(record["properties"]["KEYS"].split())
