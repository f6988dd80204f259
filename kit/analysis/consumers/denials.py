"""Whom access control refused, and why."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal

import attrs
from pyspark.sql import functions as F  # noqa: N812

from kit.analysis import refs as places
from kit.analysis.sends import sends
from kit.case.memoize import per_case
from kit.rocketmq.log_layouts import BROKER_SIDE

if TYPE_CHECKING:
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
    if row["unknown_key"] or "is not found" in reason or " not found." in reason:
        return "unknown-user", row["unknown_key"] or reason
    if row["resource"] or "no permission" in reason:
        return "no-right", f"{row['resource_type']} {row['resource']}" if row["resource"] else reason
    return "other", reason


@per_case
def every(case: Case) -> tuple[Denial, ...]:
    """Return the refusals by reason."""
    rows = (
        case.event("access-denied")
        .groupBy("reason", "access_key", "unknown_key", "resource_type", "resource")
        .agg(F.count("*").alias("n"))
        .limit(MOST)
        .collect()
    )
    names: dict[Why, set[str]] = defaultdict(set)
    counts: dict[Why, int] = defaultdict(int)
    for row in rows:
        why, name = _why(row.asDict())
        names[why].add(name)
        counts[why] += row.n
    return tuple(Denial(why, tuple(sorted(n for n in names[why] if n)), counts[why]) for why in ORDER if why in counts)


def refs(case: Case, found: tuple[Denial, ...]) -> tuple[Ref, ...]:
    """Quote the earliest refusal of each reason as a client saw it, else the broker: the line that names the reason."""
    entries = case.event("access-denied")
    own = entries.where(~F.coalesce(F.col("source").isin(*BROKER_SIDE), F.lit(False)))
    entries = entries if own.isEmpty() else own
    conditions = {
        "wrong-secret": F.contains("reason", F.lit("ignature")), "unknown-user": F.contains("reason", F.lit("No acl config")) | F.contains("reason", F.lit("not found")),
        "no-right": F.contains("reason", F.lit("ermission for")) | F.contains("reason", F.lit("no permission")),
    }  # fmt: skip
    quoted: list[Ref] = []
    for denial in found:
        mine = entries.where(conditions[denial.why]) if denial.why in conditions else entries
        within = {"wrong-secret": "ignature failed", "unknown-user": "No acl config", "no-right": "ermission for"}.get(
            denial.why, NEEDLE
        )
        quoted += places.lines(case, mine, 1, within=within)
    return tuple(quoted)


def broker_refs(case: Case) -> tuple[Ref, ...]:
    """Quote the earliest refusal in the broker's own logs."""
    return places.lines(
        case, case.event("access-denied").where(F.col("source").isin(*BROKER_SIDE)), 1, within="AclException"
    )


def failed_sends(case: Case) -> int | None:
    """Return how many sends access control refused: by the ledger's rows in whose client's folder it did, else by application logs; None where unknown."""
    from pathlib import PurePosixPath

    ledger = sends.ledger(case)
    if ledger.source is None:
        return None
    folders = {
        str(PurePosixPath(row.file).parent) for row in case.event("access-denied").select("file").distinct().collect()
    }
    mine = ledger.failed[[str(PurePosixPath(str(file)).parent) in folders for file in ledger.failed["file"]]]
    mine = mine[~mine["kind"].isin(["CLIENT_TIMEOUT"])]
    return int(
        mine["key"].fillna(mine["uniq_key"]).fillna(mine["file"].astype(str) + mine["line"].astype(str)).nunique()
    )
