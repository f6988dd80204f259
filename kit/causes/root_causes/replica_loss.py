"""replica-loss: the master is lost, and the surviving replica lacks records that the master had acknowledged.

Deciding steps: acknowledged records that the surviving replica lacks (the senders' ledger against its store; a group's offset beyond its end shows missing
records, but only a ledger shows whether they were acknowledged) · the master is gone, or its store is. A slave's log looks just as alarming where nothing
acknowledged is missing (reference: operators' incidents §6).
"""

from __future__ import annotations

from typing import Any, Final

from kit.analysis import refs
from kit.analysis.consumers import replicas
from kit.analysis.sends import attempts
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

TOPICS: Final = 5
"""Most topics that the summary names."""
TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report which acknowledged messages the surviving replica lacks."""
    compared = replicas.ledger(facts)
    slave = bool(replicas.slaves(facts)) or replicas.told_by_a_slave(facts)
    beyond = replicas.beyond(facts) if slave else []
    gone = replicas.master_gone(facts)
    applies = slave or bool(gone)
    if not slave:
        gone = ()
    elif beyond or (compared is not None and compared.missing):
        gone = (*gone, *replicas.ended(facts))[:4]
    finding = TEXTS.finding()
    finding.steps = [
        _lacks(facts, compared, applies=slave),
        _gone(facts, gone, slave=slave),
        *_supporting(facts, beyond, slave=slave),
    ]
    finding.figures = _figures(facts, compared, applies=slave)
    finding.missing = _missing(facts, compared, gone, slave=slave, applies=applies)
    if finding.verdict in ("confirmed", "suspected"):
        _tell(facts, finding, compared)
    return finding


def _last(facts: Facts) -> dict[str, Any] | None:
    return max(replicas.replica_ends(facts), key=lambda row: row["end"], default=None)


def _tell(facts: Facts, finding: Finding, compared: replicas.Ledger | None) -> None:
    last = _last(facts)
    finding.actors = tuple(_topics(facts))
    if compared is None or not compared.missing or last is None or replicas.cut_short(facts, last):
        lacks = any(step.holds and step.id in ("offsets-beyond-end", "pulls-beyond-end") for step in finding.steps)
        finding.summary = TEXTS["summary_open"] if lacks else TEXTS["summary_gone"]
        return
    count = {"missing": compared.missing, "acknowledged": compared.acknowledged}
    finding.summary = TEXTS.say("summary", **count, end=last["end"], time=last["last_time"], topics=_topics(facts))
    finding.window = (last["last_time"], compared.latest) if compared.latest else None
    finding.remedies = [TEXTS.remedy(name, missing=compared.missing) for name in TEXTS.remedies]
    finding.tables = {"missing_on_replica": facts("acknowledged_missing"), "replica_seconds": replicas.seconds(facts)}


def _topics(facts: Facts) -> list[str]:
    """Return the topics of users that the replica has records of, the first few."""
    named = [row["value"] for row in facts.rows("record_names") if row["kind"] == "topic"]
    topics = [topic for topic in named if not names.is_system_topic(topic)]
    return topics[:TOPICS] + (["…"] if len(topics) > TOPICS else [])


def _lacks(facts: Facts, compared: replicas.Ledger | None, *, applies: bool) -> Step:
    if not applies:
        whole = bool(replicas.replica_ends(facts)) and not replicas.master_gone(facts)
        return deciding(
            "acknowledged-missing", TEXTS["no_replica"] if whole else TEXTS["not_compared"], False if whole else None
        )
    reported = replicas.reported(facts) if compared is None else None
    if reported is not None and reported["whole"]:
        claim = TEXTS.say("lacks_none", acknowledged=reported["sends"])
        return deciding("acknowledged-missing", claim, False, _ref(facts, reported))
    last = _last(facts)
    if compared is None or not compared.acknowledged or last is None:
        return deciding("acknowledged-missing", TEXTS["not_compared"], None)
    if compared.missing and replicas.cut_short(facts, last):
        return deciding("acknowledged-missing", TEXTS.say("cut_short", file=last["file"], end=last["end"]), None)
    if not compared.missing:
        return deciding("acknowledged-missing", TEXTS.say("lacks_none", acknowledged=compared.acknowledged), False)
    quoted = facts.refs((row["file"], row["line"]) for row in facts.rows("acknowledged_missing")[:2])
    claim = TEXTS.say("lacks", missing=compared.missing, acknowledged=compared.acknowledged, end=last["end"])
    return deciding("acknowledged-missing", claim, True, (*quoted, replicas.last_record(last)))


def _ref(facts: Facts, row: dict[str, Any]) -> tuple[Ref, ...]:
    return (facts.ref(row["file"], row["line"]),)


def _gone(facts: Facts, gone: tuple[Ref, ...], *, slave: bool) -> Step:
    if slave and replicas.master_stored(facts):
        return deciding("master-gone", TEXTS["not_gone"], False)
    return deciding("master-gone", TEXTS["gone"] if gone else TEXTS["gone_open"], True if gone else None, gone)


def _supporting(facts: Facts, beyond: list[dict[str, Any]], *, slave: bool) -> list[Step]:
    steps = []
    if beyond:
        claim = TEXTS.say("beyond", queues=len(beyond), most=max(row["offset"] - row["end_offset"] for row in beyond))
        quoted = tuple(
            ref for row in beyond[:2] if (ref := refs.first_with(facts, row["file"], f"{row['topic']}@{row['group']}"))
        )
        steps.append(supporting("offsets-beyond-end", claim, True, quoted))
    asked, over = refs.seen(facts, "offset-not-corrected"), refs.seen(facts, "offset-overflow")
    if asked or over:
        claim = TEXTS.say("not_corrected", count=asked.count) if asked else TEXTS.say("overflow", count=over.count)
        steps.append(supporting("pulls-beyond-end", claim, True, refs.quote(facts, asked or over, 1)))
    reported = replicas.reported(facts)
    if reported is not None and not replicas.replica_ends(facts):
        claim = TEXTS.say("status_end", end=reported["end"], missing=reported["behind"])
        steps.append(supporting("status-end", claim, reported["behind"], _ref(facts, reported)))
    # slaveReadEnable=false: PullMessageProcessor.rejectRequest, 5.0.0 and later
    refused = attempts.refused_pulls(facts) if slave else ()
    if refused:
        steps.append(supporting("reads-refused", TEXTS["read_refused"], True, refused))
    answers = replicas.answers(facts) if slave else {}
    if alone := sum(answers.get(status, 0) for status in ("FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")):
        steps.append(supporting("answered-alone", TEXTS.say("other_answers", count=alone), None))
    return steps


def _figures(facts: Facts, compared: replicas.Ledger | None, *, applies: bool) -> dict[str, Any]:
    if not applies:
        return dict.fromkeys(TEXTS.figures)
    last = _last(facts)
    cut_short = last is not None and replicas.cut_short(facts, last)
    end = last or replicas.reported(facts)
    return {
        "acknowledged": None if compared is None else compared.acknowledged,
        "acknowledged_missing": None if compared is None or cut_short else compared.missing,
        "replica_end_physical_offset": None if end is None else end["end"],
        "replica_last_store_timestamp": None if last is None else last["last_time"],
    }


def _missing(
    facts: Facts, compared: replicas.Ledger | None, gone: tuple[Ref, ...], *, slave: bool, applies: bool
) -> list[Missing]:
    wanted = []
    stored = bool(replicas.replica_ends(facts))
    if applies and not facts.has("sends"):
        wanted.append(collect_next.ask("sends", TEXTS["want_sends"]))
    last = _last(facts)
    if not stored or (applies and not slave) or (last is not None and replicas.cut_short(facts, last)):
        wanted.append(collect_next.ask("replica's store", TEXTS["want_store"]))
    if slave and not gone and not replicas.master_stored(facts) and (compared is None or compared.missing):
        wanted.append(collect_next.ask("cluster list", TEXTS["want_cluster"]))
    return wanted
