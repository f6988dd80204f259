"""Charts of transactions: the accounting as a flow, timelines grouped by path, one order step by step."""

from __future__ import annotations

from typing import Any, Final

import attrs
import pandas as pd
import plotly.graph_objects as go

from kit.charts import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Chart,
    Table,
    common,
    escape,
    figure,
    pictures,
    segments,
)
from kit.i18n import Lang, T

ACCOUNT = T("Every transaction accounted for")
ACCOUNT_READING = T(
    "Of {total} {total:transaction|transactions} {committed} {committed:was|were} committed, {rolled_back} rolled back and {discarded} discarded; {pending} {pending:is|are} open. "
    "{checked} had been checked."
)
NOTHING = T("This evidence contains no transaction.")
NODES: Final = {
    "half": T("half message"),
    "answer COMMIT": T("answered COMMIT"),
    "answer ROLLBACK": T("answered ROLLBACK"),
    "answer UNKNOWN": T("answered UNKNOW"),
    "answer exception": T("exception in the local transaction"),
    "answer none": T("no answer seen"),
    "check": T("checked"),
    "committed": T("committed"),
    "committed twice": T("committed twice"),
    "rolled_back": T("rolled back"),
    "discarded": T("discarded"),
    "pending": T("open"),
    "dead letter": T("dead letter"),
    "retried": T("consumed after retries"),
}

TIMES = T("Transactions from their half message onwards, by path")
TIMES_READING = T(
    "Transactions: {transactions}; different paths: {paths}. The longest took {seconds} s from its half message to its last record."
)
TIMES_ALT = T("One line for each transaction, one mark for each record or answer; the same rows are in the table.")
AFTER = T("seconds after the half message")
STAGES: Final = {
    "half": T("half message"),
    "check": T("check: put-back copy"),
    "op": T("op record: ended"),
    "commit": T("committed record"),
    "discard": T("discarded"),
    "retry": T("retry", "重试"),
    "dead letter": T("dead letter"),
    "stored": T("other record"),
    "answer COMMIT": T("answer COMMIT"),
    "answer ROLLBACK": T("answer ROLLBACK"),
    "answer UNKNOWN": T("answer UNKNOW"),
    "answer exception": T("exception, answered UNKNOW"),
}
COLOURS: Final = {
    "half": BLUE,
    "check": SKY,
    "op": GREY,
    "commit": GREEN,
    "discard": VERMILLION,
    "retry": ORANGE,
    "dead letter": PURPLE,
    "answer COMMIT": GREEN,
    "answer ROLLBACK": VERMILLION,
    "answer UNKNOWN": ORANGE,
    "answer exception": PURPLE,
}
MARKERS: Final = {
    "half": "circle",
    "check": "star",
    "op": "square",
    "commit": "diamond",
    "discard": "x",
    "retry": "triangle-up",
    "dead letter": "cross",
    "answer COMMIT": "diamond-open",
    "answer ROLLBACK": "x-open",
    "answer UNKNOWN": "circle-open",
    "answer exception": "cross-open",
}
PATH, KEY, STAGE, SECONDS = T("path"), T("key"), T("stage"), T("seconds")
WRONG = T("Keys whose message and row disagree")
KIND, CAUSE, REPAIR_COLUMN, STATE = T("what is alone"), T("cause"), T("repair"), T("state")
EVIDENCE = T("evidence")
KINDS: Final = {"row_without_message": T("the row"), "message_without_row": T("the message")}

STORY = T("{key}, step by step")
STORY_ROW = T("its business row: {status}")
STORY_NO_ROW = T("no business row")
WHEN, WHAT, WHERE = T("time"), T("what happened"), T("where")
CAUSES: Final = {
    "exception": T("the local transaction threw an exception"),
    "error": T("the application logged an error for this key"),
    "rollback_answer": T("ROLLBACK was answered although the row exists"),
    "commit_answer": T("COMMIT was answered without a row"),
}
BECAUSE = T("why: {cause}")
REPAIR = T("repair: {repair}")
REPAIRS: Final = {
    "re-send": T("send the message again"),
    "compensate": T("take back what consumers did, or write the row"),
}


