"""What follows at each stop of notebook 50."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from kit.analysis import setup
from kit.notebook.walks import Said, always, stop

if TYPE_CHECKING:
    from kit.notebook.inquiry import Inquiry

raised, drawn = always(__name__, "raised"), always(__name__, "drawn")


@stop
def symptom(rows: pd.DataFrame) -> Said:
    failed = int(rows[[name for name in rows.columns if str(name).isupper()]].sum().sum())
    stood = "stalled" in rows and rows["stalled"].fillna(False).astype(bool).any()
    return ("stood" if stood else "went_on") if failed else "nothing_failed", {"failed": failed}


@stop
def limits(rows: pd.DataFrame) -> Said:
    value = rows.loc[rows["name"] == "waitTimeMillsInSendQueue", "value"]
    return ("default", {}) if value.empty else ("own", {"wait": str(value.iloc[0])})


@stop
def kinds(rows: pd.DataFrame) -> Said:
    by = rows.groupby("kind")["sends"].sum()
    own = by.drop(["CLIENT_TIMEOUT", "OTHER"], errors="ignore")
    return ("clients", {"n": by.sum()}) if own.empty else ("broker", {"n": own.sum(), "kinds": sorted(own.index)})


@stop
def stood(rows: pd.DataFrame) -> Said:
    return "stood", {"n": len(rows), "longest": float(rows["seconds"].max()), "waiters": rows["waiters"].sum()}


@stop
def host(rows: pd.DataFrame) -> Said:
    both = rows.dropna(subset=["in_stalls", "otherwise"])
    if both.empty:
        return "outside", {}
    ratio = (both["in_stalls"].astype(float) + 1) / (both["otherwise"].astype(float) + 1)
    row = both.loc[ratio.where(ratio > 1, 1 / ratio).idxmax()]
    name = " ".join(str(row[each]) for each in ("subject", "name") if row[each] is not None)
    return "differs", {"name": name, "inside": row["in_stalls"], "outside": row["otherwise"]}


@stop
def why(rows: pd.DataFrame) -> Said:
    """Half of the failures is the least that an explanation has to cover."""
    top = rows.sort_values("share", ascending=False).iloc[0]
    if not float(top["share"] or 0) >= 0.5:
        return "not_shown", {}
    return "first", {"what": str(top["what"]), "share": round(100 * top["share"])}


@stop
def became(rows: pd.DataFrame) -> Said:
    late = rows.loc[rows["kind"] == "CLIENT_TIMEOUT", "stored"].sum()
    return "became", {"lost": rows["lost"].sum(), "stored": rows["stored"].sum(), "late": late}


@stop
def twice(rows: pd.DataFrame) -> Said:
    return "twice", {"n": len(rows), "copies": rows["copies"].sum()}


def own_wait(inquiry: Inquiry) -> int:
    """Return how long a send may wait in its queue here (ms), by default 200 (BrokerConfig)."""
    own = str(setup.setting(inquiry.case.facts, "waitTimeMillsInSendQueue").value)
    return int(own) if own.isdigit() else 200
