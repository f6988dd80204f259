"""What follows at each stop of notebook 30."""

from __future__ import annotations

import pandas as pd

from kit.notebook.walks import Said, always, stop
from kit.rocketmq import record_fields

LOOP = 1000
"""Lines a second of a log from which on something repeats itself."""

drawn = always(__name__, "drawn")


@stop
def symptom(rows: pd.DataFrame) -> Said:
    top = rows.loc[rows["log_lines"].astype(float).idxmax()]
    name = "quiet" if top["log_lines"] < LOOP else "explodes"
    return name, {"source": str(top["source"]), "most": top["log_lines"]}


@stop
def stands(rows: pd.DataFrame) -> Said:
    timed = rows.dropna(subset=["ts"]).sort_values("ts")
    checked, stored = (
        timed.loc[timed["line"] == line, "offset"].astype(int).tolist() for line in ("checked", "stored")
    )
    at, end = checked[-1] if checked else None, max(stored, default=0)
    name = "stands" if len(checked) > 1 and checked[-1] == checked[-2] and end > checked[-1] else "moves"
    return name, {"at": at, "end": end}


@stop
def which(rows: pd.DataFrame) -> Said:
    again = rows[(rows["writer"] == "put_back") & (rows["lines"] > 1)]
    named = again[again["msg_id"] != "-"]
    if again.empty:
        return "sends", {}
    if named.empty:
        return "unnamed", {"lines": again["lines"].sum()}
    return "one", {"count": named["msg_id"].nunique(), "lines": named["lines"].sum()}


@stop
def how_large(rows: pd.DataFrame) -> Said:
    left = rows["room_left"].tolist()
    if left[-1] >= 0:
        return "fits", {"left": left[-1]}
    return "too_long", {"stored": left[1], "over": -next(n for n in left if n < 0)}


@stop
def fields(rows: pd.DataFrame) -> Said:
    most = record_fields.of_first(rows).groupby("field")["bytes"].max()
    return "fields", {"body": most["body"], "check": most["check"]}


@stop
def rounds(rows: pd.DataFrame) -> Said:
    begins, refused = rows["begins_at"].dropna().tolist(), rows["refused_at"].dropna().tolist()
    if not refused or len(begins) < 2 or begins[0] != begins[1]:
        return "moves", {}
    return "again", {"at": begins[0], "refused": refused[0]}


@stop
def next_ones(rows: pd.DataFrame) -> Said:
    risk = (rows["fate"] == "at_risk").sum()
    return ("risk", {"risk": risk}) if risk or (rows["fate"] == "refused").any() else ("none", {})


@stop
def safe(rows: pd.DataFrame) -> Said:
    least = rows["safe_body_bytes"].dropna()
    return ("body_only", {}) if least.empty else ("safe", {"safe": least.min()})


@stop
def another(rows: pd.DataFrame) -> Said:
    last = rows[rows["written"] == "last put-back"]
    left = last.loc[last["room_left"].astype(float).idxmin()]
    return ("too_long" if left["room_left"] < 0 else "fits"), {"largest": (last["body"] + last["room_left"]).min()}