def accounting(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart where all transactions went. `frame`: source, target (keys of `NODES`), count."""
    named = frame.assign(
        **{side: [NODES[n].render(lang) if n in NODES else n for n in frame[side]] for side in ("source", "target")}
    )
    if frame.empty:
        return attrs.evolve(common.flow(named, lang, ACCOUNT, NOTHING), alt=NOTHING)
    into = frame.groupby("target")["count"].sum()
    total = int(frame.loc[frame["source"] == "half", "count"].sum())
    said = {state: int(into.get(state, 0)) for state in ("rolled_back", "discarded", "pending")}
    committed = int(into.get("committed", 0) + into.get("committed twice", 0))
    reading = ACCOUNT_READING.say(total=total, committed=committed, checked=int(into.get("check", 0)), **said)
    return common.flow(named, lang, ACCOUNT, reading)


def timelines(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Chart transactions as lines of records and answers, grouped by path.

    `frame`: path, uniq_key, key, stage (keys of `STAGES`), seconds, …, in order of path, transaction, time.
    """
    columns = ["path", "key", "stage", "seconds", "uniq_key"]
    shown = frame.reindex(columns=columns)
    named = {"path": PATH, "key": KEY, "stage": STAGE, "seconds": SECONDS}
    if shown.empty:
        return Chart(figure(), shown, NOTHING, NOTHING, TIMES, named, lang)
    shown = shown.assign(
        stage=[STAGES[s].render(lang) if s in STAGES else str(s) for s in frame["stage"]], _stage=frame["stage"]
    )
    lanes = {key: n for n, key in enumerate(shown["uniq_key"].drop_duplicates())}
    first = shown.drop_duplicates("uniq_key")
    labels = [escape(k if isinstance(k, str) else u, 24) for k, u in zip(first["key"], first["uniq_key"], strict=True)]
    # Lines are not categories: two transactions may have the same business key.
    traces: list[Any] = []
    ends = shown.groupby("uniq_key")["seconds"].agg(["min", "max"])
    x, y = segments((ends.loc[key, "min"], n, ends.loc[key, "max"], n) for key, n in lanes.items())
    traces.append(
        go.Scatter(
            x=x, y=y, mode="lines", line={"color": GREY, "width": 1}, opacity=0.5, hoverinfo="skip", showlegend=False
        )
    )
    for stage, part in shown.groupby("_stage", sort=False):
        hover = [f"{escape(row.key)}<br>{escape(row.path)}" for row in part.itertuples()]
        symbol = MARKERS.get(str(stage), "triangle-down")
        marker = {
            "color": COLOURS.get(str(stage), GREY),
            "symbol": symbol,
            "size": 10 if symbol.endswith("open") else 9,
        }
        traces.append(
            go.Scatter(
                x=part["seconds"],
                y=part["uniq_key"].map(lanes),
                mode="markers",
                name=part["stage"].iloc[0],
                marker=marker,
                customdata=hover,
                hovertemplate="%{customdata}<br>%{x:.3f} s<extra></extra>",
            )
        )
    chart = figure(*traces, height=200 + 20 * len(lanes))
    chart.update_yaxes(tickvals=list(lanes.values()), ticktext=labels, autorange="reversed", tickfont={"size": 11})
    # Space on the right for the names of the paths.
    chart.update_xaxes(
        title=AFTER.render(lang),
        range=[-0.02 * float(shown["seconds"].max() or 1), 1.45 * float(shown["seconds"].max() or 1)],
    )
    _bands(chart, first, lanes)
    reading = TIMES_READING.say(
        transactions=len(lanes), paths=shown["path"].nunique(), seconds=round(float(shown["seconds"].max()), 1)
    )
    table = shown.drop(columns=["uniq_key", "_stage"])
    return Chart(chart, table, reading, TIMES_ALT, TIMES, named, lang, min_width=640)


def _bands(chart: go.Figure, first: pd.DataFrame, lanes: dict[str, int]) -> None:
    """Shade every other path, and name each at the right end."""
    for n, (path, part) in enumerate(first.groupby("path", sort=False)):
        at = [lanes[key] for key in part["uniq_key"]]
        if n % 2 == 0:
            chart.add_hrect(y0=min(at) - 0.5, y1=max(at) + 0.5, fillcolor=GREY, opacity=0.12, line_width=0)
        chart.add_annotation(
            x=1,
            xref="paper",
            xanchor="right",
            y=min(at) - 0.5,
            yanchor="top",
            showarrow=False,
            text=escape(path, 70),
            font={"size": 10},
        )


def wrong(frame: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show the inconsistent keys with cause and repair. `frame`: the table `disagreements`."""
    said = [CAUSES[c].render(lang) if c in CAUSES else c for c in frame["cause"]]
    shown = pd.DataFrame(
        {
            "key": frame["key"],
            "kind": [KINDS[k].render(lang) if k in KINDS else k for k in frame["kind"]],
            "state": frame["state"],
            "cause": said,
            "repair": [REPAIRS[r].render(lang) if r in REPAIRS else r for r in frame["repair"]],
            "evidence": [
                f"{f}:{n}" if isinstance(f, str) else None
                for f, n in zip(frame["evidence_file"], frame["evidence_line"], strict=True)
            ],
        }
    )
    heads = {"key": KEY, "kind": KIND, "state": STATE, "cause": CAUSE, "repair": REPAIR_COLUMN, "evidence": EVIDENCE}
    return Table(shown, WRONG, heads, lang)


def story(timeline: pd.DataFrame, wrong: pd.DataFrame, lang: Lang = "en") -> Table:
    """Show one inconsistent transaction, the first of `wrong` in the timeline: its records, answers, row, cause and repair."""
    known = wrong[wrong["uniq_key"].isin(timeline["uniq_key"])] if len(wrong) and len(timeline) else wrong.head(0)
    if known.empty:
        return Table(pd.DataFrame(), NOTHING, lang=lang)
    one: dict[Any, Any] = known.iloc[0].to_dict()
    mine: list[dict[Any, Any]] = timeline[timeline["uniq_key"] == one["uniq_key"]].to_dict("records")
    rows = [
        (r["time"], STAGES[r["stage"]].render(lang) if r["stage"] in STAGES else r["stage"], _where(r)) for r in mine
    ]
    row = (
        STORY_ROW.say(status=one["row_status"]).render(lang)
        if isinstance(one["row_file"], str)
        else STORY_NO_ROW.render(lang)
    )
    rows.append((None, row, f"{one['row_file']}:{one['row_line']}" if isinstance(one["row_file"], str) else ""))
    if isinstance(one["cause"], str):
        cause = CAUSES[one["cause"]].render(lang) if one["cause"] in CAUSES else one["cause"]
        rows.append((None, BECAUSE.say(cause=cause).render(lang), f"{one['evidence_file']}:{one['evidence_line']}"))
    rows.append((None, REPAIR.say(repair=REPAIRS[one["repair"]]).render(lang), ""))
    frame = pd.DataFrame(rows, columns=["time", "what", "where"])
    named = {"time": WHEN, "what": WHAT, "where": WHERE}
    return Table(frame, STORY.say(key=one["key"]), named, lang)


def _where(row: dict[Any, Any]) -> str:
    if pd.notna(row.get("line")):
        return f"{row['file']}:{int(row['line'])}"
    return (
        f"{row['file']} @ {int(row['physical_offset'])}" if pd.notna(row.get("physical_offset")) else str(row["file"])
    )


WAYS = T("Where row and message part", "数据与消息在哪里分离")
WAYS_ALT = T(
    "Boxes for the outer transaction, half message, local transaction, answer and its end; an arrow for each way with its count.",
    "方框是外层事务、半消息、本地事务、应答与结局；每个箭头标出次数。",
)
BOXES: Final = (
    (1.2, 3.2, T("half message", "半消息")),
    (4.2, 3.2, T("local transaction", "本地事务")),
    (7.4, 3.2, T("answer, or check", "应答或回查")),
    (9.2, 5.0, T("committed", "已提交")),
    (9.2, 1.2, T("rolled back", "已回滚")),
    (4.2, 5.0, T("business row", "业务数据")),
)
HOPS: Final[dict[str, pictures.Hop]] = {
    "half": (1.9, 3.2, 3.2, 3.2, 2.55, 3.7, T("SEND_OK", "结果 SEND_OK")),
    "told": (5.2, 3.3, 6.4, 3.3, 0, 0, None),
    "exception": (4.6, 2.9, 6.9, 2.9, 5.7, 2.3, T("exception caught by the client", "异常被客户端捕获")),
    "committed": (7.9, 3.5, 8.9, 4.7, 7.7, 4.5, T("COMMIT", "应答 COMMIT")),
    "rolled_back": (7.9, 2.9, 8.9, 1.5, 8.9, 2.4, T("ROLLBACK", "应答 ROLLBACK")),
    "row": (4.2, 3.5, 4.2, 4.7, 3.3, 4.1, T("rows", "数据")),
    "row_without_message": (5.0, 4.7, 8.6, 0.9, 6.1, 4.4, T("row, but rolled back", "有数据却回滚")),
    "message_without_row": (8.5, 5.2, 5.1, 5.2, 6.8, 5.6, T("committed without a row", "已提交却无数据")),
}


def path(frame: pd.DataFrame, lang: Lang = "en") -> Chart:
    """Draw the ways of a transaction with their counts. `frame`: `hop`, `records`."""
    return pictures.diagram(
        frame, BOXES, HOPS, WAYS, WAYS_ALT, lang, strong=("row_without_message", "message_without_row", "exception")
    )
