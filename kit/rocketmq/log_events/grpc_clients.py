"""Known texts of the 5.x gRPC clients (rocketmq-clients): Java's rocketmq-client.log in the layout client-5, Go's and C#'s with the same wording, C++'s and Python's own.

They receive through a proxy (POP): a queue of theirs is a part of the load, not an offset that only they commit.
"""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import Event

_JAVA = "rocketmq-clients java client/impl/consumer"
_SOURCES = "client app text"
_MQ = r"(?:mq|queue)(?:=|: )(?P<broker>[\w-]+)\.(?P<topic>[\w%|.-]+)\.(?P<queue_id>\d+)"
"""route/MessageQueueImpl.toString: broker.topic.queue id."""

EVENTS: Final[tuple[Event, ...]] = (
    Event("receive-held-back", ("cached messages quantity exceeds the threshold", "cached messages memory exceeds the threshold", "process queue total cached messages exceeds the threshold", "Number of locally cached messages is "),
          rf"(?:exceeds the threshold, threshold(?:=|: )(?P<limit>\d+)(?: bytes)?, ?actual(?:=|: )(?P<count>\d+)(?: bytes)?(?:, ?{_MQ})?(?:.{{0,300}}?\bclientId=(?P<client_id>[^,\s\"]+))?|cached messages is (?P<count_2>\d+), which exceeds threshold=(?P<limit_2>\d+))",
          _SOURCES, "WARN INFO", f"{_JAVA}/ProcessQueueImpl.isCacheFull; golang process_queue.go; csharp ProcessQueue.cs; cpp ProcessQueueImpl.cpp; python process_queue.py",
          "Process queue total cached messages quantity exceeds the threshold, threshold=1024, actual=1024, mq=broker-a.orders.2, clientId=host-a@4212@0@lqn3k2v", harmless=None),
    Event("grpc-consumer-created", ("consume service, consumerGroup=", "PushConsumer started, groupName="), r"(?:consumerGroup|groupName)=(?P<group>[^,\s\"]+)(?:, clientId=(?P<client_id>[^,\s\"]+))?", _SOURCES, "INFO",
          f"{_JAVA}/PushConsumerImpl.createConsumeService; golang push_consumer.go; csharp PushConsumer.cs; cpp PushConsumerImpl.cpp",
          "Create standard consume service, consumerGroup=points, clientId=host-a@4212@0@lqn3k2v", harmless=True),
    Event("grpc-assignments", "Assignments of topic=", r"Assignments of topic=(?P<topic>\S+) has changed, .{0,20000}? [=-]> (?P<assigned>.{0,20000}?)(?:, clientId=(?P<client_id>[^,\s\"]+))?$", _SOURCES, "INFO",
          f"{_JAVA}/PushConsumerImpl.scanAssignments", "Assignments of topic=orders has changed, [] => [broker-a.orders.0, broker-a.orders.1], clientId=host-a@4212@0@lqn3k2v", harmless=True, confirm=" has changed, "),
    Event("grpc-listener-raised", "Message listener raised an exception while consuming messages", rf"clientId=(?P<client_id>[^,\s]+), ?{_MQ}, ?messageId=(?P<msg_id>\w+)", _SOURCES, "ERROR", f"{_JAVA}/ConsumeTask; csharp ConsumeTask.cs",
          "Message listener raised an exception while consuming messages, clientId=host-a@4212@0@lqn3k2v, mq=broker-a.orders.2, messageId=01ACDE480011223344049BC1F400000000", since="5.0.0"),
    Event("grpc-fifo-given-up", "Failed to consume fifo message finally, run out of attempt times", rf"maxAttempts=(?P<limit>\d+), ?attempt=(?P<times>\d+), ?{_MQ}, ?messageId=(?P<msg_id>\w+)(?:, ?clientId=(?P<client_id>[^,\s\"]+))?",
          _SOURCES, "INFO", f"{_JAVA}/ProcessQueueImpl.eraseFifoMessage: then it is forwarded to the dead letter queue",
          "Failed to consume fifo message finally, run out of attempt times, maxAttempts=17, attempt=17, mq=broker-a.orders.2, messageId=01ACDE480011223344049BC1F400000000, clientId=host-a@4212@0@lqn3k2v", since="5.0.0"),
    Event("grpc-receive-failed", "Exception raised during message reception", rf"during message reception, {_MQ}(?:, endpoints=(?P<endpoints>[^,\s]+))?", _SOURCES, "ERROR", f"{_JAVA}/ProcessQueueImpl.receiveMessageImmediately; golang process_queue.go; csharp ProcessQueue.cs",
          "Exception raised during message reception, mq=broker-a.orders.2, endpoints=ipv4:10.20.29.11:8081, attemptId=a, nextAttemptId=b, clientId=host-a@4212@0@lqn3k2v", since="5.0.0"),
)  # fmt: skip
