"""What follows at each stop of notebook 40."""

from __future__ import annotations

import pandas as pd

from kit.analysis.messages import lookups
from kit.charts import Table, messages
from kit.i18n import Lang
from kit.notebook.stops import Said, stop


@stop
def symptom(rows: pd.DataFrame) -> Said:
    """Tell what stays and what changes over a message's deliveries."""
    keys, offsets = rows["uniq_key"].nunique(), rows["offset_msg_id"].nunique()
    if offsets < 2:
        return "once", {}
    return "differ", {"n": len(rows), "keys": int(keys), "offsets": int(offsets)}


@stop
def apart(rows: pd.DataFrame) -> Said:
    """Tell what the bytes say."""
    return "apart", {}


@stop
def calls(rows: pd.DataFrame) -> Said:
    """Tell which call answers which id."""
    by = lookups.of_copies(rows)["which"].value_counts().to_dict()
    return "calls", {"uniq": by.get("uniq", 0), "offset": by.get("offset", 0)}


def each_call(copies: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show which id each call returns on a message, from its copies."""
    return messages.calls(lookups.of_copies(copies, lang), lang)


@stop
def life(rows: pd.DataFrame) -> Said:
    """Tell how many records one message has."""
    return "records", {"n": len(rows)}


@stop
def compared(rows: pd.DataFrame) -> Said:
    """Tell whether the application compares offset ids."""
    offsets = int((rows["kind"] == "offset").sum())
    if not offsets:
        return "stable", {}
    return "offset", {"n": offsets, "all": len(rows)}


@stop
def cost(rows: pd.DataFrame) -> Said:
    """Tell how many messages were handled again."""
    return "twice", {"n": int(rows["messages"].max()), "groups": sorted(map(str, set(rows["consumer"])))}


@stop
def looked_up(rows: pd.DataFrame) -> Said:
    """Tell which look-ups failed."""
    failed = int(rows["event"].isin(["lookup-failed", "query-no-message"]).sum())
    if not failed:
        return "none", {}
    return "failed", {"n": failed}
