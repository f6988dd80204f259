"""What follows at each stop of notebook 50."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from kit.notebook.stops import Said, stop

if TYPE_CHECKING:
    from kit.notebook.inquiry import Inquiry

RAISED = 3000


@stop
def symptom(rows: pd.DataFrame) -> Said:
    """Tell how much failed, and whether nothing was stored then."""
    kinds = [name for name in rows.columns if str(name).isupper()]
    failed = int(rows[kinds].fillna(0).sum().sum()) if kinds else 0
    still = int(rows["stalled"].fillna(False).astype(bool).sum()) if "stalled" in rows else 0
    if not failed:
        return "nothing_failed", {}
    if not still:
        return "went_on", {"failed": failed}
    return "stood", {"failed": failed}


@stop
def limits(rows: pd.DataFrame) -> Said:
    """Tell how long a request may wait here."""
    value = rows.loc[rows["name"] == "waitTimeMillsInSendQueue", "value"]
    if value.empty:
        return "default", {}
    return "own", {"wait": str(value.iloc[0])}


@stop
def raised(rows: pd.DataFrame) -> Said:
    """Tell what the higher limit would have changed."""
    return "raised", {}


@stop
def kinds(rows: pd.DataFrame) -> Said:
    """Tell whether the broker refused, or only clients gave up."""
    by = rows.groupby("kind")["sends"].sum().astype(int).to_dict()
    own = {kind: n for kind, n in by.items() if kind not in ("CLIENT_TIMEOUT", "OTHER")}
    if not own:
        return "clients", {"n": sum(by.values())}
    return "broker", {"n": sum(own.values()), "kinds": sorted(own)}


@stop
def stood(rows: pd.DataFrame) -> Said:
    """Tell how long nothing was stored."""
    return "stood", {"n": len(rows), "longest": float(rows["seconds"].max()), "waiters": int(rows["waiters"].sum())}


@stop
def host(rows: pd.DataFrame) -> Said:
    """Tell which measure differs most between stalls and other times."""
    both = rows.dropna(subset=["in_stalls", "otherwise"])
    if both.empty:
        return "outside", {}
    gap = ((both["in_stalls"].astype(float) + 1) / (both["otherwise"].astype(float) + 1)).map(lambda r: max(r, 1 / r))
    row = both.loc[gap.idxmax()]
    return "differs", {
        "name": " ".join(str(row[each]) for each in ("subject", "name") if row[each] is not None),
        "inside": float(row["in_stalls"]),
        "outside": float(row["otherwise"]),
    }


@stop
def why(rows: pd.DataFrame) -> Said:
    """Tell which explanation covers the failures."""
    share = rows["share"].dropna()
    if share.empty or float(share.max()) < 0.5:
        return "not_shown", {}
    return "first", {"share": round(100 * float(share.max()))}


@stop
def became(rows: pd.DataFrame) -> Said:
    """Tell what became of the failed sends."""
    stored, lost = int(rows["stored"].sum()), int(rows["lost"].sum())
    late = int(rows.loc[rows["kind"] == "CLIENT_TIMEOUT", "stored"].sum())
    return "became", {"lost": lost, "stored": stored, "late": late}


@stop
def twice(rows: pd.DataFrame) -> Said:
    """Tell how many keys were stored more than once."""
    return "twice", {"n": len(rows), "copies": int(rows["copies"].sum())}


@stop
def drawn(rows: pd.DataFrame) -> Said:
    """Tell where it is decided."""
    return "lock", {}


def waits(inquiry: Inquiry) -> list[int]:
    """Return the limits to replay: this broker's own, the default where it is not known, and a raised one."""
    from kit.analysis import setup

    own = setup.setting(inquiry.case.facts, "waitTimeMillsInSendQueue").value
    return [int(own) if own and str(own).isdigit() else 200, RAISED]
