"""The catalogue: every text has an example that its needle and its pattern fit; the recordings hold what their labels
say."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from kit.formats.logs.literal_matcher import WINDOW, known_texts, ordered
from kit.rocketmq.log_events.catalogue import BY_SLUG, EVENTS, confirmations


def test_slugs_are_distinct_and_short() -> None:
    assert len(BY_SLUG) == len(EVENTS)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) and len(slug) <= 32 for slug in BY_SLUG)


def test_every_example_holds_needle_and_pattern() -> None:
    for event in EVENTS:
        assert any(needle in event.example for needle in event.needles), event.slug
        assert all(len(needle.encode()) >= WINDOW and "\n" not in needle for needle in event.needles), event.slug
        found = event.compiled.search(event.example)
        assert found, event.slug
        assert not event.groups or any(found.groups()), event.slug
        assert not event.confirm or re.search(event.confirm, event.example), event.slug


def test_kernel_finds_every_example() -> None:
    found = ordered(known_texts(), [e.example.replace("\n", " ") for e in EVENTS])
    assert [i for i, numbers in enumerate(found) if i not in numbers] == []


def test_every_pattern_reads_the_same_in_java() -> None:
    for event in EVENTS:
        assert not re.search(r"\(\?(?:<|P=)|\\[AZzKGQ]|[*+?}]\+", event.java), event.slug
        assert re.compile(event.java).groups == len(event.groups), event.slug
        assert len(set(event.groups)) == len(event.groups), event.slug


def values(slug: str, text: str) -> dict[str, str | None]:
    event = BY_SLUG[slug]
    assert any(n in text for n in event.needles)
    found = event.compiled.search(text)
    assert found, text
    return found.groupdict()


@pytest.mark.parametrize(
    ("slug", "text", "expected"),
    [
        (
            "flow-control",
            "CODE: 2 DESC: [PCBUSY_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 402ms, size of queue: 24",
            {"code": "2", "kind": "PCBUSY_CLEAN_QUEUE", "period": "402", "queue": "24", "broker": None},
        ),
        (
            "flow-control",
            "CODE: 2  DESC: [REJECTREQUEST]system busy, start flow control for a while BROKER: fd20:45::11:10911",
            {"kind": "REJECTREQUEST", "period": None, "broker": "fd20:45::11:10911"},
        ),
        (
            "flow-control",
            "error: [OVERLOAD]system busy, start flow control for a while",
            {"code": None, "kind": "OVERLOAD"},
        ),
        (
            "topic-too-long",
            "putMessage message topic[%RETRY%abc] length too long 149, but it is not supported by broker",
            {"topic": "%RETRY%abc", "length": "149"},
        ),
        (
            "message-body-size-exceeded",
            "message body size exceeded, msg total size: 5, msg body size: 4, maxMessageBodySize: 3",
            {"total": "5", "body": "4", "limit": "3"},
        ),
        (
            "message-body-size-exceeded",
            "message body size exceeded, msg body size: 4, maxMessageSize: 3",
            {"total": None, "body": "4"},
        ),
        (
            "check-answer-commit",
            "Check producer[[fd20:114:0:0:0:0:0:21]:41056] transaction state, the producer commit the message.RequestHeader: EndTransactionRequestHeader{producerGroup=order-producer, tranStateTableOffset=55, commitLogOffset=608907, commitOrRollback=8, fromTransactionCheck=true, msgId=7F00000133BA0C387F4466E6FEB10000, transactionId=7F00000133BA0C387F4466E6FEB10000} Remark: null",
            {
                "address": "[fd20:114:0:0:0:0:0:21]:41056",
                "group": "order-producer",
                "commit_log_offset": "608907",
                "msg_id": "7F00000133BA0C387F4466E6FEB10000",
            },
        ),
        (
            "send-attempt-failed",
            "sendKernelImpl exception, resend at once, InvokeID: %s, RT: %sms, Broker: %s",
            {"what": "resend at once", "topic": None},
        ),
        (
            "service-not-available",
            "CODE: 14  DESC: service not available now. It may be caused by one of the following reasons: the broker's disk is full [CL:  0.91 CQ:  0.91 INDEX:  0.91], messages are put to the slave, message store has been shut down, etc.",
            {"commitlog": "0.91"},
        ),
        (
            "store-tps",
            "[STORETPS] put_tps  get_found_tps  get_miss_tps  get_transfered_tps ",
            {"put": "", "transferred": ""},
        ),
        (
            "store-tps",
            "[STORETPS] put_tps 4.065379296556091 get_found_tps 1.0 get_miss_tps 0.0 get_transferred_tps 2.5",
            {"put": "4.065379296556091", "transferred": "2.5"},
        ),
        (
            "stats",
            "[GROUP_GET_LATENCY] [1@a@b] Stats In One Minute, TIMES: 4 AVGRT: 0.50",
            {"name": "GROUP_GET_LATENCY", "sum": "4", "tps": None, "average": "0.50"},
        ),
        (
            "late-response",
            "receive response, cmd=RemotingCommand [code=0], but not matched any request, address=10.20.81.11:10911",
            {"address": "10.20.81.11:10911"},
        ),
    ],
)
def test_wordings_of_other_versions(slug: str, text: str, expected: dict[str, str | None]) -> None:
    found = values(slug, text)
    assert {name: found[name] for name in expected} == expected


def test_second_conditions() -> None:
    commit = confirmations()[list(BY_SLUG).index("leaked-commit-printed")]
    for flags in range(64):
        assert bool(commit(b"sysFlag=%d, bornTimestamp=" % flags)) == (flags & 0xC == 8), flags
    assert not confirmations()[list(BY_SLUG).index("broker-topic-too-long")](b"longer than topic max length 127.")


@pytest.mark.parametrize(
    ("name", "seen", "unseen"),
    [
        (
            "transaction-consistency",
            {"local-transaction-exception", "check-discard", "client-check-unknown"},
            {"flow-control", "put-back-failed", "topic-too-long"},
        ),
        (
            "producer-offline",
            {"check-channel-null", "producer-table-empty", "check-discard"},
            {"flow-control", "put-back-failed"},
        ),
        (
            "message-identity",
            {"query-no-message", "consume-exception", "consumer-offset-saved"},
            {"flow-control", "put-back-failed", "check-discard"},
        ),
        (
            "healthy",
            {"watermark", "check-answer-commit"},
            {
                "flow-control",
                "put-back-failed",
                "topic-too-long",
                "check-discard",
                "client-wait-timeout",
                "check-channel-null",
                "leaked-half-printed",
            },
        ),
        (
            "healthy-5",
            {"check-sent", "response-codes", "check-position-after"},
            {"flow-control", "put-back-failed", "check-discard", "leaked-half-printed"},
        ),
    ],
)
def test_recordings_hold_what_happened(name: str, seen: set[str], unseen: set[str], log_entries) -> None:  # type: ignore[no-untyped-def]
    found = Counter(slug for row in log_entries(name) for slug in row["events"])
    assert seen <= set(found)
    assert not unseen & set(found)


def test_the_address_of_a_registered_consumer_stands_behind_in_4_and_before_in_5() -> None:
    data = "ConsumerData [groupName=g, consumeType=PUSH, subscriptionDataSet=[SubscriptionData [topic=t, subString=*]]]"
    old = BY_SLUG["consumer-registered"].compiled.search(f"registerConsumer info changed {data} 10.0.0.1:5")
    new = BY_SLUG["consumer-registered"].compiled.search(
        f"ClientManageProcessor: registerConsumer info changed, SDK address=10.0.0.1:5, consumerData={data}"
    )
    assert old and new and old["data"] == new["data"] == data
    assert (old["address"], new["address_2"]) == ("10.0.0.1:5", "10.0.0.1:5")


def test_a_send_given_up_without_brokers() -> None:
    """Java's DefaultMQProducerImpl prints BrokersSent; C++ ends with the topic."""
    event = BY_SLUG["send-given-up"]
    java = event.compiled.search(event.example)
    other = event.compiled.search("Send [3] times, still failed, cost [9]ms, Topic: orders")
    assert java is not None and java["brokers"] == "broker-a, broker-a, broker-a"
    assert other is not None and (other["topic"], other["brokers"], other["times"]) == ("orders", None, "3")
