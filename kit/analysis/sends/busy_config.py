"""Settings that decide what a slow broker does to its senders, and what each would have changed in this incident.

Sources: common/BrokerConfig, store/config/MessageStoreConfig, client/producer/DefaultMQProducer (defaults by release:
`kit.rocketmq.versions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np
import pandas as pd

from kit.analysis.sends import attempts, when
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


def audit(case: Case, ledger: Ledger, found: list[Stall]) -> list[Audited]:
    """Return the settings that matter, each with what it would have changed in this incident; `changed` in failed
    sends, None if unknown.
    """
    # Of several brokers the settings of that count which stalled.
    hosts = frozenset(stall.store_host for stall in found)
    entries = attempts.entries(case)
    errors = ledger.errors_by_kind or {}
    lines = []

    def add(name: str, said: Sentence, changed: int | None = None) -> None:
        setting = setup.setting(case, name, hosts)
        lines.append(Audited(name, setting.value, setting.known, said, changed, setting.where))

    periods = printed_periods(entries)
    spared = int((periods < LONGER_WAIT).sum()) if len(periods) else None
    wait = setup.setting(case, "waitTimeMillsInSendQueue", hosts).value
    add("waitTimeMillsInSendQueue", WAIT.say(value=wait, longer=LONGER_WAIT, spared=spared, count=len(periods)), spared)
    short, locked = in_short_stalls(ledger, found, LONGER_LOCK)
    lock = setup.setting(case, "osPageCacheBusyTimeOutMills", hosts).value
    add("osPageCacheBusyTimeOutMills", LOCK.say(value=lock, longer=LONGER_LOCK, spared=short, count=locked), short)
    reentrant = setup.setting(case, "useReentrantLockWhenPutMessage", hosts).value
    add(
        "sendMessageThreadPoolNums",
        THREADS.say(value=setup.setting(case, "sendMessageThreadPoolNums", hosts).value, reentrant=reentrant),
    )
    role, dledger = (
        setup.setting(case, "brokerRole", hosts).value,
        setup.setting(case, "enableDLegerCommitLog", hosts).value or "false",
    )
    add(
        "transientStorePoolEnable",
        POOL.say(value=setup.setting(case, "transientStorePoolEnable", hosts).value, role=role, dledger=dledger),
    )
    flush = setup.setting(case, "flushDiskType", hosts).value
    waits = flush == "SYNC_FLUSH" or role == "SYNC_MASTER"
    not_ok = sum(ledger.answered_not_ok.values()) if ledger.source == "ledger" else None
    add(
        "flushDiskType",
        FLUSH.say(flush=flush, role=role, why=(FLUSH_WAITS if waits else FLUSH_FREE).say(count=not_ok)),
        not_ok,
    )
    add("brokerFastFailureEnable", FAST_FAIL.say(value=setup.setting(case, "brokerFastFailureEnable", hosts).value))
    clients = setup.client_versions(case)
    busy = (
        sum(n for kind, n in errors.items() if kind in attempts.BUSY_CODE)
        if ledger.errors_by_kind is not None
        else None
    )
    retried = attempts.busy_is_retried(case)
    lines.append(
        Audited(
            "retryResponseCodes",
            ", ".join(clients) or None,
            "evidence" if clients else None,
            RETRY.say(value=list(clients) or None, count=busy),
            0 if retried else busy,
        )
    )
    timed = errors.get("CLIENT_TIMEOUT", 0) if ledger.errors_by_kind is not None else None
    kept = (
        ledger.outcome_by_kind.get("CLIENT_TIMEOUT", {}).get("stored", 0)
        if ledger.outcome_by_kind is not None
        else None
    )
    lines.append(
        Audited(
            "sendMsgTimeout",
            str(versions.rule("sendMsgTimeout", versions.OLDEST)),
            "default",
            TIMEOUT.say(value=versions.rule("sendMsgTimeout", versions.OLDEST), count=timed, stored=kept),
            timed,
        )
    )
    return lines


def printed_periods(entries: pd.DataFrame | None) -> np.ndarray:
    """Return the times in the queue (ms) printed by TIMEOUT_CLEAN_QUEUE refusals, each refusal once: from clients, else
    from applications.
    """
    if entries is None or entries.empty:
        return np.empty(0)
    printed = entries[(entries["kind"] == "TIMEOUT_CLEAN_QUEUE") & entries["period"].notna()]
    of_attempts = printed[printed["role"] == "attempt"]
    return (of_attempts if len(of_attempts) else printed)["period"].to_numpy("float64")


def in_short_stalls(ledger: Ledger, found: list[Stall], limit: int) -> tuple[int | None, int]:
    """Return how many page-cache refusals were in a stall of less than `limit` ms, and how many there are; None if
    stalls or times are unknown.
    """
    mine = ledger.failed[ledger.failed["kind"].isin(["REJECTREQUEST", "PCBUSY_CLEAN_QUEUE", "PC_SYNCHRONIZED"])]
    if not found or mine["ts"].isna().any():
        return None, len(mine)
    short = [(when.ms(s.start), when.ms(s.end)) for s in found if s.stood / s.pauses * 1000 < limit]
    under_way = when.intervals(attrs.evolve(ledger, failed=mine))
    return int(when.inside(under_way, short).sum()), len(mine)


def frame(lines: list[Audited], lang: Lang = "en") -> pd.DataFrame:
    """Return the audit as a frame: setting, value, known, changed, reason."""
    rows = [(a.name, a.value, a.known, a.changed, a.said.render(lang)) for a in lines]
    return pd.DataFrame(rows, columns=pd.Index(["setting", "value", "known", "changed", "reason"]))
