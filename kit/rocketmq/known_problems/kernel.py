"""Known problems that the Linux kernel reports (dmesg, /var/log/messages, journalctl -k): memory, disks, file systems, network.

None of these lines says that the process is the broker, the disk the store's or the port RocketMQ's, and dmesg keeps them until the next boot: they are
suspected, and each entry says what ties it to RocketMQ.
"""

from __future__ import annotations

from typing import Final

from kit.rocketmq.known_problems.problem import Problem

_PRINTED: Final = "dmesg, /var/log/messages, journalctl -k"

# fmt: off
PROBLEMS: Final[tuple[Problem, ...]] = (
    Problem("kernel-oom-kill", "The kernel killed a process because memory ran out",
            ("Out of memory: Kill", "Memory cgroup out of memory: Kill", "Killed process {} total-vm:", "invoked oom-killer: ",
             "oom_reaper: reaped process ", "oom-kill:constraint=", "killed as a result of limit of "),
            "The OOM killer ended a process with signal 9: no shutdown hook runs, no hs_err file and no last line in a log are written. The name is in brackets; `java` may be the broker, the name server or an application. A broker that ends in this way leaves the file `abort` and recovers abnormally at its next start.",
            "The number behind `process` against the broker's process id of that time; the first line of broker.log and store.log after it; -Xmx, -XX:MaxDirectMemorySize and the other processes of the host.",
            "Linux mm/oom_kill.c, mm/memcontrol.c", printed=_PRINTED,
            decides="`Memory cgroup` or `constraint=CONSTRAINT_MEMCG`: the container's limit was reached, the host may have room. `Out of memory`: the whole host. anon-rss far above -Xmx: direct memory, threads or a native library.",
            remedy="Set -Xmx and -XX:MaxDirectMemorySize below the limit with room for the page cache, or raise the limit; move other processes off the broker's host.",
            risk="With ASYNC_FLUSH nothing is lost by a killed process, as the page cache stays; with transientStorePoolEnable=true what was not committed is lost.",
            unlike="java.lang.OutOfMemoryError: there the JVM reached its own limit and goes on", verdict="suspected",
            example="[1036802.123456] Out of memory: Kill process 4711 (java) score 612 or sacrifice child"),
    Problem("kernel-task-blocked", "A process waited for minutes inside the kernel",
            ("INFO: task {} blocked for more than {} seconds",),
            "The named task could not be scheduled for that time (120 s by default): it waits without being interruptible, nearly always for a disk or network storage. A broker whose threads wait there answers nobody: clients time out, flow control and missing heartbeats follow. Names of threads are cut off after 15 characters.",
            "Which task (java, jbd2, xfsaild, kworker/flush, nfs) and the frames below the line: io_schedule, jbd2 and xfs_log are the disk, rpc_wait is NFS. iostat -x, and the storage's or the cloud's own metrics of those minutes.",
            "Linux kernel/hung_task.c", printed=_PRINTED,
            decides="Lines with an I/O error or a reset beside it: the disk. Only at the same minute each day: backup, snapshot or quota of the volume. Several hosts at once: shared storage.",
            remedy="Relieve or replace the storage; give the store its own disk; where bin/os.sh was run, lower vm.dirty_background_ratio and vm.dirty_ratio (it sets 50), so that less is written at once.",
            risk="After ten such lines (kernel.hung_task_warnings) the kernel prints no more of them: their absence later shows nothing.",
            verdict="suspected", example="INFO: task java:4711 blocked for more than 120 seconds."),
    Problem("kernel-disk-error", "The kernel could not read or write a disk",
            ("I/O error, dev {}, sector", "critical medium error, dev ", "critical target error, dev ", "critical space allocation error, dev ",
             "Buffer I/O error on dev", "lost async page write", "lost page write due to I/O error", "JBD2: Detected IO errors while flushing file data on ",
             "rejecting I/O to offline device", "rejecting I/O to dead device"),
            "The device named behind `dev` refused requests. What could not be written back may be lost, and the broker learns of it only from its next flush (`Error occurred when force data to disk`); reading a bad place of a mapped file ends in SIGBUS.",
            "lsblk and df of storePathCommitLog: is it that device? smartctl -a, the RAID controller's or the cloud volume's state; errors that go on.",
            "Linux block/blk-core.c, fs/buffer.c", printed=_PRINTED,
            decides="`critical medium`: the disk's surface. `critical space allocation`: a thin pool is full. `offline`, `dead`: the path or the volume was taken away.",
            remedy="Move the master role to the replica, replace the disk or the volume, and let the replica's copy be the one that is kept.",
            risk="A broker that goes on writing to such a disk may damage its store.", verdict="suspected",
            unless=r"I/O error, dev (?:fd|sr|loop)\d",
            example="[1036811.000000] blk_update_request: I/O error, dev vdb, sector 123456"),
    Problem("kernel-filesystem-error", "The kernel found a file system damaged or closed it",
            ("EXT4-fs error (device ", "Remounting filesystem read-only", "Detected aborted journal", "Aborting journal on device ",
             "Corruption of in-memory data detected", "Corruption detected. Unmount and run xfs_repair", "xfs_do_force_shutdown(", "metadata I/O error in ",
             "Shutting down filesystem", "Filesystem has been shut down due to log error"),
            "The file system on the named device is inconsistent, mostly after an I/O error below it. ext4 stops its journal and is mounted read-only (errors=remount-ro); XFS shuts down and answers every access with an I/O error. A broker on it can store nothing more.",
            "mount | grep of storePathRootDir: is it that device, and is it `ro`? The I/O errors above the first of these lines; store.log at that time (Read-only file system, Input/output error).",
            "Linux fs/ext4/super.c, fs/jbd2/journal.c, fs/xfs/xfs_fsops.c", printed=_PRINTED,
            remedy="Stop the broker, let the replica take over, repair the device, then fsck or xfs_repair, and start it again.",
            risk="A repair may cut or remove store files: compare with the replica before the broker serves again.", verdict="suspected",
            example="[1036810.000000] EXT4-fs error (device vdb): ext4_journal_check_start:56: Detected aborted journal"),
    Problem("kernel-memory-short", "The kernel found no free memory for a request of its own",
            ("page allocation failure: order:", "page allocation failure. order:", "possible memory allocation deadlock"),
            "Free pages were used up faster than they were reclaimed, typically for network packets while the page cache takes everything. Packets are dropped or writes wait; the process goes on.",
            "`order:` and the flags in the line; vm.min_free_kbytes and vm.extra_free_kbytes; free -m and swap.",
            "Linux mm/page_alloc.c, fs/xfs/kmem.c", printed=_PRINTED,
            remedy="Raise vm.min_free_kbytes (a comment in bin/os.sh proposes 1000000); a smaller heap.", risk="Memory kept free is missing from the page cache.",
            verdict="suspected", example="java: page allocation failure: order:0, mode:0x120(GFP_ATOMIC)"),
    Problem("kernel-conntrack-full", "The host's table of connections is full: packets are dropped",
            ("conntrack: table full, dropping packet",),
            "Connection tracking (a firewall, NAT, kube-proxy, docker) has no entry left for a new connection, so its packets are dropped without an answer. Clients see connect timeouts that come and go; connections that exist go on.",
            "net.netfilter.nf_conntrack_count against nf_conntrack_max, on every host between client and broker; who opens so many connections (ss -tan).",
            "Linux net/netfilter/nf_conntrack_core.c", printed=_PRINTED,
            remedy="Raise net.netfilter.nf_conntrack_max, or exempt the broker's ports from tracking; find the client that reconnects without end.",
            risk="Each entry takes about 300 bytes of kernel memory.", verdict="suspected",
            example="nf_conntrack: nf_conntrack: table full, dropping packet"),
    Problem("kernel-accept-queue", "Connections arrive faster than a process accepts them",
            ("ossible SYN flooding on port ",),
            "The queue of connections that wait for accept() on that port was full. Seldom an attack: the process stood still (a long GC pause, swapping, a blocked thread), or many clients reconnect at once after a restart. Printed once for each listening socket until it is opened again.",
            "Which process has the port (9876 name server, 10911, 10909 and 10912 broker, 8080 and 8081 proxy); gc.log at that time; ss -lnt (Recv-Q against Send-Q), nstat -az TcpExtListenOverflows.",
            "Linux net/ipv4/tcp_input.c", printed=_PRINTED,
            decides="A port of RocketMQ and a pause in gc.log at that second: the pause. No pause: too short a queue for the number of clients.",
            remedy="Correct the pause; raise net.core.somaxconn and net.ipv4.tcp_max_syn_backlog (Netty takes the smaller of its backlog, 1024 by default, and somaxconn).",
            risk="None.", verdict="suspected", example="TCP: request_sock_TCP: Possible SYN flooding on port 10911. Sending cookies.  Check SNMP counters."),
    Problem("kernel-cpu-stuck", "A processor stood still for seconds",
            ("soft lockup - CPU#", "self-detected stall on CPU"),
            "A processor ran no other task for that time. In a virtual machine mostly the hypervisor stopped it (overcommitted host, live migration, snapshot); otherwise a driver. To RocketMQ it looks like a pause that gc.log does not show: heartbeats and sends time out.",
            "Steal time (st in top, %steal in sar), the hypervisor's events of that minute.",
            "Linux kernel/watchdog.c, kernel/rcu/tree_stall.h", printed=_PRINTED,
            remedy="Move the virtual machine to a host that is not overcommitted, and take no snapshots with memory under load.", risk="None.", verdict="suspected",
            example="watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [java:4711]"),
)
