"""Failed sends as logs report them: single attempts of a client, calls that threw, and what the application wrote about
them.

A client logs each failed attempt (`sendKernelImpl exception, resend at once`, also if the code is not retried) and, up
to 5.1.1, the message as an entry of its own after it; the application gets one exception for the whole call (reference
§7.3, §8.4). One failed send can be in both logs and in a ledger.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd

from kit.analysis import refs, setup
from kit.inventory.references import Ref
from kit.rocketmq import names, versions
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.rocketmq.versions import Version
from kit.tables.facts import Facts, memo

REFUSALS: Final = ("REJECTREQUEST", "OVERLOAD", "PCBUSY_CLEAN_QUEUE", "TIMEOUT_CLEAN_QUEUE", "PC_SYNCHRONIZED")
"""The broker's flow-control answers, by the word in brackets: reference §7.1."""
BUSY_CODE: Final = REFUSALS[:4]
"""Those with code 2 SYSTEM_BUSY; PC_SYNCHRONIZED comes with code 1 and is retried by every client."""
KINDS: Final = (*REFUSALS, "CLIENT_TIMEOUT", "OTHER")
TIMEOUTS: Final = ("client-wait-timeout", "client-call-timeout", "client-async-timeout")
FAILURES: Final = (
    "flow-control", *TIMEOUTS, "broker-exception", "client-exception", "client-connect-failed", "client-send-request-failed",
    "client-too-many-requests", "map-file-failed", "service-not-available", "replicas-not-enough", "send-given-up", "no-permission",
    "send-attempt-failed",
)  # fmt: skip
"""Known texts of failed sends, as the table `send_failures` has them."""
NO_ID: Final = "\ufdd0"
"""Begins the stand-in of an id that is not known: a character no text has."""
MOST: Final = 400_000
"""Entries followed one by one. Beyond this only counts are given."""
TOGETHER: Final = 5_000
"""ms between a failed attempt and the entry with its message."""
_WORD: Final = re.compile(r"[^\s,;，；：。、\[\](){}<>\"'（）【】]+")
COLUMNS: Final = (
    "file", "line", "at", "ts", "source", "thread", "logger", "role", "kind", "key", "uniq_key", "said", "period", "queue", "broker",
    "thrown",
)  # fmt: skip
CALL: Final = ("key", "uniq_key", "kind", "attempts", "ts", "file", "line")
THROWN: Final = ("key", "uniq_key", "kind", "words", "ts", "file", "line")
REFUSED: Final = ("flow-control", "thread-pool-busy")


@memo
def entries(facts: Facts) -> pd.DataFrame | None:
    """Return every log entry about a failed send, or with the message of a failed attempt, in order of file and line
    (`COLUMNS`, of the table `send_failures`; `ts` in ms since 1970); None if there are too many.
    """
    total = refs.seen(facts, *FAILURES).count
    if total > MOST:
        return None
    if not total:
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    rows = facts("send_failures").rename(columns={"ts_ms": "ts"})
    return rows.astype(dict.fromkeys(("ts", "period", "queue"), "float64") | {"thrown": bool})


@memo
def attempts(facts: Facts) -> pd.DataFrame:
    """Return the failed attempts, each with its message if the client prints it: columns of `entries`."""
    rows = entries(facts)
    return pd.DataFrame(columns=pd.Index(COLUMNS)) if rows is None else paired(rows)


def paired(rows: pd.DataFrame) -> pd.DataFrame:
    """Add to each failed attempt the key and UNIQ_KEY of the message entry after it.

    Threads of one client write to one log: in each file (and thread, if the layout prints one) a message belongs to the
    first attempt still without one.
    """
    rows = rows[rows["role"].isin(["attempt", "message"])]
    waiting: dict[Any, deque[tuple[int, float]]] = defaultdict(deque)
    key, uniq_key = rows["key"].to_dict(), rows["uniq_key"].to_dict()
    columns = (rows[name] for name in ("file", "thread", "role", "ts"))
    for at, file, thread, role, ts in zip(rows.index, *columns, strict=True):
        queue = waiting[file, thread]
        if role == "attempt":
            queue.append((at, ts))
            continue
        while queue and ts - queue[0][1] > TOGETHER:
            queue.popleft()
        if queue:
            first, _ = queue.popleft()
            key[first], uniq_key[first] = key[at], uniq_key[at]
    rows = rows.assign(key=pd.Series(key, dtype=object), uniq_key=pd.Series(uniq_key, dtype=object))
    return rows[rows["role"] == "attempt"].reset_index(drop=True)


def brokers(facts: Facts) -> tuple[str, ...]:
    """Return the brokers of failed attempts, as clients name them."""
    return tuple(sorted(set(attempts(facts)["broker"].dropna())))


def by_kind(facts: Facts) -> dict[str, int] | None:
    """Return failed attempts by kind, from client logs; None if no client log reports sends."""
    rows = attempts(facts)
    if rows.empty and not (refs.seen(facts, "send-attempt-failed") or has_producer_log(facts)):
        return None
    return counted(rows["kind"])


def counted(kinds: pd.Series) -> dict[str, int]:
    """Return counts in the order of `KINDS`, without kinds that do not occur."""
    counts = kinds.value_counts()
    return {kind: int(counts[kind]) for kind in KINDS if kind in counts}


def has_producer_log(facts: Facts) -> bool:
    """Return whether there is the log of a producing client of users, which would show a failed attempt."""
    return bool((clients_of_users(facts)["role"] == "producer").any())


