"""Known problems of the store: commitlog, consume queues, index, recovery."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "commitlog-damaged",
        T("A record of the commitlog is damaged"),
        (
            "[BUG]read total count not equals msg total size",
            "CRC check failed. bodyCRC={}, currentCRC=",
            "found a illegal magic code 0x",
        ),
        T(
            "Recovery or dispatch met bytes that are not a whole record: sizes that do not add up, a body whose CRC differs, or an unknown magic number. Recovery ends the store here; dispatch skips to the next file, and consumers never see what lies between."
        ),
        T(
            "Decode the file around the printed offset and compare it with the slave's copy; look for a crash, a full disk or a copied store before it."
        ),
        "store/CommitLog.checkMessageAndReturnSize, store/DefaultMessageStore.ReputMessageService.doReput",
        decides=T(
            "The last file only, right after a crash: a record that was not flushed. A file in the middle: the disk, a copy made while the broker ran, or a different maxMessageSize or version."
        ),
        remedy=T(
            "Keep the damaged file, rebuild the broker from its slave, or let recovery truncate and resend what is missing."
        ),
        risk=T("Truncation removes every record behind the damage for good."),
        unlike=T("magic code 0x0 at the end of the last file is the unwritten part and normal"),
        verdict="suspected",
        unless=r"illegal magic code 0x0\b",
    ),
    problem(
        "commitlog-check-failed",
        T("A stored record fails its checksum when it is dispatched"),
        (
            "failed to check message CRC",
            "checkMessageAndReturnSize failed, may can not dispatch",
            "DupInfo in properties check failed",
        ),
        T(
            "With the message CRC in its properties (5.2.0 and later) a record read back does not match what was written, so it is not dispatched to its consume queue."
        ),
        T("Read the record at that offset with decode and compare the replica; check memory and disk of the host."),
        "store/CommitLog.checkMessageAndReturnSize",
        remedy=T("Take the broker out of service, copy the store, rebuild it from a healthy replica."),
        risk=T("Messages that were not dispatched are not consumed although they were acknowledged."),
        verdict="suspected",
    ),
    problem(
        "consumequeue-beyond-commitlog",
        T("The consume queues pointed beyond the end of the commitlog and were cut back"),
        ("maxPhyOffsetOfConsumeQueue({}) >= processOffset({}), truncate dirty logic files",),
        T(
            "After recovery the consume queues knew of records the commitlog no longer has. Those records were in memory only when the host or the process died; their entries are removed."
        ),
        T(
            "Compare the two offsets: the difference is the bytes lost. Ask the slave for that range before it is overwritten."
        ),
        "store/CommitLog.recoverNormally, recoverAbnormally",
        decides=T(
            "Equal numbers are the ordinary start; a larger first number means lost bytes: power, kernel panic, or a commitlog that was copied or deleted by hand."
        ),
        remedy=T(
            "flushDiskType=SYNC_FLUSH or SYNC_MASTER for what must not be lost; resend the lost range from the producers' own records."
        ),
        risk=T(
            "Consumers that had already seen the lost offsets stand in front of the queue and skip new messages until it catches up."
        ),
        unlike=T("with two equal numbers the same line is printed at every start"),
        verdict="confirmed",
        unless=r"maxPhyOffsetOfConsumeQueue\((-?\d+)\) >= processOffset\(\1\)",
    ),
    problem(
        "commitlog-files-deleted",
        T("The commitlog is empty, so the consume queues are deleted"),
        "The commitlog files are deleted, and delete the consume queue files",
        T(
            "The store has no commitlog file. On the first start that is normal; on a broker that had messages it means that the folder is not the right one or was emptied."
        ),
        T(
            "Compare storePathRootDir and storePathCommitLog with the mounted volumes; was this broker ever started before?"
        ),
        "store/CommitLog.recoverNormally",
        unlike=T("a new broker prints it once and nothing was lost"),
    ),
    problem(
        "store-file-length",
        T("A store file does not have the length the configuration asks for"),
        ("length not matched message store config value",),
        T(
            "A file in the store is shorter or longer than mappedFileSizeCommitLog or mappedFileSizeConsumeQueue says. Since 4.9.3 the broker refuses to start; older ones ignore that file and everything behind it."
        ),
        T(
            "List the files with their sizes: one cut file points to a full disk or an interrupted copy, all of them to a changed setting."
        ),
        "store/MappedFileQueue.load",
        decides=T("All files of one kind differ: the setting was changed. One file: a copy or a crash cut it."),
        remedy=T(
            "Restore the setting the store was written with; move a cut last file away and rebuild it from the replica."
        ),
        risk=T("Deleting a commitlog file loses its messages."),
        verdict="confirmed",
    ),
    problem(
        "store-load-failed",
        T("The store could not be loaded"),
        ("ERROR main - load exception", "ERROR - main - load exception", "load file {} error"),
        T(
            "Reading commitlog, consume queues, index or delay offsets at the start threw an exception; the broker ends."
        ),
        T(
            "The stack trace below it names the part: correctMinOffset or recover a consume queue, IndexService an index file, ScheduleMessageService delayOffset.json."
        ),
        "store/DefaultMessageStore.load",
        remedy=T(
            "Move the part that is named away after copying it: consume queues and index are rebuilt from the commitlog."
        ),
        risk=T("Moving commitlog files away loses their messages."),
        verdict="confirmed",
        printed="store.log",
        example="2026-02-24 09:38:29 ERROR main - load exception",
    ),
    problem(
        "store-size-zero-file",
        T("An empty store file is deleted while loading"),
        ("size is 0, auto delete. is_ok",),
        T(
            "A file of length 0 was found while loading, usually the one created just before a crash or a full disk, and is removed (5.1.3 and later)."
        ),
        T("Look for a full disk or a kill just before; nothing was stored in it."),
        "store/MappedFileQueue.doLoad",
    ),
    problem(
        "abnormal-shutdown",
        T("The broker was not shut down cleanly before this start"),
        ("last shutdown abnormally",),
        T(
            "The abort file was still there: the process was killed, crashed or lost its host. The store is recovered from the last checkpoint, and what was not flushed is gone."
        ),
        T(
            "Look for hs_err_pid files, the kernel log (oom-killer), and the last lines of the previous run; check the slave for what the master no longer has."
        ),
        "store/DefaultMessageStore.load",
        decides=T(
            "An OOM kill is in the kernel log; a crash leaves hs_err_pid; a kill -9 leaves nothing; a stop script that waits too little ends in kill -9."
        ),
        remedy=T(
            "Give the stop script time (a clean shutdown flushes and may take minutes), and free memory on the host."
        ),
        risk=T("With ASYNC_FLUSH a host crash loses what the page cache held; a process crash alone does not."),
        unlike=T("a process that crashed alone loses nothing that had been appended: the page cache survives it"),
        verdict="suspected",
        example="last shutdown abnormally",
    ),
    problem(
        "store-kept-abort",
        T("The broker stopped but left the store marked as dirty"),
        ("the store may be wrong, so shutdown abnormally, and keep abort file", "have not finish to be dispatched, C"),
        T(
            "At shutdown the store was not in order: a write had failed, or the dispatch to consume queues had not caught up. The abort file is kept on purpose, so the next start recovers thoroughly."
        ),
        T("Look above for the write or dispatch that failed; after the next start check the recovery lines."),
        "store/DefaultMessageStore.shutdown",
        remedy=T("Fix what the earlier error names before starting again."),
        risk=T("A start on a full or failing disk makes it worse."),
        verdict="suspected",
        unless=r"CL: (\d+) reputFromOffset: \1|max offset=(\d+), reputFromOffset=\2",
    ),
    problem(
        "broker-already-running",
        T("Another process already uses this store"),
        ("Lock failed,MQ already started",),
        T(
            "The lock file of the store is held: a second broker was started on the same storePathRootDir, or the old one has not ended yet."
        ),
        T("Find the process that holds the `lock` file (lsof); compare storePathRootDir of all brokers on the host."),
        "store/DefaultMessageStore.start",
        printed="store/DefaultMessageStore",
        remedy=T("Wait for the old process to end, or give each broker its own storePathRootDir and listenPort."),
        risk=T("Removing the lock file by hand lets two processes write one store and destroys it."),
        verdict="confirmed",
        example="java.lang.RuntimeException: Lock failed,MQ already started",
    ),
    problem(
        "consumequeue-write-failed",
        T("Consume queue entries cannot be written"),
        (
            "[BUG]put commit log position info to",
            "[BUG]consume queue can not write",
            "put commit log position info to batch consume queue",
            "batch consume queue can not write",
        ),
        T(
            "The dispatcher could not append to a consume queue after retries. The store marks itself as not writable: the messages are in the commitlog, consumers cannot see them, and sends are refused."
        ),
        T("Check free space and inodes of the consumequeue folder's file system and the errors just above."),
        "store/ConsumeQueue.putMessagePositionInfoWrapper",
        decides=T("Space or inodes gone, a read-only file system, or too many mapped files (vm.max_map_count)."),
        remedy=T(
            "Free space or raise the limit, then restart: recovery rebuilds the missing entries from the commitlog."
        ),
        risk=T("Until the restart every send is refused."),
        verdict="confirmed",
    ),
    problem(
        "consumequeue-order",
        T("A consume queue is out of step with the commitlog"),
        ("logic queue order maybe wrong", "Failed to scan consume queue entries from file on correcting min offset"),
        T(
            "An entry was about to be written at an offset that is not the next one. The consume queue then has gaps or repeated entries, and consumers may skip or repeat messages."
        ),
        T(
            "Read the consume queue of that topic and queue with the kit and compare it with the commitlog; look for two brokers on one store or a restored folder."
        ),
        "store/ConsumeQueue.putMessagePositionInfo",
        remedy=T("Stop the broker, move consumequeue (and index) away and start: they are rebuilt from the commitlog."),
        risk=T(
            "A rebuild takes as long as the commitlog is large; queue offsets may change where the commitlog does not reach back to 0."
        ),
        verdict="suspected",
        printed="store/ConsumeQueue",
        example="[BUG]logic queue order maybe wrong, expectLogicOffset: 20 currentLogicOffset: 40 Topic: orders QID: 0 Diff: -20",
    ),
    problem(
        "consumequeue-repeated",
        T("Consume queue entries that exist already are skipped during recovery"),
        ("onsume queue repeatedly", "Build  consume queue repeatedly"),
        T("Recovery dispatches records again whose entries were already written; each is recognised and skipped."),
        T("Nothing, if it follows a start. In normal running it means that dispatch went back."),
        "store/ConsumeQueue.putMessagePositionInfo",
        unlike=T("it is not repeated delivery: consumers see each entry once"),
    ),
    problem(
        "consumequeue-corrected",
        T("The first offset of a consume queue is corrected"),
        (
            "CorrectLogicOffsetService.needCorrect",
            "Exception thrown when correctMinOffset",
            "Correct min offset found null cq file",
        ),
        T(
            "Expired commitlog files left consume queue entries that point to nothing; their minimum offset is moved forward."
        ),
        T("Nothing, unless it repeats for one queue or consumers of it stop."),
        "store/DefaultMessageStore.CorrectLogicOffsetService",
        classes=("store/CorrectLogicOffsetService",),
    ),
    problem(
        "consumequeue-unreadable",
        T("A consumer asks inside the known range, but the queue file cannot be read"),
        ("but access logic queue failed",),
        T(
            "The requested offset lies between minimum and maximum of the queue, yet there is no file for it: a hole, or a file that was deleted by hand or by expiry at this moment. The broker answers with the next file's first offset, and the consumer skips."
        ),
        T("List the files of that consume queue: is one missing in the middle?"),
        "store/DefaultMessageStore.getMessage",
        remedy=T("Rebuild the consume queue from the commitlog (move the folder away, restart)."),
        risk=T("What the consumer skipped is not delivered again without a reset."),
        verdict="suspected",
        least=3,
    ),
    problem(
        "consumequeue-just-created",
        T("A consume queue was found empty at the start"),
        ("maybe ConsumeQueue was created just now",),
        T("A queue has no entry yet; its offset is taken from the commitlog."),
        T("Nothing, unless the queue should have messages: then compare consumequeue with the commitlog."),
        "store/DefaultMessageStore.recoverTopicQueueTable",
    ),
    problem(
        "consumequeue-ext",
        T("The extended consume queue cannot be read or written"),
        ("consume queue extend", "Size of cq ext unit is greater", "Capacity of ext is maximum"),
        T(
            "Filters with bit maps (enableCalcFilterBitMap) keep additional data in consumequeue_ext; an entry is missing or could not be saved. The tags code is used instead, so filtering is done on the client."
        ),
        T("Check the space of consumequeue_ext and whether the setting was switched on and off."),
        "store/ConsumeQueueExt",
        classes=("store/ConsumeQueueExt",),
    ),
    problem(
        "consumequeue-hanged-file",
        T("A consume queue file whose entries all expired is removed"),
        ("Found a hanged consume queue file",),
        T(
            "The last file of a queue without recent messages is deleted because all its entries point to expired records."
        ),
        T("Nothing. A consumer of a long idle topic then starts at a new minimum offset."),
        "store/MappedFileQueue.deleteExpiredFileByOffset",
    ),
    problem(
        "consumequeue-concurrent-recovery",
        T("Recovering the consume queues failed"),
        ("Exception occurs while recover consume queue concurrently", "queues.length!=queueOffsets.length"),
        T("A consume queue could not be read during recovery; the broker does not start or starts without it."),
        T("The stack trace names the topic and queue; check its files."),
        "store/queue/ConsumeQueueStore",
        remedy=T("Move the named consume queue away; it is rebuilt from the commitlog."),
        risk=T("The start takes longer while it is rebuilt."),
        verdict="suspected",
    ),
    problem(
        "offset-outside-commitlog",
        T("A read asks for a position the commitlog does not have"),
        ("Offset not matched. Request offset:", "findMappedFileByOffset Exception"),
        T(
            "Somebody reads a physical offset in front of the first or behind the last file: a consume queue entry of expired records, a query by an id of another broker, a slave that is ahead, or an offset file from another store."
        ),
        T(
            "Which reader? The thread name says it: pull, query, HA or dispatch. Compare with the first and last commitlog file."
        ),
        "store/MappedFileQueue.findMappedFileByOffset",
        decides=T(
            "Dispatch or HA threads: the store or the replica was changed. Query threads: an id of another broker or an expired message."
        ),
        remedy=T(
            "For queries: use the right broker's id or accept that the message expired. For dispatch: see the recovery lines."
        ),
        risk=T("Deleting offset files resets consumers."),
        printed="store/MappedFileQueue",
        verdict="suspected",
        least=10,
        lasts=10.0,
        example="Offset not matched. Request offset: 9000, firstOffset: 0, lastOffset: 8388608, mappedFileSize: 8388608, mappedFiles count: 1",
        unless=r"ScheduleMessageTimerThread",
    ),
    problem(
        "store-position-invalid",
        T("A read reaches behind what is written in the last file"),
        ("selectMappedBuffer request pos invalid", "Get data failed pos:", "matched, but hold failed, request pos"),
        T("A reader asked for bytes that are not there yet or whose file is being closed."),
        T("Nothing when it is rare or at a stop; from a query, the id is of another store."),
        "store/MappedFile.selectMappedBuffer",
    ),
    problem(
        "index-stopped",
        T("The message index is no longer built"),
        (
            "build index error, stop building index",
            "Mark index file cannot build flag",
            "putKey error commitlog",
            "putKey exception, Key:",
        ),
        T(
            "Index entries could not be written: queries by key or UNIQ_KEY find nothing from here on. Sending and consuming go on."
        ),
        T("Check the space of the index folder and the exception; how far does the last index file reach?"),
        "store/index/IndexService.buildIndex",
        remedy=T(
            "Free space and restart; older messages stay unindexed unless the index folder is removed and rebuilt."
        ),
        risk=T("None for delivery."),
        unlike=T("a message that queryMsgByKey does not find may exist all the same"),
        verdict="confirmed",
        lasts=5.0,
    ),
    problem(
        "index-trouble",
        T("An index file reports a difficulty"),
        ("Over index file capacity: index count", "Index file [", "selectPhyOffset exception"),
        T(
            "An index file is full and the next one is made, or a look-up in it failed. Queries by key may miss some messages."
        ),
        T("Look at the exception if there is one; a full file alone is normal."),
        "store/index/IndexFile, IndexService",
        classes=("store/IndexFile", "store/IndexService"),
    ),
    problem(
        "index-hash-duplicate",
        T("Two keys share a hash in the index"),
        ("queryMessage hash duplicate", "maybe hash duplicate"),
        T(
            "The index stores a 32-bit hash of topic#key; another message with the same hash was found and sorted out by comparing the key."
        ),
        T("Nothing: the query still answers correctly."),
        "client/impl/MQAdminImpl.queryMessage",
        unlike=T("the messages are not duplicates"),
    ),
    problem(
        "expired-files-not-deleted",
        T("Expired store files cannot be deleted"),
        (
            "disk space will be full soon, but delete file failed",
            "deleteExpiredFile remove failed",
            "deleteExpiredFile has exception",
            "the mappedFile re delete failed",
            "the mappedFile was destroyed once, but still alive",
        ),
        T(
            "The clean-up wanted to free space and could not: no file is old enough or all of them are in use, or a reader still holds the file."
        ),
        T(
            "Compare fileReservedTime and deleteWhen with the age of the oldest file; look for slow consumers or a slave that holds old files."
        ),
        "store/DefaultMessageStore.CleanCommitLogService, store/MappedFileQueue",
        decides=T(
            "`but delete file failed` with no file older than fileReservedTime: nothing may be deleted yet. `still alive`: a reader holds it."
        ),
        remedy=T("Lower fileReservedTime, or add space; a held file is let go destroyMapedFileIntervalForcibly later."),
        risk=T("Deleted files take unconsumed messages with them."),
        verdict="suspected",
        lasts=60.0,
    ),
    problem(
        "file-still-referenced",
        T("A store file is closed while somebody still reads it"),
        (
            "have not shutdown, stop unmapping",
            "have cleanup, do not do it again",
            "destroy mapped file[REF:",
            "this being not executed forever",
            "in flush, hold failed",
            "in commit, hold failed",
            "in swapMap, hold failed",
        ),
        T(
            "A file was about to be deleted or unmapped and was still referenced, or flushed after it was closed. The broker's clean-up tries again."
        ),
        T(
            "Nothing when it happens at a stop or rarely; with every file, look for readers that do not end (a stuck slave or client)."
        ),
        "store/ReferenceResource, store/MappedFile",
    ),
    problem(
        "store-thread-exception",
        T("A background thread of the store caught an exception"),
        ("scheduleAtFixedRate flush exception",),
        T(
            "One of the store's service threads caught an exception and went on. A single one at start or stop is normal; a repeated one names what is wrong in its stack trace."
        ),
        T("Read the stack trace below the line and how often it repeats."),
        "store/DefaultMessageStore, store/CommitLog and their services",
        classes=(
            "store/DefaultMessageStore",
            "store/CommitLog",
            "store/MappedFileQueue",
            "store/MappedFile",
            "store/DefaultMappedFile",
            "store/ConsumeQueue",
            "store/ConsumeQueueStore",
            "store/AbstractConsumeQueueStore",
            "store/StoreCheckpoint",
            "store/WaitNotifyObject",
            "store/StoreUtil",
            "store/StoreStatsService",
            "store/BrokerStatsManager",
            "store/PerfCounter",
            "store/FlushDiskWatcher",
            "store/AllocateMappedFileService",
            "store/MessageExtEncoder",
            "store/TransientStorePool",
        ),
    ),
    problem(
        "batch-consumequeue",
        T("A batch consume queue reports a difficulty"),
        (
            "The message is an inner batch but cq type is not batch cq",
            "but is not an inner batch",
            "cache is not working on BCQ",
        ),
        T(
            "Batch topics (5.x, queue.type=BatchCQ) expect inner batches; an ordinary message went to one, or the reverse, or its offset cache was not usable."
        ),
        T("Compare the topic's attributes with what the producer sends."),
        "store/queue/BatchConsumeQueue",
        classes=("store/BatchConsumeQueue", "store/SparseConsumeQueue", "store/QueueOffsetOperator"),
    ),
    problem(
        "rocksdb-consumequeue",
        T("The RocksDB consume queue reports an error"),
        (
            "[BUG] put CQ Failed",
            "Put cq Failed. retryTime",
            "putMessagePosition0 Failed",
            "Failed to build consume queue in RocksDB",
            "cqOffset invalid1. old:",
        ),
        T(
            "With storeType=defaultRocksDB (5.2.0 and later) consume queues live in RocksDB; writing or reading them failed."
        ),
        T("Check the space and the permissions of the consumequeue RocksDB folder, and its own LOG file."),
        "store/rocksdb, store/queue/RocksDBConsumeQueueStore",
        classes=(
            "store/RocksDBConsumeQueue",
            "store/RocksDBConsumeQueueOffsetTable",
            "store/RocksDBConsumeQueueStore",
            "store/RocksDBConsumeQueueTable",
            "store/RocksDBMessageStore",
            "store/RocksGroupCommitService",
            "store/ConsumeQueueRocksDBStorage",
            "common/AbstractRocksDBStorage",
            "common/ConfigRocksDBStorage",
            "common/RocksDBConfigManager",
            "broker/RocksDBConfigManager",
        ),
        remedy=T(
            "Free space and restart; a damaged database is rebuilt from the commitlog after its folder was moved away."
        ),
        risk=T("The rebuild takes as long as the commitlog is large."),
        verdict="suspected",
        least=3,
        lasts=5.0,
    ),
    problem(
        "compaction-topic",
        T("A compaction topic reports an error"),
        ("will not put in compaction log", "Required message key is missing", "do compaction exception:"),
        T(
            "Topics with cleanup.policy=COMPACTION (5.1.0 and later) keep the last message of each key; a message without a key cannot be kept, or compaction itself failed."
        ),
        T("Does the producer set keys on every message of that topic?"),
        "store/kv/CompactionLog",
        classes=("store/CompactionLog", "store/CompactionService", "store/CompactionStore", "store/MessageFetcher"),
    ),
    problem(
        "cold-data",
        T("Reading cold data is limited or cannot be measured"),
        (
            "This consumer group is reading cold data. It has been flow control",
            "call the LibC.INSTANCE.mincore error",
            "coldDataCheckEnable force setting to be false",
        ),
        T(
            "A consumer group reads messages that left the page cache; with coldDataFlowControlEnable (5.1.2 and later) the broker slows it down on purpose."
        ),
        T("Which group reads how far back? It protects the others; raise its threshold only for a while."),
        "broker/coldctr, store/CommitLog.ColdDataCheckService",
        classes=("broker/ColdDataCgCtrService", "broker/ColdDataPullRequestHoldService"),
        remedy=T("Let it catch up in quiet hours or raise the group's cold data threshold."),
        risk=T("Without the limit its reads displace the page cache of everybody else."),
        verdict="confirmed",
        unless=r"mincore error|force setting",
    ),
    problem(
        "multi-dispatch",
        T("A message for several light queues (LMQ) could not be indexed"),
        (
            "LMQ_CONSUME_QUEUE_NUM_EXCEEDED",
            "lmq consumeQueue num exceed maxLmqConsumeQueueNum",
            "no multiQueueOffset when updating",
            "num is not equal when updateMultiQueueOffset",
        ),
        T(
            "With enableLmq and enableMultiDispatch a message goes to several light queues; there are too many of them or the offsets do not match."
        ),
        T("Count the light queues against maxLmqConsumeQueueNum (20,000 by default)."),
        "store/MultiDispatch, store/DefaultMessageStore",
        classes=("store/MultiDispatch",),
        remedy=T("Raise maxLmqConsumeQueueNum or remove light queues that are not used."),
        risk=T("Each light queue takes memory and files."),
        verdict="confirmed",
    ),
)
