"""producer-retry-duplicate: a timed-out send was retried by the client, and more than one attempt is stored."""

from __future__ import annotations

from kit.analysis.sends import attempts, sends
from kit.causes.declared import Observed, span
from kit.tables.facts import Facts


def observe(facts: Facts) -> Observed:
    """Count the messages that a client's retry stored more than once."""
    rows = sends.repeated(facts) if facts.has("messages") else None
    if rows is None or rows.empty:
        return Observed()
    rows = rows.sort_values(["uniq_key", "store_timestamp", "offset_msg_id"], ignore_index=True)
    by_message = rows.groupby("uniq_key")
    born = by_message["born_timestamp"]
    tries = (attempts.by_kind(facts) or {}).get("CLIENT_TIMEOUT", 0)
    return Observed(
        {
            "messages": rows["uniq_key"].nunique(),
            "copies": len(rows),
            "on_several_brokers": int((by_message["store_host"].nunique() > 1).sum()),
            "apart": int((born.max() - born.min()).max().total_seconds() * 1000),
            "attempts": tries,
            "tries": tries and sends.ledger(facts).source,
        },
        {
            "stored-twice": sends.copy_refs(rows),
            "timed-out": attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) if tries else (),
        },
        span(rows["store_timestamp"], rows["store_timestamp"]),
        actors=sorted(set(rows["topic"].dropna())),
        tables={"retry_duplicates": rows.drop(columns=["body_crc", "body_size"])},
    )
