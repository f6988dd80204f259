"""Known problems become findings where they were seen often and long enough, and in a paste at once."""

from __future__ import annotations

from pathlib import Path

import kit
from kit.causes import known_problems

FULL = "java.io.IOException: No space left on device"
MISFIT = "master pushed offset not equal the max phy offset in slave, SLAVE: 100 MASTER: 50"


def line(second: int, text: str) -> str:
    return f"2026-11-20 10:{second // 60:02}:{second % 60:02} ERROR ReputMessageService - {text}\n"


def examined(folder: Path, **files: str) -> dict[str, str]:
    (folder / "e" / "logs").mkdir(parents=True)
    for name, text in files.items():
        (folder / "e" / "logs" / f"{name}.log").write_text(text)
    case = kit.open_case(folder / "e", folder / "ws")
    return {finding.cause: finding.verdict for finding in known_problems.examine(case.facts)}


def test_seen_is_named_and_quoted(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "store.log").write_text(line(0, "put_tps") * 300 + line(1, MISFIT) + line(2, "x") + FULL + "\n")
    (tmp_path / "e" / "broker.log").write_text(line(0, "ok"))
    case = kit.open_case(tmp_path / "e", tmp_path / "ws")
    found = {finding.cause: finding for finding in known_problems.examine(case.facts)}
    assert {slug: f.verdict for slug, f in found.items()} == {
        "no-space-left": "confirmed",
        "slave-offset-mismatch": "suspected",
    }
    (step,) = found["slave-offset-mismatch"].steps
    assert [(ref.file, ref.line) for ref in step.evidence] == [("store.log", 301)]
    assert found["no-space-left"].figures == {"entries": 1} and found["no-space-left"].remedies


def test_a_broker_that_never_stored_a_message_has_no_disk_that_fills_up(tmp_path: Path) -> None:
    # store/DefaultMessageStore.CleanCommitLogService: without a commitlog folder the ratio is -1.0, which asks for a clean-up as well.
    def rounds(ratio: str) -> str:
        said = (
            f"physic disk maybe full soon, so reclaim space, {ratio}",
            "disk space will be full soon, but delete file failed.",
        )
        return "".join(line(second, text) for second in range(0, 600, 10) for text in said)

    rest = line(0, "put_tps") * 300
    assert examined(tmp_path / "empty", store=rest + rounds("-1.0")) == {}
    assert examined(tmp_path / "full", store=rest + rounds("0.81")) == {"expired-files-not-deleted": "suspected"}


def test_a_signature_that_cannot_be_calculated_is_no_wrong_secret(tmp_path: Path) -> None:
    # acl/common/AclSigner throws it in the client, before anything is sent, or in the broker, before secrets are compared.
    (tmp_path / "paste.txt").write_text(
        "org.apache.rocketmq.acl.common.AclException: [10015:signature-failed] unable to calculate a request signature. error=Empty key\n"
    )
    found = kit.triage(kit.open_case(tmp_path / "paste.txt", tmp_path / "ws"))["findings"]
    seen = {each["cause"]: each["verdict"] for each in found if each["verdict"] in ("confirmed", "suspected")}
    assert seen == {"acl-signature-not-calculated": "confirmed"}
