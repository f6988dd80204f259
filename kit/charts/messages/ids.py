"""Charts of ids, decoded byte by byte."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import LABELS, PALETTE, Captions, Chart, Table, escape, figure
from kit.i18n import Lang

ANATOMY = Captions.of("id")
PARTS: Final = LABELS["ids parts"]


def anatomy(text: str, lang: Lang = "en") -> Chart:
    """Chart the fields of one id in the order of its bytes. Raise `kit.rocketmq.ids.BadId` for an invalid id."""
    from kit.rocketmq import ids

    info = ids.decode(text)
    wide = len(info.text) // 2 - 12
    fields: list[tuple[str, int, str]] = []
    if info.kind == "offset":
        fields = [("store host", wide, str(info.ip)), ("port", 4, str(info.port)), ("offset", 8, f"{info.offset:,}")]
    elif info.kind == "uniq":
        fields = [("ip", wide, str(info.ip)), ("pid", 2, str(info.pid)), ("loader", 4, f"{info.loader:08X}")]
        fields += [("millis", 4, f"{info.millis:,}"), ("counter", 2, str(info.counter))]
    table = pd.DataFrame(_cut(info.text, fields, lang), columns=pd.Index(list(ANATOMY.columns)))
    if table.empty:
        return ANATOMY.nothing(lang, table)
    bars = []
    for i, ((name, size, _), row) in enumerate(zip(fields, table.itertuples(), strict=True)):
        bars.append(
            go.Bar(
                x=[size],
                y=[""],
                orientation="h",
                name=PARTS[name].render(lang),
                marker={"color": PALETTE[i % len(PALETTE)], "line": {"color": "white", "width": 2}},
                text=["<br>".join(escape(each) for each in (row.hex, row.field, row.means))],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": "white" if i < 3 else "black", "size": 12},
                hovertemplate="%{text}<extra></extra>",
            )
        )
    chart = figure(*bars, height=170, barmode="stack", showlegend=False, uniformtext={"minsize": 9, "mode": "show"})
    chart.update_xaxes(title=ANATOMY.columns["bytes"].render(lang), dtick=2, range=[0, len(info.text) // 2])
    chart.update_yaxes(visible=False)
    parts = [f"{row.field} {row.means}" for row in table.itertuples()]
    reading = ANATOMY["reading"].say(id=info.text, kind=ANATOMY[info.kind], parts=parts)
    return ANATOMY.chart(chart, table, reading, lang, min_width=720)


def explore(frame: pd.DataFrame, lang: Lang = "en", interactive: bool = True) -> Any:
    """Return a field to type an id into, decoded by `apart`; it starts with the first UNIQ_KEY of `frame` (as in `life`)."""
    text = next((str(key) for key in frame.get("uniq_key", ()) if pd.notna(key)), "")
    if not interactive:
        return apart(text, lang)
    import ipywidgets

    from kit.charts.controls import live

    typed = ipywidgets.Text(text, description="id", continuous_update=False, layout=ipywidgets.Layout(width="44em"))
    return live(lambda text: apart(text, lang), text=typed)


def apart(text: str, lang: Lang = "en") -> Chart | Table:
    """Return `anatomy`, or one line that says why a text is no id."""
    from kit.rocketmq.ids import BadId

    try:
        return anatomy(text.strip(), lang)
    except BadId as bad:
        return Table(pd.DataFrame(), bad.sentence, lang=lang)


def uniq_apart(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Decode the UNIQ_KEY of the first message of `frame`; `frame` as in `life`."""
    return anatomy(str(frame["uniq_key"].dropna().iloc[0]), lang)


def offset_apart(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Decode the offset id of the first copy in `frame`."""
    return anatomy(str(frame["offset_msg_id"].dropna().iloc[0]), lang)


def _cut(text: str, fields: list[tuple[str, int, str]], lang: Lang) -> list[tuple[str, str, str, str]]:
    rows, at = [], 0
    for name, size, value in fields:
        rows.append((f"{at}–{at + size - 1}", PARTS[name].render(lang), text[2 * at : 2 * (at + size)], value))
        at += size
    return rows
