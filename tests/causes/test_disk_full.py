"""A full disk seen from a client: what it refuses, what follows from it, and what does not."""

from __future__ import annotations

from pathlib import Path

from busy_evidence import write_log

import kit
from kit import causes
from kit.analysis.transactions import send_back
from kit.case.case import Case

FULL = (
    "CODE: 14  DESC: service not available now. It may be caused by one of the following reasons: the broker's disk is full "
    "[CL:  0.97 CQ:  0.97 INDEX:  0.97], messages are put to the slave, message store has been shut down, etc. BROKER: 10.20.1.2:10911"
)
BACK = "CODE: 1  DESC: SERVICE_NOT_AVAILABLE BROKER: 10.20.1.2:10911"
"""What consumerSendMessageBack answers where the store takes nothing: the name of the PutMessageStatus."""
AGAIN = "sendMessageBack exception, group: stock msg: MessageExt [brokerName=broker-a, queueId=0, storeSize=350]"


def of_client(folder: Path, *, resent: bool) -> Case:
    at = "2026-11-22 07:48:{:02},100 {} RocketmqClient - {}"
    exception = "org.apache.rocketmq.client.exception.MQBrokerException: {}"
    lines = [at.format(1, "WARN", "send exception"), exception.format(FULL)]
    for second in range(10, 40, 10):
        lines += [at.format(second, "ERROR", "sendMessageBack Exception, stock"), exception.format(BACK)]
        lines += [] if resent else [at.format(second + 1, "ERROR", AGAIN)]
    write_log(folder / "app" / "rocketmq_client.log", lines)
    return kit.open_case(folder, folder.parent / "ws")


def test_a_send_back_that_was_never_stored_is_no_trace_of_a_blow_up(tmp_path: Path) -> None:
    case = of_client(tmp_path / "failed" / "e", resent=False)
    assert send_back.examine(case.facts).reason == "store-unavailable"
    assert causes.examine(case.facts, "half-topic-blowup").verdict == "insufficient_evidence"
    suspected = causes.examine(of_client(tmp_path / "resent" / "e", resent=True).facts, "half-topic-blowup")
    assert suspected.verdict == "suspected" and "3 send-backs were refused" in suspected.summary.render("en")


DF = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/vda1  40G  39G  1G  98% /\n/dev/vdb  100G  {used}G  1G  {used}% {mount}\n"


def of_df(folder: Path, used: int, mount: str, conf: str = "") -> tuple[str, list[str]]:
    (folder / "e").mkdir(parents=True)
    (folder / "e" / "df.txt").write_text(DF.format(used=used, mount=mount))
    if conf:
        (folder / "e" / "broker.conf").write_text(f"brokerName=a\nbrokerClusterName=c\n{conf}\n")
    found = causes.examine(kit.open_case(folder / "e", folder / "ws").facts, "disk-full")
    return found.verdict, [step.claim.render("en") for step in found.steps if step.id == "df"]


def test_what_df_shows_supports_and_never_decides(tmp_path: Path) -> None:
    root = "storePathRootDir=/data/store"
    verdict, (claim,) = of_df(tmp_path / "full", 96, "/data", root)
    assert verdict == "suspected" and "/data, which holds the store, at 96%" in claim
    # store/DefaultMessageStore: `physicRatio > diskSpaceWarningLevelRatio`, 0.90
    assert of_df(tmp_path / "room", 90, "/data", root) == ("insufficient_evidence", [])
    # The store is on the first one, though its folder's name begins like the other's.
    assert "shows /, which" in of_df(tmp_path / "root", 50, "/dat", root)[1][0]
    # Nobody says where the store is.
    assert "df shows / at 98%" in of_df(tmp_path / "unknown", 50, "/data")[1][0]
