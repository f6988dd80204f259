"""broker-busy: a broker refused messages by flow control; which are lost, stored all the same, or stored twice.

The broker does not log its refusals (reference §7.1), so clients and applications have to. Why it was busy is ranked
apart and can be "not shown"; client time-outs without a refusal leave the verdict at `suspected`.
"""

import datetime as dt
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import brokers, reach, refs, setup
from kit.analysis.messages import lookups
from kit.analysis.sends import attempts, busy, sends
from kit.causes.declared import Observed
from kit.causes.findings import Moment, Step, supporting
from kit.causes.texts import read
from kit.formats.values import integer
from kit.inventory.model import Ref, folder_of
from kit.rocketmq.config import default_of
from kit.tables.facts import Facts

TEXTS: Final = read("root_causes", "broker-busy")
FIXES: Final = {
    "gc": "gc", "process-stood-still": "stopped", "stall": "stopped", "page-cache": "pages", "flush": "pages",
    "lock": "lock",
    "transient-pool": "pool", "replication": "replica", "co-located-load": "host", "host": "more", "queue-wait": "more",
}  # fmt: skip
"""The remedy of each explanation; a half topic that feeds itself is a cause with its own."""
PRINTED: Final = 500
SLOW_TIMED = ("put-slow-in-lock", "put-slow", "flush-slow")
"""What store/CommitLog and DefaultMessageStore print of a single write of so many ms or more."""
SLOW = (*SLOW_TIMED, "mmap-timeout", "transient-pool-short")
SEVERAL = 3
RARE = 1_000
"""Sends to one refused send from which it is no cause by itself."""
PASTED = ("page-cache-slow",)
"""A statistic that any broker may print once: it counts only in a paste."""
LIMITS = ("waitTimeMillsInSendQueue", "osPageCacheBusyTimeOutMills")
"""ms in the send queue, and of one append, from which a broker refuses sends."""
MOST_WHYS = 4
LONGEST = 5
"""Stalls that the timeline names, the longest ones."""


@attrs.frozen
class Signs:
    """What a busy broker leaves: refusals, time-outs of sends (lines, and those of a ledger), slow writes, where and
    how often the broker itself counts such answers (None: nowhere), and stalls. `felt`: whether a send met it, for slow
    writes alone are any synchronous master's (§7.2 of the reference).
    """

    refused: refs.Seen
    late: refs.Seen
    late_sends: pd.DataFrame
    timed_out: int
    slow: refs.Seen
    answers: list[dict[str, Any]]
    counted: int | None
    felt: bool
    stalls: list[Any]


def observe(facts: Facts) -> Observed:
    ledger = sends.ledger(facts, leave_out="OTHER")
    signs = _signs(facts, ledger)
    refused, stalls = signs.refused, signs.stalls
    happened = bool(signs.slow or signs.felt or stalls)
    whys = busy.explain(facts, ledger, stalls) if happened else []
    named = attempts.entries(facts)["kind"].dropna() if refused else pd.Series(dtype=object)
    errors = ledger.errors_by_kind or attempts.by_kind(facts) or {}
    counted = sum(errors.get(kind, 0) for kind in attempts.REFUSALS)
    # A ledger may not say how its sends failed, or be that of another application.
    busy_sends = counted or int(named.isin(attempts.REFUSALS).sum())
    # With signs of a stall or time-outs the absence of a refusal shows nothing.
    quiet = not (signs.timed_out or (stalls and not _withstood(facts)))
    slow = bool(signs.slow and (signs.felt or stalls or lookups.is_paste(facts)))
    would_show = ledger.knows_kinds and quiet and not signs.counted
    few = 0 < busy_sends + ledger.kind_unknown < SEVERAL > (signs.counted or 0)
    rarely = (
        refused and (ledger.whole or ledger.sends) and quiet and few and not signs.slow
        and _harmless(facts, ledger, busy_sends) and not _copied(facts, refused)
    )  # fmt: skip
    elects = setup.setting(facts, "enableDLegerCommitLog").value == "true" or refs.seen(facts, "dledger-role-changed")
    quorum = elects and "PC_SYNCHRONIZED" in {*named} and {*named}.isdisjoint(attempts.BUSY_CODE)
    values = attrs.asdict(ledger, recurse=False) | {
        "refused": refused.count or None, "kinds": [kind for kind in attempts.REFUSALS if kind in set(named)] or None,
        "would_show": would_show, "rarely": rarely, "busy_sends": busy_sends,
        "quorum": quorum and not refs.seen(facts, "put-slow-in-lock"),
        "among": ledger.among if counted else None, "gone": ledger.lost if counted else None,
        "pauses": sum(s.pauses for s in stalls), "stood": round(sum(s.stood for s in stalls), 1),
        "waiters": sum(s.waiters for s in stalls), "stalls": len(stalls),
        "stall_times": [
            {"start": f"{s.start.isoformat(timespec='milliseconds')}Z", "seconds": s.seconds, "pauses": s.pauses}
            for s in stalls
        ],
        "timed_out": signs.timed_out, "timed_out_lines": signs.late.count, "slow": signs.slow.count, "slowed": slow,
        "counted_by_broker": signs.counted, "attempts_by_kind": attempts.by_kind(facts),
        "why": whys[0].sentence if whys else None,
        "explanations": [{"why": w.slug, "share": None if w.share is None else round(w.share, 3)} for w in whys],
        "ledger": facts.has("sends"),
        "producer_log": any("producer" in row["role"] for row in attempts.clients_of_users(facts)),
        "over_time": refused and facts.has("metrics") and (facts("measured_origins")["origin"] != "df").any(),
        **_outcome(ledger), "happened": happened,
        "sends_failed": ledger.sends_failed or (None if refused else ledger.sends_failed),
    }  # fmt: skip
    quotes = _quotes(facts, ledger, signs) | {"rarely": attempts.quotes(facts, attempts.REFUSALS, 2) if rarely else ()}
    observed = Observed(values, quotes, steps=_explanations(whys, bool(refused or slow)))
    # The first large stretch that is missing in a commit log: what became of a failed send may be written there.
    looked = ledger.lost is None and (refused or signs.late or ledger.sends_failed)
    unseen = brokers.stretches(facts) if looked else []
    observed.values |= _limits(facts, stalls) | next((each for each in unseen if each["large"]), {"large": False})
    observed.actors = facts("admin_pressure").query("figure != 'disk'")["broker"].dropna().unique()
    # How to stop losing messages now, then the remedy of each explanation, the best shown first.
    fixes = dict.fromkeys(FIXES[why.slug] for why in whys if why.slug in FIXES) if whys else ["find"]
    spared = bool(observed.values["spared"])
    observed.proposed = ["resend", *["lost"] * bool(ledger.lost), *fixes, *["limits"] * spared] if refused else ()
    if happened:
        observed.actors, observed.window = attempts.brokers(facts), busy.window(facts)
        quoted = (ref.file for each in quotes.values() for ref in each)
        observed.window_of = {*ledger.failed["file"].dropna(), *quoted}
        unstored = ledger.failed[ledger.failed["originals"] == 0].drop(columns=["originals", "brokers", "identity"])
        observed.tables = {"lost": unstored, "duplicated": ledger.duplicated}
        observed.moments = _moments(ledger, stalls)
    if any(why.slug == "half-topic" for why in whys):
        observed.consequence_of = ("half-topic-blowup",)
    return observed


