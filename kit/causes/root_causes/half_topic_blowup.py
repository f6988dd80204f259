"""half-topic-blowup: refused send-backs come back as half messages, and every check round turns one into two.

Deciding steps: half or schedule records (or the log lines that print them) whose REAL_TOPIC is the half topic, with TRAN_MSG and DELAY; a commit of
such a record diverted again, or two leaked half records of one UNIQ_KEY with the same check count. Leaks that are only put back, once per round
until the check limit, stay `suspected`. Source of the mechanism: client/impl/consumer/DefaultMQPushConsumerImpl.sendMessageBack (up to 4.6.0),
store/CommitLog.putMessage, broker/transaction/queue/TransactionalMessageServiceImpl.check, broker/processor/EndTransactionProcessor.
"""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd

from kit.analysis import refs
from kit.analysis.transactions import owners, send_back
from kit.case import setup
from kit.causes import collect_next
from kit.causes.alerts import Alert
from kit.causes.findings import Figure, Finding, Kind, Missing, Moment, Remedy, Step, with_ids
from kit.causes.root_causes.texts.half_topic_blowup import Claim, Fix, Text
from kit.i18n import Sentence, T

if TYPE_CHECKING:
    from kit.case.case import Case

SLUG = "half-topic-blowup"
KIND: Kind = "root_cause"
IDS = ("why-refused", "send-back-refused", "sent-anew", "leaked", "diverted-again", "answered-commit", "bounded")

LOOKS_LIKE = (
    ("producer-offline", T("half messages pile up there too, but one copy a round and REAL_TOPIC is a business topic")),
    (
        "check-unknown-until-discard",
        T("the answer is UNKNOW and the count runs to the limit; no record has REAL_TOPIC = the half topic"),
    ),
    (
        "message-size-mismatch",
        T("transaction.log fills as fast, but with one put-back that fails; the half queue stops advancing"),
    ),
    ("undecodable-half-message", T("rounds abort with a NullPointerException; copies keep TRANSACTION_CHECK_TIMES=1")),
    ("send-back-refused", T("the same refusal, but the client's re-send fails too: nothing reaches the store")),
)

FIGURES: Final = {
    "leaked_messages": Figure(T("messages leaked into the half topic"), "pending"),
    "leaked_half_records": Figure(T("half records made from them")),
    "doubling_seconds": Figure(T("seconds to double")),
    "max_check_times": Figure(T("most checks of one message")),
    "retry_topic_length": Figure(T("characters in the retry topic's name (127 allowed)")),
}

ALERTS: Final = (
    Alert("stage:leaked", T("A sent-back message was stored as a half message: the half topic doubles with every check round."),
          "leaked", severity="critical", grows=True),
    Alert("leaked-half-printed", T("The check of half messages prints a message that came from a refused send-back."), "leaked", severity="critical", grows=True),
)  # fmt: skip


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


def examine(case: Case) -> Finding:
    """Follow the chain from the refused send-back to the doubling half topic."""
    finding = Finding(SLUG, KIND, Text.TITLE, Text.NONE.say())
    leak = _leak(case) if case.has("messages") else None
    printed = refs.seen(case, "leaked-half-printed")
    back = send_back.examine(case)
    steps = [
        *_refusal_steps(case, back),
        _resent_step(case, leak),
        _leaked_step(case, leak, printed),
        _diverted_step(case, leak, printed),
        _answer_step(case, leak),
        _limit_step(case, leak),
    ]
    finding.steps = with_ids(IDS, steps)
    finding.figures = _figures(leak, back)
    if leak and leak.half:
        _measure(case, leak, finding)
        # Put back once a round they grow too, but by the same number each time.
        seconds = finding.figures["doubling_seconds"]
        multiply = Text.SUMMARY if seconds is not None else Text.SUMMARY_TWICE
        summary = multiply if finding.verdict == "confirmed" else Text.SUMMARY_PUT_BACK
        origin = Text.FROM_SEND_BACK.say(count=back.refusals) if back.refusals else Text.FROM_UNKNOWN
        finding.summary = summary.say(messages=leak.messages, records=leak.half, seconds=seconds, origin=origin)
        finding.remedies = _remedies(leak, back)
    elif printed:
        finding.summary = Text.SUMMARY_LOGS.say(lines=printed.count)
        finding.remedies = _remedies(None, back)
    elif finding.verdict == "suspected" and back.refusals:
        finding.summary = Text.ONLY_REFUSED.say(count=back.refusals)
    finding.missing = _missing(case, leak, back)
    return finding


def _leak(case: Case) -> Leak:
    counts = case.facts("leak_counts")
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
        places=case.facts("leak_places") if len(counts) else pd.DataFrame({"role": []}),
    )


