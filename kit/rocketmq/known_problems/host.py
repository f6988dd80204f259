"""Known problems of the host: disk, memory, the JVM, file handles, slow writes."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "commitlog-disk-full",
        T("The disk of the commitlog is marked full"),
        ("so mark disk full, storePathPhysic=", "physic disk maybe full soon {}, so mark disk full"),
        T(
            "The disk usage reached diskSpaceWarningLevelRatio (0.90 by default); the broker refuses sends until it falls below diskSpaceCleanForciblyRatio (0.85)."
        ),
        T("Which folder is printed, what else is on that file system, and is any file older than fileReservedTime?"),
        "store/DefaultMessageStore.CleanCommitLogService",
        cause="disk-full",
        verdict="confirmed",
        unlike=T("`so reclaim space` at diskMaxUsedSpaceRatio (75) is the ordinary clean-up"),
    ),
    problem(
        "consumequeue-disk-full",
        T("The disk of the consume queues is marked full"),
        ("logics disk maybe full soon",),
        T(
            "The file system of consumequeue reached diskSpaceWarningLevelRatio. The whole store then refuses sends, although the commitlog's disk may have room."
        ),
        T("Is consumequeue on another mount than commitlog? Count topics × queues × 5.72 MB (a consume queue file)."),
        "store/DefaultMessageStore.CleanConsumeQueueService",
        decides=T("Many small topics fill consumequeue; on one shared mount the commitlog's line comes as well."),
        remedy=T("Enlarge that file system, delete topics that are not used, or lower fileReservedTime."),
        risk=T("Deleting consumequeue files by hand makes their messages invisible until a rebuild."),
        unlike=T("df on the commitlog's mount shows room: this line is about another mount"),
        verdict="confirmed",
        unless=r"logics disk maybe full soon,? so reclaim",
    ),
    problem(
        "disk-path-missing",
        T("The broker cannot measure the disk usage of a configured path"),
        ("Error when measuring disk space usage",),
        T(
            "A store path does not exist (or is a DLedger broker's unused commitlog folder), so its usage counts as -1: the broker neither cleans up by usage nor refuses sends when the disk is full."
        ),
        T(
            "Does the printed path exist? With DLedger before 4.9.0 it is the ordinary commitlog folder that DLedger does not use."
        ),
        "common/UtilAll.getDiskPartitionSpaceUsedPercent",
        remedy=T("Correct storePathCommitLog; with DLedger upgrade to 4.9.0 or later."),
        risk=T("Until then the disk may fill up completely."),
        verdict="suspected",
        fixed="4.9.0 for DLedger (#2663)",
        lasts=60.0,
    ),
    problem(
        "no-space-left",
        T("The file system has no space left"),
        ("No space left on device", "There is not enough space on the disk", "Disk quota exceeded"),
        T("The operating system refused a write for lack of space, inodes or quota."),
        T("df -h and df -i for the path; a deleted file that is still open counts as used (lsof +L1)."),
        "java.io.IOException",
        printed="any log, from the operating system",
        decides=T("df -h full: space; df -i full: inodes; neither: a quota or an overlay file system of a container."),
        remedy=T("Free space, then restart the broker: mapped files that could not grow stay unusable until then."),
        risk=T("A broker that writes to a full disk leaves cut files."),
        verdict="confirmed",
        example="java.io.IOException: No space left on device",
    ),
    problem(
        "disk-io-error",
        T("The disk answers with an error"),
        (
            "java.io.IOException: Input/output error",
            "Read-only file system",
            "Structure needs cleaning",
            "Error occurred when force data to disk",
            "Error occurred when commit data to FileChannel",
        ),
        T(
            "Writing or flushing failed at the operating system: the disk, its controller, the network storage or a file system that was remounted read-only."
        ),
        T("dmesg and the storage's own log at that time; can a file be written on the mount?"),
        "store/MappedFile.flush",
        remedy=T("Move the master role to the replica and replace the disk."),
        risk=T("What was appended after the last good flush may be lost with the host."),
        verdict="confirmed",
    ),
    problem(
        "mmap-failed",
        T("A store file cannot be mapped into memory"),
        (
            "Failed to map file",
            "java.io.IOException: Map failed",
            "OutOfMemoryError: Map failed",
            "map file {} Failed.",
        ),
        T(
            "The operating system refused another memory mapping: vm.max_map_count is reached, the address space or the container's memory limit is used up."
        ),
        T("Count /proc/PID/maps against vm.max_map_count (65,530 by default); each store file is a mapping."),
        "store/MappedFile.init",
        decides=T("Mappings near the limit: vm.max_map_count. Far below: memory limit, or a 32-bit JVM."),
        remedy=T("vm.max_map_count=655360 (bin/os.sh sets it); remove topics and queues that are not used."),
        risk=T("Until a restart the broker keeps refusing sends with `create mapped file failed`."),
        verdict="confirmed",
    ),
    problem(
        "mapped-file-create-failed",
        T("A new store file could not be created"),
        (
            "create mapped file failed, server is busy or broken",
            "create mapped file1 error, topic",
            "create mapped file2 error, topic",
            "Create mapped file1 error, topic",
            "Create mapped file2 error, topic",
            "create mappedFile exception",
            "appendData getLastMappedFile error",
            "getLastMappedFile error. offset",
            "getLastMappedFile has exception",
            "Failed to create file",
            "Create mapped file failed.",
            "create mapped file or consumerQueue exception",
            "create maped file failed",
        ),
        T(
            "The next file of the commitlog or of a consume queue could not be made in time; the send is answered CREATE_MAPPED_FILE_FAILED (system error, code 1) and is lost unless the client retries another broker."
        ),
        T(
            "The lines before it: space, permissions, mappings, or `create mmap timeout` for a disk that takes more than 5 s for a new file."
        ),
        "store/CommitLog.putMessage, store/AllocateMappedFileService",
        decides=T(
            "An exception beside it names space, permission or mapping; with `create mmap timeout` the disk is too slow for 1 GB files or warming."
        ),
        remedy=T(
            "Correct what the exception names; on slow disks warmMapedFileEnable=false or smaller mappedFileSizeCommitLog."
        ),
        risk=T("Changing mappedFileSizeCommitLog on an existing store makes it refuse to load."),
        verdict="confirmed",
    ),
    problem(
        "mapped-file-slow",
        T("Making the next store file takes long"),
        (
            "create mmap timeout",
            "this mmap request expired, maybe cause timeout",
            "never expected here,  maybe cause timeout",
            "find preallocate mmap failed, this never happen",
            "add a request to preallocate queue failed",
        ),
        T(
            "The pre-allocation of the next mapped file took longer than 5 s or was given up. Sends wait for it, and flow control follows."
        ),
        T("Disk utilisation (iostat) at file changes; is warmMapedFileEnable on?"),
        "store/AllocateMappedFileService",
        remedy=T("A faster disk, fewer other writers, warmMapedFileEnable=false."),
        risk=T("Without warming the first write to each page is slower."),
        verdict="suspected",
    ),
    problem(
        "transient-pool-exhausted",
        T("The transient store pool has no buffer left"),
        ("[NOTIFYME]TransientStorePool is not enough", "TransientStorePool only remain {} sheets"),
        T(
            "With transientStorePoolEnable=true writes go to direct buffers that are committed to the file later; all buffers are in use because the disk does not keep up."
        ),
        T("Disk throughput against send rate; transientStorePoolSize (5 by default, 1 GB each)."),
        "store/TransientStorePool, store/AllocateMappedFileService",
        remedy=T("Relieve the disk; a larger pool only buys time and needs as much locked memory."),
        risk=T("With the pool on, a crash of the process loses what was not committed."),
        verdict="suspected",
        least=2,
    ),
    problem(
        "slow-store-write",
        T("Single writes into the store take long"),
        (
            "in lock cost time(ms)=",
            "not in lock eclipse time(ms)=",
            "not in lock elapsed time(ms)=",
            "CommitLog#putMessage cost",
            "Flush data to disk costs",
        ),
        T(
            "One append or flush took longer than 500 ms. While the append lock is held nobody else can write: requests pile up, and from 1 s (osPageCacheBusyTimeOutMills) flow control begins."
        ),
        T(
            "`in lock` is the append itself (page cache, mapped file, GC, paused process); `not in lock` counts waiting, flush and replication too. Compare with gc.log and iostat at that second."
        ),
        "store/DefaultMessageStore.putMessage, store/CommitLog.putMessage",
        cause="broker-busy",
        verdict="suspected",
        decides=T(
            "`in lock` near the whole time: memory or the page cache; `not in lock` only: the wait for the lock, SYNC_FLUSH or SYNC_MASTER."
        ),
        remedy=T("Give the broker its own disk and memory, vm.swappiness=1, and look for other writers on the host."),
        risk=T("transientStorePoolEnable=true separates reads and writes but loses data when the process dies."),
        unlike=T("it is not a failed send: each of these was stored"),
    ),
    problem(
        "heap-exhausted",
        T("The JVM ran out of heap"),
        (
            "OutOfMemoryError: Java heap space",
            "OutOfMemoryError: GC overhead limit exceeded",
            "java.lang.OutOfMemoryError: Requested array size",
        ),
        T(
            "The Java heap of this process was full. Whatever thread asked for memory failed at that moment; others may go on in an undefined state."
        ),
        T(
            "-Xmx in the start script, heap dump or jmap -histo, the number of cached messages of consumers (pullThresholdForQueue × queues × size)."
        ),
        "java.lang.OutOfMemoryError",
        printed="any log, from the JVM",
        decides=T(
            "Consumers: cached messages. Broker: many connections, large pulls, or a heap below its start script's default. Name server: topics × brokers."
        ),
        remedy=T(
            "Raise -Xmx or lower what is cached (pullThresholdSizeForQueue, pullBatchSize), then restart the process."
        ),
        risk=T(
            "A process that survived an OutOfMemoryError cannot be trusted; a restart repeats unacknowledged deliveries."
        ),
        verdict="confirmed",
        example="java.lang.OutOfMemoryError: Java heap space",
    ),
    problem(
        "direct-memory-exhausted",
        T("The JVM ran out of direct memory"),
        (
            "OutOfMemoryError: Direct buffer memory",
            "OutOfDirectMemoryError",
            "Cannot reserve {} bytes of direct buffer memory",
            "failed to allocate {} byte(s) of direct memory",
        ),
        T("Direct buffers (Netty, the transient store pool, mapped reads) reached -XX:MaxDirectMemorySize."),
        T(
            "-XX:MaxDirectMemorySize against transientStorePoolSize × file size plus Netty; many slow receivers hold outgoing buffers."
        ),
        "java.nio.Bits, io.netty.util.internal.PlatformDependent",
        printed="any log, from the JVM",
        remedy=T("Raise -XX:MaxDirectMemorySize within the host's memory; disconnect receivers that do not read."),
        risk=T("Heap and direct memory together must leave room for the page cache."),
        verdict="confirmed",
        example="java.lang.OutOfMemoryError: Direct buffer memory",
    ),
    problem(
        "metaspace-exhausted",
        T("The JVM ran out of class metadata space"),
        ("OutOfMemoryError: Metaspace", "OutOfMemoryError: Compressed class space", "OutOfMemoryError: PermGen space"),
        T("Loaded classes filled the limit, in an application mostly by redeployment or generated proxies."),
        T("-XX:MaxMetaspaceSize and the number of loaded classes."),
        "java.lang.OutOfMemoryError",
        printed="any log, from the JVM",
        remedy=T("Raise -XX:MaxMetaspaceSize or restart; look for class loader leaks."),
        risk=T("None beyond the memory."),
        verdict="confirmed",
        example="java.lang.OutOfMemoryError: Metaspace",
    ),
    problem(
        "threads-exhausted",
        T("No new thread can be created"),
        ("unable to create new native thread", "unable to create native thread"),
        T(
            "The limit of processes or the memory for thread stacks is used up (ulimit -u, the container's pids limit, systemd TasksMax)."
        ),
        T(
            "Number of threads (ls /proc/PID/task | wc -l) against ulimit -u and pids.max; a new producer or consumer for each request is the usual leak."
        ),
        "java.lang.OutOfMemoryError",
        printed="any log, from the JVM",
        decides=T("Thread names repeat with rising numbers: a leak. Few threads: the limit."),
        remedy=T("Create one producer and one consumer per group and process; raise the limit."),
        risk=T("None."),
        verdict="confirmed",
        example="java.lang.OutOfMemoryError: unable to create new native thread",
    ),
    problem(
        "file-handles-exhausted",
        T("Too many open files"),
        ("Too many open files",),
        T("The process reached its limit of file descriptors: store files, connections and sockets together."),
        T("ls /proc/PID/fd | wc -l against ulimit -n (655350 in bin/os.sh); connections per client."),
        "java.io.IOException",
        printed="any log, from the operating system",
        remedy=T(
            "Raise the limit for the broker's user and restart; find the client that opens connections without end."
        ),
        risk=T("New connections and new store files fail until then."),
        verdict="confirmed",
        example="java.io.IOException: Too many open files",
    ),
    problem(
        "jvm-crashed",
        T("The JVM crashed"),
        (
            "A fatal error has been detected by the Java Runtime Environment",
            "SIGBUS (0x7)",
            "SIGSEGV (0xb)",
            "a fault occurred in a recent unsafe memory access operation",
        ),
        T(
            "The Java process ended by a signal. SIGBUS in mapped files means that the file was cut or its disk vanished under the mapping, or that the disk is full."
        ),
        T("hs_err_pid file: problematic frame and the mapped file near the address; free space at that time."),
        "hs_err_pid*.log",
        printed="standard output, hs_err_pid*.log",
        decides=T(
            "SIGBUS with a MappedByteBuffer frame: disk full, file cut, network storage. SIGSEGV: the JVM or a native library."
        ),
        remedy=T("Restart after the disk is in order; for SIGSEGV a newer JDK patch release."),
        risk=T("The store recovers abnormally; see what it cuts."),
        verdict="confirmed",
        example="# A fatal error has been detected by the Java Runtime Environment:",
    ),
    problem(
        "jvm-start-failed",
        T("The JVM got no memory or did not start"),
        (
            "There is insufficient memory for the Java Runtime Environment",
            "Could not reserve enough space",
            "Unrecognized VM option",
            "Could not create the Java Virtual Machine",
            "Please set the JAVA_HOME variable in your environment",
            "UnsupportedClassVersionError",
            "Native memory allocation (mmap) failed",
        ),
        T(
            "The start script's heap does not fit the host (8 GB by default for a broker), an option belongs to another JDK, or the JDK is too old or missing."
        ),
        T("runbroker.sh/runserver.sh: -Xms -Xmx -Xmn and -XX options against `java -version` and free memory."),
        "distribution/bin/runbroker.sh",
        printed="standard output",
        decides=T(
            "`insufficient memory`: heap. `Unrecognized VM option`: JDK newer than the script (4.9.0 and later choose by version). `UnsupportedClassVersionError`: JDK too old."
        ),
        remedy=T(
            'Set JAVA_OPT_EXT="-Xms1g -Xmx1g -Xmn512m" for a trial; use the JDK the release asks for (8 or later).'
        ),
        risk=T("A heap that is too small fails later under load."),
        verdict="confirmed",
        example="# There is insufficient memory for the Java Runtime Environment to continue.",
    ),
    problem(
        "java-module-access",
        T("The JDK refuses access that this release needs"),
        (
            "InaccessibleObjectException",
            'module java.base does not "opens',
            "cannot access class sun.nio.ch.DirectBuffer",
            "java.lang.NoClassDefFoundError: javax/annotation",
        ),
        T(
            "This release was written for JDK 8: on JDK 16 and later it reaches into closed packages (unmapping files, DirectBuffer) and fails."
        ),
        T("`java -version` against the release; 4.9.3 and earlier need JDK 8 or 11 with --add-opens."),
        "store/MappedFile.clean, common/UtilAll",
        printed="standard output, store.log",
        remedy=T("Run it with JDK 8, or add --add-exports/--add-opens as newer start scripts do."),
        risk=T("Without unmapping, deleted store files keep their space until a restart."),
        verdict="confirmed",
        example='java.lang.reflect.InaccessibleObjectException: Unable to make field accessible: module java.base does not "opens java.nio" to unnamed module',
    ),
    problem(
        "thread-uncaught",
        T("A thread ended with an exception nobody caught"),
        ("[BUG] Thread has an uncaught exception", "Uncaught exception in thread '"),
        T(
            "A thread of the process died. What it did (a service, a callback) no longer happens unless it is started again."
        ),
        T("The thread's name and the stack trace below it."),
        "common/ThreadFactoryImpl, common/utils/ThreadUtils",
        remedy=T("Restart the process after correcting what the trace names."),
        risk=T("Work of that thread stays undone until then."),
        verdict="suspected",
    ),
)
