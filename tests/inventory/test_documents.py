"""What quotes messages without having printed them, and what other systems print."""

from pathlib import Path

import pytest
from folders import opened

import kit

BUSY = "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 10"


TEXTS = {
    "RUNBOOK.md": ("text", "broker-busy", f"# Busy\nIf clients see `{BUSY}`, look at the disk.\n"),
    "runbook.txt": ("text", "broker-busy", f"Busy:\n2026-11-20 10:00:00 ERROR {BUSY}\nThen look at the disk,\nthen at the host.\n"),
    "CHANGELOG": ("text", "broker-busy", f"4.9.0: print {BUSY}\n"),
    "REPLICAS.md": ("text", "replication-timeout", "If store.log says `do sync transfer other node, wait return, but failed`, look at the slave.\n"),
}  # fmt: skip
"""What quotes a message in words that somebody wrote: the kind of the file and what it makes suspected."""
OTHERS = {
    ".git/COMMIT_EDITMSG": ("document", None, f"Explain {BUSY}\n"),
    "history.txt": ("document", None, f"commit {'0a' * 20}\nAuthor: a\n\n    Explain {BUSY}\n"),
    "findings.json": ("document", None, '{"schema": 1, "kit_version": "1.0", "findings": []}'),
    "error.log": ("other_systems_log", None, "2026/11/20 10:00:00 [error] 12#12: *5 connect() failed (111: Connection refused)\n"),
    "redis.log": ("other_systems_log", None, "7:M 20 Nov 2026 10:00:00.000 # Failed opening the RDB file: No space left on device\n"),
}  # fmt: skip


@pytest.mark.parametrize("files", [*({name: row} for name, row in TEXTS.items()), OTHERS], ids=[*TEXTS, "others"])
def test_a_document_confirms_nothing(files: dict[str, tuple[str, str | None, str]], tmp_path: Path) -> None:
    conf = {"broker.conf": "brokerName=broker-a\nbrokerClusterName=c\nbrokerId=0\n"}
    case = opened(tmp_path, conf | {name: text for name, (*_, text) in files.items()})
    kinds = {each.file: each.kind for each in case.unzoned.items if each.file != "broker.conf"}
    assert kinds == {name: kind for name, (kind, *_) in files.items()}
    found = kit.triage(case)
    assert found["root_causes"] == []
    seen = {f["cause"]: f["verdict"] for f in found["findings"] if f["verdict"] in ("confirmed", "suspected")}
    assert seen == {cause: "suspected" for _, cause, _ in files.values() if cause}
