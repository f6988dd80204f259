"""producer-retry-duplicate: a timed-out send was retried by the client, and more than one attempt is stored.

Deciding step: originals with one UNIQ_KEY and one body more than once in one real topic, not transactional (sysFlag & 0xC = 0), born within the time
of one call; often on two brokers, and stored at the same moment, since all attempts waited for the same stalled broker (reference §7.3).
"""

from __future__ import annotations

from typing import Final

from kit.analysis.sends import attempts, sends
from kit.causes import collect_next
from kit.causes.findings import Finding, deciding, supporting
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def examine(facts: Facts) -> Finding:
    """Report which messages a client's retry stored more than once."""
    finding = TEXTS.finding()
    known = facts.has("messages")
    found = sends.repeated(facts) if known else None
    if found is None or found.empty:
        finding.steps = [deciding("stored-twice", TEXTS["not_twice"], False if known else None)]
        finding.figures = dict.fromkeys(("messages", "copies", "on_several_brokers"), 0 if known else None)
        finding.missing = [] if known else [collect_next.ask("commitlog", TEXTS["want"])]
        return finding
    by_message = found.groupby("uniq_key")
    born = by_message["born_timestamp"]
    apart = int((born.max() - born.min()).max().total_seconds() * 1000)
    several = int((by_message["store_host"].nunique() > 1).sum())
    messages, copies = int(found["uniq_key"].nunique()), len(found)
    rows = found.sort_values(["uniq_key", "store_timestamp", "offset_msg_id"], ignore_index=True)
    tries = (attempts.by_kind(facts) or {}).get("CLIENT_TIMEOUT", 0)
    late = attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) if tries else ()
    finding.steps = [
        deciding("stored-twice", TEXTS.say("twice", messages=messages, apart=apart), True, sends.copy_refs(rows)),
        supporting("timed-out", TEXTS.say("timed_out", count=tries), tries and sends.ledger(facts).source, late),
    ]
    finding.figures = {"messages": messages, "copies": copies, "on_several_brokers": several}
    finding.actors = tuple(sorted(set(rows["topic"].dropna())))
    finding.summary = TEXTS.say("summary", messages=messages, copies=copies, brokers=several)
    finding.remedies = [TEXTS.remedy("action", messages=messages, copies=copies)]
    finding.window = (rows["store_timestamp"].min().to_pydatetime(), rows["store_timestamp"].max().to_pydatetime())
    finding.tables = {"retry_duplicates": rows.drop(columns=["body_crc", "body_size"])}
    return finding
