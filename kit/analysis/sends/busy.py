"""Why a broker was busy: everything that explains its refusals, ranked by how many failed sends it covers.

A refusal shows that the broker did not get round to a request, not why. The whole process can have stalled (garbage
collection, a VM freeze, SIGSTOP), an append can have hung in the page cache or on a lock, the transient store pool can
be exhausted, a replica can be slow, or there was simply too much to do (reference §7).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs, setup
from kit.analysis.sends import attempts, sends, times
from kit.analysis.sends.sends import Ledger
from kit.i18n import Lang, Sentence, T, labels
from kit.inventory.references import Ref
from kit.rocketmq import versions
from kit.tables.facts import Facts

HOLE: Final = 3
"""s between two blocks of watermark.log that show a standing process by themselves; 2 s can be a block printed late."""
LONG_GC: Final = 200.0
"""ms of a pause that fills a send queue for longer than waitTimeMillsInSendQueue allows by default."""
FULL: Final = 90.0
"""Percent of CPU or device time at which a host has nothing left."""
WAITS: Final = 50.0
"""Percent of time from which processors that wait for a disk show that the disk is the limit."""
FOREIGN: Final = 4.0
"""Written bytes for each byte stored: commitlog, consume queue and index together write about twice what is stored."""
LEAST: Final = 0.5
"""Part of the stored records from which on those of a half topic that feeds itself are the load."""
SAYS: Final = labels("analysis")["busy"]
LONGER_WAIT: Final = 3000
LONGER_LOCK: Final = 5000
"""ms, as the published advice sets them."""
ADVICE: Final = labels("analysis")["settings"]


@attrs.frozen
class Why:
    """One explanation of the refusals. `share`: of the failed sends it covers (0–1; None if it has no times)."""

    slug: str
    said: Sentence
    share: float | None
    evidence: tuple[Ref, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"why": self.slug, "share": None if self.share is None else round(self.share, 3)}


def frame(whys: list[Why]) -> pd.DataFrame:
    """Return the explanations as a frame: rank, why (slug), said_en, said_zh, share."""
    rows = [(rank, w.slug, w.said.render("en"), w.said.render("zh"), w.share) for rank, w in enumerate(whys, 1)]
    return pd.DataFrame(rows, columns=pd.Index(["rank", "why", "said_en", "said_zh", "share"]))


def standing(stalled: list[Any], gaps: pd.DataFrame) -> pd.DataFrame:
    """Return the gaps of watermark.log that show a stalled process: long ones, and short ones with a stall."""
    with_records = [
        any(s.start < end and s.end > start for s in stalled)
        for start, end in zip(gaps["start"], gaps["end"], strict=True)
    ]
    return gaps[(gaps["seconds"] >= HOLE) | pd.Series(with_records, index=gaps.index, dtype=bool)]


def explain(facts: Facts, ledger: sends.Ledger, stalled: list[Any]) -> list[Why]:
    """Return the explanations of the refusals, the one that covers most failed sends first; () if none is seen."""
    under_way = times.intervals(ledger.failed)
    stood = standing(stalled, times.watermark_gaps(facts))
    whys = [
        *_stood(facts, stalled, stood, under_way), *_gc(facts, under_way), *_appends(facts, under_way), *_pool(facts),
        *_replicas(facts, under_way), *_host(facts), *_half_topic(facts),
    ]  # fmt: skip
    # That nothing stalled has to be seen: in records and in watermark.log.
    if not (stalled or len(stood) or whys) and "TIMEOUT_CLEAN_QUEUE" in (ledger.errors_by_kind or {}):
        whys += _few_threads(facts)
    return sorted(whys, key=lambda w: -(w.share or 0))


def _few_threads(facts: Facts) -> list[Why]:
    if not (facts.has("messages") and refs.seen(facts, "watermark")):
        return []
    limit, threads = setup.setting(facts, "waitTimeMillsInSendQueue"), setup.setting(facts, "sendMessageThreadPoolNums")
    places = tuple(setting.where for setting in (limit, threads) if setting.where)
    return [Why("queue-wait", SAYS["few"].say(limit=limit.value, threads=threads.value), None, places)]


def _stood(facts: Facts, stalled: list[Any], stood: pd.DataFrame, under_way: pd.DataFrame) -> list[Why]:
    windows = [(times.ms(s.start), times.ms(s.end)) for s in stalled]
    seconds = round(sum(s.stood for s in stalled), 1)
    if not len(stood):
        hung = SAYS["hung"].say(count=len(stalled), seconds=seconds)
        return [Why("stall", hung, times.share(under_way, windows))] if stalled else []
    windows += times.windows(stood)
    count = sum(s.pauses for s in stalled) or len(stood)
    # The second of the block before a gap and that behind it are not part of the standstill.
    seconds = seconds or round(float((stood["seconds"] - 1).sum()), 1)
    quoted = refs.gaps(facts, stood.sort_values("seconds", ascending=False), 3)
    paused = SAYS["stood"].say(count=count, seconds=seconds)
    return [Why("process-stood-still", paused, times.share(under_way, windows), quoted)]


def _gc(facts: Facts, under_way: pd.DataFrame) -> list[Why]:
    metrics = times.host_metrics(facts, "pause_ms", "stopped_ms")
    long = metrics[metrics["value"] >= LONG_GC].sort_values("value", ascending=False)
    if long.empty:
        return []
    timed = long[long["ts"].notna()]
    # A collection is printed when it is over.
    windows = [(times.ms(end) - pause, times.ms(end)) for end, pause in zip(timed["ts"], timed["value"], strict=True)]
    said = SAYS["gc"].say(ms=round(float(long["value"].max())))
    return [Why("gc", said, times.share(under_way, windows) if windows else None, refs.lines(facts, long, 2))]


def _appends(facts: Facts, under_way: pd.DataFrame) -> list[Why]:
    """Slow appends and flushes in store.log (over 500 ms): inside the lock, or waiting for it."""
    whys = []
    texts = (("page-cache", "put-slow-in-lock", "slow"), ("lock", "put-slow", "lock"), ("flush", "flush-slow", "flush"))
    for slug, event, text in texts:
        if not (where := refs.seen(facts, event)):
            continue
        slow = facts("slow_writes")
        slow = slow[slow["event"] == event]
        # Whole seconds, written when the append or flush was over.
        ends = [(times.ms(end), took) for end, took in zip(slow["ts"], slow["cost_ms"], strict=True)]
        windows = [(end - took, end + 1000) for end, took in ends]
        worst = int(slow["cost_ms"].max()) if len(slow) else None
        said = SAYS[text].say(count=where.count, ms=worst)
        whys.append(Why(slug, said, times.share(under_way, windows), refs.quote(facts, where, 2)))
    return whys


def _pool(facts: Facts) -> list[Why]:
    short = refs.seen(facts, "transient-pool-short")
    return [Why("transient-pool", SAYS["pool"], None, refs.quote(facts, short, 2))] if short else []


def _half_topic(facts: Facts) -> list[Why]:
    """Load caused by the broker's own fault: a half topic that feeds itself wrote most of what was stored meanwhile."""
    leaked = facts("half_topic_load") if facts.has("messages") and times.window(facts) else pd.DataFrame()
    if leaked.empty or (part := leaked["leaked"].iloc[0] / leaked["stored"].iloc[0]) < LEAST:
        return []
    return [
        Why("half-topic", SAYS["fed-itself"].say(percent=round(100 * part)), None, refs.records_at(facts, leaked, 2))
    ]


