"""Harmless texts: lines as the reference prints them are known, counted, and speak for no cause."""

import asked
import pytest
from busy_evidence import clock, sent, write_log, write_store
from table import rows_of

import kit
from kit.analysis import noise
from kit.causes import known_problems, timeline

# Texts of the reference: §1.1 and §1.10 (store), §6.5 (transaction.log), §8.1 (pop.log), §8.2 (broker.log, start and
# stop).
STORE = rows_of(__file__, "store")
TRANSACTION = rows_of(__file__, "transaction")
BROKER = rows_of(__file__, "broker")
POP = rows_of(__file__, "pop")
ROUNDS = 12


def quiet(folder):
    """Messages that were sent and stored at once, and twelve rounds of every harmless line in the log it belongs to."""
    write_store(folder / "broker" / "commitlog", [sent(f"K{n}", 10 * n, 10 * n + 1) for n in range(50)])
    for name, kind in (("store", STORE), ("transaction", TRANSACTION), ("broker", BROKER), ("pop", POP)):
        texts = [rows_of(__file__, "ordinary")[name], *(text for texts in kind.values() for text in texts)]
        lines = [f"{clock(10_000 * n)[:19]} {text}" for n in range(ROUNDS) for text in texts]
        write_log(folder / "broker" / "logs" / f"{name}.log", lines)
    return folder


@pytest.mark.seconds
def test_noise_alone_speaks_for_no_cause(tmp_path):
    case = kit.open_case(quiet(tmp_path / "evidence"), tmp_path / "ws")
    findings = kit.triage(case)
    assert findings["root_causes"] == []
    assert [f for f in findings["findings"] if f["verdict"] in ("confirmed", "suspected")] == []
    frame = noise.harmless_texts(case.facts).set_index("slug")
    expected = {slug: ROUNDS * len(texts) for slug, texts in (STORE | TRANSACTION | BROKER | POP).items()}
    assert sum(expected.values()) >= 200
    assert frame["count"].to_dict() == expected
    first = frame.loc["commitlog-folder-missing"]
    assert first["file"] == "broker/logs/store.log"
    line = (tmp_path / "evidence" / first["file"]).read_text().split("\n")[int(first["line"]) - 1]
    assert "so reclaim space, -1.0" in line and first["text"].endswith("so reclaim space, -1.0")
    # 2024-05-14 10:00:00 GMT+8
    assert str(first["first"]) == "2024-05-14 02:00:00+00:00"
    assert "DLedger" in first["why"]
    assert set(noise.harmless_texts(case.facts, "zh")["why"]).isdisjoint(set(frame["why"]))


REFUSED_PULL = "WARN PullMessageThread_1 - the consumer's group info not exist, group: orders"
TEXT = "consumer-group-missing"


def judged(every, minutes, starts="", times=True):
    """Judge a text of the group `orders` every so many seconds; with `starts`, a consumer of that group connects each minute."""
    said = [(at, TEXT, "orders") for at in range(0, int(60 * minutes), every)]
    said += [(60 * n, "consumer-connected", starts) for n in range(int(minutes) + 1) if starts]
    events = [
        {
            "event": event, "file": "broker.log", "source": "broker", "line": line, "values": {"group": group},
            "ts": asked.at(at) if times else None,
        }
        for line, (at, event, group) in enumerate(said, 1)
    ]  # fmt: skip
    return noise.going_on(asked.case(events=events).facts).get(TEXT)


@pytest.mark.spark
@pytest.mark.parametrize(("given", "outside"), rows_of(__file__, "texts_of_a_start"))
def test_a_text_of_a_start_goes_on_or_not(given, outside):
    found = judged(*given)
    assert (found and found.outside) == outside


def broker_log(folder, seconds):
    write_log(folder / "e" / "broker.log", [f"{clock(1000 * at)[:19]} {REFUSED_PULL}" for at in seconds])
    case = kit.open_case(folder / "e", folder / "ws")
    case.eager = False
    return case


def test_what_goes_on_is_a_symptom_with_its_place_and_time_and_else_harmless(tmp_path):
    case = broker_log(tmp_path, range(0, 3600, 10))
    assert TEXT not in set(noise.harmless_texts(case.facts)["slug"])
    (finding,) = [each for each in known_problems.examine(case.facts) if each.cause == "group-not-connected"]
    assert (finding.verdict, finding.figures) == ("suspected", {"entries": 360})
    assert "360 log entries" in finding.summary.render("en") and "orders" in finding.summary.render("en")
    assert [(ref.file, ref.line) for ref in finding.steps[0].evidence] == [("broker.log", 1)]
    # 2024-05-14 10:00:00 GMT+8, the last one 10 s before an hour is over
    assert list(map(str, finding.window or ())) == ["2024-05-14 02:00:00", "2024-05-14 02:59:50"]
    lanes = timeline.table(case.facts, [])
    (lane,) = lanes[lanes["en"].str.endswith("without a start or stop")].to_dict("records")
    assert (lane["lane"], lane["count"], lane["line"]) == ("consumers", 360, 1)
    # What does not go on is harmless.
    row = noise.harmless_texts(broker_log(tmp_path / "b", range(0, 30, 10)).facts).set_index("slug").loc[TEXT]
    assert row["count"] == 3
