"""What follows at each stop of notebooks 61, 62 and 63."""

from __future__ import annotations

import pandas as pd

from kit.notebook.stops import Said, stop


@stop
def lag(rows: pd.DataFrame) -> Said:
    """Tell whether a lag grows."""
    first, last = (
        rows.sort_values("time").groupby("queue")["lag"].agg(each).astype(float) for each in ("first", "last")
    )
    grown = (last - first).sort_values(ascending=False)
    up = grown[grown > 0]
    if up.empty:
        return "none_grew", {}
    return "grew", {"up": len(up), "all": len(grown), "queue": str(up.index[0]), "n": int(up.iloc[0])}


@stop
def queues(rows: pd.DataFrame) -> Said:
    """Tell a slow group from one queue that stands."""
    stand = rows[rows["moved"].fillna(-1).astype(int) == 0]
    moving = rows[rows["moved"].fillna(-1).astype(int) > 0]
    top = rows.iloc[0]
    who = f"{top['topic']} @ {top['group']}"
    if stand.empty:
        return "all_slow", {"who": who}
    return "stand", {"n": len(stand), "moving": len(moving)}


@stop
def clients(rows: pd.DataFrame) -> Said:
    """Tell how many clients a group has, and whether one id stands for several."""
    twice = rows[rows["addresses"].fillna(0).astype(int) > 1]
    if len(twice):
        return "twice", {"id": str(twice["client_id"].iloc[0]), "n": int(twice["addresses"].iloc[0])}
    return "clients", {"n": len(rows), "groups": int(rows["consumer_group"].nunique())}


@stop
def owners(rows: pd.DataFrame) -> Said:
    """Tell whether queues had more than one owner."""
    holders = rows.groupby(["topic", "queue_id"])["place"].nunique()
    return "owners", {"queues": len(holders), "shared": int((holders > 1).sum())}


@stop
def threads(rows: pd.DataFrame) -> Said:
    """Tell what most threads share."""
    row, every = rows.iloc[0], int(rows["threads"].sum())
    return "frame", {"n": int(row["threads"]), "all": every, "frame": str(row["frame"])}


@stop
def unhandled(rows: pd.DataFrame) -> Said:
    """Tell what lies behind and before the offset."""
    by = rows.drop_duplicates(["group", "topic", "passed"])
    behind, front = (int(by.loc[by["passed"].astype(bool) == side, "messages"].sum()) for side in (True, False))
    return "passed", {"behind": behind, "front": front}


@stop
def subscriptions(rows: pd.DataFrame) -> Said:
    """Tell whether clients of one topic subscribe differently."""
    different = rows.groupby("topic")["expression"].nunique()
    if (different < 2).all():
        return "alike", {}
    return "differ", {"topic": str(different.idxmax())}


@stop
def moved(rows: pd.DataFrame) -> Said:
    """Tell what was skipped and what was handled again."""
    skipped, again = (int(rows[name].fillna(0).astype(int).sum()) for name in ("skipped", "repeated"))
    return "moved", {"n": len(rows), "kinds": sorted(set(map(str, rows["kind"]))), "skipped": skipped, "again": again}


@stop
def said(rows: pd.DataFrame) -> Said:
    """Tell what logs say most."""
    return "most", {"event": str(rows["event"].iloc[0]), "n": int(rows["lines"].iloc[0])}


@stop
def reached(rows: pd.DataFrame) -> Said:
    """Tell which addresses nobody reached."""
    never = sorted(
        {str(row["address"]) for row in rows.to_dict("records") if int(row["failed"]) and not int(row["reached"])}
    )
    if not never:
        return "all", {}
    return "never", {"addresses": never}


@stop
def told(rows: pd.DataFrame) -> Said:
    """Tell where the addresses come from."""
    names = sorted(set(rows.loc[rows["name"] == "brokerIP1", "value"].dropna().map(str)))
    if not names:
        return "default", {}
    return "set", {"names": names}


@stop
def seconds(rows: pd.DataFrame) -> Said:
    """Tell how much of what was acknowledged is missing."""
    missing, sent = int(rows["missing"].sum()), int(rows["acknowledged"].sum())
    if not missing:
        return "all", {"sent": sent}
    return "missing", {"missing": missing, "sent": sent}


@stop
def others(rows: pd.DataFrame) -> Said:
    """Tell whether a topic or a right is missing instead."""
    return "other", {"what": str(rows["what"].iloc[0]), "name": str(rows["name"].iloc[0])}


@stop
def failing(rows: pd.DataFrame) -> Said:
    """Tell when it begins and how much it is."""
    return "begins", {
        "lines": int(rows["lines"].sum()),
        "first": rows["second"].min().tz_localize("UTC").to_pydatetime(),
        "most": int(rows["lines"].max()),
    }


@stop
def lost(rows: pd.DataFrame) -> Said:
    """Tell what to do with the keys that are missing."""
    return "missing", {"n": len(rows), "first": str(rows["key"].iloc[0])}
