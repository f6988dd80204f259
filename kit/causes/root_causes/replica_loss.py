"""replica-loss: the master is lost, and the surviving replica lacks records that the master had acknowledged.

A slave's log looks just as alarming where nothing acknowledged is missing (reference: operators' incidents §6).
"""

from typing import Any, Final

from kit.analysis import brokers, refs
from kit.analysis.consumers import lag, offsets, replicas
from kit.analysis.sends import attempts
from kit.causes.declared import Observed
from kit.rocketmq import names
from kit.tables.facts import Facts

TOPICS: Final = 5
"""Most topics that the summary names."""
UNDER_WAY: Final = 1000
"""Messages by which an offset may pass an end that was asked before it, if less than a tenth of all stored there."""
NOT_ON_A_SLAVE: Final = ("FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")


def observe(facts: Facts) -> Observed:
    compared, slave, gone = replicas.ledger(facts), replicas.has_slave(facts), replicas.master_gone(facts)
    # In controller mode any broker may have been the master.
    controlled = any(broker.configured and broker.slave is None for broker in brokers.all_of(facts))
    applies = slave or bool(gone)
    ends = facts.rows("replica_ends") if applies and facts.has("messages") else []
    stored = bool(ends or (not applies and replicas.ends(facts)))
    # Of the replicas of several brokers the one that lacks messages.
    first = next(iter(facts.rows("acknowledged_missing")), {}) if compared and compared["missing"] else {}
    host, _ = replicas.of_id(first.get("offset_msg_id")) or (None, 0)
    last = max(ends, key=lambda row: (row["store_host"] == host, row["end"]), default=None)
    # Where a copy ends inside a record, or with a full file, the store itself may have what follows.
    cut = [stretch["start"] for stretch in brokers.stretches(facts) if stretch["cut"]]
    cut_short = last is not None and max(cut, default=-1) >= last["end"]
    # The topics of users that the replica has records of, the first few.
    hosts = {row["store_host"] for row in ends if host in (None, row["store_host"])}
    named = {row["topic"] for row in facts.rows("stored_queues") if row["store_host"] in hosts} if hosts else ()
    own = sorted(topic for topic in named if not names.is_system_topic(topic))
    topics = own[:TOPICS] + (["…"] if len(own) > TOPICS else [])
    values = {
        "no_replica": not slave and stored and not gone and not controlled, "slave": slave, "controlled": controlled,
        "applies": applies, "stored": stored, "cut_short": applies and cut_short, "ledger": facts.has("sends"),
        "topics": topics,
        "master_stored": slave and replicas.master_stored(facts),
    }  # fmt: skip
    observed = Observed(values, actors=topics)
    reported = replicas.reported(facts)
    if compared is None and reported is not None and reported["whole"] and slave:
        observed.values |= {"whole": True, "sent": reported["sends"]}
        observed.quotes["acknowledged-missing"] = (facts.ref(reported["file"], reported["line"]),)
    if compared is not None and last is not None:
        _compared(facts, observed, compared, last)
    beyond = facts.rows("offsets_beyond") if slave else []
    if not slave:
        gone = ()
    elif beyond or (compared and compared["missing"]):
        gone = (*gone, *replicas.ended(facts))[:4]
    if "next" in observed.values:
        gone = observed.quotes["acknowledged-missing"][-1:]
    observed.values["gone"], observed.quotes["master-gone"] = bool(gone), gone
    _signs(facts, observed, beyond, reported)
    if applies:
        # The replica goes on behind a copy that was cut off.
        last = None if cut_short else last
        end = last or reported
        observed.values |= {
            "acknowledged": compared and compared["acknowledged"],
            "acknowledged_missing": None if compared is None or cut_short else compared["missing"],
            "replica_end_physical_offset": end and end["end"],
            "replica_last_store_timestamp": last and last["last_time"],
        }
    return observed


def _compared(facts: Facts, observed: Observed, compared: dict[str, Any], last: dict[str, Any]) -> None:
    missing = compared["missing"]
    if compared["acknowledged"]:
        observed.values |= {
            "whole": not missing, "sent": compared["acknowledged"], "missing": missing, "end": last["end"],
            "time": last["last_time"], "file": last["file"],
        }  # fmt: skip
    if missing and not observed.values["cut_short"]:
        if over := replicas.taken_over(facts, last["store_host"]):
            last, after = over
            named = {"end": last["end"], "time": last["last_time"], "file": last["file"], "next": after["store_host"]}
            observed.values |= named | {"since": after["first_time"], "master_stored": False}
        quoted = facts.refs((row["file"], row["line"]) for row in facts.rows("acknowledged_missing")[:2])
        observed.quotes["acknowledged-missing"] = (*quoted, replicas.last_record(last))
        observed.window = (last["last_time"], compared["latest"]) if compared["latest"] else None
        observed.tables = {"missing_on_replica": facts("acknowledged_missing")}


def _signs(facts: Facts, observed: Observed, beyond: list[dict[str, Any]], reported: dict[str, Any] | None) -> None:
    if beyond:
        observed.values |= {"queues": len(beyond), "most": max(row["offset"] - row["end_offset"] for row in beyond)}
        firsts = (refs.first_with(facts, row["file"], f"{row['topic']}@{row['group']}") for row in beyond[:2])
        observed.quotes["offsets-beyond-end"] = [ref for ref in firsts if ref]
    behind = [row for row in facts.rows("admin_queues") if row["diff"] is not None and row["diff"] < -lag.LEAST]
    printed = [row for row in behind if -row["diff"] > min(UNDER_WAY, (row["reached"] or UNDER_WAY * 10) / 10)]
    if printed and not beyond:
        observed.values |= {"printed": max(-row["diff"] for row in printed), "printed_queues": len(printed)}
        observed.quotes["offsets-beyond-end"] = facts.refs((row["file"], row["line"]) for row in printed[:2])
    asked, over = refs.seen(facts, "offset-not-corrected"), refs.seen(facts, "offset-overflow")
    # The same, as a consumer prints what it is answered.
    answered = [row for row in offsets.lines(facts, "pull-offset-illegal") if offsets.is_beyond_the_end(row)]
    overflow = over.count or sum(row["n"] for row in answered)
    observed.values |= {"not_corrected": asked.count, "overflow": overflow}
    first = facts.refs((row["file"], row["line"]) for row in answered[:1])
    observed.quotes["pulls-beyond-end"] = refs.quote(facts, asked or over, 1) or first
    if reported is not None and not observed.values["stored"]:
        observed.values |= {"status_end": reported["end"], "behind": reported["behind"]}
        observed.quotes["status-end"] = (facts.ref(reported["file"], reported["line"]),)
    # slaveReadEnable=false: PullMessageProcessor.rejectRequest, 5.0.0 and later
    slave = observed.values["slave"]
    refused = attempts.refused_pulls(facts) if slave else ()
    observed.values["read_refused"], observed.quotes["reads-refused"] = bool(refused), refused
    answers = facts.rows("send_answers") if slave and facts.has("sends") else []
    observed.values["alone"] = sum(row["sends"] for row in answers if row["status"] in NOT_ON_A_SLAVE)
