"""Consumer groups: who owned which queue when."""

import posixpath
from typing import Final

import pandas as pd

from kit.charts import Chart, Declared
from kit.i18n import Lang

OWNERS = Declared.of("owners")
REBALANCE: Final = pd.Timedelta(seconds=20)
"""How long two processes may both seem to hold a queue that changes hands."""


def owners(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart which process held which queue when. `frame`: “owners columns”; `last` is null for what is still held."""
    known = frame[frame["first"].notna()] if len(frame) else frame
    if known.empty:
        return OWNERS.nothing(lang)
    known = known.sort_values(["topic", "queue_id", "first", "place"], ignore_index=True)
    begin, end = (pd.to_datetime(known[name]) for name in ("first", "last"))
    final = max(begin.max(), end.max()) if end.notna().any() else begin.max()
    # A queue still held is drawn beyond the last change, so that it can be seen.
    end = end.fillna(final + max((final - begin.min()) * 0.1, pd.Timedelta(seconds=5)))
    places = list(dict.fromkeys(known["place"]))
    shared = posixpath.commonpath(places) if len(places) > 1 else posixpath.dirname(places[0])
    short = [posixpath.relpath(place, shared or ".") if place != shared else place for place in known["place"]]
    bars = known.assign(begin=begin, end=end, queue=known["topic"] + " " + known["queue_id"].astype(str))
    pairs = bars.merge(bars, on="queue")
    both = pairs[["end_x", "end_y"]].min(axis=1) - pairs[["begin_x", "begin_y"]].max(axis=1)
    several = pairs["queue"][(pairs["place_x"] != pairs["place_y"]) & (both > REBALANCE)].nunique()
    values = {"several": several, "queues": bars["queue"].nunique()}
    return OWNERS.chart(known, lang, values, OWNERS.figure(bars.assign(process=short), lang))
