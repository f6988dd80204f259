"""Harmless texts: lines as the reference prints them are known, counted, and speak for no cause."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import recorded
from busy_evidence import clock, sent, write_log, write_store
from table import rows_of

import kit
from kit.analysis import noise
from kit.causes import known_problems, timeline
from kit.formats.logs.known_texts import known_texts
from kit.rocketmq.catalogue import BENIGN, slugs

if TYPE_CHECKING:
    from kit.case.case import Case

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
QUEUE = f"MessageQueue [topic={HALF}, brokerName=broker-a, queueId=0]"

# Texts of the reference: §1.1 and §1.10 (store), §6.5 (transaction.log), §8.1 (pop.log), §8.2 (broker.log, start and
# stop).
STORE = rows_of(__file__, "store")
TRANSACTION = rows_of(__file__, "transaction")
BROKER = rows_of(__file__, "broker")
POP = rows_of(__file__, "pop")
ROUNDS = 12


def lines(*kinds: dict[str, list[str]]) -> dict[str, list[str]]:
    return {slug: texts for kind in kinds for slug, texts in kind.items()}


def quiet(folder: Path) -> Path:
    """Messages that were sent and stored at once, and twelve rounds of every harmless line in the log it belongs to."""
    write_store(folder / "broker" / "commitlog", [sent(f"K{n}", 10 * n, 10 * n + 1) for n in range(50)])
    ordinary = {
        "store": "INFO StoreStatsService - [STORETPS] put_tps 12.3 get_found_tps 1.0 get_miss_tps 0.0 get_transfered_tps 1.0",
        "transaction": f"INFO TransactionalMessageCheckService - Before check, the queue={QUEUE} msgOffset=4 opOffset=2",
        "broker": "INFO BrokerControllerScheduledThread1 - dispatch behind commit log 0 bytes",
        "pop": "INFO main - PopReviveService_0 service start",
    }
    for name, kind in (("store", STORE), ("transaction", TRANSACTION), ("broker", BROKER), ("pop", POP)):
        said = [
            (10_000 * n, text)
            for n in range(ROUNDS)
            for text in (ordinary[name], *(t for texts in kind.values() for t in texts))
        ]
        write_log(folder / "broker" / "logs" / f"{name}.log", [f"{clock(ms)[:19]} {text}" for ms, text in said])
    return folder


@pytest.mark.parametrize(
    ("slug", "text"), [(slug, text) for slug, texts in lines(STORE, TRANSACTION, BROKER, POP).items() for text in texts]
)
def test_the_lines_of_the_reference_are_known(slug: str, text: str) -> None:
    assert slug in BENIGN
    assert slug in {slugs()[number].as_py() for number in known_texts().within(text)}


@pytest.mark.seconds
def test_noise_alone_speaks_for_no_cause(tmp_path: Path) -> None:
    case = kit.open_case(quiet(tmp_path / "evidence"), tmp_path / "ws")
    findings = kit.triage(case)
    assert findings["root_causes"] == []
    assert [
        (f["cause"], f["verdict"]) for f in findings["findings"] if f["verdict"] in ("confirmed", "suspected")
    ] == []
    frame = noise.harmless_texts(case.facts).set_index("slug")
    expected = {slug: ROUNDS * len(texts) for slug, texts in lines(STORE, TRANSACTION, BROKER, POP).items()}
    assert sum(expected.values()) >= 200
    assert frame["count"].to_dict() == expected
    first = frame.loc["commitlog-folder-missing"]
    assert first["file"] == "broker/logs/store.log"
    assert (
        "so reclaim space, -1.0"
        in (tmp_path / "evidence" / first["file"]).read_text().split("\n")[int(first["line"]) - 1]
    )
    assert first["text"].endswith("so reclaim space, -1.0")
    # 2024-05-14 10:00:00 GMT+8
    assert str(first["first"]) == "2024-05-14 02:00:00+00:00"
    assert "DLedger" in first["why"]
    assert set(noise.harmless_texts(case.facts, "zh")["why"]).isdisjoint(set(frame["why"]))


REFUSED_PULL = "WARN PullMessageThread_1 - the consumer's group info not exist, group: orders"
NOT_LATEST = "WARN PullMessageThread_1 - The broker's subscription is not latest, group: orders *"
NOT_ONLINE = "ERROR exporter - CODE: 206  DESC: the consumer group[orders] not online"
CONNECTED = (
    "INFO ClientManageThread_1 - new consumer connected, group: {} CONSUME_PASSIVELY CLUSTERING channel: ClientChannelInfo "
    "[channel=[id: 0x1, L:/10.20.29.11:10911 - R:/10.20.29.21:35364], clientId=10.20.29.21@1, language=JAVA, version=335, "
    "lastUpdateTimestamp=1715652000000]"
)
STATISTICS = "INFO BrokerControllerScheduledThread1 - dispatch behind commit log 0 bytes"
TEXTS = {
    REFUSED_PULL: "consumer-group-missing",
    NOT_LATEST: "subscription-not-latest",
    NOT_ONLINE: "no-consumer-online",
}


def broker_log(folder: Path, text: str, every: int, minutes: float, starts: str = "") -> Case:
    """Open a case whose broker.log has a text every so many seconds; with `starts`, a consumer of that group connects each minute."""
    said = [(1000 * at, text) for at in range(0, int(60 * minutes), every)]
    said += [(30_000 * n, STATISTICS) for n in range(20)]
    if starts:
        said += [(60_000 * n, CONNECTED.format(starts)) for n in range(int(minutes) + 1)]
    write_log(
        folder / "e" / "broker" / "logs" / "broker.log", [f"{clock(ms)[:19]} {text}" for ms, text in sorted(said)]
    )
    case = kit.open_case(folder / "e", folder / "ws")
    case.eager = False
    return case


def symptoms(case: Case) -> dict[str, Any]:
    return {finding.cause: finding for finding in known_problems.examine(case.facts)}


@pytest.mark.parametrize("text", TEXTS)
def test_three_lines_at_a_start_are_harmless_and_it_is_said_so(tmp_path: Path, text: str) -> None:
    case = broker_log(tmp_path, text, 5, 0.25, starts="orders")
    row = noise.harmless_texts(case.facts).set_index("slug").loc[TEXTS[text]]
    assert row["count"] == 3
    assert "all 3 are within 60 s of a start or stop" in row["why"]
    assert symptoms(case) == {} and noise.going_on(case.facts) == {}
    assert "3" in noise.harmless_texts(case.facts, "zh").set_index("slug").loc[TEXTS[text], "why"]


@pytest.mark.parametrize(
    ("text", "slug"),
    [(REFUSED_PULL, "group-not-connected"), (NOT_LATEST, "subscription-changing"), (NOT_ONLINE, "group-not-online")],
)
def test_hundreds_in_an_hour_without_a_restart_are_a_symptom(tmp_path: Path, text: str, slug: str) -> None:
    case = broker_log(tmp_path, text, 10, 60)
    assert TEXTS[text] not in set(noise.harmless_texts(case.facts)["slug"])
    finding = symptoms(case)[slug]
    assert (finding.verdict, finding.figures) == ("suspected", {"entries": 360})
    assert "360 log entries" in finding.summary.render("en") and "orders" in finding.summary.render("en")
    (step,) = finding.steps
    assert [(ref.file, ref.text.endswith(text[-20:])) for ref in step.evidence] == [("broker/logs/broker.log", True)]
    (lane,) = timeline.table(case.facts, [])[lambda rows: rows["en"].str.endswith("without a start or stop")].to_dict(
        "records"
    )
    assert (lane["lane"], lane["count"], lane["line"]) == ("consumers", 360, step.evidence[0].line)
    # 2024-05-14 10:00:00 GMT+8, the last one 10 s before an hour is over
    assert finding.window is not None
    assert [str(time) for time in finding.window] == ["2024-05-14 02:00:00", "2024-05-14 02:59:50"]


def test_starts_of_a_group_excuse_its_own_lines_only(tmp_path: Path) -> None:
    own = broker_log(tmp_path / "own", REFUSED_PULL, 10, 60, starts="orders")
    assert symptoms(own) == {}
    other = broker_log(tmp_path / "other", REFUSED_PULL, 10, 60, starts="points")
    assert symptoms(other)["group-not-connected"].figures == {"entries": 360}


@pytest.mark.parametrize(("every", "minutes"), [(1, 1.5), (120, 60)])
def test_a_short_burst_and_a_rare_line_are_not_enough(tmp_path: Path, every: int, minutes: float) -> None:
    case = broker_log(tmp_path, REFUSED_PULL, every, minutes, starts="")
    # 90 lines in a minute and a half are over before the broker forgets a silent client; 30 in an hour are a symptom.
    assert bool(noise.going_on(case.facts)) is (minutes == 60)


def test_lines_without_times_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(f"{REFUSED_PULL.partition(' - ')[2]}\n" * 300)
    case = kit.open_case(tmp_path / "paste.txt", tmp_path / "ws")
    case.eager = False
    assert symptoms(case) == {}
    assert (
        "no times are known" in noise.harmless_texts(case.facts).set_index("slug").loc["consumer-group-missing", "why"]
    )


@pytest.mark.recordings
def test_what_a_healthy_broker_says() -> None:
    """Counted by grep in the recording: one stop, one first start, one brokerStatus call too early."""
    case = recorded.case("healthy")
    frame = noise.harmless_texts(case.facts).set_index("slug")
    text = "\n".join(p.read_text(errors="replace") for p in case.path.rglob("*.log"))
    for slug, needle in (
        ("buffer-position-invalid", "selectMappedBuffer request pos invalid"),
        ("preallocated-deleted", "delete pre allocated maped file"),
        ("half-store-null", "Get message from store return null"),
    ):
        assert frame.loc[slug, "count"] == text.count(needle), slug
