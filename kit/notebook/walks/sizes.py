"""What follows at each stop of notebook 30."""

from __future__ import annotations

import pandas as pd

from kit.notebook.stops import Said, stop
from kit.rocketmq import record_fields

LOOP = 1000
"""Lines a second of a log from which on something repeats itself."""


@stop
def symptom(rows: pd.DataFrame) -> Said:
    """Tell whether a log explodes."""
    top = rows.loc[rows["log_lines"].astype(float).idxmax()]
    if int(top["log_lines"]) < LOOP:
        return "quiet", {"most": int(top["log_lines"])}
    return "explodes", {"source": str(top["source"]), "most": int(top["log_lines"])}


@stop
def stands(rows: pd.DataFrame) -> Said:
    """Tell whether the check gets on."""
    by = {
        line: part.dropna(subset=["ts"]).sort_values("ts")["offset"].astype(int).tolist()
        for line, part in rows.groupby("line")
    }
    checked, end = by.get("checked", []), max(by.get("stored", [0]))
    if len(checked) > 1 and checked[-1] == checked[-2] and end > checked[-1]:
        return "stands", {"at": checked[-1], "end": end}
    return "moves", {"at": checked[-1] if checked else None, "end": end}


@stop
def which(rows: pd.DataFrame) -> Said:
    """Tell which message is refused again and again."""
    again = rows[(rows["writer"] == "put_back") & (rows["lines"].astype(int) > 1)]
    named = again[again["msg_id"] != "-"]
    if again.empty:
        return "sends", {}
    if named.empty:
        return "unnamed", {"lines": int(again["lines"].sum())}
    return "one", {"count": int(named["msg_id"].nunique()), "lines": int(named["lines"].sum())}


@stop
def how_large(rows: pd.DataFrame) -> Said:
    """Tell how much room each writing leaves."""
    left = [int(n) for n in rows["room_left"]]
    if left[-1] >= 0:
        return "fits", {"left": left[-1]}
    return "too_long", {"stored": left[1], "over": -next(n for n in left if n < 0)}


@stop
def fields(rows: pd.DataFrame) -> Said:
    """Tell what each side measures."""
    most = record_fields.of_first(rows).groupby("field")["bytes"].max()
    return "fields", {"body": int(most["body"]), "check": int(most["check"])}


@stop
def rounds(rows: pd.DataFrame) -> Said:
    """Tell why the saved offset does not move."""
    begins = rows["begins_at"].dropna().astype(int).tolist()
    refused = rows["refused_at"].dropna().astype(int).tolist()
    if not refused or len(begins) < 2 or begins[0] != begins[1]:
        return "moves", {}
    return "again", {"at": begins[0], "refused": refused[0]}


@stop
def next_ones(rows: pd.DataFrame) -> Said:
    """Tell which open half messages will be refused."""
    fates = rows["fate"].value_counts().to_dict()
    risk = fates.get("at_risk", 0)
    if not risk and not fates.get("refused"):
        return "none", {}
    return "risk", {"risk": risk}


@stop
def safe(rows: pd.DataFrame) -> Said:
    """Tell the number for the clients' limit."""
    least = rows["safe_body_bytes"].dropna()
    if least.empty:
        return "body_only", {}
    return "safe", {"safe": int(least.min())}


@stop
def drawn(rows: pd.DataFrame) -> Said:
    """Tell what would break the loop."""
    return "loop", {}
