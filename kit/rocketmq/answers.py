"""What answers mean: response codes and send statuses.

common/protocol/ResponseCode, remoting/protocol/RemotingSysResponseCode, client/producer/SendStatus; for gRPC clients apache.rocketmq.v2.Code.
"""

from __future__ import annotations

from typing import Final

import attrs

from kit.i18n import T


@attrs.frozen
class Answer:
    """One answer. `problem`: the known problem that explains it further ("" = none)."""

    name: str
    meaning: T
    next: T
    problem: str = ""


_TEXT: Final = T("Read the text behind the code (DESC) and the broker's log at that second.")
_STORED: Final = T("Do not send it again without a check: the message is stored.")

# fmt: off
CODES: Final[dict[int, Answer]] = {
    0: Answer("SUCCESS", T("The request succeeded."), T("Nothing.")),
    1: Answer("SYSTEM_ERROR", T("The broker caught an exception, or could not make a store file; the text says which."), _TEXT,
              "send-processing-failed"),
    2: Answer("SYSTEM_BUSY",
              T("Flow control: the broker refused the request because requests waited too long or appends are slow. It was not stored. Clients before 5.3.0 do not retry."),
              T("The brackets in the text name the kind; look for slow store lines at that second."), "flow-control-queue"),
    3: Answer("REQUEST_CODE_NOT_SUPPORTED",
              T("The other side does not know this request: it is older, or another kind of process (name server, proxy)."),
              T("Compare versions and the port used."), "request-not-supported"),
    4: Answer("TRANSACTION_FAILED", T("A batch operation on several queues failed."), _TEXT),
    10: Answer("FLUSH_DISK_TIMEOUT", T("Stored, but the flush to disk timed out."), _STORED),
    11: Answer("SLAVE_NOT_AVAILABLE", T("Stored on the master; no slave is connected or close enough behind."), _STORED, "replication-timeout"),
    12: Answer("FLUSH_SLAVE_TIMEOUT", T("Stored on the master; timed out waiting for the slave."), _STORED, "replication-timeout"),
    13: Answer("MESSAGE_ILLEGAL", T("Too large, properties too long, or the topic's name too long. Not stored."),
               T("store.log at that second names the number and the limit."), "message-illegal"),
    14: Answer("SERVICE_NOT_AVAILABLE",
               T("The store accepts no messages: disk full, a slave, a shutdown, or a failed queue file. The ratios in the text decide. Not stored."),
               T("Disk ratio near 0.90: space. Otherwise role and state of the broker."), "service-refused"),
    15: Answer("VERSION_NOT_SUPPORTED", T("The broker is too old for the client's request."), _TEXT),
    16: Answer("NO_PERMISSION", T("Broker, topic or group do not allow it."), T("perm of topic and broker."), "no-permission"),
    17: Answer("TOPIC_NOT_EXIST", T("The broker or name server does not know the topic."),
               T("topicRoute and clusterList with the client's own name server address."), "topic-no-route"),
    18: Answer("TOPIC_EXIST_ALREADY", T("The topic exists."), T("Nothing.")),
    19: Answer("PULL_NOT_FOUND", T("No new message: the pull waited and ended without one."), T("Nothing.")),
    20: Answer("PULL_RETRY_IMMEDIATELY", T("All messages examined were filtered out; the client continues to pull."), T("Nothing.")),
    21: Answer("PULL_OFFSET_MOVED", T("The requested offset is outside the queue; the client continues where the broker says."),
               T("Compare requestOffset and newOffset: what is skipped or repeated."), "pull-offset-illegal"),
    22: Answer("QUERY_NOT_FOUND", T("Nothing is stored under the requested key or id."), _TEXT, "offset-first-time"),
    23: Answer("SUBSCRIPTION_PARSE_FAILED", T("The subscription's expression is invalid."), T("The expression of that group."),
               "filter-expression-bad"),
    24: Answer("SUBSCRIPTION_NOT_EXIST", T("The broker does not know this group's subscription (yet)."), T("Does it last longer than a start?"),
               "group-not-connected"),
    25: Answer("SUBSCRIPTION_NOT_LATEST", T("The broker has another version of the group's subscription: members differ."),
               T("Compare topics and tags of all members."), "subscription-changing"),
    26: Answer("SUBSCRIPTION_GROUP_NOT_EXIST", T("The consumer group does not exist on this broker."), T("subscriptionGroup.json of every broker."),
               "group-not-created"),
    29: Answer("INVALID_PARAMETER", T("A value in the request is invalid."), _TEXT),
    40: Answer("POLL_TIMEOUT", T("A waiting pop ended without a message."), T("Nothing.")),
    204: Answer("NO_BUYER_ID", T("Units of one company's own deployment; unused elsewhere."), T("Nothing.")),
    205: Answer("NOT_IN_CURRENT_UNIT", T("Units of one company's own deployment; unused elsewhere."), T("Nothing.")),
    206: Answer("CONSUMER_NOT_ONLINE", T("No consumer of the group is connected to this broker."),
                T("Is the group's name right, and is it running?"), "group-not-online"),
    207: Answer("CONSUME_MSG_TIMEOUT", T("A consumer did not answer a request to consume one message directly."), _TEXT),
    208: Answer("NO_MESSAGE", T("No message with that id: it expired, or the id is of the other kind."),
                T("Which kind is the id, and which does the command need?")),
    209: Answer("POLLING_FULL or UPDATE_AND_CREATE_ACL_CONFIG_FAILED",
                T("For a pop: too many requests are waiting already. For an administrator: the ACL file could not be changed."), _TEXT),
    215: Answer("FLOW_CONTROL", T("A limit of the broker was reached for this kind of request (timed messages, cold reads)."), _TEXT, "timer-refused"),
    604: Answer("ILLEGAL_OPERATION", T("A commit or rollback came later than the check immunity time; the check decides."),
                T("Length of the local transaction against CHECK_IMMUNITY_TIME_IN_SECONDS."), "end-transaction-late"),
    1500: Answer("GO_AWAY", T("The server is being replaced and asks the client to connect again."), T("Nothing.")),
    2012: Answer("CONTROLLER_ELECT_MASTER_FAILED", T("The controller found no replica that can become master."), T("syncStateSet of that broker."),
                 "controller-election"),
}
"""Response code → what it means. The text after it (DESC) often says more."""

