"""broker-unreachable: the recording's truth; loopback, an inner network card, a broker that died; what a paste shows."""

from __future__ import annotations

from pathlib import Path

import pytest
import taken_away
from busy_evidence import TIMEOUT as LATE_ANSWER
from busy_evidence import thrown, traffic, write_log, write_store

import kit
from kit.case.case import Case
from kit.causes.root_causes import broker_busy, broker_unreachable

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
ADDRESSES = """2: eth0: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP
    inet 10.0.5.11/24 scope global eth0
3: {interface}: <BROADCAST,UP> mtu 1500 qdisc noqueue state UP
    inet {other}/24 scope global {interface}
"""
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


def test_a_bridge(tmp_path: Path) -> None:
    case = evidence(tmp_path / "e", "172.18.0.3:10911", host=ADDRESSES.format(interface="br-1f2e", other="172.18.0.3"))
    found = broker_unreachable.examine(case.facts)
    assert found.verdict == "confirmed"
    assert found.figures == {
        "advertised": "172.18.0.3:10911",
        "reachable": "10.0.5.11:10911",
        "failed_sends": 1,
        "clients": 1,
    }
    assert broker_busy.examine(case.facts).verdict == "ruled_out"


def test_an_inner_network_card(tmp_path: Path) -> None:
    """Both addresses are the host's own; the clients are in the network of the other one."""
    case = evidence(tmp_path / "e", "192.168.7.3:10911", host=ADDRESSES.format(interface="eth1", other="192.168.7.3"))
    found = broker_unreachable.examine(case.facts)
    assert (found.verdict, found.figures["reachable"]) == ("confirmed", "10.0.5.11:10911")


def test_a_send_that_is_stored_reached_a_broker(tmp_path: Path) -> None:
    """Another application's answers came too late from a broker it reaches: its three messages are in that store."""
    write_store(tmp_path / "e" / "store" / "commitlog", traffic(5_000))
    late = [line for n in (7, 8, 9) for line in thrown(10 * n, f"T{n}", LATE_ANSWER)]
    write_log(tmp_path / "e" / "orders" / "orders.log", late)
    found = broker_unreachable.examine(evidence(tmp_path / "e", "127.0.0.1:10911").facts)
    assert (found.verdict, found.figures["failed_sends"]) == ("confirmed", 1)


def test_loopback_needs_no_more(tmp_path: Path) -> None:
    found = broker_unreachable.examine(evidence(tmp_path / "e", "127.0.0.1:10911").facts)
    assert (found.verdict, found.figures["reachable"]) == ("confirmed", None)


def test_without_the_hosts_addresses_it_is_suspected(tmp_path: Path) -> None:
    found = broker_unreachable.examine(evidence(tmp_path / "e", "10.9.0.3:10911").facts)
    assert found.verdict == "suspected"
    assert any("ip addr" in m.command for m in found.missing)


def test_the_only_address_is_not_the_wrong_one(tmp_path: Path) -> None:
    only = "2: eth0: <UP> mtu 1500 qdisc noqueue state UP\n    inet 10.0.5.11/24 scope global eth0\n"
    assert (
        broker_unreachable.examine(evidence(tmp_path / "e", "10.0.5.11:10911", host=only).facts).verdict == "ruled_out"
    )


def test_a_broker_that_died_was_reached_before(tmp_path: Path) -> None:
    case = evidence(tmp_path / "e", "172.17.0.3:10911", more=(REACHED.format(address="172.17.0.3:10911"),))
    assert broker_unreachable.examine(case.facts).verdict == "ruled_out"


def test_a_paste_names_it_as_suspected(tmp_path: Path) -> None:
    found = broker_unreachable.examine(
        taken_away.paste(tmp_path, LATE, TIMEOUT, FRAME, FAILED.format(address="172.17.0.3:10911")).facts
    )
    assert (found.verdict, found.figures["advertised"]) == ("suspected", "172.17.0.3:10911")
    assert {"topicRoute" in m.command for m in found.missing} >= {True}


@pytest.mark.parametrize("null", ["null", "<null>"])
def test_null_is_no_address_of_a_broker(null: str, tmp_path: Path) -> None:
    """remoting/netty/NettyRemotingClient: without a usable name server the address is null."""
    (tmp_path / "paste.txt").write_text(
        f"org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to {null} failed\n{FRAME}\n"
    )
    found = broker_unreachable.examine(kit.open_case(tmp_path / "paste.txt", tmp_path / "ws").facts)
    assert found.verdict == "insufficient_evidence"


@pytest.mark.parametrize(
    "address",
    ["[127.0.0.1:9876]", "<10.0.5.10:9876>", "172.18.0.3:9876", "[1234567890.mqrest.cn-hangzhou.aliyuncs.com]"],
)
def test_a_name_server_is_no_broker(address: str, tmp_path: Path) -> None:
    """remoting/netty/NettyRemotingClient.getAndCreateNameserverChannel prints the list it was given in brackets."""
    (tmp_path / "paste.txt").write_text(
        f"the dashboard says\norg.apache.rocketmq.remoting.exception.RemotingConnectException: connect to {address} failed\n"
    )
    case = kit.open_case(tmp_path / "paste.txt", tmp_path / "ws")
    assert broker_unreachable.examine(case.facts).verdict == "insufficient_evidence"


