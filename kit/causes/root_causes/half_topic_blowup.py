"""half-topic-blowup: refused send-backs come back as half messages, and every check round turns one into two.

Leaks that are only put back, once per round until the check limit, stay `suspected`. Source of the mechanism:
client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack (up to 4.6.0), store/CommitLog.putMessage,
broker/transaction/queue/TransactionalMessageServiceImpl.check, broker/processor/EndTransactionProcessor.
"""

from __future__ import annotations

import itertools
import statistics
from typing import Any, Final

import pandas as pd

from kit.analysis import brokers, refs, setup
from kit.analysis.transactions import send_back
from kit.causes.declared import Observed
from kit.causes.findings import Moment
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


def observe(facts: Facts) -> Observed:
    """Follow the chain from the refused send-back to the doubling half topic."""
    back, printed = send_back.examine(facts), refs.seen(facts, "leaked-half-printed")
    only_printed = not back.reason and back.printed_length is not None
    origin = TEXTS.say("from_send_back", refusals=back.refusals) if back.refusals else TEXTS["from_unknown"]
    observed = Observed(
        {
            "groups": list(back.groups) or TEXTS["group"], "length": back.retry_topic_length,
            "store_limit": send_back.store_limit(facts),
            "too_long": back.reason == "name-too-long", "by_name": back.reason in (None, "name-too-long"),
            "reason": back.reason and send_back.REASONS[back.reason],
            "printed_length": back.printed_length if only_printed else None,
            "refusals": back.refusals, "refused": 0 if only_printed else back.refusals, "origin": origin,
            # Where the client's own re-send failed as well, nothing was stored that could become a half message.
            "leads_on": back.resent_failed < back.refusals, "printed": printed.count,
        },
        {
            "why-refused": refs.quote(facts, back.printed, 2) if only_printed else back.reason_refs,
            "send-back-refused": back.refs,
            "leaked": refs.quote(facts, printed),
        },
        actors=back.groups,
    )  # fmt: skip
    if facts.has("messages"):
        _of_store(facts, observed)
    else:
        _of_logs(facts, observed)
    values = observed.values
    happened = values.get("half") or "half" not in values
    values["retry_topic_length"] = back.retry_topic_length if values["too_long"] and happened else None
    if printed and not values.get("half"):
        growth = facts("printed_growth")
        begun = growth["store_timestamp"].min().to_pydatetime() if len(growth) else printed.first
        observed.window = (begun, printed.last) if begun and printed.last else None
        observed.tables = {"half_topic_growth": growth} if len(growth) > 1 else {}
    return observed


def _of_store(facts: Facts, observed: Observed) -> None:
    """Add what the records show: leaked half records, their commits, those discarded."""
    counts = facts("leak_counts")
    if counts.empty:
        observed.values |= dict.fromkeys(("half", "leaked_messages", "leaked_half_records"), 0)
        return
    places = facts("leak_places")
    half, discarded = counts[counts["place"] == "half"], counts[counts["place"] == "discarded"]
    stored = counts[counts["place"] != "discarded"]
    committed, checks = stored["committed"].astype(bool), half["max_check_times"].dropna()
    values: dict[str, Any] = {
        "half": int(half["records"].sum()), "committed": int(stored[committed]["records"].sum()),
        "commits": int(counts["commits"].sum()),
        "put_back": int(stored[~committed]["records"].sum()), "discarded": int(discarded["records"].sum()),
        "of_commits": int(counts[counts["committed"].astype(bool)]["records"].sum()),
        "leaked_messages": int(half["of_place"].max()) if len(half) else 0,
        "max_check_times": int(checks.max()) if len(checks) else None,
    }  # fmt: skip
    waiting = values["half"] or values["put_back"]

    def quoted(role: str, most: int = 3) -> tuple[Ref, ...]:
        return refs.records_at(facts, places[places["role"] == role], most)

    def records(role: str) -> int:
        return int(places.loc[places["role"] == role, "records"].max()) if (places["role"] == role).any() else 0

    arrived, limit = records("arrived"), setup.setting(facts, "transactionCheckMax", brokers.half_addresses(facts))
    answered = facts.rows("leak_answers") if values["half"] else []
    observed.values |= values | {
        "leaked_half_records": values["half"], "leaked": waiting or values["committed"], "waiting": waiting,
        "prevented": values["committed"] + values["put_back"] + values["discarded"],
        "resent": records("resent") if waiting else 0,
        "twins": waiting and (places["role"] == "twin").any(), "committed": waiting and values["committed"],
        "committed_printed": 0 if waiting else refs.seen(facts, "leaked-commit-printed").count,
        "answers": answered[0]["answers"] if answered else 0,
        # Each copy has two records: one that waits for its delay, perhaps in a missing file, one where it arrives.
        "arrived": arrived, "copies": max(arrived, values["discarded"] - arrived),
        "check_max": limit.value,
    }  # fmt: skip
    printed = refs.seen(facts, "leaked-half-printed")
    if observed.values["leaked"]:
        observed.quotes["leaked"] = quoted("leaked", 2) + refs.quote(facts, printed, 1)
    observed.quotes |= {
        "sent-anew": quoted("resent"),
        "diverted-again": quoted("committed") if values["committed"] else quoted("twin", 2),
        "answered-commit": facts.refs([(answered[0]["file"], answered[0]["line"])]) if answered else (),
        "bounded": quoted("discarded", 1) + refs.quote(facts, refs.seen(facts, "check-discard"), 1),
    }
    if values["half"]:
        _measure(facts, counts, observed)


