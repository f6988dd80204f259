"""A busy broker and its neighbours: hand-made incidents with answers by arithmetic."""

from pathlib import Path

from busy_evidence import REFUSAL, STARTED, TIMEOUT, A, B, attempt, clock, sent, thrown, traffic, write_log, write_store
from folders import put
from stores import store

import kit
from kit import causes
from kit.case.case import Case
from kit.causes.findings import Finding
from kit.causes.root_causes import broker_busy

REFUSED = REFUSAL.format(kind="TIMEOUT_CLEAN_QUEUE") + ", period in queue: 402ms, size of queue: 24"


def ask(folder: Path) -> tuple[Case, Finding]:
    case = kit.open_case(folder, folder.parent / "ws", tz_app="+08:00")
    return case, causes.examine(case.facts, "broker-busy")


def test_a_message_is_found_twice_though_no_failed_send_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    for host, broker, born in (("host-a", A, 1005), ("host-b", B, 1405)):
        again = sent("K-twice", born, 1900, broker)
        write_store(folder / host / "commitlog", [*traffic(4000, broker=broker, prefix=host), again])
    write_log(folder / "app" / "rocketmq_client.log", [STARTED, *attempt(1410, "K-lost", REFUSED)])
    write_log(folder / "app" / "shop.log", thrown(1411, "K-lost", REFUSED))
    figures = ask(folder)[1].figures
    assert (figures["failed_but_stored"], figures["stored_twice"]) == (0, 1)


def test_the_store_of_another_cluster_shows_nothing_of_a_send_that_timed_out(tmp_path: Path) -> None:
    """A broker stores under its brokerIP1, which is the address of the route that the client prints."""
    outcomes = []
    for name, host in (("own", "10.0.0.2"), ("other", "10.9.9.9")):
        write_store(tmp_path / name / "commitlog", traffic(4000))
        error = TIMEOUT.replace("10.0.0.2", host)
        write_log(tmp_path / name / "app" / "rocketmq_client.log", [STARTED, *attempt(1410, "K-lost", error)])
        write_log(tmp_path / name / "app" / "shop.log", thrown(1411, "K-lost", error))
        figures = causes.examine(ask(tmp_path / name)[0].facts, "client-timeout").figures
        outcomes.append((figures["timed_out_sends"], figures["stored"]))
    assert outcomes == [(1, 0), (1, None)]


def test_a_standstill_alone_is_suspected(tmp_path: Path) -> None:
    write_store(tmp_path / "evidence" / "commitlog", traffic(4000, pauses=((1000, 1900),)))
    case, found = ask(tmp_path / "evidence")
    assert found.verdict == "suspected"
    assert found.figures["errors_by_kind"] is None
    assert any("rocketmq_client" in wanted.command for wanted in found.missing)
    assert causes.examine(case.facts, "client-timeout").verdict == "insufficient_evidence"


def test_refusals_that_name_no_message_are_counted_one_by_one_beside_a_store(tmp_path: Path) -> None:
    write_store(tmp_path / "evidence" / "store", traffic(4000))
    # What is stored between the two files is missing.
    put(tmp_path / "evidence" / "store" / f"{1 << 20:020}", store([sent("K1", 5000, 5001)], 1 << 20).data)
    failed = [f"{clock(1000 * n)} ERROR [main] orders.Sender - send failed\n{REFUSED}" for n in range(3)]
    write_log(tmp_path / "evidence" / "orders.log", failed)
    _, found = ask(tmp_path / "evidence")
    assert found.verdict == "confirmed"
    assert [found.figures[name] for name in ("sends_failed", "lost", "failed_but_stored")] == [3, None, None]
    assert found.figures["errors_by_kind"] == {"TIMEOUT_CLEAN_QUEUE": 3}
    wanted = f"to {1 << 20:,} of the log of 10.0.0.2:10911 are missing"
    assert any(wanted in each.why.render() for each in found.missing)


def test_every_explanation_has_a_name_and_a_remedy() -> None:
    names = broker_busy.TEXTS.figures["explanations"].values
    assert set(names) == set(broker_busy.FIXES)
    assert set(broker_busy.FIXES.values()) <= set(broker_busy.TEXTS.remedies)
