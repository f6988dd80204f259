"""half-topic-blowup: refused send-backs come back as half messages, and every check round turns one into two.

Leaks that are only put back, once per round until the check limit, stay `suspected`. Source of the mechanism:
client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack (up to 4.6.0), store/CommitLog.putMessage,
broker/transaction/queue/TransactionalMessageServiceImpl.check, broker/processor/EndTransactionProcessor.
"""

from typing import Any, Final

import pandas as pd

from kit.analysis import refs, send_back, setup
from kit.causes.declared import Observed
from kit.causes.findings import Moment
from kit.causes.texts import read
from kit.inventory.model import Ref
from kit.rocketmq import versions
from kit.tables.facts import Facts

TEXTS: Final = read("root_causes", "half-topic-blowup")
INTO_HALF: Final = next(fix for fix in versions.FIXED if fix.slug == "schedule-into-half")


def observe(facts: Facts) -> Observed:
    back, printed = send_back.examine(facts), refs.seen(facts, "leaked-half-printed")
    only_printed = not back.reason and back.printed_length is not None
    values = {
        "groups": list(back.groups), "length": back.retry_topic_length,
        "store_limit": send_back.store_limit(facts),
        "too_long": back.reason == "name-too-long", "by_name": back.reason in (None, "name-too-long"),
        "reason": back.reason and send_back.REASONS[back.reason], "printed": printed.count,
        "printed_length": back.printed_length if only_printed else None,
        "refusals": back.refusals, "refused": 0 if only_printed else back.refusals,
        # Where the client's own re-send failed as well, or carries no TRAN_MSG, nothing became a half message of it; a
        # send-back without an answer was not refused. Nor where no broker delivers a delayed message into the half
        # topic.
        "leads_on": back.resent_failed < back.refusals and not back.cleared and back.reason not in send_back.UNANSWERED
        and any(INTO_HALF.has(version) for version in setup.broker_versions(facts) or (versions.OLDEST,)),
    }  # fmt: skip
    quotes = {
        "why-refused": refs.quote(facts, back.printed, 2) if only_printed else back.reason_refs,
        "send-back-refused": back.refs, "leaked": refs.quote(facts, printed),
    }  # fmt: skip
    observed = Observed(values, quotes, actors=back.groups)
    if facts.has("messages"):
        _of_store(facts, observed)
    else:
        _of_logs(facts, observed)
    happened = values.get("half") or "half" not in values
    values["retry_topic_length"] = back.retry_topic_length if values["too_long"] and happened else None
    if printed and not values.get("half"):
        # A message is printed when it is discarded; the first answer COMMIT made two of one long before.
        begun = (row["commit_ts"] for row in _discards(facts))
        times = pd.Series([printed.first, printed.last, *begun], dtype="datetime64[us]")
        observed.window = refs.span(times, times)
    return observed


def _discards(facts: Facts) -> list[dict[str, Any]]:
    """Return what transaction.log prints of discarded leaked messages, one row at most."""
    rows = facts.rows("printed_discards") if refs.seen(facts, "check-discard") else []
    return [row for row in rows if row["leaked"]]


def _of_store(facts: Facts, observed: Observed) -> None:
    counts = facts("leak_counts")
    if counts.empty:
        observed.values |= dict.fromkeys(("half", "leaked_messages", "leaked_half_records"), 0)
        return
    places, of_half = facts("leak_places"), counts[counts["place"] == "half"]
    records = {str(role): int(n) for role, n in places.groupby("role")["records"].max().items()}
    committed, discarded, arrived = (records.get(role, 0) for role in ("committed", "discarded", "arrived"))
    half, put_back = int(of_half["records"].sum()), records.get("leaked", 0) - committed
    checks, waiting = of_half["max_check_times"].dropna(), half or put_back
    answered = facts("leak_answers") if half else pd.DataFrame()
    limit = setup.of_half_topics(facts, "transactionCheckMax")

    def quoted(role: str, most: int = 3) -> tuple[Ref, ...]:
        return refs.records_at(facts, places[places["role"] == role], most)

    observed.values |= {
        "half": half, "leaked_half_records": half, "leaked": waiting or committed, "waiting": waiting,
        "leaked_messages": int(of_half["of_place"].max()) if half else 0, "commits": int(counts["commits"].sum()),
        "of_commits": int(counts.loc[counts["committed"].astype(bool), "records"].sum()) or None,
        "prevented": put_back + committed + discarded or None, "discarded": discarded,
        "committed": waiting and committed, "twins": waiting and "twin" in records,
        "max_check_times": int(checks.max()) if len(checks) else None,
        "resent": records.get("resent", 0) if waiting else 0,
        "committed_printed": 0 if waiting else refs.seen(facts, "leaked-commit-printed").count,
        "answers": int(answered["answers"].sum()) if len(answered) else 0,
        # Each copy has two records: one that waits for its delay, perhaps in a missing file, one where it arrives.
        "arrived": arrived, "copies": max(arrived, discarded - arrived), "check_max": limit.value,
    }  # fmt: skip
    printed = refs.seen(facts, "leaked-half-printed")
    if observed.values["leaked"]:
        observed.quotes["leaked"] = quoted("leaked", 2) + refs.quote(facts, printed, 1)
    observed.quotes |= {
        "sent-anew": quoted("resent"),
        "diverted-again": quoted("committed") if committed else quoted("twin", 2),
        "answered-commit": refs.lines(facts, answered) if len(answered) else (),
        "bounded": quoted("discarded", 1) + refs.quote(facts, refs.seen(facts, "check-discard"), 1),
    }
    if half:
        _measure(facts, counts, observed)


def _of_logs(facts: Facts, observed: Observed) -> None:
    committed = refs.seen(facts, "leaked-commit-printed")
    observed.values |= {"committed_printed": committed.count}
    observed.quotes["diverted-again"] = refs.quote(facts, committed)
    for row in _discards(facts):
        observed.values |= {
            "copies_printed": row["lines"], "messages_printed": row["messages"], "commits_printed": row["commits"],
        }  # fmt: skip
        observed.quotes["bounded"] = facts.refs([(row["file"], row["line"])])
        if row["commits"]:
            observed.quotes["answered-commit"] = facts.refs([(row["commit_file"], row["commit_line"])])


def _measure(facts: Facts, counts: pd.DataFrame, observed: Observed) -> None:
    growth = facts("leak_growth")
    if growth["from_the_beginning"].all():
        marked = growth[growth["doubling"]][["seq", "store_timestamp"]]
        # The median of the times between two doublings; below three of them it says nothing.
        terms = growth.loc[growth["doubling"], "store_timestamp"].diff().dt.total_seconds().dropna()
        observed.values["doubling_seconds"] = round(float(terms.median()), 3) if len(terms) >= 3 else None
        observed.moments = [
            Moment(at.to_pydatetime(), TEXTS.say("doubled", records=int(seq)))
            for seq, at in marked.itertuples(index=False)
        ]
    observed.window = refs.span(counts["first"], counts["last"])
    growth = growth.drop(columns="from_the_beginning")
    observed.tables = {"half_topic_growth": growth, "half_topic_timeline": facts("leak_timelines")}
