"""The limits in force: what a broker compares with maxMessageSize, and how each is known."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from kit.analysis import brokers, refs, setup
from kit.formats.printed_times import utc
from kit.formats.values import integer
from kit.inventory.references import Ref
from kit.rocketmq import size
from kit.rocketmq.versions import NEWEST, OLDEST, Version, rule
from kit.tables.facts import Facts, memo


class Limits(NamedTuple):
    """What the broker compares. `limit`: bytes of maxMessageSize, None if neither the evidence nor a default gives it;
    `known` as in `setup.setting`, or `printed` if a refusal prints it. `how`: `total`, `body`, `body+64k`, None if the
    release is unknown; `version`: the release it was derived from, None if unknown.
    """

    limit: int | None
    where: Ref | None
    known: str | None
    how: str | None
    version: str | None
    check_max: int
    dledger: bool
    raw_put_backs: bool

    @property
    def properties(self) -> int:
        return int(rule("propertiesMax", OLDEST))


def limits(facts: Facts, owner: str | None = None) -> Limits:
    """Return the limits in force at a broker (named as in `brokers.half_hosts`), computed once per broker; without one
    at the broker whose half messages loop, or the only one that has any.

    If several brokers are possible, the oldest release counts: it is the strictest. Of a broker that was upgraded, the
    release that refused counts, or else the one it runs now.
    """
    meant = owner or _concerned(facts)
    return facts.once(f"size limits {meant}", lambda: _limits(facts, meant))


@memo
def _concerned(facts: Facts) -> str | None:
    """Return the broker whose half messages the log says were refused, else the only one with half messages."""
    known = brokers.half_hosts(facts) if facts.has("messages") else {}
    refused = facts("size_refusals").query("event == 'put-back-failed'")
    hosts = refused["msg_id"].dropna().str.upper().str[:-16]
    meant = {known[host] for host in hosts if host in known} or set(known.values())
    return next(iter(meant)) if len(meant) == 1 else None


def _limits(facts: Facts, owner: str | None) -> Limits:
    hosts = brokers.half_addresses(facts, owner) if owner else setup.ANY
    enabled = setup.setting(facts, "enableDLegerCommitLog", hosts).value or ""
    dledger = bool(facts.files.of_kind("dledger")) or enabled.lower() == "true"
    refused = facts("size_refusals")
    others = [file for file in refused["file"].unique() if brokers.is_of(facts, hosts, file) is False]
    refused = refused[~refused["file"].isin(others)]
    times = refused["first"].dropna()
    known = setup.releases_at(facts, hosts, None if times.empty else utc(times.iloc[-1].to_pydatetime()))
    # Without a named one, a release that writes half records like those of this broker.
    writers = facts.rows("half_writers") if not known and facts.has("messages") else []
    known = known or tuple(row["release"] for row in writers if owner in (None, row["broker"]))[:1]
    version = Version.maybe(known[0]) if known else None
    setting = setup.setting(facts, "maxMessageSize", hosts)
    configured = integer(setting.value)
    how: str | None = size.size_rule(version, dledger=dledger) if version else None
    how = how or _how_printed(refused, configured if setting.known == "evidence" else None)
    limit, where, origin = configured, setting.where, None if configured is None else str(setting.known)
    printed, at = _printed(facts, refused)
    alike = configured is not None and configured in (printed, (printed or 0) - size.TOTAL_SLACK)
    if printed is not None and not (alike and setting.known == "evidence"):
        # What a refusal prints is known, even where the default is the same number.
        slack = size.TOTAL_SLACK if how == "body+64k" else 0
        limit, where, origin = configured if alike else printed - slack, at, "printed"
    check_max = integer(setup.setting(facts, "transactionCheckMax", hosts).value)
    return Limits(
        limit, where, origin, how, str(version) if version else None,
        rule("transactionCheckMax", NEWEST) if check_max is None else check_max, dledger,
        bool(rule("decompressesOnPutBack", version)),
    )  # fmt: skip


def _how_printed(refused: pd.DataFrame, configured: int | None) -> str | None:
    """Return what the broker measures, as its refusals show it, if nothing names the release."""
    if (refused["event"] == "message-body-size-exceeded").any():
        return "body"
    of_records = refused[refused["event"] == "message-size-exceeded"]
    return "total" if configured is not None and (of_records["limit"] == configured).any() else None


def _printed(facts: Facts, refused: pd.DataFrame) -> tuple[int | None, Ref | None]:
    """Return the limit that most of these refusals print, and the first line that prints it."""
    rows = refused[refused["limit"].notna()]
    if rows.empty:
        return None, None
    # The text of a refused body prints the limit itself in every release.
    of_body = rows["event"] == "message-body-size-exceeded"
    rows = rows[of_body] if of_body.any() else rows[rows["event"] == rows["event"].iloc[0]]
    limit = int(rows.groupby("limit")["count"].sum().idxmax())
    return limit, refs.lines(facts, rows[rows["limit"] == limit], 1)[0]
