"""half-topic-blowup: refused send-backs come back as half messages, and every check round turns one into two.

Deciding steps: half or schedule records (or the log lines that print them) whose REAL_TOPIC is the half topic, with TRAN_MSG and DELAY; a commit of
such a record diverted again, or two leaked half records of one UNIQ_KEY with the same check count. Leaks that are only put back, once per round
until the check limit, stay `suspected`. Source of the mechanism: client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack (up to 4.6.0),
store/CommitLog.putMessage, broker/transaction/queue/TransactionalMessageServiceImpl.check, broker/processor/EndTransactionProcessor.
"""

from __future__ import annotations

import itertools
import statistics
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import brokers, refs, setup
from kit.analysis.transactions import send_back
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Moment, Remedy, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)


@attrs.frozen
class Leak:
    """Counts of records: leaked half records, with and without the commit bit, the commits themselves, discarded ones."""

    half: int
    messages: int
    committed: int
    put_back: int
    commits: int
    discarded: int
    max_check_times: int | None
    counts: pd.DataFrame
    places: pd.DataFrame
    """The tables `leak_counts` and `leak_places`."""

    def of(self, role: str) -> pd.DataFrame:
        return self.places[self.places["role"] == role]

    def records(self, role: str) -> int:
        return int(self.of(role)["records"].max()) if len(self.of(role)) else 0


def examine(facts: Facts) -> Finding:
    """Follow the chain from the refused send-back to the doubling half topic."""
    finding = TEXTS.finding()
    leak = _leak(facts) if facts.has("messages") else None
    printed = refs.seen(facts, "leaked-half-printed")
    back = send_back.examine(facts)
    finding.steps = [
        *_refusal_steps(facts, back),
        _resent_step(facts, leak),
        _leaked_step(facts, leak, printed),
        _diverted_step(facts, leak, printed),
        _answer_step(facts, leak),
        _limit_step(facts, leak),
    ]
    finding.figures = _figures(leak, back)
    finding.actors = back.groups
    if leak and leak.half:
        _measure(facts, leak, finding)
        # Put back once a round they grow too, but by the same number each time.
        seconds = finding.figures["doubling_seconds"]
        multiply = TEXTS["summary"] if seconds is not None else TEXTS["summary_twice"]
        summary = multiply if finding.verdict == "confirmed" else TEXTS["summary_put_back"]
        origin = TEXTS.say("from_send_back", count=back.refusals) if back.refusals else TEXTS["from_unknown"]
        finding.summary = summary.say(messages=leak.messages, records=leak.half, seconds=seconds, origin=origin)
        finding.remedies = _remedies(leak, back)
    elif printed:
        finding.summary = TEXTS.say("summary_logs", lines=printed.count)
        growth = facts("printed_growth")
        begun = growth["store_timestamp"].min().to_pydatetime() if len(growth) else printed.first
        finding.window = (begun, printed.last) if begun and printed.last else None
        finding.tables = {"half_topic_growth": growth} if len(growth) > 1 else {}
        finding.remedies = _remedies(None, back)
    elif finding.verdict == "suspected" and back.refusals:
        finding.summary = TEXTS.say("only_refused", count=back.refusals)
    finding.missing = _missing(facts, leak, back)
    return finding


def _leak(facts: Facts) -> Leak:
    counts = facts("leak_counts")
    half, discarded = counts[counts["place"] == "half"], counts[counts["place"] == "discarded"]
    stored = counts[counts["place"] != "discarded"]
    checks = half["max_check_times"].dropna()
    return Leak(
        half=int(half["records"].sum()),
        messages=int(half["of_place"].max()) if len(half) else 0,
        committed=int(stored[stored["committed"]]["records"].sum()),
        put_back=int(stored[~stored["committed"]]["records"].sum()),
        commits=int(counts["commits"].sum()),
        discarded=int(discarded["records"].sum()),
        max_check_times=int(checks.max()) if len(checks) else None,
        counts=counts.drop(columns="of_place"),
        places=facts("leak_places") if len(counts) else pd.DataFrame({"role": []}),
    )


