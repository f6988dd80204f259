"""The path of every transaction (local answer, checks, end, consumer), how many took each, and the records of a few
examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from kit.analysis.transactions import answers, owners, transactions
from kit.case import columnar, scan
from kit.case.memoize import once
from kit.formats.commitlog.strings import hashed
from kit.rocketmq import names

if TYPE_CHECKING:
    import pyarrow.compute as pc

    from kit.case.case import Case

STEPS: Final = ("local", "checks", "last_check", "state", "commits", "consumer")
ORDER: Final = {"half": 0, "check": 1, "commit": 3, "op": 4, "discard": 5, "retry": 6, "dead letter": 7, "stored": 0}
"""What follows what within one second; answers are at 2, behind the check that asked and before what they cause."""
MOST_PATHS: Final = 200
TIMELINE_ROWS: Final = 4_000
_READ: Final = (
    "uniq_key",
    "keys",
    "store_timestamp",
    "file",
    "physical_offset",
    "topic",
    "sys_flag",
    owners.TARGET,
    *transactions.RENEWED,
)


def by_transaction(case: Case, where: pc.Expression | None = None) -> pd.DataFrame:
    """Return every transaction (that `where` keeps) with the columns of its path.

    local: what the producer answered by itself (`COMMIT`, `ROLLBACK`, `UNKNOWN`, `exception`, `none`: no known answer)
    · checks (int) · last_check (`COMMIT`, `ROLLBACK`, `UNKNOWN`, null: no answer seen) · state · commits (2: twice or
    more) · consumer (`dead letter`, `retried`, null).
    """
    mine = transactions.transactions(case, where)
    found = answers.per_transaction(case)
    columns = ["first_said", "first_exception", "last_check"]
    said = found[columns] if found is not None else pd.DataFrame(columns=columns, dtype=object)
    mine = mine.join(said, on="uniq_key")
    rolled, of_original = mine["state"] == "rolled_back", mine["op_half"] == mine["half_offset"]
    checks = mine["check_times"].fillna(0).astype(int)
    local = columnar.choose(
        # An op record on the original without a commit: the producer's own rollback, or its answer to an unlogged
        # check.
        [mine["first_exception"].eq(True), mine["first_said"].notna(), mine["of_original"], rolled & of_original],
        ["exception", mine["first_said"], "COMMIT", "ROLLBACK"],
        "none",
    )
    ended = columnar.choose([mine["of_copy"], rolled & ~of_original], ["COMMIT", "ROLLBACK"], mine["last_check"])
    consumer = columnar.choose([mine["dead"], mine["reconsumed"] > 0], ["dead letter", "retried"], None)
    last = columnar.none_for_null(pd.Series(ended, mine.index, object).where(checks > 0))
    return mine[["uniq_key", "keys", "producer_group", "half_time", "state"]].assign(
        local=local, checks=checks, last_check=last, commits=mine["commits"].clip(upper=2), consumer=consumer
    )


def paths(case: Case) -> pd.DataFrame:
    """Return how many transactions took each path, most common first: `STEPS`, producer_group, transactions, examples
    (list of up to three UNIQ_KEYs).
    """
    return once(case, "transaction paths", lambda: _paths(case))


def _paths(case: Case) -> pd.DataFrame:
    every = by_transaction(case)
    every["mixed"] = hashed(pa.array(every["uniq_key"], pa.string()))
    same = [*STEPS, "producer_group"]
    every = every.sort_values(["half_time", "uniq_key"])
    grouped = every.groupby(same, dropna=False, sort=False)
    frame = grouped.agg(
        transactions=("uniq_key", "size"), a=("uniq_key", "first"), c=("mixed", "idxmin"), b=("uniq_key", "last")
    ).reset_index()
    middle = every["uniq_key"].loc[frame.pop("c")].to_list()
    chosen = zip(frame.pop("a"), middle, frame.pop("b"), strict=True)
    frame["examples"] = [list(dict.fromkeys(keys)) for keys in chosen]
    frame = frame.assign(
        **{name: columnar.none_for_null(frame[name]) for name in ("last_check", "consumer", "producer_group")}
    )
    frame["path"] = [describe({str(k): v for k, v in row.items()}) for row in frame.to_dict("records")]
    return frame.sort_values(
        ["transactions", "path", "producer_group"], ascending=[False, True, True], ignore_index=True
    )


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
    rows: list[tuple[str, str, int]] = []
    for row in frame.to_dict("records"):
        n, state = int(row["transactions"]), str(row["state"])
        end = f"{state} twice" if row["commits"] == 2 else state
        at = f"answer {row['local']}"
        rows.append(("half", at, n))
        if row["checks"]:
            rows.append((at, "check", n))
            at = "check"
        rows.append((at, end, n))
        if row["consumer"]:
            rows.append((end, str(row["consumer"]), n))
    counts: dict[tuple[str, str], int] = {}
    for source, target, n in rows:
        counts[source, target] = counts.get((source, target), 0) + n
    return pd.DataFrame([(*pair, n) for pair, n in counts.items()], columns=["source", "target", "count"])


def timeline(case: Case, frame: pd.DataFrame, also: Sequence[str] = ()) -> pd.DataFrame:
    """Return the records and answers of the examples of each path, and of the transactions `also`, in time order,
    `TIMELINE_ROWS` at most.

    Columns path, uniq_key, key, stage (`half`, `check`, `op`, `commit`, `discard`, `retry`, `dead letter`, `answer …`),
    time (UTC), seconds (since the first half record), file, physical_offset or line, topic. `frame`: from `paths`.
    """
    each = frame.head(MOST_PATHS).explode("examples")
    first = pd.DataFrame({"path": each["path"], "uniq_key": each["examples"]})
    more = [key for key in also if key not in set(first["uniq_key"])]
    if more:
        rows = by_transaction(case, scan.one_of("uniq_key", more)).sort_values("uniq_key")
        rows["path"] = [describe({str(k): v for k, v in row.items()}) for row in rows.to_dict("records")]
        first = pd.concat([first, rows[["path", "uniq_key"]]], ignore_index=True)
    first = first.drop_duplicates("uniq_key")
    columns = ["path", "uniq_key", "key", "stage", "time", "seconds", "file", "physical_offset", "line", "topic"]
    if first.empty:
        return pd.DataFrame(columns=columns)
    chosen = scan.one_of("uniq_key", first["uniq_key"])
    records = columnar.to_pandas(columnar.zero_filled(scan.records(case, _READ, chosen)))
    records = records.rename(columns={"keys": "key", "store_timestamp": "time"}).assign(stage=_stages(records))
    ended = transactions.transactions(case, chosen & ds.field("op_offset").is_valid())
    ended = ended[["uniq_key", "keys", "op_time", "op_file", "op_offset"]].assign(stage="op", topic=names.OP_TOPIC)
    ended.columns = pd.Index(["uniq_key", "key", "time", "file", "physical_offset", "stage", "topic"])
    every = [records[records["stage"].notna()], ended]
    said = answers.answers(case)
    if said is not None:
        said = said[said["uniq_key"].isin(first["uniq_key"])]
        who = "answer " + said["said"].mask(said["exception"], "exception")
        every.append(
            said[["uniq_key", "ts", "file", "line"]].rename(columns={"ts": "time"}).assign(stage=who, topic="")
        )
    rows = pd.concat([part for part in every if len(part)], ignore_index=True).reindex(columns=columns[1:])
    rows = rows.sort_values(["time", "physical_offset", "line"], na_position="first").head(TIMELINE_ROWS)
    rows = rows.merge(first, on="uniq_key")
    start = rows[rows["stage"] == "half"].groupby("uniq_key")["time"].min()
    rows["seconds"] = (rows["time"] - rows["uniq_key"].map(start)).dt.total_seconds().round(3).clip(lower=0)
    rows["key"] = rows["uniq_key"].map(rows.dropna(subset=["key"]).groupby("uniq_key")["key"].first())
    order = {path: n for n, path in enumerate(dict.fromkeys(first["path"]))}
    # The broker's log knows whole seconds only: within one, things are in the order in which they happen.
    rows = rows.assign(
        place=rows["path"].map(order),
        second=rows["time"].dt.floor("s"),
        rank=rows["stage"].map(lambda stage: ORDER.get(stage, 2)),
    )
    rows = rows.sort_values(["place", "uniq_key", "second", "rank", "time"], kind="stable", ignore_index=True)
    return rows[columns]


def _stages(records: pd.DataFrame) -> np.ndarray:
    """Return the stage of each record of a transaction; None for a leaked retry and for what waits for a delay."""
    topic, target = records["topic"].fillna(""), records[owners.TARGET]
    half = (topic == names.HALF_TOPIC) & target.notna() & (target != names.HALF_TOPIC)
    renewed = records[list(transactions.RENEWED)].notna().any(axis=1)
    commit = (records["sys_flag"] & names.TRANSACTION_MASK) == names.TRANSACTION_COMMIT
    return columnar.choose(
        [
            half & renewed,
            half,
            topic == names.DISCARD_TOPIC,
            topic.str.startswith(names.DLQ_PREFIX),
            topic.str.startswith(names.RETRY_PREFIX),
            commit & topic.map(transactions.is_real),
            target.isna(),
        ],
        ["check", "half", "discard", "dead letter", "retry", "commit", "stored"],
        None,
    )
