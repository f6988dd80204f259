"""Log texts that sound like trouble and are normal: which, why, and where that is known from.

Each is a text of the catalogue (`kit.facts.events`). None of them may count for a cause: they are shown so that nobody follows them.
A text whose harm depends on how often it comes (the answers to checks, one failed delivery) is not noise and does not stand here.
"""

from __future__ import annotations

from typing import Final

import attrs

from kit.texts import T


@attrs.frozen
class Noise:
    """`slug`: the text in the catalogue; `why` it is harmless; `reference`: class or log it comes from."""

    slug: str
    why: T
    reference: str


_STOP: Final = T("every broker stop prints it: a thread comes once more to a store that is already closed",
                 "每次停止 Broker 都会打印：有线程又访问了一次已关闭的存储")  # fmt: skip
_STOP_READ: Final = T("every broker stop prints it, beside `message store has shutdown` in store.log; without a stop beside it, look again",
                      "每次停止 Broker 都会打印，同时 store.log 中有 `message store has shutdown`；若旁边没有停止，则须再查")  # fmt: skip
_CONSUMER: Final = T("a consumer that starts or stops: its pulls come before its heartbeat, or after its last one",
                     "消费者启动或停止时：拉取请求早于首次心跳，或晚于最后一次心跳")  # fmt: skip
_READ_ALL: Final = T("the half or op queue is read to its end: every check round ends so", "half 队列或 op 队列已读到末尾：每轮回查都以此结束")

NOISE: Final[tuple[Noise, ...]] = (
    # Start and stop of a broker.
    Noise("store-first-start", T("the first start of an empty store: nothing was deleted",
                                 "空存储的首次启动：没有删除任何东西"), "store/StoreCheckpoint, store/CommitLog.recover"),
    Noise("magic-zero", T("the unwritten end of the last commitlog file, met while recovering", "恢复时读到最后一个 commitlog 文件尚未写入的部分"),
          "store/CommitLog.checkMessageAndReturnSize"),
    Noise("store-shutdown", _STOP, "store/DefaultMessageStore"),
    Noise("half-store-null", _STOP_READ, "broker/transaction/queue/TransactionalMessageBridge.getMessage"),
    Noise("check-pull-null", _STOP_READ, "broker/transaction/queue/TransactionalMessageServiceImpl.check"),
    Noise("preallocated-deleted", T("a clean stop removes the next file, which was made in advance and is empty", "正常停止时删除预先创建的空文件"),
          "store/AllocateMappedFileService.shutdown"),
    Noise("unregister-broker-failed", T("the name server was gone before the broker stopped",
                                        "Broker 停止前 NameServer 已经停止"), "broker/out/BrokerOuterAPI"),
    # Clients that come and go.
    Noise("consumer-group-missing", _CONSUMER, "broker/processor/PullMessageProcessor"),
    Noise("subscription-not-latest", _CONSUMER, "broker/processor/PullMessageProcessor"),
    Noise("response-lost", T("the client was gone before the answer: mostly a waiting pull of a consumer that stopped; a send answered 0 is stored",
                             "应答之前客户端已离开：多为已停止消费者的挂起拉取；应答为 0 的发送已存储"), "remoting/netty/NettyRemotingAbstract"),
    # Transactions.
    Noise("op-pull-nothing", T("no op record since the last round: every round says so while no transaction ends",
                               "上一轮之后没有 op 记录：没有事务结束时每轮都会打印"),
          "broker/transaction/queue/TransactionalMessageServiceImpl.fillOpRemoveMap"),
    Noise("half-pull-nothing", _READ_ALL, "broker/transaction/queue/TransactionalMessageBridge.getMessage"),
    Noise("half-miss", _READ_ALL, "broker/transaction/queue/TransactionalMessageServiceImpl.check"),
    # Housekeeping.
    Noise("disk-reclaim", T("the ordinary clean-up of old files; a ratio of -1.0 is a DLedger broker, which has no commitlog folder",
                            "正常清理过期文件；比率 -1.0 表示 DLedger Broker，没有 commitlog 目录"), "store/DefaultMessageStore.CleanCommitLogService"),
    Noise("files-clean-up", T("the ordinary clean-up of old files looks whether there are any", "正常的过期文件清理在检查是否有可删除的文件"),
          "store/DefaultMessageStore.CleanCommitLogService"),
    Noise("buffer-position-invalid", T("somebody asked for brokerStatus while the first commitlog file was not full",
                                       "首个 commitlog 文件未写满时执行了 brokerStatus"),
          "store/MappedFile, thread AdminBrokerThread"),
    Noise("pop-nothing-new", T("an idle 5.x broker prints some fifty a second", "空闲的 5.x Broker 每秒打印约五十行"), "broker/processor/PopReviveService"),
    Noise("no-appenders", T("mqadmin up to 4.7.1 says so before every result", "4.7.1 及以前的 mqadmin 在每个结果之前都会打印"), "logging/inner/Logger"),
)  # fmt: skip

BY_SLUG: Final = {noise.slug: noise for noise in NOISE}
