"""`explain` on lines that people posted in public: what they show is named, and nothing that they do not show."""

from __future__ import annotations

from typing import Any

import pytest

from kit.explanation import context
from kit.explanation.explain import explain
from kit.explanation.pasted_lines import lines
from kit.rocketmq import catalogue, upstream

SEND = "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to [127.0.0.1:9877] failed"
ROUTE_FRAME = "\tat org.apache.rocketmq.client.impl.factory.MQClientInstance.updateTopicRouteInfoFromNameServer(MQClientInstance.java:681)"
SEND_FRAME = (
    "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.sendKernelImpl(DefaultMQProducerImpl.java:750)"
)


def one(text: str) -> dict[str, Any]:
    (row,) = explain(text)
    return row


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        # client/impl/consumer/DefaultMQPushConsumerImpl: the pull itself succeeded.
        ("[BUG] pull message result maybe data wrong, nextBeginOffset: 2433072 firstMsgOffset: 843377 prevRequestOffset: 2433064", "pull-other-records"),
        # broker/processor/PullMessageProcessor on a slave: PULL_RETRY_IMMEDIATELY with the old offset.
        ("2016-11-02 12:24:29 WARN PullMessageThread_11 - PULL_OFFSET_MOVED:none correction. topic=go_test, groupId=CID_go, requestOffset=101254, suggestBrokerId=0", "pull-offset-on-slave"),
        # store/DefaultMessageStore.getMessage up to 4.9.3: `if (0 == minOffset) nextBeginOffset = nextOffsetCorrection(offset, minOffset)`.
        ("2020-07-19 10:45:46 WARN PullMessageThread_11 - PULL_OFFSET_MOVED:correction offset. topic=t, groupId=g, requestOffset=30266, newOffset=0, suggestBrokerId=0", "pull-offset-to-zero"),
        ("WARN PullMessageThread_11 - PULL_OFFSET_MOVED:correction offset. topic=t, groupId=g, requestOffset=30266, newOffset=30265, suggestBrokerId=0", "pull-offset-illegal"),
        ("the request offset: 14568 too small, broker min offset: 32831, consumer: ***", "pull-offset-illegal"),
        # store/timer/TimerMessageStore.enqueue returns false and tries the same entry again.
        ("2023-12-12 00:25:46 ERROR TimerEnqueueGetService - Unknown exception in enqueuing", "timer-stuck"),
        ("java.lang.InternalError: a fault occurred in a recent unsafe memory access operation in compiled Java code", "mapped-file-fault"),
        ("# Native memory allocation (mmap) failed to map 262144 bytes for committing reserved memory.", "jvm-native-memory"),
        ("# Native memory allocation (mmap) failed to map 8589934592 bytes for committing reserved memory.", "jvm-start-failed"),
        ("os::commit_memory(0x00000005c0000000, 8589934592, 0) failed; error='Cannot allocate memory' (errno=12)", "jvm-start-failed"),
        ("Error: VM option 'UseG1GC' is experimental and must be enabled via -XX:+UnlockExperimentalVMOptions.", "jvm-start-failed"),
        ("java.lang.IllegalStateException: Shutdown in progress", "shutdown-in-progress"),
        ("java.lang.IllegalStateException: Failed to start RocketMQ push consumer", "spring-listener-start"),
        ("org.apache.rocketmq.proxy.common.ProxyException: create system broadcast topic DefaultHeartBeatSyncerTopic failed on cluster rocketmq", "proxy-system-topic"),
        ("Caused by: java.util.concurrent.CancellationException: Task was cancelled.", "grpc-route-addresses"),
        ("startUp err=failed to get topic route data result from remote during client startup", "grpc-client-failed"),
        ("INFO PopBufferMergeService - [PopBuffer]remove long time not used sub points of topic orders in buffer!", "pop-buffer-idle"),
        ("报错为：connect to <172.17.0.2:10911> failed", "connect-failed"),
        # rocketmq-client-cpp ResponseFuture: the code is the request's.
        ("[2023-10-17 11:44:47.442126](warning):waitResponse of code:105 with opaque:8 timeout[waitResponse:61]", "request-timeout"),
        ("2024-11-15 17:47:18 WARN NettyServerNIOSelector_3_2 - Unexpected exception in the selector loop.", "netty-loop-exception"),
        # common/config/ConfigRocksDBStorage.postLoad: nothing was deleted or changed.
        ("2023-08-28 10:09:09 ERROR main - postLoad Failed. /disk2/rocketmq_store/config/topics", "rocksdb-not-opened"),
        # client/impl/MQAdminImpl.queryMessage
        ("MQClientException: CODE: 208 DESC: query message by key finished, but no message", "query-found-nothing"),
        # A web page takes `<null>` for a tag.
        ("RemotingConnectException: connect to  failed", "namesrv-none-usable"),
        ("putMessage not in lock eclipse time(ms) 1195", "slow-store-write"),
        ("ERROR com.alibaba.otter.canal.rocketmq.CanalRocketMQProducer - send flat message to fixed partition error", "canal-send-failed"),
        ("WARN  org.apache.rocketmq.flink.legacy.common.util.RetryUtil       [] - RuntimeException, retry 5/5", "flink-source-retry"),
        # common/protocol/heartbeat/MessageModel up to 5.0.0, remoting/protocol/heartbeat/MessageModel from 5.1.0 on.
        ("Caused by: org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'org.apache.rocketmq.spring.support.DefaultRocketMQListenerContainer_1': org/apache/rocketmq/common/protocol/heartbeat/MessageModel", "client-library-mismatch"),
        # remoting/netty/NettyDecoder: 40,016,599 bytes are an answer, 1347569956 is the text `PRI `.
        ("TooLongFrameException: Adjusted frame length exceeds 16777216: 40016599 - discarded", "frame-too-large"),
        ("TooLongFrameException: Adjusted frame length exceeds 16777216: 1347569956 - discarded", "protocol-broken"),
        ("TooLongFrameException: Adjusted frame length exceeds 16777216: 369295616 - discarded", "protocol-broken"),
        ("[2020-Mar-29 17:39:30.517014](error):could not find clientId from Broker[allocate:67]", "member-not-in-list"),
        ('level=error msg="consumeMessageConcurrently panic" consumerGroup=g underlayError="decimal division by 0"', "go-listener-panic"),
        ("启动consumer时报错：CODE: UNRECOGNIZED_CLIENT_TYPE, MESSAGE: cannot find client settings for this client。", "proxy-no-settings"),
        ("Error: 1 CANCELLED: Call cancelled", "grpc-client-failed"),
        ('{"code":200,"group":"broker-0","leaderId":"D0","localId":"D0","term":1,"voteResult":"REJECT_SMALL_LEDGER_END_INDEX"}', "dledger-election"),
        ("current consumer thread:MessageQueue [topic=t, brokerName=b, queueId=0] has no committed offset,use Strategy:LATEST instead", "flink-start-offset"),
    ],
)  # fmt: skip
def test_what_a_line_shows(line: str, slug: str) -> None:
    row = one(line)
    assert (row["kind"], row["slug"]) == ("log", slug)


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("2024-11-15 17:47:18 ERROR GrpcClientChannel - Unexpected exception", True),
        ("2024-11-15 17:47:18 ERROR GrpcClientChannel - Unexpected exception java.lang.NullPointerException", True),
        ("2024-11-15 17:47:18 WARN NettyServerNIOSelector_3_2 - Unexpected exception in the selector loop.", False),
        ("Error creating bean with name 'x': Unexpected exception during bean creation", False),
    ],
)
def test_a_short_text_is_the_whole_message(line: str, printed: bool) -> None:
    """proxy/ChannelManager logs `Unexpected exception` and nothing behind it but the exception."""
    assert any(each.text == "Unexpected exception" for each in upstream.find(line)) is printed


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("msgId: c0a8f001103e214d29547acfd6e30000", True),
        ("消息id：c0a8f001103e214d29547acfd6e30000", True),
        ("consumed c0a8f001103e214d29547acfd6e30000 twice", True),
        ("[TID:1b4771c8afc94ee7b46c5a9b28679de4.620.17005246136686327] send error", False),
        ("[TID:1B4771C8AFC94EE7B46C5A9B28679DE4.620.17005246136686327] send error", False),
        (
            "at x.Y.run(Y.java:1) ~[blob_p-62baae343e6f0a7fca0f63942204ff47885115d5-f336abddcb7f2a64f472c7c5d92f1394:?]",
            False,
        ),
        # A place in a store needs no capitals: its port and offset are those of a record.
        ("/msg/0a14100b00002a9f0000000000001ee5/view", True),
    ],
)
def test_small_letters_inside_a_longer_word_are_no_id(text: str, decoded: bool) -> None:
    assert any(row["kind"] == "id" for row in explain(text)) is decoded


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (f"{SEND}\n{ROUTE_FRAME}", "namesrv-unreachable"),
        (f"{SEND}\n{SEND_FRAME}", "connect-failed"),
        (f"{SEND}\nname-server: 127.0.0.1:9877", "namesrv-unreachable"),
        (f"{SEND}\nnamesrvAddr = 10.0.0.1:9876;127.0.0.1:9877", "namesrv-unreachable"),
        (f"{SEND}\nsh mqbroker -n 127.0.0.1:9877", "namesrv-unreachable"),
        (f"{SEND}\nname-server: 127.0.0.1:9878", "connect-failed"),
    ],
)
def test_a_name_server_is_no_broker(text: str, slug: str) -> None:
    assert explain(text)[0]["slug"] == slug


