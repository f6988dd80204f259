"""Neighbours about transactions: checks that reach nobody or the wrong application, discards, double commits."""

from typing import Any, Final

import pandas as pd

from kit.analysis import refs, setup, totals
from kit.causes.declared import Observed
from kit.formats.values import integer
from kit.inventory.model import Ref
from kit.rocketmq.versions import rule
from kit.tables.facts import Facts

ANSWERS: Final = ("check-answer-commit", "check-answer-rollback", "check-answer-pending")


def check_unknown_until_discard(facts: Facts) -> Observed:
    """Count the discarded transactions that producers had answered UNKNOW until the limit.

    Source: broker/transaction/queue/TransactionalMessageServiceImpl.needDiscard,
    broker/processor/EndTransactionProcessor (reference §4.6, §6.5).
    """
    limit = setup.of_half_topics(facts, "transactionCheckMax")
    values: dict[str, Any] = {"check_limit": integer(limit.value), "limit": limit.value, "limit_known": limit.known}
    count = totals.summary(facts).get("discarded")
    if not count:
        # Of another broker's store, or of files that are gone, the log tells more.
        values |= {"discarded": count, "answered_unknown": count} if facts.has("messages") else {}
        return _printed_discards(facts, values)
    every = facts("discarded_transactions")
    rows, values["rolled"] = every[every["unknown"] > 0], _rolled(facts, every["stored"].min())
    values |= {
        "discarded": count, "answered_unknown": len(rows), "unknown": len(rows), "answers": int(rows["unknown"].sum()),
        "thrown": int(rows["thrown"].sum()),
    }  # fmt: skip
    quotes = {
        "discarded": refs.transactions(every, "discarded: KEYS={key}, UNIQ_KEY={uniq_key}", 2),
        "answered-unknown": refs.lines(facts, rows, 2, "log_"),
        "listener-threw": refs.lines(facts, rows[rows["thrown"]], 2, "first_"),
    }
    if not len(rows):
        return Observed(values, quotes)
    groups = sorted(set(rows["producer_group"].dropna()))
    return Observed(values, quotes, refs.span(rows["stored"], rows["time"]), actors=groups)


def _printed_discards(facts: Facts, values: dict[str, Any]) -> Observed:
    """Count by the log alone; copies of a leaked message belong to another cause."""
    rows = facts.rows("printed_discards") if refs.seen(facts, "check-discard") else []
    row = next((row for row in rows if not row["leaked"]), None)
    if row is None:
        return Observed(values)
    unknown = row["unknown_messages"]
    values |= {
        "printed": True, "rolled": _rolled(facts, row["born"]), "discarded": row["messages"] or None,
        "named": row["messages"], "lines": row["lines"],
        "unknown": unknown, "answers": row["unknowns"], "answered_unknown": unknown or None,
    }  # fmt: skip
    quotes = {
        "discarded": facts.refs([(row["file"], row["line"])]),
        "answered-unknown": facts.refs([(row["unknown_file"], row["unknown_line"])]) if unknown else (),
    }
    return Observed(values, quotes, (row["first"], row["last"]) if unknown and row["first"] else None)


def _rolled(facts: Facts, since: Any) -> bool:
    """Return whether transaction.log begins after this time (naive UTC), so that answers before it are not there."""
    begins = [item.first for item in facts.zoned.items if item.source == "transaction" and item.first]
    return bool(begins) and not pd.isna(since) and pd.Timestamp(min(begins)).tz_convert(None) > since


def duplicate_commit(facts: Facts) -> Observed:
    """Count the transactions that were committed by the producer's answer and by a check, by how it happened.

    Two ways there, told apart by offsets: the commit came after a check had renewed the half message (a slow local
    transaction), or before, but its op record was not written yet (batched op records, 5.1.0+). Source:
    broker/processor/EndTransactionProcessor, broker/transaction/queue/TransactionalMessageServiceImpl (reference §4.4).
    """
    count = totals.summary(facts).get("committed_twice")
    if not count:
        return Observed()
    rows = facts("committed_twice")
    most = int(rows["commits"].max())
    late, early = (rows[rows["way"] == way] for way in ("late_commit", "late_op"))
    timeout = setup.of_half_topics(facts, "transactionTimeOut")
    values = {
        "committed_twice": count, "late_commits": len(late) or None, "late_op_records": len(early) or None,
        "most": most if most > 2 else None, "value": timeout.value, "known_from": timeout.known,
    }  # fmt: skip
    quotes = {"committed-twice": _both(rows), "late-commit": _both(late), "late-op": _both(early)}
    window, topics = refs.span(rows["first_time"], rows["second_time"]), sorted(set(rows["topic"].dropna()))
    return Observed(values, quotes, window, actors=topics, tables={"committed_twice": rows})


