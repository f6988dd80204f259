"""The ledger of losses and duplicates: what became of every failed send, and what is stored more than once.

Failed sends come from send ledgers if there are any, else from application and client logs; one send counts once
however many report it. What became of it is read from the originals on all brokers and topics: none (lost), one, or
several with the same body (stored twice). The timeout of a send does not show whether it was stored; no bracketed
refusal was ever seen stored (reference §7.1, §7.3).
"""

from __future__ import annotations

import re
from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import brokers, refs
from kit.analysis.sends import attempts
from kit.inventory.references import Ref
from kit.rocketmq import names
from kit.rocketmq.catalogue import EVENTS
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

_TIMEOUT: Final = re.compile(r"RemotingTimeoutException|RemotingTooMuchRequestException")
"""Exceptions that are a client's own time-out whatever their text: remoting/exception."""

FAILED_COLUMNS: Final = ("key", "uniq_key", "kind", "outcome", "ts", "cost_ms", "attempts", "source", "file", "line")
BODY: Final = ("body_crc", "body_size")
LONGEST_CALL: Final = 60
"""s between the first and the last attempt of one call: sendMsgTimeout is 3 s for all attempts, and rarely set beyond a
minute."""
LONGEST_STALL: Final = 10
"""s after which a send that its client gave up is no longer stored."""
SECOND: Final = 1000
COPY_COLUMNS: Final = (
    "key", "uniq_key", "copies", "brokers", "kind", "topic", "queue_id", "queue_offset", "born_timestamp", "store_timestamp",
    "store_host", "offset_msg_id", "file", "physical_offset",
)  # fmt: skip


@attrs.frozen
class Ledger:
    """What became of the sends of a case. None: cannot be known from this evidence.

    `failed`: one row per failed send: `FAILED_COLUMNS`, `originals` and `brokers` (how many store it; None if unknown).
    `duplicated`: one row per original that is stored twice. `answered_not_ok`: results other than SEND_OK although the
    message is stored.
    """

    source: str | None
    sends: int | None = None
    sends_failed: int | None = None
    failed_but_stored: int | None = None
    lost: int | None = None
    stored_twice: int | None = None
    outcome_by_kind: dict[str, dict[str, int]] | None = None
    errors_by_kind: dict[str, int] | None = None
    kind_unknown: int = 0
    failed: pd.DataFrame = attrs.field(
        factory=lambda: pd.DataFrame(columns=pd.Index([*FAILED_COLUMNS, "originals", "brokers"]))
    )
    duplicated: pd.DataFrame = attrs.field(factory=pd.DataFrame)
    answered_not_ok: dict[str, int] = attrs.field(factory=dict)
    whole: bool = False
    """Whether the evidence would show a failed send of another kind: a ledger, the log of a producing client or of its
    application; not a paste."""

    @property
    def knows_kinds(self) -> bool:
        """Whether a kind of error that the evidence does not show did not happen."""
        return self.whole and not self.kind_unknown

    def of_kind(self, kind: str) -> pd.DataFrame:
        """Return the failed sends that are known to be of one kind."""
        return self.failed[self.failed["kind"] == kind]

    @property
    def lost_rows(self) -> pd.DataFrame:
        return self.failed[self.failed["originals"] == 0].drop(columns=["originals", "brokers"])


@fold(
    "identity string, key string, uniq_key string, kind string, outcome string, source string, file string, ts double, cost_ms bigint, "
    "attempts bigint, line bigint, other boolean",
    "send_failures", "ledger_failures", "clients_started", "events", "known_texts", "sends",
)  # fmt: skip
def failed_sends(facts: Facts) -> pd.DataFrame:
    """One row per failed send that send ledgers report, or, without any, the logs of applications and clients: identity (by which a send counts
    once), key, uniq_key, kind, outcome, ts (ms since 1970), cost_ms, attempts, source, file, line; other: a call of another sender than the
    ledger's, which counts among the errors only. At most 400,000.
    """
    entries = attempts.entries(facts)
    listed = facts.has("sends")
    told, calls = attempts.thrown(facts), attempts.calls(facts)
    if listed:
        rows = facts("ledger_failures").rename(columns={"ts_ms": "ts"}).astype({"ts": "float64"})
        rows, others = from_ledger(rows, told, calls)
    else:
        rows, others = from_logs(told, calls)
    rows = rows.iloc[:0] if entries is None else rows
    rows = rows.assign(identity=_identity(rows), other=False)
    others = others.reindex(columns=list(FAILED_COLUMNS)).assign(identity=None, other=True)
    every = pd.concat([each for each in (rows, others) if len(each)] or [rows], ignore_index=True)
    return every.astype(dict.fromkeys(("cost_ms", "attempts", "line"), "Int64") | {"ts": "float64"})


