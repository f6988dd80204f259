"""Known problems become findings where they were seen often and long enough, and in a paste at once."""

from __future__ import annotations

from pathlib import Path

import kit
from kit.causes import known_problems

FULL = "java.io.IOException: No space left on device"
MISFIT = "master pushed offset not equal the max phy offset in slave, SLAVE: 100 MASTER: 50"
SILENT = "HAClient, housekeeping, found this connection[10.20.30.40:10912] expired, 1795303465194"


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


def test_a_stop_is_no_lost_replica(tmp_path: Path) -> None:
    # Three losses over a minute count; two in a second are a stop.
    rest = line(0, "put_tps") * 300
    assert examined(tmp_path / "stop", store=rest + line(1, SILENT) + line(2, SILENT), broker=rest) == {}
    lost = rest + line(1, SILENT) + line(40, SILENT) + line(80, SILENT)
    assert examined(tmp_path / "lost", store=lost, broker=rest) == {"slave-silent": "suspected"}


def test_one_line_of_a_paste_is_enough_to_suspect_it(tmp_path: Path) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text(f"help, what is this?\n{SILENT}\n")
    case = kit.open_case(paste, tmp_path / "ws")
    (finding,) = known_problems.examine(case.facts)
    assert (finding.cause, finding.verdict, finding.kind) == ("slave-silent", "suspected", "neighbour")


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


def test_a_broker_that_may_not_write_its_store_says_why_it_does_not_start(tmp_path: Path) -> None:
    denied = (
        "java.io.FileNotFoundException: /home/rocketmq/store/lock (Permission denied)\n"
        "\tat org.apache.rocketmq.store.DefaultMessageStore.<init>(DefaultMessageStore.java:177)\n"
        "\tat org.apache.rocketmq.broker.BrokerController.initialize(BrokerController.java:252)\n"
    )
    expected = {"broker-start-failed": "confirmed", "store-not-writable": "confirmed"}
    for name, said in (
        ("old", "Failed to initialize"),
        ("new", "BrokerController#initialize: unexpected error occurs"),
    ):
        assert examined(tmp_path / name, broker=line(0, "ok") * 300 + line(1, said) + denied) == expected


def test_a_text_about_one_thread_is_known_by_the_prefix(tmp_path: Path) -> None:
    """store/MappedFileQueue.findMappedFileByOffset prints the same for every reader."""
    outside = "Offset not matched. Request offset: 9000000, firstOffset: 0, lastOffset: 6000000, mappedFileSize: 6000000, mappedFiles count: 1"
    lines = [f"2026-11-20 10:00:{second:02} WARN {{thread}} - {outside}\n" for second in range(20)]
    timer, pull = ("".join(lines).format(thread=name) for name in ("ScheduleMessageTimerThread", "PullMessageThread_3"))
    assert examined(tmp_path / "timer", storeerror=timer, broker=line(0, "ok")) == {"delay-offset-outside": "confirmed"}
    assert examined(tmp_path / "pull", storeerror=pull, broker=line(0, "ok")) == {
        "offset-outside-commitlog": "suspected"
    }


def test_an_excerpt_rules_nothing_out(tmp_path: Path) -> None:
    """The same file with enough lines around is a log, and a log shows by what it lacks."""
    one = "2026-11-20 10:00:00 INFO main - load commit log OK\n2026-11-20 10:00:01 WARN main - message store has shutdown, so getMessage is forbidden\n"
    verdicts = {}
    for name, text in {
        "paste": one,
        "log": one + "2026-11-20 10:00:02 INFO main - load consume queue OK\n" * 300,
    }.items():
        (tmp_path / f"{name}.txt").write_text(text)
        found = kit.triage(kit.open_case(tmp_path / f"{name}.txt", tmp_path / "ws"))["findings"]
        verdicts[name] = {each["cause"]: each for each in found}
    assert {each["verdict"] for each in verdicts["paste"].values()} == {"insufficient_evidence"}
    assert verdicts["log"]["disk-full"]["verdict"] == "ruled_out"
    disk = verdicts["paste"]["disk-full"]
    assert disk["missing"] and not any(disk["figures"].values()) and 0 not in disk["figures"].values()


def test_a_broker_that_stops_after_its_name_server_misses_none(tmp_path: Path) -> None:
    """A broker of the healthy 5.x recording stops so: its last refreshes of metadata find no name server."""
    failed = "".join(
        line(at, "ScheduledTask refresh metadata exception") + "RemotingConnectException: connect to null failed\n"
        for at in (1, 6)
    )
    assert "namesrv-none-usable" not in examined(
        tmp_path, store=line(0, "put_tps") * 300 + failed, broker=line(0, "ok")
    )


def test_a_group_that_makes_its_retry_topic_too_long_is_no_illegal_name(tmp_path: Path) -> None:
    """Client 4.6.1: Validators.checkTopic refuses the retry topic when sendMessageBack falls back to a send; the same words about a topic of one's own."""
    said = "org.apache.rocketmq.client.exception.MQClientException: CODE: 13  DESC: The specified topic is longer than topic max length 127."
    frame = "\tat org.apache.rocketmq.client.Validators.checkTopic(Validators.java:112)"
    back = "2026-11-20 10:00:0{n},101 ERROR RocketmqClient - sendMessageBack exception, group: points msg: MessageExt [queueId=1]"
    sent = "2026-11-20 10:00:0{n},101 ERROR RocketmqClient - sendKernelImpl exception"
    for name, head, verdicts in (("back", back, {}), ("sent", sent, {"name-illegal": "confirmed"})):
        log = "".join(f"{head.format(n=n)}\n{said}\n{frame}\n" for n in range(5))
        found = examined(tmp_path / name, rocketmq_client=log)
        assert {slug: v for slug, v in found.items() if slug == "name-illegal"} == verdicts


def test_a_failed_call_of_a_python_client_is_known_by_its_traceback(tmp_path: Path) -> None:
    """rocketmq-clients/python: grpc prints status and details of a failed call on lines of their own."""
    (tmp_path / "paste.txt").write_text(
        "Traceback (most recent call last):\n"
        '  File "/app/rocketmq/v5/client/client.py", line 350, in __query_topic_route_async_callback\n'
        "    raise e\n"
        "grpc.aio._call.AioRpcError: <AioRpcError of RPC that terminated with:\n"
        "\tstatus = StatusCode.UNAVAILABLE\n"
        '\tdetails = "failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:9876: Socket closed"\n'
        ">\n"
    )
    found = known_problems.examine(kit.open_case(tmp_path / "paste.txt", tmp_path / "ws").facts)
    assert {finding.cause: finding.verdict for finding in found} == {"grpc-client-failed": "suspected"}
