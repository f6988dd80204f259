"""What to collect next: a window of the store and never all of it, what the host kept of a past time, known names filled
in and quoted."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import kit
from kit import causes
from kit.causes import collect_next
from kit.causes.findings import Finding
from kit.i18n import T

WHY = T("it decides")
WINDOW = (dt.datetime(2024, 5, 14, 23, 58, tzinfo=dt.UTC), dt.datetime(2024, 5, 15, 0, 20, tzinfo=dt.UTC))


def test_the_store_is_cut_to_the_window_with_a_check_of_free_space() -> None:
    wanted = collect_next.ask("commitlog", WHY).command
    assert "tar " not in wanted and "rmq-kit collect" in wanted and "--max-gb" in wanted
    told = collect_next.filled(wanted, {}, collect_next.widened(WINDOW))
    assert "--since 2024-05-14T23:53Z --until 2024-05-15T00:25Z" in told
    assert "since" not in collect_next.filled(wanted, {}, None)


def test_a_past_time_asks_for_what_the_host_kept_of_it() -> None:
    wanted = collect_next.ask("host metrics", WHY).command
    told = collect_next.filled(wanted, {}, collect_next.widened(WINDOW))
    assert "sar -A -f" in told and "sa14" in told and "sa15" in told and "iostat" not in told and "gc" in told
    assert "iostat -dxt 1 60" in collect_next.filled(wanted, {}, None)


def test_rolled_logs_of_all_releases_are_asked_for() -> None:
    wanted = collect_next.ask("transaction.log", WHY).command
    assert "otherdays/transaction" in wanted and "other_days/transaction" in wanted


def test_known_names_are_put_in_and_quoted() -> None:
    names = {"~/store": "/data/mq store", "NAMESRV:9876": "10.0.0.1:9876", "BROKER:10911": "$(reboot):10911"}
    assert collect_next.filled("x ~/store NAMESRV:9876 BROKER:10911", names, None) == (
        "x '/data/mq store' 10.0.0.1:9876 '$(reboot):10911'"
    )


def test_a_known_topic_and_time_are_in_every_request_that_can_take_them() -> None:
    wanted = collect_next._of_topic(collect_next.ask("commitlog", WHY).command, "paid orders")
    assert " --topic 'paid orders' " in collect_next.filled(wanted, {}, None)
    assert "TOPIC" not in collect_next.filled(collect_next.ask("commitlog", WHY).command, {}, None)
    rows = collect_next.filled(collect_next.ask("business rows", WHY).command, {}, collect_next.widened(WINDOW))
    assert "BETWEEN '2024-05-14 23:53' AND '2024-05-15 00:25'" in rows


def test_no_request_takes_a_whole_store() -> None:
    made = (
        collect_next.ask("commitlog", WHY),
        collect_next.ask("replica's store", WHY),
        collect_next.ask("configuration", WHY),
    )
    assert not [each.command for each in made if "tar " in each.command and "commitlog" in each.command]
    assert all("--max-gb" in each.command for each in made[:2])


def test_the_only_group_of_the_evidence_is_filled_in(tmp_path: Path) -> None:
    offsets = '{"offsetTable":{"orders@points service":{0:5},"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:1}}}'
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "consumerOffset.json").write_text(offsets)
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    case.eager = False
    finding = Finding("x", "neighbour", WHY.say(), WHY.say(), missing=[collect_next.ask("connections", WHY)])
    collect_next.placed(case.facts, [finding])
    assert " -g 'points service' > " in finding.missing[0].command


def test_every_request_of_the_causes_is_a_row() -> None:
    sources = (path.read_text(encoding="utf-8") for path in Path(causes.__file__).parent.rglob("*.py"))
    named = {name for text in sources for name in re.findall(r'collect_next\.ask\(\s*"([^"]+)"', text)}
    assert named and named <= set(collect_next.artefacts())
