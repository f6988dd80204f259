"""The half-topic blow-up and its neighbours, against RocketMQ's own decoder."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest
import recorded

import kit
from kit.causes.neighbours import retry_topic_too_long, send_back_refused
from kit.causes.root_causes import half_topic_blowup

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
NAME = "half-topic-blowup"


def expected() -> dict[str, Any]:
    """The figures by the definitions of the interface, from the decoder's records."""
    leaked = [r for r in recorded.truth(NAME) if r["topic"] == HALF and r["properties"].get("REAL_TOPIC") == HALF]
    leaked.sort(key=lambda r: r["physical_offset"])
    times = [r["store_timestamp"] / 1000 for r in leaked]
    m = n = len({r["properties"]["UNIQ_KEY"] for r in leaked})
    terms = []
    while 2 * m <= len(times):
        terms.append(times[2 * m - 1] - times[m - 1])
        m *= 2
    return {
        "leaked_messages": n,
        "leaked_half_records": len(leaked),
        "doubling_seconds": statistics.median(terms),
        "max_check_times": max(int(r["properties"].get("TRANSACTION_CHECK_TIMES", 0)) for r in leaked),
        "retry_topic_length": recorded.label(NAME)["retry_topic_length"],
    }


@pytest.mark.recordings
def test_the_recorded_blowup() -> None:
    case = recorded.case(NAME)
    found = half_topic_blowup.examine(case)
    assert found.verdict == "confirmed"
    figures = expected()
    assert found.figures == {**figures, "doubling_seconds": pytest.approx(figures["doubling_seconds"], abs=0.001)}
    assert recorded.check_references({"findings": [found.as_dict()]}, case.path) >= 8
    too_long = retry_topic_too_long.examine(case)
    assert too_long.verdict == "confirmed"
    assert too_long.figures["retry_topic_length"] == figures["retry_topic_length"]
    # The re-sends were accepted, as half messages: nothing stayed in the consumer's memory.
    assert send_back_refused.examine(case).verdict == "ruled_out"
    growth = found.tables["half_topic_growth"]
    assert len(growth) < 5000
    assert growth["seq"].iloc[-1] == figures["leaked_half_records"]
    fixes = found.tables["half_topic_fixes"].set_index("fix")
    commits = sum(
        1
        for r in recorded.truth(NAME)
        if r["sys_flag"] & 12 == 8 and r["properties"].get("REAL_TOPIC") in (HALF, "TRANS_CHECK_MAX_TIME_TOPIC")
    )
    assert fixes.loc["rollback-unknown-topic", "prevented"] == commits


@pytest.mark.recordings
def test_without_the_store_the_discarded_messages_in_the_log_tell(tmp_path: Path) -> None:
    evidence = recorded.unpack(NAME, tmp_path)
    for path in sorted((evidence / "broker" / "store").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    found = half_topic_blowup.examine(kit.open_case(evidence))
    assert found.verdict == "confirmed"
    assert found.figures["leaked_half_records"] is None
    assert found.missing
    assert recorded.check_references({"findings": [found.as_dict()]}, evidence)


@pytest.mark.parametrize("name", ["healthy", "healthy-5"])
@pytest.mark.seconds
def test_a_healthy_system_has_neither(name: str) -> None:
    case = recorded.case(name)
    for cause in (half_topic_blowup, retry_topic_too_long, send_back_refused):
        found = cause.examine(case)
        assert found.verdict == "ruled_out", cause.TEXTS.slug
        assert found.figures.get("leaked_half_records", 0) == 0