def _both(rows: pd.DataFrame) -> list[Ref]:
    text = "{} commit: KEYS={{key}}, UNIQ_KEY={{uniq_key}}, topic={{topic}}"
    first, second = (refs.transactions(rows, text.format(n), 2, f"{n}_") for n in ("first", "second"))
    return [ref for pair in zip(first, second, strict=True) for ref in pair]


def undecodable_half_message(facts: Facts) -> Observed:
    """Count the copies of compressed half messages that a check put back uncompressed, their flag still set."""
    versions = [str(version) for version in setup.broker_versions(facts)]
    faulty = not versions or any(rule("decompressesOnPutBack", version) for version in versions)
    # Only copies that a check renewed can be broken; most stores have none.
    renewed = totals.summary(facts).get("renewed") and faulty
    rows = facts("unreadable_copies") if renewed else None
    if rows is None or rows.empty:
        return Observed()
    errors, again = refs.seen(facts, "check-round-error"), rows[rows["again"]]
    values = {
        "copies": len(rows), "messages": rows["uniq_key"].nunique(), "errors": errors.count, "again": len(again),
        "broken": errors.count + len(again), "versions": versions,
    }  # fmt: skip
    quotes = {
        "other-body": refs.records_at(facts, rows, 2),
        "rounds-broken": refs.records_at(facts, again, 2) if len(again) else refs.quote(facts, errors, 2),
    }  # fmt: skip
    return Observed(values, quotes)


def producer_offline(facts: Facts) -> Observed:
    """Count the checks that reached nobody because no producer of their group was connected.

    A null channel without either line is a producer flooded with checks, which is connected (reference §6.5). Source:
    broker/transaction/AbstractTransactionalMessageCheckListener, broker/client/ProducerManager.getAvailableChannel.
    """
    empty = refs.seen(facts, "producer-table-empty", "producer-list-empty")
    null = refs.seen(facts, "check-channel-null", beside=empty)
    looked = facts.has_source("transaction") or facts.has_source("broker")
    offline = facts.rows("offline_groups") if empty else []
    groups, left = [row["producer_group"] for row in offline], [row for row in offline if row["gone"]]
    checks = null.count or empty.count
    states = totals.summary(facts) if checks else {}
    rows = facts.rows("unreached_checks") if null and not empty else []
    # What its own producers answered UNKNOWN to, or another group's, was not discarded because nobody could be asked.
    if (discarded := states.get("discarded")) and groups:
        every = facts("discarded_transactions")
        others = every["producer_group"].notna() & ~every["producer_group"].isin(groups)
        discarded -= int(((every["unknown"] > 0) | others).sum())
    # Producers of the same groups were answering while most checks found no channel.
    busy = next((row for row in rows if row["in_traffic"] * 2 > row["lines"]), None)
    connected = facts.refs([(busy["file"], busy["line"])]) if busy else refs.quote(facts, empty)
    values = {
        **(busy or {}), "checks": checks, "nulls": null.count, "empty": empty.count,
        "left": sum(row["gone"] for row in left), "groups": groups,
        "unreached_checks": checks if looked else None, "discarded": discarded, "pending": states.get("pending"),
    }  # fmt: skip
    quotes = {
        "checks-unanswered": refs.quote(facts, null or empty), "no-connection": connected,
        "producer-left": facts.refs((row["file"], row["line"]) for row in left[:2]),
    }  # fmt: skip
    return Observed(values, quotes, (null or empty).window if empty else None, (null or empty).timed, actors=groups)


def shared_producer_group(facts: Facts) -> Observed:
    """Count the checks that were answered by hosts of another application, which does not know the orders.

    Instances of one application answer for each other all the time; only the disagreement shows it. Source:
    broker/client/ProducerManager.getAvailableChannel picks any channel of the group (reference §6.5).
    """
    rows = facts("foreign_answers") if facts.has("messages") and refs.seen(facts, *ANSWERS) else None
    if rows is None or rows.empty:
        return Observed()
    wrong = rows[rows["wrong"]]
    groups = sorted(set(wrong["producer_group"].dropna()))
    hosts = rows[["born_host", "address"]].map(lambda address: str(address).rsplit(":", 1)[0])
    # Two processes of one host differ by their connections.
    hosts = hosts.where(hosts["born_host"] != hosts["address"], rows[["born_host", "address"]].astype(str))
    half = refs.transactions(rows, "half: KEYS={key}, UNIQ_KEY={uniq_key}, bornHost={born_host}", 1, "half_")
    values = {
        "foreign_answers": len(rows), "wrong_answers": len(wrong),
        # Other hosts that only ever commit are instances of the same application.
        "only_commits": (rows["answer"] == "COMMIT").all(),
        "hosts": sorted({f"{born} → {answering}" for born, answering in hosts.itertuples(index=False)})[:5],
        "groups": groups,
    }  # fmt: skip
    quotes = {"foreign-answers": refs.lines(facts, rows, 2) + half, "wrong-answers": refs.lines(facts, wrong, 2)}
    window = refs.span(wrong["ts"], wrong["ts"])
    return Observed(values, quotes, window, actors=groups)
