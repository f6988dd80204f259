"""broker-busy: a broker refused messages by flow control; which of them are lost, which are stored all the same,
which are stored twice.

Deciding step: a flow-control refusal of the broker (a kind in brackets, or the overload text) in any log or pasted
text. The broker does not log its refusals (reference §7.1), so clients and applications have to. Why it was busy is a
separate, ranked explanation and can be "not shown"; client time-outs without a refusal leave the verdict at `suspected`.
"""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs, setup
from kit.analysis.access import reach
from kit.analysis.messages import lookups
from kit.analysis.sends import attempts, busy, sends, times
from kit.causes import collect_next
from kit.causes.findings import Finding, Missing, Moment, Remedy, Step, deciding, supporting
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)
FIXES: Final = {
    "gc": "gc", "process-stood-still": "stopped", "stall": "stopped", "page-cache": "pages", "flush": "pages", "lock": "lock",
    "transient-pool": "pool", "replication": "replica", "co-located-load": "host", "host": "more", "queue-wait": "more",
    "half-topic": "half_topic",
}  # fmt: skip
"""The remedy of each explanation."""

SLOW = ("put-slow-in-lock", "put-slow", "flush-slow", "mmap-timeout", "transient-pool-short")
"""Lines of store.log about single slow writes: store/CommitLog, store/DefaultMessageStore, store/AllocateMappedFileService."""
SLOW_TIMED = ("put-slow-in-lock", "put-slow", "flush-slow")
"""Those of them that a broker prints from 500 ms on."""
SEVERAL = 3
PAGE_CACHE_BUSY = 1000
"""ms of one append from which a broker refuses others: osPageCacheBusyTimeOutMills."""
PASTED = ("page-cache-slow",)
"""A statistic that any broker may print once: it counts only in a paste."""
MOST_WHYS = 4
LONGEST = 5
"""Stalls that the timeline names, the longest ones."""
STALLS: Final = ("start", "end", "seconds", "pauses", "stood", "waiters", "store_host")


CLIENT_TIMEOUT = 3000
"""ms of sendMsgTimeout unless the application sets it: client/producer/DefaultMQProducer."""


@attrs.frozen
class Seen:
    """Everything this cause examines."""

    refused: refs.Seen
    """Refused sends, not refused pulls."""
    timed_out: refs.Seen
    """Without the time-outs of clients that never reached a broker: their connect attempts used up the time."""
    late: pd.DataFrame
    slow: refs.Seen
    counted: int | None
    ledger: sends.Ledger
    stalls: list[Any]
    attempts: dict[str, int] | None

    @property
    def timed_outs(self) -> int:
        """Number of entries or failed sends that report a client time-out."""
        return self.timed_out.count or len(self.late)

    @property
    def stood(self) -> float:
        """Seconds in all in which the broker stored nothing."""
        return round(sum(s.stood for s in self.stalls), 1)


def examine(facts: Facts) -> Finding:
    """Name the refusals, what became of the failed sends, where the broker stalled, and what explains it."""
    ledger, cut_off = sends.ledger(facts), reach.cut_off(facts)
    late = ledger.of_kind("CLIENT_TIMEOUT")
    seen = Seen(
        refused=attempts.refused_sends(facts),
        timed_out=attempts.timed_out_sends(facts, cut_off),
        late=late[~late["file"].map(lambda file: str(PurePosixPath(str(file)).parent) in cut_off).astype(bool)],
        slow=_slow_lines(facts),
        # Its counters do not tell a refused pull from a refused send.
        counted=None if attempts.refused_pull_count(facts) else _counted(facts),
        ledger=ledger,
        stalls=list(facts("stalls").itertuples(index=False)) if facts.has("messages") else [],
        attempts=attempts.by_kind(facts),
    )
    happened = bool(seen.refused or seen.timed_outs or seen.slow or seen.stalls or seen.counted)
    whys = busy.explain(facts, seen.ledger, seen.stalls) if happened else []
    finding = TEXTS.finding()
    finding.steps = _steps(facts, seen, whys)
    finding.figures = _figures(facts, seen, whys)
    finding.missing = _missing(facts, seen)
    if happened:
        finding.actors = attempts.brokers(facts)
        finding.window = times.window(facts)
        finding.summary = _summary(seen, whys)
        finding.tables = _tables(facts, seen, whys)
        finding.moments = _moments(seen)
    if any(why.slug == "half-topic" for why in whys):
        finding.consequence_of = ("half-topic-blowup",)
    if seen.refused:
        finding.remedies = _remedies(facts, seen, whys)
    return finding


