"""What to collect next: a window of the store and never all of it, with known names filled in and quoted."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

import kit
from kit.causes import collect_next
from kit.causes.findings import Finding
from kit.i18n import T

WHY = T("it decides")
WINDOW = (dt.datetime(2024, 5, 14, 23, 58, tzinfo=dt.UTC), dt.datetime(2024, 5, 15, 0, 20, tzinfo=dt.UTC))


def command(artefact: str, window: Any = None, topic: str | None = None) -> str:
    """Return the command for an artefact, as a request of a whole triage has it."""
    values = collect_next.LEFT_OUT | collect_next.times(collect_next.widened(window))
    return collect_next.filled(collect_next.ask(artefact, WHY, topic=topic).command, values)


@pytest.mark.parametrize(
    ("artefact", "window", "topic", "has", "lacks"),
    [
        # The store is cut to the window, with a check of free space; its folder is never taken whole.
        ("commitlog", WINDOW, None, ["rmq-kit collect", "--max-gb", "--since 2024-05-14T23:53Z --until 2024-05-15T00:25Z"], ["tar ", "TOPIC"]),
        ("commitlog", None, None, ["--max-gb"], ["since", "TOPIC"]),
        ("commitlog", None, "paid orders", [" --topic 'paid orders' "], []),
        ("replica's store", None, None, ["--max-gb"], ["tar "]),
        ("configuration", None, None, ["tar "], ["commitlog"]),
        # What the host kept of a past time.
        ("host metrics", WINDOW, None, ["sar -A -f", "sa14", "sa15", "gc"], ["iostat"]),
        ("host metrics", None, None, ["iostat -dxt 1 60"], []),
        # Rolled logs of all releases.
        ("transaction.log", None, None, ["otherdays/transaction", "other_days/transaction"], []),
        ("business rows", WINDOW, None, ["BETWEEN '2024-05-14 23:53' AND '2024-05-15 00:25'"], []),
    ],
)  # fmt: skip
def test_what_a_request_takes(artefact: str, window: Any, topic: str | None, has: list[str], lacks: list[str]) -> None:
    made = command(artefact, window, topic)
    assert [text for text in has if text not in made] == [text for text in lacks if text in made] == []


def test_names_of_the_evidence_are_filled_in_and_quoted(tmp_path: Path) -> None:
    offsets = '{"offsetTable":{"orders@points service":{0:5},"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:1}}}'
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "consumerOffset.json").write_text(offsets)
    (tmp_path / "e" / "broker.conf").write_text("brokerName=a\nstorePathRootDir=/data/$(reboot)\n")
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    case.eager = False
    asked = ("connections", "configuration")
    finding = Finding("x", "neighbour", WHY.say(), WHY.say(), missing=[collect_next.ask(name, WHY) for name in asked])
    collect_next.placed(case.facts, [finding])
    connections, configuration = (each.command for each in finding.missing)
    assert " -g 'points service' > " in connections
    assert "'/data/$(reboot)'" in configuration
