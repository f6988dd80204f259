"""Record sizes: what a broker compares with maxMessageSize and how each limit is known; the records it refused to write
for their size, according to its logs and its clients: put-backs, sends, commits, deliveries.

A refused send is in store.log, in the client's log and often in the application's; it counts once.
"""

from typing import Any, Final

import attrs
import pandas as pd

from kit.analysis import brokers, refs, setup
from kit.analysis.sends import attempts
from kit.formats.printed_times import utc
from kit.formats.values import integer
from kit.inventory.model import Ref
from kit.rocketmq import size
from kit.rocketmq.versions import NEWEST, OLDEST, Version, rule
from kit.tables.facts import Facts, memo
from kit.tables.queries import fold

SIZE: Final = ("message-size-exceeded", "message-body-size-exceeded", "properties-too-long")
"""What the store prints when it refuses a record for its size."""

REJECTS: Final = ("message-illegal", "client-body-too-large")
"""What senders get: the broker's code 13, and their own client's limit."""


@attrs.frozen
class Limits:
    """What a broker compares, in bytes (`size_limits`). `where`: what says max_size; `known` as in `setup.setting`, or
    `printed` if a refusal prints it; `version`: the release that the evidence names.
    """

    broker: str | None
    how: str | None
    max_size: int | None
    assumed: bool
    total_max: int | None
    body_max: int | None
    dledger_max: int | None
    properties_max: int
    check_max: Any
    raw_put_backs: bool
    where: Ref | None
    known: str | None
    version: str | None


@memo
def limits(facts: Facts, broker: str | None = None) -> Limits:
    """Return the limits at a broker of half records; without one, at that whose halves loop, or the only one.

    If several brokers are possible, the oldest release counts: it is the strictest. Of a broker that was upgraded, the
    release that refused counts, or else the one it runs now.
    """
    refused, owner = facts("size_refusals"), broker
    if owner is None:  # the broker whose half messages the log says were refused, else the only one with half messages
        by_host = {row["host"]: row["broker"] for row in facts.rows("store_brokers") if row["halves"]}
        ids = refused.loc[refused["event"] == "put-back-failed", "msg_id"].dropna()
        meant = {by_host[host] for host in ids.str.upper().str[:-16] if host in by_host} or set(by_host.values())
        owner = next(iter(meant)) if len(meant) == 1 else None
    hosts: brokers.Hosts = brokers.half_addresses(facts, owner) if owner else frozenset()
    enabled = setup.setting(facts, "enableDLegerCommitLog", hosts).value or ""
    dledger = bool(facts.files.of_kind("dledger")) or enabled.lower() == "true"
    others = [file for file in refused["file"].unique() if brokers.is_of(facts, hosts, file) is False]
    refused = refused[~refused["file"].isin(others)]
    times = refused["first"].dropna()
    named = setup.releases_at(facts, hosts, None if times.empty else utc(times.iloc[-1].to_pydatetime()))
    # Without a named one, a release that writes half records like those of this broker.
    writers = facts.rows("half_writers") if not named and facts.has("messages") else []
    known = named or tuple(row["release"] for row in writers if owner in (None, row["broker"]))[:1]
    version = Version.maybe(known[0]) if known else None
    setting = setup.setting(facts, "maxMessageSize", hosts)
    configured = integer(setting.value)
    how: str | None = size.size_rule(version, dledger=dledger) if version else None
    if how is None:  # nothing names the release: what it measures is what its refusals show
        sized = refused[(refused["event"] == "message-size-exceeded") & (refused["limit"] == (configured or 0))]
        by_limit = "total" if setting.known == "evidence" and len(sized) else None
        how = "body" if (refused["event"] == "message-body-size-exceeded").any() else by_limit
    limit, where, origin = configured, setting.where, None if configured is None else str(setting.known)
    slack = size.TOTAL_SLACK if how == "body+64k" else 0
    printed, at = _printed(facts, refused, slack)
    alike = configured is not None and configured in (printed, (printed or 0) - size.TOTAL_SLACK)
    if printed is not None and not (alike and setting.known == "evidence"):
        # What a refusal prints is known, even where the default is the same number.
        limit, where, origin = configured if alike else printed, at, "printed"
    check_max = integer(setup.setting(facts, "transactionCheckMax", hosts).value)
    return Limits(
        broker=broker, how=how, max_size=limit, assumed=origin == "default",
        total_max=None if limit is None or how == "body" else limit + slack,
        body_max=limit if how in ("body", "body+64k") else None,
        dledger_max=size.DLEDGER_MAX_RECORD if dledger else None, properties_max=int(rule("propertiesMax", OLDEST)),
        check_max=rule("transactionCheckMax", NEWEST) if check_max is None else check_max,
        raw_put_backs=bool(rule("decompressesOnPutBack", version)),
        where=where, known=origin, version=str(version) if named else None,
    )  # fmt: skip


def _printed(facts: Facts, refused: pd.DataFrame, slack: int) -> tuple[int | None, Ref | None]:
    """Return the limit most refusals show, and the first line with it: of a body as it is, of a record with `slack`."""
    rows = refused[refused["limit"].notna()]
    if rows.empty:
        return None, None
    of_body = rows["event"] == "message-body-size-exceeded"
    rows = rows[of_body] if of_body.any() else rows[rows["event"] == rows["event"].iloc[0]]
    limit = int(rows.groupby("limit")["count"].sum().idxmax())
    return limit - (0 if of_body.any() else slack), refs.lines(facts, rows[rows["limit"] == limit], 1)[0]


