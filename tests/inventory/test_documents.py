"""What quotes messages without having printed them, and what other systems print."""

from pathlib import Path

import pytest
from folders import put

import kit

BUSY = "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 10"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("RUNBOOK.md", f"# Busy\nIf clients see `{BUSY}`, look at the disk.\n", "text"),
        ("runbook.txt", f"Busy:\n2026-11-20 10:00:00 ERROR {BUSY}\nThen look at the disk,\nthen at the host.\n", "text"),
        ("CHANGELOG", f"4.9.0: print {BUSY}\n", "text"),
        (".git/COMMIT_EDITMSG", f"Explain {BUSY}\n", "document"),
        ("history.txt", f"commit {'0a' * 20}\nAuthor: a\n\n    Explain {BUSY}\n", "document"),
        ("findings.json", '{"schema": 1, "kit_version": "1.0", "findings": []}', "document"),
        ("error.log", "2026/11/20 10:00:00 [error] 12#12: *5 connect() failed (111: Connection refused)\n", "other_systems_log"),
        ("redis.log", "7:M 20 Nov 2026 10:00:00.000 # Failed opening the RDB file: No space left on device\n", "other_systems_log"),
    ],
)  # fmt: skip
def test_a_document_confirms_nothing(name: str, text: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "evidence" / name
    put(file, text)
    (tmp_path / "evidence" / "broker.conf").write_text("brokerName=broker-a\nbrokerClusterName=c\nbrokerId=0\n")
    case = kit.open_case(tmp_path / "evidence", tmp_path / "ws")
    (item,) = [each for each in case.found.items if each.file == name]
    assert item.kind == kind
    found = kit.triage(case)
    assert found["root_causes"] == []
    seen = {f["cause"] for f in found["findings"] if f["verdict"] in ("confirmed", "suspected")}
    assert seen == ({"broker-busy"} if kind == "text" else set())


def test_a_runbook_confirms_no_known_problem(tmp_path: Path) -> None:
    put(
        tmp_path / "e" / "RUNBOOK.md",
        "# Replicas\nIf store.log says `do sync transfer other node, wait return, but failed`, look at the slave.\n",
    )
    found = kit.triage(kit.open_case(tmp_path / "e", tmp_path / "ws"))
    seen = {f["cause"]: f["verdict"] for f in found["findings"] if f["verdict"] in ("confirmed", "suspected")}
    assert seen == {"replication-timeout": "suspected"}