def clients_of_users(facts: Facts) -> pd.DataFrame:
    """Return the clients with a group of users that were started according to logs: columns file, group, role."""
    if not refs.seen(facts, "client-started"):
        return pd.DataFrame(columns=pd.Index(["file", "group", "role"]))
    started = facts("clients_started")
    own = started["group"].notna() & ~started["group"].isin([names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP])
    return started.loc[own, ["file", "group", "role"]]


def calls(facts: Facts) -> pd.DataFrame:
    """Return the calls that threw according to client logs: columns `CALL`, kind that of the last attempt."""
    rows = attempts(facts)
    if rows.empty:
        return pd.DataFrame(columns=pd.Index(CALL))
    own = rows["uniq_key"].fillna(NO_ID + rows["file"] + NO_ID + rows["line"].astype(str))
    grouped = rows.assign(own=own).groupby("own", sort=False)
    each = grouped.last().assign(attempts=grouped.size(), file=grouped["file"].first(), line=grouped["line"].first())
    whole = int(versions.rule("retryTimesWhenSendFailed", versions.OLDEST)) + 1
    # A timed-out attempt has used up the whole time of its call, except in 3.x, whose line names no broker; a code that is not retried ends it at once.
    late = (each["kind"] == "CLIENT_TIMEOUT") & each["broker"].notna()
    threw = each["thrown"].eq(True) | late | (each["attempts"] >= whole)
    if not busy_is_retried(facts):
        threw |= each["kind"].isin(BUSY_CODE)
    return each[threw].reset_index(drop=True)[list(CALL)]


def busy_is_retried(facts: Facts) -> bool:
    """Return whether every client known here retries SYSTEM_BUSY (5.3.0 and later)."""
    known = setup.client_versions(facts)
    return bool(known) and all(2 in versions.rule("retriedResponseCodes", Version.parse(v)) for v in known)


def thrown(facts: Facts) -> pd.DataFrame:
    """Return what applications wrote about failed sends, each once: columns `THROWN`, with the set of its `words`.

    Several loggers (a wrapper's and the application's own) that print the same exception in one thread and second
    report the same calls.
    """
    rows = entries(facts)
    if rows is None or rows.empty:
        return pd.DataFrame(columns=pd.Index(THROWN))
    rows = rows[rows["role"] == "call"]
    rows = rows.assign(words=rows["said"].map(words), second=rows["ts"].fillna(-1) // 1000)
    named = rows["key"].notna() | rows["uniq_key"].notna()
    loose = rows[~named & rows["thread"].notna()]
    same = ["file", "thread", "kind", "period", "queue", "second"]
    printed = loose[[*same, "logger"]].astype(object)
    printed = printed.where(printed.notna(), "")
    counts = printed.groupby([*same, "logger"], sort=False).size().rename("n").reset_index()
    # The logger that prints most of the calls reports them all; of two the first by name.
    most = counts.sort_values(["n", "logger"], ascending=[False, True]).drop_duplicates(same)
    reported = printed.reset_index().merge(most.drop(columns="n").astype(object), on=[*same, "logger"])["index"]
    rows = pd.concat([rows[named | rows["thread"].isna()], loose.loc[reported]])
    return rows.sort_values(["file", "line"], ignore_index=True)[list(THROWN)]


def words(text: str | None) -> frozenset[str]:
    """Return the words of an entry that may be a key: as a whole, and after the last `=` or `:`."""
    whole = _WORD.findall(text or "")
    return frozenset(
        w for word in whole for w in (word, word.rpartition("=")[2], word.rpartition(":")[2], word.rstrip(".:")) if w
    )


def quotes(facts: Facts, kinds: tuple[str, ...], most: int = 3) -> tuple[Ref, ...]:
    """Quote the earliest entry of each of these kinds, then further ones: the line of the entry that names the kind."""
    rows = entries(facts)
    if rows is None or rows.empty:
        return ()
    rows = rows[rows["kind"].isin(kinds)].sort_values(["ts", "file", "line"], kind="stable")
    first = rows.drop_duplicates("kind").index
    picked = rows.loc[[*first, *rows.index.difference(first, sort=False)][:most]]
    places = list(zip(picked["file"].astype(str), picked["at"].astype(int), strict=True))
    return tuple(Ref(file, text, line=line) for (file, line), text in zip(places, facts.lines(places), strict=True))


def refused_pull_count(facts: Facts) -> int:
    """Return how many entries report a request other than a send as refused for busy."""
    rows = facts.rows("refused_counts") if refs.seen(facts, *REFUSED) else []
    return sum(row["n"] for row in rows if row["kind"] == "busy" and row["pull"])


def refused_sends(facts: Facts) -> refs.Seen:
    """Return where a send was refused as busy: every refusal except those of pulls."""
    if not refused_pull_count(facts):
        return refs.seen(facts, *REFUSED)
    rows = facts.rows("refused_counts")
    return refs.of_rows(REFUSED, [row for row in rows if row["kind"] == "busy" and not row["pull"]])


def timed_out_sends(facts: Facts, slugs: tuple[str, ...], outside: Collection[str]) -> refs.Seen:
    """Return where a send timed out (not a pull, a heartbeat, a broker's request), outside the folders `outside`."""
    rows = facts.rows("refused_counts") if refs.seen(facts, *slugs, outside=outside) else []
    sends = [row for row in rows if row["kind"] == "late" and not row["pull"] and row["source"] not in BROKER_SIDE]
    return refs.of_rows(slugs, [row for row in sends if str(PurePosixPath(row["file"]).parent) not in outside])


def refused_pulls(facts: Facts) -> tuple[Ref, ...]:
    """Quote the earliest refused pulls: the line that names the refusal."""
    return refs.earliest(facts, facts("refused_pulls"), 2, within="system busy") if refused_pull_count(facts) else ()
