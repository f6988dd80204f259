"""Known problems of transaction messages."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

_SERVICE: Final = "broker/transaction/queue/TransactionalMessageServiceImpl"

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "put-back-failed",
        T("A half message could not be put back for its check"),
        ("QueueReturnResult write", "PutBackToHalfQueueReturnResult error"),
        T(
            "Before each check the broker writes the half message again with a higher check count; that write was refused. The check loop stays on this message until the round's time is over, and the half queue does not advance."
        ),
        T(
            "store.log at that second: `message size exceeded` names a record above maxMessageSize; otherwise a full disk, flow control or a slave."
        ),
        f"{_SERVICE}.putBackHalfMsgQueue",
        cause="message-size-mismatch",
        verdict="suspected",
        decides=T(
            "Always the same msgId: its record is too large with the added properties. Different ids for a short time: the store refused writes."
        ),
        remedy=T(
            "Raise the broker's maxMessageSize above the record, or lower the producers' limit; before 4.9.4 the whole record counts."
        ),
        risk=T("A higher limit needs memory for each send."),
    ),
    problem(
        "check-overtakes-local",
        T("A check came while the local transaction was still running"),
        ("executeLocalTransaction{}checkLocalTransaction{}executeLocalTransaction",),
        T(
            "The broker asks for the state of a transaction that is older than transactionTimeOut (6 s; CHECK_IMMUNITY_TIME_IN_SECONDS of the message), whether or not executeLocalTransaction has returned. A check that answers ROLLBACK because the row is not there yet ends a good transaction; one that answers COMMIT may commit it twice."
        ),
        T(
            "Compare the times of executeLocalTransaction's begin and end with those of checkLocalTransaction for one key, and look at what the check answered."
        ),
        "broker/transaction/queue/TransactionalMessageServiceImpl.check",
        remedy=T(
            "Answer UNKNOW in checkLocalTransaction while the row may still come, and set CHECK_IMMUNITY_TIME_IN_SECONDS above the longest local transaction."
        ),
        risk=T("Transactions that really failed stay open until the check limit."),
        cause="transaction-consistency",
        printed="the application",
        example="executeLocalTransaction begin A1; checkLocalTransaction A1; executeLocalTransaction end A1",
    ),
    problem(
        "half-discarded",
        T("A half message reached the check limit and was discarded"),
        ("has been checked too many times, so discard it",),
        T(
            "Nobody answered COMMIT or ROLLBACK in transactionCheckMax checks (15 by default). The message goes to TRANS_CHECK_MAX_TIME_TOPIC (from 4.5.2) and is never delivered."
        ),
        T("Did the checks reach a producer, and what did it answer? The real topic and keys are in the line."),
        "broker/transaction/queue/DefaultTransactionalMessageCheckListener",
        cause="check-unknown-until-discard",
        verdict="confirmed",
    ),
    problem(
        "half-discard-failed",
        T("A half message at its check limit could not be stored as discarded"),
        (
            "to TRANS_CHECK_MAXTIME_TOPIC failed",
            "to TRANS_CHECK_MAXTIME_TOPIC error",
            "create TRANS_CHECK_MAX_TIME_TOPIC exception",
            "Escaping transactional message failed",
        ),
        T(
            "The message should have gone to TRANS_CHECK_MAX_TIME_TOPIC and the write failed. It is only in the log and in the half topic now."
        ),
        T("The exception or put status beside it; the message's keys are in the line."),
        "broker/transaction/queue/DefaultTransactionalMessageCheckListener",
        remedy=T("Save the line; resend by hand what the business committed."),
        risk=T("When the half record expires, the content is gone."),
        verdict="confirmed",
    ),
    problem(
        "check-no-producer",
        T("A check found no producer of the group"),
        (
            "Check transaction failed, channel is null",
            "Check transaction failed, channel table is empty",
            "Channel list is empty. groupId=",
            "check transaction failed, channel is empty. groupId=",
        ),
        T(
            "The half message's producer group has no connection to this broker. The check is not sent; the count goes on."
        ),
        T("Is the producer down, or does it run under another group? A producer connects only to brokers it sends to."),
        "broker/transaction/AbstractTransactionalMessageCheckListener, broker/client/ProducerManager",
        cause="producer-offline",
        verdict="suspected",
    ),
    problem(
        "check-send-failed",
        T("The check request could not be sent to the producer"),
        (
            "Check transaction failed because invoke producer exception",
            "Send check message error!",
            "TransactionalMessageCheckListener not init",
        ),
        T(
            "A producer of the group is connected, but the request failed: a dead connection or a channel that is not writable. The next round tries another channel."
        ),
        T("Does it repeat for one address? Compare with connection losses in remoting.log."),
        "broker/client/net/Broker2Client.checkProducerTransactionState",
        remedy=T("Restart the producer that does not read."),
        risk=T("None."),
        verdict="suspected",
        least=10,
        lasts=30.0,
    ),
    problem(
        "check-executor-full",
        T("The broker cannot send its checks fast enough"),
        (
            "RejectedExecutionException: Task org.apache.rocketmq.broker.transaction.AbstractTransactionalMessageCheckListener",
        ),
        T(
            "The broker sends checks through a pool of its own with a queue of 2,000. Before 4.6.0 a full queue threw an exception that ended the round; later the check thread sends itself and slows down."
        ),
        T("How many half messages wait, and which producers do not read their connection?"),
        "broker/transaction/AbstractTransactionalMessageCheckListener",
        printed="transaction.log, before 4.6.0",
        fixed="4.6.0 (6fb66c1f4c)",
        until="4.5.2",
        remedy=T("Upgrade to 4.6.0 or later; raise transactionCheckInterval until the backlog is gone."),
        risk=T("A longer interval delays the end of lost answers."),
        verdict="suspected",
        example="java.util.concurrent.RejectedExecutionException: Task org.apache.rocketmq.broker.transaction.AbstractTransactionalMessageCheckListener$2@1b2c rejected from java.util.concurrent.ThreadPoolExecutor@3d4e",
    ),
    problem(
        "check-no-listener",
        T("A producer received a check it cannot answer"),
        (
            "CheckTransactionState, pick transaction",
            "checkTransactionState, pick producer group failed",
            "checkTransactionState, decode message failed",
        ),
        T(
            "A client in the producer group has no transaction listener (or is another application). It answers nothing, and the check is wasted."
        ),
        T("Which application logged this? Producers of one group must all have the same listener."),
        "client/impl/producer/DefaultMQProducerImpl.checkTransactionState, client/impl/ClientRemotingProcessor",
        remedy=T(
            "Give each application its own producer group; never share a transaction group with ordinary producers."
        ),
        risk=T("Messages that wait under the old group need their old listener until they are done."),
        verdict="suspected",
    ),
    problem(
        "check-exception",
        T("checkLocalTransaction threw an exception"),
        ("but checkLocalTransactionState exception",),
        T(
            "The application's check failed; the client answers UNKNOWN, and the message stays pending until the next round or the check limit."
        ),
        T("The stack trace below the line: mostly the database or a missing handler."),
        "client/impl/producer/DefaultMQProducerImpl.checkTransactionState",
        remedy=T("Make the check answer from the transaction log alone; return UNKNOW instead of throwing."),
        risk=T("ROLLBACK for `no row yet` kills a slow but good transaction."),
        verdict="suspected",
    ),
    problem(
        "local-transaction-threw",
        T("executeLocalTransaction threw an exception"),
        ("executeLocalTransactionBranch exception",),
        T(
            "The client caught it, logged it (at INFO before 5.1.0) and answered UNKNOW. The caller of sendMessageInTransaction sees no exception."
        ),
        T("The stack trace; did the database part commit before it threw?"),
        "client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction",
        cause="transaction-consistency",
        verdict="suspected",
        unlike=T("it is no rollback: the check decides later"),
    ),
    problem(
        "end-transaction-lost",
        T("The answer of a local transaction did not reach the broker"),
        ("but end broker transaction failed", "endTransactionOneway exception"),
        T("COMMIT or ROLLBACK is sent one-way; sending it failed. Nothing is lost yet: the check asks again."),
        T("Is the check answered correctly for this message?"),
        "client/impl/producer/DefaultMQProducerImpl.endTransaction",
        remedy=T("None needed when the check works; correct the network or the broker's load."),
        risk=T("Delivery is late by transactionTimeOut."),
        verdict="suspected",
        least=3,
    ),
    problem(
        "end-transaction-refused",
        T("The broker refused the end of a transaction"),
        (
            "The transaction state table offset wrong",
            "The commit log offset wrong",
            "The producer group wrong",
            "Find prepared transaction message failed",
            "Message store is slave mode, so end transaction is forbidden",
        ),
        T(
            "COMMIT or ROLLBACK named a half message that does not fit: another broker's offset, a message that expired, another producer group, or the broker is a slave now."
        ),
        T("Compare commitLogOffset and the group of the request with the half record."),
        "broker/processor/EndTransactionProcessor",
        decides=T(
            "`producer group wrong`: a shared group. `Find prepared` failed: the half record is gone. Slave: the role changed."
        ),
        remedy=T("Leave it to the check on the right broker; give each application its own group."),
        risk=T("A half record that expired cannot be committed any more."),
        verdict="confirmed",
    ),
    problem(
        "end-transaction-late",
        T("An answer came after the check immunity time"),
        ("currentTimeMillis - bornTime > checkImmunityTime",),
        T(
            "Since 5.1.1 the broker refuses a producer's own COMMIT or ROLLBACK (code 604) that comes later than CHECK_IMMUNITY_TIME_IN_SECONDS, and leaves the message to the check."
        ),
        T("Does executeLocalTransaction take longer than the immunity time?"),
        "broker/processor/EndTransactionProcessor.rejectCommitOrRollback",
        remedy=T("Set the immunity time above the longest local transaction."),
        risk=T("A long time delays the check of lost answers."),
        verdict="confirmed",
        since="5.1.1",
    ),
    problem(
        "op-queue-damaged",
        T("The op queue of transactions is not readable"),
        (
            "Found a illegal tag in opMessageExt",
            "op message body is null. queueId=",
            "GetLong error",
            "GetInt error",
            "illegal offset read: {}, op offset: {},skip this queue",
        ),
        T(
            "The broker marks ended half messages in RMQ_SYS_TRANS_OP_HALF_TOPIC. A damaged or missing op record makes it check messages again that were ended, or skip the queue. Before 4.9.0 cleaning unused topics could delete the op topic (#2133)."
        ),
        T(
            "Was the op topic deleted (deleteTopic, cleanUnusedTopic)? Is its consume queue shorter than its consumer offset?"
        ),
        f"{_SERVICE}.fillOpRemoveMap",
        remedy=T("Let the checks run: ended messages are answered again by the producer; make consumers idempotent."),
        risk=T("Messages may be committed a second time."),
        verdict="suspected",
        until="4.8.0",
        fixed="4.9.0 (#2133)",
    ),
    problem(
        "op-write-failed",
        T("The end of a transaction could not be recorded"),
        ("Transaction op message write failed", "Transaction batch op message write failed", "batchSendOp error"),
        T(
            "The message was committed or rolled back, but the op record was not written: the half message is checked again, and a COMMIT delivers it twice."
        ),
        T("Why the write failed: disk, size, flow control at that second."),
        f"{_SERVICE}.deletePrepareMessage",
        remedy=T("Consumers must be idempotent; correct the store's refusal."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "transaction-put-failed",
        T("A record of the transaction service could not be written"),
        (
            "Failed to resume half message check logic",
            "Put message back to RMQ_SYS_TRANS_HALF_TOPIC failed",
            "Exception was thrown when putting message back to RMQ_SYS_TRANS_HALF_TOPIC",
            "Escaping message failed, topic",
        ),
        T("The broker could not write a half, op or escaped record to its own store or to another broker."),
        T("Put status and store.log at that second."),
        "broker/transaction/queue/TransactionalMessageBridge",
        classes=(
            "broker/TransactionalMessageBridge",
            "broker/TransactionalMessageServiceImpl",
            "broker/AbstractTransactionalMessageCheckListener",
            "broker/DefaultTransactionalMessageCheckListener",
        ),
        remedy=T("Correct what refuses the write; the check repeats it."),
        risk=T("None."),
        verdict="suspected",
    ),
    problem(
        "check-round-broken",
        T("A check round broke off with an exception"),
        ("Check error\n",),
        T(
            "An exception ended the check of the half queues for this round. When it is thrown by one message it repeats every round, and nothing behind that message is checked: with a broker before 4.6.0 mostly a compressed half message."
        ),
        T("The stack trace below it; the half offset in consumerOffset.json does not move."),
        f"{_SERVICE}.check",
        cause="undecodable-half-message",
        verdict="suspected",
        example="Check error\njava.lang.NullPointerException: null",
    ),
    problem(
        "half-queue-pause",
        T("The check of the half queue found nothing to do"),
        (
            "The queue of topic is empty",
            "No new message. GetMessageStatus=",
            "No matched message. GetMessageStatus=",
            "Offset illegal. GetMessageStatus=",
            "The miss op offset=",
        ),
        T("Each check round ends with such a line when half or op queue are read to the end."),
        T("Nothing, unless messages wait in the half topic all the same."),
        f"{_SERVICE}.check",
        unlike=T("no message is lost and no queue is stuck"),
    ),
    problem(
        "half-queue-unread",
        T("The check of half messages gets nothing from the store"),
        (
            "Get message from store return null. topic=",
            "check msgOffset={} with opOffset={} failed, pullResult is null",
        ),
        T(
            "The store gave the check no answer. While a broker stops that is normal: the store is closed before the check is. Otherwise the queue files of the half or op topic cannot be read."
        ),
        T("Is `message store has shutdown` beside it in store.log? If not: errors of the consume queue in store.log."),
        f"{_SERVICE}.check, broker/transaction/queue/TransactionalMessageBridge.getMessage",
        unlike=T("every stop of a broker prints it once or twice"),
        verdict="suspected",
        passing=("half-store-null", "check-pull-null"),
        example="Get message from store return null. topic=RMQ_SYS_TRANS_HALF_TOPIC, groupId=CID_RMQ_SYS_TRANS, requestOffset=12",
    ),
    problem(
        "transaction-metrics",
        T("Transaction metrics could not be saved"),
        ("Failed to persist {}transactionMetrics",),
        T("The counter file of open transactions (5.2.0 and later) was not written; it matters to monitoring only."),
        T("Space and permissions of the config folder."),
        "broker/transaction/TransactionMetrics",
        classes=("broker/TransactionMetrics", "broker/TransactionMetricsFlushService", "broker/JDBCTransactionStore"),
        example="Failed to persist /root/store/config/transactionMetrics",
    ),
    problem(
        "transaction-unsupported",
        T("Transaction messages are not allowed here"),
        (
            "sending transaction message is forbidden",
            "tranExecutor is null",
            "TransactionListener is null",
            "localTransactionBranchCheckListener is null",
            "please use TransactionMQProducer class",
        ),
        T(
            "The broker has rejectTransactionMessage=true, or the application sends in a transaction without a TransactionMQProducer and listener."
        ),
        T("Broker setting rejectTransactionMessage; which producer class is used?"),
        "broker/processor/SendMessageProcessor, client/producer",
        remedy=T("rejectTransactionMessage=false, or set a TransactionListener before start."),
        risk=T("None."),
        verdict="confirmed",
    ),
)