def _refusal_steps(case: Case, back: send_back.SendBack) -> list[Step]:
    """Return the steps that the send-back failed, and why: supporting, since old logs are often gone."""
    reason = send_back.REASONS[back.reason] if back.reason else send_back.REASON_UNKNOWN
    groups = list(back.groups) or Claim.GROUP
    if back.reason == "name-too-long":
        why = Claim.NAME_TOO_LONG.say(length=back.retry_topic_length, groups=groups, limit=send_back.store_limit(case))
    elif back.reason:
        why = Claim.REASON.say(reason=reason)
    elif back.printed_length is not None:
        why = Claim.NAME_PRINTED.say(length=back.printed_length, limit=send_back.store_limit(case))
        printed = refs.quote(case, back.printed, 2)
        refused = Step(Claim.REFUSED_UNKNOWN, "supporting", None)
        return [Step(why, "supporting", True, printed), refused]
    else:
        why = Claim.WHY_UNKNOWN.say()
    refused = Claim.REFUSED.say(count=back.refusals) if back.refusals else Claim.REFUSED_UNKNOWN
    # Where the client's own re-send failed each time as well, nothing was stored that could become a half message.
    leads_on = back.resent_failed < back.refusals
    return [
        Step(why, "supporting", True if back.reason and leads_on else None, back.reason_refs),
        Step(refused, "supporting", True if leads_on else None, back.refs),
    ]


def _resent_step(case: Case, leak: Leak | None) -> Step:
    if not leak or not (leak.half or leak.put_back):
        return Step(Claim.RESENT_UNKNOWN, "supporting", None)
    count = leak.records("resent")
    if not count:
        return Step(Claim.RESENT_UNKNOWN, "supporting", None)
    return Step(Claim.RESENT.say(count=count), "supporting", True, refs.records_at(case, leak.of("resent")))


def _leaked_step(case: Case, leak: Leak | None, printed: refs.Seen) -> Step:
    if leak is not None and (leak.half or leak.put_back or leak.committed):
        return Step(
            Claim.LEAKED.say(records=leak.half, messages=leak.messages),
            "deciding",
            True,
            refs.records_at(case, leak.of("leaked"), 2) + refs.quote(case, printed, 1),
        )
    if printed:
        return Step(Claim.LEAKED_PRINTED.say(lines=printed.count), "deciding", True, refs.quote(case, printed))
    return Step(Claim.NOT_LEAKED, "deciding", False if leak is not None else None)


def _diverted_step(case: Case, leak: Leak | None, printed: refs.Seen) -> Step:
    if leak is not None and (leak.half or leak.put_back):
        if leak.committed:
            return Step(
                Claim.DIVERTED.say(commits=leak.commits, records=_of_commits(leak)),
                "deciding",
                True,
                refs.records_at(case, leak.of("committed")),
            )
        twins = leak.of("twin")
        if len(twins):
            return Step(Claim.TWINS, "deciding", True, refs.records_at(case, twins, 2))
        return Step(Claim.ONLY_PUT_BACK, "deciding", None)
    committed = refs.seen(case, "leaked-commit-printed")
    if committed:
        return Step(Claim.DIVERTED_PRINTED.say(lines=committed.count), "deciding", True, refs.quote(case, committed))
    return Step(Claim.DIVERTED_UNKNOWN, "deciding", None if leak is None or printed else False)


def _answer_step(case: Case, leak: Leak | None) -> Step:
    """Return the step that the check listener answered COMMIT for a leaked record: the answer contains the schedule record's offset."""
    if leak is None and (row := _printed_discards(case)) is not None and row["commits"]:
        quoted = case.refs([(row["commit_file"], row["commit_line"])])
        return Step(Claim.ANSWERED_PRINTED.say(**row), "supporting", True, quoted)
    if not leak or not leak.half or not (said := case.fact_rows("leak_answers")):
        return Step(Claim.ANSWERED_UNKNOWN, "supporting", None)
    quoted = case.refs([(said[0]["file"], said[0]["line"])])
    return Step(Claim.ANSWERED.say(count=said[0]["answers"]), "supporting", True, quoted)


def _printed_discards(case: Case) -> dict[str, Any] | None:
    """Return what transaction.log prints of discarded leaked messages: a row of `printed_discards`."""
    rows = case.fact_rows("printed_discards") if refs.seen(case, "check-discard") else []
    return next((row for row in rows if row["leaked"]), None)