def _steps(facts: Facts, seen: Seen, whys: list[busy.Why]) -> list[Step]:
    """Return the steps; the first five are always there, in this order."""
    steps = [_refused(facts, seen), _stalled(facts, seen), _timed_out(facts, seen)]
    steps += [_outcome(facts, seen.ledger), _stored_twice(seen.ledger)]
    steps += [*_slow(facts, seen), *_why(whys, bool(seen.refused or seen.slow))]
    if seen.counted is not None:
        counted = refs.quote(facts, refs.seen(facts, "response-codes"), 1) if seen.counted else ()
        steps.append(supporting("counted", TEXTS.say("counted", count=seen.counted), seen.counted, counted))
    if seen.stalls and (rows := facts.rows("stalled_transactions")):
        text = "UNIQ_KEY={uniq_key}, TRANSACTION_CHECK_TIMES={check_times}, {state}"
        quoted = tuple(Ref(r["half_file"], text.format_map(r), physical_offset=r["half_offset"]) for r in rows)
        steps.append(supporting("left-open", TEXTS.say("pending", count=rows[0]["n"]), True, quoted))
    return steps


def _counted(facts: Facts) -> int | None:
    """Return how many responses with code 2 the broker counted (broker_traffic.log, 5.1.0+), None without."""
    return facts.rows("busy_answers")[0]["busy"] if refs.seen(facts, "response-codes") else None


def _refused(facts: Facts, seen: Seen) -> Step:
    if seen.refused:
        quoted = attempts.quotes(facts, attempts.REFUSALS, 4) or refs.quote(facts, seen.refused)
        claim = TEXTS.say("refused", count=seen.refused.count, kinds=_kinds(facts) or None)
        return deciding("refused", claim, True, quoted)
    return deciding("refused", TEXTS["not_refused"], False if _would_show(seen) else None)


def _kinds(facts: Facts) -> list[str]:
    """Return the kinds of refusal the logs name."""
    named = set(attempts.entries(facts)["kind"].dropna())
    return [kind for kind in attempts.REFUSALS if kind in named]


def _stalled(facts: Facts, seen: Seen) -> Step:
    count, waiters = sum(s.pauses for s in seen.stalls), sum(s.waiters for s in seen.stalls)
    claim = TEXTS.say("stalled", stalls=len(seen.stalls), count=count, seconds=seen.stood, waiters=waiters)
    # For the first two stalls the original that waited longest for its end.
    behind = tuple(map(refs.with_times, facts("stall_waiters").itertuples())) if seen.stalls else ()
    return supporting("stood-still", claim, count, behind)


def _timed_out(facts: Facts, seen: Seen) -> Step:
    claim = TEXTS.say("timed_out", count=seen.timed_outs)
    quoted = attempts.quotes(facts, ("CLIENT_TIMEOUT",), 2) if seen.timed_outs else ()
    quoted = quoted or refs.quote(facts, seen.timed_out, 2) or refs.lines(facts, seen.late, 2)
    return supporting("timed-out", claim, seen.timed_outs, quoted)


def _slow_lines(facts: Facts) -> refs.Seen:
    """Return the lines of slow writes where they are a sign of flow control: several, one as long as the broker waits, or copied by somebody."""
    if lookups.is_paste(facts):
        return refs.seen(facts, *SLOW, *PASTED)
    found = refs.seen(facts, *SLOW)
    timed = refs.seen(facts, *SLOW_TIMED).count
    if found and timed == found.count < SEVERAL and not (facts("slow_writes")["cost_ms"] >= PAGE_CACHE_BUSY).any():
        return refs.Seen()
    return found


def _slow(facts: Facts, seen: Seen) -> list[Step]:
    """Return the step that the store wrote slowly, which is how flow control begins, whether or not a refusal is in the evidence."""
    if not seen.slow:
        return []
    said = TEXTS.say("slow", count=seen.slow.count)
    return [supporting("slow-writes", said, True, refs.quote(facts, seen.slow, 3))]


def _would_show(seen: Seen) -> bool:
    """Return whether a refusal would be seen: senders get it as an answer. With signs of a stall or time-outs its
    absence shows nothing.
    """
    return seen.ledger.knows_kinds and not (seen.timed_outs or seen.stalls or seen.counted)


