"""Transactions against the business rows they should have written: which disagree, why, and the repair of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from kit.analysis.transactions import answers, business, totals, transactions
from kit.case import columnar, scan
from kit.case.memoize import once

if TYPE_CHECKING:
    from kit.case.case import Case

UNDONE: Final = r"(?i)cancel|clos|fail|reject|refus|roll|void|invalid|abort|delet|expire|timeout|denied|error|取消|关闭|失败|拒绝|作废|回滚|无效|删除|超时"
"""What the status of a row says that was taken back: such a row agrees with a message that was rolled back."""
SHOWN: Final = 100_000
"""Inconsistent keys that are listed; the figures count all of them."""
CAUSES: Final = ("exception", "error", "send_status", "rollback_answer", "commit_answer")
"""What can have caused a disagreement, the most telling first."""
COLUMNS: Final = (
    "kind",
    "key",
    "uniq_key",
    "state",
    "cause",
    "repair",
    "evidence_file",
    "evidence_line",
    "row_file",
    "row_line",
    "row_status",
    "topic",
    "producer_group",
    "half_file",
    "half_physical_offset",
    "end_file",
    "end_physical_offset",
    "stored",
    "all_causes",
)

_NUMBERS: Final = ("evidence_line", "row_line", "half_physical_offset", "end_physical_offset")


@attrs.frozen
class Counts:
    """Rows against messages, in business keys. All None if the evidence has no business table; `joined`: keys of
    transactions.
    """

    rows: int | None = None
    joined: int | None = None
    rows_without_message: int | None = None
    rows_pending: int | None = None
    messages_without_row: int | None = None


def counts(case: Case) -> Counts:
    """Return the counts of rows without messages and of messages without rows; computed once."""
    return once(
        case, "row counts", lambda: _counts(case) if business.present(case) and case.has("messages") else Counts()
    )


def _counts(case: Case) -> Counts:
    states = transactions.transactions(case, ds.field("with_row"))[["uniq_key", "state"]]
    found = transactions.rows(case)[["uniq_key", "key"]].merge(states, on="uniq_key")
    keys = business.by_key(case)["key"]
    committed, pending = (keys.isin(found.loc[found["state"] == state, "key"]) for state in ("committed", "pending"))
    return Counts(
        len(keys),
        int(keys.isin(found["key"]).sum()),
        int((~committed).sum()),
        int((~committed & pending).sum()),
        totals.summary(case).total("without_row"),
    )


def inconsistent(case: Case) -> pd.DataFrame:
    """Return the ended transactions that disagree with their business row, one per row, with cause and repair.

    Columns `COLUMNS`: kind (`row_without_message`, `message_without_row`), cause (one of `CAUSES`, None if no log shows
    it), repair (`re-send`, `compensate`), evidence_… (the line that shows the cause), end_… (op, commit or discarded
    record), stored (of the half message), all_causes.
    """
    return once(case, "inconsistent", lambda: _inconsistent(case))


def _inconsistent(case: Case) -> pd.DataFrame:
    if not business.present(case) or not case.has("messages"):
        return pd.DataFrame(columns=list(COLUMNS))
    wrong = _disagreeing(case)
    if wrong.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    found = _causes(case, wrong)
    frame = (
        wrong.merge(found, "left", "uniq_key")
        if found is not None
        else wrong.assign(cause=None, evidence_file=None, evidence_line=None, all_causes="")
    )
    # Outside the time the rows cover, a row may be missing only because the table was cut there.
    frame = frame[frame["covered"] | frame["cause"].isin(["exception", "error"])]
    frame = frame.assign(
        repair=frame["kind"].map({"row_without_message": "re-send", "message_without_row": "compensate"})
    )
    frame = frame.astype(dict.fromkeys(_NUMBERS, "Int64"))
    return frame.sort_values(["stored", "uniq_key"], ignore_index=True)[list(COLUMNS)]


def _disagreeing(case: Case) -> pd.DataFrame:
    """Return the finished (or discarded) transactions that disagree with their rows.

    A message without a row counts if the evidence has rows of its producer group; `covered`: whether it is between
    messages that have theirs.
    """
    spans = {group.name: group.covered for group in totals.summary(case).groups if group.covered}
    if not spans:
        return pd.DataFrame()
    state = ds.field("state")
    known = scan.text("producer_group").isin(pa.array([name for name in spans if name is not None], pa.string()))
    if None in spans:
        known |= ds.field("producer_group").is_null()
    alone = state.isin(["rolled_back", "discarded"]) & ds.field("with_row")
    frame = transactions.transactions(case, alone | ((state == "committed") & ~ds.field("with_row") & known))
    rows = transactions.rows(case)
    rows = rows[~rows["status"].fillna("").str.contains(UNDONE).astype(bool)].drop_duplicates("uniq_key")
    frame = frame.merge(rows.add_prefix("row_").rename(columns={"row_uniq_key": "uniq_key"}), "left", "uniq_key")
    row_alone = frame["state"] != "committed"
    frame = frame[~row_alone | frame["row_key"].notna()].reset_index(drop=True)
    row_alone = frame["state"] != "committed"
    ends = {"committed": "commit", "rolled_back": "op", "discarded": "discard"}
    end = {name: frame["half_file"].where(pd.Series(data=False, index=frame.index)) for name in ("file", "offset")}
    for name in end:
        for said, prefix in ends.items():
            end[name] = end[name].mask(frame["state"] == said, frame[f"{prefix}_{name}"])
    first, last = (
        pd.to_datetime(frame["producer_group"].map({name: span[n] for name, span in spans.items()})) for n in (0, 1)
    )
    first_key = frame["keys"].str.split(r"\s+", n=1, regex=True).str[0]
    shown = pd.DataFrame(
        {
            "kind": np.where(row_alone, "row_without_message", "message_without_row"),
            "key": frame["row_key"].where(frame["row_key"].notna(), first_key),
            **{name: frame[name] for name in ("uniq_key", "state", "topic", "producer_group")},
            **{name: frame[name] for name in ("row_file", "row_line", "row_status", "half_file")},
            "half_physical_offset": frame["half_offset"],
            "end_file": end["file"],
            "end_physical_offset": end["offset"],
            "stored": frame["half_time"],
            "covered": row_alone | frame["half_time"].between(first, last),
        }
    )
    shown = shown.sort_values(["stored", "uniq_key"], ignore_index=True).head(SHOWN)
    return _unless_done(case, shown) if row_alone.any() else shown


def _unless_done(case: Case, frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out rows whose key belongs to another, committed transaction too: the failed attempt was repeated."""
    committed = transactions.transactions(case, (ds.field("state") == "committed") & ds.field("with_row"))["uniq_key"]
    rows = transactions.rows(case)
    done = rows.loc[rows["uniq_key"].isin(committed), "key"]
    return frame[(frame["kind"] != "row_without_message") | ~frame["key"].isin(done)]


