"""Known problems of the 5.x clients that speak gRPC with a proxy (apache/rocketmq-clients): Java, Go, C++, C#, Node.js, Python."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.known_problems.problem import Problem

# fmt: off
PROBLEMS: Final[tuple[Problem, ...]] = (
    Problem("grpc-client-failed", "A 5.x gRPC client cannot use its endpoints",
            ("Exception raised while fetching topic route", "Failed to fetch topic route", "Failed to get topic route, topic",
             "RPC that terminated with:", "failed to connect to all addresses; last error", "StatusRuntimeException: UNAVAILABLE", "StatusRuntimeException: DEADLINE_EXCEEDED", "StatusRuntimeException: UNIMPLEMENTED",
             "Exception raised from telemetry session", "Failed to send message(s) finally", "create grpc conn failed", "transport: Error while dialing",
             "No connection established. Last error: connect", "[FAILED] to be RUNNING, but the service has FAILED", "Exception raised from stream response observer", "failed to get topic route data result from remote during client startup", "1 CANCELLED: Call cancelled", "Error starting gRPC call. HttpRequestException"),
            "Clients of rocketmq-clients (Java client-java, Go v2, C#, Rust) speak gRPC with a proxy (8081), not with name server or broker. The status says how far the client got.",
            "Endpoints must be the proxy's gRPC port (grpcServerPort, 8081); does proxy.log see the client?",
            "apache/rocketmq-clients", printed="the client's rocketmq_client.log",
            decides="`UNAVAILABLE: io exception`: the exception below (`Connection refused`: nobody listens). `Network closed for unknown reason`: reached and closed at once, so another protocol is served there (9876, 10911), or TLS on one side only. UNIMPLEMENTED or an HTTP status: an HTTP server. DEADLINE_EXCEEDED with remote_addr: connected, no answer in time (wrong port behind it, or a proxy that waits for its broker); with waiting_for_connection: never connected. `1 CANCELLED: Call cancelled` (Node.js): closed under the call, as another protocol does (9876). `Error starting gRPC call` with HTTP/2 behind it (C#): no HTTP/2 is spoken at that port.",
            remedy="Start a proxy (mqproxy) and use its address; create the topic with its message type.", risk="None.", verdict="suspected",
            example="org.apache.rocketmq.shaded.io.grpc.StatusRuntimeException: UNAVAILABLE: io exception rocketmq",
            unless=r"^(?![\s\S]*(?:rocketmq|Rocketmq|RocketMQ|topic|ProducerImpl|ConsumerImpl|grpc conn|:808[01]|:9876|:10911|1 CANCELLED: |Error starting gRPC))|response-code="),
    Problem("grpc-route-addresses", "A gRPC client cannot use the addresses in its route",
            ("CancellationException: Task was cancelled", "rocketmq.shaded.com.google.common.util.concurrent.AbstractFuture.cancellationExceptionWithCause(AbstractFuture.java", "Stream is already completed, no further calls are allowed"),
            "The client got a route, then opened a Telemetry stream to each address in it, and one of them sent no settings in time. A proxy inside the broker (local mode) puts brokerIP1 with its own grpcServerPort there; a proxy of its own (cluster mode) repeats the host the client used, with its own grpcServerPort.",
            "Which addresses does the client log in `endpoints=` of its errors, and does its host reach them? Ports that Docker or a NodePort maps to other numbers are the usual reason.",
            "rocketmq-clients java impl/ClientSessionImpl.syncSettings, proxy/grpc/v2/route/RouteActivity", printed="the client's log",
            remedy="Local mode: set brokerIP1 to an address that clients reach, and publish grpcServerPort under its own number. Cluster mode: the same number, or useEndpointPortFromRequest=true in rmq-proxy.json.",
            risk="None.", verdict="suspected", unless=r"^(?![\s\S]*(?:rocketmq|endpoints|Task was cancelled\.?\s*$|calls are allowed\s*$))",
            example="Caused by: java.util.concurrent.CancellationException: Task was cancelled."),
    Problem("grpc-status", "The proxy answers a gRPC client with an error status",
            ("ILLEGAL_TOPIC", "ILLEGAL_CONSUMER_GROUP", "ILLEGAL_MESSAGE_TAG", "ILLEGAL_MESSAGE_KEY", "ILLEGAL_DELIVERY_TIME",
             "ILLEGAL_MESSAGE_PROPERTY_KEY", "MESSAGE_BODY_TOO_LARGE", "MESSAGE_PROPERTIES_TOO_LARGE", "TOPIC_NOT_FOUND", "CONSUMER_GROUP_NOT_FOUND",
             "CLIENT_ID_REQUIRED", "UNRECOGNIZED_CLIENT_TYPE", "MASTER_PERSISTENCE_TIMEOUT", "SLAVE_PERSISTENCE_TIMEOUT", "HA_NOT_AVAILABLE",
             "ILLEGAL_INVISIBLE_TIME", "ILLEGAL_FILTER_EXPRESSION", "VERIFY_FIFO_MESSAGE_UNSUPPORTED"),
            "A status code of the 5.x API (apache.rocketmq.v2.Code): the request itself is not acceptable, or topic or group are missing.",
            "The message behind the code names the field.",
            "apache/rocketmq-apis definition.proto", printed="gRPC clients", remedy="Correct that field; create the topic or group.",
            risk="SLAVE_/MASTER_PERSISTENCE_TIMEOUT: stored on the master, not confirmed.", verdict="suspected",
            unless=r"^(?![\s\S]*(?:rocketmq|[Cc]ode|CODE|status))", example="[request-id=1, response-code=TOPIC_NOT_FOUND] code=40402 rocketmq"),
    Problem("grpc-message-corrupted", "A gRPC client discards a message that its checksum does not fit",
            ("Message is corrupted for",),
            "The body does not match the digest that came with it, so the client does not hand it to the listener. A push consumer returns it to be delivered again, or forwards it to the dead letter topic where order matters.",
            "Does it concern one message or all? One: the stored body. All: something between client and proxy changes bodies.",
            "rocketmq-clients java impl/consumer/ConsumeService", printed="the client's log", remedy="Send what is damaged again from its source.", risk="None.",
            verdict="suspected", example="Message is corrupted for standard consumption, prepare to discard it, mq=broker-a.orders.1, messageId=01ACDE48001122334404A1B2C300000001, clientId=host@1@0@x rocketmq"),
    Problem("grpc-client-other", "A 5.x client library reports a difficulty",
            ("Unrecognized status code={}, requestId=",),
            "A line of rocketmq-clients that does not decide by itself; the exception or status behind it does. `[Bug]` in it means that the library met what its authors did not expect.",
            "The exception below it; does it repeat for one endpoint (proxy) or for all?",
            "apache/rocketmq-clients", classes=("clients/*",), printed="the client's log",
            example="Unrecognized status code=50505, requestId=1, statusMessage=x, clientVersion=5.0.7"),
)
