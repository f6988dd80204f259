"""Invented complaints as people paste them: chat, issue trackers, blogs, terminals; and what is to be said about each.

Names, addresses, ids and numbers are made up; the texts between them are RocketMQ's (its release tags, reference §4 to §12).
"""

from __future__ import annotations

from typing import Final

import attrs

UNIQ: Final = "AC1E28051F4418B4AAC2691A0C3B0007"
"""172.30.40.5, pid 0x1F44."""
OFFSET: Final = "AC1E280900002A9F000000000004B3C8"
"""172.30.40.9:10911, physical offset 308168."""
OTHER_OFFSET: Final = "AC1E280900002A9F00000000000A11F0"
HALF: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
BUSY: Final = "broker-busy"
IDENTITY: Final = "message-identity"
SIZE: Final = "message-size-mismatch"
CONSISTENCY: Final = "transaction-consistency"
FAQ: Final = "See http://rocketmq.apache.org/docs/faq/ for further details."


@attrs.frozen
class Paste:
    """One paste. `causes`: root causes that are confirmed or suspected, no other is; `also`: neighbours that are found;
    `slugs`: known texts and problems that `explain` names; `ids`: ids that it takes apart.
    """

    name: str
    text: str
    causes: dict[str, str] = attrs.field(factory=dict)
    also: tuple[str, ...] = ()
    slugs: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


def _busy(detail: str) -> str:
    return f"org.apache.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: {detail}"


_CLEANED = "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 214ms, size of queue: 37"
_PUT_BACK = f"PutBackToHalfQueueReturnResult write failed, topic: {HALF}, queueId: 0, msgId: {OFFSET}"