@memo
def ledger(facts: Facts) -> Ledger:
    """Return the ledger of losses and duplicates."""
    listed = facts.has("sends")
    answers = {row["outcome"]: row["n"] for row in facts.rows("ledger_answers")} if listed else {}
    count = sum(answers.values()) if listed else None
    entries = attempts.entries(facts)
    rows = facts("failed_sends")
    if entries is None or not (listed or len(rows) or attempts.has_producer_log(facts)):
        return Ledger(None, sends=count)
    failed = rows[~rows["other"]].drop(columns="other").reset_index(drop=True)
    unknown = int(failed["kind"].isna().sum())
    sources = set(entries["source"].dropna())
    known = Ledger(
        source="ledger" if listed else "logs", sends=count, sends_failed=int(failed["identity"].nunique()),
        errors_by_kind=None if unknown else attempts.counted(rows["kind"]), kind_unknown=unknown,
        whole=listed or attempts.has_producer_log(facts) or not sources.isdisjoint({"app", "client"}),
        failed=failed.drop(columns="identity").assign(originals=None, brokers=None),
        answered_not_ok={outcome: n for outcome, n in sorted(answers.items(), key=str) if outcome},
    )  # fmt: skip
    return _settled(facts, known, failed) if facts.has("messages") else known


def _identity(failed: pd.DataFrame) -> pd.Series:
    """Return by what failed sends count: their key, else their UNIQ_KEY, else each row for itself."""
    alone = pd.Series([f"{attempts.NO_ID}{n}" for n in range(len(failed))], index=failed.index, dtype=object)
    return failed["key"].fillna(failed["uniq_key"]).fillna(alone)


# --- from a ledger -----------------------------------------------------------------------------------------------------------


