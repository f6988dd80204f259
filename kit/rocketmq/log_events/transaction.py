"""Known texts of transaction.log, and of the check-back in the broker's other logs (reference §4.6, §6.5, §6.6)."""

from __future__ import annotations

from typing import Final

from kit.rocketmq.log_events.event import HEADER, MESSAGE_EXT, QUEUE, Event

_SERVICE = "broker/transaction/queue/TransactionalMessageServiceImpl"
_BRIDGE = "broker/transaction/queue/TransactionalMessageBridge"
_END = "broker/processor/EndTransactionProcessor"
_HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
_H4 = (
    "EndTransactionRequestHeader{producerGroup='orders', tranStateTableOffset=7, commitLogOffset=8945, commitOrRollback=%d, fromTransactionCheck=true, "
    "msgId='0A14101500000C387F4466B662A40000', transactionId='0A14101500000C387F4466B662A40000'}"
)
_QUEUE = f"MessageQueue [topic={_HALF}, brokerName=broker-a, queueId=0]"
_EXT = (
    "MessageExt [queueId=0, storeSize=322, queueOffset=7, sysFlag=0, bornTimestamp=1795173640977, bornHost=/127.0.0.1:57264, storeTimestamp=1795173652539, "
    "storeHost=/127.0.0.1:23505, msgId=7F00000100005BD100000000000022F1, commitLogOffset=8945, bodyCRC=1919773246, reconsumeTimes=0, "
    "preparedTransactionOffset=0, toString()=Message{topic='RMQ_SYS_TRANS_HALF_TOPIC', flag=0, properties={TRANSACTION_CHECK_TIMES=3}, body=[117], transactionId='null'}]"
)

_PRINTED = rf"{MESSAGE_EXT}.{{0,200000}}?REAL_TOPIC=RMQ_SYS_TRANS_HALF_TOPIC"
_LEAKED = _EXT.replace("sysFlag=0", "sysFlag=8").replace(
    "{TRANSACTION_CHECK", "{REAL_TOPIC=RMQ_SYS_TRANS_HALF_TOPIC, DELAY=3, TRAN_MSG=true, TRANSACTION_CHECK"
)

