"""Known texts about who consumes what: pulls, rebalancing, subscriptions, connections of consumers (client logs and the broker's)."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import MESSAGE_EXT, QUEUE, Event

_REBALANCE = "client/impl/consumer/RebalanceImpl"
_PUSH = "client/impl/consumer/DefaultMQPushConsumerImpl"
_GROUP_INFO = "broker/client/ConsumerGroupInfo"
_PULL = "PullRequest [consumerGroup=points, messageQueue=MessageQueue [topic=orders, brokerName=broker-a, queueId=2], nextOffset=400]"
_SUBSCRIPTION = "SubscriptionData [classFilterMode=false, topic=orders, subString={tags}, tagsSet=[], codeSet=[], subVersion=1795305805621, expressionType=TAG]"
_ALL, _PAID, _REFUNDED = (_SUBSCRIPTION.replace("{tags}", tags) for tags in ("*", "PAID", "REFUNDED"))
_CONSUMER = f"ConsumerData [groupName=points, consumeType=CONSUME_PASSIVELY, messageModel=CLUSTERING, consumeFromWhere=CONSUME_FROM_FIRST_OFFSET, unitMode=false, subscriptionDataSet=[{_ALL}]]"
_CHANNEL = "ClientChannelInfo [channel=[id: 0x68d4260c, L:/10.20.29.11:10911 ! R:/10.20.29.21:45378], clientId=10.20.29.21@17081#2274698329830, language=JAVA, version=401, lastUpdateTimestamp=1795304266821]"
_EXT = (
    "MessageExt [brokerName=broker-a, queueId=0, storeSize=494, queueOffset=64, sysFlag=0, bornTimestamp=1795302930372, bornHost=/10.20.44.21:58852, storeTimestamp=1795302930374, "
    "storeHost=/10.20.44.11:10911, msgId=0A142C0B00002A9F000000000001F3CA, commitLogOffset=127946, bodyCRC=767298961, reconsumeTimes=3, preparedTransactionOffset=0, "
    "toString()=Message{topic='orders', flag=0, properties={MIN_OFFSET=0, MAX_OFFSET=145, KEYS=A260, UNIQ_KEY=7F000001570C0C387F446DB443C40103, TAGS=PAID}, body=[1], transactionId='null'}]"
)

EVENTS: Final[tuple[Event, ...]] = (
    # A client's queues and pulls.
    Event("client-created", "Created a new client Instance, InstanceIndex:", r"InstanceIndex: ?\d+, ClientID: ?(?P<client_id>[^,\s]+)", "client", "INFO", "client/impl/MQClientManager",
          "Created a new client Instance, InstanceIndex:0, ClientID:10.20.44.22@23509, ClientConfig:ClientConfig [namesrvAddr=10.20.44.10:9876]", harmless=True),
    Event("heartbeat-data", "HeartbeatData [clientID=", r"HeartbeatData \[clientID=(?P<client_id>[^,]*), .{0,20000}?consumerDataSet=\[(?P<data>ConsumerData .{1,60000})", "client", "INFO", "common/protocol/heartbeat/HeartbeatData",
          f"HeartbeatData [clientID=10.20.44.22@23509, producerDataSet=[], consumerDataSet=[{_CONSUMER}]]", harmless=True),
    Event("queues-assigned", "rebalanced result changed. allocateMessageQueueStrategyName=",
          r"StrategyName=(?P<strategy>[^,]*), group=(?P<group>[^,]*), topic=(?P<topic>[^,]*), clientId=(?P<client_id>[^,]*), mqAllSize=(?P<queues>\d+), cidAllSize=(?P<clients>\d+), rebalanceResultSize=\d+, rebalanceResultSet=\[(?P<set>.{0,20000})\]",
          "client", "INFO", _REBALANCE, "rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=points, topic=orders, clientId=10.20.44.22@23509, mqAllSize=4, cidAllSize=2, rebalanceResultSize=1, "
          "rebalanceResultSet=[MessageQueue [topic=orders, brokerName=broker-a, queueId=1]]", harmless=True),
    Event("queue-left", "remove unnecessary mq, MessageQueue", rf"doRebalance, (?P<group>\S+), remove unnecessary mq, {QUEUE}", "client", "INFO", _REBALANCE,
          "doRebalance, points, remove unnecessary mq, MessageQueue [topic=orders, brokerName=broker-a, queueId=3]", harmless=True),
    Event("queues-assigned-go", "MessageQueue do balance done", r"clientID=\"?(?P<client_id>[^\s\"]+)\"? consumerGroup=\"?(?P<group>[^\s\"]+)\"? mqAllSize=(?P<queues>\d+) rebalanceResultSet=\"?\[(?P<set>.{0,20000}?)\]\"? rebalanceResultSize=\d+ topic=\"?(?P<topic>[^\s\"]+)",
          "client", "INFO", "rocketmq-client-go consumer/consumer.go, fields in logrus' order", 'level=info msg="MessageQueue do balance done" cidAllSize=2 clientID=10.20.44.22@23509 consumerGroup=points mqAllSize=4 '
          'rebalanceResultSet="[MessageQueue [topic=orders, brokerName=broker-a, queueId=1]]" rebalanceResultSize=1 topic=orders', harmless=True),
    Event("pull-started", ("add a new pull request PullRequest", "Start to pull MessageQueue ["), rf"(?:doRebalance, (?P<group>\S+), add a new pull request PullRequest \[consumerGroup=[^,]*, messageQueue=|Start to pull ){QUEUE}, (?:nextOffset=|offset:)(?P<offset>-?\d+)(?:, GroupName (?P<group_2>\S+))?",
          "client", "INFO", f"{_REBALANCE}; rocketmq-client-cpp src/consumer/Rebalance.cpp", f"doRebalance, points, add a new pull request {_PULL}", harmless=True),
    Event("pull-held-back", "so do flow control",
          r"(?:cached message (?P<what>count|size) exceeds the threshold (?P<limit>\d+)|messages,? span too long)(?: MiB)?, so do flow control(?:, minOffset=(?P<min_offset>\d+), maxOffset=(?P<max_offset>\d+)"
          rf"(?:, count=(?P<count>\d+), size=(?P<size>\d+) MiB)?(?:, maxSpan=(?P<span>\d+))?)?(?:, pullRequest=PullRequest \[consumerGroup=(?P<group>[^,]*), messageQueue={QUEUE}, nextOffset=(?P<offset>\d+)\])?(?:, flowControlTimes=(?P<times>\d+))?"
          r"(?:.{0,400}?ConsumerGroup: (?P<group_2>[^,]*), Topic: (?P<topic_2>[^,]*), MessageQueue: brokerName=(?P<broker_2>[^,]*), queueId=(?P<queue_id_2>\d+))?",
          "client", "WARN", f"{_PUSH}.pullMessage: one line per 1,000 refusals of 50 ms each; DefaultLitePullConsumerImpl; rocketmq-client-go consumer/push_consumer.go",
          f"the cached message count exceeds the threshold 200, so do flow control, minOffset=199, maxOffset=399, count=201, size=0 MiB, pullRequest={_PULL}, flowControlTimes=1", harmless=None),
    Event("pull-held-back-cpp", " Messages and The Max size is ", rf"request for {QUEUE} has Cached with (?P<count>\d+) Messages and The Max size is (?P<limit>\d+)", "client", "INFO", "rocketmq-client-cpp src/consumer/DefaultMQPushConsumerImpl.cpp",
          "Sync Pull request for MessageQueue [topic=orders, brokerName=broker-a, queueId=2] has Cached with 1001 Messages and The Max size is 1000, Sleep 1s.", harmless=None),
    Event("pull-offset-illegal", "the pull request offset illegal", rf"offset illegal, PullRequest \[consumerGroup=(?P<group>[^,]*), messageQueue={QUEUE}, nextOffset=(?P<offset>\d+)\] PullResult \[pullStatus=(?P<status>\w+), nextBeginOffset=(?P<next>-?\d+), minOffset=(?P<min_offset>-?\d+), maxOffset=(?P<max_offset>-?\d+)",
          "client", "WARN", _PUSH, f"the pull request offset illegal, {_PULL} PullResult [pullStatus=OFFSET_ILLEGAL, nextBeginOffset=560, minOffset=560, maxOffset=600, msgFoundList=0]"),
    Event("pull-offset-fixed", "fix the pull request offset", rf"fix the pull request offset, PullRequest \[consumerGroup=(?P<group>[^,]*), messageQueue={QUEUE}, nextOffset=(?P<offset>\d+)\]", "client", "WARN", _PUSH, f"fix the pull request offset, {_PULL}"),
    Event("pull-failed", "execute the pull request exception", "execute the pull request exception", "client", "WARN", _PUSH, "execute the pull request exception", harmless=None),
    Event("queue-lock-failed", ("the message queue locked Failed", "because lock failed"), rf"(?:locked Failed, (?P<group>\S+)|doRebalance, (?P<group_2>[^,\s]+), add a new mq failed, ){QUEUE}?", "client", "WARN", _REBALANCE,
          "doRebalance, points, add a new mq failed, MessageQueue [topic=orders, brokerName=broker-a, queueId=3], because lock failed", harmless=None),
    Event("orderly-not-done", "consumeMessage Orderly return not OK", rf"return not OK, Group: (?P<group>\S+) Msgs: \[{MESSAGE_EXT}(?=.{{0,20000}}?\bUNIQ_KEY=(?P<uniq_key>\w+))?", "client", "WARN",
          "client/impl/consumer/ConsumeMessageOrderlyService", f"consumeMessage Orderly return not OK, Group: points Msgs: [{_EXT}] MQ: MessageQueue [topic=orders, brokerName=broker-a, queueId=0]"),
    Event("expired-sent-back", "send expire msg back. topic=", r"send expire msg back\. topic=(?P<topic>[^,]*), msgId=(?P<msg_id>[^,]*), storeHost=(?P<store_host>[^,]*), queueId=(?P<queue_id>\d+), queueOffset=(?P<queue_offset>\d+)", "client", "INFO",
          "client/impl/consumer/ProcessQueue.cleanExpiredMsg", "send expire msg back. topic=orders, msgId=7F000001570C0C387F446DB443C40103, storeHost=/10.20.44.11:10911, queueId=0, queueOffset=83"),
    Event("consumer-stopped", ("the consumer [", "the producer [CLIENT_INNER_PRODUCER] shutdown OK"), r"the (?:consumer \[(?P<group>[^\]]*)\]|producer \[CLIENT_INNER_PRODUCER\]) shutdown OK", "client", "INFO",
          "DefaultMQPushConsumerImpl.shutdown; client/impl/factory/MQClientInstance.shutdown, once its last consumer is gone", "the consumer [points] shutdown OK", harmless=True, confirm=r"\] shutdown OK"),
    # What the broker knows about a group.
    Event("consumer-registered", "registerConsumer info changed", r"info changed(?:, SDK address=(?P<address_2>[^,]*), consumerData=| )(?P<data>ConsumerData \[groupName=(?P<group>[^,]*), .{0,60000}\])(?: (?:\[id: .{0,80}R:/)?(?P<address>[^\s\]]+))?", "broker", "INFO",
          "broker/processor/ClientManageProcessor.heartBeat: address behind in 4.x, before in 5.x",
          f"registerConsumer info changed {_CONSUMER} 10.20.29.21:35364", harmless=True),
    Event("consumer-disconnected", ("from ConsumerGroupInfo groupChannelTable, consumer group: ", "unregister a consumer["),
          r"(?:unregister a consumer\[(?P<group>[^\]]*)\] .{0,200}?)?R:/(?P<address>[^\]\s]+)\], clientId=(?P<client_id>[^,]*)(?:.{0,300}?, consumer group: (?P<group_2>\S+))?", "broker", "INFO WARN", _GROUP_INFO,
          f"NETTY EVENT: remove not active channel[{_CHANNEL}] from ConsumerGroupInfo groupChannelTable, consumer group: points", harmless=None),
    Event("subscription-replaced", "OLD: SubscriptionData [", r"subscription changed, group: (?P<group>\S+) OLD: SubscriptionData \[(?:classFilterMode=\w+, )?topic=(?P<topic>[^,]*), subString=(?P<old>.{0,2000}?), tagsSet=.{0,20000}? NEW: SubscriptionData \[(?:classFilterMode=\w+, )?topic=[^,]*, subString=(?P<new>.{0,2000}?), tagsSet=",
          "broker", "INFO", f"{_GROUP_INFO}.updateSubscription", f"subscription changed, group: points OLD: {_PAID} NEW: {_REFUNDED}", harmless=None),
    Event("subscription-removed", "subscription changed, group: ", r"subscription changed, group: (?P<group>\S+) remove topic (?P<topic>\S+)", "broker", "WARN", f"{_GROUP_INFO}.updateSubscription",
          f"subscription changed, group: points remove topic orders {_ALL}", harmless=None, confirm=r"group: \S+ remove topic "),
    Event("subscription-added", "subscription changed, add new topic, group: ", r"add new topic, group: (?P<group>\S+) SubscriptionData \[(?:classFilterMode=\w+, )?topic=(?P<topic>[^,]*), subString=(?P<new>.{0,2000}?), tagsSet=", "broker", "INFO",
          f"{_GROUP_INFO}.updateSubscription", f"subscription changed, add new topic, group: points {_ALL}", harmless=True),
    Event("subscription-missing", ("the consumer's subscription not exist", "find the consumer's subscription failed"), r"subscription not exist(?:, group: (?P<group>[^,\s]+), topic: ?(?P<topic>\S+))?", "broker client", "WARN", "broker/processor/PullMessageProcessor",
          "the consumer's subscription not exist, group: points, topic:orders", harmless=None),
)  # fmt: skip