def from_ledger(rows: pd.DataFrame, told: pd.DataFrame, calls: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Add its kind to each failed row of a ledger; return these rows and the failed sends that only logs report.

    The kind is that of the final exception: as the row itself has it, else from the application's log about that key,
    else implied by the exception's class, else that of the last attempt in the client's log.
    """
    app_of = _by_word(told, set(rows["key"].dropna()) | set(rows["uniq_key"].dropna()))
    by_key, by_id = _index(calls, "key"), _index(calls, "uniq_key")
    last: dict[Any, str] = calls["kind"].to_dict()
    tried: dict[Any, int] = calls["attempts"].to_dict()
    final: dict[Any, str] = told["kind"].to_dict()
    kinds: list[str | None] = []
    tries: list[int | None] = []
    used: set[int] = set()
    for key, uniq_key, outcome in zip(rows["key"], rows["uniq_key"], rows["outcome"], strict=True):
        at = by_id.get(uniq_key, by_key.get(key))
        entry = app_of.get(key, app_of.get(uniq_key))
        tries.append(None if at is None else tried[at])
        if at is not None:
            used.add(at)
        kind = kind_said(outcome) or (None if entry is None else final[entry])
        kind = kind or ("CLIENT_TIMEOUT" if _TIMEOUT.search(outcome or "") else None)
        kinds.append(kind or (None if at is None else last[at]))
    failed = rows.assign(
        kind=pd.Series(kinds, index=rows.index, dtype=object), attempts=pd.Series(tries, index=rows.index, dtype=object)
    )
    failed["source"] = "ledger"
    # Calls of another sender: only where the ledger and the client's log are seen to share ids, else every call would
    # be counted twice.
    others = calls.drop(index=list(used)) if used else calls.iloc[0:0]
    return failed[list(FAILED_COLUMNS)], others


def kind_said(text: str | None) -> str | None:
    """Return the kind that a text itself names, None if it names none."""
    if not text:
        return None
    event = EVENTS["flow-control"]
    if any(needle in text for needle in event.needles) and (found := event.compiled.search(text)):
        return found["kind"] or "OTHER"
    if any(needle in text for slug in attempts.TIMEOUTS for needle in EVENTS[slug].needles):
        return "CLIENT_TIMEOUT"
    return "OTHER" if re.search(r"CODE: ?\d", text) else None


def _by_word(told: pd.DataFrame, wanted: set[str]) -> dict[str, int]:
    """Return {key: entry} for the last entry of an application that names one of the wanted keys."""
    return {word: at for at, said in zip(told.index, told["words"], strict=True) for word in said & wanted}


def _index(calls: pd.DataFrame, column: str) -> dict[str, int]:
    return {part: at for at, value in zip(calls.index, calls[column], strict=True) for part in parts(value)}


# --- from logs ---------------------------------------------------------------------------------------------------------------


def from_logs(told: pd.DataFrame, calls: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the failed sends that application and client logs report, each once; return them and no others.

    The two are matched by key or UNIQ_KEY. Entries without either may be the same sends: of each kind the longer list
    counts.
    """
    app_of = _by_word(
        told, {part for column in ("key", "uniq_key") for value in calls[column].dropna() for part in parts(value)}
    )
    matched: dict[int, int] = {}
    for at, key, uniq_key in zip(calls.index, calls["key"], calls["uniq_key"], strict=True):
        entry = next((app_of[part] for part in (*parts(key), uniq_key) if part in app_of), None)
        if entry is not None:
            matched[at] = entry
    final = told["kind"].to_dict()
    both = calls.loc[list(matched)].assign(kind=[final[entry] for entry in matched.values()], source="logs")
    app = told.drop(index=list(set(matched.values()))).assign(source="app", attempts=None)
    client = calls.drop(index=list(matched)).assign(source="client")
    named = app[app["key"].notna() | app["uniq_key"].notna()].drop_duplicates(["key", "uniq_key"], keep="last")
    loose = app[app["key"].isna() & app["uniq_key"].isna()]
    pieces = [both, named]
    for kind in attempts.KINDS:
        mine, theirs = loose[loose["kind"] == kind], client[client["kind"] == kind]
        # A client's entry names the message, an application's here does not: of these only what goes beyond the
        # client's.
        pieces += [theirs, mine.iloc[len(theirs) :]]
    failed = pd.concat([piece for piece in pieces if len(piece)] or [app], ignore_index=True).assign(
        outcome=None, cost_ms=None
    )
    return failed[list(FAILED_COLUMNS)], failed.iloc[0:0]


# --- what the commitlog says -------------------------------------------------------------------------------------------------


def _settled(facts: Facts, known: Ledger, failed: pd.DataFrame) -> Ledger:
    """Look up every failed send among the originals, and find what is stored more than once."""
    found = sent_copies(facts, failed)
    by_send = found.groupby("identity")
    counts = failed["identity"].map(by_send["offset_msg_id"].nunique()).astype("float64").fillna(0)
    named = failed["key"].notna() | failed["uniq_key"].notna()
    originals = counts.where(named & ((counts > 0) | covered(facts, failed)))
    failed = failed.assign(originals=originals, brokers=failed["identity"].map(by_send["store_host"].nunique()))
    each = failed.drop_duplicates("identity")
    certain = bool(each["originals"].notna().all())
    is_stored = each["originals"] > 0
    outcome = {
        kind: {"stored": int(is_stored[of_kind].sum()), "lost": int((~is_stored)[of_kind].sum())}
        for kind in attempts.KINDS
        if (of_kind := each["kind"] == kind).any()
    }
    twice = stored_twice(facts, failed, found, listed=known.source == "ledger")
    unsure = any(stretch["large"] for stretch in brokers.stretches(facts))
    return attrs.evolve(
        known, failed=failed.drop(columns="identity"), failed_but_stored=int(is_stored.sum()) if certain else None,
        lost=int((~is_stored).sum()) if certain else None,
        outcome_by_kind=outcome if certain and not known.kind_unknown else None,
        stored_twice=int(twice["key"].nunique()) or (None if unsure else 0), duplicated=twice,
    )  # fmt: skip


def parts(keys: Any) -> tuple[str, ...]:
    """Return the keys of a message as a whole and one by one: blanks separate them in KEYS."""
    return (keys, *keys.split()) if isinstance(keys, str) else ()


def covered(facts: Facts, failed: pd.DataFrame) -> pd.Series:
    """Return for each failed send whether the commitlogs at hand would contain it: all its brokers, at its time."""
    if failed.empty or (hosts := facts("store_hosts")).empty:
        return pd.Series(False, failed.index)
    # A store copied after the last line of the broker's logs cannot be told from one copied at that line.
    logs = [item for item in facts.zoned.items if item.kind == "log" and item.source in BROKER_SIDE]
    last = max([hosts["last_ms"].max(), *(item.last.timestamp() * 1000 for item in logs if item.last)])
    begins = hosts["first_offset"].min() == 0
    ts = failed["ts"]
    inside = ts.isna() | ((ts <= last) & (begins | (ts >= hosts["first_ms"].min())))
    named = attempts.attempts(facts)["broker"].nunique()
    return inside & ~_unseen(facts, failed) & (named <= max(len(hosts), 1))


def _unseen(facts: Facts, failed: pd.DataFrame) -> pd.Series:
    """Return for each failed send whether its message may have been written where the logs at hand have nothing."""
    # One damaged record among thousands does not leave open what became of every send around it.
    large = [each for each in brokers.stretches(facts) if each["large"]]
    # A ledger has the begin of a send, a log its failure; what a client gave up may be stored when the broker's stall ends.
    early = failed["ts"] - LONGEST_CALL * SECOND
    early = early.where(failed["source"] != "ledger", failed["ts"] - SECOND)
    late = failed["ts"] + failed["cost_ms"].fillna(0).astype("float64") + LONGEST_STALL * SECOND
    hidden = failed["ts"].isna() & bool(large)
    for each in large:
        begin, end = each["after_ms"], each["before_ms"]  # null where nothing shows it
        hidden |= (begin is None or late >= begin) & (end is None or early <= end)
    return hidden


def sent_copies(facts: Facts, failed: pd.DataFrame) -> pd.DataFrame:
    """Return the originals of the failed sends, as the table `sent_copies` has them."""
    if failed["key"].isna().all() and failed["uniq_key"].isna().all():
        return pd.DataFrame(columns=pd.Index(["identity", *COPY_COLUMNS, *BODY]))
    return facts("sent_copies")


def stored_twice(facts: Facts, failed: pd.DataFrame, sent: pd.DataFrame, *, listed: bool) -> pd.DataFrame:
    """Return the originals that share key and body with another one, one row each in order of key and store time
    (`COPY_COLUMNS`).

    With a ledger its keys count; without one, those of failed sends (`sent`) and those whose UNIQ_KEY is stored twice.
    """
    if listed:
        rows = facts("ledger_copies")
        rows = rows[rows.duplicated(["key", *BODY], keep=False)]
    else:
        again = sent[sent.duplicated(["identity", *BODY], keep=False)]
        both = [repeated(facts), again.drop(columns="identity")]
        # Columns of a frame without rows have no types to agree on.
        rows = pd.concat([each for each in both if len(each)] or both[:1]).drop_duplicates("offset_msg_id")
        rows = rows[rows["key"].notna()]
    same = rows.groupby(["key", *BODY], sort=False)
    rows = rows.assign(
        copies=same["offset_msg_id"].transform("nunique"),
        brokers=same["store_host"].transform("nunique"),
        kind=rows["key"].map(failed.dropna(subset="key").set_index("key")["kind"].to_dict()),
    )
    return rows.sort_values(["key", "store_timestamp", "offset_msg_id"], ignore_index=True)[list(COPY_COLUMNS)]


def repeated(facts: Facts) -> pd.DataFrame:
    """Return the originals whose UNIQ_KEY is stored more than once in one real topic with one body and the same
    properties of the application, as a client's retry leaves them (the table `repeated_originals`).

    Without transactional records (a late commit repeats them for another reason) and those born further apart than a
    call can last.
    """
    rows = facts("repeated_originals").drop_duplicates("offset_msg_id")
    columns = ["real_topic", "uniq_key", *BODY, "own_names"]
    rows = rows.assign(own_names=rows.pop("properties_text").map(_own_names))
    rows = rows[rows.duplicated(columns, keep=False)]
    born = rows.groupby(columns)["born_timestamp"]
    close = born.transform("max") - born.transform("min") <= pd.Timedelta(LONGEST_CALL, unit="s")
    return rows[close].drop(columns="own_names").reset_index(drop=True)


def _own_names(text: str | None) -> str:
    """Return the names of the properties that RocketMQ does not know, in order of name: a copy made by RocketMQ of which
    one bit is wrong seems to be an original, with a name that the other record does not have.
    """
    names_ = {pair.split("\x01", 1)[0] for pair in (text or "").split("\x02")}
    return "\x02".join(sorted(names_ - names.PROPERTIES.keys()))


def copy_refs(copies: pd.DataFrame) -> tuple[Ref, ...]:
    """Quote the first four records that are stored twice."""
    return tuple(
        refs.with_times(r, f"storeHost={r.store_host}", f"KEYS={r.key}", f"UNIQ_KEY={r.uniq_key}")
        for r in copies.head(4).itertuples()
    )
