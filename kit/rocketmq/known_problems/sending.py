"""Known problems of sending: what the broker answers, what the producer refuses itself."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "flow-control-queue",
        T("A request waited too long in the broker's queue and was refused"),
        ("[TIMEOUT_CLEAN_QUEUE]broker busy",),
        T(
            "The request waited longer than waitTimeMillsInSendQueue (200 ms). The printed period and queue size tell how long and among how many. It was not stored."
        ),
        T("Slow store lines (`in lock cost time`) at that second; queue size and number of send threads."),
        "broker/latency/BrokerFastFailure.cleanExpiredRequestInQueue",
        cause="broker-busy",
        verdict="confirmed",
        unlike=T("clients before 5.3.0 do not retry it: the application gets code 2"),
        example="CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 8",
    ),
    problem(
        "flow-control-page-cache",
        T("The broker refuses because an append holds the lock too long"),
        (
            "[PCBUSY_CLEAN_QUEUE]broker busy",
            "[PC_SYNCHRONIZED]broker busy",
            "OS page cache busy, please try another machine",
        ),
        T(
            "One append has held the commitlog's lock for longer than osPageCacheBusyTimeOutMills (1 s): disk, memory or a paused process."
        ),
        T("`in lock cost time` in store.log; iostat and gc.log."),
        "broker/latency/BrokerFastFailure, store/DefaultMessageStore.isOSPageCacheBusy",
        cause="broker-busy",
        verdict="confirmed",
    ),
    problem(
        "flow-control-rejected",
        T("The broker rejects requests at the door"),
        ("[REJECTREQUEST]system busy", "too many requests and system thread pool busy", "[OVERLOAD]system busy"),
        T(
            "REJECTREQUEST: the page cache is busy or the transient pool is empty at the moment the request arrives. `thread pool busy` (OVERLOAD): the processor's queue is full."
        ),
        T("Which request code? 10 and 310 are sends, 11 pulls, 34 heartbeats."),
        "remoting/netty/NettyRemotingAbstract.processRequestCommand",
        cause="broker-busy",
        verdict="confirmed",
        unlike=T("a 5.x slave without a master answers every pull with it: nothing is busy then"),
    ),
    problem(
        "send-timeout",
        T("A send reached its time limit in the client"),
        (
            "sendDefaultImpl call timeout",
            "sendKernelImpl call timeout",
            "sendSelectImpl call timeout",
            "DEFAULT ASYNC send call timeout",
            "sendMessage call timeout",
            "invokeAsync call the addr[",
            "invokeSync call the addr[",
            "invokeAsyncImpl call timeout",
            "invokeSync call timeout",
            "invokeAsync call timeout",
        ),
        T(
            "The whole call, retries included, took longer than sendMsgTimeout (3 s). The broker may have stored the message. `sendDefaultImpl call timeout` also comes when no connection to the advertised broker address can be made."
        ),
        T(
            "Can the client's host reach the broker addresses of the route (clusterList)? Otherwise look for slow answers."
        ),
        "client/impl/producer/DefaultMQProducerImpl.sendDefaultImpl",
        cause="client-timeout",
        verdict="suspected",
        decides=T("`connect to … failed` beside it: the address. `wait response … timeout`: a slow broker."),
        unlike=T("it is not the broker's flow control, and not proof that the message was lost"),
    ),
    problem(
        "send-given-up",
        T("All attempts of a send failed"),
        ("times, still failed, cost [",),
        T(
            "The producer tried retryTimesWhenSendFailed + 1 times (3) on the brokers listed and gave up. The last cause is in the exception's cause."
        ),
        T("BrokersSent: one broker three times means that it is the only one with the topic. Look at `Caused by`."),
        "client/impl/producer/DefaultMQProducerImpl.sendDefaultImpl",
        verdict=None,
        remedy=T("Correct the last cause; create the topic on several brokers."),
        risk=T("Sending again after a time-out may store the message twice."),
        example="Send [3] times, still failed, cost [3002]ms, Topic: orders, BrokersSent: [broker-a, broker-a, broker-a]",
    ),
    problem(
        "message-too-large-client",
        T("The client refuses a message for its size"),
        ("the message body size over max value, MAX", "msg body must be less 64KB"),
        T(
            "The body is larger than the producer's maxMessageSize (4 MB), checked before compression. Nothing was sent."
        ),
        T("Size of the body; the batch as a whole counts as one body."),
        "client/Validators.checkMessage",
        cause="client-oversize-reject",
        verdict="confirmed",
    ),
    problem(
        "message-illegal",
        T("The broker refuses a message as illegal"),
        (
            "the message is illegal, maybe msg",
            "The message is illegal, maybe msg",
            "message size exceeded, msg total size",
            "message body size exceeded, msg",
            "message size exceeded, msg total",
            "msgContentCheck: message body size exceeds",
            "msgContentCheck: message properties length is too long",
            "putMessage message properties length too long",
            "PutMessages body length too long",
            "Properties size of messageExtBatch exceeded",
            "topic {}  msg body size {}  from",
        ),
        T(
            "Code 13: the body or record exceeds maxMessageSize of the broker, the properties exceed 32,767 bytes, or the topic's name is too long. The numbers in the text are fixed words in older releases: the broker's own limit is in its configuration."
        ),
        T("store.log at that second names size and limit; compare maxMessageSize of client and broker."),
        "broker/processor/SendMessageProcessor, store/CommitLog",
        decides=T(
            "`message size exceeded` in store.log: size. `properties length too long`: properties. `topic length too long`: the name."
        ),
        remedy=T("Send less (or a reference), or raise maxMessageSize on brokers and clients together."),
        risk=T("Larger messages need more memory on broker and consumers; half messages grow with each check."),
        verdict="suspected",
        cause="message-size-mismatch",
    ),
    problem(
        "name-too-long",
        T("A topic's name is too long for the broker"),
        (
            "putMessage message topic length too long",
            "putMessage message topic[",
            "PutMessages topic length too long",
            "message topic length too long",
            "msgContentCheck: message topic length is too long",
        ),
        T(
            "The topic exceeds 127 characters (bytes from 5.x): with %RETRY% mostly a consumer group that is too long, so failed messages cannot be sent back."
        ),
        T("Which topic? %RETRY% + group: count the group's name."),
        "store/DefaultMessageStore.checkMessage, broker/util/HookUtils",
        cause="retry-topic-too-long",
        verdict="suspected",
    ),
    problem(
        "body-empty",
        T("The message has no body"),
        (
            "the message body is null",
            "the message body length is zero",
            "the message is null",
            "], but message body is null",
        ),
        T("The producer was given a message without a body."),
        T("The application's serialisation."),
        "client/Validators.checkMessage",
        remedy=T("Send at least one byte."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "name-illegal",
        T("A topic or group name is not allowed"),
        (
            "contains illegal characters, allowing only",
            "The specified topic is blank",
            "the specified group is blank",
            "is longer than topic max length",
            "is longer than group max length",
            "is conflict with AUTO_CREATE_TOPIC_KEY_TOPIC",
            "is conflict with system topic",
            "producerGroup can not equal",
            "is forbidden.",
            "producerGroup is null",
            "consumerGroup is null",
        ),
        T(
            "Names may hold letters, digits, %, |, - and _ (no dots, blanks or braces), up to 127 characters for topics and 255 for groups, and no system names. A dollar sign with braces in it is a placeholder that was never replaced."
        ),
        T("The name in the text, character by character; property files and profiles of the application."),
        "client/Validators, common/topic/TopicValidator",
        decides=T(
            "A dollar sign and braces: configuration. A blank or line end: a value with a comment or trailing blank behind it."
        ),
        remedy=T("Correct the name; for a placeholder the profile or property that should fill it."),
        risk=T("None."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:The specified|the specified|can not equal|is conflict with|Sending message to topic|Group is null|topic\[|group\[))",
    ),
    problem(
        "placeholder-unresolved",
        T("A configuration placeholder was not replaced"),
        (
            "Could not resolve placeholder '{}ocketmq",
            "The specified topic[${",
            "the specified group[${",
            "No route info of this topic: ${",
            "No route info of this topic, ${",
            "Illegal character in {} at index{}${",
        ),
        T(
            "The application uses the text of a placeholder as a name: the property is missing in the active profile, or the annotation is read where nothing replaces it."
        ),
        T("Which property; is it in the active profile and spelt the same?"),
        "Spring, client/Validators",
        printed="application log",
        remedy=T("Define the property, or give the placeholder a default."),
        risk=T("None."),
        verdict="confirmed",
        example="java.lang.IllegalArgumentException: Could not resolve placeholder 'rocketmq.consumer.topic' in value \"${rocketmq.consumer.topic}\"",
    ),
    problem(
        "no-permission",
        T("The broker or topic takes no messages"),
        (
            "sending message is forbidden",
            "pulling message is forbidden",
            "peeking message is forbidden",
            "msg body must be less",
        ),
        T(
            "brokerPermission or the topic's perm lacks the bit: 2 write, 4 read. Wiped write permission (wipeWritePerm) or a read-only broker before maintenance look the same."
        ),
        T("perm of the topic (topicRoute) and brokerPermission."),
        "broker/processor/AbstractSendMessageProcessor.msgCheck",
        remedy=T("mqadmin updateTopicPerm -p 6, or addWritePerm."),
        risk=T("Somebody may have closed it on purpose."),
        verdict="confirmed",
        unless=r"transaction message is forbidden",
    ),
    problem(
        "producer-not-running",
        T("A producer is used before it is started or after its shutdown"),
        ("The producer service state not OK"),
        T(
            "send() was called on an instance that is not running: start() missing, called later, or shutdown() came first."
        ),
        T("Life cycle of the bean; is a new producer made for each send?"),
        "client/impl/producer/DefaultMQProducerImpl.makeSureStateOK",
        remedy=T("Create and start one producer per group and process, shut it down last."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "group-created-before",
        T("A group is used twice in one process"),
        (
            "has been created before, specify another name please",
            "] exist already.",
            "has been created before, and failed",
        ),
        T(
            "A second producer or consumer of the same group is started under the same client id: two beans, a hot reload, or a test that did not shut down."
        ),
        T(
            "How many instances of that group does the process create? Different clusters in one process need different instanceName or unitName."
        ),
        "client/impl/factory/MQClientInstance",
        remedy=T("One instance per group and process, or set an instanceName of its own."),
        risk=T("None."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:specify another name|group\[|Factory object))",
    ),
    problem(
        "client-instance-shared",
        T("Clients of one process share one connection unit"),
        ("Returned Previous MQClientInstance for clientId", "Returned Previous ProduceAccumulator"),
        T(
            "Producers and consumers with the same client id share a MQClientInstance: normal within a cluster, wrong if they were meant for different name servers."
        ),
        T("Do all of them use the same name server address?"),
        "client/impl/MQClientManager",
        unlike=T("it is no error when all belong to one cluster"),
    ),
    problem(
        "producer-client-other",
        T("The producer reports a difficulty"),
        ("failed to executeSendMessageHook", "tryToCompressMessage exception", "prepare send request for"),
        T(
            "A line of the producer that does not decide about a send by itself: a hook, compression, a slow preparation."
        ),
        T("The exception beside it."),
        "client/impl/producer/DefaultMQProducerImpl",
        classes=(
            "client/DefaultMQProducerImpl",
            "client/DefaultMQProducer",
            "client/ProduceAccumulator",
            "client/LatencyFaultToleranceImpl",
            "client/MQFaultStrategy",
            "common/ZlibCompressor",
            "common/Lz4Compressor",
            "common/ZstdCompressor",
        ),
    ),
    problem(
        "back-pressure",
        T("The producer's own limit of asynchronous sends is reached"),
        (
            "send message tryAcquire semaphoreAsync",
            "executor rejected",
            "exector rejected",
            "invokeAsyncImpl invoke too fast",
            "invokeOnewayImpl invoke too fast",
        ),
        T(
            "More asynchronous or one-way requests are open than the client allows (65,535 each, or the back pressure limits of 5.x). Nothing was sent."
        ),
        T("Rate of sends against the answers; does the callback block?"),
        "client/impl/producer/DefaultMQProducerImpl, remoting/netty/NettyRemotingAbstract",
        remedy=T("Limit the application's rate; do not block in callbacks."),
        risk=T("None."),
        verdict="confirmed",
        unless=r"^(?![\s\S]*(?:invoke too fast|semaphoreAsync|RemotingTooMuch|rocketmq))",
    ),
    problem(
        "request-reply",
        T("A request got no reply"),
        (
            "but wait reply message timeout",
            "request timeout, no reply message",
            "remove timeout request, CorrelationId",
            "push reply message",
            "receive reply message, but not matched any request",
            "can not reply message",
            "create reply message fail",
        ),
        T(
            "Request-reply (4.6.0 and later): the request was stored, but the consumer's reply did not arrive in time, or the requester had gone."
        ),
        T("Did the consumer handle it, and is the requester still connected to the same broker?"),
        "broker/processor/ReplyMessageProcessor, client/producer/RequestFutureTable",
        classes=("broker/ReplyMessageProcessor", "client/RequestFutureTable", "client/RequestFutureHolder"),
        remedy=T("Raise the time-out above what the consumer needs; make the handling idempotent."),
        risk=T("The request may have been handled although its reply is missing."),
        verdict="suspected",
        least=2,
        unlike=T("it is no failed send"),
    ),
    problem(
        "recall-failed",
        T("A timed message could not be recalled"),
        ("recall failed,",),
        T(
            "Recalling a timed message (5.3.2 and later) was refused: recallMessageEnable is off, the topic differs, or it is due already."
        ),
        T("The reason behind the comma."),
        "broker/processor/RecallMessageProcessor",
        remedy=T("recallMessageEnable=true on the broker; recall before it is due."),
        risk=T("None."),
        verdict="confirmed",
        since="5.3.2",
    ),
    problem(
        "send-processing-failed",
        T("The broker failed while it handled a request"),
        (
            "process SendMessage error, request",
            "process request exception",
            "store putMessage return null",
            "putMessageResult is null",
            "UNKNOWN_ERROR DEFAULT",
        ),
        T("An exception in the broker's processor: the client gets code 1 (SYSTEM_ERROR) with the exception's text."),
        T("The stack trace in broker.log or remoting.log; does one request or version of client cause it?"),
        "remoting/netty/NettyRemotingAbstract, broker/processor/SendMessageProcessor",
        classes=(
            "broker/SendMessageProcessor",
            "broker/AbstractSendMessageProcessor",
            "broker/EndTransactionProcessor",
            "broker/HookUtils",
        ),
        remedy=T("Correct what the trace names."),
        risk=T("None."),
        verdict="suspected",
        least=3,
        lasts=5.0,
        unless=r"AclException",
    ),
)
