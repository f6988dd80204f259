"""Why a broker was busy: everything that explains its refusals, ranked by how many failed sends it covers.

A refusal shows that the broker did not get round to a request, not why. The whole process can have stalled (garbage
collection, a VM freeze, SIGSTOP), an append can have hung in the page cache or on a lock, the transient store pool can
be exhausted, a replica can be slow, or there was simply too much to do (reference §7).

No log mentions a stall. In the commitlog it is a hole in store_timestamp, followed by originals that were born before
or in the hole and had to wait for its end (the tables `pauses` and `stalls`). A pause of the whole process also leaves
a hole in watermark.log, which otherwise has a block every second (reference §7.2); an append that hangs does not.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import refs, setup
from kit.analysis.sends import sends
from kit.i18n import Sentence, labels
from kit.inventory.model import Ref
from kit.tables.facts import Facts

HOLE: Final = 3
"""s between two blocks of watermark.log that show a standing process by themselves; 2 s can be a block printed late."""
FULL: Final = 90.0
"""Percent of CPU or device time at which a host has nothing left."""
WAITS: Final = 50.0
"""Percent of time from which processors that wait for a disk show that the disk is the limit."""
FOREIGN: Final = 4.0
"""Written bytes for each byte stored: commitlog, consume queue and index together write about twice what is stored."""
LEAST: Final = 0.5
"""Part of the stored records from which on those of a half topic that feeds itself are the load."""
ROWS_OF_A_BLOCK: Final = 24
"""Most rows that a block of iostat, vmstat or sar has below its head."""
SLOW: Final = (
    ("page-cache", "put-slow-in-lock", "slow"),
    ("lock", "put-slow", "lock"),
    ("flush", "flush-slow", "flush"),
)
"""Slow appends and flushes in store.log (over 500 ms): explanation, known text, sentence."""
TIMED: Final = 20_000
"""Most rows of each kind that `slow_writes` has."""
AFTER: Final = 1000
"""ms behind a stall in which what queued up in it is still refused or answered."""
METRICS: Final = ("file", "line", "ts", "origin", "subject", "name", "value")
SAYS: Final = labels("analysis")["busy"]


@attrs.frozen
class Why:
    """One explanation of the refusals. `share`: of the failed sends it covers (0–1; None if it has no times)."""

    slug: str
    sentence: Sentence
    share: float | None
    evidence: tuple[Ref, ...] = ()


def explain(facts: Facts, ledger: sends.Ledger, stalled: list[Any]) -> list[Why]:
    """Return the explanations of the refusals, the one that covers most failed sends first; [] if none is seen."""
    under_way = intervals(ledger.failed)
    # The gaps of watermark.log that show a stalled process: long ones, and short ones with a stall.
    gaps = facts("watermark_gaps").sort_values(["start", "file"], ignore_index=True)
    with_stall = [any(s.start < gap.end and s.end > gap.start for s in stalled) for gap in gaps.itertuples()]
    stood = gaps[(gaps["seconds"] >= HOLE) | pd.Series(with_stall, index=gaps.index, dtype=bool)]
    # A wait that is named comes before a write that took long for it.
    whys = [
        *_stood(facts, stalled, stood, under_way), *_waits(facts, under_way), *_slow(facts, under_way), *_host(facts),
    ]  # fmt: skip
    # That nothing stalled has to be seen: in records and in watermark.log.
    looked = facts.has("messages") and refs.seen(facts, "watermark")
    if looked and not (stalled or len(stood) or whys) and "TIMEOUT_CLEAN_QUEUE" in (ledger.errors_by_kind or {}):
        limit, threads = (setup.setting(facts, n) for n in ("waitTimeMillsInSendQueue", "sendMessageThreadPoolNums"))
        places = tuple(setting.where for setting in (limit, threads) if setting.where)
        whys = [Why("queue-wait", SAYS["few"].say(limit=limit.value, threads=threads.value), None, places)]
    # What covers no failed send explains none of them.
    return sorted((w for w in whys if w.share != 0), key=lambda w: -(w.share or 0))


def _stood(facts: Facts, stalled: list[Any], stood: pd.DataFrame, under_way: pd.DataFrame) -> Iterator[Why]:
    covered = share(under_way, [(ms(s.start), ms(s.end)) for s in (*stalled, *stood.itertuples())])
    seconds = round(sum(s.stood for s in stalled), 1)
    if len(stood):
        # The second of the block before a gap and that behind it are not part of the standstill.
        seconds = seconds or round(float((stood["seconds"] - 1).sum()), 1)
        paused = SAYS["stood"].say(count=sum(s.pauses for s in stalled) or len(stood), seconds=seconds)
        # Both sides of each gap, which has the line behind it.
        longest = stood.sort_values("seconds", ascending=False).head(3)
        places = zip(longest["file"], longest["line"].astype(int), strict=True)
        quoted = facts.refs((str(file), n) for file, line in places for n in (line - 1, line) if n)
        yield Why("process-stood-still", paused, covered, quoted)
    elif stalled:
        yield Why("stall", SAYS["hung"].say(count=len(stalled), seconds=seconds), covered)


def _slow(facts: Facts, under_way: pd.DataFrame) -> Iterator[Why]:
    """Yield garbage collections, and slow appends and flushes."""
    long = host_metrics(facts, "pause_ms", "stopped_ms").sort_values("value", ascending=False)
    if len(long):
        timed = long[long["ts"].notna()]
        # A collection is printed when it is over.
        ends = [(ms(end), pause) for end, pause in zip(timed["ts"], timed["value"], strict=True)]
        covered = share(under_way, [(end - pause, end) for end, pause in ends]) if ends else None
        yield Why("gc", SAYS["gc"].say(ms=round(float(long["value"].max()))), covered, refs.lines(facts, long, 2))
    for slug, event, text in SLOW:
        if where := refs.seen(facts, event):
            slow = facts("slow_writes").query("event == @event")
            # Whole seconds, written when the append or flush was over.
            ends = [(ms(end), took) for end, took in zip(slow["ts"], slow["cost_ms"], strict=True)]
            # A pasted line may have no time, and then is not among them.
            most = int(slow["cost_ms"].max()) if len(slow) >= min(where.count, TIMED) else None
            sentence = SAYS[text].say(count=where.count, ms=most)
            covered = share(under_way, [(end - took, end + 1000) for end, took in ends])
            yield Why(slug, sentence, covered, refs.quote(facts, where, 2))


def _waits(facts: Facts, under_way: pd.DataFrame) -> Iterator[Why]:
    """Yield waits for memory outside the page cache and for a slave, and the load of a half topic that feeds itself."""
    if short := refs.seen(facts, "transient-pool-short"):
        yield Why("transient-pool", SAYS["pool"].say(), None, refs.quote(facts, short, 2))
    if waited := refs.seen(facts, "slave-wait-failed", "replicas-not-enough"):
        windows = [(ms(waited.window[0]), ms(waited.window[1]))] if waited.window else []
        sentence = SAYS["replica"].say(count=waited.count)
        yield Why("replication", sentence, share(under_way, windows), refs.quote(facts, waited, 2))
    leaked = facts("half_topic_load") if facts.has("messages") and window(facts) else pd.DataFrame()
    if len(leaked) and (part := leaked["leaked"].iloc[0] / leaked["stored"].iloc[0]) >= LEAST:
        sentence = SAYS["fed-itself"].say(percent=round(100 * part))
        yield Why("half-topic", sentence, None, refs.records_at(facts, leaked, 2))


def _host(facts: Facts) -> Iterator[Why]:
    """Co-located load: a device that writes much more than the broker stores; a host without CPU or disk time left."""
    if not facts.has("metrics"):
        return
    for row in facts.rows("device_writes") if facts.has("messages") else ():
        step = (row["last"] - row["first"]).total_seconds() / max(row["n"] - 1, 1)
        written = row["rate"] * 1024 * step
        if row["stored"] and written >= FOREIGN * row["stored"]:
            writes = host_metrics(facts, "wkB/s").query("subject == @row['device']").dropna(subset="ts")
            worst = _measured(facts, writes.sort_values("value", ascending=False), 2)
            sentence = SAYS["others"].say(device=row["device"], times=round(written / row["stored"]))
            yield Why("co-located-load", sentence, None, worst)
    util, processors = host_metrics(facts, "%util").dropna(subset="ts"), facts("processors").dropna(subset="ts")
    cpu, disk, waiting = (
        float(rows[name].max()) if len(rows) else None
        for rows, name in ((processors, "busy"), (util, "value"), (processors, "waiting"))
    )
    if max(cpu or 0, disk or 0) >= FULL:
        rows, name = (util, "value") if (disk or 0) >= FULL else (processors, "busy")
        sentence = SAYS["host"].say(cpu=None if cpu is None else round(cpu), util=None if disk is None else round(disk))
    elif waiting is not None and waiting >= WAITS:
        rows, name, sentence = processors, "waiting", SAYS["waited"].say(wait=round(waiting))
    else:
        return
    yield Why("host", sentence, None, _measured(facts, rows.sort_values(name, ascending=False), 1))


def _measured(facts: Facts, rows: pd.DataFrame, most: int) -> tuple[Ref, ...]:
    """Quote rows of host metrics, each behind the head of its block: the nearest line above without a number."""
    quoted: list[Ref] = []
    for file, line in zip(rows["file"].head(most), rows["line"].head(most).astype(int), strict=True):
        *above, row = facts.refs((str(file), n) for n in range(max(1, line - ROWS_OF_A_BLOCK), line + 1))
        heads = [ref for ref in above if ref.text.strip() and not re.search(r"(?<![\w%])\d", ref.text)]
        quoted += [*heads[-1:], row]
    return tuple(dict.fromkeys(quoted))


# --- times ------------------------------------------------------------------------------------------------------------


def intervals(failed: pd.DataFrame) -> pd.DataFrame:
    """Return when failed sends (ts, cost_ms, source) were in progress: start, end (ms). A log has the failure's."""
    failed = failed[failed["ts"].notna()]
    start = failed["ts"].astype("float64")
    cost = pd.to_numeric(failed["cost_ms"], errors="coerce").astype("Float64").fillna(0).astype("float64")
    # Logs of 4.x clients have whole seconds.
    least = ((failed["source"] != "ledger") & (start % 1000 == 0)) * 1000.0
    return pd.DataFrame({"start": start, "end": start + cost.where(cost >= least, least)})


def share(under_way: pd.DataFrame, windows: Iterable[tuple[float, float]]) -> float | None:
    """Return the share of failed sends in progress in a window (ms since 1970) or just after it; None without times."""
    hit = pd.Series(False, under_way.index)
    for start, end in windows:
        hit |= (under_way["start"] <= end + AFTER) & (under_way["end"] >= start)
    return float(hit.mean()) if len(hit) else None


def ms(instant: Any) -> float:
    """Return a time (naive: UTC) as ms since 1970."""
    return pd.Timestamp(instant).timestamp() * 1000


def window(facts: Facts) -> tuple[dt.datetime, dt.datetime] | None:
    """Return the time from the first failed send or stall to the last (naive UTC)."""
    rows = facts.rows("busy_window")
    return (rows[0]["start"], rows[0]["end"]) if rows else None


def host_metrics(facts: Facts, *names: str) -> pd.DataFrame:
    """Return the host metrics of these names (the columns of the table `host_metrics`)."""
    metrics = facts("host_metrics") if facts.files.of_outputs("metrics") else pd.DataFrame(columns=pd.Index(METRICS))
    return metrics[metrics["name"].isin(names)].reset_index(drop=True)
