"""Log texts that sound like trouble and are normal: which, why, and where that is known from.

Each is a text of the catalogue (`kit.rocketmq.log_events.catalogue`). None of them may count for a cause: they are shown so that nobody follows them.
A text whose harm depends on how often it comes (the answers to checks, one failed delivery) is not noise and does not stand here.
"""

from __future__ import annotations

from typing import Final

import attrs

from kit.i18n import T


@attrs.frozen
class Noise:
    """`slug`: the text in the catalogue; `why` it is harmless; `reference`: class or log it comes from. Those that are so
    only around a start or stop are in `kit.rocketmq.log_events.passing` as well.
    """

    slug: str
    why: T
    reference: str


_STOP: Final = T("every broker stop prints it: a thread comes once more to a store that is already closed")  # fmt: skip
_STOP_READ: Final = T("every broker stop prints it, beside `message store has shutdown` in store.log")  # fmt: skip
_CONSUMER: Final = T("a consumer that starts or stops: its pulls come before its heartbeat, or after its last one")  # fmt: skip
_READ_ALL: Final = T("the half or op queue is read to its end: every check round ends so")

NOISE: Final[tuple[Noise, ...]] = (
    # Start and stop of a broker.
    Noise("store-first-start", T("the first start of an empty store: nothing was deleted"), "store/StoreCheckpoint, store/CommitLog.recover"),
    Noise("magic-zero", T("the unwritten end of the last commitlog file, met while recovering"),
          "store/CommitLog.checkMessageAndReturnSize"),
    Noise("store-shutdown", _STOP, "store/DefaultMessageStore"),
    Noise("half-store-null", _STOP_READ, "broker/transaction/queue/TransactionalMessageBridge.getMessage"),
    Noise("check-pull-null", _STOP_READ, "broker/transaction/queue/TransactionalMessageServiceImpl.check"),
    Noise("preallocated-deleted", T("a clean stop removes the next file, which was made in advance and is empty"),
          "store/AllocateMappedFileService.shutdown"),
    Noise("unregister-broker-failed", T("the name server was gone before the broker stopped"), "broker/out/BrokerOuterAPI"),
    # Clients that come and go.
    Noise("consumer-group-missing", _CONSUMER, "broker/processor/PullMessageProcessor"),
    Noise("subscription-not-latest", T("a consumer of the group starts with another subscription, as in a deployment; its next heartbeat makes it the broker's"), "broker/processor/PullMessageProcessor"),
    Noise("no-consumer-online", T("somebody asked for the group while nobody of it was connected: between its stop and its next start"), "broker/processor/AdminBrokerProcessor"),
    Noise("response-lost", T("the client was gone before the answer: a waiting pull of a consumer that stopped; a send answered 0 is stored"), "remoting/netty/NettyRemotingAbstract"),
    # Transactions.
    Noise("op-pull-nothing", T("no op record since the last round: every round says so while no transaction ends"),
          "broker/transaction/queue/TransactionalMessageServiceImpl.fillOpRemoveMap"),
    Noise("half-pull-nothing", _READ_ALL, "broker/transaction/queue/TransactionalMessageBridge.getMessage"),
    Noise("half-miss", _READ_ALL, "broker/transaction/queue/TransactionalMessageServiceImpl.check"),
    # Housekeeping.
    Noise("disk-reclaim", T("the ordinary clean-up of old files above diskMaxUsedSpaceRatio"), "store/DefaultMessageStore.CleanCommitLogService"),
    Noise("commitlog-folder-missing", T("there is no commitlog folder to measure: the broker never stored a message, or it is a DLedger broker"), "store/DefaultMessageStore.CleanCommitLogService"),
    Noise("files-clean-up", T("the ordinary clean-up of old files looks whether there are any"),
          "store/DefaultMessageStore.CleanCommitLogService"),
    Noise("buffer-position-invalid", T("somebody asked for brokerStatus while the first commitlog file was not full"),
          "store/MappedFile, thread AdminBrokerThread"),
    Noise("pop-nothing-new", T("an idle 5.x broker prints some fifty a second"), "broker/processor/PopReviveService"),
    Noise("no-appenders", T("mqadmin up to 4.7.1 says so before every result"), "logging/inner/Logger"),
)  # fmt: skip

BY_SLUG: Final = {noise.slug: noise for noise in NOISE}