def _signs(facts: Facts, ledger: sends.Ledger) -> Signs:
    # Clients that never reached a broker are left out: their connect attempts used up the time.
    cut_off, late = reach.cut_off(facts), ledger.of_kind("CLIENT_TIMEOUT")
    late = late[~late["file"].map(folder_of).isin(cut_off)]
    # What the broker counts (broker_traffic.log, 5.1.0+) does not tell a refused pull from a refused send.
    counts = refs.seen(facts, "response-codes") and not attempts.refused(facts, "busy", pull=True)
    answers = facts.rows("busy_answers") if counts else []
    counted = sum(row["busy"] for row in answers) if counts else None
    refused, lines = attempts.refused(facts, "busy"), attempts.refused(facts, "late", outside=cut_off)
    slow, timed_out = _slow_lines(facts), lines.count or len(late)
    felt = bool(refused or timed_out or counted)
    stood_still = facts.has("messages") and len(facts("pauses"))
    stalls: list[Any] = list(facts("stalls").itertuples(index=False)) if stood_still else []
    # What any broker has now and then: few, and none that its own log would call slow.
    few = sum(s.pauses for s in stalls) < SEVERAL and all(1000 * s.seconds < PRINTED for s in stalls)
    stalls = [] if few and not (slow or felt) else stalls
    return Signs(refused, lines, late, timed_out, slow, answers, counted, felt, stalls)


def _withstood(facts: Facts) -> bool:
    """Return whether no pause came near what this broker lets a send wait: by its settings, even through two pauses."""
    pauses, limits = facts("pauses"), (integer(setup.setting(facts, name).value) for name in LIMITS)
    longest = (pauses["end_ms"] - pauses["start_ms"]).max()
    return all(limit is not None and 2 * longest < limit for limit in limits)


def _copied(facts: Facts, refused: refs.Seen) -> bool:
    """Return whether somebody copied refusals and nothing else: that shows nothing by what is not beside them."""
    if not lookups.is_paste(facts):
        return False
    return not facts.files.of_kind("log") or bool(facts.answers("entry_count")[0]["n"] == refused.count)


def _harmless(facts: Facts, ledger: sends.Ledger, busy_sends: int) -> bool:
    """Return whether refused sends are few among many, or may have been repaired by another try, as far as is known."""
    repaired = 0 in (ledger.sends_failed, ledger.lost)
    sent = ledger.among or (facts.rows("id_counts")[0]["uniq_keys"] if facts.has("messages") else 0)
    return repaired or busy_sends * RARE <= sent or ledger.sends is ledger.lost is None


