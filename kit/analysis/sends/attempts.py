"""Failed sends as logs report them: single attempts of a client, calls that threw, and what the application wrote about
them.

A client logs each failed attempt (`sendKernelImpl exception, resend at once`, also if the code is not retried) and, up
to 5.1.1, the message as an entry of its own after it; the application gets one exception for the whole call (reference
§7.3, §8.4). One failed send can be in both logs and in a ledger.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.analysis import refs
from kit.analysis.consumers import refused_pulls
from kit.case import columnar, log_events, setup, statements
from kit.case.memoize import once, per_case
from kit.inventory.references import Ref
from kit.rocketmq import names, versions
from kit.rocketmq.versions import Version

if TYPE_CHECKING:
    from kit.case.case import Case

REFUSALS: Final = ("REJECTREQUEST", "OVERLOAD", "PCBUSY_CLEAN_QUEUE", "TIMEOUT_CLEAN_QUEUE", "PC_SYNCHRONIZED")
"""The broker's flow-control answers, by the word in brackets: reference §7.1."""
BUSY_CODE: Final = REFUSALS[:4]
"""Those with code 2 SYSTEM_BUSY; PC_SYNCHRONIZED comes with code 1 and is retried by every client."""
KINDS: Final = (*REFUSALS, "CLIENT_TIMEOUT", "OTHER")

TIMEOUTS: Final = ("client-wait-timeout", "client-call-timeout", "client-async-timeout")
_OTHER: Final = (
    "broker-exception",
    "client-exception",
    "client-connect-failed",
    "client-send-request-failed",
    "client-too-many-requests",
    "map-file-failed",
    "service-not-available",
    "replicas-not-enough",
    "send-given-up",
    "no-permission",
)
ATTEMPT: Final = "send-attempt-failed"
PRINTED: Final = "send-attempt-message"
REFUSED: Final = "flow-control"
FAILURES: Final = (REFUSED, *TIMEOUTS, *_OTHER, ATTEMPT)
SEND_FRAMES: Final = "DefaultMQProducerImpl.send"
"""In the trace of an exception: it came out of a send (client/impl/producer/DefaultMQProducerImpl)."""

NO_ID: Final = "\ufdd0"
"""Begins the stand-in of an id that is not known: a character no text has. Not NUL, at which pandas ends a string when
it compares."""
MOST: Final = 400_000
"""Entries followed one by one. Beyond this only counts are given."""
TOGETHER: Final = 5_000
"""ms between a failed attempt and the entry with its message."""
_WAITS: Final = ("wait response on the channel", "call timeout")
_KEY: Final = r"(?i)\bkeys?\b['\"]?\s*[:=：]\s*\[?['\"]?(?P<it>[^\s,;，；。'\"\]\)\}]+)"
"""How applications print a business key beside an exception: `keys=…`, `key: …`, `"key":"…"`."""
_ID: Final = r"\b(?P<it>[0-9A-Fa-f]{32}(?:[0-9A-Fa-f]{24})?)\b"
_WORD: Final = re.compile(r"[^\s,;，；：。、\[\](){}<>\"'（）【】]+")


def entries(case: Case) -> pd.DataFrame | None:
    """Return every log entry about a failed send, or with the message of a failed attempt, in order of file and line;
    None if there are too many.

    Columns file, line, ts, source, thread, logger, role (`attempt`, `message`, `call`), kind (None for a message), key,
    uniq_key, said (start of the entry, for `call`), period (ms in queue), queue (its size), rt (ms), broker, thrown
    (bool: the client makes no further attempt), at (the line that names the kind).
    """
    return once(case, "send failures", lambda: _entries(case))


def _entries(case: Case) -> pd.DataFrame | None:
    total = refs.seen(case, *FAILURES).count
    if total > MOST:
        return None
    if not total:
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    columns = ("file", "line", "lines", "ts", "source", "thread", "logger", "layout", "message", "trace", "events")
    parts = [_failures(batch) for batch in log_events.hits(case, (*FAILURES, PRINTED), columns)]
    found = pd.concat(parts).sort_values(["file", "line"], ignore_index=True)
    return found[(found["role"] != "call") | (found["kind"] != "OTHER") | found["from_send"]].reset_index(drop=True)[
        list(COLUMNS)
    ]