TWO_IDS: Final = (
    Paste("send result beside console, in words", f"send() printed msgId={UNIQ}\nthe dashboard shows {OFFSET}, why are they different?",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("Chinese, id in full-width brackets", f"发送返回的 msgId（{UNIQ}）和控制台的 Message ID（{OFFSET}）不一样\n按前者查不到消息，是丢了吗",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("Chinese, full-width colons, two lines", f"生产者日志：msgId：{UNIQ}\n消费者日志：msgId：{OFFSET}\n请问怎么对应起来？",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("quoted twice, code marks", f"> > my log: `{UNIQ}`\n> > console: `{OFFSET}`\n> which of them do I search with?",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("HTML of a blog", f"<p>producer: <code>{UNIQ}</code><br/>broker: <code>{OFFSET}</code></p><p>same message&nbsp;?</p>",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("small letters", f"producer {UNIQ.lower()}\nconsumer {OFFSET.lower()}\nare these the same message",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("fence and JSON", f'```json\n{{"msgId": "{UNIQ}"}}\n```\nand the consumer got\n```json\n{{"offsetMsgId": "{OFFSET}"}}\n```',
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("two prompts", f"[app@web-3 ~]$ grep msgId order.log\nmsgId={UNIQ}\nPS C:\\mq> mqadmin queryMsgById -i {OFFSET}",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("dedup key is the offset id", f"first delivery offsetMsgId={OFFSET}\nsecond delivery offsetMsgId={OTHER_OFFSET}\nboth have UNIQ_KEY {UNIQ}, our dedup table took it twice",
          {IDENTITY: "suspected"}, ids=(OFFSET, OTHER_OFFSET, UNIQ)),
    Paste("table of an issue", f"| where | id |\n|---|---|\n| producer | {UNIQ} |\n| dashboard | {OFFSET} |", {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("one line with both ids, a comparison in words", f"发送成功返回 msgId={UNIQ}，但是控制台上看到的却是 {OFFSET}，两个为什么不一致？",
          {IDENTITY: "suspected"}, ids=(UNIQ, OFFSET)),
    Paste("look-up of the wrong kind", f"# sh mqadmin queryMsgById -n 172.30.40.2:9876 -i {UNIQ}\norg.apache.rocketmq.tools.command.SubCommandException: QueryMsgByIdSubCommand command failed\n"
          "Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE: 208  DESC: query message by id finished, but no message.",
          {IDENTITY: "confirmed"}, ids=(UNIQ,)),
)  # fmt: skip

NOT_TWO_IDS: Final = (
    Paste("a send result alone", f"SendResult [sendStatus=SEND_OK, msgId={UNIQ}, offsetMsgId={OFFSET}, messageQueue=MessageQueue [topic=freight, brokerName=mq-b1, queueId=2], queueOffset=8]",
          ids=(UNIQ, OFFSET), slugs=("send-result",)),
    Paste("two send results", f"SendResult [sendStatus=SEND_OK, msgId={UNIQ}, offsetMsgId={OFFSET}, messageQueue=MessageQueue [topic=freight, brokerName=mq-b1, queueId=2], queueOffset=8]\n"
          f"SendResult [sendStatus=SEND_OK, msgId={UNIQ[:-1]}8, offsetMsgId={OTHER_OFFSET}, messageQueue=MessageQueue [topic=freight, brokerName=mq-b1, queueId=3], queueOffset=2]", ids=(UNIQ, OFFSET, f"{UNIQ[:-1]}8", OTHER_OFFSET)),
    Paste("two offset ids", f"consumed {OFFSET}\nconsumed {OTHER_OFFSET}", ids=(OFFSET, OTHER_OFFSET)),
    Paste("a digest and an id", f"md5={UNIQ}\nmsgId {OFFSET}", ids=(OFFSET,)),
    Paste("a question without ids", "RocketMQ 的 msgId 和 offsetMsgId 有什么区别？"),
)  # fmt: skip

SLOW: Final = (
    Paste("4.4, in lock", "2023-03-07 19:12:44 WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=1933, bodyLength=602 AppendMessageResult=AppendMessageResult{status=PUT_OK, wroteOffset=88120}",
          {BUSY: "suspected"}, slugs=("slow-store-write",)),
    Paste("4.4, eclipse", "2023-03-07 19:12:44 WARN SendMessageThread_17 - putMessage not in lock eclipse time(ms)=2841, bodyLength=75\n2023-03-07 19:12:44 WARN SendMessageThread_9 - putMessage not in lock eclipse time(ms)=2790, bodyLength=75",
          {BUSY: "suspected"}),
    Paste("4.9, elapsed, as a question", "服务端经常出现下面的日志，磁盘是 SSD，请问什么原因：\n> 2023-03-07 19:12:44 WARN SendMessageThread_4 - putMessage not in lock elapsed time(ms)=904, bodyLength=6811",
          {BUSY: "suspected"}),
    Paste("DLedger thread", "2023-03-07 22:23:13 WARN QuorumAckChecker-n0 - putMessage not in lock elapsed time(ms)=31022, bodyLength=188", {BUSY: "suspected"}),
    Paste("5.x wording", "2024-02-11 08:01:02 WARN SendMessageThread_2 - DefaultMessageStore#putMessage: CommitLog#putMessage cost 1204ms, topic=freight, bodyLength=77",
          {BUSY: "suspected"}),
    Paste("batch in lock", "WARN SendMessageThread_3 - [NOTIFYME]putMessages in lock cost time(ms)=766, bodyLength=90112 AppendMessageResult=...", {BUSY: "suspected"}),
    Paste("page cache distribution", "2023-03-07 19:13:00 INFO StoreStatsService - [PAGECACHERT] TotalPut 4120, PutMessageDistributeTime [<=0ms]:3991 [0~10ms]:88 [10~50ms]:2 [50~100ms]:0 [100~200ms]:0 [200~500ms]:1 [500ms~1s]:14 [1~2s]:20 [2~3s]:4 [3~4s]:0 [4~5s]:0 [5~10s]:0 [10s~]:0",
          {BUSY: "suspected"}),
    Paste("page cache distribution, quick", "2023-03-07 19:13:00 INFO StoreStatsService - [PAGECACHERT] TotalPut 4120, PutMessageDistributeTime [<=0ms]:4100 [0~10ms]:20 [10~50ms]:0 [50~100ms]:0 [100~200ms]:0 [200~500ms]:0 [500ms~1s]:0 [1~2s]:0 [2~3s]:0 [3~4s]:0 [4~5s]:0 [5~10s]:0 [10s~]:0"),
    Paste("flush", "2023-03-07 19:12:46 INFO FlushRealTimeService - Flush data to disk costs 5102 ms", {BUSY: "suspected"}),
    Paste("mmap", "2023-03-07 19:12:44 WARN SendMessageThread_1 - create mmap timeout /data/rmq/commitlog/00000000084825604096 1073741824\n2023-03-07 19:12:44 ERROR SendMessageThread_1 - create mapped file1 error, topic: freight clientAddr: /172.30.40.5:44120",
          {BUSY: "suspected"}),
    Paste("transient pool", "2023-03-07 19:12:44 WARN SendMessageThread_1 - TransientStorePool only remain 0 sheets.", {BUSY: "suspected"}),
    Paste("cut in front and behind", "…essageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=4052, bodyLength=4", {BUSY: "suspected"}),
)  # fmt: skip

REFUSED: Final = (
    Paste("as thrown", f"{_busy(_CLEANED)}\nFor more information, please visit the url, http://rocketmq.apache.org/docs/faq/\n\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.processSendResponse(MQClientAPIImpl.java:711)",
          {BUSY: "confirmed"}),
    Paste("older package", f"com.alibaba.rocketmq.client.exception.MQBrokerException: CODE: 2  DESC: {_CLEANED}", {BUSY: "confirmed"}),
    Paste("in a fence, quoted", f"> ```java\n> {_busy('[REJECTREQUEST]system busy, start flow control for a while')}\n> ```", {BUSY: "confirmed"}),
    Paste("retyped by a blog", "MQBrokerException: CODE:2 DESC:[TIMEOUT_CLEAN_QUEUE] Broker busy,start flow control for a while,period in queue: 205ms, size of queue:880", {BUSY: "confirmed"}),
    Paste("HTML entities", f"<li>{_busy('[PCBUSY_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 0ms, size of queue: 0').replace(' ', '&nbsp;', 1)}</li>", {BUSY: "confirmed"}),
    Paste("lock held too long, code 2", _busy("[PC_SYNCHRONIZED]broker busy, start flow control for a while"), {BUSY: "confirmed"}),
    Paste("too many requests", "MQBrokerException: CODE: 2  DESC: [OVERLOAD]system busy, start flow control for a while", {BUSY: "confirmed"}),
    Paste("in words", "生产环境突然大量报错 [REJECTREQUEST]system busy, start flow control for a while，重启 broker 之后恢复", {BUSY: "confirmed"}),
    Paste("timeouts only", "org.apache.rocketmq.remoting.exception.RemotingTimeoutException: wait response on the channel <172.30.40.9:10911> timeout, 3000(ms)", {BUSY: "suspected"}),
    Paste("call timeouts only", "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: sendDefaultImpl call timeout", {BUSY: "suspected", "broker-unreachable": "suspected"}),
    Paste("disk full is no flow control", "MQBrokerException: CODE: 14  DESC: service not available now, maybe disk full, CL:  0.96 CQ:  0.96 INDEX:  0.96, maybe your broker machine memory too small.", also=("disk-full",)),
)  # fmt: skip

PUT_BACK: Final = (
    Paste("whole", f"2022-10-09 03:40:18 ERROR TransactionalMessageCheckService - {_PUT_BACK}", {SIZE: "suspected"}, ids=(OFFSET,)),
    Paste("cut behind the topic", f"ERROR TransactionalMessageCheckService - PutBackToHalfQueueReturnResult write failed, topic: {HALF}, que", {SIZE: "suspected"}),
    Paste("cut in the text", "2022-10-09 03:40:18 ERROR TransactionalMessageCheckService - PutBackToHalfQueueReturnResult write fai", {SIZE: "suspected"}),
    Paste("cut in front", f"alfQueueReturnResult write failed, topic: {HALF}, queueId: 0, msgId: {OFFSET}", {SIZE: "suspected"}, ids=(OFFSET,)),
    Paste("with its size", f"2022-10-09 03:40:18 WARN TransactionalMessageCheckService - message size exceeded, msg total size: 65548, msg body size: 65100, maxMessageSize: 65536\n2022-10-09 03:40:18 ERROR TransactionalMessageCheckService - {_PUT_BACK}",
          {SIZE: "confirmed"}, ids=(OFFSET,)),
    Paste("Chinese, in words and a line", f"transaction.log 一直刷下面这行，一分钟几十万行，half topic 不往前走\n{_PUT_BACK}", {SIZE: "suspected"}, ids=(OFFSET,)),
    Paste("a send refused at once", "MQClientException: CODE: 13  DESC: the message body size over max value, MAX: 4194304", also=("client-oversize-reject",)),
)  # fmt: skip

OVERTAKEN: Final = (
    Paste("application's own words", "10:02:01.120 [main] executeLocalTransaction begin, order 7712\n10:02:07.300 [check-1] checkLocalTransaction order 7712 -> UNKNOW\n10:02:15.004 [main] executeLocalTransaction end, order 7712 committed",
          {CONSISTENCY: "suspected"}),
    Paste("Chinese words", "本地事务还没执行完，broker 就来回查了，checkLocalTransaction 返回 ROLLBACK，结果订单入库了消息没发出去", {CONSISTENCY: "suspected"}),
    Paste("Chinese log", "2023-05-01 12:00:01.001 开始执行本地事务 orderNo=A771\n2023-05-01 12:00:08.412 收到回查 orderNo=A771\n2023-05-01 12:00:31.650 本地事务执行完成 orderNo=A771", {CONSISTENCY: "suspected"}),
    Paste("quoted issue", "> The check comes before my local transaction is finished:\n> executeLocalTransaction start tx=81\n> checkLocalTransaction tx=81\n> executeLocalTransaction done tx=81", {CONSISTENCY: "suspected"}),
    Paste("exception in the local transaction", "2023-05-01 12:00:01,001 INFO RocketmqClient - executeLocalTransactionBranch exception\njava.lang.IllegalStateException: connection is closed\n\tat com.acme.Pay.run(Pay.java:40)", {CONSISTENCY: "suspected"}),
    Paste("sentence of an issue", "checkLocalTransaction is called while executeLocalTransaction is still running (it takes about 20s), so the message is committed twice", {CONSISTENCY: "suspected"}),
    Paste("an ordinary listener's names", "class L implements TransactionListener {\n  public LocalTransactionState executeLocalTransaction(Message m, Object o) { return COMMIT_MESSAGE; }\n  public LocalTransactionState checkLocalTransaction(MessageExt m) { return COMMIT_MESSAGE; }\n}"),
    Paste("another transaction's check", "09:00:00 executeLocalTransaction begin order=118\n09:00:01 checkLocalTransaction order=97 -> COMMIT\n09:00:02 executeLocalTransaction end order=118"),
    Paste("one after the other", "09:00:00 executeLocalTransaction begin 1\n09:00:01 executeLocalTransaction end 1\n09:01:00 checkLocalTransaction 2 -> COMMIT"),
)  # fmt: skip

OTHERS: Final = (
    Paste("no route", f"org.apache.rocketmq.client.exception.MQClientException: No route info of this topic: freigth\n{FAQ}", also=("topic-missing",), slugs=("topic-no-route",)),
    Paste("disk threshold", "2022-10-09 03:40:18 WARN StoreScheduledThread1 - physic disk maybe full soon 0.93, so mark disk full", also=("disk-full",)),
    Paste("slave ahead", "ERROR x - slave[172.30.40.12:50112] request offset=991 greater than local commitLog offset=880.", slugs=("slave-ahead",)),
    Paste("name server connect", "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to [172.30.40.2:9876] failed", slugs=("namesrv-unreachable",)),
    Paste("ACL", "MQBrokerException: CODE: 1  DESC: org.apache.rocketmq.acl.common.AclException: No acl config for app-7, org.apache.rocketmq.acl.plain.PlainPermissionManager.validate(PlainPermissionManager.java:672)", also=("acl-denied",)),
    Paste("only a healthy start", "The broker[mq-b1, 172.30.40.9:10911] boot success. serializeType=JSON and name server is 172.30.40.2:9876", slugs=("broker-boot",)),
    Paste("settings", "brokerRole=ASYNC_MASTER\nflushDiskType=ASYNC_FLUSH\nwaitTimeMillsInSendQueue=200"),
    Paste("nothing of RocketMQ", "java.lang.NullPointerException: null\n\tat com.acme.Cart.total(Cart.java:12)"),
    Paste("consumer behind", "the cached message count exceeds the threshold 1000, so do flow control, minOffset=90, maxOffset=1180, count=1001, size=1 MiB, pullRequest=PullRequest [consumerGroup=lorry-cg, messageQueue=MessageQueue [topic=freight, brokerName=mq-b1, queueId=2], nextOffset=1181], flowControlTimes=1",
          {"consumer-backlog": "suspected"}),
    Paste("a leaked half message", f"ERROR x - MsgExt:MessageExt [queueId=0, storeSize=512, queueOffset=77, sysFlag=8, bornTimestamp=1668000000000, bornHost=/172.30.40.5:41002, storeTimestamp=1668000003000, storeHost=/172.30.40.9:10911, msgId={OFFSET}, commitLogOffset=308168, bodyCRC=5511, reconsumeTimes=0, preparedTransactionOffset=0, toString()=Message{{topic='{HALF}', flag=0, properties={{REAL_TOPIC={HALF}, TRANSACTION_CHECK_TIMES=15, RETRY_TOPIC=freight, TRAN_MSG=true, RECONSUME_TIME=1, DELAY=3, UNIQ_KEY={UNIQ}}}, body=[1], transactionId='{UNIQ}'}}] has been checked too many times, so discard it by moving it to system topic TRANS_CHECK_MAXTIME_TOPIC",
          {"half-topic-blowup": "confirmed"}, ids=(OFFSET, UNIQ)),
    Paste("retry topic too long", "putMessage message topic length too long 149", also=("retry-topic-too-long",), slugs=("name-too-long",)),
    Paste("checks reach nobody", "2022-10-09 03:40:18 WARN TransactionalMessageCheckService - Check transaction failed, channel is null. groupId=freight-pg", also=("producer-offline",)),
)  # fmt: skip

EVERY: Final = (*TWO_IDS, *NOT_TWO_IDS, *SLOW, *REFUSED, *PUT_BACK, *OVERTAKEN, *OTHERS)
