"""Which id each call returns, by client version.

A message has one UNIQ_KEY and as many offset ids as copies; each API returns one of them and calls it "message id".
`upstream` is the class below `org/apache/rocketmq` that determines it.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs

from kit.i18n import T
from kit.rocketmq import stages
from kit.rocketmq.versions import Version

Which = Literal["uniq", "offset", "none"]


@attrs.frozen
class Handed:
    """One call: its side, which id it returns, of which copy (`stage`s, the newest; empty: of the message), since/until which client."""

    call: str
    side: Literal["producer", "listener", "consumer", "mqadmin", "log"]
    which: Which
    upstream: str
    says: T
    stages: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    transactional: bool | None = None
    """Only for transactional messages (True), only for others (False), for all (None)."""

    def holds(self, client: str | Version | None) -> bool:
        """Return whether it applies to a client of this version; an unknown version counts as the newest."""
        if client is None:
            return self.until is None
        version = Version.parse(client)
        after = self.since is None or version >= Version.parse(self.since)
        return after and (self.until is None or version <= Version.parse(self.until))


_STORED = (stages.ORIGINAL, stages.SCHEDULE)
_SEEN = (stages.ORIGINAL, stages.COMMIT, stages.DUE, stages.RETRY)

# fmt: off
CALLS: Final[tuple[Handed, ...]] = (
    Handed("SendResult.getMsgId()", "producer", "uniq", "client/impl/MQClientAPIImpl.processSendResponse",
           T("the UNIQ_KEY the client gave it; a batch gets all of them, joined by commas")),
    Handed("SendResult.getOffsetMsgId()", "producer", "offset", "client/impl/MQClientAPIImpl.processSendResponse",
           T("the offset id of the record the send stored: for a delayed message the one in SCHEDULE_TOPIC_XXXX"), _STORED, transactional=False),
    Handed("TransactionSendResult.getMsgId()", "producer", "uniq", "client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction",
           T("the UNIQ_KEY"), transactional=True),
    Handed("TransactionSendResult.getOffsetMsgId()", "producer", "none", "client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction",
           T("null: the result is a new object and this field is not copied"), transactional=True),
    Handed("TransactionSendResult.getTransactionId()", "producer", "uniq", "client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction",
           T("the UNIQ_KEY"), transactional=True),
    Handed("executeLocalTransaction(Message): getTransactionId()", "listener", "uniq", "client/impl/producer/DefaultMQProducerImpl.sendMessageInTransaction",
           T("the UNIQ_KEY; a Message has no getMsgId"), transactional=True),
    Handed("checkLocalTransaction(MessageExt): getMsgId()", "listener", "offset", "client/impl/ClientRemotingProcessor.checkTransactionState",
           T("the offset id of the half copy this check wrote: a different one at every check"), (stages.CHECK_BACK, stages.LEAKED), transactional=True),
    Handed("checkLocalTransaction(MessageExt): getTransactionId()", "listener", "uniq", "client/impl/ClientRemotingProcessor.checkTransactionState",
           T("the UNIQ_KEY"), transactional=True),
    Handed("consumeMessage(MessageExt): getMsgId()", "consumer", "uniq", "common/message/MessageClientExt.getMsgId",
           T("the UNIQ_KEY: push and pull consumers get a MessageClientExt, which overrides it; the offset id only if a message has no UNIQ_KEY")),
    Handed("consumeMessage(MessageClientExt): getOffsetMsgId()", "consumer", "offset", "common/message/MessageClientExt.getOffsetMsgId",
           T("the offset id of the copy just delivered: a different one at every retry"), _SEEN),
    Handed("MessageExt.toString(): msgId=", "log", "offset", "common/message/MessageExt.toString",
           T("the offset id, on the client too: the field, not the overridden getter"), _SEEN),
    Handed('getProperty("ORIGIN_MESSAGE_ID")', "consumer", "offset", "broker/processor/SendMessageProcessor.consumerSendMsgBack",
           T("the offset id of the copy that was first sent back, the same in all its retries"), ("origin",)),
    Handed("mqadmin queryMsgById: OffsetID", "mqadmin", "offset", "tools/command/message/QueryMsgByIdSubCommand",
           T("takes an offset id and prints it"), (*_SEEN, *_STORED)),
    Handed("mqadmin queryMsgByKey: #Message ID", "mqadmin", "uniq", "tools/command/message/QueryMsgByKeySubCommand",
           T("the UNIQ_KEY: do not give it to queryMsgById")),
    Handed("mqadmin queryMsgByUniqueKey, queryMsgTraceById", "mqadmin", "uniq", "tools/command/message/QueryMsgByUniqueKeySubCommand",
           T("take a UNIQ_KEY; only copies in the given topic are found")),
    Handed("transaction.log: EndTransactionRequestHeader msgId", "log", "uniq", "client/impl/producer/DefaultMQProducerImpl.endTransaction",
           T("the UNIQ_KEY; commitLogOffset names the half copy"), transactional=True),
    Handed("transaction.log: PutBackToHalfQueueReturnResult … msgId", "log", "offset", "broker/transaction/queue/TransactionalMessageServiceImpl.putBackHalfMsgQueue",
           T("the offset id of the half record that was read"), (stages.HALF, stages.CHECK_BACK), transactional=True),
    Handed("message trace: msgId", "log", "uniq", "client/trace/TraceDataEncoder", T("the UNIQ_KEY, for both Pub and Sub"), since="4.4.0"),
    Handed("SendReceipt.getMessageId() (gRPC client)", "producer", "uniq", "apache/rocketmq-clients MessageIdCodec",
           T("34 digits beginning with 01, stored as UNIQ_KEY"), since="5.0.0"),
)
# fmt: on
