"""The sentences of `broker_busy` and its neighbours."""

from __future__ import annotations

from kit.i18n import T

# fmt: off

class Text:
    """Title, summaries, reasons for requests."""

    TITLE = T("The broker refused messages because it was busy")
    NONE = T("No flow-control refusal of a broker in this evidence.")
    SUMMARY = T(
        "The broker refused messages by flow control: {failed} {failed:send|sends} failed, {lost} {lost:is|are} lost, {stored} {stored:is|are} stored in spite of the error, {twice} {twice:key is|keys are} "
        "stored twice. Why: {why}."
    )
    SUMMARY_FATE_UNKNOWN = T("The broker refused messages by flow control: {failed} failed {failed:send is|sends are} seen; what became of them is not. Why: {why}.")
    SUMMARY_TIMEOUTS = T("Sends timed out at the client ({count} {count:entry|entries}), but no refusal of the broker is in this evidence.")
    SUMMARY_STALLS = T("The broker stalled for {seconds} s, but no refusal is in this evidence.")
    SUMMARY_SLOW = T("Single writes into the store took long ({count} {count:log entry|log entries}), which is how flow control begins; no refusal is in this evidence. Why: {why}.")
    NOT_SHOWN = T("not shown by this evidence")
    WANT_CLIENT = T("the broker does not log its refusals; the client prints each with its kind")
    WANT_STORE = T("whether a failed send was stored, and where the broker stalled, is written only there")
    WANT_SENDS = T("it says which sends failed, so that lost messages can be named")
    WANT_WATERMARK = T("a second without a block shows that the process was paused")
    WANT_METRICS = T("they show what else used disk and CPU")


class Claim:
    """One sentence per step."""

    REFUSED = T("The broker refused requests by flow control: {count} {count:log entry says|log entries say} so ({kinds}).")
    NOT_REFUSED = T("The broker refused requests by flow control.")
    COUNTED = T("The broker itself counted {count} {count:answer|answers} with code 2 (SYSTEM_BUSY).")
    SLOW = T("The store itself says that writes, flushes or new files took long ({count} {count:log entry|log entries}).")
    STALLED = T("The records show {stalls} {stalls:stall|stalls} ({count} {count:pause|pauses}, {seconds} s together), in which nothing was stored while {waiters} {waiters:message|messages} waited.")
    STOOD = T("The broker stored nothing for {seconds} s while {waiters} {waiters:message|messages} waited")
    FIRST_LOST = T("First send that failed and is in no topic: {key}")
    LAST_LOST = T("Last send that failed and is in no topic: {key}")
    FIRST_STORED = T("First send that failed and is stored all the same: {key}")
    TIMED_OUT = T("Clients timed out waiting for an answer ({count} {count:log entry|log entries}): their own time-out, which says nothing about storage.")
    OUTCOME = T("Of {failed} failed {failed:send|sends} {stored} {stored:is|are} stored and {lost} {lost:is|are} in no topic of any broker (stored of failed: {by_kind}).")
    OUTCOME_OPEN = T("Failed sends are lost, or stored in spite of the error.")
    TWICE_OPEN = T("Keys are stored more than once with the same body.")
    BELIEF = T("{outcome} Every refusal was lost; what is stored in spite of an error was a client time-out.")
    TWICE = T("{keys} {keys:key is|keys are} stored more than once with the same body ({brokers} of them on several brokers).")
    WHY = T("Why, rank {rank}: {said} ({share} of the failed sends fall into it).")
    WHY_OPEN = T("Why, rank {rank}: {said}.")
    WHY_NOT = T("Why the broker was busy is not shown by this evidence.")
    PENDING = T("{count} {count:transaction|transactions} whose half message met a stall {count:was|were} checked or {count:is|are} still open: a refused END_TRANSACTION is one-way and leaves no error.")


