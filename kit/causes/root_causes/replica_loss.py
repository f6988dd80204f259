"""replica-loss: the master is lost, and the surviving replica lacks records that the master had acknowledged.

Deciding steps: acknowledged records that the surviving replica lacks (the senders' ledger against its store; a group's offset beyond its end shows missing
records, but only a ledger shows whether they were acknowledged) · the master is gone, or its store is. A slave's log looks just as alarming where nothing
acknowledged is missing (reference: operators' incidents §6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.analysis import refs
from kit.analysis.consumers import replicas
from kit.analysis.sends import attempts
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.rocketmq import names

if TYPE_CHECKING:
    from kit.case.case import Case

TOPICS: Final = 5
"""Most topics that the summary names."""
TEXTS: Final = texts_of(__name__)


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
    finding = TEXTS.finding()
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


def _last(case: Case) -> dict[str, Any] | None:
    return max(replicas.replica_ends(case), key=lambda row: row["end"], default=None)


def _tell(case: Case, finding: Finding, compared: replicas.Ledger | None) -> None:
    last = _last(case)
    if compared is None or not compared.missing or last is None:
        lacks = any(step.holds and step.id in ("offsets-beyond-end", "pulls-beyond-end") for step in finding.steps)
        finding.summary = TEXTS["summary_open"] if lacks else TEXTS["summary_gone"]
        return
    time = last["last_time"].isoformat(sep=" ", timespec="milliseconds") + " UTC"
    count = {"missing": compared.missing, "acknowledged": compared.acknowledged}
    finding.summary = TEXTS.say("summary", **count, end=last["end"], time=time, topics=_topics(case))
    finding.window = (last["last_time"], compared.latest) if compared.latest else None
    finding.remedies = [TEXTS.remedy(name, missing=compared.missing) for name in TEXTS.remedies]
    finding.tables = {
        "missing_on_replica": case.facts("acknowledged_missing"),
        "replica_seconds": replicas.seconds(case),
    }


def _topics(case: Case) -> list[str]:
    """Return the topics of users that the replica has records of, the first few."""
    named = [row["value"] for row in case.fact_rows("record_names") if row["kind"] == "topic"]
    topics = [topic for topic in named if not names.is_system_topic(topic)]
    return topics[:TOPICS] + (["…"] if len(topics) > TOPICS else [])


def _lacks(case: Case, compared: replicas.Ledger | None, *, applies: bool) -> Step:
    if not applies:
        whole = bool(replicas.replica_ends(case)) and not replicas.master_gone(case)
        return deciding(
            "acknowledged-missing", TEXTS["no_replica"] if whole else TEXTS["not_compared"], False if whole else None
        )
    reported = replicas.reported(case) if compared is None else None
    if reported is not None and reported["whole"]:
        return deciding(
            "acknowledged-missing", TEXTS.say("lacks_none", acknowledged=reported["sends"]), False, _ref(case, reported)
        )
    last = _last(case)
    if compared is None or not compared.acknowledged or last is None:
        return deciding("acknowledged-missing", TEXTS["not_compared"], None)
    if not compared.missing:
        return deciding("acknowledged-missing", TEXTS.say("lacks_none", acknowledged=compared.acknowledged), False)
    quoted = case.refs((row["file"], row["line"]) for row in case.fact_rows("acknowledged_missing")[:2])
    claim = TEXTS.say("lacks", missing=compared.missing, acknowledged=compared.acknowledged, end=last["end"])
    return deciding("acknowledged-missing", claim, True, (*quoted, replicas.last_record(last)))


def _ref(case: Case, row: dict[str, Any]) -> tuple[Ref, ...]:
    return (case.ref(row["file"], row["line"]),)


def _gone(case: Case, gone: tuple[Ref, ...], *, slave: bool) -> Step:
    if slave and replicas.master_stored(case):
        return deciding("master-gone", TEXTS["not_gone"], False)
    return deciding("master-gone", TEXTS["gone"] if gone else TEXTS["gone_open"], True if gone else None, gone)


def _supporting(case: Case, beyond: list[dict[str, Any]], *, slave: bool) -> list[Step]:
    steps = []
    if beyond:
        claim = TEXTS.say("beyond", queues=len(beyond), most=max(row["offset"] - row["end_offset"] for row in beyond))
        quoted = tuple(
            ref for row in beyond[:2] if (ref := refs.first_with(case, row["file"], f"{row['topic']}@{row['group']}"))
        )
        steps.append(supporting("offsets-beyond-end", claim, True, quoted))
    asked, over = refs.seen(case, "offset-not-corrected"), refs.seen(case, "offset-overflow")
    if asked or over:
        claim = TEXTS.say("not_corrected", count=asked.count) if asked else TEXTS.say("overflow", count=over.count)
        steps.append(supporting("pulls-beyond-end", claim, True, refs.quote(case, asked or over, 1)))
    reported = replicas.reported(case)
    if reported is not None and not replicas.replica_ends(case):
        claim = TEXTS.say("status_end", end=reported["end"], missing=reported["behind"])
        steps.append(supporting("status-end", claim, reported["behind"], _ref(case, reported)))
    refused = (
        attempts.refused_pulls(case) if slave else ()
    )  # slaveReadEnable=false: PullMessageProcessor.rejectRequest, 5.0.0 and later
    if refused:
        steps.append(supporting("reads-refused", TEXTS["read_refused"], True, refused))
    answers = replicas.answers(case) if slave else {}
    if alone := sum(answers.get(status, 0) for status in ("FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")):
        steps.append(supporting("answered-alone", TEXTS.say("other_answers", count=alone), None))
    return steps


def _figures(case: Case, compared: replicas.Ledger | None, *, applies: bool) -> dict[str, Any]:
    if not applies:
        return dict.fromkeys(TEXTS.figures)
    last, reported = _last(case), replicas.reported(case)
    return {
        "acknowledged": None if compared is None else compared.acknowledged,
        "acknowledged_missing": None if compared is None else compared.missing,
        "replica_end_physical_offset": last["end"]
        if last is not None
        else None
        if reported is None
        else reported["end"],
        "replica_last_store_timestamp": None if last is None else last["last_time"],
    }


def _missing(
    case: Case, compared: replicas.Ledger | None, gone: tuple[Ref, ...], *, slave: bool, applies: bool
) -> list[Missing]:
    wanted = []
    stored = bool(replicas.replica_ends(case))
    if applies and not case.has("sends"):
        wanted.append(collect_next.ask("sends", TEXTS["want_sends"]))
    if not stored or (applies and not slave):
        wanted.append(collect_next.ask("replica's store", TEXTS["want_store"]))
    if slave and not gone and not replicas.master_stored(case) and (compared is None or compared.missing):
        wanted.append(collect_next.ask("cluster list", TEXTS["want_cluster"]))
    return wanted