@pytest.mark.parametrize(
    ("line", "slug"),
    [
        ("io.grpc.StatusRuntimeException: DEADLINE_EXCEEDED: deadline exceeded after 32.9s. [remote_addr=/10.12.19.4:30106]", "grpc-client-failed"),
        ('Exception: <AioRpcError of RPC that terminated with: status = StatusCode.DEADLINE_EXCEEDED details = "x"', "grpc-client-failed"),
        ('Status(StatusCode="Internal", Detail="Error starting gRPC call. HttpRequestException: Requesting HTTP version 2.0', "grpc-client-failed"),
        ("dial tcp 172.20.0.4:6379: i/o timeout", None),
    ],
)  # fmt: skip
def test_grpc_names_no_product(line: str, slug: str | None) -> None:
    assert one(line)["slug"] == slug


def test_source_lines_below_frames_of_python_are_no_lines_of_a_log() -> None:
    trace = 'Traceback (most recent call last):\n  File "/app/shop.py", line 350, in run\n    raise e\n'
    assert explain(trace) == []
    said = "ValueError: Consume status error, please use enum 'ConsumeStatus' as response"
    assert [row["slug"] for row in explain(trace + said)] == ["python-consume-status"]
    assert [row["line"] for row in explain('File "/app/shop.py", line 350, in run\nraise e')] == [2]


