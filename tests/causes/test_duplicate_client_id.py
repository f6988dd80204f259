"""duplicate-client-id: two recorded containers with one id, and less evidence."""

from __future__ import annotations

from pathlib import Path

from consumer_evidence import commands, paste, steps

from kit.causes.root_causes import duplicate_client_id

BACK = (
    "2026-11-22 07:25:{second:02} WARN PullMessageThread_1 - [NOTIFYME]update consumer offset less than store. "
    "clientHost={host}, key=sms@sender, queueId={queue}, requestOffset={n}, storeOffset=99"
)
CONNECTED = (
    "2026-11-22 07:25:{second:02} INFO HeartbeatThread_1 - new consumer connected, group: sender CONSUME_PASSIVELY CLUSTERING "
    "channel: ClientChannelInfo [channel=[id: 0x1, L:/10.0.0.11:10911 - R:/{host}], clientId=172.17.0.2@1, language=JAVA, "
    "version=355, lastUpdateTimestamp=1795303539081]"
)
CLOSED = (
    "2026-11-22 07:25:{second:02} WARN NettyEventExecutor - NETTY EVENT: remove not active channel[ClientChannelInfo "
    "[channel=[id: 0x1, L:/10.0.0.11:10911 ! R:/{host}], clientId=172.17.0.2@1, language=JAVA, version=355, "
    "lastUpdateTimestamp=1795304266821]] from ConsumerGroupInfo groupChannelTable, consumer group: sender"
)


def test_a_paste_of_offsets_that_go_back_and_forth_is_suspected(tmp_path: Path) -> None:
    hosts = ("10.0.0.22:60204", "10.0.0.23:46358")
    lines = [BACK.format(second=n, host=hosts[n % 2], queue=0, n=n) for n in range(10)]
    finding = paste(lines, duplicate_client_id, tmp_path)
    assert finding.verdict == "suspected" and finding.figures["queues_of_several"] == {"sms": [0]}
    assert any("consumerConnection" in command for command in commands(finding))


def test_one_client_that_comes_back_is_not_two(tmp_path: Path) -> None:
    first, second = "10.0.0.22:60204", "10.0.0.22:60999"
    lines = [
        CONNECTED.format(second=1, host=first),
        CLOSED.format(second=20, host=first),
        CONNECTED.format(second=21, host=second),
    ]
    finding = paste(lines, duplicate_client_id, tmp_path)
    assert steps(finding)["one-id-two-connections"] is False


def test_two_connections_from_two_hosts_are_two(tmp_path: Path) -> None:
    lines = [CONNECTED.format(second=n, host=f"10.0.0.2{n}:60204") for n in (2, 3)]
    finding = paste(lines, duplicate_client_id, tmp_path)
    assert finding.verdict == "suspected" and finding.figures["client_ids"] == ["172.17.0.2@1"]


def test_a_copied_list_of_connections_shows_one_id_twice(tmp_path: Path) -> None:
    """The dashboard's columns; it names the group in a heading that nobody copies."""
    lines = [
        "some queues have no consumer, 3 containers in docker",
        "ClientId             | ClientAddr              | Language | Version",
        "172.17.0.1@173 | 10.0.0.1:59606 | JAVA | V4_5_1",
        "172.17.0.1@170 | 10.0.0.2:48864 | JAVA | V4_5_1",
        "172.17.0.1@170 | 10.0.0.3:48112 | JAVA | V4_5_1",
    ]
    finding = paste(lines, duplicate_client_id, tmp_path)
    assert finding.verdict == "suspected" and steps(finding)["one-id-two-connections"] is True
    (step,) = [s for s in finding.steps if s.id == "one-id-two-connections"]
    assert [(ref.line, ref.text) for ref in step.evidence] == [(4, lines[3]), (5, lines[4])]
    assert finding.summary.render("en") == step.claim.render("en") and "172.17.0.1@170" in step.claim.render("en")


def test_different_ids_in_a_copied_list_are_none(tmp_path: Path) -> None:
    lines = [f"172.17.0.1@{pid} | 10.0.0.{pid}:48112 | JAVA | V4_5_1" for pid in (1, 2, 3)]
    assert paste(lines, duplicate_client_id, tmp_path).verdict == "insufficient_evidence"