def _limit_step(case: Case, leak: Leak | None) -> Step:
    given_up = refs.seen(case, "check-discard")
    if leak is None and (row := _printed_discards(case)) is not None:
        quoted = case.refs([(row["file"], row["line"])])
        return Step(Claim.BOUNDED_PRINTED.say(**row), "supporting", True, quoted)
    if not leak or not leak.discarded:
        return Step(Claim.BOUNDED_UNKNOWN, "supporting", None)
    limit = setup.setting(case, "transactionCheckMax", owners.addresses(case)).value
    # Each copy has two records: one that waits for its delay, which may be in a file that is missing, and one where it arrives.
    arrived = leak.records("arrived")
    claim = Claim.BOUNDED.say(count=max(arrived, leak.discarded - arrived), arrived=arrived, limit=limit)
    quoted = refs.records_at(case, leak.of("discarded"), 1) + refs.quote(case, given_up, 1)
    return Step(claim, "supporting", True, quoted)


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


def _measure(case: Case, leak: Leak, finding: Finding) -> None:
    growth = case.facts("leak_growth")
    if growth["from_the_beginning"].all():
        finding.figures["doubling_seconds"] = doubling_seconds(growth)
        finding.moments = _doublings(growth)
    finding.window = (leak.counts["first"].min().to_pydatetime(), leak.counts["last"].max().to_pydatetime())
    finding.tables = {
        "half_topic_growth": growth.drop(columns="from_the_beginning"),
        "half_topic_flow": case.facts("leak_flow"),
        "half_topic_timeline": case.facts("leak_timelines"),
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
        Moment(at.to_pydatetime(), Claim.DOUBLED.say(records=int(seq))) for seq, at in marked.itertuples(index=False)
    ]


def _fixes(leak: Leak) -> pd.DataFrame:
    """Return, for each documented fix, which leaked records of this incident it would have prevented. Columns fix, prevented, left, retries."""
    everything = leak.committed + leak.put_back + leak.discarded
    twice = _of_commits(leak)
    return pd.DataFrame(
        [
            {
                "fix": "rollback-unknown-topic",
                "prevented": twice,
                "left": int(everything) - twice,
                "retries_delivered": False,
            },
            {"fix": "client-4.6.1", "prevented": int(everything), "left": 0, "retries_delivered": False},
            {"fix": "split-tags", "prevented": int(everything), "left": 0, "retries_delivered": True},
        ]
    )


def _of_commits(leak: Leak) -> int:
    """Return how many leaked records descend from commits, including those discarded in the end."""
    return int(leak.counts[leak.counts["committed"]]["records"].sum())


def _remedies(leak: Leak | None, back: send_back.SendBack) -> list[Remedy]:
    """Return what contains it now, then the documented fixes; the one for the name only if the name was the reason."""
    prevented = _fixes(leak).set_index("fix")["prevented"].to_dict() if leak else {}

    def why(fix: str, counted: T, uncounted: T) -> Sentence:
        return counted.say(count=prevented[fix]) if prevented.get(fix) else uncounted.say()

    made = [Remedy(Fix.CONTAIN, Fix.CONTAIN_WHY, Fix.CONTAIN_RISK, Fix.CONTAIN_VERIFY, undo=Fix.CONTAIN_UNDO)]
    if back.reason in (None, "name-too-long"):
        split = why("split-tags", Fix.SPLIT_WHY, Fix.SPLIT_WHY_OPEN)
        when = Fix.SPLIT_WHEN if back.reason is None else None
        made.append(Remedy(Fix.SPLIT, split, Fix.SPLIT_RISK, Fix.SPLIT_VERIFY, when, Fix.SPLIT_UNDO))
    client = why("client-4.6.1", Fix.CLIENT_WHY, Fix.CLIENT_WHY_OPEN)
    made.append(Remedy(Fix.CLIENT, client, Fix.CLIENT_RISK, Fix.CLIENT_VERIFY, undo=Fix.CLIENT_UNDO))
    answer = why("rollback-unknown-topic", Fix.ROLLBACK_WHY, Fix.ROLLBACK_WHY_OPEN)
    made.append(Remedy(Fix.ROLLBACK, answer, Fix.ROLLBACK_RISK, Fix.ROLLBACK_VERIFY, Fix.ROLLBACK_WHEN))
    made.append(Remedy(Fix.DELIVER, Fix.DELIVER_WHY, Fix.DELIVER_RISK, Fix.DELIVER_VERIFY))
    return made


def _missing(case: Case, leak: Leak | None, back: send_back.SendBack) -> list[Missing]:
    wanted = []
    if leak is None:
        wanted.append(collect_next.commitlog(Text.WANT_STORE))
        if not case.has_source("transaction"):
            wanted.append(collect_next.broker_log("transaction.log", Text.WANT_TRANSACTION_LOG))
    if leak and leak.half and not back.refusals:
        wanted.append(collect_next.client_log(collect_next.CONSUMER, Text.WANT_CLIENT_LOG))
        if not case.has_source("store"):
            wanted.append(collect_next.broker_log("store.log", Text.WANT_STORE_LOG))
    return wanted
