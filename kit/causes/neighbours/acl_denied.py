"""acl-denied: the broker's access control refuses a client: a wrong secret, an unknown user, a missing right.

Secrets are never quoted: configuration files are not (reference: operators' incidents §7).
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

import pandas as pd

from kit.analysis import refs, setup
from kit.analysis.access import reach
from kit.analysis.sends import sends
from kit.causes.declared import Observed
from kit.causes.texts import texts_of
from kit.inventory.references import Ref
from kit.rocketmq.log_layouts import BROKER_SIDE
from kit.tables.facts import Facts

TEXTS: Final = texts_of(__name__)
QUOTED: Final = {
    "wrong-secret": ("ignature", "ignature failed"),
    "unknown-user": ("No acl config|not found", "Exception: "),
    "no-right": ("ermission for|no permission", "ermission "),
    "other": ("", "Exception: "),
}
"""Of each reason what a refusal that is quoted names, and what is in the line of it."""


def observe(facts: Facts) -> Observed:
    """Count whom access control refused, and why."""
    seen = refs.seen(facts, "access-denied")
    if not seen:
        return Observed({"looked": reach.client_logs(facts) or sends.ledger(facts).knows_kinds, "reasons": {}})
    entries = facts("denials")
    every = _by_reason(facts.rows("denials"))
    reasons = {why: names for why, (names, _) in every.items()}
    by_broker = entries["source"].isin(BROKER_SIDE)
    own = entries if by_broker.all() else entries[~by_broker]
    alone, setting = refs.seen(facts, "no-consumer-list"), setup.setting(facts, "aclEnable")
    return Observed(
        {
            "denied": seen.count,
            "reasons": reasons,
            "failed_sends": _failed_sends(facts),
            "words": [
                TEXTS.say("reason", reason=TEXTS[f"words-{why}"], names=names, count=count)
                for why, (names, count) in every.items()
            ],
            "in_broker": sum(refs.count(facts, "access-denied", s) for s in ("remoting", "broker", "broker_default")),
            "no_list": alone.count,
            "acl_on": setting.value == "true" and setting.where is not None,
            **{why: names or " " for why, names in reasons.items()},
        },
        {
            "denied": [ref for why in every for ref in _quote(facts, own, why)],
            "in-broker-log": refs.earliest(facts, entries[by_broker], 1, within="AclException"),
            "no-consumer-list": refs.quote(facts, alone, 1),
            "acl-on": (setting.where,) if setting.where else (),
        },
        (seen.first, seen.last) if seen.first and seen.last else None,
        actors=[name for names in reasons.values() for name in names],
    )


def _by_reason(rows: list[dict[str, Any]]) -> dict[str, tuple[list[str], int]]:
    """Return {reason: (accounts or resources, entries)}, in the order of `QUOTED`."""
    names: dict[str, set[str]] = {why: set() for why in QUOTED}
    counts = dict.fromkeys(QUOTED, 0)
    for row in rows:
        why, name = _why(row)
        names[why].add(name)
        counts[why] += row["n"]
    return {why: (sorted(names[why] - {""}), counts[why]) for why in QUOTED if counts[why]}


def _why(row: dict[str, Any]) -> tuple[str, str]:
    reason = row["reason"] or ""
    if row["access_key"] or "ignature" in reason:
        return "wrong-secret", row["access_key"] or ""
    if row["unknown_key"] or row["unknown_user"] or " not found." in reason:
        return "unknown-user", row["unknown_key"] or row["unknown_user"] or reason
    if row["permission"]:
        return "no-right", f"{(row['kind'] or '').lower()} {row['permission']} ({row['user']})"
    if row["resource"] or "no permission" in reason:
        return "no-right", f"{row['resource_type']} {row['resource']}" if row["resource"] else reason
    return "other", reason


def _quote(facts: Facts, entries: pd.DataFrame, why: str) -> tuple[Ref, ...]:
    words, within = QUOTED[why]
    return refs.earliest(facts, entries[entries["reason"].fillna("").str.contains(words)], 1, within=within)


def _failed_sends(facts: Facts) -> int | None:
    """Return how many sends access control refused; None if unknown."""
    ledger = sends.ledger(facts)
    if ledger.source is None:
        return None
    folders = {str(PurePosixPath(file).parent) for file, _ in refs.seen(facts, "access-denied").places}
    inside = ledger.failed["file"].map(lambda file: str(PurePosixPath(str(file)).parent) in folders)
    failed = ledger.failed[inside.astype(bool) & (ledger.failed["kind"] != "CLIENT_TIMEOUT")]
    place = failed["file"].astype(str) + failed["line"].astype(str)
    return int(failed["key"].fillna(failed["uniq_key"]).fillna(place).nunique())
