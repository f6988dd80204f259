"""Failed sends as logs report them: single attempts of a client, calls that threw, what the application wrote of them.

A client logs each failed attempt and, up to 5.1.1, the message as an entry of its own after it; the application gets
one exception for the whole call (reference §7.3, §8.4). One failed send can be in both logs and in a ledger.
"""

from collections import defaultdict, deque
from collections.abc import Collection
from typing import Any, Final, Literal

import pandas as pd

from kit.analysis import refs, setup
from kit.inventory.model import Ref, folder_of
from kit.rocketmq import config, versions
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

REFUSALS: Final = ("REJECTREQUEST", "OVERLOAD", "PCBUSY_CLEAN_QUEUE", "TIMEOUT_CLEAN_QUEUE", "PC_SYNCHRONIZED")
"""The broker's flow-control answers, by the word in brackets: reference §7.1."""
BUSY_CODE: Final = REFUSALS[:4]
"""Those with code 2 SYSTEM_BUSY; PC_SYNCHRONIZED comes with code 1 and is retried by every client."""
KINDS: Final = (*REFUSALS, "CLIENT_TIMEOUT", "OTHER")
TIMEOUTS: Final = ("client-wait-timeout", "client-call-timeout", "client-async-timeout")
NO_ID: Final = "\ufdd0"
"""Begins the stand-in of an id that is not known: a character no text has."""
MOST: Final = 400_000
"""Entries followed one by one: `send_failures` has one more where there are more, and only counts are given."""
TOGETHER: Final = 5_000
"""ms between a failed attempt and the entry with its message."""
REFUSED: Final = ("flow-control", "thread-pool-busy")


@memo
def too_many(facts: Facts) -> bool:
    """Return whether there are more entries about failed sends than are followed one by one."""
    return len(facts("send_failures")) > MOST


@memo
def entries(facts: Facts) -> pd.DataFrame:
    """Return `send_failures`, with `ts` (ms since 1970), by file and line; no rows if there are too many."""
    rows = facts("send_failures").rename(columns={"ts_ms": "ts"}).head(0 if too_many(facts) else MOST)
    numbers = dict.fromkeys(("ts", "period", "queue"), "float64")
    return rows.astype(numbers | {"thrown": bool, "counts": bool})


@memo
def attempts(facts: Facts) -> pd.DataFrame:
    """Return the failed attempts, columns of `entries`, with the key and UNIQ_KEY that the client prints after each.
    Its threads write to one log: in a file (and printed thread) a message is of the first attempt without.
    """
    rows = entries(facts)
    rows = rows[rows["role"].isin(["attempt", "message"])].reset_index(drop=True)
    waiting: defaultdict[Any, deque[tuple[int, float]]] = defaultdict(deque)
    message = {}
    columns = (rows[name] for name in ("file", "thread", "role", "ts"))
    for at, file, thread, role, ts in zip(rows.index, *columns, strict=True):
        queue = waiting[file, thread]
        if role == "attempt":
            queue.append((at, ts))
            continue
        while queue and ts - queue[0][1] > TOGETHER:
            queue.popleft()
        if queue:
            message[queue.popleft()[0]] = at
    of = rows.loc[list(message.values()), ["key", "uniq_key"]].set_axis(list(message)).astype(object)
    rows = rows.assign(key=of["key"].reindex(rows.index), uniq_key=of["uniq_key"].reindex(rows.index))
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
    return any(row["role"] == "producer" for row in clients_of_users(facts))


def clients_of_users(facts: Facts) -> list[dict[str, Any]]:
    return facts.rows("clients_started") if refs.seen(facts, "client-started", "grpc-client-started") else []


@fold(
    "call bigint, key string, uniq_key string, kind string, attempts bigint, ts double, file string, line bigint",
    "send_failures", "known_texts", "clients_connected", "client_releases",
)  # fmt: skip
def send_calls(facts: Facts) -> pd.DataFrame:
    """One row per call that threw according to client logs: call (its number), key, uniq_key, kind (of the last
    attempt), attempts, ts (ms since 1970), file, line (of the first). In order of place; at most 400,000.
    """
    rows = attempts(facts)
    own = rows["uniq_key"].fillna(NO_ID + rows["file"] + NO_ID + rows["line"].astype(str))
    grouped = rows.assign(own=own).groupby("own", sort=False)
    each = grouped.last().assign(attempts=grouped.size(), file=grouped["file"].first(), line=grouped["line"].first())
    threw = each["thrown"].eq(True) | (each["attempts"] > int(config.default_of("retryTimesWhenSendFailed", None)))
    known = setup.client_versions(facts)
    if not known or any(2 not in versions.rule("retriedResponseCodes", version) for version in known):
        threw |= each["kind"].isin(BUSY_CODE)  # ends the call at once; clients of 5.3.0 and later retry it
    return each[threw].reset_index(drop=True).rename_axis("call").reset_index()


def quotes(facts: Facts, kinds: tuple[str, ...], most: int = 3) -> tuple[Ref, ...]:
    """Quote the earliest entry of each of these kinds, then further ones: the line of the entry that names the kind."""
    rows = entries(facts)
    rows = rows[rows["kind"].isin(kinds)].sort_values(["ts", "file", "line"], kind="stable")
    further = rows.duplicated("kind")
    picked = pd.concat([rows[~further], rows[further]]).head(most)
    return refs.lines(facts, picked.assign(line=picked["at"]), most)


# --- requests that are no sends ---------------------------------------------------------------------------------------


def refused(
    facts: Facts, kind: Literal["busy", "late"], *, pull: bool = False, outside: Collection[str] = ()
) -> refs.Seen:
    """Return where sends (or pulls) were refused as `busy`, or timed out (`late`: a client's, outside these folders)."""
    rows = facts.rows("refused_counts") if refs.seen(facts, *(REFUSED if kind == "busy" else TIMEOUTS)) else []
    own = [row for row in rows if row["kind"] == kind and row["pull"] == pull]
    own = [row for row in own if kind == "busy" or row["source"] not in BROKER_SIDE]
    return refs.of_rows(row for row in own if folder_of(row["file"]) not in outside)


def refused_pulls(facts: Facts) -> tuple[Ref, ...]:
    """Quote the earliest refused pulls: the line that names the refusal."""
    pulls = refused(facts, "busy", pull=True)
    return refs.earliest(facts, facts("refused_pulls"), 2, within="system busy") if pulls else ()