def _quotes(facts: Facts, ledger: sends.Ledger, signs: Signs) -> dict[str, Any]:
    late = attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) if signs.timed_out else ()
    failed = ledger.failed[ledger.failed["line"].notna()]
    refusals = attempts.quotes(facts, attempts.REFUSALS, 4) if signs.refused else ()
    return {
        "refused": refusals or refs.quote(facts, signs.refused),
        "stood-still": [*map(refs.with_times, facts("stall_waiters").itertuples())] if signs.stalls else (),
        "timed-out": late or refs.quote(facts, signs.late, 2) or refs.lines(facts, signs.late_sends, 2),
        "failed-sends": refs.lines(facts, failed, 2) if ledger.sends_failed else (),
        "stored-twice": sends.copy_refs(ledger.duplicated) if ledger.stored_twice else (),
        "slow-writes": refs.quote(facts, signs.slow, 3),
        "counted": facts.refs([(row["file"], row["line"]) for row in signs.answers]),
    }


def _slow_lines(facts: Facts) -> refs.Seen:
    """Return slow writes that are a sign of flow control: several, a very long one, or pasted ones."""
    if lookups.is_paste(facts):
        return refs.seen(facts, *SLOW, *PASTED)
    slow = refs.seen(facts, *SLOW)
    few = slow and refs.seen(facts, *SLOW_TIMED).count == slow.count < SEVERAL
    busy_from = default_of("osPageCacheBusyTimeOutMills", None)  # ms of one append from which a broker refuses others
    return refs.Seen() if few and not (facts("slow_writes")["cost_ms"] >= busy_from).any() else slow


def _outcome(ledger: sends.Ledger) -> dict[str, Any]:
    by_kind, errors = ledger.outcome_by_kind or {}, ledger.errors_by_kind or {}
    refused = [n for kind, n in by_kind.items() if kind in attempts.REFUSALS]
    late = by_kind.get("CLIENT_TIMEOUT", {}).get("stored")
    several = ledger.duplicated.query("brokers > 1")["key"].nunique() if ledger.stored_twice else None
    return {
        "kind_unknown": ledger.kind_unknown if ledger.source else None, "on_several_brokers": several,
        "answered_not_ok": sum(ledger.answered_not_ok.values()) if ledger.source == "ledger" else None,
        "busy_code": sum(errors.get(kind, 0) for kind in attempts.BUSY_CODE) or None,
        "by_kind": [f"{kind} {n['stored']}/{n['stored'] + n['lost']}" for kind, n in by_kind.items()] or None,
        "belief": refused and late and not any(n["stored"] for n in refused),
    }  # fmt: skip


def _limits(facts: Facts, stalls: list[Any]) -> dict[str, Any]:
    """Return how long a stall was, how long clients wait, and how many refusals a longer wait would have spared."""
    longest = max((s.stood / s.pauses if s.pauses > 1 else s.seconds for s in stalls), default=None)
    timeout = (integer(setup.setting(facts, "sendMsgTimeout").value) or default_of("sendMsgTimeout", None)) / 1000
    spared = None
    if longest is not None and longest < timeout:
        # The times in the queue that refusals print: clients' own, else applications'.
        printed = attempts.entries(facts).query("kind == 'TIMEOUT_CLEAN_QUEUE'").dropna(subset="period")
        own = printed[printed["role"] == "attempt"]
        periods = (own if len(own) else printed)["period"]
        spared = int((periods < longest * 1000 + 1).sum()) if len(periods) else None
    return {"longest": longest, "timeout": timeout, "spared": spared}


def _explanations(whys: list[busy.Why], refused: bool) -> list[Step]:
    """Return a step for each explanation, the best shown first; it supports where there is something to explain."""
    steps = []
    for rank, why in enumerate(whys[:MOST_WHYS], 1):
        share = None if why.share is None else f"{why.share:.0%}"
        claim = TEXTS.say("why", rank=rank, reason=why.sentence, share=share)
        steps.append(supporting(f"why-{rank}", claim, refused and why.evidence, why.evidence))
    return steps or [supporting("why-1", TEXTS.says["why_not"], None)] * refused


def _moments(ledger: sends.Ledger, stalls: list[Any]) -> list[Moment]:
    moments = [
        Moment(stall.start, TEXTS.say("stood", seconds=round(stall.stood, 1), waiters=stall.waiters), until=stall.end)
        for stall in sorted(stalls, key=lambda s: -s.stood)[:LONGEST]
    ]
    timed = ledger.failed.dropna(subset="ts").sort_values("ts", kind="stable")
    originals = pd.to_numeric(timed["originals"], errors="coerce")
    lost, stored = timed[originals == 0], timed[originals > 0]
    ends = (("first_lost", lost.head(1)), ("last_lost", lost.tail(1)), ("first_stored", stored.head(1)))
    for name, row in ((name, row) for name, rows in ends for row in rows.to_dict("records")):
        at = dt.datetime.fromtimestamp(float(row["ts"]) / 1000, dt.UTC)
        place = None if pd.isna(row["line"]) else Ref(str(row["file"]), line=int(row["line"]))
        moments.append(Moment(at, TEXTS.say(name, key=str(row["key"])), place, decides=True))
    return moments
