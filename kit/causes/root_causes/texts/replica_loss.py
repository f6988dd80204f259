"""Sentences of replica-loss."""

from __future__ import annotations

from kit.causes.findings import Remedy
from kit.i18n import T

# fmt: off
TITLE = T("Acknowledged messages are not on the surviving replica")
NONE = T("No acknowledged message is missing on a replica.")
SUMMARY = T("The master is gone, and {missing} of {acknowledged} acknowledged messages {missing:is|are} not on its replica, which ends at byte {end} ({time}).")
SUMMARY_OPEN = T("Group offsets are beyond the end of the replica: it lacks records. Only the senders' own records show whether acknowledged ones are missing.")
SUMMARY_GONE = T("The master is gone. Whether its replica lacks acknowledged messages, only the senders' own records show.")
LACKS = T("{missing} of {acknowledged} sends that were answered SEND_OK {missing:is|are} not on the replica: it ends at byte {end}, before their records.")
LACKS_NONE = T("All {acknowledged} sends that were answered SEND_OK are on the replica.")
NOT_COMPARED = T("Acknowledged sends that the replica lacks.")
NO_REPLICA = T("The stores of the evidence are masters': nothing shows that one of them was lost.")
GONE = T("The master is gone: the name server, the list of brokers or its slave shows it, and its store is not here.")
NOT_GONE = T("The master's store is in the evidence.")
GONE_OPEN = T("The master is gone, or its store is.")
BEYOND = T("Group offsets are beyond the replica's end in {queues} {queues:queue|queues}, by up to {most} {most:message|messages}: records that were consumed are missing.")
NOT_CORRECTED = T("Consumers requested offsets that the replica does not have ({count} {count:answer|answers} in its log).")
OVERFLOW = T("Consumers requested offsets beyond the end of a broker's queues ({count} {count:line|lines}): it lacks records that they consumed earlier or from another broker.")
READ_REFUSED = T("The replica refuses pulls with [REJECTREQUEST]system busy: slaveReadEnable is off; nothing is busy.")
OTHER_ANSWERS = T("Some sends were answered FLUSH_SLAVE_TIMEOUT or SLAVE_NOT_AVAILABLE: stored by the master alone, and not acknowledged as safe ({count}).")
STATUS_END = T("According to brokerStatus the replica's log ends at byte {end}; {missing} acknowledged {missing:record comes|records come} after it.")

WANT_SENDS = T("only this shows which sends were answered SEND_OK")
WANT_STORE = T("it shows where the replica ends")
WANT_CLUSTER = T("it shows whether the master is still registered, and when the name server lost its connection")

LOOKS_LIKE = (
    ("broker-busy", T("a slave whose master is gone refuses pulls as busy (slaveReadEnable=false); no send was refused")),
    ("offset-jump", T("there messages were deleted or skipped although the log is complete; here the log ends early")),
    ("broker-unreachable", T("there clients never reached the broker; here they did, until it died")),
)

RESEND_WHY = T("The {missing} {missing:key is|keys are} listed in missing_on_replica.csv; many of them may have been consumed before the master died.")

FIXES = (
    Remedy(
        T("Send the missing messages again from the senders' ledger or the business tables; consumers have to be idempotent."),
        RESEND_WHY,
        T("Medium: messages consumed before are handled again."),
        T("Every key in the list is stored on the new master and has one effect."),
    ),
    Remedy(
        T("Keep the lost master's disk; do not start it empty under the same brokerName."),
        T("The slave's log is longer than an empty master's: replication stops with \"master pushed offset not equal the max phy offset in slave\"."),
        T("Low."),
        T("clusterList shows one broker 0; the slave's log has no such line."),
    ),
    Remedy(
        T("For messages that must not be lost: brokerRole=SYNC_MASTER and flushDiskType=SYNC_FLUSH, or DLedger or controller mode; in the producer treat FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE as not safe."),
        T("A synchronous master answers SEND_OK only when its slave has the record."),
        T("Medium: more latency, and answers other than SEND_OK while the slave is down."),
        T("With the slave stopped, a test send is answered SLAVE_NOT_AVAILABLE."),
    ),
    Remedy(
        T("Set an alarm on how many bytes the slave is behind its master."),
        T("The slave had been cut off before the master was lost, and nobody was alerted."),
        T("Low."),
        T("The alarm fires when replication is stopped on a test cluster."),
    ),
)
