"""Lines of other clients and of DLedger, and what must not be taken for them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kit.explanation.explain import explain, releases_of
from kit.rocketmq import answers, catalogue, upstream


def slugs(text: str) -> list[str | None]:
    return [row["slug"] for row in explain(text)]


def one(text: str) -> dict[str, Any]:
    (row,) = explain(text)
    return row


def test_every_text_of_another_project_is_explained_by_an_entry() -> None:
    foreign = [each for each in upstream.format_strings() if each.project]
    assert {each.cls.partition("/")[0] for each in foreign} == set(upstream.PROJECTS)
    assert len(foreign) > 1_500
    filled = [(each, re.sub(r"\{\}", "7", each.text)) for each in foreign]
    unknown = [
        (each.cls, text)
        for each, text in filled
        if not (catalogue.problems_in(text) or upstream.problem_of_class(each))
    ]
    assert unknown == []


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        # rocketmq-client-go consumer/consumer.go, internal/remote/remote_client.go, errors/errors.go
        ('time="2026-11-20T10:00:00+08:00" level=error msg="fetch offset of mq from broker error" underlayError="x"', "go-consume-queue"),
        ('level=error msg="conn error, close connection" underlayError="read tcp 10.20.30.7:43358->10.20.30.40:9876: i/o timeout"', "go-connection-closed"),
        # rocketmq-clients java impl/consumer/ProcessQueueImpl
        ("2026-11-20 10:00:00.256 WARN  [60776] [w] [ProcessQueueImpl#?:?] - Process queue cache is full, would receive message later, mq=broker-a.orders.1, clientId=h@1@0@x", "grpc-client-other"),
        ("err=create grpc conn failed, err=context deadline exceeded", "grpc-client-failed"),
        # openmessaging/dledger DLedgerEntryPusher, DLedgerMmapFileStore.recover, MemberState
        ("2026-11-20 10:00:00 WARN EntryDispatcher-n0-n1 - [Push-n1]Retry to push entry at 29221072", "dledger-push-failed"),
        ("io.openmessaging.storage.dledger.exception.DLedgerException: [code=410,name=INDEX_OUT_OF_RANGE,desc=] 14 should between 15-18", "dledger-push-failed"),
        ("io.openmessaging.storage.dledger.exception.DLedgerException: [code=414,name=DISK_ERROR,desc=] pos 0 != 222296456325", "dledger-store-damaged"),
        ("\tat io.openmessaging.storage.dledger.MemberState.<init>(MemberState.java:60)", "dledger-peers-invalid"),
        # rocketmq-exporter task/MetricsCollectTask
        ('WARN collectTopicOffset-getting topic(orders) stats error. the namesrv address is ["10.20.30.40:9876"]', "exporter"),
        ("\tat org.apache.rocketmq.exporter.task.MetricsCollectTask.collectConsumerOffset(MetricsCollectTask.java:320)", "exporter"),
        # rocketmq-spring core/RocketMQTemplate
        ("java.lang.IllegalStateException: The rocketMQTemplate does not exist TransactionListener", "spring-no-transaction-listener"),
        # store/MappedFileQueue.findMappedFileByOffset, asked by a flush whose files are all full; by anybody else
        ("WARN FlushConsumeQueueService - Offset not matched. Request offset: 6000, firstOffset: 0, lastOffset: 6000, mappedFileSize: 6000, mappedFiles count: 1", "flush-at-file-end"),
        ("WARN ReputMessageService - Offset not matched. Request offset: 6001, firstOffset: 0, lastOffset: 6000, mappedFileSize: 6000, mappedFiles count: 1", "offset-outside-commitlog"),
        # common/ServiceThread.shutdown
        ("2026-11-20 16:21:15 INFO Thread-19 - shutdown thread[TimerDequeuePutMessageService] interrupt=false ", "process-stopping"),
        ("#0  0x000000000080b208 in rocketmq::TcpRemotingClient::GetTransport(std::string const&, bool) ()", "cpp-client-crashed"),
        # the client of 4.4.0 to 4.8.0 in AsyncTraceDispatcher, onException
        ("2026-11-20 10:00:00,000 INFO RocketmqClient - send trace data ,the traceData is Pub", "trace-lost"),
    ],
)  # fmt: skip
def test_a_line(line: str, slug: str) -> None:
    assert slugs(line) == [slug]


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("send message error: dial tcp 172.20.0.4:10911: i/o timeout", True),
        ('level=warning msg="x" underlayError="dial tcp 172.20.0.4:31911: i/o timeout"', True),
        ("connect cache: dial tcp 172.20.0.4:6379: i/o timeout", False),
        ("get https://10.0.0.1:443: dial tcp 10.0.0.1:443: connect: connection refused by peer", False),
    ],
)
def test_a_dial_is_of_rocketmq_by_its_port_or_the_words_around_it(line: str, known: bool) -> None:
    assert ("go-dial-failed" in slugs(line)) == known


@pytest.mark.parametrize("line", ["config: message is nil", "job failed: response error", "queue offset is less than min", "stage commit exception ignored"])  # fmt: skip
def test_ordinary_english_is_no_text_of_a_library(line: str) -> None:
    assert slugs(line) == [None] and not upstream.find(line)


def test_the_releases_of_an_answer_are_not_those_of_a_log() -> None:
    """UNKNOWN_ERROR: a remark of SendMessageProcessor in every release, a WARN of ReplyMessageProcessor since 4.8.0."""
    assert releases_of(explain("MQBrokerException: CODE: 1  DESC: UNKNOWN_ERROR")) is None


def test_a_python_call_that_failed_is_one_error() -> None:
    """grpc/aio/_call.py AioRpcError.__repr__."""
    row = one(
        "grpc.aio._call.AioRpcError: <AioRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n"
        '\tdetails = "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:10.20.30.40:9876: Socket closed"\n'
        '\tdebug_error_string = "UNKNOWN:Error received from peer"\n>'
    )
    assert (row["slug"], row["line"]) == ("grpc-client-failed", 1)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("BadRequestException: [request-id=1, response-code=40003] null", "40003, ILLEGAL_CONSUMER_GROUP"),
        ("TooManyRequestsException: [request-id=1, response-code=42900] x", "42900, TOO_MANY_REQUESTS"),
        ("CODE: MESSAGE_NOT_FOUND, MESSAGE: no new message", "40401, MESSAGE_NOT_FOUND"),
        ('"code": "UNAUTHORIZED",', "40100, UNAUTHORIZED"),
    ],
)
def test_answers_to_grpc_clients(line: str, title: str) -> None:
    """Numbers and names of apache.rocketmq.v2.Code (definition.proto)."""
    row = one(line)
    assert row["kind"] == "code" and row["title"].endswith(title)


def test_codes_of_remoting_clients_stay_what_they_are() -> None:
    assert "TOPIC_NOT_EXIST" in one("MQClientException: CODE: 17  DESC: x")["title"]
    assert len(answers.GRPC_NAMES) == len(answers.GRPC_CODES) == 52


def test_tables_of_mqadmin_between_other_lines() -> None:
    paste = (
        "we have lag:\n\n$ sh mqadmin consumerProgress -n 10.20.30.40:9876 -g points\n"
        "#Topic            #Broker Name      #QID  #Broker Offset    #Consumer Offset  #Client IP      #Diff             #LastTime\n"
        "orders            broker-a          0     1200              1200              10.20.30.7      0                 2026-11-20 20:33:59\n"
        "orders            broker-a          1     1188              641               10.20.30.7      547               2026-11-20 19:12:01\n"
        "\nConsume TPS: 0.40\nDiff Total: 547\n\n#brokerName\tbroker-a\n#MasterBrokerId\t1\n\nInSyncReplica:\tReplicaIdentity{brokerId=1}\n"
        "and nothing else\n"
    )
    rows = [(row["line"], row["slug"]) for row in explain(paste)]
    assert rows == [(1, None), (3, "mqadmin-command"), (4, "mqadmin-table"), (11, "mqadmin-table"), (15, None)]


def test_the_end_of_a_go_program_is_no_rest_of_a_broken_line() -> None:
    first = "2026/06/14 16:21:07 send message error: dial tcp 172.20.0.4:10911: i/o timeout"
    assert len(first) == 78
    assert [row["text"] for row in explain(f"{first}\nexit status 1")][-1] == "exit status 1"


@pytest.mark.parametrize(("owner", "known"), [("com.alibaba.cloud.stream.binder.rocketmq.Binder", True), ("com.example.orders.Service", False)])  # fmt: skip
def test_spring_boot_names_the_caller_two_lines_below(owner: str, known: bool) -> None:
    """org.springframework.boot.diagnostics.analyzer.NoSuchMethodFailureAnalyzer."""
    paste = f"An attempt was made to call a method that does not exist. The attempt was made from the following location:\n\n    {owner}.create(Binder.java:172)\n\nThe following method did not exist:\n"
    assert ("client-library-mismatch" in slugs(paste)) == known