@pytest.mark.parametrize(
    ("below", "verdict"),
    [
        (
            "\tat org.apache.rocketmq.client.impl.factory.MQClientInstance.updateTopicRouteInfoFromNameServer(MQClientInstance.java:681)",
            "insufficient_evidence",
        ),
        # The broker's own settings: its name server listens on another port than 9876, and on the broker's host.
        ("listenPort = 9535\nbrokerIP1=10.0.5.11\nnamesrvAddr =10.0.5.11:9526", "insufficient_evidence"),
        (
            "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.sendKernelImpl(DefaultMQProducerImpl.java:750)",
            "suspected",
        ),
    ],
)
def test_a_name_server_at_another_port_is_no_broker(below: str, verdict: str, tmp_path: Path) -> None:
    connect = "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.0.5.11:9526 failed"
    found = broker_unreachable.examine(taken_away.paste(tmp_path, "it does not start", connect, below).facts)
    assert found.verdict == verdict


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


def test_brokers_in_brackets_are_reached_or_not(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(
        "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to [172.18.0.3:10911] failed\n"
    )
    found = broker_unreachable.examine(kit.open_case(tmp_path / "paste.txt", tmp_path / "ws").facts)
    assert (found.verdict, found.figures["advertised"]) == ("suspected", "172.18.0.3:10911")


def test_a_name_server_that_does_not_answer_is_no_busy_broker(tmp_path: Path) -> None:
    (tmp_path / "paste.txt").write_text(
        "Caused by: org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response on the channel <mq-1/10.0.5.10:9876> timeout, 4998(ms)\n"
        "\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.getBrokerClusterInfo(MQClientAPIImpl.java:1333)\n"
    )
    case = kit.open_case(tmp_path / "paste.txt", tmp_path / "ws")
    found = {f["cause"]: f["verdict"] for f in kit.triage(case)["findings"]}
    assert {c: v for c, v in found.items() if v in ("confirmed", "suspected")} == {"namesrv-unreachable": "suspected"}


def test_a_paste_of_two_logs_is_both(tmp_path: Path) -> None:
    """A broker that registers, and a dashboard that cannot connect to it, each in its own fence."""
    healthy = "2021-03-30 11:18:06 INFO brokerOutApi_thread_3 - register broker to name server mq:9876 OK\n" * 6
    (tmp_path / "question.md").write_text(
        f"### broker\n```\n{healthy}```\n### dashboard\n```\n[2021-03-30 02:58:32.023] ERROR Unexpected error occurred in scheduled task.\n"
        "java.lang.RuntimeException: org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to <10.0.5.11:10911> failed\n```\n"
    )
    found = broker_unreachable.examine(kit.open_case(tmp_path / "question.md", tmp_path / "ws").facts)
    assert (found.verdict, found.figures["advertised"]) == ("suspected", "10.0.5.11:10911")


@pytest.mark.parametrize(
    ("line", "address"),
    [
        # rocketmq-client-go internal/remote, and the same error as an application prints it
        ('time="2026-11-22T07:27:55+08:00" level=error msg="pull message error" underlayError="dial tcp 172.18.0.3:10911: i/o timeout"', "172.18.0.3:10911"),
        ("2026/11/22 07:27:55 send message error: dial tcp 172.18.0.3:10911: connect: no route to host", "172.18.0.3:10911"),
        # of name servers and of anything else
        ("2026/11/22 07:27:55 start error: dial tcp 172.18.0.3:9876: i/o timeout", None),
        ("2026/11/22 07:27:55 cache: dial tcp 172.18.0.3:6379: i/o timeout", None),
    ],
)  # fmt: skip
def test_go_clients_that_cannot_connect(line: str, address: str | None, tmp_path: Path) -> None:
    found = broker_unreachable.examine(taken_away.paste(tmp_path, line).facts)
    assert found.figures["advertised"] == address
    assert found.verdict == ("insufficient_evidence" if address is None else "suspected")


def test_the_vip_port_is_not_the_advertised_one(tmp_path: Path) -> None:
    """common/MixAll.brokerVIPChannel: the port of the broker less 2."""
    line = "java.lang.RuntimeException: org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.0.5.11:10909 failed"
    found = broker_unreachable.examine(
        taken_away.paste(tmp_path, "2026-11-22 07:48:26.492 ERROR [x] App - failed", line).facts
    )
    assert found.verdict == "suspected"
    assert "VIP port" in found.summary.render() and "10909" in found.remedies[0].action.render()


@pytest.mark.parametrize("line", [REACHED, ACTIVE])
def test_an_address_that_was_reached_is_reachable(line: str, tmp_path: Path) -> None:
    address = "10.0.5.11:10911"
    found = broker_unreachable.examine(evidence(tmp_path / "e", address, more=(line.format(address=address),)).facts)
    assert {step.id: step.holds for step in found.steps}["connects-failed"] is False