def _of_logs(facts: Facts, observed: Observed) -> None:
    """Add what transaction.log prints of discarded leaked messages."""
    committed = refs.seen(facts, "leaked-commit-printed")
    observed.values |= {"committed_printed": committed.count}
    observed.quotes["diverted-again"] = refs.quote(facts, committed)
    rows = facts.rows("printed_discards") if refs.seen(facts, "check-discard") else []
    for row in [row for row in rows if row["leaked"]][:1]:
        observed.values |= {
            "copies_printed": row["lines"], "messages_printed": row["messages"], "commits_printed": row["commits"],
        }  # fmt: skip
        observed.quotes["bounded"] = facts.refs([(row["file"], row["line"])])
        if row["commits"]:
            observed.quotes["answered-commit"] = facts.refs([(row["commit_file"], row["commit_line"])])


def _measure(facts: Facts, counts: pd.DataFrame, observed: Observed) -> None:
    growth = facts("leak_growth")
    if growth["from_the_beginning"].all():
        observed.values["doubling_seconds"] = doubling_seconds(growth)
        observed.moments = _doublings(growth)
    observed.window = refs.span(counts["first"], counts["last"])
    observed.tables = {
        "half_topic_growth": growth.drop(columns="from_the_beginning"),
        "half_topic_flow": facts("leak_flow"),
        "half_topic_timeline": facts("leak_timelines"),
        "half_topic_fixes": _fixes(observed.values),
        "half_topic_counts": counts.drop(columns="of_place"),
    }


def doubling_seconds(growth: pd.DataFrame) -> float | None:
    """Return the median time between two doublings of the leaked half records; None below three of them."""
    marks = growth.loc[growth["doubling"], "store_timestamp"]
    terms = [(b - a).total_seconds() for a, b in itertools.pairwise(marks)]
    return round(statistics.median(terms), 3) if len(terms) >= 3 else None


def _doublings(growth: pd.DataFrame) -> list[Moment]:
    """Return the times at which the number of leaked half records had doubled."""
    marked = growth[growth["doubling"]][["seq", "store_timestamp"]]
    return [
        Moment(at.to_pydatetime(), TEXTS.say("doubled", records=int(seq))) for seq, at in marked.itertuples(index=False)
    ]


def _fixes(values: dict[str, Any]) -> pd.DataFrame:
    """Return how many leaked records each fix would have prevented: fix, prevented, left, retries_delivered."""
    everything, twice = values["prevented"], values["of_commits"]
    fixes = [
        ("rollback-unknown-topic", twice, everything - twice, False),
        ("client-4.6.1", everything, 0, False),
        ("split-tags", everything, 0, True),
    ]
    return pd.DataFrame(fixes, columns=pd.Index(["fix", "prevented", "left", "retries_delivered"]))
