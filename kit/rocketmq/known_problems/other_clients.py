"""Known problems seen from other clients (Go, C++, Python, .NET, Spring, gRPC), message trace and the dashboard."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "go-no-route",
        T("The Go client finds no route"),
        (
            "topic route info not found",
            "route info not found",
            "topic not exist",
            "TopicNotExist",
            "query topic route from server error",
            "the topic route info not exist",
            "connect to namesrv: {} failed",
            "query topic route info error",
        ),
        T(
            "The Go client asked the name servers for the topic and got none (code 17), or could not connect to any of them."
        ),
        T(
            "Name server addresses must be IPs in older Go clients (`IP addr error`); does mqadmin topicRoute know the topic?"
        ),
        "rocketmq-client-go internal/route.go",
        printed="the Go client's rocketmq log",
        remedy=T("Create the topic; use a resolver or IP:port."),
        risk=T("None."),
        verdict="suspected",
        least=2,
        unless=r"^(?![\s\S]*(?:rocketmq|level=|msg=|topic route))",
        example='time="2026-11-20T10:00:00+08:00" level=error msg="query topic route from server error" namesrv="10.20.30.40:9876" topic=orders underlayError="topic not exist"',
    ),
    problem(
        "go-consume-queue",
        T("The Go client reports a difficulty while consuming"),
        (
            "the MessageQueue assigned to {} has been dropped",
            "pull message error",
            "get consumer offset from {} error",
            "queryConsumerOffset failed",
            "send heart beat to broker error",
            "receive broker's notification to consumer group",
            "unlock mq error",
            "processQueue was dropped",
            "do defaultConsumer.doBalance",
        ),
        T("The Go client's counterpart of pull, offset, heartbeat and rebalance lines of the Java client."),
        T("underlayError= in the line says which; broker address and code."),
        "rocketmq-client-go consumer",
        printed="the Go client's rocketmq log",
        example='time="2026-11-20T10:00:00+08:00" level=error msg="pull message error" underlayError="broker is not available"',
    ),
    problem(
        "go-request-timeout",
        T("A request of the Go client timed out"),
        (
            'underlayError="request timeout"',
            'underlayError="context deadline exceeded"',
            "rocketmq: request timeout",
            "send message sync failed",
            "send to {} of cluster {} failed: ",
            "no broker name found",
        ),
        T(
            "No answer within the client's limit (3 s): wrong broker address (brokerIP1), a slow broker, or a connection that a firewall dropped silently."
        ),
        T("Can this host reach the broker's advertised address?"),
        "rocketmq-client-go internal/remote",
        printed="the Go client's rocketmq log",
        remedy=T("Correct brokerIP1 or the network."),
        risk=T("The message may be stored."),
        verdict="suspected",
        least=3,
        example='level=error msg="send message sync failed" underlayError="request timeout"',
    ),
    problem(
        "cpp-client",
        T("The C++ client (or its Python and .NET wrappers) reports an error"),
        (
            "No route info of this topic:",
            "Topic of the message does not match its target message queue",
            "msg: No route info of this topic, <",
            "send message failed on broker",
            "connect to {} failed, errno",
            "PushConsumerStartFailed",
            "ProducerStartFailed",
            "ProducerSendSyncFailed",
            "rocketmq.exceptions.",
            "librocketmq.so",
        ),
        T(
            "librocketmq could not start or send. Python's rocketmq-client-python only wraps it; `librocketmq.so: cannot open shared object file` means that the native library is not installed."
        ),
        T("The client's own log (~/logs/rocketmq-cpp); the address and the error behind it."),
        "rocketmq-client-cpp",
        printed="the application's output, ~/logs/rocketmq-cpp",
        remedy=T("Install librocketmq and run ldconfig; correct the name server address; create the topic."),
        risk=T("None."),
        verdict="suspected",
        unless=r"^(?![\s\S]*(?:librocketmq|rocketmq\.exceptions|<(?:.*:\d+)>|errno|StartFailed|SendSyncFailed|cpp))",
        example="OSError: librocketmq.so: cannot open shared object file: No such file or directory",
    ),
    problem(
        "grpc-client-failed",
        T("A 5.x gRPC client cannot use its endpoints"),
        (
            "Exception raised while fetching topic route",
            "Failed to fetch topic route",
            "Failed to get topic route, topic",
            "StatusRuntimeException: UNAVAILABLE",
            "StatusRuntimeException: DEADLINE_EXCEEDED",
            "StatusRuntimeException: UNIMPLEMENTED",
            "Exception raised from telemetry session",
            "Failed to send message(s) finally",
            "org.apache.rocketmq.client.java.exception",
        ),
        T(
            "Clients of rocketmq-clients (Java client-java, Go v2, C#, Rust) speak gRPC with a proxy (8081), not with name server or broker. UNAVAILABLE: nobody listens there. UNIMPLEMENTED or HTTP errors: the endpoint is another port. DEADLINE_EXCEEDED: the proxy cannot reach its broker."
        ),
        T("Endpoints must be proxy:8081; does proxy.log see the client?"),
        "apache/rocketmq-clients",
        printed="the client's rocketmq_client.log",
        decides=T(
            "Port 9876 or 10911 in the endpoints: the wrong kind of client. 8081: is a proxy running, and does it know the brokers?"
        ),
        remedy=T("Start a proxy (mqproxy) and use its address; create the topic with its message type."),
        risk=T("None."),
        verdict="suspected",
        example="org.apache.rocketmq.shaded.io.grpc.StatusRuntimeException: UNAVAILABLE: io exception rocketmq",
        unless=r"^(?![\s\S]*(?:rocketmq|RocketMQ|topic))",
    ),
    problem(
        "grpc-status",
        T("The proxy answers a gRPC client with an error status"),
        (
            "ILLEGAL_TOPIC",
            "ILLEGAL_CONSUMER_GROUP",
            "ILLEGAL_MESSAGE_TAG",
            "ILLEGAL_MESSAGE_KEY",
            "ILLEGAL_DELIVERY_TIME",
            "ILLEGAL_MESSAGE_PROPERTY_KEY",
            "MESSAGE_BODY_TOO_LARGE",
            "MESSAGE_PROPERTIES_TOO_LARGE",
            "TOPIC_NOT_FOUND",
            "CONSUMER_GROUP_NOT_FOUND",
            "CLIENT_ID_REQUIRED",
            "UNRECOGNIZED_CLIENT_TYPE",
            "MASTER_PERSISTENCE_TIMEOUT",
            "SLAVE_PERSISTENCE_TIMEOUT",
            "HA_NOT_AVAILABLE",
            "ILLEGAL_INVISIBLE_TIME",
            "ILLEGAL_FILTER_EXPRESSION",
            "VERIFY_FIFO_MESSAGE_UNSUPPORTED",
        ),
        T(
            "A status code of the 5.x API (apache.rocketmq.v2.Code): the request itself is not acceptable, or topic or group are missing."
        ),
        T("The message behind the code names the field."),
        "apache/rocketmq-apis definition.proto",
        printed="gRPC clients",
        remedy=T("Correct that field; create the topic or group."),
        risk=T("SLAVE_/MASTER_PERSISTENCE_TIMEOUT: stored on the master, not confirmed."),
        verdict="suspected",
        unless=r"^(?![\s\S]*(?:rocketmq|[Cc]ode|status))",
        example="[request-id=1, response-code=TOPIC_NOT_FOUND] code=40402 rocketmq",
    ),
    problem(
        "spring-start",
        T("A Spring application cannot start its RocketMQ beans"),
        (
            "RocketMQTemplate' that could not be found",
            "required a bean of type 'org.apache.rocketmq.spring",
            "[rocketmq.producer.group] must not be null",
            "[rocketmq.name-server] must not be null",
            "Property 'consumerGroup' is required",
            "Failed to start RocketMQ push consumer",
            "Failed to start DefaultRocketMQListenerContainer",
            "Bad annotation definition in @RocketMQMessageListener",
        ),
        T(
            "rocketmq-spring needs rocketmq.name-server and rocketmq.producer.group to make RocketMQTemplate; without them the bean does not exist. With Spring Boot 3 starters before 2.2.3 are not loaded at all (spring.factories)."
        ),
        T(
            "Are both properties set in the active profile? Version of rocketmq-spring-boot-starter against Spring Boot."
        ),
        "rocketmq-spring-boot",
        printed="the application's log",
        remedy=T("Set the properties; use starter 2.2.3 or later with Spring Boot 3."),
        risk=T("None."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:could not be found|must not be null|is required|Failed to start|Bad annotation))",
        example="Field rocketMQTemplate in com.example.OrderService required a bean of type 'org.apache.rocketmq.spring.core.RocketMQTemplate' that could not be found.",
    ),
    problem(
        "spring-listener",
        T("A Spring listener failed on a message"),
        (
            "consume message failed. messageId",
            "consume message failed. messageExt",
            "Cannot convert message to class",
            "convert failed. str:",
            "cannot convert message to",
        ),
        T(
            "rocketmq-spring could not convert the body to the listener's type, or the listener threw. The message is delivered again until maxReconsumeTimes, then it is a dead letter."
        ),
        T("The exception; does the type match what the producer sends (converter, charset)?"),
        "rocketmq-spring DefaultRocketMQListenerContainer",
        printed="the application's log",
        remedy=T("Match the types, or take MessageExt."),
        risk=T("Each failing message is retried 16 times."),
        verdict="suspected",
        least=2,
        example="consume message failed. messageId:0A14101500000C387F4466B662A40000, topic:orders, reconsumeTimes:3",
    ),
    problem(
        "client-library-mismatch",
        T("Libraries of different versions meet in one application"),
        (
            "java.lang.NoSuchMethodError: {}rocketmq",
            "java.lang.NoSuchFieldError: {}rocketmq",
            "NoClassDefFoundError: org/apache/rocketmq",
            "NoClassDefFoundError: org/apache/rocketmq/common",
            "ClassNotFoundException: org.apache.rocketmq",
            "AbstractMethodError: org.apache.rocketmq",
            "NoSuchMethodError: io.netty",
            "NoSuchMethodError: com.alibaba.fastjson",
        ),
        T(
            "The class path holds parts of several RocketMQ (or Netty, fastjson) versions: a starter brings one, the application another."
        ),
        T("mvn dependency:tree for rocketmq-*, netty-*, fastjson."),
        "java.lang.LinkageError",
        printed="the application's log",
        remedy=T("Use one version for all rocketmq artefacts."),
        risk=T("None."),
        verdict="confirmed",
        example="java.lang.NoClassDefFoundError: org/apache/rocketmq/common/UtilAll",
    ),
    problem(
        "trace-lost",
        T("Message traces were not sent"),
        (
            "send trace data failed, the traceData is",
            "maybe loss some trace data",
            "maybe can't send msg trace data",
            "trace dispatcher start failed",
            "buffer full{} ,context is",
            "flushTraceContext error",
            "There are still some traces that haven't been sent",
        ),
        T(
            "The trace dispatcher could not send: no trace topic (RMQ_SYS_TRACE_TOPIC, traceTopicEnable), its queue is full, or shutdown came first. Before 4.9.5 a shutdown lost what was in the buffer (#4490). The traced messages themselves are not concerned."
        ),
        T("Does the trace topic exist, with write permission for this account?"),
        "client/trace/AsyncTraceDispatcher",
        classes=("client/AsyncTraceDispatcher",),
        remedy=T("traceTopicEnable=true on a broker, or create the trace topic."),
        risk=T("None."),
        verdict="suspected",
        fixed="4.9.5 (#4490)",
        unlike=T("it is no lost message"),
        unless=r"buffer full(?!.*context is)",
    ),
    problem(
        "dashboard",
        T("The dashboard or an exporter cannot read the cluster"),
        ("op=global_exception_handler_print_error", "This date have't data!"),
        T(
            "The dashboard's own requests failed: its namesrvAddr, its VIP channel setting (com.rocketmq.sendMessageWithVIPChannel), or a version that does not know this broker."
        ),
        T("namesrvAddr and isVIPChannel of the dashboard; the broker address it tries."),
        "rocketmq-dashboard",
        printed="rocketmqconsole.log",
        remedy=T("Correct its configuration."),
        risk=T("None."),
        unlike=T("it says nothing about sending and consuming"),
        example="ERROR op=global_exception_handler_print_error org.apache.rocketmq.remoting.exception.RemotingConnectException",
    ),
    problem(
        "tiered-store",
        T("Tiered storage reports an error"),
        (
            "TieredMessageStore#",
            "MessageStoreDispatcher#",
            "TieredFlatFile#",
            "FileSegment commit exception",
            "FileSegment correct position error",
        ),
        T(
            "Writing to or reading from tiered storage (5.1.0 and later) failed; the broker goes on with its own files, older messages may not be readable."
        ),
        T("The storage provider's exception; its credentials and space."),
        "tieredstore",
        classes=(
            "tieredstore/FileSegment",
            "tieredstore/FileSegmentAllocator",
            "tieredstore/CompositeFlatFile",
            "tieredstore/CompositeQueueFlatFile",
        ),
        remedy=T("Correct the provider's configuration."),
        risk=T("Local files expire meanwhile."),
        verdict="suspected",
        least=5,
        since="5.1.0",
        example="MessageStoreDispatcher#dispatchWithSemaphore: dispatch failed",
    ),
)
