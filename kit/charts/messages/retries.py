"""Chart of the retry funnel of each consumer group."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from kit.charts import BLUE, ORANGE, PURPLE, VERMILLION, Chart, escape, figure
from kit.i18n import Lang, T

FUNNEL = T("Retries of each consumer group")
FUNNEL_READING = T(
    "{group} sent back {first} {first:message|messages} after their first failure; {dlq} of them ended in its dead letter topic."
)
FUNNEL_ALT = T("Bars for each group, from the first failure through each retry to the dead letters.")
NO_FUNNEL = T("No message was sent back.")
GROUP, STEP, MESSAGES, SECONDS = (T("consumer group"), T("step"), T("messages"), T("median seconds before"))
SENT_BACK, RETRIED, GIVEN_UP, DEAD = T("sent back {n}"), T("retry {n}"), T("given up", "放弃"), T("dead letter")


def funnel(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the retry funnel: `consumer_group`, `level`, `step` (`sent back`, `retry`, `given up`, `dlq`), `messages`, `seconds`, of the table `retry_funnel`."""
    named = {"consumer_group": GROUP, "step": STEP, "messages": MESSAGES, "seconds": SECONDS}
    says = {"sent back": SENT_BACK, "retry": RETRIED, "given up": GIVEN_UP, "dlq": DEAD}
    shown = frame[frame["step"].isin(says)] if len(frame) else frame
    if not len(shown):
        return Chart(figure(), pd.DataFrame(columns=pd.Index(list(named))), NO_FUNNEL, NO_FUNNEL, FUNNEL, named, lang)
    steps = [
        says[str(step)].say(n=int(level)).render(lang)
        for step, level in zip(shown["step"], shown["level"], strict=True)
    ]
    table = pd.DataFrame(
        {
            "consumer_group": shown["consumer_group"].to_numpy(),
            "step": steps,
            "messages": shown["messages"].to_numpy(),
            "seconds": shown["seconds"].to_numpy(),
        }
    )
    colours = {"sent back": ORANGE, "retry": BLUE, "given up": PURPLE, "dlq": VERMILLION}
    groups = list(dict.fromkeys(table["consumer_group"]))[:12]
    bars = []
    for group in groups:
        of_group = (table["consumer_group"] == group).to_numpy()
        bars.append(
            go.Bar(
                y=[f"{escape(group, 32)} · {step}" for step in table["step"][of_group]],
                x=table["messages"][of_group],
                orientation="h",
                text=[f"{n:,}" for n in table["messages"][of_group]],
                textposition="outside",
                marker={"color": [colours[s] for s in shown["step"].to_numpy()[of_group]]},
                showlegend=False,
                cliponaxis=False,
                hovertemplate="%{y}: %{x:,}<extra></extra>",
            )
        )
    chart = figure(*bars, height=130 + 30 * int(table["consumer_group"].isin(groups).sum()))
    chart.update_yaxes(type="category", autorange="reversed")
    chart.update_xaxes(title=MESSAGES.render(lang), rangemode="tozero")
    worst = max(
        groups, key=lambda g: (int(_dead(shown, g)), int(shown[shown["consumer_group"] == g]["messages"].max()))
    )
    first = int(shown[(shown["consumer_group"] == worst) & (shown["level"] == shown["level"].min())]["messages"].max())
    reading = FUNNEL_READING.say(group=str(worst), first=first, dlq=int(_dead(shown, worst)))
    return Chart(chart, table, reading, FUNNEL_ALT, FUNNEL, named, lang, min_width=560)


def _dead(frame: pd.DataFrame, group: str) -> int:
    return int(frame[(frame["consumer_group"] == group) & (frame["step"] == "dlq")]["messages"].sum())
