"""Transactions: the half-topic blow-up (growth, writers, one message, fixes), and where every transaction went."""

import functools
from collections.abc import Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go

from kit.charts import LABELS, Chart, Declared, Table, escape, pictures
from kit.charts.figures import BLUE, GREEN, GREY, ORANGE, PALETTE, SHAPES, VERMILLION, add_arrow, figure
from kit.i18n import Lang
from kit.rocketmq.placement import FAILURES, OUTCOMES, PLACEMENTS, Failure, Placement

GROWTH = Declared.of("leak growth")
TWO = Declared.of("one becomes two")
ACCOUNT = Declared.of("accounting")
PLACED = Declared.of("placements")
LANES: Final = LABELS["half topic lanes"]
LANE_COLOURS: Final = dict(zip(LANES, (ORANGE, BLUE, GREEN, VERMILLION), strict=True))
WHITE: Final = {"width": 1, "color": "white"}
FLOOR: Final = 0.02
"""Narrowest visible flow, as a share of the widest."""
ROUND_GAP: Final = pd.Timedelta(milliseconds=600)


def growth(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the leaked half records over time, doublings marked.

    `frame`: leaked half records in offset order, possibly thinned, with seq (1…), store_timestamp, half_queue_offset,
    check_times, uniq_key and doubling (the rows with seq = leaked messages × 2^k, never thinned out).
    """
    if frame.empty:
        return GROWTH.nothing(lang)
    frame = frame.sort_values("seq", kind="stable")
    at = frame[frame["doubling"].astype(bool)]
    doublings = at.rename(columns={"seq": "records", "store_timestamp": "reached"}).assign(doubling=range(len(at)))
    doublings["seconds"] = pd.to_timedelta(doublings["reached"].diff()).dt.total_seconds()
    drawn = GROWTH.figure(frame.rename(columns={"seq": "records", "store_timestamp": "time"}), lang)
    chart = drawn.update_traces(name=GROWTH["counted"].in_(lang), line_width=2.5, showlegend=True).update_layout(
        showlegend=True
    )
    chart.add_scatter(
        x=doublings["reached"], y=doublings["records"], name=GROWTH["doubled"].in_(lang), mode="markers+text",
        cliponaxis=False, text=[f"{n:,}" for n in doublings["records"]], textposition="top left", textfont={"size": 11},
        marker={"color": VERMILLION, "symbol": "diamond", "size": 9}, customdata=doublings["seconds"].fillna(0),
        hovertemplate="%{y:,}<br>%{x}<br>+%{customdata:.1f} s<extra></extra>",
    )  # fmt: skip
    first, last = frame.iloc[0], frame.iloc[-1]
    values = {
        "messages": int(at["seq"].iloc[0]) if len(at) else int(frame["uniq_key"].nunique()),
        "records": int(last["seq"]),
        "seconds": round((last["store_timestamp"] - first["store_timestamp"]).total_seconds()),
        "doublings": len(at) - 1,
        # The interface defines no doubling time below three doublings.
        "median": float(doublings["seconds"].median()) if len(at) > 3 else None,
    }
    return GROWTH.chart(doublings, lang, values, chart, alt={"first": int(first["seq"]), "last": int(last["seq"])})


def one_becomes_two(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart the records of one leaked message in lanes, an arrow from each record to those made from it.

    `frame`: store_timestamp, lane (`re-sent`, `half topic`, `put back`, `commit`), physical_offset, made_from (the
    record a commit ends, else 0), in store order. A record that falls due and a put-back name no ancestor: the n-th
    half record is the n-th one that was due, and it is put back n-th.
    """
    # Records of one round are milliseconds apart: they stand below each other in their lane.
    turn = (frame.groupby("lane")["store_timestamp"].diff() > ROUND_GAP).groupby(frame["lane"]).cumsum()
    place, size = frame.groupby(["lane", turn]).cumcount(), frame.groupby(["lane", turn])["lane"].transform("size")
    lanes = [lane for lane in LANES if lane in set(frame["lane"])]
    offset = (place - (size - 1) / 2) * (0.62 / size.clip(lower=4))
    table = frame.assign(y=[lanes.index(lane) for lane in frame["lane"]] + offset)
    half, again, commits = (table[table["lane"] == lane] for lane in ("half topic", "put back", "commit"))
    waiting = table[table["lane"] != "half topic"]
    ended = commits[["made_from"]].merge(table, left_on="made_from", right_on="physical_offset", how="left")
    chart = figure(height=150 + 90 * len(lanes), showlegend=False)
    for old, new, colour in ((waiting, half, GREY), (half, again, GREY), (ended, commits, VERMILLION)):
        points = [each[["store_timestamp", "y"]].itertuples(index=False, name=None) for each in (old, new)]
        for begin, end in zip(*points, strict=False):
            if pd.notna(begin[1]):
                add_arrow(chart, begin, end, arrowwidth=1.2, arrowcolor=colour, opacity=0.8, standoff=4)
    for n, lane in enumerate(lanes):
        part = table[table["lane"] == lane]
        look = {"color": LANE_COLOURS[lane], "symbol": SHAPES["symbol"][n], "size": 8, "line": WHITE}
        hover = {"customdata": part["physical_offset"], "hovertemplate": "%{x}<br>@ %{customdata}<extra></extra>"}
        chart.add_scatter(x=part["store_timestamp"], y=part["y"], mode="markers", marker=look, **hover)
    labels = [f"{LANES[lane].render(lang)} · {int((table['lane'] == lane).sum())}" for lane in lanes]
    chart.update_yaxes(tickvals=list(range(len(lanes))), ticktext=labels, range=[len(lanes) - 0.5, -0.5])
    chart.update_xaxes(title_text=TWO["time"].render(lang))
    return TWO.chart(frame, lang, "", chart)


loop = functools.partial(pictures.diagram, "half topic loop")
"""Draws each hop (`refused`, `re-sent`, `due`, …) with the property that makes it happen and its records."""


# --- every transaction ------------------------------------------------------------------------------------------------


def accounting(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart as a Sankey diagram where all transactions went. `frame`: source, target (`transactions nodes`), count."""
    some = frame[frame["count"] > 0] if len(frame) else frame
    if some.empty:
        return ACCOUNT.nothing(lang)
    links = ACCOUNT.named(some, lang).groupby(["source", "target"], as_index=False, sort=False)[["count"]].sum()
    nodes = list(dict.fromkeys([*links["source"], *links["target"]]))
    colours = [PALETTE[n % len(PALETTE)] for n in range(len(nodes))]
    count = links["count"].astype("float64")
    drawn = count.clip(lower=count.max() * FLOOR)
    ends = [count.groupby(links[end]).sum() for end in ("source", "target")]
    names = [f"{escape(name, 48)}  {max(end.get(name, 0) for end in ends):,.0f}" for name in nodes]
    node = {
        "label": names, "color": colours, "pad": 28, "thickness": 14, "line": {"width": 0},
        "hovertemplate": "%{label}<extra></extra>",
    }  # fmt: skip
    source, target = ([nodes.index(name) for name in links[end]] for end in ("source", "target"))
    faded = ["rgba({},{},{},0.42)".format(*bytes.fromhex(colours[n][1:])) for n in source]
    link = {
        "source": source, "target": target, "value": drawn, "customdata": count, "color": faded,
        "hovertemplate": "%{source.label} → %{target.label}<br>%{customdata:,d}<extra></extra>",
    }  # fmt: skip
    # Words have no shadow: its own has the colour of a paper that is not there.
    sankey = go.Sankey(arrangement="snap", node=node, link=link, textfont={"size": 13, "shadow": "none"})
    chart = figure(sankey, height=max(300, 70 * len(links))).update_layout(margin={"l": 8, "r": 8, "t": 16, "b": 16})
    into = frame.groupby("target")["count"].sum()
    values = {state: int(into.get(state, 0)) for state in ("rolled_back", "discarded", "pending")}
    values["total"] = int(frame.loc[frame["source"] == "half", "count"].sum())
    values["committed"] = int(into.get("committed", 0) + into.get("committed twice", 0))
    checks = {"checked": int(into.get("check", 0)), "floor": ACCOUNT["floor"] if (drawn != count).any() else None}
    return ACCOUNT.chart(links, lang, values | checks, chart, alt={"nodes": len(nodes)})


path = functools.partial(pictures.diagram, "transaction path")
"""Draws the ways of a transaction with their counts: hop, records."""


def placements(places: Sequence[str] = (), lang: Lang = "en", *, published: bool = False) -> Table:
    """Tabulate what each failure leaves at worst where the half message is placed so; in all places without one.

    `published`: as the published comparison has it, for an application that looks at the send status.
    """

    def left(failure: Failure, place: Placement) -> str:
        if published and place not in failure.published:
            return ""
        return OUTCOMES["consistent" if published and failure.by_status else getattr(failure, place)].in_(lang)

    failures = [each for each in FAILURES.values() if each.published or not published]
    columns = {"failure": [each.says.in_(lang) for each in failures]}
    columns |= {p: [left(each, p) for each in failures] for p in PLACEMENTS if p in places or not places}
    return Table(pd.DataFrame(columns), PLACED["title"].say(), PLACED.columns, lang)