def _refusal_steps(facts: Facts, back: send_back.SendBack) -> list[Step]:
    """Return the steps that the send-back failed, and why: supporting, since old logs are often gone."""
    reason = send_back.REASONS[back.reason or "unknown"]
    groups = list(back.groups) or TEXTS["group"]
    if back.reason == "name-too-long":
        why = TEXTS.say(
            "name_too_long", length=back.retry_topic_length, groups=groups, limit=send_back.store_limit(facts)
        )
    elif back.reason:
        why = TEXTS.say("reason", reason=reason)
    elif back.printed_length is not None:
        why = TEXTS.say("name_printed", length=back.printed_length, limit=send_back.store_limit(facts))
        named = supporting("why-refused", why, True, refs.quote(facts, back.printed, 2))
        return [named, supporting("send-back-refused", TEXTS["refused_unknown"], None)]
    else:
        why = TEXTS.say("why_unknown")
    refused = TEXTS.say("refused", count=back.refusals) if back.refusals else TEXTS["refused_unknown"]
    # Where the client's own re-send failed each time as well, nothing was stored that could become a half message.
    leads_on = back.resent_failed < back.refusals
    return [
        supporting("why-refused", why, back.reason and leads_on, back.reason_refs),
        supporting("send-back-refused", refused, leads_on, back.refs),
    ]


def _resent_step(facts: Facts, leak: Leak | None) -> Step:
    if not leak or not (leak.half or leak.put_back) or not (count := leak.records("resent")):
        return supporting("sent-anew", TEXTS["resent_unknown"], None)
    return supporting("sent-anew", TEXTS.say("resent", count=count), True, refs.records_at(facts, leak.of("resent")))


def _leaked_step(facts: Facts, leak: Leak | None, printed: refs.Seen) -> Step:
    if leak is not None and (leak.half or leak.put_back or leak.committed):
        quoted = refs.records_at(facts, leak.of("leaked"), 2) + refs.quote(facts, printed, 1)
        return deciding("leaked", TEXTS.say("leaked", records=leak.half, messages=leak.messages), True, quoted)
    if printed:
        return deciding("leaked", TEXTS.say("leaked_printed", lines=printed.count), True, refs.quote(facts, printed))
    return deciding("leaked", TEXTS["not_leaked"], False if leak is not None else None)


def _diverted_step(facts: Facts, leak: Leak | None, printed: refs.Seen) -> Step:
    if leak is not None and (leak.half or leak.put_back):
        if leak.committed:
            claim = TEXTS.say("diverted", commits=leak.commits, records=_of_commits(leak))
            return deciding("diverted-again", claim, True, refs.records_at(facts, leak.of("committed")))
        twins = leak.of("twin")
        if len(twins):
            return deciding("diverted-again", TEXTS["twins"], True, refs.records_at(facts, twins, 2))
        return deciding("diverted-again", TEXTS["only_put_back"], None)
    committed = refs.seen(facts, "leaked-commit-printed")
    if committed:
        claim = TEXTS.say("diverted_printed", lines=committed.count)
        return deciding("diverted-again", claim, True, refs.quote(facts, committed))
    return deciding("diverted-again", TEXTS["diverted_unknown"], None if leak is None or printed else False)


def _answer_step(facts: Facts, leak: Leak | None) -> Step:
    """Return the step that the check listener answered COMMIT for a leaked record: the answer contains the schedule record's offset."""
    if leak is None and (row := _printed_discards(facts)) is not None and row["commits"]:
        quoted = facts.refs([(row["commit_file"], row["commit_line"])])
        return supporting("answered-commit", TEXTS.say("answered_printed", **row), True, quoted)
    if not leak or not leak.half or not (said := facts.rows("leak_answers")):
        return supporting("answered-commit", TEXTS["answered_unknown"], None)
    quoted = facts.refs([(said[0]["file"], said[0]["line"])])
    return supporting("answered-commit", TEXTS.say("answered", count=said[0]["answers"]), True, quoted)


def _printed_discards(facts: Facts) -> dict[str, Any] | None:
    """Return what transaction.log prints of discarded leaked messages: a row of `printed_discards`."""
    rows = facts.rows("printed_discards") if refs.seen(facts, "check-discard") else []
    return next((row for row in rows if row["leaked"]), None)


