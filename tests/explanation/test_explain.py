"""`explain`: what each pasted line means, whatever was put around it, and without Java, Spark or pandas."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.cli.main import cli
from kit.explanation.explain import explain, releases_of
from kit.explanation.pasted_lines import plain
from kit.explanation.shown import blocks
from kit.rocketmq.catalogue import BENIGN, EVENTS

KEYS = {"line", "text", "kind", "slug", "title", "meaning", "versions", "next"}
UNIQ, OFFSET = "0A14101500000C387F4466B662A40000", "0A14100B00002A9F0000000000001EE5"
SENT = (
    f"SendResult [sendStatus=SEND_OK, msgId={UNIQ}, offsetMsgId={OFFSET}, messageQueue=MessageQueue [topic=orders, "
    "brokerName=broker-a, queueId=1], queueOffset=0]"
)
NO_ROUTE = "org.apache.rocketmq.client.exception.MQClientException: No route info of this topic: orders"


def one(text: str) -> dict[str, Any]:
    (row,) = explain(text)
    assert set(row) == KEYS
    return row


@pytest.mark.parametrize(
    "line",
    [
        NO_ROUTE,
        f"> > {NO_ROUTE}",
        f"<p><code>{NO_ROUTE}</code></p>",
        f"&gt; {NO_ROUTE}<br/>",
        f"\x1b[31m{NO_ROUTE}\x1b[0m\r",
        f"order-service_1  | Caused by: {NO_ROUTE}",
        f"[root@app1 logs]# {NO_ROUTE}",
        f"2024-05-14T02:22:31.123456Z stdout F {NO_ROUTE}",
    ],
)
def test_what_stands_around_a_line_does_not_hide_it(line: str) -> None:
    row = one(line)
    assert (row["kind"], row["slug"], row["line"]) == ("log", "topic-no-route", 1)
    assert NO_ROUTE in row["text"] and "\x1b" not in row["text"]


@pytest.mark.parametrize(
    "line", ["connect to <10.20.30.40:10911> failed", "wait response on the channel <broker-a:10911> timeout, 3000(ms)"]
)
def test_addresses_in_angle_brackets_are_no_html(line: str) -> None:
    assert plain(line) == line


def test_frames_and_empty_lines_are_left_out_and_lines_are_counted() -> None:
    text = f"\n{NO_ROUTE}\n\tat org.apache.rocketmq.client.A.b(A.java:1)\n\t... 12 more\n\nnobody knows this line\n"
    rows = explain(text)
    assert [(r["line"], r["slug"]) for r in rows] == [(2, "topic-no-route"), (6, None)]
    assert rows[1]["kind"] == "log" and "not known" in rows[1]["title"]


def test_ids_are_taken_apart_and_paired() -> None:
    rows = explain(f"> `{SENT}`")
    by_kind = {row["text"]: row for row in rows if row["kind"] == "id"}
    assert set(by_kind) == {UNIQ, OFFSET}
    assert "10.20.16.11:10911" in by_kind[OFFSET]["meaning"] and "7909" in by_kind[OFFSET]["meaning"]
    assert OFFSET in by_kind[UNIQ]["meaning"] and UNIQ in by_kind[OFFSET]["meaning"]
    assert rows[0]["slug"] == "send-result"


def test_a_printed_message_is_paired_with_the_offset_id_of_its_place() -> None:
    # 0x1EE5 is 7909.
    printed = (
        "MessageExt [queueId=1, storeSize=300, queueOffset=0, sysFlag=0, commitLogOffset=7909, "
        f"properties={{UNIQ_KEY={UNIQ}}}]"
    )
    rows = explain(f"{printed}\nqueryMsgById -i {OFFSET}")
    ids = {row["text"]: row["meaning"] for row in rows if row["kind"] == "id"}
    assert OFFSET in ids[UNIQ] and UNIQ in ids[OFFSET]


@pytest.mark.parametrize("name", ["md5=", "KEYS="])
def test_digests_and_business_keys_are_no_ids(name: str) -> None:
    assert all(row["kind"] != "id" for row in explain(f"{name}0a14101500000c387f4466b662a40000, WAIT=true"))


@pytest.mark.parametrize(
    ("line", "kind", "slug", "title"),
    [
        ("MQBrokerException: no code", "log", "broker-exception", ""),
        ("MQBrokerException: CODE: 17  DESC: ", "code", "topic-no-route", "17"),
        ("response code=26", "code", "group-not-created", "26"),
        ("sendStatus FLUSH_SLAVE_TIMEOUT", "code", "replication-timeout", "FLUSH_SLAVE_TIMEOUT"),
        ("CODE: 9999", "code", None, "9999"),
        ("waitTimeMillsInSendQueue=200", "config", None, "waitTimeMillsInSendQueue"),
        ('"maxMessageSize" : 65536,', "config", None, "maxMessageSize"),
        ("physic disk maybe full soon 0.91, so mark disk full", "log", "commitlog-disk-full", ""),
        (
            "2024-05-14 10:22:31 WARN X - slave[10.0.0.1] request offset=9 greater than local commitLog offset=7.",
            "log",
            "slave-ahead",
            "",
        ),
    ],
)
def test_codes_statuses_and_settings(line: str, kind: str, slug: str | None, title: str) -> None:
    row = one(line)
    assert (row["kind"], row["slug"]) == (kind, slug)
    assert title in row["title"]


def test_releases_that_print_a_line_are_named_and_narrowed() -> None:
    old = "2020-01-01 10:00:00 WARN x - putMessage message topic length too long 149"
    new = "2020-01-01 10:00:00 ERROR x - slave[1.1.1.1] request offset=9 greater than local commitLog offset=7."
    assert "4.3.0–4.9.8" in one(old)["versions"]
    assert "4.9.3–4.9.8" in one(new)["versions"]
    assert releases_of(explain(f"{old}\n{new}")) == "4.9.3–4.9.8"


def test_every_known_text_is_explained() -> None:
    for event in EVENTS.values():
        rows = [row for row in explain(event.example) if row["kind"] == "log"]
        assert rows and rows[0]["slug"] is not None and rows[0]["meaning"], (event.slug, rows)
        if event.slug in BENIGN and rows[0]["slug"] == event.slug:
            assert "benign" in rows[0]["meaning"], event.slug


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, kit; kit.explain('No route info of this topic: x'); print([m for m in ('pyspark', 'pandas', 'numba', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_triage_explains_a_paste_before_it_imports_anything_heavy(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(NO_ROUTE)
    code = """import sys, click