def _failures(batch: pa.RecordBatch) -> pd.DataFrame:
    """Return the failed sends in a batch of entries: `COLUMNS` and from_send."""
    text = log_events.texts(batch)
    has = {slug: log_events.holds(batch["events"], (slug,)) for slug in (ATTEMPT, PRINTED, REFUSED)}
    failed, late = log_events.holds(batch["events"], FAILURES), log_events.holds(batch["events"], TIMEOUTS)
    message = has[PRINTED] & ~failed
    nothing: Any = None
    from_send = log_events.contains(text, (SEND_FRAMES,))
    frame = pd.DataFrame(
        {name: columnar.decoded(batch[name]).to_pandas() for name in ("file", "line", "source", "thread", "logger")}
    )
    # A refusal or time-out that a client logs without a send (pull, heartbeat, send-back) is not a failed send; an
    # application's is, unless its trace shows another request.
    own = (frame["source"].notna() & (frame["source"] != "client")).to_numpy(bool)
    own &= ~(late & log_events.contains(text, refused_pulls.OF_PULLS))
    call = failed & ~has[ATTEMPT] & (own | from_send)
    value = {slug: log_events.values_where(slug, text, here) for slug, here in has.items()}
    ts = batch["ts"].cast(pa.int64()).to_pandas()
    frame["ts"] = ts // 1000
    frame["role"] = np.select([has[ATTEMPT], message], ["attempt", "message"], "call")
    kind = value[REFUSED]["kind"]
    named = np.where(has[REFUSED], np.where(pd.isna(kind), "OTHER", kind), np.where(late, "CLIENT_TIMEOUT", "OTHER"))
    frame["kind"] = np.where(message, nothing, named)
    for name, group, pattern in (("key", "keys", _KEY), ("uniq_key", "msg_id", _ID)):
        frame[name] = np.where(
            message, value[PRINTED][group], np.where(call, log_events.matched(batch["message"], pattern), nothing)
        )
    frame["said"] = np.where(
        call, pc.utf8_slice_codeunits(batch["message"], 0, 2000).to_numpy(zero_copy_only=False), nothing
    )
    for name, slug in (("period", REFUSED), ("queue", REFUSED), ("rt", ATTEMPT)):
        frame[name] = pd.to_numeric(pd.Series(value[slug][name]), errors="coerce")
    frame["broker"], frame["thrown"] = value[ATTEMPT]["broker"], value[ATTEMPT]["what"] == "throw exception"
    frame["from_send"] = from_send
    kept = has[ATTEMPT] | message | call
    at = batch["line"].to_numpy().astype(np.int64)
    folded = np.flatnonzero(kept & (batch["lines"].to_numpy() > 1))
    some = batch.select(["line", "lines", "layout"]).take(pa.array(folded)).to_pydict()
    each = zip(*some.values(), text.take(pa.array(folded)).to_pylist(), has[REFUSED][folded], kind[folded], strict=True)
    at[folded] = [_line_of(*said_there) for said_there in each]
    return frame.assign(at=at)[kept]


def _line_of(line: int, lines: int, layout: str | None, text: str, refused: bool, kind: str | None) -> int:
    """Return the line of the file that names the kind of an entry. A JSON entry is one line, whatever its text looks like."""
    if layout == "json":
        return line
    named = (f"[{kind}" if kind else "start flow control") if refused else next((w for w in _WAITS if w in text), "")
    return min(line + text[: max(text.find(named), 0)].count("\n"), line + lines - 1)


COLUMNS: Final = (
    "file",
    "line",
    "ts",
    "source",
    "thread",
    "logger",
    "role",
    "kind",
    "key",
    "uniq_key",
    "said",
    "period",
    "queue",
    "rt",
    "broker",
    "thrown",
    "at",
)


def attempts(case: Case) -> pd.DataFrame:
    """Return the failed attempts, each with its message if the client prints it: columns of `entries`."""
    found = entries(case)
    return (
        pd.DataFrame(columns=pd.Index(COLUMNS)) if found is None else once(case, "send attempts", lambda: paired(found))
    )


def paired(found: pd.DataFrame) -> pd.DataFrame:
    """Add to each failed attempt the key and UNIQ_KEY of the message entry after it.

    Threads of one client write to one log: in each file (and thread, if the layout prints one) a message belongs to the
    first attempt still without one.
    """
    mine = found[found["role"].isin(["attempt", "message"])]
    open_: dict[Any, deque[tuple[int, float]]] = defaultdict(deque)
    key, uniq_key = mine["key"].to_dict(), mine["uniq_key"].to_dict()
    for at, file, thread, role, ts in zip(
        mine.index, mine["file"], mine["thread"], mine["role"], mine["ts"], strict=True
    ):
        waiting = open_[file, thread]
        if role == "attempt":
            waiting.append((at, ts))
            continue
        while waiting and ts - waiting[0][1] > TOGETHER:
            waiting.popleft()
        if waiting:
            first, _ = waiting.popleft()
            key[first], uniq_key[first] = key[at], uniq_key[at]
    out = mine.assign(key=pd.Series(key, dtype=object), uniq_key=pd.Series(uniq_key, dtype=object))
    return out[out["role"] == "attempt"].reset_index(drop=True)


def by_kind(case: Case) -> dict[str, int] | None:
    """Return failed attempts by kind, from client logs; None if no client log reports sends."""
    found = attempts(case)
    if found.empty and not (refs.seen(case, "send-attempt-failed") or has_producer_log(case)):
        return None
    return counted(found["kind"])


def counted(kinds: pd.Series) -> dict[str, int]:
    """Return counts in the order of `KINDS`, without kinds that do not occur."""
    counts = kinds.value_counts()
    return {kind: int(counts[kind]) for kind in KINDS if kind in counts}