def _limit_step(facts: Facts, leak: Leak | None) -> Step:
    given_up = refs.seen(facts, "check-discard")
    if leak is None and (row := _printed_discards(facts)) is not None:
        quoted = facts.refs([(row["file"], row["line"])])
        return supporting("bounded", TEXTS.say("bounded_printed", **row), True, quoted)
    if not leak or not leak.discarded:
        return supporting("bounded", TEXTS["bounded_unknown"], None)
    limit = setup.setting(facts, "transactionCheckMax", brokers.half_addresses(facts)).value
    # Each copy has two records: one that waits for its delay, which may be in a file that is missing, and one where it arrives.
    arrived = leak.records("arrived")
    claim = TEXTS.say("bounded", count=max(arrived, leak.discarded - arrived), arrived=arrived, limit=limit)
    quoted = refs.records_at(facts, leak.of("discarded"), 1) + refs.quote(facts, given_up, 1)
    return supporting("bounded", claim, True, quoted)


def _figures(leak: Leak | None, back: send_back.SendBack) -> dict[str, Any]:
    """Return the fixed figures; without a store all are unknown."""
    happened = leak is not None and leak.half > 0
    return {
        "leaked_messages": leak.messages if leak else None,
        "leaked_half_records": leak.half if leak else None,
        "doubling_seconds": None,
        "max_check_times": leak.max_check_times if leak else None,
        "retry_topic_length": back.retry_topic_length
        if back.reason == "name-too-long" and (happened or leak is None)
        else None,
    }


def _measure(facts: Facts, leak: Leak, finding: Finding) -> None:
    growth = facts("leak_growth")
    if growth["from_the_beginning"].all():
        finding.figures["doubling_seconds"] = doubling_seconds(growth)
        finding.moments = _doublings(growth)
    finding.window = (leak.counts["first"].min().to_pydatetime(), leak.counts["last"].max().to_pydatetime())
    finding.tables = {
        "half_topic_growth": growth.drop(columns="from_the_beginning"),
        "half_topic_flow": facts("leak_flow"),
        "half_topic_timeline": facts("leak_timelines"),
        "half_topic_fixes": _fixes(leak),
        "half_topic_counts": leak.counts,
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


def _fixes(leak: Leak) -> pd.DataFrame:
    """Return, for each documented fix, which leaked records of this incident it would have prevented. Columns fix, prevented, left, retries."""
    everything = leak.committed + leak.put_back + leak.discarded
    twice = _of_commits(leak)
    fixes = [
        ("rollback-unknown-topic", twice, everything - twice, False),
        ("client-4.6.1", everything, 0, False),
        ("split-tags", everything, 0, True),
    ]
    return pd.DataFrame(fixes, columns=pd.Index(["fix", "prevented", "left", "retries_delivered"]))


def _of_commits(leak: Leak) -> int:
    """Return how many leaked records descend from commits, including those discarded in the end."""
    return int(leak.counts[leak.counts["committed"]]["records"].sum())


def _remedies(leak: Leak | None, back: send_back.SendBack) -> list[Remedy]:
    """Return what contains it now, then the documented fixes; the one for the name only if the name was the reason."""
    prevented = _fixes(leak).set_index("fix")["prevented"].to_dict() if leak else {}

    def fix(name: str, by: str) -> Remedy:
        count = prevented.get(by)
        remedy = TEXTS.remedy(name, count=count)
        return remedy if count else attrs.evolve(remedy, why=TEXTS[f"{name}_why_open"])

    remedies = [TEXTS.remedy("contain")]
    if back.reason in (None, "name-too-long"):
        when = TEXTS["split_when"] if back.reason is None else None
        remedies.append(attrs.evolve(fix("split", "split-tags"), when=when))
    remedies += [fix("client", "client-4.6.1"), fix("rollback", "rollback-unknown-topic")]
    return [*remedies, TEXTS.remedy("deliver")]


def _missing(facts: Facts, leak: Leak | None, back: send_back.SendBack) -> list[Missing]:
    wanted = []
    if leak is None:
        wanted.append(collect_next.ask("commitlog", TEXTS["want_store"]))
        if not facts.has_source("transaction"):
            wanted.append(collect_next.ask("transaction.log", TEXTS["want_transaction_log"]))
    if leak and leak.half and not back.refusals:
        wanted.append(collect_next.ask("consumer's client log", TEXTS["want_client_log"]))
        if not facts.has_source("store"):
            wanted.append(collect_next.ask("store.log", TEXTS["want_store_log"]))
    return wanted
