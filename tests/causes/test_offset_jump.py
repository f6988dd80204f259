"""offset-jump: by the recordings' truth, by a paste, and where nothing moved."""

from __future__ import annotations

from pathlib import Path

import pytest
import recorded
import taken_away

import kit
from kit.causes.root_causes import offset_jump

QUEUE = "MessageQueue [topic=orders, brokerName=broker-a, queueId={queue}]"
PULL = f"PullRequest [consumerGroup=points, messageQueue={QUEUE}, nextOffset={{offset}}]"
ILLEGAL = (
    "2026-11-22 07:52:52,398 WARN RocketmqClient - the pull request offset illegal, "
    + PULL
    + " PullResult [pullStatus=OFFSET_ILLEGAL, nextBeginOffset={to}, minOffset={low}, maxOffset=900, msgFoundList=0]"
)
START = "2026-11-22 08:01:07,578 INFO RocketmqClient - doRebalance, points, add a new pull request " + PULL
SMALL = (
    "2026-11-22 07:52:52 INFO PullMessageThread_2 - the request offset too small. group=points, topic=orders, "
    "requestOffset=67, brokerMinOffset={low}, clientIp=/10.20.121.22:33296"
)
CORRECTED = (
    "2026-11-22 07:52:52 WARN PullMessageThread_2 - PULL_OFFSET_MOVED:correction offset. topic=orders, "
    "groupId=points, requestOffset=67, newOffset={low}, suggestBrokerId=0"
)


def test_deleted_by_a_client_log(tmp_path: Path) -> None:
    found = offset_jump.examine(
        taken_away.paste(
            tmp_path,
            ILLEGAL.format(queue=0, offset=67, to=311, low=311),
            ILLEGAL.format(queue=3, offset=60, to=312, low=312),
        ).facts
    )
    assert found.verdict == "confirmed"
    assert found.figures["kind"] == "deleted-before-consumed"
    assert found.figures["moved"] == {"0": [67, 311], "3": [60, 312]}
    assert found.figures["skipped"] == (311 - 67) + (312 - 60)
    assert found.figures["handled_again"] == 0


def test_deleted_by_the_broker_alone_names_no_queue(tmp_path: Path) -> None:
    lines = [SMALL.format(low=low) for low in (311, 312)] + [CORRECTED.format(low=low) for low in (311, 312)]
    found = offset_jump.examine(taken_away.paste(tmp_path, *lines).facts)
    assert found.verdict == "confirmed"
    assert (found.figures["moved"], found.figures["skipped"]) == ({}, 244 + 245)
    assert any("rocketmq_client.log" in m.artefact.render() for m in found.missing)


def test_a_server_side_reset_is_no_deletion(tmp_path: Path) -> None:
    """5.2.0 and later answer the pull with PULL_OFFSET_MOVED to an offset that is inside the queue."""
    found = offset_jump.examine(taken_away.paste(tmp_path, ILLEGAL.format(queue=1, offset=268, to=94, low=0)).facts)
    assert found.figures["kind"] == "reset"
    assert found.figures["moved"] == {"1": [268, 94]}


def test_first_pulls_behind_the_beginning_are_suspected(tmp_path: Path) -> None:
    found = offset_jump.examine(
        taken_away.paste(tmp_path, *(START.format(queue=q, offset=367) for q in range(4))).facts
    )
    assert found.verdict == "suspected"
    assert found.figures["moved"] is None
    assert found.missing


def test_a_restart_moves_nothing(tmp_path: Path) -> None:
    back = (
        "2026-11-22 07:39:24 WARN ConsumerManageThread_19 - [NOTIFYME]update consumer offset less than store. "
        "clientHost=10.20.114.22:55356, key=orders@points, queueId=1, requestOffset=264, storeOffset=267"
    )
    found = offset_jump.examine(taken_away.paste(tmp_path, back, START.format(queue=0, offset=0)).facts)
    assert found.verdict in ("ruled_out", "insufficient_evidence")


@pytest.mark.parametrize(
    ("queues", "back", "suspected"), [(1, 10, False), (1, 32, False), (1, 33, True), (3, 10, True)]
)
def test_a_late_pull_moves_nothing(queues: int, back: int, suspected: bool, tmp_path: Path) -> None:
    """A pull brings 32 messages at most (DefaultMQPushConsumer.pullBatchSize); a reset goes back in each queue."""
    line = (
        "2026-11-23 22:18:10 WARN PullMessageThread_12 - [NOTIFYME]update consumer offset less than store. "
        "clientHost=10.20.114.22:40726, key=orders@points, queueId={queue}, requestOffset={request}, storeOffset=6841"
    )
    said = (line.format(queue=queue, request=6841 - back) for queue in range(queues))
    found = offset_jump.examine(taken_away.paste(tmp_path, *said).facts)
    assert (found.verdict == "suspected") == suspected


def test_the_brokers_own_place_in_the_op_queue_is_no_jump(tmp_path: Path) -> None:
    back = (
        "2026-11-23 16:38:46 WARN TransactionalMessageCheckService - [NOTIFYME]update consumer offset less than store. "
        "clientHost=127.0.0.1:45637, key=RMQ_SYS_TRANS_OP_HALF_TOPIC@CID_RMQ_SYS_TRANS, queueId=0, requestOffset=6, storeOffset=26"
    )
    assert offset_jump.examine(taken_away.paste(tmp_path, back).facts).verdict in ("ruled_out", "insufficient_evidence")


PROGRESS = (
    "mqadmin consumerProgress -g points -n 10.20.30.40:9876\n"
    "#Topic                            #Broker Name                      #QID  #Broker Offset        #Consumer Offset      #Diff\n"
    + "".join(f"orders                            broker-a                          {q}     {{end}}                    {{offset}}                    {{diff}}\n" for q in (0, 1))
)  # fmt: skip


@pytest.mark.parametrize(("looks", "verdict"), [([(13, 13), (13, 0)], "suspected"), ([(13, 0), (13, 13)], "insufficient_evidence")])  # fmt: skip
def test_two_outputs_in_one_text_of_which_the_later_is_smaller(
    looks: list[tuple[int, int]], verdict: str, tmp_path: Path
) -> None:
    outputs = [PROGRESS.format(end=end, offset=offset, diff=end - offset) for end, offset in looks]
    found = offset_jump.examine(
        taken_away.paste(tmp_path, "before:", outputs[0], "after the restart:", outputs[1]).facts
    )
    assert found.verdict == verdict
    if verdict == "suspected":
        assert "26 messages" in found.shown_summary.render() and "2 queues" in found.shown_summary.render()


def test_a_first_start_that_the_client_does_not_print(tmp_path: Path) -> None:
    """Clients from 5.0.0 on print no `add a new pull request`: the group's ledger shows the first message of each queue."""
    evidence = recorded.unpack("offset-first-start", tmp_path)
    for log in evidence.rglob("rocketmq_client.log"):
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        log.write_text("".join(line for line in lines if "add a new pull request" not in line), encoding="utf-8")
    truth = recorded.label("offset-first-start")["truth"]
    found = offset_jump.examine(kit.open_case(evidence, tmp_path / "ws").facts)
    told = truth["topics"]["order-done"]
    assert found.verdict == "confirmed"
    assert (found.figures["group"], found.figures["skipped"]) == (truth["group"], told["skipped"])
    assert found.figures["moved"] == {queue: [0, first] for queue, first in told["start_offset"].items()}
