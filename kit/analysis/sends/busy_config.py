"""Settings that decide what a slow broker does to its senders, and what each would have changed in this incident.

Sources: common/BrokerConfig, store/config/MessageStoreConfig, client/producer/DefaultMQProducer (defaults by release:
`kit.rocketmq.versions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import attrs
import pandas as pd

from kit.analysis.sends import attempts, times
from kit.case import setup
from kit.i18n import Lang, Sentence, T
from kit.rocketmq import versions

if TYPE_CHECKING:
    from kit.analysis.sends.sends import Ledger
    from kit.analysis.sends.stalls import Stall
    from kit.case.case import Case
    from kit.inventory.references import Ref

LONGER_WAIT: Final = 3000
LONGER_LOCK: Final = 5000
"""ms, as the published advice sets them."""

WAIT = T(
    "A request is refused after {value} ms in the send queue. With {longer} ms, {spared} of the {count} TIMEOUT_CLEAN_QUEUE refusals here (whose time "
    "in the queue "
    "is printed) would have been stored late instead; the stall itself stays, and clients with less patience time out."
)
LOCK = T(
    "The broker calls its page cache busy when an append holds the lock for {value} ms. Of the {count} REJECTREQUEST, PCBUSY_CLEAN_QUEUE and PC_SYNCHRONIZED "
    "refusals here, {spared} fall into stalls shorter than {longer} ms: with that limit they would have waited."
)
THREADS = T(
    "{value} send threads with useReentrantLockWhenPutMessage={reentrant}: several threads on a spin lock burn CPU against one another; either one "
    "thread, or the reentrant lock."
)
POOL = T(
    "transientStorePoolEnable={value} (role {role}, DLedger {dledger}): writes go to memory outside the page cache; up to that pool is lost when the "
    "process dies, and an "
    "exhausted pool refuses every send. It would not have shortened a stall of the whole process."
)
FLUSH = T("{flush} on {role}: {why}")
FLUSH_FREE = T(
    "no send waits for the disk or a slave; {count} {count:answer here was|answers here were} FLUSH_… or SLAVE_NOT_AVAILABLE."
)
FLUSH_WAITS = T(
    "every send waits for the disk or a slave; {count} {count:answer here was|answers here were} FLUSH_… or SLAVE_NOT_AVAILABLE."
)
RETRY = T(
    "Clients {value} do not retry SYSTEM_BUSY (code 2); from 5.3.0 they do. {count} of the failed sends here ended with that code at their first attempt."
)
TIMEOUT = T(
    "sendMsgTimeout is the time of all attempts together (default {value} ms): {count} {count:send|sends} here ended with it, {stored} of them {stored:is|are} stored nevertheless."
)
FAST_FAIL = T(
    "brokerFastFailureEnable={value}: switched off, nothing is refused in the queue and senders wait until they time out."
)


@attrs.frozen
class Audited:
    """One setting: `value` in force (None: unknown), `known` (evidence, default, None), its effect here, and where it
    is set.
    """

    name: str
    value: str | None
    known: str | None
    said: Sentence
    changed: int | None
    where: Ref | None = None


def audit(case: Case, ledger: Ledger, stalls: list[Stall]) -> list[Audited]:
    """Return the settings that matter, each with what it would have changed in this incident; `changed` in failed
    sends, None if unknown.
    """
    return [*_broker_settings(case, ledger, stalls), *_client_settings(case, ledger)]


def _broker_settings(case: Case, ledger: Ledger, stalls: list[Stall]) -> Iterator[Audited]:
    # Of several brokers the settings of that count which stalled.
    hosts = frozenset(stall.store_host for stall in stalls)

    def value(name: str) -> str | None:
        return setup.setting(case, name, hosts).value

    def line(name: str, text: T, changed: int | None = None, **values: Any) -> Audited:
        setting = setup.setting(case, name, hosts)
        return Audited(
            name, setting.value, setting.known, text.say(value=setting.value, **values), changed, setting.where
        )

    periods = printed_periods(attempts.entries(case))
    spared = int((periods < LONGER_WAIT).sum()) if len(periods) else None
    yield line("waitTimeMillsInSendQueue", WAIT, spared, longer=LONGER_WAIT, spared=spared, count=len(periods))
    short, locked = in_short_stalls(ledger, stalls, LONGER_LOCK)
    yield line("osPageCacheBusyTimeOutMills", LOCK, short, longer=LONGER_LOCK, spared=short, count=locked)
    yield line("sendMessageThreadPoolNums", THREADS, reentrant=value("useReentrantLockWhenPutMessage"))
    role, flush = value("brokerRole"), value("flushDiskType")
    yield line("transientStorePoolEnable", POOL, role=role, dledger=value("enableDLegerCommitLog") or "false")
    waits = flush == "SYNC_FLUSH" or role == "SYNC_MASTER"
    not_ok = sum(ledger.answered_not_ok.values()) if ledger.source == "ledger" else None
    why = (FLUSH_WAITS if waits else FLUSH_FREE).say(count=not_ok)
    yield line("flushDiskType", FLUSH, not_ok, flush=flush, role=role, why=why)
    yield line("brokerFastFailureEnable", FAST_FAIL)


def _client_settings(case: Case, ledger: Ledger) -> Iterator[Audited]:
    clients, errors = setup.client_versions(case), ledger.errors_by_kind
    busy = None if errors is None else sum(n for kind, n in errors.items() if kind in attempts.BUSY_CODE)
    text = RETRY.say(value=list(clients) or None, count=busy)
    changed = 0 if attempts.busy_is_retried(case) else busy
    yield Audited("retryResponseCodes", ", ".join(clients) or None, "evidence" if clients else None, text, changed)
    timed = None if errors is None else errors.get("CLIENT_TIMEOUT", 0)
    outcome = ledger.outcome_by_kind
    stored = None if outcome is None else outcome.get("CLIENT_TIMEOUT", {}).get("stored", 0)
    timeout = versions.rule("sendMsgTimeout", versions.OLDEST)
    text = TIMEOUT.say(value=timeout, count=timed, stored=stored)
    yield Audited("sendMsgTimeout", str(timeout), "default", text, timed)


def printed_periods(entries: pd.DataFrame | None) -> pd.Series:
    """Return the times in the queue (ms) printed by TIMEOUT_CLEAN_QUEUE refusals, each refusal once: from clients, else
    from applications.
    """
    if entries is None or entries.empty:
        return pd.Series(dtype="float64")
    printed = entries[(entries["kind"] == "TIMEOUT_CLEAN_QUEUE") & entries["period"].notna()]
    of_attempts = printed[printed["role"] == "attempt"]
    return (of_attempts if len(of_attempts) else printed)["period"].astype("float64")


def in_short_stalls(ledger: Ledger, stalls: list[Stall], limit: int) -> tuple[int | None, int]:
    """Return how many page-cache refusals were in a stall of less than `limit` ms, and how many there are; None if
    stalls or times are unknown.
    """
    refused = ledger.failed[ledger.failed["kind"].isin(["REJECTREQUEST", "PCBUSY_CLEAN_QUEUE", "PC_SYNCHRONIZED"])]
    if not stalls or refused["ts"].isna().any():
        return None, len(refused)
    short = [(times.ms(s.start), times.ms(s.end)) for s in stalls if s.stood / s.pauses * 1000 < limit]
    return int(times.inside(times.intervals(refused), short).sum()), len(refused)


def frame(lines: list[Audited], lang: Lang = "en") -> pd.DataFrame:
    """Return the audit as a frame: setting, value, known, changed, reason."""
    rows = [(a.name, a.value, a.known, a.changed, a.said.render(lang)) for a in lines]
    return pd.DataFrame(rows, columns=pd.Index(["setting", "value", "known", "changed", "reason"]))
