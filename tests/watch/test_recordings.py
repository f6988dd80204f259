"""Recordings written again as growing files: the right alert within 5 s of what decides it, and none where all is well."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
import recorded
from replayer import Replay, replay

from kit.watch.loop import Watch

pytestmark = pytest.mark.seconds
EVERY = 2.0
"""Seconds of the recording between two steps, as the command has it."""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def half_full(_: Path) -> tuple[int, int]:
    return 100, 50


def watched(name: str, tmp_path: Path) -> tuple[list[dict[str, Any]], Replay]:
    """Replay a recording under a watch; return its alerts."""
    growing = replay(recorded.whole(name), tmp_path)
    clock = Clock()
    clock.now = growing.begin - EVERY
    watch = Watch([tmp_path], clock=clock, disk=half_full)
    alerts = watch.step()
    while clock.now < growing.end + 3 * EVERY:
        clock.now += EVERY
        growing.advance(clock.now)
        alerts += watch.step()
    assert watch.figures.signs["unreadable"] == 0
    return alerts, growing


@attrs.frozen
class Decides:
    """The alert a recording must give. `text`: a regular expression of the line that decides, its `nth` one, or the first
    that comes `lasts` seconds after the first; `files`: where it is; None: the time comes from RocketMQ's decoder.
    """

    cause: str
    text: str | None
    files: str = "*.log"
    nth: int = 1
    lasts: float = 0.0
    step: str = ""


DECIDES = {
    "half-topic-blowup": Decides("half-topic-blowup", None, step="leaked"),
    "size-mismatch": Decides("message-size-mismatch", "write failed|TransactionalMessageCheck.*message size exceeded", nth=3),
    "message-identity": Decides("message-identity", "SubCommandException: .*command failed|MQAdminImpl.viewMessage", step="look-up-failed"),
    "broker-busy": Decides("broker-busy", r"start flow control for a while", step="refused"),
    "transaction-consistency": Decides("transaction-consistency", "executeLocalTransactionBranch exception", step="exceptions"),
    # Offsets are saved every 5 s; the lag has to grow for a minute.
    "consumer-backlog": Decides("consumer-backlog", r"\[persistAll\] Group: points-service", lasts=65, step="lag-grows"),
    "consumer-stuck": Decides("consumer-stuck", "consumeMessage Orderly return not OK", nth=5, lasts=10, step="message-in-work"),
    "subscription-mismatch": Decides("subscription-mismatch", "subscription not exist", nth=20, lasts=10),
    "subscription-mismatch-tags": Decides("subscription-mismatch", r"OLD: .*subString=PAID,.* NEW: .*subString=REFUNDED", "broker.log"),
    "duplicate-client-id": Decides("duplicate-client-id", "requestOffset=.*queueId=0|queueId=0, requestOffset", "broker.log", nth=5),
    "offset-jump": Decides("offset-jump", "the request offset too small", step="corrected"),
    "offset-reset": Decides("offset-jump", r"\[reset-offset\] reset offset started", step="reset-asked"),
    "offset-first-start": Decides("offset-jump", r"add a new pull request .*nextOffset=36\d", step="starts-late"),
    "replica-loss": Decides("replica-loss", r"Sync\w+ Exception, ", "broker.log", nth=3, lasts=3),
    "broker-unreachable": Decides("broker-unreachable", r"connect remote host\[172\S+\] (?:timeout|failed)", "rocketmq_client.log", nth=5, lasts=10),
    "producer-offline": Decides("producer-offline", "Check transaction failed, channel is null", nth=3, lasts=10),
    "acl-denied": Decides("acl-denied", "AclException", nth=3),
    "topic-missing": Decides("topic-missing", "No route info of this topic", nth=10, lasts=5),
}  # fmt: skip
FAST = ("half-topic-blowup", "consumer-stuck", "subscription-mismatch-tags")


def decided(name: str, growing: Replay) -> float:
    """Return when what decides was there."""
    said = DECIDES[name]
    if said.text is None:
        leaked = [
            record["store_timestamp"]
            for record in recorded.truth(name)
            if record["topic"] in ("RMQ_SYS_TRANS_HALF_TOPIC", "SCHEDULE_TOPIC_XXXX")
            and record["properties"].get("REAL_TOPIC") == "RMQ_SYS_TRANS_HALF_TOPIC"
        ]
        return min(leaked) / 1000
    pattern, times = re.compile(said.text.encode()), []
    for write in growing.writes:
        if Path(write.name).match(said.files) or write.name.endswith((".txt", ".gz")):
            data = write.data
            if write.name.endswith(".gz"):
                import gzip

                data = gzip.decompress(data)
            times += [write.at] * len(pattern.findall(data))
    assert len(times) >= said.nth, name
    lasting = [at for at in times if at >= times[0] + said.lasts]
    return max(times[said.nth - 1], lasting[0])


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST else pytest.mark.slow) for name in sorted(DECIDES)]
)
def test_the_right_alert_rings_within_five_seconds(name: str, tmp_path: Path) -> None:
    alerts, growing = watched(name, tmp_path)
    said = DECIDES[name]
    mine = [alert for alert in alerts if alert["cause"] == said.cause]
    assert mine, [alert["cause"] for alert in alerts]
    rang = datetime.fromisoformat(mine[0]["time"]).timestamp()
    assert rang <= decided(name, growing) + 5
    assert mine[0]["state"] == "raised"
    assert said.step in ("", mine[0]["step"])
    # Once an episode: whatever else is told of this place is that it gets worse.
    assert len([a for a in mine if a["state"] == "raised"]) == len({a["id"].rsplit("-", 2)[0] for a in mine})
    for alert in alerts:
        resolves(alert, tmp_path)
    if name == "half-topic-blowup":
        doubles(mine)


def doubles(alerts: list[dict[str, Any]]) -> None:
    """Check that a blow-up gets worse, and how fast: 42,000 half records of four messages in 84 s; log2(42000 / 4) is 13.4 doublings."""
    assert [alert["state"] for alert in alerts][:3] == ["raised", "worse", "worse"]
    assert 84 / 13.4 / 2 <= alerts[2]["figures"]["doubling_seconds"] <= 84 / 13.4 * 2
    assert datetime.fromisoformat(alerts[0]["figures"]["since"]).utcoffset() == timedelta(0)


def resolves(alert: dict[str, Any], folder: Path) -> None:
    """Check that each reference is a line or a record that is there."""
    assert alert["evidence"]
    for ref in alert["evidence"]:
        path = folder / ref["file"]
        if "line" in ref and not path.name.endswith(".gz"):
            line = path.read_bytes().split(b"\n")[ref["line"] - 1].decode("utf-8", "replace")
            assert ref["text"].split("\n")[0][:60] in line or "→" in ref["text"] or " queue " in ref["text"]
        elif "physical_offset" in ref:
            data = path.read_bytes()
            at = ref["physical_offset"] - int(path.name)
            assert data[at + 4 : at + 8] == b"\xda\xa3\x20\xa7"


@pytest.mark.parametrize("name", ["healthy", "subscription-restart"])
def test_nothing_rings_where_all_is_well(name: str, tmp_path: Path) -> None:
    assert watched(name, tmp_path)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["healthy-5", "healthy-traced", "consumer-backlog-drained"])
def test_nothing_rings_on_other_recordings(name: str, tmp_path: Path) -> None:
    assert watched(name, tmp_path)[0] == []