STATUSES: Final[dict[str, int]] = {"FLUSH_DISK_TIMEOUT": 10, "SLAVE_NOT_AVAILABLE": 11, "FLUSH_SLAVE_TIMEOUT": 12}
"""Send status (client/producer/SendStatus) → the response code it comes from."""

_FIELD: Final = T("The request is not valid: see the field in the name of the code.")
_SAYS: Final = T("Read the text behind the code: it names the field and its limit.")
_AGAIN: Final = T("The proxy's answer did not come in time, or the broker's; what was sent may be stored.")
_GRPC: Final[tuple[tuple[int, Answer], ...]] = (
    (20000, Answer("OK", T("The request succeeded."), T("Nothing."))),
    (30000, Answer("MULTIPLE_RESULTS", T("Several results, each with its own code."), T("Read each one's code."))),
    *((code, Answer(name, _FIELD, _SAYS, "grpc-status")) for code, name in (
        (40000, "BAD_REQUEST"), (40001, "ILLEGAL_ACCESS_POINT"), (40002, "ILLEGAL_TOPIC"), (40003, "ILLEGAL_CONSUMER_GROUP"), (40004, "ILLEGAL_MESSAGE_TAG"),
        (40005, "ILLEGAL_MESSAGE_KEY"), (40006, "ILLEGAL_MESSAGE_GROUP"), (40007, "ILLEGAL_MESSAGE_PROPERTY_KEY"), (40008, "INVALID_TRANSACTION_ID"),
        (40009, "ILLEGAL_MESSAGE_ID"), (40010, "ILLEGAL_FILTER_EXPRESSION"), (40011, "ILLEGAL_INVISIBLE_TIME"), (40012, "ILLEGAL_DELIVERY_TIME"),
        (40017, "CLIENT_ID_REQUIRED"), (40018, "ILLEGAL_POLLING_TIME"), (40019, "ILLEGAL_OFFSET"), (40020, "ILLEGAL_LITE_TOPIC"),
        (41302, "MESSAGE_BODY_EMPTY"))),
    (40013, Answer("INVALID_RECEIPT_HANDLE", T("The receipt of this delivery is no longer valid: the message became visible again, mostly because handling it took longer than its invisible time. The acknowledgement has no effect; the message is delivered again."),
                   T("How long does the listener take, against invisibleDuration?"))),
    (40014, Answer("MESSAGE_PROPERTY_CONFLICT_WITH_TYPE", T("The message is of another type than its properties say or its topic takes."), _SAYS, "grpc-message-type")),
    (40015, Answer("UNRECOGNIZED_CLIENT_TYPE", T("The proxy does not know what kind of client it is: its settings did not arrive."), _SAYS, "proxy-no-settings")),
    (40016, Answer("MESSAGE_CORRUPTED", T("The body does not match its checksum."), T("Who sends it, and what lies between?"))),
    (40100, Answer("UNAUTHORIZED", T("Authentication or authorization refused the request: unknown user, wrong secret, or a missing right."),
                   T("Access key and secret of the client; mqadmin listUser and listAcl."), "auth-failed")),
    (40200, Answer("PAYMENT_REQUIRED", T("A code of cloud services; the open-source proxy does not answer it."), T("The service's bill."))),
    (40300, Answer("FORBIDDEN", T("No queue of the topic may be read or written: perm of the topic or of its brokers."), T("perm in topicRoute."), "no-permission")),
    (40400, Answer("NOT_FOUND", T("What the request names does not exist."), _SAYS)),
    (40401, Answer("MESSAGE_NOT_FOUND", T("No new message: the poll waited and ended without one."), T("Nothing."))),
    (40402, Answer("TOPIC_NOT_FOUND", T("The name server knows no route for the topic."), T("topicRoute with the proxy's own name server address."), "topic-no-route")),
    (40403, Answer("CONSUMER_GROUP_NOT_FOUND", T("The consumer group does not exist on the broker."), T("subscriptionGroup.json of every broker."), "group-not-created")),
    (40404, Answer("OFFSET_NOT_FOUND", T("No offset is stored."), _SAYS)),
    (40800, Answer("REQUEST_TIMEOUT", T("The request reached its time limit."), _SAYS)),
    *((code, Answer(name, T("The message, its body or its properties exceed the limit of the proxy or the broker."), _SAYS, "message-illegal"))
      for code, name in ((41300, "PAYLOAD_TOO_LARGE"), (41301, "MESSAGE_BODY_TOO_LARGE"), (43100, "REQUEST_HEADER_FIELDS_TOO_LARGE"), (43101, "MESSAGE_PROPERTIES_TOO_LARGE"))),
    (42800, Answer("PRECONDITION_FAILED", T("What the request needs is not there."), _SAYS)),
    (42900, Answer("TOO_MANY_REQUESTS", T("Either the broker refused by flow control (the text has its brackets or `busy`), or the proxy's own threads are all busy (`flow limit`). Not stored."),
                   T("The text behind the code says which; then the broker's store log, or the load of the proxy."))),
    *((code, Answer(name, T("The number of lite topics or of their subscriptions has reached its limit."), _SAYS))
      for code, name in ((42901, "LITE_TOPIC_QUOTA_EXCEEDED"), (42902, "LITE_SUBSCRIPTION_QUOTA_EXCEEDED"))),
    (50000, Answer("INTERNAL_ERROR", T("An exception in the proxy or client."), _TEXT)),
    (50001, Answer("INTERNAL_SERVER_ERROR", T("An exception in the proxy, or an answer of the broker that has no code of its own here; the text says which."),
                   T("The text behind the code; proxy.log and the broker's log at that second."), "proxy-error")),
    (50002, Answer("HA_NOT_AVAILABLE", T("Stored on the master; no slave is connected or close enough behind."), _STORED, "replication-timeout")),
    (50100, Answer("NOT_IMPLEMENTED", T("The broker does not know this request: it is older than the proxy."), T("Compare versions."), "request-not-supported")),
    (50400, Answer("PROXY_TIMEOUT", _AGAIN, T("Can the proxy reach the broker, and is the broker slow?"))),
    (50401, Answer("MASTER_PERSISTENCE_TIMEOUT", T("Stored, but the flush to disk timed out."), _STORED)),
    (50402, Answer("SLAVE_PERSISTENCE_TIMEOUT", T("Stored on the master; timed out waiting for the slave."), _STORED, "replication-timeout")),
    *((code, Answer(name, T("The server does not support what was asked."), T("Compare versions and the endpoint.")))
      for code, name in ((50500, "UNSUPPORTED"), (50501, "VERSION_UNSUPPORTED"), (50502, "VERIFY_FIFO_MESSAGE_UNSUPPORTED"))),
    (60000, Answer("FAILED_TO_CONSUME_MESSAGE", T("The listener failed on a message that an administrator sent it."), _TEXT)),
)
GRPC_CODES: Final = dict(_GRPC)
"""Code of apache.rocketmq.v2.Code → what it means. How the proxy maps answers of brokers: proxy/grpc/v2/common/ResponseBuilder."""
GRPC_NAMES: Final = {answer.name: code for code, answer in _GRPC}
