"""Sends: a busy broker on one time axis, failed sends, a replay under other limits, what a replica holds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import attrs
import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kit.charts import Chart, Declared, Table, escape, figures, pictures
from kit.charts.controls import control
from kit.i18n import Lang

AXIS = Declared.of("busy axis")
OUTCOME = Declared.of("failed sends")
REPLAY = Declared.of("replay")
WHYS = Declared.of("explanations")
CONFIG = Declared.of("settings")
REPLICA = Declared.of("replica")
KINDS: Final = figures.drawings()["kinds of errors"].looks
"""Colour and pattern of each kind of error."""
LINES: Final = figures.drawings()["busy lines"].looks
PANELS: Final = {
    "rate": (208, ("born", "stored")),
    "failed": (152, ()),
    "queue": (88, ("send_queue",)),
    "disk": (96, ("written_mb",)),
    "host": (96, ("util", "cpu")),
}
"""Height in pixels and lines of each panel, from the top; failed sends are bars."""
BETWEEN: Final = 40
MOST_SHADES: Final = 60
REPLAYED: Final = ("stored", "refused", "timed out but stored", "timed out and refused")


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
    shown = frame[frame[kinds].sum(axis=1).gt(0) | frame["stalled"]].reset_index(drop=True)
    reading = AXIS["stalled" if spans else "reading"].say(failed=int(frame[kinds].sum().sum()))
    whole_chart = AXIS.chart(shown.reindex(columns=list(AXIS.columns)), lang, reading, chart)
    return attrs.evolve(whole_chart, table=whole_chart.table.join(shown[kinds]))


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
    """Return start and end of each run of stalled steps."""
    stalled = frame[frame["stalled"]]
    step = pd.Timedelta(float(frame["step_ms"].iloc[0]), unit="ms")
    runs = stalled["time"].groupby((stalled.index.to_series().diff() != 1).cumsum())
    return [(run.iloc[0], run.iloc[-1] + step) for _, run in runs]


def outcome(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart what became of failed sends. `frame`: kind, stored, lost."""
    if frame.empty:
        return OUTCOME.nothing(lang)
    return OUTCOME.chart(frame, lang, {name: int(frame[name].sum()) for name in ("stored", "lost")})


def replay(
    arrivals: pd.DataFrame,
    stalls: pd.DataFrame,
    timeout: float = 3000,
    retries: int = 0,
    wait: float = 200,
    lang: Lang = "en",
) -> Chart:
    """Replay arrivals (at_ms, sends) against pauses (start_ms, end_ms) under other limits."""
    if arrivals.empty or stalls.empty:
        return REPLAY.nothing(lang)
    at, each = arrivals["at_ms"].to_numpy("float64"), arrivals["sends"].to_numpy("int64")
    frame = replayed(at, stalls[["start_ms", "end_ms"]].to_numpy("float64"), timeout, retries, wait, each)
    total, good = frame["sends"].sum(), frame.loc[frame["outcome"] == "stored", "sends"].sum()
    said = {
        "timeout": int(timeout),
        "retries": retries,
        "wait": int(wait),
        "sends": int(total),
        "bad": int(total - good),
    }
    return REPLAY.chart(frame, lang, said)


def replayed(
    arrivals: np.ndarray, pauses: np.ndarray, timeout: float, retries: int, wait: float, sends: np.ndarray | None = None
) -> pd.DataFrame:
    """Replay arrivals against a broker that stalls now and then; return outcome (`REPLAYED`) and sends. Arithmetic
    only.

    `arrivals`: times in ms at which messages are sent, `sends` of them each time (default one); `pauses`: rows (start,
    end) in ms, sorted, without overlap; `timeout`: sendMsgTimeout for all attempts, ms; `retries`: how often
    SYSTEM_BUSY is sent again (0 before client 5.3.0); `wait`: waitTimeMillsInSendQueue, ms. A request that reaches a
    stalled broker waits for the end of the pause; then it is refused if it waited `wait` ms or longer, else stored. A
    client that has waited `timeout` ms times out; its request is stored or refused all the same. A refused attempt is
    sent again at once.
    """
    starts, ends = pauses[:, 0], pauses[:, 1]
    weight = np.ones(len(arrivals), dtype="int64") if sends is None else sends
    outcome = np.zeros(len(arrivals), dtype="int8")
    now = arrivals.astype("float64").copy()
    open_ = np.ones(len(arrivals), dtype=bool)
    for _ in range(retries + 1):
        at = np.searchsorted(starts, now, side="right") - 1
        inside = open_ & (at >= 0) & (now < ends[np.maximum(at, 0)])
        waited = np.where(inside, ends[np.maximum(at, 0)] - now, 0.0)
        refused = inside & (waited >= wait)
        late = open_ & (now + waited - arrivals >= timeout)
        outcome[open_ & ~late] = refused[open_ & ~late]
        outcome[late] = 2 + refused[late]
        open_ &= refused & ~late
        now = np.where(open_, now + waited, now)
    return pd.DataFrame({"outcome": REPLAYED, "sends": [int(weight[outcome == n].sum()) for n in range(len(REPLAYED))]})


def why(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the ranked explanations. `frame`: rank, why, said_en, said_zh, share."""
    share: list[Any] = [None if pd.isna(part) else f"{part:.0%}" for part in frame["share"]]
    return WHYS.table(frame.assign(said=frame[f"said_{lang}"], share=share), lang)


def config(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the settings audit. `frame`: setting, value, known, changed, reason, reason_zh."""
    reason = frame["reason_zh" if lang == "zh" else "reason"]
    return CONFIG.table(frame.assign(reason=reason, changed=frame["changed"].astype("Int64")), lang)


path = functools.partial(pictures.diagram, "send path")
"""Draws where sends failed: hop (sent, stored, REJECTREQUEST, cleaned, CLIENT_TIMEOUT), records."""


def explore(replay: Callable[..., Chart], wait: int, interactive: bool = True) -> Any:
    """Return a replay with a slider for each of its arguments; without interaction the replay itself."""
    sliders = {"timeout": (500, 15000, 500), "retries": (0, 5, 1), "wait": (10, 15000, 10)}
    names = {
        "timeout": "sendMsgTimeout (ms)", "retries": "retries of code 2", "wait": "waitTimeMillsInSendQueue (ms)",
    }  # fmt: skip
    return control(replay, {"timeout": 3000, "retries": 0, "wait": wait}, names, sliders, interactive)


def replica(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the table `replica_seconds`: second, acknowledged, on_replica, missing."""
    if frame.empty:
        return REPLICA.nothing(lang)
    lacking, total = frame[frame["missing"] > 0], int(frame["acknowledged"].sum())
    if lacking.empty:
        return REPLICA.chart(frame, lang, REPLICA["reading_whole"].say(acknowledged=total))
    first = f"{lacking['second'].iloc[0]:%Y-%m-%d %H:%M:%S}"
    return REPLICA.chart(frame, lang, {"acknowledged": total, "missing": int(frame["missing"].sum()), "first": first})