def _replicas(facts: Facts, under_way: pd.DataFrame) -> list[Why]:
    waited = refs.seen(facts, "slave-wait-failed", "replicas-not-enough")
    if not waited:
        return []
    windows = [(times.ms(waited.first), times.ms(waited.last))] if waited.first and waited.last else []
    said, quoted = SAYS["replica"].say(count=waited.count), refs.quote(facts, waited, 2)
    return [Why("replication", said, times.share(under_way, windows), quoted)]


def _host(facts: Facts) -> list[Why]:
    """Co-located load: a device that writes much more than the broker stores; a host without CPU or disk time left."""
    if not facts.has("metrics"):
        return []
    util, processors = times.host_metrics(facts, "%util"), facts("processors")
    util, processors = util[util["ts"].notna()], processors[processors["ts"].notna()]
    whys = _foreign_writes(facts)
    cpu = float(processors["busy"].max()) if len(processors) else None
    disk = float(util["value"].max()) if len(util) else None
    waiting = float(processors["waiting"].max()) if len(processors) else 0.0
    if max(cpu or 0, disk or 0) >= FULL:
        full = (disk or 0) >= FULL
        worst = util.sort_values("value", ascending=False) if full else processors.sort_values("busy", ascending=False)
        said = SAYS["host"].say(cpu=None if cpu is None else round(cpu), util=None if disk is None else round(disk))
        whys.append(Why("host", said, None, refs.measured(facts, worst, 1)))
    elif waiting >= WAITS:
        worst = processors.sort_values("waiting", ascending=False)
        whys.append(Why("host", SAYS["waited"].say(wait=round(waiting)), None, refs.measured(facts, worst, 1)))
    return whys


