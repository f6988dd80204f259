"""What to collect next: a window of the store and never all of it, with known names filled in and quoted."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from folders import opened
from table import rows_of

from kit.causes import collect_next
from kit.causes.findings import Finding
from kit.i18n import T

WHY = T("it decides")
WINDOW = (dt.datetime(2024, 5, 14, 23, 58, tzinfo=dt.UTC), dt.datetime(2024, 5, 15, 0, 20, tzinfo=dt.UTC))


def command(artefact: str, window: Any = None, topic: str | None = None) -> str:
    """Return the command for an artefact, as a request of a whole triage has it."""
    values = collect_next.LEFT_OUT | collect_next.times(collect_next.widened(window))
    return collect_next.filled(collect_next.ask(artefact, WHY, topic=topic).command, values)


@pytest.mark.parametrize(("artefact", "within", "topic", "has", "lacks"), rows_of(__file__, "what_a_request_takes"))
def test_what_a_request_takes(artefact: str, within: bool, topic: str | None, has: list[str], lacks: list[str]) -> None:
    made = command(artefact, WINDOW if within else None, topic)
    assert [text for text in has if text not in made] == [text for text in lacks if text in made] == []


def test_names_of_the_evidence_are_filled_in_and_quoted(tmp_path: Path) -> None:
    offsets = '{"offsetTable":{"orders@points service":{0:5},"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:1}}}'
    conf = "brokerName=a\nstorePathRootDir=/data/$(reboot)\n"
    case = opened(tmp_path, {"consumerOffset.json": offsets, "broker.conf": conf})
    case.eager = False
    asked = ("connections", "configuration")
    finding = Finding("x", "neighbour", WHY.say(), WHY.say(), missing=[collect_next.ask(name, WHY) for name in asked])
    collect_next.placed(case.facts, [finding])
    connections, configuration = (each.command for each in finding.missing)
    assert " -g 'points service' > " in connections
    assert "'/data/$(reboot)'" in configuration