def _outcome(facts: Facts, ledger: sends.Ledger) -> Step:
    by_kind = ledger.outcome_by_kind or {}
    words = [f"{kind} {n['stored']}/{n['stored'] + n['lost']}" for kind, n in by_kind.items()]
    refused = [n for kind, n in by_kind.items() if kind in attempts.REFUSALS]
    late = by_kind.get("CLIENT_TIMEOUT", {}).get("stored")
    said = TEXTS.say("outcome_open")
    if failed := bool(ledger.sends_failed) and ledger.lost is not None:
        counts = {"failed": ledger.sends_failed, "stored": ledger.failed_but_stored, "lost": ledger.lost}
        said = TEXTS.say("outcome", by_kind=words or None, **counts)
        if refused and late and not any(n["stored"] for n in refused):
            said = TEXTS.say("belief", outcome=said)
    quoted = refs.lines(facts, ledger.failed[ledger.failed["line"].notna()], 2) if failed else ()
    return supporting("failed-sends", said, failed, quoted)


def _stored_twice(ledger: sends.Ledger) -> Step:
    if not ledger.stored_twice:
        return supporting("stored-twice", TEXTS["twice_open"], False)
    several = int(ledger.duplicated[ledger.duplicated["brokers"] > 1]["key"].nunique())
    claim = TEXTS.say("twice", keys=ledger.stored_twice, brokers=several)
    return supporting("stored-twice", claim, True, sends.copy_refs(ledger.duplicated))


def _why(whys: list[busy.Why], refused: bool) -> list[Step]:
    if not whys:
        return [Step(TEXTS["why_not"], "supporting", None, id="why-1")] if refused else []
    # An explanation supports only where there is something to explain.
    steps = []
    for rank, why in enumerate(whys[:MOST_WHYS], 1):
        share = None if why.share is None else f"{why.share:.0%}"
        claim = (TEXTS["why"] if share else TEXTS["why_open"]).say(rank=rank, said=why.said, share=share)
        steps.append(supporting(f"why-{rank}", claim, refused and why.evidence, why.evidence))
    return steps


def _stall(row: Any) -> dict[str, Any]:
    start = row.start.isoformat(timespec="milliseconds") + "Z"
    return {"start": start, "seconds": row.seconds, "pauses": row.pauses}


def _figures(facts: Facts, seen: Seen, whys: list[busy.Why]) -> dict[str, Any]:
    ledger = seen.ledger
    return {
        "errors_by_kind": ledger.errors_by_kind,
        "attempts_by_kind": seen.attempts,
        "stalls": [_stall(s) for s in seen.stalls] if facts.has("messages") else None,
        "sends": ledger.sends,
        "sends_failed": ledger.sends_failed,
        "failed_but_stored": ledger.failed_but_stored,
        "lost": ledger.lost,
        "stored_twice": ledger.stored_twice,
        "outcome_by_kind": ledger.outcome_by_kind,
        "kind_unknown": ledger.kind_unknown if ledger.source else None,
        "answered_not_ok": sum(ledger.answered_not_ok.values()) if ledger.source == "ledger" else None,
        "counted_by_broker": seen.counted,
        "explanations": [w.as_dict() for w in whys],
    }


def _summary(seen: Seen, whys: list[busy.Why]) -> Any:
    ledger = seen.ledger
    if seen.refused:
        why = whys[0].said if whys else TEXTS["not_shown"]
        if ledger.lost is None and ledger.failed_but_stored is None:
            return TEXTS.say("summary_fate_unknown", failed=ledger.sends_failed, why=why)
        fates = {"lost": ledger.lost, "stored": ledger.failed_but_stored, "twice": ledger.stored_twice}
        return TEXTS.say("summary", failed=ledger.sends_failed, why=why, **fates)
    if seen.stalls:
        return TEXTS.say("summary_stalls", seconds=seen.stood)
    if seen.slow:
        return TEXTS.say("summary_slow", count=seen.slow.count, why=whys[0].said if whys else TEXTS["not_shown"])
    return TEXTS.say("summary_timeouts", count=seen.timed_outs) if seen.timed_outs else TEXTS.say("none")


def _tables(facts: Facts, seen: Seen, whys: list[busy.Why]) -> dict[str, Any]:
    ledger = seen.ledger
    outcome = [(kind, n["stored"], n["lost"]) for kind, n in (ledger.outcome_by_kind or {}).items()]
    tables: dict[str, Any] = {
        "busy_stalls": pd.DataFrame([s._asdict() for s in seen.stalls], columns=pd.Index(STALLS)).rename(
            columns={"stood": "stood_seconds"}
        ),
        "busy_outcome": pd.DataFrame(outcome, columns=pd.Index(["kind", "stored", "lost"])),
        "busy_failed": ledger.failed.head(5000),
        "busy_why": busy.frame(whys),
        "busy_config": busy.audit(facts, ledger, seen.stalls),
        "lost": ledger.lost_rows,
        "duplicated": ledger.duplicated,
    }
    return tables | (times.charted(facts) if times.window(facts) else {})