def _causes(case: Case, wrong: pd.DataFrame) -> pd.DataFrame | None:
    """Return what caused each disagreement: uniq_key, cause, evidence_file, evidence_line, all_causes."""
    found = [
        f
        for f in (
            answers.local_errors(case),
            answers.logged_errors(case, wrong[["uniq_key", "key"]]),
            answers.bad_results(case),
        )
        if f is not None
    ]
    said = answers.answers(case)
    if said is not None:
        mine = said.merge(wrong[["uniq_key", "kind"]], on="uniq_key")
        right = np.where(mine["kind"] == "row_without_message", "ROLLBACK", "COMMIT")
        how = np.where(mine["said"] == "ROLLBACK", "rollback_answer", "commit_answer")
        found.append(mine.assign(how=how)[mine["said"] == right])
    if not found:
        return None
    every = pd.concat([f[["uniq_key", "how", "ts", "file", "line"]] for f in found])
    every = every[every["uniq_key"].isin(wrong["uniq_key"])]
    ranks = {cause: n for n, cause in enumerate(CAUSES)}
    every["rank"] = every["how"].map(lambda how: ranks.get(how, CAUSES.index("send_status")))
    every = every.sort_values(["rank", "ts", "file", "line"], na_position="first")
    told = every.drop_duplicates("uniq_key")[["uniq_key", "how", "file", "line"]]
    told = told.rename(columns={"how": "cause", "file": "evidence_file", "line": "evidence_line"})
    every_how = every.groupby("uniq_key")["how"].agg(lambda how: " + ".join(sorted(set(how))))
    return told.assign(all_causes=told["uniq_key"].map(every_how))


def finished(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `inconsistent` whose transaction was ended by a producer; discarded ones are another cause's
    matter.
    """
    return frame[frame["state"].isin(["committed", "rolled_back"])]


def fates(case: Case) -> pd.DataFrame:
    """Return what became of the rows of each table, including transaction log tables: file, role, status, state (null:
    no transaction has the key), rows.
    """
    if not case.has("rows"):
        return pd.DataFrame(columns=["file", "role", "status", "state", "rows"])
    columns = ["file", "role", "status", "state", "rows"]
    shown = ds.field("role").isin(["business", "tx_log"]) & ds.field("key").is_valid()
    rows = columnar.to_pandas(scan.table(case, "rows", ["file", "role", "status", "key"], shown))
    every = transactions.accounts(case).filter(ds.field("state").is_valid()).select(["uniq_key", "keys", "state"])
    order = pd.CategoricalDtype(list(transactions.STATES), ordered=True)
    states = columnar.to_pandas(every.select(["uniq_key", "state"])).astype({"state": order})
    best = business.tokens(every).merge(states, on="uniq_key").groupby("key")["state"].min()
    told = rows.assign(state=rows["key"].map(best).astype(object))
    counted = told.groupby(columns[:4], dropna=False).size().rename("rows").reset_index()
    return counted.sort_values(["role", *columns[:1], *columns[2:4]], na_position="first", ignore_index=True).head(
        2_000
    )