# --- refusals --------------------------------------------------------------------------------------------------------


def for_size(rows: pd.DataFrame, writer: str) -> pd.DataFrame:
    """Return the rows of the table `size_refusals` in which the store names a size, of one writer."""
    return rows[rows["event"].isin(SIZE) & (rows["writer"] == writer)]


# --- sends ------------------------------------------------------------------------------------------------------------


@attrs.frozen
class Rejects:
    """Sends refused at once for their size. Counts are None if no log would show them. `by_broker`: answered with code
    13; `by_client`: the client's own limit, before anything was sent; `largest`: bytes of the largest refused record;
    `timed`: the files of `window`; `sized`: store or client names the size (13 may be a name or properties).
    """

    by_broker: int | None
    by_client: int | None
    largest: int | None
    window: Any
    timed: tuple[str, ...]
    broker_refs: tuple[Ref, ...]
    client_refs: tuple[Ref, ...]
    sized: bool


@memo
def rejects(facts: Facts) -> Rejects:
    """Return the sends refused at once for their size, each once however many logs report it."""
    producer = attempts.has_producer_log(facts)
    store, rows = for_size(facts("size_refusals"), "send"), facts("size_rejects")
    answers, own = (rows[rows["event"] == event] for event in REJECTS)
    if store.empty and refs.seen(facts, "topic-too-long") and facts.has_source("store"):
        # Brokers up to 4.6.0 answer a topic too long with the same words.
        answers = answers.iloc[0:0]
    by_broker, by_client = max(int(store["count"].sum()), _sends(answers)), _sends(own)
    reports = (store, answers[answers["attempt"]], answers[~answers["attempt"]])
    times = pd.concat([each[["file", "first", "last"]] for each in (store, answers, own)]).dropna()
    known = times[~times["file"].isin(refs.local_files(facts))]
    times = times if known.empty else known
    return Rejects(
        by_broker=by_broker if by_broker or producer or facts.has_source("store") else None,
        by_client=by_client if by_client or producer or facts.has_source("app") else None,
        largest=int(store["total"].max()) if store["total"].notna().any() else None,
        window=refs.span(times["first"], times["last"]), timed=tuple(times["file"]),
        broker_refs=tuple(ref for each in reports for ref in refs.lines(facts, each, 1)),
        client_refs=refs.lines(facts, own), sized=bool(by_client or len(store)),
    )  # fmt: skip


def _sends(answers: pd.DataFrame) -> int:
    """Count the sends that these entries report.

    Code 13 is never retried, so each attempt in a client's log is a send. An application prints its own; if several of
    its loggers print one exception in a thread and second, the one that prints most counts. Both kinds of log report
    the same sends: the longer list counts.
    """
    final = answers[~answers["attempt"]]
    by_logger = final.assign(second=final["first"].dt.floor("s"), thread=final["thread"].fillna(""))
    same = by_logger.groupby(["file", "thread", "second"], dropna=False)["count"]
    return max(int(answers.loc[answers["attempt"], "count"].sum()), int(same.max().sum()))


@fold(
    "broker string, how string, max_size bigint, assumed boolean, total_max bigint, body_max bigint, "
    "dledger_max bigint, properties_max bigint, check_max bigint, raw_put_backs boolean",
    "store_brokers", "half_writers", "size_refusals", "settings", "admin_names", "broker_starts", "store_extent",
)  # fmt: skip
def size_limits(facts: Facts) -> list[dict[str, Any]]:
    """One row per broker with half records, and one (broker null) for the broker whose half messages are refused, or
    the only one: what it compares with maxMessageSize.

    how: total, body, body+64k, null if unknown (then as total); max_size: bytes of maxMessageSize, null if unknown;
    assumed: it is the default, for nothing says it; total_max, body_max, dledger_max, properties_max: most bytes of a
    record, its stored body, a DLedger entry's record, the property string, null where nothing is compared; check_max:
    transactionCheckMax; raw_put_backs: a put-back writes a compressed body uncompressed (up to 4.5.2).

    Source: store/CommitLog, store/MessageExtEncoder, store/dledger/DLedgerCommitLog.
    """
    halves = {row["broker"] for row in facts.rows("store_brokers") if row["halves"]}
    return [attrs.asdict(limits(facts, broker), recurse=False) for broker in (None, *sorted(halves))]


@fold("file string, physical_offset bigint, raw_size bigint", "size_limits", "stored_messages")
def raw_half_bodies(facts: Facts) -> list[dict[str, Any]]:
    """One row per half record with a compressed body that a put-back writes uncompressed: file, physical_offset,
    raw_size (bytes; undecodable bodies are left out). Brokers of 4.3.0 to 4.5.2 only (`size_limits.raw_put_backs`).

    Source: broker/transaction/queue/TransactionalMessageBridge.renewHalfMessageInner.
    """
    raw = any(row["raw_put_backs"] and row["broker"] for row in facts.rows("size_limits"))
    return facts.answers("unpacked_halves") if raw and facts.answers("packed_halves")[0]["n"] else []
