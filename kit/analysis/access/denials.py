"""Refusals by access control: whose, and why."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal

import attrs

from kit.analysis import refs as places
from kit.analysis.sends import sends
from kit.case import log_events, statements
from kit.case.memoize import per_case
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
    import pandas as pd

    from kit.case.case import Case
    from kit.inventory.references import Ref

Why = Literal["wrong-secret", "unknown-user", "no-right", "other"]
ORDER: Final[tuple[Why, ...]] = ("wrong-secret", "unknown-user", "no-right", "other")
NEEDLE: Final = "Exception: "
MOST: Final = 5_000


@attrs.frozen
class Denial:
    """One kind of refusal. `names`: accounts or resources; `count`: entries; `entry`: (file, line) of the earliest."""

    why: Why
    names: tuple[str, ...]
    count: int


def _why(row: dict[str, str | None]) -> tuple[Why, str]:
    reason = row["reason"] or ""
    if row["access_key"] or "ignature" in reason:
        return "wrong-secret", row["access_key"] or ""
    if row["unknown_key"] or row["unknown_user"] or " not found." in reason:
        return "unknown-user", row["unknown_key"] or row["unknown_user"] or reason
    if row["right"]:
        return "no-right", f"{(row['kind'] or '').lower()} {row['right']} ({row['user']})"
    if row["resource"] or "no permission" in reason:
        return "no-right", f"{row['resource_type']} {row['resource']}" if row["resource"] else reason
    return "other", reason


@per_case
def every(case: Case) -> tuple[Denial, ...]:
    """Return the refusals by reason."""
    values = [
        "reason",
        "access_key",
        "unknown_key",
        "unknown_user",
        "resource_type",
        "resource",
        "user",
        "kind",
        "right",
    ]
    rows = statements.counted(case, ("access-denied",), by=values).groupby(values, dropna=False)["n"].sum().head(MOST)
    names: dict[Why, set[str]] = defaultdict(set)
    counts: dict[Why, int] = defaultdict(int)
    for row in rows.reset_index().to_dict("records"):
        why, name = _why({value: row[value] if isinstance(row[value], str) else None for value in values})
        names[why].add(name)
        counts[why] += int(row["n"])
    return tuple(Denial(why, tuple(sorted(n for n in names[why] if n)), counts[why]) for why in ORDER if why in counts)


def refs(case: Case, found: tuple[Denial, ...]) -> tuple[Ref, ...]:
    """Quote the earliest refusal of each reason as a client saw it, else the broker: the line that names the reason."""
    entries = _entries(case)
    own = entries[~entries["source"].isin(BROKER_SIDE)]
    entries = entries if own.empty else own
    words = {
        "wrong-secret": ("ignature",), "unknown-user": ("No acl config", "not found"), "no-right": ("ermission for", "no permission"),
    }  # fmt: skip
    quoted: list[Ref] = []
    for denial in found:
        reason = entries["reason"].fillna("")
        said = "|".join(map(re.escape, words.get(denial.why, ("",))))
        of_denial = entries[reason.astype(str).str.contains(said)]
        within = {"wrong-secret": "ignature failed", "no-right": "ermission "}.get(denial.why, NEEDLE)
        quoted += places.earliest(case, of_denial, 1, within=within)
    return tuple(quoted)


def broker_refs(case: Case) -> tuple[Ref, ...]:
    """Quote the earliest refusal in the broker's own logs."""
    entries = _entries(case)
    return places.earliest(case, entries[entries["source"].isin(BROKER_SIDE)], 1, within="AclException")


@per_case
def _entries(case: Case) -> pd.DataFrame:
    return log_events.event(case, "access-denied", ["source", *places.QUOTED])


def failed_sends(case: Case) -> int | None:
    """Return how many sends access control refused: the rows of ledgers in whose client's folder it refused, else by
    application logs; None if unknown.
    """
    from pathlib import PurePosixPath

    ledger = sends.ledger(case)
    if ledger.source is None:
        return None
    folders = {str(PurePosixPath(file).parent) for file, _ in places.seen(case, "access-denied").places}
    inside = ledger.failed["file"].map(lambda file: str(PurePosixPath(str(file)).parent) in folders)
    failed = ledger.failed[inside.astype(bool)]
    failed = failed[~failed["kind"].isin(["CLIENT_TIMEOUT"])]
    return int(
        failed["key"]
        .fillna(failed["uniq_key"])
        .fillna(failed["file"].astype(str) + failed["line"].astype(str))
        .nunique()
    )
