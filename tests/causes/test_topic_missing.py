"""topic-missing and acl-denied: the recordings' truth, pastes, and what every healthy start prints."""

from __future__ import annotations

from pathlib import Path

import pytest
import taken_away
from busy_evidence import write_log

import kit
from kit.causes.neighbours import acl_denied, topic_missing

SEND = [
    "2026-11-22 07:48:26.492 ERROR [sender-2] com.shop.pay.PayEvents - send message failed, topic=pay-dnoe, keys=PM2, cost=231ms",
    "org.apache.rocketmq.client.exception.MQClientException: No route info {of} this topic{colon} pay-dnoe",
    "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.sendDefaultImpl(DefaultMQProducerImpl.java:667)",
]
HEALTHY = "2026-11-22 07:48:23,396 WARN RocketmqClient - get Topic [{topic}] RouteInfoFromNameServer is not exist value"
CODE_17 = "org.apache.rocketmq.client.exception.MQClientException: CODE: 17  DESC: No topic route info in name server for the topic: {topic}"


def test_a_paste_is_suspected(tmp_path: Path) -> None:
    lines = [line.format(of="for", colon=",") for line in SEND]
    found = topic_missing.examine(taken_away.paste(tmp_path, *lines).facts)
    assert (found.verdict, found.figures["topics"]) == ("suspected", {"pay-dnoe": 1})
    assert "topicList" in found.missing[0].command


def test_traces_without_a_topic_are_no_sends_of_users(tmp_path: Path) -> None:
    """client/trace/AsyncTraceDispatcher sends to RMQ_SYS_TRACE_TOPIC, which brokers have with traceTopicEnable."""
    frame = "\tat org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl.tryToFindTopicPublishInfo(DefaultMQProducerImpl.java:693)"
    said = "org.apache.rocketmq.client.exception.MQClientException: CODE: 17  DESC: No topic route info in name server for the topic: {}"
    for topic, sends in (("RMQ_SYS_TRACE_TOPIC", 0), ("orders", 1)):
        found = topic_missing.examine(
            taken_away.paste(tmp_path / topic, "so many of these", said.format(topic), frame).facts
        )
        assert found.figures["topics"] == {topic: sends}


def test_what_every_start_asks_for_is_no_missing_topic(tmp_path: Path) -> None:
    lines = [text.format(topic=topic) for topic in ("%RETRY%points", "TBW102") for text in (HEALTHY, CODE_17)]
    connect = "createChannel: connect remote host[10.20.1.2:9876] success, DefaultChannelPromise@3857f613(success)"
    start = f"2026-11-22 07:48:22,100 INFO RocketmqRemoting - {connect}"
    write_log(tmp_path / "whole" / "app" / "rocketmq_client.log", [start, *lines])
    assert topic_missing.examine(kit.open_case(tmp_path / "whole", tmp_path / "ws").facts).verdict == "ruled_out"
    write_log(tmp_path / "excerpt" / "app" / "rocketmq_client.log", lines)
    excerpt = topic_missing.examine(kit.open_case(tmp_path / "excerpt", tmp_path / "ws").facts)
    assert excerpt.verdict == "insufficient_evidence"


def test_denied_by_5_3(tmp_path: Path) -> None:
    said = (
        "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 16  DESC: org.apache.rocketmq.auth.authorization.exception."
        "AuthorizationException: User:importer has no permission to access Topic:orders from 10.0.0.9, no matched policies."
    )
    found = acl_denied.examine(
        taken_away.paste(tmp_path, "2026-11-22 07:48:26.492 ERROR [x] App - send failed", said).facts
    )
    assert found.verdict == "confirmed"
    assert list(found.figures["reasons"]) == ["no-right"]


def test_mqadmin_without_a_file_of_its_own_was_not_refused(tmp_path: Path) -> None:
    """acl/common/AclUtils of 4.4 and 4.5 throws this in mqadmin, which goes on; every send here was answered."""
    missing = "org.apache.rocketmq.acl.common.AclException: The  file for Plain mode was not found , paths /opt/rocketmq/conf/{}"
    (tmp_path / "e" / "mqadmin").mkdir(parents=True)
    (tmp_path / "e" / "mqadmin" / "clusterList.txt").write_text(
        f"$ mqadmin clusterList\n{missing.format('tools.yml')}\n"
    )
    (tmp_path / "e" / "sends.csv").write_text("key,start,cost_ms,outcome\nK1,2026-11-22 07:48:26.492,3,SEND_OK\n")
    findings = {f["cause"]: f for f in kit.triage(kit.open_case(tmp_path / "e", tmp_path / "ws"))["findings"]}
    assert findings["acl-denied"]["verdict"] not in ("confirmed", "suspected", "failed")
    assert "acl-config" not in findings