def _foreign_writes(facts: Facts) -> list[Why]:
    writes = times.host_metrics(facts, "wkB/s")
    if writes.empty or not facts.has("messages"):
        return []
    for row in facts.rows("device_writes"):
        step = (row["last"] - row["first"]).total_seconds() / max(row["n"] - 1, 1)
        written = row["rate"] * 1024 * step
        if not row["stored"] or written < FOREIGN * row["stored"]:
            continue
        of_device = writes[(writes["subject"] == row["device"]) & writes["ts"].notna()]
        worst = refs.measured(facts, of_device.sort_values("value", ascending=False), 2)
        said = SAYS["others"].say(device=row["device"], times=round(written / row["stored"]))
        return [Why("co-located-load", said, None, worst)]
    return []


def counted_busy(facts: Facts) -> int | None:
    """Return how many responses with code 2 the broker counted (broker_traffic.log, 5.1.0+), None without."""
    return facts.rows("busy_answers")[0]["busy"] if refs.seen(facts, "response-codes") else None


def refusal_kinds(facts: Facts) -> list[str]:
    """Return the kinds of refusal the logs name, in the order of `attempts.KINDS`."""
    stalled = attempts.entries(facts)
    named = set() if stalled is None else set(stalled["kind"].dropna())
    return [kind for kind in attempts.REFUSALS if kind in named]


def unanswered(facts: Facts) -> tuple[int, tuple[Ref, ...]]:
    """Return how many transactions that met a stalled broker were checked or are open, and half records of some."""
    rows = facts.rows("stalled_transactions")
    text = "UNIQ_KEY={uniq_key}, TRANSACTION_CHECK_TIMES={check_times}, {state}"
    quoted = [Ref(row["half_file"], text.format_map(row), physical_offset=row["half_offset"]) for row in rows]
    return (rows[0]["n"] if rows else 0), tuple(quoted)


@attrs.frozen
class Audited:
    """One setting: `value` (None: unknown), `known` (evidence, default, None), its effect here, where it is set."""

    name: str
    value: str | None
    known: str | None
    said: Sentence
    changed: int | None
    where: Ref | None = None


def audit(facts: Facts, ledger: Ledger, stalls: list[Any]) -> list[Audited]:
    """Return the settings that matter, with what each would have changed: failed sends, None if unknown."""
    return [*_broker_settings(facts, ledger, stalls), *_client_settings(facts, ledger)]


