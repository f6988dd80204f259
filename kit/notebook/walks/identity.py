"""What follows at each stop of notebook 40."""

from __future__ import annotations

import pandas as pd

from kit.analysis.messages import lookups
from kit.charts import Table, messages
from kit.i18n import Lang
from kit.notebook.walks import Said, always, stop

apart = always(__name__, "apart")


@stop
def symptom(rows: pd.DataFrame) -> Said:
    keys, offsets = rows["uniq_key"].nunique(), rows["offset_msg_id"].nunique()
    return ("once", {}) if offsets < 2 else ("differ", {"n": len(rows), "keys": keys, "offsets": offsets})


@stop
def calls(rows: pd.DataFrame) -> Said:
    which = lookups.of_copies(rows)["which"]
    return "calls", {kind: (which == kind).sum() for kind in ("uniq", "offset")}


def each_call(copies: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show which id each call returns on a message, from its copies."""
    return messages.calls(lookups.of_copies(copies, lang), lang)


@stop
def life(rows: pd.DataFrame) -> Said:
    return "records", {"n": len(rows)}


@stop
def compared(rows: pd.DataFrame) -> Said:
    offsets = (rows["kind"] == "offset").sum()
    return ("offset", {"n": offsets, "all": len(rows)}) if offsets else ("stable", {})


@stop
def cost(rows: pd.DataFrame) -> Said:
    return "twice", {"n": rows["messages"].max(), "groups": sorted(map(str, set(rows["consumer"])))}


@stop
def looked_up(rows: pd.DataFrame) -> Said:
    failed = rows["event"].isin(["lookup-failed", "query-no-message"]).sum()
    return ("failed", {"n": failed}) if failed else ("none", {})
