"""What follows at each stop of notebooks 61, 62 and 63."""

from __future__ import annotations

import pandas as pd

from kit.notebook.walks import Said, stop


@stop
def lag(rows: pd.DataFrame) -> Said:
    by = rows.sort_values("time").groupby("queue")["lag"]
    grown = (by.last() - by.first()).astype(float)
    if not (grown > 0).any():
        return "none_grew", {}
    return "grew", {"up": (grown > 0).sum(), "all": len(grown), "queue": str(grown.idxmax()), "n": int(grown.max())}


@stop
def queues(rows: pd.DataFrame) -> Said:
    moved, top = rows["moved"], rows.iloc[0]
    if not (moved == 0).any():
        return "all_slow", {"who": f"{top['topic']} @ {top['group']}"}
    return "stand", {"n": (moved == 0).sum(), "moving": (moved > 0).sum()}


@stop
def clients(rows: pd.DataFrame) -> Said:
    twice = rows[rows["addresses"].fillna(0).astype(int) > 1]
    if len(twice):
        return "twice", {"id": str(twice["client_id"].iloc[0]), "n": twice["addresses"].iloc[0]}
    return "clients", {"n": len(rows), "groups": rows["consumer_group"].nunique()}


@stop
def owners(rows: pd.DataFrame) -> Said:
    holders = rows.groupby(["topic", "queue_id"])["place"].nunique()
    return "owners", {"queues": len(holders), "shared": (holders > 1).sum()}


@stop
def threads(rows: pd.DataFrame) -> Said:
    row = rows.iloc[0]
    return "frame", {"n": row["threads"], "all": rows["threads"].sum(), "frame": str(row["frame"])}


@stop
def unhandled(rows: pd.DataFrame) -> Said:
    by = rows.drop_duplicates(["group", "topic", "passed"])
    passed = by["passed"].astype(bool)
    return "passed", {"behind": by["messages"][passed].sum(), "front": by["messages"][~passed].sum()}


@stop
def subscriptions(rows: pd.DataFrame) -> Said:
    different = rows.groupby("topic")["expression"].nunique()
    return ("differ", {"topic": str(different.idxmax())}) if different.max() > 1 else ("alike", {})


@stop
def moved(rows: pd.DataFrame) -> Said:
    kinds = sorted(set(map(str, rows["kind"])))
    return "moved", {"n": len(rows), "kinds": kinds, "skipped": rows["skipped"].sum(), "again": rows["repeated"].sum()}


@stop
def said(rows: pd.DataFrame) -> Said:
    return "most", {"event": str(rows["event"].iloc[0]), "n": rows["lines"].iloc[0]}


@stop
def reached(rows: pd.DataFrame) -> Said:
    by = rows.groupby("address")["reached"].sum()
    never = sorted(map(str, by.index[by == 0]))
    return ("never", {"addresses": never}) if never else ("all", {})


@stop
def told(rows: pd.DataFrame) -> Said:
    names = sorted(set(map(str, rows.loc[rows["name"] == "brokerIP1", "value"].dropna())))
    return ("set", {"names": names}) if names else ("default", {})


@stop
def seconds(rows: pd.DataFrame) -> Said:
    missing = rows["missing"].sum()
    return "missing" if missing else "all", {"missing": missing, "sent": rows["acknowledged"].sum()}


@stop
def others(rows: pd.DataFrame) -> Said:
    return "other", {"what": str(rows["what"].iloc[0]), "name": str(rows["name"].iloc[0])}


@stop
def failing(rows: pd.DataFrame) -> Said:
    first = rows["second"].min().tz_localize("UTC").to_pydatetime()
    return "begins", {"lines": rows["lines"].sum(), "first": first, "most": rows["lines"].max()}


@stop
def lost(rows: pd.DataFrame) -> Said:
    return "missing", {"n": len(rows), "first": str(rows["key"].iloc[0])}