def _broker_settings(facts: Facts, ledger: Ledger, stalls: list[Any]) -> Iterator[Audited]:
    # Of several brokers the settings of that count which stalled.
    hosts = frozenset(stall.store_host for stall in stalls)

    def value(name: str) -> str | None:
        return setup.setting(facts, name, hosts).value

    def line(name: str, text: T, changed: int | None = None, **values: Any) -> Audited:
        setting = setup.setting(facts, name, hosts)
        return Audited(
            name, setting.value, setting.known, text.say(value=setting.value, **values), changed, setting.where
        )

    periods = printed_periods(attempts.entries(facts))
    spared = int((periods < LONGER_WAIT).sum()) if len(periods) else None
    yield line(
        "waitTimeMillsInSendQueue", ADVICE["wait"], spared, longer=LONGER_WAIT, spared=spared, count=len(periods)
    )
    short, locked = in_short_stalls(ledger, stalls, LONGER_LOCK)
    yield line("osPageCacheBusyTimeOutMills", ADVICE["lock"], short, longer=LONGER_LOCK, spared=short, count=locked)
    yield line("sendMessageThreadPoolNums", ADVICE["threads"], reentrant=value("useReentrantLockWhenPutMessage"))
    role, flush = value("brokerRole"), value("flushDiskType")
    yield line("transientStorePoolEnable", ADVICE["pool"], role=role, dledger=value("enableDLegerCommitLog") or "false")
    waits = flush == "SYNC_FLUSH" or role == "SYNC_MASTER"
    not_ok = sum(ledger.answered_not_ok.values()) if ledger.source == "ledger" else None
    why = (ADVICE["flush-waits"] if waits else ADVICE["flush-free"]).say(count=not_ok)
    yield line("flushDiskType", ADVICE["flush"], not_ok, flush=flush, role=role, why=why)
    yield line("brokerFastFailureEnable", ADVICE["fast-fail"])


def _client_settings(facts: Facts, ledger: Ledger) -> Iterator[Audited]:
    clients, errors = setup.client_versions(facts), ledger.errors_by_kind
    busy = None if errors is None else sum(n for kind, n in errors.items() if kind in attempts.BUSY_CODE)
    text = ADVICE["retry"].say(value=list(clients) or None, count=busy)
    changed = 0 if attempts.busy_is_retried(facts) else busy
    yield Audited("retryResponseCodes", ", ".join(clients) or None, "evidence" if clients else None, text, changed)
    timed = None if errors is None else errors.get("CLIENT_TIMEOUT", 0)
    outcome = ledger.outcome_by_kind
    stored = None if outcome is None else outcome.get("CLIENT_TIMEOUT", {}).get("stored", 0)
    timeout = versions.rule("sendMsgTimeout", versions.OLDEST)
    text = ADVICE["timeout"].say(value=timeout, count=timed, stored=stored)
    yield Audited("sendMsgTimeout", str(timeout), "default", text, timed)


def printed_periods(entries: pd.DataFrame | None) -> pd.Series:
    """Return the times in the queue (ms) that TIMEOUT_CLEAN_QUEUE refusals print: clients' own, else applications'."""
    if entries is None or entries.empty:
        return pd.Series(dtype="float64")
    printed = entries[(entries["kind"] == "TIMEOUT_CLEAN_QUEUE") & entries["period"].notna()]
    of_attempts = printed[printed["role"] == "attempt"]
    return (of_attempts if len(of_attempts) else printed)["period"].astype("float64")


def in_short_stalls(ledger: Ledger, stalls: list[Any], limit: int) -> tuple[int | None, int]:
    """Return how many page-cache refusals were in stalls below `limit` ms (None: unknown), and how many there are."""
    refused = ledger.failed[ledger.failed["kind"].isin(["REJECTREQUEST", "PCBUSY_CLEAN_QUEUE", "PC_SYNCHRONIZED"])]
    if not stalls or refused["ts"].isna().any():
        return None, len(refused)
    short = [(times.ms(s.start), times.ms(s.end)) for s in stalls if s.stood / s.pauses * 1000 < limit]
    return int(times.inside(times.intervals(refused), short).sum()), len(refused)


def audit_frame(lines: list[Audited], lang: Lang = "en") -> pd.DataFrame:
    """Return the audit as a frame: setting, value, known, changed, reason."""
    rows = [(a.name, a.value, a.known, a.changed, a.said.render(lang)) for a in lines]
    return pd.DataFrame(rows, columns=pd.Index(["setting", "value", "known", "changed", "reason"]))
