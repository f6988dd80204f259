"""Known problems of consumers: groups, subscriptions, rebalance, pulling, listeners, offsets."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "group-not-created",
        T("The consumer group does not exist on the broker"),
        (
            "subscription group not exist",
            "subscription group [{}] does not exist",
            "subscription group does not exist",
            "No group in this broker",
        ),
        T(
            "autoCreateSubscriptionGroup is false, and the group was not created on this broker. Pulls and send-backs of the group are refused (code 26)."
        ),
        T(
            "Is the group listed on every broker of the cluster (subscriptionGroup.json)? Is its name right, including a namespace prefix?"
        ),
        "broker/processor/PullMessageProcessor, SendMessageProcessor",
        remedy=T("mqadmin updateSubGroup -c CLUSTER -g GROUP on the whole cluster."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "group-forbidden",
        T("The consumer group may not consume"),
        (
            "subscription group no permission",
            "can not consume by broadcast way",
            "is forbidden for topic[",
            "for lite pull consumer is forbidden",
        ),
        T(
            "The group's configuration forbids it: consumeEnable=false, consumeBroadcastEnable=false, or the topic is on its forbidden list."
        ),
        T("subscriptionGroup.json: consumeEnable and consumeBroadcastEnable of that group."),
        "broker/processor/PullMessageProcessor",
        remedy=T("mqadmin updateSubGroup with -s true (consumeEnable) or -d true (broadcast)."),
        risk=T("Somebody may have switched it off on purpose."),
        verdict="confirmed",
    ),
    problem(
        "group-not-connected",
        T("The broker does not know the group of a pull yet"),
        (
            "the consumer's group info not exist",
            "the consumer's subscription not exist",
            "find the consumer's subscription failed",
        ),
        T(
            "A pull came for a group that has sent no heartbeat to this broker: a consumer that starts or stops, or whose heartbeats do not arrive."
        ),
        T("Does it go on for minutes? Then look for heartbeat failures of that client."),
        "broker/processor/PullMessageProcessor",
        unlike=T("a few at start and stop are normal"),
        remedy=T("Let heartbeats through; use the same group and topic in all members."),
        risk=T("None."),
        verdict="suspected",
        least=20,
        lasts=120.0,
    ),
    problem(
        "subscription-changing",
        T("The subscription of a group changes or is out of date"),
        (
            "subscription is not latest, group",
            "the consumer's subscription not latest",
            "subscription changed, group: {} remove topic",
            "consumer filter data is not latest",
            "the subscription is not latest, group=",
        ),
        T(
            "The broker keeps one subscription for a group, the newest it was told. While members subscribe differently it changes with each heartbeat and each is refused in turn."
        ),
        T("Does it go on after a restart is over? Compare topics and tags of all members (consumerConnection)."),
        "broker/client/ConsumerGroupInfo, broker/processor/PullMessageProcessor",
        cause="subscription-mismatch",
        verdict="suspected",
        unlike=T("during a rolling restart a few are normal"),
    ),
    problem(
        "filter-expression-bad",
        T("A filter expression is not accepted"),
        (
            "parse the consumer's subscription failed",
            "Parse the consumer's subscription[",
            "The broker does not support consumer to filter message by",
            "Your expression may be wrong",
            "filter message, but failed to compile expression",
            "does not upgrade to support for filter message by",
            "you use {} to filter message, but server has not been upgraded",
        ),
        T(
            "The tag or SQL92 expression cannot be compiled, or the broker has enablePropertyFilter=false and refuses SQL92."
        ),
        T("enablePropertyFilter in broker.conf; the expression in the line."),
        "broker/processor/PullMessageProcessor, ClientManageProcessor",
        remedy=T("enablePropertyFilter=true and a restart, or correct the expression."),
        risk=T("SQL filters cost the broker a read of each message's properties."),
        verdict="confirmed",
    ),
    problem(
        "filter-broken",
        T("Filtering on the broker reports an error"),
        (
            "Consumer in filter manager has no",
            "Calc filter bit map error",
            "Calc bit map error!",
            "bloom filter error, sub=",
            "Message Filter error,",
            "load filter data error",
            "ms to calc bit map",
        ),
        T(
            "The bit maps of SQL filters (enableCalcFilterBitMap) could not be built or read; the broker then filters message by message."
        ),
        T("Which consumer and topic does the line name?"),
        "broker/filter",
        classes=(
            "broker/CommitLogDispatcherCalcBitMap",
            "broker/ConsumerFilterManager",
            "broker/ExpressionMessageFilter",
            "broker/ExpressionForRetryMessageFilter",
        ),
    ),
    problem(
        "rebalance-without-members",
        T("A consumer cannot learn the members of its group"),
        (
            "get consumer id list failed",
            "getConsumerIdListByGroup exception",
            "getAllClientId failed",
            "no consumer for this group",
            "getConsumerGroupInfo failed",
        ),
        T(
            "Rebalancing asks a broker for all members; without the answer the consumer keeps its queues as they are and takes no new ones. The group may not be connected to the broker asked."
        ),
        T("Which broker is asked? Does the consumer's heartbeat reach it?"),
        "client/impl/consumer/RebalanceImpl, broker/processor/ConsumerManageProcessor",
        remedy=T("Restore the connection to that broker."),
        risk=T("Queues of a member that left stay unread meanwhile."),
        verdict="suspected",
        least=5,
        lasts=120.0,
    ),
    problem(
        "rebalance-failed",
        T("Distributing the queues failed"),
        (
            "AllocateMessageQueueStrategy.allocate Exception",
            "allocate message queue exception. strategy name",
            "doRebalance exception",
            "doRebalance for consumer group [{}] exception",
            "currentCID is empty",
            "rebalanceByTopic Exception",
            "Machine room is null for",
            "tryQueryAssignment error",
        ),
        T(
            "The strategy that assigns queues threw an exception: mostly a machine room or configuration strategy that does not know this client or broker. No queue is assigned."
        ),
        T("The exception and the strategy's name; are all members configured with the same strategy?"),
        "client/impl/consumer/RebalanceImpl",
        remedy=T("Use AllocateMessageQueueAveragely, or complete the configuration of the strategy on all members."),
        risk=T("A change of strategy moves queues: some messages are delivered twice."),
        verdict="suspected",
        least=3,
    ),
    problem(
        "rebalance-unsettled",
        T("Queues change hands all the time"),
        (
            "[BUG]doRebalance, {}, ",
            "add a new mq failed, {}, because lock failed",
            "add new mq failed",
            "because pull is pause, so try to fixed it",
        ),
        T(
            "A queue is given up and taken again, or cannot be taken because another member still holds its lock. Lasting for minutes it means that members do not agree: client ids that are equal, members that come and go, a paused pull."
        ),
        T("Count members over time; look for equal client ids and for pulls that pause (flow control)."),
        "client/impl/consumer/RebalanceImpl",
        decides=T(
            "`lock failed`: an ordered consumer waits for the previous owner (up to 60 s). `pull is pause`: no pull for 120 s, mostly flow control."
        ),
        remedy=T("Stabilise the members; unique instance names; speed the listener up."),
        risk=T("Each move delivers some messages twice."),
        verdict="suspected",
        least=5,
        lasts=120.0,
    ),
    problem(
        "queue-lock",
        T("An ordered consumer waits for the lock of its queue"),
        (
            "the message queue locked Failed, Group",
            "message queue locked by other client. Group",
            "message queue has been locked by other client",
            "the message queue not locked, so consume later",
            "the message queue lock expired, so consume later",
            "mq locked by other client",
        ),
        T(
            "Ordered consumption needs the broker's lock on a queue (60 s, renewed every 20 s). Another member holds it: normal for up to a minute after a change, a fault when it lasts."
        ),
        T("Which client holds it (rebalance log)? Is that process alive?"),
        "broker/client/rebalance/RebalanceLockManager",
        remedy=T("Stop the process that holds it; unique client ids."),
        risk=T("None."),
        verdict="suspected",
        least=20,
        lasts=180.0,
    ),
    problem(
        "queue-lock-other",
        T("Lock or unlock of queues reports a difficulty"),
        (
            "lock expired, I got it",
            "try to lock a expired message queue",
            "unlockBatch, but mq not locked",
            "lockBatchMQ exception",
            "unlockBatchMQ exception",
            "unlockBatch, group not exist",
            "unlock messageQueue. group",
        ),
        T("Locks of ordered consumption changed hands or their release was not needed."),
        T("Nothing at a rebalance."),
        "broker/client/rebalance/RebalanceLockManager",
        classes=("broker/RebalanceLockManager",),
    ),
    problem(
        "pull-flow-control",
        T("The consumer holds its pulls back"),
        (
            "so do flow control, minOffset=",
            "so do flow control, consume request count=",
            "the messages waiting to ack exceeds the threshold",
        ),
        T(
            "Messages wait in the client: pullThresholdForQueue (1000), pullThresholdSizeForQueue (100 MiB) or consumeConcurrentlyMaxSpan (2000) is reached. The client's listener is slower than what arrives, or one message blocks the span."
        ),
        T("Which limit is printed? `span too long`: one message does not finish. The others: a slow listener."),
        "client/impl/consumer/DefaultMQPushConsumerImpl.pullMessage",
        cause="consumer-backlog",
        verdict="suspected",
        unlike=T("it is the client's own brake, not the broker's flow control; nothing is refused or lost"),
    ),
    problem(
        "pull-offset-illegal",
        T("A consumer asked for an offset outside its queue"),
        (
            "the pull request offset illegal",
            "fix the pull request offset",
            "PULL_OFFSET_MOVED:",
            "The pull request offset illegal",
            "generateOffsetMovedEvent Exception",
        ),
        T(
            "The wanted offset lies in front of the first or behind the last message. The client continues at the nearest end: messages were deleted before they were consumed, or the offset is from another store."
        ),
        T("requestOffset against newOffset in the line: the difference is what is skipped or repeated."),
        "broker/processor/PullMessageProcessor, client/impl/consumer/DefaultMQPushConsumerImpl",
        cause="offset-jump",
        verdict="suspected",
    ),
    problem(
        "offset-went-back",
        T("A consumer reported a smaller offset than the broker had"),
        ("update consumer offset less than store", "Commit offset, consumer offset less than store"),
        T(
            "The group goes back: a reset, a restored offset, or two members with one client id that both report their own progress."
        ),
        T("Was there a reset at that time? Do two addresses report the same queue?"),
        "broker/offset/ConsumerOffsetManager.commitOffset",
        decides=T("One line per queue: a reset. Again and again: two owners of one queue."),
        remedy=T("Unique client ids; nothing to do after a wanted reset."),
        risk=T("Messages in between are consumed again."),
        verdict="suspected",
        least=10,
    ),
    problem(
        "offset-not-reported",
        T("Consumer offsets do not reach the broker"),
        (
            "updateConsumeOffsetToBroker exception",
            "persistConsumerOffset exception",
            "ScheduledTask persistAllConsumerOffset exception",
            "An error occurred when update consume offset Automatically",
            "Persist consumer offset error for group",
        ),
        T(
            "The client could not send its progress. After a restart the group repeats what it did since the last report."
        ),
        T("The exception: connection, time-out, or a broker that refuses."),
        "client/consumer/store/RemoteBrokerOffsetStore",
        remedy=T("Restore the connection before restarting the consumers."),
        risk=T("A restart now repeats messages."),
        verdict="suspected",
        least=5,
        lasts=30.0,
    ),
    problem(
        "offset-unknown",
        T("The start offset of a queue cannot be determined"),
        (
            "Compute consume offset exception",
            "Compute consume offset from last offset exception",
            "fetchConsumeOffsetFromBroker exception",
            "Failed to compute pull offset",
            "Failed to get next pull offset",
            "consumerOffset is -1 in messageQueue",
        ),
        T(
            "The client asked the broker where the group stands and got an error; since 4.9.0 it does not take the queue in that round rather than begin at a wrong place."
        ),
        T("The exception; does it end when the broker answers again?"),
        "client/impl/consumer/RebalancePushImpl, store/RemoteBrokerOffsetStore",
        remedy=T("Restore the broker; clients before 4.9.0 may have started at a wrong offset."),
        risk=T("None."),
        verdict="suspected",
        least=3,
        lasts=30.0,
    ),
    problem(
        "offset-first-time",
        T("The group has no offset for this queue"),
        ("maybe this group consumer boot first", "maybe this group boot first"),
        T(
            "The broker has no stored offset of the group (code 22): the group is new on this queue, and consumeFromWhere decides where it begins."
        ),
        T("Is the group really new? If not, consumerOffset.json was lost or the group's name changed."),
        "broker/processor/ConsumerManageProcessor.queryConsumerOffset",
        unlike=T("it is no error of a new group"),
    ),
    problem(
        "local-offset-damaged",
        T("The offset file of a broadcasting consumer cannot be read"),
        ("Load local offset store file exception", "readLocalOffset Exception", "maybe fastjson version too low"),
        T(
            "Broadcasting consumers keep offsets in ~/.rocketmq_offsets. The file (and perhaps its .bak) is damaged; the consumer starts without it or does not start."
        ),
        T("offsets.json and offsets.json.bak: empty or cut? Was the disk full?"),
        "client/consumer/store/LocalFileOffsetStore",
        remedy=T("Restore from .bak or remove both files."),
        risk=T("Without them consumeFromWhere decides: messages are skipped or repeated."),
        verdict="confirmed",
        classes=("client/LocalFileOffsetStore",),
    ),
    problem(
        "listener-threw",
        T("The application's listener threw an exception or returned null"),
        (
            "consumeMessage exception: {} Group",
            "consumeMessage return null, Group",
            "consumeMessage Orderly return not OK",
            "consumeMessageDirectly exception",
        ),
        T(
            "The message counts as failed and is delivered again: through the retry topic (concurrently) or at the same place (orderly)."
        ),
        T("The exception in the line; does one message fail for ever or all of them?"),
        "client/impl/consumer/ConsumeMessageConcurrentlyService, ConsumeMessageOrderlyService",
        remedy=T("Catch what may fail, answer RECONSUME_LATER with a limit, and make the handling idempotent."),
        risk=T("Swallowed exceptions lose the work."),
        verdict="suspected",
        least=3,
        unlike=T("RocketMQ works as designed here: the cause is in the application"),
    ),
    problem(
        "broadcast-dropped",
        T("A broadcasting consumer dropped a failed message"),
        ("BROADCASTING, the message consume failed, drop it",),
        T("There are no retries in broadcasting mode: a message whose listener failed is gone for this instance."),
        T("The message in the line; why did the listener fail?"),
        "client/impl/consumer/ConsumeMessageConcurrentlyService.processConsumeResult",
        remedy=T("Handle failures inside the listener, or use clustering with one group per instance."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "queue-dropped",
        T("Messages of a queue were put aside because it moved to another member"),
        (
            "because it's dropped",
            "processQueue is dropped without process consume result",
            "processQueue invalid",
            "No matched consumer for the PullRequest",
            "No matched consumer for the PopRequest",
        ),
        T(
            "The queue was given away while its messages were in work. Their result is not counted; the new owner consumes them again."
        ),
        T("Normal at a rebalance; lasting, the members change all the time."),
        "client/impl/consumer/ConsumeMessageConcurrentlyService",
        unlike=T("nothing is lost: it means repeated delivery"),
    ),
    problem(
        "send-back-failed",
        T("A failed message could not be sent back"),
        (
            "sendMessageBack Exception, ",
            "sendMessageBack exception, group",
            "Failed to send message back, consumerGroup",
            "send expired msg exception",
        ),
        T(
            "The client could not return a failed message to the broker's retry topic; it tries a plain send, then keeps the message and consumes it again locally after 5 s."
        ),
        T("The exception: refused for the retry topic's name, size, permission, or the network."),
        "client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack",
        cause="send-back-refused",
        verdict="suspected",
    ),
    problem(
        "listener-process-queue",
        T("The client's queue of fetched messages reports an exception"),
        (
            "getExpiredMsg exception",
            "removeMessage exception",
            "take Messages exception",
            "makeMessageToCosumeAgain exception",
            "scheduleAtFixedRate cleanExpireMsg exception",
            "scheduleAtFixedRate lockMQPeriodically exception",
        ),
        T("A thread was interrupted while it held a process queue: mostly a consumer that is shut down."),
        T("Only if it happens in normal running."),
        "client/impl/consumer/ProcessQueue",
        classes=(
            "client/ProcessQueue",
            "client/ConsumeMessageConcurrentlyService",
            "client/ConsumeMessageOrderlyService",
            "client/PullMessageService",
            "client/RebalancePushImpl",
            "client/RebalancePullImpl",
            "client/RebalanceLitePullImpl",
        ),
    ),
    problem(
        "pull-failed",
        T("A pull failed and is tried again"),
        (
            "execute the pull request exception",
            "pullKernelImpl exception",
            "[BUG] pull message result maybe data wrong",
        ),
        T(
            "The request or the answer of a pull failed; the client waits 3 s (pullTimeDelayMillsWhenException) and pulls again."
        ),
        T("The exception and the broker's address; how long does it last?"),
        "client/impl/consumer/DefaultMQPushConsumerImpl",
        remedy=T("Restore the connection; nothing is lost."),
        risk=T("None."),
        verdict="suspected",
        least=20,
        lasts=120.0,
        unlike=T("one at a broker restart or a consumer's stop is normal"),
    ),
    problem(
        "lite-pull",
        T("A lite pull consumer reports a difficulty"),
        (
            "Subscribe and assign are mutually exclusive",
            "The message queue is not in assigned list",
            "Seek offset illegal, seek offset",
            "The Pull Task is cancelled",
            "Topic {} had been registered, new listener",
            "MessageQueues is empty, Ignore this commit",
        ),
        T(
            "Use of DefaultLitePullConsumer: a queue that is not assigned (any more), a seek outside the queue, or mixing subscribe with assign. Lite pull consumers before 4.6.0 could skip messages in some cases (a3bab0eb62)."
        ),
        T("Which call? After a rebalance the assigned queues are others."),
        "client/impl/consumer/DefaultLitePullConsumerImpl",
        classes=(
            "client/DefaultLitePullConsumerImpl",
            "client/DefaultLitePullConsumer",
            "client/DefaultMQPullConsumerImpl",
            "client/MQPullConsumerScheduleService",
            "client/DefaultMQPullConsumer",
        ),
    ),
    problem(
        "consumer-not-running",
        T("A consumer is used before it is started or after its shutdown"),
        (
            "The consumer service state not OK",
            "The PullConsumer service state not OK",
            "The PushConsumer service state not OK",
            "pullMessage exception, consumer state not ok",
            "popMessage exception, consumer state not ok",
            "The consumer not running, please start it first",
            "The consumer is not in running status",
            "consumer was paused, execute pull request later",
        ),
        T("start() was not called, called twice, or shutdown() came first; or the consumer was suspended."),
        T("The life cycle of the bean; start is once per instance."),
        "client/impl/consumer/DefaultMQPushConsumerImpl",
        remedy=T("Start each consumer instance once."),
        risk=T("None."),
        verdict="suspected",
        least=2,
        unlike=T("at a shutdown it is normal"),
        lasts=10.0,
    ),
    problem(
        "consumer-config-invalid",
        T("A consumer's settings are not accepted"),
        (
            "consumeThreadMin Out of range",
            "consumeThreadMax Out of range",
            "is larger than consumeThreadMax",
            "consumeConcurrentlyMaxSpan Out of range",
            "pullThresholdForQueue Out of range",
            "pullThresholdForTopic Out of range",
            "pullThresholdSizeForQueue Out of range",
            "pullThresholdSizeForTopic Out of range",
            "pullInterval Out of range",
            "consumeMessageBatchMaxSize Out of range",
            "pullBatchSize Out of range",
            "popInvisibleTime Out of range",
            "popBatchNums Out of range",
            "messageListener must be instanceof",
            "messageListener is null",
            "subscription is null",
            "consumeTimestamp is invalid",
            "consumerGroup can not equal",
            "consumerTimeoutMillisWhenSuspend must greater",
        ),
        T("start() checks the settings and refuses one. The range or rule is in the text."),
        T("The setting named in the text; consumeThreadMin must not exceed consumeThreadMax (20 by default)."),
        "client/impl/consumer/DefaultMQPushConsumerImpl.checkConfig",
        remedy=T("Correct that setting."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "consumer-client-id-reused",
        T("Another client appears with an id the group already has"),
        (
            "consumer channel exist in broker, but clientId not equal",
            "consumer channel exists in broker, but clientId is not the same one",
        ),
        T(
            "One connection announced another client id than before: an application that creates several consumers of one group in a process."
        ),
        T("Old and new client id in the line; instanceName of both."),
        "broker/client/ConsumerGroupInfo.updateChannel",
        remedy=T("Give each consumer its own instanceName."),
        risk=T("None."),
        verdict="suspected",
    ),
    problem(
        "consumer-timed-out",
        T("The broker removed a consumer or producer that sent no heartbeat"),
        (
            "remove expired channel from ConsumerManager",
            "from ProducerManager groupChannelTable, producer group name",
            "ConsumerManager consumerTable, all clear",
            "groupChannelTable, all clear, group=",
        ),
        T(
            "No heartbeat for 120 s (30 s is the interval): the process hangs (GC, full CPU), the host vanished, or the network dropped silently. Its queues go to other members."
        ),
        T("What did that client do in those two minutes (its log, gc.log)?"),
        "broker/client/ConsumerManager, ProducerManager.scanNotActiveChannel",
        remedy=T("Find the pause; nothing is lost, messages in work are delivered again."),
        risk=T("None."),
        verdict="suspected",
        unlike=T("a client that ends properly closes its connection and does not appear here"),
    ),
    problem(
        "reset-offset",
        T("A reset of offsets was not carried out everywhere"),
        (
            "[reset-offset] reset offset exception",
            "[reset-offset] reset offset failed",
            "reset offset is invalid. topic=",
            "reset offset failed. group=",
            "Reset offset failed, topic does not exist",
            "Reset offset failed, group does not exist",
            "Reset offset aborted",
            "Offset has been previously reset",
            "Invoke broker to reset offset error",
            "Can not reset offset in slave broker",
            "No queues to reset",
        ),
        T(
            "resetOffsetByTime asks the broker, the broker asks all online consumers. One of them was not reached, is too old, or the offset is outside the queue."
        ),
        T("Which client does the line name? Compare the offsets per queue afterwards."),
        "broker/client/net/Broker2Client.resetOffset",
        classes=("broker/Broker2Client", "client/MQHelper"),
        remedy=T("Stop the group, reset offline (5.1.0 and later) or repeat, then start."),
        risk=T("A partial reset skips some queues and repeats others."),
        verdict="suspected",
    ),
    problem(
        "consumer-ids-notification",
        T("Members could not be told that the group changed"),
        (
            "notifyConsumerIdsChanged exception",
            "Failed to notify consumer when some consumers changed",
            "notifyConsumerIdsChanged consumerGroup is null",
            "err when call consumerIdsChangeListener",
            "err when call producerChangeListener",
        ),
        T("The broker tells members to rebalance; one could not be told and rebalances with its own interval (20 s)."),
        T("Nothing, unless queues stay unread for longer."),
        "broker/client/net/Broker2Client",
        classes=(
            "broker/DefaultConsumerIdsChangeListener",
            "broker/ConsumerManager",
            "broker/ProducerManager",
            "broker/ConsumerGroupInfo",
            "client/ClientRemotingProcessor",
        ),
    ),
    problem(
        "static-topic-mapping",
        T("A static topic's mapping does not fit"),
        (
            "does not exit in request process of current broker",
            "cannot find mapping item in request process",
            "rewriteRequestForStaticTopic failed",
            "The mapping info is dirty in broker",
        ),
        T(
            "Logical queues of a static topic (5.x) are mapped to physical ones; this broker does not lead the queue asked for, or mappings of the brokers disagree."
        ),
        T("Compare topicQueueMapping.json of all brokers; was a remapping interrupted?"),
        "broker/topic/TopicQueueMappingManager",
        classes=(
            "broker/TopicQueueMappingCleanService",
            "broker/TopicQueueMappingManager",
            "remoting/TopicQueueMappingUtils",
        ),
        remedy=T("Run remappingStaticTopic again with the saved file."),
        risk=T("Editing mapping files by hand can point two queues at one."),
        verdict="suspected",
        least=3,
    ),
    problem(
        "long-polling",
        T("A waiting pull reports a difficulty"),
        (
            "check hold request failed. topic",
            "execute request when wakeup failed",
            "executeRequestWhenWakeup run",
            "excuteRequestWhenWakeup run",
            "check hold pull request cost",
            "transfer many message by pagecache failed",
            "transfer many message by pagecache exception",
            "Fail to transfer messages from page cache to",
            "Error occurred when transferring messages from page cache",
        ),
        T("A pull that waited for messages could not be answered: mostly because its client had gone."),
        T("Nothing when a client stopped; with one client again and again, its network."),
        "broker/longpolling/PullRequestHoldService",
        classes=(
            "broker/PullRequestHoldService",
            "broker/LmqPullRequestHoldService",
            "broker/PullMessageProcessor",
            "broker/DefaultPullMessageResultHandler",
            "broker/NotificationProcessor",
            "broker/PeekMessageProcessor",
            "broker/PollingInfoProcessor",
            "broker/PopLongPollingService",
            "broker/QueryMessageProcessor",
        ),
    ),
)
