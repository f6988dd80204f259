"""What the known log texts say that are no problem of their own: ordinary life of broker and clients, answers, look-ups.

What sounds like trouble but is harmless is in `benign`; what is trouble in `kit.rocketmq.known_problems`.
"""

from __future__ import annotations

from typing import Final

from kit.i18n import T

_CHECK: Final = T("The broker's check of half messages runs; this line belongs to each round.")
_LIFE: Final = T("The ordinary course of a broker or client.")
_STATS: Final = T("Statistics the broker prints at an interval: rates, queue lengths, distributions.")
_OP: Final = T("The broker recorded that a half message was ended; it is not checked any more.")
_RESET: Final = T(
    "A reset of a group's offsets by an administrator: what lies between the old and the new place is skipped or repeated."
)

MEANINGS: Final[dict[str, T]] = {
    "flow-control": T(
        "Flow control: the broker refused the request and stored nothing of it. The word in brackets in front of it names the kind."
    ),
    "client-too-many-requests": T(
        "The client itself refused the request: its time was used up before it could be sent, or too many asynchronous requests were under way. The text behind it says which."
    ),
    "client-connect-failed": T("A connection could not be made; the text behind it names the address."),
    "queue-lock-failed": T(
        "An ordered consumer did not get the lock of a queue: another member still holds it, for up to 60 s after a change."
    ),
    "offset-too-small": T(
        "A consumer asked for messages that are deleted already; its offset moves to the first one that is left."
    ),
    "offset-reset-started": _RESET,
    "offset-reset-done": _RESET,
    "offset-reset-client": _RESET,
    "offset-reset-on-pull": _RESET,
    "offset-reset-command": _RESET,
    "broker-lost": T(
        "The name server dropped a broker from its routes: the connection was closed, the broker unregistered, or no heartbeat came in time."
    ),
    "broker-config-updated": T(
        "Somebody changed settings of the running broker (updateBrokerConfig); the line names them and the address it came from."
    ),
    "consumer-disconnected": T("A consumer's connection ended or it unregistered; its queues go to the other members."),
    "access-denied": T("Access control refused a request; the text behind it says why."),
    "receive-held-back": T(
        "A 5.x client holds as many messages as it may and asks for no more until some are handled."
    ),
    "grpc-listener-raised": T(
        "The application's listener threw: the message counts as not consumed and is delivered again."
    ),
    "grpc-fifo-given-up": T("An ordered message failed in all its attempts and goes to the dead letter topic."),
    "grpc-receive-failed": T(
        "A request for messages failed and is made again after a pause. The exception below says why."
    ),
    "check-service-start": _CHECK,
    "check-service-end": _CHECK,
    "check-begin": _CHECK,
    "check-end": _CHECK,
    "check-topic-queues": _CHECK,
    "check-position": _CHECK,
    "check-position-after": _CHECK,
    "op-more-needed": _CHECK,
    "op-batch-start": _CHECK,
    "half-finished": T("This half message was committed or rolled back before; the check passes over it."),
    "check-sent-4": T("The broker asks the producer what became of a transaction."),
    "check-sent": T("The broker asks the producer what became of a transaction."),
    "half-too-old": T(
        "The half message is older than fileReservedTime and is passed over without a check: nobody answered in days, and it is never delivered."
    ),
    "check-discard-stored": T("A half message at the check limit was put into TRANS_CHECK_MAX_TIME_TOPIC."),
    "check-round-limit": T(
        "The check round used up its time (60 s): many half messages are open, or one is put back again and again."
    ),
    "op-read": _OP,
    "op-written": _OP,
    "transaction-put-failed": T("A half or op record could not be written; store.log says why at that second."),
    "end-transaction-request": T(
        "A producer ends a transaction; commitOrRollback 8 is commit, 12 rollback, 0 unknown."
    ),
    "check-answer-pending": T("The producer answered a check with UNKNOWN: it is asked again in the next round."),
    "check-answer-commit": T(
        "The producer answered a check with COMMIT: its own answer was lost, late, or it is slow."
    ),
    "check-answer-rollback": T(
        "The producer answered a check with ROLLBACK: the message is not delivered. Right only if the business row does not exist."
    ),
    "end-transaction-pending": T("The local transaction answered UNKNOW: the check decides."),
    "end-transaction-rollback": T("The local transaction was rolled back: the message is not delivered."),
    "leaked-half-printed": T(
        "A half message whose real topic is the half topic itself: a retry that was sent again as a half message. It can multiply with each check."
    ),
    "leaked-commit-printed": T(
        "A half message whose real topic is the half topic was committed, back into the half topic: it multiplies with each check."
    ),
    "put-percentile": _STATS,
    "perf-counter": _STATS,
    "store-tps": _STATS,
    "page-cache-rt": _STATS,
    "page-cache-slow": T(
        "Some appends of the last minute took longer than half a second: the counts of the slow classes are not 0. From 1 s on (osPageCacheBusyTimeOutMills) the broker refuses sends."
    ),
    "watermark": T(
        "Length of the broker's request queues and how long their first request has waited. A send queue above 0 for seconds is the beginning of flow control."
    ),
    "stats": _STATS,
    "stats-moment": _STATS,
    "request-codes": _STATS,
    "response-codes": _STATS,
    "mapped-file-slow": T("How long it took to make the next store file. Only seconds matter."),
    "flush-wait-failed": T(
        "A synchronous flush did not end within syncFlushTimeout (5 s); the send is answered FLUSH_DISK_TIMEOUT. The message is in the store, not yet certainly on the disk."
    ),
    "disk-reclaim": _LIFE,
    "store-last-shutdown": T("How the store was left last time; `normally` means that nothing needs recovery."),
    "store-loaded": _LIFE,
    "reput-start": _LIFE,
    "broker-boot": T("The broker started."),
    "dispatch-behind": T("How many bytes of the commitlog have no consume queue entries yet; 0 is normal."),
    "slave-behind": T("How many bytes the slave is behind its master; small numbers are normal."),
    "producer-connected": T("A producer connected; group, client id, address and version are printed."),
    "consumer-connected": T("A consumer connected; group, client id, address and version are printed."),
    "producer-unregistered": T("A producer said goodbye."),
    "producer-group-unregistered": T(
        "The last producer of the group on this broker said goodbye: checks of its transactions reach nobody until one returns."
    ),
    "producer-channel-removed": T("A producer's connection ended."),
    "dlq-sent": T("A message failed in all its retries and became a dead letter in %DLQ% + group."),
    "response-lost": T("The client had gone before the broker's answer; a send answered 0 is stored."),
    "broker-jstack": T(
        "The broker printed its own threads, because requests waited long: what the send threads do there is the reason."
    ),
    "topic-updated": T("A topic was created or changed by an administrator."),
    "oneway-busy": T("A one-way request found no free place among those that may be open."),
    "protect-broker": T("disableConsumeIfConsumerReadSlowly switched a group off that was far behind."),
    "queue-lock": T("An ordered consumer took the lock of its queues."),
    "queue-unlock": T("An ordered consumer gave its queues back."),
    "service-not-available": T(
        "Code 14: the store takes no messages now. The ratios printed decide: near 0.90 the disk is full; far below, the broker is a slave, is shutting down, or writing to a queue file failed."
    ),
    "put-refused": T("The store refused a record as illegal: too large, name or properties too long."),
    "message-by-offset-missing": T(
        "A send-back named an offset the broker no longer has: the original expired, or the message came from another broker."
    ),
    "client-send-request-failed": T("The request could not be written to the connection."),
    "late-response-stored": T(
        "A late answer to a send: code 0 with msgId means that the message was stored although the caller saw a time-out."
    ),
    "send-attempt-failed": T(
        "One attempt of a send failed; `resend at once` means that another follows, the exception behind it says why."
    ),
    "send-attempt-message": T("The message of a failed send attempt, with its keys and UNIQ_KEY."),
    "send-result": T(
        "What a send returned: msgId is the UNIQ_KEY, offsetMsgId the place of the stored copy. SEND_OK, FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE are all stored."
    ),
    "async-retry": T("An asynchronous send is tried again on another broker."),
    "broker-exception": T("The broker answered a request with a code other than success; CODE and DESC say which."),
    "client-exception": T("The client refused or gave up a request; the text behind says why."),
    "local-transaction-answer": T("What executeLocalTransaction returned, when that was not COMMIT."),
    "client-check-rollback": T("The producer answered a check with ROLLBACK: the message is not delivered."),
    "client-check-unknown": T("The producer answered a check with UNKNOW: it is asked again."),
    "consumer-offset-saved": _LIFE,
    "queue-taken": T("A consumer took a queue over at a rebalance."),
    "consumer-group-changed": T("A member joined or left the group; the queues are distributed anew."),
    "message-printed": T(
        "A whole message as the client prints it: msgId is the UNIQ_KEY for consumers, storeHost and commitLogOffset are the place of this copy."
    ),
    "client-started": _LIFE,
    "admin-tool": T("mqadmin, the dashboard or an exporter was used from this host."),
    "query-no-message": T(
        "Code 208: no message under that id. An offset id of an expired message gives it, and so does a UNIQ_KEY given to queryMsgById."
    ),
    "lookup-command": T(
        "A look-up of a message: queryMsgById takes the offset id, queryMsgByUniqueKey and queryMsgTraceById the UNIQ_KEY."
    ),
    "lookup-failed": T("A look-up found nothing; was the id of the kind this command takes?"),
    "lookup-found": T("A look-up found the message."),
    "mqadmin-command": T("An administrator's command."),
    "dedup-key": T(
        "The application says what it recognises repeated messages by. An offset id differs with every retry and is useless for that; UNIQ_KEY or a business key stay."
    ),
    "client-created": _LIFE,
    "heartbeat-data": _LIFE,
    "queues-assigned": T("The queues this consumer has after a rebalance."),
    "queues-assigned-go": T("The queues this consumer has after a rebalance."),
    "queue-left": T("A consumer gave a queue up at a rebalance."),
    "pull-started": T("A consumer begins to pull a queue; nextOffset is where."),
    "pull-held-back-cpp": T("The C++ client holds its pulls back: its listener is slower than what arrives."),
    "expired-sent-back": T(
        "A message was in work longer than consumeTimeout (15 minutes) and was sent back: another consumer gets it while the first may still work on it."
    ),
    "consumer-stopped": _LIFE,
    "consumer-registered": _LIFE,
    "subscription-replaced": T("The broker took over another subscription for the group: old and new are printed."),
    "subscription-added": T("A group subscribed to one topic more."),
}
"""Slug of a text in the catalogue → one sentence or two."""