def has_producer_log(case: Case) -> bool:
    """Return whether there is the log of a producing client, which would show a failed attempt; that of mqadmin or of a
    mere consumer would not.
    """
    return bool((clients_of_users(case)["role"] == "producer").any())


@per_case
def clients_of_users(case: Case) -> pd.DataFrame:
    """Return the clients with a group of users that were started according to logs: columns file, group, role."""
    started = statements.counted(case, ("client-started",), by=("group", "role"))
    own = started["group"].notna() & ~started["group"].isin([names.INNER_PRODUCER_GROUP, names.ADMIN_GROUP])
    return started.loc[own, ["file", "group", "role"]]


def calls(case: Case) -> pd.DataFrame:
    """Return the calls that threw according to client logs: columns key, uniq_key, kind (of the last attempt),
    attempts, ts, file, line.
    """
    found = attempts(case)
    if found.empty:
        return pd.DataFrame(columns=pd.Index(["key", "uniq_key", "kind", "attempts", "ts", "file", "line"]))
    own = found["uniq_key"].fillna(NO_ID + found["file"] + NO_ID + found["line"].astype(str))
    grouped = found.assign(own=own).groupby("own", sort=False)
    last = grouped.last()
    each = last.assign(
        attempts=grouped.size(),
        threw=last["thrown"].eq(True),
        file=grouped["file"].first(),
        line=grouped["line"].first(),
    )
    retried = busy_is_retried(case)
    whole = int(versions.rule("retryTimesWhenSendFailed", versions.OLDEST)) + 1
    # A timed-out attempt has used up the whole time of its call; a code that is not retried ends it at once.
    threw = (
        each["threw"]
        | (each["kind"] == "CLIENT_TIMEOUT")
        | (each["attempts"] >= whole)
        | (each["kind"].isin(BUSY_CODE) & (not retried))
    )
    kept = each[threw].reset_index(drop=True)
    return kept[["key", "uniq_key", "kind", "attempts", "ts", "file", "line"]]


def busy_is_retried(case: Case) -> bool:
    """Return whether every client known here retries SYSTEM_BUSY (5.3.0 and later)."""
    known = setup.client_versions(case)
    return bool(known) and all(2 in versions.rule("retriedResponseCodes", Version.parse(v)) for v in known)


def thrown(case: Case) -> pd.DataFrame:
    """Return what applications wrote about failed sends, each once: columns key, uniq_key, kind, words (set), ts, file,
    line.

    Several loggers (a wrapper's and the application's own) that print the same exception in one thread and second
    report the same calls.
    """
    found = entries(case)
    told_of = ["key", "uniq_key", "kind", "words", "ts", "file", "line"]
    if found is None or found.empty:
        return pd.DataFrame(columns=pd.Index(told_of))
    mine = found[found["role"] == "call"].copy()
    mine["words"] = mine["said"].map(words)
    same = ["file", "thread", "kind", "period", "queue", "second"]
    mine["second"] = mine["ts"].fillna(-1) // 1000
    told = mine["key"].notna() | mine["uniq_key"].notna()
    loose = mine[~told & mine["thread"].notna()]
    by = loose[[*same, "logger"]].astype(object)
    *calls_, loggers = by.where(by.notna(), "").T.to_numpy().tolist()
    each = list(zip(zip(*calls_, strict=True), loggers, strict=True))
    counts = Counter(each)
    # The logger that prints most of the calls reports them all; of two the first by name.
    by_name = sorted(counts, key=lambda c: str(c[1]), reverse=True)
    most = dict(sorted(by_name, key=lambda c: counts[c]))
    keep = loose[np.array([most[call] == logger for call, logger in each], dtype=bool)]
    out = pd.concat([mine[told | mine["thread"].isna()], keep])
    return out.sort_values(["file", "line"], ignore_index=True)[told_of]


def words(text: str | None) -> frozenset[str]:
    """Return the words of an entry that may be a key: as a whole, and after the last `=` or `:`."""
    whole = _WORD.findall(text or "")
    return frozenset(
        w for word in whole for w in (word, word.rpartition("=")[2], word.rpartition(":")[2], word.rstrip(".:")) if w
    )


def quotes(case: Case, kinds: tuple[str, ...], most: int = 3) -> tuple[Ref, ...]:
    """Quote the earliest entry of each of these kinds, then further ones: the line of the entry that names the kind."""
    found = entries(case)
    if found is None or found.empty:
        return ()
    mine = found[found["kind"].isin(kinds)].sort_values(["ts", "file", "line"], kind="stable")
    first = mine.drop_duplicates("kind").index
    picked = mine.loc[[*first, *mine.index.difference(first, sort=False)][:most]]
    places = list(zip(picked["file"].astype(str), picked["at"].astype(int), strict=True))
    return tuple(Ref(file, text, line=line) for (file, line), text in zip(places, case.lines(places), strict=True))