from kit.cli.main import cli
def echo(text):
    heavy = {"pyspark", "pandas", "numpy", "numba", "pyarrow"} & set(sys.modules)
    sys.exit("first" if "topic-no-route" in text and not heavy else f"{text} {heavy}")
click.echo = echo
cli(["triage", sys.argv[1], "--workspace", sys.argv[2]])"""
    at = [tmp_path / "paste.txt", tmp_path / "workspace"]
    done = subprocess.run([sys.executable, "-c", code, *at], capture_output=True, text=True, check=False)
    assert done.stderr == "first\n"


def test_the_command_reads_a_file_or_standard_input(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_bytes(f"磁盘满了\n{NO_ROUTE}\n".encode("gb18030"))
    out = tmp_path / "deep" / "rows.json"
    done = CliRunner().invoke(cli, ["explain", str(tmp_path / "paste.txt"), "--json", str(out)])
    assert done.exit_code == 0 and "topic-no-route" in done.output and "磁盘满了" in done.output
    assert [row["slug"] for row in json.loads(out.read_text("utf-8"))] == [None, "topic-no-route"]
    piped = CliRunner().invoke(cli, ["explain", "--json", "-"], input=NO_ROUTE.encode())
    assert json.loads(piped.output)[0]["slug"] == "topic-no-route"
    assert CliRunner().invoke(cli, ["explain", str(tmp_path / "none.txt")]).exit_code == 2


def test_what_is_shown_cannot_act_on_a_terminal() -> None:
    shown = blocks(explain("\x1b]0;title\x07 CODE: 17 \x9b31m \u202e rm"), "en")
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert blocks([], "en")


def test_line_ends_inside_a_string_end_a_line() -> None:
    said = r'{"errMsg": "MQClientException: No route info of this topic: orders\nFor more information, please visit the url, http://docs/faq/"}'
    assert [row["slug"] for row in explain(said)] == ["topic-no-route"]
    path = r"load file C:\new\store\commitlog\00000000000000000000 error"
    assert [row["text"] for row in explain(path)] == [path]


@pytest.mark.parametrize(
    ("line", "kind", "slug"),
    [
        (SENT.replace("SEND_OK", "SLAVE_NOT_AVAILABLE"), "code", "replication-timeout"),
        ("RocketMQ Message hasn't been sent. Caused by CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control", "log", "flow-control-queue"),
        ('"errMsg": "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 3  DESC:  request type 351 not supported"', "log", "request-not-supported"),
        ("2024-05-14 10:22:31 INFO main - maxMessageSize=65536", "config", None),
        ("RemotingConnectException: connect to <null> failed", "log", "namesrv-none-usable"),
        (("CODE: 14  DESC: service not available now. It may be caused by one of the following reasons: the broker's disk is full "
         "[CL:  0.31 CQ:  0.31 INDEX:  0.31], messages are put to the slave, message store has been shut down, etc."), "log", "service-refused"),
        ("\tat org.apache.rocketmq.store.ConsumeQueue.correctMinOffset(ConsumeQueue.java:371)", "log", "consumequeue-last-file-empty"),
        ("2024-05-14 10:22:31 WARN RebalanceService - lock heartBeat, but failed.", "log", "heartbeat-under-way"),
        ("CODE: 206  DESC: Not found the consumer group consume stats, because return offset table is empty", "log", "group-without-offsets"),
        ("CODE: 16  DESC: username cannot be null BROKER: 10.1.2.3:10911", "log", "acl-no-user-sent"),
    ],
)  # fmt: skip
def test_what_a_line_carries_comes_before_what_carries_it(line: str, kind: str, slug: str | None) -> None:
    said = [row for row in explain(line) if row["kind"] != "id"]
    assert [(row["kind"], row["slug"]) for row in said] == [(kind, slug)]


@pytest.mark.parametrize(
    "line",
    [
        "\tat org.apache.rocketmq.client.java.exception.Foo.bar(Foo.java:12)",
        "\tcom.alibaba.rocketmq.store.MapedFileQueue.findMapedFileByOffset(MapedFileQueue.java:467)",
        '  File "/srv/app/rocketmq/v5/client/client.py", line 350, in __query',
        "####################",
        '"}',
    ],
)
def test_what_says_nothing_alone_is_left_out(line: str) -> None:
    assert explain(line) == []


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        # remoting/netty/NettyRemotingClient throws the same exception for every peer.
        ("org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.0.0.1:9876 failed", "namesrv-unreachable"),
        ("com.alibaba.rocketmq.remoting.exception.RemotingConnectException: connect to <mq-1:9876>", "namesrv-unreachable"),
        ("org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.0.0.1:10911 failed", "connect-failed"),
        ("RemotingConnectException: connect to [10.0.0.1:9876] failed", "namesrv-unreachable"),
        ("RemotingConnectException: connect to [1234567890.mqrest.cn-hangzhou.aliyuncs.com] failed", "namesrv-http-endpoint"),
        ("wait response on the channel <mq-1/10.0.0.1:9876> timeout, 4998(ms)", "namesrv-unreachable"),
        ("wait response on the channel <10.0.0.1:10911> timeout, 3000(ms)", "request-timeout"),
        # broker/processor/SendMessageProcessor.handlePutMessageResult
        ("MQBrokerException: CODE: 1  DESC: UNKNOWN_ERROR", "send-processing-failed"),
        ("2021-11-17 20:16:12 WARN PullMessageThread_21 - Pop initial offset, because store is no correct, orders@points@3, 5384577->null", "pop-offset-initialised"),
        # tools/command/CommandUtil 4.7.1 and 5.3.3
        ("[error] make sure the specified clusterName exists or the name server connected to is correct.", "admin-cluster-not-found"),
        # rocketmq-client-go consumer/offset_store.go
        ('level=error msg="fecth offset of mq from broker error" underlayError="broker: broker-a address not found"', "go-consume-queue"),
        # hotspot os_posix.cpp (9 and later) and JDK 8
        ("siginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: 0x7fec2674a064", "jvm-crashed"),
        ("siginfo:si_signo=SIGBUS: si_errno=0, si_code=2 (BUS_ADRERR), si_addr=0x00007f0a1c000000", "jvm-crashed"),
        ("2025-08-17 19:54:37 ERROR WriteSocketService - Failed to find epochEntry with epoch 13 when build msg header", "epoch-not-found"),
        ("AdminBrokerProcessor#getTimerCheckPoint: checkpoint is null, caller=/10.0.0.2:40112", "timer-checkpoint-none"),
    ],
)  # fmt: skip
def test_lines_seen_in_questions(line: str, slug: str) -> None:
    assert one(line)["slug"] == slug