EVENTS: Final[tuple[Event, ...]] = (
    Event("check-service-start", "Start transaction check service thread!", "Start transaction check service thread", "transaction", "INFO",
          "broker/transaction/TransactionalMessageCheckService.run", "Start transaction check service thread!", harmless=True),
    Event("check-service-end", "End transaction check service thread!", "End transaction check service thread", "transaction", "INFO",
          "broker/transaction/TransactionalMessageCheckService.run", "End transaction check service thread!", harmless=True),
    Event("check-begin", "Begin to check prepare message, begin time:", r"begin time:(?P<begin>\d+)", "transaction", "INFO",
          "broker/transaction/TransactionalMessageCheckService.onWaitEnd", "Begin to check prepare message, begin time:1795185268796", harmless=True),
    Event("check-end", "End to check prepare message, consumed time:", r"consumed time:(?P<cost>\d+)", "transaction", "INFO",
          "broker/transaction/TransactionalMessageCheckService.onWaitEnd", "End to check prepare message, consumed time:12", harmless=True),
    Event("check-topic-queues", "Check topic=", r"Check topic=(?P<topic>\S+), queues=", "transaction", "INFO", f"{_SERVICE}.check",
          f"Check topic={_HALF}, queues=[{_QUEUE}]", until="4.4.0", harmless=True),
    Event("check-position", "Before check, the queue=", rf"Before check, the queue={QUEUE} msgOffset=(?P<half_offset>-?\d+) opOffset=(?P<op_offset>-?\d+)",
          "transaction", "INFO", f"{_SERVICE}.check", f"Before check, the queue={_QUEUE} msgOffset=4 opOffset=2", harmless=True),
    Event("check-position-after", "putInQueueCount=",
          r"opOffset=(?P<op_offset>-?\d+) opOffsetDiff=(?P<op_diff>-?\d+) msgOffset=(?P<half_offset>-?\d+) msgOffsetDiff=(?P<half_diff>-?\d+) "
          r"msgTime=(?P<time>.{0,40}?) msgTimeDelayInMs=(?P<delay>-?\d+) putInQueueCount=(?P<count>\d+)", "transaction", "INFO", f"{_SERVICE}.check",
          f"After check, {_QUEUE} opOffset=2 opOffsetDiff=1 msgOffset=4 msgOffsetDiff=1 msgTime=Fri Nov 20 23:13:39 CST 2026 msgTimeDelayInMs=5000 putInQueueCount=1",
          since="5.1.0", harmless=True),
    Event("half-finished", "has been committed/rolled back", r"Half offset (?P<queue_offset>\d+) has been", "transaction", "INFO", f"{_SERVICE}.check",
          "Half offset 12 has been committed/rolled back", until="4.8.0", harmless=True),
    Event("check-sent-4", "Send check message, the offset=",
          r"the offset=(?P<offset>\d+) restored in queueOffset=(?P<queue_offset>\d+) commitLogOffset=(?P<commit_log_offset>\d+) newMsgId=(?P<new_msg_id>\w*) "
          r"realMsgId=(?P<msg_id>\S*) topic=(?P<topic>\S*)", "transaction", "INFO", f"{_SERVICE}.resolveHalfMsg",
          f"Send check message, the offset=4 restored in queueOffset=5 commitLogOffset=1234 newMsgId=7F0000012A9F00000000000004D2 realMsgId=0A14 topic={_HALF}",
          until="4.4.0", harmless=True),
    Event("check-sent", "Check transaction. real_topic=",
          r"real_topic=(?P<topic>[^,]*),uniqKey=(?P<msg_id>[^,]*),offset=(?P<offset>\d+),commitLogOffset=(?P<commit_log_offset>\d+)", "transaction", "INFO",
          f"{_SERVICE}.check", "Check transaction. real_topic=orders,uniqKey=0A14101500000C387F4466B662A40000,offset=4,commitLogOffset=1234", since="5.1.0", harmless=True),
    Event("put-back-failed", "QueueReturnResult write",
          r"write failed, topic: (?P<topic>[^,]*), queueId: (?P<queue_id>\d+), msgId: (?P<msg_id>\w+)", "transaction", "ERROR", f"{_SERVICE}.putBackHalfMsgQueue",
          f"PutBackToHalfQueueReturnResult write failed, topic: {_HALF}, queueId: 0, msgId: 7F000001000063A100000000000028DD"),
    Event("put-back-error", "PutBackToHalfQueueReturnResult error", r"PutBackToHalfQueueReturnResult error(?:[\s\S]{0,4}(?P<exception>[\w.$]+))?", "transaction", "WARN",
          f"{_SERVICE}.putBackHalfMsgQueue", "PutBackToHalfQueueReturnResult error\njava.lang.NullPointerException: null"),
    Event("half-too-old", "Half message exceed file reserved time", r"messageId (?P<msg_id>\w+),bornTime (?P<born>\d+)", "transaction", "INFO", f"{_SERVICE}.needSkip",
          "Half message exceed file reserved time ,so skip it.messageId 7F000001000063A100000000000028DD,bornTime 1795173640977"),
    Event("check-discard", "has been checked too many times, so discard it",
          rf"MsgExt:{MESSAGE_EXT}", "transaction", "ERROR", "broker/transaction/queue/DefaultTransactionalMessageCheckListener.resolveDiscardMsg",
          f"MsgExt:{_EXT} has been checked too many times, so discard it by moving it to system topic TRANS_CHECK_MAXTIME_TOPIC"),
    Event("check-discard-stored", "half message to TRANS_CHECK_MAXTIME_TOPIC OK.",
          r"Restored in queueOffset=(?P<queue_offset>\d+), commitLogOffset=(?P<commit_log_offset>\d+), real topic=(?P<topic>\S+)", "transaction", "INFO",
          "broker/transaction/queue/DefaultTransactionalMessageCheckListener.resolveDiscardMsg",
          "Put checked-too-many-time half message to TRANS_CHECK_MAXTIME_TOPIC OK. Restored in queueOffset=4, commitLogOffset=1234, real topic=orders", since="4.5.2"),
    Event("check-discard-failed", ("half message to TRANS_CHECK_MAXTIME_TOPIC failed", "half message to TRANS_CHECK_MAXTIME_TOPIC error"),
          r"TRANS_CHECK_MAXTIME_TOPIC (?:failed, real topic=(?P<topic>[^,]*), msgId=(?P<msg_id>\w+)|error\.? ?(?P<error>.{0,300}))", "transaction", "ERROR WARN",
          "broker/transaction/queue/DefaultTransactionalMessageCheckListener.resolveDiscardMsg",
          "Put checked-too-many-time half message to TRANS_CHECK_MAXTIME_TOPIC failed, real topic=orders, msgId=7F000001000063A100000000000028DD", since="4.5.2"),
    Event("check-channel-null", "Check transaction failed, channel is null", r"channel is null\. groupId=(?P<group>\S+)", "transaction", "WARN",
          "broker/transaction/AbstractTransactionalMessageCheckListener.sendCheckMessage", "Check transaction failed, channel is null. groupId=orders"),
    Event("producer-table-empty", "channel table is empty. groupId=", r"channel table is empty\. groupId=(?P<group>\S+)", "broker", "WARN",
          "broker/client/ProducerManager.getAvailableChannel", "Check transaction failed, channel table is empty. groupId=orders"),
    Event("producer-list-empty", "Channel list is empty. groupId=", r"Channel list is empty\. groupId=(?P<group>\S+)", "broker", "WARN",
          "broker/client/ProducerManager.getAvailableChannel", "Channel list is empty. groupId=orders"),
    Event("check-invoke-failed", "Check transaction failed because invoke producer exception",
          r"invoke producer exception\. group=(?P<group>[^,]*), msgId=(?P<msg_id>[^,\s]*)(?:, error=(?P<error>.{0,300}))?", "broker", "ERROR",
          "broker/client/net/Broker2Client.checkProducerTransactionState",
          "Check transaction failed because invoke producer exception. group=orders, msgId=7F000001000063A100000000000028DD, error=..."),
    Event("check-send-error", "Send check message error!", "Send check message error!", "transaction", "ERROR",
          "broker/transaction/AbstractTransactionalMessageCheckListener.resolveHalfMsg", "Send check message error!"),
    Event("half-store-null", "Get message from store return null. topic=",
          r"topic=(?P<topic>[^,]*), groupId=(?P<group>[^,]*), requestOffset=(?P<offset>-?\d+)", "transaction", "ERROR", f"{_BRIDGE}.getMessage",
          f"Get message from store return null. topic={_HALF}, groupId=CID_RMQ_SYS_TRANS, requestOffset=12", harmless=None),
    Event("check-pull-null", "failed, pullResult is null", rf"The queue={QUEUE} check msgOffset=(?P<half_offset>-?\d+) with opOffset=(?P<op_offset>-?\d+) failed",
          "transaction", "ERROR", f"{_SERVICE}.check", f"The queue={_QUEUE} check msgOffset=4 with opOffset=2 failed, pullResult is null", harmless=None),
    Event("op-batch-start", "transaction op batch thread!", r"(?P<what>Start|End) transaction op batch thread", "transaction", "INFO",
          "broker/transaction/queue/TransactionalOpBatchService.run", "Start transaction op batch thread!", since="5.1.0", harmless=True),
    Event("check-round-limit", "process time reach max=", r"Queue=\{?(?:MessageQueue \[topic=(?P<topic>[^,\]]*), brokerName=(?P<broker>[^,\]]*), queueId=(?P<queue_id>\d+)\])?\}? "
          r"process time reach max=(?P<limit>\d+)", "transaction", "INFO", f"{_SERVICE}.check", f"Queue={{{_QUEUE}}} process time reach max=60000"),
    Event("half-miss", ("No new msg, the miss offset=", "Fresh stored. the miss offset=", "New arrived, the miss offset=", "Illegal offset, the miss offset="),
          r"(?P<what>No new msg|Fresh stored|New arrived|Illegal offset)[.,] the miss offset=(?P<offset>\d+)", "transaction", "INFO DEBUG", f"{_SERVICE}.check",
          f"No new msg, the miss offset=12 in={_QUEUE}, continue check=1, pull result=PullResult []", harmless=True),
    Event("op-more-needed", ("need to get more opMsg, result is:", "get more opMsg."), r"The miss (?:message )?offset:(?P<offset>\d+)", "transaction", "INFO DEBUG",
          f"{_SERVICE}.check", f"The miss offset:12 in messageQueue:{_QUEUE} need to get more opMsg, result is:PullResult []", harmless=True),
    Event("op-pull-nothing", "The miss op offset=", r"The miss op offset=(?P<offset>-?\d+) in queue=.{0,200}? is (?P<what>illegal|NO_NEW_MSG|empty)", "transaction", "WARN",
          f"{_SERVICE}.fillOpRemoveMap", f"The miss op offset=12 in queue={_QUEUE} is NO_NEW_MSG, pullResult=PullResult []", harmless=True),
    Event("half-pull-nothing", (". GetMessageStatus=",),
          r"(?P<what>Offset illegal|No new message|No matched message)\. GetMessageStatus=(?P<status>\w+), topic=(?P<topic>[^,]*), groupId=(?P<group>[^,]*), "
          r"requestOffset=(?P<offset>-?\d+)", "transaction", "WARN", f"{_BRIDGE}.getMessage",
          f"No new message. GetMessageStatus=OFFSET_OVERFLOW_ONE, topic={_HALF}, groupId=CID_RMQ_SYS_TRANS, requestOffset=12", harmless=True),
    Event("op-read", ", OpOffset: ", r"Topic: (?P<topic>\S+) tags: (?P<tags>\S*), OpOffset: (?P<op_offset>\d+), HalfOffset: (?P<half_offset>\d+)", "transaction",
          "INFO DEBUG", f"{_SERVICE}.fillOpRemoveMap", "Topic: RMQ_SYS_TRANS_OP_HALF_TOPIC tags: d, OpOffset: 3, HalfOffset: 4", until="4.5.2", harmless=True),
    Event("op-tag-illegal", "Found a illegal tag in opMessageExt=", "Found a illegal tag in opMessageExt", "transaction", "ERROR", f"{_SERVICE}.fillOpRemoveMap",
          "Found a illegal tag in opMessageExt= MessageExt [queueId=0]"),
    Event("op-written", "Transaction op message write successfully. messageId=", r"messageId=(?P<msg_id>\w+), queueId=(?P<queue_id>\d+) msgExt:", "transaction", "INFO DEBUG",
          f"{_SERVICE}.deletePrepareMessage", f"Transaction op message write successfully. messageId=7F000001000063A100000000000028DD, queueId=0 msgExt:{_EXT}",
          until="4.5.2", harmless=True),
    Event("op-write-failed", "Transaction op message write failed", r"messageId is (?P<msg_id>\w+), queueId is (?P<queue_id>\d+)", "transaction", "ERROR",
          f"{_SERVICE}.deletePrepareMessage", "Transaction op message write failed. messageId is 7F000001000063A100000000000028DD, queueId is 0"),
    Event("transaction-put-failed", "Put message failed, topic: ", r"Put message failed, topic: (?P<topic>[^,]*), queueId: (?P<queue_id>\d+), msgId: (?P<msg_id>\S+)",
          "transaction", "ERROR", f"{_BRIDGE}.putMessage", "Put message failed, topic: RMQ_SYS_TRANS_OP_HALF_TOPIC, queueId: 0, msgId: 7F000001000063A100000000000028DD"),
    Event("end-transaction-request", "Transaction request:EndTransactionRequestHeader", rf"Transaction request:{HEADER}", "transaction", "INFO DEBUG", f"{_END}.processRequest",
          f"Transaction request:{_H4 % 8}", until="4.5.2", harmless=True),
    Event("check-answer-pending", "transaction state, but it's pending status", rf"Check producer\[(?P<address>\S+)\] transaction state, .{{0,60}}?RequestHeader: ?{HEADER}",
          "transaction", "WARN", f"{_END}.processRequest",
          f"Check producer[10.20.24.21:41056] transaction state, but it's pending status.RequestHeader: {_H4 % 0} Remark: null", harmless=None),
    Event("check-answer-commit", "transaction state, the producer commit the message",
          rf"Check producer\[(?P<address>\S+)\] transaction state, .{{0,60}}?RequestHeader: ?{HEADER}", "transaction", "WARN", f"{_END}.processRequest",
          f"Check producer[10.20.24.21:41056] transaction state, the producer commit the message.RequestHeader: {_H4 % 8} Remark: null", harmless=True),
    Event("check-answer-rollback", "transaction state, the producer rollback the message",
          rf"Check producer\[(?P<address>\S+)\] transaction state, .{{0,60}}?RequestHeader: ?{HEADER}", "transaction", "WARN", f"{_END}.processRequest",
          f"Check producer[10.20.24.21:41056] transaction state, the producer rollback the message.RequestHeader: {_H4 % 12} Remark: null", harmless=None),
    Event("end-transaction-pending", "end transaction in sending message,  and it's pending status",
          rf"The producer\[(?P<address>\S+)\] end transaction in sending message, .{{0,60}}?RequestHeader: ?{HEADER}", "transaction", "WARN", f"{_END}.processRequest",
          f"The producer[10.20.24.21:41056] end transaction in sending message,  and it's pending status.RequestHeader: {_H4 % 0} Remark: null", harmless=None),
    Event("end-transaction-rollback", "end transaction in sending message, rollback the message",
          rf"The producer\[(?P<address>\S+)\] end transaction in sending message, .{{0,60}}?RequestHeader: ?{HEADER}", "transaction", "WARN", f"{_END}.processRequest",
          f"The producer[10.20.24.21:41056] end transaction in sending message, rollback the message.RequestHeader: {_H4 % 12} Remark: null", harmless=None),
    Event("check-round-error", "Check error", r"^Check error(?:\n(?P<exception>[\w.$]+))?", "transaction", "ERROR", f"{_SERVICE}.check",
          "Check error\njava.lang.NullPointerException: null", confirm=r"^Check error(?:\n|$)"),
    Event("leaked-half-printed", "REAL_TOPIC=RMQ_SYS_TRANS_HALF_TOPIC", _PRINTED, "transaction client", "ERROR INFO", "common/message/MessageExt.toString",
          _LEAKED.replace("sysFlag=8", "sysFlag=0"), confirm=r"DELAY=\d"),
    Event("leaked-commit-printed", "REAL_TOPIC=RMQ_SYS_TRANS_HALF_TOPIC", _PRINTED, "transaction client", "ERROR INFO", "common/message/MessageExt.toString", _LEAKED,
          # TRANSACTION_COMMIT (8) with or without compression, multi tags, IPv6 hosts and the compression types of
          # 4.9.4.
          confirm=r"sysFlag=(?:8|9|10|11|24|25|26|27|40|41|42|43|56|57|58|59|265|267|313|521|569|777|779|825|827),"),
)  # fmt: skip
