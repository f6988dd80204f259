"""Known lines of starts, stops and single threads: most of them sound worse than they are."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "store-service-chosen",
        T("The broker names a service it loads at its start"),
        (
            "Load default HA Service: ",
            "Load AutoSwitch HA Service: ",
            "Load default discard message hook service: ",
            "Load default transaction message hook service: ",
            "haServer is null or duplication is enable or enableDLegerCommitLog is true",
        ),
        T(
            "Printed at WARN at every start: no service of the application's own was found, so the built-in one is used. Nothing is wrong."
        ),
        T("Nothing; it dates a start of the broker."),
        "broker/BrokerController, store/DefaultMessageStore",
    ),
    problem(
        "store-call-after-stop",
        T("A thread still calls the store while the broker stops"),
        (
            "message store has shutdown, so appendToPhyQueue is forbidden",
            "message store has shutdown, so getPhyQueueData is forbidden",
            "message store has shutdown, so appendToCommitLog is forbidden",
            "message store has shutdown, so getBulkCommitLogData is forbidden",
            "DefaultMessageStore has shutdown, so putMessages is forbidden",
            "PullMessageServiceScheduledThread has shutdown",
        ),
        T(
            "The store or the client is already closed and one thread has not noticed yet. Normal for a few seconds around a stop; a broker that goes on without a restart is half closed."
        ),
        T("Look for a shutdown and the next start beside it."),
        "store/DefaultMessageStore, client/impl/consumer/PullMessageService",
    ),
    problem(
        "mapped-file-append-failed",
        T("Writing into a store file failed"),
        (
            "Error occurred when append message to mappedFile.",
            "MappedFile.appendMessage return null, wrotePosition: ",
            "appendToPhyQueue failed ",
            "DefaultMessageStore#appendToCommitLog: failed to append data to commitLog",
        ),
        T(
            "A record or what the master sent could not be written: the file is full beyond its size, was closed, or the file system refused the bytes."
        ),
        T(
            "Read the stack trace below it; check the free space and the kernel log of that minute, and on a slave whether it stopped following."
        ),
        "store/MappedFile, store/DefaultMessageStore",
    ),
    problem(
        "mapped-files-inconsistent",
        T("The files of a store queue do not follow one another"),
        (
            "[BUG]The mappedFile queue's data is damaged",
            "Found error data in [{}] checkOffset:",
            "[BUG] get file queue snapshot failed",
            "is not align, truncate failed, need manual fix",
            "resetWriteOffset error.",
        ),
        T(
            "A file is missing between two others, or an entry does not fit its unit: files were deleted or copied by hand, or a restore is incomplete."
        ),
        T("List the files by name: each begins where the one before it ends. Compare with the replica."),
        "store/MappedFileQueue, store/DefaultMessageStore",
        verdict="suspected",
        remedy=T("Stop the broker, copy the store, and rebuild the damaged part from the replica."),
        risk=T("Deleting a commitlog file loses its messages."),
    ),
    problem(
        "dispatch-position",
        T("The dispatch to the consume queues is out of step with the commitlog"),
        (
            "[BUG]dispatch message to consume queue error, COMMITLOG OFFSET: ",
            "[BUG]the master dispatch message to consume queue error, COMMITLOG OFFSET: ",
            "The reputFromOffset={} is smaller than minPyOffset=",
            "[TooSmallCqOffset] maxPhysicalPosInLogicQueue=",
        ),
        T(
            "At the start or after files expired the dispatcher begins elsewhere than its consume queues end. With an expired commitlog it moves to the first file that is left; a [BUG] line names a record that no consume queue got."
        ),
        T("Compare the two offsets with the names of the commitlog files; decode the record at a [BUG] offset."),
        "store/DefaultMessageStore.ReputMessageService",
    ),
    problem(
        "flush-thread-trouble",
        T("A thread that waits for flush or replication met an exception"),
        (
            "GroupCommitService Exception, ",
            "An exception occurred while waiting for flushing disk to complete",
            "take flush disk commit request, but interrupted",
            "usually it will never timeout, putMessageTimeout is much bigger than slaveTimeout",
            "Failed to properly close the channel",
        ),
        T(
            "The wait for a flush or for the slave ended by an exception instead of an answer. Around a stop it is the interruption; otherwise senders get FLUSH_DISK_TIMEOUT or FLUSH_SLAVE_TIMEOUT although the message is in memory."
        ),
        T("Is there a stop beside it? If not: flush and HA lines of that second, and the disk."),
        "store/CommitLog, store/FlushDiskWatcher",
    ),
    problem(
        "cold-read-check",
        T("The check for cold data in the page cache does not work here"),
        (
            "checkFileInPageCache call the LibC.INSTANCE.mincore error",
            "initPageSize error, coldDataCheckEnable force setting to be false",
            "isMsgInColdArea group: ",
            "scanFileAndSetReadMode exception",
            "scanFilesInPageCache exception",
            "setFileReadMode error fileName: ",
            "setFileReadMode mappedFile is null",
        ),
        T(
            "The system calls mincore or madvise failed (Windows, macOS, a restricted container). Cold data flow control is then off; storing and reading go on."
        ),
        T("Only of interest where coldDataFlowControlEnable is set."),
        "store/CommitLog.ColdDataCheckService",
    ),
    problem(
        "confirm-offset-corrected",
        T("The confirmed offset was moved to fit the commitlog"),
        (
            "confirmOffset {} is larger than lastConfirmValidMsgPhyOffset",
            "confirmOffset {} is larger than processOffset",
            "confirmOffset {} is less than minPhyOffset",
            "found a half message at {}, it will be truncated.",
        ),
        T(
            "After recovery the offset up to which all in-sync replicas had the data was outside what is left of the commitlog, or the last record was written only in part."
        ),
        T(
            "Compare the commitlog ends of master and slave; a lower one after a crash is data that was not acknowledged by all."
        ),
        "store/CommitLog.recoverNormally, recoverAbnormally (5.x)",
    ),
    problem(
        "ha-thread-trouble",
        T("A replication connection between master and slave broke"),
        (
            "HAClient, dispatchReadRequest error",
            "HAClient, reportSlaveMaxOffset error",
            "processReadEvent error",
            "processReadEvent exception",
            "new HAConnection exception",
            "AcceptSocketService shutdown exception",
            "closeMaster exception.",
            "CloseMaster exception.",
            "reportSlaveMaxOffset this.socketChannel.write exception",
            "Unexpected ops in select ",
            "Process read result failed",
            "AutoSwitchHAClient report max offset to master failed",
        ),
        T(
            "Reading from or writing to the other side failed; the connection is closed and made again within seconds. One such line belongs to every restart of either side."
        ),
        T("Does it repeat? Then the network on haListenPort (10912), and how far the slave is behind."),
        "store/ha/HAConnection, HAService (DefaultHAClient 5.x)",
    ),
    problem(
        "data-version-query",
        T("The broker compares its topic version with the name server's"),
        ("Query data version from name server {} OK",),
        T(
            "Every registration logs at WARN whether the name server's copy is older. The word OK is meant: nothing is wrong."
        ),
        T("Nothing."),
        "broker/out/BrokerOuterAPI.needRegister",
    ),
    problem(
        "name-server-task-failed",
        T("A periodic call from the broker to the name servers failed"),
        (
            "Failed to fetch nameServer address",
            "Failed to update nameServer address list",
            "ScheduledTask updateNameServerAddr exception",
            "syncBrokerMemberGroup from namesrv failed",
            "sync BrokerMemberGroup error.",
            "Couldn't find any broker member from namesrv in",
            "Update min broker error, ",
            "Execute single topic registration task failed",
            "Register single topic {} to broker",
            "unregisterBroker Exception, ",
        ),
        T(
            "The broker could not ask or tell a name server something. It tries again at the next interval; clients notice only if all name servers are affected or a route stays old."
        ),
        T("Reach each address of namesrvAddr from the broker's host; how long do the lines go on?"),
        "broker/BrokerController, broker/out/BrokerOuterAPI",
    ),
    problem(
        "broker-report-task-failed",
        T("A task that only reports figures failed"),
        (
            "failed to print broker watermark",
            "Failed to print diff of master and slave",
            "Failed to print dispatchBehindBytes",
            "schedule printMasterAndSlaveDiff error",
            "schedule persist consumer filter error",
            "ScheduledTask syncAll slave exception",
            "failed to clean unused timer metrics",
            "castRunnable exception, ",
            "Error occurred when scan not active client channels",
        ),
        T(
            "A periodic task of the broker that logs or tidies up threw an exception. Messages are not touched; a figure is missing, or a dead connection is kept a little longer."
        ),
        T("The stack trace below names the reason; often the store was not ready yet or already closed."),
        "broker/BrokerController",
    ),
    problem(
        "client-hook-failed",
        T("A hook of the application threw an exception"),
        (
            "executeHookAfter exception",
            "executeHookBefore exception",
            "execute hook error. hookName=",
            "failed to executeEndTransactionHook",
        ),
        T(
            "A SendMessageHook, ConsumeMessageHook, FilterMessageHook or EndTransactionHook (tracing agents use them) failed. The message itself goes on; its trace may be missing."
        ),
        T("The stack trace names the class of the hook."),
        "client/impl/producer/DefaultMQProducerImpl, client/impl/consumer",
    ),
    problem(
        "rebalance-callback-failed",
        T("Handing queues over between consumers met an exception"),
        (
            "messageQueueChanged exception",
            "removeUnnecessaryMessageQueue Exception",
            "[WRONG]mq is consuming, so can not unlock it",
            "executePullRequestImmediately pullRequestQueue.put",
            "Pull Message Service Run Method exception",
        ),
        T(
            "While queues were shared out anew a callback, an offset or a lock failed. `mq is consuming` means that the listener still worked on that ordered queue when it should have been given up; it is kept until the next round."
        ),
        T("Does the listener take longer than 20 s? Are there rebalances all the time (clients that come and go)?"),
        "client/impl/consumer/RebalancePushImpl, PullMessageService",
    ),
    problem(
        "producer-table-lock-timeout",
        T("The broker waited too long for its table of producers"),
        (
            "ProducerManager registerProducer lock timeout",
            "ProducerManager doChannelCloseEvent lock timeout",
            "ProducerManager scanNotActiveChannel lock timeout",
            "ProducerManager unregisterProducer lock timeout",
        ),
        T(
            "For 3 s another thread held the table of connected producers. A producer that could not be registered is not asked by checks until its next heartbeat."
        ),
        T("A stack dump of the broker at that moment; GC pauses."),
        "broker/client/ProducerManager (to 4.4)",
    ),
    problem(
        "client-unregister-failed",
        T("A client could not sign off at a broker"),
        (
            "unregister client InterruptedException from broker",
            "unregister client RemotingException from broker",
            "unregisterClient exception",
            "unregisterClientWithLock exception",
        ),
        T(
            "At its stop the client did not reach the broker or was interrupted. The broker removes it when the connection closes or after 120 s without a heartbeat; until then the group counts one member too many."
        ),
        T("Only of interest where queues stay without a consumer for two minutes."),
        "client/impl/factory/MQClientInstance.unregisterClient",
    ),
    problem(
        "class-filter-unavailable",
        T("Class filters need a filter server"),
        (
            "The Filter Server<{}> connection",
            "register message class filter failed, because no filter server",
            "uploadFilterClassToAllFilterServer Exception",
            "CallShell: readLine IOException, ",
        ),
        T(
            "Filtering by an uploaded class (to 4.9) is done by separate filter server processes. None is connected, or its connection closed."
        ),
        T("filterServerNums of the broker and its mqfiltersrv processes; newer releases filter by tags or SQL only."),
        "broker/filtersrv/FilterServerManager",
    ),
    problem(
        "consumer-status-unanswered",
        T("A client did not answer a question of an administrator"),
        (
            "[get-consumer-status] get consumer status exception",
            "[get-consumer-status] the client does not support this feature",
            "[reset-offset] the client does not support this feature",
        ),
        T(
            "mqadmin asked the online clients of a group for their offsets, or told them to reset; one of them is too old, is no Java client, or did not answer."
        ),
        T("The channel in the line says which client; reset with the consumers stopped instead."),
        "broker/client/net/Broker2Client",
    ),
    problem(
        "admin-clean-up-called",
        T("An administrator cleaned up the store"),
        (
            "invoke cleanExpiredConsumeQueue start",
            "invoke cleanExpiredConsumeQueue end",
            "invoke cleanUnusedTopic start",
            "invoke cleanUnusedTopic end",
            "invoke deleteExpiredCommitLog start",
            "invoke deleteExpiredCommitLog end",
        ),
        T(
            "mqadmin cleanExpiredCQ, cleanUnusedTopic or deleteExpiredCommitLog was run. cleanUnusedTopic removes the consume queues of topics that are in no configuration any more."
        ),
        T("Who ran it, and whether something was missed from that minute on."),
        "broker/processor/AdminBrokerProcessor",
    ),
    problem(
        "slave-config-request-failed",
        T("A slave's request for configuration was not answered"),
        (
            "No consumer offset in this broker, client: ",
            "No delay offset in this broker, client: ",
            "get all consumer offset from master error.",
            "get all delay offset from master error.",
            "Get all delay offset from master error.",
            "Delay offset not supported in this messagetore",
            "No message request mode in this broker, client: ",
            "get all message request mode from master error.",
        ),
        T(
            "A slave (or mqadmin) asked for consumer offsets or delay offsets and the master had none to give, or could not encode them. On a new broker without consumers it is normal."
        ),
        T("The client in the line says who asked; compare store/config of master and slave."),
        "broker/processor/AdminBrokerProcessor",
    ),
    problem(
        "lite-pull-thread-trouble",
        T("The threads of a pull consumer met an exception"),
        (
            "An error occurred in pull message process.",
            "ScheduledTask fetchMessageQueuesAndCompare exception",
            "Submit consumeRequest error",
            "Pull Task Callback not exist , ",
            "doPullTask Exception",
            "Polling thread was interrupted.",
        ),
        T("A pull, the look for new queues or the poll of a lite pull or pull consumer failed; it is tried again."),
        T("The stack trace below it; whether messages go on."),
        "client/impl/consumer/DefaultLitePullConsumerImpl, client/consumer/MQPullConsumerScheduleService",
    ),
    problem(
        "query-answer-not-sent",
        T("The answer to a query of messages could not be sent"),
        ("Transfer one message from page cache failed", "transfer query message by page cache failed"),
        T(
            "Who searched (the console, mqadmin) closed the connection before the answer was written. Nothing is wrong with the message."
        ),
        T("Nothing, unless every query fails."),
        "broker/processor/QueryMessageProcessor",
    ),
)
