"""Hazards in code and settings of applications: written here as people write them, the facts are upstream's defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.case.opening import open_case
from kit.causes import client_code, consumer_hazards, doctor
from kit.formats.tables import client_settings
from kit.rocketmq.config import Settings, conflicts
from kit.rocketmq.versions import Version

JAVA = """package com.shop;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
public class Points {
    static final String GROUP = "points";
    void start() throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(GROUP);
        consumer.setNamesrvAddr("10.0.0.10:9876");
        consumer.setInstanceName("points-1");
        consumer.setClientIP("172.17.0.2");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
        consumer.setConsumeTimeout(120L);
        consumer.setPullInterval(200);
        consumer.subscribe("paid", "PAID || PARTLY");
        consumer.registerMessageListener(new Listener());
        consumer.start();
    }
    class Listener implements MessageListenerConcurrently {
        public synchronized ConsumeConcurrentlyStatus consumeMessage(List<MessageExt> m, ConsumeConcurrentlyContext c) { return null; }
    }
}
"""
ANNOTATED = """import org.apache.rocketmq.spring.annotation.RocketMQMessageListener;
@RocketMQMessageListener(topic = "refunded", consumerGroup = "points",
    selectorExpression = "A || B", consumeMode = ConsumeMode.ORDERLY)
public class Refunds implements RocketMQListener<String> { public void onMessage(String s) { } }
"""
YAML = """rocketmq:
  name-server: 10.0.0.10:9876   # the name servers
  consumer:
    group: points
    topic: paid
    selector-expression: "PARTLY||PAID"
    instance-name: points-app
    max-reconsume-times: 1
  producer:
    group: ${app.name}
    instanceName: ${random.uuid}
spring:
  cloud:
    stream:
      bindings:
        input1:
          destination: refunded
          group: refunds
      rocketmq:
        bindings:
          input1:
            consumer:
              orderly: true
"""
PROPERTIES = "rocketmq.name-server=10.0.0.10:9876\nrocketmq.consumer.group=points\nrocketmq.consumer.topic=paid\nrocketmq.consumer.selector-expression=*\n"


def slugs(tmp_path: Path, **files: str) -> dict[str, tuple[str, str]]:
    """{hazard: (cause, file:line)} of an evidence with these files (`__` is a dot)."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    found = client_code.hazards(open_case(folder, tmp_path / "workspace"))
    return {hazard.slug: (hazard.cause, str(hazard.place)) for hazard in found}


def test_a_consumer_in_java(tmp_path: Path) -> None:
    assert slugs(tmp_path, Points__java=JAVA) == {
        "fixed-instance-name": ("duplicate-client-id", "Points.java:8"),
        "fixed-client-ip": ("duplicate-client-id", "Points.java:9"),
        "long-consume-timeout": ("consumer-stuck", "Points.java:11"),
        "starts-at-the-end": ("offset-jump", "Points.java:10"),
        "serial-listener": ("consumer-backlog", "Points.java:18"),
        "pull-interval": ("consumer-backlog", "Points.java:12"),
    }


def test_what_java_says_of_a_client() -> None:
    (client,) = client_settings.read(JAVA)
    assert client.group is not None and client.group.text == "points"
    assert {topic: value.text for topic, value in client.subscriptions.items()} == {"paid": "PAID || PARTLY"}


def test_one_group_with_two_subscriptions_and_an_ordered_listener_without_end(tmp_path: Path) -> None:
    found = slugs(tmp_path, Points__java=JAVA, Refunds__java=ANNOTATED)
    assert found["code-subscribes-differently"] == ("subscription-mismatch", "Refunds.java:2")
    assert found["ordered-without-end"] == ("consumer-stuck", "Refunds.java:2")


def test_hazards_in_yaml_are_found_with_their_lines(tmp_path: Path) -> None:
    found = slugs(tmp_path, application__yml=YAML)
    assert found == {
        "fixed-instance-name": ("duplicate-client-id", "application.yml:7"),
        "few-retries": ("dead-letter", "application.yml:8"),
        "ordered-without-end": ("consumer-stuck", "application.yml:23"),
    }


def test_the_same_tags_in_another_order_are_the_same(tmp_path: Path) -> None:
    """FilterAPI.buildSubscriptionData makes a set of them."""
    assert "code-subscribes-differently" not in slugs(tmp_path, Points__java=JAVA, application__yml=YAML)


def test_properties_against_code(tmp_path: Path) -> None:
    found = slugs(tmp_path, Points__java=JAVA, application__properties=PROPERTIES)
    assert found["code-subscribes-differently"][0] == "subscription-mismatch"


@pytest.mark.parametrize(
    "text",
    [
        'consumer.setInstanceName(UUID.randomUUID().toString());', 'consumer.setInstanceName("DEFAULT");',
        'consumer.setInstanceName("c-" + pid);', "rocketmq.consumer.instance-name=${HOSTNAME}", "setInstanceName", "{", "a: b: c\n\t- x",
        '@RocketMQMessageListener(topic = "' + "x" * 5000,
    ],
)  # fmt: skip
def test_what_is_made_at_run_time_or_is_cut_off_is_no_hazard(text: str) -> None:
    source = f'DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("g");\n{text}\n'
    for name in ("A.java", "a.yml", "a.properties", "paste.txt"):
        clients = client_settings.read(source, name)
        assert not [h for client in clients for h in client_code._ids(name, client)]


def test_an_option_of_the_jvm() -> None:
    (client,) = client_settings.read("exec java -Drocketmq.client.name=worker -jar rocketmq-app.jar", "start.sh")
    assert [h.slug for h in client_code._ids("start.sh", client)] == ["fixed-instance-name"]


@pytest.mark.parametrize(("version", "role", "read", "refuses"), [("5.1.4", "SLAVE", None, True), ("5.1.4", "SLAVE", "true", False),
                                                                  ("4.9.4", "SLAVE", None, False), ("5.1.4", "ASYNC_MASTER", None, False)])  # fmt: skip
def test_a_slave_that_refuses_pulls(version: str, role: str, read: str | None, refuses: bool) -> None:
    """PullMessageProcessor.rejectRequest is of 5.0.0; slaveReadEnable is false by default."""
    given = {"brokerRole": role, **({"slaveReadEnable": read} if read else {})}
    slugs = [c.slug for c in conflicts(Settings(given, Version.parse(version)))]
    assert ("slave-refuses-pulls" in slugs) is refuses


@pytest.mark.parametrize(("kept", "warned"), [(48, True), (72, True), (120, False)])
def test_a_group_whose_next_message_is_nearly_deleted(kept: int, warned: bool, tmp_path: Path) -> None:
    """36 h and more between the store times of one topic's queues: half of 72."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "broker.conf").write_text(f"brokerName=broker-a\nbrokerId=0\nfileReservedTime={kept}\n")
    head = "#Topic            #Broker Name   #QID  #Broker Offset  #Consumer Offset  #Diff   #LastTime\n"
    rows = "orders            broker-a       0     900             100               800     2026-11-20 19:00:00\n"
    rows += "orders            broker-a       1     900             900               0       2026-11-22 08:00:00\n"
    command = "$ mqadmin consumerProgress -n 10.0.0.10:9876 -g points\n"
    (folder / "consumerProgress.txt").write_text(command + head + rows + "\nConsume TPS: 1.00\nDiff Total: 800\n")
    found = doctor.of_case(open_case(folder, tmp_path / "workspace"))
    near = [h for h in found.hazards if h.slug == "near-deletion"]
    assert bool(near) is warned and all(h.cause == "offset-jump" for h in near)
    assert consumer_hazards.NEAR * 72 < 37
