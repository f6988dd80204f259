"""replica-loss: the master is lost, and the surviving replica lacks records that the master had acknowledged.

Deciding steps: acknowledged records that the surviving replica lacks (the senders' ledger against its store; a group's offset beyond its end shows missing
records, but only a ledger shows whether they were acknowledged) · the master is gone, or its store is. A slave's log looks just as alarming where nothing
acknowledged is missing (reference: operators' incidents §6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kit.analysis import refs
from kit.analysis.consumers import replicas, reported_ends
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Missing, Remedy, Step, deciding, supporting
from kit.i18n import T
from kit.inventory.references import Ref

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "replica-loss"
KIND: Kind = "root_cause"
LEADS_TO = ("client-timeout",)

TITLE = T("Acknowledged messages are not on the surviving replica")
NONE = T("No acknowledged message is missing on a replica.")
SUMMARY = T(
    "The master is gone, and {missing} of {acknowledged} acknowledged messages {missing:is|are} not on its replica, which ends at byte {end} ({time})."
)
SUMMARY_OPEN = T(
    "Group offsets are beyond the end of the replica: it lacks records. Only the senders' own records show whether acknowledged ones are missing."
)
SUMMARY_GONE = T(
    "The master is gone. Whether its replica lacks acknowledged messages, only the senders' own records show."
)
LACKS = T(
    "{missing} of {acknowledged} sends that were answered SEND_OK {missing:is|are} not on the replica: it ends at byte {end}, before their records."
)
LACKS_NONE = T("All {acknowledged} sends that were answered SEND_OK are on the replica.")
NOT_COMPARED = T("Acknowledged sends that the replica lacks.")
NO_REPLICA = T("The stores of the evidence are masters': nothing shows that one of them was lost.")
GONE = T("The master is gone: the name server, the list of brokers or its slave shows it, and its store is not here.")
NOT_GONE = T("The master's store is in the evidence.")
GONE_OPEN = T("The master is gone, or its store is.")
BEYOND = T(
    "Group offsets are beyond the replica's end in {queues} {queues:queue|queues}, by up to {most} {most:message|messages}: records that were consumed are missing."
)
NOT_CORRECTED = T(
    "Consumers requested offsets that the replica does not have ({count} {count:answer|answers} in its log)."
)
OVERFLOW = T(
    "Consumers requested offsets beyond the end of a broker's queues ({count} {count:line|lines}): it lacks records that they consumed earlier or from another broker."
)
READ_REFUSED = T("The replica refuses pulls with [REJECTREQUEST]system busy: slaveReadEnable is off; nothing is busy.")
OTHER_ANSWERS = T(
    "Some sends were answered FLUSH_SLAVE_TIMEOUT or SLAVE_NOT_AVAILABLE: stored by the master alone, and not acknowledged as safe ({count})."
)
STATUS_END = T(
    "According to brokerStatus the replica's log ends at byte {end}; {missing} acknowledged {missing:record comes|records come} after it."
)

WANT_SENDS = T("only this shows which sends were answered SEND_OK")
WANT_STORE = T("it shows where the replica ends")
WANT_CLUSTER = T("it shows whether the master is still registered, and when the name server lost its connection")

LOOKS_LIKE = (
    (
        "broker-busy",
        T("a slave whose master is gone refuses pulls as busy (slaveReadEnable=false); no send was refused"),
    ),
    ("offset-jump", T("there messages were deleted or skipped although the log is complete; here the log ends early")),
    ("broker-unreachable", T("there clients never reached the broker; here they did, until it died")),
)

FIGURES: Final = {
    "acknowledged": Figure(T("sends answered SEND_OK")),
    "acknowledged_missing": Figure(T("of these not on the replica"), "lost"),
    "replica_end_physical_offset": Figure(T("bytes of commit log on the replica")),
    "replica_last_store_timestamp": Figure(T("time of the last record on the replica")),
}

ALERTS: Final = (
    Alert("ha-closed", T("A slave no longer hears from its master: what it would lack if the master were lost is not known yet."), "master-gone"),
    Alert("slave-sync-failed", T("A slave cannot copy topics and offsets from its master."), "master-gone", least=3, within=120, lasts=3),
    Alert("offset-not-corrected", T("Groups request offsets that a slave does not have: it lacks messages they consumed from the master. Only the senders know whether these were acknowledged."),
          "pulls-beyond-end", least=10),
)  # fmt: skip

RESEND_WHY = T(
    "The {missing} {missing:key is|keys are} listed in missing_on_replica.csv; many of them may have been consumed before the master died."
)

FIXES = (
    Remedy(
        T(
            "Send the missing messages again from the senders' ledger or the business tables; consumers have to be idempotent."
        ),
        RESEND_WHY,
        T("Medium: messages consumed before are handled again."),
        T("Every key in the list is stored on the new master and has one effect."),
    ),
    Remedy(
        T("Keep the lost master's disk; do not start it empty under the same brokerName."),
        T(
            "The slave's log is longer than an empty master's: replication stops with \"master pushed offset not equal the max phy offset in slave\"."
        ),
        T("Low."),
        T("clusterList shows one broker 0; the slave's log has no such line."),
    ),
    Remedy(
        T(
            "For messages that must not be lost: brokerRole=SYNC_MASTER and flushDiskType=SYNC_FLUSH, or DLedger or controller mode; in the producer treat FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE as not safe."
        ),
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


def examine(case: Case) -> Finding:
    """Report which acknowledged messages the surviving replica lacks."""
    compared = replicas.ledger(case)
    slave = bool(replicas.slaves(case)) or replicas.told_by_a_slave(case)
    beyond = replicas.beyond(case) if slave else []
    gone = replicas.master_gone(case) if slave else ()
    if beyond or (compared is not None and len(compared.missing)):
        gone = (*gone, *replicas.ended(case))[:4] if slave else ()
    applies = slave or bool(replicas.master_gone(case))
    finding = Finding(SLUG, KIND, TITLE, NONE)
    finding.steps = [
        _lacks(case, compared, applies=slave),
        _gone(case, gone, slave=slave),
        *_supporting(case, beyond, slave=slave),
    ]
    finding.figures = _figures(case, compared, applies=slave)
    finding.missing = _missing(case, compared, gone, slave=slave, applies=applies)
    if finding.verdict in ("confirmed", "suspected"):
        _tell(case, finding, compared)
    return finding


def _tell(case: Case, finding: Finding, compared: replicas.Ledger | None) -> None:
    ends = list(replicas.replica_ends(case).values())
    missing = compared.missing if compared is not None else None
    if missing is not None and len(missing) and compared is not None:
        last = max(ends, key=lambda e: e.end)
        finding.summary = SUMMARY.say(
            missing=len(missing), acknowledged=compared.acknowledged, end=last.end, time=_utc(last.last_time)
        )
        times = [t.to_pydatetime() for t in missing["start"].dropna()]
        finding.window = (last.last_time.to_pydatetime(), max(times)) if times else None
        finding.remedies = [
            Remedy(FIXES[0].action, RESEND_WHY.say(missing=len(missing)), FIXES[0].risk, FIXES[0].verify),
            *FIXES[1:],
        ]
        columns = ["key", "uniq_key", "offset_msg_id", "start", "file", "line"]
        finding.tables = {
            "missing_on_replica": missing[columns].reset_index(drop=True),
            "replica_seconds": replicas.seconds(compared),
        }
    else:
        lacks = any(step.holds and step.id in ("offsets-beyond-end", "pulls-beyond-end") for step in finding.steps)
        finding.summary = SUMMARY_OPEN if lacks else SUMMARY_GONE


def _lacks(case: Case, compared: replicas.Ledger | None, *, applies: bool) -> Step:
    if not applies:
        whole = bool(replicas.replica_ends(case)) and not replicas.master_gone(case)
        return deciding("acknowledged-missing", NO_REPLICA if whole else NOT_COMPARED, False if whole else None)
    reported = reported_ends.all_reported(case) if compared is None else None
    if reported is not None:
        return deciding("acknowledged-missing", LACKS_NONE.say(acknowledged=reported[0]), False, (reported[1],))
    if compared is None or not compared.acknowledged:
        return deciding("acknowledged-missing", NOT_COMPARED, None)
    if not len(compared.missing):
        return deciding("acknowledged-missing", LACKS_NONE.say(acknowledged=compared.acknowledged), False)
    last = max(replicas.replica_ends(case).values(), key=lambda e: e.end)
    rows = compared.missing.head(2)
    quoted = tuple(
        case.ref(file, line) for file, line in zip(rows["file"].astype(str), rows["line"].astype(int), strict=True)
    )
    said = LACKS.say(missing=len(compared.missing), acknowledged=compared.acknowledged, end=last.end)
    return deciding("acknowledged-missing", said, True, (*quoted, last.ref))


def _gone(case: Case, gone: tuple[Ref, ...], *, slave: bool) -> Step:
    if slave and replicas.master_stored(case):
        return deciding("master-gone", NOT_GONE, False)
    return deciding("master-gone", GONE if gone else GONE_OPEN, True if gone else None, gone)


def _supporting(case: Case, beyond: list[replicas.Beyond], *, slave: bool) -> list[Step]:
    steps = []
    if beyond:
        most = max(b.offset - b.end for b in beyond)
        steps.append(
            supporting(
                "offsets-beyond-end", BEYOND.say(queues=len(beyond), most=most), True, tuple(b.ref for b in beyond[:2])
            )
        )
    asked = refs.seen(case, "offset-not-corrected")
    if asked:
        steps.append(
            supporting("pulls-beyond-end", NOT_CORRECTED.say(count=asked.count), True, refs.quote(case, asked, 1))
        )
    over = refs.seen(case, "offset-overflow")
    if over and not asked:
        steps.append(supporting("pulls-beyond-end", OVERFLOW.say(count=over.count), True, refs.quote(case, over, 1)))
    reported = reported_ends.reported_end(case)
    if reported is not None and not replicas.replica_ends(case):
        lacking = reported_ends.behind(case, reported[0])
        said = STATUS_END.say(end=reported[0], missing=lacking)
        steps.append(supporting("status-end", said, lacking, (reported[1],)))
    refused = replicas.refused_reads(case) if slave else ()
    if refused:
        steps.append(supporting("reads-refused", READ_REFUSED, True, refused))
    alone = replicas.answered_alone(case)
    if alone and slave:
        steps.append(supporting("answered-alone", OTHER_ANSWERS.say(count=alone), None))
    return steps


def _figures(case: Case, compared: replicas.Ledger | None, *, applies: bool) -> dict[str, Any]:
    if not applies:
        return dict.fromkeys(
            ("acknowledged", "acknowledged_missing", "replica_end_physical_offset", "replica_last_store_timestamp")
        )
    last = max(replicas.replica_ends(case).values(), key=lambda e: e.end, default=None)
    reported = reported_ends.reported_end(case)
    return {
        "acknowledged": None if compared is None else compared.acknowledged,
        "acknowledged_missing": None if compared is None else len(compared.missing),
        "replica_end_physical_offset": last.end if last is not None else None if reported is None else reported[0],
        "replica_last_store_timestamp": None if last is None else last.last_time.to_pydatetime(),
    }


def _missing(
    case: Case, compared: replicas.Ledger | None, gone: tuple[Ref, ...], *, slave: bool, applies: bool
) -> list[Missing]:
    wanted = []
    stored = bool(replicas.replica_ends(case))
    if applies and not case.has("sends"):
        wanted.append(collect_next.sends(WANT_SENDS))
    if not stored or (applies and not slave):
        wanted.append(collect_next.replica_store(WANT_STORE))
    if slave and not gone and not replicas.master_stored(case) and (compared is None or len(compared.missing)):
        wanted.append(collect_next.cluster_list(WANT_CLUSTER))
    return wanted


def _utc(at: pd.Timestamp) -> str:
    return at.isoformat(sep=" ", timespec="milliseconds") + " UTC"
