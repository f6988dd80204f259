"""The path of every transaction (local answer, checks, end, consumer), how many took each, and the records of a few examples."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

if TYPE_CHECKING:
    from kit.case.case import Case

ORDER: Final = {"half": 0, "check": 1, "commit": 3, "op": 4, "discard": 5, "retry": 6, "dead letter": 7, "stored": 0}
"""What follows what within one second; answers are at 2, behind the check that asked and before what they cause."""
TIMELINE: Final = ("path", "uniq_key", "key", "stage", "time", "seconds", "file", "physical_offset", "line", "topic")


def paths(case: Case) -> pd.DataFrame:
    """Return how many transactions took each path, most common first: columns of `transaction_paths`, and path (one line)."""
    frame = case.facts("transaction_paths")
    frame["path"] = [describe(row) for row in case.fact_rows("transaction_paths")]
    return frame


def describe(row: dict[str, Any]) -> str:
    """Return a path as one line in RocketMQ's own terms."""
    parts = ["half", str(row["local"])]
    if row["checks"]:
        parts.append(f"check ×{int(row['checks'])} {row['last_check'] or '?'}")
    parts.append(str(row["state"]).replace("_", " ") + (" ×2" if row["commits"] == 2 else ""))
    if row["consumer"]:
        parts.append(str(row["consumer"]))
    return " → ".join(parts)


def flow(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the paths as flows between stages: source, target, count (transactions). `frame`: from `paths`."""
    counts: dict[tuple[str, str], int] = {}
    for row in frame.to_dict("records"):
        end = f"{row['state']} twice" if row["commits"] == 2 else str(row["state"])
        stages = ["half", f"answer {row['local']}", *(["check"] if row["checks"] else []), end]
        stages += [str(row["consumer"])] if row["consumer"] else []
        for pair in pairwise(stages):
            counts[pair] = counts.get(pair, 0) + int(row["transactions"])
    return pd.DataFrame([(*pair, n) for pair, n in counts.items()], columns=["source", "target", "count"])


def timeline(case: Case) -> pd.DataFrame:
    """Return the records and answers of the transactions in `transaction_examples`, by path: columns `TIMELINE`, seconds since the first half record."""
    named = {row["uniq_key"]: describe(row) for row in case.fact_rows("transaction_examples")}
    places = {path: n for n, path in enumerate(dict.fromkeys(named.values()))}
    rows = case.facts("transaction_timeline")
    rows["path"] = rows["uniq_key"].map(named)
    start = rows[rows["stage"] == "half"].groupby("uniq_key")["time"].min()
    rows["seconds"] = (rows["time"] - rows["uniq_key"].map(start)).dt.total_seconds().round(3).clip(lower=0)
    rows["key"] = rows["uniq_key"].map(rows.dropna(subset=["key"]).groupby("uniq_key")["key"].first())
    # The broker's log knows whole seconds only: within one, things are in the order in which they happen.
    rows = rows.assign(
        place=rows["path"].map(places),
        second=rows["time"].dt.floor("s"),
        rank=rows["stage"].map(lambda stage: ORDER.get(stage, 2)),
    )
    order = ["place", "uniq_key", "second", "rank", "time"]
    return rows.sort_values(order, kind="stable", ignore_index=True)[list(TIMELINE)]
