"""The half-topic blow-up and its neighbours, against RocketMQ's own decoder."""

from __future__ import annotations

from pathlib import Path

import plain_reader
import pytest
import recorded

import kit
from kit.causes.root_causes import half_topic_blowup

NAME = "half-topic-blowup"


@pytest.mark.recordings
def test_without_the_store_the_discarded_messages_in_the_log_tell(tmp_path: Path) -> None:
    evidence = recorded.unpack(NAME, tmp_path)
    for path in sorted((evidence / "broker" / "store").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    found = half_topic_blowup.examine(kit.open_case(evidence).facts)
    assert found.verdict == "confirmed"
    assert found.figures["leaked_half_records"] is None
    assert found.missing
    assert plain_reader.check({"findings": [found.as_dict()]}, evidence)
