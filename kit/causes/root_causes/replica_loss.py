"""replica-loss: the master is lost, and the surviving replica lacks records that the master had acknowledged.

A slave's log looks just as alarming where nothing acknowledged is missing (reference: operators' incidents §6).
"""

from __future__ import annotations

from typing import Any, Final

from kit.analysis import refs
from kit.analysis.consumers import replicas
from kit.analysis.sends import attempts
from kit.causes.declared import Observed
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.tables.facts import Facts

TOPICS: Final = 5
"""Most topics that the summary names."""


def observe(facts: Facts) -> Observed:
    """Count the acknowledged messages that the surviving replica lacks."""
    compared, ends, gone = replicas.ledger(facts), replicas.replica_ends(facts), replicas.master_gone(facts)
    slave = bool(replicas.slaves(facts)) or replicas.told_by_a_slave(facts)
    applies, stored = slave or bool(gone), bool(ends)
    last = max(ends, key=lambda row: row["end"], default=None)
    cut_short = last is not None and replicas.cut_short(facts, last)
    observed = Observed(
        {
            "no_replica": not slave and stored and not gone, "slave": slave, "applies": applies, "stored": stored,
            "cut_short": applies and cut_short,
            "ledger": facts.has("sends"), "topics": _topics(facts),
            "master_stored": slave and replicas.master_stored(facts),
        },
        actors=_topics(facts),
    )  # fmt: skip
    missing = _compared(facts, observed, compared, last) if slave else 0
    beyond = replicas.beyond(facts) if slave else []
    if not slave:
        gone = ()
    elif beyond or missing:
        gone = (*gone, *replicas.ended(facts))[:4]
    observed.values["gone"], observed.quotes["master-gone"] = bool(gone), gone
    _signs(facts, observed, beyond, slave=slave)
    if applies:
        end = last or replicas.reported(facts)
        observed.values |= {
            "acknowledged": None if compared is None else compared.acknowledged,
            "acknowledged_missing": None if compared is None or cut_short else compared.missing,
            "replica_end_physical_offset": None if end is None else end["end"],
            "replica_last_store_timestamp": None if last is None else last["last_time"],
        }
    if last and compared and compared.missing and not cut_short and (slave or gone):
        observed.window = (last["last_time"], compared.latest) if compared.latest else None
        observed.tables = {
            "missing_on_replica": facts("acknowledged_missing"),
            "replica_seconds": replicas.seconds(facts),
        }
    return observed


def _compared(facts: Facts, observed: Observed, compared: replicas.Ledger | None, last: dict[str, Any] | None) -> int:
    """Compare the senders' ledger with the replica's store; return how many messages it lacks."""
    reported = replicas.reported(facts) if compared is None else None
    if reported is not None and reported["whole"]:
        observed.values |= {"whole": True, "sent": reported["sends"]}
        observed.quotes["acknowledged-missing"] = _ref(facts, reported)
    if compared is None:
        return 0
    if compared.acknowledged and last is not None:
        observed.values |= {
            "whole": not compared.missing, "sent": compared.acknowledged, "missing": compared.missing,
            "end": last["end"],
            "time": last["last_time"], "file": last["file"],
        }  # fmt: skip
        if compared.missing and not observed.values["cut_short"]:
            quoted = facts.refs((row["file"], row["line"]) for row in facts.rows("acknowledged_missing")[:2])
            observed.quotes["acknowledged-missing"] = (*quoted, replicas.last_record(last))
    return compared.missing


def _ref(facts: Facts, row: dict[str, Any]) -> tuple[Ref, ...]:
    return (facts.ref(row["file"], row["line"]),)


def _signs(facts: Facts, observed: Observed, beyond: list[dict[str, Any]], *, slave: bool) -> None:
    """Add what makes a loss likely without a ledger."""
    if beyond:
        observed.values |= {"queues": len(beyond), "most": max(row["offset"] - row["end_offset"] for row in beyond)}
        firsts = (refs.first_with(facts, row["file"], f"{row['topic']}@{row['group']}") for row in beyond[:2])
        observed.quotes["offsets-beyond-end"] = [ref for ref in firsts if ref]
    asked, over = refs.seen(facts, "offset-not-corrected"), refs.seen(facts, "offset-overflow")
    observed.values |= {"not_corrected": asked.count, "overflow": over.count}
    observed.quotes["pulls-beyond-end"] = refs.quote(facts, asked or over, 1)
    reported = replicas.reported(facts)
    if reported is not None and not observed.values["stored"]:
        observed.values |= {"status_end": reported["end"], "behind": reported["behind"]}
        observed.quotes["status-end"] = _ref(facts, reported)
    # slaveReadEnable=false: PullMessageProcessor.rejectRequest, 5.0.0 and later
    refused = attempts.refused_pulls(facts) if slave else ()
    observed.values["read_refused"], observed.quotes["reads-refused"] = bool(refused), refused
    answers = replicas.answers(facts) if slave else {}
    observed.values["alone"] = sum(answers.get(status, 0) for status in ("FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"))


def _topics(facts: Facts) -> list[str]:
    """Return the topics of users that the replica has records of, the first few."""
    named = [row["value"] for row in facts.rows("record_names") if row["kind"] == "topic"]
    topics = [topic for topic in named if not names.is_system_topic(topic)]
    return topics[:TOPICS] + (["…"] if len(topics) > TOPICS else [])