def _moments(seen: Seen) -> list[Moment]:
    """Return the longest stalls, the first and last lost send, and the first failed one that is stored all the same."""
    longest = sorted(seen.stalls, key=lambda s: -s.stood)[:LONGEST]
    found = []
    for stall in longest:
        claim = TEXTS.say("stood", seconds=round(stall.stood, 1), waiters=stall.waiters)
        found.append(Moment(stall.start, claim, until=stall.end))
    timed = seen.ledger.failed[seen.ledger.failed["ts"].notna()].sort_values("ts", kind="stable")
    originals = pd.to_numeric(timed["originals"], errors="coerce")
    lost, kept = timed[originals == 0], timed[originals > 0]
    ends = ((lost.head(1), TEXTS["first_lost"]), (lost.tail(1), TEXTS["last_lost"]))
    for rows, said in (*ends, (kept.head(1), TEXTS["first_stored"])):
        for row in rows.to_dict("records"):
            at = dt.datetime.fromtimestamp(float(row["ts"]) / 1000, dt.UTC)
            place = None if pd.isna(row["line"]) else Ref(str(row["file"]), "", line=int(row["line"]))
            found.append(Moment(at, said.say(key=str(row["key"])), place, decides=True))
    return found


def _missing(facts: Facts, seen: Seen) -> list[Missing]:
    wanted = []
    if not seen.refused and not _would_show(seen):
        if not attempts.has_producer_log(facts):
            wanted.append(collect_next.ask("producer's client log", TEXTS["want_client"]))
        if not facts.has("sends"):
            wanted.append(collect_next.ask("sends", TEXTS["want_sends"]))
    if seen.refused or seen.timed_out or seen.ledger.sends_failed:
        if not facts.has("messages"):
            wanted.append(collect_next.ask("commitlog", TEXTS["want_store"]))
        elif seen.ledger.lost is None:
            wanted += collect_next.unseen_files(facts, TEXTS["want_store"])
    if seen.refused and not facts.has("sends") and seen.ledger.lost is None:
        wanted.append(collect_next.ask("sends", TEXTS["want_sends"]))
    if (seen.refused or seen.stalls) and not facts.has_source("watermark"):
        wanted.append(collect_next.ask("watermark.log", TEXTS["want_watermark"]))
    # A look at memory and disks is no measurement over time.
    if seen.refused and not (facts.has("metrics") and (facts("measured_origins")["origin"] != "df").any()):
        wanted.append(collect_next.ask("host metrics", TEXTS["want_metrics"]))
    return wanted


def _remedies(facts: Facts, seen: Seen, whys: list[busy.Why]) -> list[Remedy]:
    """Return how to stop losing messages now, the remedies for each explanation shown, and limits if a stall is shown."""
    ledger = seen.ledger
    errors = ledger.errors_by_kind
    busy_code = None if errors is None else sum(n for kind, n in errors.items() if kind in attempts.BUSY_CODE)
    made = [TEXTS.remedy("resend", count=busy_code, lost=ledger.lost, twice=ledger.stored_twice)]
    if ledger.lost:
        made.append(TEXTS.remedy("lost", count=ledger.lost))
    shown = dict.fromkeys(FIXES[why.slug] for why in whys if why.slug in FIXES)
    made += [TEXTS.remedy(name) for name in shown]
    return made + _limits(facts, seen) + ([] if shown else [TEXTS.remedy("find")])


def _limits(facts: Facts, seen: Seen) -> list[Remedy]:
    """Return the advice to wait longer if that would have helped: the stall was shorter than clients wait."""
    longest = max((s.stood / s.pauses if s.pauses > 1 else s.seconds for s in seen.stalls), default=None)
    said = setup.setting(facts, "sendMsgTimeout").value or ""
    timeout = (int(said) if said.isdecimal() else CLIENT_TIMEOUT) / 1000
    if longest is None or longest >= timeout:
        return []
    periods = busy.printed_periods(attempts.entries(facts))
    spared = int((periods < longest * 1000 + 1).sum()) if len(periods) else None
    return [TEXTS.remedy("limits", seconds=longest, timeout=timeout, count=spared)]
