"""Sizes against the limit: how a record grows, the blocked half queue."""

import functools
from typing import Final

import pandas as pd

from kit.charts import LABELS, Chart, Declared, pictures
from kit.charts.figures import VERMILLION
from kit.i18n import Lang

FIELDS = Declared.of("record fields")
QUEUE = Declared.of("half queue")
STAGES: Final = LABELS["growth stages"]


def fields(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart how a half record grows. `frame`: from `kit.rocketmq.record_fields.of_first`."""
    if frame.empty:
        return FIELDS.nothing(lang)
    wide = frame.pivot_table(index="stage", columns="field", values="bytes", sort=False)
    stages, parts = [stage for stage in STAGES if stage in wide.index], ["body", *FIELDS.drawing.looks]
    wide = wide.reindex(index=stages, columns=parts).fillna(0).astype("int64")
    limit = int(frame["limit"].iloc[0]) if frame["limit"].notna().any() else None
    table = wide.assign(total=wide.sum(axis=1), limit=limit).reset_index()
    beyond = (table["total"] - table["body"]).tolist()
    body = int(table["body"].iloc[-1])
    half, put_back = beyond[-2:] if len(beyond) > 1 else (None, None)
    chart, values = FIELDS.figure(table, lang), {"body": body, "half": half, "put_back": put_back}
    if limit is not None and put_back is not None and 0 <= limit - body <= 4 * max(beyond):
        room = limit - body
        # Beside the bar of the client's check: it has none.
        at = {"annotation_text": FIELDS["room"].say(room=room).render(lang), "annotation_position": "top left"}
        chart.add_vline(x=room, line={"color": VERMILLION, "width": 2, "dash": "dash"}, **at, annotation_yanchor="top")
        values |= {"room": room, "over": put_back - room if put_back > room else None}
    # Below the axis, across the whole width: on a phone its names need two lines.
    below = {"xref": "container", "x": 0.02, "yref": "container", "y": 0.01, "yanchor": "bottom"}
    chart.update_layout(legend=below, margin_b=130, height=230 + 56 * len(table))
    return FIELDS.chart(table, lang, values, chart)


def half_queue(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the half queue over time. `frame`: ts, offset, line (`stored`, `checked`)."""
    if frame.empty:
        return QUEUE.nothing(lang)
    ordered = frame[frame["line"].isin(list(QUEUE.drawing.looks))].sort_values(["ts", "line"], ignore_index=True)
    last = ordered.drop_duplicates("line", keep="last").set_index("line")["offset"]
    # Both lines go on to the last time of either.
    ends = last.reset_index().assign(ts=ordered["ts"].max())
    chart = QUEUE.figure(pd.concat([ordered, ends], ignore_index=True), lang)
    end, at = (int(last[line]) if line in last else None for line in ("stored", "checked"))
    behind = None if end is None or at is None else max(end - at, 0)
    return QUEUE.chart(ordered, lang, {"end": end, "at": at, "behind": behind}, chart)


loop = functools.partial(pictures.diagram, "check loop")
"""Draws why the check does not get on: hop (accepted, read, refused, waiting), records."""