def test_a_refusal_beside_sends_that_all_succeeded(tmp_path: Path) -> None:
    refused = (
        "CODE: 1  DESC: org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey=importer, x"
    )
    write_log(
        tmp_path / "e" / "c" / "rocketmq_client.log", [f"2026-11-22 07:48:26,492 WARN RocketmqClient - {refused}"]
    )
    (tmp_path / "e" / "sends.csv").write_text("key,start,cost_ms,outcome\nK1,2026-11-22 07:48:26.492,3,SEND_OK\n")
    found = acl_denied.examine(kit.open_case(tmp_path / "e", tmp_path / "ws").facts)
    assert (found.verdict, found.figures["failed_sends"]) == ("confirmed", 0)


def test_a_topic_whose_queues_a_consumer_holds_exists(tmp_path: Path) -> None:
    taken = "2026-11-22 07:49:10,100 INFO RocketmqClient - doRebalance, stock, add a new mq, MessageQueue [topic=orders, brokerName=broker-a, queueId=3]"
    early = [HEALTHY.format(topic="orders"), CODE_17.format(topic="orders")]
    write_log(tmp_path / "later" / "app" / "rocketmq_client.log", [*early, taken])
    assert topic_missing.examine(kit.open_case(tmp_path / "later", tmp_path / "ws").facts).verdict == "ruled_out"
    write_log(tmp_path / "never" / "app" / "rocketmq_client.log", early)
    never = topic_missing.examine(kit.open_case(tmp_path / "never", tmp_path / "ws").facts)
    assert never.verdict == "suspected" and "0" not in never.summary.render("en")


def test_a_query_for_a_topic_without_a_route_in_a_text_with_settings(tmp_path: Path) -> None:
    """client/impl/MQAdminImpl.queryMessage; the settings below it do not make the text a configuration."""
    lines = [
        "the dashboard shows no trace",
        "CODE: 17 DESC: The topic[RMQ_SYS_TRACE_TOPIC] not matched route info",
        *("brokerClusterName=c1", "brokerName=broker-a", "brokerId=0", "namesrvAddr=10.0.0.1:9876", "listenPort=10911"),
    ]
    found = topic_missing.examine(taken_away.paste(tmp_path, *lines).facts)
    assert found.verdict == "suspected"
    assert [(ref.line, ref.text) for step in found.steps if step.holds for ref in step.evidence] == [(2, lines[1])]


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        # auth/authorization/chain/AclAuthorizationHandler.throwException, 5.3.0 and later; subject and resource as their keys print them
        ("User:shop has no permission to access Topic:orders from 10.20.29.7, no matched policies.", {"no-right": ["topic orders (shop)"]}),
        # auth/authentication/chain/DefaultAuthenticationHandler.doAuthenticate
        ("User:shop is not found.", {"unknown-user": ["shop"]}),
        ("check signature failed.", {"wrong-secret": []}),
    ],
)  # fmt: skip
def test_answers_of_acl_2_name_no_exception(said: str, reasons: dict[str, list[str]], tmp_path: Path) -> None:
    """broker/auth/pipeline/AuthenticationPipeline answers code 16 with the message of the exception alone."""
    line = f"Caused by: org.apache.rocketmq.client.exception.MQBrokerException: CODE: 16  DESC: {said} BROKER: 10.20.29.11:10911"
    found = acl_denied.examine(
        taken_away.paste(tmp_path, "2026-11-22 07:48:26.492 ERROR [x] App - send failed", line).facts
    )
    assert (found.verdict, found.figures["reasons"]) == ("confirmed", reasons)
    assert found.steps[0].evidence[0].text == line


@pytest.mark.parametrize(
    ("other", "verdict"),
    [("", "suspected"),
     ("[2026-11-22 07:48:25.100200](error):GetTransport of:10.20.29.5:9876 get timed_mutex timeout[CreateNameServerTransport:377]", "insufficient_evidence")],
)  # fmt: skip
def test_no_route_where_no_name_server_answered_says_nothing_about_the_topic(
    other: str, verdict: str, tmp_path: Path
) -> None:
    no_route = "[2026-11-22 07:48:26.492100](error):msg: No route info of this topic: pay-done,error:-1,in file <DefaultMQProducer.cpp> line:434[send:113]"
    found = topic_missing.examine(taken_away.paste(tmp_path, *filter(None, [other, no_route])).facts)
    assert found.verdict == verdict
    assert "does not exist" not in found.summary.render()
