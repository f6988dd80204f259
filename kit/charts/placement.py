"""The placements of the half message: what each failure leaves."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import Chart, Declared, figure
from kit.i18n import Lang
from kit.rocketmq import placement
from kit.rocketmq.placement import Assumptions, Outcome, Placement

WHAT_IF = Declared.of("placements")
MARKS: Final[dict[Outcome, tuple[str, str]]] = {
    "consistent": ("✓", "#a8ddc9"),
    "waiting": ("…", "#d5d8dc"),
    "duplicate": ("×2", "#bfe0f5"),
    "row_without_message": ("✗ R", "#f6d78f"),
    "message_without_row": ("✗ M", "#f0b18a"),
}
"""Mark and colour of an outcome: the mark is enough without the colour. The tints leave dark text readable."""
INKED: Final = "#16191d"


def what_if(
    given: Assumptions | None = None, lang: Lang = "en", only: Mapping[Placement, Sequence[str]] | None = None
) -> Chart:
    """Chart the worst outcome of each placement and failure (`kit.rocketmq.placement`) under these assumptions.

    `only`: the failures of each placement that are drawn.
    """
    rows = pd.DataFrame(
        row for row in placement.table(given) if only is None or row["failure"] in only[row["placement"]]
    )
    order = list(MARKS)
    rows["text"] = [f"{MARKS[worst][0]} {placement.OUTCOMES[worst].render(lang)}" for worst in rows["worst"]]
    rows["paths"] = [_shortest(outcomes, lang) for outcomes in rows["outcomes"]]
    rows["colour"] = rows["worst"].map(order.index)
    failures, places = rows["failure"].unique(), list(placement.PLACEMENTS)
    names = [placement.FAILURES[failure].render(lang) for failure in failures]

    def cells(column: str) -> pd.DataFrame:
        """Return a column as lines of failures; what is not drawn is missing."""
        return rows.pivot(index="failure", columns="placement", values=column).reindex(index=failures, columns=places)

    texts = cells("text").fillna("")
    scale = [[(i + side) / len(order), MARKS[outcome][1]] for i, outcome in enumerate(order) for side in (0, 1)]
    heatmap = go.Heatmap(
        x=[WHAT_IF.columns[place].render(lang) for place in places], y=names, z=cells("colour").to_numpy(object).tolist(),
        text=texts, texttemplate="%{text}", textfont={"size": 12, "color": INKED},
        customdata=cells("paths").fillna(""), hovertemplate="%{y}<br>%{x}<br>%{customdata}<extra></extra>",
        colorscale=scale, zmin=-0.5, zmax=len(order) - 0.5, showscale=False, xgap=3, ygap=3,
    )  # fmt: skip
    chart = figure(heatmap, height=140 + 26 * len(failures))
    chart.update_yaxes(autorange="reversed", gridcolor="rgba(0,0,0,0)")
    chart.update_xaxes(side="top", gridcolor="rgba(0,0,0,0)")
    table = texts.reset_index(drop=True)
    table.insert(0, "failure", names)
    broken = rows["worst"].isin(placement.BROKEN).groupby(rows["placement"]).sum().reindex(places, fill_value=0)
    reading = WHAT_IF["reading"].say(failures=len(failures), **broken)
    return WHAT_IF.chart(table, lang, reading, chart)


def _shortest(outcomes: Mapping[Outcome, Sequence[str]], lang: Lang) -> str:
    """Return the shortest path to each outcome as lines of a hover text."""
    paths = {
        outcome: " → ".join(placement.STEPS[step].render(lang) for step in path) for outcome, path in outcomes.items()
    }
    return "<br>".join(f"{placement.OUTCOMES[outcome].render(lang)}: {path}" for outcome, path in paths.items())


def chosen(places: Sequence[str], lang: Lang = "en") -> Chart:
    """Return the table of the placements that were found, of all where none was."""
    only = {place: list(placement.FAILURES) if place in places or not places else [] for place in placement.PLACEMENTS}
    return what_if(lang=lang, only=only)
