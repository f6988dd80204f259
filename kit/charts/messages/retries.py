"""Chart of the retry funnel of each consumer group."""

from __future__ import annotations

from typing import Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, ORANGE, PURPLE, VERMILLION, Captions, Chart, escape, figure
from kit.i18n import Lang

FUNNEL = Captions.of("retries")
COLOURS: Final = {"sent back": ORANGE, "retry": BLUE, "given up": PURPLE, "dlq": VERMILLION}


def funnel(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the retry funnel: `consumer_group`, `level`, `step` (`sent back`, `retry`, `given up`, `dlq`), `messages`, `seconds`, of the table `retry_funnel`."""
    shown = frame[frame["step"].isin(COLOURS)].reset_index(drop=True) if len(frame) else frame
    if not len(shown):
        return FUNNEL.nothing(lang)
    levels = zip(shown["step"], shown["level"], strict=True)
    steps = [FUNNEL[step].say(n=int(level)).render(lang) for step, level in levels]
    table = shown.assign(step=steps)[list(FUNNEL.columns)]
    groups = list(dict.fromkeys(table["consumer_group"]))[:12]
    bars = []
    for group in groups:
        of_group = table[table["consumer_group"] == group]
        bars.append(
            go.Bar(
                y=[f"{escape(group, 32)} · {step}" for step in of_group["step"]],
                x=of_group["messages"],
                orientation="h",
                text=[f"{n:,}" for n in of_group["messages"]],
                textposition="outside",
                marker={"color": [COLOURS[step] for step in shown["step"][of_group.index]]},
                showlegend=False,
                cliponaxis=False,
                hovertemplate="%{y}: %{x:,}<extra></extra>",
            )
        )
    chart = figure(*bars, height=130 + 30 * int(table["consumer_group"].isin(groups).sum()))
    chart.update_yaxes(type="category", autorange="reversed")
    chart.update_xaxes(title=FUNNEL.columns["messages"].render(lang), rangemode="tozero")
    by_group = shown.assign(dead=shown["messages"].where(shown["step"] == "dlq", 0)).groupby(
        "consumer_group", sort=False
    )
    most = by_group.agg(dead=("dead", "sum"), messages=("messages", "max")).loc[groups]
    worst = most.sort_values(["dead", "messages"], ascending=False, kind="stable").index[0]
    of_worst = shown[(shown["consumer_group"] == worst) & (shown["level"] == shown["level"].min())]
    first, dead = int(of_worst["messages"].max()), int(most.loc[worst, "dead"])
    return FUNNEL.chart(
        chart, table, FUNNEL["reading"].say(group=str(worst), first=first, dlq=dead), lang, min_width=560
    )
