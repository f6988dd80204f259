"""Known texts of clients and of applications that print RocketMQ's exceptions (reference §4.8, §5.2, §5.3, §6.1, §6.2, §7.1, §8.4, §10)."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import HEADER, MESSAGE_EXT, Event

_APP = "client app text"
_CODE = r"(?:CODE: ?(?P<code>\d+) {1,2}DESC: ?)?"
_PRODUCER = "client/impl/producer/DefaultMQProducerImpl"
_CHECKED = (
    "EndTransactionRequestHeader{producerGroup='orders', tranStateTableOffset=102, commitLogOffset=98734, commitOrRollback=0, fromTransactionCheck=true, "
    "msgId='0A14791500000C387F4466EA099C0018', transactionId='0A14791500000C387F4466EA099C0018'}"
)
_EXT = (
    "MessageExt [queueId=3, storeSize=611, queueOffset=0, sysFlag=8, bornTimestamp=1795187363647, bornHost=/10.20.44.21:35204, storeTimestamp=1795187363661, "
    "storeHost=/10.20.44.11:10911, msgId=0A142C0B00002A9F0000000000001EE5, commitLogOffset=7909, bodyCRC=1, reconsumeTimes=0, preparedTransactionOffset=7298, "
    "toString()=Message{topic='orders', flag=0, properties={}, body=[1], transactionId='null'}]"
)

EVENTS: Final[tuple[Event, ...]] = (
    # Flow control, as any client prints it (Java, Go, C++ show the broker's remark as it is).
    # Wrappers quote, wrap and cut the remark: what stands in brackets is enough, and so is what follows it.
    Event("flow-control", ("[REJECTREQUEST", "[OVERLOAD]system", "[PC_SYNCHRONIZED", "[PCBUSY_CLEAN_QUEUE", "[TIMEOUT_CLEAN_QUEUE", "start flow control for a while"),
          _CODE + r"(?:\[(?P<kind>REJECTREQUEST|OVERLOAD|PC_SYNCHRONIZED|PCBUSY_CLEAN_QUEUE|TIMEOUT_CLEAN_QUEUE)(?:\](?P<who>broker|system) busy)?(?:, start flow control for a while)?"
          r"|(?:broker|system) busy, start flow control for a while)"
          r"(?:, period in queue: (?P<period>\d+)ms(?:, size of queue: (?P<queue>\d+))?)?(?:,? *BROKER: (?P<broker>[^\s,]+))?", _APP, "ERROR WARN",
          "remoting/netty/NettyRemotingAbstract, broker/latency/BrokerFastFailure, broker/processor/SendMessageProcessor",
          "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 208ms, size of queue: 8 BROKER: 10.20.81.11:10911"),
    Event("map-file-failed", "create mapped file failed, server is busy or broken", _CODE + "create mapped file failed", _APP, "ERROR", "broker/processor/SendMessageProcessor",
          "CODE: 1  DESC: create mapped file failed, server is busy or broken."),
    Event("service-not-available", "service not available now",
          _CODE + r"service not available now(?:, maybe disk full|\. It may be caused by).{0,120}?CL: *(?P<commitlog>[\d.]+|-\d+) CQ: *(?P<consumequeue>[\d.]+|-\d+) INDEX: *(?P<index>[\d.]+|-\d+)", _APP,
          "ERROR", "broker/processor/SendMessageProcessor", "CODE: 14  DESC: service not available now, maybe disk full, CL:  0.91 CQ:  0.91 INDEX:  0.91, maybe your broker machine memory too small."),
    Event("replicas-not-enough", "in-sync replicas not enough", _CODE + "in-sync replicas not enough", _APP, "ERROR", "broker/processor/SendMessageProcessor", "CODE: 1  DESC: in-sync replicas not enough", since="5.0.0"),
    Event("timer-flow-control", "timer message is under flow control", _CODE + "timer message is under flow control", _APP, "ERROR", "broker/processor/SendMessageProcessor",
          "CODE: 1  DESC: timer message is under flow control, max num limit is 20000000 or the current value is 1", since="5.0.0"),
    Event("lmq-limit", "[LMQ_CONSUME_QUEUE_NUM_EXCEEDED]", _CODE + r"\[LMQ_CONSUME_QUEUE_NUM_EXCEEDED\]", _APP, "ERROR", "broker/processor/SendMessageProcessor",
          "CODE: 1  DESC: [LMQ_CONSUME_QUEUE_NUM_EXCEEDED]broker config enableLmq and enableMultiDispatch, lmq consumeQueue num exceed maxLmqConsumeQueueNum config num, default limit 2w.", since="4.9.3"),
    Event("message-illegal", "the message is illegal, maybe msg body or properties length not matched",
          _CODE + r"the message is illegal, maybe msg body or properties length not matched\. msg body length limit (?P<limit>\w+)", _APP, "ERROR", "broker/processor/SendMessageProcessor",
          "CODE: 13  DESC: the message is illegal, maybe msg body or properties length not matched. msg body length limit 128k, msg properties length limit 32k."),
    Event("put-refused", "MESSAGE_ILLEGAL", _CODE + "MESSAGE_ILLEGAL", _APP, "ERROR", "broker/processor/SendMessageProcessor.consumerSendMsgBack", "CODE: 1  DESC: MESSAGE_ILLEGAL"),
    Event("broker-topic-too-long", "The specified topic is longer than topic max length.", _CODE + r"The specified topic is longer than topic max length\.", _APP, "ERROR",
          "common/topic/TopicValidator", "CODE: 1  DESC: The specified topic is longer than topic max length.", since="4.6.1", confirm=r"longer than topic max length\.(?!\d)"),
    Event("client-topic-too-long", "The specified topic is longer than topic max length ", r"longer than topic max length (?P<limit>\d+)\.", _APP, "ERROR WARN", "client/Validators.checkTopic",
          "The specified topic is longer than topic max length 127."),
    Event("topic-illegal", "contains illegal characters, allowing only", r"The specified (?P<what>topic|group)\[(?P<name>[^\]]*)\] contains illegal characters", _APP, "ERROR", "client/Validators",
          "The specified topic[a b] contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"),
    Event("group-too-long", "the specified group is longer than group max length", r"group max length (?P<limit>\d+)", _APP, "ERROR", "client/Validators.checkGroup",
          "the specified group is longer than group max length 255."),
    Event("topic-forbidden", ("Sending message to topic[",), r"Sending message to topic\[(?P<topic>[^\]]*)\] is forbidden", _APP, "ERROR", "common/topic/TopicValidator",
          "CODE: 16  DESC: Sending message to topic[SCHEDULE_TOPIC_XXXX] is forbidden.", since="4.7.1"),
    Event("no-permission", ("sending message is forbidden",), _CODE + r"the broker\[(?P<broker>[^\]]*)\] sending message is forbidden", _APP, "ERROR", "broker/processor/AbstractSendMessageProcessor.msgCheck",
          "CODE: 16  DESC: the broker[10.20.29.11] sending message is forbidden"),
    Event("client-body-too-large", "the message body size over max value, MAX: ", r"the message body size over max value, MAX: (?P<limit>\d+)", _APP, "ERROR", "client/Validators.checkMessage",
          "CODE: 13  DESC: the message body size over max value, MAX: 4194304"),
    Event("message-by-offset-missing", "look message by offset failed", r"look message by offset failed, (?P<offset>-?\d+)", _APP, "ERROR", "broker/processor/SendMessageProcessor", "CODE: 1  DESC: look message by offset failed, 8945"),
    Event("group-not-exist", ("subscription group not exist",), r"subscription group not exist, (?P<group>\S+)", _APP, "ERROR", "broker/processor/SendMessageProcessor",
          "CODE: 26  DESC: subscription group not exist, points See http://rocketmq.apache.org/docs/faq/ for further details."),
    Event("no-route", ("No route info of this topic", "No route info for this topic", "No topic route info in name server for the topic", "] not matched route info"),
          r"(?:No route info (?:of|for) this topic[,:]? ?|for the topic: |The topic\[)(?P<topic>[^\s,\]]+)", _APP, "ERROR",
          f"{_PRODUCER}.sendDefaultImpl, client/impl/MQAdminImpl", "No route info of this topic, orders"),
    # Time-outs and the network.
    Event("client-wait-timeout", "wait response on the channel", r"wait response on the channel <(?P<address>[^>]*)> timeout, (?P<limit>\d+)\(ms\)", _APP, "WARN ERROR",
          "remoting/exception/RemotingTimeoutException", "wait response on the channel <10.20.81.11:10911> timeout, 3000(ms)",
          # A name server that does not answer says nothing about a broker.
          confirm=r"wait response on the channel(?! <[^>\s]*:9876>)"),
    Event("client-call-timeout", ("sendDefaultImpl call timeout", "sendKernelImpl call timeout"), r"(?P<what>send\w+) call timeout", _APP, "ERROR", _PRODUCER, "sendDefaultImpl call timeout"),
    Event("client-async-timeout", ("DEFAULT ASYNC send call timeout", "call timeout, cost time", "asyncSend call timeout"), r"(?P<what>call timeout)", _APP, "ERROR", _PRODUCER, "DEFAULT ASYNC send call timeout"),
    Event("client-response-timeout", "wait response timeout exception, the channel[", r"the channel\[(?P<address>[^\]]*)\]", "client", "WARN", "remoting/netty/NettyRemotingClient.invokeSync",
          "invokeSync: wait response timeout exception, the channel[10.20.81.11:10911]"),
    Event("client-socket-closed", "close socket because of timeout", r"close socket because of timeout, (?P<limit>\d+)ms, (?P<address>\S+)", "client", "WARN", "remoting/netty/NettyRemotingClient.invokeSync",
          "invokeSync: close socket because of timeout, 3000ms, 10.20.81.11:10911", since="4.9.1"),
    Event("client-connect-failed", ("RemotingConnectException", "dial tcp "), r"(?:connect to (?:<)?|dial tcp )(?P<address>[^\s>]+?)(?:>? failed|: )", _APP, "WARN ERROR", "remoting/exception/RemotingConnectException; Go's net.Dial as rocketmq-client-go prints it",
          "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.20.44.21:3128 failed",
          confirm=r"RemotingConnectException|(?<!probe failed: )dial tcp \S{1,100}:(?:9876|109(?:09|1[0-2])): |(?:underlayError|rocketmq)[\s\S]{0,400}dial tcp \S{1,100}:\d"),
    Event("client-send-request-failed", "send request to ", r"send request to (?:<)?(?P<address>[^\s>]+)>? failed", _APP, "WARN ERROR", "remoting/exception/RemotingSendRequestException",
          "send request to <10.20.81.11:10911> failed", confirm=r"send request to \S+ failed"),
    Event("client-too-many-requests", "RemotingTooMuchRequestException", r"RemotingTooMuchRequestException: (?P<what>.{0,200})", _APP, "WARN ERROR", "remoting/exception/RemotingTooMuchRequestException",
          "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: sendDefaultImpl call timeout"),
    Event("late-response", ("but not matched any request",), r"receive response,.{0,1000}? (?:not matched any request, )(?:address=)?(?:channelId=\w+, )?(?P<address>[^\s,]+)", "client", "WARN", "remoting/netty/NettyRemotingAbstract.processResponseCommand",
          "receive response, but not matched any request, 10.20.81.11:10911"),
    Event("late-response-stored", "extFields={queueId=",
          r"RemotingCommand \[code=(?P<code>\d+), .{0,200}?flag\(B\)=1, .{0,200}?extFields=\{queueId=(?P<queue_id>\d+),.{0,300}?msgId=(?P<msg_id>\w+), queueOffset=(?P<queue_offset>\d+)", "client", "WARN",
          "remoting/netty/NettyRemotingAbstract.processResponseCommand",
          "RemotingCommand [code=0, language=JAVA, version=333, opaque=44258, flag(B)=1, remark=null, extFields={queueId=3, TRACE_ON=true, MSG_REGION=DefaultRegion, "
          "msgId=0A14510B00002A9F0000000002E71FB5, queueOffset=2756}, serializeTypeCurrentRPC=JSON]", confirm=r"flag\(B\)=1"),
    # Sending.
    Event("send-attempt-failed", ("sendKernelImpl exception, resend at once", "sendKernelImpl exception, throw exception"),
          r"sendKernelImpl exception, (?P<what>resend at once|throw exception), InvokeID: ?(?P<invoke_id>-?\d+|%s), RT: ?(?P<rt>\d+|%s)(?:ms)?, Broker: ?"
          r"(?:MessageQueue \[topic=(?P<topic>[^,\]]*), brokerName=(?P<broker>[^,\]]*), queueId=(?P<queue_id>\d+)\])?", "client", "WARN", f"{_PRODUCER}.sendDefaultImpl",
          "sendKernelImpl exception, resend at once, InvokeID: 123, RT: 203ms, Broker: MessageQueue [topic=T, brokerName=broker-a, queueId=1]"),
    Event("send-attempt-message", "Message{topic='",
          r"^Message\{topic='(?P<topic>[^']*)', flag=-?\d+, properties=\{(?=(?:.{0,20000}?\bKEYS=(?P<keys>.{0,2000}?)(?:, [\w#.]+=|\}, body=))?)(?=.{0,20000}?\bUNIQ_KEY=(?P<msg_id>\w+))",
          "client", "WARN INFO", f"{_PRODUCER}.sendDefaultImpl",
          "Message{topic='orders', flag=0, properties={KEYS=K1, UNIQ_KEY=0A14511500000C387F4466DA3D032851, WAIT=true}, body=[123], transactionId='null'}", until="5.1.1", confirm=r"^Message\{topic='"),
    Event("send-given-up", "times, still failed, cost [", r"Send \[(?P<times>\d+)\] times, still failed, cost \[(?P<cost>\d+)\]ms, Topic: (?P<topic>[^,\s]*)(?:, BrokersSent: \[(?P<brokers>[^\]]*)\])?", _APP, "ERROR",
          f"{_PRODUCER}.sendDefaultImpl", "Send [3] times, still failed, cost [3002]ms, Topic: orders, BrokersSent: [broker-a, broker-a, broker-a]"),
    Event("send-result", "SendResult [sendStatus=", r"SendResult \[sendStatus=(?P<status>\w+), msgId=(?P<msg_id>[^,]*), offsetMsgId=(?P<offset_msg_id>[^,]*), messageQueue=MessageQueue \[topic=(?P<topic>[^,]*), "
          r"brokerName=(?P<broker>[^,]*), queueId=(?P<queue_id>\d+)\], queueOffset=(?P<queue_offset>\d+)", "app client", "INFO", "client/producer/SendResult.toString",
          "SendResult [sendStatus=SEND_OK, msgId=0A14101500000C387F4466B662A40000, offsetMsgId=null, messageQueue=MessageQueue [topic=orders, brokerName=broker-a, queueId=1], queueOffset=0]", harmless=None),
    Event("async-retry", "async send msg by retry", r"by retry (?P<times>\d+) times\. topic=(?P<topic>[^,]*), brokerAddr=(?P<address>[^,]*), brokerName=(?P<broker>[^,\s]*)", "client", "WARN", "client/impl/MQClientAPIImpl.onExceptionImpl",
          "async send msg by retry 1 times. topic=orders, brokerAddr=10.20.81.11:10911, brokerName=broker-a"),
    Event("broker-exception", "MQBrokerException", r"MQBrokerException: CODE: ?(?P<code>\d+) {1,2}DESC: ?(?P<desc>.{0,500})", _APP, "ERROR WARN", "client/exception/MQBrokerException",
          "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: [REJECTREQUEST]system busy, start flow control for a while"),
    Event("client-exception", "MQClientException", r"MQClientException: (?:CODE: ?(?P<code>\d+) {1,2}DESC: ?)?(?P<desc>.{0,500})", _APP, "ERROR WARN", "client/exception/MQClientException",
          "org.apache.rocketmq.client.exception.MQClientException: CODE: 13  DESC: the message body size over max value, MAX: 4194304"),
    # Transactions.
    Event("local-transaction-answer", "executeLocalTransactionBranch return",
          r"executeLocalTransactionBranch return:? (?P<answer>\w+)(?: messageTopic: (?P<topic>\S*) transactionId: (?P<msg_id>\S*) tag: (?P<tags>\S*) key: (?P<keys>.{0,200}))?", "client", "INFO",
          f"{_PRODUCER}.sendMessageInTransaction", "executeLocalTransactionBranch return UNKNOW", harmless=None),
    Event("local-transaction-exception", ("executeLocalTransactionBranch exception",),
          r"executeLocalTransactionBranch exception(?:, messageTopic: (?P<topic>\S*) transactionId: (?P<msg_id>\S*) tag: (?P<tags>\S*) key: (?P<keys>[^\n]{0,200}))?"
          r"[^\n]{0,300}(?:\n(?P<exception>[\w.$]+)(?:: (?P<reason>.{0,300}))?)?", "client", "INFO ERROR",
          f"{_PRODUCER}.sendMessageInTransaction", "executeLocalTransactionBranch exception\njava.lang.IllegalStateException: could not execute statement"),
    Event("end-transaction-failed", "but end broker transaction failed", r"local transaction execute (?P<answer>\w+), but end broker transaction failed", "client", "WARN", f"{_PRODUCER}.sendMessageInTransaction",
          "local transaction execute COMMIT_MESSAGE, but end broker transaction failed"),
    Event("client-check-rollback", "when broker check, client rollback this transaction", HEADER, "client", "WARN", f"{_PRODUCER}.checkTransactionState", f"when broker check, client rollback this transaction, {_CHECKED}", harmless=None),
    Event("client-check-unknown", "when broker check, client does not know this transaction state", HEADER, "client", "WARN", f"{_PRODUCER}.checkTransactionState",
          f"when broker check, client does not know this transaction state, {_CHECKED}", harmless=None),
    Event("client-check-exception", "Broker call checkTransactionState, but checkLocalTransactionState exception", "checkLocalTransactionState exception", "client", "ERROR", f"{_PRODUCER}.checkTransactionState",
          "Broker call checkTransactionState, but checkLocalTransactionState exception"),
    # Consuming.
    Event("send-back-exception", ("sendMessageBack Exception", "Failed to send message back, consumerGroup="),
          r"(?:sendMessageBack Exception, (?P<group>[^\s,]+)|Failed to send message back, consumerGroup=(?P<group_5>[^,]*), brokerName=(?P<broker>[^,]*))", "client", "ERROR",
          "client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack", "sendMessageBack Exception, points"),
    Event("send-back-resend-failed", "sendMessageBack exception, group: ", r"sendMessageBack exception, group: (?P<group>\S+) msg: (?P<message>MessageExt)", "client", "ERROR",
          "client/impl/consumer/ConsumeMessageConcurrentlyService.sendMessageBack", f"sendMessageBack exception, group: points msg: {_EXT}"),
    Event("consume-exception", "consumeMessage exception: ", rf"consumeMessage exception: (?P<exception>.{{0,500}}?) Group: (?P<group>\S+) Msgs: \[{MESSAGE_EXT}", "client", "WARN",
          "client/impl/consumer/ConsumeMessageConcurrentlyService", f"consumeMessage exception: java.lang.IllegalStateException: no, App$2.consumeMessage(App.java:68) Group: points Msgs: [{_EXT}] MQ: MessageQueue []"),
    Event("consume-null", "consumeMessage return null, Group: ", rf"consumeMessage return null, Group: (?P<group>\S+) Msgs: \[{MESSAGE_EXT}", "client", "WARN",
          "client/impl/consumer/ConsumeMessageConcurrentlyService", f"consumeMessage return null, Group: points Msgs: [{_EXT}] MQ: MessageQueue []"),
    Event("consumer-offset-saved", "[persistAll] Group: ", r"Group: (?P<group>\S+) ClientId: (?P<client_id>\S+) updateConsumeOffsetToBroker MessageQueue \[topic=(?P<topic>[^,]*), brokerName=(?P<broker>[^,]*), "
          r"queueId=(?P<queue_id>\d+)\] (?P<offset>-?\d+)", "client", "INFO", "client/consumer/store/RemoteBrokerOffsetStore",
          "[persistAll] Group: points ClientId: 10.20.44.22@23509 updateConsumeOffsetToBroker MessageQueue [topic=orders, brokerName=broker-a, queueId=3] 20", harmless=True),
    Event("queue-taken", ", add a new mq, MessageQueue", r"doRebalance, (?P<group>\S+), add a new mq, MessageQueue \[topic=(?P<topic>[^,]*), brokerName=(?P<broker>[^,]*), queueId=(?P<queue_id>\d+)\]", "client", "INFO",
          "client/impl/consumer/RebalanceImpl", "doRebalance, points, add a new mq, MessageQueue [topic=orders, brokerName=broker-a, queueId=3]", harmless=True),
    Event("consumer-group-changed", "receive broker's notification[", r"notification\[(?P<address>[^\]]*)\], the consumer group: (?P<group>\S+) changed", "client", "INFO", "client/impl/ClientRemotingProcessor",
          "receive broker's notification[10.20.29.11:10911], the consumer group: points changed, rebalance immediately", harmless=True),
    Event("message-printed", "MessageExt [", MESSAGE_EXT, "transaction client app", "", "common/message/MessageExt.toString", _EXT, harmless=None),
    # mqadmin.
    Event("client-started", ("] start OK. sendMessageWithVIPChannel", "] start beginning. messageModel="), r"the (?P<role>producer|consumer) \[(?P<group>[^\]]*)\] start", "client", "INFO",
          "client/impl/producer/DefaultMQProducerImpl.start", "the producer [orders] start OK. sendMessageWithVIPChannel=false", harmless=True),
    Event("admin-tool", "[admin_ext_group]", r"the adminExt \[admin_ext_group\] (?P<what>start|shutdown) OK", "client", "INFO", "tools/admin/DefaultMQAdminExtImpl", "the adminExt [admin_ext_group] start OK", harmless=True),
    Event("query-no-message", "query message by id finished, but no message", _CODE + "query message by id finished, but no message", "mqadmin text app", "ERROR", "client/impl/MQAdminImpl",
          "CODE: 208  DESC: query message by id finished, but no message."),
    Event("no-consumer-online", "CODE: 206 ", r"CODE: ?206 {1,2}DESC: ?(?:the consumer group\[(?P<group>[^\]]*)\])?(?P<desc>.{0,300})", "mqadmin client app", "ERROR", "common/protocol/ResponseCode.CONSUMER_NOT_ONLINE", "CODE: 206  DESC: the consumer group[points] not online", harmless=None),
)  # fmt: skip
