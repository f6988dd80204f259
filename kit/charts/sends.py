"""Sends: a busy broker on one time axis, failed sends."""

import functools
from typing import Final

import attrs
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kit.charts import Chart, Declared, escape, figures, pictures
from kit.i18n import Lang

AXIS = Declared.of("busy axis")
OUTCOME = Declared.of("failed sends")
KINDS: Final = figures.DRAWINGS["kinds of errors"].looks
"""Colour and pattern of each kind of error."""
LINES: Final = figures.DRAWINGS["busy lines"].looks
PANELS: Final = {
    "rate": (208, ("born", "stored")), "failed": (152, ()), "queue": (88, ("send_queue",)),
    "disk": (96, ("written_mb",)), "host": (96, ("util", "cpu")),
}  # fmt: skip
"""Height in pixels and lines of each panel, from the top; failed sends are bars."""
BETWEEN: Final = 40
MOST_SHADES: Final = 60


def axis(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart one time axis. `frame`: the table `busy_axis`; columns without evidence are null."""
    if frame.empty:
        return AXIS.nothing(lang)
    kinds = [kind for kind in KINDS if kind in frame and frame[kind].any()]
    known = {
        panel: [c for c in columns if c in frame and frame[c].notna().any()] for panel, (_, columns) in PANELS.items()
    }
    known["failed"] = kinds
    panels = [panel for panel in PANELS if known[panel]] or ["rate"]
    heights = [PANELS[panel][0] for panel in panels]
    whole = sum(heights) + BETWEEN * (len(panels) - 1)
    chart = make_subplots(len(panels), 1, shared_xaxes=True, row_heights=heights, vertical_spacing=BETWEEN / whole)
    figures.calm(chart, whole + 72, barmode="stack", hovermode="x")
    for row, panel in enumerate(panels, 1):
        for column in known[panel]:
            name = AXIS.columns[column].in_(lang) if column in LINES else escape(column)
            chart.add_trace(_line(frame, column, name) if column in LINES else _errors(frame, column, name), row, 1)
        chart.update_yaxes(title_text=AXIS[panel].in_(lang), rangemode="tozero", nticks=4, row=row)
        # Bars alone would have plotly take their times for the ticks, beside those of the other panels.
        chart.add_scatter(x=[None], y=[None], showlegend=False, row=row, col=1)
    spans = _stalls(frame)
    if spans:
        look = {"color": figures.GREY, "opacity": 0.45, "symbol": "square", "size": 12}
        name = AXIS.columns["stalled"].in_(lang)
        chart.add_scatter(x=[None], y=[None], mode="markers", name=name, marker=look)
    shade = {"fillcolor": figures.GREY, "opacity": 0.28, "line_width": 0, "layer": "below"}
    for start, end in spans[:MOST_SHADES]:
        chart.add_shape(type="rect", x0=start, x1=end, y0=0, y1=1, xref="x", yref="paper", **shade)
    chart.update_xaxes(title_text=AXIS.columns["time"].render(lang), row=len(panels))
    chart.update_layout(legend={"y": 1.03, "traceorder": "normal"})
    steps = frame[frame[kinds].sum(axis=1).gt(0) | frame["stalled"]].reset_index(drop=True)
    values = {"failed": int(frame[kinds].sum().sum()), "stalls": len(spans) or None}
    whole_chart = AXIS.chart(steps.reindex(columns=list(AXIS.columns)), lang, values, chart)
    return attrs.evolve(whole_chart, table=whole_chart.table.join(steps[kinds]))


def _line(frame: pd.DataFrame, column: str, name: str) -> go.Scatter:
    colour, dash = LINES[column].split()
    known, look = frame[frame[column].notna()], {"color": figures.COLOURS[colour], "dash": dash, "width": 1.6}
    return go.Scatter(x=known["time"], y=known[column].astype("float64"), name=name, mode="lines", line=look)


def _errors(frame: pd.DataFrame, kind: str, name: str) -> go.Bar:
    colour, *shape = KINDS[kind].split()
    some, width = frame[frame[kind] > 0], float(frame["step_ms"].iloc[0])
    look = {"color": figures.COLOURS[colour], "pattern": {"shape": "".join(shape)}}
    middle = some["time"] + pd.Timedelta(width / 2, unit="ms")
    return go.Bar(x=middle, y=some[kind], width=max(width, 400), name=name, marker=look)


def _stalls(frame: pd.DataFrame) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
    stalled = frame[frame["stalled"]]
    step = pd.Timedelta(float(frame["step_ms"].iloc[0]), unit="ms")
    runs = stalled["time"].groupby((stalled.index.to_series().diff() != 1).cumsum())
    return [(run.iloc[0], run.iloc[-1] + step) for _, run in runs]


def outcome(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart what became of failed sends. `frame`: kind, stored, lost."""
    return OUTCOME.chart(frame, lang, {name: int(frame[name].sum()) for name in ("stored", "lost")})


path = functools.partial(pictures.diagram, "send path")
"""Draws where sends failed: hop (sent, stored, REJECTREQUEST, cleaned, CLIENT_TIMEOUT), records."""