class Fix:
    """What to do, and its price."""

    RESEND = T("Catch MQBrokerException with code 2 and send again after a pause, to the same topic; make the consumers idempotent.")
    RESEND_WHY = T("Clients before 5.3.0 do not retry it: {count} {count:send here was|sends here were} thrown at the application, {lost} {lost:message is|messages are} lost.")
    RESEND_RISK = T(
        "A resend after a time-out can store twice ({twice} {twice:key|keys} here without any resend); without a pause it adds to the load. Sent to a second topic "
        "instead, it makes duplicates of its own."
    )
    RESEND_VERIFY = T("The ledger of the next incident shows no lost message.")
    LOST = T("Send {count} lost {count:message|messages} again from lost.csv: first a dry run that looks each key up with `trace`, then in small batches.")
    LOST_WHY = T("No topic of any broker holds an original with these keys.")
    LOST_RISK = T("A key that was sent again by hand meanwhile is stored twice: check against the business data, and send to the same topic.")
    LOST_VERIFY = T("`trace` finds one original for each key.")
    LIMITS = T("Raise waitTimeMillsInSendQueue above the longest stall seen ({seconds} s), but keep it below the clients' sendMsgTimeout ({timeout} s).")
    LIMITS_WHY = T("{count} of the refusals here would have been stored late instead.")
    LIMITS_RISK = T("It hides the stall: senders wait instead of failing and their threads pile up; beyond sendMsgTimeout it becomes time-outs and duplicates.")
    LIMITS_VERIFY = T("No CODE: 2 in the clients' logs; watch the p99 of sends.")
    LIMITS_UNDO = T("`mqadmin updateBrokerConfig` with the old value, no restart")

    # By explanation: action, why, risk, how to verify.
    HOST = (
        T("Give the broker a host of its own, or move what writes beside it."),
        T("Something else wrote to the disk beside it, more than the broker itself."),
        T("Moving a broker needs a maintenance window."),
        T("watermark.log has a block every second; iostat shows only what the broker stores."),
    )
    GC = (
        T("Shorten the broker's garbage collections: a heap that fits its host, G1 with a pause goal, no explicit GC."),
        T("The collections shown stopped the process for longer than sends may wait."),
        T("A heap that is too large takes memory from the page cache, which the broker lives on."),
        T("rmq_broker_gc.log shows no pause above waitTimeMillsInSendQueue under the same load."),
    )
    STOPPED = (
        T("Find what stops the process: GC log and safepoints, swap (`vmstat` si/so), a moved or paused virtual machine (steal), a full memory limit of its container."),
        T("The whole process stored nothing; no limit of RocketMQ changes that."),
        T("None: it only looks."),
        T("watermark.log has a block every second, and the records show no stall."),
    )
    PAGES = (
        T("Write dirty pages earlier and in smaller portions: lower vm.dirty_background_ratio and vm.dirty_ratio, vm.swappiness=10; a faster disk where flushes stay slow."),
        T("Appends or flushes that waited for the disk are shown."),
        T("More frequent writes cost throughput; transientStorePoolEnable=true takes appends out of the page cache but loses what is in the pool when the process dies."),
        T("`putMessage in lock cost time` and `Flush data to disk costs` disappear from store.log; Dirty in /proc/meminfo stays flat."),
    )
    LOCK = (
        T("Let send threads sleep for the lock: useReentrantLockWhenPutMessage=true, or one send thread."),
        T("Appends spent most of their time waiting for the lock."),
        T("A restart; a little latency when the broker is not loaded."),
        T("`putMessage not in lock` disappears from store.log under the same load."),
    )
    POOL = (
        T("Enlarge transientStorePoolSize as far as memory allows, or switch the pool off."),
        T("The pool was used up; then every send is refused although no append is slow."),
        T("Each buffer takes as much locked memory as a commitlog file is large."),
        T("remainTransientStoreBufferNumbs of brokerStatus stays above 0."),
    )
    REPLICA = (
        T("Repair the slave or its network; until then accept ASYNC_MASTER only if acknowledged messages may be lost with the master."),
        T("Sends waited for a slave that did not answer in time."),
        T("With ASYNC_MASTER SEND_OK no longer means that two hosts have the message."),
        T("`do sync transfer other node, wait return, but failed` disappears from store.log; the slave's offset keeps up."),
    )
    MORE = (
        T("Add a broker, or move the topic to one with room."),
        T("The host, or the broker's send threads, had nothing left for this load."),
        T("A timed-out send is then often stored on two brokers."),
        T("The rate of arrival per broker falls."),
    )
    HALF_TOPIC = (
        T("Stop the half topic from feeding itself first: see that finding."),
        T("Most of what was stored while sends failed were its own records."),
        T("None of its own."),
        T("The half queue's offset no longer runs ahead of the traffic."),
    )
    FIND = (
        T("Before changing a limit, find out why: watermark.log, GC log, `sar` and store.log of that time."),
        T("Nothing in this evidence explains the refusals."),
        T("None: it only looks."),
        T("The next triage names an explanation with its share of the failed sends."),
    )


BY_WHY = {
    "gc": Fix.GC,
    "process-stood-still": Fix.STOPPED,
    "stall": Fix.STOPPED,
    "page-cache": Fix.PAGES,
    "flush": Fix.PAGES,
    "lock": Fix.LOCK,
    "transient-pool": Fix.POOL,
    "replication": Fix.REPLICA,
    "co-located-load": Fix.HOST,
    "host": Fix.MORE,
    "queue-wait": Fix.MORE,
    "half-topic": Fix.HALF_TOPIC,
}
"""What fits each explanation: action, why, risk, how to verify."""

WHYS = {
    "gc": T("garbage collections were long"),
    "process-stood-still": T("the broker's process stalled"),
    "stall": T("nothing was stored for a while"),
    "page-cache": T("appends to the page cache were slow"),
    "flush": T("flushes to disk were slow"),
    "lock": T("appends waited long for their lock"),
    "transient-pool": T("the transient store pool was used up"),
    "replication": T("it waited for a slave"),
    "co-located-load": T("something else wrote to its disk"),
    "host": T("the host had nothing left"),
    "queue-wait": T("too few threads, or too little patience"),
    "half-topic": T("the half topic fed itself"),
}
"""A name of each explanation."""
