"""broker-unreachable: the recording's truth; loopback, an inner network card, a broker that died; what a paste shows."""

from __future__ import annotations

from pathlib import Path

import pytest
import taken_away
from busy_evidence import TIMEOUT as LATE_ANSWER
from busy_evidence import thrown, traffic, write_log, write_store

import kit
from kit import causes
from kit.case.case import Case
from kit.causes.root_causes import broker_unreachable

NAMED = "2026-11-22 07:27:51,648 INFO RocketmqClient - Created a new client Instance, InstanceIndex:0, ClientID:10.0.5.21@8000#1, ClientConfig:ClientConfig [namesrvAddr=10.0.5.10:9876]"
ROUTE = (
    "2026-11-22 07:27:52,000 INFO RocketmqClient - topicRouteTable.put. Topic = pay, TopicRouteData[TopicRouteData [orderTopicConf=null, queueDatas=[], "
    "brokerDatas=[BrokerData [brokerName=broker-a, brokerAddrs={{0={address}}}]], filterServerTable={{}}]]"
)
FAILED = "2026-11-22 07:27:55,133 WARN RocketmqRemoting - createChannel: connect remote host[{address}] timeout 3000ms, DefaultChannelPromise@1(uncancellable)"
REACHED = "2026-11-22 07:27:50,133 INFO RocketmqRemoting - createChannel: connect remote host[{address}] success, DefaultChannelPromise@1(success)"
ACTIVE = "2026-11-22 07:27:50,133 INFO RocketmqRemoting - NETTY CLIENT PIPELINE: ACTIVE, {address}, channelId=a3f8b2c1"
"""What 5.3.0 and later print of a connect that succeeded."""
LATE = "2026-11-22 07:27:54.930 ERROR [sender-1] com.shop.pay.PayEvents - send message failed, topic=pay, keys=PN1, cost=3263ms"
TIMEOUT = "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: sendDefaultImpl call timeout"
FRAME = "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.sendDefaultImpl(DefaultMQProducerImpl.java:649)"
LISTENING = """State  Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess
LISTEN 0      1024         {address}:10911      0.0.0.0:*
"""


def evidence(
    folder: Path, address: str, *, host: str | None = None, listen: str = "0.0.0.0", more: tuple[str, ...] = ()
) -> Case:
    write_log(
        folder / "app" / "rocketmq_client.log",
        [NAMED, ROUTE.format(address=address), *more, *[FAILED.format(address=address)] * 3],
    )
    write_log(folder / "app" / "pay.log", [LATE, TIMEOUT, FRAME] * 3)
    if host is not None:
        write_log(folder / "broker" / "ip.txt", host.splitlines())
        write_log(folder / "broker" / "ss.txt", LISTENING.format(address=listen).splitlines())
    return kit.open_case(folder, folder.parent / "ws")


def test_a_send_that_is_stored_reached_a_broker(tmp_path: Path) -> None:
    """Another application's answers came too late from a broker it reaches: its three messages are in that store."""
    write_store(tmp_path / "e" / "store" / "commitlog", traffic(5_000))
    late = [line for n in (7, 8, 9) for line in thrown(10 * n, f"T{n}", LATE_ANSWER)]
    write_log(tmp_path / "e" / "orders" / "orders.log", late)
    found = causes.examine(evidence(tmp_path / "e", "127.0.0.1:10911").facts, "broker-unreachable")
    assert (found.verdict, found.figures["failed_sends"]) == ("confirmed", 1)


@pytest.mark.parametrize(
    ("frame", "sent"),
    [
        # rocketmq-spring: a listener's container starts its consumer.
        (
            "org.apache.rocketmq.spring.autoconfigure.ListenerContainerConfiguration.registerContainer(ListenerContainerConfiguration.java:123)",
            False,
        ),
        (
            "org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.sendDefaultImpl(DefaultMQProducerImpl.java:649)",
            True,
        ),
    ],
)
def test_a_request_that_is_no_send_is_no_late_send(frame: str, sent: bool, tmp_path: Path) -> None:
    said = "java.lang.IllegalStateException: org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response on the channel <10.0.5.11:10911> timeout, 3000(ms)"
    case = taken_away.paste(tmp_path, "it does not start", said, f"\tat {frame}")
    found = {f["cause"]: f["verdict"] for f in kit.triage(case)["findings"]}
    late = {found.get(cause) for cause in ("broker-busy", "client-timeout")}
    assert bool(late & {"suspected", "confirmed"}) is sent


def test_a_name_server_that_does_not_answer_is_no_busy_broker(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(
        "Caused by: org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response on the channel <mq-1/10.0.5.10:9876> timeout, 4998(ms)\n"
        "\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.getBrokerClusterInfo(MQClientAPIImpl.java:1333)\n"
    )
    case = kit.open_case(tmp_path / "paste.txt", tmp_path / "ws")
    found = {f["cause"]: f["verdict"] for f in kit.triage(case)["findings"]}
    assert {c: v for c, v in found.items() if v in ("confirmed", "suspected")} == {"namesrv-unreachable": "suspected"}


def test_the_vip_port_is_not_the_advertised_one(tmp_path: Path) -> None:
    """common/MixAll.brokerVIPChannel: the port of the broker less 2."""
    line = "java.lang.RuntimeException: org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.0.5.11:10909 failed"
    found = causes.examine(
        taken_away.paste(tmp_path, "2026-11-22 07:48:26.492 ERROR [x] App - failed", line).facts, "broker-unreachable"
    )
    assert found.verdict == "suspected"
    assert "VIP port" in found.summary.render() and "10909" in found.remedies[0].action.render()


@pytest.mark.parametrize("line", [REACHED, ACTIVE])
def test_an_address_that_was_reached_is_reachable(line: str, tmp_path: Path) -> None:
    address = "10.0.5.11:10911"
    found = broker_unreachable.examine(evidence(tmp_path / "e", address, more=(line.format(address=address),)).facts)
    assert {step.id: step.holds for step in found.steps}["connects-failed"] is False