def test_a_client_that_closes_an_idle_connection_is_in_order() -> None:
    """remoting/netty/NettyRemotingClient: clientChannelMaxIdleTimeSeconds; a server's clients send heartbeats."""
    line = "WARN NettyClientWorkerThread_3 - NETTY {} PIPELINE: IDLE exception [10.0.0.1:9876]"
    assert one(line.format("CLIENT"))["slug"] == "connection-idle"
    assert one(line.format("SERVER"))["slug"] == "channel-trouble"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("the request is processed with error system busy, start flow control for a while", "stored nothing"),
        ("the message queue locked Failed, mq:MessageQueue [topic=t, brokerName=b, queueId=1]", "another member"),
        ("[reset-offset] reset offset started by 10.0.0.1:55918. topic=t, group=g, timestamp=1, isForce=true", "skipped or repeated"),
        ("updateBrokerConfig, new config: [{maxMessageSize=131072}] client: /10.0.0.1:35364", "changed settings"),
    ],
)  # fmt: skip
def test_known_texts_say_what_they_mean(line: str, said: str) -> None:
    assert said in one(line)["meaning"]


def test_frames_of_node_are_frames() -> None:
    frame = r"    at callErrorFromStatus (C:\shop\node_modules\@grpc\grpc-js\build\src\call.js:31:19)"
    assert explain(frame) == []
    assert explain("at the broker (10.0.0.1:10911) it failed") != []


def test_a_pull_that_was_answered_did_not_fail() -> None:
    """broker/processor/PullMessageProcessor: code 25 while the group's heartbeat is on its way."""
    said = (
        "execute the pull request exception\norg.apache.rocketmq.client.exception.MQBrokerException: CODE: {}  DESC: x"
    )
    assert "pull-failed" not in [p.slug for p in catalogue.problems_in(said.format(25))]
    assert "pull-failed" in [p.slug for p in catalogue.problems_in(said.format(1))]


def test_addresses_given_as_name_servers() -> None:
    said = "NAMESRV_ADDR: 'a:9876;b:9876'\n-Drocketmq.namesrv.addr=c:9876\nbrokerIP1=d:2"
    assert context.name_servers(list(lines(said))) == {"a:9876", "b:9876", "c:9876"}


@pytest.mark.parametrize(
    ("line", "default"),
    [
        # common/BrokerConfig of 4.3.0 and 4.9.1; common/BrokerConfig.namesrvAddr has none.
        ("sendMessageThreadPoolNums=8", "default: 1 (4.3.0); min(cores,4) (4.9.1), from the release"),
        ("namesrvAddr=a:9876", "default: none"),
        # auth/config/AuthConfig of 5.3.0
        ("authenticationEnabled = true", "default: False"),
        ('initAuthenticationUser = {"username":"rocketmq","password":"x"}', "default: none"),
    ],
)
def test_defaults_of_settings(line: str, default: str) -> None:
    row = one(line)
    assert row["kind"] == "config" and default in row["meaning"]
