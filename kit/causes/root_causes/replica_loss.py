"""replica-loss: the master is lost, and the surviving replica lacks records that the master had acknowledged.

Deciding steps: acknowledged records that the surviving replica lacks (the senders' ledger against its store; a group's offset beyond its end shows missing
records, but only a ledger shows whether they were acknowledged) · the master is gone, or its store is. A slave's log looks just as alarming where nothing
acknowledged is missing (reference: operators' incidents §6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis import refs
from kit.analysis.consumers import replicas
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
    gone = replicas.master_gone(case)
    applies = slave or bool(gone)
    if not slave:
        gone = ()
    elif beyond or (compared is not None and compared.missing):
        gone = (*gone, *replicas.ended(case))[:4]
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


def _last(case: Case) -> replicas.End | None:
    return max(replicas.replica_ends(case).values(), key=lambda e: e.end, default=None)


def _tell(case: Case, finding: Finding, compared: replicas.Ledger | None) -> None:
    last = _last(case)
    if compared is None or not compared.missing or last is None:
        lacks = any(step.holds and step.id in ("offsets-beyond-end", "pulls-beyond-end") for step in finding.steps)
        finding.summary = SUMMARY_OPEN if lacks else SUMMARY_GONE
        return
    time = last.last_time.isoformat(sep=" ", timespec="milliseconds") + " UTC"
    count = {"missing": compared.missing, "acknowledged": compared.acknowledged}
    finding.summary = SUMMARY.say(**count, end=last.end, time=time)
    finding.window = (last.last_time, compared.latest) if compared.latest else None
    again = Remedy(FIXES[0].action, RESEND_WHY.say(missing=compared.missing), FIXES[0].risk, FIXES[0].verify)
    finding.remedies = [again, *FIXES[1:]]
    finding.tables = {
        "missing_on_replica": case.facts("acknowledged_missing"),
        "replica_seconds": replicas.seconds(case),
    }


def _lacks(case: Case, compared: replicas.Ledger | None, *, applies: bool) -> Step:
    if not applies:
        whole = bool(replicas.replica_ends(case)) and not replicas.master_gone(case)
        return deciding("acknowledged-missing", NO_REPLICA if whole else NOT_COMPARED, False if whole else None)
    reported = replicas.reported(case) if compared is None else None
    if reported is not None and reported.whole:
        return deciding("acknowledged-missing", LACKS_NONE.say(acknowledged=reported.sends), False, (reported.ref,))
    last = _last(case)
    if compared is None or not compared.acknowledged or last is None:
        return deciding("acknowledged-missing", NOT_COMPARED, None)
    if not compared.missing:
        return deciding("acknowledged-missing", LACKS_NONE.say(acknowledged=compared.acknowledged), False)
    quoted = case.refs((row["file"], row["line"]) for row in case.fact_rows("acknowledged_missing")[:2])
    claim = LACKS.say(missing=compared.missing, acknowledged=compared.acknowledged, end=last.end)
    return deciding("acknowledged-missing", claim, True, (*quoted, last.ref))


def _gone(case: Case, gone: tuple[Ref, ...], *, slave: bool) -> Step:
    if slave and replicas.master_stored(case):
        return deciding("master-gone", NOT_GONE, False)
    return deciding("master-gone", GONE if gone else GONE_OPEN, True if gone else None, gone)


def _supporting(case: Case, beyond: list[replicas.Beyond], *, slave: bool) -> list[Step]:
    steps = []
    if beyond:
        claim = BEYOND.say(queues=len(beyond), most=max(b.offset - b.end for b in beyond))
        quoted = tuple(ref for b in beyond[:2] if (ref := b.ref(case)))
        steps.append(supporting("offsets-beyond-end", claim, True, quoted))
    asked, over = refs.seen(case, "offset-not-corrected"), refs.seen(case, "offset-overflow")
    if asked or over:
        claim = NOT_CORRECTED.say(count=asked.count) if asked else OVERFLOW.say(count=over.count)
        steps.append(supporting("pulls-beyond-end", claim, True, refs.quote(case, asked or over, 1)))
    reported = replicas.reported(case)
    if reported is not None and not replicas.replica_ends(case):
        claim = STATUS_END.say(end=reported.end, missing=reported.behind)
        steps.append(supporting("status-end", claim, reported.behind, (reported.ref,)))
    refused = replicas.refused_reads(case) if slave else ()
    if refused:
        steps.append(supporting("reads-refused", READ_REFUSED, True, refused))
    answers = replicas.answers(case) if slave else {}
    if alone := sum(answers.get(status, 0) for status in ("FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")):
        steps.append(supporting("answered-alone", OTHER_ANSWERS.say(count=alone), None))
    return steps


def _figures(case: Case, compared: replicas.Ledger | None, *, applies: bool) -> dict[str, Any]:
    if not applies:
        return dict.fromkeys(FIGURES)
    last, reported = _last(case), replicas.reported(case)
    return {
        "acknowledged": None if compared is None else compared.acknowledged,
        "acknowledged_missing": None if compared is None else compared.missing,
        "replica_end_physical_offset": last.end if last is not None else None if reported is None else reported.end,
        "replica_last_store_timestamp": None if last is None else last.last_time,
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
    if slave and not gone and not replicas.master_stored(case) and (compared is None or compared.missing):
        wanted.append(collect_next.cluster_list(WANT_CLUSTER))
    return wanted
