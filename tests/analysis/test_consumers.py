"""Consumers: when a lag is a backlog, where queues ended, and what became of single messages in each group."""

import json
import os
from types import SimpleNamespace

import pytest
import recorded
from folders import put
from stores import Record, store
from table import rows_of

import kit
from kit.analysis.consumers import lag, outcomes
from kit.charts import messages
from kit.report import console

BEGIN = 1_715_652_000
PROGRESS = rows_of(__file__, "progress")


def stored(folder, times, changed):
    each = [((0, 0, n, 0, 0), 1000 * at) for n, at in enumerate(times)]
    records = [Record(topic=b"orders", numbers=place, born=at, stored=at) for place, at in each]
    log = put(folder / "store" / "commitlog" / f"{0:020}", store(records, end=bytes(4096)).data)
    os.utime(log, (changed, changed))
    (folder / "broker.conf").write_text("brokerName=broker-a\nbrokerId=0\n")


def saved(folder, offset, at):
    offsets = json.dumps({"offsetTable": {"orders@billing": {"0": offset}}})
    saved = put(folder / "saved" / "consumerOffset.json", offsets)
    os.utime(saved, (at, at))


def test_an_output_whose_file_was_copied_later_is_of_the_time_of_its_queue_ends(tmp_path):
    stored(tmp_path / "e", range(BEGIN, BEGIN + 60), BEGIN + 60)
    for name, end, offset in (("early", 20, 5), ("late", 50, 10)):
        output = tmp_path / "e" / f"consumerProgress-{name}.txt"
        output.write_text(PROGRESS.format(end=end, offset=offset, lag=end - offset))
        os.utime(output, (BEGIN + 90_000, BEGIN + 90_000))
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    # Record 19 is of second 19 and record 20 not stored yet: the output is of second 19; the other likewise.
    seconds = [at.timestamp() - BEGIN for at in lag.positions(case.facts)["time"]]
    assert seconds == [19, 49]
    (pair,) = lag.pairs(case.facts)
    assert (pair.backlog, pair.growth_per_second) == (True, round((40 - 15) / 30, 2))


@pytest.mark.parametrize(("offset", "second"), [(30, 29), (60, 59)])
def test_a_copy_whose_time_was_lost_shows_no_lag_unless_all_was_handled(offset, second, tmp_path):
    stored(tmp_path / "e", range(BEGIN, BEGIN + 60), BEGIN + 60)
    saved(tmp_path / "e", offset, BEGIN + 90_000)
    facts = kit.open_case(tmp_path / "e", tmp_path / "ws").facts
    (row,) = lag.positions(facts).to_dict("records")
    # The last handled message was stored in that second, and the copy saved then or any time later.
    assert (row["time"].timestamp() - BEGIN, row["at_least"]) == (second, offset < 60)
    assert [q.last_lag for pair in lag.pairs(facts) for q in pair.queues] == ([] if offset < 60 else [0])


def course(queue_id, first, last, broker="broker-a"):
    """One queue by its (offset, end) at two times a minute apart."""
    lags = first[1] - first[0], last[1] - last[0]
    return SimpleNamespace(
        broker=broker, queue_id=queue_id, first_lag=lags[0], last_lag=lags[1], peak=max(lags), looks=2, seconds=60.0,
        since_peak=last[1] - first[1] if lags[0] > lags[1] else 0, arrived=last[1] - first[1], advanced=last[0] - first[0],
        grew=lags[1] - lags[0] >= 10, never_handled=False, reported=False,
    )  # fmt: skip


@pytest.mark.parametrize("row", rows_of(__file__, "backlogs"), ids=lambda row: row["name"])
def test_a_lag_that_grows_everywhere_while_offsets_go_on_is_a_backlog(row):
    found = lag.pair("points", "orders", [course(*queue) for queue in row["queues"]])
    shown = {name: getattr(found, name) for name in row["shows"]}
    assert shown == row["shows"] and list(shown.get("per_queue", ())) == list(row["shows"].get("per_queue", ()))


@pytest.mark.seconds
@pytest.mark.parametrize(("expression", "tag", "fits"), rows_of(__file__, "a_tag_and_an_expression"))
def test_a_tag_and_an_expression(expression, tag, fits):
    assert outcomes.matches(expression, tag) is fits


def truth(name):
    return recorded.label(name)["truth"]


@pytest.mark.seconds
@pytest.mark.parametrize("row", rows_of(__file__, "fates"), ids=lambda row: row["name"])
def test_what_became_of_messages_in_each_group(row):
    for key, expected in row["keys"].items():
        trace = kit.trace(recorded.case(row["name"]), key)
        assert {each["group"] or "nobody": each["fate"] for each in trace["consumers"]} == expected, key


@pytest.mark.seconds
def test_a_skip_in_a_queue_of_another_broker_skipped_nothing(tmp_path):
    for n, name in enumerate(("broker-a", "broker-b")):
        host, places = bytes([10, 0, 0, 2 + n]), [(0, 0, offset, 0, 0) for offset in range(10)]
        records = [Record(b"orders", numbers=each, store_host=host, stored=1000 * BEGIN) for each in places]
        put(tmp_path / "e" / name / "store" / "commitlog" / f"{0:020}", store(records, end=bytes(4096)).data)
        put(tmp_path / "e" / name / "broker.conf", f"brokerName={name}\nbrokerId=0\n")
        saved = json.dumps({"offsetTable": {"orders@points": {"0": 8}}})
        put(tmp_path / "e" / name / "store" / "config" / "consumerOffset.json", saved)
    pull = "PullRequest [consumerGroup=points, messageQueue=MessageQueue [topic=orders, brokerName=broker-a, queueId=0], nextOffset=1]"
    answer = "PullResult [pullStatus=OFFSET_ILLEGAL, nextBeginOffset=6, minOffset=0, maxOffset=10, msgFoundList=0]"
    line = f"2024-05-14 10:00:01,398 WARN RocketmqClient - the pull request offset illegal, {pull} {answer}\n"
    put(tmp_path / "e" / "app" / "rocketmq_client.log", line)
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    third = case.sql("select offset_msg_id from records where queue_offset = 3 order by store_host").collect()
    lives = [kit.trace(case, row.offset_msg_id) for row in third]
    assert [[each["fate"] for each in life["consumers"]] for life in lives] == [["skipped"], ["passed"]]


@pytest.mark.seconds
def test_a_backlog_is_not_reached_yet_and_what_breaks_does_not_cost_the_journey(monkeypatch):
    said = truth("consumer-backlog")
    ledgers = [recorded.rows("consumer-backlog", file) for file in ("c/points.csv", "a/audit.csv")]
    handled, audited = ({row["keys"]: None for row in rows} for rows in ledgers)
    trace = kit.trace(recorded.case("consumer-backlog"), [key for key in audited if key not in handled][-1])
    (own,) = (c for c in trace["consumers"] if c["group"] == said["group"])
    before = own["queue_offset"] - said["end"]["lag_per_queue"][str(own["queue_id"])]["offset"]
    assert own["fate"] == "not-reached" and f"{before:,} messages" in own["text"]
    assert own["text"] in console.life(trace, "en")
    assert list(messages.consumers(trace).frame["group"]) == [c["group"] for c in trace["consumers"]]

    # What breaks does not cost the journey.
    def broken(*_):
        raise RuntimeError("no")

    monkeypatch.setattr(outcomes, "of", broken)
    case = recorded.case("consumer-stuck")
    found = kit.trace(case, truth("consumer-stuck")["uniq_key"])
    assert found["records"] and found["consumers"] == []
    assert [failure.what for failure in case.failures] == ["consumers"]
